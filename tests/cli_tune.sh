# cli_tune.sh - what `fathom tune` found is used by the commands that train and test, and not with --no-tune: the
# record says work-groups of 16, and the layer between loader and driver reports which were launched.
# labels: opencl asan-skip
need_command
need_layer
need_opencl
forge_record 16 64
export OPENCL_LAYERS=$layer OCL_LAYER_REPORT=$TEST_TMP/report

# uses COMMAND OPTIONS...: with the record, then without.
uses() {
    local tuned plain
    expect_exit 0 "$FATHOM" "$@" --device opencl:0 --quiet
    tuned=$(sed -n 's/^group //p' report)
    rm -rf sweep
    expect_exit 0 "$FATHOM" "$@" --device opencl:0 --quiet --no-tune
    plain=$(sed -n 's/^group //p' report)
    echo "$1: work-groups of $tuned by the record, $plain without"
    [ "$tuned" = 16 ] || fail "$1 launches work-groups of $tuned, the record says 16"
    [ "$plain" -gt 16 ] || fail "$1 --no-tune launches work-groups of $plain"
}
uses train --data karate --layers 2 --epochs 2
expect_exit 0 "$FATHOM" train --device cpu --data karate --layers 2 --epochs 2 --out run --quiet
uses eval --data karate --checkpoint run/model.safetensors
uses sweep --recipe table1 --data karate --models gcn --norms group --layers 2 --seeds 1 --epochs 2 --out sweep
uses selftest --op fill
uses selftest --op fill --all
