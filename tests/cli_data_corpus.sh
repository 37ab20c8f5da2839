# cli_data_corpus.sh - one small graph in every layout loads to one digest; every broken file is refused with its own
# message and exit code 4 (2 for a wrong option), in JSON too, and nothing else is printed.
need_command
command -v python3 >/dev/null || skip "python3 is not there to read JSON with"
cp -r "$SOURCE_DIR/tests/corpus/good" "$SOURCE_DIR/tests/corpus/broken" .
# Broken Planetoid sets hold only the file that is broken.
for folder in broken/pickle-*; do
    for file in good/planetoid-2/*; do
        [ -e "$folder/${file##*/}" ] || cp "$file" "$folder/"
    done
done
rm broken/pickle-missing/ind.tiny.ty

# --- one graph, every layout
wanted=a0413828e57d34aae6815ec537b355706db5de861cb1f9d423de3986cdda5597
layouts=0
check() {
    expect_exit 0 "$FATHOM" data info "$@"
    grep -q "$wanted" out || fail "data info $* has another digest: $(cat out)"
    layouts=$((layouts + 1))
}
for path in good/*.npz good/planetoid-0 good/planetoid-1 good/planetoid-2/ind.tiny good/linqs good/linqs/tiny.cites good/ogb \
    good/plain good/npy/edges.csv good/names good/names-tsv good/classes; do
    check "$path"
done
check good/mtx/graph.mtx --features good/mtx/x.mtx.gz --labels good/mtx/y.csv
check good/mtx/graph.mtx --features good/mtx/dense.mtx --labels good/plain/labels.csv
[ "$layouts" -ge 20 ] || fail "only $layouts layouts were tried"

# --- cleaning is reported, on standard error only
expect_exit 0 "$FATHOM" data info good/plain
grep -qx 'note: plain: 1 of the edges given repeat another one and were removed' err || fail "repeats: $(cat err)"
grep -qx 'note: plain: 1 of the edges given are self-loops and were removed' err || fail "self-loops: $(cat err)"
expect_exit 0 "$FATHOM" data info good/linqs
grep -qx 'note: tiny: 1 citations name a paper that has no content and are left out' err || fail "strangers: $(cat err)"
expect_exit 0 "$FATHOM" data info good/linqs-bare
grep -q '^features *0, 0 non-zero' out || fail "papers without words: $(cat out)"
expect_exit 0 "$FATHOM" data info good/ogb
grep -q '^split *public: 3 training, 2 validation, 3 test' out || fail "the split of the OGB folder: $(cat out)"
expect_exit 0 "$FATHOM" data info good/deflated.npz --split good/split.json
grep -q '^split *good/split.json: 3 training, 1 validation, 2 test' out || fail "a split from a file: $(cat out)"

# --- splits in a .npz: lists or masks, with either naming of the graph; in a file of their own
for path in good/pyg-*.npz good/csr-*.npz; do
    expect_exit 0 "$FATHOM" data info "$path"
    grep -q '^split *public: 3 training, 1 validation, 2 test' out || fail "the split of $path: $(cat out)"
done
for path in good/split/*; do
    expect_exit 0 "$FATHOM" data info good/deflated.npz --split "$path"
    grep -q "^split *$path: 3 training, 1 validation, 2 test" out || fail "the split $path: $(cat out)"
done
expect_exit 0 "$FATHOM" train --data good/pyg-masks.npz --dry-run --device cpu --json
masks=$(field "d['data']['split']['sha256']" out)
expect_exit 0 "$FATHOM" train --data good/deflated.npz --split good/split/boolean.json --dry-run --device cpu --json
same "$(field "d['data']['split']['sha256']" out)" "$masks" "the nodes of equal masks"

# --- members that are not read are named, and only they
expect_exit 0 "$FATHOM" data info good/pyg-masks.npz
[ ! -s err ] || fail "a note without need: $(cat err)"
expect_exit 0 "$FATHOM" data info good/pyg-both.npz
same "$(cat err)" 'note: pyg-both: good/pyg-both.npz: members that are not used: edge_attr, num_nodes' "unused members"
expect_exit 0 "$FATHOM" data info good/deflated.npz --split good/csr-masks.npz
grep -q 'csr-masks.npz: members that are not used: adj_indptr, adj_indices, .*, labels$' err || fail "unused members of a split: $(cat err)"
expect_exit 0 "$FATHOM" metrics --embeddings good/pyg-both.npz --threads 1
grep -qx 'note: good/pyg-both.npz: members that are not used: edge_index, train, .*num_nodes' err || fail "metrics: $(cat err)"

# --- every broken file, its message
cases=0
while IFS=$'\t' read -r path words message; do
    [ "$words" != - ] || words=
    code=4
    case $words in *random:x* | *fraction:0.9*) code=2 ;; esac
    # shellcheck disable=SC2086
    expect_exit $code "$FATHOM" data info $path $words
    [ ! -s out ] || fail "$path prints on standard output: $(cat out)"
    # libzip from 1.11 on has a second text for an archive without its end
    sed -i 's/(Possibly truncated or corrupted zip archive)$/(Not a zip archive)/' err
    [ "$(cat err)" = "$message" ] || fail "$path $words says
  $(cat err)
instead of
  $message"
    cases=$((cases + 1))
done <"$SOURCE_DIR/tests/corpus/expected.tsv"
[ "$cases" -ge 190 ] || fail "only $cases broken files were tried"

# --- files made on the spot
mkdir folder.npz
expect_exit 4 "$FATHOM" data info folder.npz
grep -q 'folder.npz: this folder holds no data set' err || fail "a folder instead of a file: $(cat err)"
mkdir bombs
head -c 3000000 /dev/zero | gzip -9 >bombs/edges.csv.gz
expect_exit 4 "$FATHOM" data info bombs
[ "$(cat err)" = "fathom: bombs/edges.csv.gz: line 0: the next line holds a zero byte, so this is not text" ] ||
    fail "a bomb of zeros: $(cat err)"
head -c 400000000 /dev/zero | tr '\000' 1 | gzip -1 >bombs/edges.csv.gz
expect_exit 4 env FATHOM_READ_LIMIT=4G "$FATHOM" data info bombs
grep -q 'the next line is longer than 268435456 bytes' err || fail "a line without end: $(cat err)"
rm -r bombs
expect_exit 4 "$FATHOM" data info broken/features-nan.npz --json
python3 - <<'PY' || fail "the error in JSON: $(cat out)"
import json
d = json.load(open("out"))["error"]
assert d["code"] == 4 and d["message"] == "broken/features-nan.npz: member attr_data: element 2 is not a finite float32", d
PY
echo "$layouts layouts, $cases broken files"
