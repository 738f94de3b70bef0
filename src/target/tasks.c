/* SPDX-License-Identifier: MIT */
/* Threads: their start and end, and what they may ask of the scheduler. */
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <time.h>

#include "target/linux.h"

#define THREAD_FLAGS (CLONE_VM | CLONE_SIGHAND | CLONE_THREAD)
#define NICE_SLICE   UINT64_C(4000000)

/* ---- starting -------------------------------------------------------------------------------- */

/* What clone and clone3 ask for. */
struct request {
    uint64_t flags, stack, parent_tid, child_tid, tls;
};

static void copy_cpu(const struct vs_abi *abi, struct vs_cpu *child, const struct vs_cpu *cpu,
                     const struct request *r)
{
    vs_cpu_copy(child, cpu);
    child->retired = 0;
    vs_cpu_put(child, abi->result, 0);
    if (r->stack)
        vs_cpu_put(child, abi->stack, r->stack);
    if (r->flags & CLONE_SETTLS)
        vs_cpu_put(child, abi->thread, r->tls);
}

static int64_t start(struct vs_process *p, struct vs_task *t, const struct request *r)
{
    if ((r->flags & THREAD_FLAGS) != THREAD_FLAGS)
        return vs_call_unsupported(p, t); /* another process */
    if (p->alive >= VS_TASKS_MAX)
        return -EAGAIN;
    struct vs_task *child = vs_task_new(p);
    if (!child)
        return -EAGAIN;
    copy_cpu(p->isa->abi, child->cpu, t->cpu, r);
    child->call = t->call;
    child->linux_state->blocked = t->linux_state->blocked;
    memcpy(child->linux_state->name, t->linux_state->name, sizeof(child->linux_state->name));
    if (r->flags & CLONE_PARENT_SETTID)
        vs_guest_put(p, t, r->parent_tid, &child->tid, sizeof(child->tid));
    if (r->flags & CLONE_CHILD_SETTID)
        vs_guest_put(p, t, r->child_tid, &child->tid, sizeof(child->tid));
    if (r->flags & CLONE_CHILD_CLEARTID)
        child->linux_state->clear_tid = r->child_tid;
    vs_effect_add(p, VS_EFFECT_STARTED, child);
    return child->tid;
}

int64_t vs_call_clone(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    const struct vs_abi *abi = p->isa->abi;
    struct request r = {a[0], a[1], a[2], a[abi->clone_child], a[abi->clone_tls]};
    return start(p, t, &r);
}

int64_t vs_call_clone3(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    struct vs_abi_clone args;
    if (a[1] < sizeof(args))
        return -EINVAL;
    if (a[1] > VS_PAGE_SIZE)
        return -E2BIG;
    if (vs_guest_get(p, a[0], &args, sizeof(args)))
        return -EFAULT;
    if (!args.stack != !args.stack_size || args.stack > UINT64_MAX - args.stack_size)
        return -EINVAL;
    struct request r = {args.flags, args.stack + args.stack_size, args.parent_tid, args.child_tid,
                        args.tls};
    return start(p, t, &r);
}

int64_t vs_call_set_tid_address(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    (void)p;
    t->linux_state->clear_tid = a[0];
    return t->tid;
}

int64_t vs_call_gettid(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    (void)p, (void)a;
    return t->tid;
}

/* ---- ending ---------------------------------------------------------------------------------- */

/* The process gets the status of its first thread, unless it ends as a whole. */
int64_t vs_call_exit(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    int status = (int)(a[0] & 0xff) << 8;
    if (t->tid == VS_LINUX_PID)
        p->linux_state->leader_status = status;
    vs_futex_exit(p, t);
    vs_task_end(p, t, status);
    if (!p->alive)
        vs_process_end(p, p->linux_state->leader_status);
    else
        vs_signal_retarget(p);
    return VS_CALL_LAST;
}

int64_t vs_call_exit_group(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    (void)t;
    vs_process_end(p, (int)(a[0] & 0xff) << 8);
    return VS_CALL_LAST;
}

