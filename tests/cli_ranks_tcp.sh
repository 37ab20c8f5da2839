#!/usr/bin/env bash
# cli_ranks_tcp.sh - ranks on two hosts: network namespaces with a cable between them, Open MPI over TCP. The same sums as
# with threads; a rank that fails over there; a cable that is cut for longer than --comm-timeout, and for less.
# labels: asan-skip
ranks=$BUILD_DIR/tests/comm_ranks
[ -f "$BUILD_DIR/fathom_openmpi.so" ] || skip "built without Open MPI (libopenmpi-dev)"
command -v mpirun.openmpi >/dev/null || skip "no mpirun.openmpi (openmpi-bin)"
command -v ip >/dev/null || skip "no ip (iproute2)"
here=fathom-a-$$ there=fathom-b-$$
ip netns add $here 2>/dev/null || skip "no network namespaces (they need root)"
trap 'ip netns del $here; ip netns del $there' EXIT
must ip netns add $there
must ip link add va netns $here type veth peer name vb netns $there
must ip -n $here addr add 10.213.7.1/24 dev va
must ip -n $there addr add 10.213.7.2/24 dev vb
for namespace in $here $there; do must ip -n $namespace link set lo up; done
must ip -n $here link set va up
must ip -n $there link set vb up

# What ssh is between hosts: Open MPI starts its daemon over there.
cat >agent <<AGENT
#!/bin/sh
shift
exec ip netns exec $there unshare --uts sh -c "hostname hostb; \$*"
AGENT
chmod +x agent
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_plm_rsh_agent=$PWD/agent OMPI_MCA_pml=ob1 OMPI_MCA_btl=tcp,self
export OMPI_MCA_btl_tcp_if_include=10.213.7.0/24 OMPI_MCA_oob_tcp_if_include=10.213.7.0/24

# launch_program COMMAND...: four ranks, two on each host; output into ./out and ./err.
launch_program() {
    timeout 60 ip netns exec $here unshare --uts sh -c 'hostname hosta; exec "$@"' - \
        mpirun.openmpi -np 4 --host 10.213.7.1:2,10.213.7.2:2 "$@" >out 2>err
}
launch() { launch_program "$ranks" "$@"; }
left() { pgrep -f "^$ranks .*wait=$TEST_TMP/began" || true; }

digest=$("$ranks" threads=4)
launch || fatal "two hosts: exit code $?: $(cat err)"
same "$(cat out)" "${digest%% *} openmpi 4 ranks, 2 here" "two hosts"

# The same weights after 20 epochs as with threads.
if [ -x "${FATHOM:-}" ]; then
    job=(train --layers 8 --norm group --lambda 0.01 --order bisection --metrics none --threads 1 --epochs 20)
    must "$FATHOM" "${job[@]}" --device cpu,cpu,cpu,cpu --out threads
    launch_program "$FATHOM" "${job[@]}" --device cpu --out tcp || fail "training on two hosts: exit code $?: $(cat err)"
    grep -q 'rank 3 cpu on hostb' err || fail "two hosts are not named: $(cat err)"
    cmp -s threads/model.safetensors tcp/model.safetensors || fail "two hosts train other weights than threads"
fi

code=0
launch fail=2,5 large=100000 || code=$?
same $code 3 "exit code when a rank of the other host fails"
grep -q '^rank 0 reports: rank 2 (hostb): the device is lost' err || fail "a rank of the other host: $(cat err)"

# Cut for longer than the timeout: both sides end by themselves; mpirun waits for its daemon until the cable is back.
launch seconds=40 timeout=3 large=100000 wait="$TEST_TMP/began" &
job=$! code=0
await began
must ip -n $there link set vb down
for _ in $(seq 150); do [ -n "$(left)" ] || break; sleep 0.1; done
[ -z "$(left)" ] || fail "ranks are left 15 s after the cable was cut: $(left)"
grep -qE '^rank 0 reports: rank [23] \(hostb\)( and 1 more have| has) not answered for 3 s \(--comm-timeout\)' err ||
    fail "the ranks behind the cable are not named: $(cat err)"
must ip -n $there link set vb up
kill $job 2>/dev/null
wait $job || code=$?
[ $code != 0 ] || fail "the cable was cut: exit code 0"

# Cut for less: the run goes on, and its sums are right (each is checked).
rm began
launch seconds=5 timeout=20 large=100000 wait="$TEST_TMP/began" &
job=$! code=0
await began
must ip -n $there link set vb down
sleep 2
must ip -n $there link set vb up
wait $job || code=$?
[ $code = 0 ] && grep -q ' openmpi 4 ranks, 2 here' out || fail "a cable that came back: exit code $code: $(cat err)"
