/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "target/linux.h"

_Static_assert(SA_ONSTACK == 0x08000000 && SA_RESTART == 0x10000000 && SIGSYS == 31 &&
                   SIG_BLOCK == 0 && SIG_SETMASK == 2,
               "of the host as of the target");

#define UNBLOCKABLE  (VS_SIGNAL_BIT(SIGKILL) | VS_SIGNAL_BIT(SIGSTOP))
#define HANDLER_DFL  0
#define HANDLER_IGN  1
#define AUTODISARM   (1u << 31)
#define ALTSTACK_MIN 2048

/* Signals that stop a process are ignored, since nobody could make it go on. */
#define IGNORED                                                                                    \
    (VS_SIGNAL_BIT(SIGCHLD) | VS_SIGNAL_BIT(SIGURG) | VS_SIGNAL_BIT(SIGWINCH) |                    \
     VS_SIGNAL_BIT(SIGCONT) | VS_SIGNAL_BIT(SIGSTOP) | VS_SIGNAL_BIT(SIGTSTP) |                    \
     VS_SIGNAL_BIT(SIGTTIN) | VS_SIGNAL_BIT(SIGTTOU))

/* Signals that an instruction causes are delivered first. */
#define SYNCHRONOUS                                                                                \
    (VS_SIGNAL_BIT(SIGSEGV) | VS_SIGNAL_BIT(SIGBUS) | VS_SIGNAL_BIT(SIGILL) |                      \
     VS_SIGNAL_BIT(SIGTRAP) | VS_SIGNAL_BIT(SIGFPE) | VS_SIGNAL_BIT(SIGSYS))

/* ---- what is pending ------------------------------------------------------------------------- */

void vs_signals_fini(struct vs_signals *s)
{
    free(s->list);
    *s = (struct vs_signals){0};
}

static int enqueue(struct vs_process *p, struct vs_signals *s, const struct vs_signal *signal)
{
    /* A classic signal is pending at most once, so only the others need a limit. */
    if (s->count >= VS_SIGNAL_QUEUE && signal->info.number >= VS_LINUX_SIGRTMIN)
        return -EAGAIN;
    if (vs_array_room((void **)&s->list, &s->capacity, s->count, 1, sizeof(s->list[0]))) {
        p->linux_state->nomem = true;
        return -EAGAIN;
    }
    s->list[s->count++] = *signal;
    s->set |= VS_SIGNAL_BIT(signal->info.number);
    return 0;
}

static void remove_at(struct vs_signals *s, size_t at)
{
    s->count--;
    memmove(s->list + at, s->list + at + 1, (s->count - at) * sizeof(s->list[0]));
    s->set = 0;
    for (size_t i = 0; i < s->count; i++)
        s->set |= VS_SIGNAL_BIT(s->list[i].info.number);
}

static int lowest(uint64_t set)
{
    return __builtin_ctzll(set) + 1;
}

/* Takes out the next signal of the set. Returns whether there was one. */
static bool take(struct vs_signals *s, uint64_t set, struct vs_signal *signal)
{
    uint64_t have = s->set & set;
    if (!have)
        return false;
    int number = lowest(have & SYNCHRONOUS ? have & SYNCHRONOUS : have);
    size_t i = 0;
    while (s->list[i].info.number != number)
        i++;
    *signal = s->list[i];
    remove_at(s, i);
    if (signal->timer)
        vs_timer_taken(signal->timer, &signal->info);
    return true;
}

static bool take_for(struct vs_process *p, struct vs_task *t, uint64_t set,
                     struct vs_signal *signal)
{
    return take(&t->linux_state->pending, set, signal) ||
           take(&p->linux_state->pending, set, signal);
}

static void discard(struct vs_signals *s, int number)
{
    for (size_t i = s->count; i--;)
        if (s->list[i].info.number == number) {
            if (s->list[i].timer)
                s->list[i].timer->queued = false;
            remove_at(s, i);
        }
}

static void detach(struct vs_signals *s, const struct vs_timer *timer)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->list[i].timer == timer)
            s->list[i].timer = NULL;
}

void vs_signal_cancel(struct vs_process *p, const struct vs_timer *timer)
{
    detach(&p->linux_state->pending, timer);
    for (size_t i = 0; i < p->task_count; i++)
        detach(&p->tasks[i]->linux_state->pending, timer);
}

