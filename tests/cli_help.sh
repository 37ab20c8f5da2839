# cli_help.sh - the command from outside: help of every command, bad input, JSON alone on standard output, exit codes,
# lost output, locale, memory failures.
need_command
command -v python3 >/dev/null || skip "python3 is not there to check JSON with"

# PoCL alone: other drivers may not bear the sanitizers (Intel's loads libraries with RTLD_DEEPBIND).
only_pocl

is_json() { python3 -c 'import json,sys; json.load(open(sys.argv[1]))' "$1"; }
# field EXPRESSION FILE: a value of the document d.
# one_message FILE: one line that starts with the name of the command.
one_message() {
    same "$(wc -l <"$1")" 1 "lines of $1: $(cat "$1")"
    grep -q '^fathom: ' "$1" || fail "no 'fathom: ' in front of: $(cat "$1")"
}

# --- the overview lists the commands; each has a help with its options and an example
for words in "" --help -h help; do
    # shellcheck disable=SC2086
    expect_exit 0 "$FATHOM" $words
    [ ! -s err ] || fail "'fathom $words' writes to standard error: $(cat err)"
    grep -q '^usage: fathom COMMAND' out || fail "'fathom $words' prints no overview on standard output"
done
sed -n 's/^  \([a-z][a-z ]*[a-z]\)  .*/\1/p' out | sed 's/ *$//' >commands
for command in devices doctor selftest; do
    grep -qx "$command" commands || fail "the overview does not list $command"
done
while read -r command; do
    # shellcheck disable=SC2086
    expect_exit 0 "$FATHOM" $command --help
    [ ! -s err ] || fail "$command --help writes to standard error: $(cat err)"
    cp out help
    for wanted in '^usage: fathom ' '^example:$' '--json' '--quiet' '--device D' '--threads N'; do
        grep -q -- "$wanted" help || fail "$command --help does not show '$wanted'"
    done
    # shellcheck disable=SC2086
    expect_exit 0 "$FATHOM" help $command
    cmp -s help out || fail "'fathom help $command' differs from 'fathom $command --help'"
    awk 'length($0) > 80 { exit 1 }' help || fail "$command --help is wider than 80 columns"
    # --- every command refuses what it does not know, in JSON too
    # shellcheck disable=SC2086
    expect_exit 2 "$FATHOM" $command --jsn
    one_message err
    grep -q "did you mean --json?" err || fail "$command --jsn does not suggest --json: $(cat err)"
    [ ! -s out ] || fail "$command --jsn prints on standard output"
    # shellcheck disable=SC2086
    expect_exit 2 "$FATHOM" $command --threads 2x --json
    one_message err
    same "$(field "d['error']['code']" out)" 2 "code of an error in JSON"
    same "fathom: $(field "d['error']['message']" out)" "$(cat err)" "message of an error in JSON"
done <commands
expect_exit 0 "$FATHOM" --version
grep -Eqx 'fathom [0-9]+\.[0-9]+\.[0-9]+' out || fail "--version prints $(cat out)"

# --- commands of two words: the first alone lists them
if grep -q '^data ' commands; then
    expect_exit 0 "$FATHOM" data --help
    grep -q '^  data info ' out || fail "data --help does not list data info: $(cat out)"
    if grep -q '^  devices ' out; then fail "data --help lists other commands"; fi
    expect_exit 2 "$FATHOM" data
    grep -q '^fathom: data needs one of .*info' err || fail "'fathom data' says: $(cat err)"
    expect_exit 2 "$FATHOM" data infoo
    grep -q "'infoo'; did you mean info?" err || fail "'fathom data infoo' says: $(cat err)"
fi

