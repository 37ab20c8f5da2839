# cli_data.sh - `fathom data` from outside: list, info, convert, make, and get against a server on loopback that is slow,
# cuts off, redirects, has nothing or the wrong thing.
need_command
command -v python3 >/dev/null || skip "python3 is not there for JSON and the server"
unset FATHOM_DATA FATHOM_MIRROR http_proxy https_proxy HTTP_PROXY HTTPS_PROXY all_proxy ALL_PROXY
export XDG_CACHE_HOME=$PWD/cache

# --- list: what is inside is here, the rest is not
expect_exit 0 "$FATHOM" data list
grep -q '^embedded .*inside the library' out || fail "list: $(cat out)"
grep -q '^cora .*not here: fathom data get' out || fail "list: $(cat out)"
expect_exit 0 "$FATHOM" data list --json
same "$(field "[(s['name'], s['here'], s['can_get']) for s in d['sets']][2:4]" out)" \
    "[('karate-2', True, False), ('cora', False, True)]" "list --json"

# --- info: the contract's fields; a name that is not here says how to get it
expect_exit 0 "$FATHOM" data info --json
same "$(field "d['name'], d['nodes'], d['edges'], d['features'], d['classes'], d['feature_nonzeros'], d['isolated'], d['components']" out)" \
    "('embedded', 2708, 5278, 1433, 7, 49216, 0, 78)" "info --json"
same "$(field "round(d['homophily'], 6), d['split']['train'], d['split']['val'], d['split']['test']" out)" "(0.809966, 140, 500, 1000)" "split"
same "$(field "d['data']['sha256'] == d['sha256'] and len(d['sha256'])" out)" 64 "sha256"
[ ! -s err ] || fail "info --json writes to standard error: $(cat err)"
expect_exit 0 "$FATHOM" data info karate
grep -q '^ *degree 2..3 *17 #' out || fail "no histogram: $(cat out)"
expect_exit 4 "$FATHOM" data info cora
same "$(cat err)" 'fathom: cora: not in $FATHOM_DATA or the cache; get it with: fathom data get cora' "cora is not here"
expect_exit 4 "$FATHOM" data info no-such-thing
grep -q 'neither a file or folder nor a known data set' err || fail "unknown name: $(cat err)"

expect_exit 2 "$FATHOM" data info karate --labels y.csv
grep -q 'inside the library: has its own features and labels' err || fail "labels for a set that has them: $(cat err)"
mkdir -p folders/one folders/two
cp "$SOURCE_DIR/tests/corpus/good/mtx/graph.mtx" folders/one/My_Graph.mtx
cp "$SOURCE_DIR/tests/corpus/good/stored.npz" folders/two/
expect_exit 0 env FATHOM_DATA="$PWD/nowhere:$PWD/folders" "$FATHOM" data info my-graph
grep -q '^my-graph (matrix-market, ' out || fail "a graph found by name: $(cat out)"
expect_exit 0 env FATHOM_DATA="$PWD/folders/one:$PWD/folders/two" "$FATHOM" data info Stored
expect_exit 0 "$FATHOM" data info folders/two

# --- convert and make: written files load to the same content, and the same command gives the same bytes
expect_exit 0 "$FATHOM" data convert karate -o karate.npz
"$FATHOM" data info karate | grep sha256 >one
"$FATHOM" data info karate.npz | grep sha256 >two
cmp -s one two || fail "karate converted has another digest"
"$FATHOM" data convert karate.npz -o again.npz >/dev/null
cmp -s karate.npz again.npz || fail "converting twice gives other bytes"
expect_exit 0 "$FATHOM" data convert embedded --split random:5,6 --seed 3 -o split.npz
expect_exit 0 "$FATHOM" data info split.npz
grep -q '^split *public: 35 training, 42 validation, 2631 test' out || fail "the given split is not kept: $(cat out)"
expect_exit 1 "$FATHOM" data convert karate -o no/such/folder/x.npz
grep -q '^fathom: no/such/folder/x.npz: cannot be written' err || fail "convert to nowhere: $(cat err)"
[ -z "$(ls ./*.part* 2>/dev/null)" ] || fail "a temporary file is left: $(ls)"
expect_exit 0 "$FATHOM" data make sbm --nodes 300 --edges 900 --classes 3 --homophily 0.9 -o made.npz --json
same "$(field "d['data']['nodes'], d['data']['edges'], d['data']['classes']" out)" "(300, 900, 3)" "make --json"
cp made.npz first.npz
"$FATHOM" data make sbm --nodes 300 --edges 900 --classes 3 --homophily 0.9 -o made.npz >/dev/null
cmp -s made.npz first.npz || fail "the same make gives other bytes"
"$FATHOM" data make sbm --nodes 300 --edges 900 --classes 3 --homophily 0.9 --layout ogb -o made >/dev/null
"$FATHOM" data info made | grep sha256 >one
"$FATHOM" data info made.npz | grep sha256 >two
cmp -s one two || fail "the OGB tables hold something else than the .npz"
expect_exit 2 "$FATHOM" data make ring -o x.npz
if python3 -c 'import numpy' 2>/dev/null; then
    python3 - <<'PY' || fail "numpy does not read what convert writes"
