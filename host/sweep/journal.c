/* journal.c - reads and appends the journal of a sweep (journal.h). */
#include "sweep/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/file.h"
#include "core/mem.h"

#define JOURNAL "journal.jsonl"
#define FAILURES "failures.jsonl"
#define BYTES_MAX (UINT64_C(1) << 32)

fathom_status sweep_join_path(char path[SWEEP_PATH_MAX], const char *folder, const char *name) {
    int length = snprintf(path, SWEEP_PATH_MAX, "%s/%s", folder, name);
    if (length < 0 || length >= SWEEP_PATH_MAX)
        return fail(FATHOM_DATA, "%.80s.../%s: the path is too long", folder, name);
    return FATHOM_OK;
}

fathom_status journal_path(char path[SWEEP_PATH_MAX], const sweep_journal *journal, const char *name) {
    return sweep_join_path(path, journal->folder, name);
}

fathom_status sweep_make_dir(const char *path) {
    char part[SWEEP_PATH_MAX];
    if (strlen(path) >= sizeof part)
        return fail(FATHOM_DATA, "%.80s...: the path is too long", path);
    for (size_t i = 1; i <= strlen(path); i++) {
        if (path[i] != '/' && path[i] != '\0')
            continue;
        memcpy(part, path, i);
        part[i] = '\0';
        if (mkdir(part, 0777) != 0 && errno != EEXIST)
            return fail(FATHOM_DATA, "%s: the folder cannot be made: %s", part, strerror(errno));
    }
    struct stat info;
    if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode))
        return fail(FATHOM_DATA, "%s: is not a folder", path);
    return FATHOM_OK;
}

/* ---- records in memory ---- */

static fathom_status push(run_record **records, int64_t *count, int64_t *capacity, const run_record *record) {
    if (*count == *capacity) {
        int64_t larger = *capacity ? *capacity * 2 : 64;
        TRY(mem_grow(records, *capacity, larger, sizeof **records, "records of a journal"));
        *capacity = larger;
    }
    (*records)[(*count)++] = *record;
    return FATHOM_OK;
}

/* The value of a cell's id in `strings`: n + 1 for records[n], -n - 1 for failed[n], 0 for neither. */
static int64_t position_of(const sweep_journal *journal, const char *cell) {
    const int64_t *value = intern_value(&journal->strings, cell);
    return value ? *value : 0;
}

const run_record *journal_find(const sweep_journal *journal, const char *cell) {
    int64_t position = position_of(journal, cell);
    return position > 0 ? &journal->records[position - 1] : NULL;
}

const run_record *journal_find_failure(const sweep_journal *journal, const char *cell) {
    int64_t position = position_of(journal, cell);
    return position < 0 ? &journal->failed[-position - 1] : NULL;
}

/* The strings of `record` are in journal->strings. A cell that has finished keeps its first record. */
static fathom_status store_record(sweep_journal *journal, const run_record *record, bool failure) {
    int64_t *position = intern_value(&journal->strings, record->cell);
    if (*position > 0)
        return FATHOM_OK;
    if (!failure) {
        TRY(push(&journal->records, &journal->count, &journal->capacity, record));
        *position = journal->count;
    } else if (*position < 0) {
        journal->failed[-*position - 1] = *record;
    } else {
        TRY(push(&journal->failed, &journal->failed_count, &journal->failed_capacity, record));
        *position = -journal->failed_count;
    }
    return FATHOM_OK;
}

/* ---- reading ---- */

/* What a file of records ends with. */
typedef struct file_end {
    size_t whole;    /* bytes up to the end of the last complete record */
    bool cut;        /* followed by a truncated record */
    bool no_newline; /* the last record is complete but has no newline */
} file_end;

/* Whether it is the beginning of a record, or zeros, which a file system may leave there after a power failure. */
static bool is_truncated_record(const char *tail, size_t count) {
    static const char head[] = "{\"cell\":";
    size_t zeros = 0;
    while (zeros < count && tail[zeros] == '\0')
        zeros++;
    return zeros == count || memcmp(tail, head, count < sizeof head - 1 ? count : sizeof head - 1) == 0;
}

static fathom_status read_line(sweep_journal *journal, const char *line, size_t count, const char *where,
                               bool failures) {
    run_record record;
    TRY(run_record_read(&record, &journal->strings, line, count, where));
    return store_record(journal, &record, failures);
}

static fathom_status read_tail(sweep_journal *journal, file_end *end, const char *tail, size_t count, const char *where,
                               bool failures) {
    if (count == 0)
        return FATHOM_OK;
    fathom_status status = read_line(journal, tail, count, where, failures);
    if (status == FATHOM_MEMORY)
        return status;
    if (status == FATHOM_OK) {
        end->whole += count;
        end->no_newline = true;
        return FATHOM_OK;
    }
    if (!is_truncated_record(tail, count))
        return fail(FATHOM_DATA, "%s: not a record of a sweep; remove the line, or use another folder", where);
    end->cut = journal->cut = true;
    return FATHOM_OK;
}

