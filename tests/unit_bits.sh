# unit_bits.sh - the weights of 16 short trainings (4 models x 4 norms, 3 layers, embedded graph) are those recorded in
# golden/bits.txt, bit for bit: a change that is meant to keep behaviour keeps every bit. A change of the arithmetic is
# recorded by `RECORD=1 ctest --test-dir build -R unit_bits`, and says why.
# labels: opencl asan-skip
#
# The CPU back end: one list per instruction set, with OpenBLAS's Haswell kernels. PoCL compiles kernels for the processor
# it runs on, so its list is keyed by its version and that processor; other pairs have no list and are left out.
need_command
[ "$(uname -m)" = x86_64 ] || skip "the digests are recorded on x86-64"
compiler=$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' "$BUILD_DIR/CMakeCache.txt")
"$compiler" --version | head -1 | grep -Eq '^(gcc|cc) .* 12\.' || skip "the digests are of gcc 12, and this is another compiler"
grep -q '^CMAKE_BUILD_TYPE:[A-Z]*=Release' "$BUILD_DIR/CMakeCache.txt" || skip "the digests are of a release build"
recorded=$SOURCE_DIR/tests/golden/bits.txt
only_pocl

weights() { # FILE: digest of a safetensors file after its JSON header
    local header
    header=$(od -An -t u8 -N 8 "$1")
    tail -c +$((header + 9)) "$1" | sha256sum | cut -c 1-32
}

trainings() { # KEY DEVICE: appends "KEY MODEL NORM DIGEST" to ./got
    local model norm
    for model in gcn gat sgc gcnii; do
        for norm in none batch pair group; do
            rm -rf run
            expect_exit 0 "$FATHOM" train --data embedded --model $model --norm $norm --layers 3 --epochs 20 --seed 1 \
                --device "$2" --out run --quiet
            echo "$1 $model $norm $(weights run/model.safetensors)" >>got
        done
    done
}

: >got
export OPENBLAS_CORETYPE=Haswell
for isa in base avx2 avx512; do
    case $isa in
    avx2) grep -q avx2 /proc/cpuinfo || continue ;;
    avx512) grep -q 'avx512f.*avx512vl' /proc/cpuinfo || continue ;;
    esac
    FATHOM_ISA=$isa trainings $isa cpu
done
unset OPENBLAS_CORETYPE
"$FATHOM" devices >list 2>/dev/null
if grep -q 'opencl:0' list; then
    "$FATHOM" devices --json >devices.json
    pocl=$(field '[r["driver"] + "-" + r["name"] for r in d["devices"] if r["word"] == "opencl:0"][0]' devices.json | tr ' ' _)
    if [ -n "${RECORD:-}" ] || grep -q "^$pocl " "$recorded"; then
        trainings "$pocl" opencl:0
    else
        echo "no digests are recorded for this OpenCL device ($pocl): $(grep opencl:0 list)"
    fi
fi

if [ -n "${RECORD:-}" ]; then
    cp got "$recorded"
    exit
fi
while read -r line; do
    grep -qxF "$line" "$recorded" || different+=("$line")
done <got
[ -z "${different+set}" ] || fail "other weights than recorded in golden/bits.txt: $(printf '\n  %s' "${different[@]}")"
echo "$(wc -l <got) trainings have the recorded weights"
