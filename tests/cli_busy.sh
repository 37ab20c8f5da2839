#!/usr/bin/env bash
# cli_busy.sh - a run beside busy processes says that its times are not those of an idle machine; a short run, whose times
# nobody reads, does not. labels: asan-skip
need_command
for _ in $(seq $((2 * $(nproc)))); do
    timeout 60 sh -c 'while :; do :; done' &
done
trap 'kill $(jobs -p) 2>/dev/null' EXIT
note='other programs used the cores most of the time'

must "$FATHOM" train --layers 2 --epochs 3 --device cpu
! grep -q "$note" err || fail "a run of a second says that the cores were busy: $(cat err)"

timeout -s INT 12 "$FATHOM" train --layers 15 --epochs 1000000 --device cpu >out 2>err && fail "the run ended by itself"
[ "$(grep -c "$note" err)" = 1 ] || fail "beside $((2 * $(nproc))) busy processes the note is missing, or not there once: $(cat err)"
grep -q 'interrupted after epoch' err || fail "no result after 12 s: $(cat err)"
