# unit_shell.sh - the runner of shell tests (support/shell.sh): every failure is reported, none is lost in a subshell, and
# a test that ends early does not pass.
runner=$SOURCE_DIR/tests/support/shell.sh

# inner CODE FAILURES WHAT <<text: the text as a test of its own ends with CODE and reports so many failures, into ./log.
inner() {
    local code=0
    cat >inner.sh
    TEST_TMP=$TEST_TMP/inner bash "$runner" "$TEST_TMP/inner.sh" >log 2>&1 || code=$?
    same "$code" "$1" "exit code of $3 ($(cat log))"
    same "$(grep -c '^FAIL: ' log)" "$2" "failures of $3 ($(cat log))"
}

inner 0 0 "a test that passes" <<<'same 1 1 one'
inner 77 0 "a test that skips" <<<'skip "no reason"'
inner 1 2 "two failures" <<'TEST'
fail first
same 1 2 second
echo reached
TEST
grep -qx reached log || fail "the test did not continue after a failure: $(cat log)"
inner 1 1 "a failure in a subshell" <<<'(fail inside); true'
inner 1 1 "a failure in a pipeline" <<<'echo x | while read -r x; do fail "$x"; done; true'
inner 1 1 "a failure in a command substitution" <<<'x=$(fail inside); exit 0'
inner 1 1 "a failure in a function whose result is ignored" <<<'f() { fail inside; }; f || true; f=1'
inner 1 1 "a wrong exit code in a subshell" <<<'(expect_exit 3 true) || true'
inner 1 1 "a failure before a skip" <<<'fail first; skip "the rest"'
inner 1 1 "a failure before exit 0" <<<'fail first; exit 0'
inner 1 1 "a failure and an EXIT trap" <<<'trap "exit 0" EXIT; fail first'
inner 1 1 "fatal" <<'TEST'
fatal first
fail second
TEST
inner 1 1 "must" <<'TEST'
must false
fail second
TEST
inner 1 1 "a command that fails unexpectedly" <<<'false; true'
inner 1 50 "a failure in every turn of a long loop" <<<'for i in $(seq 100); do fail "$i"; done'
inner 0 0 "a tally" <<<'tally 1,2 "what it does" 3 2 2'
grep -qx 'TALLY|1,2|what it does|3|2|2' log || fail "the row is: $(cat log)"
inner 1 1 "a tally after a failure" <<<'fail first; tally 1 what 3 2 2'
! grep -q TALLY log || fail "a test that failed claims: $(cat log)"

# --- the command of the build tree is replaced while a test runs
mkdir tree
echo one >tree/fathom
export FATHOM=$TEST_TMP/tree/fathom BUILD_DIR=$TEST_TMP/tree
inner 0 0 "an unchanged build tree" <<<'cat "$FATHOM" >/dev/null'
inner 1 1 "a changed build tree" <<<'echo two >"$FATHOM.new" && mv "$FATHOM.new" "$FATHOM"'
