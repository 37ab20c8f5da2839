# opencl_rusticl.sh - every operation on Mesa's rusticl with llvmpipe; with --devices all also a training.
# labels: opencl asan-skip
need_command
[ -e /etc/OpenCL/vendors/rusticl.icd ] || skip "rusticl is not installed; install mesa-opencl-icd"
mkdir vendors
cp /etc/OpenCL/vendors/rusticl.icd vendors/
export OCL_ICD_VENDORS=$TEST_TMP/vendors RUSTICL_ENABLE=llvmpipe
"$FATHOM" devices >list 2>notes
grep -q 'opencl:0 .*llvmpipe' list || skip "rusticl lists no llvmpipe: $(cat notes)"
grep -q 'llvmpipe.* is for tests on small graphs only' notes || fail "no note about its truncated loops: $(cat notes)"
expect_exit 0 "$FATHOM" selftest --device opencl:0
tail -1 out | grep -q ' 0 failed' || fail "$(tail -1 out)"
TEST_DEVICE=opencl:0 expect_exit 0 "$BUILD_DIR/tests/opencl_ops"
if [ "${FATHOM_TEST_DEVICES:-}" = all ]; then
    . "$SOURCE_DIR/tests/support/runtime.sh"
    train_as_cpu embedded
fi
