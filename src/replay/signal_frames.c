/* SPDX-License-Identifier: MIT */
#include "replay/signal_frames.h"

#include "base/bytes.h"
#include "vestige/event.h"

void vs_replay_frame_called(struct vs_replay *r, unsigned core)
{
    const struct vs_call_made *c = &r->cores[core].call;
    const struct vs_abi_frame *frame = r->config.isa->abi->frame;
    uint64_t signal = c->args[0];
    uint8_t back[8];
    if (!frame || c->what != VS_SYS_rt_sigaction || c->result || !c->args[1] || !signal ||
        signal > VS_ABI_SIGNALS)
        return;
    bool known = vs_replay_read(r, core, c->args[1] + frame->restorer, back, 8) == 8;
    r->outside.restorers[signal - 1] = known ? vs_get64(back) : 0;
}

static int put(struct vs_replay *r, unsigned core, uint64_t addr, uint64_t value)
{
    uint8_t bytes[8];
    vs_put64(bytes, value);
    return vs_copy_write(vs_replay_view(r, core), addr, bytes, sizeof(bytes));
}

/* Returns where the program goes on after the handler. A call that is to be made again has its
 * number where it returns its result. */
static uint64_t interrupted_pc(const struct vs_replay *r, const struct vs_replay_core *c)
{
    const struct vs_abi *abi = r->config.isa->abi;
    bool again = c->called && vs_abi_call(abi, vs_cpu_get(c->cpu, abi->result)) == c->call.what;
    return r->before->pc - (again ? abi->call_length : 0);
}

int vs_replay_frame_fill(struct vs_replay *r, unsigned core)
{
    const struct vs_replay_core *c = &r->cores[core];
    const struct vs_abi *abi = r->config.isa->abi;
    uint64_t sp = vs_cpu_get(c->cpu, abi->stack), back;
    if (!abi->frame || !c->cause || c->cause > VS_ABI_SIGNALS)
        return 0;
    back = r->outside.restorers[c->cause - 1];
    int err = back ? put(r, core, sp, back) : 0;
    for (unsigned i = 0; i < abi->frame->saved_count && !err; i++) {
        const struct vs_abi_saved *saved = &abi->frame->saved[i];
        uint64_t value = saved->number == VS_REG_PC
                             ? interrupted_pc(r, c)
                             : vs_cpu_get(saved->changed ? r->before : c->cpu, saved->number);
        err = put(r, core, sp + saved->at, value);
    }
    return err;
}
