# cli_train.sh - train, eval, metrics and demo: fields of the document, files, refused options, presets, exit codes.
need_command
command -v python3 >/dev/null || skip "python3 is not there to check JSON with"
export FATHOM_DEVICE=cpu

# train ARGS...: a small run.
train() { "$FATHOM" train --data karate --layers 3 --threads 1 "$@"; }

# --- the document of a run
must train --epochs 20 --json --out first
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
    "(0.001, 0.005, 0.0005, 10)" "settings of the preset"
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

# --- what recomputation would need, and the plan of the level that --recompute names
expect_exit 0 "$FATHOM" train --dry-run --layers 100 --recompute segments --json
same "$(field "[(l['recompute'], l['relative_time'] > 1) for l in d['memory']['levels']]" out)" \
    "[('none', False), ('norm', True), ('segments:6', True)]" "levels of a dry run"
same "$(field "d['config']['recompute'], d['memory']['recompute'], d['memory']['levels'][2]['planned_bytes'] == d['memory']['planned_bytes'] < d['memory']['levels'][1]['planned_bytes']" out)" \
    "('segments', 'segments:6', True)" "the level of a dry run"
expect_exit 0 "$FATHOM" train --dry-run --layers 100
grep -q '^with recompute segments:6 .* times as long$' out && grep -q '^with recompute none .*(this run)$' out ||
    fail "--dry-run does not show the levels: $(cat out)"

# --- a run is extended; other options are refused, and so is a folder with another run
expect_exit 0 "$FATHOM" train --out first --resume --epochs 30 --threads 1 --json
same "$(field "d['result']['epochs'], d['config']['layers'], d['config']['data']" out)" "(30, 3, 'karate')" "an extended run"
mkdir hollow others && echo letter >others/letter
while IFS='|' read -r code words message; do
    # shellcheck disable=SC2086
    expect_exit "$code" "$FATHOM" $words --quiet
    grep -qF -- "$message" err || fail "'fathom $words' reports '$(cat err)', not '$message'"
    same "$(wc -l <err)" 1 "lines of '$(cat err)'"
done <<'TABLE'
2|train --data karate --epochs 3 --out first|the folder is not empty; take another one, or continue its run with --resume
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
2|train --recompute segments:0|--recompute 'segments:0': give one of auto|none|norm|segments, or segments:N with N from 1 to 1000
2|train --recompute half|--recompute 'half': give one of auto
2|train --layers 4 --recompute segments:5|a segment of 5 layers is longer than the network of 4: give --recompute segments, which chooses a length
2|train --metrics sampled:0|--metrics 'sampled:0': give one of auto|none|all|sampled:N with N from 2
2|train --metrics sampled:1|--metrics 'sampled:1': give
2|train --metrics sampled|--metrics 'sampled': give
2|train --metrics some|--metrics 'some': give
2|train --layer-metrics -1|--layer-metrics '-1'
2|metrics --embeddings none.npy --metrics none|leaves nothing to do
2|train --checkpoint-every 0|--checkpoint-every '0'
2|train --missing-rate 1.5|--missing-rate '1.5'
2|train --alpha 2|--alpha '2'
2|train --theta -1|--theta '-1'
2|train --seed -1|--seed '-1'
2|train --skip both|--skip: unknown value 'both'
2|train --heads 4|--heads 4 is of --model gat: leave it out, or take --model gat
2|train --model gat --heads 3|--hidden 16 is not a multiple of --heads 3, which share the hidden columns: take --hidden 18
2|train --last-norm maybe|--last-norm: unknown value 'maybe'; choose one of off, on
2|train --skip initial --skip-weight 1|--skip-weight '1': give a number from 0 to 0.999
2|train --skip initial --layers 2|take --layers 3 or more, or --skip none
2|train --data karate --skip residual --layers 1 --dry-run|take --layers 3 or more, or --skip none
5|train --data karate --layers 600 --epochs 3 --threads 1|the cause is the depth, 600 layers without a skip connection: use --skip initial
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
5|train --norm none --layers 40 --lr 1000 --dropout 0 --epochs 9 --threads 1 --recompute segments|first in layer
2|eval --data karate|--checkpoint
2|eval cora|did you mean --data cora
2|metrics cora|did you mean --data cora
2|eval m.safetensors|did you mean --checkpoint m.safetensors
4|eval --checkpoint first/run.json --data karate|first/run.json: is no safetensors file
4|eval --checkpoint first/model.safetensors|but embedded has 1433 features and 7 classes: it was made for other data
2|metrics|--embeddings
4|metrics --embeddings none.npy|none.npy: cannot be opened
TABLE

expect_exit 0 train --epochs 2 --out never --quiet # the refused run above left nothing
same "$(ls -d nowhere 2>/dev/null)$(ls hollow)" "" "what a refused --resume leaves"

# --- skip connections: eval takes them from the metadata, or as options where a file has none; a resumed run keeps them
for skip in residual initial; do
    must train --layers 5 --epochs 6 --skip $skip --out "skip-$skip" --quiet
    must train --layers 5 --epochs 3 --skip $skip --out "again-$skip" --quiet
    must "$FATHOM" train --out "again-$skip" --resume --epochs 6 --threads 1 --quiet
    cmp "skip-$skip/model.safetensors" "again-$skip/model.safetensors" || fail "--resume with --skip $skip has other bits"
    python3 - "skip-$skip/model.safetensors" <<'PY'