# --- bad input: exit code | words | what the message has in it
printf 'PK' >m.pt # cut off; torch.save writes a zip, and wrote a pickle
printf '\200\002\212\012l\374\234F\371 j\250P\031.' >old.bin
printf 'PK\003\004\000\000\010\010\000\000\000\000' >new.bin
while IFS='|' read -r code words message; do
    # shellcheck disable=SC2086
    expect_exit "$code" "$FATHOM" $words
    one_message err
    grep -qF -- "$message" err || fail "'fathom $words' says '$(cat err)', not '$message'"
    [ ! -s out ] || fail "'fathom $words' prints on standard output: $(cat out)"
    # shellcheck disable=SC2086
    expect_exit "$code" "$FATHOM" $words --json
    is_json out || fail "'fathom $words --json' does not print JSON: $(cat out)"
    same "$(field "d['error']['code']" out)" "$code" "code in JSON of 'fathom $words'"
done <<'TABLE'
2|devcies|unknown command 'devcies'; did you mean devices?
2|zzzzzzzzz|unknown command 'zzzzzzzzz'; choose one of devices,
2|help devcies|did you mean devices?
2|--quiet devices|write fathom COMMAND --quiet
2|devices --device|--device needs a value: --device D
2|devices --device=|--device needs a value: D
2|devices --threads 1025|--threads '1025': give a whole number from 0 to 1024
2|devices --threads -1|--threads '-1': give a whole number from 0 to 1024
2|devices --threads 99999999999999999999|give a whole number from 0 to 1024
2|devices --threads=|--threads needs a value: N
2|devices --quiet=yes|--quiet takes no value
2|devices extra|'extra' is one word too many; see fathom devices --help
2|devices -x|unknown option '-x'
3|devices --device nonsense|unknown device 'nonsense'; choose one of:
3|devices --device opencl:999|unknown device 'opencl:999'; choose one of:
3|devices --device 999|unknown device '999'; choose one of:
3|selftest --device nonsense|unknown device 'nonsense'; choose one of:
2|selftest --device cpu --op gem|unknown operation 'gem'; did you mean gemm?
2|train cora|did you mean --data cora?
2|sweep table1|did you mean --recipe table1?
2|eval m.pt --data karate|did you mean --checkpoint m.pt?
2|bench cpu|did you mean --device cpu?
2|bench ops|did you mean --what ops?
2|bench karate|'karate' is one word too many
2|train opencl:0|did you mean --device opencl:0?
2|train --data karate karate|'karate' is one word too many
2|train --device cpu --split random|random:T,V draws T training and V validation nodes per class, as in random:20,30
2|train --device cpu --split fraction|as in fraction:0.6,0.2
4|train --device cpu --data corra|did you mean cora? fathom data list shows those
4|data get corra|did you mean cora?
4|data info zzzzzzzz|nor a known data set; fathom data list shows those
4|metrics --device cpu --embeddings new.bin|numpy.save('FILE.npy', array)
4|eval --device cpu --checkpoint m.pt --data karate|save_file(model.state_dict(), 'model.safetensors')
4|eval --device cpu --checkpoint old.bin --data karate|save_file(model.state_dict(), 'model.safetensors')
4|eval --device cpu --checkpoint new.bin --data karate|save_file(model.state_dict(), 'model.safetensors')
4|train --device cpu --data m.pt|numpy.savez('graph.npz', edge_index=..., x=..., y=...)
TABLE
env -u FATHOM_DATA XDG_CACHE_HOME="$PWD/empty" "$FATHOM" train --data cora >out 2>err && fail "there is no Cora here"
grep -q 'get it with: fathom data get cora' err || fail "how to get Cora: $(cat err)"
OCL_ICD_VENDORS=/nonexistent expect_exit 3 "$FATHOM" train --device gpu
grep -q '^fathom: --device gpu: no OpenCL driver here shows a GPU (fathom doctor .*; choose one of: auto, cpu ' err || fail "no GPU: $(cat err)"
expect_exit 4 "$FATHOM" train --device cpu --data karate --init m.pt --quiet
grep -q 'safetensors.torch.save_file' err || fail "--init of a file of torch.save: $(cat err)"

