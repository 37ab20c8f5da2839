# opencl_gpu_intel.sh - compiles the kernels for Intel GPUs: no spill, and the table of cl/README.md.
# labels: asan-skip
. "$SOURCE_DIR/tests/support/gpu.sh"
compile_for intel
