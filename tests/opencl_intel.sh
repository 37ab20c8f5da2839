# opencl_intel.sh - every operation and a training on Intel's OpenCL runtime for CPUs, installed by pip into its own
# folder (225 MB, only with --devices all).
# labels: opencl asan-skip
need_command
[ "${FATHOM_TEST_DEVICES:-}" = all ] || skip "only with ./quickstart test --devices all (it downloads 225 MB)"
[ "$(uname -m)" = x86_64 ] || skip "Intel's runtime is for x86-64"
command -v python3 >/dev/null || skip "python3 is not installed (downloads Intel's runtime)"
runtime=$HOME/.cache/fathom/intel-opencl
if [ ! -e "$runtime/lib/libintelocl.so" ]; then
    rm -rf "$runtime"
    mkdir -p "$(dirname "$runtime")"
    { python3 -m venv "$runtime" && "$runtime/bin/pip" install -q intel-opencl-rt intel-cmplr-lib-rt; } >log 2>&1 ||
        skip "Intel's runtime cannot be downloaded: $(tail -1 log)"
fi
mkdir vendors
echo "$runtime/lib/libintelocl.so" >vendors/intel.icd
export OCL_ICD_VENDORS=$TEST_TMP/vendors LD_LIBRARY_PATH=$runtime/lib
"$FATHOM" devices >list 2>notes
grep -q 'opencl:0' list || fail "Intel's runtime lists no device: $(cat list notes)"
expect_exit 0 "$FATHOM" selftest --device opencl:0
tail -1 out | grep -q ' 0 failed' || fail "$(tail -1 out)"
TEST_DEVICE=opencl:0 expect_exit 0 "$BUILD_DIR/tests/opencl_ops"
. "$SOURCE_DIR/tests/support/runtime.sh"
train_as_cpu embedded
