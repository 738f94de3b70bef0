/* SPDX-License-Identifier: MIT */
#include "replay/calls.h"

#include <errno.h>

enum { PAGE = 4096 };
enum { MOST = 0x7ffff000 }; /* the most bytes that one call moves */

/* How many bytes a row stands for, and when they are written. */
enum rule {
    NOTHING,
    RESULT,      /* as many as the result says */
    FIXED,       /* `size`, if the call succeeds and the pointer is not null */
    SIGNAL,      /* `size`, if the result is a signal */
    INTERRUPTED, /* `size`, if a signal ended the call */
    SPECIAL,     /* as a function tells */
};

typedef int tell(const struct vs_call_made *c, const struct vs_call_memory *m);

static tell vector, poll_list, select_sets, ioctl_answer, fcntl_answer, wake_op, core_map, groups,
    name, pending, ids, two_words, robust, times_of_day, map, unmap, remap, advise, slept,
    clone_ids, clone3_ids;

/* These stand for sizes that the ISA's ABI has. */
enum { SIZE_STAT = 0xffff, SIZE_SIGACTION = 0xfffe };

/* The calls that write, which argument says where, and the size. A call that writes in two places
 * is SPECIAL. */
static const struct row {
    uint16_t call, size;
    uint8_t rule, argument;
    tell *special;
} rows[] = {
    /* files */
    {.call = VS_SYS_getcwd, .rule = RESULT, .argument = 0},
    {.call = VS_SYS_fcntl, .rule = SPECIAL, .special = fcntl_answer},
    {.call = VS_SYS_ioctl, .rule = SPECIAL, .special = ioctl_answer},
    {.call = VS_SYS_statfs, .rule = FIXED, .argument = 1, .size = 120},
    {.call = VS_SYS_fstatfs, .rule = FIXED, .argument = 1, .size = 120},
    {.call = VS_SYS_pipe2, .rule = FIXED, .argument = 0, .size = 8},
    {.call = VS_SYS_getdents64, .rule = RESULT, .argument = 1},
    {.call = VS_SYS_read, .rule = RESULT, .argument = 1},
    {.call = VS_SYS_readv, .rule = SPECIAL, .special = vector},
    {.call = VS_SYS_pread64, .rule = RESULT, .argument = 1},
    {.call = VS_SYS_preadv, .rule = SPECIAL, .special = vector},
    {.call = VS_SYS_pselect6, .rule = SPECIAL, .special = select_sets},
    {.call = VS_SYS_ppoll, .rule = SPECIAL, .special = poll_list},
    {.call = VS_SYS_readlinkat, .rule = RESULT, .argument = 2},
    {.call = VS_SYS_newfstatat, .rule = FIXED, .argument = 2, .size = SIZE_STAT},
    {.call = VS_SYS_fstat, .rule = FIXED, .argument = 1, .size = SIZE_STAT},
    {.call = VS_SYS_getrandom, .rule = RESULT, .argument = 0},
    {.call = VS_SYS_statx, .rule = FIXED, .argument = 4, .size = 256},
    /* threads */
    {.call = VS_SYS_futex, .rule = SPECIAL, .special = wake_op},
    {.call = VS_SYS_get_robust_list, .rule = SPECIAL, .special = robust},
    {.call = VS_SYS_sched_getparam, .rule = FIXED, .argument = 1, .size = 4},
    {.call = VS_SYS_sched_getaffinity, .rule = RESULT, .argument = 2},
    {.call = VS_SYS_sched_rr_get_interval, .rule = FIXED, .argument = 1, .size = 16},
    {.call = VS_SYS_getcpu, .rule = SPECIAL, .special = two_words},
    {.call = VS_SYS_clone, .rule = SPECIAL, .special = clone_ids},
    {.call = VS_SYS_clone3, .rule = SPECIAL, .special = clone3_ids},
    /* signals */
    {.call = VS_SYS_sigaltstack, .rule = FIXED, .argument = 1, .size = 24},
    {.call = VS_SYS_rt_sigaction, .rule = FIXED, .argument = 2, .size = SIZE_SIGACTION},
    {.call = VS_SYS_rt_sigprocmask, .rule = FIXED, .argument = 2, .size = 8},
    {.call = VS_SYS_rt_sigpending, .rule = SPECIAL, .special = pending},
    {.call = VS_SYS_rt_sigtimedwait, .rule = SIGNAL, .argument = 1, .size = 128},
    /* time */
    {.call = VS_SYS_nanosleep, .rule = INTERRUPTED, .argument = 1, .size = 16},
    {.call = VS_SYS_getitimer, .rule = FIXED, .argument = 1, .size = 32},
    {.call = VS_SYS_setitimer, .rule = FIXED, .argument = 2, .size = 32},
    {.call = VS_SYS_timer_create, .rule = FIXED, .argument = 2, .size = 4},
    {.call = VS_SYS_timer_gettime, .rule = FIXED, .argument = 1, .size = 32},
    {.call = VS_SYS_timer_settime, .rule = FIXED, .argument = 3, .size = 32},
    {.call = VS_SYS_clock_gettime, .rule = FIXED, .argument = 1, .size = 16},
    {.call = VS_SYS_clock_getres, .rule = FIXED, .argument = 1, .size = 16},
    {.call = VS_SYS_clock_nanosleep, .rule = SPECIAL, .special = slept},
    {.call = VS_SYS_times, .rule = FIXED, .argument = 0, .size = 32},
    {.call = VS_SYS_getrusage, .rule = FIXED, .argument = 1, .size = 144},
    {.call = VS_SYS_gettimeofday, .rule = SPECIAL, .special = times_of_day},
    /* the process */
    {.call = VS_SYS_getresuid, .rule = SPECIAL, .special = ids},
    {.call = VS_SYS_getresgid, .rule = SPECIAL, .special = ids},
    {.call = VS_SYS_getgroups, .rule = SPECIAL, .special = groups},
    {.call = VS_SYS_uname, .rule = FIXED, .argument = 0, .size = 390},
    {.call = VS_SYS_getrlimit, .rule = FIXED, .argument = 1, .size = 16},
    {.call = VS_SYS_prctl, .rule = SPECIAL, .special = name},
    {.call = VS_SYS_sysinfo, .rule = FIXED, .argument = 0, .size = 112},
    {.call = VS_SYS_prlimit64, .rule = FIXED, .argument = 3, .size = 16},
    /* memory */
    {.call = VS_SYS_munmap, .rule = SPECIAL, .special = unmap},
    {.call = VS_SYS_mremap, .rule = SPECIAL, .special = remap},
    {.call = VS_SYS_mmap, .rule = SPECIAL, .special = map},
    {.call = VS_SYS_mincore, .rule = SPECIAL, .special = core_map},
    {.call = VS_SYS_madvise, .rule = SPECIAL, .special = advise},
};

