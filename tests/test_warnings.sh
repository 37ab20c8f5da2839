#!/usr/bin/env bash
# test_warnings.sh - every file of ours is clean of warnings under gcc and under
# clang, whichever of them built this tree. Syntax only, so that it is quick: the
# sanitizer presets build everything with -Werror, asan with gcc, tsan with clang.
# labels: asan-skip
commands="$BUILD_DIR/compile_commands.json"
[ -f "$commands" ] || skip "no compile_commands.json: this generator does not write it"

# check COMPILER: compiles what the build compiled, our own files only.
check() {
    sed -nE 's/^ *"command": "(.*)",?$/\1/p' "$commands" | sed 's/\\"/"/g; s/\\\\/\\/g' |
        grep -F -- "-c $SOURCE_DIR/" | grep -vF -- "-c $BUILD_DIR/" |
        sed -E "s#^[^ ]+#$1#; s#\$# -fsyntax-only -Werror#" >list
    [ -s list ] || fail "no file of ours in $commands"
    tr '\n' '\0' <list | (cd "$BUILD_DIR" && xargs -0 -P 2 -I{} bash -c '{}') 2>warnings || {
        cat warnings
        fail "$1 warns"
    }
    echo "$1: $(wc -l <list) files"
}

compilers=()
for compiler in gcc clang-14 clang; do
    if command -v "$compiler" >/dev/null; then compilers+=("$compiler"); fi
done
[ ${#compilers[@]} -gt 0 ] || skip "neither gcc nor clang here"
for compiler in "${compilers[@]}"; do
    check "$compiler"
done
