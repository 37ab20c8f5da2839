# fault_outputs.sh - every option that names an output: a device and a pipe are written to and not replaced, a full device
# is an error, a folder is refused, a symbolic link stays, a link in place of the temporary file is not followed, and two
# commands that write one path leave one whole file. The test makes its own devices.
# labels: asan-skip
need_command
export FATHOM_DEVICE=cpu
kind() { stat -c %F "$1"; }
expect_exit 0 "$FATHOM" train --data karate --layers 2 --epochs 3 --quiet --out run
expect_exit 0 "$FATHOM" sweep --recipe table1 --data karate --models gcn --norms none --layers 2 --epochs 2 --seeds 1 --split random:3,3 --quiet --out sweep

# outputs: prints NAME and a command whose output is FILE.
outputs() {
    cat <<'LIST'
make data make sbm --nodes 30 --classes 2 --edges 60 --features 8 -o FILE
convert data convert karate -o FILE
logits eval --checkpoint run/model.safetensors --data karate --logits FILE
layers eval --checkpoint run/model.safetensors --data karate --layers-out FILE
embeddings eval --checkpoint run/model.safetensors --data karate --embeddings FILE
predictions eval --checkpoint run/model.safetensors --data karate --predictions FILE
page report sweep -o FILE
table report sweep --text --csv FILE
bench bench --what ops --only fill --seconds 0.001 -o FILE
charts bench --what ops --only fill --seconds 0.001 --html FILE
LIST
}

# whole NAME FILE: checks that the output of NAME is complete.
whole() {
    case $1 in
    make | convert | layers) python3 -c 'import sys, zipfile; sys.exit(zipfile.ZipFile(sys.argv[1]).testzip() is not None)' "$2" ;;
    logits | embeddings) same "$(($(stat -c %s "$2") - 128))" $((34 * 4 * 4)) "$1: bytes after the header" ;;
    predictions) same "$(wc -l <"$2")" 35 "$1: lines" ;;
    page | charts) tail -c 20 "$2" | grep -q '</html>' ;;
    table) same "$(wc -l <"$2")" 2 "$1: lines" ;;
    bench) python3 -m json.tool "$2" >/dev/null ;;
    esac || fail "$1: not whole: $(tail -c 200 "$2")"
}

devices=no
if mknod null c 1 3 2>/dev/null && mknod full c 1 7 && echo >null 2>/dev/null; then devices=yes; fi
mkdir folder
mkfifo pipe
while read -r name words; do
    # shellcheck disable=SC2206
    words=($words)
    into() { "$FATHOM" "${words[@]//FILE/$1}" --quiet; }
    expect_exit 0 into plain
    [ -s plain ] || fail "$name: an empty file"
    expect_exit 1 into folder
    grep -q '^fathom: folder: ' err || fail "$name: into a folder: $(cat err)"
    [ -z "$(ls -A folder)" ] || fail "$name: something is in the folder"
    timeout 60 cat pipe >piped & # ends by itself when the command does not open the pipe
    expect_exit 0 into pipe
    wait $! || fail "$name: the pipe was not closed"
    same "$(kind pipe)" fifo "$name: the pipe"
    [ -s piped ] || fail "$name: nothing came through the pipe"
    echo old >target && ln -sf target link
    expect_exit 0 into link
    same "$(kind link)" "symbolic link" "$name: the link"
    ! grep -qx old target || fail "$name: the link's file is the old one"
    rm -f plain && echo precious >precious && ln -s precious plain.part
    expect_exit 0 into plain
    same "$(cat precious)" precious "$name: the file that a link at plain.part points to"
    same "$(readlink plain.part)" precious "$name: the link at plain.part"
    [ -s plain ] || fail "$name: an empty file beside a link at plain.part"
    rm plain.part
    into plain >out1 2>err1 & # two processes
    other=$!
    expect_exit 0 into plain
    wait $other || fail "$name: one of two writers failed: $(cat err1)"
    [ -s plain ] || fail "$name: two writers left an empty file"
    whole "$name" plain
    if [ $devices = yes ]; then
        expect_exit 0 into null
        same "$(kind null)" "character special file" "$name: the device"
        expect_exit 1 into full
        grep -q '^fathom: full: .*No space left on device' err || fail "$name: into a full device: $(cat err)"
        same "$(kind full)" "character special file" "$name: the full device"
    fi
    [ -z "$(ls ./*.part 2>/dev/null)" ] || fail "$name: something is left: $(ls)"
done < <(outputs)
if [ $devices = yes ]; then # a report that cannot be written is no success
    expect_exit 1 "$FATHOM" doctor --device cpu --report full
    grep -q '^fathom: full: .*No space left on device' err || fail "a report into a full device: $(cat err)"
fi
[ $devices = yes ] || echo "only root can make devices: not tried"

# --- the files of a run: links in place of their temporary files are not followed
for file in run.json model.safetensors state.safetensors epochs.jsonl; do ln -s ../precious run/$file.part; done
expect_exit 0 "$FATHOM" train --data karate --layers 2 --epochs 6 --checkpoint-every 1 --quiet --out run --resume
same "$(cat precious)" precious "the file that links in a run's folder point to"
same "$(find run -maxdepth 1 -type f -name '*.part')" "" "temporary files of a run"

# --- standard output by its name, as a file and as a pipe
"$FATHOM" eval --checkpoint run/model.safetensors --data karate --quiet --predictions /dev/stdout >stdout.csv
"$FATHOM" eval --checkpoint run/model.safetensors --data karate --quiet --predictions /dev/stdout | cat >stdout2.csv
for file in stdout.csv stdout2.csv; do
    same "$(grep -cE '^[0-9]+,' $file)" 34 "lines of predictions in $file"
    grep -q '^test accuracy' $file || fail "$file lacks the text of eval: $(cat $file)"
done

# --- several commands write one path: always a whole file, and no other file
mkdir both
writer() {
    for _ in $(seq 5); do
        "$FATHOM" data make sbm --nodes "$1" --classes 2 --edges 2000 --features 64 -o both/g.npz >/dev/null || return 1
    done
}
for nodes in 100 200 300 400; do
    "$FATHOM" data make sbm --nodes $nodes --classes 2 --edges 2000 --features 64 -o $nodes.npz >/dev/null
    writer $nodes 2>>writers.err &
    pids+=($!)
done
for pid in "${pids[@]}"; do wait "$pid" || fail "a writer failed: $(cat writers.err)"; done
cmp -s both/g.npz 100.npz || cmp -s both/g.npz 200.npz || cmp -s both/g.npz 300.npz || cmp -s both/g.npz 400.npz || fail "not one whole file"
same "$(ls -A both)" g.npz "files beside the output"
