# runtime.sh - for the tests of OpenCL runtimes: compares a training there with the CPU back end.

# train_as_cpu DATA [COMMAND...]: 20 epochs of two networks on opencl:0 (started by COMMAND, such as a simulator) and on the
# CPU; the losses of all epochs agree within a relative 1e-5, and the final accuracies are equal. Four layers: with more,
# rounding differences grow from epoch to epoch on any two devices.
train_as_cpu() {
    local data=$1 model
    shift
    for model in gcn gat; do
        local run=(train --data "$data" --model $model --layers 4 --epochs 20 --quiet)
        rm -rf here there
        expect_exit 0 "$FATHOM" "${run[@]}" --device cpu --out here
        expect_exit 0 "$@" "$FATHOM" "${run[@]}" --device opencl:0 --out there
        paste -d ' ' <(losses here) <(losses there) | awk '
            NF != 2 || $1 <= 0 { bad = bad " line " NR ": " $0 }
            { apart = ($1 > $2 ? $1 - $2 : $2 - $1) / $1; if (apart > most) most = apart }
            END { printf "apart by %.1e in %d epochs%s\n", most, NR, bad; exit bad != "" || NR != 20 || most > 1e-5 }' >apart ||
            fail "$model on $data differs from the CPU: $(cat apart)"
        echo "$model on $data, losses here and on the CPU: $(cat apart)"
        [ "$(tail -1 here/epochs.jsonl | sed 's/.*"test_acc"/"test_acc"/; s/,"ms.*//')" = \
            "$(tail -1 there/epochs.jsonl | sed 's/.*"test_acc"/"test_acc"/; s/,"ms.*//')" ] ||
            fail "$model on $data: other accuracies: $(tail -qn 1 here/epochs.jsonl there/epochs.jsonl)"
    done
}
losses() { sed 's/.*"loss":[[:space:]]*\([0-9.e+-]*\).*/\1/' "$1/epochs.jsonl"; }
