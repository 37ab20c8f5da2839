#!/usr/bin/env bash
# test_layering.sh - the arrows of the house point down, foreign headers stay in
# their rooms, the library neither prints nor exits nor allocates behind our
# back, and files say what they are. Each rule is also shown a small tree that
# breaks it: a rule that finds nothing there is broken itself.
# labels: asan-skip

# rooms_below ROOM: the rooms that a file of ROOM may include from.
rooms_below() {
    case $1 in
    core) echo core ;;
    data) echo data core ;;
    backend) echo backend core ;;
    metrics) echo metrics data backend core ;;
    nn) echo nn data backend core ;;
    selftest) echo selftest backend core ;;
    train) echo train nn metrics data selftest backend core ;;
    lab) echo lab train nn metrics data selftest backend core ;;
    api) echo api train nn metrics data selftest backend core ;;
    cli) echo cli api lab train nn metrics data selftest backend core ;;
    *) echo "$1" ;;
    esac
}

# includes ROOT FOLDER...: "file header" for each quoted include below the folders.
includes() {
    local root=$1
    shift
    (cd "$root" && find "$@" -name '*.[ch]' -print0 2>/dev/null |
        xargs -0 -r grep -HE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' |
        sed -E 's/^([^:]*):[^"]*"([^"]*)".*/\1 \2/' || true)
}

rule_includes_point_down() {
    local file header room target
    includes "$1" host | while read -r file header; do
        room=${file#host/} room=${room%%/*} target=${header%%/*}
        case $header in
        fathom/*) continue ;;
        */*) ;;
        *)  # no folder: a neighbour, or a header shared with the kernels
            [ -e "$1/${file%/*}/$header" ] || [ -e "$1/cl/$header" ] || echo "$file includes $header, which is not beside it"
            continue
            ;;
        esac
        [[ " $(rooms_below "$room") " == *" $target "* ]] || echo "$file includes $header, which is above it"
        case $file:$header in
        host/backend/cpu/*:backend/opencl/* | host/backend/opencl/*:backend/cpu/*)
            echo "$file includes $header: the back ends do not know each other" ;;
        host/backend/*) ;;
        *:backend/*/*) echo "$file includes $header: outside the back end only backend/*.h is known" ;;
        esac
    done
}

# hits ROOT PATTERN FOLDER...: lines of C files below the folders that match, comments left out.
hits() {
    local root=$1 pattern=$2
    shift 2
    (cd "$root" && find "$@" \( -name '*.c' -o -name '*.h' -o -name '*.cl' \) -print0 2>/dev/null) |
        (cd "$root" && xargs -0 -r grep -HnE "$pattern" | grep -vE '^[^:]*:[0-9]+:[[:space:]]*(/?\*|//)' || true)
}

rule_opencl_stays_in_its_room() {
    hits "$1" '#[[:space:]]*include[[:space:]]*[<"]([Cc][Ll]/|clblast|CLBlast)' host include cl tests bench |
        grep -vE '^(host/backend/opencl|tests/layers)/' || true
}

rule_cblas_stays_in_its_room() {
    hits "$1" '#[[:space:]]*include[[:space:]]*[<"](cblas|openblas)' host include cl tests bench |
        grep -vE '^host/backend/cpu/' || true
}

# But for the end of the child process in which ocl_probe.c asks the drivers.
rule_only_the_command_prints_and_exits() {
    hits "$1" '(^|[^A-Za-z0-9_])((v?printf|puts|putchar|perror|exit|_exit|abort)[[:space:]]*\(|fprintf[[:space:]]*\([[:space:]]*std(out|err))' host |
        grep -vE '^host/cli/|^host/backend/opencl/ocl_probe\.c:[0-9]+:    _exit\(' || true
}

