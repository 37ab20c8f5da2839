# test_gpu_nvidia.sh - the kernels as machine code for NVIDIA's GPUs: no stack frame, few registers, the table of
# cl/README.md. Without ptxas as far as PTX.
# labels: asan-skip
. "$SOURCE_DIR/tests/support/gpu.sh"
compile_for nvidia
