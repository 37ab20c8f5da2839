# opencl_check.sh - before a device is used, every operation of the run is compared with its oracle: an operation that a
# driver computes wrongly is refused by name, --trust-device continues with a note, `auto` continues on the CPU.
# labels: opencl asan-skip
need_command
need_opencl
export OPENCL_LAYERS=$BUILD_DIR/tests/ocl_layer.so
[ -e "$OPENCL_LAYERS" ] || skip "the OpenCL layer is not built"
small=(--data karate --layers 3 --epochs 4 --threads 1 --seed 1)
refused() { # OPERATION COMMAND...
    local operation=$1
    shift
    expect_exit 3 "$@"
    grep -q "^fathom: .* computes the operation $operation wrongly: case .*--device cpu.*--trust-device" err ||
        fail "$operation is not named: $(cat err)"
}

# --- one wrong sign in the gradient of gamma
export OCL_LAYER_REPLACE='g, j, a.d) + r * sum=>g, j, a.d) - r * sum'
grep -qF "${OCL_LAYER_REPLACE%%=>*}" "$SOURCE_DIR/cl/norm_group_backward.cl" || fail "the kernel no longer contains this text"
refused group_backward_sums "$FATHOM" train --device opencl:0 "${small[@]}"
expect_exit 0 "$FATHOM" train --device opencl:0 "${small[@]}" --trust-device
grep -q 'computes the operation group_backward_sums wrongly.*; continuing' err || fail "no note: $(cat err)"
# runs that do not use the operation are not refused
expect_exit 0 "$FATHOM" train --device opencl:0 "${small[@]}" --norm batch
# auto: the layer reports PoCL as a GPU
expect_exit 0 env OCL_LAYER_TYPE=4 "$FATHOM" train "${small[@]}" --out run
grep -q 'computes the operation group_backward_sums wrongly.*; continuing on the CPU' err || fail "no note: $(cat err)"
expect_exit 0 "$FATHOM" train --device cpu "${small[@]}" --out cpu
cmp run/model.safetensors cpu/model.safetensors || fail "auto and --device cpu give different weights"

# --- a sweep
sweep=(sweep --recipe table1 --data karate --models gcn --norms group --layers 2 --seeds 1 --epochs 3 --split random:3,3)
expect_exit 1 "$FATHOM" "${sweep[@]}" --device opencl:0 --out swept
cat out err >both
grep -q 'computes the operation group_backward_sums wrongly' both || fail "the sweep does not refuse: $(cat both)"
expect_exit 0 env OCL_LAYER_TYPE=4 "$FATHOM" "${sweep[@]}" --out auto
cat out err >both
grep -q 'group_backward_sums wrongly.*; continuing on the CPU' both || fail "the sweep prints no note: $(cat both)"

# --- eval uses no gradient; a wrong distance is detected by eval and by metrics
evaluate=(eval --data karate --definition paper --checkpoint run/model.safetensors)
expect_exit 0 "$FATHOM" "${evaluate[@]}" --device opencl:0 --embeddings rows.npy
export OCL_LAYER_REPLACE='FOLD_EUCLID ? sqrt(square)=>FOLD_EUCLID ? 1.01f * sqrt(square)'
grep -qF "${OCL_LAYER_REPLACE%%=>*}" "$SOURCE_DIR/cl/pairwise.cl" || fail "the kernel no longer contains this text"
measure=(metrics --definition paper --embeddings rows.npy --data karate)
for command in evaluate measure; do
    declare -n args=$command
    refused pair_fold "$FATHOM" "${args[@]}" --device opencl:0
    expect_exit 0 "$FATHOM" "${args[@]}" --device opencl:0 --trust-device
    grep -q 'operation pair_fold wrongly.*; continuing' err || fail "$command: no note: $(cat err)"
    expect_exit 0 "$FATHOM" "${args[@]}" --device cpu --json
    python3 -c 'import json; d = json.load(open("out")); d.pop("device"); d.pop("seconds", 0); print(d)' >wanted
    expect_exit 0 env OCL_LAYER_TYPE=4 "$FATHOM" "${args[@]}" --json
    grep -q 'operation pair_fold wrongly.*; continuing on the CPU' err || fail "$command: auto prints no note: $(cat err)"
    python3 -c 'import json; d = json.load(open("out")); d.pop("device"); d.pop("seconds", 0); print(d)' >got
    cmp wanted got || fail "$command: auto and --device cpu give different results"
done
