#!/usr/bin/env bash
# fault_sanitizers.sh - the sanitizers of this build work: they report small programs with
# one seeded bug each, and not a correct one.
# labels: threads sanitizer
command=$(sed -nE 's/^ *"command": "(.*host\/core\/mem\.c)",?$/\1/p' "$BUILD_DIR/compile_commands.json")
compiler=${command%% *}
flags=$(grep -oE -- '-f(no-)?sanitize[^ ]*|-f(no-)?omit[^ ]*' <<<"$command" | sort -u | tr '\n' ' ' || true)
[ -n "$flags" ] || skip "this build has no sanitizer"

# program NAME <<text: compiles it with the flags of this build.
program() {
    cat >"$1.c"
    # shellcheck disable=SC2086
    "$compiler" -std=c11 -g -O1 $flags -fopenmp "$1.c" -o "$1" || fatal "$1.c does not compile"
}

# caught NAME PATTERN: the program must fail with a report that matches.
caught() {
    local status=0
    "./$1" >out 2>&1 || status=$?
    [ "$status" != 0 ] || fail "$1 ended well: its bug was not detected"
    grep -qE "$2" out || fail "$1 was stopped for another reason: $(cat out)"
}

program clean <<'C'
#include <stdlib.h>
int main(void) { /* two parallel sweeps with a barrier in between, summed in block order */
    enum { N = 4096 };
    float *x = malloc(N * sizeof *x), *y = malloc(N * sizeof *y), sum = 0;
#pragma omp parallel num_threads(4)
    {
#pragma omp for
        for (int i = 0; i < N; i++)
            x[i] = (float)i;
#pragma omp for
        for (int i = 0; i < N; i++)
            y[i] = x[N - 1 - i];
    }
    for (int i = 0; i < N; i++)
        sum += y[i];
    free(x);
    free(y);
    return sum > 0 ? 0 : 1;
}
C
./clean >out 2>&1 || fail "a clean program was reported: $(cat out)"

case $flags in
*address*)
    program overflow <<<'#include <string.h>
int main(int n, char **v) { (void)v; char a[8] = "", b[16] = ""; memcpy(a, b, 8 + (size_t)n); return a[n]; }'
    caught overflow stack-buffer-overflow
    program freed <<<'#include <stdlib.h>
int main(int n, char **v) { (void)v; char *volatile p = calloc(8, 1); free(p); return p[n]; }'
    caught freed heap-use-after-free
    program leak <<<'#include <stdlib.h>
static void *volatile kept; int main(void) { kept = malloc(77); kept = 0; return 0; }'
    caught leak '77 byte'
    program undefined <<<'int main(int n, char **v) { (void)v; int big = 2147483647; return big + n == 0; }'
    caught undefined 'signed integer overflow'
    ;;
*thread*)
    program race <<<'int main(void) { int sum = 0;
#pragma omp parallel for num_threads(4)
for (int i = 0; i < 10000; i++) sum += i;
return sum == 1; }'
    caught race 'data race'
    ;;
*) fail "unknown sanitizer: $flags" ;;
esac
