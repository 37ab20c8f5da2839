# cli_bench.sh - `fathom bench` and `fathom bench compare` from outside.
need_command
command -v python3 >/dev/null || skip "python3 is not there to check JSON with"

# field EXPRESSION FILE: a value of the document d.
one_message() {
    same "$(wc -l <err)" 1 "lines of an error: $(cat err)"
    grep -q "^fathom: .*$1" err || fail "the message '$(cat err)' does not have '$1'"
}
bench() { "$FATHOM" bench --threads 1 --seconds 0.005 "$@"; }

# --- every kind of measurement gives a table, a page and a document
bench --what ops --device cpu --only group_apply -o ops.json --html ops.html >out 2>err
grep -q 'group_apply .*n=2708 d=16 G=10 .*%' out || fail "no line about group_apply: $(cat out)"
grep -q '^core to core: [0-9]* ns$' out || [ "$(nproc)" = 1 ] || fail "no core-to-core figure: $(cat out)"
grep -q '^written: ops.json$' err || fail "it does not say what it wrote: $(cat err)"
grep -q '</html>' ops.html || fail "the page is not whole"
same "$(field "d['fathom_bench'], d['what'], len(d['devices'])" ops.json)" "(1, 'ops', 1)" "head of the document"
same "$(field "sorted(d['devices'][0]['roof'])" ops.json)" "['copy_8_mib_gb_s', 'copy_in_cache_gb_s', 'copy_in_memory_gb_s', 'gemm_gflop_s', 'steady']" roof
same "$(field "all(v for k, v in d['devices'][0]['roof'].items() if k != 'steady')" ops.json)" True "the roof is measured"
same "$(field "[r['shape'] for r in d['devices'][0]['rows']]" ops.json)" \
    "['n=2708 d=16 G=10', 'n=18333 d=16 G=10', 'n=2708 d=256 G=10']" shapes
same "$(field "all(0 < r['q1_s'] <= r['median_s'] <= r['q3_s'] and r['gflop_s'] > 0 and r['gb_s'] > 0 and r['of_roof'] > 0 for r in d['devices'][0]['rows'])" ops.json)" True rows
same "$(field "all(d['machine'][k] for k in ('system', 'cores', 'clock')) and all(d['devices'][0][k] for k in ('word', 'name', 'driver', 'backend'))" ops.json)" True "facts about the machine"
# flops of group_apply: 2 n d G + 4 n d
same "$(field "round(d['devices'][0]['rows'][0]['gflop_s'] * d['devices'][0]['rows'][0]['median_s'] * 1e9)" ops.json)" \
    $((2 * 2708 * 16 * 10 + 4 * 2708 * 16)) "operations of group_apply"

# --- the standard workloads: the verdict first, no score for one of them alone; every form of the same figures
expect_exit 0 bench --device cpu --only gnn-small --name "my machine" -o gnn.json --csv gnn.csv --html gnn.html
grep -q '^gnn-small: cpu is the fastest here\|^disturbed: ' out || fail "the verdict: $(cat out)"
same "$(head -1 out | grep -c '^gnn-small\|^disturbed')" 1 "the verdict comes first"
grep -q '^gnn-small  *[0-9.]* [mu]s' out || fail "no figure: $(cat out)"
same "$(field "d['what'], d['name'], d['devices'][0]['score'], [r['name'] for r in d['devices'][0]['rows']]" gnn.json)" \
    "('gnn', 'my machine', None, ['gnn-small'])" "head of the document"
same "$(field "all(r[k] > 0 for r in d['devices'][0]['rows'] for k in ('epochs_per_s', 'edges_per_s', 'memory_bytes', 'launches', 'first_run_s', 'speed_up'))" gnn.json)" True figures
same "$(field "[r['samples'] for r in d['devices'][0]['rows']]" gnn.json)" "[201]" "the same work everywhere"
same "$(python3 -c "import csv; r = list(csv.DictReader(open('gnn.csv'))); print(len(r), r[0]['machine'], r[0]['name'], float(r[0]['median_s']) > 0)")" \
    "1 my machine gnn-small True" "the spreadsheet"
expect_exit 0 bench --device cpu --only gnn-small --markdown
grep -q '^| gnn-small |.* ms |' out || fail "Markdown: $(cat out)"
# anonymous: neither host, user nor folder
mkdir -p "$PWD/private"
same "$(cat gnn.json gnn.csv gnn.html | grep -cF -e "$(hostname)" -e "$PWD" || true)" 0 "names of this machine in the files"

# --- beside busy processes the run says so, and there is no score
busy() { while :; do :; done; }
pids=()
for ((i = 0; i < $(nproc); i++)); do
    busy &
    pids+=($!)
