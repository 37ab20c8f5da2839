# cli_escapes.sh - names with control characters (of files, sets, tensors, columns, recipes, devices in results): no output,
# to a file or to a terminal, text or JSON, contains one of them; nor do reports. Other characters beyond ASCII are printed
# unchanged.
# labels: asan-skip
need_command
command -v python3 >/dev/null || skip "no python3"
export FATHOM_DEVICE=cpu TERM=xterm
python3 - <<'MAKE'
import json, struct
evil = "ü日\x1b[31m\x1b]0;t\x07\r\x7f\x9b2j\ufdd1\nfathom: forged"
open("evil", "w", newline="").write(evil)
open("name", "wb").write("ü日\x1b[31m\x07\r\x7f\u009b2J".encode() + b"\xff")
header = json.dumps({evil: {"dtype": "F32", "shape": [2], "data_offsets": [0, 4]}}).encode()
open("evil.safetensors", "wb").write(struct.pack("<Q", len(header)) + header + b"\0\0\0\0")
open("evil.recipe", "w", newline="").write("title ü日\x1b[31m\x9b\ndata karate\nmodels gcn\nnorms none\nlayers 2\nepochs 2\nseeds 1\nsplit random:3,3\n")
open("key.recipe", "w", newline="").write("k\x1b[31m\x9b 1\n")
open("split.json", "w").write(json.dumps({"train": [0], evil: [1], "test": [2]}))
open("bad.json", "w", newline="").write('{"train": [0, "' + evil.replace("\n", "") + '"]}')
MAKE
name=$(cat name)
mkdir csv && printf '0,1\n1,a\033[31mb\302\233\n' >csv/edges.csv && printf '0\n1\n' >csv/labels.csv

# clean FILE...: no control character except newline and tab, no noncharacter, valid UTF-8.
clean() {
    python3 - "$@" <<'CHECK'
import re, sys
for path in sys.argv[1:]:
    text = open(path, "rb").read().decode("utf-8")
    bad = re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\ufdd0-\ufdef]", text)
    if bad:
        sys.exit("%s: %r in %r" % (path, bad.group(), text[max(0, bad.start() - 40):bad.end() + 40]))
CHECK
}

# try COMMAND...: runs it as text and as JSON, with any exit code, output into ./printed.
mkdir printed
tries=0
try() {
    local at=printed/$((++tries))
    printf '%q ' "$@" >$at.what
    "$FATHOM" "$@" >$at.out 2>$at.err || [ $? -lt 126 ] || fail "'$*' died"
    "$FATHOM" "$@" --json >$at.json 2>$at.json.err || [ $? -lt 126 ] || fail "'$*' --json died"
}

try data make sbm --nodes 60 --classes 2 --edges 120 --features 8 -o "$name.npz"
python3 - <<'MAKE'
import json, zipfile
evil = open("evil", newline="").read()
about = json.dumps({"name": evil}).encode()
head = ("{'descr': '|u1', 'fortran_order': False, 'shape': (%d,), }" % len(about)).ljust(117).encode() + b"\n"
out = zipfile.ZipFile("evil.npz", "w")
with zipfile.ZipFile(open(open("name", "rb").read() + b".npz", "rb")) as source:
    for member in source.namelist():
        if member != "about.npy":
            out.writestr(member, source.read(member))
out.writestr("about.npy", b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head + about)
out.close()
with zipfile.ZipFile("member.npz", "w") as out:
    out.writestr("x\x1b[31m.npy", b"no array")
MAKE
try data info "$name.npz"
try data info evil.npz
try data info member.npz
try data convert "$name.npz" -o "$name.2.npz"
try data info "$name.missing"
try data info csv
try data get "$name"
try train --data evil.npz --layers 2 --epochs 2 --split random:3,3 --out "$name.run"
try train --data "$name.npz" --layers 2 --epochs 2 --split random:3,3 --out "$name.run" # exists
try train --data karate --split split.json --layers 2 --epochs 1
try train --data karate --split bad.json --layers 2 --epochs 1
try train --data karate --layers 2 --epochs 1 --init evil.safetensors
try train --data karate --model "$name"
try train "--$name"
try "$name"
try eval --checkpoint evil.safetensors --data karate
try eval --checkpoint "$name.run/model.safetensors" --data evil.npz --split random:3,3 --predictions "$name.csv"
try metrics --embeddings "$name.npy"
try devices --device "$name"
try sweep --recipe key.recipe --out no
try sweep --recipe evil.recipe --dry-run --out no
try sweep --recipe evil.recipe --out "$name.sweep"
try report "$name.sweep" --text
try report "$name.sweep" -o page.html
try report "$name.run" --text
try bench --what ops --only fill --seconds 0.001 -o bench.json
python3 - <<'MAKE'
import json
evil, d = open("evil", newline="").read(), json.load(open("bench.json"))
for device in d["devices"]:
    device["name"] = device["driver"] = evil
json.dump(d, open("evil.json", "w"))
MAKE
try bench compare bench.json evil.json
clean printed/*.out printed/*.err printed/*.json || fail "a control character was printed"
! grep -la '^fathom: forged' printed/* || fail "a line from the data was printed as a line of its own"
python3 -c 'import json,sys; [json.load(open(f)) for f in sys.argv[1:]]' printed/*.json || fail "not JSON"
clean page.html "$name.run/run.json" "$name.sweep/sweep.json" || fail "a file contains a control character"
field 'd["data"]["name"]' printed/3.json >got && cmp -s got <(cat evil && echo) || fail "JSON changes the name: $(cat -v got)"
grep -q 'ü日\\x1b\[31m\\x07\\x0d\\x7f\\xc2\\x9b2J\\xff' printed/*.out || fail "the name is not shown, escaped"
expect_exit 2 "$FATHOM" sweep --recipe table1 --data $'a\nseeds 2' --out no
grep -q 'control character' err || fail "a line break in a recipe's value: $(cat err)"

# --- on a terminal only the sequences of fathom: colours and erase-line
if command -v script >/dev/null; then
    for words in "data info evil.npz" "report '$name.sweep' --text" "train --data evil.npz --layers 2 --epochs 2 --split random:3,3" "bench compare bench.json evil.json" "eval --checkpoint evil.safetensors --data karate"; do
        script -qec "'$FATHOM' $words" /dev/null </dev/null >screen 2>&1 || true
        sed -E $'s/\033\\[[0-9;]*[mK]//g; s/\r//g' screen >screen.rest
        clean screen.rest || fail "'$words' on a terminal"
    done
    script -qec "'$FATHOM' data info karate" /dev/null </dev/null >screen
    grep -q $'^\033\[1mkarate\033\[0m' screen || fail "no colours on a terminal: $(head -1 screen | cat -v)"
else
    echo "no command 'script': terminals are not tried"
fi
