#!/usr/bin/env bash
# unit_layering.sh - includes point downwards, foreign headers stay in their modules, the library neither prints nor exits
# nor allocates outside core/mem.c, and files say what they are. Each rule is also shown a small tree that
# breaks it: a rule that finds nothing there is broken itself.
# labels: asan-skip

# modules_below MODULE: the modules that a file of MODULE may include from.
modules_below() {
    local train="train nn metrics data comm selftest backend core"
    case $1 in
    core) echo core ;;
    comm) echo comm core ;;
    comm) echo comm core ;;
    data) echo data core ;;
    backend) echo backend core ;;
    metrics) echo metrics data comm backend core ;;
    nn) echo nn data comm backend core ;;
    selftest) echo selftest backend core ;;
    train) echo "$train" ;;
    api) echo api "$train" ;;
    sweep) echo sweep "$train" ;;
    report) echo report sweep "$train" ;;
    bench) echo bench report api "$train" ;;
    doctor) echo doctor bench api "$train" ;;
    terminal) echo terminal core ;;
    options) echo options terminal core ;;
    cli) echo cli options terminal doctor bench report sweep api "$train" ;;
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
    local file header module target
    includes "$1" host bench | while read -r file header; do
        module=${file#host/} module=${module%%/*} target=${header%%/*}
        case $header in
        fathom/*) continue ;;
        */*) ;;
        *)  # no folder: a neighbour, or a header shared with the kernels
            [ -e "$1/${file%/*}/$header" ] || [ -e "$1/cl/$header" ] || echo "$file includes $header, which is not beside it"
            continue
            ;;
        esac
        [[ " $(modules_below "$module") " == *" $target "* ]] || echo "$file includes $header, which is above it"
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

rule_opencl_stays_in_its_module() {
    hits "$1" '#[[:space:]]*include[[:space:]]*[<"]([Cc][Ll]/|clblast|CLBlast)' host include cl tests bench |
        grep -vE '^(host/backend/opencl|tests/layers|tests/meter)/|^include/fathom/opencl\.h:' || true
    # The public header may bring OpenCL's types: only its implementation includes it, without them.
    hits "$1" '#[[:space:]]*include[[:space:]]*[<"]fathom/opencl' host bench | grep -v '^host/api/opencl\.c:' || true
    [ ! -e "$1/host/api/opencl.c" ] || grep -q '^#define FATHOM_WITHOUT_CL_H$' "$1/host/api/opencl.c" ||
        echo "host/api/opencl.c includes OpenCL's headers"
}

rule_cblas_stays_in_its_module() {
    hits "$1" '#[[:space:]]*include[[:space:]]*[<"](cblas|openblas)' host include cl tests bench |
        grep -vE '^host/backend/cpu/' || true
}

rule_mpi_and_metis_stay_in_their_modules() {
    hits "$1" '#[[:space:]]*include[[:space:]]*[<"](mpi|metis)\.h' host include cl tests bench |
        grep -vE '^host/(comm/mpi|data/metis)/' || true
}

# But for the end of the child process in which ocl_probe.c asks the drivers.
rule_only_the_command_prints_and_exits() {
    hits "$1" '(^|[^A-Za-z0-9_])((v?printf|puts|putchar|perror|exit|_exit|abort)[[:space:]]*\(|fprintf[[:space:]]*\([[:space:]]*std(out|err))' host bench |
        grep -vE '^host/(cli|options|terminal)/|^host/backend/opencl/ocl_probe\.c:[0-9]+:    _exit\(' || true
}

rule_memory_comes_from_core() {
    hits "$1" '(^|[^A-Za-z0-9_])(malloc|calloc|realloc|aligned_alloc|posix_memalign|strdup|strndup)[[:space:]]*\(' host bench |
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
        [ "$lines" -le 450 ] || echo "$file has $lines lines; split it at 450"
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
breaks includes_point_down bench/a.c '#include "cli/cli.h"'
breaks includes_point_down bench/a.c '#include "terminal/terminal.h"'
breaks opencl_stays_in_its_module host/backend/cpu/a.c '#include <CL/cl.h>'
breaks opencl_stays_in_its_module host/nn/a.h '#include <clblast_c.h>'
breaks opencl_stays_in_its_module host/nn/a.c '#include "fathom/opencl.h"'
breaks opencl_stays_in_its_module host/api/opencl.c '#include "fathom/opencl.h"'
breaks cblas_stays_in_its_module host/nn/a.c '#include <cblas.h>'
breaks mpi_and_metis_stay_in_their_modules host/comm/a.c '#include <mpi.h>'
breaks mpi_and_metis_stay_in_their_modules host/data/a.c '#include <metis.h>'
breaks only_the_command_prints_and_exits host/data/a.c '    printf("x");'
breaks only_the_command_prints_and_exits host/data/a.c '    fprintf(stderr, "x");'
breaks only_the_command_prints_and_exits host/data/a.c '    exit(1);'
breaks only_the_command_prints_and_exits bench/a.c '    puts("x");'
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
breaks files_stay_readable host/a.c "$(yes x | head -n 451)"

bad=0
for rule in $(compgen -A function rule_); do
    found=$("$rule" "$SOURCE_DIR")
    if [ -n "$found" ]; then
        bad=1
        printf '%s:\n%s\n' "${rule#rule_}" "$found"
    fi
done
[ "$bad" = 0 ] || fail "the tree breaks the rules named above"
