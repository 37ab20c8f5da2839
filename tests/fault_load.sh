# fault_load.sh - load, long runs, and signals: 24 processes on one device, a sweep and a run whose memory and handles stay
# constant, repeated Ctrl-C, SIGTERM, a closed pipe, closed streams, another locale, a home folder that cannot be written,
# paths with spaces and other characters. A small version; the full one with --long.
# labels: asan-skip
need_command
cells=300 epochs=20000
[ "${FATHOM_TEST_LONG:-}" != 1 ] || cells=2000 epochs=100000
# shellcheck disable=SC2046
trap 'kill -KILL $(jobs -p) 2>/dev/null || true' EXIT

# --- 24 processes on one OpenCL device: all succeed with the same result
only_pocl
if "$FATHOM" devices 2>/dev/null | grep -q opencl:0; then
    "$FATHOM" train --device opencl:0 --data karate --layers 2 --epochs 3 --quiet --out warm >/dev/null
    for i in $(seq 24); do
        "$FATHOM" train --device opencl:0 --data karate --layers 2 --epochs 3 --quiet --out "many/$i" >/dev/null 2>"err$i" &
        pids[i]=$!
    done
    for i in $(seq 24); do
        wait "${pids[i]}" || fail "process $i of 24: $(cat "err$i")"
        cmp warm/state.safetensors "many/$i/state.safetensors" || fail "process $i of 24 has another state"
    done
    tally 1 "24 processes at once on one device" 24 24 24
fi
export FATHOM_DEVICE=cpu

# --- constant memory: watch COMMAND... prints samples, memory in KB after a quarter of them, its maximum, handles
watch() {
    local pid rss n
    "$@" >/dev/null 2>err &
    pid=$!
    : >samples
    while kill -0 "$pid" 2>/dev/null; do
        rss=$(sed -n 's/^VmRSS:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$pid/status" 2>/dev/null || true)
        n=$(ls "/proc/$pid/fd" 2>/dev/null | wc -l || true)
        [ -z "$rss" ] || echo "$rss $n" >>samples
        sleep 0.01
    done
    wait "$pid" || fail "'$*': $(cat err)"
    awk '{ rss[NR] = $1; fds[NR] = $2 }
        END { q = int(NR / 4) + 1; for (i = q; i < NR; i++) { if (rss[i] > top) top = rss[i]; if (fds[i] > most) most = fds[i]; if (!low || fds[i] < low) low = fds[i] }
              print NR, rss[q] + 0, top + 0, low + 0, most + 0 }' samples
}
read -r count first top low most < <(watch "$FATHOM" sweep --recipe table1 --data karate --models gcn --norms none --layers 2 --epochs 100 --seeds $cells --split random:3,3 --jobs 2 --quiet --out cells)
[ "$count" -gt 8 ] || fail "the sweep was too short to be sampled: $count samples"
same "$(wc -l <cells/journal.jsonl)" $cells "rows of $cells cells"
# The row of a finished run stays in memory, about 7 KB, in an array that doubles; nothing else may grow.
[ $((top - first)) -le $((4096 + cells * 16)) ] || fail "a sweep of $cells cells grew from $first to $top KB"
[ $((most - low)) -le 6 ] || fail "a sweep of $cells cells held $low to $most handles"
echo "a sweep of $cells cells: $first to $top KB, at most $most handles"
read -r count first top low most < <(watch "$FATHOM" train --data karate --layers 2 --epochs $epochs --threads 1 --quiet --out long)
[ "$count" -gt 4 ] || fail "the run was too short to be sampled: $count samples"
[ $((top - first)) -le 2048 ] || fail "$epochs epochs grew from $first to $top KB"
[ $((most - low)) -le 3 ] || fail "$epochs epochs held $low to $most handles"
echo "$epochs epochs: $first to $top KB, at most $most handles"
tally 3 "flat memory and handles: $cells cells, $epochs epochs" 2 2 2

# --- signals: the first saves and prints the resume command, repeated ones end immediately; the run is whole
tried=0
"$FATHOM" train --data karate --layers 3 --epochs 3000 --threads 1 --quiet --out calm >/dev/null
for how in "INT" "TERM" "INT INT" "TERM INT TERM" "INT INT INT INT INT INT INT INT INT INT INT INT INT INT INT INT"; do
    for pause in 0.00 0.02 0.10 0.30; do
        rm -rf stopped
        "$FATHOM" train --data karate --layers 3 --epochs 3000 --checkpoint-every 9 --threads 1 --quiet --out stopped >/dev/null 2>err &
        pid=$!
        sleep $pause
        for signal in $how; do
            kill -"$signal" "$pid" 2>/dev/null || break
            sleep 0.003
        done
        code=0 && wait "$pid" 2>/dev/null || code=$?
        tried=$((tried + 1))
        # Before the handlers are installed the signal ends the process: nothing was started then.
        case $code in 0 | 130) ;; *) [ ! -e stopped/run.json ] || fail "stopped by $how after $pause s: exit code $code: $(cat err)" ;; esac
        # shellcheck disable=SC2046
        expect_exit 0 "$FATHOM" train --data karate --layers 3 --epochs 3000 --checkpoint-every 9 --threads 1 --quiet --out stopped $(resume_run stopped)
        cmp calm/state.safetensors stopped/state.safetensors || fail "stopped by $how after $pause s: another state"
    done