/* Calls that write nothing, or whose effects the replay itself knows (exit, brk, rt_sigreturn). */
static const uint16_t harmless[] = {VS_SYS_eventfd2,
                                    VS_SYS_dup,
                                    VS_SYS_dup3,
                                    VS_SYS_flock,
                                    VS_SYS_mkdirat,
                                    VS_SYS_unlinkat,
                                    VS_SYS_symlinkat,
                                    VS_SYS_linkat,
                                    VS_SYS_truncate,
                                    VS_SYS_ftruncate,
                                    VS_SYS_fallocate,
                                    VS_SYS_faccessat,
                                    VS_SYS_chdir,
                                    VS_SYS_fchdir,
                                    VS_SYS_fchmod,
                                    VS_SYS_fchmodat,
                                    VS_SYS_fchownat,
                                    VS_SYS_fchown,
                                    VS_SYS_openat,
                                    VS_SYS_close,
                                    VS_SYS_lseek,
                                    VS_SYS_write,
                                    VS_SYS_writev,
                                    VS_SYS_pwrite64,
                                    VS_SYS_pwritev,
                                    VS_SYS_sync,
                                    VS_SYS_fsync,
                                    VS_SYS_fdatasync,
                                    VS_SYS_utimensat,
                                    VS_SYS_personality,
                                    VS_SYS_exit,
                                    VS_SYS_exit_group,
                                    VS_SYS_waitid,
                                    VS_SYS_set_tid_address,
                                    VS_SYS_set_robust_list,
                                    VS_SYS_timer_getoverrun,
                                    VS_SYS_timer_delete,
                                    VS_SYS_clock_settime,
                                    VS_SYS_sched_setparam,
                                    VS_SYS_sched_setscheduler,
                                    VS_SYS_sched_getscheduler,
                                    VS_SYS_sched_setaffinity,
                                    VS_SYS_sched_yield,
                                    VS_SYS_sched_get_priority_max,
                                    VS_SYS_sched_get_priority_min,
                                    VS_SYS_kill,
                                    VS_SYS_tkill,
                                    VS_SYS_tgkill,
                                    VS_SYS_rt_sigsuspend,
                                    VS_SYS_rt_sigqueueinfo,
                                    VS_SYS_rt_sigreturn,
                                    VS_SYS_setpriority,
                                    VS_SYS_getpriority,
                                    VS_SYS_setpgid,
                                    VS_SYS_getpgid,
                                    VS_SYS_getsid,
                                    VS_SYS_setsid,
                                    VS_SYS_setrlimit,
                                    VS_SYS_umask,
                                    VS_SYS_getpid,
                                    VS_SYS_getppid,
                                    VS_SYS_getuid,
                                    VS_SYS_geteuid,
                                    VS_SYS_getgid,
                                    VS_SYS_getegid,
                                    VS_SYS_gettid,
                                    VS_SYS_readahead,
                                    VS_SYS_brk,
                                    VS_SYS_fadvise64,
                                    VS_SYS_mprotect,
                                    VS_SYS_msync,
                                    VS_SYS_mlock,
                                    VS_SYS_munlock,
                                    VS_SYS_mlockall,
                                    VS_SYS_munlockall,
                                    VS_SYS_rt_tgsigqueueinfo,
                                    VS_SYS_riscv_hwprobe,
                                    VS_SYS_riscv_flush_icache,
                                    VS_SYS_wait4,
                                    VS_SYS_renameat2,
                                    VS_SYS_membarrier,
                                    VS_SYS_mlock2,
                                    VS_SYS_rseq,
                                    VS_SYS_close_range,
                                    VS_SYS_faccessat2};

