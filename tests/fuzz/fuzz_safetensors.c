/* fuzz_safetensors.c - checkpoints: the header, every tensor's values, the metadata. */
#include "core/safetensors.h"
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    static const char *const keys[] = {"model", "norm", "layers", "format", "run"};
    st_file *file = NULL;
    if (st_parse(&file, bytes, count, "fuzz") == FATHOM_OK) {
        for (size_t i = 0; i < st_count(file); i++) {
            const st_tensor *t = st_at(file, i);
            float *values = NULL;
            if (st_find(file, t->name) != t)
                abort();
            if (t->count <= (int64_t)count && mem_new(&values, t->count, 1, sizeof *values, "fuzz") == FATHOM_OK)
                (void)st_floats(values, t);
            mem_free(values);
        }
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
            if (st_meta(file, keys[i]) && strlen(st_meta(file, keys[i])) > count)
                abort();
    }
    st_free(file);
    return mem_live() != 0 ? abort(), 0 : 0;
}