import json, struct, sys
raw = open(sys.argv[1], "rb").read()
size, = struct.unpack("<Q", raw[:8])
head = json.loads(raw[8:8 + size])
for key in ("skip", "skip_weight", "sha256", "writer"):
    del head["__metadata__"][key]
text = json.dumps(head).encode()
text += b" " * (-len(text) % 8)
open("plain.safetensors", "wb").write(struct.pack("<Q", len(text)) + text + raw[8 + size:])
PY
    wanted=$(field "d['result']['test_accuracy'], d['result']['dirichlet_energy']" "skip-$skip/run.json")
    expect_exit 0 "$FATHOM" eval --checkpoint "skip-$skip/model.safetensors" --data karate --threads 1 --json
    same "$(field "d['result']['test_accuracy'], d['result']['dirichlet_energy']" out)" "$wanted" "eval with the skip of the metadata"
    weight=$(field "d['config']['skip_weight']" out)
    expect_exit 0 "$FATHOM" eval --checkpoint plain.safetensors --data karate --threads 1 --json --skip $skip --skip-weight "$weight"
    same "$(field "d['result']['test_accuracy'], d['result']['dirichlet_energy']" out)" "$wanted" "eval with --skip $skip --skip-weight $weight"
    expect_exit 0 "$FATHOM" eval --checkpoint plain.safetensors --data karate --threads 1 --json
    [ "$(field "d['result']['test_accuracy'], d['result']['dirichlet_energy']" out)" != "$wanted" ] || fail "eval without a skip gives the same"
    expect_exit 2 "$FATHOM" eval --checkpoint plain.safetensors --data karate --skip $skip
    grep -q 'which weight its skip connections have: give --skip-weight' err || fail "a skip without a weight: $(cat err)"
done

# --- values of a file that are out of range are an error of the file
while IFS='|' read -r key value; do
    python3 - "$key" "$value" <<'PY'
import json, struct, sys
raw = open("plain.safetensors", "rb").read()
size = struct.unpack("<Q", raw[:8])[0]
head = json.loads(raw[8:8 + size])
head["__metadata__"][sys.argv[1]] = sys.argv[2]
text = json.dumps(head).encode()
open("odd.safetensors", "wb").write(struct.pack("<Q", len(text)) + text + raw[8 + size:])
PY
    expect_exit 4 "$FATHOM" eval --checkpoint odd.safetensors --data karate
    grep -q "odd.safetensors: the metadata $key of the checkpoint is '$value', not a" err || fail "$key $value: $(cat err)"
done <<'END'
layers|1000000
layers|0
hidden|99999999
groups|4097
lambda|-1001
lambda|nan
alpha|1.5
theta|1e999
skip_weight|1
heads|257
END

# --- modules of PyTorch Geometric: eval takes from the metadata, or as options where a file has none, what shapes lack
modules="--last-norm off --last-act off"
for words in "--model gcn --norm pair" "--model gat --norm none --heads 4" "--model gat --norm group --heads 2"; do
    # shellcheck disable=SC2086
    must train --layers 3 --epochs 6 $words --bias $modules --out "modules${words//[ -]/}" --quiet
    run=modules${words//[ -]/}
    python3 - "$run/model.safetensors" <<'PY'
import json, struct, sys
raw = open(sys.argv[1], "rb").read()
size, = struct.unpack("<Q", raw[:8])
head = json.loads(raw[8:8 + size])
for key in ("bias", "heads", "last_norm", "last_act", "sha256", "writer"):
    del head["__metadata__"][key]
text = json.dumps(head).encode()
text += b" " * (-len(text) % 8)
open("plain.safetensors", "wb").write(struct.pack("<Q", len(text)) + text + raw[8 + size:])
PY
    wanted=$(field "d['result']['test_accuracy'], d['result']['dirichlet_energy']" "$run/run.json")
    expect_exit 0 "$FATHOM" eval --checkpoint "$run/model.safetensors" --data karate --threads 1 --json
    same "$(field "d['result']['test_accuracy'], d['result']['dirichlet_energy']" out)" "$wanted" "eval of $words with its metadata"
    same "$(field "d['config']['bias'], d['config']['last_norm'], d['config']['last_act']" out)" "('on', 'off', 'off')" "config of $words"
    # shellcheck disable=SC2086
    expect_exit 0 "$FATHOM" eval --checkpoint plain.safetensors --data karate --threads 1 --json $modules
    same "$(field "d['result']['test_accuracy'], d['result']['dirichlet_energy']" out)" "$wanted" "eval of $words with options"
done
expect_exit 4 "$FATHOM" eval --checkpoint plain.safetensors --data karate --heads 4
grep -q 'convs.0.att_src is 1 x 2 x 8 in the checkpoint, but 1 x 4 x 4 in this model.*: give --heads 2' err || fail "other heads: $(cat err)"
expect_exit 4 "$FATHOM" train --data karate --device cpu --model gat --layers 3 --heads 2 --last-norm off --init plain.safetensors
grep -q 'the checkpoint has convs.0.bias, which this model does not: give --bias' err || fail "a bias: $(cat err)"

# --- eval repeats the result of train; its outputs are files that other programs read
must train --epochs 400 --out whole --quiet
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

# --- a checkpoint of the safetensors library for another data set is refused by its shapes
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

# --- allocations that fail: a message and exit code 6, never a crash
for n in 1 5 20 60 120 200 300 450; do
    got=0
    FATHOM_FAIL_ALLOC=$n train --epochs 2 --quiet >out 2>err || got=$?
    [ "$got" = 0 ] || [ "$got" = 6 ] || fail "allocation $n failing exits with $got: $(cat err)"
done
