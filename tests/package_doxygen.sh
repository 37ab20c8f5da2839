#!/usr/bin/env bash
# package_doxygen.sh - the reference of the public headers is complete: Doxygen writes it without a warning, and warns about
# a function without documentation. labels: asan-skip
command -v doxygen >/dev/null || skip "doxygen is not installed"

# reference FOLDER: writes the reference of the headers in it into ./out, warnings into ./log.
reference() {
    (cat "$SOURCE_DIR/docs/Doxyfile" && echo "INPUT = $1" && echo "OUTPUT_DIRECTORY = $PWD/out" &&
        echo "STRIP_FROM_PATH = $1") >Doxyfile
    mkdir -p out
    doxygen Doxyfile >log 2>&1
}

reference "$SOURCE_DIR/include/fathom" || fail "doxygen warns: $(grep -v '^$' log | head -20)"
[ ! -s log ] || fail "doxygen warns: $(head -20 log)"
while read -r name; do
    grep -qs "$name" out/html/*_8h.html || fail "$name is not in the reference"
done <"$SOURCE_DIR/tests/abi.txt"
cp -r "$SOURCE_DIR/include/fathom" broken
sed -i 's#/\*\* Frees a model. \*/##' broken/fathom.h
reference "$PWD/broken" && fail "a function without documentation was not reported"
grep -q fathom_model_free log || fail "the warning does not name it: $(cat log)"
