# fault_sabotage.sh - selftest can fail: with one operation made slightly wrong it
# exits 5 and names that operation; with none it exits 0. Every operation in turn.
# labels: asan-skip
need_command
[ -x "${SABOTAGED:-}" ] || skip "the sabotaged command is not built"

expect_exit 0 "$SABOTAGED" selftest --device cpu

# The names of the operations, from the command itself.
operations=$(awk 'NF > 2 && $3 == "cases" { print $1 }' out)
[ "$(wc -w <<<"$operations")" -ge 34 ] || fatal "only these operations are listed: $operations"

for operation in $operations; do
    FATHOM_SABOTAGE=$operation expect_exit 5 "$SABOTAGED" selftest --device cpu --op "$operation"
    grep -q "$operation" err || fail "$operation is wrong, but the message does not name it: $(cat err)"
done

# The command of users does not know the variable.
FATHOM_SABOTAGE=gemm expect_exit 0 "$FATHOM" selftest --device cpu --op gemm

# Among all of them the wrong one alone fails.
FATHOM_SABOTAGE=group_apply expect_exit 5 "$SABOTAGED" selftest --device cpu
grep -q "first group_apply" err || fail "the message names another operation: $(cat err)"
[ "$(grep -c FAILED out)" = 1 ] || fail "more than one operation failed: $(grep FAILED out)"
