/* SPDX-License-Identifier: MIT */
/* Clocks, sleep and timers, all by the process's `now`. A task is taken to have used a nanosecond
 * for each instruction. */
#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>

#include "target/linux.h"

#define EPOCH_NS (VS_LINUX_EPOCH * VS_SECOND)
#define TICKS    100 /* of times(2), in a second */

/* ---- values ---------------------------------------------------------------------------------- */

struct vs_linux_time vs_time_spec(uint64_t ns)
{
    return (struct vs_linux_time){(int64_t)(ns / VS_SECOND), (int64_t)(ns % VS_SECOND)};
}

static struct vs_linux_time micro_spec(uint64_t ns)
{
    return (struct vs_linux_time){(int64_t)(ns / VS_SECOND), (int64_t)(ns % VS_SECOND / 1000)};
}

/* `unit` is how many nanoseconds one of `rest` stands for. Returns 0 or -EINVAL. */
static int to_ns(const struct vs_linux_time *time, uint64_t unit, uint64_t *ns)
{
    if (time->seconds < 0 || time->rest < 0 || (uint64_t)time->rest >= VS_SECOND / unit)
        return -EINVAL;
    /* a time that is centuries away never comes */
    uint64_t seconds = (uint64_t)time->seconds < INT64_MAX / VS_SECOND ? (uint64_t)time->seconds
                                                                       : INT64_MAX / VS_SECOND - 1;
    *ns = seconds * VS_SECOND + (uint64_t)time->rest * unit;
    return 0;
}

int vs_time_get(const struct vs_process *p, uint64_t addr, uint64_t *ns)
{
    struct vs_linux_time time;
    if (vs_guest_get(p, addr, &time, sizeof(time)))
        return -EFAULT;
    return to_ns(&time, 1, ns);
}

uint64_t vs_time_after(const struct vs_process *p, uint64_t ns)
{
    return ns < VS_NEVER - 1 - p->now ? p->now + ns : VS_NEVER - 1;
}

uint64_t vs_time_at(const struct vs_process *p, int clock, uint64_t ns)
{
    uint64_t start = clock == CLOCK_REALTIME || clock == CLOCK_TAI ? EPOCH_NS : 0;
    (void)p;
    return ns > start ? ns - start : 0;
}

/* ---- clocks ---------------------------------------------------------------------------------- */

static uint64_t process_time(const struct vs_process *p)
{
    uint64_t sum = p->linux_state->ended_time;
    for (size_t i = 0; i < p->task_count; i++)
        if (p->tasks[i]->state != VS_TASK_ENDED)
            sum += p->tasks[i]->cpu->retired;
    return sum;
}

/* Gets the time of a clock that belongs to a thread or process. Returns 0 or -EINVAL. */
static int cpu_clock(const struct vs_process *p, int32_t clock, uint64_t *ns)
{
    int32_t id = ~(clock >> 3);
    const struct vs_task *t = id ? vs_task_find(p, (uint32_t)id) : NULL;
    if ((clock & 3) == 3 || (id && id != VS_LINUX_PID && !t))
        return -EINVAL;
    *ns = clock & 4 && t ? t->cpu->retired : process_time(p);
    return 0;
}

static int read_clock(const struct vs_process *p, const struct vs_task *t, int32_t clock,
                      uint64_t *ns)
{
    switch (clock) {
    case CLOCK_REALTIME:
    case CLOCK_REALTIME_COARSE:
    case CLOCK_TAI:
        *ns = EPOCH_NS + p->now;
        return 0;
    case CLOCK_MONOTONIC:
    case CLOCK_MONOTONIC_RAW:
    case CLOCK_MONOTONIC_COARSE:
    case CLOCK_BOOTTIME:
        *ns = p->now;
        return 0;
    case CLOCK_PROCESS_CPUTIME_ID:
        *ns = process_time(p);
        return 0;
    case CLOCK_THREAD_CPUTIME_ID:
        *ns = t->cpu->retired;
        return 0;
    default:
        return clock < 0 ? cpu_clock(p, clock, ns) : -EINVAL;
    }
}

int64_t vs_call_clock_gettime(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    uint64_t ns;
    int err = read_clock(p, t, (int32_t)a[0], &ns);
    if (err)
        return err;
    struct vs_linux_time time = vs_time_spec(ns);
    return vs_guest_put(p, t, a[1], &time, sizeof(time));
}

int64_t vs_call_clock_getres(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    uint64_t ns;
    const struct vs_linux_time one = vs_time_spec(1);
    int err = read_clock(p, t, (int32_t)a[0], &ns);
    return err || !a[1] ? err : vs_guest_put(p, t, a[1], &one, sizeof(one));
}

int64_t vs_call_clock_settime(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    (void)p, (void)t;
    return a[0] == CLOCK_REALTIME ? -EPERM : -EINVAL;
}

int64_t vs_call_gettimeofday(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    const struct vs_linux_time time = micro_spec(EPOCH_NS + p->now);
    const uint32_t zone[2] = {0, 0};
    if ((a[0] && vs_guest_put(p, t, a[0], &time, sizeof(time))) ||
        (a[1] && vs_guest_put(p, t, a[1], zone, sizeof(zone))))
        return -EFAULT;
    return 0;
}