static fathom_status read_records(sweep_journal *journal, file_end *end, const char *path, bool failures) {
    uint8_t *bytes = NULL;
    size_t count = 0;
    fathom_status status = FATHOM_OK;
    char where[SWEEP_PATH_MAX + 32];
    *end = (file_end){0};
    if (access(path, F_OK) != 0)
        return FATHOM_OK;
    TRY(file_load(&bytes, &count, path, BYTES_MAX));
    const char *line = (const char *)bytes;
    for (int64_t number = 1;; number++) {
        snprintf(where, sizeof where, "%s, line %lld", path, (long long)number);
        const char *newline = memchr(line, '\n', count - end->whole);
        if (!newline)
            break;
        TRY_OUT(read_line(journal, line, (size_t)(newline - line), where, failures));
        line = newline + 1;
        end->whole = (size_t)(line - (const char *)bytes);
    }
    TRY_OUT(read_tail(journal, end, line, count - end->whole, where, failures));
out:
    mem_free(bytes);
    return status;
}

static fathom_status init(sweep_journal *journal, const char *folder) {
    *journal = JOURNAL_CLOSED;
    if (strlen(folder) >= sizeof journal->folder - 64)
        return fail(FATHOM_DATA, "%.80s...: the path is too long", folder);
    strcpy(journal->folder, folder);
    return FATHOM_OK;
}

fathom_status journal_read(sweep_journal *journal, const char *folder) {
    char path[SWEEP_PATH_MAX];
    file_end end;
    fathom_status status;
    TRY(init(journal, folder));
    TRY_OUT(journal_path(path, journal, JOURNAL));
    TRY_OUT(read_records(journal, &end, path, false));
    TRY_OUT(journal_path(path, journal, FAILURES));
    TRY_OUT(read_records(journal, &end, path, true));
    return FATHOM_OK;
out:
    journal_close(journal);
    return status;
}

/* A file of its own: closing any descriptor of a file releases the POSIX locks the process holds on it. The kernel
 * releases the lock when the process ends. */
static fathom_status take_lock(sweep_journal *journal) {
    char path[SWEEP_PATH_MAX];
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    TRY(journal_path(path, journal, "sweep.lock"));
    journal->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (journal->lock < 0)
        return fail(FATHOM_DATA, "%s: cannot be opened: %s", path, strerror(errno));
    if (fcntl(journal->lock, F_SETLK, &lock) != 0)
        return fail(FATHOM_FAILURE, "%s: another sweep is running in this folder; wait for it, or take another --out",
                    journal->folder);
    return FATHOM_OK;
}

static fathom_status write_all(int file, const char *path, const char *bytes, size_t count) {
    for (size_t done = 0; done < count;) {
        ssize_t written = write(file, bytes + done, count - done);
        if (written < 0 && errno != EINTR)
            return fail(FATHOM_DATA, "%s: cannot be written: %s", path, strerror(errno));
        done += written > 0 ? (size_t)written : 0;
    }
    return FATHOM_OK;
}

/* Opens for appending after the last complete record. */
static fathom_status open_file(int *file, sweep_journal *journal, const char *name, bool failures) {
    char path[SWEEP_PATH_MAX];
    file_end end;
    TRY(journal_path(path, journal, name));
    TRY(read_records(journal, &end, path, failures));
    *file = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (*file < 0)
        return fail(FATHOM_DATA, "%s: cannot be opened: %s", path, strerror(errno));
    if (end.cut && ftruncate(*file, (off_t)end.whole) != 0)
        return fail(FATHOM_DATA, "%s: cannot be cut back to its last whole line: %s", path, strerror(errno));
    return end.no_newline ? write_all(*file, path, "\n", 1) : FATHOM_OK;
}

fathom_status journal_open(sweep_journal *journal, const char *folder) {
    fathom_status status;
    TRY(init(journal, folder));
    TRY_OUT(sweep_make_dir(folder));
    TRY_OUT(take_lock(journal));
    TRY_OUT(open_file(&journal->file, journal, JOURNAL, false));
    TRY_OUT(open_file(&journal->failures, journal, FAILURES, true));
    return FATHOM_OK;
out:
    journal_close(journal);
    return status;
}

void journal_close(sweep_journal *journal) {
    const int files[] = {journal->file, journal->failures, journal->lock};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (files[i] >= 0)
            close(files[i]);
    mem_free(journal->records);
    mem_free(journal->failed);
    intern_free(&journal->strings);
    *journal = JOURNAL_CLOSED;
}

/* Appends a line, calls fsync, and stores a copy of the record. */
static fathom_status append(sweep_journal *journal, const run_record *record, bool failure) {
    int file = failure ? journal->failures : journal->file;
    char path[SWEEP_PATH_MAX];
    text_buf line = {0};
    run_record copy = *record;
    TRY(journal_path(path, journal, failure ? FAILURES : JOURNAL));
    fathom_status status = run_record_print(&line, record);
    if (status == FATHOM_OK)
        status = write_all(file, path, line.bytes, line.count);
    text_free(&line);
    TRY(status);
    if (fsync(file) != 0 && errno != EINVAL && errno != EROFS)
        return fail(FATHOM_DATA, "%s: cannot be flushed to the disk: %s", path, strerror(errno));
    TRY(run_record_intern(&copy, &journal->strings));
    return store_record(journal, &copy, failure);
}

fathom_status journal_add(sweep_journal *journal, const run_record *record) { return append(journal, record, false); }
fathom_status journal_add_failure(sweep_journal *journal, const run_record *record) {
    return append(journal, record, true);
}
