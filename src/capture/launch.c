/* SPDX-License-Identifier: MIT */
#include "capture/launch.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/infile.h"
#include "capture/assemble.h"
#include "capture/places.h"
#include "isa/isa.h"

#define TOOL_NAME     "vestige-amd64-linux"
#define FIXED_OPTIONS 28
/* How many descriptors Valgrind keeps for itself, above the program's, ... */
#define RESERVED 12
/* ... of which there can be this many, even if more are allowed: the kernel's table of them gets as
 * large as the highest number in use. */
#define FILES_MAX 65536

/* ---- finding ------------------------------------------------------------------------------- */

/* The tool is beside the executable: bin/vestige and lib/vestige/valgrind. */
static int find_tool(const char *given, char *dir, size_t capacity, struct vs_diag *diag)
{
    char path[PATH_MAX + sizeof("/" TOOL_NAME)], self[PATH_MAX] = "", *slash;
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

    if (given) {
        snprintf(dir, capacity, "%s", given);
    } else {
        self[n > 0 ? n : 0] = 0;
        for (int up = 0; up < 2 && (slash = strrchr(self, '/')) != NULL; up++)
            *slash = 0;
        if ((size_t)snprintf(dir, capacity, "%s/lib/vestige/valgrind", self) >= capacity)
            dir[0] = 0;
    }
    snprintf(path, sizeof(path), "%s/" TOOL_NAME, dir);
    if (!vs_is_program(path))
        return vs_diag_set(diag, -VSE_NOTFOUND, -1, -1,
                           "the Valgrind tool is not at %.100s; build or install vestige", dir);
    return 0;
}

/* Debian's `valgrind` is a script that changes the program's environment; it starts this. */
static int find_valgrind(char *path, size_t capacity, struct vs_diag *diag)
{
    if (vs_find_program("valgrind.bin", path, capacity) < 0 &&
        vs_find_program("valgrind", path, capacity) < 0)
        return vs_diag_set(diag, -VSE_NOTFOUND, -1, -1,
                           "Valgrind is not installed; install the package valgrind");
    return 0;
}

static int check_elf(const Elf64_Ehdr *h, struct vs_diag *diag)
{
    const struct vs_isa *isa = vs_isa_find(VS_VALGRIND_ISA);

    if (h->e_ident[EI_CLASS] == ELFCLASS64 && h->e_machine == isa->elf_machine &&
        (h->e_type == ET_EXEC || h->e_type == ET_DYN))
        return 0;
    return vs_diag_set(diag, -VSE_INVAL, -1, -1,
                       "not an %s program (ELF machine %u, %s-bit); this engine runs %s Linux "
                       "programs",
                       isa->name, h->e_machine, h->e_ident[EI_CLASS] == ELFCLASS64 ? "64" : "32",
                       isa->name);
}

static int neither(struct vs_diag *diag)
{
    return vs_diag_set(diag, -VSE_INVAL, -1, -1, "neither an ELF program nor a script");
}

/* Checks the program that runs a script. */
static int check_interpreter(struct vs_infile *f, struct vs_diag *diag)
{
    int64_t n = vs_infile_line(f, diag);
    char *name = (char *)f->text.data;

    if (n == -VSE_LIMIT || (n >= 0 && (n < 2 || name[1] != '!')))
        return neither(diag);
    if (n < 0)
        return (int)n;
    name += 2 + strspn(name + 2, " \t");
    name[strcspn(name, " \t\r")] = 0;
    if (!vs_is_program(name))
        return vs_diag_set(diag, -VSE_NOTFOUND, -1, -1, "its interpreter '%.150s' is no program",
                           name);
    return 0;
}

static int check_file(struct vs_infile *f, struct vs_diag *diag)
{
    Elf64_Ehdr h = {0};
    int64_t n = vs_infile_peek(f, diag);

    if (n == '#')
        return check_interpreter(f, diag);
    if (n >= 0)
        n = vs_infile_bytes(f, &h, sizeof(h), diag);
    if (n < 0 && n != -VSE_END)
        return (int)n;
    if (n < 4 || memcmp(h.e_ident, ELFMAG, 4) != 0)
        return neither(diag);
    return n == sizeof(h) ? check_elf(&h, diag)
                          : vs_diag_set(diag, -VSE_INVAL, -1, -1, "a truncated program");
}

