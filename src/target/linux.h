/* SPDX-License-Identifier: MIT */
/* What the parts of a process share: its state, and what they do for each other.
 *
 * A call's handler gets the task and the call's arguments. It returns the result as the program
 * sees it (an error is a negative errno of the target), or one of VS_CALL_x. If the simulator
 * itself lacks memory, `nomem` is set, which ends the run. */
#ifndef TARGET_LINUX_H
#define TARGET_LINUX_H

#include "isa/isa.h"
#include "target/linux_abi.h"
#include "target/process.h"
#include "target/space.h"

#define VS_CALL_BLOCKED INT64_MIN       /* the task waits in the call */
#define VS_CALL_GONE    (INT64_MIN + 1) /* there is nothing to return to */
#define VS_CALL_LAST    (INT64_MIN + 2) /* the call ended its task */
#define VS_NEVER        UINT64_MAX
#define VS_SECOND       UINT64_C(1000000000)

/* ---- waiting --------------------------------------------------------------------------------- */

enum vs_wait_kind {
    VS_WAIT_RETRY,   /* for a file: the handler is called again */
    VS_WAIT_SLEEP,   /* for time */
    VS_WAIT_FUTEX,   /* for another task to wake it */
    VS_WAIT_SIGNAL,  /* for any signal that is delivered */
    VS_WAIT_SIGNALS, /* for a signal of a set: sigtimedwait */
};

/* What a signal does to a call that waits. */
enum vs_restart {
    VS_RESTART_NONE,   /* the call is not interrupted */
    VS_RESTART_ASKED,  /* it is made again if the handler has SA_RESTART or there is none */
    VS_RESTART_SILENT, /* it is made again if there is no handler */
    VS_RESTART_NEVER,  /* it ends with EINTR */
};

struct vs_wait {
    enum vs_wait_kind kind;
    enum vs_restart restart;
    bool again;        /* the handler was called before */
    bool host;         /* it waits for a file of the host */
    uint64_t deadline; /* or VS_NEVER */
    uint64_t order;    /* less for a wait that began earlier */
    uint64_t addr;     /* futex: its address; sleep: where to write the remaining time, or 0;
                        * signals: where to write what came, or 0 */
    uint64_t set;      /* futex: bits; signals: those waited for */
    uint64_t done;     /* bytes that the call has already written */
};

/* ---- signals --------------------------------------------------------------------------------- */

#define VS_SIGNAL_BIT(number) (UINT64_C(1) << ((number)-1))
#define VS_SIGNAL_QUEUE       4096

struct vs_signal {
    struct vs_linux_siginfo info;
    struct vs_timer *timer; /* the one that sent it, or NULL */
};

struct vs_signals {
    struct vs_signal *list; /* in order of arrival */
    size_t count, capacity;
    uint64_t set;
};

struct vs_task_linux {
    uint64_t clear_tid, robust;
    uint64_t blocked;
    uint64_t blocked_before; /* if `restore`: becomes `blocked` again when the call ends */
    bool restore;
    enum vs_restart interrupted; /* not NONE: a signal woke it from a call that has not ended yet */
    struct vs_linux_stack altstack;
    struct vs_signals pending;
    struct vs_wait wait; /* while blocked */
    char name[16];
};

/* ---- time ------------------------------------------------------------------------------------ */

struct vs_timer {
    bool used, queued;
    uint64_t due, interval; /* VS_NEVER: not armed */
    int notify, signal, clock;
    uint64_t value;
    uint32_t tid;
    int32_t id; /* -1: an interval timer of setitimer */
    uint64_t missed, overrun;
};

#define VS_TIMERS 64

/* ---- files ----------------------------------------------------------------------------------- */

enum vs_file_kind {
    VS_FILE_HOST,
    VS_FILE_PIPE_IN,
    VS_FILE_PIPE_OUT,
    VS_FILE_EVENT,
    VS_FILE_RANDOM
};

struct vs_pipe {
    uint8_t *bytes;
    size_t start, used, readers, writers;
};

