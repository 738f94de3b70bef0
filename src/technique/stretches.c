/* SPDX-License-Identifier: MIT */
#include "technique/stretches.h"

#include <stdlib.h>

#include "base/likely.h"

enum { COUNT_MAX = 64 };

int vs_stretches_init(struct vs_stretches *s, const struct vs_address_code *code)
{
    *s = (struct vs_stretches){.code = code,
                               .table = calloc(VS_STRETCHES, sizeof(*s->table)),
                               .ways = calloc(VS_WAYS, sizeof(*s->ways))};
    return s->table && s->ways ? 0 : -VSE_NOMEM;
}

void vs_stretches_fini(struct vs_stretches *s)
{
    free(s->table);
    free(s->ways);
    s->table = NULL;
    s->ways = NULL;
}

static int decode(const struct vs_address_code *code, uint32_t version, uint64_t pc,
                  struct vs_insn *insn)
{
    uint8_t bytes[VS_ISA_LENGTH_MAX];
    size_t size = code->fetch(code->context, version, pc, bytes, code->isa->length_max);
    return size ? code->isa->decode(bytes, size, pc, insn) : -VSE_NOTFOUND;
}

bool vs_stretches_infer(const struct vs_stretches *s, uint32_t version, uint64_t before,
                        uint64_t pc, uint64_t *target)
{
    uint8_t bytes[2][VS_ISA_LENGTH_MAX];
    const struct vs_address_code *code = s->code;
    if (!code->isa->infer)
        return false;
    size_t first = code->fetch(code->context, version, before, bytes[0], code->isa->length_max);
    size_t second = code->fetch(code->context, version, pc, bytes[1], code->isa->length_max);
    return code->isa->infer(bytes[0], first, before, bytes[1], second, target);
}

static void build(const struct vs_stretches *s, struct vs_stretch *r, uint32_t version, uint64_t pc,
                  uint64_t most)
{
    struct vs_insn insn;
    *r = (struct vs_stretch){.pc = pc, .next = pc, .version = version};
    while (r->count < most && !r->branch && !r->repeat && !r->system_call &&
           decode(s->code, version, r->next, &insn) == 0) {
        r->before = (uint8_t)(r->count ? r->next - r->last_pc : 0);
        r->last_pc = r->next;
        r->next += insn.length;
        r->target = insn.target;
        r->branch = insn.kind == VS_INSN_BRANCH;
        r->flags = insn.branch;
        r->repeat = insn.repeat;
        r->system_call = insn.kind == VS_INSN_SYSCALL;
        r->prefetches += insn.prefetch;
        r->count++;
    }
    if (r->branch && r->flags & VS_BR_INDIRECT && r->before)
        r->inferable =
            vs_stretches_infer(s, version, r->last_pc - r->before, r->last_pc, &r->target);
}

const struct vs_stretch *vs_stretches_find(struct vs_stretches *s, unsigned core,
                                           struct vs_stretch_place *place, uint64_t most)
{
    const struct vs_address_code *code = s->code;
    if (unlikely(place->executed >= place->until))
        place->version = code->version(code->context, core, place->executed, &place->until);
    struct vs_stretch *r = &s->table[(place->pc ^ place->pc >> 14) % VS_STRETCHES];
    if (unlikely(r->pc != place->pc || r->version != place->version || !r->count))
        build(s, r, place->version, place->pc, COUNT_MAX);
    if (unlikely(!r->count))
        return NULL;
    if (most > place->until - place->executed)
        most = place->until - place->executed;
    if (likely(r->count <= most))
        return r;
    build(s, &s->part, place->version, place->pc, most);
    return &s->part;
}

/* Appends a stretch to a way. */
static void extend(const struct vs_stretches *s, struct vs_way *w, const struct vs_stretch *r)
{
    bool indirect = r->branch && r->flags & VS_BR_INDIRECT;
    uint64_t plain = w->count && !w->branch ? w->last : 0;
    w->alone = indirect && r->count == 1 && !w->count;
    w->jump = vs_stretch_jumps(r);
    w->target = r->target;
    w->inferable = r->inferable;
    if (indirect && r->count == 1 && plain) /* the instruction before is of another stretch */
        w->inferable = vs_stretches_infer(s, w->version, plain, r->last_pc, &w->target);
    w->last = r->last_pc;
    w->next = w->jump ? r->target : r->next;
    w->bytes += (uint32_t)(r->next - r->pc);
    w->count += r->count;
    w->jumps += w->jump;
    w->prefetches += r->prefetches;
    w->branch = r->branch;
    w->repeat = r->repeat;
    w->system_call = r->system_call;
}

const struct vs_way *vs_stretches_find_way(struct vs_stretches *s, unsigned core,
                                           struct vs_stretch_place *place, uint64_t count)
{
    struct vs_stretch_place at = *place;
    const struct vs_stretch *r = vs_stretches_at(s, core, &at, count);
    place->version = at.version;
    place->until = at.until;
    if (unlikely(!r || !count || count > UINT16_MAX || count > at.until - at.executed))
        return NULL;
    struct vs_way w = {.pc = at.pc, .version = at.version};
    while (r) {
        extend(s, &w, r);
        if (w.count == count) {
            struct vs_way *kept = &s->ways[(w.pc ^ w.pc >> 13) % VS_WAYS];
            *kept = w;
            return kept;
        }
        if (w.system_call || (w.branch && !w.jump))
            return NULL;
        at.pc = w.next;
        at.executed += r->count;
        r = vs_stretches_at(s, core, &at, count - w.count);
    }
    return NULL;
}
