# fault_kills.sh - kill -9 at random moments of train and sweep: the resumed run equals the uninterrupted one, by SHA-256 of
# weights, moments, best epoch and epochs, and by the rows of the journal. Then several processes in one folder. 20 kills;
# 310 with --long, of which more than 200 hit a running process. FATHOM_KILL_SEED repeats a run of this test.
# labels: asan-skip
need_command
export FATHOM_DEVICE=cpu
trains=14 sweeps=6 pairs=4
[ "${FATHOM_TEST_LONG:-}" != 1 ] || trains=220 sweeps=90 pairs=40
seed=${FATHOM_KILL_SEED:-$$}
RANDOM=$seed
echo "FATHOM_KILL_SEED=$seed"
same() { [ "$1" = "$2" ] || fail "$3: '$1' instead of '$2' (seed $seed)"; }
now() { date +%s%N; }

# killed COMMAND...: starts it and kills it within $span ns; counts the kills that hit it.
tried=0 fired=0
killed() {
    local pid code=0 wait
    wait=$(((RANDOM * 32768 + RANDOM) % (span / 2000 + 1))) # in the first half: the machine may be faster now
    "$@" >/dev/null 2>&1 &
    pid=$!
    sleep "$((wait / 1000000)).$(printf %06d $((wait % 1000000)))"
    kill -9 "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || code=$?
    tried=$((tried + 1))
    [ "$code" != 137 ] || fired=$((fired + 1))
}

# --- train; each is killed, resumed and killed again, then resumed to its end
train="train --data karate --layers 3 --epochs 600 --checkpoint-every 7 --threads 1 --quiet --out"
digest() { sed 's/,"ms":.*//' "$1/epochs.jsonl" | cat - "$1/state.safetensors" "$1/model.safetensors" | sha256sum; }
begun=$(now)
# shellcheck disable=SC2086
"$FATHOM" $train whole >/dev/null 2>&1 || fatal "the uninterrupted run"
span=$(($(now) - begun))
wanted=$(digest whole)
for i in $(seq $((trains / 2))); do
    rm -rf broken
    # shellcheck disable=SC2086
    killed "$FATHOM" $train broken
    # shellcheck disable=SC2046,SC2086
    killed "$FATHOM" $train broken $(resume_run broken)
    # shellcheck disable=SC2046,SC2086
    expect_exit 0 "$FATHOM" $train broken $(resume_run broken)
    same "$(digest broken)" "$wanted" "train killed, $i"
done
tally 4 "kill -9 of train" $tried $fired $fired
[ "$fired" -gt 1 ] || fail "only $fired of $tried kills hit a process"

# --- sweep
sweep="sweep --recipe table1 --data karate --models gcn,sgc --norms none,group --layers 2,3 --epochs 40 --seeds 2 --split random:3,3 --jobs 2 --quiet --out"
cells() { sed -E 's/"(total_s|load_s|build_s|median_epoch_ms|min_epoch_ms|finished)": *[^,}]*//g' "$1/journal.jsonl" | sort | sha256sum; }
begun=$(now)
# shellcheck disable=SC2086
"$FATHOM" $sweep whole-sweep >/dev/null 2>&1 || fatal "the uninterrupted sweep"
span=$(($(now) - begun))
wanted=$(cells whole-sweep)
tried=0 fired=0
for i in $(seq $((sweeps / 2))); do
    rm -rf broken
    # shellcheck disable=SC2086
    killed "$FATHOM" $sweep broken
    # shellcheck disable=SC2046,SC2086
    killed "$FATHOM" $sweep broken $(resume_of broken)
    # shellcheck disable=SC2046,SC2086
    expect_exit 0 "$FATHOM" $sweep broken $(resume_of broken)
    same "$(cells broken)" "$wanted" "sweep killed, $i"
    same "$(wc -l <broken/results.csv)" 17 "lines of results.csv, $i"
done
tally 4 "kill -9 of sweep" $tried $fired $fired
[ "$fired" -gt 1 ] || fail "only $fired of $tried kills hit a process"

# --- three processes in one new folder: one trains, the others are refused with a message, and the run is whole
# shellcheck disable=SC2086
expect_exit 0 "$FATHOM" train --data karate --layers 3 --epochs 100 --threads 1 --quiet --out alone
refused=0
for i in $(seq "$pairs"); do
    rm -rf pair
    for n in 1 2 3; do
        (code=0; "$FATHOM" train --data karate --layers 3 --epochs 100 --threads 1 --quiet --out pair >/dev/null 2>"err$n" || code=$?; echo "$code" >"code$n") &
    done
    wait
    same "$(cat code1 code2 code3 | grep -c '^0$')" 1 "processes that trained, $i: $(cat code? err?)"
    for n in 1 2 3; do
        [ "$(cat "code$n")" = 0 ] && continue
        same "$(cat "code$n")" 2 "exit code of the refused one"
        grep -qE 'another process is writing|not empty' "err$n" || fail "refused with: $(cat "err$n")"
        refused=$((refused + 1))
    done
    same "$(digest pair)" "$(digest alone)" "a run in a folder of several processes"
done
# shellcheck disable=SC2086
"$FATHOM" ${sweep/--epochs 40/--epochs 20000} busy >/dev/null 2>&1 &
pid=$!
await busy/sweep.json
# shellcheck disable=SC2086
expect_exit 1 "$FATHOM" ${sweep/--epochs 40/--epochs 20000} busy --resume
grep -q 'another sweep is running in this folder' err || fail "two sweeps in one folder: $(cat err)"
kill -9 "$pid"
wait "$pid" 2>/dev/null || true
[ -e busy/sweep.lock ] || fail "no lock was left to be stale"
# shellcheck disable=SC2086
expect_exit 2 "$FATHOM" ${sweep/--epochs 40/--epochs 41} busy --resume # past the lock: the recipe is what is refused
grep -q "another recipe" err || fail "a stale lock: $(cat err)"
tally 2,4 "a second process in the folder, a stale lock" $((2 * pairs + 2)) $((refused + 2)) $((refused + 2))