static int64_t outcome(const struct vs_call_made *c)
{
    return (int64_t)c->result;
}

/* Returns whether the call succeeded, or failed half-way, when a part may be written; *exact tells
 * which. */
static bool did(const struct vs_call_made *c, bool *exact)
{
    *exact = outcome(c) != -EFAULT;
    return outcome(c) >= 0 || !*exact;
}

static int put(const struct vs_call_memory *m, uint64_t addr, uint64_t size, bool exact)
{
    return addr && size ? m->wrote(m->context, addr, size, exact) : 0;
}

static int everything(const struct vs_call_memory *m)
{
    return m->wrote(m->context, 0, VS_CALL_EVERYTHING, false);
}

static uint64_t pages(uint64_t size)
{
    return size > UINT64_MAX - PAGE ? size : (size + PAGE - 1) / PAGE * PAGE;
}

/* ---- those that are like no other ------------------------------------------------------------ */

static int vector(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    enum { PARTS_MOST = 1024 };
    uint64_t left = outcome(c) > 0 && c->result <= MOST ? c->result : 0;
    for (uint64_t i = 0; i < c->args[2] && i < PARTS_MOST && left; i++) {
        struct vs_abi_iovec part;
        if (m->read(m->context, c->args[1] + i * sizeof(part), (uint8_t *)&part, sizeof(part)) !=
            sizeof(part))
            return everything(m);
        uint64_t size = part.size < left ? part.size : left;
        int err = put(m, part.base, size, true);
        if (err)
            return err;
        left -= size;
    }
    return 0;
}

static int poll_list(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    bool exact;
    int err = 0;
    if (!did(c, &exact) || c->args[1] > PAGE)
        return 0;
    for (uint64_t i = 0; i < c->args[1] && !err; i++)
        err = put(m, c->args[0] + i * sizeof(struct vs_abi_pollfd) + 6, 2, exact);
    return err;
}

static int select_sets(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    enum { DESCRIPTORS = 1024 };
    bool exact;
    uint64_t count = (uint32_t)c->args[0] < DESCRIPTORS ? (uint32_t)c->args[0] : DESCRIPTORS;
    int err = 0;
    if (!did(c, &exact))
        return 0;
    for (unsigned i = 1; i <= 3 && !err; i++)
        err = put(m, c->args[i], (count + 63) / 64 * 8, exact);
    return err;
}

