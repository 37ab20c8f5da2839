#!/usr/bin/env bash
# shell.sh TEST - runs one shell test in a fresh folder, with these helpers.
# Given by ctest: FATHOM (the command; unset when it is not built), SOURCE_DIR,
# BUILD_DIR, TEST_TMP (the test's own folder, where it starts).
set -euo pipefail

# skip REASON: this test cannot run here.
skip() {
    echo "SKIP: $*"
    exit 77
}

# fail SENTENCE: this test found something wrong.
fail() {
    echo "FAIL: $*" >&2
    exit 1
}

# expect_exit CODE COMMAND...: runs it, output into ./out and ./err, and checks its exit code.
expect_exit() {
    local wanted=$1 got=0
    shift
    "$@" >out 2>err || got=$?
    [ "$got" = "$wanted" ] || fail "'$*' exited with $got instead of $wanted: $(cat out err)"
}

# as_user [NAME=VALUE...] COMMAND...: runs it in an environment as users have it, none of the tests' own variables.
# HOME is the test's folder `home`; PATH is the caller's. The options of the sanitizers stay: they belong to the build.
as_user() {
    local kept=()
    for name in ASAN_OPTIONS LSAN_OPTIONS UBSAN_OPTIONS TSAN_OPTIONS; do
        [ -z "${!name:-}" ] || kept+=("$name=${!name}")
    done
    env -i HOME="$TEST_TMP/home" PATH="$PATH" TERM="${TERM:-dumb}" "${kept[@]}" "$@"
}

# await FILE: until a run has written it, at most ten seconds; no fixed time is right on a slow machine.
await() {
    for _ in $(seq 500); do
        [ ! -e "$1" ] || break
        sleep 0.02
    done
}

# resume_of DIR: --resume when it holds a sweep, which a kill or a fault may have prevented.
resume_of() { [ ! -e "$1/sweep.json" ] || echo --resume; }

# need_command: for tests of the command itself.
need_command() {
    [ -x "${FATHOM:-}" ] || skip "the command is not built"
}

# need_layer: for tests that count OpenCL calls or let them fail; $layer is the library that does.
need_layer() {
    layer=$BUILD_DIR/tests/ocl_layer.so
    [ -f "$layer" ] || skip "built without OpenCL"
}

# resume_run DIR: --resume when it holds a run, which a kill or a fault may have prevented.
resume_run() { [ ! -e "$1/run.json" ] || echo --resume; }

# module_installed: the OpenCL module in the places of the system, which any fathom finds.
module_installed() { ls /usr{,/local}/lib{,/*}/fathom/fathom_opencl.so 2>/dev/null || true; }

# only_pocl: PoCL's device alone, where it is installed.
only_pocl() {
    [ ! -f /etc/OpenCL/vendors/pocl.icd ] || export OCL_ICD_VENDORS=/etc/OpenCL/vendors/pocl.icd
}

# need_opencl: some OpenCL device; ./list has them all.
need_opencl() {
    "$FATHOM" devices >list 2>/dev/null
    grep -q 'opencl:0' list || skip "no OpenCL device; pocl-opencl-icd brings one"
}

# field EXPRESSION FILE: of the JSON document d in it.
field() { python3 -c 'import json,sys; d=json.load(open(sys.argv[2])); print(eval(sys.argv[1]))' "$1" "$2"; }

# same GOT WANTED WHAT
same() { [ "$1" = "$2" ] || fail "$3: '$1' instead of '$2'"; }

# forge_record GROUP COLUMNS OWN_GEMM: from here on the cache is ./cache, and in it a record as `fathom tune` keeps it of
# opencl:0; compiled kernels stay where other tests find them.
forge_record() {
    local name platform driver version numbers="group $1 columns $2 own_gemm $3"
    told() { "$FATHOM" devices --json 2>/dev/null | sed -n "s/^.*\"$1\":[[:space:]]*\"\(.*\)\",\{0,1\}$/\1/p" | sed -n 2p; }
    name=$(told name) platform=$(told platform) driver=$(told driver) version=$("$FATHOM" --version | sed 's/.* //')
    parts() { printf '%s\0' "$name" "$platform" "$driver" "$version"; }
    export XDG_CACHE_HOME=$TEST_TMP/cache POCL_CACHE_DIR=$BUILD_DIR/tests/cache/pocl
    mkdir -p cache/fathom/tune "$POCL_CACHE_DIR"
    cat >"cache/fathom/tune/$(parts | sha256sum | cut -c1-24).json" <<RECORD
{"device": "$name", "driver": "$driver", "version": "$version", "group": $1, "columns": $2, "own_gemm": $3,
 "sha256": "$({ parts && printf '%s' "$numbers"; } | sha256sum | cut -c1-64)"}
RECORD
}

rm -rf "$TEST_TMP"
mkdir -p "$TEST_TMP"
cd "$TEST_TMP"
# shellcheck disable=SC1090
. "$1"
