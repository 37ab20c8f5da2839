# fault_input_kinds.sh - inputs are regular files: every reader refuses a pipe or a device instead, without waiting for it.
# labels: asan-skip
need_command
export FATHOM_DATA=
mkdir wide
echo 0,1 >wide/edges.csv
# --- every reader refuses what is not a regular file
mkfifo pipe pipe.npz pipe.npy pipe.json pipe.csv pipe.safetensors
mkdir mirror folder run sweep about && mkfifo about/sweep.json folder/edges.csv run/run.json sweep/journal.jsonl mirror/ind.cora.x
cp -r "$SOURCE_DIR/tests/corpus/good/planetoid-2" planetoid
rm planetoid/ind.tiny.tx && mkfifo planetoid/ind.tiny.tx
ln -s /dev/zero zero.npz
refused() { # PATH KIND ARGUMENTS...: the message names the path and what it is
    local path=$1 kind=$2 code=0
    shift 2
    timeout 20 "$FATHOM" "$@" >out 2>err || code=$?
    case $code in 2 | 4) ;; *) fail "$* exited with $code: $(cat err)" ;; esac
    grep -q "$path.*is $kind, a file is wanted" err || fail "$*: $(cat err)"
    tried=$((tried + 1))
}
tried=0
for path in pipe.npz pipe.csv folder planetoid; do refused "$path" "a pipe" data info "$path"; done
refused zero.npz "a device" data info zero.npz
refused /dev/null "a device" data info karate --split /dev/null
for path in pipe.json pipe.npz; do refused "$path" "a pipe" data info karate --split "$path"; done
for path in pipe.npy pipe.csv; do
    refused "$path" "a pipe" data info wide/edges.csv --features "$path"
    refused "$path" "a pipe" data info wide/edges.csv --labels "$path"
done
for path in pipe.npy pipe.npz; do refused "$path" "a pipe" metrics --embeddings "$path"; done
refused pipe.safetensors "a pipe" eval --data karate --checkpoint pipe.safetensors
refused pipe.safetensors "a pipe" train --data karate --init pipe.safetensors --epochs 1 --layers 2
refused pipe "a pipe" sweep --recipe ./pipe -o new
refused journal.jsonl "a pipe" sweep --recipe table1 --data karate -o sweep
refused sweep.json "a pipe" report about
refused run.json "a pipe" report run
refused run.json "a pipe" train --data karate --out run --resume
refused pipe.json "a pipe" bench compare pipe.json pipe.json
FATHOM_MIRROR=$PWD/mirror refused ind.cora.x "a pipe" data get cora --to to
echo "$tried inputs that are not regular files"

# --- also epochs.jsonl of a run, which is opened for writing, too
expect_exit 0 "$FATHOM" train --data karate --epochs 2 --layers 2 --out begun --device cpu
rm begun/epochs.jsonl && mkfifo begun/epochs.jsonl
refused epochs.jsonl "no regular file" train --data karate --epochs 4 --layers 2 --out begun --resume --device cpu

# --- also kernels from a folder
if [ -f "$BUILD_DIR/tests/ocl_layer.so" ] && "$FATHOM" devices 2>/dev/null | grep -q opencl:0; then
    cp -r "$SOURCE_DIR/cl" kernels
    for name in kernels/*.cl; do rm "$name" && mkfifo "$name"; done
    timeout 20 env FATHOM_CL_DIR="$PWD/kernels" "$FATHOM" selftest --device opencl:0 --op fill >out 2>err && fail "kernels from pipes"
    grep -q 'FATHOM_CL_DIR: .* cannot be read' err || fail "kernels from pipes: $(cat err)"
fi
