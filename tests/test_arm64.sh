#!/usr/bin/env bash
# test_arm64.sh - the ground floor and the CPU back end compile for arm64: the
# baseline loops, without any x86 switch.
# labels: asan-skip
[ "$(uname -m)" != aarch64 ] || skip "this is an arm64 machine; the build itself is the test"
cross=aarch64-linux-gnu-gcc
command -v $cross >/dev/null || skip "no arm64 compiler; install gcc-aarch64-linux-gnu and libc6-dev-arm64-cross"

# cblas.h is the same on every machine; the folder it lies in holds this one's C library, too.
mkdir headers
blas=$(pkg-config --variable=includedir openblas)
ln -s "$blas"/cblas*.h "$blas"/openblas_config*.h headers/
mkdir headers/openssl # some of libcrypto's headers lie there, too
ln -s /usr/include/"$(gcc -print-multiarch)"/openssl/*.h headers/openssl/

# where the build looks for the OpenCL module
places=('-DMODULE_FROM_COMMAND="../lib"' '-DMODULE_INSTALLED="/lib"' '-DMODULE_PACKAGED="/lib"')
strict=() # a new compiler's warning fails in CI alone
[ "${CI:-}" != true ] || strict=(-Werror)
count=0
for file in "$SOURCE_DIR"/host/core/*.c "$SOURCE_DIR"/host/backend/*.c "$SOURCE_DIR"/host/backend/cpu/*.c \
    "$SOURCE_DIR"/host/backend/cpu/loops/*.c; do
    [ -f "$file" ] || continue
    $cross -std=c11 -D_POSIX_C_SOURCE=200809L -DCPU_ISA=base "${places[@]}" -fopenmp -O1 -ffp-contract=fast \
        -Wall -Wextra -Wpedantic -Wconversion -Wshadow "${strict[@]}" \
        -I "$SOURCE_DIR/include" -I "$SOURCE_DIR/host" -I "$SOURCE_DIR/cl" -isystem headers -c "$file" -o object.o ||
        fail "${file#"$SOURCE_DIR"/} does not compile for arm64"
    count=$((count + 1))
done
[ "$count" -gt 0 ] || fail "found no file to compile"
echo "$count files compiled for arm64"
