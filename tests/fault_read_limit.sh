# fault_read_limit.sh - memory while reading: at most 64 times the bytes on disk plus 256 MiB (core/read_limit.h), measured
# as the peak of the process for a decompression bomb of every reader; and how the limit is changed.
# labels: asan-skip
need_command
command -v python3 >/dev/null || skip "python3 is not there to make the files with"
export FATHOM_DATA=
python3 "$SOURCE_DIR/tests/support/bombs.py" .

# --- peak ALLOWED COMMAND...: runs it; its peak memory in bytes may be ALLOWED; exit code into ./code
cat >peak.py <<'PY'
import os, sys
child = os.fork()
if child == 0:
    os.execv(sys.argv[2], sys.argv[2:])
_, status, usage = os.wait4(child, 0)
open("code", "w").write(str(os.waitstatus_to_exitcode(status)))
peak = usage.ru_maxrss * 1024
sys.exit(0 if peak <= int(sys.argv[1]) else f"{sys.argv[2:]} took {peak >> 20} MiB, {int(sys.argv[1]) >> 20} are allowed")
PY
program=$((48 << 20)) # the process itself, with the libraries it loads
tried=0
bomb() { # MESSAGE FILES -- ARGUMENTS...: refused with this message, within the limit for the files it reads
    local message=$1 disk=0 file
    shift
    for (( ; $# > 0; )); do
        file=$1
        shift
        [ "$file" != -- ] || break
        disk=$((disk + $(du -k --apparent-size "$file" | cut -f1) * 1024))
        case $file in sparse* | junk* | hole*) disk=4096 ;; esac
    done
    timeout 60 python3 peak.py $((64 * disk + (256 << 20) + program)) "$FATHOM" "$@" >out 2>err || fail "$(cat err)"
    same "$(cat code)" 4 "$*: $(cat err)"
    grep -q "$message" err || fail "$*: $(cat err)"
    same "$(wc -l <err)" 1 "one message: $(cat err)"
    tried=$((tried + 1))
}
limit='takes [0-9]* bytes of memory or more, 64 times its [0-9]* bytes plus 256 MiB are allowed; .* set FATHOM_READ_LIMIT'
for set in rows columns; do bomb "$limit" $set/* -- data info $set/edges.csv; done
for set in edges features labels line; do bomb "$limit" $set/* -- data info $set; done
for file in rows.npz columns.npz edges.npz; do bomb "$limit" $file -- data info $file; done
for file in rows.npy rows-1e18.npy rows.npz; do bomb "$limit" $file -- metrics --embeddings $file; done
bomb 'node 1999999999 with only 1 edges' mtx.mtx -- data info mtx.mtx
bomb "$limit" split.npz -- data info karate --split split.npz
bomb "$limit" hole.json -- data info karate --split hole.json
bomb 'deep.json: byte 64: is not a JSON object' deep.json -- data info karate --split deep.json
bomb "$limit" sparse.safetensors -- eval --data karate --checkpoint sparse.safetensors
bomb 'is no safetensors file' junk.safetensors -- eval --data karate --checkpoint junk.safetensors
for file in shared nobody encode; do
    mkdir $file
    cp "$SOURCE_DIR"/tests/corpus/good/planetoid-2/* $file
    mv $file.pickle $file/ind.tiny.graph
done
bomb "$limit" shared/* -- data info shared
bomb 'edge 0 - -1 names a node outside' nobody/* -- data info nobody
bomb "$limit" encode/* -- data info encode
echo "$tried bombs, each within 64 times its bytes and 256 MiB"

# --- genuinely sparse data is read: wide features
mkdir wide
echo 0,1 >wide/edges.csv
printf '%%%%MatrixMarket matrix coordinate real general\n2 1000000 2\n1 1 1\n2 1000000 1\n' >wide/features.mtx
expect_exit 0 "$FATHOM" data info wide
grep -q '^features *1,*000,*000' out || fail "a million columns: $(cat out)"

# --- FATHOM_READ_LIMIT raises and lowers the limit; a value that is not a size is reported
expect_exit 4 env FATHOM_READ_LIMIT=100K "$FATHOM" data info embedded
grep -q 'FATHOM_READ_LIMIT allows 102400' err || fail "a low limit: $(cat err)"
expect_exit 0 env FATHOM_READ_LIMIT=2G "$FATHOM" data info edges.npz
for value in 4X -1 0 G 99999999999T 1e9; do
    expect_exit 2 env FATHOM_READ_LIMIT=$value "$FATHOM" data info embedded
    grep -q "FATHOM_READ_LIMIT=$value is not a number of bytes" err || fail "limit $value: $(cat err)"
done
