/* SPDX-License-Identifier: MIT */
/* Runs a process to its end: harts take turns of a fixed number of instructions, each of which
 * takes a nanosecond. */
#ifndef PROCESSES_H
#define PROCESSES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "target/process.h"
#include "unittest.h"

#define SLICE 5000

struct run {
    struct vs_process *p;
    uint64_t instructions;
    uint64_t effects[VS_EFFECT_SIGRETURN + 1];              /* by kind */
    uint64_t digest;                                        /* of all effects, in order */
    void (*look)(struct run *r, const struct vs_effect *e); /* at each effect; may be NULL */
    void *context;
};

static inline void mix(struct run *r, uint64_t value)
{
    r->digest = (r->digest ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    r->digest ^= r->digest >> 29;
}

static inline void take_effects(struct run *r)
{
    struct vs_process *p = r->p;
    for (size_t i = 0; i < p->effect_count; i++) {
        const struct vs_effect *e = &p->effects[i];
        r->effects[e->kind]++;
        mix(r, (uint64_t)e->kind << 32 | e->task->number);
        mix(r, e->pc);
        mix(r, e->addr);
        mix(r, e->size);
        mix(r, e->value);
        if (r->look)
            r->look(r, e);
    }
    p->effect_count = 0;
}

static inline void run_slice(struct run *r, struct vs_task *t)
{
    struct vs_process *p = r->p;
    uint64_t before = t->cpu->retired;
    if (t->attention) {
        CHECK_EQ(vs_process_attend(p, t), 0);
        take_effects(r);
        if (t->state != VS_TASK_READY)
            return;
    }
    int stop = vs_cpu_run(t->cpu, SLICE);
    CHECK(stop >= 0);
    p->now += t->cpu->retired - before;
    r->instructions += t->cpu->retired - before;
    if (stop == VS_STOP_CALL)
        CHECK_EQ(vs_process_call(p, t), 0);
    else if (stop != VS_STOP_LIMIT)
        CHECK_EQ(vs_process_fault(p, t, stop), 0);
    take_effects(r);
}

/* All tasks wait: for time, or for the host. Nothing at all: the program hangs. */
static inline void pass_time(struct run *r)
{
    struct vs_process *p = r->p;
    uint64_t deadline = vs_process_deadline(p);
    CHECK(deadline != UINT64_MAX || vs_process_waits(p));
    if (deadline != UINT64_MAX)
        p->now = deadline > p->now ? deadline : p->now;
    else
        CHECK_EQ(vs_process_wait(p), 0);
}

static inline void run_to_end(struct run *r)
{
    struct vs_process *p = r->p;
    take_effects(r);
    while (!p->ended) {
        bool any = false;
        for (size_t i = 0; i < p->task_count && !p->ended; i++)
            if (p->tasks[i]->state == VS_TASK_READY) {
                any = true;
                run_slice(r, p->tasks[i]);
            }
        if (p->ended)
            break;
        if (!any)
            pass_time(r);
        CHECK_EQ(vs_process_advance(p), 0);
        take_effects(r);
    }
}

static inline void open_run(struct run *r, char *const *argv, char *const *envp)
{
    struct vs_process_options options = {
        .path = argv[0], .argv = argv, .envp = envp, .seed = 1, .cores = 4};
    struct vs_diag diag = {0};
    r->p = NULL;
    if (vs_process_open(&r->p, &options, &diag))
        unittest_fail(__FILE__, __LINE__, "%s: %s", argv[0], diag.text);
}

#endif
