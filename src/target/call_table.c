/* SPDX-License-Identifier: MIT */
/* The table of system calls, and the calls that are too small for a file of their own. */
#include <errno.h>
#include <limits.h>
#include <linux/membarrier.h>
#include <linux/prctl.h>
#include <stdio.h>
#include <string.h>

#include "target/linux.h"

/* ---- what does not change -------------------------------------------------------------------- */

static int64_t call_zero(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    (void)p, (void)t, (void)a;
    return 0;
}

/* Libraries probe for these calls and do well without them. */
static int64_t call_absent(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    (void)p, (void)t, (void)a;
    return -ENOSYS;
}

static int64_t call_not_permitted(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    (void)p, (void)t, (void)a;
    return -EPERM;
}

static int64_t call_no_child(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    (void)p, (void)t, (void)a;
    return -ECHILD;
}

static int64_t call_getpid(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    (void)p, (void)t, (void)a;
    return VS_LINUX_PID;
}

static int64_t call_getppid(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    (void)p, (void)t, (void)a;
    return VS_LINUX_PPID;
}

static int64_t call_getpgid(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    (void)p, (void)t;
    return (int32_t)a[0] == 0 || (int32_t)a[0] == VS_LINUX_PID ? VS_LINUX_PID : -ESRCH;
}

static int64_t call_getuid(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    (void)p, (void)t, (void)a;
    return VS_LINUX_UID;
}

static int64_t call_getresuid(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    const uint32_t id = VS_LINUX_UID;
    for (size_t i = 0; i < 3; i++)
        if (vs_guest_put(p, t, a[i], &id, sizeof(id)))
            return -EFAULT;
    return 0;
}

static int64_t call_getgroups(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    const uint32_t id = VS_LINUX_UID;
    if (!a[0])
        return 1;
    int err = (int32_t)a[0] < 0 ? -EINVAL : vs_guest_put(p, t, a[1], &id, sizeof(id));
    return err ? err : 1;
}

/* The system call gives nice values as 40 down to 1; 20 is the usual. */
static int64_t call_getpriority(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    (void)p, (void)t;
    return a[0] > 2 ? -EINVAL : 20;
}

static int64_t call_uname(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    const char *const fields[6] = {
        "Linux", "vestige", "6.1.0-vestige", "#1 SMP", p->isa->abi->machine, "(none)"};
    char out[6][65];
    memset(out, 0, sizeof(out));
    for (size_t i = 0; i < 6; i++)
        snprintf(out[i], sizeof(out[i]), "%s", fields[i]);
    return vs_guest_put(p, t, a[0], out, sizeof(out));
}

static int64_t call_sysinfo(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    struct {
        int64_t uptime;
        uint64_t loads[3], total, free, shared, buffers, swap, swap_free;
        uint16_t tasks, pad;
        uint64_t high, high_free;
        uint32_t unit, pad2;
    } info;
    memset(&info, 0, sizeof(info));
    info.uptime = (int64_t)(p->now / VS_SECOND);
    info.total = p->linux_state->space.limit;
    info.free = vs_space_left(p);
    info.tasks = (uint16_t)p->alive;
    info.unit = 1;
    return vs_guest_put(p, t, a[0], &info, sizeof(info));
}

/* ---- limits ---------------------------------------------------------------------------------- */

enum { LIMIT_STACK = 3, LIMIT_CORE = 4, LIMIT_FILES = 7, LIMIT_KINDS = 16 };

static uint64_t limit_of(uint64_t kind)
{
    switch (kind) {
    case LIMIT_STACK:
        return VS_LINUX_STACK_SIZE;
    case LIMIT_CORE:
        return 0;
    case LIMIT_FILES:
        return VS_FDS;
    default:
        return UINT64_MAX;
    }
}

/* Limits are fixed. A program may lower one, which does nothing. */
static int64_t call_prlimit64(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    uint64_t want[2], have[2] = {limit_of(a[1]), limit_of(a[1])};
    if (a[1] >= LIMIT_KINDS)
        return -EINVAL;
    if ((int32_t)a[0] && (int32_t)a[0] != VS_LINUX_PID)
        return -ESRCH;
    if (a[2] && vs_guest_get(p, a[2], want, sizeof(want)))
        return -EFAULT;
    if (a[2] && want[0] > want[1])
        return -EINVAL;
    if (a[2] && want[1] > have[1])
        return -EPERM;
    return a[3] && vs_guest_put(p, t, a[3], have, sizeof(have)) ? -EFAULT : 0;
}