# --- notes about options without effect, and numbers of one
short="train --device cpu --data karate --epochs 1"
for words in "--norm none --groups 5" "--norm batch --lambda 0.1" "--alpha 0.2" "--theta 0.2" "--model sgc --hidden 8" \
    "--layers 1 --hidden 8" "--checkpoint-every 5" "--fallback cpu" "--model sgc --skip initial" "--skip-weight 0.5" \
    "--model sgc --bias on" "--heads 1" "--norm none --last-norm off" "--model sgc --last-act off"; do
    option=$(sed -E 's/.*(--[a-z-]+) [^ ]+$/\1/' <<<"$words")
    # shellcheck disable=SC2086
    expect_exit 0 "$FATHOM" $short --layers 2 $words
    same "$(grep -c "^note: $option has no effect: " err)" 1 "notes of $words: $(cat err)"
done
expect_exit 0 "$FATHOM" $short --layers 2 --model gcnii --groups 5 --lambda 0.1 --alpha 0.2 --theta 0.2 --hidden 8 --checkpoint-every 1 --out effect
! grep '^note: ' err || fail "a note about options that have their effect"
expect_exit 0 "$FATHOM" $short --layers 3 --model gat --skip initial --skip-weight 0.5 --bias --heads 2 --last-norm off --last-act off
! grep '^note: ' err || fail "a note about skip connections that are there"
# of sweep: options, and keys of a recipe; no note for what the options made useless
sweep="sweep --recipe table1 --data karate --layers 2 --dry-run"
for words in "--norms none,pair --groups 5" "--norms batch --lambda 0.1" "--alpha 0.2" "--theta 0.2" "--models sgc --hidden 8" \
    "--models gcn --layers 1 --hidden 8" "--picture 'gcn 3'" "--norms pair --picture 'gcn 2'" "--models sgc --skip initial" \
    "--skip-weight 0.5" "--models sgc --bias on" "--models gcn --heads 2" "--norms none --last-norm off" "--models sgc --last-act off"; do
    option=$(sed -E 's/.*(--[a-z-]+) [^-]+$/\1/' <<<"$words")
    eval expect_exit 0 '"$FATHOM"' $sweep "$words"
    same "$(grep '^note: ' err | sed 's/:[^:]*$//')" "note: $option has no effect" "notes of sweep $words: $(cat err)"
done
expect_exit 0 "$FATHOM" sweep --recipe table1 --data karate --models gcn,gcnii --layers 2,3 --norms none,group --groups 5 --lambda auto \
    --alpha 0.2 --theta 0.2 --skip initial --skip-weight 0.5 --hidden 8 --picture 'gcn 3' --dry-run
! grep '^note: ' err || fail "a note about options of sweep that have their effect"
for recipe in table1 table2 depth grid remedies; do
    expect_exit 0 "$FATHOM" sweep --recipe $recipe --dry-run
    ! grep 'has no effect' err || fail "the recipe $recipe has lines without effect"
done
printf 'data karate\nmodels gcn\nnorms none\nlayers.gcn 2\nlayers 3\nlayers.sgc 4\ngroups 5\nalpha 0.1\n' >idle.recipe
expect_exit 0 "$FATHOM" sweep --recipe ./idle.recipe --dry-run
same "$(grep '^note: ' err)" "note: layers has no effect: every model has depths of its own
note: layers.sgc has no effect: its model is not among the models
note: groups has no effect: it belongs to norm group
note: alpha has no effect: it belongs to model gcnii" "keys without effect"
expect_exit 0 "$FATHOM" sweep --recipe ./idle.recipe --models sgc,gcnii --norms group --layers 2 --dry-run
! grep 'has no effect' err || fail "a note about keys that the options made useful"
expect_exit 0 "$FATHOM" $short --layers 1 --groups 1
grep -q 'gcn, 1 layer, group norm (1 group, lambda .*, 1 epoch, ' err || fail "numbers of one: $(cat err)"
expect_exit 0 "$FATHOM" data make sbm --nodes 2 --edges 1 --classes 1 --features 1 -o one.npz
same "$(cat out)" "one.npz: 2 nodes, 1 edge, 1 feature, 1 class" "numbers of one in data make"

