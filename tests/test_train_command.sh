# test_train_command.sh - train, eval, metrics and demo from outside: fields, files, refusals, Ctrl-C, kill, resuming to the same
# bits, exit codes.
need_command
command -v python3 >/dev/null || skip "python3 is not there to check JSON with"
export FATHOM_DEVICE=cpu
# shellcheck disable=SC2046
trap 'kill -KILL $(jobs -p) 2>/dev/null || true' EXIT # nothing of a failed test goes on running

# train ARGS...: a small run that takes moments.
train() { "$FATHOM" train --data karate --layers 3 --threads 1 "$@"; }
lines() { sed 's/,"ms":.*//' "$1/epochs.jsonl"; }

# --- the document of a run
expect_exit 0 train --epochs 20 --json --out first
[ "$(head -c 1 out)" = "{" ] || fail "JSON is not alone on standard output: $(head -n 3 out)"
same "$(field "[k for k in 'data config device result time memory status'.split() if k not in d]" out)" "[]" "parts of the document"
same "$(field "[k for k in 'name sha256 nodes edges features classes'.split() if k not in d['data']]" out)" "[]" "data"
same "$(field "[k for k in 'data model norm layers hidden groups lambda dropout lr weight_decay epochs patience seed split missing_rate feature_norm alpha theta preset init out checkpoint_every eval_every threads'.split() if k not in d['config']]" out)" "[]" "config"
same "$(field "[k for k in 'test_accuracy val_accuracy train_accuracy best_epoch epochs loss instance_information_gain group_distance_ratio intra_group_distance inter_group_distance dirichlet_energy dirichlet_energy_mean mean_average_distance'.split() if k not in d['result']]" out)" "[]" "result"
same "$(field "[k for k in 'total_s load_s build_s median_epoch_ms min_epoch_ms'.split() if not d['time'][k] >= 0]" out)" "[]" "time"
same "$(field "d['memory']['planned_bytes'] > 0 and d['memory']['peak_rss_bytes'] > 0" out)" True "memory"
same "$(field "d['status'], d['device']['backend'], 'opencl' in d, d['result']['epochs'], 0 <= d['result']['test_accuracy'] <= 1" out)" \
    "('ok', 'cpu', False, 20, True)" "status"
same "$(field "d['config']['lambda'], d['config']['lr'], d['config']['weight_decay'], d['config']['groups']" out)" \
    "(0.001, 0.005, 0.0005, 10)" "what the recipe gives"
cp out document
for file in run.json epochs.jsonl model.safetensors state.safetensors; do
    [ -s "first/$file" ] || fail "--out has no $file"
done
same "$(field "d['result']" first/run.json)" "$(field "d['result']" document)" "result in run.json"
same "$(wc -l <first/epochs.jsonl)" 20 "lines of epochs.jsonl"
same "$(python3 -c 'import json; print(sorted(json.loads(open("first/epochs.jsonl").readline())))')" \
    "['epoch', 'loss', 'ms', 'test_acc', 'train_acc', 'val_acc']" "fields of epochs.jsonl"

# --- no options: the embedded graph, GCN, group norm, 15 layers
expect_exit 0 "$FATHOM" train --dry-run --json
same "$(field "d['config']['data'], d['config']['model'], d['config']['norm'], d['config']['layers'], d['config']['epochs'], d['config']['seed'], d['config']['hidden'], d['config']['dropout']" out)" \
    "('embedded', 'gcn', 'group', 15, 1000, 100, 16, 0.6)" "defaults"
same "$(field "d['memory']['planned_bytes'] > 0 and d['status']" out)" dry_run "status of a dry run"
expect_exit 0 "$FATHOM" train --dry-run --preset paper
grep -q 'lambda chosen on the validation set' err || fail "--dry-run does not show the preset's lambda: $(cat err)"
grep -q '^memory in all' out || fail "--dry-run does not show the memory: $(cat out)"

