# cli_sweep.sh - `fathom sweep` from outside: a cell is what `fathom train` gives, a kill loses nothing and repeats
# nothing, a changed recipe or data set is noticed, one failed run does not stop the others.
need_command
command -v python3 >/dev/null || skip "python3 is not there to read the results with"

# rows FILE: the deciding columns of each run, sorted: what must not depend on when, where and in which order it ran.
rows() {
    python3 - "$1" <<'PY'
import json, sys
skip = {"total_s", "load_s", "build_s", "median_epoch_ms", "min_epoch_ms", "finished"}
for row in sorted(json.dumps({k: v for k, v in json.loads(line).items() if k not in skip}, sort_keys=True)
                  for line in open(sys.argv[1])):
    print(row)
PY
}
small="--recipe table1 --data karate --models gcn,sgc --norms none,group --layers 2,4 --epochs 8 --seeds 2 --split random:3,3 --missing-rate .5 --device cpu --quiet"

# --- the four recipes have the paper's runs
for expected in table1:720 table2:3360 depth:6720 grid:180 remedies:360; do
    expect_exit 0 "$FATHOM" sweep --recipe "${expected%:*}" --dry-run --quiet
    [ "$(wc -l <out)" = "${expected#*:}" ] || fail "${expected%:*} has $(wc -l <out) runs"
done

# --- a sweep from start to end; journal, CSV and JSONL agree
# shellcheck disable=SC2086
expect_exit 0 "$FATHOM" sweep $small --jobs 2 --out whole --json
python3 - <<'PY' || fail "the results of a whole sweep"
import csv, json
summary = json.load(open("out"))
assert summary["runs"] == summary["finished"] == 16 and summary["failed"] == 0 and summary["status"] == "ok", summary
journal = [json.loads(line) for line in open("whole/journal.jsonl")]
results = [json.loads(line) for line in open("whole/results.jsonl")]
table = list(csv.DictReader(open("whole/results.csv")))
assert len(journal) == len(results) == len(table) == 16
assert len({row["cell"] for row in journal}) == 16
assert sorted(r["cell"] for r in journal) == sorted(r["cell"] for r in results)
for row, line in zip(results, table):
    for key in ("version", "data_sha256", "config_sha256", "split", "seed", "preset", "device", "driver", "test_accuracy"):
        assert row[key] not in (None, ""), key
    assert float(line["test_accuracy"]) == row["test_accuracy"] and list(line) == list(row)
    assert (row["groups"], row["lambda"], row["lambda_from"]) == ((10, 0.01, "preset") if row["norm"] == "group" and row["model"] == "gcn" else
                                                                  (10, 0.005, "preset") if row["norm"] == "group" else (0, None, None)), row
PY

# --- the same cell, the same seed, the same result as a single train
python3 - <<'PY' >cell || fail "no cell to repeat"
import json
row = [r for r in map(json.loads, open("whole/results.jsonl")) if r["norm"] == "group" and r["layers"] == 4 and r["model"] == "gcn" and r["seed"] == 200][0]
print(row["test_accuracy"], row["val_accuracy"], row["best_epoch"], row["loss"], row["group_distance_ratio"], row["dirichlet_energy"])
PY
expect_exit 0 "$FATHOM" train --data karate --model gcn --norm group --layers 4 --epochs 8 --seed 200 --split random:3,3 --missing-rate .5 --device cpu --threads 2 --json
python3 - <<'PY' >single
import json
r = json.load(open("out"))["result"]
print(r["test_accuracy"], r["val_accuracy"], r["best_epoch"], r["loss"], r["group_distance_ratio"], r["dirichlet_energy"])
PY
cmp -s cell single || fail "a cell differs from a single train: $(cat cell) and $(cat single)"

