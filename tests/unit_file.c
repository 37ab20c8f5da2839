/* unit_file.c - the writer of every output (core/file.h): several processes that write one path, links, pipes, folders,
 * what killed processes leave, long names; nothing is left beside a file. */
#define _DEFAULT_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/file.h"
#include "core/mem.h"
#include "support/golden.h"
#include "support/support.h"

#define WRITERS 8
#define WRITES 60
#define LONGEST 70000

void setUp(void) { (void)!system("rm -rf files && mkdir files"); }
void tearDown(void) {}

static fathom_status save(const char *path, const char *text) {
    return file_replace(path, &(file_piece){text, strlen(text)}, 1);
}

static void holds(const char *path, const char *text) {
    uint8_t *bytes = NULL;
    size_t count;
    golden_ok(file_load(&bytes, &count, path, 1 << 20));
    TEST_ASSERT_EQUAL_STRING(text, (char *)bytes);
    mem_free(bytes);
}

/* Files in ./files. */
static int file_count(void) {
    DIR *dir = opendir("files");
    int count = 0;
    for (struct dirent *entry; (entry = readdir(dir));)
        count += entry->d_name[0] != '.';
    closedir(dir);
    return count;
}

/* One process: files of one letter each, of a length given by the letter; every one must be reported as written. */
static void write_often(int number) {
    char *text = malloc(LONGEST);
    size_t length = (size_t)LONGEST / 2 + (size_t)number * 4000;
    memset(text, 'a' + number, LONGEST);
    for (int i = 0; i < WRITES; i++)
        if (file_replace("files/one", (file_piece[]){{text, 5}, {text, length - 5}}, 2) != FATHOM_OK) {
            fprintf(stderr, "%s\n", fathom_last_error());
            _exit(1);
        }
    free(text);
    _exit(0);
}

static void check_whole(void) {
    uint8_t *bytes = NULL;
    size_t count;
    golden_ok(file_load(&bytes, &count, "files/one", 1 << 20));
    TEST_ASSERT_EQUAL_size_t(LONGEST / 2 + (size_t)(bytes[0] - 'a') * 4000, count);
    TEST_ASSERT_EACH_EQUAL_INT8(bytes[0], bytes, count);
    mem_free(bytes);
}

static void test_several_processes_write_one_path(void) {
    pid_t child[WRITERS];
    int running = WRITERS, status;
    golden_ok(save("files/one", ""));
    unlink("files/one");
    for (int i = 0; i < WRITERS; i++)
        if ((child[i] = fork()) == 0)
            write_often(i);
    while (running > 0) {
        if (access("files/one", F_OK) == 0)
            check_whole();
        while (running > 0 && waitpid(child[running - 1], &status, WNOHANG) > 0) {
            TEST_ASSERT_TRUE_MESSAGE(WIFEXITED(status) && WEXITSTATUS(status) == 0, "a writer failed");
            running--;
        }
    }
    check_whole();
    TEST_ASSERT_EQUAL_INT_MESSAGE(1, file_count(), "something is left beside the file");
}

/* A temporary file in use is not touched; one without a lock is removed. */
static void test_what_killed_processes_leave(void) {
    file_writer first;
    golden_ok(save("files/x", "old"));
    golden_ok(file_begin(&first, "files/x", false));
    golden_ok(file_write(&first, "first", 5));
    golden_ok(save("files/x", "second"));
    holds("files/x", "second");
    golden_ok(file_commit(&first));
    holds("files/x", "first");
    FILE *stale = fopen("files/x.part", "w");
    fputs("half", stale);
    fclose(stale);
    golden_ok(save("files/x", "third"));
    holds("files/x", "third");
    golden_ok(file_begin(&first, "files/x", false));
    golden_ok(file_write(&first, "never", 5));
    file_abort(&first);
    holds("files/x", "third");
    TEST_ASSERT_EQUAL_INT(1, file_count());
}

/* A link at the temporary name is not followed. */
static void test_link_at_the_temporary_name(void) {
    golden_ok(save("files/precious", "precious"));
    TEST_ASSERT_EQUAL_INT(0, symlink("precious", "files/x.part"));
    golden_ok(save("files/x", "new"));
    holds("files/x", "new");
    holds("files/precious", "precious");
    golden_ok(file_replace_private("files/x", &(file_piece){"mine", 4}, 1));
    holds("files/precious", "precious");
}

static bool is_link(const char *path) {
    struct stat about;
    return lstat(path, &about) == 0 && S_ISLNK(about.st_mode);
}

