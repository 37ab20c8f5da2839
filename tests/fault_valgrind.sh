# fault_valgrind.sh - a small run under valgrind's memcheck: no uninitialised read, no leak. On the CPU; with --long also on
# PoCL with a warm kernel cache, where valgrind also checks the accesses of kernels.
# labels: asan-skip
need_command
command -v valgrind >/dev/null || skip "valgrind is not installed"
[ "$(uname -m)" = x86_64 ] || skip "the settings that avoid instructions unknown to valgrind are for x86-64"
grep -q avx2 /proc/cpuinfo || skip "this processor has no AVX2"
# Valgrind knows no AVX-512.
export OPENBLAS_CORETYPE=Haswell FATHOM_ISA=avx2 OMP_NUM_THREADS=1
# checked ARGS...: fathom under memcheck.
checked() {
    valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite \
        --suppressions="$SOURCE_DIR/tests/support/valgrind.supp" "$FATHOM" "$@" >out 2>err ||
        fail "'fathom $*' under valgrind: exit code $?, $(head -n 40 err)"
}

# --- it detects a seeded bug
if command -v cc >/dev/null; then
    printf '#include <stdlib.h>\nint main(void) { int *x = malloc(8); return x[1] > 3 ? 1 : 0; }\n' >seeded.c
    cc -O0 -g seeded.c -o seeded
    ! valgrind -q --error-exitcode=99 ./seeded >out 2>err || fail "valgrind does not report an uninitialised value"
fi
checked train --device cpu --data karate --layers 2 --epochs 2 --threads 1 --quiet --out run
checked train --device cpu --out run --resume --epochs 3 --threads 1 --quiet
checked eval --device cpu --checkpoint run/model.safetensors --data karate --threads 1 --logits z.npy --quiet
if [ "${FATHOM_TEST_LONG:-}" = 1 ] && [ -f /etc/OpenCL/vendors/pocl.icd ]; then
    export OCL_ICD_VENDORS=/etc/OpenCL/vendors/pocl.icd
    # the first run fills the cache with kernels for the processor that valgrind shows
    valgrind -q "$FATHOM" train --device opencl:0 --data karate --layers 2 --epochs 2 --threads 1 --quiet >out 2>err || true
    checked train --device opencl:0 --data karate --layers 2 --epochs 2 --threads 1 --quiet
fi
