#!/usr/bin/env bash
# cli_ranks_sweep.sh - `mpirun fathom sweep`: the ranks share one queue and one journal. The results are those of one process,
# also after a rank was killed and the sweep resumed; runs that fail on another rank are recorded; errors are printed once.
# labels: asan-skip
need_command
need_mpi
recipe=(--recipe table1 --data embedded --models gcn,sgc --norms none,group --layers 2,4 --epochs 60 --seeds 2 --device cpu --jobs 1)

# launch RANKS OPTION...: a sweep by that many ranks.
launch() {
    local count=$1
    shift
    timeout 120 "mpirun.$mpi" -np "$count" "$FATHOM" sweep "${recipe[@]}" "$@" >out 2>err
}

# runs FOLDER: its results without times, one line each.
runs() {
    python3 - "$1" <<'PY'
import csv, sys
for row in csv.DictReader(open(sys.argv[1] + "/results.csv")):
    print(sorted((k, v) for k, v in row.items() if not k.endswith(("_s", "_ms")) and k != "finished"))
PY
}

command -v python3 >/dev/null || skip "python3 is not installed"
must "$FATHOM" sweep "${recipe[@]}" --out alone
runs alone >alone.runs
launch 3 --out farm || fail "three ranks: exit code $?: $(cat err)"
grep -q '^16 of 16 runs finished' out || fail "three ranks print: $(cat out)"
same "$(grep -c 'runs finished' out)" 1 "summaries"
runs farm | cmp -s alone.runs - || fail "three ranks and one process give other results"
same "$(wc -l <farm/journal.jsonl)" 16 "lines of the journal"
diff -r alone/curves farm/curves >diff || fail "curves differ: $(head -3 diff)"
launch 3 --out farm && fail "a folder that holds a sweep is taken"
same "$(grep -c 'holds a sweep already' err)" 1 "messages of three ranks: $(cat err)"

# --- a killed rank: nothing that was finished is lost, and --resume gives the same results ---
recipe+=(--epochs 400)
launch 3 --out killed &
job=$! code=0
for _ in $(seq 300); do [ ! -s killed/journal.jsonl ] || break; sleep 0.02; done
for pid in $(pgrep -f "^$FATHOM sweep .*--out killed"); do
    ! tr '\0' '\n' 2>/dev/null <"/proc/$pid/environ" | grep -qE '^(OMPI_COMM_WORLD_RANK|PMI_RANK)=2$' || kill -9 "$pid"
done
wait $job || code=$?
[ $code != 0 ] || fail "a killed rank: exit code 0"
done=$(wc -l <killed/journal.jsonl)
[ "$done" -ge 1 ] && [ "$done" -lt 16 ] || fail "killed after $done of 16 runs"
launch 2 --out killed --resume || fail "resumed: exit code $?: $(cat err)"
grep -q "^16 of 16 runs finished, $done of them before" out || fail "resumed: $(cat out)"
must "$FATHOM" sweep "${recipe[@]}" --out long
same "$(runs killed | sort)" "$(runs long | sort)" "results of a resumed farm"

# --- runs that fail: the journal of failures has them, whichever rank they ran on ---
printf 'data embedded\nmodels gcn\nnorms none\nlayers 40,50,60,70\nepochs 5\nlr 1000\nseeds 2\n' >fails.recipe
recipe=(--recipe fails.recipe --device cpu --jobs 1)
code=0
launch 3 --out failed || code=$?
[ $code = 1 ] || fail "runs that fail: exit code $code instead of 1: $(cat err)"
same "$(wc -l <failed/failures.jsonl)" 8 "failed runs in the journal: $(cat err)"
grep -q '8 of 8 runs failed' err || fail "runs that fail: $(cat err)"
