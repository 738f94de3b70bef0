/* SPDX-License-Identifier: MIT */
#include "base/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unittest.h"

/* A directory of its own to be in; the names in the cases are relative to it. */
struct place {
    char path[PATH_MAX];
};

static void place_init(struct place *p)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(p->path, sizeof(p->path), "%s/vestige-outfile-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    CHECK(mkdtemp(p->path));
    CHECK_EQ(chdir(p->path), 0);
    umask(022);
}

static int remove_entry(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
    (void)st;
    (void)kind;
    (void)ftw;
    return remove(path);
}

static void place_fini(struct place *p)
{
    CHECK_EQ(chdir("/"), 0);
    CHECK_EQ(nftw(p->path, remove_entry, 8, FTW_DEPTH | FTW_PHYS), 0);
}

static bool exists(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0;
}

static void put_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    CHECK(f);
    fputs(text, f);
    fclose(f);
}

/* The content of a short file; static storage. */
static const char *content(const char *path)
{
    static char text[1000];
    FILE *f = fopen(path, "r");
    CHECK(f);
    text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
    fclose(f);
    return text;
}

TEST(names_the_file_only_on_commit)
{
    struct place place;
    struct vs_outfile f;
    struct stat st;
    place_init(&place);
    CHECK_EQ(vs_outfile_open(&f, "run", false, NULL), 0);
    CHECK(!exists("run"));
    CHECK(exists("run.partial"));
    CHECK_EQ(vs_outfile_write(&f, "hello, ", 7, NULL), 0);
    CHECK_EQ(vs_outfile_write(&f, "", 0, NULL), 0);
    CHECK_EQ(vs_outfile_write(&f, "world", 5, NULL), 0);
    CHECK(!exists("run"));
    CHECK_STR(content("run.partial"), "hello, world");
    CHECK_EQ(vs_outfile_commit(&f, NULL), 0);
    CHECK_EQ(f.fd, -1);
    CHECK(!exists("run.partial"));
    CHECK_STR(content("run"), "hello, world");
    CHECK_EQ(stat("run", &st), 0);
    CHECK_EQ(st.st_mode & 07777, 0644);
    CHECK_EQ(st.st_nlink, 1);
    vs_outfile_abort(&f);
    vs_outfile_keep(&f);
    CHECK(exists("run"));
    place_fini(&place);
}

/* What is printed to a stream that was closed must not land in the file. */
TEST(stays_clear_of_the_standard_streams)
{
    struct place p;
    struct vs_outfile f;
    int saved = dup(STDOUT_FILENO);
    place_init(&p);
    CHECK(saved > STDERR_FILENO);
    close(STDOUT_FILENO);
    int e = vs_outfile_open(&f, "run", false, NULL);
    int flags = fcntl(f.fd, F_GETFD);
    bool unused = fcntl(STDOUT_FILENO, F_GETFD) < 0;
    dup2(saved, STDOUT_FILENO);
    close(saved);
    CHECK_EQ(e, 0);
    CHECK(f.fd > STDERR_FILENO && unused);
    CHECK_EQ(flags, FD_CLOEXEC);
    CHECK_EQ(vs_outfile_commit(&f, NULL), 0);
    place_fini(&p);
}

TEST(removes_the_partial_on_abort)
{
    struct place place;
    struct vs_outfile f;
    place_init(&place);
    CHECK_EQ(vs_outfile_open(&f, "run", false, NULL), 0);
    CHECK_EQ(vs_outfile_write(&f, "x", 1, NULL), 0);
    vs_outfile_abort(&f);
    CHECK(!exists("run"));
    CHECK(!exists("run.partial"));
    vs_outfile_abort(&f);
    place_fini(&place);
}

TEST(leaves_the_partial_on_keep)
{
    struct place place;
    struct vs_outfile f;
    place_init(&place);
    CHECK_EQ(vs_outfile_open(&f, "run", false, NULL), 0);
    CHECK_EQ(vs_outfile_write(&f, "x", 1, NULL), 0);
    vs_outfile_keep(&f);
    vs_outfile_abort(&f);
    CHECK(!exists("run"));
    CHECK_STR(content("run.partial"), "x");
    place_fini(&place);
}

