#!/usr/bin/env bash
# cli_ranks_mpi.sh - ranks that a launcher started: the calls of comm.h give the same sums over Open MPI and MPICH as with
# threads; a wrong or missing module is refused; a rank that fails, is killed or stopped ends all, with its message.
# labels: asan-skip
ranks=$BUILD_DIR/tests/comm_ranks
# The launchers refuse root, and more ranks than cores, unless told otherwise.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
threads=$("$ranks" threads=4) || fatal "threads: $threads"
digest=${threads%% *}
same "${threads#* }" "threads 4 ranks, 4 here" "ranks as threads"

# launch MPI RANKS ARGUMENT...: output into ./out and ./err; its exit code.
launch() {
    local mpi=$1 count=$2
    shift 2
    timeout 60 "mpirun.$mpi" -np "$count" "$ranks" "$@" >out 2>err
}

# refused WHAT WORDS COMMAND...: exit code 2 and this message, from every process, and no result.
refused() {
    local what=$1 words=$2 code=0
    shift 2
    timeout 60 "$@" >out 2>err || code=$?
    same "$code" 2 "exit code: $what"
    grep -qF -- "$words" err || fail "$what: no '$words' in: $(cat err)"
    [ ! -s out ] || fail "$what: ran: $(cat out)"
}

# rank_pid N: the process of rank N of the launched program.
rank_pid() {
    local pid
    for pid in $(pgrep -f "^$ranks .*wait=$TEST_TMP/began"); do
        ! tr '\0' '\n' 2>/dev/null <"/proc/$pid/environ" | grep -qE "^(OMPI_COMM_WORLD_RANK|PMI_RANK)=$1\$" || echo "$pid"
    done
}

# strike SIGNAL MPI: sends it to rank 2 of four in mid-run; the job must end within ten seconds and leave no process.
strike() {
    local job code=0 began
    rm -f began
    launch "$2" 4 seconds=40 timeout=3 large=100000 wait="$TEST_TMP/began" &
    job=$!
    await began
    began=$SECONDS
    kill "-$1" "$(rank_pid 2)"
    wait $job || code=$?
    [ "$code" != 0 ] || fail "$2: SIG$1 of a rank: exit code 0"
    [ $((SECONDS - began)) -le 12 ] || fail "$2: SIG$1 of a rank: ended after $((SECONDS - began)) s"
    for _ in $(seq 100); do [ -n "$(rank_pid '[0-9]')" ] || break; sleep 0.05; done
    [ -z "$(rank_pid '[0-9]')" ] || fail "$2: SIG$1 of a rank: processes are left: $(rank_pid '[0-9]')"
}

tested=
for mpi in openmpi mpich; do
    other=$([ $mpi = mpich ] && echo openmpi || echo mpich)
    if [ ! -f "$BUILD_DIR/fathom_$mpi.so" ] || ! command -v "mpirun.$mpi" >/dev/null; then
        echo "no $mpi: left out"
        continue
    fi
    tested+=" $mpi"
    launch $mpi 4 || fail "$mpi: exit code $?: $(cat err)"
    same "$(cat out)" "$digest $mpi 4 ranks, 4 here" "$mpi"
    # one rank of a launcher is a run without ranks; FATHOM_COMM=none makes four of them
    launch $mpi 1 && grep -q ' alone 1 ranks' out || fail "$mpi: one rank: $(cat out err)"
    FATHOM_COMM=none launch $mpi 4 && [ "$(grep -c ' alone 1 ranks' out)" = 4 ] || fail "$mpi: FATHOM_COMM=none: $(cat out)"

    refused "$mpi: no module" "fathom_$mpi.so is not there; install the package that has it, fathom-$mpi" \
        env FATHOM_MODULE_DIR="$TEST_TMP" "mpirun.$mpi" -np 2 "$ranks"
    refused "$mpi: no such MPI" "FATHOM_COMM 'lam': openmpi, mpich or none" env FATHOM_COMM=lam "mpirun.$mpi" -np 2 "$ranks"
    [ ! -f "$BUILD_DIR/fathom_$other.so" ] ||
        refused "$mpi: module of $other" "FATHOM_COMM=$mpi" env FATHOM_COMM=$other "mpirun.$mpi" -np 2 "$ranks"

    # the message and the exit code of the rank that fails; large messages are on their way then
    for failing in 0 2; do
        code=0
        launch $mpi 4 fail=$failing,5 large=$((failing * 500000)) || code=$?
        same $code 3 "$mpi: exit code when rank $failing fails"
        grep -q "^rank $failing reports: the device is lost" err || fail "$mpi: rank $failing is silent: $(cat err)"
        [ $failing = 0 ] || grep -q "^rank 0 reports: rank $failing ([^)]*): the device is lost" err ||
            fail "$mpi: rank 0 does not report rank $failing: $(cat err)"
    done
    strike KILL $mpi
    strike STOP $mpi
    grep -q '^rank 0 reports: rank 2 ([^)]*) has not answered for 3 s (--comm-timeout)' err ||
        fail "$mpi: a stopped rank is not named: $(cat err)"
done
# what a launcher of another installation leaves behind
if [[ $tested == *mpich* ]]; then
    refused "numbers of ranks that differ" "started 2 ranks, but MPICH (fathom_mpich.so) finds 1" env PMI_RANK=0 PMI_SIZE=2 "$ranks"
fi
[ -n "$tested" ] || skip "neither Open MPI (libopenmpi-dev, openmpi-bin) nor MPICH (libmpich-dev, mpich)"
[ "$tested" = " openmpi mpich" ] || echo "tested:$tested only"