#define VS_PIPE_SIZE 65536

/* An open file. */
struct vs_file {
    enum vs_file_kind kind;
    unsigned users;
    int host;      /* the host's descriptor; -1: the file is not the host's */
    bool borrowed; /* the descriptor is the simulator's own */
    bool waits;    /* reading or writing may have to wait */
    int flags;     /* the target's O_x */
    struct vs_pipe *pipe;
    uint64_t count; /* an eventfd's */
    bool semaphore;
    uint32_t number; /* its inode, if the file is not the host's */
};

struct vs_fd {
    struct vs_file *file;
    bool cloexec;
};

#define VS_FDS       1024
#define VS_TASKS_MAX 4096

/* ---- the process ----------------------------------------------------------------------------- */

struct vs_linux {
    struct vs_space space;
    unsigned cores;
    uint64_t random;
    const struct vs_interrupt *interrupt;
    bool nomem;
    char *path; /* of the program, absolute */
    uint8_t build_id[64];

    struct vs_fd fds[VS_FDS];
    int cwd;
    unsigned umask;
    uint32_t files;     /* how many were made that are not the host's */
    bool files_changed; /* a wait for a pipe may be over */

    struct vs_linux_sigaction actions[VS_ABI_SIGNALS + 1];
    struct vs_signals pending;
    struct vs_timer intervals[3], timers[VS_TIMERS];

    uint64_t waits;      /* how many ever began */
    uint64_t ended_time; /* what tasks that ended have used */
    uint32_t next_tid;
    int leader_status;
};

typedef int64_t vs_handler(struct vs_process *p, struct vs_task *t, const uint64_t *a);

/* ---- process.c ------------------------------------------------------------------------------- */

/* Appends an effect that is zero but for its kind and task, and returns it; it is valid until the
 * next is added. Never NULL: without memory the last effect is lost and `nomem` is set. */
struct vs_effect *vs_effect_add(struct vs_process *p, enum vs_effect_kind kind, struct vs_task *t);

/* Returns a new task in a free slot, with its registers zero, or NULL without memory. */
struct vs_task *vs_task_new(struct vs_process *p);
struct vs_task *vs_task_find(const struct vs_process *p, uint32_t tid);
void vs_task_end(struct vs_process *p, struct vs_task *t, int status);
/* Ends all tasks; the status is as waitpid gives it. */
void vs_process_end(struct vs_process *p, int status);

/* The handler of t's call has to wait, and returns what this returns. A second call for the same
 * wait continues it. */
int64_t vs_wait_begin(struct vs_process *p, struct vs_task *t, enum vs_wait_kind kind,
                      enum vs_restart restart, uint64_t deadline);
/* A blocked call ends. */
void vs_wait_end(struct vs_process *p, struct vs_task *t, int64_t result);

uint64_t vs_process_random(struct vs_process *p);

/* ---- load_program.c -------------------------------------------------------------------------- */

/* Maps the program and its stack, and sets pc and sp. Returns what vs_process_open does. */
int vs_load(struct vs_process *p, struct vs_task *t, const struct vs_process_options *options,
            struct vs_diag *diag);

/* ---- call_table.c ---------------------------------------------------------------------------- */

/* Returns NULL for a call that is not supported. */
vs_handler *vs_call_handler(enum vs_syscall call);
/* Returns whether a call that waits for the file in its first argument waits in order to write. */
bool vs_call_writes(enum vs_syscall call);
/* Notes that the task's call is not supported. Returns -ENOSYS. */
int64_t vs_call_unsupported(struct vs_process *p, const struct vs_task *t);

/* ---- signals.c ------------------------------------------------------------------------------- */

/* Sends a signal to a task or, with t NULL, to the process. Returns 0; -EAGAIN (too many are
 * pending). */