int64_t vs_call_times(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    const uint64_t tick = VS_SECOND / TICKS, used[4] = {process_time(p) / tick, 0, 0, 0};
    if (a[0] && vs_guest_put(p, t, a[0], used, sizeof(used)))
        return -EFAULT;
    return (int64_t)(p->now / tick);
}

int64_t vs_call_getrusage(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    uint64_t usage[18] = {0};
    int32_t who = (int32_t)a[0];
    if (who != RUSAGE_SELF && who != RUSAGE_CHILDREN && who != RUSAGE_THREAD)
        return -EINVAL;
    uint64_t ns = who == RUSAGE_SELF ? process_time(p) : who == RUSAGE_THREAD ? t->cpu->retired : 0;
    const struct vs_linux_time time = micro_spec(ns);
    memcpy(usage, &time, sizeof(time));
    if (who != RUSAGE_CHILDREN)
        usage[4] = p->memory.pages.count * (VS_PAGE_SIZE / 1024);
    return vs_guest_put(p, t, a[1], usage, sizeof(usage));
}

/* ---- sleep ----------------------------------------------------------------------------------- */

static int64_t sleep_until(struct vs_process *p, struct vs_task *t, uint64_t deadline,
                           uint64_t rest)
{
    if (deadline <= p->now)
        return 0;
    vs_wait_begin(p, t, VS_WAIT_SLEEP, VS_RESTART_SILENT, deadline);
    t->linux_state->wait.addr = rest;
    return VS_CALL_BLOCKED;
}

int64_t vs_call_nanosleep(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    uint64_t ns;
    int err = vs_time_get(p, a[0], &ns);
    return err ? err : sleep_until(p, t, vs_time_after(p, ns), a[1]);
}

int64_t vs_call_clock_nanosleep(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    int32_t clock = (int32_t)a[0];
    uint64_t ns, now;
    if (read_clock(p, t, clock, &now) || clock == CLOCK_THREAD_CPUTIME_ID)
        return -EINVAL;
    int err = vs_time_get(p, a[2], &ns);
    if (err)
        return err;
    if (!(a[1] & TIMER_ABSTIME))
        return sleep_until(p, t, vs_time_after(p, ns), a[3]);
    return sleep_until(p, t, ns > now ? vs_time_after(p, ns - now) : p->now, 0);
}

/* ---- timers ---------------------------------------------------------------------------------- */

struct vs_timer *vs_timer_next(const struct vs_process *p)
{
    struct vs_linux *s = p->linux_state;
    struct vs_timer *best = NULL;
    for (size_t i = 0; i < 3; i++)
        if (s->intervals[i].due != VS_NEVER && (!best || s->intervals[i].due < best->due))
            best = &s->intervals[i];
    for (size_t i = 0; i < VS_TIMERS; i++)
        if (s->timers[i].used && s->timers[i].due != VS_NEVER &&
            (!best || s->timers[i].due < best->due))
            best = &s->timers[i];
    return best;
}

static void fire(struct vs_process *p, struct vs_timer *timer)
{
    struct vs_signal signal = vs_signal_plain(timer->signal, SI_TIMER, (uint32_t)timer->id, 0);
    struct vs_task *to = NULL;
    signal.info.value = timer->value;
    signal.timer = timer;
    if (timer->id < 0)
        signal = vs_signal_plain(timer->signal, VS_LINUX_SI_KERNEL, 0, 0);
    if (timer->id >= 0 && timer->notify == SIGEV_THREAD_ID) {
        to = vs_task_find(p, timer->tid);
        if (!to)
            return;
    }
    vs_signal_send(p, to, &signal);
}

void vs_timer_expire(struct vs_process *p, struct vs_timer *timer)
{
    uint64_t times = timer->interval ? (p->now - timer->due) / timer->interval + 1 : 1;
    timer->due = timer->interval ? timer->due + times * timer->interval : VS_NEVER;
    if (timer->notify == SIGEV_NONE && timer->id >= 0)
        return;
    if (timer->queued) {
        timer->missed += times;
        return;
    }
    timer->missed = times - 1;
    fire(p, timer);
}

void vs_timer_taken(struct vs_timer *timer, struct vs_linux_siginfo *info)
{
    timer->overrun = timer->missed < INT32_MAX ? timer->missed : INT32_MAX;
    timer->missed = 0;
    timer->queued = false;
    info->second = (uint32_t)timer->overrun;
}

/* Returns what is left of the timer, as an itimerspec or itimerval. */
static struct vs_linux_interval left(const struct vs_process *p, const struct vs_timer *timer,
                                     struct vs_linux_time (*spec)(uint64_t))
{
    uint64_t ns = timer->due == VS_NEVER ? 0 : timer->due > p->now ? timer->due - p->now : 1;
    return (struct vs_linux_interval){spec(timer->interval), spec(ns)};
}

