# test_opencl_training.sh - 20 epochs on PoCL are those of the CPU back end; two devices of one machine share the work of
# a sweep and stand side by side in a bench.
# labels: opencl asan-skip
need_command
. "$SOURCE_DIR/tests/support/runtime.sh"
[ -e /etc/OpenCL/vendors/pocl.icd ] || skip "PoCL is not installed; pocl-opencl-icd brings it"
mkdir vendors
cp /etc/OpenCL/vendors/pocl.icd vendors/
export OCL_ICD_VENDORS=$TEST_TMP/vendors
"$FATHOM" devices >list 2>notes
grep -q 'opencl:0' list || skip "PoCL shows no device: $(cat notes)"
train_as_cpu embedded

# --- two devices, as two cards are
export POCL_DEVICES='pthread pthread' OPENCL_LAYERS=$BUILD_DIR/tests/ocl_layer.so OCL_LAYER_REPORT=$TEST_TMP/report
expect_exit 0 "$FATHOM" sweep --recipe table1 --data karate --models gcn,gat --norms none,group --layers 2 --seeds 3 --epochs 10 \
    --device opencl:0,opencl:1 --out both --quiet
grep -qx 'calls clCreateContext 2' report || fail "not two devices worked: $(grep clCreateContext report)"
[ "$(wc -l <both/journal.jsonl)" = 12 ] || fail "$(wc -l <both/journal.jsonl) runs instead of 12"
# which device took a run does not matter
unset POCL_DEVICES OPENCL_LAYERS
expect_exit 0 "$FATHOM" sweep --recipe table1 --data karate --models gcn,gat --norms none,group --layers 2 --seeds 3 --epochs 10 \
    --device opencl:0 --out one --quiet
cells() { sed 's/.*"cell":[[:space:]]*"\([^"]*\)".*"loss":[[:space:]]*\([^,}]*\).*/\1 \2/' "$1/journal.jsonl" | sort; }
[ "$(cells one | wc -l)" = 12 ] || fail "the journal was not read: $(cells one)"
diff <(cells one) <(cells both) >differ || fail "results depend on the device that took the run: $(cat differ)"

export POCL_DEVICES='pthread pthread'
expect_exit 0 "$FATHOM" bench --device opencl:0,opencl:1 --only fill --seconds 0.001 --json
[ "$(grep -c '"word":[[:space:]]*"opencl:[01]"' out)" = 2 ] || fail "bench does not show both devices: $(head -60 out)"
