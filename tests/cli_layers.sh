# cli_layers.sh - metrics of a sample and of every layer, and the representations of every layer: values, the same training
# with and without them, resume, the charts of the report.
need_command
command -v python3 >/dev/null || skip "python3 is not there to read the results with"
export FATHOM_DEVICE=cpu
train() { "$FATHOM" train --data karate --threads 1 --quiet "$@"; }
lines() { sed 's/"ms":[0-9.]*//' "$1/epochs.jsonl"; }

# --- none and samples: the same training; a sample of all nodes is all
must train --layers 3 --epochs 8 --out all
must train --layers 3 --epochs 8 --out none --metrics none
must train --layers 3 --epochs 8 --out whole --metrics sampled:34
must train --layers 3 --epochs 8 --out some --metrics sampled:12
python3 - <<'PY' || fail "metrics of a sample"
import json
all_, none, whole, some = (json.load(open(d + "/run.json")) for d in ("all", "none", "whole", "some"))
assert [d["config"]["metrics"] for d in (all_, none, whole, some)] == ["all", "none", "sampled:34", "sampled:12"]
assert len(none["result"]["unavailable"]) == 7 and none["result"]["sampled"] == 0, none["result"]
assert none["result"]["test_accuracy"] == all_["result"]["test_accuracy"]
assert whole["result"] == all_["result"] and "standard_error" not in all_["result"], whole["result"]
error = some["result"]["standard_error"]
assert some["result"]["sampled"] == 12 and error["mean_average_distance"] > 0 and error["group_distance_ratio"] == 0, error
assert abs(some["result"]["mean_average_distance"] - all_["result"]["mean_average_distance"]) < 4 * error["mean_average_distance"]
PY
expect_exit 0 "$FATHOM" eval --checkpoint some/model.safetensors --data karate --metrics sampled:12
grep -q '± is a standard error: 12 of 34 nodes' out || fail "the text of a sample: $(cat out)"
expect_exit 0 "$FATHOM" eval --checkpoint some/model.safetensors --data karate --metrics none
grep -q 'group distance' out && fail "metrics that were not wanted: $(cat out)"

# --- the memory plan: what layer metrics take on the device, to the byte
planned() { expect_exit 0 "$FATHOM" train --data karate --layers 4 --dry-run --json "$@" && field "d['memory']['planned_bytes']" out; }
need() { # floats padded to 64 bytes
    python3 -c 'import sys; print(sum((int(n) + 15) // 16 * 16 for n in sys.argv[1:]) * 4)' "$@"
}
csr() { echo $((($1 + 1) * 12 + $2 * 4 * (1 + $3))); } # rows, entries, entry ids
karate_bytes() { # n 34, C 4, d 16, F 34 with 34 entries, 34 rows of the sample, 4 layers
    local parts slot
    parts=$(need $((34 * 16)) $((38 * 16)) 34 38 34 34 34 1)
    slot=$(need $((3 + 34 + 34 + 34 + 16 + 4 + 4 * 16 + 34 * 16)))
    echo $((parts + 4 * slot + (34 + 68) * 4 + $(csr 34 34 0) + $(csr 34 34 1) + $(csr 34 34 0) + $(csr 4 34 0) + $(csr 38 34 0)))
}
same $(($(planned --layer-metrics 3 --out planned) - $(planned))) "$(karate_bytes)" "the plan of layer metrics"
same "$(planned --layer-metrics 3)" "$(planned)" "the plan without --out, where no layer is measured"

# --- a large graph is sampled unless all pairs are wanted
must "$FATHOM" data make sbm -o large.npz --nodes 30001 --edges 60000 --classes 3 --features 4 --quiet
expect_exit 0 "$FATHOM" train --data large.npz --split random:20,30 --model sgc --norm none --layers 1 --epochs 1 --json
grep -q '4000 of 30001 nodes against all (--metrics)' err || fail "the note of a large graph: $(cat err)"
same "$(field "d['config']['metrics'], d['result']['sampled'], d['result']['standard_error']['mean_average_distance'] > 0" out)" \
    "('sampled:4000', 4000, True)" "the default of a large graph"

