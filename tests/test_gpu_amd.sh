# test_gpu_amd.sh - the kernels as machine code for AMD's GPUs: no scratch, few registers, the table of cl/README.md.
# labels: asan-skip
. "$SOURCE_DIR/tests/support/gpu.sh"
compile_for amd
