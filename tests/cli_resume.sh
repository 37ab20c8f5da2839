# cli_resume.sh - runs that are stopped and resumed: Ctrl-C, SIGTERM, SIGHUP, kill -9; the resumed run has the same bits.
# Data, states and models that changed since then are refused, and so is a second process in one folder.
need_command
command -v python3 >/dev/null || skip "python3 is not there to check JSON with"
export FATHOM_DEVICE=cpu
# shellcheck disable=SC2046
trap 'kill -KILL $(jobs -p) 2>/dev/null || true' EXIT # ends the runs of a failed test

# train ARGS...: a small run.
train() { "$FATHOM" train --data karate --layers 3 --threads 1 "$@"; }
lines() { sed 's/,"ms":.*//' "$1/epochs.jsonl"; }

# --- the same bits after Ctrl-C and after kill -9
must train --epochs 4000 --out whole --quiet
"$FATHOM" train --data karate --layers 3 --threads 1 --epochs 4000 --out broken --quiet --checkpoint-every 10 >/dev/null 2>err &
pid=$!
await broken/state.safetensors
kill -INT "$pid"
got=0 && wait "$pid" || got=$?
same "$got" 130 "exit code after Ctrl-C"
grep -q 'interrupted after epoch' err || fail "after Ctrl-C: $(cat err)"
killed=0
for _ in 1 2 3; do # killed at some moment, then resumed by the folder alone
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

# --- another recomputation is another use of memory: the resumed run has the same bits
must train --epochs 30 --out undivided --quiet
must train --epochs 12 --out moved --recompute segments:2 --quiet
must train --epochs 20 --out moved --resume --quiet # reads it from the record
same "$(field "d['config']['recompute'], d['memory']['recompute']" moved/run.json)" "('segments:2', 'segments:2')" "recomputation of the run"
must train --epochs 30 --out moved --resume --recompute norm --quiet
same "$(field "d['memory']['recompute']" moved/run.json)" norm "recomputation of the resumed run"
cmp undivided/model.safetensors moved/model.safetensors || fail "a run resumed with another --recompute has another model"
cmp undivided/state.safetensors moved/state.safetensors || fail "a run resumed with another --recompute has another state"

# --- a closed terminal (SIGHUP, repeated) saves as SIGTERM does; under nohup it is ignored
if env --default-signal=HUP true 2>/dev/null; then
    env --default-signal=HUP "$FATHOM" train --data karate --epochs 100000 --layers 30 --threads 1 --quiet --checkpoint-every 2 --out hung >out 2>err &
    pid=$!
    await hung/state.safetensors
    kill -HUP "$pid" && kill -HUP "$pid" 2>/dev/null || true
    got=0 && wait "$pid" || got=$?
    same "$got" 130 "exit code after SIGHUP"
    grep -q 'interrupted after epoch .*--resume continues' err || fail "after SIGHUP: $(cat err)"
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

# --- Ctrl-C before the first result: no empty table; during the metrics: ends immediately, the result has no metrics
"$FATHOM" train --lambda auto --layers 300 --threads 1 --out searching >out 2>err &
pid=$!
await searching/run.json
kill -INT "$pid"
got=0 && wait "$pid" || got=$?
same "$got" 130 "exit code after Ctrl-C in the search for lambda"
grep -q 'interrupted before the first epoch' err || fail "after Ctrl-C in the search: $(cat err)"
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
    "('interrupted', 2, True, None)" "a run that was stopped during its metrics"

# --- Ctrl-C twice: ends immediately, and the files are whole
"$FATHOM" train --layers 600 --threads 1 --out twice --quiet >/dev/null 2>&1 &
pid=$!
await twice/run.json
kill -INT "$pid"
kill -TERM "$pid"
got=0 && wait "$pid" || got=$?
same "$got" 130 "exit code after Ctrl-C twice"
expect_exit 0 "$FATHOM" train --out twice --resume --epochs 1 --quiet --threads 1

# --- files that changed since the start are refused by name: members of an .npz, a split, features, labels; after they are
#     restored, the run continues
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
# changed RUN FILE WORDS COMMAND...: after COMMAND changed FILE, the run is refused with a message that has WORDS.
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

# --- one flipped bit in a state or a model, in the header or in the numbers, is refused by eval, --init and --resume
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
