/* verify_file.c - verifies files of the catalog by SHA-256: after a download, and whenever they are used from the
 * cache.
 */
#include <string.h>

#include "core/digest.h"
#include "core/file.h"
#include "core/read_limit.h"
#include "data/catalog.h"
#include "data/internal.h"

static fathom_status file_digest(char hex[65], const char *path) {
    uint8_t chunk[8192];
    uint64_t length;
    digest_state state;
    FILE *file;
    TRY(file_open_stream(&file, &length, path));
    digest_begin(&state);
    for (size_t got; (got = fread(chunk, 1, sizeof chunk, file)) > 0;)
        digest_add(&state, chunk, got);
    bool broken = ferror(file) != 0;
    fclose(file);
    digest_end(&state, hex);
    return broken ? fail(FATHOM_DATA, "%s: cannot be read", path) : FATHOM_OK;
}

/* The digest of the content of a .npz, independent of its compression. */
static fathom_status content_digest(char hex[65], const char *path, const char *name) {
    data_builder builder = {0};
    TRY(read_limit_begin());
    fathom_status status = mem_new(&builder.set, 1, 1, sizeof *builder.set, "data set");
    if (status == FATHOM_OK)
        status = mem_strdup(&builder.set->name, name);
    if (status == FATHOM_OK)
        status = mem_strdup(&builder.set->origin, path);
    if (status == FATHOM_OK)
        status = data_read_npz_file(&builder, path);
    if (status == FATHOM_OK)
        status = data_copy_text(&builder.set->name, name);
    if (status == FATHOM_OK)
        status = data_finalize(&builder);
    if (status == FATHOM_OK)
        memcpy(hex, builder.set->sha256, 65);
    data_edges_free(&builder.edges);
    data_free(builder.set);
    return read_limit_end(status, path);
}

fathom_status catalog_check_file(const catalog_file *file, const char *path, const char *set) {
    char hex[65];
    const char *wanted = file->sha256 ? file->sha256 : file->content;
    TRY(file->sha256 ? file_digest(hex, path) : content_digest(hex, path, set));
    if (strcmp(hex, wanted) != 0)
        return fail(FATHOM_DATA, "%s: not the file it should be (SHA-256%s %.16s... instead of %.16s...)", path,
                    file->sha256 ? "" : " of the content", hex, wanted);
    return FATHOM_OK;
}

static fathom_status suggest_new_download(fathom_status status, const char *name) {
    return status == FATHOM_DATA
               ? fail_suffix(status, "; it was changed since it was fetched: fathom data get %s", name)
               : status;
}

fathom_status catalog_check_files(const char *name, const char *folder) {
    int count;
    const catalog_file *files = catalog_files(&count, name);
    for (int i = 0; files && i < count; i++) {
        char *path = NULL;
        if (!files[i].sha256)
            continue;
        TRY(data_text(&path, "%s/%s", folder, files[i].name));
        fathom_status status = catalog_check_file(&files[i], path, name);
        mem_free(path);
        TRY(suggest_new_download(status, name));
    }
    return FATHOM_OK;
}

fathom_status catalog_check_content(const char *name, const char *path, const char *sha256) {
    int count;
    const catalog_file *files = catalog_files(&count, name);
    if (!files || count != 1 || !files[0].content || strcmp(files[0].content, sha256) == 0)
        return FATHOM_OK;
    return fail(FATHOM_DATA,
                "%s: not the file it should be (SHA-256 of the content %.16s... instead of %.16s...); it was changed "
                "since it was fetched: fathom data get %s",
                path, sha256, files[0].content, name);
}
