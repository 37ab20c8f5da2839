# opencl_probe.sh - an OpenCL driver that crashes when it lists its devices (as PoCL does without /sys): the driver is
# named, and everything else works. Builds a driver that aborts at a given call.
# labels: opencl asan-skip
need_command
need_opencl
cat >deadly.c <<'C'
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl_icd.h>
#include <stdlib.h>
#include <string.h>
struct _cl_platform_id {
    const cl_icd_dispatch *table;
};
static int at(const char *call) {
    return getenv("DEADLY_AT") && strcmp(getenv("DEADLY_AT"), call) == 0;
}
static cl_int CL_API_CALL devices(cl_platform_id p, cl_device_type t, cl_uint n, cl_device_id *ids, cl_uint *count) {
    (void)p, (void)t, (void)n, (void)ids, (void)count;
    if (at("clGetDeviceIDs"))
        abort();
    return CL_DEVICE_NOT_FOUND;
}
CL_API_ENTRY cl_int CL_API_CALL clGetPlatformInfo(cl_platform_id p, cl_platform_info what, size_t size, void *value, size_t *got) {
    const char *text = what == CL_PLATFORM_EXTENSIONS ? "cl_khr_icd" : "deadly";
    (void)p;
    if (value && size > strlen(text))
        strcpy(value, text);
    if (got)
        *got = strlen(text) + 1;
    return CL_SUCCESS;
}
static const cl_icd_dispatch table = {.clGetPlatformInfo = clGetPlatformInfo, .clGetDeviceIDs = devices};
static struct _cl_platform_id platform = {&table};
CL_API_ENTRY cl_int CL_API_CALL clIcdGetPlatformIDsKHR(cl_uint n, cl_platform_id *ids, cl_uint *count) {
    if (at("clGetPlatformIDs"))
        abort();
    if (ids && n > 0)
        ids[0] = &platform;
    if (count)
        *count = 1;
    return CL_SUCCESS;
}
CL_API_ENTRY void *CL_API_CALL clGetExtensionFunctionAddress(const char *name) {
    return strcmp(name, "clIcdGetPlatformIDsKHR") == 0 ? (void *)clIcdGetPlatformIDsKHR
           : strcmp(name, "clGetPlatformInfo") == 0    ? (void *)clGetPlatformInfo
                                                       : NULL;
}
C
"${CC:-cc}" -shared -fPIC -o deadly.so deadly.c 2>build.err || skip "cannot build a driver: $(head -3 build.err)"
mkdir vendors
echo "$TEST_TMP/deadly.so" >vendors/deadly.icd
[ ! -e /etc/OpenCL/vendors/pocl.icd ] || cp /etc/OpenCL/vendors/pocl.icd vendors/
export OCL_ICD_VENDORS=$TEST_TMP/vendors

# --- it works without the abort
expect_exit 0 "$FATHOM" devices
grep -q 'platform deadly has no device' out err || fail "the driver is not listed: $(cat out err)"

# --- it aborts: every command that lists devices names it, and none crashes
for call in clGetPlatformIDs clGetDeviceIDs; do
    export DEADLY_AT=$call
    message='the OpenCL driver deadly.icd crashes when it lists its devices (signal 6'
    expect_exit 0 "$FATHOM" devices
    cat out err >both
    grep -qF "$message" both || fail "$call: devices prints: $(cat both)"
    expect_exit 0 "$FATHOM" devices --json
    grep -qF "$message" out || fail "$call: the JSON has: $(cat out)"
    expect_exit 0 "$FATHOM" doctor
    cat out err >both
    grep -qF "$message" both || fail "$call: doctor prints: $(cat both)"
    expect_exit 3 "$FATHOM" train --data karate --layers 2 --epochs 2 --device opencl:0
    grep -qF "$message" err || fail "$call: train prints: $(cat err)"
    expect_exit 0 "$FATHOM" train --data karate --layers 2 --epochs 2 --quiet
    [ -z "$(find . -name 'core*')" ] || fail "a core file was left"
done
unset DEADLY_AT

# --- PoCL without /sys
if [ -e vendors/pocl.icd ] && unshare -m true 2>/dev/null; then
    rm vendors/deadly.icd
    without_sys() { unshare -m bash -c 'umount -l /sys && "$@"' - "$@"; }
    if without_sys test ! -e /sys/devices/system/cpu 2>/dev/null; then
        expect_exit 0 without_sys "$FATHOM" devices
        grep -q '^ \*0 *cpu' out || fail "the CPU is not listed: $(cat out)"
        cat out err >both
        ! grep -q 'crashes when it lists' both || grep -q 'driver pocl.icd .* /sys to be mounted' both ||
            fail "without /sys devices prints: $(cat both)"
    fi
fi
