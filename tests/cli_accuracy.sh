# cli_accuracy.sh - the presets learn: short runs reach an accuracy. Bounds are a few points below the mean of two seeds; an
# error in a gradient, a mask or a preset costs far more. Full runs: README.md, Results. labels: asan-skip
need_command
command -v python3 >/dev/null || skip "python3 is not there to read JSON with"
export FATHOM_DEVICE=cpu

# reaches LOW HIGH ARGS...: mean test accuracy of two seeds.
reaches() {
    local low=$1 high=$2
    shift 2
    for seed in 100 200; do
        expect_exit 0 "$FATHOM" train "$@" --seed $seed --threads 1 --quiet --json
        cp out "run.$seed"
    done
    python3 - "$low" "$high" "$*" <<'PYTHON' || fail "wrong accuracy"
import json, sys
mean = sum(json.load(open(f"run.{s}"))["result"]["test_accuracy"] for s in (100, 200)) / 2
print(f"{sys.argv[3]}: {mean:.4f}, expected {sys.argv[1]} to {sys.argv[2]}")
sys.exit(not float(sys.argv[1]) <= mean <= float(sys.argv[2]))
PYTHON
}

reaches 0.76 0.9 --layers 2 --epochs 150
reaches 0.63 0.9 --layers 15 --epochs 250
reaches 0.10 0.4 --layers 15 --epochs 100 --norm none
reaches 0.75 0.9 --model sgc --layers 20 --epochs 60
reaches 0.69 0.9 --layers 8 --epochs 150 --missing-rate 1
reaches 0.66 0.9 --model gcnii --layers 8 --norm none --epochs 150

# --- the public splits, where the files are beside the source tree
shared=${FATHOM_SHARED:-$SOURCE_DIR/../shared}/datasets/planetoid
[ -f "$shared/ind.cora.graph" ] || { echo "the embedded graph only: $shared is not there" && exit 0; }
export FATHOM_DATA=$shared
reaches 0.76 0.9 --data cora --layers 2 --epochs 150
reaches 0.68 0.9 --data cora --layers 15 --epochs 250
reaches 0.60 0.8 --data citeseer --layers 2 --epochs 150
