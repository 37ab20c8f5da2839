# unit_callgrind.sh - instructions of one epoch on the CPU back end, which a busy machine does not change: one thread,
# AVX2 loops, OpenBLAS's Haswell kernels, 4 layers of GCN with group norm on the embedded graph.
# labels: asan-skip
#
# The figure is that of gcc 12 with -O2. A commit that moves an epoch's count by more than a tenth writes the new figure
# here and says why: an increase must be explained, a decrease must be recorded.
RECORDED=24409774
ADAM=242338 # of them in Adam, which must stay in vectors: scalar it took 1317367

[ "$(uname -m)" = x86_64 ] || skip "the recorded figure is for x86-64"
command -v valgrind >/dev/null || skip "valgrind is not installed"
compiler=$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' "$BUILD_DIR/CMakeCache.txt")
"$compiler" --version | head -1 | grep -Eq '^(gcc|cc) .* 12\.' || skip "the recorded figure is for gcc 12, and this is another compiler"
grep -q '^CMAKE_BUILD_TYPE:[A-Z]*=Release' "$BUILD_DIR/CMakeCache.txt" || skip "the recorded figure is for a release build"
grep -q avx2 /proc/cpuinfo || skip "this processor has no AVX2"

# instructions N: how many a run of N epochs executes.
instructions() {
    OPENBLAS_CORETYPE=Haswell OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 FATHOM_ISA=avx2 \
        valgrind --tool=callgrind --callgrind-out-file="callgrind.$1" "$BUILD_DIR/tests/epochs" "$1" >"out.$1" 2>"err.$1" ||
        fail "epochs $1 under callgrind: $(tail -n 5 "err.$1")"
    grep -q '^loss [0-9]' "out.$1" || fail "epochs $1 printed '$(cat "out.$1")'"
    sed -n 's/^\(summary\|totals\): //p' "callgrind.$1" | tail -n 1
}

two=$(instructions 2)
five=$(instructions 5)
epoch=$(((five - two) / 3))
echo "instructions of an epoch: $epoch, recorded: $RECORDED"
[ $((epoch * 10)) -le $((RECORDED * 11)) ] ||
    fail "an epoch takes $epoch instructions, more than a tenth above the recorded $RECORDED"
[ $((epoch * 10)) -ge $((RECORDED * 9)) ] ||
    fail "an epoch takes $epoch instructions, more than a tenth below the recorded $RECORDED: lower it, so that the gain is kept"

adam() { # N: its lines, of every file they are in
    callgrind_annotate --threshold=100 "callgrind.$1" | tr -d , | awk '/run_adam_avx2/ { sum += $1 } END { print sum + 0 }'
}
steps=$((($(adam 5) - $(adam 2)) / 3))
echo "instructions of Adam: $steps, recorded: $ADAM"
if [ "$steps" -lt 1 ] || [ "$steps" -gt $((2 * ADAM)) ]; then fail "Adam takes $steps instructions an epoch, recorded are $ADAM"; fi
