#!/usr/bin/env bash
# package_abi.sh - the exported symbols of libfathom.so and libfathom.a are those of tests/abi.txt, which are the functions of
# the header; the SONAME is that of the version. Removing a symbol breaks programs and needs a new major version. A new
# symbol is added to the list with the header.
# labels: asan-skip
command -v nm >/dev/null && command -v readelf >/dev/null || skip "nm and readelf (binutils) are not installed"
lib=$BUILD_DIR/libfathom.so archive=$BUILD_DIR/static/libfathom.a
[ -e "$lib" ] || fatal "$lib was not built"

LC_ALL=C sort -c "$SOURCE_DIR/tests/abi.txt" || fail "tests/abi.txt is not in order"
nm -D --defined-only "$lib" | awk '{print $3}' | LC_ALL=C sort >shown
diff "$SOURCE_DIR/tests/abi.txt" shown || fail "libfathom.so exports other symbols than tests/abi.txt (< missing, > not listed)"
nm -g --defined-only "$archive" | awk 'NF == 3 {print $3}' | LC_ALL=C sort >static
diff "$SOURCE_DIR/tests/abi.txt" static || fail "libfathom.a exports other symbols than tests/abi.txt"
grep -ohE '\bfathom_[a-z_]+\(' "$SOURCE_DIR"/include/fathom/*.h | tr -d '(' | LC_ALL=C sort -u >declared
diff "$SOURCE_DIR/tests/abi.txt" declared || fail "the headers declare other functions than tests/abi.txt"

major=$(sed -nE 's/^#define FATHOM_VERSION_MAJOR ([0-9]+).*/\1/p' "$SOURCE_DIR/include/fathom/fathom.h")
soname=$(readelf -d "$lib" | sed -nE 's/.*SONAME.*\[(.*)\]/\1/p')
[ "$soname" = "libfathom.so.$major" ] || fail "the SONAME is $soname, not libfathom.so.$major"

# The size of every structure, as programs were built with.
structs=$(sed -nE 's/^typedef struct (fathom_[a-z_]+) \{/\1/p' "$SOURCE_DIR"/include/fathom/{fathom,metrics,norm,opencl,ranks}.h)
{
    echo '#include <stdio.h>'
    echo '#define FATHOM_WITHOUT_CL_H' # sizes do not depend on OpenCL's headers
    echo '#include <fathom/opencl.h>'
    echo 'int main(void) {'
    for s in $structs; do echo "printf(\"%s %zu\\n\", \"$s\", sizeof($s));"; done
    echo '}'
} >sizes.c
"${CC:-cc}" -std=c11 -Wall -Wextra -Wpedantic $([ "${CI:-}" != true ] || echo -Werror) -I"$SOURCE_DIR/include" sizes.c -o sizes || fatal "the header does not compile alone"
./sizes >sizes.txt
[ "$(uname -m)" != x86_64 ] || diff "$SOURCE_DIR/tests/abi-sizes.txt" sizes.txt ||
    fail "structures have other sizes than tests/abi-sizes.txt: members are added at the end only, and the list follows"
echo "$(wc -l <shown) functions, $(wc -l <sizes.txt) structures"