done
expect_exit 0 bench --device cpu --only gnn-attention -o busy.json
kill "${pids[@]}"
grep -q '^disturbed: 1 of 1 measurement.*other programs used [0-9.]* core' out || fail "a busy machine: $(cat out)"
same "$(field "'other programs' in d['conditions']['disturbed'], 'other programs' in d['devices'][0]['rows'][0]['disturbed'], d['conditions']['retries'] >= 2" busy.json)" \
    "(True, True, True)" "the stamp in the document"

# --- machines side by side, from files that are given scores
machine() { # FILE NAME SCORE FACTOR
    python3 - "$@" <<'PY2'
import json, sys
path, name, score, factor = sys.argv[1], sys.argv[2], float(sys.argv[3]), float(sys.argv[4])
d = json.load(open("gnn.json"))
d["name"], d["conditions"]["disturbed"], d["devices"][0]["score"] = name, None, score or None
for r in d["devices"][0]["rows"]:
    for k in ("median_s", "q1_s", "q3_s"):
        r[k] *= factor
json.dump(d, open(path, "w"))
PY2
}
machine one.json one 500 2
machine two.json two 1000 1
machine three.json three 0 3
expect_exit 0 "$FATHOM" bench compare one.json two.json three.json --html machines.html
same "$(sed -n '2,4s/ .*//p' out | tr '\n' ' ')" "two one three " "machines by score"
grep -q '^gnn-small  *two  *cpu' out || fail "times of machines: $(cat out)"
same "$(grep -c 'class="chart hbar"' machines.html)" 5 "bars of two scores and three times"
expect_exit 0 "$FATHOM" bench compare one.json two.json three.json --json
same "$(field "[(m['name'], m['score']) for m in d['machines']], len(d['comparisons'])" out)" \
    "([('one', 500), ('two', 1000), ('three', None)], 2)" "machines as JSON"
expect_exit 2 "$FATHOM" bench compare ops.json ops.json --html no.html
one_message "standard workloads"

for what in epoch metrics; do
    FATHOM_DATA= bench --device cpu --what $what --only embedded --json >$what.json 2>err
    same "$(field "d['what'], [r['missing'] for r in d['devices'][0]['rows']][0]" $what.json)" "('$what', None)" "$what"
done
# all of them: a table for each, and bars of time are not under 'of its roof'
FATHOM_DATA= bench --device cpu --what all --only ed --html all.html >out
grep -A99 '^operation .*of its roof$' out | grep -A99 '^epoch .*time$' | grep -q '^metric .*time$' || fail "tables of --what all: $(cat out)"
grep -q '^gcn + group norm.*%' out && same "$(grep '^gcn + group norm' out | grep -c '#.*%$')" 0 "epochs beside a roof"
same "$(grep '^epoch' out | tr -s ' ')" "epoch data median spread time" "heads of epochs"
same "$(grep -c '<h2>' all.html)" 3 "tables of the page"
# a data set that is not here is named, not an error
FATHOM_DATA= XDG_CACHE_HOME=$PWD/empty bench --device cpu --what epoch --only cora --json >cora.json
same "$(field "all('fathom data get cora' in r['missing'] for r in d['devices'][0]['rows'])" cora.json)" True "missing data"

# --- shapes that an operation does not take are left out
expect_exit 0 bench --what ops --device cpu --only aggregate --json
same "$(field "[r['shape'] for r in d['devices'][0]['rows']]" out)" "['n=2708 d=16', 'n=18333 d=16']" "shapes of aggregate"

# --- several devices, each once
expect_exit 0 bench --what ops --device cpu,auto,0 --only fill --json
same "$(field "[x['word'] for x in d['devices']].count('cpu')" out)" 1 "a device named three times"

# --- wrong use
expect_exit 3 bench --device nowhere
one_message nowhere
expect_exit 3 bench --device cpu,nowhere
one_message nowhere
expect_exit 2 bench --what nothing
one_message "did you mean\|ops"
expect_exit 2 bench --what ops --device cpu --only "no such row"
one_message "no such row"
expect_exit 2 bench --seconds 0
one_message "--seconds"
mkdir -p folder
bench --what ops --device cpu --only fill -o folder >out 2>err && fail "-o of a folder is taken"
one_message folder