# --- alpha and theta of GCNII are options: they replace the recipe's lines, and a cell is what train gives with them
expect_exit 0 "$FATHOM" sweep --recipe table1 --data karate --models gcnii --norms none --layers 3 --missing-rate 0 --seeds 1 --epochs 4 --alpha 0.3 --theta 0.9 --device cpu --out gcnii
same "$(field "d['alpha'], d['theta']" gcnii/results.jsonl)" "(0.3, 0.9)" "alpha and theta of a cell"
expect_exit 0 "$FATHOM" train --data karate --model gcnii --norm none --layers 3 --seed 100 --epochs 4 --alpha 0.3 --theta 0.9 --device cpu --json
same "$(field "d['result']['loss']" out)" "$(field "d['loss']" gcnii/results.jsonl)" "loss with alpha and theta"
expect_exit 2 "$FATHOM" sweep --recipe table1 --alpha 2 --dry-run
grep -q -e "--alpha '2': give a number from 0 to 1" err || fail "no range of alpha: $(cat err)"
expect_exit 2 "$FATHOM" sweep --recipe table1 --theta x --dry-run
grep -q -e "--theta 'x': give a number from 0 to 1000" err || fail "no range of theta: $(cat err)"

# --- skip connections of a recipe: a cell is what train gives with them; models without them have none
expect_exit 0 "$FATHOM" sweep --recipe table1 --data karate --models gcn,sgc --norms group --layers 4 --missing-rate 0 --seeds 1 --epochs 4 --skip residual --skip-weight 0.3 --device cpu --out skips
same "$(field "[(r['model'], r['skip'], r['skip_weight']) for r in map(json.loads, open('skips/results.jsonl'))]" skips/sweep.json)" \
    "[('gcn', 'residual', 0.3), ('sgc', None, None)]" "skip connections of the cells"
expect_exit 0 "$FATHOM" train --data karate --layers 4 --seed 100 --epochs 4 --skip residual --skip-weight 0.3 --device cpu --json
same "$(field "d['result']['loss']" out)" "$(head -n 1 skips/results.jsonl | field "d['loss']" /dev/stdin)" "loss with skip connections"
expect_exit 2 "$FATHOM" sweep --recipe table1 --skip 2 --dry-run
grep -q -e "--skip: unknown value '2'" err || fail "an unknown skip: $(cat err)"

# --- lambda chosen on the validation set: the choice is on record; several devices take cells from one queue
expect_exit 0 "$FATHOM" sweep --recipe table1 --data karate --models gcn --norms group --layers 2 --seeds 1 --epochs 5 --lambda auto --device cpu --out auto
python3 -c 'import json; r = json.loads(open("auto/journal.jsonl").read()); assert r["lambda"] > 0 and r["lambda_from"] == "auto", r' ||
    fail "the lambda that was chosen is not in the journal"
if "$FATHOM" devices --json | grep -q '"opencl:0"'; then
    for seeds in 12 60 300; do # a busy machine opens the slower device late
        expect_exit 0 "$FATHOM" sweep --recipe table1 --data karate --models gcn --norms group --layers 15 --seeds "$seeds" --epochs 400 --jobs 1 --device cpu,opencl:0 --out "both$seeds"
        backends=$(python3 -c 'import json, sys; print(*sorted({json.loads(l)["backend"] for l in open(sys.argv[1])}))' "both$seeds/journal.jsonl")
        [ "$backends" != "cpu opencl" ] || break
    done
    [ "$backends" = "cpu opencl" ] || fail "only $backends took cells from the queue of two devices"
fi

# --- killed again and again, in mid-run: the same rows in the end, each once
starts=0
until [ -e killed/results.csv ] && [ "$(wc -l <killed/results.csv)" = 17 ]; do
    starts=$((starts + 1))
    [ "$starts" -lt 60 ] || fatal "60 starts were not enough"
    # shellcheck disable=SC2046,SC2086
    "$FATHOM" sweep ${small/--epochs 8/--epochs 400} --jobs 2 --out killed $(resume_of killed) >out 2>err &
    pid=$!
    if [ "$starts" -le 6 ]; then
        sleep "0.$((starts * 7 % 10 + 1))"
        kill -9 "$pid" 2>/dev/null || true
    fi
    wait "$pid" 2>/dev/null || true
