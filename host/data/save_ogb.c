/* save_ogb.c - a set as an OGB node-property folder of gzip csv tables, for the benchmark of the readers. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "core/c_locale.h"
#include "core/file.h"
#include "data/internal.h"

#define GZIP_BUFFER_BYTES (1 << 16)

typedef struct gz_table {
    file_writer writer;
    gzFile file; /* on a copy of the writer's descriptor: gzclose closes it */
    char *path;
    char buffer[GZIP_BUFFER_BYTES];
    size_t used;
    bool failed;
} gz_table;

static fathom_status open_gzip(gz_table *t) {
    TRY(file_begin(&t->writer, t->path, false));
    int fd = fcntl(t->writer.fd, F_DUPFD_CLOEXEC, 3);
    t->file = fd >= 0 ? gzdopen(fd, "wb1") : NULL;
    if (t->file)
        return FATHOM_OK;
    if (fd >= 0)
        close(fd);
    file_abort(&t->writer);
    return fail(FATHOM_FAILURE, "%s: cannot be written: %s", t->path, strerror(errno));
}

static fathom_status open_table(gz_table **table, const char *folder, const char *name) {
    gz_table *t;
    *table = NULL;
    TRY(mem_new(&t, 1, 1, sizeof *t, "table"));
    fathom_status status = data_text(&t->path, "%s/%s.csv.gz", folder, name);
    if (status == FATHOM_OK)
        status = open_gzip(t);
    if (status != FATHOM_OK) {
        mem_free(t->path);
        mem_free(t);
        return status;
    }
    *table = t;
    return FATHOM_OK;
}

static void flush(gz_table *t) {
    if (t->used > 0 && gzwrite(t->file, t->buffer, (unsigned)t->used) != (int)t->used)
        t->failed = true;
    t->used = 0;
}

CORE_PRINTF(2, 3) static void put(gz_table *t, const char *format, ...) {
    va_list args;
    if (sizeof t->buffer - t->used < 128)
        flush(t);
    va_start(args, format);
    t->used += (size_t)vsnprintf(t->buffer + t->used, sizeof t->buffer - t->used, format, args);
    va_end(args);
}

static fathom_status close_table(gz_table *t) {
    fathom_status status = FATHOM_OK;
    flush(t);
    if (gzclose(t->file) == Z_OK && !t->failed) {
        status = file_commit(&t->writer);
    } else {
        file_abort(&t->writer);
        status = fail(FATHOM_FAILURE, "%s: cannot be written to its end; is the disk full?", t->path);
    }
    mem_free(t->path);
    mem_free(t);
    return status;
}

static fathom_status save_edges(const data_set *set, const char *folder) {
    gz_table *t;
    TRY(open_table(&t, folder, "edge"));
    for (int32_t u = 0; u < set->graph.nodes; u++)
        for (int64_t e = set->graph.indptr[u]; e < set->graph.indptr[u + 1]; e++)
            if (u < set->graph.indices[e])
                put(t, "%" PRId32 ",%" PRId32 "\n", u, set->graph.indices[e]);
    return close_table(t);
}

static fathom_status save_features(const data_set *set, const char *folder) {
    const data_features *f = &set->features;
    gz_table *t;
    if (f->cols == 0)
        return FATHOM_OK;
    TRY(open_table(&t, folder, "node-feat"));
    locale_t before = c_locale_enter();
    for (int32_t v = 0; v < f->rows; v++) {
        int64_t e = f->dense ? 0 : f->indptr[v];
        for (int32_t c = 0; c < f->cols; c++) {
            bool here = !f->dense && e < f->indptr[v + 1] && f->indices[e] == c;
            float value = f->dense ? f->values[(int64_t)v * f->cols + c] : here ? f->values[e++] : 0.0f;
            put(t, c + 1 < f->cols ? "%.9g," : "%.9g\n", (double)value);
        }
    }
    c_locale_leave(before);
    return close_table(t);
}

static fathom_status save_column(const char *folder, const char *name, const int32_t *values, int64_t count) {
    gz_table *t;
    TRY(open_table(&t, folder, name));
    for (int64_t i = 0; i < count; i++)
        put(t, "%" PRId32 "\n", values[i]);
    return close_table(t);
}

static fathom_status make_folder(const char *path) {
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
        return fail(FATHOM_FAILURE, "%s: cannot be made: %s", path, strerror(errno));
    return FATHOM_OK;
}

static fathom_status save_split(const data_split *split, const char *folder) {
    fathom_status status;
    char *above = NULL, *below = NULL;
    TRY_OUT(data_text(&above, "%s/split", folder));
    TRY_OUT(data_text(&below, "%s/split/fixed", folder));
    TRY_OUT(make_folder(above));
    TRY_OUT(make_folder(below));
    TRY_OUT(save_column(below, "train", split->train, split->train_count));
    TRY_OUT(save_column(below, "valid", split->val, split->val_count));
    TRY_OUT(save_column(below, "test", split->test, split->test_count));
out:
    mem_free(above);
    mem_free(below);
    return status;
}

fathom_status data_save_ogb(const data_set *set, const char *folder) {
    const data_split *split = set->split.name ? &set->split : &set->own_split;
    TRY(make_folder(folder));
    TRY(save_edges(set, folder));
    TRY(save_features(set, folder));
    TRY(save_column(folder, "node-label", set->labels, set->graph.nodes));
    TRY(save_column(folder, "num-node-list", &set->graph.nodes, 1));
    return split->name ? save_split(split, folder) : FATHOM_OK;
}
