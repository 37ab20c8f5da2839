# opencl_compiling.sh - every command prints one note while a driver compiles: kernels that are not in the cache of the
# driver, and CLBlast before its first use.
# labels: opencl asan-skip
need_command
only_pocl
need_opencl
need_layer
"$FATHOM" devices --json >list 2>/dev/null
grep -q '"platform":[[:space:]]*"Portable Computing Language"' list ||
    skip "no PoCL, whose cache this test empties; install pocl-opencl-icd"
export POCL_CACHE_DIR=$TEST_TMP/kernels

# notes KERNELS CLBLAST COMMAND OPTIONS...: number of notes of each kind.
tuning=--no-tune
notes() {
    local kernels=$1 clblast=$2
    shift 2
    expect_exit 0 "$FATHOM" "$@" --device opencl:0 $tuning
    [ "$(grep -c 'compiling kernels' err)" = "$kernels" ] || fail "not $kernels notes about kernels by '$*': $(cat err)"
    [ "$(grep -c 'CLBlast' err)" = "$clblast" ] || fail "not $clblast notes about CLBlast by '$*': $(cat err)"
}
train=(train --data karate --layers 2 --epochs 1)
notes 1 0 "${train[@]}"
notes 0 0 "${train[@]}"
# From here on every program takes 700 ms to build: more than the 0.6 s after which the note is due, cached or not.
export OPENCL_LAYERS=$layer OCL_LAYER_BUILD_MS=700
notes 0 0 "${train[@]}" --quiet
notes 1 0 selftest --op fill --all
notes 1 0 sweep --recipe table1 --data karate --models gcn --norms group --layers 2,3 --seeds 1 --epochs 1 --out sweep
notes 1 0 bench --what ops --only fill --seconds 0.001
# tuning compiles for minutes: its first note is enough
XDG_CACHE_HOME=$TEST_TMP/cache "$FATHOM" tune --device opencl:0 --seconds 0.001 >out 2>notes.txt &
tune=$!
while kill -0 "$tune" 2>/dev/null && ! grep -q 'compiling kernels' notes.txt 2>/dev/null; do
    sleep 0.02
done
kill "$tune" 2>/dev/null || true
wait "$tune" 2>/dev/null || true
[ "$(grep -c 'compiling kernels' notes.txt)" = 1 ] || fail "tune prints no note: $(cat notes.txt)"
unset OPENCL_LAYERS OCL_LAYER_BUILD_MS
# a CPU uses CLBlast only with a tuning record that says so; whether its kernels are cached cannot be queried
forge_record 64 1
tuning=
"$FATHOM" selftest --op gemm --device opencl:0 >out 2>&1 || fail "$(tail -1 out)" # compiles own kernels
notes 0 1 selftest --op gemm
notes 0 1 selftest --op gemm --all