/* ---- scheduling ------------------------------------------------------------------------------ */

static const struct vs_task *task_of(const struct vs_process *p, const struct vs_task *t,
                                     uint64_t tid)
{
    return (uint32_t)tid ? vs_task_find(p, (uint32_t)tid) : t;
}

/* Returns the size in bytes of the kernel's set of cores. */
static uint64_t mask_size(const struct vs_process *p)
{
    return (p->linux_state->cores + 63) / 64 * 8;
}

int64_t vs_call_sched_getaffinity(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    uint64_t size = mask_size(p);
    if (!task_of(p, t, a[0]))
        return -ESRCH;
    if (a[1] & 7 || a[1] < size)
        return -EINVAL;
    for (uint64_t at = 0; at < size; at += 8) {
        uint64_t left = p->linux_state->cores - at * 8;
        uint64_t word = left >= 64 ? UINT64_MAX : (UINT64_C(1) << left) - 1;
        if (vs_guest_put(p, t, a[2] + at, &word, sizeof(word)))
            return -EFAULT;
    }
    return (int64_t)size;
}

/* This is accepted but has no effect: whoever runs the cores decides where a task runs. */
int64_t vs_call_sched_setaffinity(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    uint64_t word = 0, size = a[1] < sizeof(word) ? a[1] : sizeof(word);
    if (!task_of(p, t, a[0]))
        return -ESRCH;
    if (vs_guest_get(p, a[2], &word, size))
        return -EFAULT;
    uint64_t have =
        p->linux_state->cores >= 64 ? UINT64_MAX : (UINT64_C(1) << p->linux_state->cores) - 1;
    return word & have || a[1] > sizeof(word) ? 0 : -EINVAL;
}

int64_t vs_call_sched_getparam(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    const uint32_t priority = 0;
    if (!task_of(p, t, a[0]))
        return -ESRCH;
    return vs_guest_put(p, t, a[1], &priority, sizeof(priority));
}

int64_t vs_call_sched_getscheduler(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    return task_of(p, t, a[0]) ? SCHED_OTHER : -ESRCH;
}

static int64_t check_priority(const struct vs_process *p, uint64_t addr)
{
    int32_t priority;
    if (vs_guest_get(p, addr, &priority, sizeof(priority)))
        return -EFAULT;
    return priority ? -EINVAL : 0;
}

int64_t vs_call_sched_setscheduler(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    if (!task_of(p, t, a[0]))
        return -ESRCH;
    if (a[1] == SCHED_FIFO || a[1] == SCHED_RR)
        return -EPERM;
    return a[1] == SCHED_OTHER || a[1] == SCHED_BATCH ? check_priority(p, a[2]) : -EINVAL;
}

int64_t vs_call_sched_setparam(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    return task_of(p, t, a[0]) ? check_priority(p, a[1]) : -ESRCH;
}

int64_t vs_call_sched_get_priority_max(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    (void)p, (void)t;
    if (a[0] == SCHED_FIFO || a[0] == SCHED_RR)
        return 99;
    return a[0] <= SCHED_IDLE ? 0 : -EINVAL;
}

int64_t vs_call_sched_get_priority_min(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    (void)p, (void)t;
    if (a[0] == SCHED_FIFO || a[0] == SCHED_RR)
        return 1;
    return a[0] <= SCHED_IDLE ? 0 : -EINVAL;
}

int64_t vs_call_sched_rr_get_interval(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    const struct vs_linux_time slice = vs_time_spec(NICE_SLICE);
    if (!task_of(p, t, a[0]))
        return -ESRCH;
    return vs_guest_put(p, t, a[1], &slice, sizeof(slice));
}

int64_t vs_call_getcpu(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    const uint32_t core = t->cpu->id % p->linux_state->cores, node = 0;
    if ((a[0] && vs_guest_put(p, t, a[0], &core, sizeof(core))) ||
        (a[1] && vs_guest_put(p, t, a[1], &node, sizeof(node))))
        return -EFAULT;
    return 0;
}
