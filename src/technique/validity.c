/* SPDX-License-Identifier: MIT */
#include "technique/validity.h"

#include <stdlib.h>

#include "base/likely.h"

enum { INSNS = 1 << 12 }; /* a power of two */

struct vs_validity_insn {
    uint64_t pc;
    uint32_t version;
    bool used, known;
    struct vs_operands operands;
};

int vs_validity_init(struct vs_validity *v, unsigned cores, const struct vs_address_code *code,
                     bool values)
{
    *v = (struct vs_validity){.code = code, .values = values};
    v->cores = calloc(cores, sizeof(*v->cores));
    v->insns = code ? calloc(INSNS, sizeof(*v->insns)) : NULL;
    return v->cores && (v->insns || !code) ? 0 : -VSE_NOMEM;
}

void vs_validity_fini(struct vs_validity *v)
{
    free(v->cores);
    free(v->insns);
    *v = (struct vs_validity){0};
}

/* ---- code ------------------------------------------------------------------------------------ */

static void decode(const struct vs_validity *v, struct vs_validity_insn *insn, uint32_t version,
                   uint64_t pc)
{
    uint8_t bytes[VS_ISA_LENGTH_MAX];
    size_t size = v->code->fetch(v->code->context, version, pc, bytes, v->code->isa->length_max);
    insn->pc = pc;
    insn->version = version;
    insn->used = true;
    insn->known = v->code->isa->operands(bytes, size, pc, &insn->operands) == 0;
}

/* Returns NULL if the instruction is not known. */
static const struct vs_operands *fetch(struct vs_validity *v, unsigned core, uint64_t pc)
{
    struct vs_validity_core *c = &v->cores[core];
    if (unlikely(c->executed >= c->until || !c->until))
        c->version = v->code->version(v->code->context, core, c->executed, &c->until);
    struct vs_validity_insn *insn = &v->insns[(pc ^ pc >> 12) & (INSNS - 1)];
    if (unlikely(!insn->used || insn->pc != pc || insn->version != c->version))
        decode(v, insn, c->version, pc);
    return insn->known ? &insn->operands : NULL;
}

/* ---- registers ------------------------------------------------------------------------------- */

static void compute(const struct vs_validity_core *c, const struct vs_operands *o,
                    uint64_t values[VS_OPERANDS_EFFECTS])
{
    for (unsigned i = 0; i < o->effect_count; i++)
        if (!(vs_alu_sources(&o->effects[i]) & ~c->valid))
            values[i] = vs_alu_value(&o->effects[i], c->registers);
}

static void retire(struct vs_validity *v, struct vs_validity_core *c, const struct vs_operands *o)
{
    uint64_t values[VS_OPERANDS_EFFECTS];
    uint32_t valid = c->valid & ~o->clobbers;
    if (v->values)
        compute(c, o, values);
    for (unsigned i = 0; i < o->effect_count; i++) {
        const struct vs_alu *e = &o->effects[i];
        uint32_t to = UINT32_C(1) << e->to;
        if (vs_alu_sources(e) & ~c->valid) {
            valid &= ~to;
        } else {
            valid |= to;
            if (v->values)
                c->registers[e->to] = values[i];
        }
    }
    c->valid = valid;
    if (o->destinations && !o->memory_count) {
        v->computing++;
        v->unmodelled += o->clobbers != 0;
    }
}

static void complete(struct vs_validity *v, struct vs_validity_core *c)
{
    if (!c->inside)
        return;
    if (c->known)
        retire(v, c, &c->now);
    else
        c->valid = 0;
    c->inside = false;
    c->pc = c->next;
}

static void lose(struct vs_validity_core *c)
{
    c->valid = 0;
    c->placed = false;
}

/* ---- going on -------------------------------------------------------------------------------- */

static void begin(struct vs_validity *v, unsigned core, uint64_t pc)
{
    struct vs_validity_core *c = &v->cores[core];
    const struct vs_operands *o = fetch(v, core, pc);
    c->inside = true;
    c->known = o;
    c->at = pc;
    c->loads = c->stores = 0;
    if (o) {
        c->now = *o;
        c->next = pc + o->length;
    } else {
        c->placed = false; /* unless a move tells where the core goes */
    }
}