static int check_program(const char *name, struct vs_diag *diag)
{
    char path[PATH_MAX];
    struct vs_infile f;
    struct stat st;
    int e;

    if (vs_find_program(name, path, sizeof(path)) < 0)
        return vs_diag_set(diag, -VSE_NOTFOUND, -1, -1, "no such program in PATH");
    if (stat(path, &st) < 0)
        return vs_diag_set(diag, errno == ENOENT ? -VSE_NOTFOUND : -VSE_IO, -1, -1, "%s",
                           strerror(errno));
    if (!S_ISREG(st.st_mode))
        return vs_diag_set(diag, -VSE_INVAL, -1, -1, "not a file");
    if (access(path, X_OK) < 0)
        return vs_diag_set(diag, -VSE_INVAL, -1, -1, "not executable; chmod +x it");
    if (st.st_mode & (S_ISUID | S_ISGID))
        return vs_diag_set(diag, -VSE_INVAL, -1, -1,
                           "a setuid program, which Valgrind does not run");
    e = vs_infile_open(&f, path, NULL) < 0
            ? vs_diag_set(diag, -VSE_IO, -1, -1, "%s", strerror(errno))
            : check_file(&f, diag);
    vs_infile_close(&f);
    return e;
}

static const char *tool_folder(const struct vs_engine_request *o)
{
    const struct vs_valgrind_settings *settings = o->settings;

    return settings ? settings->tool : NULL;
}

int vs_launch_check(const struct vs_engine_request *o, struct vs_diag *diag)
{
    char dir[PATH_MAX], valgrind[PATH_MAX], path[PATH_MAX];
    int e = check_program(o->argv[0], diag);

    if (e == 0 && vs_find_program(o->argv[0], path, sizeof(path)) == 0)
        e = vs_places_check(path, o->places, o->place_count, o->main_only, diag);
    if (e == 0)
        e = find_tool(tool_folder(o), dir, sizeof(dir), diag);
    return e < 0 ? e : find_valgrind(valgrind, sizeof(valgrind), diag);
}

/* ---- starting ------------------------------------------------------------------------------ */

#define LIBRARY "VALGRIND_LIB="

struct arguments {
    char **list;
    size_t count;
    char **environment; /* ours, with `library`, which says where Valgrind finds the tool */
    char valgrind[PATH_MAX], library[PATH_MAX + 32];
};

static bool add(struct arguments *a, const char *format, ...)
{
    va_list ap;
    int n;

    va_start(ap, format);
    n = vasprintf(&a->list[a->count], format, ap);
    va_end(ap);
    if (n < 0)
        a->list[a->count] = NULL;
    else
        a->count++;
    return n >= 0;
}

static const char *yes_no(bool b)
{
    return b ? "yes" : "no";
}

static int make_arguments(struct arguments *a, const struct vs_engine_request *o,
                          const int fds[WIRE_DESCRIPTORS])
{
    struct rlimit files = {0};
    bool from = false, to = false, wanted = o->main_only, switched, ok;
    size_t argc = 0;

    for (size_t i = 0; i < o->place_count; i++) {
        from |= o->places[i].kind == VS_PLACE_FROM;
        to |= o->places[i].kind == VS_PLACE_TO;
        wanted |= o->places[i].kind == VS_PLACE_WANTED;
    }
    /* A window is then a count of what is recorded, which the assembler keeps. */
    switched = from || to || o->marks || o->start_off;
    while (o->argv[argc])
        argc++;
    getrlimit(RLIMIT_NOFILE, &files);
    a->list = calloc(FIXED_OPTIONS + o->window_count + argc + 1, sizeof(*a->list));
    if (!a->list)
        return -VSE_NOMEM;
    ok = add(a, "%s", a->valgrind) && add(a, "--tool=vestige") && add(a, "-q") &&
         add(a, "--vgdb=no") && add(a, "--trace-children=yes") && add(a, "--fair-sched=try") &&
         add(a, "--max-threads=2000") && add(a, "--sigill-diagnostics=yes") &&
         add(a, "--fds=%08d,%08d,%08d", fds[0], fds[1], fds[2]) &&
         add(a, "--state=" WIRE_STATE, 0ull, 0u, WIRE_STATE_NEW) &&
         add(a, "--files=" WIRE_FILES, (unsigned long long)files.rlim_cur,
             (unsigned long long)files.rlim_max) &&
         add(a, "--loads=%s", yes_no(o->loads && !o->light)) &&
         add(a, "--stores=%s", yes_no(o->stores && !o->light)) &&
         add(a, "--inputs=%s", yes_no(o->inputs)) && add(a, "--light=%s", yes_no(o->light)) &&
         add(a, "--whole=%s", yes_no(o->whole)) &&
         add(a, "--digests=%llu", (unsigned long long)o->digests) &&
         add(a, "--follow=%s", yes_no(o->follower != NULL)) &&
         add(a, "--signal=%d", o->trigger.kind == VS_TRIGGER_SIGNAL ? o->trigger.number : 0) &&
         add(a, "--wishes=%s", yes_no(o->paused || o->trigger.kind == VS_TRIGGER_TIME)) &&
         add(a, "--last=%llu", o->renewal ? (unsigned long long)o->renewal->every : 0) &&
         add(a, "--ask=%s", yes_no(o->place_count || o->main_only)) &&
         add(a, "--only-ranges=%s", yes_no(wanted)) && add(a, "--marks=%s", yes_no(o->marks)) &&
         add(a, "--start-off=%s", yes_no(o->marks || from || o->start_off));
    for (size_t i = 0; ok && !switched && i < o->window_count; i++)
        ok = add(a, "--window=%llu:%llu", (unsigned long long)o->windows[i].start,
                 (unsigned long long)o->windows[i].length);
    for (size_t i = 0; ok && i < argc; i++)
        ok = add(a, "%s", o->argv[i]);
    return ok ? 0 : -VSE_NOMEM;
}

