#!/usr/bin/env bash
# package_docs.sh - the pages are true. Commands are in blocks marked `sh`, for the root of the tree, and every block is
# run, page by page, in the environment of a user (but that idle threads sleep): blocks marked `sh run` unchanged, the
# others through the stand-ins below, which shorten them. Commands in running text are at least parsed (--help). Every
# link of a page, with its heading, and every file that it names (but for NAME in a name) exists. README has at most 1,200
# words. labels: asan-skip
need_command
command -v python3 >/dev/null || skip "python3 is not there to take arrays out of an archive"
kernels=${POCL_CACHE_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/pocl/kcache} # stay warm; all else is new
unset XDG_CACHE_HOME POCL_CACHE_DIR
export HOME=$TEST_TMP/home
not_run=$TEST_TMP/not_run real=${FATHOM%/*}:$PATH short=$TEST_TMP/short:$PATH sets=$TEST_TMP/sets
mkdir -p "$sets" "$HOME/.cache/pocl" "$kernels" short given
ln -s "$kernels" "$HOME/.cache/pocl/kcache"
: >"$not_run"

# --- stand-ins ---
# short/known: their settings, which are not in a user's environment.
# fathom: the command with the options of this table appended; the last of repeated options counts.
cat >short/fathom <<'SH'
#!/usr/bin/env bash
. "$(dirname "$(realpath "$0")")/known"
not_run() {
    echo "fathom $words: $*" >>"$not_run"
    exit 0
}
words=$* more=()
case $words in
train* | demo*) more=(--epochs 3) ;;
sweep*) more=(--epochs 2 --seeds 1 --models sgc) ;;
"bench compare"*) ;;
bench*epoch* | bench*metrics*) more=(--seconds 0.001 --only embedded) ;;
bench*ops*) more=(--seconds 0.001 --only group_apply) ;;
bench*) more=(--only gnn-small) ;;
tune*) more=(--seconds 0.001) ;;
"data get"*) [ -f "$FATHOM_MIRROR/ind.cora.x" ] || not_run "no network, and no data sets beside the source tree" ;;
esac
if [ -z "${OPENCL_LAYERS:-}" ]; then
    [ "$1" != tune ] || not_run "no OpenCL device"
    set -- "${@//opencl:0/cpu}"
    set -- "${@//gpu/cpu}"
fi
exec -a fathom "$command" "$@" "${more[@]}" # called as by PATH
SH
# ctest only lists the tests: they are running already, in the same folders.
printf '#!/bin/sh\nPATH=%q\nexec ctest "$@" --show-only\n' "$real" >short/ctest
# The shortened sweeps train other runs than those committed; tests/package_results.sh compares a whole one.
cat >short/python3 <<SH
#!/bin/sh
case \$* in *results.py\ compare*) echo "python3 \$*: the sweep before it is shortened" >>"$not_run"; exit 0 ;; esac
exec $(command -v python3) "\$@"
SH
# left_out FILE REASON: a test cannot run it, except for its --help.
left_out() {
    mkdir -p "$(dirname "$1")"
    printf '#!/bin/sh\n[ "$1" != --help ] || exec "%s" --help\necho "%s $*: %s" >>"%s"\n' \
        "$SOURCE_DIR/$1" "${1/$HOME/\~}" "$2" "$not_run" >"$1"
    chmod +x "$1"
}
# tree FOLDER: makes and enters the root of a built tree as a reader has it. The sanitizer's tests have the same names.
tree() {
    mkdir -p "$1/build" "$1/build-asan"
    cd "$1" || exit
    cp "$TEST_TMP"/given/* .
    ln -s "$SOURCE_DIR"/{CMakePresets.json,cl,docs,examples,host} .
    ln -s "$BUILD_DIR"/{CTestTestfile.cmake,cmake_install.cmake,tests} build/
    ln -s "$BUILD_DIR"/{CTestTestfile.cmake,tests} build-asan/
    ln -s "$TEST_TMP/short/fathom" build/
    left_out quickstart "may install packages, and runs all tests, this one too; tests/package_quickstart.sh tests its options"
    left_out bench/peers/run "installs PyTorch, several gigabytes"
    left_out "$HOME/.cache/fathom/peers/bin/python" "needs that PyTorch"
}

# --- what the readers of the pages have: an OpenCL GPU (the layer of the tests reports PoCL as one), data sets by name (all
# are the embedded graph), embeddings with labels and features, an older benchmark ---
chmod +x short/*
cat >short/known <<SH
command=$(printf %q "$FATHOM") not_run=$(printf %q "$not_run")
export FATHOM_DEVICE=cpu FATHOM_DATA=$(printf %q "$sets") FATHOM_MIRROR=$(printf %q "${FATHOM_SHARED:-$SOURCE_DIR/../shared}/datasets/planetoid")
SH
"$FATHOM" devices >devices 2>/dev/null
if grep -q opencl:0 devices && [ -f "$BUILD_DIR/tests/ocl_layer.so" ]; then
    echo "export OPENCL_LAYERS=$(printf %q "$BUILD_DIR/tests/ocl_layer.so") OCL_LAYER_TYPE=4" >>short/known
fi
for name in cora citeseer; do "$FATHOM" data convert embedded -o "$sets/$name.npz" --quiet >/dev/null; done
PATH=$short fathom train --layers 2 --quiet --out trained >/dev/null
PATH=$short fathom bench --what epoch -o given/after.json --quiet >/dev/null
PATH=$short fathom bench -o given/other.json --quiet >/dev/null
"$FATHOM" eval --checkpoint trained/model.safetensors --embeddings given/H.npy --quiet >/dev/null
cp given/H.npy given/X.npy
python3 -m zipfile -e "$sets/cora.npz" members
cp members/labels.npy given/y.npy

# --- the pages ---
# script PAGE: its blocks in order, those marked `sh run` with the command itself.
script() {
    awk -v real="$real" -v short="$short" '/^```/ { fence = !fence; on = 0 }
        /^```sh( run)?$/ && fence { on = 1; print "PATH=\"" ($2 == "run" ? real : short) "\""; next }
        on' "$1"
}
program='(fathom|build/fathom|(\./)?quickstart|cmake|ctest|cpack|cc|c\+\+|bench/peers/run|doxygen|sudo|source)'
# stray PAGE: commands in blocks that are not marked.
stray() {
    awk -v program="^ *$program [a-z.-]" '/^```/ { fence = !fence; sh = fence && /^```sh/; next }
        !sh && (fence || /^    /) && $0 ~ program' "$1"
}
# mentions PAGE: `fathom ...` in running text, a line each, without the command and what follows a pipe.
mentions() {
    awk '/^```/ { fence = !fence; next } !fence' "$1" | tr '\n' ' ' | { grep -oE '`fathom [^`]*`' || true; } |
        sed -E 's/^`fathom *//; s/ *(\|.*)?`$//; s/^(data 1:|--man ).*//' | sort -u
}

# headings PAGE: as links name them: lower case, without punctuation, - for a blank.
headings() {
    awk '/^```/ { fence = !fence } !fence && /^#+ / { sub(/^#+ /, ""); print tolower($0) }' "$1" |
        sed -E 's/[^a-z0-9 _-]//g; s/ /-/g'
}

