#!/usr/bin/env bash
# fault_overflow.sh - features that are too large: an overflow ends as FATHOM_NUMERIC (5) on both back ends, never with an
# accuracy; features up to 1e18, which the norms must support, give the losses of smaller ones.
# labels: opencl
need_command
only_pocl
devices=(cpu)
"$FATHOM" devices 2>/dev/null >list && grep -q 'opencl:0' list && devices+=(opencl:0)

# 90 nodes of 3 classes, 6 features of the order 2^EXPONENT.
awk 'BEGIN { for (v = 0; v < 90; v++) { print v "," (v + 3) % 90; print v "," (v + 6) % 90
             if (v % 10 == 0) print v "," (v + 1) % 90 } }' >edges.csv
awk 'BEGIN { for (v = 0; v < 90; v++) print v % 3 }' >labels.csv
features() {
    awk -v e="$1" 'BEGIN { for (v = 0; v < 90; v++) for (j = 0; j < 6; j++)
        printf "%.9e%s", 2 ^ e * ((j % 3 == v % 3 ? 1 : -0.5) + (v * 7 + j * 13) % 11 / 32), j < 5 ? "," : "\n" }' \
        >"features-$1.csv"
}
train() { # DEVICE EXPONENT EPOCHS OPTION...
    "$FATHOM" train --data edges.csv --features "features-$2.csv" --labels labels.csv --feature-norm none \
        --split random:5,5 --layers 2 --dropout 0 --device "$1" --epochs "$3" --json "${@:4}"
}
for exponent in 20 40 60 64 100; do features $exponent; done

for device in "${devices[@]}"; do
    for norm in batch pair; do # 2^60 is more than 1e18; the first loss does not depend on the scale
        expect_exit 0 train "$device" 20 1 --norm $norm
        small=$(field 'd["result"]["loss"]' out)
        expect_exit 0 train "$device" 60 1 --norm $norm
        same "$(field 'd["result"]["loss"]' out)" "$small" "$norm norm of features of the order 1e18 on $device"
        expect_exit 0 train "$device" 60 20 --norm $norm
    done
    expect_exit 0 train "$device" 60 20 --norm group
    # From 1e19 on the variance is not finite, at 1e30 all of them; without norm it is the second moment of Adam.
    expect_exit 5 train "$device" 64 20 --norm batch
    grep -q 'not finite.*features are too large' err || fail "the message names no cause: $(cat err)"
    for norm in none batch pair group; do
        expect_exit 5 train "$device" 100 20 --norm $norm
    done
    expect_exit 5 train "$device" 100 20 --norm none --model gat
    # The gradient of attention has the square of the features: from 4e9 on roundings decide when it overflows, so it is
    # refused; a norm that is free of scale divides it by them.
    for norm in none group; do
        expect_exit 5 train "$device" 40 20 --norm $norm --model gat
        grep -q 'features of up to [0-9.e+]* are too large for gat with norm '$norm err || fail "GAT, $norm norm: $(cat err)"
        expect_exit 0 train "$device" 20 20 --norm $norm --model gat
    done
    expect_exit 0 train "$device" 60 20 --norm batch --model gat
done
