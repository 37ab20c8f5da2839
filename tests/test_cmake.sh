#!/usr/bin/env bash
# test_cmake.sh - CMake without quickstart, in an environment as users have it: a plain call needs neither Unity nor a
# network; fathom is part of another project by add_subdirectory and FetchContent, with Makefiles and -j; what is missing
# is named by its package, and a CC that has no effect; ctest starts
# programs by CMAKE_CROSSCOMPILING_EMULATOR. labels: asan-skip
need_command
mkdir home
# refused WORDS OPTIONS...: configuring fails and says WORDS.
refused() {
    local words=$1
    shift
    rm -rf refused
    if as_user ${PKG_CONFIG_LIBDIR:+PKG_CONFIG_LIBDIR="$PKG_CONFIG_LIBDIR"} cmake -S "$SOURCE_DIR" -B refused "$@" >log 2>&1; then fail "configured with $*"; fi
    tr -s ' \n' ' ' <log | grep -qF -- "$words" || fail "configuring with $* does not say '$words': $(cat log)"
}

# --- plain: no Unity, no download, no tests ---
printf '#!/bin/sh\necho "$0 $*" >>"%s/downloads"\nexit 1\n' "$PWD" >home/git
chmod +x home/git
PATH=$PWD/home:$PATH as_user http_proxy=http://127.0.0.1:9 https_proxy=http://127.0.0.1:9 \
    cmake -S "$SOURCE_DIR" -B plain >log 2>&1 || fail "plain CMake: $(tail -5 log)"
grep -q 'the tests are not built' log || fail "nothing is said of the tests: $(cat log)"
[ ! -e plain/_deps ] && [ ! -e downloads ] || fail "plain CMake downloads: $(ls plain/_deps)"
refused 'or -DFATHOM_FETCH_UNITY=ON to download it' -DFATHOM_TESTS=ON
! grep -rnE 'CMAKE_(SOURCE|BINARY)_DIR' "$SOURCE_DIR" --include=CMakeLists.txt --include='*.cmake' --exclude-dir='build*' ||
    fail "these are folders of another project where fathom is part of one"
! grep -nE 'clang-[0-9]|gcc-[0-9]|Werror' "$SOURCE_DIR/CMakePresets.json" || fail "a preset is bound to a compiler"

# --- another CC than the one of a tree that is configured already ---
# again CC: configures the tree once more, its words in ./log on one line.
again() {
    as_user ${1:+CC="$1"} cmake -S "$SOURCE_DIR" -B plain 2>&1 | tr -s ' \n' ' ' >log
    ! grep -q 'CMake Error' log || fail "configuring again with CC=$1: $(cat log)"
}
used=$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' plain/CMakeCache.txt)
ln -s "$used" home/same
printf '#!/bin/sh\n' >home/another
chmod +x home/another
again "$PWD/home/another"
grep -qF "CC=$PWD/home/another has no effect: this tree is configured with $used" log || fail "another CC is not noticed: $(cat log)"
for quiet in '' "$used" "$PWD/home/same" "$used -g"; do
    again "$quiet"
    ! grep -q 'has no effect' log || fail "CC='$quiet' is that of the tree: $(cat log)"
done

# --- what is missing ---
PKG_CONFIG_LIBDIR=$PWD/nothing refused 'libzip: libzip-dev'
for package in libopenblas-dev zlib1g-dev libcjson-dev libcurl4-openssl-dev libssl-dev; do
    grep -q ": $package\$" log || fail "$package is not named: $(cat log)"
done
refused 'OpenMP: gcc (its libgomp)' -DCMAKE_DISABLE_FIND_PACKAGE_OpenMP=ON -DCMAKE_C_COMPILER=gcc
for clang in clang clang-19 clang-14; do
    command -v $clang >/dev/null || continue
    refused 'OpenMP for clang: libomp-dev' -DCMAKE_DISABLE_FIND_PACKAGE_OpenMP=ON -DCMAKE_C_COMPILER=$clang
    break
done

# --- part of another project ---
mkdir whole
cat >whole/CMakeLists.txt <<C
cmake_minimum_required(VERSION 3.21)
project(whole LANGUAGES C)
add_custom_target(product)
add_custom_target(manual)
if(FETCH)
    include(FetchContent)
    FetchContent_Declare(fathom SOURCE_DIR "$SOURCE_DIR")
    FetchContent_MakeAvailable(fathom)
else()
    add_subdirectory("$SOURCE_DIR" fathom)
endif()
add_executable(own own.c)
target_compile_options(own PRIVATE -std=c99 -Werror)
target_link_libraries(own PRIVATE fathom::fathom)
C
cat >whole/own.c <<'C'
#include <fathom/fathom.h>
#include <stdio.h>
int main(void) {
    fathom_device_list *list = NULL;
    const char *note;
    if (fathom_device_list_make(&list))
        return 1;
    for (int i = 0; (note = fathom_device_list_note(list, i)); i++)
        puts(note);
    printf("%d devices\n", fathom_device_list_count(list));
    fathom_device_list_free(list);
    return 0;
}
C
as_user cmake -S whole -B fetched -DFETCH=ON >log 2>&1 || fail "FetchContent: $(tail -5 log)"
if command -v make >/dev/null; then
    as_user cmake -S whole -B built -G 'Unix Makefiles' -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG=-O0 >log 2>&1 ||
        fail "add_subdirectory: $(tail -5 log)"
    grep -q FATHOM_TESTS:BOOL=ON built/CMakeCache.txt && fail "the tests are part of another project"
    # libfathom.a by itself first: nothing else has made its objects
    as_user cmake --build built --target fathom_archive -j4 >log 2>&1 || fail "libfathom.a by Makefiles: $(tail -5 log)"
    as_user cmake --build built -j4 >log 2>&1 || fail "add_subdirectory by Makefiles: $(grep -m5 -i error log) $(tail -3 log)"
    as_user built/own >out 2>&1 || fail "own: $(cat out)"
    grep -q ' devices$' out || fail "own lists no device: $(cat out)"
    [ ! -f "$BUILD_DIR/fathom_opencl.so" ] || ! grep -q 'module' out || fail "the module is not found: $(cat out)"
else
    echo "make is not installed: only configured"
fi

# --- the emulator of another machine's programs ---
unity=$(sed -n 's/^UNITY_ROOT:[A-Z]*=//p' "$BUILD_DIR/CMakeCache.txt")
as_user cmake -S "$SOURCE_DIR" -B emulated ${unity:+-DUNITY_ROOT="$unity"} -DFATHOM_TESTS=ON -DFATHOM_OPENCL=OFF \
    -DCMAKE_CROSSCOMPILING_EMULATOR="/bin/echo;emulated" >log 2>&1 || fail "with an emulator: $(tail -5 log)"
grep -q 'add_test(\[*=*\[*test_core.* "/bin/echo" "emulated" ".*/tests/test_core"' emulated/tests/CTestTestfile.cmake ||
    fail "ctest does not run programs by the emulator: $(grep -m1 test_core emulated/tests/CTestTestfile.cmake)"
# shell tests start the command by it, too
for name in FATHOM SABOTAGED; do
    script=$(grep -o "$name=[^;\"]*" emulated/tests/CTestTestfile.cmake | sort -u | cut -d= -f2)
    [ -x "$script" ] || fail "shell tests have no $name: '$script'"
    same "$("$script" a 'b  c' | sed "s#$PWD/##")" "emulated emulated/$(sed 's#.*/emulated/tests/emulated/##; s#^fathom_#tests/&#' <<<"$script") a b  c" "$name by the emulator"
done
