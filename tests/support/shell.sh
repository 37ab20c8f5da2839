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

# await FILE: until a run has written it, at most ten seconds; no fixed time is right on a slow machine.
await() {
    for _ in $(seq 500); do
        [ ! -e "$1" ] || break
        sleep 0.02
    done
}

# need_command: for tests of the command itself.
need_command() {
    [ -x "${FATHOM:-}" ] || skip "the command is not built"
}

rm -rf "$TEST_TMP"
mkdir -p "$TEST_TMP"
cd "$TEST_TMP"
# shellcheck disable=SC1090
. "$1"
