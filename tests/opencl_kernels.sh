# opencl_kernels.sh - kernels from a folder (FATHOM_CL_DIR): same results, a wrong kernel is detected and named, a build
# error includes the build log with file and line, and a folder of another user is refused.
# labels: opencl asan-skip
need_command
need_opencl
mkdir kernels
cp "$SOURCE_DIR"/cl/*.cl "$SOURCE_DIR"/cl/*.h kernels/
export FATHOM_CL_DIR=$TEST_TMP/kernels

expect_exit 0 "$FATHOM" selftest --device opencl:0 --op bias_add

sed -i 's/+ load4(b + a.b.off/- load4(b + a.b.off/' kernels/pointwise.cl
cmp -s kernels/pointwise.cl "$SOURCE_DIR/cl/pointwise.cl" && fail "the kernel was not changed"
expect_exit 5 "$FATHOM" selftest --device opencl:0
grep -q 'first bias_add' err || fail "a wrong bias_add is not named: $(cat err)"
grep -q '^bias_add .*FAILED' out || fail "the table does not show it: $(cat out)"

cp "$SOURCE_DIR/cl/pointwise.cl" kernels/
line=$(grep -n '__kernel void fill' kernels/pointwise.cl | cut -d: -f1)
sed -i "${line}s/__global float/__global flaot/" kernels/pointwise.cl
expect_exit 5 "$FATHOM" selftest --device opencl:0 --op fill
cat out err >both
grep -q 'clBuildProgram(pointwise.cl): CL_BUILD_PROGRAM_FAILURE' both || fail "the call is not named: $(cat both)"
grep -q "pointwise.cl:$line:.*flaot" both || fail "the log does not name line $line of pointwise.cl: $(cat both)"

# products are checked before the device is used
cp "$SOURCE_DIR/cl/pointwise.cl" kernels/
sed -i 's/t < g.k;/t + 1 < g.k;/' kernels/dense.cl
cmp -s kernels/dense.cl "$SOURCE_DIR/cl/dense.cl" && fail "the product was not changed"
expect_exit 3 "$FATHOM" selftest --device opencl:0 --op fill
grep -q '^fathom: .* computes wrong matrix products with fathom.s own kernels (dense.cl)' err || fail "message: $(cat err)"

# the CPU replaces the device only if `auto` selected it: a device that reports itself as a GPU is selected
gpu() { env OPENCL_LAYERS="$BUILD_DIR/tests/ocl_layer.so" OCL_LAYER_TYPE=4 "$@"; }
expect_exit 0 gpu "$FATHOM" devices
grep -q '^ \*1 *opencl:0 .*gpu' out || fail "a GPU is not selected: $(cat out)"
expect_exit 0 env -u FATHOM_CL_DIR OPENCL_LAYERS="$BUILD_DIR/tests/ocl_layer.so" OCL_LAYER_TYPE=4 \
    "$FATHOM" selftest --op fill
grep -q '^opencl:0' err || fail "auto does not select the GPU: $(cat err)"
expect_exit 3 gpu "$FATHOM" selftest --device opencl:0 --op fill
expect_exit 3 gpu "$FATHOM" selftest --device gpu --op fill
expect_exit 0 gpu "$FATHOM" selftest --op fill
cat out err >both
grep -q 'computes wrong matrix products.*continuing on the CPU' both || fail "auto prints no note: $(cat both)"

FATHOM_CL_DIR=$TEST_TMP/nowhere expect_exit 2 "$FATHOM" selftest --device opencl:0 --op fill
grep -q 'FATHOM_CL_DIR: .*nowhere is not a folder' err || fail "message: $(cat err)"
rm kernels/dense.cl
expect_exit 2 "$FATHOM" selftest --device opencl:0 --op fill
grep -q 'FATHOM_CL_DIR: .*dense.cl cannot be read' err || fail "message: $(cat err)"
if [ "$(id -u)" = 0 ]; then
    cp "$SOURCE_DIR/cl/dense.cl" kernels/
    chown 65534 kernels
    expect_exit 0 "$FATHOM" devices
    mkdir other
    chown 65534 other
    # root may read everything, so only the owner of the folder decides: neither root nor this user
    FATHOM_CL_DIR=$TEST_TMP/other expect_exit 2 "$FATHOM" selftest --device opencl:0 --op fill
    grep -q 'belongs to another user' err || fail "message: $(cat err)"
fi
