# fault_io.sh - a disk that is full or broken: every open, write, fsync, close, rename and ftruncate on the outputs of the
# command fails (strace), once and permanently; then file size limits, a full file system, /dev/full. A file is the old or
# the new one, a run resumes to the same bits, and no success is reported for what is not on disk. As a control, a program
# that writes in place must fail. A sample of the faults; all with --long.
# labels: asan-skip
need_command
export FATHOM_DEVICE=cpu
tried=0 fired=0 survived=0
step=7
[ "${FATHOM_TEST_LONG:-}" != 1 ] || step=1

# ---- strace ----

# calls: prints "NAME N", the number of calls by name that the writer makes on its paths.
calls() {
    strace -f -qq -o trace "${paths[@]}" -e "trace=$traced" "${writer[@]}" >out 2>err || fatal "'${writer[*]}' fails undisturbed: $(cat err)"
    sed -nE 's/^[0-9]+ +([a-z0-9]+)\(.*/\1/p' trace | sort | uniq -c | awk '{ print $2, $1 }'
}
# inject CALL ERROR WHEN: the writer with that call failing; its exit code in $code.
inject() {
    code=0
    strace -f -qq -o trace "${paths[@]}" -e "trace=$1" -e "inject=$1:error=$2:when=$3" "${writer[@]}" >out 2>err || code=$?
    tried=$((tried + 1))
    hit=$(grep -c INJECTED trace || true)
    [ "$code" -lt 126 ] || fail "$1 $2 $3: '${writer[*]}' ended with $code: $(cat err)"
    [ "$hit" = 0 ] || fired=$((fired + 1))
}
# all_faults BEFORE AFTER: each call of the writer fails once; BEFORE runs before it, AFTER checks the result.
all_faults() {
    local name number n error turn=0
    "$1"
    calls >counted
    [ -s counted ] || fatal "strace sees nothing of '${writer[*]}'"
    while read -r name number; do
        for n in $(seq "$number"); do
            for error in EIO "ENOSPC +"; do
                turn=$((turn + 1))
                [ $((turn % step)) = 0 ] || continue
                "$1"
                # shellcheck disable=SC2086
                inject "$name" ${error% *} "$n$([ "$error" = EIO ] || echo +)"
                "$2" "$name $error $n"
                survived=$((survived + (hit > 0)))
            done
        done
    done <counted
}
# on FOLDER FILE...: sets the traced paths: these files and their temporary files.
on() {
    local folder=$1 file
    paths=(-P "$PWD/$folder")
    shift
    for file in "$@"; do paths+=(-P "$PWD/$folder/$file" -P "$PWD/$folder/$file.part"); done
}
traced=openat,write,fsync,close,rename,ftruncate

if strace -qq -o trace -e trace=fsync -e inject=fsync:error=EIO true 2>/dev/null; then
    # --- training: the run resumes to the same bits
    train="train --data karate --layers 2 --epochs 5 --checkpoint-every 2 --threads 1 --quiet --out"
    # shellcheck disable=SC2086
    expect_exit 0 "$FATHOM" $train "$PWD/clean"
    new_run() { rm -rf run; mkdir run; }
    judge_run() {
        if [ "$code" = 0 ]; then
            cmp clean/state.safetensors run/state.safetensors && cmp clean/model.safetensors run/model.safetensors ||
                fail "$1: success, but another state"
        else
            grep -q "$PWD/run" err || fail "$1: the message names no file: $(cat err)"
        fi
        # shellcheck disable=SC2046,SC2086
        expect_exit 0 "$FATHOM" $train "$PWD/run" $(resume_run run)
        cmp clean/state.safetensors run/state.safetensors || fail "$1: resumed to another state"
        cmp clean/model.safetensors run/model.safetensors || fail "$1: resumed to another model"
        same "$(sed 's/,"ms".*//' run/epochs.jsonl)" "$(sed 's/,"ms".*//' clean/epochs.jsonl)" "$1: epochs"
    }
    # shellcheck disable=SC2206
    writer=("$FATHOM" $train "$PWD/run")
    on run run.json epochs.jsonl state.safetensors model.safetensors
    all_faults new_run judge_run

    # --- a sweep: no row is lost or repeated
    sweep="sweep --recipe table1 --data karate --models gcn --norms none,group --layers 2 --epochs 3 --seeds 2 --split random:3,3 --jobs 1 --quiet --out"
    cells() { sed -E 's/.*"cell": *"([^"]*)".*"test_accuracy": *([^,]*),.*/\1 \2/' "$1/journal.jsonl" | sort; }
    # shellcheck disable=SC2086
    expect_exit 0 "$FATHOM" $sweep "$PWD/clean-sweep"
    new_sweep() { rm -rf sweep; mkdir sweep; }
    judge_sweep() {
        # shellcheck disable=SC2046,SC2086
        expect_exit 0 "$FATHOM" $sweep "$PWD/sweep" $(resume_of sweep)
        same "$(cells sweep)" "$(cells clean-sweep)" "$1: cells (exit code $code)"
        same "$(wc -l <sweep/results.csv)" 5 "$1: lines of results.csv"
    }
    # shellcheck disable=SC2206
    writer=("$FATHOM" $sweep "$PWD/sweep")
    on sweep sweep.json journal.jsonl failures.jsonl results.csv results.jsonl sweep.lock
    all_faults new_sweep judge_sweep

    # --- files that replace others: the old one or the new one
    one_file() { # FILE COMMAND...
        local file=$1
        shift
        writer=("$@")
        rm -f "$file"
        expect_exit 0 "$@"
        cp "$file" newer
        on files "${file##*/}"
        eval "before() { echo old >'$file'; rm -f '$file.part'; }"
        eval "judge_file() { cmp -s '$file' newer || { [ \$code != 0 ] && [ \"\$(cat '$file')\" = old ]; } || fail \"\$1: $file is neither old nor new, exit code \$code\"; }"
        all_faults before judge_file
    }
    mkdir files
    one_file files/g.npz "$FATHOM" data make sbm --nodes 30 --classes 2 --edges 60 --features 8 -o "$PWD/files/g.npz"
    one_file files/z.npy "$FATHOM" eval --checkpoint clean/model.safetensors --data karate --logits "$PWD/files/z.npy"
    one_file files/l.npz "$FATHOM" eval --checkpoint clean/model.safetensors --data karate --layers-out "$PWD/files/l.npz"
    one_file files/p.csv "$FATHOM" eval --checkpoint clean/model.safetensors --data karate --predictions "$PWD/files/p.csv"

    # --- control: the same faults must corrupt the file of a program that writes in place
    spoiled=0
    cat >in_place.py <<'PY'
