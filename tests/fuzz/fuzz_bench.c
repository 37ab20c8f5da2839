/* fuzz_bench.c - the JSON of a benchmark, as `fathom bench compare` reads it. */
#include "bench/bench.h"
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    static struct bench_record record;
    memset(&record, 0, sizeof record);
    if (bench_read_text(&record, (const char *)bytes, count, "fuzz") == FATHOM_OK && record.count < 1)
        abort();
    bench_free(&record);
    return mem_live() != 0 ? abort(), 0 : 0;
}