/* ---- who gets it ----------------------------------------------------------------------------- */

static bool is_ignored(const struct vs_process *p, int number)
{
    uint64_t handler = p->linux_state->actions[number].handler;
    return handler == HANDLER_IGN || (handler == HANDLER_DFL && IGNORED & VS_SIGNAL_BIT(number));
}

static bool awaits(const struct vs_task *t, int number)
{
    const struct vs_wait *w = &t->linux_state->wait;
    return t->state == VS_TASK_BLOCKED && w->kind == VS_WAIT_SIGNALS &&
           w->set & VS_SIGNAL_BIT(number);
}

static bool wants(const struct vs_task *t, int number)
{
    return t->state != VS_TASK_ENDED &&
           (!(t->linux_state->blocked & VS_SIGNAL_BIT(number)) || awaits(t, number));
}

/* Returns the task that a signal of the process goes to: the oldest that wants it, or NULL. */
static struct vs_task *choose(const struct vs_process *p, int number)
{
    struct vs_task *best = NULL;
    for (size_t i = 0; i < p->task_count; i++)
        if (wants(p->tasks[i], number) && (!best || p->tasks[i]->number < best->number))
            best = p->tasks[i];
    return best;
}

static bool is_due(const struct vs_process *p, const struct vs_task *t)
{
    uint64_t open = ~t->linux_state->blocked;
    if (t->linux_state->pending.set & open)
        return true;
    for (uint64_t set = p->linux_state->pending.set & open; set; set &= set - 1)
        if (choose(p, lowest(set)) == t)
            return true;
    return false;
}

/* A task that waits for signals by sigtimedwait gets one. */
static void give(struct vs_process *p, struct vs_task *t)
{
    struct vs_signal signal;
    const struct vs_wait w = t->linux_state->wait;
    if (!take_for(p, t, w.set, &signal))
        return;
    vs_wait_end(p, t, signal.info.number);
    if (w.addr && vs_guest_put(p, t, w.addr, &signal.info, sizeof(signal.info)))
        vs_cpu_put(t->cpu, p->isa->abi->result, (uint64_t)-EFAULT);
}

void vs_signal_wake(struct vs_process *p, struct vs_task *t)
{
    struct vs_task_linux *s = t->linux_state;
    if (t->state != VS_TASK_BLOCKED || s->wait.restart == VS_RESTART_NONE || !is_due(p, t))
        return;
    if (s->wait.done)
        vs_wait_end(p, t, (int64_t)s->wait.done);
    else {
        t->state = VS_TASK_READY;
        s->interrupted = s->wait.restart;
        s->wait.again = false;
    }
    t->attention = true;
}

static void tell(struct vs_process *p, struct vs_task *t, int number)
{
    if (awaits(t, number))
        give(p, t);
    else if (t->state == VS_TASK_BLOCKED)
        vs_signal_wake(p, t);
    else
        t->attention = true;
}

void vs_signal_retarget(struct vs_process *p)
{
    for (uint64_t set = p->linux_state->pending.set; set; set &= set - 1) {
        struct vs_task *t = choose(p, lowest(set));
        if (t)
            tell(p, t, lowest(set));
    }
}

struct vs_signal vs_signal_plain(int number, int code, uint32_t first, uint32_t second)
{
    return (struct vs_signal){
        .info = {.number = number, .code = code, .first = first, .second = second}};
}

/* Returns whether a signal is thrown away when it comes. A blocked one is not, since it may still
 * get a handler. */
static bool is_dropped(const struct vs_process *p, const struct vs_task *t, int number)
{
    if (!is_ignored(p, number))
        return false;
    for (size_t i = 0; !t && i < p->task_count; i++)
        if (p->tasks[i]->state != VS_TASK_ENDED)
            t = p->tasks[i];
    return !t || !(t->linux_state->blocked & VS_SIGNAL_BIT(number));
}

int vs_signal_send(struct vs_process *p, struct vs_task *t, const struct vs_signal *signal)
{
    int number = signal->info.number;
    struct vs_signals *queue = t ? &t->linux_state->pending : &p->linux_state->pending;
    if (is_dropped(p, t, number))
        return 0;
    if (number < 32 && !signal->timer && queue->set & VS_SIGNAL_BIT(number))
        return 0;
    int err = enqueue(p, queue, signal);
    if (err)
        return err;
    if (signal->timer)
        signal->timer->queued = true;
    if (!t)
        t = choose(p, number);
    if (t && wants(t, number))
        tell(p, t, number);
    return 0;
}

