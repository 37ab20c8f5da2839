# test_gpu_intel.sh - the kernels as machine code for Intel's GPUs: no spill, the table of cl/README.md.
# labels: asan-skip
. "$SOURCE_DIR/tests/support/gpu.sh"
compile_for intel
