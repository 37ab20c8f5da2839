# opencl_layer.sh - through the test layer between loader and driver: no command leaks OpenCL objects, a smaller device
# (16 KiB local memory, work-groups of 64, buffers of 128 MB; work-groups of 1) gives the same results, and a failing
# call gives a message that names it.
# labels: opencl asan-skip
need_command
need_layer
need_opencl
export OPENCL_LAYERS=$layer OCL_LAYER_REPORT=$TEST_TMP/report

# value KEY: its number in the report.
value() { sed -n "s/^$1 //p" report; }
no_leaks() {
    local kind
    [ -f report ] || fail "$1: the layer was not loaded"
    for kind in context queue mem program kernel event map; do
        [ "$(value "live $kind")" = 0 ] || fail "$1 leaks $(value "live $kind") objects of kind $kind"
    done
}

# --- no leaks, and `devices` opens no device
expect_exit 0 "$FATHOM" devices
no_leaks devices
[ -z "$(value 'calls clCreateContext')" ] || fail "devices creates a context"
expect_exit 0 "$FATHOM" doctor
no_leaks doctor
expect_exit 0 "$FATHOM" selftest --device opencl:0 --op gemm
no_leaks "selftest of gemm"
[ "$(value 'calls clCreateBuffer')" -gt 0 ] || fail "the layer counts no buffers"
expect_exit 0 "$FATHOM" train --device opencl:0 --data karate --layers 2 --epochs 3 --quiet
no_leaks train

# --- smaller devices: no call that they would reject
expect_exit 0 env OCL_LAYER_GROUP=64 OCL_LAYER_LOCAL=16384 OCL_LAYER_ALLOC=134217728 \
    "$FATHOM" selftest --device opencl:0
no_leaks "a smaller device"
[ "$(value rejected)" = 0 ] || fail "a smaller device rejects $(value rejected) calls"
for op in pair_apply softmax_xent accuracy group_backward_rows gat_backward_scores; do
    expect_exit 0 env OCL_LAYER_GROUP=1 OCL_LAYER_LOCAL=16384 "$FATHOM" selftest --device opencl:0 --op $op
    no_leaks "work-groups of 1, $op"
    [ "$(value rejected)" = 0 ] || fail "work-groups of 1: $op is rejected"
done
# the layer does reject: no buffer fits on this device
expect_exit 6 env OCL_LAYER_ALLOC=1000 "$FATHOM" selftest --device opencl:0 --op fill
[ "$(value rejected)" -gt 0 ] || fail "the layer rejects nothing"
no_leaks "a device with too little memory"

# --- a failing call: exit code | plan | text of the message
while IFS='|' read -r code plan text; do
    expect_exit "$code" env OCL_LAYER_FAIL="$plan" "$FATHOM" selftest --device opencl:0 --op fill
    [ "$(value fired)" -gt 0 ] || fail "$plan did not fire"
    grep -qF -- "$text" err || fail "$plan prints '$(cat err)', not '$text'"
    no_leaks "$plan"
done <<'PLANS'
6|clCreateContext:1:-6|clCreateContext(
6|clCreateBuffer:1:-4:+|clCreateBuffer(
3|clCreateCommandQueue:1:-5|clCreateCommandQueue(
3|clCreateProgramWithSource:1:-5|clCreateProgramWithSource(dense.cl): CL_OUT_OF_RESOURCES
3|clBuildProgram:1:-11|clBuildProgram(dense.cl): CL_BUILD_PROGRAM_FAILURE
3|clCreateKernel:1:-5|clCreateKernel(gemm_tiles): CL_OUT_OF_RESOURCES
3|clSetKernelArg:3:-48|clSetKernelArg(gemm_tiles, argument 2): CL_INVALID_KERNEL
3|clGetKernelWorkGroupInfo:1:-5|clGetKernelWorkGroupInfo(gemm_tiles)
6|clEnqueueMapBuffer:1:-4|clEnqueueMapBuffer(upload)
3|clEnqueueUnmapMemObject:1:-5|clEnqueueUnmapMemObject(upload)
3|clEnqueueNDRangeKernel:1:-5|clEnqueueNDRangeKernel(gemm_tiles): CL_OUT_OF_RESOURCES
3|clEnqueueReadBuffer:1:-36|clEnqueueReadBuffer(
5|clEnqueueNDRangeKernel:9:-5:+|clEnqueueNDRangeKernel(fill): CL_OUT_OF_RESOURCES
PLANS

# --- a device with memory of its own: 18 MB of features go through pinned memory in pieces, and give the same results
expect_exit 0 "$FATHOM" data make rmat --nodes 11000 --edges 8000 --features 400 --density 1 --classes 3 --seed 7 -o dense.npz
features=(train --device opencl:0 --data dense.npz --layers 2 --hidden 4 --epochs 1 --norm none --no-tune --json)
results() { field "[d['result'][k] for k in ('test_accuracy', 'loss')]" out; }
expect_exit 0 "$FATHOM" "${features[@]}"
shared=$(results)
[ "$(value 'calls clEnqueueMapBuffer')" -gt 0 ] || fail "uploads are not mapped"
expect_exit 0 env OCL_LAYER_UNIFIED=0 "$FATHOM" "${features[@]}"
same "$(results)" "$shared" "training through pinned memory"
same "$(value 'calls clEnqueueMapBuffer')" 1 "maps of pinned memory"
[ "$(value 'calls clWaitForEvents')" -gt 0 ] || fail "no piece of pinned memory is used twice"
no_leaks "pinned memory"
# no pinned memory is no error
expect_exit 0 env OCL_LAYER_UNIFIED=0 OCL_LAYER_FAIL=clEnqueueMapBuffer:1:-12 "$FATHOM" "${features[@]}"
same "$(results)" "$shared" "training without pinned memory"
same "$(value 'calls clWaitForEvents')" "" "waits without pinned memory"
no_leaks "no pinned memory"
for plan in clEnqueueWriteBuffer:1:-4 clWaitForEvents:1:-14; do
    expect_exit $([ ${plan##*:} = -4 ] && echo 6 || echo 3) env OCL_LAYER_UNIFIED=0 OCL_LAYER_FAIL=$plan "$FATHOM" "${features[@]}"
    [ "$(value fired)" -gt 0 ] || fail "$plan did not fire"
    grep -qF "${plan%%:*}(upload)" err || fail "$plan prints '$(cat err)'"
    no_leaks "$plan"
done
