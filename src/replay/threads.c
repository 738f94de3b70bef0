/* SPDX-License-Identifier: MIT */
#include "replay/threads.h"

#include <string.h>

static void introduce(struct vs_replay_core *c, const struct vs_replay_core *creator, uint64_t tid)
{
    c->tid = tid;
    if (!c->name[0])
        memcpy(c->name, creator->name, sizeof(c->name));
}

/* Stacks are used again: an id that was given to a thread is not given to the next one. */
void vs_replay_thread_begins(struct vs_replay *r, unsigned core)
{
    struct vs_replay_outside *o = &r->outside;
    for (unsigned i = 0; i < o->thread_count; i++)
        if (o->threads[i].stack == r->cores[core].first_sp && o->threads[i].tid) {
            introduce(&r->cores[core], &r->cores[o->threads[i].creator], o->threads[i].tid);
            o->threads[i].tid = 0;
        }
}

void vs_replay_thread_made(struct vs_replay *r, unsigned core, struct vs_call_thread *made)
{
    made->creator = core;
    for (unsigned i = 0; i < r->count && made->tid; i++) {
        struct vs_replay_core *c = &r->cores[i];
        if (c->started && !c->tid && c->first_sp == made->stack) {
            introduce(c, &r->cores[core], made->tid);
            made->tid = 0;
        }
    }
}

static void rename_thread(struct vs_replay *r, unsigned core, uint64_t addr)
{
    char name[VS_REPLAY_NAME] = "";
    size_t known = vs_replay_read(r, core, addr, (uint8_t *)name, sizeof(name) - 1);
    if (known == sizeof(name) - 1 || memchr(name, 0, known))
        memcpy(r->cores[core].name, name, sizeof(name));
}

void vs_replay_thread_called(struct vs_replay *r, unsigned core)
{
    enum { SET_NAME = 15 };
    struct vs_replay_core *c = &r->cores[core];
    const struct vs_call_made *call = &c->call;
    if ((int64_t)call->result < 0)
        return;
    if (call->what == VS_SYS_set_tid_address || call->what == VS_SYS_gettid)
        c->tid = call->result;
    else if (call->what == VS_SYS_prctl && call->args[0] == SET_NAME)
        rename_thread(r, core, call->args[1]);
}
