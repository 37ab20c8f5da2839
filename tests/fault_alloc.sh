# fault_alloc.sh - out of memory, under the address sanitizer: each allocation of fathom itself fails, once and permanently,
# in every command: a message and exit code 6, no leak, no use after free. A sample of the allocations; all of them with
# --long. FATHOM_ALLOC_ONLY selects commands by their first words.
# labels: sanitizer
need_command
export FATHOM_DEVICE=cpu
sample=2
[ "${FATHOM_TEST_LONG:-}" != 1 ] || sample=100000
tried=0 fired=0

"$FATHOM" train --data karate --layers 2 --epochs 3 --threads 1 --quiet --out trained >/dev/null
"$FATHOM" eval --checkpoint trained/model.safetensors --data karate --embeddings h.npy --quiet >/dev/null
"$FATHOM" sweep --recipe table1 --data karate --models gcn --norms none,group --layers 2 --epochs 2 --seeds 1 --split random:3,3 --jobs 1 --quiet --out swept >/dev/null
"$FATHOM" bench --what ops --only fill --seconds 0.01 -o bench.json --quiet >/dev/null
cp -r trained again

# run PLAN WORDS...: the command with allocations failing; its exit code in $code.
run() {
    code=0
    rm -rf new
    FATHOM_FAIL_ALLOC=$1 "$FATHOM" "${@:2}" >out 2>err || code=$?
}
# count WORDS...: the number of its allocations: the last one whose permanent failure changes the exit code.
count() {
    local low=0 high=1 middle
    while run "$high+" "$@" && [ "$code" != 0 ] && [ $high -lt 100000 ]; do low=$high high=$((2 * high)); done
    while [ $((high - low)) -gt 1 ]; do
        middle=$(((low + high) / 2))
        run "$middle+" "$@"
        if [ "$code" != 0 ]; then low=$middle; else high=$middle; fi
    done
    echo $low
}
while read -r -a words; do
    [[ ${words[*]} == "${FATHOM_ALLOC_ONLY:-}"* ]] || continue
    all=$(count "${words[@]}")
    [ "$all" -gt 0 ] || fail "'${words[*]}' allocates nothing"
    turns=$((all < sample ? all : sample))
    for i in $(seq "$turns"); do
        for more in "" +; do
            run "$((1 + (i - 1) * all / turns + all / turns / 2))$more" "${words[@]}"
            tried=$((tried + 1))
            ! grep -q 'Sanitizer' err || fail "allocation $i of $turns$more in '${words[*]}': $(cat err)"
            # A sweep continues with the other runs, and reports the failed one at its end.
            ! grep -q 'of 2 runs failed.* bytes of memory' err || code=6
            [ "$code" = 0 ] || [ "$code" = 6 ] || fail "allocation $i of $turns$more in '${words[*]}' exits with $code: $(cat err)"
            [ "$code" = 0 ] || grep -q 'memory' err || fail "the message of '${words[*]}': $(cat err)"
            fired=$((fired + (code != 0)))
        done
    done
done <<'COMMANDS'
data info karate --json
data list
data make sbm --nodes 30 --classes 2 --edges 60 --features 8 -o made.npz
data convert karate -o converted.npz
train --data karate --layers 2 --epochs 3 --threads 1 --quiet --out new --layer-metrics 2 --metrics sampled:9
train --out again --resume --quiet --threads 1 --json
train --data karate --model gat --norm pair --layers 3 --skip initial --recompute segments:2 --epochs 2 --threads 1 --json
eval --checkpoint trained/model.safetensors --data karate --logits z.npy --predictions p.csv --layers-out l.npz --json
metrics --embeddings h.npy --data karate --json
sweep --recipe table1 --data karate --models gcn --norms none,group --layers 2 --epochs 2 --seeds 1 --split random:3,3 --jobs 1 --quiet --out new
sweep --recipe table1 --data karate --models gcn --norms none,group --layers 2 --seeds 1 --dry-run --json
report swept -o report.html
bench compare bench.json bench.json
selftest --op fill --json
COMMANDS
tally 1,2,3 "allocations, every command, under ASan" $tried $fired $fired
