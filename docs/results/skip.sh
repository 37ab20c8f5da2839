#!/usr/bin/env bash
# skip.sh [DIR]: the sweeps of skip.md, in DIR (default: skip-results), then DIR/skip.csv. They take hours on one core; run
# again after a stop, it continues. `skip.sh DIR csv` writes DIR/skip.csv from the runs that are finished, also while the
# sweeps are running. Rows of the skip.csv beside this file that were not repeated stay.
# FATHOM: the command; JOBS: runs at a time. Extra options of `fathom sweep` are in SWEEP, such as SWEEP="--seeds 1".
set -eu
here=$(dirname "$(realpath "$0")") dir=${1:-skip-results} fathom=${FATHOM:-fathom}
mkdir -p "$dir"

write_csv() {
    python3 - "$dir" "$here/skip.csv" <<'PY'
import csv, glob, json, sys
columns = ("data model norm layers skip skip_weight lambda groups missing_rate seed epochs test_accuracy val_accuracy "
           "best_epoch instance_information_gain group_distance_ratio intra_group_distance version").split()
rows = {}
def add(row):
    row = ["%.6g" % v if isinstance(v, float) else "" if v is None else str(v) for v in (row.get(c) for c in columns)]
    rows[tuple(row[:columns.index("test_accuracy")])] = row
for row in csv.DictReader(open(sys.argv[2])):
    add(row)
for path in sorted(glob.glob(sys.argv[1] + "/*/journal.jsonl")):
    for line in open(path):
        if line.endswith("\n"):  # the last line may be half written
            add({k: float(v) if k in ("missing_rate", "lambda") and v is not None else v for k, v in json.loads(line).items()})
order = lambda row: [int(v) if v.isdigit() else -1 if not v else v for v in row[0:4]] + row[4:8] + [int(row[9])]
with open(sys.argv[1] + "/skip.csv", "w", newline="") as file:
    out = csv.writer(file, lineterminator="\n")
    out.writerow(columns)
    out.writerows(sorted(rows.values(), key=order))
PY
}
if [ "${2:-}" = csv ]; then
    write_csv
    exit
fi

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

write_csv