static int64_t call_getrlimit(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    const uint64_t args[6] = {0, a[0], 0, a[1]};
    return call_prlimit64(p, t, args);
}

static int64_t call_setrlimit(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    const uint64_t args[6] = {0, a[0], a[1], 0};
    return call_prlimit64(p, t, args);
}

/* ---- the rest -------------------------------------------------------------------------------- */

static int64_t call_prctl(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    char *name = t->linux_state->name;
    switch (a[0]) {
    case PR_SET_NAME: {
        char text[16] = {0};
        uint64_t span = vs_space_span(p, a[1], sizeof(text) - 1, VS_MAP_READ);
        if (!span || vs_guest_get(p, a[1], text, span))
            return -EFAULT;
        memset(name, 0, 16);
        memcpy(name, text, strlen(text));
        return 0;
    }
    case PR_GET_NAME:
        return vs_guest_put(p, t, a[1], name, 16);
    case PR_GET_DUMPABLE:
        return 1;
    case PR_SET_DUMPABLE:
    case PR_SET_PDEATHSIG:
    case PR_SET_TIMERSLACK:
        return 0;
    case PR_GET_TIMERSLACK:
        return 50000;
    case PR_GET_NO_NEW_PRIVS:
        return 0;
    default:
        return -EINVAL;
    }
}

/* Cores take turns, so memory is always in order. */
static int64_t call_membarrier(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    const uint64_t known =
        MEMBARRIER_CMD_GLOBAL | MEMBARRIER_CMD_GLOBAL_EXPEDITED |
        MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED | MEMBARRIER_CMD_PRIVATE_EXPEDITED |
        MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED | MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE |
        MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE;
    (void)t;
    if (a[0] == MEMBARRIER_CMD_QUERY)
        return (int64_t)known;
    if (a[0] & ~known || a[0] & (a[0] - 1))
        return -EINVAL;
    vs_cpu_flush_all(p->code);
    return 0;
}

static int64_t call_flush_icache(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    (void)t, (void)a;
    vs_cpu_flush_all(p->code);
    return 0;
}

int64_t vs_call_unsupported(struct vs_process *p, const struct vs_task *t)
{
    size_t i = 0;
    while (i < p->unsupported_count && p->unsupported[i].number != t->call.number)
        i++;
    if (i == VS_UNSUPPORTED_MAX)
        return -ENOSYS;
    if (i == p->unsupported_count) {
        p->unsupported_count++;
        p->unsupported[i] = (struct vs_unsupported){.number = t->call.number, .pc = t->call.pc};
    }
    p->unsupported[i].times++;
    return -ENOSYS;
}

/* ---- the table ------------------------------------------------------------------------------- */

#define CALL(name) [VS_SYS_##name] = vs_call_##name

