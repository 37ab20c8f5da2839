# cli_own_graphs.sh - graphs of users: without features, with names instead of numbers, with or without a header line.
need_command
command -v python3 >/dev/null || skip "python3 is not there to check JSON with"
f() { as_user "$FATHOM" "$@"; }
said() { grep -q -- "$1" err || fail "no '$1' in: $(cat err)"; }
accuracies="[d['result'][k] for k in ('test_accuracy', 'val_accuracy', 'train_accuracy')]"
small=(--device cpu --threads 1 --layers 2 --epochs 20 --split random:10,10)

# --- a graph without features: refused before anything else, with a message that names the options
expect_exit 0 f data make sbm --nodes 120 --classes 3 --edges 500 --homophily 0.95 --features 0 -o bare.npz
expect_exit 4 f train --data bare.npz "${small[@]}" --out refused
same "$(cat err)" "fathom: sbm-120: the graph has no features; make some with --features degree (one-hot degree) or --features \
identity (one-hot node), or give a file with --features FILE" "a graph without features"
[ ! -e refused ] || fail "a refused run left its folder"
expect_exit 4 f train --data bare.npz --dry-run --device cpu
said 'make some with --features degree'
expect_exit 4 f sweep --recipe table1 --data bare.npz --models gcn --norms none --layers 2 --epochs 2 --seeds 1 --split random:10,10 --out refused
said 'make some with --features degree'
expect_exit 2 f train --data karate --features degree --device cpu
said 'has 34 features; --features degree is for graphs without any'
expect_exit 2 f metrics --embeddings "$SOURCE_DIR/tests/corpus/good/npy/features.npy" --features degree
said 'give --data too'

# --- identity learns such a graph; the digest of the set includes the made features
expect_exit 0 f data info bare.npz --features identity --json
same "$(field "d['features'], d['feature_nonzeros']" out)" "(120, 120)" "identity"
expect_exit 0 f data info bare.npz --features degree --json
same "$(field "d['features'], d['feature_nonzeros']" out)" "(128, 120)" "degree"
for kind in degree identity; do
    expect_exit 0 f train --data bare.npz --features $kind "${small[@]}" --norm none --dropout 0 --epochs 60 --out $kind --json
    same "$(field "d['config']['features']" out)" $kind "the record"
    expect_exit 0 f eval --checkpoint $kind/model.safetensors --data bare.npz --device cpu --threads 1 --json
    same "$(field "$accuracies" out)" "$(field "$accuracies" $kind/run.json)" "eval knows --features $kind"
    expect_exit 0 f train --out $kind --resume --epochs 61 --json
done
same "$(field "d['result']['test_accuracy'] > 0.6" identity/run.json)" True "accuracy with identity"
expect_exit 4 f eval --checkpoint degree/model.safetensors --data bare.npz --features identity --device cpu
said 'it was made for other data'
expect_exit 2 f eval --checkpoint degree/model.safetensors --data karate --device cpu
said '^fathom: degree/model.safetensors was trained with --features degree: .* has 34 features'
expect_exit 0 f train --data bare.npz --init identity/model.safetensors "${small[@]}" --norm none --json
same "$(field "d['config']['features']" out)" identity "--init knows --features"
expect_exit 0 f sweep --recipe table1 --data bare.npz --features identity --models gcn --norms none --layers 2 --epochs 2 --seeds 1 --split random:10,10 --quiet --out swept
same "$(head -n 1 swept/results.jsonl >line && field "d['features']" line)" 120 "a sweep with --features identity"
printf '%%%%MatrixMarket matrix coordinate pattern symmetric\n4 4 3\n2 1\n3 2\n4 1\n' >tiny.mtx
printf '0\n0\n1\n1\n' >y.csv
expect_exit 0 f data info tiny.mtx --labels y.csv --features degree --json
same "$(field "d['features'], d['classes']" out)" "(128, 2)" "a Matrix Market graph"

# --- names instead of numbers: the same digest as numbers; the names are written beside the outputs
mkdir named numbered
python3 - <<'PYTHON'
import random
random.seed(1)
people = ["person %02d" % i for i in range(60)]
people[0], people[1] = 'Ann "A", Jr.', "12"
kinds = ["ham", "news", "spam"]
edges = set()
while len(edges) < 200:
    u, v = random.randrange(60), random.randrange(60)
    if u < v and (u % 3 == v % 3 or random.random() < 0.1):
        edges.add((u, v))
def text(s):
    return '"%s"' % s.replace('"', '""') if '"' in s or "," in s else s
def put(path, lines):
    open(path, "w").write("".join(lines))