# --- compare: files with known times
made() { # NAME MEDIAN SPREAD DEVICE..., of SAMPLES samples
    python3 - "$@" <<'PY'
import json, os, sys
name, median, spread, words = sys.argv[1], float(sys.argv[2]), float(sys.argv[3]), sys.argv[4:]
row = lambda n, m: dict(name=n, shape="s", missing=None, samples=int(given("SAMPLES", 9)), median_s=m,
                        q1_s=m * (1 - spread), q3_s=m * (1 + spread))
given = lambda key, other: os.environ.get(key, other)
device = lambda w: dict(word=w, name=w, driver=given("DRIVER", "x"), threads=int(given("THREADS", 2)), rows=[row("a", median), row("b", 1.0),
                                                         dict(name="c", shape="s", missing="not here")])
json.dump(dict(fathom_bench=1, what="ops", version=given("VERSION", "0"), devices=[device(w) for w in words]), open(name, "w"))
PY
}
made base.json 2.0 0.05 cpu
made fast.json 1.0 0.05 cpu
made slow.json 3.0 0.05 cpu
made near.json 1.95 0.001 cpu
made noisy.json 1.5 0.4 cpu
made even.json 2.0 0.02 cpu
made close.json 1.88 0.02 cpu # 6 % faster, but the quartiles are only 2 % apart
SAMPLES=1 made once.json 1.0 0 cpu
made other.json 1.0 0.05 opencl:0
made two.json 1.0 0.05 cpu opencl:0
made three.json 1.0 0.05 opencl:1 opencl:2
expect_exit 0 "$FATHOM" bench compare base.json fast.json slow.json near.json noisy.json --json
same "$(field "[[(r['name'], '%.2f' % r['speed_up'], r['verdict'], r['beyond_noise']) for r in c['rows']][0] for c in d['comparisons']]" out)" \
    "[('a', '2.00', 'faster', True), ('a', '0.67', 'slower', True), ('a', '1.03', 'same', False), ('a', '1.33', 'same', False)]" verdicts
same "$(field "[(c['faster'], c['slower'], c['same'], len(c['rows'])) for c in d['comparisons']][0]" out)" "(1, 0, 1, 2)" counts
expect_exit 0 "$FATHOM" bench compare even.json close.json --json
same "$(field "d['comparisons'][0]['rows'][0]['verdict']" out)" same "quartiles that are a little apart"
expect_exit 0 "$FATHOM" bench compare base.json once.json --json
same "$(field "d['comparisons'][0]['rows'][0]['verdict'], d['comparisons'][0]['unknown']" out)" "('unknown', 2)" "one sample"
expect_exit 0 "$FATHOM" bench compare base.json once.json
grep -q 'too few samples (2.00x)' out && grep -q ', 2 with too few samples; ' out || fail "one sample: $(cat out)"
expect_exit 0 "$FATHOM" bench compare base.json fast.json
grep -q '2.00x faster' out || fail "compare prints: $(cat out)"
grep -q '1 faster, 0 slower, 1 within the noise; 1.41x as fast on the whole' out || fail "compare ends: $(cat out)"
expect_exit 0 "$FATHOM" bench compare base.json other.json # one device each: they are compared
expect_exit 0 "$FATHOM" bench compare two.json base.json --json
same "$(field "[r['device'] for r in d['comparisons'][0]['rows']]" out)" "['cpu', 'cpu']" "devices in common"
same "$(field "[(c['base_only'], c['other_only'], c['differences']) for c in d['comparisons']]" out)" "[(2, 0, [])]" "rows of one file"
VERSION=1 THREADS=1 DRIVER=y made changed.json 1.0 0.05 cpu
expect_exit 0 "$FATHOM" bench compare base.json changed.json
grep -q '^the files differ: fathom: 0 and 1; cpu, driver: x and y; cpu, threads: 2 and 1$' out || fail "what differs: $(cat out)"
expect_exit 0 "$FATHOM" bench compare base.json changed.json --json
same "$(field "[(x['device'], x['what'], x['base'], x['other']) for x in d['comparisons'][0]['differences']]" out)" \
    "[(None, 'fathom', '0', '1'), ('cpu', 'driver', 'x', 'y'), ('cpu', 'threads', '2', '1')]" "what differs, as JSON"
expect_exit 0 "$FATHOM" bench compare two.json base.json
grep -q '^not compared: 2 rows of two.json alone, 0 of base.json alone$' out || fail "rows of one file: $(cat out)"
! grep -q 'the files differ' out || fail "files that do not differ: $(cat out)"
expect_exit 4 "$FATHOM" bench compare two.json three.json
one_message "in common"
expect_exit 4 "$FATHOM" bench compare ops.json epoch.json
one_message "one kind"
expect_exit 0 "$FATHOM" bench compare ops.json ops.json
grep -q ' 0 faster, 0 slower, 3 within the noise; 1.00x' out || fail "a file differs from itself: $(cat out)"
expect_exit 2 "$FATHOM" bench compare base.json
one_message B.json
for text in '' '{' '[]' '{"fathom_bench":1}' '{"devices":[]}' "$(head -c 700 ops.json)"; do
    printf '%s' "$text" >bad.json
    expect_exit 4 "$FATHOM" bench compare base.json bad.json
    one_message bad.json
    expect_exit 4 "$FATHOM" bench compare bad.json base.json --json
    same "$(field "d['error']['code']" out)" 4 "a damaged file with --json"
done
expect_exit 4 "$FATHOM" bench compare base.json not-there.json
one_message not-there.json

