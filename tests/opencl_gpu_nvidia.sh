# opencl_gpu_nvidia.sh - compiles the kernels for NVIDIA GPUs: no stack frame, few registers, and the table
# of cl/README.md. Without ptxas: PTX only.
# labels: asan-skip
. "$SOURCE_DIR/tests/support/gpu.sh"
compile_for nvidia
