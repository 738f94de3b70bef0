/* SPDX-License-Identifier: MIT */
#include "technique/timing.h"

#include <stdlib.h>

#include "base/diag.h"
#include "base/likely.h"
#include "base/power.h"

enum {
    CODES = 1 << 12,
    CODE_MAX = 64, /* instructions */
    CYCLE_BITS = 64,
};

/* An instruction that issues. */
struct issued {
    uint16_t latency;
    uint8_t rd, rs1, rs2, rs3;
};

enum code_end { END_PLAIN, END_JUMP, END_CALL, END_SYSTEM };

/* It ends with a branch, with a system call, where nothing can be decoded, or anywhere. */
struct vs_timing_code {
    uint64_t pc;   /* of the first instruction */
    uint64_t next; /* the address after the last */
    uint32_t version;
    uint16_t count;
    uint8_t end; /* enum code_end: what else the last one does that the code alone tells */
    struct issued insns[CODE_MAX];
};

/* ---- opening --------------------------------------------------------------------------------- */

int vs_timing_check(const struct vs_timing_config *config, struct vs_diag *diag)
{
    const struct vs_branch_unit_config *p = &config->predictors;
    if (p->gshare && !vs_is_power_of_two(p->gshare))
        return vs_diag_set(diag, -VSE_INVAL, -1, -1,
                           "the core's gshare needs a power of two of entries, or none");
    if (p->ibtb && (p->ibtb == 1 || !vs_is_power_of_two(p->ibtb)))
        return vs_diag_set(diag, -VSE_INVAL, -1, -1,
                           "the core's ibtb needs twice a power of two of entries, or none");
    return 0;
}

int vs_timing_init(struct vs_timing *t, const struct vs_timing_config *config, unsigned cores)
{
    *t = (struct vs_timing){.config = *config, .core_count = cores};
    t->cached = calloc(CODES, sizeof(*t->cached));
    t->cores = calloc(cores, sizeof(*t->cores));
    int err = t->cached && t->cores ? 0 : -VSE_NOMEM;
    for (unsigned i = 0; i < cores && !err; i++)
        err = vs_branch_unit_init(&t->cores[i].branches, &config->predictors);
    return err;
}

void vs_timing_fini(struct vs_timing *t)
{
    for (unsigned i = 0; t->cores && i < t->core_count; i++)
        vs_branch_unit_fini(&t->cores[i].branches);
    free(t->cores);
    free(t->cached);
    *t = (struct vs_timing){0};
}

struct vs_cost vs_timing_cost(const struct vs_timing_config *config)
{
    /* ready times are distances from the clock that end at the longest latency */
    unsigned longest = 1;
    for (unsigned i = 0; i < VS_TIMING_UNITS; i++)
        longest = config->latency[i] > longest ? config->latency[i] : longest;
    return (struct vs_cost){.sram =
                                (VS_INORDER_REGISTERS - 1) * (uint64_t)vs_log2_ceil(longest + 1),
                            .registers = CYCLE_BITS + vs_log2_ceil(config->width + 1)};
}

struct vs_cost vs_timing_predictors_cost(const struct vs_timing_config *config,
                                         unsigned address_bits)
{
    struct vs_branch_unit unit;
    struct vs_cost cost = {0};
    if (vs_branch_unit_init(&unit, &config->predictors) == 0)
        cost = vs_branch_unit_cost(&unit, address_bits);
    vs_branch_unit_fini(&unit);
    return cost;
}

/* ---- code ------------------------------------------------------------------------------------ */

static struct issued issued_of(const struct vs_timing *t, const uint8_t *bytes, size_t size)
{
    struct vs_usage u;
    const struct vs_isa *isa = t->code.isa;
    if (!isa->usage || isa->usage(bytes, size, &u) < 0)
        return (struct issued){.latency = 1};
    return (struct issued){
        .latency = t->config.latency[u.unit], .rd = u.rd, .rs1 = u.rs1, .rs2 = u.rs2, .rs3 = u.rs3};
}

static enum code_end end_of(const struct vs_insn *insn)
{
    if (insn->kind == VS_INSN_SYSCALL)
        return END_SYSTEM;
    if (insn->kind != VS_INSN_BRANCH || insn->branch & (VS_BR_COND | VS_BR_INDIRECT))
        return END_PLAIN;
    return insn->branch & VS_BR_CALL ? END_CALL : END_JUMP;
}