# --- every layer: the training keeps its bits for every model; the last layer is the output
for model in gcn gat sgc gcnii; do
    for norm in none group; do
        must train --model $model --norm $norm --layers 4 --epochs 6 --eval-every 4 --out plain-$model-$norm
        must train --model $model --norm $norm --layers 4 --epochs 6 --eval-every 4 --layer-metrics 3 --out layers-$model-$norm
        for file in model state; do
            cmp plain-$model-$norm/$file.safetensors layers-$model-$norm/$file.safetensors || fail "--layer-metrics changes the training of $model with $norm norm"
        done
    done
done
expect_exit 0 "$FATHOM" eval --checkpoint layers-gcn-group/model.safetensors --data karate --layers-out h.npz --logits z.npy
python3 - <<'PY' || fail "layers of a run"
import json, struct, zipfile
rows = [json.loads(line) for line in open("layers-gcn-group/epochs.jsonl")]
assert [r["epoch"] for r in rows if "layers" in r] == [3, 6]
layers = rows[5]["layers"]
assert layers.pop("sampled") == 34 and len(layers) == 9, layers
assert all(len(v) == 4 and all(x is not None for x in v) for v in layers.values()), layers
archive = zipfile.ZipFile("h.npz")
assert archive.testzip() is None and archive.namelist() == ["layer_%d.npy" % k for k in (1, 2, 3, 4)]
def values(bytes_):
    start = 10 + struct.unpack("<H", bytes_[8:10])[0]
    return bytes_[10:start], bytes_[start:]
assert b"(34, 16)" in values(archive.read("layer_1.npy"))[0]
assert values(archive.read("layer_4.npy")) == values(open("z.npy", "rb").read())
assert max(struct.unpack("<544f", values(archive.read("layer_2.npy"))[1])) > 0
PY
# the last line and the record agree when the last epoch is the best one: layer 4 is the output
must train --layers 4 --epochs 1 --layer-metrics 1 --out one
python3 - <<'PY' || fail "the last layer and the result of the run"
import json
layers, result = json.loads(open("one/epochs.jsonl").readline())["layers"], json.load(open("one/run.json"))["result"]
for name in result["unavailable"] or [n for n in layers if n in result]:
    if name != "sampled":
        assert abs(layers[name][-1] - result[name]) <= 2e-5 * abs(result[name]) + 1e-12, (name, layers[name], result[name])
PY

# --- layers whose squares leave a float are measured on the host
must train --norm none --layers 150 --epochs 2 --layer-metrics 2 --out deep
python3 - <<'PY' || fail "a deep network without norm"
import json
layers = json.loads(open("deep/epochs.jsonl").readlines()[1])["layers"]
assert all(x is not None for x in layers["mean_average_distance"]) and layers["dirichlet_energy"][-1] < 1e-30, layers
PY

# --- resume keeps the lines
must train --layers 3 --epochs 4 --layer-metrics 2 --out broken
must "$FATHOM" train --out broken --resume --epochs 9 --quiet
must train --layers 3 --epochs 9 --layer-metrics 2 --out straight
[ "$(lines broken)" = "$(lines straight)" ] || fail "the lines of a resumed run: $(lines broken)"
cmp broken/model.safetensors straight/model.safetensors || fail "the model of a resumed run"
head -n 5 straight/epochs.jsonl >cut && cp cut broken/epochs.jsonl
expect_exit 4 "$FATHOM" train --out broken --resume --epochs 10 --quiet

# --- charts over layers; outputs that cannot be written
expect_exit 0 "$FATHOM" report straight --svg svg --json
same "$(field "d['svg_files']" out)" 6 "charts of a run with layers"
for name in ratio gain distance energy; do
    grep -q 'epoch 8</text>' "svg/straight-layers-$name.svg" || fail "no line of the last epoch in the chart of the $name"
done
grep -q 'Over layers' straight/report.html || fail "no section over layers"
expect_exit 0 "$FATHOM" report all --json
grep -q 'Over layers' all/report.html && fail "a section over layers without layers"
echo old >h.npz
expect_exit 1 "$FATHOM" eval --checkpoint all/model.safetensors --data karate --layers-out nowhere/h.npz
grep -q 'nowhere/h.npz' err || fail "layers that cannot be written: $(cat err)"
expect_exit 0 train --layers 2 --epochs 2 --layer-metrics 1
"$FATHOM" train --data karate --layers 2 --epochs 2 --layer-metrics 1 2>err >/dev/null
grep -q 'note: --layer-metrics has no effect: nothing is written without --out' err || fail "no note: $(cat err)"
