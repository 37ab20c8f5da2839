#!/usr/bin/env bash
# package_cmake.sh - CMake without quickstart, in the environment of a user: `cmake -B b && cmake --build b` needs neither
# Unity nor a network; fathom is part of another project by add_subdirectory and by FetchContent, with Makefiles and -j;
# missing packages are named, and a CC that has no effect is reported; ctest starts programs by
# CMAKE_CROSSCOMPILING_EMULATOR. labels: asan-skip
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
# A git that leaves a trace, and proxies that do not answer; no network at all where it can be taken away.
printf '#!/bin/sh\necho "$0 $*" >>"%s/downloads"\nexit 1\n' "$PWD" >home/git
chmod +x home/git
offline=(env http_proxy=http://127.0.0.1:9 https_proxy=http://127.0.0.1:9)
if unshare -n true 2>/dev/null; then offline+=(unshare -n); fi
PATH=$PWD/home:$PATH as_user "${offline[@]}" cmake -S "$SOURCE_DIR" -B plain -DCMAKE_C_FLAGS_RELEASE=-O0 >log 2>&1 ||
    fatal "plain CMake: $(tail -5 log)"
grep -q 'the tests are not built' log || fail "CMake does not report that tests are off: $(cat log)"
PATH=$PWD/home:$PATH as_user "${offline[@]}" cmake --build plain -j4 >log 2>&1 || fail "plain build: $(grep -m5 -i error log) $(tail -3 log)"
[ ! -e plain/_deps ] && [ ! -e downloads ] || fail "plain CMake downloads: $(ls plain/_deps)"
[ ! -e plain/tests ] || fail "a plain build has tests: $(ls plain/tests)"
as_user plain/fathom --version >out 2>&1 || fail "the command of a plain build: $(cat out)"
refused 'or -DFATHOM_FETCH_UNITY=ON to download it' -DFATHOM_TESTS=ON
! grep -rnE 'CMAKE_(SOURCE|BINARY)_DIR' "$SOURCE_DIR" --include=CMakeLists.txt --include='*.cmake' --exclude-dir='build*' ||
    fail "these are folders of another project where fathom is part of one"
! grep -nE 'clang-[0-9]|gcc-[0-9]|Werror' "$SOURCE_DIR/CMakePresets.json" || fail "a preset is bound to a compiler"

# --- another CC than the one of a tree that is configured already ---
# again CC: configures the tree once more, its output in ./log on one line.
again() {
    as_user ${1:+CC="$1"} cmake -S "$SOURCE_DIR" -B plain 2>&1 | tr -s ' \n' ' ' >log
    ! grep -q 'CMake Error' log || fail "configuring again with CC=$1: $(cat log)"
}
used=$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' plain/CMakeCache.txt)
ln -s "$used" home/same
printf '#!/bin/sh\n' >home/another
chmod +x home/another
again "$PWD/home/another"
grep -qF "CC=$PWD/home/another has no effect: this tree is configured with $used" log || fail "another CC is not reported: $(cat log)"
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
    if(POLICY CMP0135)
        cmake_policy(SET CMP0135 NEW)
    endif()
    FetchContent_Declare(fathom URL "$PWD/fathom.tar")
    FetchContent_MakeAvailable(fathom)
else()
    add_subdirectory("$SOURCE_DIR" fathom)
endif()
add_executable(own own.c)
target_compile_options(own PRIVATE -std=c99 -Werror)
target_link_libraries(own PRIVATE fathom::fathom)
C
cp "$SOURCE_DIR/tests/support/list_devices.c" whole/own.c
tar -C "$SOURCE_DIR" --exclude='./build*' --exclude=./.git -cf fathom.tar .
# part NAME TARGETS OPTIONS...: configures the project in ./NAME, builds TARGETS and runs the project's program.
part() {
    local name=$1 targets=$2
    shift 2
    # FATHOM_TESTS and UNITY_ROOT are for fathom as the main project: inside another one they have no effect
    as_user UNITY_ROOT="$PWD/nowhere" "${offline[@]}" cmake -S whole -B "$name" -DFATHOM_TESTS=ON -DCMAKE_BUILD_TYPE=Debug \
        -DCMAKE_C_FLAGS_DEBUG=-O0 "$@" >log 2>&1 || fatal "$name: $(tail -5 log)"
    ! grep -rqs add_test "$name" --include=CTestTestfile.cmake || fail "$name: the tests are part of another project"
    # shellcheck disable=SC2086
    as_user "${offline[@]}" cmake --build "$name" --target $targets -j4 >log 2>&1 || fatal "$name: $(grep -m5 -i error log) $(tail -3 log)"
    [ "$targets" != fathom_archive ] || return 0
    as_user "$name/own" >out 2>&1 || fail "$name: own: $(cat out)"
    grep -q ' devices$' out || fail "$name: own lists no device: $(cat out)"
    [ ! -f "$BUILD_DIR/fathom_opencl.so" ] || ! grep -q 'module' out || fail "$name: the module is not found: $(cat out)"
}
if command -v make >/dev/null; then
    part subdirectory fathom_archive -G 'Unix Makefiles' # libfathom.a first: nothing else has built its objects
    part subdirectory all
else
    echo "make is not installed: built by the default generator"
    part subdirectory all
fi
part fetched "own $([ ! -f "$BUILD_DIR/fathom_opencl.so" ] || echo fathom_opencl)" -DFETCH=ON
[ -e fetched/_deps/fathom-src/CMakeLists.txt ] || fail "FetchContent did not unpack the archive: $(ls fetched/_deps)"

# --- the emulator of another machine's programs ---
unity=$(sed -n 's/^UNITY_ROOT:[A-Z]*=//p' "$BUILD_DIR/CMakeCache.txt")
as_user cmake -S "$SOURCE_DIR" -B emulated ${unity:+-DUNITY_ROOT="$unity"} -DFATHOM_TESTS=ON -DFATHOM_OPENCL=OFF \
    -DCMAKE_CROSSCOMPILING_EMULATOR="/bin/echo;emulated" >log 2>&1 || fatal "with an emulator: $(tail -5 log)"
grep -q 'add_test(\[*=*\[*unit_core.* "/bin/echo" "emulated" ".*/tests/unit_core"' emulated/tests/CTestTestfile.cmake ||
    fail "ctest does not run programs by the emulator: $(grep -m1 unit_core emulated/tests/CTestTestfile.cmake)"
# shell tests start the command by it, too
for name in FATHOM SABOTAGED; do
    script=$(grep -o "$name=[^;\"]*" emulated/tests/CTestTestfile.cmake | sort -u | cut -d= -f2)
    [ -x "$script" ] || fail "shell tests have no $name: '$script'"
    same "$("$script" a 'b  c' | sed "s#$PWD/##")" "emulated emulated/$(sed 's#.*/emulated/tests/emulated/##; s#^fathom_#tests/&#' <<<"$script") a b  c" "$name by the emulator"
done
