# fault_small_stack.sh - a stack of 64 KB is enough for every command, also with OpenCL drivers, which need more: the command
# then runs them on a larger stack. (package_warnings.sh checks that no frame is larger than 16 KB.)
# labels: asan-skip
need_command
kernels=${POCL_CACHE_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/pocl/kcache} # compiled kernels stay warm
small() { # CODE ARGUMENTS...
    local wanted=$1 code=0
    shift
    as_user POCL_CACHE_DIR="$kernels" OCL_ICD_VENDORS="${vendors:-/nonexistent}" bash -c 'ulimit -s 64 && exec "$@"' _ "$FATHOM" "$@" >out 2>err || code=$?
    same "$code" "$wanted" "with 64 KB of stack, $*: $(tail -3 err)"
}
mkdir home
(ulimit -s 64) 2>/dev/null || skip "the stack size cannot be set here"
small 0 data info embedded
small 0 data make sbm --nodes 50 --classes 2 --edges 100 --features 8 -o made.npz
small 0 data info made.npz
small 0 train --data karate --layers 4 --epochs 3 --norm group --device cpu --out run
small 0 eval --data karate --checkpoint run/model.safetensors --device cpu --embeddings h.npy
small 0 metrics --data karate --embeddings h.npy --device cpu
small 0 train --data karate --layers 4 --epochs 5 --norm group --device cpu --out run --resume
small 0 report run --svg run-charts
small 0 sweep --recipe table1 --data karate --models gcn --layers 2 --seeds 1 --epochs 2 --device cpu -o sweep
small 0 sweep --recipe grid --data karate --models gcn --layers 2 --groups 1,2 --lambda 0.01,0.1 --seeds 1 --epochs 2 --device cpu -o grid
small 0 sweep --recipe table2 --data karate --models gcn --layers 2 --seeds 1 --epochs 2 --device cpu -o table2
for folder in sweep grid table2; do
    small 0 report $folder --tsne --svg charts
    small 0 report $folder --text
done
printf '[%.0s' $(seq 100000) >deep.json
small 4 data info karate --split deep.json
small 0 devices
small 4 train --data krate
pocl=/etc/OpenCL/vendors/pocl.icd
if [ ! -f $pocl ]; then
    echo "without PoCL: OpenCL drivers were not tried"
    exit 0
fi
vendors=$pocl
small 0 devices
grep -q 'opencl:0' out || fail "with 64 KB of stack PoCL is not listed: $(cat out err)"
small 0 doctor
small 0 train --data karate --layers 4 --epochs 3 --norm group --device opencl:0 --out opencl
small 0 bench --what ops --only spmm --seconds 0.001 --device opencl:0
small 0 selftest --op spmm --device opencl:0
small 0 tune --device opencl:0
