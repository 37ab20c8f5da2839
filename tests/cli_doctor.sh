# cli_doctor.sh - the report of `fathom doctor`: what it holds, that no name of a user, machine or folder is in it, what
# it says of a device that computes wrongly or does not build a kernel, and what is refused.
# labels: opencl asan-skip
need_command
mkdir -p "zaphod beeblebrox" data
home="$TEST_TMP/zaphod beeblebrox" kernels=${POCL_CACHE_DIR:-$XDG_CACHE_HOME/pocl/kcache}
cd "$home"
planted=(HOME="$home" USER=trillian LOGNAME=trillian XDG_CACHE_HOME="$home/cache" FATHOM_DATA="$TEST_TMP/data:$home"
    POCL_CACHE_DIR="$kernels")
mkdir -p "$kernels"
# clean FILE: none of the planted names, nor this machine's.
clean() {
    ! grep -nE 'zaphod|beeblebrox|trillian|marvin' "$1" >found || fail "names are in the report: $(cat found)"
    ! grep -nF -e "$TEST_TMP" -e "$SOURCE_DIR" -e "$BUILD_DIR" "$1" >found || fail "folders are in the report: $(cat found)"
    ! grep -nE '(^|[^A-Za-z0-9])/(home|root|tmp|usr|work)/' "$1" >found || fail "paths are in the report: $(cat found)"
    tail -1 "$1" | grep -qx '== end' || fail "the report is not whole: $(tail -3 "$1")"
}
operations=$(sed -n '/#define BE_OPERATIONS/,/^$/s/.*X(\([a-z_]*\)).*/\1/p' "$SOURCE_DIR/host/backend/operations.h")
[ "$(echo "$operations" | wc -l)" -gt 30 ] || fail "the list of operations was not read"

# --- the CPU, under another machine's name where that can be had
as=()
if unshare --uts hostname marvin 2>/dev/null; then as=(unshare --uts sh -c 'hostname marvin; exec "$@"' sh); fi
expect_exit 0 "${as[@]}" env "${planted[@]}" "$FATHOM" doctor --report --device cpu
[ -f fathom-report.txt ] || fail "the report is not there: $(cat out err)"
grep -q '^written: fathom-report.txt' err || fail "it is not said where the report is: $(cat err)"
clean fathom-report.txt
for op in $operations; do
    grep -Eq "^$op +[0-9]+ cases .* ok$" fathom-report.txt || fail "no self-test of $op: $(cat fathom-report.txt)"
    grep -Eq "^$op[ ,].* quartiles " fathom-report.txt || fail "no time of $op"
done
grep -Eq "^Cora's size, 15 layers of 16: [0-9]+ bytes, .* fits$" fathom-report.txt || fail "no plan of a standard run"
grep -q '^fathom: [0-9]' fathom-report.txt || fail "no version"
grep -q '^ok .*environment: FATHOM_DATA is set: where data sets are' fathom-report.txt || fail "the environment is missing"

# --- an operation that is wrong is reported, and not timed
FATHOM_SABOTAGE=group_apply expect_exit 0 env "${planted[@]}" "$SABOTAGED" doctor --report wrong.txt --device cpu
grep -Eq '^group_apply .* FAILED$' wrong.txt || fail "a wrong operation is not reported: $(grep group_apply wrong.txt)"
grep -q '^group_apply  *not timed: .*wrong result' wrong.txt || fail "a wrong operation is timed"
grep -Eq '^group_stats .* ok$' wrong.txt || fail "the other operations are not reported"

# --- refused
expect_exit 2 "$FATHOM" doctor card.txt
grep -q 'a file goes with --report' err || fail "a file without --report: $(cat err)"
expect_exit 1 "$FATHOM" doctor --report /proc/nowhere/card.txt
grep -q '^fathom: /proc/nowhere/card.txt: cannot be written: No such file' err || fail "said: $(cat err)"
expect_exit 3 "$FATHOM" doctor --report card.txt --device nonsense
[ ! -e card.txt ] || fail "an unknown device leaves a report"

# --- an OpenCL device, with a kernel file that does not build: its log has paths, and the other operations are reported
"$FATHOM" devices >list 2>/dev/null
grep -q 'opencl:0' list || skip "the rest needs an OpenCL device; install pocl-opencl-icd"
mkdir kernels
cp "$SOURCE_DIR"/cl/*.cl "$SOURCE_DIR"/cl/*.h kernels/
sed -i 's/__kernel void adam(__global float/__kernel void adam(__global flaot/' kernels/optim.cl
expect_exit 0 env "${planted[@]}" FATHOM_CL_DIR="$home/kernels" "$FATHOM" doctor --report card.txt --device opencl:0
clean card.txt
grep -Eq '^adam .* FAILED$' card.txt || fail "adam builds: $(grep adam card.txt)"
grep -Eq '^gemm .* ok$' card.txt || fail "adam takes gemm along: $(cat card.txt)"
for limit in 'largest buffer: [0-9]+ bytes' 'local memory: [0-9]+ bytes' 'largest work-group: [0-9]+' \
    'alignment, bits: [0-9]+' 'double arithmetic: 0x' 'extensions: .*cl_khr' 'version: OpenCL'; do
    grep -Eq "^$limit" card.txt || fail "no '$limit' in the report: $(cat card.txt)"
done
