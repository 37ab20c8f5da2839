# opencl_devices.sh - configurations of a machine: no driver, platforms without devices, a read-only kernel cache, two
# equal devices, no module, no libOpenCL. Each gives a clear message and a working CPU.
# labels: opencl asan-skip
need_command
[ -f "$BUILD_DIR/fathom_opencl.so" ] || skip "built without OpenCL"
# listed TEXT: `devices` lists the CPU and prints TEXT, and the command computes on the CPU.
listed() {
    expect_exit 0 "$FATHOM" devices
    grep -q '^ \*0 *cpu ' out || fail "the CPU is not selected: $(cat out)"
    cat out err >both
    grep -q -- "$1" both || fail "devices prints '$(cat both)', not '$1'"
    expect_exit 0 "$FATHOM" selftest --device auto --op fill
    expect_exit 3 "$FATHOM" selftest --device opencl:0 --op fill
    grep -q "^fathom: unknown device 'opencl:0'" err || fail "opencl:0 is refused with: $(cat err)"
}

# --- no driver at all
(
    export OCL_ICD_VENDORS=/nonexistent
    listed 'no OpenCL driver is installed (clGetPlatformIDs: CL_PLATFORM_NOT_FOUND_KHR); install'
)

# --- no module; a module whose libraries do not load
(
    export FATHOM_MODULE_DIR=$TEST_TMP/empty
    mkdir -p empty
    listed 'the OpenCL module fathom_opencl.so is not there'
)
(
    mkdir -p broken
    echo 'not a library' >broken/libOpenCL.so.1
    export LD_LIBRARY_PATH=$TEST_TMP/broken
    listed 'the OpenCL module does not load: .*libOpenCL.so.1'
)

# --- platforms without devices, and the cache of PoCL
"$FATHOM" devices >list 2>notes
grep -q 'opencl:0' list || skip "the rest needs PoCL; install pocl-opencl-icd"
if [ -e /etc/OpenCL/vendors/rusticl.icd ]; then
    env -u RUSTICL_ENABLE "$FATHOM" devices >out 2>err
    grep -q 'platform rusticl has no device .*RUSTICL_ENABLE=llvmpipe' err || fail "no note about rusticl: $(cat err)"
fi
if [ -e /etc/OpenCL/vendors/pocl.icd ]; then
    mkdir -p vendors
    cp /etc/OpenCL/vendors/pocl.icd vendors/
    export OCL_ICD_VENDORS=$TEST_TMP/vendors
    (
        export POCL_CACHE_DIR=/proc/nothing
        listed 'platform Portable Computing Language has no device .*POCL_CACHE_DIR'
    )
    # two equal devices stay two: only devices with the same UUID or PCI address are merged
    (
        export POCL_DEVICES='pthread pthread'
        expect_exit 0 "$FATHOM" devices
        grep -q 'opencl:0' out || fail "the first of two is missing: $(cat out)"
        grep -q 'opencl:1' out || fail "the second of two is missing: $(cat out)"
        expect_exit 0 "$FATHOM" selftest --device opencl:1 --op spmm
        expect_exit 0 "$FATHOM" selftest --device opencl:0:1 --op fill
    )
    unset OCL_ICD_VENDORS
fi
# --- one GPU listed by two drivers is one row with an alias that can still be selected; two of one driver stay two
if [ -e /etc/OpenCL/vendors/pocl.icd ] && [ -e /etc/OpenCL/vendors/rusticl.icd ]; then
    cp /etc/OpenCL/vendors/rusticl.icd vendors/
    export OPENCL_LAYERS=$BUILD_DIR/tests/ocl_layer.so OCL_LAYER_TYPE=4
    for card in uuid pci; do
        (
            export OCL_ICD_VENDORS=$TEST_TMP/vendors RUSTICL_ENABLE=llvmpipe
            expect_exit 0 "$FATHOM" devices --json
            [ "$(grep -o '"word"' out | wc -l)" = 3 ] || fail "two GPUs are not two rows: $(cat out)"
            export OCL_LAYER_CARD=$card
            expect_exit 0 "$FATHOM" devices --json
            [ "$(grep -o '"word"' out | wc -l)" = 2 ] || fail "one GPU with one $card is not one row: $(cat out)"
            expect_exit 0 "$FATHOM" devices
            cat out err >both
            grep -q 'opencl:1 (' both || fail "the alias is not listed: $(cat both)"
            expect_exit 0 "$FATHOM" selftest --device opencl:1 --op fill
            export POCL_DEVICES='pthread pthread' RUSTICL_ENABLE=none
            expect_exit 0 "$FATHOM" devices --json
            [ "$(grep -o '"word"' out | wc -l)" = 3 ] || fail "two devices of one driver were merged: $(cat out)"
        )
    done
    unset OPENCL_LAYERS OCL_LAYER_TYPE
fi
# --- auto takes no OpenCL on a CPU, also one that says it is more, or an accelerator in the host's memory
chosen() { # WANTED NAME=VALUE...: the device of `auto`, first in the lists of devices as *0 or *1
    expect_exit 0 env OPENCL_LAYERS="$BUILD_DIR/tests/ocl_layer.so" "${@:2}" "$FATHOM" devices
    grep -q "^ \*[0-9]* *$1" out || fail "auto does not take $1 of ${*:2}: $(cat out)"
}
chosen cpu OCL_LAYER_TYPE=2
chosen cpu OCL_LAYER_TYPE=15
chosen cpu OCL_LAYER_TYPE=8
chosen opencl:0 OCL_LAYER_TYPE=8 OCL_LAYER_UNIFIED=0
chosen opencl:0 OCL_LAYER_TYPE=4
chosen opencl:0 OCL_LAYER_TYPE=4 OCL_LAYER_UNIFIED=0
if command -v clinfo >/dev/null; then
    clinfo -l 2>/dev/null | sed -n 's/^.*-- Device #[0-9]*: //p' >theirs
    expect_exit 0 "$FATHOM" devices --json
    while read -r name; do
        grep -qF -- "$name" out || fail "clinfo lists '$name', fathom does not"
    done <theirs
fi
