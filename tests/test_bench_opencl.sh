# test_bench_opencl.sh - `fathom bench` of an OpenCL device: its roof, and what becomes of the others when it fails.
# labels: opencl asan-skip
need_command
command -v python3 >/dev/null || skip "python3 is not there to check JSON with"
need_layer
only_pocl
need_opencl

# --- no product is far beyond the roof, whichever way the device takes for the large one
expect_exit 0 "$FATHOM" bench --seconds 0.005 --device opencl:0 --only "gemm, H' G" --json
same "$(field "[r for x in d['devices'] for r in x['rows'] if r['gflop_s'] > 2 * x['roof']['gemm_gflop_s']]" out)" "[]" "products beyond the roof"

# --- a device that does not open, or is lost in the middle: the others are measured, everything is written, exit 3
export OPENCL_LAYERS=$layer OCL_LAYER_REPORT=$PWD/report
while read -r fault what only; do
    expect_exit 3 env OCL_LAYER_FAIL=$fault "$FATHOM" bench --threads 1 --seconds 0.005 \
        --device opencl:0,cpu --what "$what" --only "$only" -o lost.json --html lost.html
    grep -q "^fathom: opencl:0 failed.*${fault%%:*}" err || fail "$fault is told as: $(cat err)"
    same "$(field "[{bool(r['missing']) for r in x['rows']} for x in d['devices']]" lost.json)" "[{True}, {False}]" "rows when $fault"
    same "$(field "'${fault%%:*}' in d['devices'][0]['failed'], d['devices'][1]['failed']" lost.json)" "(True, None)" "what failed"
    grep -q "not measured: .*${fault%%:*}" lost.html && grep -q '</html>' lost.html || fail "the page when $fault"
done <<'TABLE'
clCreateContext:1:-2 ops fill
clEnqueueNDRangeKernel:200:-5:+ ops fill
clEnqueueNDRangeKernel:200:-5:+ epoch embedded
TABLE
expect_exit 3 env OCL_LAYER_FAIL=clCreateContext:1:-2 "$FATHOM" bench --device opencl:0 --only fill
grep -q '^fathom: clCreateContext' err || fail "no device at all: $(cat err)"
