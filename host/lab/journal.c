/* journal.c - see journal.h. */
#include "lab/journal.h"

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

fathom_status lab_path(char path[LAB_PATH], const char *folder, const char *name) {
    int length = snprintf(path, LAB_PATH, "%s/%s", folder, name);
    if (length < 0 || length >= LAB_PATH)
        return fail(FATHOM_DATA, "%.80s.../%s: the path is too long", folder, name);
    return FATHOM_OK;
}

fathom_status lab_journal_path(char path[LAB_PATH], const lab_journal *journal, const char *name) {
    return lab_path(path, journal->folder, name);
}

fathom_status lab_make_folder(const char *path) {
    char part[LAB_PATH];
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
    struct stat about;
    if (stat(path, &about) != 0 || !S_ISDIR(about.st_mode))
        return fail(FATHOM_DATA, "%s: is not a folder", path);
    return FATHOM_OK;
}

/* ---- rows in memory ---- */

static fathom_status push(lab_row **rows, int64_t *count, int64_t *room, const lab_row *row) {
    if (*count == *room) {
        int64_t wanted = *room ? *room * 2 : 64;
        TRY(mem_grow(rows, *room, wanted, sizeof **rows, "rows of a journal"));
        *room = wanted;
    }
    (*rows)[(*count)++] = *row;
    return FATHOM_OK;
}

/* The value of a cell's id: n + 1 for row n, -n - 1 for failure n, 0 when it has neither. */
static int64_t place_of(const lab_journal *journal, const char *cell) {
    const int64_t *value = lab_strings_value(&journal->strings, cell);
    return value ? *value : 0;
}

const lab_row *lab_journal_find(const lab_journal *journal, const char *cell) {
    int64_t place = place_of(journal, cell);
    return place > 0 ? &journal->rows[place - 1] : NULL;
}

const lab_row *lab_journal_find_failure(const lab_journal *journal, const char *cell) {
    int64_t place = place_of(journal, cell);
    return place < 0 ? &journal->failed[-place - 1] : NULL;
}

/* `row` has its texts in the journal's string table. */
static fathom_status take_row(lab_journal *journal, const lab_row *row, bool failure) {
    int64_t *place = lab_strings_value(&journal->strings, row->cell);
    if (*place > 0)
        return FATHOM_OK;
    if (!failure) {
        TRY(push(&journal->rows, &journal->count, &journal->room, row));
        *place = journal->count;
    } else if (*place < 0) {
        journal->failed[-*place - 1] = *row;
    } else {
        TRY(push(&journal->failed, &journal->failed_count, &journal->failed_room, row));
        *place = -journal->failed_count;
    }
    return FATHOM_OK;
}

/* ---- reading ---- */

/* A file of rows as it was found. */
typedef struct found {
    size_t whole;     /* bytes up to the end of the last row */
    bool cut, no_end; /* half a row after it; the last row lacks its line end */
} found;

/* Is it the beginning of a row that was being written? A file system may also have left zeros in its place. */
static bool half_a_row(const char *tail, size_t count) {
    static const char head[] = "{\"cell\":";
    size_t zeros = 0;
    while (zeros < count && tail[zeros] == '\0')
        zeros++;
    return zeros == count || memcmp(tail, head, count < sizeof head - 1 ? count : sizeof head - 1) == 0;
}

static fathom_status read_line(lab_journal *journal, const char *line, size_t count, const char *where, bool failures) {
    lab_row row;
    TRY(lab_row_read(&row, &journal->strings, line, count, where));
    return take_row(journal, &row, failures);
}

static fathom_status read_tail(lab_journal *journal, found *f, const char *tail, size_t count, const char *where,
                               bool failures) {
    if (count == 0)
        return FATHOM_OK;
    fathom_status status = read_line(journal, tail, count, where, failures);
    if (status == FATHOM_MEMORY)
        return status;
    if (status == FATHOM_OK) {
        f->whole += count;
        f->no_end = true;
        return FATHOM_OK;
    }
    if (!half_a_row(tail, count))
        return fail(FATHOM_DATA,
                    "%s: no row of a sweep, nor half of one; take it out of the file, or take another folder", where);
    f->cut = journal->cut = true;
    return FATHOM_OK;
}