done
tally 4 "Ctrl-C storms, SIGTERM" $tried $tried $tried

# --- a closed pipe, closed streams
tried=0
for words in "data list --quiet" "sweep --recipe table1 --dry-run --quiet" "train --help" "data info karate --json --quiet"; do
    # shellcheck disable=SC2086
    { "$FATHOM" $words 2>err && echo 0 >code || echo $? >code; } | head -c 1 >/dev/null || true
    [ "$(cat code)" -le 1 ] || fail "'$words | head' ends with $(cat code)"
    ! grep -q . err || fail "'$words | head' prints: $(cat err)"
    # shellcheck disable=SC2086
    code=0 && "$FATHOM" $words >&- 2>err || code=$?
    same "$code" 1 "exit code of '$words' with standard output closed"
    # shellcheck disable=SC2086
    code=0 && "$FATHOM" $words >out 2>&- <&- || code=$?
    same "$code" 0 "exit code of '$words' with standard input and error closed"
    tried=$((tried + 3))
done
tally 1,5 "readers that go away, closed streams" $tried $tried $tried

# --- a locale with decimal commas (unit_locale.c: inside a program that uses one), a home that cannot be written
expect_exit 0 env LC_ALL=de_DE.UTF-8 LANG=de_DE.UTF-8 "$FATHOM" train --data karate --layers 2 --epochs 3 --threads 1 --lr 0.005 --json --quiet
grep -q '"lr":[[:space:]]*0.005' out || fail "numbers in de_DE: $(grep '"lr"' out)"
for home in /proc /proc/nonexistent ""; do
    expect_exit 0 env -u XDG_CACHE_HOME -u FATHOM_DATA HOME=$home "$FATHOM" train --data karate --layers 2 --epochs 2 --threads 1 --quiet
    expect_exit 0 env -u XDG_CACHE_HOME -u FATHOM_DATA -u FATHOM_DEVICE HOME=$home "$FATHOM" devices
    expect_exit 4 env -u XDG_CACHE_HOME -u FATHOM_DATA HOME=$home "$FATHOM" data info cora
done

# --- paths with spaces, quotes and other characters
for name in "with a space" "Größe ☃" "it's" '$(touch owned)' "-o" "a;b&c|d"; do
    mkdir -p -- "./$name" && expect_exit 0 "$FATHOM" data make sbm --nodes 40 --classes 2 --edges 90 --features 8 -o "./$name/g.npz"
    expect_exit 0 "$FATHOM" train --data "./$name/g.npz" --split random:5,5 --layers 2 --epochs 3 --threads 1 --quiet --out "./$name/run"
    expect_exit 0 "$FATHOM" train --out "./$name/run" --resume --epochs 4 --threads 1 --quiet
    expect_exit 0 "$FATHOM" eval --checkpoint "./$name/run/model.safetensors" --data "./$name/g.npz" --split random:5,5 --logits "./$name/z.npy" --json
    expect_exit 0 "$FATHOM" sweep --recipe table1 --data "./$name/g.npz" --models gcn --norms none --layers 2 --epochs 2 --seeds 1 --split random:5,5 --quiet --out "./$name/sweep"
    expect_exit 0 "$FATHOM" report "./$name/sweep" -o "./$name/r.html"
done
[ ! -e owned ] || fail "a path was run by a shell"
tally 1 "locale, homes that cannot be written, odd paths" 10 10 10
