/* run_dir.c - see run_dir.h. */
#include "train/run_dir.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/file.h"
#include "core/json.h"
#include "core/mem.h"

const char *run_dir_path(char path[RUN_DIR_PATH_MAX], const run_dir *dir, const char *name) {
    snprintf(path, RUN_DIR_PATH_MAX, "%s/%s", dir->path, name);
    return path;
}

/* mkdir -p */
static fathom_status make_dirs(const char *path) {
    char part[RUN_DIR_PATH_MAX];
    size_t length = strlen(path);
    if (length == 0 || length > RUN_DIR_PATH_MAX - 64)
        return fail(FATHOM_USAGE, "--out '%s': not a path that can be used", path);
    for (size_t i = 1; i <= length; i++) {
        if (path[i] != '/' && path[i] != '\0')
            continue;
        memcpy(part, path, i);
        part[i] = '\0';
        if (mkdir(part, 0777) != 0 && errno != EEXIST)
            return fail(FATHOM_FAILURE, "--out %s: %s cannot be made: %s", path, part, strerror(errno));
    }
    return FATHOM_OK;
}

/* A process killed before its first record may leave an empty epochs.jsonl and partly written files. */
static bool is_leftover(const char *dir, const char *name) {
    char path[RUN_DIR_PATH_MAX];
    struct stat info;
    size_t length = strlen(name);
    if (length > 5 && strcmp(name + length - 5, ".part") == 0)
        return true;
    snprintf(path, sizeof path, "%.*s/%s", RUN_DIR_PATH_MAX - 300, dir, name);
    return strcmp(name, "epochs.jsonl") == 0 && stat(path, &info) == 0 && info.st_size == 0;
}

static fathom_status list_files(const char *path, bool *empty, bool *is_run, bool *has_state) {
    DIR *dir = opendir(path);
    struct dirent *entry;
    if (!dir)
        return fail(FATHOM_USAGE, "--out %s: cannot be opened as a folder: %s", path, strerror(errno));
    *empty = true;
    *is_run = *has_state = false;
    while ((entry = readdir(dir)) != NULL) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        *empty = *empty && is_leftover(path, entry->d_name);
        *is_run |= strcmp(entry->d_name, "run.json") == 0;
        *has_state |= strcmp(entry->d_name, "state.safetensors") == 0;
    }
    closedir(dir);
    return FATHOM_OK;
}

/* The kernel releases the lock when the process ends. Retries if the file was unlinked between fopen and flock: a lock
 * on an unlinked file excludes no other process. */
