# opencl_gpu_meter.sh - gpu_meter counts kernels right whose counts are known by hand, notices kernels that are worse than
# its table, and finds those of cl/ no worse than in cl/README.md. labels: asan-skip
meter=$BUILD_DIR/tests/gpu_meter.so
[ -e "$meter" ] || skip "gpu_meter needs x86-64, a build without sanitizers and the OpenCL module"

# --- known.c: kernel, launches, sectors / unique, lanes in %, most loads of an item, barriers ---
code=0 long=()
[ -z "${FATHOM_TEST_LONG:-}" ] || long=(--long)
"$SOURCE_DIR/tests/gpu_meter" --check "${long[@]}" >out 2>err || code=$?
[ $code != 77 ] || skip "$(sed 's/^gpu_meter: //' err)"
clang=$(compgen -c clang- | grep -xE 'clang-(1[5-9]|[2-9][0-9])' | sort -uV | head -1)
mkdir known
METER_CLANG=$clang METER_COMPILE=$SOURCE_DIR/tests/meter/compile METER_DIR=$PWD/known METER_OUT=$PWD/counted LD_PRELOAD=$meter \
    "$BUILD_DIR/tests/meter_known" 2>log || fatal "meter_known: $(cat log)"
cut -f 1-6 counted | tr '\t' ' ' >got
cat >want <<'TEXT'
plain 1 1.00 100.0 1 0
shared 2 1.25 100.0 1 0
strided 2 4.50 100.0 1 0
vectors 2 1.00 100.0 1 0
triangle 2 70.89 67.7 64 0
mirror 2 1.00 100.0 1 1
TEXT
diff want got || fail "kernels with known counts are counted otherwise (< by hand, > counted)"

# --- the kernels ---
[ $code = 0 ] || fail "$(cat err)"

# --- control: a table whose first kernel loaded half as often, and that lacks the second, must be missed by both ---
first=$(sed -n 's/^| `\([a-z_0-9]*\)`.*/\1/p' out | sed -n 1p) second=$(sed -n 's/^| `\([a-z_0-9]*\)`.*/\1/p' out | sed -n 2p)
awk -F ' *\\| *' -v first="\`$first\`" -v second="\`$second\`" '
    $2 == second { next }
    $2 == first { printf "| %s | %s | %s | %s | %d | %s | %s |\n", $2, $3, $4, $5, $6 / 2 - 4, $7, $8; next }
    1' out >better.md
code=0
METER_README=$PWD/better.md "$SOURCE_DIR/tests/gpu_meter" --check >out2 2>err2 || code=$?
[ $code = 1 ] || fail "kernels that are worse than the table pass: exit $code"
grep -q "^gpu_meter: $first on cora: loads of an item" err2 || fail "a kernel with more loads is not named: $(cat err2)"
grep -q "^gpu_meter: $second on cora: a new kernel" err2 || fail "a kernel that is not in the table passes: $(cat err2)"
[ "$(grep -c ' on cora: ' err2)" = 2 ] || fail "other kernels are refused, too, or the counts of two runs differ: $(cat err2)"
