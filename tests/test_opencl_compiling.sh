# test_opencl_compiling.sh - who waits for a driver that compiles is told why, by every verb and once: kernels that are not
# in the driver's cache, and CLBlast before its first use.
# labels: opencl asan-skip
need_command
only_pocl
need_opencl
"$FATHOM" devices --json >list 2>/dev/null
grep -q '"platform":[[:space:]]*"Portable Computing Language"' list ||
    skip "there is no PoCL, whose cache can be emptied from here; pocl-opencl-icd brings it"
export POCL_CACHE_DIR=$TEST_TMP/kernels

# says KERNELS CLBLAST VERB OPTIONS...: how often each is told.
tuning=--no-tune
says() {
    local kernels=$1 clblast=$2
    shift 2
    expect_exit 0 "$FATHOM" "$@" --device opencl:0 $tuning
    [ "$(grep -c 'compiling kernels' err)" = "$kernels" ] || fail "kernels are told of not $kernels times by '$*': $(cat err)"
    [ "$(grep -c 'CLBlast' err)" = "$clblast" ] || fail "CLBlast is told of not $clblast times by '$*': $(cat err)"
}
train=(train --data karate --layers 2 --epochs 1)
says 1 0 "${train[@]}"
says 0 0 "${train[@]}"
rm -rf kernels
says 0 0 "${train[@]}" --quiet
rm -rf kernels
says 1 0 selftest --op gemm --all
rm -rf kernels
says 1 0 sweep --recipe table1 --data karate --models gcn --norms group --layers 2,3 --seeds 1 --epochs 1 --out sweep
rm -rf kernels
says 1 0 bench --what ops --only fill --seconds 0.001
# tuning compiles for minutes: its first word is enough
rm -rf kernels
XDG_CACHE_HOME=$TEST_TMP/cache "$FATHOM" tune --device opencl:0 --seconds 0.001 >out 2>told &
tune=$!
while kill -0 "$tune" 2>/dev/null && ! grep -q 'compiling kernels' told 2>/dev/null; do
    sleep 0.02
done
kill "$tune" 2>/dev/null || true
wait "$tune" 2>/dev/null || true
[ "$(grep -c 'compiling kernels' told)" = 1 ] || fail "tune says nothing: $(cat told)"
# on a CPU CLBlast is used only where a record says so; whether its kernels are in a cache nobody can ask before
forge_record 64 16 1
tuning=
"$FATHOM" selftest --op gemm --device opencl:0 >out 2>&1 || fail "$(tail -1 out)" # its own kernels are compiled now
says 0 1 selftest --op gemm
says 0 1 selftest --op gemm --all