static void build(const struct vs_timing *t, struct vs_timing_code *c, uint32_t version,
                  uint64_t pc)
{
    const struct vs_address_code *code = &t->code;
    struct vs_insn insn = {0};
    c->pc = c->next = pc;
    c->version = version;
    c->count = 0;
    c->end = END_PLAIN;
    while (code->isa && c->count < CODE_MAX && insn.kind == VS_INSN_PLAIN) {
        uint8_t bytes[VS_ISA_LENGTH_MAX];
        size_t size = code->fetch(code->context, version, c->next, bytes, code->isa->length_max);
        if (!size || code->isa->decode(bytes, size, c->next, &insn) < 0)
            break;
        c->insns[c->count++] = issued_of(t, bytes, size);
        c->next += insn.length;
        c->end = (uint8_t)end_of(&insn);
    }
}

static const struct vs_timing_code *code_at(const struct vs_timing *t, uint32_t version,
                                            uint64_t pc)
{
    struct vs_timing_code *c = &t->cached[(pc ^ pc >> 12) % CODES];
    if (unlikely(c->pc != pc || c->version != version || !c->count))
        build(t, c, version, pc);
    return c;
}

/* ---- time ------------------------------------------------------------------------------------ */

static void finish(struct vs_timing *t, struct vs_timing_core *core, const struct vs_timing_code *c)
{
    switch (c->end) {
    case END_CALL:
        vs_branch_unit_call(&core->branches, c->next);
        /* fallthrough */
    case END_JUMP:
        vs_slots_hold(&core->issue.slots, 1);
        break;
    case END_SYSTEM:
        vs_inorder_restart(&core->issue, core->issue.slots.cycle + t->config.system);
        break;
    default:
        break;
    }
}

void vs_timing_pass(struct vs_timing *t, unsigned number, uint32_t version, uint64_t pc,
                    uint64_t count)
{
    struct vs_timing_core *core = &t->cores[number];
    uint64_t *ready = core->issue.ready;
    struct vs_slots slots = core->issue.slots;
    while (count) {
        const struct vs_timing_code *c = code_at(t, version, pc);
        if (unlikely(!c->count)) {
            vs_slots_hold(&slots, count);
            break;
        }
        uint64_t most = count < c->count ? count : c->count;
        for (const struct issued *i = c->insns, *end = i + most; i < end; i++) {
            uint64_t at = vs_inorder_when(&slots, ready, t->config.width, i->rs1, i->rs2, i->rs3);
            vs_slots_take(&slots, at);
            vs_inorder_result(ready, i->rd, at + i->latency);
        }
        count -= most;
        pc = c->next;
        if (most < c->count)
            break;
        if (c->end != END_PLAIN) {
            core->issue.slots = slots;
            finish(t, core, c);
            slots = core->issue.slots;
        }
    }
    core->issue.slots = slots;
}

void vs_timing_set(struct vs_timing *t, unsigned core, uint64_t cycle)
{
    struct vs_inorder *issue = &t->cores[core].issue;
    uint64_t before = issue->slots.cycle;
    if (cycle == before)
        return;
    issue->slots = (struct vs_slots){.cycle = cycle, .used = 1};
    for (unsigned i = 1; i < VS_INORDER_REGISTERS; i++)
        if (issue->ready[i] > before)
            issue->ready[i] += cycle - before;
}

void vs_timing_branch(struct vs_timing *t, unsigned core, const struct vs_step *branch)
{
    struct vs_timing_core *c = &t->cores[core];
    bool right =
        branch->kind == VS_STEP_CONDITIONAL
            ? vs_branch_unit_outcome(&c->branches, branch->pc, vs_step_taken(branch))
            : vs_branch_unit_target(&c->branches, branch->pc, branch->flags, branch->target);
    if (branch->flags & VS_BR_CALL)
        vs_branch_unit_call(&c->branches, branch->pc + branch->size);
    if (!right)
        vs_slots_hold(&c->issue.slots, 1 + t->config.penalty);
    else if (vs_step_taken(branch))
        vs_slots_hold(&c->issue.slots, 1);
}

void vs_timing_forget(struct vs_timing *t, unsigned core)
{
    vs_branch_unit_clear(&t->cores[core].branches);
}

void vs_timing_restart(struct vs_timing *t, unsigned core, uint64_t cycle)
{
    struct vs_inorder *issue = &t->cores[core].issue;
    *issue = (struct vs_inorder){.slots = {.cycle = cycle}};
}