int vs_signal_send(struct vs_process *p, struct vs_task *t, const struct vs_signal *signal);
struct vs_signal vs_signal_plain(int number, int code, uint32_t first, uint32_t second);
/* Sends a signal that a task causes by what it does, which kills if it is blocked or ignored. */
void vs_signal_force(struct vs_process *p, struct vs_task *t, const struct vs_signal *signal);
/* The task has another mask until it leaves the call that it waits in. */
void vs_signal_mask_for_wait(struct vs_process *p, struct vs_task *t, uint64_t mask);
/* Puts the mask before that back, if there is one. */
void vs_signal_mask_back(struct vs_process *p, struct vs_task *t);
/* A blocked task leaves its call if a signal is due for it. */
void vs_signal_wake(struct vs_process *p, struct vs_task *t);
/* Tells each pending signal of the process to a task that wants it, if there is one. */
void vs_signal_retarget(struct vs_process *p);
void vs_signals_fini(struct vs_signals *s);
/* Signals that the timer has sent no longer belong to it. */
void vs_signal_cancel(struct vs_process *p, const struct vs_timer *timer);

/* ---- futex.c --------------------------------------------------------------------------------- */

void vs_futex_exit(struct vs_process *p, struct vs_task *t);

/* ---- time.c ---------------------------------------------------------------------------------- */

/* Reads a timespec as nanoseconds, at most VS_NEVER - 1. Returns 0; -EFAULT; -EINVAL. */
int vs_time_get(const struct vs_process *p, uint64_t addr, uint64_t *ns);
/* Return the `now` at which `ns` nanoseconds will have passed, or at which the clock will say
 * `ns`. */
uint64_t vs_time_after(const struct vs_process *p, uint64_t ns);
uint64_t vs_time_at(const struct vs_process *p, int clock, uint64_t ns);
struct vs_linux_time vs_time_spec(uint64_t ns);
/* Returns the timer that is due first, or NULL. */
struct vs_timer *vs_timer_next(const struct vs_process *p);
void vs_timer_expire(struct vs_process *p, struct vs_timer *timer);
/* The timer's signal is delivered: sets its overrun in info. */
void vs_timer_taken(struct vs_timer *timer, struct vs_linux_siginfo *info);

/* ---- files ----------------------------------------------------------------------------------- */

/* files.c: init takes over the simulator's standard files, and returns 0; -VSE_NOMEM; -VSE_IO. fini
 * closes all files. */
int vs_files_init(struct vs_process *p);
void vs_files_fini(struct vs_process *p);
/* Returns NULL if the descriptor is not open. */
struct vs_file *vs_file_of(const struct vs_process *p, uint64_t fd);
void vs_file_release(struct vs_process *p, struct vs_file *f);
struct vs_file *vs_file_new(struct vs_process *p, enum vs_file_kind kind, int host, int flags);
/* Returns the lowest free descriptor from `least` on, now the file's; or -EMFILE, and the file is
 * released. */
int64_t vs_fd_install(struct vs_process *p, struct vs_file *f, bool cloexec, unsigned least);

/* pipes.c: like read(2) and write(2), but return -EAGAIN instead of waiting. */
int64_t vs_pipe_read(struct vs_process *p, struct vs_file *f, void *bytes, size_t size);
int64_t vs_pipe_write(struct vs_process *p, struct vs_file *f, const void *bytes, size_t size);
void vs_pipe_close(struct vs_process *p, struct vs_file *f);
int64_t vs_event_read(struct vs_process *p, struct vs_file *f, void *bytes, size_t size);
int64_t vs_event_write(struct vs_process *p, struct vs_file *f, const void *bytes, size_t size);

/* poll.c: returns which of the events (POLLIN, POLLOUT ...) hold now. */
short vs_file_ready(const struct vs_file *f, short events);
/* Lists the files of the host that the task waits for, at most `room`. Returns how many. */
struct pollfd;
size_t vs_poll_host(const struct vs_process *p, const struct vs_task *t, struct pollfd *list,
                    size_t room);

/* ---- handlers -------------------------------------------------------------------------------- */