static void set(const struct vs_process *p, struct vs_timer *timer, uint64_t value,
                uint64_t interval)
{
    timer->due = value ? vs_time_after(p, value) : VS_NEVER;
    timer->interval = value ? interval : 0;
}

int64_t vs_call_getitimer(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    if (a[0] > ITIMER_PROF)
        return -EINVAL;
    struct vs_linux_interval now = left(p, &p->linux_state->intervals[a[0]], micro_spec);
    return vs_guest_put(p, t, a[1], &now, sizeof(now));
}

/* All three timers run by the clock, as if processor time passed as fast. */
int64_t vs_call_setitimer(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    static const int signals[] = {SIGALRM, SIGVTALRM, SIGPROF};
    struct vs_linux_interval want = {0};
    uint64_t value, interval;
    if (a[0] > ITIMER_PROF)
        return -EINVAL;
    if (a[1] && vs_guest_get(p, a[1], &want, sizeof(want)))
        return -EFAULT;
    if (to_ns(&want.value, 1000, &value) || to_ns(&want.interval, 1000, &interval))
        return -EINVAL;
    struct vs_timer *timer = &p->linux_state->intervals[a[0]];
    struct vs_linux_interval old = left(p, timer, micro_spec);
    if (a[2] && vs_guest_put(p, t, a[2], &old, sizeof(old)))
        return -EFAULT;
    timer->signal = signals[a[0]];
    set(p, timer, value, interval);
    return 0;
}

static struct vs_timer *timer_of(const struct vs_process *p, uint64_t id)
{
    struct vs_timer *timer = &p->linux_state->timers[(uint32_t)id % VS_TIMERS];
    return (uint32_t)id < VS_TIMERS && timer->used ? timer : NULL;
}

/* Returns 0 or a negative errno. */
static int check_event(const struct vs_process *p, const struct vs_linux_sigevent *e)
{
    if (e->notify == SIGEV_NONE)
        return 0;
    if (e->notify != SIGEV_SIGNAL && e->notify != SIGEV_THREAD_ID)
        return -EINVAL;
    if (e->signal < 1 || e->signal > VS_ABI_SIGNALS)
        return -EINVAL;
    return e->notify == SIGEV_THREAD_ID && !vs_task_find(p, (uint32_t)e->tid) ? -EINVAL : 0;
}

int64_t vs_call_timer_create(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    struct vs_linux_sigevent e = {.signal = SIGALRM, .notify = SIGEV_SIGNAL};
    uint64_t ns;
    int32_t id = 0;
    if (read_clock(p, t, (int32_t)a[0], &ns))
        return -EINVAL;
    if (a[1] && vs_guest_get(p, a[1], &e, sizeof(e)))
        return -EFAULT;
    int err = check_event(p, &e);
    if (err)
        return err;
    while (id < VS_TIMERS && p->linux_state->timers[id].used)
        id++;
    if (id == VS_TIMERS)
        return -EAGAIN;
    if (vs_guest_put(p, t, a[2], &id, sizeof(id)))
        return -EFAULT;
    p->linux_state->timers[id] = (struct vs_timer){.used = true,
                                                   .due = VS_NEVER,
                                                   .notify = e.notify,
                                                   .signal = e.signal,
                                                   .value = a[1] ? e.value : (uint64_t)id,
                                                   .tid = (uint32_t)e.tid,
                                                   .clock = (int32_t)a[0],
                                                   .id = id};
    return 0;
}

int64_t vs_call_timer_gettime(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    const struct vs_timer *timer = timer_of(p, a[0]);
    if (!timer)
        return -EINVAL;
    struct vs_linux_interval now = left(p, timer, vs_time_spec);
    return vs_guest_put(p, t, a[1], &now, sizeof(now));
}

int64_t vs_call_timer_settime(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    struct vs_timer *timer = timer_of(p, a[0]);
    struct vs_linux_interval want;
    uint64_t value, interval, now;
    if (!timer)
        return -EINVAL;
    if (!a[2])
        return -EINVAL;
    if (vs_guest_get(p, a[2], &want, sizeof(want)))
        return -EFAULT;
    if (to_ns(&want.value, 1, &value) || to_ns(&want.interval, 1, &interval))
        return -EINVAL;
    struct vs_linux_interval old = left(p, timer, vs_time_spec);
    if (a[3] && vs_guest_put(p, t, a[3], &old, sizeof(old)))
        return -EFAULT;
    if (value && a[1] & TIMER_ABSTIME && !read_clock(p, t, timer->clock, &now))
        value = value > now ? value - now : 1;
    set(p, timer, value, interval);
    timer->missed = timer->overrun = 0;
    return 0;
}

int64_t vs_call_timer_getoverrun(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    const struct vs_timer *timer = timer_of(p, a[0]);
    (void)t;
    return timer ? (int64_t)timer->overrun : -EINVAL;
}

int64_t vs_call_timer_delete(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    struct vs_timer *timer = timer_of(p, a[0]);
    (void)t;
    if (!timer)
        return -EINVAL;
    vs_signal_cancel(p, timer);
    *timer = (struct vs_timer){.due = VS_NEVER};
    return 0;
}
