#!/usr/bin/env bash
# package_manual.sh - manual pages and completion agree with --help: every command has a page with each of its options, groff
# and mandoc report nothing, bash, zsh and fish offer commands, options, values, devices, data sets and run folders, and all
# of it is installed. labels: asan-skip
need_command
[ -d "$BUILD_DIR/man" ] || skip "no manual pages: cross-compiled"
export PATH=${FATHOM%/*}:$PATH FATHOM_DEVICE=cpu
cmake --install "$BUILD_DIR" --prefix "$PWD/prefix" --component command >log || fatal "cmake --install: $(tail -3 log)"
share=$PWD/prefix/share

# --- pages ---
"$FATHOM" --help | sed -n 's/^  \([a-z][a-z ]*[a-z]\)  .*/\1/p' | sed 's/ *$//' >commands
[ "$(wc -l <commands)" -gt 15 ] || fail "the overview lists $(wc -l <commands) commands"
"$FATHOM" --man >fathom.1
options=0
while read -r command; do
    name=fathom-${command// /-}
    # shellcheck disable=SC2086
    "$FATHOM" --man $command >"$name.1"
    compgen -G "$share/man/man1/$name.1*" >/dev/null || fail "$name.1 is not installed"
    grep -qF "${name//-/\\-}" fathom.1 || fail "fathom(1) does not name $name"
    # shellcheck disable=SC2086
    "$FATHOM" $command --help | grep -oE '^  (-[a-z], )?--[a-z-]+' | sed 's/^  //' >listed
    while read -r option; do
        grep -qF "\\fB${option//-/\\-}" "$name.1" || fail "$name.1 has no $option"
        options=$((options + 1))
    done <listed
done <commands
[ "$options" -gt 150 ] || fail "only $options options were looked for"
for page in fathom*.1; do
    if command -v groff >/dev/null; then
        groff -man -ww -Tascii -P-cbou "$page" >text 2>warnings || fail "$page: groff: $(cat warnings)"
        [ ! -s warnings ] || fail "$page: groff: $(head -3 warnings)"
        grep -q SYNOPSIS text || fail "$page has no synopsis"
    fi
    if command -v mandoc >/dev/null; then
        mandoc -T lint -W warning "$page" >warnings 2>&1 || true
        [ ! -s warnings ] || fail "$page: mandoc: $(head -3 warnings)"
    fi
done
expect_exit 2 "$FATHOM" --man nothing
expect_exit 2 "$FATHOM" --man train more
grep -q "'more' is unexpected after train" err || fail "--man train more: $(cat err)"
for word in --man --complete; do "$FATHOM" --help | grep -q -- "fathom $word" || fail "--help does not mention $word"; done

# --- a page has the date of its version, not of the build ---
version=$("$FATHOM" --version | sed 's/fathom //')
date=$(sed -nE "s/^## $version, ([0-9]{4}-[0-9]{2}-[0-9]{2}).*/\1/p" "$SOURCE_DIR/CHANGELOG.md")
[ -n "$date" ] || fail "CHANGELOG.md has no date for $version"
for page in *.1; do
    grep -q "^\.TH [A-Z-]* 1 $date \"fathom $version\"" "$page" || fail "$page: another date than $date: $(head -1 "$page")"
done

# --- what the command offers: words | a line of the answer | text that is not in it ---
mkdir -p runs/deep runs/empty sweep
touch runs/deep/run.json sweep/sweep.json
while IFS='|' read -r words wanted unwanted; do
    eval "\"$FATHOM\" --complete $words" >out 2>err || fail "--complete $words: $(cat err)"
    [ ! -s err ] || fail "--complete $words prints messages: $(cat err)"
    cut -f1 out >offers
    [ -z "$wanted" ] || grep -qxF -- "$wanted" offers || fail "--complete $words does not offer $wanted: $(cat offers)"
    [ -z "$unwanted" ] || ! grep -qF -- "$unwanted" offers || fail "--complete $words offers $unwanted: $(cat offers)"
done <<'TABLE'
""|train|data list
d|doctor|train
data ""|info|train
help data ""|convert|train
train --m|--model|--norm
train --model ""|gcnii|group
train -m g|gat|sgc
train --norm=g|--norm=group|pair
train --lambda ""|auto|
train --layers ""||:files
train --device ""|cpu|
train --device c|cpu|gpu
bench --device cpu,g|cpu,gpu|auto
train --data ""|:files|gcn
train --data c|cora|pubmed
data get ""|pubmed|:files
data info ""|embedded|--layers
data info cora ""|--layers|embedded
sweep --recipe ""|table1|
sweep --models gcn,g|gcn,gat|sgc
selftest --op g|gemm|spmm
train --out ""|runs/deep|empty
train --out ""|:folders|sweep.json
train --out runs/|runs/deep|sweep
report ""|sweep|
eval --checkpoint r|runs/deep/model.safetensors|sweep
eval --checkpoint r|:files|
train --json --quiet --res|--resume|
bench ""|compare|train
nothing ""||train
TABLE

# --- bash ---
bash -c "source '$share/bash-completion/completions/fathom'; complete -p fathom" | grep -q -- '-F _fathom fathom' ||
    fail "bash has no completion of fathom"
# in_bash LINE: what bash offers at its end.
in_bash() {
    bash -c 'compopt() { :; }; source "$1"; COMP_LINE=$2; COMP_POINT=${#2}; read -ra COMP_WORDS <<<"$2"
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _fathom; printf "%s\n" "${COMPREPLY[@]}"' \
        _ "$share/bash-completion/completions/fathom" "$1"
}
in_bash 'fathom tr' >offers 2>&1
grep -qx train offers || fail "bash does not complete the command: $(cat offers)"
in_bash 'fathom train --model ' >offers 2>&1
grep -qx gcnii offers || fail "bash does not offer models: $(cat offers)"
in_bash 'fathom train --model=g' >offers 2>&1
grep -qx gcn offers || fail "bash does not complete after =: $(cat offers)"
in_bash 'fathom train --data runs' >offers 2>&1
grep -qx runs offers || fail "bash does not offer files for data: $(cat offers)"
in_bash 'fathom report ' >offers 2>&1
grep -qx runs/deep offers || fail "bash does not offer run folders: $(cat offers)"
in_bash 'fathom report ' >offers 2>&1
grep -qx sweep offers || fail "bash does not offer sweeps: $(cat offers)"

# --- zsh: stand-ins for _describe and _files, which its completion system calls with the answer ---
if command -v zsh >/dev/null; then
    in_zsh() {
        zsh -fc '_describe() { local i; for i in ${(P)3}; do print -r -- $i; done }
            _files() { print -r -- "files $*" }; compdef() { }
            source $1; words=("${@:2}"); CURRENT=$#words; _fathom' _ "$share/zsh/site-functions/_fathom" "$@"
    }
    in_zsh fathom tr >offers 2>&1
    grep -q '^train:train' offers || fail "zsh does not complete the command: $(cat offers)"
    in_zsh fathom train --model '' >offers 2>&1
    grep -q '^gcnii:' offers || fail "zsh does not offer models: $(cat offers)"
    in_zsh fathom report '' >offers 2>&1
    grep -q '^runs/deep:a run' offers || fail "zsh does not offer run folders: $(cat offers)"
    in_zsh fathom report '' >offers 2>&1
    grep -q '^files -/' offers || fail "zsh does not offer folders: $(cat offers)"
    zsh -fc "fpath=('$share/zsh/site-functions' \$fpath); autoload -Uz compinit; compinit -D -u
        [[ \$_comps[fathom] == _fathom ]]" || fail "zsh does not find its completion of fathom"
else
    echo "zsh is not installed: not asked"
fi

# --- fish ---
if command -v fish >/dev/null; then
    in_fish() { HOME=$PWD fish --no-config -c "source '$share/fish/vendor_completions.d/fathom.fish'; complete -C '$1'"; }
    in_fish 'fathom tr' >offers 2>&1
    grep -q '^train' offers || fail "fish does not complete the command: $(cat offers)"
    in_fish 'fathom train --model ' >offers 2>&1
    grep -q '^gcnii' offers || fail "fish does not offer models: $(cat offers)"
    in_fish 'fathom report ' >offers 2>&1
    grep -q '^runs/deep' offers || fail "fish does not offer run folders: $(cat offers)"
    in_fish 'fathom train --data c' >offers 2>&1
    grep -q '^cora' offers || fail "fish does not offer data sets: $(cat offers)"
else
    echo "fish is not installed: not asked"
fi
echo "$(wc -l <commands) commands, $options options"
