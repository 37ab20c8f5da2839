#!/usr/bin/env bash
# cli_ranks.sh - one run on several ranks, as users type it: threads and MPI give the same bits, a run continues on the same and
# on another number of ranks, options that one device alone has are refused, errors come once, and the plan of ranks.
# labels: asan-skip
need_command
command -v python3 >/dev/null || skip "python3 is not installed"
run=(train --quiet --layers 6 --threads 1)

# field FILE PATH: a member of a JSON document.
field() {
    python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))
for key in sys.argv[2].split("."):
    d = d[int(key)] if key.isdigit() else d[key]
print(d)' "$1" "$2"
}
# last_loss FOLDER
last_loss() { tail -n 1 "$1/epochs.jsonl" | sed -E 's/.*"loss":([0-9.]+).*/\1/'; }
# close A B: two losses within 1e-6.
close() { awk -v a="$1" -v b="$2" 'BEGIN {d = a - b; exit !(d < 1e-6 && d > -1e-6)}'; }

# --- threads: resumed on four, on two and on one rank ---
must "$FATHOM" "${run[@]}" --epochs 8 --device cpu,cpu,cpu,cpu --out four >/dev/null
same "$(field four/run.json ranks)" 4 "ranks in run.json"
same "$(field four/run.json status)" ok "status"
must "$FATHOM" "${run[@]}" --epochs 4 --device cpu,cpu,cpu,cpu --out half >/dev/null
cp -r half fewer
must "$FATHOM" "${run[@]}" --epochs 8 --device cpu,cpu,cpu,cpu --out half --resume >/dev/null
cmp -s four/state.safetensors half/state.safetensors || fail "four ranks resumed on four: other bits"
cmp -s four/model.safetensors half/model.safetensors || fail "four ranks resumed on four: another model"
must "$FATHOM" "${run[@]}" --epochs 6 --device cpu,cpu --out fewer --resume >/dev/null
must "$FATHOM" "${run[@]}" --epochs 8 --device cpu --out fewer --resume >/dev/null
close "$(last_loss four)" "$(last_loss fewer)" ||
    fail "four, then two, then one: loss $(last_loss fewer) instead of $(last_loss four)"
same "$(field fewer/run.json ranks)" 1 "ranks of the last part"
same "$(field fewer/run.json order)" "$(field four/run.json order)" "the order is kept"

# --- the same bits by every launcher ---
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
launched=
for name in openmpi mpich; do
    [ -f "$BUILD_DIR/fathom_$name.so" ] && command -v "mpirun.$name" >/dev/null || continue
    launched=$name
    timeout 120 "mpirun.$name" -np 4 "$FATHOM" "${run[@]}" --epochs 8 --device cpu --out "$name" >out 2>err ||
        fail "$name: exit code $?: $(cat err)"
    cmp -s four/state.safetensors "$name/state.safetensors" || fail "$name: other bits than threads"
    same "$(grep -c 'test accuracy' out)" 1 "$name: results that are printed"
    code=0
    timeout 60 "mpirun.$name" -np 3 "$FATHOM" train --quiet --data nosuch >out 2>err || code=$?
    same "$(grep -c 'fathom: nosuch' err)" 1 "$name: messages about missing data: $(cat err)"
    [ $code != 0 ] || fail "$name: missing data: exit code 0"
done
[ -n "$launched" ] || echo "neither Open MPI nor MPICH: threads only"

# --- a rank of a device of another kind ---
if [ -n "${OPENCL_LAYERS:-}" ]; then
    "$FATHOM" "${run[@]}" --epochs 30 --device cpu,opencl:0 --order bisection --json >two.json 2>err || fail "$(cat err)"
    "$FATHOM" "${run[@]}" --epochs 30 --device cpu --order bisection --json >one.json 2>err || fail "$(cat err)"
    python3 - <<'PY' || fail "cpu,opencl:0 and cpu differ: $(grep test_accuracy one.json two.json)"
import json
one, two = (json.load(open(f + ".json"))["result"] for f in ("one", "two"))
assert abs(one["test_accuracy"] - two["test_accuracy"]) < 0.05
PY
fi

# --- refused, with exit code 2 and one message ---
# refuse WORDS OPTION...
refuse() {
    local words=$1 code=0
    shift
    "$FATHOM" train --quiet --epochs 2 "$@" >out 2>err || code=$?
    same "$code" 2 "exit code of: $*"
    grep -qF -- "$words" err || fail "$*: no '$words' in: $(cat err)"
}
refuse "--layer-metrics works on one device only" --device cpu,cpu --layer-metrics 2 --out layers
refuse "--fallback cpu works on one device only" --device cpu,cpu --fallback cpu
refuse "--ranks is for --dry-run" --ranks 2
refuse "another order of the nodes" --device cpu,cpu --order own --out four --resume
refuse "order=bisection" --device cpu --out four --resume --order bisection

# --- an error of one rank ends all: the state of another epoch cannot be written ---
mkdir full && code=0
(ulimit -f 20 && "$FATHOM" "${run[@]}" --epochs 4 --device cpu,cpu --out full/run >out 2>err) || code=$?
same "$code" 1 "exit code when a file cannot be written: $(cat err)"

# --- the plan: rows and traffic add up ---
"$FATHOM" train --quiet --dry-run --ranks 3 --json >plan.json 2>err || fail "the plan: $(cat err)"
python3 - <<'PY' || fail "the plan does not add up: $(head -c 600 plan.json)"
import json
p = json.load(open("plan.json"))
ranks = p["plan"]
assert p["ranks"] == len(ranks) == 3 and p["status"] == "dry_run"
assert sum(r["rows"] for r in ranks) == p["data"]["nodes"]
assert sum(r["entries"] for r in ranks) == 2 * p["data"]["edges"] + p["data"]["nodes"]
assert sum(r["bytes_sent_per_epoch"] for r in ranks) == sum(r["bytes_received_per_epoch"] for r in ranks)
assert max(r["memory"]["planned_bytes"] for r in ranks) < p["memory"]["planned_bytes"]
PY
"$FATHOM" train --dry-run --ranks 3 >out 2>err || fail "the plan: $(cat err)"
grep -q 'ranks buy' out || fail "the plan says: $(cat out)"
