/* SPDX-License-Identifier: MIT */
/* Loaded before the C library (LD_PRELOAD), makes chosen calls of `vestige` fail.
 *
 * VESTIGE_FAULT, CLASS:HOW:N: the N-th call of that class fails, counted from 1; CLASS:HOW:N+: that
 * one and all after it (of EINTR every third, so that a loop ends). HOW is the name of an error, or
 * "short": half of the bytes are transferred.
 *
 * VESTIGE_FAULT_LOG: a file that is written at the end: "CLASS CALLS" of each class, and "fired"
 * with the number of calls that failed and the name of the last.
 *
 * VESTIGE_FAULT_TRACE: a file that gets the stack of each call that fails.
 *
 * Only a process of the program `vestige` is touched, and what it runs does not inherit this: the
 * variables, LD_PRELOAD among them, are taken out of its environment. Children between fork and
 * exec share the count. A process that does not end is ended by SIGALRM after a minute.
 *
 * Errors of standard error's writes are not injected: they could not be told. What the C library
 * calls within itself cannot be replaced, except for the allocator; streams that are opened for
 * reading are therefore made of calls that can.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define SHOWN __attribute__((visibility("default")))

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

enum class {
    MEMORY,
    MAP,
    THREAD,
    PROCESS,
    OPEN,
    READ,
    WRITE,
    WAIT,
    SYNC,
    RENAME,
    CLOSE,
    FILES,
    CLASSES,
    NONE = CLASSES
};

static const char *const class_names[CLASSES] = {"memory", "map",    "thread", "process",
                                                 "open",   "read",   "write",  "wait",
                                                 "sync",   "rename", "close",  "files"};

static const struct {
    const char *name;
    int number;
} errors[] = {
    {"ENOMEM", ENOMEM}, {"EAGAIN", EAGAIN}, {"EINTR", EINTR},
    {"EIO", EIO},       {"ENOSPC", ENOSPC}, {"EMFILE", EMFILE},
    {"EACCES", EACCES}, {"EROFS", EROFS},   {"EDQUOT", EDQUOT},
};

/* Shared with children, so that exactly the N-th call of all fails. */
struct counts {
    atomic_ulong calls[CLASSES], fired;
    _Atomic(const char *) last;
};

static struct counts *counts; /* NULL: not this process */
static enum class chosen = NONE;
static unsigned long chosen_call;
static int chosen_error; /* 0: short */
static int going_on;
static char log_path[4096], trace_path[4096];
static pid_t owner;

/* ---- choosing -------------------------------------------------------------------------------- */

