# cli_selftest.sh - `fathom selftest --all` on the CPU and on PoCL: a line for each operation and device, as text and as
# JSON; after a wrong result, a failed launch or a device that does not open, the exit code reports it, the operation is
# named, and the other operations are still tested.
# labels: opencl asan-skip
need_command
need_layer
[ -e /etc/OpenCL/vendors/pocl.icd ] || skip "PoCL is not installed; install pocl-opencl-icd"
mkdir vendors
cp /etc/OpenCL/vendors/pocl.icd vendors/
export OCL_ICD_VENDORS=$TEST_TMP/vendors OPENCL_LAYERS=$layer OCL_LAYER_REPORT=$TEST_TMP/report
"$FATHOM" devices >list 2>notes
grep -q 'opencl:0' list || skip "PoCL shows no device: $(cat notes)"
all=("$FATHOM" selftest --all --no-tune)
calls() { sed -n "s/^calls $1 //p" report; }
# lines DEVICE: its part of ./out; operations: their number; failed: the names of those that failed
lines() { sed -n "/^$1: /,/^\$/p" out; }
operations() { lines "$1" | grep -cE '^[a-z_]+ +[0-9]+ cases +worst error [^ ]+ +(ok|[0-9]+ FAILED)$' || true; }
failed() { lines "$1" | awk '$NF == "FAILED" { print $1 }'; }

# --- both devices pass
expect_exit 0 "${all[@]}"
expected=$(grep -c '^    X(' "$SOURCE_DIR/host/backend/operations.h")
for device in cpu opencl:0; do
    [ "$(operations $device)" = "$expected" ] || fail "$device: $(operations $device) operations of $expected: $(lines $device)"
    [ -z "$(failed $device)" ] || fail "$device: $(failed $device) failed"
    [ "$(lines $device | grep -cE '^[0-9]+ cases, 0 failed$')" = 1 ] || fail "$device has no count: $(lines $device)"
done
reads=$(calls clEnqueueReadBuffer)

# --- one wrong result: only that operation fails, only on that device
OCL_LAYER_FAIL=wrong:$((reads / 2)):0 expect_exit 5 "${all[@]}"
[ "$(operations opencl:0)" = "$expected" ] || fail "the other operations were not tested: $(cat out)"
wrong=$(failed opencl:0)
[ "$(wc -w <<<"$wrong")" = 1 ] || fail "instead of one operation these failed: $wrong"
grep -q "^fathom: selftest: 1 of [0-9]* cases failed on opencl:0 .*, first $wrong, case " err || fail "not named: $(cat err)"
grep -q "^$wrong, case .*: " out || fail "the case is not reported: $(lines opencl:0)"
[ -z "$(failed cpu)" ] || fail "the CPU failed: $(lines cpu)"

# --- one operation: the last launch fails; the last result is wrong, in JSON
expect_exit 0 "${all[@]}" --op bias_add --json
launches=$(calls clEnqueueNDRangeKernel) reads=$(calls clEnqueueReadBuffer)
[ "$(grep -c '"failed":[[:space:]]*0' out)" = 4 ] || fail "two devices and their operation do not give four counts: $(cat out)"
[ "$(grep -c '"name":[[:space:]]*"bias_add"' out)" = 2 ] || fail "the operation is not reported for both: $(cat out)"
OCL_LAYER_FAIL=clEnqueueNDRangeKernel:$launches:-5 expect_exit 5 "${all[@]}" --op bias_add
grep -q '^bias_add, case .*CL_OUT_OF_RESOURCES' out || fail "a launch that fails is reported as: $(cat out)"
[ "$(failed opencl:0) $(failed cpu)" = "bias_add " ] || fail "another one failed: $(cat out)"
OCL_LAYER_FAIL=wrong:$reads:0 expect_exit 5 "${all[@]}" --op bias_add --json
[ "$(grep -c '"failed":[[:space:]]*1' out)" = 2 ] || fail "the failure is not in the JSON: $(cat out)"
grep -q '"code":[[:space:]]*5' out || fail "the code is not in the JSON: $(cat out)"
if command -v python3 >/dev/null; then
    python3 -c 'import json; d = json.load(open("out")); print([(v["device"]["word"], v["failed"], "error" in v) for v in d["devices"]])' >read
    [ "$(cat read)" = "[('cpu', 0, False), ('opencl:0', 1, True)]" ] || fail "the JSON reads: $(cat read)"
fi

# --- a device that does not open: the other one is tested
OCL_LAYER_FAIL=clCreateCommandQueue:1:-5:+ expect_exit 3 "${all[@]}" --op bias_add
[ "$(operations cpu)" = 1 ] || fail "the CPU was not tested: $(cat out)"
lines opencl:0 | grep -q '^does not open: clCreateCommandQueue.*CL_OUT_OF_RESOURCES' || fail "no reason: $(lines opencl:0)"
grep -q '^fathom: clCreateCommandQueue' err || fail "the last line is: $(cat err)"