FATHOM_DEVICE=nonsense expect_exit 3 "$FATHOM" devices
FATHOM_DEVICE=nonsense expect_exit 0 "$FATHOM" devices --device cpu
FATHOM_FAIL_ALLOC=x expect_exit 2 "$FATHOM" devices
one_message err

# --- devices and doctor
expect_exit 0 "$FATHOM" devices --json
same "$(field "sorted(set('word name backend type platform driver memory_bytes compute_units selected'.split()) - set(d['devices'][0]))" out)" \
    "[]" "fields missing from a device"
same "$(field "[x['backend'] for x in d['devices']].count('cpu')" out)" 1 "native CPU back ends"
same "$(field "[x['selected'] for x in d['devices']].count(True)" out)" 1 "selected devices"
for i in $(seq 0 $(($(field "len(d['devices'])" out) - 1))); do
    word=$(field "d['devices'][$i]['word']" out)
    "$FATHOM" devices --json --device "$word" >by_word
    "$FATHOM" devices --json --device "$i" >by_row
    same "$(field "[x['word'] for x in d['devices'] if x['selected']]" by_word)" "['$word']" "--device $word"
    cmp -s by_word by_row || fail "--device $i is not --device $word"
done
expect_exit 0 "$FATHOM" devices
grep -q 'is what auto takes: ' out || fail "devices does not say what auto takes: $(cat out)"
expect_exit 0 "$FATHOM" devices --quiet
[ ! -s err ] || fail "devices --quiet writes to standard error: $(cat err)"
expect_exit 0 "$FATHOM" doctor --json
same "$(field "sorted(set(x['level'] for x in d['findings']) - {'ok', 'warn', 'missing'})" out)" "[]" "levels of doctor"
same "$(field "{'CPU back end', 'OpenCL back end', 'OpenCL loader', 'permission', 'environment'} <= set(x['subject'] for x in d['findings'])" out)" \
    True "subjects of doctor"
same "$(field "all(x['remedy'] for x in d['findings'] if x['level'] == 'missing')" out)" True "each missing thing has its remedy"
OCL_ICD_VENDORS=/nonexistent expect_exit 0 "$FATHOM" doctor
grep -q '^missing  OpenCL driver .*/nonexistent' out || fail "doctor does not see that there are no drivers: $(cat out)"
grep -q 'OCL_ICD_VENDORS=/nonexistent' out || fail "doctor does not show OCL_ICD_VENDORS"
POCL_CACHE_DIR=/proc/nonexistent expect_exit 0 "$FATHOM" doctor
grep -q "^warn     PoCL's cache     /proc/nonexistent cannot be written" out || fail "doctor believes in /proc/nonexistent: $(cat out)"
mkdir no_module
FATHOM_MODULE_DIR=$PWD/no_module expect_exit 0 "$FATHOM" doctor --quiet
grep -q '^missing  OpenCL back end .* is not there$' out || fail "doctor does not miss the OpenCL module: $(cat out)"
FATHOM_DEVICE=nonsense expect_exit 3 "$FATHOM" doctor --json
same "$(field "d['error']['code'], len(d['findings']) > 5" out)" "(3, True)" "doctor with an unknown device"

# --- selftest: fields; an operation made wrong is found and named
expect_exit 0 "$FATHOM" selftest --device cpu --op gemm --json
same "$(field "d['device']['backend'], d['cases'] >= 8, d['failed'], [o['name'] for o in d['operations']]" out)" \
    "('cpu', True, 0, ['gemm'])" "selftest of gemm"