void vs_signal_force(struct vs_process *p, struct vs_task *t, const struct vs_signal *signal)
{
    int number = signal->info.number;
    struct vs_task_linux *s = t->linux_state;
    struct vs_linux_sigaction *action = &p->linux_state->actions[number];
    if (s->blocked & VS_SIGNAL_BIT(number) || action->handler == HANDLER_IGN) {
        s->blocked &= ~VS_SIGNAL_BIT(number);
        action->handler = HANDLER_DFL;
    }
    discard(&s->pending, number);
    enqueue(p, &s->pending, signal);
    t->attention = true;
}

int vs_process_signal(struct vs_process *p, int number)
{
    if (number >= 1 && number <= VS_ABI_SIGNALS && !p->ended) {
        struct vs_signal signal = vs_signal_plain(number, SI_USER, 0, VS_LINUX_UID);
        vs_signal_send(p, NULL, &signal);
    }
    return p->linux_state->nomem ? -VSE_NOMEM : 0;
}

/* ---- masks ----------------------------------------------------------------------------------- */

static void set_blocked(struct vs_process *p, struct vs_task *t, uint64_t mask)
{
    t->linux_state->blocked = mask & ~UNBLOCKABLE;
    if (is_due(p, t))
        t->attention = true;
    vs_signal_retarget(p);
}

void vs_signal_mask_for_wait(struct vs_process *p, struct vs_task *t, uint64_t mask)
{
    struct vs_task_linux *s = t->linux_state;
    s->blocked_before = s->blocked;
    s->restore = true;
    set_blocked(p, t, mask);
}

void vs_signal_mask_back(struct vs_process *p, struct vs_task *t)
{
    struct vs_task_linux *s = t->linux_state;
    if (!s->restore)
        return;
    s->restore = false;
    set_blocked(p, t, s->blocked_before);
}

/* ---- delivery -------------------------------------------------------------------------------- */

/* The call that the signal woke the task from ends; action is NULL if there is no handler. */
static void end_call(struct vs_process *p, struct vs_task *t,
                     const struct vs_linux_sigaction *action)
{
    struct vs_task_linux *s = t->linux_state;
    enum vs_restart how = s->interrupted;
    if (how == VS_RESTART_NONE)
        return;
    s->interrupted = VS_RESTART_NONE;
    bool again = how != VS_RESTART_NEVER &&
                 (!action || (how == VS_RESTART_ASKED && action->flags & SA_RESTART));
    if (!again)
        vs_cpu_put(t->cpu, p->isa->abi->result, (uint64_t)-EINTR);
    struct vs_effect *e = vs_effect_add(p, VS_EFFECT_CALL, t);
    e->pc = t->call.pc;
    e->restart = again;
    e->value = vs_cpu_get(t->cpu, p->isa->abi->result);
    if (again)
        t->cpu->pc = t->call.pc;
    else if (s->wait.kind == VS_WAIT_SLEEP && s->wait.addr) {
        uint64_t left = s->wait.deadline > p->now ? s->wait.deadline - p->now : 0;
        struct vs_linux_time rest = vs_time_spec(left);
        vs_guest_put(p, t, s->wait.addr, &rest, sizeof(rest));
    }
}

static bool is_on(const struct vs_linux_stack *stack, uint64_t sp)
{
    return stack->size && sp > stack->sp && sp - stack->sp <= stack->size;
}

static uint64_t stack_pointer(const struct vs_process *p, const struct vs_task *t)
{
    return vs_cpu_get(t->cpu, p->isa->abi->stack);
}

/* Returns where the frame goes; 0 if its stack has no room. */
static uint64_t frame_addr(const struct vs_process *p, const struct vs_task *t,
                           const struct vs_linux_sigaction *action)
{
    const struct vs_linux_stack *alt = &t->linux_state->altstack;
    uint64_t sp = stack_pointer(p, t), size = p->isa->abi->signals->frame_size;
    bool on = is_on(alt, sp) && !((uint32_t)alt->flags & AUTODISARM);
    if (on && !is_on(alt, sp - size))
        return 0;
    if (action->flags & SA_ONSTACK && alt->size && !on)
        sp = alt->sp + alt->size;
    return (sp - size) & ~UINT64_C(15);
}