TEST(keeps_an_existing_file)
{
    struct place place;
    struct vs_outfile f;
    struct vs_diag d;
    place_init(&place);
    put_file("run", "old");
    CHECK_ERR(vs_outfile_open(&f, "run", false, &d), VSE_EXISTS);
    CHECK_STR(d.text, "already exists: run");
    CHECK_EQ(f.fd, -1);
    CHECK(!exists("run.partial"));
    vs_outfile_abort(&f);
    CHECK_STR(content("run"), "old");
    place_fini(&place);
}

TEST(overwrites_when_told_and_only_on_commit)
{
    struct place place;
    struct vs_outfile f;
    place_init(&place);
    put_file("run", "old");
    CHECK_EQ(vs_outfile_open(&f, "run", true, NULL), 0);
    CHECK_EQ(vs_outfile_write(&f, "new", 3, NULL), 0);
    CHECK_STR(content("run"), "old");
    vs_outfile_abort(&f);
    CHECK_STR(content("run"), "old");
    CHECK_EQ(vs_outfile_open(&f, "run", true, NULL), 0);
    CHECK_EQ(vs_outfile_write(&f, "new", 3, NULL), 0);
    CHECK_EQ(vs_outfile_commit(&f, NULL), 0);
    CHECK_STR(content("run"), "new");
    CHECK(!exists("run.partial"));
    place_fini(&place);
}

TEST(keeps_a_file_that_appeared_meanwhile)
{
    struct place place;
    struct vs_outfile f;
    struct vs_diag d;
    place_init(&place);
    CHECK_EQ(vs_outfile_open(&f, "run", false, NULL), 0);
    CHECK_EQ(vs_outfile_write(&f, "new", 3, NULL), 0);
    put_file("run", "other");
    CHECK_ERR(vs_outfile_commit(&f, &d), VSE_EXISTS);
    CHECK_STR(d.text, "appeared meanwhile: run");
    CHECK_STR(content("run"), "other");
    CHECK_STR(content("run.partial"), "new");
    vs_outfile_abort(&f);
    CHECK(!exists("run.partial"));
    place_fini(&place);
}

TEST(replaces_a_left_over_partial)
{
    struct place place;
    struct vs_outfile f;
    place_init(&place);
    put_file("run.partial", "left over, and longer than the new one");
    CHECK_EQ(vs_outfile_open(&f, "run", false, NULL), 0);
    CHECK_EQ(vs_outfile_write(&f, "new", 3, NULL), 0);
    CHECK_EQ(vs_outfile_commit(&f, NULL), 0);
    CHECK_STR(content("run"), "new");
    place_fini(&place);
}

TEST(spares_the_other_name_of_a_left_over_partial)
{
    struct place place;
    struct vs_outfile f;
    place_init(&place);
    put_file("run.partial", "complete");
    CHECK_EQ(link("run.partial", "run"), 0);
    CHECK_EQ(vs_outfile_open(&f, "run", true, NULL), 0);
    CHECK_STR(content("run"), "complete");
    vs_outfile_abort(&f);
    CHECK_STR(content("run"), "complete");
    place_fini(&place);
}

TEST(leaves_a_partial_in_use_alone)
{
    struct place place;
    struct vs_outfile first, second;
    struct vs_diag d;
    place_init(&place);
    CHECK_EQ(vs_outfile_open(&first, "run", false, NULL), 0);
    CHECK_EQ(vs_outfile_write(&first, "first", 5, NULL), 0);
    CHECK_ERR(vs_outfile_open(&second, "run", true, &d), VSE_EXISTS);
    CHECK_STR(d.text, "another writer is using run.partial");
    vs_outfile_abort(&second);
    CHECK_STR(content("run.partial"), "first");
    CHECK_EQ(vs_outfile_commit(&first, NULL), 0);
    CHECK_STR(content("run"), "first");
    CHECK_EQ(vs_outfile_open(&second, "run", true, NULL), 0);
    vs_outfile_abort(&second);
    place_fini(&place);
}