static void execute(struct vs_validity *v, unsigned core, uint64_t instructions)
{
    struct vs_validity_core *c = &v->cores[core];
    complete(v, c);
    for (; instructions > 1 && c->placed; instructions--, c->executed++) {
        const struct vs_operands *o = fetch(v, core, c->pc);
        if (unlikely(!o)) {
            lose(c);
            break;
        }
        retire(v, c, o);
        c->pc += o->length;
    }
    if (c->placed)
        begin(v, core, c->pc);
    c->executed += instructions;
}

static void locate(struct vs_validity *v, unsigned core, uint64_t pc)
{
    struct vs_validity_core *c = &v->cores[core];
    if (likely(c->inside && c->at == pc))
        return;
    lose(c);
    c->placed = true;
    c->until = 0;
    c->executed -= c->executed != 0; /* the instruction is counted already */
    begin(v, core, pc);
    c->until = 0;
    c->executed++;
}

void vs_validity_follow(struct vs_validity *v, const struct vs_address_move *m)
{
    struct vs_validity_core *c = &v->cores[m->core];
    if (!v->code)
        return;
    if (m->instructions)
        execute(v, m->core, m->instructions);
    if (m->located)
        locate(v, m->core, m->at);
    if (m->forgets) {
        complete(v, c);
        c->valid &= ~m->forgets;
    }
    if (m->goes) {
        c->placed = true;
        if (c->inside)
            c->next = m->to;
        else
            c->pc = m->to;
    }
}

/* ---- operands -------------------------------------------------------------------------------- */

/* Whether the operand belongs to a further iteration. */
static bool is_repeated(const struct vs_validity_core *c, const struct vs_memory_operand *m,
                        bool store)
{
    return m && m->form == VS_FORM_STRING && (store ? c->stores : c->loads);
}

const struct vs_memory_operand *vs_validity_operand(const struct vs_validity *v, unsigned core,
                                                    bool store)
{
    const struct vs_validity_core *c = &v->cores[core];
    unsigned skip = store ? c->stores : c->loads;
    if (!c->inside || !c->known)
        return NULL;
    for (unsigned i = 0; i < c->now.memory_count; i++) {
        const struct vs_memory_operand *m = &c->now.memory[i];
        if ((store ? m->store : m->load) && (m->form == VS_FORM_STRING || !skip--))
            return m;
    }
    return NULL;
}

bool vs_validity_tells(const struct vs_validity *v, unsigned core,
                       const struct vs_memory_operand *m, bool store, uint64_t *addr)
{
    const struct vs_validity_core *c = &v->cores[core];
    bool repeated = is_repeated(c, m, store);
    uint32_t needs = repeated ? UINT32_C(1) << VS_DIRECTION : m ? vs_memory_sources(m) : 0;
    if (!m || m->form == VS_FORM_OTHER || needs & ~c->valid)
        return false;
    uint64_t last = store ? c->last_store : c->last_load;
    if (v->values && repeated)
        *addr = c->registers[VS_DIRECTION] ? last - m->step : last + m->step;
    else if (v->values)
        *addr = vs_memory_address(m, c->registers);
    return true;
}

static void learn(struct vs_validity *v, struct vs_validity_core *c, unsigned reg, uint64_t value)
{
    if (v->values)
        c->registers[reg] = value;
    c->valid |= UINT32_C(1) << reg;
}

void vs_validity_took(struct vs_validity *v, unsigned core, const struct vs_memory_operand *m,
                      bool store, uint64_t addr)
{
    struct vs_validity_core *c = &v->cores[core];
    uint8_t *had = store ? &c->stores : &c->loads;
    uint64_t *last = store ? &c->last_store : &c->last_load;
    unsigned reg = m && m->form != VS_FORM_OTHER ? vs_memory_solves(m, c->valid) : VS_NO_REGISTER;
    if (is_repeated(c, m, store))
        learn(v, c, VS_DIRECTION, addr != *last + m->step);
    else if (reg != VS_NO_REGISTER)
        learn(v, c, reg, v->values ? vs_memory_solution(m, reg, addr, c->registers) : 0);
    *last = addr;
    *had = (uint8_t)(*had + (*had < UINT8_MAX));
}