# The command goes through fathom.h for what it offers. What a file of host/cli may take from the rooms behind it, and
# why (core, the common tools, is free):
command_may_include() {
    case $1:$2 in
    device.h:api/handles.h) ;;                           # opens with what `tune` found, and says when kernels compile
    training.h:train/train.h | bench_epoch.c:train/*) ;; # the record of a run in JSON; epochs without their metrics
    bench*:backend/* | bench*:data/* | bench*:metrics/* | bench*:selftest/*) ;; # single operations, timed
    selftest.*:backend/* | selftest.c:selftest/*) ;;        # single operations against their oracle
    tune.h:backend/* | cmd_tune.c:selftest/*) ;;            # kernels and work-groups, timed
    cmd_doctor.c:backend/backend.h) ;;                   # which libraries the back ends have found
    doctor_report.c:selftest/* | doctor_report.c:nn/nn.h) ;; # self-test and memory plans of devices that are not opened
    data_rows.h:data/data.h | cmd_data.c:data/data.h) ;; # lists and fetches sets, makes synthetic ones, counts components
    cmd_data_info.c:nn/nn.h) ;;                          # the memory plan of a set without a split
    cmd_metrics.c:data/npz.h) ;;                         # labels from a .npy of any integer type
    cmd_sweep.c:lab/* | cmd_report.c:lab/* | complete.c:lab/*) ;; # the lab is beside the library
    complete.c:backend/backend.h | complete.c:data/data.h) ;; # names of operations and of sets
    *) return 1 ;;
    esac
}
# Files that call what fathom.h offers also by its inner name, for the reasons above.
inner_callers='device|bench_[a-z]+|cmd_bench|selftest|cmd_selftest|cmd_tune|doctor_report|cmd_data|cmd_data_info|cmd_data_make'
inner_calls='(be_(open|open_row|close|list_devices|list_free|find|device_note)|data_(load|save|free|arrays|build)|train_run|metrics_compute|nn_plan_check)'

rule_the_command_uses_its_own_door() {
    local file header name
    includes "$1" host/cli | while read -r file header; do
        name=${file#host/cli/}
        case $header in cli/* | core/* | fathom/*) continue ;; esac
        command_may_include "$name" "$header" || echo "$file includes $header; fathom.h, or a reason in test_layering.sh"
    done
    hits "$1" "(^|[^A-Za-z0-9_])$inner_calls[[:space:]]*\\(" host/cli | grep -vE "^host/cli/($inner_callers)\\.c:" || true
}

rule_memory_comes_from_core() {
    hits "$1" '(^|[^A-Za-z0-9_])(malloc|calloc|realloc|aligned_alloc|posix_memalign|strdup|strndup)[[:space:]]*\(' host |
        grep -vE '^host/core/mem\.c:' || true
}

# Kernels and helpers are all the functions of cl/, and a helper is in line (HELPER in philox.h says why): it returns
# no struct and has no restrict, which LLVM turns into an intrinsic that Oclgrind does not know.
rule_helpers_of_kernels_are_inline() {
    local structs
    structs=$(cd "$1" && cat cl/*.cl cl/*.h 2>/dev/null | sed -nE 's/^\} ([a-z_0-9]+);$/\1/p' | paste -sd '|')
    hits "$1" '^[A-Za-z_][A-Za-z_0-9 *()]*\(' cl | grep -vE '^[^:]*:[0-9]+:(__kernel void|HELPER) ' || true
    hits "$1" "^HELPER[[:space:]]+(${structs:-none})[[:space:]]+[a-z_0-9]+\\(" cl
    hits "$1" '(^|[^A-Za-z0-9])(__)?restrict([^A-Za-z0-9]|$)' cl
    [ ! -e "$1/cl/philox.h" ] || hits "$1" '^#define HELPER static inline __attribute__\(\(always_inline\)\)$' cl |
        grep -q . || echo "cl/philox.h does not define HELPER as always_inline"
}

# files ROOT: the text files of the tree, as git knows them when it is there.
files() {
    (cd "$1" && { git ls-files -co --exclude-standard 2>/dev/null || find . -type f -not -path './build*' -not -path './.git/*' | sed 's#^\./##'; }) |
        grep -vE '\.(npz|npy|bin|gz|zip|png|safetensors)$|^data/' || true
}

rule_no_path_of_one_machine() {
    local slash=/
    files "$1" | (cd "$1" && tr '\n' '\0' |
        xargs -0 -r grep -HnE "(^|[^A-Za-z0-9_.}])$slash(home|root|work|Users)$slash" -- || true)
}

rule_each_file_says_what_it_is() {
    local file start
    files "$1" | while read -r file; do
        [ -s "$1/$file" ] || continue
        case $file in
        *.c | *.h | *.cl) start='^/\*' ;;
        *.sh | *.cmake | *CMakeLists.txt | quickstart | .ci/run) start='^#' ;;
        *) continue ;;
        esac
        grep -v -m 1 '^#!' "$1/$file" | grep -qE "$start" || echo "$file has no head comment"
    done
}

rule_files_stay_readable() {
    local file lines
    files "$1" | grep -E '\.(c|h|cl|sh|cmake)$' | while read -r file; do
        lines=$(wc -l <"$1/$file")
        [ "$lines" -le 500 ] || echo "$file has $lines lines; cut it at 500"
    done
}

# breaks RULE PATH CONTENT: a tree with that one file must be reported.
breaks() {
    local tree=tree.$1.$RANDOM
    mkdir -p "$tree/$(dirname "$2")"
    printf '%b\n' "$3" >"$tree/$2"
    (cd "$tree" && git init -q . 2>/dev/null) || true
    [ -n "$("rule_$1" "$PWD/$tree")" ] || fail "rule $1 does not see: $2: $3"
    rm -rf "$tree"
}

breaks includes_point_down host/core/a.c '#include "backend/backend.h"'
breaks includes_point_down host/nn/a.c '#include "metrics/accuracy.h"'
breaks includes_point_down host/nn/a.c '#include "backend/cpu/cpu.h"'
breaks includes_point_down host/backend/cpu/a.c '#include "backend/opencl/ocl.h"'
breaks includes_point_down host/nn/a.c '#  include "selftest/cases.h"'
breaks includes_point_down host/data/a.c '#include "nowhere.h"'
breaks opencl_stays_in_its_room host/backend/cpu/a.c '#include <CL/cl.h>'
breaks opencl_stays_in_its_room host/nn/a.h '#include <clblast_c.h>'
breaks cblas_stays_in_its_room host/nn/a.c '#include <cblas.h>'
breaks only_the_command_prints_and_exits host/data/a.c '    printf("x");'
breaks only_the_command_prints_and_exits host/data/a.c '    fprintf(stderr, "x");'
breaks only_the_command_prints_and_exits host/data/a.c '    exit(1);'
breaks the_command_uses_its_own_door host/cli/cmd_eval.c '#include "data/data.h"'
breaks the_command_uses_its_own_door host/cli/cmd_eval.c '    TRY(data_load(&set, name, &options));'
breaks memory_comes_from_core host/data/a.c '    p = malloc(3);'
breaks helpers_of_kernels_are_inline cl/a.cl 'static inline float half_of(float x) { return x / 2; }'
breaks helpers_of_kernels_are_inline cl/a.cl 'float half_of(float x) { return x / 2; }'
breaks helpers_of_kernels_are_inline cl/a.cl 'typedef struct two {\n    float a, b;\n} two;\nHELPER two both(float x) {'
breaks helpers_of_kernels_are_inline cl/a.cl 'HELPER float half_of(__global const float *restrict x) {'
breaks helpers_of_kernels_are_inline cl/a.cl 'HELPER void half_of(uint n,\n        __global float *__restrict x) {'
breaks helpers_of_kernels_are_inline cl/philox.h '#define HELPER static inline'
breaks no_path_of_one_machine README.md "see /ho""me/me/x"
breaks each_file_says_what_it_is host/a.c 'int a;'
breaks each_file_says_what_it_is tests/a.sh '#!/bin/sh\necho'
breaks files_stay_readable host/a.c "$(yes x | head -n 501)"

bad=0
for rule in $(compgen -A function rule_); do
    found=$("$rule" "$SOURCE_DIR")
    if [ -n "$found" ]; then
        bad=1
        printf '%s:\n%s\n' "${rule#rule_}" "$found"
    fi
done
[ "$bad" = 0 ] || fail "the tree breaks the rules named above"