import numpy, json
z = numpy.load("split.npz", allow_pickle=False)
assert z["adj_indices"].shape == (2 * 5278,) and z["train"].shape == (35,) and z["attr_data"].dtype == numpy.float32
assert json.loads(z["about"].tobytes())["name"] == "embedded"
PY
fi

# --- get: without a network, and what cannot be got
expect_exit 4 env https_proxy=http://127.0.0.1:9 "$FATHOM" data get cora
same "$(wc -l <err)" 1 "one message: $(cat err)"
grep -q '^fathom: cora: https://.*ind.cora.x cannot be reached (.*); put the file to .*/ind.cora.x by hand, or set FATHOM_MIRROR' err ||
    fail "no network: $(cat err)"
expect_exit 4 "$FATHOM" data get embedded
expect_exit 4 env FATHOM_MIRROR="$PWD/nowhere" "$FATHOM" data get pubmed
grep -q "nowhere/ind.pubmed.x cannot be reached (No such file or directory)" err || fail "empty mirror: $(cat err)"

# --- a server that only drips is given up, and what came is kept
mkdir drops && head -c 20000 /dev/zero >drops/ind.cora.x
python3 "$SOURCE_DIR/tests/support/mirror.py" drops drip.port >drip.requests 2>server.err &
server=$!
trap 'kill $server 2>/dev/null || true' EXIT
for _ in $(seq 100); do [ -s drip.port ] && break || sleep 0.1; done
expect_exit 4 timeout 60 env FATHOM_FETCH_SECONDS=2 FATHOM_MIRROR="http://127.0.0.1:$(cat drip.port)/drip" "$FATHOM" data get cora --to dripped
grep -q 'cut off after [0-9]* bytes (.*); the same command resumes there' err || fail "a server that drips: $(cat err)"
[ -s dripped/ind.cora.x.part ] || fail "what dripped is not kept"
same "$(sort -u drip.requests | wc -l)" 1 "a server that drips is asked once"
for value in 0 x 2x -1 99999999999999999999; do
    expect_exit 2 env FATHOM_FETCH_SECONDS=$value FATHOM_MIRROR="$PWD/drops" "$FATHOM" data get cora --to dripped
    grep -q "FATHOM_FETCH_SECONDS=$value is not a number of seconds" err || fail "$value seconds: $(cat err)"
done
kill $server

shared=${FATHOM_SHARED:-$SOURCE_DIR/../shared}/datasets
[ -d "$shared/planetoid" ] || {
    echo "the downloads themselves were not tried: the benchmark data sets are not beside the source tree"
    exit 0
}
mkdir files
cp "$shared"/planetoid/ind.cora.* "$shared"/npz/coauthor_cs.npz files/
python3 "$SOURCE_DIR/tests/support/mirror.py" files port >requests 2>server.err &
server=$!
trap 'kill $server 2>/dev/null || true' EXIT
for _ in $(seq 100); do [ -s port ] && break || sleep 0.1; done
base=http://127.0.0.1:$(cat port)

for mode in plain redirect slow cut norange; do
    rm -rf "to-$mode"
    expect_exit 0 env FATHOM_MIRROR="$base/$mode" "$FATHOM" data get cora --to "to-$mode"
    same "$(ls "to-$mode" | wc -l)" 8 "files after $mode: $(ls "to-$mode")"
    for file in "to-$mode"/*; do cmp -s "$file" "files/${file##*/}" || fail "$mode brought another $file"; done
