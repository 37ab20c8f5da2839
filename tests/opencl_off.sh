# opencl_off.sh - -DFATHOM_OPENCL=OFF builds without OpenCL headers and computes on the CPU.
# labels: asan-skip
need_command
mkdir -p poison/CL
echo '#error an OpenCL header was included' | tee poison/CL/cl.h poison/CL/opencl.h >poison/clblast_c.h
cp poison/CL/cl.h poison/CL/cl_icd.h
cmake -S "$SOURCE_DIR" -B off -G Ninja -DFATHOM_OPENCL=OFF -DFATHOM_TESTS=OFF -DCMAKE_BUILD_TYPE=Debug \
    -DCMAKE_C_FLAGS="-O0 -I$TEST_TMP/poison" >log 2>&1 || fail "does not configure: $(tail -5 log)"
cmake --build off --target product -j2 >log 2>&1 || fail "does not build: $(grep -m5 error log)"
[ ! -e off/fathom_opencl.so ] || fail "the module was built"
expect_exit 0 off/fathom devices
grep -q '^ \*0 *cpu ' out || fail "the CPU is not listed: $(cat out)"
cat out err >both
grep -q 'fathom_opencl.so is not there' both || fail "no note about the module: $(cat both)"
expect_exit 0 off/fathom selftest --device cpu --op fill