static fathom_status lock_epochs(run_dir *dir) {
    char path[RUN_DIR_PATH_MAX];
    struct stat opened, named;
    run_dir_path(path, dir, "epochs.jsonl");
    for (;;) {
        FILE *file = fopen(path, "a+");
        if (!file)
            return fail(FATHOM_FAILURE, "%s: cannot be written: %s", path, strerror(errno));
        if (fstat(fileno(file), &opened) == 0 && !S_ISREG(opened.st_mode)) {
            fclose(file);
            return fail(FATHOM_DATA, "%s: is no regular file, a file is wanted", path);
        }
        if (flock(fileno(file), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
            fclose(file);
            return fail(FATHOM_USAGE, "--out %s: another process is writing to this run", dir->path);
        }
        if (fstat(fileno(file), &opened) == 0 && stat(path, &named) == 0 && opened.st_ino == named.st_ino) {
            dir->epochs = file;
            return FATHOM_OK;
        }
        fclose(file);
    }
}

static fathom_status fail_no_run(const char *path) {
    return fail(FATHOM_USAGE, "--out %s: there is no run to resume; leave --resume out to start one there", path);
}

fathom_status run_dir_need_run(const char *path) {
    char record[RUN_DIR_PATH_MAX];
    if (!path)
        return fail(FATHOM_USAGE, "--resume needs --out DIR, the folder of the run to continue");
    int length = snprintf(record, sizeof record, "%s/run.json", path);
    return length < (int)sizeof record && access(record, F_OK) == 0 ? FATHOM_OK : fail_no_run(path);
}

/* A new run needs an empty directory, a resumed one a record. */
static fathom_status check_contents(run_dir *dir, bool resume) {
    bool empty = true, is_run = false;
    TRY(list_files(dir->path, &empty, &is_run, &dir->has_state));
    if (!empty && !resume)
        return fail(FATHOM_USAGE, "--out %s: the folder is not empty; take another one%s", dir->path,
                    is_run ? ", or continue its run with --resume" : "");
    if (resume && !is_run)
        return fail_no_run(dir->path);
    dir->has_record = is_run;
    return FATHOM_OK;
}

fathom_status run_dir_open(run_dir *dir, const char *path, bool resume) {
    *dir = (run_dir){.path = path};
    if (resume)
        TRY(run_dir_need_run(path));
    if (!path)
        return FATHOM_OK;
    TRY(make_dirs(path));
    TRY(check_contents(dir, resume));
    TRY(lock_epochs(dir));
    return check_contents(dir, resume); /* again: another process may have written before the lock was taken */
}

/* Reads the next line: a whole JSON object of this epoch? */
static bool read_epoch_line(FILE *file, int64_t epoch) {
    char head[40];
    int c, before = 0;
    snprintf(head, sizeof head, "{\"epoch\":%" PRId64 ",", epoch);
    for (const char *h = head; *h; h++)
        if (getc(file) != *h)
            return false;
    for (; (c = getc(file)) != EOF; before = c)
        if (c == '\n')
            return before == '}';
    return false;
}

fathom_status run_dir_truncate_epochs(run_dir *dir, int64_t keep) {
    char path[RUN_DIR_PATH_MAX];
    if (!dir->path)
        return FATHOM_OK;
    run_dir_path(path, dir, "epochs.jsonl");
    rewind(dir->epochs);
    for (int64_t epoch = 1; epoch <= keep; epoch++)
        if (!read_epoch_line(dir->epochs, epoch))
            return fail(FATHOM_DATA,
                        "%s: line %" PRId64 " is not that of epoch %" PRId64
                        ", but the state beside it is of epoch %" PRId64
                        "; restore the file, or train again with another --out",
                        path, epoch, epoch, keep);
    long end = ftell(dir->epochs);
    if (end < 0 || fflush(dir->epochs) != 0 || ftruncate(fileno(dir->epochs), end) != 0)
        return fail(FATHOM_FAILURE, "%s: cannot be cut to %" PRId64 " lines: %s", path, keep, strerror(errno));
    return fseek(dir->epochs, 0, SEEK_END) == 0 ? FATHOM_OK : fail(FATHOM_FAILURE, "%s: cannot be written", path);
}

/* A JSON number, or null for what is not finite. */
static const char *number_text(char text[32], double value, const char *format) {
    if (isfinite(value))
        snprintf(text, 32, format, value);
    else
        snprintf(text, 32, "null");
    return text;
}

/* ,"name":[value of layer 1, ...] with the members of metrics_values that lie at `offset`. */
static void write_list(FILE *file, const char *name, const char *suffix, const metrics_layers *layers, size_t offset) {
    char text[32];
    double value;
    fprintf(file, ",\"%s%s\":[", name, suffix);
    for (int64_t k = 0; k < metrics_layers_count(layers); k++) {
        memcpy(&value, (const char *)metrics_layers_at(layers, k) + offset, sizeof value);
        fprintf(file, "%s%s", k ? "," : "", number_text(text, value, "%.9g"));
    }
    fprintf(file, "]");
}

/* The group distances have closed forms: no errors. */
static void write_layers(FILE *file, const metrics_layers *layers) {
    fprintf(file, ",\"layers\":{\"sampled\":%" PRId64, metrics_layers_sampled(layers));
#define X(name) write_list(file, #name, "", layers, offsetof(metrics_values, name));
    METRICS_LIST(X)
#undef X
    write_list(file, "instance_information_gain", "_error", layers,
               offsetof(metrics_values, instance_information_gain_error));
    write_list(file, "mean_average_distance", "_error", layers, offsetof(metrics_values, mean_average_distance_error));
    fprintf(file, "}");
}

fathom_status run_dir_add_epoch(run_dir *dir, const train_epoch *e, const metrics_layers *layers) {
    char n[5][32];
    if (!dir->path)
        return FATHOM_OK;
    fprintf(dir->epochs, "{\"epoch\":%" PRId64 ",\"loss\":%s,\"train_acc\":%s,\"val_acc\":%s,\"test_acc\":%s,\"ms\":%s",
            e->epoch, number_text(n[0], e->loss, "%.9g"), number_text(n[1], e->accuracy[NN_TRAIN], "%.9g"),
            number_text(n[2], e->accuracy[NN_VAL], "%.9g"), number_text(n[3], e->accuracy[NN_TEST], "%.9g"),
            number_text(n[4], e->ms, "%.4f"));
    if (layers)
        write_layers(dir->epochs, layers);
    return fprintf(dir->epochs, "}\n") > 0 && !ferror(dir->epochs)
               ? FATHOM_OK
               : fail(FATHOM_FAILURE, "%s/epochs.jsonl: cannot be written: %s", dir->path, strerror(errno));
}

fathom_status run_dir_sync(run_dir *dir) {
    if (!dir->epochs || (fflush(dir->epochs) == 0 && fsync(fileno(dir->epochs)) == 0))
        return FATHOM_OK;
    return fail(FATHOM_FAILURE, "%s/epochs.jsonl: cannot be written: %s", dir->path, strerror(errno));
}

fathom_status run_dir_write_record(run_dir *dir, const train_config *config, const data_set *set, const be_info *info,
                                   const train_result *result) {
    struct json *doc = NULL;
    char path[RUN_DIR_PATH_MAX], *text = NULL;
    fathom_status status;
    if (!dir->path)
        return FATHOM_OK;
    TRY_OUT(json_new(&doc));
    train_json(doc, config, set, info, result);
    TRY_OUT(json_print(doc, &text));
    file_piece piece = {text, strlen(text)};
    TRY_OUT(file_replace(run_dir_path(path, dir, "run.json"), &piece, 1));
    dir->has_record = true;
out:
    json_free(doc);
    mem_free(text);
    return status;
}

void run_dir_close(run_dir *dir) {
    char path[RUN_DIR_PATH_MAX];
    struct stat info;
    if (!dir->epochs)
        return;
    if (!dir->has_record && fstat(fileno(dir->epochs), &info) == 0 && info.st_size == 0)
        unlink(run_dir_path(path, dir, "epochs.jsonl"));
    fclose(dir->epochs);
    dir->epochs = NULL;
}
