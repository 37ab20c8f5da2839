# cli_sweep_files.sh - what a sweep reads and writes: recipes that are too large or not plain text, long paths,
# changed splits, foreign journals, names that must be escaped in every output.
need_command
command -v python3 >/dev/null || skip "python3 is not there to read the results with"
user() { as_user timeout 60 "$FATHOM" "$@"; }
one="--recipe table1 --models gcn --norms none --layers 2 --epochs 2 --seeds 1 --device cpu --quiet"
make_graph() { expect_exit 0 user data make sbm --nodes 60 --classes 3 --features 12 --edges 150 --seed "$1" -o "$2"; }

# --- 1.5 KB that span 4e13 runs: refused immediately, with the number
python3 - <<'PY'
numbers = lambda n, form: " ".join(form % i for i in range(1, n + 1))
open("huge.recipe", "w").write("\n".join((
    "data " + numbers(63, "d%d"), "layers " + numbers(63, "%d"), "groups " + numbers(63, "%d"),
    "lambda " + numbers(63, ".%d1"), "missing-rate " + numbers(63, ".%d1"), "models gcn sgc gat gcnii",
    "norms group", "seeds 10000")))
PY
[ "$(stat -c %s huge.recipe)" -lt 1600 ] || fail "the recipe is not small: $(stat -c %s huge.recipe) bytes"
for words in --dry-run "--out huge"; do
    # shellcheck disable=SC2086
    expect_exit 2 user sweep --recipe huge.recipe $words
    grep -q 'recipe huge: 39697461720000 runs (10000 seeds x 63 data sets x' err || fail "too many runs: $(cat err)"
done
[ ! -e huge ] || fail "a sweep that was refused left a folder"

# --- a NUL in a recipe
printf 'data karate\nmodels gcn\nnorms none\nlayers 2\n\0epochs 2\n' >nul.recipe
expect_exit 2 user sweep --recipe nul.recipe --out nul
grep -q 'nul.recipe, line 5: a NUL byte' err || fail "a NUL in a recipe: $(cat err)"

# --- two data sets whose paths share 400 characters: two runs, two tables, two charts; a change of either is noticed
deep=$(printf 'd%.0s' $(seq 200))/$(printf 'e%.0s' $(seq 200))
mkdir -p "$deep/a" "$deep/b"
make_graph 1 "$deep/a/g.npz"
make_graph 2 "$deep/b/g.npz"
# shellcheck disable=SC2086
expect_exit 0 user sweep $one --layers 2,3 --data "$deep/a/g.npz,$deep/b/g.npz" --split random:5,5 --out long
python3 - "$deep" <<'PY' || fail "data sets under long paths"
import json, sys
rows = [json.loads(line) for line in open("long/results.jsonl")]
assert len(rows) == 4 == len({r["cell"] for r in rows}), rows
assert {r["data"] for r in rows} == {sys.argv[1] + "/a/g.npz", sys.argv[1] + "/b/g.npz"}
assert len({(r["data"], r["data_sha256"]) for r in rows}) == 2 == len({r["data_sha256"] for r in rows})
PY
expect_exit 0 user report long --text --svg charts --json
[ "$(find charts -name '*.svg' | wc -l)" = "$(python3 -c 'import json; print(json.load(open("out"))["svg_files"])')" ] ||
    fail "charts of two data sets with one name share a file"
expect_exit 0 user report long --text
grep -q '^g (data set 2), all features' out || fail "two data sets with one name have one title: $(cat out)"
make_graph 3 "$deep/b/g.npz"
# shellcheck disable=SC2086
expect_exit 4 user sweep $one --layers 2,3 --data "$deep/a/g.npz,$deep/b/g.npz" --split random:5,5 --out long --resume
grep -q 'finished runs were of another .*/b/g.npz' err || fail "changed data under a long path: $(cat err)"

# --- a changed split, as a file and as members of the data set, is refused by name
make_graph 1 g.npz
split() { python3 -c 'import json, sys; n = int(sys.argv[1]); json.dump({"train": list(range(n, n + 20)), "val": list(range(30, 40)), "test": list(range(40, 60))}, open("own.json", "w"))' "$1"; }
split 0
# shellcheck disable=SC2086
expect_exit 0 user sweep $one --data g.npz --split own.json --out file
split 1
# shellcheck disable=SC2086
expect_exit 4 user sweep $one --data g.npz --split own.json --out file --resume
grep -q 'runs of g.npz were of another split (own.json' err || fail "a changed split: $(cat err)"
split 0
# shellcheck disable=SC2086
expect_exit 0 user sweep $one --data g.npz --split own.json --out file --resume
python3 -c 'import json; r = json.loads(open("file/journal.jsonl").read()); assert len(r["split_sha256"]) == 64, r' || fail "no digest of the split in the journal"
# shellcheck disable=SC2086
expect_exit 0 user sweep $one --data g.npz --split random:5,5 --seeds 3 --out drawn
# shellcheck disable=SC2086
expect_exit 0 user sweep $one --data g.npz --split random:5,5 --seeds 3 --out drawn --resume
if python3 -c 'import numpy' 2>/dev/null; then
    own_split() { python3 -c 'import numpy, sys; n = int(sys.argv[1]); a = dict(numpy.load("g.npz")); a.update(train=numpy.arange(n, n + 20), val=numpy.arange(30, 40), test=numpy.arange(40, 60)); numpy.savez("s.npz", **a)' "$1"; }
    own_split 0
    # shellcheck disable=SC2086
    expect_exit 0 user sweep $one --data s.npz --out members
    own_split 1
    # shellcheck disable=SC2086
    expect_exit 4 user sweep $one --data s.npz --out members --resume
    grep -Eq 'of another (split|s.npz)' err || fail "changed members of a split: $(cat err)"
