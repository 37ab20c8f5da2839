# gpu.sh - for opencl_gpu_*.sh: compiles the kernels by tests/gpu_targets, after a check that it refuses a bad kernel.

# compile_for VENDOR
compile_for() {
    local long=() code=0 last=31
    [ -z "${FATHOM_TEST_LONG:-}" ] || long=(--long)
    # --- control: 512 floats live in a loop (176 on Intel) exceed the registers, and a table that lacks a kernel is out of
    # date; both must be reported
    [ "$1" != intel ] || last=10
    mkdir bad
    cp "$SOURCE_DIR"/cl/{philox.h,args.h,args_pairwise.h,common.h,optim.cl} bad/
    {
        echo '__kernel void hoard(__global float16 *x, uint n) {'
        for i in $(seq 0 $last); do echo "float16 v$i = x[$i * n + get_global_id(0)];"; done
        echo 'for (uint i = 0; i < n; i++) {'
        for i in $(seq 0 $last); do echo "v$i = v$i * v$(((i + 1) % (last + 1))) + x[i];"; done
        echo '}'
        for i in $(seq 0 $last); do echo "x[$i * n + get_global_id(0)] = v$i;"; done
        echo '}'
    } >>bad/optim.cl
    CL_DIR=$PWD/bad "$SOURCE_DIR/tests/gpu_targets" "$1" --check >out 2>err || code=$?
    [ $code != 77 ] || skip "$(sed 's/^gpu_targets: //' err)"
    grep -q 'lists other kernels' err || fail "a kernel that is not in the table passes: $(cat err)"
    grep -q 'PTX only' err || grep -q 'hoard spills' err || fail "a kernel that spills passes: $(cat err)"
    # --- the kernels
    code=0
    "$SOURCE_DIR/tests/gpu_targets" "$1" --check "${long[@]}" >out 2>err || code=$?
    [ $code != 77 ] || skip "$(sed 's/^gpu_targets: //' err)"
    [ $code = 0 ] || fail "$(cat err)"
}