# --- 40000 rows in opposite orders: matched in seconds of CPU time; more rows than any benchmark has are refused
many() { # NAME ROWS STEP
    python3 - "$@" <<'PY'
import json, sys
rows = [dict(name="op%d" % i, shape="s", missing=None, samples=9, median_s=2.0, q1_s=1.9, q3_s=2.1) for i in range(int(sys.argv[2]))]
json.dump(dict(fathom_bench=1, what="ops", version="0", devices=[dict(word="cpu", name="x", driver="y", threads=2, rows=rows[::int(sys.argv[3])])]), open(sys.argv[1], "w"))
PY
}
many up.json 40000 1
many down.json 40000 -1
before=${ASAN_OPTIONS:-}
export ASAN_OPTIONS=$before:fast_unwind_on_malloc=1 # the slow unwinder takes 20 us an allocation, and there are a million
(ulimit -t 12 && expect_exit 0 "$FATHOM" bench compare up.json down.json) || fail "40000 rows take more than 12 s of CPU time"
(ulimit -t 12 && expect_exit 0 "$FATHOM" bench compare up.json down.json --json) || fail "40000 rows take more than 12 s of CPU time"
same "$(field "(d['comparisons'][0]['same'], d['comparisons'][0]['base_only'])" out)" "(40000, 0)" "rows of 40000 that match"
export ASAN_OPTIONS=$before
many up.json 50001 1
expect_exit 4 "$FATHOM" bench compare base.json up.json
one_message "more than 50000 rows"

# --- memory that runs out is a message too
for n in 1 2 3 5 8 13 21 34 55 89; do
    code=0
    FATHOM_FAIL_ALLOC=$n "$FATHOM" bench compare base.json fast.json slow.json >out 2>err || code=$?
    case $code in
    0) break ;;
    6) one_message "" ;;
    *) fail "allocation $n failed and compare exits with $code: $(cat err)" ;;
    esac
done

# --- tune: nothing to choose on the native back end; bad words are refused
expect_exit 0 "$FATHOM" tune --device cpu --json
same "$(field "d['tuned']" out)" "[]" "tune of the native CPU"
grep -q 'nothing to tune' err || fail "tune of the native CPU says: $(cat err)"
expect_exit 3 "$FATHOM" tune --device nowhere
one_message nowhere
if [ "${FATHOM_TEST_LONG:-}" = 1 ] && "$FATHOM" devices --json --quiet | grep -q '"opencl:0"'; then
    XDG_CACHE_HOME=$PWD/tuned expect_exit 0 "$FATHOM" tune --device opencl:0 --seconds 0.01 --json
    record=$(field "d['tuned'][0]['file']" out)
    same "$(field "d['tuned'][0]['own_gemm']" out)" "$(field "d['own_gemm']" "$record")" "the record that tune keeps"
    XDG_CACHE_HOME=$PWD/tuned expect_exit 0 bench --what ops --device opencl:0,cpu --only fill --json
    same "$(field "[x['tuned'] for x in d['devices']]" out)" "[True, False]" "devices that are tuned"
    XDG_CACHE_HOME=$PWD/tuned expect_exit 0 bench --what ops --device opencl:0 --only fill --json --no-tune
    same "$(field "d['devices'][0]['tuned']" out)" False "a tuning that is not used"
fi

# --- cache: where it is, what it holds, and clearing it touches nothing else
export XDG_CACHE_HOME=$PWD/kept
mkdir -p kept/fathom/tune kept/fathom/data/cora/deep kept/fathom/other outside
echo 12345 >kept/fathom/tune/a.json
echo 123 >kept/fathom/data/cora/deep/x
echo keep >kept/fathom/other/y
echo keep >outside/z
ln -s "$PWD/outside" kept/fathom/data/link
expect_exit 0 "$FATHOM" cache path
same "$(cat out)" "$PWD/kept/fathom" "cache path"
expect_exit 0 "$FATHOM" cache path --json
same "$(field "d['path'], d['data'], d['tune']" out)" \
    "('$PWD/kept/fathom', {'files': 1, 'bytes': 4}, {'files': 1, 'bytes': 6})" "cache path --json"
expect_exit 0 "$FATHOM" cache clear tune
[ ! -e kept/fathom/tune ] && [ -e kept/fathom/data/cora/deep/x ] || fail "cache clear tune: $(find kept)"
expect_exit 0 "$FATHOM" cache clear --json
same "$(field "d['data']['removed_files'], d['tune']['removed_files']" out)" "(1, 0)" "cache clear --json"
same "$(find kept outside -type f | sort | tr '\n' ' ')" "kept/fathom/other/y outside/z " "what is left"
expect_exit 0 "$FATHOM" cache clear
expect_exit 2 "$FATHOM" cache clear everything
one_message everything