edges = sorted(edges)
put("named/edges.csv", ["source,target\n"] + ["%s,%s\n" % (text(people[u]), text(people[v])) for u, v in edges])
put("named/labels.csv", ["%s,%s\n" % (text(people[v]), kinds[v % 3] if v != 9 else "") for v in range(60)])
put("numbered/edges.csv", ["%d,%d\n" % e for e in edges])
put("numbered/labels.csv", ["%d\n" % (v % 3 if v != 9 else -1) for v in range(60)])
PYTHON
of_names() { same "$(sed -n '1p;2p;3p;$p' "$1" | tr '\n' '|')" 'node,name|0,"Ann ""A"", Jr."|1,12|59,"person 59"|' "$1"; }
expect_exit 0 f data info named --features identity --json
digest=$(field "d['sha256'], d['unlabelled']" out)
expect_exit 0 f data info numbered --features identity --json
same "$(field "d['sha256'], d['unlabelled']" out)" "$digest" "names and numbers"
same "$digest" "('a113044d38be7294fc9d1d5c0cdeac09f5eab5a12828d43fe2b4ddc1a63ab940', 1)" "the digest of numbers"
expect_exit 0 f train --data named --features identity "${small[@]}" --split random:5,5 --out kept --json
of_names kept/nodes.csv
same "$(tr '\n' '|' <kept/classes.csv)" 'class,name|0,ham|1,news|2,spam|' "names of classes"
expect_exit 0 f train --out kept --resume --epochs 21 --json
expect_exit 0 f train --data numbered --features identity "${small[@]}" --split random:5,5 --out plain --json
[ ! -e plain/nodes.csv ] && [ ! -e plain/classes.csv ] || fail "files of names for a graph without names"
expect_exit 0 f eval --checkpoint kept/model.safetensors --data named --device cpu --threads 1 --predictions p.csv --logits l.npy --embeddings e.npy
for name in p l e; do
    of_names $name.nodes.csv
    [ -s $name.classes.csv ] || fail "no names of classes beside $name"
done
expect_exit 0 f eval --checkpoint kept/model.safetensors --data named --device cpu --threads 1 --predictions /dev/null
[ ! -e /dev/null.nodes.csv ] || fail "files of names beside a device"
expect_exit 0 f data convert named -o whole.npz
of_names whole.nodes.csv
expect_exit 0 f data convert "$SOURCE_DIR/tests/corpus/good/linqs" -o linqs.npz
same "$(tr '\n' '|' <linqs.classes.csv)" 'class,name|0,alpha|1,beta|2,gamma|' "classes of a LINQS set"

# --- a split by names of nodes, alone or beside numbers: the same nodes as by number; "12" is a name
split_of() { # FILE: digest of the split
    expect_exit 0 f train --data named --features identity "${small[@]}" --epochs 1 --split "$1" --json
    field "d['data']['split']['sha256']" out
}
printf '{"train": [0, 1, 5, 10], "val": [20, 30], "test": [40, 50, 59]}' >numbers.json
printf '{"train": ["Ann \\"A\\", Jr.", "12", "person 05", 10], "val": ["person 20", "person 30"], "test": [40, 50, "person 59"]}' >names.json
same "$(split_of names.json)" "$(split_of numbers.json)" "a split by names"
refuse_split() { # MESSAGE JSON SET
    echo "$2" >odd.json
    expect_exit 4 f data info "$3" --features identity --split odd.json
    same "$(cat err)" "fathom: odd.json: $1" "a split"
}
refuse_split "entry 1 of val: no node is named 'person 60'" '{"train": ["12"], "val": [3, "person 60"], "test": []}' named
refuse_split "node 1 appears twice in the split" '{"train": ["12"], "val": [1], "test": []}' named
refuse_split "entry 0 of train is a name, '12', but the nodes of numbered have no names; give node numbers" \
    '{"train": ["12"], "val": [3], "test": []}' numbered