static int ioctl_answer(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    static const struct {
        uint32_t request;
        uint8_t size;
    } requests[] = {{0x5401, 36}, {0x5413, 8}, {0x541b, 4}}; /* TCGETS, TIOCGWINSZ, FIONREAD */
    for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]) && outcome(c) >= 0; i++)
        if ((uint32_t)c->args[1] == requests[i].request)
            return put(m, c->args[2], requests[i].size, true);
    return 0;
}

static int fcntl_answer(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    enum { GETLK = 5, FLOCK_SIZE = 32 };
    return (uint32_t)c->args[1] == GETLK && outcome(c) >= 0 ? put(m, c->args[2], FLOCK_SIZE, true)
                                                            : 0;
}

static int wake_op(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    enum { WAKE_OP = 5, COMMAND = 127 };
    return (c->args[1] & COMMAND) == WAKE_OP && outcome(c) >= 0 ? put(m, c->args[4], 4, true) : 0;
}

/* Only a sleep for some time, not one until some time, tells what is left of it. */
static int slept(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    enum { ABSOLUTE = 1 };
    return outcome(c) == -EINTR && !(c->args[1] & ABSOLUTE) ? put(m, c->args[3], 16, true) : 0;
}

/* mincore writes a byte for each page. */
static int core_map(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    bool exact;
    return did(c, &exact) ? put(m, c->args[2], pages(c->args[1]) / PAGE, exact) : 0;
}

static int groups(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    return c->args[0] && outcome(c) > 0 && outcome(c) <= 65536
               ? put(m, c->args[1], 4 * c->result, true)
               : 0;
}

static int name(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    enum { GET_NAME = 16 };
    return c->args[0] == GET_NAME && outcome(c) >= 0 ? put(m, c->args[1], 16, true) : 0;
}

static int pending(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    return outcome(c) >= 0 ? put(m, c->args[0], c->args[1] < 8 ? c->args[1] : 8, true) : 0;
}

/* The call writes so many bytes at each of `count` arguments from `first` on, or fewer if one is
 * bad. */
static int at_each(const struct vs_call_made *c, const struct vs_call_memory *m, unsigned first,
                   unsigned count, const uint8_t *sizes)
{
    bool exact;
    int err = 0;
    if (!did(c, &exact))
        return 0;
    for (unsigned i = 0; i < count && !err; i++)
        err = put(m, c->args[first + i], sizes[i], exact);
    return err;
}

static int ids(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    return at_each(c, m, 0, 3, (const uint8_t[]){4, 4, 4});
}

static int two_words(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    return at_each(c, m, 0, 2, (const uint8_t[]){4, 4});
}

static int times_of_day(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    return at_each(c, m, 0, 2, (const uint8_t[]){16, 8});
}

static int robust(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    return at_each(c, m, 1, 2, (const uint8_t[]){8, 8});
}

static int map(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    return outcome(c) > 0 ? put(m, c->result, pages(c->args[1]), true) : 0;
}

static int unmap(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    return outcome(c) >= 0 ? put(m, c->args[0], pages(c->args[1]), true) : 0;
}

/* Memory that stays in its place keeps its contents. */
static int remap(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    uint64_t old = pages(c->args[1]), size = pages(c->args[2]);
    if (outcome(c) <= 0)
        return 0;
    if (c->result == c->args[0]) {
        uint64_t lesser = old < size ? old : size, more = old < size ? size : old;
        return more > lesser ? put(m, c->args[0] + lesser, more - lesser, true) : 0;
    }
    int err = put(m, c->args[0], old, true);
    return err ? err : put(m, c->result, size, true);
}

/* Memory of files keeps its contents, but it is not known here which memory that is. */
static int advise(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    enum { DONTNEED = 4 };
    return c->args[2] == DONTNEED && outcome(c) >= 0 ? put(m, c->args[0], pages(c->args[1]), false)
                                                     : 0;
}

/* ---- threads --------------------------------------------------------------------------------- */

enum {
    PARENT_SETTID = 0x00100000,
    CHILD_CLEARTID = 0x00200000,
    CHILD_SETTID = 0x01000000,
};

