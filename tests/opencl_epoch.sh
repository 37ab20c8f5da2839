# opencl_epoch.sh - cost of an epoch on an OpenCL device at 2, 15 and 30 layers: at most 20 launches per layer plus 30,
# one blocking read of less than 256 bytes, no write, no allocation and no build after the first epoch; and the table of
# --profile.
# labels: opencl asan-skip
need_command
need_opencl
command -v python3 >/dev/null || skip "python3 is not installed (reads JSON)"

# epoch DATA MODEL LAYERS: trains six epochs and checks their cost.
epoch() {
    expect_exit 0 "$FATHOM" train --device opencl:0 --no-tune --data "$1" --model "$2" --norm group --layers "$3" --epochs 6 --json
    python3 - "$1" "$2" "$3" <<'END' || fail "$1, $2, $3 layers"
import json, sys
cost, layers = json.load(open("out"))["opencl"], int(sys.argv[3])
print(*sys.argv[1:], cost)
assert 0 < cost["launches_per_epoch"] <= 20 * layers + 30, "too many launches"
assert cost["blocking_reads_per_epoch"] == 1 and 0 < cost["bytes_read_per_epoch"] < 256, "reads"
assert cost["bytes_written_per_epoch"] == 0, "writes"
assert cost["builds_after_first_epoch"] == 0 and cost["allocations_after_first_epoch"] == 0, "builds or allocations"
END
}
for layers in 2 15 30; do
    epoch embedded gcn $layers
done
epoch embedded sgc 15
expect_exit 0 "$FATHOM" data make sbm --nodes 10000 --classes 4 --features 16 -o large.npz
epoch large.npz gcn 15 # more rows than a sum in one launch allows

# A run of one epoch reports its cost; a resumed run with no epoch left reports none.
one=(train --device opencl:0 --no-tune --data karate --layers 2 --epochs 1 --out one --json)
expect_exit 0 "$FATHOM" "${one[@]}"
python3 -c 'import json; c = json.load(open("out"))["opencl"]; assert c["launches_per_epoch"] > 0 and c["blocking_reads_per_epoch"] == 1, c' ||
    fail "cost of one epoch"
expect_exit 0 "$FATHOM" "${one[@]}" --resume
python3 -c 'import json; c = json.load(open("out"))["opencl"]; assert c["launches_per_epoch"] is c["blocking_reads_per_epoch"] is None, c' ||
    fail "cost without an epoch"

# --profile: launches are at most those of the most expensive epoch, and shares sum to 1.
expect_exit 0 "$FATHOM" train --device opencl:0 --no-tune --layers 4 --epochs 4 --profile --json
python3 - <<'END' || fail "--profile --json"
import json
run = json.load(open("out"))
rows = run["profile"]
assert abs(sum(row["share"] for row in rows) - 1) < 1e-6
mean, most = sum(row["launches_per_epoch"] for row in rows), run["opencl"]["launches_per_epoch"]
assert most - 2 < mean < most + 1e-6, (mean, most) # saving the best epoch takes one more launch
assert {"gemm", "spmm", "group_stats", "group_backward_rows", "adam"} <= {row["operation"] for row in rows}
END
expect_exit 0 "$FATHOM" train --device opencl:0 --no-tune --layers 4 --epochs 4 --profile
grep -q '^operation  *launches  *ms  *share' out || fail "no table: $(cat out)"
grep -q '^all .*100.0 %' out || fail "no sum: $(cat out)"
