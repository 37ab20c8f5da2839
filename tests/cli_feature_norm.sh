# cli_feature_norm.sh - preparation of features: auto does not normalise signed ones; a checkpoint records the preparation,
# eval and --init repeat it, and a difference is reported.
need_command
command -v python3 >/dev/null || skip "python3 is not there to check JSON with"
export FATHOM_DEVICE=cpu
expect_exit 0 "$FATHOM" data make sbm --nodes 400 --classes 4 --edges 1200 --features 16 --density 1 --homophily 0.6 --signal 0.6 -o signed.npz
run=(--data signed.npz --layers 2 --threads 1)
accuracies="[d['result'][k] for k in ('test_accuracy', 'val_accuracy', 'train_accuracy')]"
said() { grep -q -- "$1" err || fail "no '$1' in: $(cat err)"; }
unsaid() { ! grep -q -- "$1" err || fail "unexpected message: $(cat err)"; }

# --- the default: none for signed features, with a note, and the result of --feature-norm none; row is applied, with a note
drawn=(--split random:20,30 --seed 7 --missing-rate 0.2)
expect_exit 0 "$FATHOM" train "${run[@]}" "${drawn[@]}" --epochs 100 --json --out auto
said 'negative values: their rows are not divided'
same "$(field "d['config']['feature_norm']" auto/run.json)" none "what auto does to signed features"
cp out auto.json
expect_exit 0 "$FATHOM" train "${run[@]}" "${drawn[@]}" --epochs 100 --json --feature-norm none
unsaid note
same "$(field "$accuracies" out)" "$(field "$accuracies" auto.json)" "auto and none"
expect_exit 0 "$FATHOM" train "${run[@]}" "${drawn[@]}" --epochs 100 --json --feature-norm row --out row
said 'negative values, so that sums of rows may be near zero'
same "$(field "d['config']['feature_norm'], d['result']['test_accuracy'] < 0.6" out)" "('row', True)" "row, as given"
same "$(field "d['result']['test_accuracy'] > 0.75" auto.json)" True "accuracy on signed features"
expect_exit 0 "$FATHOM" train --data karate --layers 2 --epochs 2 --threads 1 --json
unsaid note
same "$(field "d['config']['feature_norm']" out)" row "what auto does to counts"

# --- eval of the checkpoint alone repeats the result of train: norm, missing rows, seed and random split
for of in auto row; do
    expect_exit 0 "$FATHOM" eval --checkpoint $of/model.safetensors --data signed.npz --json --threads 1
    same "$(field "$accuracies" out)" "$(field "$accuracies" $of/run.json)" "eval of the run $of"
    same "$(field "d['config']['feature_norm'], d['config']['missing_rate'], d['config']['seed'], d['config']['split']" out)" \
        "('$(field "d['config']['feature_norm']" $of/run.json)', 0.2, 7, 'random:20,30')" "input of eval"
done
expect_exit 0 "$FATHOM" eval --checkpoint auto/model.safetensors --data signed.npz --json --threads 1 --feature-norm row --missing-rate 0 --split random:30,30
said 'was trained with --feature-norm none; --feature-norm row is used'
said 'was trained with --missing-rate 0.2; --missing-rate 0 is used'
said 'was trained with another split (random:20,30, seed 7)'
same "$(field "d['config']['feature_norm'], d['config']['missing_rate'], d['config']['split']" out)" "('row', 0, 'random:30,30')" "options that are given"

# --- a file without these entries, and one with an invalid entry
python3 - <<'PYTHON'
import json, struct
bytes = open("auto/model.safetensors", "rb").read()
length = struct.unpack("<Q", bytes[:8])[0]
head, data = json.loads(bytes[8:8 + length]), bytes[8 + length:]
assert all(isinstance(v, str) for v in head["__metadata__"].values()), "metadata are texts"
def write(name):
    text = json.dumps(head).encode()
    open(name, "wb").write(struct.pack("<Q", len(text)) + text + data)
for key in "sha256 writer missing_rate binarised seed split split_sha256 data_sha256 feature_norm".split():
    head["__metadata__"].pop(key)
write("bare.safetensors")
head["__metadata__"]["feature_norm"] = "column"
write("odd.safetensors")
PYTHON
expect_exit 0 "$FATHOM" eval --checkpoint bare.safetensors --data signed.npz --json --threads 1 --split random:20,30 --seed 7 --missing-rate 0.2
same "$(field "$accuracies" out)" "$(field "$accuracies" auto/run.json)" "eval of a file without the entries"
expect_exit 4 "$FATHOM" eval --checkpoint odd.safetensors --data signed.npz
said "the metadata feature_norm of the checkpoint is 'column', not row or none"

# --- --init: as in the file unless an option differs, which is reported; --resume: as in the run
expect_exit 0 "$FATHOM" train "${run[@]}" --split random:20,30 --epochs 2 --json --init row/model.safetensors
same "$(field "d['config']['feature_norm']" out)" row "--init uses the entry of the file"
expect_exit 0 "$FATHOM" train "${run[@]}" --split random:20,30 --epochs 2 --json --init row/model.safetensors --feature-norm none
said 'was trained with --feature-norm row; this run has none'
expect_exit 0 "$FATHOM" train --out row --resume --epochs 101 --json --threads 1
same "$(field "d['config']['feature_norm']" out)" row "a resumed run"
expect_exit 2 "$FATHOM" train --out row --resume --epochs 102 --feature-norm none
said 'feature-norm=row'

# --- metrics and sweep
expect_exit 0 "$FATHOM" eval --checkpoint auto/model.safetensors --data signed.npz --quiet --threads 1 --embeddings h.npy
expect_exit 0 "$FATHOM" metrics --embeddings h.npy --data signed.npz --json --threads 1
said 'negative values: their rows are not divided'
gain="d['instance_information_gain']"
same "$(field "$gain" out)" "$(field "d['result']['instance_information_gain']" auto/run.json)" "information gain of the same embeddings"
expect_exit 0 "$FATHOM" sweep --recipe table1 --data signed.npz --models gcn --norms none --layers 2 --epochs 2 --seeds 1 --split random:20,30 --quiet --out swept
same "$(head -n 1 swept/results.jsonl >line && field "d['feature_norm']" line)" none "the column of a sweep"
expect_exit 0 "$FATHOM" sweep --recipe table1 --data signed.npz --models gcn --norms none --layers 2 --epochs 2 --seeds 1 --split random:20,30 --feature-norm row --quiet --out swept-row
same "$(head -n 1 swept-row/results.jsonl >line && field "d['feature_norm']" line)" row "the column of a sweep with row"
