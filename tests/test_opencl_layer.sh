# test_opencl_layer.sh - through the layer between loader and driver: no object is left alive by any command, a smaller
# device (16 KiB local memory, work-groups of 64, buffers of 128 MB; work-groups of 1) gives the same results, and a
# call that fails ends in a sentence that names it.
# labels: opencl asan-skip
need_command
need_layer
need_opencl
export OPENCL_LAYERS=$layer OCL_LAYER_REPORT=$TEST_TMP/report

# value WORDS: the number behind them in the report.
value() { sed -n "s/^$1 //p" report; }
none_alive() {
    local kind
    [ -f report ] || fail "$1: the layer was not loaded"
    for kind in context queue mem program kernel event; do
        [ "$(value "live $kind")" = 0 ] || fail "$1 leaves $(value "live $kind") of kind $kind alive"
    done
}

# --- nothing is left alive, and devices opens nothing
expect_exit 0 "$FATHOM" devices
none_alive devices
[ -z "$(value 'calls clCreateContext')" ] || fail "devices makes a context"
expect_exit 0 "$FATHOM" doctor
none_alive doctor
expect_exit 0 "$FATHOM" selftest --device opencl:0 --op gemm
none_alive "selftest of gemm"
[ "$(value 'calls clCreateBuffer')" -gt 0 ] || fail "the layer counts no buffer"
if "$FATHOM" train --help >/dev/null 2>&1; then
    expect_exit 0 "$FATHOM" train --device opencl:0 --data karate --layers 2 --epochs 3 --quiet
    none_alive train
fi

# --- smaller devices: what they would reject is not asked of them
expect_exit 0 env OCL_LAYER_GROUP=64 OCL_LAYER_LOCAL=16384 OCL_LAYER_ALLOC=134217728 \
    "$FATHOM" selftest --device opencl:0
none_alive "a smaller device"
[ "$(value rejected)" = 0 ] || fail "a smaller device rejects $(value rejected) calls"
for op in pair_apply softmax_xent accuracy group_backward_rows gat_backward_scores; do
    expect_exit 0 env OCL_LAYER_GROUP=1 OCL_LAYER_LOCAL=1024 "$FATHOM" selftest --device opencl:0 --op $op
    none_alive "work-groups of 1, $op"
    [ "$(value rejected)" = 0 ] || fail "work-groups of 1: $op is rejected"
done
# the layer does reject: no buffer fits such a device
expect_exit 6 env OCL_LAYER_ALLOC=1000 "$FATHOM" selftest --device opencl:0 --op fill
[ "$(value rejected)" -gt 0 ] || fail "the layer rejects nothing"
none_alive "a device without room"

# --- a failing call: exit code | which | words of the sentence
while IFS='|' read -r code plan words; do
    expect_exit "$code" env OCL_LAYER_FAIL="$plan" "$FATHOM" selftest --device opencl:0 --op fill
    [ "$(value fired)" -gt 0 ] || fail "$plan did not fire"
    grep -qF -- "$words" err || fail "$plan says '$(cat err)', not '$words'"
    none_alive "$plan"
done <<'PLANS'
6|clCreateContext:1:-6|clCreateContext(
6|clCreateBuffer:1:-4:+|clCreateBuffer(
3|clCreateCommandQueue:1:-5|clCreateCommandQueue(
3|clCreateProgramWithSource:1:-5|clCreateProgramWithSource(dense.cl): CL_OUT_OF_RESOURCES
3|clBuildProgram:1:-11|clBuildProgram(dense.cl): CL_BUILD_PROGRAM_FAILURE
3|clCreateKernel:1:-5|clCreateKernel(gemm_inner): CL_OUT_OF_RESOURCES
3|clSetKernelArg:3:-48|clSetKernelArg(gemm_inner, argument 2): CL_INVALID_KERNEL
3|clGetKernelWorkGroupInfo:1:-5|clGetKernelWorkGroupInfo(gemm_inner)
6|clEnqueueWriteBuffer:1:-4|clEnqueueWriteBuffer(
3|clEnqueueNDRangeKernel:1:-5|clEnqueueNDRangeKernel(gemm_inner): CL_OUT_OF_RESOURCES
3|clEnqueueReadBuffer:1:-36|clEnqueueReadBuffer(
5|clEnqueueNDRangeKernel:9:-5:+|clEnqueueNDRangeKernel(fill): CL_OUT_OF_RESOURCES
PLANS
