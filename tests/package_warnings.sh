#!/usr/bin/env bash
# package_warnings.sh - every file of fathom compiles without warnings under gcc and
# clang, whichever of them built this tree. gcc reports some only while optimising,
# so it compiles in full; clang checks the syntax only. A new compiler may have new
# warnings: they fail the test in CI (CI=true) and are listed in the log elsewhere.
# labels: asan-skip
commands="$BUILD_DIR/compile_commands.json"
[ -f "$commands" ] || skip "no compile_commands.json: this generator does not write it"

# check COMPILER [OPTIONS]: compiles the files of fathom that the build compiled.
check() {
    local compiler=$1
    shift
    sed -nE 's/^ *"command": "(.*)",?$/\1/p' "$commands" | sed 's/\\"/"/g; s/\\\\/\\/g' |
        grep -F -- "-c $SOURCE_DIR/" | grep -vF -- "-c $BUILD_DIR/" |
        sed -E "s#^[^ ]+#$compiler#; s# -o [^ ]+# -o /dev/null#; s#\$# -Werror $*#" >list
    # a stack of 64 KB is enough (fault_small_stack.sh); tests may take more of it
    sed -i -E "s#-c $SOURCE_DIR/host/#-Wframe-larger-than=16384 &#" list
    [ -s list ] || fatal "no file of fathom in $commands"
    if tr '\n' '\0' <list | (cd "$BUILD_DIR" && xargs -0 -P 2 -I{} bash -c '{}') 2>warnings; then
        echo "$compiler: $(wc -l <list) files"
    else
        cat warnings
        [ "${CI:-}" != true ] || fail "$compiler warns"
        warned+=("$("$compiler" --version | head -1)")
    fi
}

checked=0 warned=()
for compiler in gcc clang-14 clang; do
    command -v "$compiler" >/dev/null || continue
    case $compiler in
    gcc) check "$compiler" ;;
    *) check "$compiler" -fsyntax-only ;;
    esac
    checked=$((checked + 1))
done
[ "$checked" -gt 0 ] || skip "neither gcc nor clang here"
[ ${#warned[@]} = 0 ] || skip "warnings of ${warned[*]} are listed in the log; they fail this test only where CI=true"
