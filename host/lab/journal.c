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

fathom_status lab_journal_path(char path[LAB_PATH], const lab_journal *journal, const char *name) {
    int length = snprintf(path, LAB_PATH, "%s/%s", journal->folder, name);
    if (length < 0 || length >= LAB_PATH)
        return fail(FATHOM_DATA, "%.80s.../%s: the path is too long", journal->folder, name);
    return FATHOM_OK;
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

static fathom_status push(lab_row **rows, int64_t *count, int64_t *room, const lab_row *row) {
    if (*count == *room) {
        int64_t wanted = *room ? *room * 2 : 64;
        TRY(mem_grow(rows, *room, wanted, sizeof **rows, "rows of a journal"));
        *room = wanted;
    }
    (*rows)[(*count)++] = *row;
    return FATHOM_OK;
}

static const lab_row *find(const lab_row *rows, int64_t count, const char *cell) {
    for (int64_t i = count - 1; i >= 0; i--)
        if (strcmp(rows[i].cell, cell) == 0)
            return &rows[i];
    return NULL;
}

const lab_row *lab_journal_find(const lab_journal *journal, const char *cell) {
    return find(journal->rows, journal->count, cell);
}

const lab_row *lab_journal_find_failure(const lab_journal *journal, const char *cell) {
    return find(journal->failed, journal->failed_count, cell);
}

static fathom_status take_row(lab_journal *journal, const lab_row *row, bool failure) {
    if (lab_journal_find(journal, row->cell))
        return FATHOM_OK;
    if (!failure)
        return push(&journal->rows, &journal->count, &journal->room, row);
    lab_row *old = (lab_row *)find(journal->failed, journal->failed_count, row->cell);
    if (old) {
        *old = *row;
        return FATHOM_OK;
    }
    return push(&journal->failed, &journal->failed_count, &journal->failed_room, row);
}

/* *whole = the bytes up to the end of the last complete line: what a kill in mid-write left behind is after it. */
static fathom_status read_rows(lab_journal *journal, size_t *whole, const char *path, bool failures) {
    uint8_t *bytes = NULL;
    size_t count = 0;
    fathom_status status = FATHOM_OK;
    char where[LAB_PATH + 32];
    *whole = 0;
    if (access(path, F_OK) != 0)
        return FATHOM_OK;
    TRY(file_load(&bytes, &count, path, BYTES_MAX));
    const char *line = (const char *)bytes, *end;
    for (int number = 1; (end = memchr(line, '\n', count - *whole)); number++) {
        lab_row row;
        snprintf(where, sizeof where, "%s, line %d", path, number);
        TRY_OUT(lab_row_read(&row, line, (size_t)(end - line), where));
        TRY_OUT(take_row(journal, &row, failures));
        line = end + 1;
        *whole = (size_t)(line - (const char *)bytes);
    }
    journal->cut = journal->cut || *whole < count;
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
    size_t whole;
    fathom_status status;
    TRY(start(journal, folder));
    TRY_OUT(lab_journal_path(path, journal, JOURNAL));
    TRY_OUT(read_rows(journal, &whole, path, false));
    TRY_OUT(lab_journal_path(path, journal, FAILURES));
    TRY_OUT(read_rows(journal, &whole, path, true));
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

/* Opens for appending after the last whole line. */
static fathom_status open_file(int *file, lab_journal *journal, const char *name, bool failures) {
    char path[LAB_PATH];
    size_t whole;
    TRY(lab_journal_path(path, journal, name));
    TRY(read_rows(journal, &whole, path, failures));
    *file = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (*file < 0)
        return fail(FATHOM_DATA, "%s: cannot be opened: %s", path, strerror(errno));
    if (ftruncate(*file, (off_t)whole) != 0)
        return fail(FATHOM_DATA, "%s: cannot be cut back to its last whole line: %s", path, strerror(errno));
    return FATHOM_OK;
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
    *journal = LAB_JOURNAL_NONE;
}

static fathom_status append(lab_journal *journal, int file, const char *name, const lab_row *row) {
    lab_text line = {0};
    fathom_status status = lab_row_print(&line, row);
    for (size_t done = 0; status == FATHOM_OK && done < line.count;) {
        ssize_t wrote = write(file, line.bytes + done, line.count - done);
        if (wrote < 0 && errno != EINTR)
            status = fail(FATHOM_DATA, "%s/%s: cannot be written: %s", journal->folder, name, strerror(errno));
        done += wrote > 0 ? (size_t)wrote : 0;
    }
    if (status == FATHOM_OK && fsync(file) != 0 && errno != EINVAL && errno != EROFS)
        status = fail(FATHOM_DATA, "%s/%s: cannot be flushed to the disk: %s", journal->folder, name, strerror(errno));
    lab_text_free(&line);
    return status;
}

fathom_status lab_journal_add(lab_journal *journal, const lab_row *row) {
    TRY(append(journal, journal->file, JOURNAL, row));
    return take_row(journal, row, false);
}

fathom_status lab_journal_add_failure(lab_journal *journal, const lab_row *row) {
    TRY(append(journal, journal->failures, FAILURES, row));
    return take_row(journal, row, true);
}