import os, sys
f = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
for i in range(4):
    os.write(f, b"new\n")
os.fsync(f)
os.close(f)
PY
    if command -v python3 >/dev/null; then
        printf 'new\nnew\nnew\nnew\n' >newer
        writer=(python3 in_place.py "$PWD/files/control")
        on files control
        before() { echo old >files/control; }
        judge_control() { cmp -s files/control newer || [ "$(cat files/control)" = old ] || spoiled=$((spoiled + 1)); }
        kept="$tried $fired $survived" keep_step=$step
        step=1
        all_faults before judge_control
        step=$keep_step
        read -r tried fired survived <<<"$kept"
        [ "$spoiled" -gt 0 ] || fail "a program that writes in place passes: these faults prove nothing"
    fi
    [ "$fired" -gt 0 ] || fail "no fault fired"
    tally 1,2,4,5 "disk: open, write, fsync, close, rename fail" $tried $fired $survived
else
    echo "strace cannot inject faults here: only limits, a full file system and /dev/full were tried"
fi

# ---- a limit on the size of files: a write fails with EFBIG, no signal ----
tried=0 fired=0
sizes="0 1 4 8 16 30 60 200"
expect_exit 0 "$FATHOM" train --data karate --layers 2 --epochs 5 --checkpoint-every 2 --threads 1 --quiet --out unlimited
for size in $sizes; do
    rm -rf limited
    code=0
    (ulimit -f "$size" && exec "$FATHOM" train --data karate --layers 2 --epochs 5 --checkpoint-every 2 --threads 1 --quiet --out limited) 2>&1 >/dev/null | cat >err || code=${PIPESTATUS[0]}
    tried=$((tried + 1))
    [ "$code" = 0 ] || [ "$code" = 1 ] || fail "files of $size KB at most: exit code $code: $(cat err)"
    [ "$code" = 0 ] || { fired=$((fired + 1)) && grep -q 'limited/.*File too large' err || fail "files of $size KB at most: $(cat err)"; }
    # shellcheck disable=SC2046
    expect_exit 0 "$FATHOM" train --data karate --layers 2 --epochs 5 --checkpoint-every 2 --threads 1 --quiet --out limited $(resume_run limited)
    cmp limited/state.safetensors unlimited/state.safetensors || fail "files of $size KB at most: resumed to another state"
done
[ "$fired" -gt 1 ] || fail "the limit was never reached"
tally 1,2,4,5 "files that may not grow (RLIMIT_FSIZE)" $tried $fired $fired

# ---- a file system of 1 MB that fills up ----
cat >full.sh <<'SH'
set -e
mkdir -p small && mount -t tmpfs -o size=1m none small
for left in 0 4 8 16 24 32 64 900; do
    rm -rf small/run small/fill
    head -c $((1024 * (1000 - left))) /dev/zero >small/fill || true
    code=0
    "$FATHOM" train --data karate --layers 2 --epochs 5 --checkpoint-every 2 --threads 1 --quiet --out small/run >out 2>err || code=$?
    [ "$code" -le 1 ] || { echo "$left KB left: exit code $code: $(cat err)" && exit 1; }
    [ "$code" = 0 ] || { grep -q 'No space left' err && echo full >>full.count; } || { echo "$left KB left: $(cat err)" && exit 1; }
    rm -f small/fill
    "$FATHOM" train --data karate --layers 2 --epochs 5 --checkpoint-every 2 --threads 1 --quiet --out small/run $([ ! -e small/run/run.json ] || echo --resume)
    cmp small/run/state.safetensors unlimited/state.safetensors
done
SH
if unshare -m bash -c 'mkdir -p probe && mount -t tmpfs -o size=1m none probe' 2>/dev/null; then
    : >full.count
    unshare -m bash full.sh >full.log 2>&1 || fail "a full file system: $(cat full.log)"
    fired=$(wc -l <full.count)
    [ "$fired" -gt 1 ] || fail "the file system was never full"
    tally 1,2,4,5 "a file system that is full (tmpfs)" 8 $fired $fired
else
    echo "no file system may be mounted here: a full one was not tried"
fi

# ---- standard output on a full disk: no success ----
tried=0
while read -r words; do
    # shellcheck disable=SC2086
    code=0 && "$FATHOM" $words >/dev/full 2>err || code=$?
    [ "$code" = 1 ] && grep -q 'cannot write to standard output: No space left' err || fail "'$words' into /dev/full: exit code $code, $(cat err)"
    tried=$((tried + 1))
done <<'WORDS'
--version
--help
devices --json
data list
data info karate --json
train --data karate --layers 2 --epochs 2 --threads 1 --json
eval --checkpoint unlimited/model.safetensors --data karate
sweep --recipe table1 --dry-run
cache path
doctor
WORDS
tally 1,2,5 "results into /dev/full" $tried $tried $tried
