#!/usr/bin/env bash
# skip.sh [DIR]: the sweeps of skip.md, in DIR (default: skip-results), then DIR/skip.csv from their results. They take
# hours on one core; run again after a stop, it continues. FATHOM: the command; JOBS: runs at a time. Extra options of
# `fathom sweep` are in SWEEP, such as SWEEP="--seeds 1 --epochs 200".
set -eu
here=$(dirname "$(realpath "$0")") dir=${1:-skip-results} fathom=${FATHOM:-fathom}
mkdir -p "$dir"

# run NAME OPTIONS...: one sweep. Without skip connections the deepest runs overflow: a sweep with failed runs is done.
run() {
    local out=$dir/$1 resume='' code=0
    shift
    [ ! -e "$out/sweep.json" ] || resume=--resume
    # shellcheck disable=SC2086
    "$fathom" sweep --recipe "$here/skip.recipe" --out "$out" $resume --quiet --device cpu --threads 1 \
        --jobs "${JOBS:-1}" "$@" ${SWEEP:-} || code=$?
    [ $code -le 5 ] && [ $code != 2 ] || exit $code
}

run initial --skip initial
run residual --skip residual
run none --skip none
for skip in none initial residual; do
    run "norms-$skip" --norms none,batch --layers 64 --skip $skip
done
grids() { # NAME OPTIONS...: shares of the skip against lambda
    for weight in 0.5 0.7 0.8 0.95; do
        run "$1-initial-$weight" --lambda 0.001,0.003,0.01 --skip initial --skip-weight $weight "${@:2}"
    done
    for weight in 0.5 0.8 0.95 0.99; do
        run "$1-residual-$weight" --lambda 0.001,0.003,0.01 --skip residual --skip-weight $weight "${@:2}"
    done
}
grids 64 --layers 64
grids 256 --layers 256 --seeds 1

python3 - "$dir" <<'PY'
import csv, glob, sys
columns = ("data model norm layers skip skip_weight lambda groups missing_rate seed epochs test_accuracy val_accuracy "
           "best_epoch instance_information_gain group_distance_ratio intra_group_distance version").split()
rows = [row for path in sorted(glob.glob(sys.argv[1] + "/*/results.csv")) for row in csv.DictReader(open(path))]
with open(sys.argv[1] + "/skip.csv", "w", newline="") as file:
    out = csv.writer(file, lineterminator="\n")
    out.writerow(columns)
    for row in rows:
        short = lambda text: "%.6g" % float(text) if "." in text and text.replace(".", "").isdigit() else text
        out.writerow([row["version"] if c == "version" else short(row[c]) for c in columns])
PY