#define VS_HANDLER(name) vs_handler vs_call_##name
VS_HANDLER(mmap);
VS_HANDLER(munmap);
VS_HANDLER(mprotect);
VS_HANDLER(mremap);
VS_HANDLER(madvise);
VS_HANDLER(brk);
VS_HANDLER(msync);
VS_HANDLER(mincore);
VS_HANDLER(clone);
VS_HANDLER(clone3);
VS_HANDLER(exit);
VS_HANDLER(exit_group);
VS_HANDLER(set_tid_address);
VS_HANDLER(sched_getaffinity);
VS_HANDLER(sched_setaffinity);
VS_HANDLER(sched_getparam);
VS_HANDLER(sched_getscheduler);
VS_HANDLER(sched_setscheduler);
VS_HANDLER(sched_setparam);
VS_HANDLER(sched_get_priority_max);
VS_HANDLER(sched_get_priority_min);
VS_HANDLER(sched_rr_get_interval);
VS_HANDLER(getcpu);
VS_HANDLER(gettid);
VS_HANDLER(futex);
VS_HANDLER(set_robust_list);
VS_HANDLER(get_robust_list);
VS_HANDLER(rt_sigaction);
VS_HANDLER(rt_sigprocmask);
VS_HANDLER(sigaltstack);
VS_HANDLER(rt_sigsuspend);
VS_HANDLER(rt_sigtimedwait);
VS_HANDLER(rt_sigpending);
VS_HANDLER(rt_sigreturn);
VS_HANDLER(rt_sigqueueinfo);
VS_HANDLER(rt_tgsigqueueinfo);
VS_HANDLER(kill);
VS_HANDLER(tkill);
VS_HANDLER(tgkill);
VS_HANDLER(clock_gettime);
VS_HANDLER(clock_getres);
VS_HANDLER(clock_settime);
VS_HANDLER(gettimeofday);
VS_HANDLER(nanosleep);
VS_HANDLER(clock_nanosleep);
VS_HANDLER(times);
VS_HANDLER(getrusage);
VS_HANDLER(setitimer);
VS_HANDLER(getitimer);
VS_HANDLER(timer_create);
VS_HANDLER(timer_settime);
VS_HANDLER(timer_gettime);
VS_HANDLER(timer_getoverrun);
VS_HANDLER(timer_delete);
VS_HANDLER(openat);
VS_HANDLER(close);
VS_HANDLER(close_range);
VS_HANDLER(dup);
VS_HANDLER(dup3);
VS_HANDLER(fcntl);
VS_HANDLER(ioctl);
VS_HANDLER(pipe2);
VS_HANDLER(eventfd2);
VS_HANDLER(read);
VS_HANDLER(write);
VS_HANDLER(readv);
VS_HANDLER(writev);
VS_HANDLER(pread64);
VS_HANDLER(pwrite64);
VS_HANDLER(preadv);
VS_HANDLER(pwritev);
VS_HANDLER(flock);
VS_HANDLER(getrandom);
VS_HANDLER(lseek);
VS_HANDLER(fstat);
VS_HANDLER(newfstatat);
VS_HANDLER(statx);
VS_HANDLER(statfs);
VS_HANDLER(fstatfs);
VS_HANDLER(readlinkat);
VS_HANDLER(faccessat);
VS_HANDLER(faccessat2);
VS_HANDLER(getcwd);
VS_HANDLER(chdir);
VS_HANDLER(fchdir);
VS_HANDLER(mkdirat);
VS_HANDLER(unlinkat);
VS_HANDLER(linkat);
VS_HANDLER(symlinkat);
VS_HANDLER(renameat2);
VS_HANDLER(fchmod);
VS_HANDLER(fchmodat);
VS_HANDLER(utimensat);
VS_HANDLER(truncate);
VS_HANDLER(ftruncate);
VS_HANDLER(fallocate);
VS_HANDLER(fsync);
VS_HANDLER(getdents64);
VS_HANDLER(umask);
VS_HANDLER(ppoll);
VS_HANDLER(pselect6);

#endif