# --- resuming: to the same bits after Ctrl-C and after a kill
train --epochs 4000 --out whole --quiet >/dev/null
"$FATHOM" train --data karate --layers 3 --threads 1 --epochs 4000 --out broken --quiet --checkpoint-every 10 >/dev/null 2>err &
pid=$!
await broken/state.safetensors
kill -INT "$pid"
got=0 && wait "$pid" || got=$?
same "$got" 130 "exit code after Ctrl-C"
grep -q 'interrupted after epoch' err || fail "Ctrl-C says: $(cat err)"
killed=0
for _ in 1 2 3; do # killed at some moment, then resumed with nothing but the folder
    "$FATHOM" train --out broken --resume --quiet --threads 1 >/dev/null 2>&1 &
    pid=$!
    sleep 0.05
    kill -KILL "$pid" 2>/dev/null && killed=$((killed + 1))
    wait "$pid" 2>/dev/null || true
    expect_exit 0 python3 -c 'import json; json.load(open("broken/run.json"))'
done
[ "$killed" -gt 0 ] || fail "no run was there to be killed"
expect_exit 0 "$FATHOM" train --out broken --resume --quiet --threads 1
cmp whole/model.safetensors broken/model.safetensors || fail "the resumed run has another model"
cmp whole/state.safetensors broken/state.safetensors || fail "the resumed run has another state"
[ "$(lines whole)" = "$(lines broken)" ] || fail "the resumed run has other epochs"
"$FATHOM" train --epochs 100000 --layers 30 --threads 1 --json --quiet --checkpoint-every 1 --out once >out 2>err &
pid=$!
await once/state.safetensors
kill -INT "$pid"
got=0 && wait "$pid" || got=$?
same "$got" 130 "exit code after Ctrl-C with --json"
same "$(field "d['status'], d['error']['code']" out)" "('interrupted', 130)" "status after Ctrl-C"

# --- a closed terminal (SIGHUP, more than once) saves as SIGTERM does; under nohup nothing happens
if env --default-signal=HUP true 2>/dev/null; then
    env --default-signal=HUP "$FATHOM" train --data karate --epochs 100000 --layers 30 --threads 1 --quiet --checkpoint-every 2 --out hung >out 2>err &
    pid=$!
    await hung/state.safetensors
    kill -HUP "$pid" && kill -HUP "$pid" 2>/dev/null || true
    got=0 && wait "$pid" || got=$?
    same "$got" 130 "exit code after SIGHUP"
    grep -q 'interrupted after epoch .*--resume goes on' err || fail "SIGHUP says: $(cat err)"
    same "$(wc -l <hung/epochs.jsonl)" "$(field "d['result']['epochs']" hung/run.json)" "epochs saved after SIGHUP"
    (trap '' HUP && exec "$FATHOM" train --data karate --epochs 100000 --layers 30 --threads 1 --quiet --checkpoint-every 2 --out ignored >/dev/null 2>err) &
    pid=$!
    await ignored/state.safetensors
    kill -HUP "$pid" && sleep 0.3 && kill -TERM "$pid" || fail "SIGHUP ends a run under nohup: $(cat err)"
    got=0 && wait "$pid" || got=$?
    same "$got" 130 "exit code after SIGTERM"
else
    echo "env has no --default-signal: SIGHUP was not tried"
fi

# --- Ctrl-C before the first result: no table of dashes; while measuring: at once, and the result stands without metrics
"$FATHOM" train --lambda auto --layers 300 --threads 1 --out searching >out 2>err &
pid=$!
await searching/run.json
kill -INT "$pid"
got=0 && wait "$pid" || got=$?
same "$got" 130 "exit code after Ctrl-C in the search for lambda"
grep -q 'interrupted before the first epoch' err || fail "Ctrl-C in the search says: $(cat err)"
[ ! -s out ] || fail "Ctrl-C before the first result prints: $(cat out)"
expect_exit 0 "$FATHOM" data make sbm --nodes 120000 --classes 3 --edges 200000 --features 8 --density 1 -o wide.npz
"$FATHOM" train --data wide.npz --split random:9,9 --norm none --layers 2 --hidden 4 --epochs 2 --threads 1 --json --out measured >out 2>err &
pid=$!
for _ in $(seq 1500); do
    ! grep -q 'measuring over-smoothing' err && kill -0 "$pid" 2>/dev/null || break
    sleep 0.02
done
kill -TERM "$pid"
got=0 && wait "$pid" || got=$?
same "$got" 130 "exit code after SIGTERM while measuring"
same "$(field "d['status'], d['result']['epochs'], d['result']['test_accuracy'] > 0, d['result']['mean_average_distance']" out)" \
    "('interrupted', 2, True, None)" "what a run has that was stopped while it was measured"

