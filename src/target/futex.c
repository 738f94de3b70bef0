/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <time.h>

#include "target/linux.h"

#define ANY_BIT    FUTEX_BITSET_MATCH_ANY
#define ROBUST_MAX 2048 /* how many of a thread's mutexes are looked at */

/* ---- waiters --------------------------------------------------------------------------------- */

static bool waits_at(const struct vs_task *t, uint64_t addr)
{
    const struct vs_wait *w = &t->linux_state->wait;
    return t->state == VS_TASK_BLOCKED && w->kind == VS_WAIT_FUTEX && w->addr == addr;
}

/* Returns the task that has waited longest at addr with one of the bits in set, or NULL. */
static struct vs_task *first_waiter(const struct vs_process *p, uint64_t addr, uint64_t set)
{
    struct vs_task *best = NULL;
    for (size_t i = 0; i < p->task_count; i++) {
        struct vs_task *t = p->tasks[i];
        if (waits_at(t, addr) && t->linux_state->wait.set & set &&
            (!best || t->linux_state->wait.order < best->linux_state->wait.order))
            best = t;
    }
    return best;
}

static int64_t wake(struct vs_process *p, uint64_t addr, uint64_t most, uint64_t set)
{
    struct vs_task *t;
    int64_t count = 0;
    for (; (uint64_t)count < most && (t = first_waiter(p, addr, set)); count++)
        vs_wait_end(p, t, 0);
    return count;
}

static int64_t requeue(struct vs_process *p, uint64_t from, uint64_t to, uint64_t most)
{
    struct vs_task *t;
    int64_t count = 0;
    if (from == to)
        return 0;
    for (; (uint64_t)count < most && (t = first_waiter(p, from, ANY_BIT)); count++) {
        t->linux_state->wait.addr = to;
        t->linux_state->wait.order = p->linux_state->waits++;
    }
    return count;
}

/* ---- operations ------------------------------------------------------------------------------ */

/* Sets *deadline to when the wait gives up. Returns 0 or a negative errno. */
static int deadline_of(const struct vs_process *p, const uint64_t *a, uint64_t *deadline)
{
    bool relative = (a[1] & FUTEX_CMD_MASK) == FUTEX_WAIT;
    int clock = a[1] & FUTEX_CLOCK_REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC;
    uint64_t ns;
    *deadline = VS_NEVER;
    if (!a[3])
        return 0;
    int err = vs_time_get(p, a[3], &ns);
    if (!err)
        *deadline = relative ? vs_time_after(p, ns) : vs_time_at(p, clock, ns);
    return err;
}

static int64_t wait(struct vs_process *p, struct vs_task *t, const uint64_t *a, uint64_t set)
{
    uint64_t deadline;
    uint32_t value;
    int err = deadline_of(p, a, &deadline);
    if (err)
        return err;
    if (vs_guest_get(p, a[0], &value, sizeof(value)))
        return -EFAULT;
    if (!set)
        return -EINVAL;
    if (value != (uint32_t)a[2])
        return -EAGAIN;
    if (deadline <= p->now)
        return -ETIMEDOUT;
    vs_wait_begin(p, t, VS_WAIT_FUTEX, a[3] ? VS_RESTART_SILENT : VS_RESTART_ASKED, deadline);
    t->linux_state->wait.addr = a[0];
    t->linux_state->wait.set = set;
    return VS_CALL_BLOCKED;
}

/* FUTEX_WAKE takes a count of less than 1 as 1; other operations refuse negative ones. */
static uint64_t count_of(uint64_t arg)
{
    int32_t n = (int32_t)arg;
    return n < 1 ? 1 : (uint64_t)n;
}

static int64_t do_requeue(struct vs_process *p, const uint64_t *a, bool compare)
{
    uint32_t value;
    if ((int32_t)a[2] < 0 || (int32_t)a[3] < 0 || a[4] & 3)
        return -EINVAL;
    if (compare && vs_guest_get(p, a[0], &value, sizeof(value)))
        return -EFAULT;
    if (compare && value != (uint32_t)a[5])
        return -EAGAIN;
    if (vs_space_span(p, a[4], 4, VS_MAP_READ) < 4)
        return -EFAULT;
    int64_t woken = wake(p, a[0], (uint32_t)a[2], ANY_BIT);
    int64_t moved = requeue(p, a[0], a[4], (uint32_t)a[3]);
    return woken + moved;
}

/* Sets *value to what FUTEX_WAKE_OP makes of a word. Returns 0 or -ENOSYS. */
static int operate(uint32_t code, uint32_t old, uint32_t *value)
{
    uint32_t operand = (uint32_t)((int32_t)(code << 8) >> 20);
    if (code >> 28 & FUTEX_OP_OPARG_SHIFT)
        operand = 1u << (operand & 31);
    switch (code >> 28 & 7) {
    case FUTEX_OP_SET:
        *value = operand;
        return 0;
    case FUTEX_OP_ADD:
        *value = old + operand;
        return 0;
    case FUTEX_OP_OR:
        *value = old | operand;
        return 0;
    case FUTEX_OP_ANDN:
        *value = old & ~operand;
        return 0;
    case FUTEX_OP_XOR:
        *value = old ^ operand;
        return 0;
    default:
        return -ENOSYS;
    }
}