static int make_environment(struct arguments *a)
{
    size_t count = 0, n = 0;

    while (environ[count])
        count++;
    if (!(a->environment = calloc(count + 2, sizeof(*a->environment))))
        return -VSE_NOMEM;
    for (size_t i = 0; i < count; i++)
        if (strncmp(environ[i], LIBRARY, strlen(LIBRARY)) != 0)
            a->environment[n++] = environ[i];
    a->environment[n] = a->library;
    return 0;
}

static void free_arguments(struct arguments *a)
{
    free(a->environment);
    for (size_t i = 0; i < a->count; i++)
        free(a->list[i]);
    free(a->list);
}

static void close_all(const int *fds, int n)
{
    for (int i = 0; i < n; i++)
        if (fds[i] >= 0)
            close(fds[i]);
}

/* Makes Valgrind's descriptors lie above all those that the program can come to use. The tool shows
 * the program the limits as they were. */
static void raise_limit(void)
{
    struct rlimit had, files;

    if (getrlimit(RLIMIT_NOFILE, &had) < 0)
        return;
    files = had;
    if (files.rlim_cur < FILES_MAX)
        files.rlim_cur = files.rlim_max < FILES_MAX ? files.rlim_max : FILES_MAX;
    had.rlim_cur = files.rlim_cur;
    if (files.rlim_max < files.rlim_cur + RESERVED)
        files.rlim_max = files.rlim_cur + RESERVED; /* this needs privileges */
    if (setrlimit(RLIMIT_NOFILE, &files) < 0)
        setrlimit(RLIMIT_NOFILE, &had);
}

/* Runs in the child, which makes only calls that are safe in a signal handler, as another thread
 * may have held the allocator's lock at the fork. The tool's arguments have the numbers of its
 * descriptors, which must not be closed. */
static void become_valgrind(const struct arguments *a, const int tool[3])
{
    for (int i = 0; i < 3; i++)
        fcntl(tool[i], F_SETFD, 0);
    raise_limit();
    execve(a->valgrind, a->list, a->environment);
    _exit(127);
}

/* Returns the memory; NULL, with errno set. Its size is sealed, since whoever made it smaller could
 * make us read beyond its end. */