# --- metrics of rows in the order of the nodes: labels and features in text, as every other reader takes them
expect_exit 0 f eval --checkpoint kept/model.safetensors --data named --device cpu --threads 1 --embeddings h.npy
measured() { # WHAT METRICS ARGUMENTS...
    local what=$1 keys=$2
    shift 2
    expect_exit 0 f metrics --embeddings h.npy --device cpu --threads 1 --json "$@"
    same "$(field "[d['$keys'.split()[i]] for i in range(len('$keys'.split()))]" out)" "$expected" "$what"
}
measure="group_distance_ratio dirichlet_energy"
expect_exit 0 f metrics --embeddings h.npy --device cpu --threads 1 --data named --json
expected=$(field "[d[k] for k in '$measure'.split()]" out)
mkdir apart && cp named/edges.csv apart/ && cp named/labels.csv apart/kinds.csv
measured "labels that name the nodes, in a file of their own" "$measure" --data apart/edges.csv --labels apart/kinds.csv
measured "labels in text in front of a set" "$measure" --data named --labels apart/kinds.csv
python3 - "$PWD" <<'PYTHON'
import struct
def npy(path, descr, shape, data):
    text = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (descr, shape)
    text += " " * (63 - (10 + len(text)) % 64) + "\n"
    open(path, "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode() + data)
labels = [v % 3 if v != 9 else -1 for v in range(60)]
npy("y.npy", "<i4", "(60,)", struct.pack("<60i", *labels))
npy("x.npy", "<f4", "(60, 2)", struct.pack("<120f", *[v % 7 + 1 for v in range(120)]))
open("y.csv", "w").write("label\n" + "".join("%s\n" % (["ham", "news", "spam"][y] if y >= 0 else -1) for y in labels))
open("x.csv", "w").write("".join("%d,%d\n" % (v % 7 + 1, (v + 1) % 7 + 1) for v in range(0, 120, 2)))
PYTHON
measure="group_distance_ratio instance_information_gain"
expect_exit 0 f metrics --embeddings h.npy --device cpu --threads 1 --labels y.npy --features x.npy --json
expected=$(field "[d[k] for k in '$measure'.split()]" out)
[ "${expected/None/}" = "$expected" ] || fail "metrics without a value: $expected"
measured "labels and features in text" "$measure" --labels y.csv --features x.csv
expect_exit 4 f metrics --embeddings h.npy --labels named/labels.csv
said 'named/labels.csv: line 1: node Ann "A", Jr. is not a number, but the nodes have numbers; .*give the graph they belong to: --data DATA'
sed 1d x.csv >short.csv
expect_exit 4 f metrics --embeddings h.npy --features short.csv
said 'h.npy has 60 rows, but short.csv has 59'

# --- names that do not match
refuse() { # CODE MESSAGE: of the folder odd
    expect_exit "$1" f data info odd
    same "$(cat err)" "fathom: odd/$2" "refused"
    rm odd/*
}
mkdir odd
printf 'a,b\nb,c\n' >odd/edges.csv && printf 'x\ny\nx\n' >odd/labels.csv
refuse 4 'labels.csv: the edge list names its nodes, so each line here needs a name: node,class'
printf 'a,b\nb,c\n' >odd/edges.csv && printf 'a,x\na,y\n' >odd/labels.csv
refuse 4 'labels.csv: line 2: node a has a label already'
printf 'a,b\nb,c\n' >odd/edges.csv && printf 'a,1\nb,2\n' >odd/features.csv
refuse 4 'edges.csv: node c has no features'
printf 'a,b\nb,c\n' >odd/edges.csv && printf '1,1\n2,2\n3,3\n' >odd/features.csv
refuse 4 "features.csv: the edge list names its nodes, so these rows need names: give a table with the name first in each \
line, or labels with names, whose order the rows follow"
printf '0,1\n1,2\n' >odd/edges.csv && printf 'a,x\nb,y\n' >odd/labels.csv
refuse 4 'labels.csv: line 1: node a is not a number, but the nodes have numbers'
printf '0,1\n1,2\n' >odd/edges.csv && printf '1\ntwo\n1\n' >odd/labels.csv
refuse 4 'labels.csv: line 2: is not a label'

# --- one rule for header lines
count() { # NODES CLASSES WHAT: of the folder odd
    expect_exit 0 f data info odd --json
    same "$(field "d['nodes'], d['classes']" out)" "($1, $2)" "$3"
    rm odd/*
}
printf '0,1\n1,2\n2,3\n' >odd/edges.csv && printf 'label\nnode\nlabel\nnode\n' >odd/labels.csv
count 4 2 "classes called like headers"
printf 'id1 id2\n0 1\n1 2\n2 3\n' >odd/edges.csv && printf 'label\nspam\nham\nspam\nspam\n' >odd/labels.csv
count 4 2 "a header above words"
printf 'u,v\n0,1\n1,2\n2,3\n' >odd/edges.csv && printf 'node,topic\n0,4\n1,4\n2,3\n3,0\n' >odd/labels.csv
count 4 5 "a header above numbers"
printf 'from,to\na,to\nto,from\n' >odd/edges.csv
count 3 0 "nodes called like headers, below one"
printf 'from,to\nfrom,b\nb,to\n' >odd/edges.csv
count 3 0 "nodes called like headers, and none above"
printf 'who,whom\na,b\nb,c\n' >odd/edges.csv
expect_exit 0 f data info odd
said 'line 1 of the edge list is taken for an edge between who and whom, which no other line names; if it is a header, remove it'
rm odd/*
printf '0,1\n1,2\n' >odd/edges.csv && printf 'x,1\n2,2\n3,3\n' >odd/features.csv
refuse 4 'features.csv: line 1: column 1 is not a finite number'
