# test_own_graphs.sh - graphs as users have them: without features, with names instead of numbers, with or without a
# header line.
need_command
command -v python3 >/dev/null || skip "python3 is not there to check JSON with"
f() { as_user "$FATHOM" "$@"; }
said() { grep -q -- "$1" err || fail "no word of '$1': $(cat err)"; }
accuracies="[d['result'][k] for k in ('test_accuracy', 'val_accuracy', 'train_accuracy')]"
small=(--device cpu --threads 1 --layers 2 --epochs 20 --split random:10,10)

# --- a graph without features: the message offers some before anything else is done
expect_exit 0 f data make sbm --nodes 120 --classes 3 --edges 500 --homophily 0.95 --features 0 -o bare.npz
expect_exit 4 f train --data bare.npz "${small[@]}" --out refused
same "$(cat err)" "fathom: sbm-120: the graph has no features; make some with --features degree (one-hot degree) or --features \
identity (one-hot node), or give a file with --features FILE" "a graph without features"
[ ! -e refused ] || fail "a refused run left its folder"
expect_exit 4 f train --data bare.npz --dry-run --device cpu
said 'make some with --features degree'
expect_exit 4 f sweep --recipe table1 --data bare.npz --models gcn --norms none --layers 2 --epochs 2 --seeds 1 --split random:10,10 --out refused
said 'make some with --features degree'
expect_exit 2 f train --data karate --features degree --device cpu
said 'brings 34 features of its own; --features degree is for graphs without any'
expect_exit 2 f metrics --embeddings "$SOURCE_DIR/tests/corpus/good/npy/features.npy" --features degree
said 'give --data too'

# --- identity learns such a graph; the set's digest covers what was made
expect_exit 0 f data info bare.npz --features identity --json
same "$(field "d['features'], d['feature_nonzeros']" out)" "(120, 120)" "identity"
expect_exit 0 f data info bare.npz --features degree --json
same "$(field "d['features'], d['feature_nonzeros']" out)" "(128, 120)" "degree"
for kind in degree identity; do
    expect_exit 0 f train --data bare.npz --features $kind "${small[@]}" --norm none --dropout 0 --epochs 60 --out $kind --json
    same "$(field "d['config']['features']" out)" $kind "the record"
    expect_exit 0 f eval --checkpoint $kind/model.safetensors --data bare.npz --device cpu --threads 1 --json
    same "$(field "$accuracies" out)" "$(field "$accuracies" $kind/run.json)" "eval knows --features $kind"
    expect_exit 0 f train --out $kind --resume --epochs 61 --json
done
same "$(field "d['result']['test_accuracy'] > 0.6" identity/run.json)" True "accuracy with identity"
expect_exit 4 f eval --checkpoint degree/model.safetensors --data bare.npz --features identity --device cpu
said 'it was made for other data'
expect_exit 2 f eval --checkpoint degree/model.safetensors --data karate --device cpu
said '^fathom: degree/model.safetensors was trained with --features degree: .* brings 34 features of its own'
expect_exit 0 f train --data bare.npz --init identity/model.safetensors "${small[@]}" --norm none --json
same "$(field "d['config']['features']" out)" identity "--init knows --features"
expect_exit 0 f sweep --recipe table1 --data bare.npz --features identity --models gcn --norms none --layers 2 --epochs 2 --seeds 1 --split random:10,10 --quiet --out swept
same "$(head -n 1 swept/results.jsonl >line && field "d['features']" line)" 120 "a sweep with --features identity"
printf '%%%%MatrixMarket matrix coordinate pattern symmetric\n4 4 3\n2 1\n3 2\n4 1\n' >tiny.mtx
printf '0\n0\n1\n1\n' >y.csv
expect_exit 0 f data info tiny.mtx --labels y.csv --features degree --json
same "$(field "d['features'], d['classes']" out)" "(128, 2)" "a Matrix Market graph"
