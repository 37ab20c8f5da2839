# fault_fuzz.sh - the readers under libFuzzer with the address and undefined-behaviour sanitizers, from the corpus.
# FATHOM_FUZZ_SECONDS (20) for each of the ten, two at a time, or FATHOM_FUZZ_RUNS inputs; FATHOM_FUZZ names some of
# them. A finding is stored in the build folder; it becomes a corpus file.
# labels: asan-skip
command -v clang-14 >/dev/null && clang=clang-14 || clang=clang
command -v $clang >/dev/null || skip "no clang"
echo 'int LLVMFuzzerTestOneInput(const char *b, unsigned long n) { return b && n > 9 ? 0 : 0; }' >probe.c
$clang -fsanitize=fuzzer,address,undefined probe.c -o probe 2>probe.err || skip "$clang has no libFuzzer: $(head -1 probe.err)"
seconds=${FATHOM_FUZZ_SECONDS:-20} runs=${FATHOM_FUZZ_RUNS:--1}
all=${FATHOM_FUZZ:-pickle npz csv mtx linqs safetensors recipe journal bench options}

# --- the readers once, instrumented; then one program for each harness
flags="-std=c11 -D_POSIX_C_SOURCE=200809L -g -O1 -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,address,undefined
    -fno-sanitize-recover=all -I$SOURCE_DIR/include -I$SOURCE_DIR/host -I$SOURCE_DIR/cl -I$SOURCE_DIR -I$SOURCE_DIR/tests"
places="-DMODULE_FROM_COMMAND='\"../lib\"' -DMODULE_INSTALLED='\"/lib\"' -DMODULE_PACKAGED='\"/lib\"'" # of modules
libraries="libzip zlib libcjson libcurl libcrypto"
# shellcheck disable=SC2046,SC2086
(
    mkdir -p objects
    for file in "$SOURCE_DIR"/host/{core,data}/*.c "$SOURCE_DIR"/host/sweep/{recipe,recipe_key,recipe_print,recipe_load,run_record,grid}.c \
        "$SOURCE_DIR"/host/options/{options,commands}.c "$SOURCE_DIR"/bench/{bench_read,bench_record}.c "$BUILD_DIR"/embedded/*.c; do
        echo "$file"
    done | xargs -P 2 -I{} sh -c "$clang $(echo $flags) $places $(pkg-config --cflags $libraries) -c {} -o objects/\$(basename {} .c).o"
) || fatal "the readers do not compile under $clang"
# Everything else is linked from the build; the first definition of a function counts.
for name in $all; do
    # shellcheck disable=SC2046,SC2086
    $clang $flags -fsanitize=fuzzer "$SOURCE_DIR/tests/fuzz/fuzz_$name.c" objects/*.o "$BUILD_DIR"/libfathom_cli.a \
        "$BUILD_DIR"/libfathom.a $(pkg-config --libs $libraries openblas) -l:libgomp.so.1 -ldl -lm -o "fuzz_$name" ||
        fatal "fuzz_$name does not build"
    mkdir -p "seeds/$name" "found/$name"
done

# --- seeds: good and broken files of each kind; for csv and mtx the first byte selects the table
corpus=$SOURCE_DIR/tests/corpus
seed() { # KIND PREFIX FILE
    [ -d "seeds/$1" ] || return 0
    { printf '%b' "$2" && case $3 in *.gz) gzip -dcq "$3" 2>/dev/null || true ;; *) cat "$3" ;; esac; } \
        >"seeds/$1/$(echo "$2${3#"$corpus"/}" | tr '/\\' '__')"
}
for file in "$corpus"/good/planetoid-*/ind.tiny.[axgty]* "$corpus"/broken/pickle-*/ind.tiny.[agxy]*; do
    [ ! -f "$file" ] || seed pickle '' "$file"
done
for file in "$corpus"/good/*.npz "$corpus"/broken/*.npz "$corpus"/good/npy/*.npy; do seed npz '' "$file"; done
for file in "$corpus"/good/*/*.csv* "$corpus"/broken/csv-*/*.csv; do
    for which in '\000' '\001' '\002' '\004' '\005' '\006'; do seed csv "$which" "$file"; done
done
for file in "$corpus"/good/mtx/*.mtx* "$corpus"/broken/*.mtx; do
    seed mtx '\000' "$file"
    seed mtx '\001' "$file"
done
for folder in "$corpus"/good/linqs "$corpus"/broken/linqs-*; do
    [ ! -d seeds/linqs ] || [ ! -f "$folder/tiny.cites" ] || {
        cat "$folder/tiny.content" && printf '\377' && cat "$folder/tiny.cites"
    } >"seeds/linqs/${folder##*/}"
done

for kind in pickle npz mtx safetensors recipe journal bench options; do # some declare far more than they hold, or nest deep
    for file in "$SOURCE_DIR/tests/fuzz/seeds/$kind"/*; do seed $kind '' "$file"; done
done
for file in "$SOURCE_DIR"/data/recipes/*.recipe; do seed recipe '' "$file"; done

# --- two at a time; a leak, a crash, 512 MB, a second for one input or an abort of the harness is a finding
export ASAN_OPTIONS=allocator_may_return_null=1:detect_leaks=1 seconds runs
run='"./fuzz_$0" -max_total_time=$seconds -runs=$runs -max_len=4096 -timeout=5 -rss_limit_mb=1024 -artifact_prefix=found/$0/ \
    -print_final_stats=1 -verbosity=0 new/$0 seeds/$0 >"log_$0" 2>&1 || touch "failed_$0"'
# shellcheck disable=SC2086
(cd seeds && mkdir -p $(printf '../new/%s ' $all))
total=0
# shellcheck disable=SC2086
printf '%s\n' $all | xargs -P 2 -n 1 bash -c "$run"
for name in $all; do
    [ ! -e "failed_$name" ] || fail "fuzz_$name found something: $(ls "found/$name") $(tail -40 "log_$name")"
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "log_$name")
    [ "${runs:-0}" -gt 1000 ] || fail "fuzz_$name ran only ${runs:-0} inputs: $(tail -5 "log_$name")"
    echo "fuzz_$name: $runs inputs in $seconds s, no finding"
    total=$((total + runs))
done
tally 1,3 "inputs made by the fuzzers" $total $total $total