static void *next(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

#define NEXT(name)                                                                                 \
    static __typeof__(name) *real;                                                                 \
    if (!real)                                                                                     \
    real = (__typeof__(name) *)next(#name)

static void trace(const char *name)
{
    static const char text[] = "----\n";
    void *frames[64];
    if (!trace_path[0])
        return;
    int fd = (int)syscall(SYS_open, trace_path, O_WRONLY | O_CREAT | O_APPEND, 0644);
    enum class was = chosen;
    chosen = NONE;
    int n = backtrace(frames, 64);
    syscall(SYS_write, fd, name, strlen(name));
    syscall(SYS_write, fd, text + 4, 1);
    backtrace_symbols_fd(frames, n, fd);
    syscall(SYS_write, fd, text, sizeof(text) - 1);
    syscall(SYS_close, fd);
    chosen = was;
}

/* Whether this call of the class is to fail. */
static int hit(enum class class, const char *name)
{
    if (!counts)
        return 0;
    unsigned long n = ++counts->calls[class];
    if (class != chosen || n < chosen_call || (n > chosen_call && !going_on))
        return 0;
    if (chosen_error == EINTR && (n - chosen_call) % 3)
        return 0;
    counts->fired++;
    counts->last = name;
    trace(name);
    return 1;
}

/* Whether the call fails outright; errno says why. */
static int fails(enum class class, const char *name)
{
    if (!hit(class, name) || !chosen_error)
        return 0;
    errno = chosen_error;
    return 1;
}

/* Of a transfer of `size` bytes: how many to ask for, or -1 with errno. */
static ssize_t transfer(enum class class, const char *name, int fd, size_t size)
{
    int told = class == WRITE && fd == STDERR_FILENO && chosen_error && chosen_error != EINTR;
    if (told || !hit(class, name))
        return (ssize_t)size;
    if (!chosen_error)
        return (ssize_t)(size > 1 ? size / 2 : size);
    errno = chosen_error;
    return -1;
}

static int parse(const char *text)
{
    char class[32], how[32];
    int used = 0;
    if (sscanf(text, "%31[^:]:%31[^:]:%lu%n", class, how, &chosen_call, &used) != 3)
        return 0;
    going_on = text[used] == '+';
    for (int i = 0; i < CLASSES; i++)
        if (!strcmp(class, class_names[i]))
            chosen = (enum class)i;
    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
        if (!strcmp(how, errors[i].name))
            chosen_error = errors[i].number;
    return chosen != NONE && chosen_call && (chosen_error || !strcmp(how, "short"));
}

static int is_vestige(void)
{
    char path[4096];
    ssize_t n = syscall(SYS_readlink, "/proc/self/exe", path, sizeof(path) - 1);
    path[n > 0 ? n : 0] = 0;
    const char *slash = strrchr(path, '/');
    return slash && !strcmp(slash, "/vestige");
}

static void take(char *to, const char *name)
{
    const char *value = getenv(name);
    if (value && strlen(value) < 4096)
        strcpy(to, value);
    unsetenv(name);
}

__attribute__((constructor)) static void start(void)
{
    char fault[4096] = "";
    if (!is_vestige())
        return;
    take(fault, "VESTIGE_FAULT");
    take(log_path, "VESTIGE_FAULT_LOG");
    take(trace_path, "VESTIGE_FAULT_TRACE");
    unsetenv("LD_PRELOAD");
    if (fault[0] && !parse(fault)) {
        fprintf(stderr, "inject: what is '%s'?\n", fault);
        _exit(3);
    }
    if (trace_path[0]) {
        void *frame;
        backtrace(&frame, 1); /* allocates the first time */
    }
    long memory = syscall(SYS_mmap, NULL, sizeof(*counts), PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0L);
    owner = getpid();
    alarm(60);
    counts = memory > 0 ? (struct counts *)memory : NULL;
}

__attribute__((destructor)) static void finish(void)
{
    char text[1024];
    int n = 0;
    if (!counts || !log_path[0] || getpid() != owner)
        return;
    for (int i = 0; i < CLASSES; i++)
        n += snprintf(text + n, sizeof(text) - (size_t)n, "%s %lu\n", class_names[i],
                      counts->calls[i]);
    n += snprintf(text + n, sizeof(text) - (size_t)n, "fired %lu %s\n", counts->fired,
                  counts->last ? counts->last : "-");
    int fd = (int)syscall(SYS_open, log_path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    syscall(SYS_write, fd, text, (size_t)n);
    syscall(SYS_close, fd);
}

/* ---- memory ---------------------------------------------------------------------------------- */

SHOWN void *malloc(size_t size)
{
    return fails(MEMORY, "malloc") ? NULL : __libc_malloc(size);
}

SHOWN void *calloc(size_t count, size_t size)
{
    return fails(MEMORY, "calloc") ? NULL : __libc_calloc(count, size);
}

SHOWN void *realloc(void *old, size_t size)
{
    return fails(MEMORY, "realloc") ? NULL : __libc_realloc(old, size);
}

SHOWN void *reallocarray(void *old, size_t count, size_t size)
{
    size_t total;
    if (__builtin_mul_overflow(count, size, &total)) {
        errno = ENOMEM;
        return NULL;
    }
    return fails(MEMORY, "reallocarray") ? NULL : __libc_realloc(old, total);
}

SHOWN void *aligned_alloc(size_t alignment, size_t size)
{
    return fails(MEMORY, "aligned_alloc") ? NULL : __libc_memalign(alignment, size);
}

SHOWN void *memalign(size_t alignment, size_t size)
{
    return fails(MEMORY, "memalign") ? NULL : __libc_memalign(alignment, size);
}

SHOWN int posix_memalign(void **out, size_t alignment, size_t size)
{
    void *memory = fails(MEMORY, "posix_memalign") ? NULL : __libc_memalign(alignment, size);
    if (memory)
        *out = memory;
    return memory ? 0 : ENOMEM;
}

SHOWN void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
    NEXT(mmap);
    return fails(MAP, "mmap") ? MAP_FAILED : real(at, size, protection, flags, fd, offset);
}

SHOWN void *mmap64(void *at, size_t size, int protection, int flags, int fd, off64_t offset)
{
    NEXT(mmap64);
    return fails(MAP, "mmap") ? MAP_FAILED : real(at, size, protection, flags, fd, offset);
}

/* ---- threads, processes ---------------------------------------------------------------------- */

SHOWN int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                         void *arg)
{
    NEXT(pthread_create);
    return fails(THREAD, "pthread_create") ? EAGAIN : real(thread, attributes, run, arg);
}

SHOWN pid_t fork(void)
{
    NEXT(fork);
    return fails(PROCESS, "fork") ? -1 : real();
}

SHOWN int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
                       const posix_spawnattr_t *attributes, char *const argv[], char *const env[])
{
    NEXT(posix_spawnp);
    return fails(PROCESS, "posix_spawnp") ? errno : real(pid, file, actions, attributes, argv, env);
}