static void test_links(void) {
    mkdir("files/sub", 0777);
    golden_ok(save("files/target", "old"));
    TEST_ASSERT_EQUAL_INT(0, symlink("../target", "files/sub/link"));
    TEST_ASSERT_EQUAL_INT(0, symlink("sub/link", "files/link"));
    golden_ok(save("files/link", "new"));
    holds("files/target", "new");
    TEST_ASSERT_TRUE(is_link("files/link") && is_link("files/sub/link"));
    TEST_ASSERT_EQUAL_INT(0, symlink("fresh", "files/dangling"));
    golden_ok(save("files/dangling", "made"));
    holds("files/fresh", "made");
    TEST_ASSERT_EQUAL_INT(0, symlink("round", "files/round"));
    TEST_ASSERT_EQUAL(FATHOM_FAILURE, save("files/round", "x"));
    TEST_ASSERT_EQUAL_STRING("files/round: cannot be written: Too many levels of symbolic links", fathom_last_error());
    golden_ok(file_replace_private("files/link", &(file_piece){"mine", 4}, 1)); /* in the cache: never through a link */
    TEST_ASSERT_FALSE(is_link("files/link"));
    holds("files/target", "new");
}

static void test_pipe_and_folder(void) {
    char got[16] = "";
    TEST_ASSERT_EQUAL_INT(0, mkfifo("files/pipe", 0600));
    int reader = open("files/pipe", O_RDONLY | O_NONBLOCK);
    golden_ok(save("files/pipe", "through"));
    TEST_ASSERT_EQUAL_INT(7, (int)read(reader, got, sizeof got - 1));
    TEST_ASSERT_EQUAL_STRING("through", got);
    file_writer w;
    signal(SIGPIPE, SIG_IGN);
    golden_ok(file_begin(&w, "files/pipe", false));
    close(reader);
    TEST_ASSERT_EQUAL(FATHOM_FAILURE, file_write(&w, "lost", 4));
    TEST_ASSERT_EQUAL_STRING("files/pipe: cannot be written: Broken pipe", fathom_last_error());
    file_abort(&w);
    struct stat about;
    TEST_ASSERT_TRUE(stat("files/pipe", &about) == 0 && S_ISFIFO(about.st_mode));
    TEST_ASSERT_EQUAL(FATHOM_FAILURE, save("files", "x"));
    TEST_ASSERT_EQUAL_STRING("files: is a folder; give the name of a file", fathom_last_error());
    TEST_ASSERT_EQUAL_INT(1, file_count());
}

/* Devices with the numbers of /dev/null and /dev/full, never those of the machine. */
static void test_devices(void) {
    struct stat about;
    if (mknod("files/null", S_IFCHR | 0666, 0x103) != 0 || mknod("files/full", S_IFCHR | 0666, 0x107) != 0)
        TEST_IGNORE_MESSAGE("devices can be made by root alone");
    int fd = open("files/null", O_WRONLY);
    if (fd < 0)
        TEST_IGNORE_MESSAGE("this file system has no devices");
    close(fd);
    golden_ok(save("files/null", "gone"));
    TEST_ASSERT_EQUAL(FATHOM_FAILURE, save("files/full", "much"));
    TEST_ASSERT_EQUAL_STRING("files/full: cannot be written: No space left on device", fathom_last_error());
    TEST_ASSERT_TRUE(stat("files/null", &about) == 0 && S_ISCHR(about.st_mode));
    TEST_ASSERT_TRUE(stat("files/full", &about) == 0 && S_ISCHR(about.st_mode));
    TEST_ASSERT_EQUAL_INT(2, file_count());
}

static void test_modes_and_long_names(void) {
    char path[300] = "files/";
    struct stat about;
    mode_t before = umask(027);
    golden_ok(save("files/x", "x"));
    golden_ok(file_replace_private("files/y", &(file_piece){"y", 1}, 1));
    umask(before);
    TEST_ASSERT_TRUE(stat("files/x", &about) == 0 && (about.st_mode & 0777) == 0640);
    TEST_ASSERT_TRUE(stat("files/y", &about) == 0 && (about.st_mode & 0777) == 0600);
    memset(path + 6, 'n', 255); /* as long as a name can be */
    golden_ok(save(path, "long"));
    holds(path, "long");
    memset(path + 6, 'n', 256);
    TEST_ASSERT_EQUAL(FATHOM_FAILURE, save(path, "long"));
    TEST_ASSERT_NOT_NULL(strstr(fathom_last_error(), "File name too long"));
    TEST_ASSERT_EQUAL_INT(3, file_count());
}

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(test_several_processes_write_one_path);
    RUN_TEST(test_what_killed_processes_leave);
    RUN_TEST(test_link_at_the_temporary_name);
    RUN_TEST(test_links);
    RUN_TEST(test_pipe_and_folder);
    RUN_TEST(test_devices);
    RUN_TEST(test_modes_and_long_names);
    return support_end();
}
