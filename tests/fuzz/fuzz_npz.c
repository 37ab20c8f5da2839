/* fuzz_npz.c - .npy headers and arrays, and .npz data sets; the first byte chooses. */
#include "core/npy.h"
#include "fuzz/fuzz.h"

static void one_array(const uint8_t *bytes, size_t count) {
    npy_memory memory = {bytes, count};
    npy_source source = npy_from_memory(&memory);
    npy_array array;
    if (npy_read_header(&array, &source) != FATHOM_OK)
        return;
    size_t bytes_left = source.left;
    float *floats = NULL;
    int64_t *numbers = NULL;
    if (mem_new(&floats, array.count, 1, sizeof *floats, "fuzz") == FATHOM_OK)
        (void)npy_read_float(floats, &source, &array);
    memory = (npy_memory){bytes + count - bytes_left, bytes_left};
    source = npy_from_memory(&memory);
    if (mem_new(&numbers, array.count, 1, sizeof *numbers, "fuzz") == FATHOM_OK)
        (void)npy_read_int64(numbers, &source, &array, -5, 1000);
    mem_free(floats);
    mem_free(numbers);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    if (count > 0 && bytes[0] == 0x93) {
        if (read_limit_begin() == FATHOM_OK) {
            read_limit_add(count);
            one_array(bytes, count);
            (void)read_limit_end(FATHOM_OK, "fuzz");
        }
        return mem_live() != 0 ? abort(), 0 : 0;
    }
    data_builder builder = fuzz_builder();
    fuzz_end(&builder, data_read_npz_bytes(&builder, "fuzz", bytes, count));
    return 0;
}