# --- Ctrl-C twice: at once, and what is on the disk is whole
"$FATHOM" train --layers 600 --threads 1 --out twice --quiet >/dev/null 2>&1 &
pid=$!
await twice/run.json
kill -INT "$pid"
kill -TERM "$pid"
got=0 && wait "$pid" || got=$?
same "$got" 130 "exit code after Ctrl-C twice"
expect_exit 0 "$FATHOM" train --out twice --resume --epochs 1 --quiet --threads 1

# --- a longer run; other options are refused, and so is a folder that holds another run
expect_exit 0 "$FATHOM" train --out first --resume --epochs 30 --threads 1 --json
same "$(field "d['result']['epochs'], d['config']['layers'], d['config']['data']" out)" "(30, 3, 'karate')" "a run made longer"
mkdir hollow others && echo letter >others/letter
while IFS='|' read -r code words sentence; do
    # shellcheck disable=SC2086
    expect_exit "$code" "$FATHOM" $words --quiet
    grep -qF -- "$sentence" err || fail "'fathom $words' says '$(cat err)', not '$sentence'"
    same "$(wc -l <err)" 1 "lines of '$(cat err)'"
done <<'TABLE'
2|train --data karate --epochs 3 --out first|the folder is not empty; take another one, or go on with its run with --resume
4|train --data karate --epochs 2 --out never --init nothing.safetensors|cannot be opened
2|train --out first --resume --hidden 17|it has hidden=16, this one hidden=17
2|train --out first --resume --seed 5|seed=
2|train --resume|--resume needs --out DIR
2|train --data karate --out nowhere --resume|--out nowhere: there is no run to resume; leave --resume out to start one there
2|train --data karate --out hollow --resume|--out hollow: there is no run to resume
2|train --data karate --out others --resume|--out others: there is no run to resume
2|train --layers 0|--layers '0': give a whole number from 1 to 1000
2|train --layers 1001|--layers '1001'
2|train --layers two|--layers 'two'
2|train --hidden 0|--hidden '0'
2|train --groups 0|--groups '0'
2|train --dropout 1|--dropout '1'
2|train --dropout -0.1|--dropout '-0.1'
2|train --lambda often|--lambda 'often'
2|train --lr 0|--lr '0'
2|train --lr nan|--lr 'nan'
2|train --weight-decay -1|--weight-decay '-1'
2|train --epochs 0|--epochs '0'
2|train --patience -1|--patience '-1'
2|train --eval-every 0|--eval-every '0'
2|train --checkpoint-every 0|--checkpoint-every '0'
2|train --missing-rate 1.5|--missing-rate '1.5'
2|train --alpha 2|--alpha '2'
2|train --theta -1|--theta '-1'
2|train --seed -1|--seed '-1'
2|train --model gnc|--model: unknown value 'gnc'; did you mean gcn?
2|train --norm grup|did you mean group?
2|train --preset author|did you mean authors?
2|train --feature-norm col|--feature-norm: unknown value 'col'
4|train --data karate --init nothing.safetensors|nothing.safetensors: cannot be opened
4|train --data karate --layers 2 --init first/model.safetensors|first/model.safetensors
4|train --data karate --init run_of_nobody/x|cannot be opened
6|train --dry-run --layers 1000 --hidden 60000|layers would fit
6|train --layers 1000 --hidden 60000|layers would fit
5|train --norm none --layers 40 --lr 1000 --dropout 0 --epochs 9 --threads 1|first in layer
2|eval --data karate|--checkpoint
4|eval --checkpoint first/run.json --data karate|first/run.json: is no safetensors file
4|eval --checkpoint first/model.safetensors|but embedded has 1433 features and 7 classes: it was made for other data
2|metrics|--embeddings
4|metrics --embeddings none.npy|none.npy: cannot be opened
TABLE

expect_exit 0 train --epochs 2 --out never --quiet # a run that never began left nothing behind
same "$(ls -d nowhere 2>/dev/null)$(ls hollow)" "" "what a refused --resume leaves"