SHOWN int execv(const char *path, char *const argv[])
{
    NEXT(execv);
    return fails(PROCESS, "execv") ? -1 : real(path, argv);
}

SHOWN pid_t waitpid(pid_t pid, int *status, int options)
{
    NEXT(waitpid);
    return fails(WAIT, "waitpid") ? -1 : real(pid, status, options);
}

SHOWN int poll(struct pollfd *list, nfds_t count, int milliseconds)
{
    NEXT(poll);
    return fails(WAIT, "poll") ? -1 : real(list, count, milliseconds);
}

SHOWN int ppoll(struct pollfd *list, nfds_t count, const struct timespec *time,
                const sigset_t *mask)
{
    NEXT(ppoll);
    return fails(WAIT, "ppoll") ? -1 : real(list, count, time, mask);
}

/* ---- opening --------------------------------------------------------------------------------- */

static mode_t mode_of(int flags, va_list args)
{
    return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(args, mode_t) : 0;
}

#define OPENS(name)                                                                                \
    SHOWN int name(const char *path, int flags, ...)                                               \
    {                                                                                              \
        NEXT(name);                                                                                \
        va_list args;                                                                              \
        va_start(args, flags);                                                                     \
        mode_t mode = mode_of(flags, args);                                                        \
        va_end(args);                                                                              \
        return fails(OPEN, #name) ? -1 : real(path, flags, mode);                                  \
    }

OPENS(open)
OPENS(open64)

SHOWN int openat(int dir, const char *path, int flags, ...)
{
    NEXT(openat);
    va_list args;
    va_start(args, flags);
    mode_t mode = mode_of(flags, args);
    va_end(args);
    return fails(OPEN, "openat") ? -1 : real(dir, path, flags, mode);
}

SHOWN int memfd_create(const char *name, unsigned flags)
{
    NEXT(memfd_create);
    return fails(OPEN, "memfd_create") ? -1 : real(name, flags);
}

SHOWN int socketpair(int domain, int type, int protocol, int ends[2])
{
    NEXT(socketpair);
    return fails(OPEN, "socketpair") ? -1 : real(domain, type, protocol, ends);
}

SHOWN int socket(int domain, int type, int protocol)
{
    NEXT(socket);
    return fails(OPEN, "socket") ? -1 : real(domain, type, protocol);
}

SHOWN int pipe2(int ends[2], int flags)
{
    NEXT(pipe2);
    return fails(OPEN, "pipe2") ? -1 : real(ends, flags);
}

SHOWN int dup(int fd)
{
    NEXT(dup);
    return fails(OPEN, "dup") ? -1 : real(fd);
}

/* ---- transfers ------------------------------------------------------------------------------- */

SHOWN ssize_t read(int fd, void *bytes, size_t size)
{
    NEXT(read);
    ssize_t part = transfer(READ, "read", fd, size);
    return part < 0 ? -1 : real(fd, bytes, (size_t)part);
}

SHOWN ssize_t pread(int fd, void *bytes, size_t size, off_t offset)
{
    NEXT(pread);
    ssize_t part = transfer(READ, "pread", fd, size);
    return part < 0 ? -1 : real(fd, bytes, (size_t)part, offset);
}

SHOWN ssize_t pread64(int fd, void *bytes, size_t size, off64_t offset)
{
    NEXT(pread64);
    ssize_t part = transfer(READ, "pread", fd, size);
    return part < 0 ? -1 : real(fd, bytes, (size_t)part, offset);
}

SHOWN ssize_t recv(int fd, void *bytes, size_t size, int flags)
{
    NEXT(recv);
    ssize_t part = transfer(READ, "recv", fd, size);
    return part < 0 ? -1 : real(fd, bytes, (size_t)part, flags);
}

SHOWN ssize_t write(int fd, const void *bytes, size_t size)
{
    NEXT(write);
    ssize_t part = transfer(WRITE, "write", fd, size);
    return part < 0 ? -1 : real(fd, bytes, (size_t)part);
}

SHOWN ssize_t pwrite(int fd, const void *bytes, size_t size, off_t offset)
{
    NEXT(pwrite);
    ssize_t part = transfer(WRITE, "pwrite", fd, size);
    return part < 0 ? -1 : real(fd, bytes, (size_t)part, offset);
}

SHOWN ssize_t send(int fd, const void *bytes, size_t size, int flags)
{
    NEXT(send);
    ssize_t part = transfer(WRITE, "send", fd, size);
    return part < 0 ? -1 : real(fd, bytes, (size_t)part, flags);
}

/* A message's bytes are in one piece. */

SHOWN ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
    NEXT(recvmsg);
    size_t size = message->msg_iov->iov_len;
    ssize_t part = transfer(READ, "recvmsg", fd, size), n;
    if (part < 0)
        return -1;
    message->msg_iov->iov_len = (size_t)part;
    n = real(fd, message, flags);
    message->msg_iov->iov_len = size;
    return n;
}

