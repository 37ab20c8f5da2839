# package_formats.sh - docs/formats.md lists exactly the fields of every command's JSON: each command is run, and its
# document is compared with the tables. labels: asan-skip
need_command
command -v python3 >/dev/null || skip "python3 is not there to read JSON with"

export HOME=$PWD XDG_CACHE_HOME=$PWD/cache
run() { # run NAME COMMAND...: its document into NAME.json
    local name=$1
    shift
    "$FATHOM" "$@" --json --quiet >"$name.json" 2>err || fail "fathom $*: $(cat err)"
}
run devices devices
"$FATHOM" doctor --json --quiet >doctor.json 2>err || true # its exit code depends on the machine
run selftest selftest --device cpu --op copy
run data-list data list
run data-info data info karate
run data-convert data convert karate -o karate.npz
run data-make data make sbm -o sbm.npz --nodes 60 --edges 120 --classes 3 --features 8
run train train --device cpu --data karate --layers 2 --epochs 3 --lambda auto --profile --out run
run train-dry-run train --device cpu --data karate --dry-run
run train-ranks train --device cpu --data karate --dry-run --ranks 2
run eval eval --device cpu --checkpoint run/model.safetensors --data karate --logits logits.npy
run metrics metrics --device cpu --embeddings logits.npy --data karate
run metrics-sampled metrics --device cpu --embeddings logits.npy --data karate --metrics sampled:9
run metrics-without-data metrics --device cpu --embeddings logits.npy
run demo demo --device cpu --epochs 2 --layers 2
run sweep sweep --device cpu --recipe table1 --data karate --models gcn --norms group --layers 2 --seeds 1 --epochs 2 --out sweep
run sweep-dry-run sweep --device cpu --recipe table1 --data karate --models gcn --norms group --layers 2 --seeds 1 --epochs 2 --out other --dry-run
run report report sweep
run report-of-a-run report run
run bench bench --what ops --device cpu --threads 1 --seconds 0.005 --only fill -o bench-file.json
run bench-gnn bench --device cpu --only gnn-small -o bench-gnn-file.json
run bench-compare-machines bench compare bench-gnn-file.json bench-gnn-file.json
run bench-compare bench compare bench-file.json bench-file.json
run cache-path cache path
run cache-clear cache clear
only_pocl
if "$FATHOM" devices 2>/dev/null | grep -q opencl:0; then
    run train-opencl train --device opencl:0 --data karate --layers 2 --epochs 3
    run tune tune --device opencl:0 --seconds 0.002
fi

cat >compare.py <<'PY'
import glob, json, os, re, sys

def tables(path):
    """{title: [table, ...]} of the sections '#### title'; a table is a list of (field, type)."""
    out, title, table = {}, None, None
    for line in open(path):
        heading = re.match(r"#{2,4} (.*)", line)
        if heading:
            title, table = heading.group(1).strip(), None
            out.setdefault(title, [])
        elif line.startswith("| field "):
            table = []
            out[title].append(table)
        elif table is not None and line.startswith("| ") and title:
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            table.append((cells[0].strip("`"), cells[1]))
        elif not line.startswith("|"):
            table = None
    return out

docs = tables(os.environ["SOURCE_DIR"] + "/docs/formats.md")

def expand(table, prefix="", optional=False):
    fields = {}
    for field, kind in table:
        here = "" if field == "(all)" else field
        path = prefix + ("." if prefix and here else "") + here
        may_lack = optional or kind.endswith(", optional")
        kind = kind.replace(", optional", "")
        if kind.startswith("object "):
            fields.update(expand(docs[kind[7:]][0], path, may_lack))
        else:
            fields[path] = (kind, may_lack)
    return fields

def flatten(value, path=""):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from flatten(inner, path + ("." if path else "") + key)
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        for inner in value:
            yield from flatten(inner, path + "[]")
    else:
        yield path, value

def is_a(value, kind):
    if kind.endswith(" or null"):
        return value is None or is_a(value, kind[:-8])
    if kind.startswith("list of "):
        return isinstance(value, list) and all(is_a(v, kind[8:]) for v in value)
    if kind == "number":
        return value is None or isinstance(value, (int, float)) and not isinstance(value, bool)
    return type(value) is {"text": str, "integer": int, "boolean": bool}[kind]

HEAD = {"fathom": ("text", False), "format": ("integer", False)}
SPECIAL = {  # document: (section, which of its tables)
    "train": ("run", 0), "train-opencl": ("run", 0), "train-dry-run": ("fathom train", 0), "train-ranks": ("fathom train", 1),
    "sweep-dry-run": ("fathom sweep", 1), "report-of-a-run": ("fathom report", 0),
    "bench-gnn": ("fathom bench", 0), "bench-compare-machines": ("fathom bench compare", 0),
    "metrics-without-data": ("fathom metrics", 0), "metrics-sampled": ("fathom metrics", 0)}
bad, seen = [], set()
for name in sorted(glob.glob("*.json")):
    name = name[:-5]
    if name in ("bench-file", "bench-gnn-file"):
        continue
    section, which = SPECIAL.get(name, ("fathom " + name.replace("-", " "), 0))
    fields = dict(HEAD, **expand(docs[section][which]))
    document = json.load(open(name + ".json"))
    if list(document)[:2] != ["fathom", "format"]:
        bad.append("%s: does not start with fathom and format" % name)
    found = {}
    for path, value in flatten(document):
        found[path] = value
        kind = fields.get(path) or fields.get(path + "[]")
        if not kind and value == [] and any(f.startswith(path + "[].") for f in fields):
            continue
        if not kind:
            bad.append("%s: field %s is not in docs/formats.md" % (name, path))
        elif not is_a(value, kind[0]):
            bad.append("%s: field %s is %r, docs/formats.md says %s" % (name, path, value, kind[0]))
    for path, (kind, optional) in fields.items():
        if path not in found and not optional and not any(p == path.split("[]")[0] and found[p] == [] for p in found):
            bad.append("%s: docs/formats.md has the field %s, the document has not" % (name, path))
    seen.add((section, which))
wanted = {(s, i) for s in docs if s.startswith("fathom ") for i in range(len(docs[s]))} - {("fathom data get", 0)}
if not os.path.exists("tune.json"):
    wanted -= {("fathom tune", 0)}
bad += ["no document was compared with the table %d of '%s'" % (i, s) for s, i in sorted(wanted - seen)]
commands = json.load(open("commands.txt")) if os.path.exists("commands.txt") else []
bad += ["docs/formats.md has no section 'fathom %s'" % c for c in commands if "fathom " + c not in docs]
print("\n".join(bad))
sys.exit(bool(bad))
PY
# every command of `fathom --help` has a section
"$FATHOM" --help | sed -nE 's/^  ([a-z]+( [a-z]+)?)  +.*/\1/p' | grep -v '^fathom' | python3 -c 'import json,sys; print(json.dumps(sys.stdin.read().split("\n")[:-1]))' >commands.txt
[ "$(wc -c <commands.txt)" -gt 100 ] || fail "the list of commands was not read: $(cat commands.txt)"
python3 compare.py >differences || fail "$(cat differences)"
# the comparison can fail: a field less, a field more, another type
sed -i 's/"path"/"way"/' cache-path.json
! python3 compare.py >differences || fail "a renamed field was not reported"
grep -q 'cache-path: field way is not' differences && grep -q 'cache-path: docs/formats.md has the field path' differences ||
    fail "a renamed field: $(cat differences)"