static void fill_frame(const struct vs_process *p, const struct vs_task *t,
                       const struct vs_signal *signal, uint8_t *frame)
{
    const struct vs_task_linux *s = t->linux_state;
    struct vs_linux_stack stack = s->altstack;
    if (!stack.size)
        stack.flags = SS_DISABLE;
    else if (is_on(&stack, stack_pointer(p, t)))
        stack.flags |= SS_ONSTACK;
    p->isa->abi->signals->fill(t->cpu, &signal->info, &stack,
                               s->restore ? s->blocked_before : s->blocked, frame);
}

/* Writes those parts of the frame that Linux writes. There must be room for the frame. */
static void put_frame(struct vs_process *p, struct vs_task *t, uint64_t addr, const uint8_t *frame)
{
    const struct vs_abi_signals *abi = p->isa->abi->signals;
    for (unsigned i = 0; i < abi->part_count; i++) {
        const struct vs_abi_part *part = &abi->parts[i];
        vs_guest_put_quiet(p, t, addr + part->from, frame + part->from,
                           (size_t)part->to - part->from);
    }
}

static void no_stack(struct vs_process *p, struct vs_task *t, int number)
{
    struct vs_signal signal = vs_signal_plain(SIGSEGV, VS_LINUX_SI_KERNEL, 0, 0);
    if (number == SIGSEGV)
        p->linux_state->actions[SIGSEGV].handler = HANDLER_DFL;
    vs_signal_force(p, t, &signal);
}

static void enter(struct vs_process *p, struct vs_task *t, const struct vs_signal *signal)
{
    struct vs_task_linux *s = t->linux_state;
    int number = signal->info.number;
    struct vs_linux_sigaction *kept = &p->linux_state->actions[number], action = *kept;
    const struct vs_abi_signals *abi = p->isa->abi->signals;
    uint64_t addr = frame_addr(p, t, &action);
    _Alignas(16) uint8_t frame[VS_ABI_FRAME_MAX];
    fill_frame(p, t, signal, frame);
    if (!addr || vs_space_span(p, addr, abi->frame_size, VS_MAP_WRITE) < abi->frame_size) {
        no_stack(p, t, number);
        return;
    }
    size_t at = p->effect_count;
    uint64_t pc = t->cpu->pc;
    vs_effect_add(p, VS_EFFECT_SIGNAL, t);
    put_frame(p, t, addr, frame);
    if (s->altstack.size && (uint32_t)s->altstack.flags & AUTODISARM)
        s->altstack = (struct vs_linux_stack){0};
    abi->enter(t->cpu, number, action.handler, addr, VS_LINUX_TRAMPOLINE);
    struct vs_effect *e = &p->effects[at];
    *e = (struct vs_effect){.kind = VS_EFFECT_SIGNAL,
                            .task = t,
                            .pc = pc,
                            .addr = t->cpu->pc,
                            .value = (uint64_t)number};
    for (unsigned i = 0; i < abi->entered_count; i++)
        e->regs[i] = vs_cpu_get(t->cpu, abi->entered[i]);
    if (action.flags & SA_RESETHAND)
        kept->handler = HANDLER_DFL;
    s->restore = false;
    s->blocked |= action.mask | (action.flags & SA_NODEFER ? 0 : VS_SIGNAL_BIT(number));
    s->blocked &= ~UNBLOCKABLE;
    vs_ram_break(&p->memory, t->cpu);
}