same "$(field "d['operations'][0]['worst_nmse'] < 1e-7 and d['operations'][0]['cases'] == d['cases']" out)" True "errors of gemm"
expect_exit 0 "$FATHOM" selftest --device cpu --op gemm
grep -Eq '^gemm +[0-9]+ cases +worst error [0-9.e-]+ +ok$' out || fail "selftest of gemm prints: $(cat out)"
export FATHOM_SABOTAGE=axpby # fault_sabotage.sh takes every operation in turn
expect_exit 0 "$SABOTAGED" selftest --device cpu --op gemm
expect_exit 5 "$SABOTAGED" selftest --device cpu --op axpby --quiet
one_message err
grep -q 'cases failed on cpu .*, first axpby, case ' err || fail "a wrong operation is not named: $(cat err)"
expect_exit 5 "$SABOTAGED" selftest --device cpu --json
same "$(field "[o['name'] for o in d['operations'] if o['failed']], d['failed'] > 0, d['error']['code']" out)" \
    "(['axpby'], True, 5)" "selftest with a wrong operation"
same "$(field "d['cases'] >= 150 and len(d['operations']) >= 20" out)" True "the number of cases and operations"
unset FATHOM_SABOTAGE

# --- lost output is reported; a closed pipe is not
if [ -w /dev/full ]; then
    for words in devices "devices --json" --help "devices --help" "doctor --json"; do
        # shellcheck disable=SC2086
        got=0 && "$FATHOM" $words >/dev/full 2>err || got=$?
        same "$got" 1 "exit code of 'fathom $words' on a full disk"
        grep -q '^fathom: cannot write to standard output: ' err || fail "'fathom $words' on a full disk: $(cat err)"
    done
fi
got=0 && "$FATHOM" devices --json >&- 2>err || got=$?
same "$got" 1 "exit code with standard output closed"
grep -q '^fathom: cannot write to standard output' err || fail "closed standard output: $(cat err)"
expect_exit 0 "$FATHOM" devices --quiet 0<&-
mkfifo pipe
cat /dev/null <pipe &
got=0 && { sleep 0.2 && "$FATHOM" doctor --quiet; } >pipe 2>err || got=$?
wait
same "$got" 1 "exit code when the reader is gone"
[ ! -s err ] || fail "writes to standard error when the reader is gone: $(cat err)"

# --- numbers have a point whatever the locale; no colours outside a terminal
expect_exit 0 env LC_ALL=de_DE.UTF-8 "$FATHOM" devices --json
is_json out
expect_exit 2 env LC_ALL=de_DE.UTF-8 "$FATHOM" devices --threads 1,5
expect_exit 0 "$FATHOM" doctor
if grep -q "$(printf '\033')" out err; then fail "colours although this is no terminal"; fi

# --- every allocation may fail: a message and 6 (or a success), never a crash
export OCL_ICD_VENDORS=/nonexistent # only our own allocations are meant, and drivers take time to load
for words in "devices --json" "doctor --json" "selftest --device cpu --op fill --json"; do
    for n in $(seq 1 10) 15 25 50 100 200 400; do
        for ever in "" +; do
            got=0
            # shellcheck disable=SC2086
            FATHOM_FAIL_ALLOC=$n$ever "$FATHOM" $words >out 2>err || got=$?
            [ "$got" = 0 ] || [ "$got" = 6 ] || fail "'fathom $words' with allocation $n$ever failing exits with $got: $(cat err)"
            is_json out || fail "'fathom $words' with allocation $n$ever failing prints: $(cat out)"
            # cJSON does not report how much it requested.
            [ "$got" = 0 ] || grep -Eq 'bytes|JSON text: cannot get memory' err || fail "no bytes in the message: $(cat err)"
        done
    done
done
FATHOM_FAIL_ALLOC=1 expect_exit 6 "$FATHOM" devices
one_message err
