#!/usr/bin/env bash
# fault_ranks.sh - training on ranks that mpirun started: a rank is killed, then --resume gives the bits of an unbroken run; a
# rank is stopped, then the others end with its name after --comm-timeout, and the folder resumes as well; ranks with other
# data or options are refused.
# labels: asan-skip
need_command
need_mpi
job=(train --layers 8 --norm group --lambda 0.01 --order bisection --metrics none --threads 1 --checkpoint-every 2 --epochs 120)

# launch OPTION...: four ranks; output into ./out and ./err.
launch() { timeout 100 "mpirun.$mpi" -np 4 "$FATHOM" "${job[@]}" --device cpu "$@" >out 2>err; }
bits() { cat "$1/model.safetensors" "$1/state.safetensors" | sha256sum | cut -c1-16; }
# rank_pid N FOLDER
rank_pid() {
    local pid
    for pid in $(pgrep -f "^$FATHOM train .*--out $2"); do
        ! tr '\0' '\n' 2>/dev/null <"/proc/$pid/environ" | grep -qE "^(OMPI_COMM_WORLD_RANK|PMI_RANK)=$1\$" || echo "$pid"
    done
}
# strike SIGNAL RANK FOLDER OPTION...: the signal in mid-run; $code is the exit code of the launcher, within 15 seconds.
strike() {
    local signal=$1 rank=$2 folder=$3 began run
    shift 3
    launch --out "$folder" "$@" &
    run=$! code=0
    for _ in $(seq 500); do [ ! -s "$folder/state.safetensors" ] || break; sleep 0.02; done
    began=$SECONDS
    kill "-$signal" "$(rank_pid "$rank" "$folder")" || fail "SIG$signal: no process of rank $rank: $(cat err)"
    wait $run || code=$?
    [ $code != 0 ] || fail "SIG$signal of a rank: exit code 0"
    [ $((SECONDS - began)) -le 15 ] || fail "SIG$signal of a rank: the others ended after $((SECONDS - began)) s"
    for _ in $(seq 50); do [ -n "$(rank_pid '[0-9]' "$folder")" ] || break; sleep 0.1; done
    [ -z "$(rank_pid '[0-9]' "$folder")" ] || fail "SIG$signal of a rank: others are left"
    [ "$(wc -l <"$folder/epochs.jsonl")" -lt 120 ] || fail "the run had ended before SIG$signal"
}

must "$FATHOM" "${job[@]}" --device cpu,cpu,cpu,cpu --out unbroken
strike KILL 3 killed
launch --out killed --resume || fail "--resume: exit code $?: $(cat err)"
same "$(bits killed)" "$(bits unbroken)" "killed and resumed, against unbroken"

strike STOP 2 stopped --comm-timeout 3
grep -q 'rank 2 ([^)]*) has not answered for 3 s' err || fail "a stopped rank is not named: $(cat err)"
same "$(grep -c '^fathom: ' err)" 1 "messages about a stopped rank: $(cat err)"
launch --out stopped --resume || fail "--resume after a stop: exit code $?: $(cat err)"
same "$(bits stopped)" "$(bits unbroken)" "stopped and resumed, against unbroken"

# --- every rank has its own copy of the data, and its own command line ---
# other CODE MESSAGE OPTION...: rank 1 has other options.
other() {
    local code=0 wanted=$1 message=$2
    shift 2
    timeout 60 "mpirun.$mpi" -np 1 "$FATHOM" "${job[@]}" --device cpu : -np 1 "$FATHOM" "${job[@]}" --device cpu "$@" >out 2>err || code=$?
    same $code "$wanted" "exit code with $*"
    grep -q "^fathom: .*$message" err || fail "with $*: $(cat err)"
}
other 4 'rank 1 ([^)]*) has read other data than rank 0' --data karate
other 2 'rank 1 ([^)]*) was started with other options than rank 0' --lr 0.1
other 2 'rank 1 ([^)]*) was started with other options than rank 0' --epochs 7