static int tell_ids(const struct vs_call_made *c, const struct vs_call_memory *m,
                    const struct vs_abi_clone *how)
{
    int err = 0;
    if (outcome(c) <= 0)
        return 0;
    if (how->flags & PARENT_SETTID)
        err = put(m, how->parent_tid, 4, true);
    return !err && how->flags & CHILD_SETTID ? put(m, how->child_tid, 4, true) : err;
}

/* Gets what a clone was asked for. Returns false if that is not known. */
static bool get_request(const struct vs_call_made *c, const struct vs_call_memory *m,
                        struct vs_abi_clone *how)
{
    const uint64_t *a = c->args;
    if (c->what == VS_SYS_clone3) {
        if (m->read(m->context, a[0], (uint8_t *)how, sizeof(*how)) != sizeof(*how))
            return false;
        how->stack += how->stack_size;
        return true;
    }
    *how = (struct vs_abi_clone){.flags = a[0],
                                 .stack = a[1],
                                 .parent_tid = a[2],
                                 .tls = a[c->abi->clone_tls],
                                 .child_tid = a[c->abi->clone_child]};
    return true;
}

static int clone_ids(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    struct vs_abi_clone how;
    get_request(c, m, &how);
    return tell_ids(c, m, &how);
}

static int clone3_ids(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    struct vs_abi_clone how;
    if (outcome(c) <= 0)
        return 0;
    return get_request(c, m, &how) ? tell_ids(c, m, &how) : everything(m);
}

bool vs_call_starts(const struct vs_call_made *c, const struct vs_call_memory *m,
                    struct vs_call_thread *thread)
{
    struct vs_abi_clone how;
    if ((c->what != VS_SYS_clone && c->what != VS_SYS_clone3) || outcome(c) <= 0 ||
        !get_request(c, m, &how))
        return false;
    *thread = (struct vs_call_thread){how.stack, how.flags & CHILD_CLEARTID ? how.child_tid : 0};
    return true;
}

int vs_call_signal(const struct vs_call_made *c)
{
    static const struct {
        uint16_t call;
        uint8_t argument;
    } senders[] = {{VS_SYS_kill, 1},
                   {VS_SYS_tkill, 1},
                   {VS_SYS_tgkill, 2},
                   {VS_SYS_rt_sigqueueinfo, 1},
                   {VS_SYS_rt_tgsigqueueinfo, 2}};
    for (size_t i = 0; i < sizeof(senders) / sizeof(senders[0]); i++)
        if (senders[i].call == c->what) {
            uint32_t signal = (uint32_t)c->args[senders[i].argument];
            return signal <= VS_ABI_SIGNALS ? (int)signal : 0;
        }
    return 0;
}

/* ---- all ------------------------------------------------------------------------------------- */

enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

static size_t find_row(enum vs_syscall call)
{
    size_t i = 0;
    while (i < ROWS && rows[i].call != call)
        i++;
    return i;
}

bool vs_call_is_known(enum vs_syscall call)
{
    for (size_t i = 0; i < sizeof(harmless) / sizeof(harmless[0]); i++)
        if (harmless[i] == call)
            return true;
    return find_row(call) < ROWS;
}

static uint64_t size_of(const struct row *row, const struct vs_abi *abi)
{
    return row->size == SIZE_STAT        ? abi->stat_size
           : row->size == SIZE_SIGACTION ? abi->sigaction_size
                                         : row->size;
}

int vs_call_tell(const struct vs_call_made *c, const struct vs_call_memory *m)
{
    size_t i = find_row(c->what);
    if (i == ROWS)
        return outcome(c) < 0 || vs_call_is_known(c->what) ? 0 : everything(m);
    uint64_t addr = c->args[rows[i].argument], size = size_of(&rows[i], c->abi);
    switch ((enum rule)rows[i].rule) {
    case NOTHING:
        return 0;
    case RESULT:
        return outcome(c) > 0 && c->result <= MOST ? put(m, addr, c->result, true) : 0;
    case FIXED:
        return outcome(c) >= 0 ? put(m, addr, size, true) : 0;
    case SIGNAL:
        return outcome(c) > 0 ? put(m, addr, size, true) : 0;
    case INTERRUPTED:
        return outcome(c) == -EINTR ? put(m, addr, size, true) : 0;
    case SPECIAL:
        return rows[i].special(c, m);
    }
    return 0;
}
