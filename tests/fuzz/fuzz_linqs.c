/* fuzz_linqs.c - content and cites in one input, cut at the first 0xff. */
#include <string.h>

#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    const uint8_t *cut = count ? memchr(bytes, 0xff, count) : NULL;
    size_t first = cut ? (size_t)(cut - bytes) : count, second = cut ? count - first - 1 : 0;
    line_reader *content = NULL, *cites = NULL;
    data_builder builder = fuzz_builder();
    fathom_status status = line_reader_open_bytes(&content, "content", bytes, first);
    if (status == FATHOM_OK)
        status = line_reader_open_bytes(&cites, "cites", bytes + count - second, second);
    if (status == FATHOM_OK)
        status = data_read_linqs_lines(&builder, content, cites);
    line_reader_close(content);
    line_reader_close(cites);
    fuzz_end(&builder, status);
    return 0;
}