fi

# --- --resume where no sweep is
# shellcheck disable=SC2086
expect_exit 2 user sweep $one --data karate --out nowhere --resume
grep -q 'nowhere: holds no sweep to continue' err || fail "--resume without a sweep: $(cat err)"
[ ! -e nowhere ] || fail "--resume without a sweep made its folder"

# --- a foreign journal without a line end is not cut
mkdir foreign
printf 'notes of mine, without a line end' >foreign/journal.jsonl
# shellcheck disable=SC2086
expect_exit 4 user sweep $one --data karate --out foreign
grep -q 'foreign/journal.jsonl, line 1: not a record of a sweep' err || fail "a foreign journal: $(cat err)"
[ "$(cat foreign/journal.jsonl)" = 'notes of mine, without a line end' ] || fail "a foreign journal was changed: $(cat foreign/journal.jsonl)"

# --- Ctrl-C before the first result: no table of nothing
# shellcheck disable=SC2086
"$FATHOM" sweep ${one/--epochs 2/--epochs 1000000} --data karate --out early >out 2>err &
pid=$!
await early/sweep.json
kill -INT "$pid"
code=0
wait "$pid" || code=$?
[ "$code" = 130 ] || fail "Ctrl-C gave exit code $code: $(cat err)"
[ ! -s out ] || fail "Ctrl-C before the first result printed: $(cat out)"
[ ! -e early/results.csv ] || fail "Ctrl-C before the first result left a table of nothing"

# --- table 2 without missing features, epochs and seeds in the text
# shellcheck disable=SC2086
expect_exit 0 user sweep ${one/table1/table2} --missing-rate 0 --data karate --out bare
expect_exit 0 user report bare --text
grep -q 'table 2 is left out of the report: it is of missing features' out || fail "table 2 without missing features: $(cat out)"
grep -q '^Recipe table2, 2 epochs a run (the paper: up to 1000), 1 seed, preset authors$' out || fail "no epochs and seeds: $(cat out)"
expect_exit 0 user report bare
grep -q 'class="note">table 2 is left out' bare/report.html || fail "the page does not say that table 2 is left out"
printf 'data karate\nmodels gcn\nnorms none\nlayers 2\nseeds 1\nepochs 2\n' >own.recipe
cp own.recipe plain # a file of any name
expect_exit 0 user sweep --recipe plain --device cpu --out plainly --quiet
expect_exit 0 user sweep --recipe own.recipe --device cpu --out own --quiet
expect_exit 0 user report own
grep -q '<svg ' own/report.html || fail "a recipe without show makes an empty page"

# --- names and texts that would be markup, quotes, separators
evil="<script>alert(1)<blink>'&, x"
mkdir "$evil"
make_graph 1 "$evil/$evil.npz"
cat >"$evil.recipe" <<RECIPE
title <script>alert(2)</script> "quoted" & 'so'
data "$evil/$evil.npz"
models gcn
norms none group
layers 2 3
seeds 1
epochs 2
split random:5,5
RECIPE
expect_exit 0 user sweep --recipe "./$evil.recipe" --device cpu --out evil --quiet
python3 - <<'PY'
import json
rows = [json.loads(line) for line in open("evil/journal.jsonl")]
bad = "<script>alert(3)</script>\"',\n=cmd"
for row in rows:
    row["device"] = row["driver"] = row["version"] = bad
failed = dict(rows.pop(), status="failed", error=bad)
with open("evil/journal.jsonl", "w") as out:
    out.writelines(json.dumps(row) + "\n" for row in rows)
open("evil/failures.jsonl", "w").write(json.dumps(failed) + "\n")
about = json.load(open("evil/sweep.json"))
about["system"] = about["processor"] = about["libraries"] = bad
json.dump(about, open("evil/sweep.json", "w"))
PY
expect_exit 0 user report evil --csv evil.csv --svg evil-svg
python3 - "$evil" <<'PY' || fail "texts of the data are not escaped in the outputs"
import csv, glob, html.parser, sys, xml.etree.ElementTree as tree
evil, bad = sys.argv[1], "<script>alert(3)</script>\"',\n=cmd"
class Page(html.parser.HTMLParser):
    tags, inside, text, scripts = set(), "", "", ""
    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.inside = tag
        assert not any(name.startswith("on") for name, _ in attributes), attributes
    def handle_endtag(self, tag):
        self.inside = ""
    def handle_data(self, data):
        if self.inside == "script":
            self.scripts += data
        else:
            self.text += data
page = Page()
page.feed(open("evil/report.html").read())
assert "alert" not in page.scripts and "blink" not in page.tags
for wanted in ("<script>alert(2)</script> \"quoted\" & 'so'", evil, bad):
    assert wanted in page.text, wanted
rows = list(csv.DictReader(open("evil.csv", newline="")))
assert len(rows) == 3 and all(r["device"] == bad and r["data"] == "%s/%s.npz" % (evil, evil) for r in rows), rows
files = glob.glob("evil-svg/*.svg")
assert files
for name in files:
    assert "alert" not in "".join(e.text or "" for e in tree.parse(name).iter("{http://www.w3.org/2000/svg}script")), name
PY
