/* SPDX-License-Identifier: MIT */
/* What a program does with files, in the directory that its argument names; prints the results.
 * For the simulated machine: its output is compared with qemu's. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static void show(const char *what, long result)
{
    if (result < 0)
        printf("%s: %s\n", what, strerror(errno));
    else
        printf("%s: %ld\n", what, result);
}

static void contents(void)
{
    char text[64] = {0};
    char one[] = "one ", two[] = "two";
    struct iovec in[3] = {{one, 4}, {one, 0}, {two, 3}};
    struct iovec out[2] = {{text, 2}, {text + 10, 20}};
    int fd = open("file", O_RDWR | O_CREAT | O_EXCL, 0640);
    show("open", fd >= 0);
    show("writev", writev(fd, in, 3));
    show("lseek", lseek(fd, 1, SEEK_SET));
    show("readv", readv(fd, out, 2));
    printf("%.2s|%s\n", text, text + 10);
    show("pwrite", pwrite(fd, "XY", 2, 20));
    show("pread", pread(fd, text, 64, 19));
    show("read at the end", read(fd, text, 0));
    show("lseek to the end", lseek(fd, 0, SEEK_END));
    show("read after the end", read(fd, text, 10));
    show("ftruncate", ftruncate(fd, 5));
    show("append", fcntl(fd, F_SETFL, O_APPEND));
    show("flags", fcntl(fd, F_GETFL) & (O_APPEND | O_ACCMODE));
    show("lseek back", lseek(fd, 0, SEEK_SET));
    show("write appended", write(fd, "end", 3));
    show("fsync", fsync(fd));
    show("close", close(fd));
    show("close again", close(fd));
    show("exclusively", open("file", O_RDWR | O_CREAT | O_EXCL, 0640));
    show("read of a file for writing", read(open("file", O_WRONLY), text, 1));
}

static void attributes(void)
{
    struct stat st;
    char text[64] = {0};
    show("stat", stat("file", &st));
    printf("%o %ld %ld %ld\n", st.st_mode, (long)st.st_size, (long)st.st_nlink,
           (long)st.st_blksize);
    show("chmod", chmod("file", 0600));
    show("symlink", symlink("file", "symbolic"));
    show("lstat", lstat("symbolic", &st));
    printf("%d\n", S_ISLNK(st.st_mode));
    show("readlink", readlink("symbolic", text, sizeof(text)));
    show("readlink in part", readlink("symbolic", text, 2));
    show("link", link("file", "second"));
    show("fstatat", fstatat(AT_FDCWD, "symbolic", &st, 0));
    printf("%o %ld\n", st.st_mode, (long)st.st_nlink);
    show("access", access("file", R_OK | W_OK));
    show("access to nothing", access("nothing", F_OK));
    struct statx x;
    show("statx", statx(AT_FDCWD, "file", 0, STATX_BASIC_STATS, &x));
    printf("%o %lld\n", x.stx_mode, (long long)x.stx_size);
    struct timespec times[2] = {{1000, 5}, {2000, 7}};
    show("utimensat", utimensat(AT_FDCWD, "file", times, 0));
    stat("file", &st);
    printf("%ld %ld\n", (long)st.st_mtime, (long)st.st_mtim.tv_nsec);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void directories(void)
{
    char *names[16], path[4096];
    size_t n = 0;
    show("mkdir", mkdir("inner", 0755));
    show("mkdir again", mkdir("inner", 0755));
    DIR *dir = opendir(".");
    for (struct dirent *e; dir && (e = readdir(dir)) && n < 16;)
        names[n++] = strdup(e->d_name);
    closedir(dir);
    qsort(names, n, sizeof(names[0]), by_name);
    for (size_t i = 0; i < n; i++)
        printf("%s ", names[i]);
    printf("\n");
    show("chdir", chdir("inner"));
    printf("%s\n", strrchr(getcwd(path, sizeof(path)), '/'));
    show("rename", rename("../second", "third"));
    show("chdir up", chdir(".."));
    show("unlink", unlink("inner/third"));
    show("unlink a directory", unlink("inner"));
    show("rmdir", rmdir("inner"));
    show("unlink the link", unlink("symbolic"));
    show("unlink the file", unlink("file"));
    show("unlink nothing", unlink("file"));
    show("open nothing", open("a/b", O_RDONLY));
    show("open a directory", open(".", O_RDWR));
}

static void descriptors(void)
{
    int fd = open("/dev/null", O_RDWR), fds[2], count;
    show("dup", dup(fd) - fd);
    show("dup2", dup2(fd, 40));
    show("dup2 of itself", dup2(40, 40));
    show("F_DUPFD", fcntl(40, F_DUPFD, 50));
    show("F_DUPFD_CLOEXEC", fcntl(40, F_DUPFD_CLOEXEC, 50));
    show("F_GETFD", fcntl(51, F_GETFD));
    show("dup of nothing", dup(100));
    show("dup2 too high", dup2(fd, 1 << 20));
    show("write to null", write(fd, "x", 1));
    show("isatty", isatty(fd));
    show("pipe", pipe2(fds, O_NONBLOCK));
    show("read of an empty pipe", read(fds[0], &count, 1));
    show("write to a pipe", write(fds[1], "pipe", 4));
    show("FIONREAD", ioctl(fds[0], FIONREAD, &count));
    show("count", count);
    show("lseek in a pipe", lseek(fds[0], 0, SEEK_SET));
    show("pread of a pipe", pread(fds[0], &count, 1, 0));
    show("read of the wrong end", read(fds[1], &count, 1));
    show("write closed", close(fds[1]));
    show("rest", read(fds[0], &count, 4));
    show("end", read(fds[0], &count, 4));
}

static void waiting(void)
{
    int a[2], b[2], event = eventfd(2, EFD_NONBLOCK | EFD_SEMAPHORE);
    uint64_t value;
    if (pipe(a) || pipe(b))
        return;
    struct pollfd list[4] = {
        {a[0], POLLIN, 0}, {b[1], POLLOUT, 0}, {-1, POLLIN, 0}, {99, POLLIN, 0}};
    show("poll", poll(list, 4, -1));
    printf("%x %x %x %x\n", list[0].revents, list[1].revents, list[2].revents, list[3].revents);
    show("poll in vain", poll(list, 1, 10));
    show("write", write(a[1], "x", 1));
    close(b[0]);
    show("poll again", poll(list, 2, 1000));
    printf("%x %x\n", list[0].revents, list[1].revents & (POLLERR | POLLIN));
    fd_set in, out;
    FD_ZERO(&in);
    FD_ZERO(&out);
    FD_SET(a[0], &in);
    FD_SET(a[1], &out);
    struct timeval soon = {0, 1000};
    show("select", select(64, &in, &out, NULL, &soon));
    printf("%d %d\n", FD_ISSET(a[0], &in), FD_ISSET(a[1], &out));
    show("event", read(event, &value, 8));
    show("event again", read(event, &value, 8));
    show("event without", read(event, &value, 8));
    show("event small", read(event, &value, 7));
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc < 2 || chdir(argv[1]))
        return 2;
    contents();
    attributes();
    directories();
    descriptors();
    waiting();
    return 0;
}