done
grep -q '^/cut/ind.cora.allx bytes=128' requests || fail "a transfer that was cut did not continue in the middle: $(cat requests)"

# --- several processes that get one set into one folder: the second waits, and finds the files there
once=$(grep -c '^/slow/ind.cora.allx' requests)
: >requests
for i in 1 2 3 4; do
    env FATHOM_MIRROR="$base/slow" "$FATHOM" data get cora --to to-together --quiet >together.$i 2>&1 &
    getters+=($!)
done
for i in 1 2 3 4; do wait "${getters[i - 1]}" || fail "getting one set together: $(cat together.*)"; done
for file in files/ind.cora.*; do cmp -s "$file" "to-together/${file##*/}" || fail "together another $file came"; done
same "$(grep -c '^/slow/ind.cora.allx' requests)" "$once" "fetches of one file by four processes"

# --- a part from an earlier try is continued; a whole set is not fetched again
mkdir to-resume
head -c 1000 files/ind.cora.x >to-resume/ind.cora.x.part
expect_exit 0 env FATHOM_MIRROR="$base/plain/" "$FATHOM" data get cora --to to-resume
grep -q '^/plain/ind.cora.x bytes=1000-' requests || fail "the part that was here was not used"
: >requests
expect_exit 0 env FATHOM_MIRROR="$base/plain" "$FATHOM" data get cora --to to-resume
[ ! -s requests ] || fail "what is here was fetched again: $(cat requests)"

# --- faults: a message, exit 4, and no file of the final name
fault() { # MODE MESSAGE
    rm -rf to-fault
    expect_exit 4 env FATHOM_MIRROR="$base/$1" "$FATHOM" data get cora --to to-fault
    same "$(wc -l <err)" 1 "one message: $(cat err)"
    grep -q "$2" err || fail "$1 says: $(cat err)"
    [ ! -e to-fault/ind.cora.x ] || fail "$1 left ind.cora.x"
}
fault wrong '^fathom: from .*/wrong/ind.cora.x: .*ind.cora.x.part: not the file it should be (SHA-256 .* instead of 23cfa55d91c6f624'
[ ! -e to-fault/ind.cora.x.part ] || fail "wrong content is kept as a part"
fault missing '^fathom: cora: .*/missing/ind.cora.x cannot be reached (.*404.*); put the file to to-fault/ind.cora.x by hand'
fault large 'larger than the 22119 bytes it should have'
fault stuck 'cut off after 100 bytes (.*); the same command resumes there'
[ "$(wc -c <to-fault/ind.cora.x.part)" = 100 ] || fail "what came is not kept"
: >to-file
expect_exit 1 env FATHOM_MIRROR="$base/plain" "$FATHOM" data get cora --to to-file
grep -q '^fathom: to-file: the folder cannot be made: File exists' err || fail "a file where the folder should be: $(cat err)"

# --- into the cache, from a folder, then by name; .npz sets are pinned by their content
expect_exit 0 env FATHOM_MIRROR="$PWD/files" "$FATHOM" data get Coauthor_CS
expect_exit 0 "$FATHOM" data info coauthor-cs
grep -q '^split *random:40,150: 600 training, 2178 validation, 15555 test' out || fail "coauthor-cs: $(cat out)"
expect_exit 0 "$FATHOM" data list --json
same "$(field "[s['here'] for s in d['sets'] if s['name'] == 'coauthor-cs']" out)" "[True]" "list after get"
"$FATHOM" data convert amazon-photo -o x.npz >/dev/null 2>&1 && fail "amazon-photo is here"
FATHOM_DATA=$shared "$FATHOM" data convert amazon-photo -o files/amazon_computers.npz >/dev/null 2>&1
expect_exit 4 env FATHOM_MIRROR="$PWD/files" "$FATHOM" data get amazon-computers
grep -q 'not the file it should be (SHA-256 of the content .* instead of 1530673218536d2f' err || fail "another set: $(cat err)"
FATHOM_DATA=$shared "$FATHOM" data convert amazon-computers -o files/amazon_computers.npz >/dev/null 2>&1
expect_exit 0 env FATHOM_MIRROR="$base/plain" "$FATHOM" data get amazon-computers # packed by us: the content is what counts
expect_exit 0 "$FATHOM" data info amazon-computers --quiet