static vs_handler *const handlers[] = {
    /* memory */
    CALL(mmap),
    CALL(munmap),
    CALL(mprotect),
    CALL(mremap),
    CALL(madvise),
    CALL(brk),
    CALL(msync),
    CALL(mincore),
    [VS_SYS_mlock] = call_zero,
    [VS_SYS_munlock] = call_zero,
    [VS_SYS_mlockall] = call_zero,
    [VS_SYS_munlockall] = call_zero,
    [VS_SYS_mlock2] = call_zero,
    [VS_SYS_riscv_flush_icache] = call_flush_icache,
    [VS_SYS_riscv_hwprobe] = call_absent,
    /* threads */
    CALL(clone),
    CALL(clone3),
    CALL(exit),
    CALL(exit_group),
    CALL(set_tid_address),
    CALL(gettid),
    CALL(futex),
    CALL(set_robust_list),
    CALL(get_robust_list),
    CALL(sched_getaffinity),
    CALL(sched_setaffinity),
    CALL(sched_getparam),
    CALL(sched_setparam),
    CALL(sched_getscheduler),
    CALL(sched_setscheduler),
    CALL(sched_get_priority_max),
    CALL(sched_get_priority_min),
    CALL(sched_rr_get_interval),
    CALL(getcpu),
    [VS_SYS_sched_yield] = call_zero,
    [VS_SYS_rseq] = call_absent,
    [VS_SYS_membarrier] = call_membarrier,
    [VS_SYS_wait4] = call_no_child,
    [VS_SYS_waitid] = call_no_child,
    /* signals */
    CALL(rt_sigaction),
    CALL(rt_sigprocmask),
    CALL(sigaltstack),
    CALL(rt_sigsuspend),
    CALL(rt_sigtimedwait),
    CALL(rt_sigpending),
    CALL(rt_sigreturn),
    CALL(rt_sigqueueinfo),
    CALL(rt_tgsigqueueinfo),
    CALL(kill),
    CALL(tkill),
    CALL(tgkill),
    /* time */
    CALL(clock_gettime),
    CALL(clock_getres),
    CALL(clock_settime),
    CALL(gettimeofday),
    CALL(nanosleep),
    CALL(clock_nanosleep),
    CALL(times),
    CALL(getrusage),
    CALL(setitimer),
    CALL(getitimer),
    CALL(timer_create),
    CALL(timer_settime),
    CALL(timer_gettime),
    CALL(timer_getoverrun),
    CALL(timer_delete),
    /* files */
    CALL(openat),
    CALL(close),
    CALL(close_range),
    CALL(dup),
    CALL(dup3),
    CALL(fcntl),
    CALL(flock),
    CALL(ioctl),
    CALL(pipe2),
    CALL(eventfd2),
    CALL(read),
    CALL(write),
    CALL(readv),
    CALL(writev),
    CALL(pread64),
    CALL(pwrite64),
    CALL(preadv),
    CALL(pwritev),
    CALL(lseek),
    CALL(fstat),
    CALL(newfstatat),
    CALL(statx),
    CALL(statfs),
    CALL(fstatfs),
    CALL(readlinkat),
    CALL(faccessat),
    CALL(faccessat2),
    CALL(getcwd),
    CALL(chdir),
    CALL(fchdir),
    CALL(mkdirat),
    CALL(unlinkat),
    CALL(linkat),
    CALL(symlinkat),
    CALL(renameat2),
    CALL(fchmod),
    CALL(fchmodat),
    CALL(utimensat),
    CALL(truncate),
    CALL(ftruncate),
    CALL(fallocate),
    CALL(fsync),
    CALL(getdents64),
    CALL(umask),
    CALL(ppoll),
    CALL(pselect6),
    [VS_SYS_fdatasync] = vs_call_fsync,
    [VS_SYS_fadvise64] = call_zero,
    [VS_SYS_readahead] = call_zero,
    [VS_SYS_sync] = call_zero,
    [VS_SYS_fchown] = call_zero,
    [VS_SYS_fchownat] = call_zero,
    /* the process */
    [VS_SYS_getpid] = call_getpid,
    [VS_SYS_getppid] = call_getppid,
    [VS_SYS_getpgid] = call_getpgid,
    [VS_SYS_getsid] = call_getpgid,
    [VS_SYS_setsid] = call_not_permitted,
    [VS_SYS_setpgid] = call_not_permitted,
    [VS_SYS_getuid] = call_getuid,
    [VS_SYS_geteuid] = call_getuid,
    [VS_SYS_getgid] = call_getuid,
    [VS_SYS_getegid] = call_getuid,
    [VS_SYS_getresuid] = call_getresuid,
    [VS_SYS_getresgid] = call_getresuid,
    [VS_SYS_getgroups] = call_getgroups,
    [VS_SYS_getpriority] = call_getpriority,
    [VS_SYS_setpriority] = call_zero,
    [VS_SYS_uname] = call_uname,
    [VS_SYS_sysinfo] = call_sysinfo,
    [VS_SYS_prlimit64] = call_prlimit64,
    [VS_SYS_getrlimit] = call_getrlimit,
    [VS_SYS_setrlimit] = call_setrlimit,
    [VS_SYS_prctl] = call_prctl,
    CALL(getrandom),
    [VS_SYS_personality] = call_zero,
};

vs_handler *vs_call_handler(enum vs_syscall call)
{
    return call < sizeof(handlers) / sizeof(handlers[0]) ? handlers[call] : NULL;
}

bool vs_call_writes(enum vs_syscall call)
{
    return call == VS_SYS_write || call == VS_SYS_writev;
}
