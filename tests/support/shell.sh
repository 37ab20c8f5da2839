#!/usr/bin/env bash
# shell.sh TEST - runs one shell test in a fresh folder, with the helpers below, and reports every failure of it.
# Given by ctest: FATHOM (the command; unset when it is not built), SOURCE_DIR, BUILD_DIR, TEST_TMP (the test's own
# folder, where it starts). Exit code: 0 passed, 1 failed, 77 skipped.
set -euo pipefail

# built_files: the files of the build tree that the command needs, with inode, size and time of the last change.
built_files() { stat -c '%n %i %s %Y' "${FATHOM:-}" "${BUILD_DIR:-.}"/{fathom_opencl,fathom_openmpi,fathom_mpich,fathom_metis,libfathom}.so 2>/dev/null || true; }

# The test is a process of its own: its EXIT trap, `exit` and set -e are its own, and what it records outlives it.
if [ "$1" != --body ]; then
    shell=$(realpath "$0")
    rm -rf "$TEST_TMP"
    mkdir -p "$TEST_TMP"
    cd "$TEST_TMP"
    before=$(built_files) code=0 failures=0
    bash "$shell" --body "$1" || code=$?
    [ ! -e "$TEST_TMP/.failures" ] || failures=$(wc -l <"$TEST_TMP/.failures")
    if [ "$(built_files)" != "$before" ]; then
        echo "FAIL: files of the build tree changed during the test; before: $before; after: $(built_files)" >&2
        failures=$((failures + 1))
    fi
    if [ "$failures" -gt 0 ]; then
        echo "$failures failures" >&2
        exit 1
    fi
    case $code in
    0 | 77) exit $code ;;
    *)
        echo "FAIL: the test ended with exit code $code before its last line" >&2
        exit 1
        ;;
    esac
fi

# skip REASON: this test cannot run here.
skip() {
    echo "SKIP: $*"
    exit 77
}

# fail MESSAGE: reports and records a failure; the test continues, and fails at its end. The record is a file, so that a
# failure inside a subshell, a pipeline or $(...) counts. After 50 failures the test ends.
fail() {
    echo "FAIL: $*" >&2
    echo >>"$TEST_TMP/.failures"
    [ "$(wc -l <"$TEST_TMP/.failures")" -lt 50 ] || exit 1
}

# fatal MESSAGE: a failure without which the rest of the test makes no sense; the test ends.
fatal() {
    fail "$@"
    exit 1
}

# tally PROMISES WHAT TRIED FIRED SURVIVED: a row of the table of injected faults (tests/support/tally). A test that
# failed claims nothing.
tally() { [ -s "$TEST_TMP/.failures" ] || (IFS='|' && echo "TALLY|$*"); }

# expect_exit CODE COMMAND...: runs it, output into ./out and ./err, and checks its exit code.
expect_exit() {
    local wanted=$1 got=0
    shift
    "$@" >out 2>err || got=$?
    [ "$got" = "$wanted" ] || fail "'$*' exited with $got instead of $wanted: $(cat out err)"
}

# must COMMAND...: a step that the rest of the test needs: when it fails, the test ends. Output as of expect_exit.
must() {
    "$@" >out 2>err || fatal "'$*' exited with $?: $(cat out err)"
}

# as_user [NAME=VALUE...] COMMAND...: runs it in the environment of a user, without the variables of the tests. HOME is the
# test's folder `home`; PATH is the caller's. The options of the sanitizers stay: they belong to the build.
as_user() {
    local kept=() name
    for name in ASAN_OPTIONS LSAN_OPTIONS UBSAN_OPTIONS TSAN_OPTIONS; do
        [ -z "${!name:-}" ] || kept+=("$name=${!name}")
    done
    env -i HOME="$TEST_TMP/home" PATH="$PATH" TERM="${TERM:-dumb}" "${kept[@]}" "$@"
}

# await FILE: waits until a run has written it, at most ten seconds.
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

# need_mpi: for tests of ranks that mpirun starts; $mpi is openmpi or mpich, which may run here as root and on few cores.
need_mpi() {
    local name
    mpi=
    for name in openmpi mpich; do
        [ ! -f "$BUILD_DIR/fathom_$name.so" ] || ! command -v "mpirun.$name" >/dev/null || mpi=${mpi:-$name}
    done
    [ -n "$mpi" ] || skip "neither Open MPI (libopenmpi-dev, openmpi-bin) nor MPICH (libmpich-dev, mpich)"
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
}

# need_layer: for tests that count OpenCL calls or let them fail; $layer is the library that does.
need_layer() {
    layer=$BUILD_DIR/tests/ocl_layer.so
    [ -f "$layer" ] || skip "built without OpenCL"
}

# resume_run DIR: --resume when it holds a run, which a kill or a fault may have prevented.
resume_run() { [ ! -e "$1/run.json" ] || echo --resume; }

# module_installed: OpenCL modules in system folders, which every fathom finds.
module_installed() { ls /usr{,/local}/lib{,/*}/fathom/fathom_opencl.so 2>/dev/null || true; }

# only_pocl: hides all OpenCL drivers but PoCL, where it is installed.
only_pocl() {
    [ ! -f /etc/OpenCL/vendors/pocl.icd ] || export OCL_ICD_VENDORS=/etc/OpenCL/vendors/pocl.icd
}

# need_opencl: for tests that need an OpenCL device; ./list has the output of `fathom devices`.
need_opencl() {
    "$FATHOM" devices >list 2>/dev/null
    grep -q 'opencl:0' list || skip "no OpenCL device; install pocl-opencl-icd"
}

# field EXPRESSION FILE: prints a Python expression of d, the JSON document in the file.
field() { python3 -c 'import json,sys; d=json.load(open(sys.argv[2])); print(eval(sys.argv[1]))' "$1" "$2"; }

# same GOT WANTED WHAT
same() { [ "$1" = "$2" ] || fail "$3: '$1' instead of '$2'"; }

# forge_record GROUP OWN_GEMM: sets the cache to ./cache and writes a tuning record of opencl:0 there, in the format
# of `fathom tune`; compiled kernels stay in the cache that all tests share.
forge_record() {
    local name platform driver version
    of_device() { "$FATHOM" devices --json 2>/dev/null | sed -n "s/^.*\"$1\":[[:space:]]*\"\(.*\)\",\{0,1\}$/\1/p" | sed -n 2p; }
    name=$(of_device name) platform=$(of_device platform) driver=$(of_device driver) version=$("$FATHOM" --version | sed 's/.* //')
    parts() { printf '%s\0' "$name" "$platform" "$driver" "$version"; }
    export POCL_CACHE_DIR=${POCL_CACHE_DIR:-$XDG_CACHE_HOME/pocl/kcache} XDG_CACHE_HOME=$TEST_TMP/cache
    mkdir -p cache/fathom/tune "$POCL_CACHE_DIR"
    cat >"cache/fathom/tune/$(parts | sha256sum | cut -c1-24).json" <<RECORD
{"device": "$name", "driver": "$driver", "version": "$version", "group": $1, "own_gemm": $2}
RECORD
}

# shellcheck disable=SC1090
. "$2"