done
# shellcheck disable=SC2086
expect_exit 0 "$FATHOM" sweep ${small/--epochs 8/--epochs 400} --jobs 1 --out calm
rows calm/journal.jsonl >calm.rows
rows killed/journal.jsonl >killed.rows
cmp calm.rows killed.rows || fail "a sweep that was killed $starts times differs from one that was not"
# half a line at the end, as a power failure leaves it
head -c -100 killed/journal.jsonl >cut && mv cut killed/journal.jsonl
# shellcheck disable=SC2086
expect_exit 0 "$FATHOM" sweep ${small/--epochs 8/--epochs 400} --out killed --resume --json
[ "$(python3 -c 'import json; print(json.load(open("out"))["finished_before"])')" = 15 ] || fail "not one run was lost with the line"
rows killed/journal.jsonl >killed.rows
cmp calm.rows killed.rows || fail "the run lost with half a line was not repeated to the same"

# --- Ctrl-C: exit 130, and --resume continues
# shellcheck disable=SC2086
"$FATHOM" sweep ${small/--epochs 8/--epochs 100000} --out stopped >out 2>err &
pid=$!
sleep 1
kill -INT "$pid"
code=0
wait "$pid" || code=$?
[ "$code" = 130 ] || fail "Ctrl-C gave exit code $code: $(cat err)"
grep -q 'resume' err || fail "no word of --resume after Ctrl-C: $(cat err)"

# --- a folder in use, another recipe, another data set
# shellcheck disable=SC2086
expect_exit 2 "$FATHOM" sweep $small --out whole
grep -q -- '--resume' err || fail "a used folder is refused without a word of --resume: $(cat err)"
# shellcheck disable=SC2086
expect_exit 2 "$FATHOM" sweep ${small/--epochs 8/--epochs 9} --out whole --resume
grep -q "'epochs 8' there, 'epochs 9' now" err || fail "a changed recipe is not named: $(cat err)"
expect_exit 0 "$FATHOM" data make sbm --nodes 60 --classes 3 --features 12 --edges 150 --seed 1 -o g.npz
expect_exit 0 "$FATHOM" sweep --recipe table1 --data g.npz --models gcn --norms none --layers 2 --epochs 2 --seeds 1 --split random:5,5 --device cpu --out g
expect_exit 0 "$FATHOM" data make sbm --nodes 60 --classes 3 --features 12 --edges 150 --seed 2 -o g.npz
expect_exit 4 "$FATHOM" sweep --recipe table1 --data g.npz --models gcn --norms none --layers 2 --epochs 2 --seeds 1 --split random:5,5 --device cpu --out g --resume
grep -q 'another g.npz' err || fail "a changed data set is not noticed: $(cat err)"

# --- nothing is begun when a data set is not there
expect_exit 4 env FATHOM_DATA= "$FATHOM" sweep --recipe table1 --data karate,no-such-set --out absent
[ ! -e absent/sweep.json ] || fail "a sweep that could not start left its folder taken"

# --- one run fails, the others continue; the exit code, the summary and failures.jsonl say so
expect_exit 1 "$FATHOM" sweep --recipe table1 --data karate --models gcn --norms none,group --layers 700 --seeds 1 --epochs 5 --lambda .001,1000 --device cpu --out failing --json
python3 - <<'PY' || fail "the summary of a sweep with a failed run: $(cat out)"
import json
summary = json.load(open("out"))
failures = [json.loads(line) for line in open("failing/failures.jsonl")]
finished = [json.loads(line) for line in open("failing/journal.jsonl")]
assert summary["failed"] == len(failures) >= 1 and summary["status"] == "failed" and summary["error"]["code"] == 1
assert summary["finished"] == len(finished) and summary["finished"] + summary["failed"] == 3
assert all(f["error"] and f["status"] == "failed" for f in failures)
PY

# --- what cannot be understood is refused
expect_exit 2 "$FATHOM" sweep --recipe tabel1 --out x
grep -q 'did you mean table1' err || fail "no suggestion: $(cat err)"
expect_exit 2 "$FATHOM" sweep --recipe table1 --norms grup --out x
grep -q -- "--norms" err || fail "the option is not named: $(cat err)"
printf 'data karate\nmodels gcn\nnorms none\nlayers 2\nseeds 1\nepochs 2\n' >own.recipe
expect_exit 0 "$FATHOM" sweep --recipe own.recipe --device cpu --out own
[ "$(wc -l <own/journal.jsonl)" = 1 ] || fail "a recipe of one's own"
