# opencl_oclgrind.sh - every operation under Oclgrind with checks for races, uninitialised memory and API errors. Its exit
# code is meaningless: the log must be empty, no runtime error printed, and a kernel with a race must be detected.
# labels: opencl asan-skip
need_command
command -v oclgrind >/dev/null || skip "oclgrind is not installed"
[ -x "$BUILD_DIR/tests/opencl_ops" ] || skip "the operation tests are not built"

# Without -O0 an unsupported instruction silently gives wrong results.
simulate() {
    rm -f races.log
    timeout 500 oclgrind --data-races --uninitialized --check-api --build-options -O0 --max-errors 20 \
        --log races.log "$@" >sim.out 2>sim.err
}
clean() { [ ! -s races.log ] && ! grep -q 'runtime error detected' sim.err; }

# --- the detector works: a store to one address by all work-items is a race
mkdir kernels
cp "$SOURCE_DIR"/cl/*.cl "$SOURCE_DIR"/cl/*.h kernels/
sed -i 's/store_at((float4)(a.value), .*;/y[a.y.off] = (float)j;/' kernels/pointwise.cl
cmp -s kernels/pointwise.cl "$SOURCE_DIR/cl/pointwise.cl" && fail "the kernel was not changed"
FATHOM_CL_DIR=$TEST_TMP/kernels simulate "$FATHOM" selftest --device opencl:0 --op fill || true
clean && fail "a kernel with a race passes: $(cat sim.out sim.err)"

# --- the operations, up to a size that a simulator can handle
largest=1500
[ "${FATHOM_TEST_DEVICES:-}" != all ] || largest=60000
TEST_LARGEST=$largest simulate "$BUILD_DIR/tests/opencl_ops" || fail "a case fails: $(cat sim.out sim.err)"
grep -q 'every_case_passes:PASS' sim.out || fail "the cases did not run: $(cat sim.out sim.err)"
clean || fail "Oclgrind reports: $(head -40 races.log) $(cat sim.err)"

# --- a training, without checks for speed
if [ "${FATHOM_TEST_DEVICES:-}" = all ]; then
    . "$SOURCE_DIR/tests/support/runtime.sh"
    train_as_cpu karate oclgrind --build-options -O0
fi
