# fault_fallback.sh - an OpenCL device that is lost during a run: with --fallback cpu the run continues on the CPU from the
# last saved state, to the same bits as a run resumed there; without it, exit code 3 and a run that can be resumed.
# labels: opencl asan-skip
need_command
command -v python3 >/dev/null || skip "python3 is not there to read JSON with"
need_layer
only_pocl
need_opencl
export OPENCL_LAYERS=$layer OCL_LAYER_REPORT=$TEST_TMP/report
# train ARGS...: a run whose state is saved every fifth epoch.
train() { "$FATHOM" train --data karate --layers 3 --checkpoint-every 5 --threads 1 --quiet --json "$@"; }
calls() { sed -n "s/^calls $1 //p" report; }

# The expected result: five epochs on the device, the rest on the CPU.
expect_exit 0 train --device opencl:0 --epochs 5 --out resumed
first=$(calls clEnqueueNDRangeKernel)
expect_exit 0 train --device cpu --epochs 10 --out resumed --resume
expect_exit 0 train --device opencl:0 --epochs 10 --out undisturbed
whole=$(calls clEnqueueNDRangeKernel) reads=$(calls clEnqueueReadBuffer)
[ "$whole" -gt "$first" ] || fatal "the layer counts no launches"
# Between the fifth and the tenth epoch: both runs end with some launches for the metrics.
for lost in 1 2 3; do # CL_DEVICE_NOT_AVAILABLE, CL_OUT_OF_RESOURCES, CL_INVALID_COMMAND_QUEUE
    code=$(echo "-2 -5 -36" | cut -d " " -f $lost)
    at=$((first + (whole - first) * lost / 4))
    rm -rf fell
    OCL_LAYER_FAIL=clEnqueueNDRangeKernel:$at:$code:+ train --device opencl:0 --fallback cpu --epochs 10 --out fell >out 2>err ||
        fail "launch $at failing: $(cat err)"
    [ "$(sed -n 's/^fired //p' report)" -gt 0 ] || fail "launch $at did not fail"
    same "$(field "d['status'], d['result']['epochs']" out)" "('fell_back', 10)" "status when launch $at fails"
    cmp resumed/state.safetensors fell/state.safetensors || fail "launch $at failing: another state than resumed on the CPU"
    same "$(wc -l <fell/epochs.jsonl)" 10 "lines of epochs.jsonl"
done

# Without it, for a device named by the user: exit code 3, and the run can be resumed.
rm -rf lost
got=0
OCL_LAYER_FAIL=clEnqueueNDRangeKernel:$((first + (whole - first) / 2)):-2:+ train --device opencl:0 --epochs 10 --out lost >out 2>err || got=$?
same "$got" 3 "exit code when the device is lost"
grep -q 'clEnqueueNDRangeKernel' err || fail "the call is not named: $(cat err)"
grep -q -- '--resume' err || fail "the message has no resume command: $(cat err)"
# The printed command resumes the run, unchanged, from the same folder.
command=$(grep -o '`fathom train [^`]*`' err | tr -d '`')
PATH=${FATHOM%/*}:$PATH expect_exit 0 as_user bash -c "$command --threads 1 --quiet"
cmp resumed/state.safetensors lost/state.safetensors || fail "another state than resumed on the CPU"

# A bit flips in a read-back: nothing of it is saved, and the saved state is whole.
for tenths in 3 5 6 7 8 10; do
    at=$((reads * tenths / 10))
    rm -rf lost
    got=0
    OCL_LAYER_FAIL=flip:$at:0 train --device opencl:0 --epochs 10 --out lost >out 2>err || got=$?
    same "$got $(sed -n 's/^fired //p' report)" "3 1" "exit code and flips at read $at: $(cat err)"
    grep -q 'two reads of the same .* differ: a wrong result' err || fail "a bit of read $at flipped: $(cat err)"
    # shellcheck disable=SC2046
    expect_exit 0 train --device cpu --epochs 10 --out lost $(resume_run lost)
    same "$(wc -l <lost/epochs.jsonl)" 10 "epochs after a flip at read $at"
done
rm -rf fell
OCL_LAYER_FAIL=flip:$((reads / 2)):0 train --device opencl:0 --fallback cpu --epochs 10 --out fell >out 2>err || fail "a flip: $(cat err)"
same "$(field "d['status'], d['result']['epochs']" out)" "('fell_back', 10)" "status when a bit flips"

# Wrong results count as a loss: the product check when the device is opened (reads 1 to 8: each is done twice), the check
# of its operations (9), NaN instead of an epoch's numbers (the third read of 16 bytes: the check has the first two).
while IFS='|' read -r at code words; do
    rm -rf lost
    expect_exit "$code" env OCL_LAYER_FAIL="$at:0" "$FATHOM" train --data karate --layers 3 --epochs 10 --threads 1 \
        --device opencl:0 --out lost --quiet
    grep -q -- "$words" err || fail "read $at wrong: '$(cat err)', not '$words'"
    [ "$(sed -n 's/^fired //p' report)" = 1 ] || fail "read $at was not made wrong"
done <<'TABLE'
wrong:1|3|computes wrong matrix products
wrong:9|3|computes the operation .* wrongly
short:3|5|not a number
TABLE
# `auto` continues on the CPU (the layer reports PoCL as a GPU).
expect_exit 0 train --device cpu --epochs 10
field "d['result']" out >wanted
for at in wrong:1 wrong:9 short:3; do
    export OCL_LAYER_FAIL=$at:0 OCL_LAYER_TYPE=4
    expect_exit 0 "$FATHOM" train --data karate --layers 3 --checkpoint-every 5 --threads 1 --json --epochs 10
    unset OCL_LAYER_FAIL OCL_LAYER_TYPE
    [ "$(sed -n 's/^fired //p' report)" = 1 ] || fail "auto: read $at was not made wrong"
    same "$(grep -c 'continuing on the CPU' err)" 1 "lines about continuing, read $at wrong"
    same "$(field "d['result']" out)" "$(cat wanted)" "result when read $at is wrong"
    same "$(field "d['status']" out)" "$([ $at = wrong:1 ] && echo ok || echo fell_back)" "status when read $at is wrong"
done