# --- files that changed since the run began are refused by name: members of an .npz, a split, features, labels; brought
#     back, the run goes on
small() { "$FATHOM" train --layers 2 --threads 1 --quiet "$@"; }
swap() { python3 -c '
import sys, zipfile
a, b, path = sys.argv[1:]
old = zipfile.ZipFile(path)
content = {n: old.read(n) for n in old.namelist()}
content[a], content[b] = content[b], content[a]
with zipfile.ZipFile(path, "w") as new:
    for n in content: new.writestr(n, content[n])' "$@"; }
expect_exit 0 "$FATHOM" data convert karate -o own.npz
python3 - <<'PYTHON'
import random
random.seed(1)
open("edges.csv", "w").write("".join(f"{v},{(v + s) % 30}\n" for v in range(30) for s in (1, 2)))
open("labels.csv", "w").write("".join(f"{v % 3}\n" for v in range(30)))
open("features.csv", "w").write("".join(",".join(str(random.randrange(1, 9)) for _ in range(4)) + "\n" for _ in range(30)))
open("split.json", "w").write('{"train": [0, 1, 2, 3, 4, 5], "val": [6, 7, 8], "test": [9, 10, 11]}')
PYTHON
tables=(--data edges.csv --features features.csv --labels labels.csv)
expect_exit 0 small --data own.npz --epochs 3 --out members
expect_exit 0 small "${tables[@]}" --split split.json --epochs 3 --out files
# changed RUN FILE WORDS COMMAND...: after the command, which changes the file, the run is refused, and goes on after it.
changed() {
    local run=$1 file=$2 words=$3
    shift 3
    cp "$file" kept && "$@"
    expect_exit 2 "$FATHOM" train --out "$run" --resume --epochs 9 --quiet
    grep -qF -- "$words" err && grep -q "$run/state.safetensors" err || fail "$file changed: $(cat err)"
    mv kept "$file"
}
nodes='was trained with other training, validation and test nodes: the split'
changed members own.npz "$nodes" swap val.npy test.npy own.npz
changed files split.json "$nodes" sed -i 's/5], "val": \[6/6], "val": [5/' split.json
changed files split.json "$nodes" sed -i 's/10, 11/10/' split.json
changed files features.csv 'was trained with other data: graph, features or labels' sed -i '1s/^./0/' features.csv
changed files labels.csv 'was trained with other data' sed -i '1s/0/1/' labels.csv
for run in members files; do
    expect_exit 0 "$FATHOM" train --out $run --resume --epochs 5 --quiet --threads 1
    same "$(wc -l <$run/epochs.jsonl)" 5 "epochs of $run"
done

# --- one wrong bit in a state or a model, in the header or in the numbers: refused, by eval, --init and --resume
cat >flip.py <<'PYTHON'
import os, subprocess, sys
path, words, *command = sys.argv[1:]
whole = open(path, "rb").read()
start = 8 + int.from_bytes(whole[:8], "little")
places = [0, 9, 8 + whole[8:].index(b"sha256"), 8 + whole[8:].index(b"fathom"), start - 1, start, len(whole) - 1]
places += [start * i // 9 for i in range(1, 9)] + [start + (len(whole) - start) * i // 7 for i in range(1, 7)]
for i, at in enumerate(places):
    bad = bytearray(whole)
    bad[at] ^= 1 << i % 8
    open(path, "wb").write(bad)
    got = subprocess.run(command, capture_output=True, text=True)
    assert got.returncode == 4 and path in got.stderr, (at, got.returncode, got.stderr)
    assert at < start or words in got.stderr, (at, got.stderr)
open(path, "wb").write(whole)
sys.exit(subprocess.run(command, capture_output=True).returncode)
PYTHON
words='its content is not what was written: the SHA-256 in its metadata'
expect_exit 0 train --epochs 3 --out bits --quiet
expect_exit 0 python3 flip.py bits/model.safetensors "$words" "$FATHOM" eval --checkpoint bits/model.safetensors --data karate --threads 1
expect_exit 0 python3 flip.py bits/model.safetensors "$words" "$FATHOM" train --data karate --layers 3 --epochs 1 --threads 1 --init bits/model.safetensors
expect_exit 0 python3 flip.py bits/state.safetensors "$words" "$FATHOM" train --out bits --resume --epochs 4 --threads 1

# --- one process at a time
"$FATHOM" train --data karate --epochs 100000 --layers 30 --threads 1 --out busy --quiet >/dev/null 2>&1 &
pid=$!
await busy/run.json
expect_exit 2 "$FATHOM" train --out busy --resume --quiet
grep -q 'another process is writing' err || fail "two processes in one folder: $(cat err)"
kill -KILL "$pid"
wait "$pid" 2>/dev/null || true
expect_exit 0 "$FATHOM" train --out busy --resume --epochs 2 --quiet --threads 1

# --- eval gives what train gave, and files that other programs read
expect_exit 0 "$FATHOM" eval --checkpoint whole/model.safetensors --data karate --json --threads 1 \
    --logits z.npy --embeddings h.npy --predictions p.csv
same "$(field "[d['result'][k] for k in ('test_accuracy', 'val_accuracy', 'train_accuracy', 'instance_information_gain', 'group_distance_ratio', 'mean_average_distance')]" out)" \
    "$(field "[d['result'][k] for k in ('test_accuracy', 'val_accuracy', 'train_accuracy', 'instance_information_gain', 'group_distance_ratio', 'mean_average_distance')]" whole/run.json)" \
    "eval of a trained model"
cmp z.npy h.npy || fail "logits and embeddings are not the same"
same "$(head -n 1 p.csv)" "node,class,probability" "head of the predictions"
same "$(wc -l <p.csv)" 35 "lines of the predictions"
expect_exit 0 "$FATHOM" metrics --embeddings h.npy --data karate --json --threads 1
same "$(field "d['group_distance_ratio'], d['definition'], d['unavailable']" out)" \
    "($(field "d['result']['group_distance_ratio']" whole/run.json), 'authors', [])" "metrics of the embeddings"
expect_exit 0 "$FATHOM" metrics --embeddings h.npy --json --definition pyg --threads 1
same "$(field "d['definition'], d['group_distance_ratio'], d['mean_average_distance'] > 0, len(d['unavailable'])" out)" \
    "('pyg', None, True, 6)" "metrics without anything else"

expect_exit 0 "$FATHOM" metrics --embeddings "$SOURCE_DIR/tests/golden/graph.npz" --json --threads 1
same "$(field "d['nodes'], d['width'], d['intra_group_distance'] > 0, 'dirichlet_energy' in d['unavailable'], 'group_distance_ratio' in d['unavailable']" out)" \
    "(60, 12, True, True, False)" "metrics of a .npz with x and y"

# --- checkpoints of the safetensors library, by another program's names; graph.npz is in another layout, so a wrong
#     set is refused by the shapes
expect_exit 4 "$FATHOM" eval --checkpoint "$SOURCE_DIR/tests/golden/model_gcn_group.safetensors" --data karate
grep -q 'the model takes 12 features' err || fail "a checkpoint of other data: $(cat err)"

# --- every model with every norm; presets; missing features; early stop
for model in gcn gat sgc gcnii; do
    for norm in none batch pair group; do
        expect_exit 0 train --epochs 3 --model $model --norm $norm --json --quiet
    done
done
expect_exit 0 train --epochs 3 --preset paper --json --quiet
same "$(field "len(d['lambda_search']), d['config']['lambda_from'], d['config']['assignment_bias']" out)" "(9, 'auto', False)" "preset paper"
expect_exit 0 train --epochs 3 --preset pyg --json --quiet
same "$(field "d['config']['momentum'], d['config']['lambda']" out)" "(0.1, 0.01)" "preset pyg"
expect_exit 0 train --epochs 200 --patience 4 --json --quiet
same "$(field "d['result']['epochs'] == d['result']['best_epoch'] + 4 and d['result']['stopped_early']" out)" True "early stop"
expect_exit 0 train --epochs 3 --missing-rate 1 --json --quiet
same "$(field "d['data']['missing'] > 0" out)" True "missing features"
expect_exit 0 "$FATHOM" demo --data karate --epochs 5 --threads 1
grep -Eq '^test accuracy +[0-9.]+ % +[0-9.]+ %' out || fail "demo prints: $(cat out)"

# --- allocations that fail: a sentence and 6, never a crash
for n in 1 5 20 60 120 200 300 450; do
    got=0
    FATHOM_FAIL_ALLOC=$n train --epochs 2 --quiet >out 2>err || got=$?
    [ "$got" = 0 ] || [ "$got" = 6 ] || fail "allocation $n failing exits with $got: $(cat err)"
done
