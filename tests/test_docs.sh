#!/usr/bin/env bash
# test_docs.sh - what the pages say is so: every block marked `sh run` is run, in order, in a folder for each page; every
# other fathom command on a page is understood by the command; every link of a page and every file that it names
# (but for NAME in a name) exists. labels: asan-skip
need_command
export PATH=${FATHOM%/*}:$PATH FATHOM_DEVICE=cpu
unset FATHOM_DATA
cd "$SOURCE_DIR"
pages=(README.md CONTRIBUTING.md SECURITY.md CHANGELOG.md docs/*.md bench/README.md examples/README.md tests/README.md)
cd "$TEST_TMP"

# blocks PAGE: the lines of its blocks marked `sh run`.
blocks() { awk '/^```sh run$/ { on = 1; next } /^```/ { on = 0 } on' "$1"; }
# commands PAGE: its lines that start with the command, in any block, without comment; those in `sh run` are left out.
commands() {
    awk '/^```/ { if (fence) fence = run = 0; else { fence = 1; run = /sh run$/ } next }
        !run && (fence || /^    /) && /^ *fathom [a-z]/ { sub(/^ */, ""); sub(/ +#.*/, ""); print }' "$1"
}

ran=0 read=0 linked=0 named=0
for page in "${pages[@]}"; do
    file=$SOURCE_DIR/$page
    [ -f "$file" ] || continue
    blocks "$file" >block.sh
    if [ -s block.sh ]; then
        mkdir -p "run/$page"
        (cd "run/$page" && bash -eu -o pipefail "$TEST_TMP/block.sh" >../out 2>../err) ||
            fail "$page: a block fails: $(tail -3 "run/$page/../err")"
        ran=$((ran + $(grep -c '^fathom ' block.sh)))
    fi
    commands "$file" >lines
    while read -r line; do
        # The part up to a `;`, `&&`, `|` or a wide gap before a remark; with --help options are read, then nothing is run.
        words=$(sed -E 's/ *(;|&&|\||  ).*//; s/^fathom //' <<<"$line")
        eval "\"$FATHOM\" $words --help" >out 2>err </dev/null || fail "$page: '$line': $(cat err)"
        read=$((read + 1))
    done <lines
    # shellcheck disable=SC2016
    { grep -oE '\]\([^)#: ]+' "$file" || true; } | sed 's/^](//' >links
    while read -r link; do
        [ -e "$(dirname "$file")/$link" ] || fail "$page: there is no $link"
        linked=$((linked + 1))
    done <links
    # shellcheck disable=SC2016
    { grep -oE '`(host|cl|include|data|cmake|tests)/[A-Za-z0-9_./-]+`' "$file" || true; } | tr -d '`' | grep -v NAME >files || true
    while read -r name; do
        [ -e "$SOURCE_DIR/$name" ] || fail "$page: there is no $name"
        named=$((named + 1))
    done <files
done
[ "$ran" -gt 15 ] || fail "only $ran commands were run"
echo "$ran commands run, $read understood, $linked links, $named files"