static fathom_status read_rows(lab_journal *journal, found *f, const char *path, bool failures) {
    uint8_t *bytes = NULL;
    size_t count = 0;
    fathom_status status = FATHOM_OK;
    char where[LAB_PATH + 32];
    const char *end;
    *f = (found){0};
    if (access(path, F_OK) != 0)
        return FATHOM_OK;
    TRY(file_load(&bytes, &count, path, BYTES_MAX));
    const char *line = (const char *)bytes;
    for (int64_t number = 1;; number++) {
        snprintf(where, sizeof where, "%s, line %lld", path, (long long)number);
        end = memchr(line, '\n', count - f->whole);
        if (!end)
            break;
        TRY_OUT(read_line(journal, line, (size_t)(end - line), where, failures));
        line = end + 1;
        f->whole = (size_t)(line - (const char *)bytes);
    }
    TRY_OUT(read_tail(journal, f, line, count - f->whole, where, failures));
out:
    mem_free(bytes);
    return status;
}

static fathom_status start(lab_journal *journal, const char *folder) {
    *journal = LAB_JOURNAL_NONE;
    if (strlen(folder) >= sizeof journal->folder - 64)
        return fail(FATHOM_DATA, "%.80s...: the path is too long", folder);
    strcpy(journal->folder, folder);
    return FATHOM_OK;
}

fathom_status lab_journal_read(lab_journal *journal, const char *folder) {
    char path[LAB_PATH];
    found f;
    fathom_status status;
    TRY(start(journal, folder));
    TRY_OUT(lab_journal_path(path, journal, JOURNAL));
    TRY_OUT(read_rows(journal, &f, path, false));
    TRY_OUT(lab_journal_path(path, journal, FAILURES));
    TRY_OUT(read_rows(journal, &f, path, true));
    return FATHOM_OK;
out:
    lab_journal_close(journal);
    return status;
}

/* The lock is on a file that nothing else opens: closing any descriptor of a file gives up the locks a process has on
 * it. It goes with the process, however that ends. */
static fathom_status take_lock(lab_journal *journal) {
    char path[LAB_PATH];
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    TRY(lab_journal_path(path, journal, "sweep.lock"));
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
        ssize_t wrote = write(file, bytes + done, count - done);
        if (wrote < 0 && errno != EINTR)
            return fail(FATHOM_DATA, "%s: cannot be written: %s", path, strerror(errno));
        done += wrote > 0 ? (size_t)wrote : 0;
    }
    return FATHOM_OK;
}

/* Opens for appending after the last row. */
static fathom_status open_file(int *file, lab_journal *journal, const char *name, bool failures) {
    char path[LAB_PATH];
    found f;
    TRY(lab_journal_path(path, journal, name));
    TRY(read_rows(journal, &f, path, failures));
    *file = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (*file < 0)
        return fail(FATHOM_DATA, "%s: cannot be opened: %s", path, strerror(errno));
    if (f.cut && ftruncate(*file, (off_t)f.whole) != 0)
        return fail(FATHOM_DATA, "%s: cannot be cut back to its last whole line: %s", path, strerror(errno));
    return f.no_end ? write_all(*file, path, "\n", 1) : FATHOM_OK;
}

fathom_status lab_journal_open(lab_journal *journal, const char *folder) {
    fathom_status status;
    TRY(start(journal, folder));
    TRY_OUT(lab_make_folder(folder));
    TRY_OUT(take_lock(journal));
    TRY_OUT(open_file(&journal->file, journal, JOURNAL, false));
    TRY_OUT(open_file(&journal->failures, journal, FAILURES, true));
    return FATHOM_OK;
out:
    lab_journal_close(journal);
    return status;
}

void lab_journal_close(lab_journal *journal) {
    const int files[] = {journal->file, journal->failures, journal->lock};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (files[i] >= 0)
            close(files[i]);
    mem_free(journal->rows);
    mem_free(journal->failed);
    lab_strings_free(&journal->strings);
    *journal = LAB_JOURNAL_NONE;
}

/* Appends the line, flushes it, and keeps a copy of the row. */
static fathom_status add(lab_journal *journal, const lab_row *row, bool failure) {
    int file = failure ? journal->failures : journal->file;
    char path[LAB_PATH];
    lab_text line = {0};
    lab_row copy = *row;
    TRY(lab_journal_path(path, journal, failure ? FAILURES : JOURNAL));
    fathom_status status = lab_row_print(&line, row);
    if (status == FATHOM_OK)
        status = write_all(file, path, line.bytes, line.count);
    lab_text_free(&line);
    TRY(status);
    if (fsync(file) != 0 && errno != EINVAL && errno != EROFS)
        return fail(FATHOM_DATA, "%s: cannot be flushed to the disk: %s", path, strerror(errno));
    TRY(lab_row_store(&copy, &journal->strings));
    return take_row(journal, &copy, failure);
}

fathom_status lab_journal_add(lab_journal *journal, const lab_row *row) { return add(journal, row, false); }
fathom_status lab_journal_add_failure(lab_journal *journal, const lab_row *row) { return add(journal, row, true); }
