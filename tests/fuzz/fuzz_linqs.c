/* fuzz_linqs.c - content and cites in one input, cut at the first 0xff. */
#include <string.h>

#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    const uint8_t *cut = count ? memchr(bytes, 0xff, count) : NULL;
    size_t first = cut ? (size_t)(cut - bytes) : count, second = cut ? count - first - 1 : 0;
    data_lines *content = NULL, *cites = NULL;
    data_draft draft = fuzz_draft();
    fathom_status status = data_lines_open_bytes(&content, "content", bytes, first);
    if (status == FATHOM_OK)
        status = data_lines_open_bytes(&cites, "cites", bytes + count - second, second);
    if (status == FATHOM_OK)
        status = data_read_linqs_lines(&draft, content, cites);
    data_lines_close(content);
    data_lines_close(cites);
    fuzz_end(&draft, status);
    return 0;
}
