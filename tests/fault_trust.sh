# fault_trust.sh - external input is not trusted: caches are private to the user, checked by digest before use and never
# written through a link; data comes over https, from a file or from the mirror the user set; kernels are read only from a
# folder of the user; no shell is called.
# labels: asan-skip
need_command
unset FATHOM_DATA FATHOM_MIRROR http_proxy https_proxy HTTP_PROXY HTTPS_PROXY all_proxy ALL_PROXY
mode() { stat -c %a "$1"; }
umask 022
tried=0

# --- no shell and no other program is started
! grep -rnE '\b(system|popen|exec[lv][pe]*|posix_spawnp?|wordexp|tmpnam|mktemp)\(' "$SOURCE_DIR"/host --include='*.c' ||
    fail "these calls start a shell, or make a temporary file with a predictable name"

# --- a link at the name of the temporary file is not followed; the target of an output that is a link is replaced
echo precious >precious
echo old >target
ln -s "$PWD/target" g.npz
ln -s "$PWD/precious" target.part
ln -s "$PWD/precious" g.npz.part
expect_exit 0 "$FATHOM" data make sbm --nodes 30 --classes 2 --edges 60 --features 8 -o g.npz
same "$(cat precious)" precious "the file a link points to"
[ -L g.npz ] || fail "the link is gone"
cp target whole.npz && expect_exit 0 "$FATHOM" data info whole.npz --quiet
tried=$((tried + 1))

# --- tuning records: 0600 in folders of 0700, a damaged one is not used (unit_tune.c)
export POCL_CACHE_DIR=${POCL_CACHE_DIR:-$XDG_CACHE_HOME/pocl/kcache} XDG_CACHE_HOME=$PWD/cache # the driver keeps its own cache
if "$FATHOM" devices 2>/dev/null | grep -q opencl:0; then
    mkdir -p cache/fathom && rm -rf cache/fathom
    expect_exit 0 "$FATHOM" tune --device opencl:0 --seconds 0.001
    record=$(ls cache/fathom/tune/*.json)
    same "$(mode cache/fathom) $(mode cache/fathom/tune) $(mode "$record")" "700 700 600" "modes of the tuning cache"
    tried=$((tried + 1))
fi

# --- kernels from a folder of another user are refused
if [ "$(id -u)" = 0 ] && "$FATHOM" devices 2>/dev/null | grep -q opencl:0; then
    cp -r "$SOURCE_DIR/cl" theirs && chown -R 12345 theirs
    expect_exit 2 env FATHOM_CL_DIR="$PWD/theirs" "$FATHOM" selftest --device opencl:0 --op fill
    grep -q 'belongs to another user' err || fail "kernels of another user: $(cat err)"
    tried=$((tried + 1))
fi

# --- URL schemes
for address in ftp://127.0.0.1:9/x gopher://127.0.0.1:9 scp://127.0.0.1/x smb://127.0.0.1/x FILE://x; do
    expect_exit 2 env FATHOM_MIRROR=$address "$FATHOM" data get cora --to to
    grep -q "FATHOM_MIRROR $address" err || fail "$address: $(cat err)"
    tried=$((tried + 1))
done
shared=${FATHOM_SHARED:-$SOURCE_DIR/../shared}/datasets
if [ -d "$shared/planetoid" ]; then
    mkdir files && cp "$shared"/planetoid/ind.cora.* files/
    python3 "$SOURCE_DIR/tests/support/mirror.py" files port >requests 2>server.err &
    server=$!
    trap 'kill $server 2>/dev/null || true' EXIT
    for _ in $(seq 100); do [ -s port ] && break || sleep 0.1; done
    for to in tofile toftp; do
        expect_exit 4 env FATHOM_MIRROR="http://127.0.0.1:$(cat port)/$to" "$FATHOM" data get cora --to to-$to
        grep -q 'cannot be reached' err || fail "redirected $to: $(cat err)"
        [ ! -e to-$to/ind.cora.x ] || fail "redirected $to, a file was downloaded"
        tried=$((tried + 1))
    done
    # --- the data cache: file://, modes, links, and a file that was changed is not used
    mkdir -p cache/fathom/data/cora && echo precious >precious && ln -s "$PWD/precious" cache/fathom/data/cora/ind.cora.x.part
    expect_exit 0 env FATHOM_MIRROR="file://$PWD/files" "$FATHOM" data get cora
    same "$(cat precious)" precious "the target of a link in the data cache"
    same "$(mode cache/fathom/data/cora/ind.cora.x)" 600 "mode of a cached file"
    rm -rf cache/fathom
    expect_exit 0 env FATHOM_MIRROR="file://$PWD/files" "$FATHOM" data get cora
    same "$(mode cache/fathom) $(mode cache/fathom/data) $(mode cache/fathom/data/cora)" "700 700 700" "modes of the data cache"
    expect_exit 0 "$FATHOM" data info cora --quiet
    printf x | dd of=cache/fathom/data/cora/ind.cora.ally bs=1 seek=20000 conv=notrunc 2>/dev/null
    expect_exit 4 "$FATHOM" data info cora --quiet
    grep -q 'ind.cora.ally: not the file it should be .*; it was changed since it was fetched: fathom data get cora' err ||
        fail "a changed file in the cache: $(cat err)"
    cp "$shared/npz/amazon_photo.npz" files/
    expect_exit 0 env FATHOM_MIRROR="$PWD/files" "$FATHOM" data get amazon-photo
    expect_exit 0 "$FATHOM" data info amazon-photo --quiet
    cp g.npz cache/fathom/data/amazon-photo/amazon_photo.npz
    expect_exit 4 "$FATHOM" data info amazon-photo --quiet
    grep -q 'SHA-256 of the content' err || fail "another set in the cache: $(cat err)"
    tried=$((tried + 4))
else
    echo "the data cache was not tried: the benchmark data sets are not beside the source tree"
fi
tally 2,5 "links, changed caches, foreign kernels, schemes" $tried $tried $tried