SHOWN ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    NEXT(sendmsg);
    struct iovec piece = *message->msg_iov;
    struct msghdr shorter = *message;
    ssize_t part = transfer(WRITE, "sendmsg", fd, piece.iov_len);
    if (part < 0)
        return -1;
    piece.iov_len = (size_t)part;
    shorter.msg_iov = &piece;
    return real(fd, &shorter, flags);
}

/* ---- streams for reading --------------------------------------------------------------------- */

static ssize_t cookie_read(void *cookie, char *bytes, size_t size)
{
    return read((int)(intptr_t)cookie, bytes, size);
}

static int cookie_close(void *cookie)
{
    return close((int)(intptr_t)cookie);
}

static FILE *stream_of(int fd, const char *mode)
{
    cookie_io_functions_t calls = {.read = cookie_read, .close = cookie_close};
    return fopencookie((void *)(intptr_t)fd, mode, calls);
}

SHOWN FILE *fdopen(int fd, const char *mode)
{
    NEXT(fdopen);
    return counts && mode[0] == 'r' ? stream_of(fd, "r") : real(fd, mode);
}

SHOWN FILE *fopen(const char *path, const char *mode)
{
    NEXT(fopen);
    if (!counts || mode[0] != 'r')
        return real(path, mode);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    FILE *f = fd < 0 ? NULL : stream_of(fd, "r");
    if (fd >= 0 && !f)
        syscall(SYS_close, fd);
    return f;
}

/* ---- files ----------------------------------------------------------------------------------- */

/* What a test writes need not outlive a crash of the machine, and syncing takes most of its time.
 */
SHOWN int fsync(int fd)
{
    NEXT(fsync);
    if (!counts)
        return real(fd);
    return fails(SYNC, "fsync") ? -1 : 0;
}

SHOWN int rename(const char *from, const char *to)
{
    NEXT(rename);
    return fails(RENAME, "rename") ? -1 : real(from, to);
}

SHOWN int renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned flags)
{
    NEXT(renameat2);
    return fails(RENAME, "renameat2") ? -1 : real(from_dir, from, to_dir, to, flags);
}

SHOWN int link(const char *from, const char *to)
{
    NEXT(link);
    return fails(RENAME, "link") ? -1 : real(from, to);
}

/* Closed it is, whatever it says: so does Linux. */
SHOWN int close(int fd)
{
    NEXT(close);
    int result = real(fd);
    return fails(CLOSE, "close") ? -1 : result;
}

SHOWN int flock(int fd, int operation)
{
    NEXT(flock);
    return fails(FILES, "flock") ? -1 : real(fd, operation);
}

SHOWN int ftruncate(int fd, off_t size)
{
    NEXT(ftruncate);
    return fails(FILES, "ftruncate") ? -1 : real(fd, size);
}

/* It returns the error. */
SHOWN int posix_fallocate(int fd, off_t from, off_t size)
{
    NEXT(posix_fallocate);
    return fails(FILES, "posix_fallocate") ? errno : real(fd, from, size);
}

SHOWN int mkdir(const char *path, mode_t mode)
{
    NEXT(mkdir);
    return fails(FILES, "mkdir") ? -1 : real(path, mode);
}

SHOWN DIR *opendir(const char *path)
{
    NEXT(opendir);
    return fails(OPEN, "opendir") ? NULL : real(path);
}

SHOWN int unlink(const char *path)
{
    NEXT(unlink);
    return fails(FILES, "unlink") ? -1 : real(path);
}

SHOWN int stat(const char *path, struct stat *st)
{
    NEXT(stat);
    return fails(FILES, "stat") ? -1 : real(path, st);
}

SHOWN int lstat(const char *path, struct stat *st)
{
    NEXT(lstat);
    return fails(FILES, "lstat") ? -1 : real(path, st);
}

SHOWN int fstat(int fd, struct stat *st)
{
    NEXT(fstat);
    return fails(FILES, "fstat") ? -1 : real(fd, st);
}

SHOWN char *realpath(const char *path, char *resolved)
{
    NEXT(realpath);
    return fails(FILES, "realpath") ? NULL : real(path, resolved);
}
