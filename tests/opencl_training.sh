# opencl_training.sh - 20 epochs on PoCL agree with the CPU back end; two devices share the runs of a sweep and appear
# together in a bench.
# labels: opencl asan-skip
need_command
. "$SOURCE_DIR/tests/support/runtime.sh"
[ -e /etc/OpenCL/vendors/pocl.icd ] || skip "PoCL is not installed; install pocl-opencl-icd"
mkdir vendors
cp /etc/OpenCL/vendors/pocl.icd vendors/
export OCL_ICD_VENDORS=$TEST_TMP/vendors
"$FATHOM" devices >list 2>notes
grep -q 'opencl:0' list || skip "PoCL lists no device: $(cat notes)"
train_as_cpu embedded

# --- two devices
export POCL_DEVICES='pthread pthread' OPENCL_LAYERS=$BUILD_DIR/tests/ocl_layer.so OCL_LAYER_REPORT=$TEST_TMP/report
expect_exit 0 "$FATHOM" sweep --recipe table1 --data karate --models gcn,gat --norms none,group --layers 2 --seeds 3 --epochs 10 \
    --device opencl:0,opencl:1 --out both --quiet
grep -qx 'calls clCreateContext 2' report || fail "not two devices were used: $(grep clCreateContext report)"
[ "$(wc -l <both/journal.jsonl)" = 12 ] || fail "$(wc -l <both/journal.jsonl) runs instead of 12"
# results do not depend on the device of a run
unset POCL_DEVICES OPENCL_LAYERS
expect_exit 0 "$FATHOM" sweep --recipe table1 --data karate --models gcn,gat --norms none,group --layers 2 --seeds 3 --epochs 10 \
    --device opencl:0 --out one --quiet
cells() { sed 's/.*"cell":[[:space:]]*"\([^"]*\)".*"loss":[[:space:]]*\([^,}]*\).*/\1 \2/' "$1/journal.jsonl" | sort; }
[ "$(cells one | wc -l)" = 12 ] || fail "the journal was not read: $(cells one)"
diff <(cells one) <(cells both) >differ || fail "results depend on the device of a run: $(cat differ)"

export POCL_DEVICES='pthread pthread'
expect_exit 0 "$FATHOM" bench --what ops --device opencl:0,opencl:1 --only fill --seconds 0.001 --json
[ "$(grep -c '"word":[[:space:]]*"opencl:[01]"' out)" = 2 ] || fail "bench does not list both devices: $(head -60 out)"
