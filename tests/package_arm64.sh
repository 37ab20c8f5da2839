#!/usr/bin/env bash
# package_arm64.sh - core and the CPU back end compile for arm64 (the baseline loops, without x86 options), and every
# case passes on an emulated processor.
# labels: asan-skip
[ "$(uname -m)" != aarch64 ] || skip "this is an arm64 machine; the build itself is the test"
cross=aarch64-linux-gnu-gcc
command -v $cross >/dev/null || skip "no arm64 compiler; install gcc-aarch64-linux-gnu and libc6-dev-arm64-cross"

# cblas.h is the same on every machine; its folder also contains the C library of this one.
mkdir headers
blas=$(pkg-config --variable=includedir openblas)
ln -s "$blas"/cblas*.h "$blas"/openblas_config*.h headers/
mkdir headers/openssl # with some of libcrypto's headers
ln -s /usr/include/"$(gcc -print-multiarch)"/openssl/*.h headers/openssl/

# the folders searched for the OpenCL module
places=('-DMODULE_FROM_COMMAND="../lib"' '-DMODULE_INSTALLED="/lib"' '-DMODULE_PACKAGED="/lib"')
strict=() # a new compiler's warning fails in CI alone
[ "${CI:-}" != true ] || strict=(-Werror)
flags=(-std=c11 -D_POSIX_C_SOURCE=200809L -DCPU_ISA=base "${places[@]}" -fopenmp -O2 -fno-math-errno -ffp-contract=fast
    -Wall -Wextra -Wpedantic -Wconversion -Wshadow "${strict[@]}"
    -I "$SOURCE_DIR/include" -I "$SOURCE_DIR/host" -I "$SOURCE_DIR/cl" -isystem headers)
count=0
for file in "$SOURCE_DIR"/host/{core,backend,backend/cpu,backend/cpu/loops,selftest}/*.c; do
    [ -f "$file" ] || continue
    count=$((count + 1))
    $cross "${flags[@]}" -c "$file" -o $count.o || fail "${file#"$SOURCE_DIR"/} does not compile for arm64"
done
[ "$count" -gt 0 ] || fail "found no file to compile"
echo "$count files compiled for arm64"

# All cases. An archive: only what they need is linked, so that no library but the C library is. Products that are
# OpenBLAS's on arm64 are plain loops here.
if command -v qemu-aarch64 >/dev/null; then
    must aarch64-linux-gnu-ar rcs all.a ./*.o
    must $cross "${flags[@]}" "$SOURCE_DIR"/tests/support/{selftest_cpu,blas_stub}.c all.a -lm -ldl -o selftest
    must qemu-aarch64 -L /usr/aarch64-linux-gnu ./selftest
    grep -q ' 0 failed' out || fail "no count of the cases: $(cat out err)"
    cat out
else
    echo "not run on an emulated processor: no qemu-aarch64; install qemu-user"
fi

# Instructions of the loops with the options of a release build: Philox multiplies 32-bit lanes, Adam is vectorised, the
# tail of a row calls no memcpy.
command -v aarch64-linux-gnu-objdump >/dev/null || exit 0
listing() {
    $cross -std=c11 -D_POSIX_C_SOURCE=200809L -DCPU_ISA=base -fopenmp -O3 -fno-math-errno -ffp-contract=fast \
        -I "$SOURCE_DIR/include" -I "$SOURCE_DIR/host" -I "$SOURCE_DIR/cl" -isystem headers \
        -c "$SOURCE_DIR/host/backend/cpu/loops/$1" -o loop.o
    aarch64-linux-gnu-objdump -dr loop.o >listing
}
listing cpu_sparse.c
! grep -q 'CALL26.*memcpy' listing || fail "cpu_sparse.c calls memcpy on arm64 ($(grep -c 'CALL26.*memcpy' listing) places)"
listing cpu_pointwise.c
grep -Eq 'umull2?[[:space:]]+v' listing || fail "Philox multiplies in general registers on arm64"
listing cpu_optim.c
grep -Eq 'fsqrt[[:space:]]+v[0-9]+\.4s' listing || fail "Adam is scalar on arm64"
