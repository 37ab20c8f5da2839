# opencl_model.sh - simulates differences between GPU vendors, through the test layer over PoCL: work-groups of 1 to 1024,
# local memory of 16 to 64 KiB, no double, flushed denormals, division and functions only as exact as OpenCL requires,
# other alignment, buffers of 128 MB, missing or unusable timers, launches of pairwise folds short enough for a GPU with
# a display, a launch whose error is reported late. Results stay within the bounds, no call is rejected, failures are
# reported.
# labels: opencl asan-skip
need_command
need_layer
"$FATHOM" devices --json >list 2>/dev/null
grep -q '"opencl:0"' list || skip "no OpenCL device; install pocl-opencl-icd"
export OPENCL_LAYERS=$layer OCL_LAYER_REPORT=$TEST_TMP/report
value() { sed -n "s/^$1 //p" report; }
# holds SETTINGS... -- COMMAND...: the command succeeds on such a device, and no call is rejected.
holds() {
    local settings=()
    while [ "$1" != -- ]; do settings+=("$1") && shift; done
    shift
    expect_exit 0 env "${settings[@]}" "$@"
    [ "$(value rejected)" = 0 ] || fail "${settings[*]}: $(value rejected) calls are rejected by '$*'"
}
selftest() { # SETTINGS... [-- --op NAME]
    local settings=()
    while [ $# -gt 0 ] && [ "$1" != -- ]; do settings+=("$1") && shift; done
    [ $# = 0 ] || shift
    holds "${settings[@]}" -- "$FATHOM" selftest --device opencl:0 "$@"
}

# --- no double, flushed denormals, large alignment, little memory, all together: every operation
selftest OCL_LAYER_DOUBLE=0 OCL_LAYER_DENORMALS=0 OCL_LAYER_ALIGN=1024 OCL_LAYER_LOCAL=16384 OCL_LAYER_ALLOC=134217728
TEST_DENORMALS=0 OCL_LAYER_DENORMALS=0 expect_exit 0 "$BUILD_DIR/tests/opencl_folds"
# the simulation works: a kernel with double does not build, and fast math options are rejected
mkdir kernels
cp "$SOURCE_DIR"/cl/*.cl "$SOURCE_DIR"/cl/*.h kernels/
sed -i 's|    float4 s = inv_std(|    double twice = a.eps; float4 s = (float)twice * 0.0f + inv_std(|' kernels/norm_batch.cl
cmp -s kernels/norm_batch.cl "$SOURCE_DIR/cl/norm_batch.cl" && fail "the kernel was not changed"
FATHOM_CL_DIR=$TEST_TMP/kernels expect_exit 0 "$FATHOM" selftest --device opencl:0 --op batch_backward
FATHOM_CL_DIR=$TEST_TMP/kernels OCL_LAYER_DOUBLE=0 expect_exit 5 "$FATHOM" selftest --device opencl:0 --op batch_backward
OCL_LAYER_OPTIONS=-cl-fast-relaxed-math expect_exit 5 "$FATHOM" selftest --device opencl:0 --op col_stats

# --- division, sqrt, exp, log and rsqrt with the largest error OpenCL allows, in the GPU variant of the kernels: results
# differ but stay within the bounds; 50 times that error is detected; a training still agrees with the CPU
all=("$FATHOM" selftest --device opencl:0 --no-tune)
holds OCL_LAYER_TYPE=4 -- "${all[@]}"
mv out exact
directions=(mixed)
[ -z "${FATHOM_TEST_LONG:-}" ] || directions=(mixed up down)
for direction in "${directions[@]}"; do
    holds OCL_LAYER_TYPE=4 OCL_LAYER_INEXACT="$direction" -- "${all[@]}"
    comm -13 <(sort exact) <(sort out) >changed
    for op in batch_apply pair_apply batch_backward pair_backward group_assign group_apply group_backward_rows pair_fold; do
        grep -q "^$op " changed || fail "inexact $direction: $op has the same error: $(cat changed)"
    done
    if grep -E '^(spmm|fill|axpby|accuracy) ' changed; then fail "inexact $direction: operations without division change"; fi
done
for op in row_normalise softmax_xent; do
    OCL_LAYER_INEXACT=mixed:50 expect_exit 5 "${all[@]}" --op "$op"
done
(
    . "$SOURCE_DIR/tests/support/runtime.sh"
    train_as_cpu embedded
    losses there >exact
    export OCL_LAYER_INEXACT=mixed
    train_as_cpu embedded
    if cmp -s exact <(losses there); then fail "a training with inexact division has the same bits"; fi
)

# --- local memory and work-groups: tuned to the largest size, so that the limit of the device decides
forge_record 1024 64
operations=(pair_apply softmax_xent accuracy)
[ -z "${FATHOM_TEST_LONG:-}" ] || operations=(all)
for limit in 1:16384 64:32768 128:65536 256:16384 1024:65536; do
    for op in "${operations[@]}"; do
        [ "$op" = all ] && only=() || only=(-- --op "$op")
        selftest OCL_LAYER_GROUP="${limit%:*}" OCL_LAYER_LOCAL="${limit#*:}" "${only[@]}"
        [ "$(value group)" = "${limit%:*}" ] || fail "limit $limit, $op: work-groups of $(value group) were launched"
    done
done
unset XDG_CACHE_HOME POCL_CACHE_DIR

# --- buffers: a network larger than the largest buffer is split, a single matrix larger than it is refused
expect_exit 0 "$FATHOM" data make sbm --nodes 40000 --features 8 --classes 4 -o graph.npz
holds OCL_LAYER_ALLOC=33554432 -- "$FATHOM" train --device opencl:0 --data graph.npz --layers 12 --hidden 64 --epochs 1 --json
planned=$(sed -n 's/.*"planned_bytes":[[:space:]]*\([0-9]*\).*/\1/p' out)
[ "$planned" -gt 134217728 ] || fail "the network needs only $planned bytes"
expect_exit 6 env OCL_LAYER_ALLOC=8388608 "$FATHOM" train --device opencl:0 --data graph.npz --layers 4 --hidden 64 --epochs 1
grep -q '^fathom: .*one matrix needs 10240000 bytes in one piece, .* gives at most 8388608: take a smaller --hidden' err ||
    fail "message of the plan: $(cat err)"
[ "$(value rejected)" = 0 ] || fail "the plan made a call that the device rejects"
# to the byte: buffers of exactly the largest matrix suffice, scratch included; one byte less is refused
expect_exit 0 "$FATHOM" data make sbm --nodes 4000 --features 8 --classes 4 -o small.npz
run=(train --device opencl:0 --data small.npz --layers 2 --hidden 64 --epochs 1)
holds OCL_LAYER_ALLOC=1024000 -- "$FATHOM" "${run[@]}"
expect_exit 6 env OCL_LAYER_ALLOC=1023999 "$FATHOM" "${run[@]}"
grep -q '^fathom: one matrix needs 1024000 bytes in one piece, .* gives at most 1023999: ' err || fail "message of the plan: $(cat err)"

# --- timers: missing, or years (rusticl reports 1 ns for everything)
for timer in none mad; do
    holds OCL_LAYER_TIMER=$timer -- "$BUILD_DIR/tests/opencl_ops"
    grep -q 'operations_are_timed_on_demand:PASS' out || fail "timer $timer: $(cat out)"
done

# --- pairwise folds: a launch covers at most 2^26 pairs, and all launches cover every pair once (two folds of 12001 rows)
holds -- "$BUILD_DIR/tests/opencl_folds"
[ "$(value pairs)" = $((2 * 12001 * 12001)) ] || fail "the folds cover $(value pairs) pairs"
[ "$(value pairs_most)" -le $((1 << 26)) ] || fail "one launch covers $(value pairs_most) pairs"

# --- a launch that never runs, reported by the next blocking call, or only by clFinish
for where in late finish; do
    OCL_LAYER_FAIL=$where:40:-5 expect_exit 3 "$FATHOM" train --device opencl:0 --data karate --layers 3 --epochs 5
    [ "$(value fired)" -gt 0 ] || fail "the launch was not lost"
    grep -q 'CL_OUT_OF_RESOURCES' err || fail "a lost launch reported at $where: $(cat err)"
done
