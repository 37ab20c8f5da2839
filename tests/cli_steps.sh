# cli_steps.sh - learning rate schedules, clipped gradients and the macro F1 score, as users type them.
need_command

train() { expect_exit 0 "$FATHOM" train --data embedded --layers 3 --device cpu --threads 1 --quiet "$@"; }
weights() { # FILE: digest of a safetensors file after its JSON header
    tail -c +$(($(od -An -t u8 -N 8 "$1") + 9)) "$1" | sha256sum
}

# --- clip: a limit that is never reached changes no bit, a small one changes the weights, 0 is none
train --epochs 8 --out free
train --epochs 8 --out wide --clip 1e9
train --epochs 8 --out tight --clip 1e-3
same "$(weights wide/state.safetensors)" "$(weights free/state.safetensors)" "a limit above every gradient"
[ "$(weights tight/state.safetensors)" != "$(weights free/state.safetensors)" ] || fail "--clip 1e-3 changes nothing"

# --- schedules: a resumed run has the bits of one that was not interrupted
for schedule in cosine plateau; do
    train --epochs 130 --lr-schedule $schedule --checkpoint-every 10 --out whole-$schedule
    timeout -s INT 0.3 "$FATHOM" train --data embedded --layers 3 --device cpu --threads 1 --quiet --epochs 130 \
        --lr-schedule $schedule --checkpoint-every 10 --out part-$schedule 2>err || true
    train --resume --out part-$schedule
    same "$(weights part-$schedule/state.safetensors)" "$(weights whole-$schedule/state.safetensors)" "resumed with $schedule"
done
train --epochs 130 --out whole-constant
[ "$(weights whole-cosine/state.safetensors)" != "$(weights whole-constant/state.safetensors)" ] || fail "cosine changes nothing"
expect_exit 2 "$FATHOM" train --resume --out whole-cosine --epochs 200 --quiet
grep -q 'epochs=130, this one epochs=200' err || fail "a cosine of another length: $(cat err)"
train --resume --out whole-plateau --epochs 140
expect_exit 2 "$FATHOM" train --lr-schedule linear
expect_exit 2 "$FATHOM" train --clip -1

# --- DropEdge: resumed to the same bits; attention refuses it
train --epochs 60 --drop-edge 0.4 --out dropped
timeout -s INT 0.2 "$FATHOM" train --data embedded --layers 3 --device cpu --threads 1 --quiet --epochs 60 \
    --drop-edge 0.4 --checkpoint-every 5 --out dropped-part 2>err || true
train --resume --out dropped-part
same "$(weights dropped-part/state.safetensors)" "$(weights dropped/state.safetensors)" "resumed with dropped edges"
expect_exit 2 "$FATHOM" train --model gat --drop-edge 0.3 --quiet
grep -q 'take one of them' err || fail "no remedy for attention with dropped edges: $(cat err)"

# --- macro F1 of the test nodes, from the predictions of eval
"$FATHOM" eval --checkpoint free/model.safetensors --data embedded --device cpu --predictions p.csv --json --quiet >eval.json
"$FATHOM" data convert embedded -o e.npz --quiet
cat >f1.py <<'PY'
import csv, json, sys, zipfile, struct
def array(z, name):
    b = z.read(name + ".npy"); n = struct.unpack("<H", b[8:10])[0]; head = eval(b[10:10 + n])
    code = {"<i4": "i", "<i8": "q"}[head["descr"]]
    return struct.unpack("<%d%s" % ((len(b) - 10 - n) // struct.calcsize(code), code), b[10 + n:])
z = zipfile.ZipFile("e.npz")
names = {n[:-4] for n in z.namelist()}
labels, test = array(z, "labels" if "labels" in names else "y"), array(z, "test")
said = [int(r["class"]) for r in csv.DictReader(open("p.csv"))]
scores = []
for c in set(labels) | set(said):
    tp = sum(said[v] == c == labels[v] for v in test); off = sum((said[v] == c) != (labels[v] == c) for v in test)
    if tp + off: scores.append(2 * tp / (2 * tp + off))
want, got = sum(scores) / len(scores), json.load(open("eval.json"))["result"]["macro_f1"]
record = json.load(open("free/run.json"))["result"]["macro_f1"]
assert abs(want - got) < 1e-12 and abs(want - record) < 1e-12, (want, got, record)
PY
python3 f1.py || fail "macro_f1 of eval or run.json"
