# opencl_gpu_amd.sh - compiles the kernels for AMD GPUs: no scratch, few registers, and the table of cl/README.md.
# labels: asan-skip
. "$SOURCE_DIR/tests/support/gpu.sh"
compile_for amd
