#!/usr/bin/env bash
# package_results.sh - docs/results.md says what its CSV files say, and a run of today gives a committed row.
need_command
command -v python3 >/dev/null || skip "python3 is not there to make the page"
must cp -r "$SOURCE_DIR/docs" docs
results=docs/results/results.py

# --- the page is the one that the CSV files give ---
must python3 $results page
must cmp docs/results.md "$SOURCE_DIR/docs/results.md"
must python3 $results claims
while IFS= read -r line; do grep -qxF -- "$line" docs/results.md || fail "the page lacks: $line"; done <out
change() { # COLUMN VALUE PATTERN: in the rows of table1.csv that match
    awk -F, -v OFS=, -v column="$1" -v value="$2" -v rows="$3" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
        NR > 1 && $0 ~ rows { $at[column] = value } { print }' docs/results/table1.csv >changed
    mv changed docs/results/table1.csv
}
change test_accuracy 0.123 '^cora,gcn,none,2,'
must python3 $results page
cmp -s docs/results.md "$SOURCE_DIR/docs/results.md" && fail "another accuracy gives the same page"
must cp "$SOURCE_DIR/docs/results/table1.csv" docs/results/

# --- every row can be repeated from its columns; the files stay small ---
for file in docs/results/*.csv; do
    case $file in */paper.csv) continue ;; esac
    for column in data model norm layers missing_rate seed epochs lambda groups test_accuracy val_accuracy best_epoch \
        instance_information_gain group_distance_ratio intra_group_distance version; do
        head -1 "$file" | tr , '\n' | grep -qx $column || fail "$file has no column $column"
    done
done
[ "$(cat docs/results/*.csv | wc -c)" -lt 1000000 ] || fail "the CSV files have $(cat docs/results/*.csv | wc -c) bytes"

# --- what a reader types: usage, no run in common, and a committed row bit for bit ---
expect_exit 1 python3 $results
grep -q 'results.py compare' err || fail "no usage: $(cat err)"
must "$FATHOM" sweep --recipe table1 --data embedded --models sgc --norms none --layers 5 --seeds 1 --epochs 2 \
    --device cpu --quiet --out other
expect_exit 1 python3 $results compare other
grep -q 'no run of other is among' err || fail "$(cat err)"
export FATHOM_DATA=${FATHOM_SHARED:-$SOURCE_DIR/../shared}/datasets/planetoid
[ -f "$FATHOM_DATA/ind.cora.x" ] || skip "no data sets beside the source tree: no committed row was trained again"
must "$FATHOM" sweep --recipe table1 --data cora --models sgc --norms none --layers 5 --seeds 1 --device cpu --quiet \
    --out cell
driver=$(sed -n 's/.*"driver":"\([^"]*\)".*/\1/p' cell/journal.jsonl | sed 's/.*, //')
grep -q "^cora,sgc,none,5,.*$driver" docs/results/table1.csv || skip "the committed rows are of another instruction set than $driver"
must python3 $results compare cell
grep -qx '1 of 1 runs equal the committed rows' out || fail "$(cat out)"
must python3 $results collect again cell
cut -d, -f1-23 docs/results/again.csv | tail -1 >row
cut -d, -f1-23 docs/results/table1.csv | grep -qxF -- "$(cat row)" || fail "the collected row is not the committed one: $(cat row)"
change instance_information_gain 0.1999 '^cora,sgc,none,5,'
expect_exit 1 python3 $results compare cell
grep -q 'instance_information_gain is .*, committed: 0.1999' out || fail "a changed row is not named: $(cat out)"
