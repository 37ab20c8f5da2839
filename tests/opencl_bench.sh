# opencl_bench.sh - `fathom bench` on an OpenCL device: its roof, and the other devices when it fails.
# labels: opencl asan-skip
need_command
command -v python3 >/dev/null || skip "python3 is not installed (checks JSON)"
need_layer
only_pocl
need_opencl

# --- no product exceeds the roof by far, with own kernels or CLBlast
expect_exit 0 "$FATHOM" bench --what ops --seconds 0.005 --device opencl:0 --only "gemm, H' G" --json
same "$(field "[r for x in d['devices'] for r in x['rows'] if r['gflop_s'] > 2 * x['roof']['gemm_gflop_s']]" out)" "[]" "products above the roof"

# --- a device that fails to open or during a run: the others are measured, all files are written, exit 3
export OPENCL_LAYERS=$layer OCL_LAYER_REPORT=$PWD/report
while read -r fault what only; do
    expect_exit 3 env OCL_LAYER_FAIL=$fault "$FATHOM" bench --threads 1 --seconds 0.005 \
        --device opencl:0,cpu --what "$what" --only "$only" -o lost.json --html lost.html
    grep -q "^fathom: opencl:0 failed.*${fault%%:*}" err || fail "message for $fault: $(cat err)"
    same "$(field "[{bool(r['missing']) for r in x['rows']} for x in d['devices']]" lost.json)" "[{True}, {False}]" "rows for $fault"
    same "$(field "'${fault%%:*}' in d['devices'][0]['failed'], d['devices'][1]['failed']" lost.json)" "(True, None)" "failed devices"
    grep -q "not measured: .*${fault%%:*}" lost.html && grep -q '</html>' lost.html || fail "HTML page for $fault"
done <<'TABLE'
clCreateContext:1:-2 ops fill
clEnqueueNDRangeKernel:200:-5:+ ops fill
clEnqueueNDRangeKernel:200:-5:+ epoch embedded
TABLE
expect_exit 3 env OCL_LAYER_FAIL=clCreateContext:1:-2 "$FATHOM" bench --what ops --device opencl:0 --only fill
grep -q '^fathom: clCreateContext' err || fail "only device fails: $(cat err)"