TEST(refuses_what_is_no_regular_file)
{
    static const char *const names[] = {"directory", "fifo", "link", "dangling", "/dev/null"};
    struct place place;
    struct vs_outfile f;
    struct vs_diag d;
    place_init(&place);
    put_file("target", "old");
    CHECK_EQ(mkdir("directory", 0777), 0);
    CHECK_EQ(mkfifo("fifo", 0666), 0);
    CHECK_EQ(symlink("target", "link"), 0);
    CHECK_EQ(symlink("nowhere", "dangling"), 0);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        CHECK_ERR(vs_outfile_open(&f, names[i], true, &d), VSE_INVAL);
        CHECK_HAS(d.text, "not a regular file: ");
        CHECK_HAS(d.text, names[i]);
        CHECK_ERR(vs_outfile_open(&f, names[i], false, NULL), VSE_INVAL);
    }
    CHECK_STR(content("target"), "old");
    CHECK_ERR(vs_outfile_open(&f, "", true, &d), VSE_INVAL);
    place_fini(&place);
}

TEST(refuses_a_partial_that_is_no_regular_file)
{
    struct place place;
    struct vs_outfile f;
    struct vs_diag d;
    place_init(&place);
    put_file("target", "old");
    CHECK_EQ(mkfifo("a.partial", 0666), 0);
    CHECK_EQ(symlink("target", "b.partial"), 0);
    CHECK_ERR(vs_outfile_open(&f, "a", true, &d), VSE_INVAL);
    CHECK_STR(d.text, "not a regular file: a.partial");
    CHECK_ERR(vs_outfile_open(&f, "b", true, &d), VSE_INVAL);
    CHECK_STR(content("target"), "old");
    place_fini(&place);
}

TEST(tells_why_it_cannot_create)
{
    struct place place;
    struct vs_outfile f;
    struct vs_diag d;
    char name[NAME_MAX + 1];
    place_init(&place);
    CHECK_ERR(vs_outfile_open(&f, "no/such/run", false, &d), VSE_IO);
    CHECK_STR(d.text, "create no/such/run.partial: No such file or directory");
    put_file("file", "");
    CHECK_ERR(vs_outfile_open(&f, "file/run", false, &d), VSE_IO);
    CHECK_STR(d.text, "stat file/run: Not a directory");
    memset(name, 'n', sizeof(name));
    name[NAME_MAX] = '\0';
    CHECK_ERR(vs_outfile_open(&f, name, false, &d), VSE_IO);
    CHECK_HAS(d.text, "n.partial: File name too long");
    place_fini(&place);
}

TEST(does_not_commit_after_a_failed_write)
{
    static const char block[5000];
    struct place place;
    struct vs_outfile f;
    struct vs_diag d;
    struct stat st;
    place_init(&place);
    signal(SIGXFSZ, SIG_IGN);
    CHECK_EQ(vs_outfile_open(&f, "run", false, NULL), 0);
    CHECK_EQ(setrlimit(RLIMIT_FSIZE, &(struct rlimit){8192, RLIM_INFINITY}), 0);
    CHECK_EQ(vs_outfile_write(&f, block, sizeof(block), &d), 0);
    CHECK_ERR(vs_outfile_write(&f, block, sizeof(block), &d), VSE_IO);
    CHECK_STR(d.text, "write run.partial: File too large");
    CHECK_EQ(setrlimit(RLIMIT_FSIZE, &(struct rlimit){RLIM_INFINITY, RLIM_INFINITY}), 0);
    CHECK_ERR(vs_outfile_commit(&f, &d), VSE_IO);
    CHECK_HAS(d.text, "run.partial");
    CHECK(!exists("run"));
    CHECK_EQ(stat("run.partial", &st), 0);
    CHECK_EQ(st.st_size, 8192);
    vs_outfile_keep(&f);
    CHECK(exists("run.partial"));
    place_fini(&place);
}

TEST(commits_in_other_directories)
{
    struct place place;
    struct vs_outfile f;
    char path[PATH_MAX + 10];
    place_init(&place);
    CHECK_EQ(mkdir("sub", 0777), 0);
    CHECK_EQ(vs_outfile_open(&f, "sub/run", false, NULL), 0);
    CHECK_EQ(vs_outfile_write(&f, "a", 1, NULL), 0);
    CHECK_EQ(vs_outfile_commit(&f, NULL), 0);
    CHECK_STR(content("sub/run"), "a");
    snprintf(path, sizeof(path), "%s/full", place.path);
    CHECK_EQ(vs_outfile_open(&f, path, true, NULL), 0);
    CHECK_EQ(vs_outfile_commit(&f, NULL), 0);
    CHECK_STR(content("full"), "");
    place_fini(&place);
}