[ "$(wc -w <"$SOURCE_DIR/README.md")" -le 1200 ] || fail "README.md has $(wc -w <"$SOURCE_DIR/README.md") words"
ran=0 mentioned=0 linked=0 named=0
for page in {README,CONTRIBUTING,SECURITY,CHANGELOG}.md $(cd "$SOURCE_DIR" && echo docs/*.md) \
    {bench,bench/peers,cl,data,examples,tests}/README.md; do
    file=$SOURCE_DIR/$page
    stray "$file" >lines
    [ ! -s lines ] || fail "$page: a command in a block that is not marked sh: $(head -1 lines)"
    { echo 'trap '\''echo "in: $BASH_COMMAND" >&2'\'' ERR'; script "$file"; } >script.sh
    (tree "run/$page" && as_user OMP_WAIT_POLICY=passive bash -eu -o pipefail "$TEST_TMP/script.sh" >"$TEST_TMP/out" 2>"$TEST_TMP/err") ||
        fail "$page: a block fails: $(tail -4 err)"
    [ ! -f "$BUILD_DIR/fathom_opencl.so" ] || ! grep -h 'fathom_opencl.so is not there' out err >lines ||
        fail "$page: the OpenCL module is lost: $(head -1 lines)"
    count=$(awk -v program="^([A-Z_]+=[^ ]+ )?$program " '$0 ~ program' script.sh | wc -l)
    ran=$((ran + count))
    while read -r words; do
        eval "as_user \"$FATHOM\" $words --help" >out 2>err </dev/null || fail "$page: 'fathom $words': $(cat err)"
        mentioned=$((mentioned + 1))
    done < <(mentions "$file")
    # shellcheck disable=SC2016
    { grep -oE '\]\([^)#: ]+' "$file" || true; } | sed 's/^](//' >links
    while read -r link; do
        [ -e "$(dirname "$file")/$link" ] || fail "$page: there is no $link"
        linked=$((linked + 1))
    done <links
    { grep -oE '\]\([^)#: ]*#[^)]+' "$file" || true; } | sed 's/^](//' >anchors
    while IFS='#' read -r link anchor; do
        headings "${link:+$(dirname "$file")/}${link:-$file}" | grep -qxF -- "$anchor" || fail "$page: $link has no heading #$anchor"
    done <anchors
    # shellcheck disable=SC2016
    { grep -oE '`(host|cl|include|data|cmake|tests)/[A-Za-z0-9_./-]+`' "$file" || true; } | tr -d '`' | grep -v NAME >files || true
    while read -r name; do
        [ -e "$SOURCE_DIR/$name" ] || fail "$page: there is no $name"
        named=$((named + 1))
    done <files
done
left=$(wc -l <"$not_run")
[ "$((ran - left))" -gt 55 ] || fail "only $((ran - left)) commands were run"
sed 's/^/not run: /' "$not_run"
echo "$((ran - left)) commands run, $left not for the reasons above; $mentioned in the text understood;" \
    "$linked links, $named files"