int vs_process_attend(struct vs_process *p, struct vs_task *t)
{
    struct vs_task_linux *s = t->linux_state;
    struct vs_signal signal;
    t->attention = false;
    if (t->state != VS_TASK_READY)
        return 0;
    while (take_for(p, t, ~s->blocked, &signal)) {
        const struct vs_linux_sigaction *action = &p->linux_state->actions[signal.info.number];
        if (is_ignored(p, signal.info.number))
            continue;
        if (action->handler == HANDLER_DFL) {
            vs_process_end(p, signal.info.number);
            return p->linux_state->nomem ? -VSE_NOMEM : 0;
        }
        end_call(p, t, action);
        enter(p, t, &signal);
    }
    end_call(p, t, NULL);
    vs_signal_mask_back(p, t);
    vs_signal_retarget(p);
    return p->linux_state->nomem ? -VSE_NOMEM : 0;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static bool is_signal(uint64_t number)
{
    return number >= 1 && number <= VS_ABI_SIGNALS;
}

int64_t vs_call_rt_sigaction(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    struct vs_linux_sigaction action;
    uint64_t number = (uint32_t)a[0];
    if (a[3] != 8 || !is_signal(number))
        return -EINVAL;
    if (a[1] && (number == SIGKILL || number == SIGSTOP))
        return -EINVAL;
    if (a[1] && vs_guest_get(p, a[1], &action, sizeof(action)))
        return -EFAULT;
    struct vs_linux_sigaction *kept = &p->linux_state->actions[number];
    if (a[2] && vs_guest_put(p, t, a[2], kept, sizeof(*kept)))
        return -EFAULT;
    if (!a[1])
        return 0;
    action.mask &= ~UNBLOCKABLE;
    *kept = action;
    if (is_ignored(p, (int)number)) {
        discard(&p->linux_state->pending, (int)number);
        for (size_t i = 0; i < p->task_count; i++)
            discard(&p->tasks[i]->linux_state->pending, (int)number);
    }
    return 0;
}

int64_t vs_call_rt_sigprocmask(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    struct vs_task_linux *s = t->linux_state;
    uint64_t old = s->blocked, set = 0;
    if (a[3] != 8)
        return -EINVAL;
    if (a[1] && vs_guest_get(p, a[1], &set, sizeof(set)))
        return -EFAULT;
    int how = (int)a[0];
    if (a[1] && (how < SIG_BLOCK || how > SIG_SETMASK))
        return -EINVAL;
    if (a[1])
        set_blocked(p, t, how == SIG_BLOCK ? old | set : how == SIG_UNBLOCK ? old & ~set : set);
    return a[2] && vs_guest_put(p, t, a[2], &old, sizeof(old)) ? -EFAULT : 0;
}

static int64_t set_altstack(const struct vs_process *p, struct vs_task *t,
                            const struct vs_linux_stack *stack)
{
    struct vs_linux_stack *kept = &t->linux_state->altstack;
    uint32_t flags = (uint32_t)stack->flags, mode = flags & ~AUTODISARM;
    if (is_on(kept, stack_pointer(p, t)) && !((uint32_t)kept->flags & AUTODISARM))
        return -EPERM;
    if (mode != 0 && mode != SS_ONSTACK && mode != SS_DISABLE)
        return -EINVAL;
    if (mode == SS_DISABLE) {
        *kept = (struct vs_linux_stack){0};
        return 0;
    }
    if (stack->size < ALTSTACK_MIN)
        return -ENOMEM;
    *kept = (struct vs_linux_stack){
        .sp = stack->sp, .flags = (int32_t)(flags & AUTODISARM), .size = stack->size};
    return 0;
}

int64_t vs_call_sigaltstack(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    struct vs_linux_stack stack, old = t->linux_state->altstack;
    if (!old.size)
        old.flags = SS_DISABLE;
    else if (is_on(&old, stack_pointer(p, t)))
        old.flags |= SS_ONSTACK;
    if (a[0] && vs_guest_get(p, a[0], &stack, sizeof(stack)))
        return -EFAULT;
    int64_t err = a[0] ? set_altstack(p, t, &stack) : 0;
    if (err)
        return err;
    return a[1] && vs_guest_put(p, t, a[1], &old, sizeof(old)) ? -EFAULT : 0;
}

int64_t vs_call_rt_sigsuspend(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    uint64_t mask;
    if (a[1] != 8)
        return -EINVAL;
    if (vs_guest_get(p, a[0], &mask, sizeof(mask)))
        return -EFAULT;
    vs_signal_mask_for_wait(p, t, mask);
    return vs_wait_begin(p, t, VS_WAIT_SIGNAL, VS_RESTART_SILENT, VS_NEVER);
}

int64_t vs_call_rt_sigtimedwait(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    uint64_t set, ns = 0;
    struct vs_signal signal;
    if (a[3] != 8)
        return -EINVAL;
    if (vs_guest_get(p, a[0], &set, sizeof(set)))
        return -EFAULT;
    int err = a[2] ? vs_time_get(p, a[2], &ns) : 0;
    if (err)
        return err;
    set &= ~UNBLOCKABLE;
    if (take_for(p, t, set, &signal))
        return a[1] && vs_guest_put(p, t, a[1], &signal.info, sizeof(signal.info))
                   ? -EFAULT
                   : signal.info.number;
    if (a[2] && !ns)
        return -EAGAIN;
    vs_wait_begin(p, t, VS_WAIT_SIGNALS, VS_RESTART_NEVER, a[2] ? vs_time_after(p, ns) : VS_NEVER);
    t->linux_state->wait.set = set;
    t->linux_state->wait.addr = a[1];
    return VS_CALL_BLOCKED;
}

int64_t vs_call_rt_sigpending(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    uint64_t set =
        (t->linux_state->pending.set | p->linux_state->pending.set) & t->linux_state->blocked;
    if (a[1] > 8)
        return -EINVAL;
    return vs_guest_put(p, t, a[0], &set, a[1]);
}

int64_t vs_call_rt_sigreturn(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    const struct vs_abi_signals *abi = p->isa->abi->signals;
    _Alignas(16) uint8_t frame[VS_ABI_FRAME_MAX];
    struct vs_linux_stack stack;
    uint64_t mask;
    (void)a;
    if (vs_guest_get(p, stack_pointer(p, t), frame, abi->frame_size)) {
        no_stack(p, t, SIGSEGV);
        return VS_CALL_GONE;
    }
    abi->leave(t->cpu, frame, &stack, &mask);
    set_altstack(p, t, &stack);
    set_blocked(p, t, mask);
    vs_ram_break(&p->memory, t->cpu);
    struct vs_effect *e = vs_effect_add(p, VS_EFFECT_SIGRETURN, t);
    e->pc = t->call.pc;
    e->addr = t->cpu->pc;
    return VS_CALL_GONE;
}

/* ---- sending --------------------------------------------------------------------------------- */

static int64_t send_to(struct vs_process *p, struct vs_task *t, uint64_t number,
                       struct vs_signal signal)
{
    if (number > VS_ABI_SIGNALS)
        return -EINVAL;
    return number ? vs_signal_send(p, t, &signal) : 0;
}

/* There is no other process, and each process group has only this one. */
int64_t vs_call_kill(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    int32_t pid = (int32_t)a[0];
    uint64_t number = (uint32_t)a[1];
    (void)t;
    if (number > VS_ABI_SIGNALS)
        return -EINVAL;
    if (pid != 0 && pid != VS_LINUX_PID && pid != -VS_LINUX_PID)
        return -ESRCH;
    return send_to(p, NULL, number,
                   vs_signal_plain((int)number, SI_USER, VS_LINUX_PID, VS_LINUX_UID));
}

static int64_t send_tid(struct vs_process *p, uint64_t tid, uint64_t number)
{
    struct vs_task *to = vs_task_find(p, (uint32_t)tid);
    if ((int32_t)tid <= 0 || number > VS_ABI_SIGNALS)
        return -EINVAL;
    if (!to)
        return -ESRCH;
    return send_to(p, to, number,
                   vs_signal_plain((int)number, SI_TKILL, VS_LINUX_PID, VS_LINUX_UID));
}

int64_t vs_call_tkill(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    (void)t;
    return send_tid(p, a[0], (uint32_t)a[1]);
}

int64_t vs_call_tgkill(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    (void)t;
    if ((int32_t)a[0] <= 0)
        return -EINVAL;
    return (int32_t)a[0] == VS_LINUX_PID ? send_tid(p, a[1], (uint32_t)a[2]) : -ESRCH;
}

static int64_t send_info(struct vs_process *p, struct vs_task *to, uint64_t number, uint64_t info)
{
    struct vs_signal signal = {0};
    if (vs_guest_get(p, info, &signal.info, sizeof(signal.info)))
        return -EFAULT;
    signal.info.number = (int32_t)number;
    return send_to(p, to, number, signal);
}

int64_t vs_call_rt_sigqueueinfo(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    (void)t;
    return (int32_t)a[0] == VS_LINUX_PID ? send_info(p, NULL, (uint32_t)a[1], a[2]) : -ESRCH;
}

int64_t vs_call_rt_tgsigqueueinfo(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    struct vs_task *to = vs_task_find(p, (uint32_t)a[1]);
    (void)t;
    if ((int32_t)a[0] != VS_LINUX_PID || !to)
        return -ESRCH;
    return send_info(p, to, (uint32_t)a[2], a[3]);
}
