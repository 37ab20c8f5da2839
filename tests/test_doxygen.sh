#!/usr/bin/env bash
# test_doxygen.sh - the reference of the public header is complete: Doxygen makes it without a warning, and a name
# without a word about it is one. labels: asan-skip
command -v doxygen >/dev/null || skip "doxygen is not installed"

# reference HEADER: makes it from that header into ./out, warnings into ./log.
reference() {
    (cat "$SOURCE_DIR/docs/Doxyfile" && echo "INPUT = $1" && echo "OUTPUT_DIRECTORY = $PWD/out" &&
        echo "STRIP_FROM_PATH = $(dirname "$1")") >Doxyfile
    mkdir -p out
    doxygen Doxyfile >log 2>&1
}

reference "$SOURCE_DIR/include/fathom/fathom.h" || fail "doxygen warns: $(grep -v '^$' log | head -20)"
[ ! -s log ] || fail "doxygen warns: $(head -20 log)"
while read -r name; do
    grep -rqs "$name" out/html/fathom_8h.html || fail "$name is not in the reference"
done <"$SOURCE_DIR/tests/abi.txt"
sed 's#/\*\* Frees a model. \*/##' "$SOURCE_DIR/include/fathom/fathom.h" >fathom.h
reference "$PWD/fathom.h" && fail "a function without a word about it was not noticed"
grep -q fathom_model_free log || fail "the warning does not name it: $(cat log)"
