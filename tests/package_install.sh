#!/usr/bin/env bash
# package_install.sh - programs can use what `cmake --install` installs: every example is built with pkg-config and with
# find_package, shared and static, and run; the prefix can be moved, and the command, the shared library and a static
# program find the OpenCL module in it. labels: asan-skip
need_command
command -v pkg-config >/dev/null || skip "pkg-config is not installed"
cmake --install "$BUILD_DIR" --prefix "$PWD/first" >log || fatal "cmake --install: $(tail -3 log)"
mkdir -p other/place
mv first other/place/prefix # no installed file names its prefix
prefix=$PWD/other/place/prefix
grep -rIlF "$TEST_TMP/first" "$prefix" && fail "these files contain the prefix"
pc=$(find "$prefix" -name fathom.pc) libdir=$(dirname "$(dirname "$pc")")
export PKG_CONFIG_PATH=${pc%/*}
version=$(sed -nE 's/^#define FATHOM_VERSION_STRING "(.*)".*/\1/p' "$SOURCE_DIR/include/fathom/fathom.h")
[ "$(pkg-config --modversion fathom)" = "$version" ] || fail "fathom.pc has another version than the header"
objdump -p "$libdir/libfathom.so.$version" | grep -q RUNPATH && fail "the library has a RUNPATH"

# --- the command ---
[ "$("$prefix/bin/fathom" --version)" = "fathom $version" ] || fail "the command does not start"
module=$(find "$prefix" -name fathom_opencl.so)
if [ -n "$module" ]; then
    "$prefix/bin/fathom" doctor >doctor 2>&1 || true
    grep -q 'OpenCL module.*is not there' doctor && fail "the command does not find $module: $(cat doctor)"
fi

# --- pkg-config, shared and static ---
examples=$SOURCE_DIR/examples
# shellcheck disable=SC2046
build() { # build COMPILER FILE PROGRAM FLAGS...
    local compiler=$1 file=$2 program=$3
    shift 3
    "$compiler" -Wall -Wextra "$examples/$file" $(pkg-config --cflags fathom) "$@" -lm -o "$program" 2>log ||
        fail "$file does not build: $(head -5 log)"
}
static_flags=$(pkg-config --static --libs fathom | sed 's/-lfathom\b/-l:libfathom.a/')
[[ $static_flags == *-l:libfathom.a* ]] || fail "pkg-config --static says: $static_flags"
mkdir -p shared static
for name in train group_norm measure custom_graph ranks; do
    build "${CC:-cc}" $name.c shared/$name $(pkg-config --libs fathom)
    build "${CC:-cc}" $name.c static/$name $static_flags
done
if pkg-config --exists OpenCL; then
    build "${CC:-cc}" share_queue.c shared/share_queue $(pkg-config --libs fathom OpenCL)
    build "${CC:-cc}" share_queue.c static/share_queue $static_flags $(pkg-config --libs OpenCL)
else
    echo "no OpenCL headers: share_queue.c is left out"
fi
if command -v c++ >/dev/null; then
    build c++ call.cpp shared/call -std=c++14 $(pkg-config --libs fathom)
    build c++ call.cpp static/call -std=c++14 $static_flags
else
    echo "no C++ compiler: call.cpp is left out"
fi
for program in shared/* static/*; do
    LD_LIBRARY_PATH=$libdir ./"$program" >out 2>&1 || fail "$program: $(cat out)"
    echo "$program: $(tail -1 out)"
done
ldd static/train | grep -q libfathom && fail "static/train needs libfathom.so"

# --- the module, found from the library and from a program beside it ---
cp "$SOURCE_DIR/tests/support/list_devices.c" devices.c
examples=$PWD
if [ -n "$module" ]; then
    build "${CC:-cc}" devices.c devices $(pkg-config --libs fathom)
    LD_LIBRARY_PATH=$libdir ./devices >notes
    grep -q 'is not there' notes && fail "libfathom.so does not find its module: $(cat notes)"
    build "${CC:-cc}" devices.c "$prefix/bin/devices" $static_flags
    "$prefix/bin/devices" >notes
    grep -q 'is not there' notes && fail "a static program beside the command does not find the module: $(cat notes)"
    mv "$module" gone.so
    LD_LIBRARY_PATH=$libdir ./devices >notes
    grep -q 'is not there' notes || fail "without the module nothing is said"
    mv gone.so "$module"
fi

# --- find_package ---
if command -v c++ >/dev/null; then
    for static in OFF ON; do
        cmake -S "$SOURCE_DIR/examples" -B cmake-$static -DCMAKE_PREFIX_PATH="$prefix" -DSTATIC=$static >log 2>&1 &&
            cmake --build cmake-$static -j2 >log 2>&1 || fail "find_package, static $static: $(tail -20 log)"
        ./cmake-$static/measure >out || fail "measure by CMake, static $static: $(cat out)"
    done
    sed 's/fathom 0.1 REQUIRED/fathom 9 REQUIRED/' "$SOURCE_DIR/examples/CMakeLists.txt" >CMakeLists.txt
    cmake -S . -B cmake-nine -DCMAKE_PREFIX_PATH="$prefix" >log 2>&1 && fail "version 9 was found"
fi

# --- Python ---
for python in python3 /usr/bin/python3; do
    "$python" -c 'import numpy' 2>/dev/null || continue
    "$python" "$SOURCE_DIR/examples/norm.py" "$libdir/libfathom.so.0" >out 2>&1 || fail "norm.py: $(cat out)"
    echo "norm.py: $(cat out)"
    exit 0
done
echo "no Python with numpy: norm.py is left out"