static void *make_memory(int *fd)
{
    void *memory;

    *fd = memfd_create("vestige", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (*fd < 0 || ftruncate(*fd, WIRE_RING_SIZE) < 0 ||
        fcntl(*fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
        return NULL;
    memory = mmap(NULL, WIRE_RING_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

/* What is shared with the tool, by descriptor: ours, then the tool's in the order of its option. */
enum { OURS, THEIRS, MEMORY, LOG, FDS };

static int share(struct vs_launch *l, int fds[FDS], struct vs_diag *diag)
{
    l->memory = make_memory(&fds[MEMORY]);
    fds[LOG] = memfd_create("vestige-log", MFD_CLOEXEC);
    if (!l->memory || fds[LOG] < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
        return vs_diag_set(diag, -VSE_IO, -1, -1, "cannot share memory with Valgrind: %s",
                           strerror(errno));
    return 0;
}

int vs_launch_start(struct vs_launch *l, const struct vs_engine_request *o, struct vs_diag *diag)
{
    int fds[FDS] = {-1, -1, -1, -1}, e;
    struct arguments a = {0};

    *l = (struct vs_launch){.socket = -1, .log = -1, .process = -1};
    strcpy(a.library, LIBRARY);
    if ((e = find_tool(tool_folder(o), a.library + strlen(LIBRARY),
                       sizeof(a.library) - strlen(LIBRARY), diag)) < 0 ||
        (e = find_valgrind(a.valgrind, sizeof(a.valgrind), diag)) < 0)
        return e;
    e = share(l, fds, diag);
    /* Time that is over before the program begins is over for all of it. */
    if (e == 0 && o->trigger.kind == VS_TRIGGER_TIME && o->trigger.seconds == 0)
        vs_launch_wish(l, o->renewal ? WIRE_WISH_STOP : WIRE_WISH_ON);
    if (e == 0)
        e = make_arguments(&a, o, &fds[THEIRS]);
    if (e == 0)
        e = make_environment(&a);
    if (e == 0 && (l->pid = fork()) < 0)
        e = vs_diag_set(diag, -VSE_IO, -1, -1, "cannot start Valgrind: %s", strerror(errno));
    if (e == 0 && l->pid == 0)
        become_valgrind(&a, &fds[THEIRS]);
    if (e == 0)
        l->process = (int)syscall(SYS_pidfd_open, l->pid, 0);
    free_arguments(&a);
    close_all(&fds[THEIRS], 2);
    l->socket = fds[OURS];
    l->log = fds[LOG];
    return e;
}

int vs_launch_child(struct vs_launch *l, int theirs[WIRE_DESCRIPTORS], struct vs_diag *diag)
{
    int fds[FDS] = {-1, -1, -1, -1}, yes = 1, e;

    *l = (struct vs_launch){.socket = -1, .log = -1, .process = -1, .child = true};
    e = share(l, fds, diag);
    /* Its first words are to say which process it is, in our numbers. */
    if (e == 0)
        e = setsockopt(fds[OURS], SOL_SOCKET, SO_PASSCRED, &yes, sizeof(yes));
    /* We keep a descriptor of the log for ourselves. */
    if (e == 0 && (l->log = fcntl(fds[LOG], F_DUPFD_CLOEXEC, 0)) < 0)
        e = -1;
    l->socket = fds[OURS];
    if (e == 0) {
        memcpy(theirs, &fds[THEIRS], WIRE_DESCRIPTORS * sizeof(*theirs));
        return 0;
    }
    if (diag->error == 0)
        vs_diag_set(diag, -VSE_IO, -1, -1, "%s", strerror(errno));
    close_all(&fds[THEIRS], WIRE_DESCRIPTORS);
    vs_launch_close(l);
    return -VSE_IO;
}

void vs_launch_born(struct vs_launch *l, pid_t pid)
{
    l->pid = pid;
    l->process = (int)syscall(SYS_pidfd_open, pid, 0);
}

void vs_launch_gone(struct vs_launch *l)
{
    struct wire_ring ring;

    memcpy(&ring, l->memory, sizeof(ring));
    l->over = true;
    l->lost = ring.version != WIRE_VERSION || !(ring.ending & WIRE_ENDED);
    l->status = l->lost ? 0 : (int)(ring.ending & 0xffff);
}

void vs_launch_wish(const struct vs_launch *l, enum wire_wish wish)
{
    const struct wire_ring *ring = (const struct wire_ring *)(const void *)l->memory;

    __atomic_store_n((uint32_t *)(uintptr_t)&ring->wish, (uint32_t)wish, __ATOMIC_RELAXED);
}

void vs_launch_signal(const struct vs_launch *l, int signal)
{
    if (l->over || l->pid <= 0)
        return;
    if (!l->child)
        kill(l->pid, signal);
    else if (l->process >= 0)
        syscall(SYS_pidfd_send_signal, l->process, signal, NULL, 0);
}

bool vs_launch_over(struct vs_launch *l)
{
    if (!l->over && !l->child && l->pid > 0 && waitpid(l->pid, &l->status, WNOHANG) == l->pid)
        l->over = true;
    return l->over;
}

void vs_launch_wait(struct vs_launch *l)
{
    if (l->child)
        return;
    while (!l->over && l->pid > 0 && waitpid(l->pid, &l->status, 0) < 0 && errno == EINTR)
        ;
    l->over = true;
}

/* ---- stopping -------------------------------------------------------------------------------- */

/* Gives what /proc says about the program after this word. Returns whether the word is there. */
static bool find_status(const struct vs_launch *l, const char *word, char *text, size_t capacity)
{
    struct vs_infile f;
    char path[64];
    bool found = false;

    snprintf(path, sizeof(path), "/proc/%d/status", (int)l->pid);
    if (vs_infile_open(&f, path, NULL) == 0)
        while (!found && vs_infile_line(&f, NULL) >= 0) {
            const char *line = (const char *)f.text.data;

            if (!strncmp(line, word, strlen(word))) {
                line += strlen(word);
                snprintf(text, capacity, "%s", line + strspn(line, ": \t"));
                found = true;
            }
        }
    vs_infile_close(&f);
    return found;
}

static bool is_stopped(const struct vs_launch *l)
{
    char state[32];

    return find_status(l, "State", state, sizeof(state)) && *state == 'T';
}

static bool ignores(const struct vs_launch *l, int signal)
{
    char mask[32];

    return find_status(l, "SigIgn", mask, sizeof(mask)) &&
           strtoull(mask, NULL, 16) >> (signal - 1) & 1;
}

/* SIGTSTP is used, and not SIGSTOP: nobody could continue an orphaned process group, which SIGTSTP
 * does not stop. */
static void stop_us(void)
{
    struct sigaction usual = {.sa_handler = SIG_DFL}, before;
    sigset_t set, old;

    sigemptyset(&set);
    sigaddset(&set, SIGTSTP);
    sigaction(SIGTSTP, &usual, &before);
    pthread_sigmask(SIG_UNBLOCK, &set, &old);
    raise(SIGTSTP);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    sigaction(SIGTSTP, &before, NULL);
}

/* Waits until all its threads have stopped: one that reads from the terminal would take what is
 * typed for the shell. It does not wait for ever, since somebody may have continued the program
 * already. */
static void await_stop(const struct vs_launch *l)
{
    const struct timespec moment = {.tv_nsec = 1000000};
    siginfo_t info = {0};

    for (int i = 0; i < 2000; i++) {
        if (waitid(P_PID, (id_t)l->pid, &info, WSTOPPED | WEXITED | WNOWAIT | WNOHANG) < 0 ||
            info.si_pid)
            return;
        nanosleep(&moment, NULL);
    }
}

void vs_launch_stop(const struct vs_launch *l)
{
    const struct timespec moment = {.tv_nsec = 20000000};
    struct termios modes;
    int tty;

    if (l->over)
        stop_us();
    if (l->over || ignores(l, SIGTSTP))
        return;
    kill(l->pid, SIGSTOP);
    await_stop(l);
    tty = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (tty >= 0 && tcgetattr(tty, &modes) < 0) {
        close(tty);
        tty = -1;
    }
    stop_us();
    /* The program does not know that it was stopped, so the terminal has to be as it left it. */
    if (tty >= 0 && tcgetpgrp(tty) == getpgrp())
        tcsetattr(tty, TCSADRAIN, &modes);
    if (tty >= 0)
        close(tty);
    /* A shell continues the program as well. */
    nanosleep(&moment, NULL);
    if (is_stopped(l))
        kill(l->pid, SIGCONT);
}

void vs_launch_pause(struct vs_launch *l)
{
    if (l->over || l->pid <= 0 || is_stopped(l))
        return;
    l->paused = true;
    vs_launch_signal(l, SIGSTOP);
}

void vs_launch_continue(struct vs_launch *l)
{
    if (l->paused && is_stopped(l))
        vs_launch_signal(l, SIGCONT);
    l->paused = false;
}

void vs_launch_close(struct vs_launch *l)
{
    if (l->pid > 0 && !vs_launch_over(l)) {
        vs_launch_signal(l, SIGKILL);
        vs_launch_wait(l);
    }
    close_all(&l->socket, 1);
    close_all(&l->log, 1);
    close_all(&l->process, 1);
    if (l->memory)
        munmap((void *)(uintptr_t)l->memory, WIRE_RING_SIZE);
    *l = (struct vs_launch){.socket = -1, .log = -1, .process = -1};
}