static int compare(uint32_t code, int32_t old)
{
    int32_t operand = (int32_t)(code << 20) >> 20;
    switch (code >> 24 & 15) {
    case FUTEX_OP_CMP_EQ:
        return old == operand;
    case FUTEX_OP_CMP_NE:
        return old != operand;
    case FUTEX_OP_CMP_LT:
        return old < operand;
    case FUTEX_OP_CMP_GE:
        return old >= operand;
    case FUTEX_OP_CMP_LE:
        return old <= operand;
    case FUTEX_OP_CMP_GT:
        return old > operand;
    default:
        return -ENOSYS;
    }
}

static int64_t wake_op(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    uint32_t old, value, code = (uint32_t)a[5];
    if (a[4] & 3)
        return -EINVAL;
    if (vs_guest_get(p, a[4], &old, sizeof(old)))
        return -EFAULT;
    int err = operate(code, old, &value), holds = compare(code, (int32_t)old);
    if (err || holds < 0)
        return -ENOSYS;
    if (vs_guest_put(p, t, a[4], &value, sizeof(value)))
        return -EFAULT;
    int64_t count = wake(p, a[0], count_of(a[2]), ANY_BIT);
    return holds ? count + wake(p, a[4], count_of(a[3]), ANY_BIT) : count;
}

int64_t vs_call_futex(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    uint32_t command = (uint32_t)a[1] & FUTEX_CMD_MASK;
    if (a[0] & 3)
        return -EINVAL;
    switch (command) {
    case FUTEX_WAIT:
        return wait(p, t, a, ANY_BIT);
    case FUTEX_WAIT_BITSET:
        return wait(p, t, a, (uint32_t)a[5]);
    case FUTEX_WAKE:
        return wake(p, a[0], count_of(a[2]), ANY_BIT);
    case FUTEX_WAKE_BITSET:
        return (uint32_t)a[5] ? wake(p, a[0], count_of(a[2]), (uint32_t)a[5]) : -EINVAL;
    case FUTEX_REQUEUE:
        return do_requeue(p, a, false);
    case FUTEX_CMP_REQUEUE:
        return do_requeue(p, a, true);
    case FUTEX_WAKE_OP:
        return wake_op(p, t, a);
    default:
        return vs_call_unsupported(p, t);
    }
}

/* ---- robust lists ---------------------------------------------------------------------------- */

int64_t vs_call_set_robust_list(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    (void)p;
    if (a[1] != 24)
        return -EINVAL;
    t->linux_state->robust = a[0];
    return 0;
}

int64_t vs_call_get_robust_list(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    const struct vs_task *of = a[0] ? vs_task_find(p, (uint32_t)a[0]) : t;
    uint64_t size = 24;
    if (!of)
        return -ESRCH;
    if (vs_guest_put(p, t, a[2], &size, sizeof(size)) ||
        vs_guest_put(p, t, a[1], &of->linux_state->robust, 8))
        return -EFAULT;
    return 0;
}

/* A mutex whose owner is gone tells its next owner so. */
static int release(struct vs_process *p, struct vs_task *t, uint64_t addr, bool pending)
{
    uint32_t value;
    if (addr & 3 || vs_guest_get(p, addr, &value, sizeof(value)))
        return -EFAULT;
    if (pending && !value)
        wake(p, addr, 1, ANY_BIT);
    if ((value & FUTEX_TID_MASK) != t->tid)
        return 0;
    uint32_t left = (value & FUTEX_WAITERS) | FUTEX_OWNER_DIED;
    if (vs_guest_put(p, t, addr, &left, sizeof(left)))
        return -EFAULT;
    if (value & FUTEX_WAITERS)
        wake(p, addr, 1, ANY_BIT);
    return 0;
}

static void release_all(struct vs_process *p, struct vs_task *t)
{
    uint64_t head[3], at = t->linux_state->robust; /* next, offset, pending */
    if (!at || vs_guest_get(p, at, head, sizeof(head)))
        return;
    uint64_t entry = head[0], pending = head[2] & ~UINT64_C(1);
    for (int i = 0; i < ROBUST_MAX && (entry & ~UINT64_C(1)) != at; i++) {
        uint64_t here = entry & ~UINT64_C(1), next;
        int bad = vs_guest_get(p, here, &next, sizeof(next));
        if (here != pending && release(p, t, here + head[1], false))
            return;
        if (bad)
            return;
        entry = next;
    }
    if (pending)
        release(p, t, pending + head[1], true);
}

void vs_futex_exit(struct vs_process *p, struct vs_task *t)
{
    const uint32_t zero = 0;
    uint64_t addr = t->linux_state->clear_tid;
    release_all(p, t);
    if (addr && !vs_guest_put(p, t, addr, &zero, sizeof(zero)))
        wake(p, addr, 1, ANY_BIT);
}