TEST(tells_why_it_cannot_rename)
{
    struct place place;
    struct vs_outfile f;
    struct vs_diag d;
    place_init(&place);
    CHECK_EQ(vs_outfile_open(&f, "run", true, NULL), 0);
    CHECK_EQ(mkdir("run", 0777), 0);
    CHECK_ERR(vs_outfile_commit(&f, &d), VSE_IO);
    CHECK_STR(d.text, "rename to run: Is a directory");
    CHECK(exists("run.partial"));
    vs_outfile_abort(&f);
    CHECK(!exists("run.partial"));
    place_fini(&place);
}

static void nothing(int sig)
{
    (void)sig;
}

/* Through a pipe: regular files do not interrupt writes or cut them short. */
TEST(goes_on_after_short_and_interrupted_writes)
{
    enum { SIZE = 4 << 20 };
    int ends[2];
    struct sigaction action = {.sa_handler = nothing}; /* without SA_RESTART */
    sigaction(SIGUSR1, &action, NULL);
    CHECK_EQ(pipe(ends), 0);
    pid_t writer = getpid(), child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        static uint8_t bytes[65536];
        size_t got = 0;
        close(ends[1]);
        for (;;) {
            for (int i = 0; i < 2; i++) { /* cuts a write short, then interrupts the next */
                usleep(1000);
                kill(writer, SIGUSR1);
            }
            ssize_t n = read(ends[0], bytes, sizeof(bytes));
            for (ssize_t i = 0; i < n; i++, got++)
                if (bytes[i] != (uint8_t)(got % 251))
                    _exit(1);
            if (n <= 0)
                _exit(n < 0 || got != SIZE);
        }
    }
    close(ends[0]);
    uint8_t *bytes = malloc(SIZE);
    for (size_t i = 0; i < SIZE; i++)
        bytes[i] = (uint8_t)(i % 251);
    struct vs_outfile f = {.fd = ends[1]};
    CHECK_EQ(vs_outfile_write(&f, bytes, SIZE, NULL), 0);
    CHECK(!f.failed);
    vs_outfile_keep(&f);
    free(bytes);
    int status;
    while (waitpid(child, &status, 0) < 0)
        CHECK_EQ(errno, EINTR);
    CHECK(WIFEXITED(status));
    CHECK_EQ(WEXITSTATUS(status), 0);
}

TEST(lets_one_of_many_writers_win)
{
    enum { WRITERS = 8, ROUNDS = 50 };
    struct place place;
    place_init(&place);
    for (int round = 0; round < ROUNDS; round++) {
        int committed = 0;
        for (int i = 0; i < WRITERS; i++) {
            if (fork() == 0) {
                struct vs_outfile f;
                int rc = vs_outfile_open(&f, "run", false, NULL);
                if (!rc)
                    rc = vs_outfile_write(&f, "data", 4, NULL);
                if (!rc)
                    rc = vs_outfile_commit(&f, NULL);
                _exit(rc == 0 ? 0 : rc == -VSE_EXISTS ? 1 : 2);
            }
        }
        for (int i = 0; i < WRITERS; i++) {
            int status;
            CHECK(wait(&status) > 0);
            CHECK(WIFEXITED(status) && WEXITSTATUS(status) < 2);
            committed += WEXITSTATUS(status) == 0;
        }
        CHECK_EQ(committed, 1);
        CHECK_STR(content("run"), "data");
        CHECK_EQ(unlink("run"), 0);
    }
    place_fini(&place);
}

TEST(never_takes_the_file_of_an_overlapping_writer)
{
    enum { WRITERS = 8, ROUNDS = 400 };
    struct place place;
    place_init(&place);
    for (int i = 0; i < WRITERS; i++) {
        if (fork() == 0) {
            for (int round = 0; round < ROUNDS; round++) {
                struct vs_outfile f;
                int rc = vs_outfile_open(&f, "run", true, NULL);
                if (rc == -VSE_EXISTS)
                    continue;
                if (rc || vs_outfile_write(&f, "data", 4, NULL))
                    _exit(1);
                if (round % 8)
                    vs_outfile_abort(&f);
                else if (vs_outfile_commit(&f, NULL))
                    _exit(1);
            }
            _exit(0);
        }
    }
    for (int i = 0; i < WRITERS; i++) {
        int status;
        CHECK(wait(&status) > 0);
        CHECK_EQ(status, 0);
    }
    CHECK_STR(content("run"), "data");
    place_fini(&place);
}
