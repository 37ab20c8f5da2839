#!/usr/bin/env bash
# sweeps.sh [DIR]: the sweeps of docs/results.md in DIR (default: paper-results), then the CSV files and the page. Days on
# two cores; run again after a stop, it continues. FATHOM: the command; JOBS: runs at a time; SETS: data sets, comma
# between. `sweeps.sh --collect [DIR]` trains nothing and takes what has finished.
set -eu
here=$(dirname "$(realpath "$0")") fathom=${FATHOM:-fathom}
sets=${SETS:-cora,citeseer,pubmed,coauthor-cs}
train=yes
if [ "${1:-}" = --collect ]; then
    train=no
    shift
fi
dir=${1:-paper-results}
mkdir -p "$dir"

# run NAME OPTIONS...: one sweep.
run() {
    local out=$dir/$1 resume=''
    shift
    [ "$train" = yes ] || return 0
    [ ! -e "$out/sweep.json" ] || resume=--resume
    "$fathom" sweep --out "$out" $resume --device cpu --threads 1 --jobs "${JOBS:-0}" "$@"
}

# One folder per data set: a sweep takes one seed of all its sets before the next seed.
for set in ${sets//,/ }; do run "table1-$set" --recipe table1 --data "$set"; done
run grid --recipe grid
for set in ${sets//,/ }; do run "depth-$set" --recipe depth --data "$set"; done

for name in table1 grid depth; do
    folders=()
    for folder in "$dir/$name" "$dir/$name"-*; do
        [ ! -f "$folder/journal.jsonl" ] || folders+=("$folder")
    done
    [ ${#folders[@]} = 0 ] || python3 "$here/results.py" collect "$name" "${folders[@]}"
done
python3 "$here/results.py" page
