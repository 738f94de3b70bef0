/* SPDX-License-Identifier: MIT */
#include "gen/follow.h"

#include <stdlib.h>
#include <string.h>

#include "unit/unittest.h"

/* A register of 8 bytes in an event's payload. */
static uint64_t register_of(const struct follow_run *r, const struct vs_event *e, unsigned wanted)
{
    const uint8_t *p = vs_event_bytes(&r->all, e), *bytes;
    size_t size = e->size;
    unsigned number, regsize;
    uint64_t value = 0, found = 0;
    int more;
    while ((more = vs_regs_next(&p, &size, &number, &regsize, &bytes)) == 1) {
        CHECK_EQ(regsize, 8);
        if (number == wanted) {
            memcpy(&value, bytes, 8);
            found++;
        }
    }
    CHECK_EQ(more, 0);
    CHECK_EQ(found, 1);
    return value;
}

/* ---- instructions ---- */

enum class { PLAIN, COND, JUMP, CALL, IJUMP, ICALL, RET, LOAD, STORE, AMO, LR, SC, CSR, ECALL };

struct insn {
    enum class class;
    unsigned size;    /* of the instruction */
    unsigned operand; /* of the access */
    int64_t offset;   /* of a direct transfer; from the stack pointer */
    bool stack;       /* an access relative to it, or (plain) it moves by offset */
};

static uint32_t bits(uint32_t word, unsigned from, unsigned count)
{
    return word >> from & ((1u << count) - 1);
}

static int64_t signed_from(uint32_t value, unsigned width)
{
    return (int64_t)((uint64_t)value << (64 - width)) >> (64 - width);
}

static struct insn decode_transfer(uint32_t w)
{
    uint32_t rd = bits(w, 7, 5), rs1 = bits(w, 15, 5);
    if (bits(w, 0, 7) == 0x63) {
        uint32_t o =
            bits(w, 31, 1) << 12 | bits(w, 7, 1) << 11 | bits(w, 25, 6) << 5 | bits(w, 8, 4) << 1;
        return (struct insn){COND, 4, 0, signed_from(o, 13), false};
    }
    if (bits(w, 0, 7) == 0x6f) {
        uint32_t o = bits(w, 31, 1) << 20 | bits(w, 12, 8) << 12 | bits(w, 20, 1) << 11 |
                     bits(w, 21, 10) << 1;
        return (struct insn){rd == 1 ? CALL : JUMP, 4, 0, signed_from(o, 21), false};
    }
    CHECK_EQ(bits(w, 0, 7), 0x67);
    return (struct insn){rd == 1 ? ICALL : rs1 == 1 ? RET : IJUMP, 4, 0, 0, false};
}

static struct insn decode_amo(uint32_t w)
{
    uint32_t op = bits(w, 27, 5);
    return (struct insn){op == 2 ? LR : op == 3 ? SC : AMO, 4, 1u << bits(w, 12, 3), 0, false};
}

static struct insn decode_long(uint32_t w)
{
    uint32_t opcode = bits(w, 0, 7), f3 = bits(w, 12, 3);
    bool vector = (opcode == 0x07 || opcode == 0x27) && f3 == 0;
    unsigned operand = vector ? 16 * (bits(w, 29, 3) + 1) : 1u << (f3 & 3);
    bool stack = !vector && bits(w, 15, 5) == 2;
    int64_t load_offset = signed_from(bits(w, 20, 12), 12);
    int64_t store_offset = signed_from(bits(w, 25, 7) << 5 | bits(w, 7, 5), 12);
    switch (opcode) {
    case 0x13:
        return (struct insn){PLAIN, 4, 0, load_offset, bits(w, 7, 5) == 2};
    case 0x03:
    case 0x07:
        return (struct insn){LOAD, 4, operand, load_offset, stack};
    case 0x23:
    case 0x27:
        return (struct insn){STORE, 4, operand, store_offset, stack};
    case 0x2f:
        return decode_amo(w);
    case 0x73:
        return (struct insn){w == 0x73 ? ECALL : CSR, 4, 0, 0, false};
    default:
        return decode_transfer(w);
    }
}

static int64_t c_j_offset(uint32_t w)
{
    return signed_from(bits(w, 12, 1) << 11 | bits(w, 8, 1) << 10 | bits(w, 9, 2) << 8 |
                           bits(w, 6, 1) << 7 | bits(w, 7, 1) << 6 | bits(w, 2, 1) << 5 |
                           bits(w, 11, 1) << 4 | bits(w, 3, 3) << 1,
                       12);
}

static int64_t c_branch_offset(uint32_t w)
{
    return signed_from(bits(w, 12, 1) << 8 | bits(w, 5, 2) << 6 | bits(w, 2, 1) << 5 |
                           bits(w, 10, 2) << 3 | bits(w, 3, 2) << 1,
                       9);
}

static struct insn decode_short(uint32_t w)
{
    uint32_t quadrant = bits(w, 0, 2), f3 = bits(w, 13, 3), rs1 = bits(w, 7, 5);
    switch (quadrant << 3 | f3) {
    case 0 << 3 | 1:
    case 0 << 3 | 3:
        return (struct insn){LOAD, 2, 8, 0, false};
    case 0 << 3 | 2:
        return (struct insn){LOAD, 2, 4, 0, false};
    case 0 << 3 | 5:
    case 0 << 3 | 7:
        return (struct insn){STORE, 2, 8, 0, false};
    case 0 << 3 | 6:
        return (struct insn){STORE, 2, 4, 0, false};
    case 2 << 3 | 3:
        return (struct insn){LOAD, 2, 8,
                             bits(w, 2, 3) << 6 | bits(w, 12, 1) << 5 | bits(w, 5, 2) << 3, true};
    case 2 << 3 | 7:
        return (struct insn){STORE, 2, 8, bits(w, 7, 3) << 6 | bits(w, 10, 3) << 3, true};
    case 1 << 3 | 0:
        return (struct insn){PLAIN, 2, 0, 0, false};
    case 1 << 3 | 5:
        return (struct insn){JUMP, 2, 0, c_j_offset(w), false};
    case 1 << 3 | 6:
    case 1 << 3 | 7:
        return (struct insn){COND, 2, 0, c_branch_offset(w), false};
    default:
        CHECK_EQ(quadrant << 3 | f3, 2 << 3 | 4);
        CHECK_EQ(bits(w, 2, 5), 0);
        return (struct insn){bits(w, 12, 1) ? ICALL : rs1 == 1 ? RET : IJUMP, 2, 0, 0, false};
    }
}

static struct insn decode(uint32_t w)
{
    return (w & 3) == 3 ? decode_long(w) : decode_short(w & 0xffff);
}

/* Code as it lies in memory now, by halfwords. */
enum { CODE_SLOTS = 1 << 19 };

struct half {
    uint64_t addr;
    uint16_t bits;
};

static struct half *half_at(struct half *code, uint64_t addr)
{
    size_t i = (size_t)(addr / 2 * 0x9e3779b97f4a7c15u >> 45);
    while (code[i].addr != 0 && code[i].addr != addr)
        i = (i + 1) % CODE_SLOTS;
    return &code[i];
}

static void install(struct half *code, const struct vs_block *b)
{
    for (uint32_t i = 0; i < b->size; i += 2) {
        struct half *h = half_at(code, b->addr + i);
        h->addr = b->addr + i;
        memcpy(&h->bits, b->bytes + i, 2);
    }
}

static struct insn fetch(struct half *code, uint64_t pc)
{
    struct half *low = half_at(code, pc);
    CHECK_EQ(low->addr, pc);
    if ((low->bits & 3) != 3)
        return decode(low->bits);
    struct half *high = half_at(code, pc + 2);
    CHECK_EQ(high->addr, pc + 2);
    return decode((uint32_t)high->bits << 16 | low->bits);
}

/* All blocks that no event announces. */
static struct half *code_at_start(const struct follow_run *r)
{
    struct half *code = calloc(CODE_SLOTS, sizeof *code);
    bool *announced = calloc(r->block_count + 1, 1);
    CHECK(code && announced);
    for (size_t i = 0; i < r->all.count; i++) {
        if (r->all.events[i].kind == VS_CODE) {
            CHECK(r->all.events[i].value < r->block_count);
            announced[r->all.events[i].value] = true;
        }
    }
    for (uint64_t id = 0; id < r->block_count; id++) {
        if (!announced[id])
            install(code, &r->blocks[id]);
    }
    free(announced);
    return code;
}

/* ---- following the threads ---- */

enum { STACK_MAX = 256 };

struct walker {
    uint64_t pc;
    uint64_t last; /* the instruction that retired last */
    uint64_t sp;   /* 0: not known */
    bool started, ended;
    bool lost; /* calls from before a gap are not known */
    unsigned depth;
    struct {
        uint64_t addr, sp;
        bool interrupted;
    } stack[STACK_MAX];
};

static void push(struct walker *w, uint64_t addr, bool interrupted)
{
    CHECK(w->depth < STACK_MAX);
    w->stack[w->depth].addr = addr;
    w->stack[w->depth].sp = w->sp;
    w->stack[w->depth++].interrupted = interrupted;
}

static void pop(struct walker *w, uint64_t addr, bool interrupted)
{
    if (w->depth == 0) {
        CHECK(w->lost);
        return;
    }
    w->depth--;
    CHECK_EQ(w->stack[w->depth].addr, addr);
    if (w->sp != 0 && w->stack[w->depth].sp != 0)
        CHECK_EQ(w->stack[w->depth].sp, w->sp);
    w->sp = w->stack[w->depth].sp;
    CHECK_EQ(w->stack[w->depth].interrupted, interrupted);
}

/* A jump to an outer return address drops what is inside. */
static void drop_to(struct walker *w, uint64_t addr)
{
    for (unsigned i = w->depth; i-- > 0;) {
        if (w->stack[i].addr == addr && !w->stack[i].interrupted) {
            w->depth = i;
            w->sp = w->stack[i].sp;
            return;
        }
    }
    /* it may have gone to a call from before the gap */
    if (w->lost)
        w->sp = 0;
}

/* Instructions that cause no event. */
static void step_plain(struct walker *w, struct half *code, unsigned count, bool memory)
{
    for (; count > 0; count--) {
        struct insn i = fetch(code, w->pc);
        CHECK(i.class == PLAIN || (!memory && (i.class == LOAD || i.class == STORE ||
                                               i.class == AMO || i.class == LR)));
        if (i.class == PLAIN && i.stack && w->sp != 0)
            w->sp += (uint64_t)i.offset;
        w->last = w->pc;
        w->pc += i.size;
    }
}

static void follow_branch(struct walker *w, const struct vs_event *e, struct insn i)
{
    static const uint8_t flags[] = {[COND] = VS_BR_COND,
                                    [JUMP] = VS_BR_TAKEN,
                                    [CALL] = VS_BR_TAKEN | VS_BR_CALL,
                                    [IJUMP] = VS_BR_TAKEN | VS_BR_INDIRECT,
                                    [ICALL] = VS_BR_TAKEN | VS_BR_INDIRECT | VS_BR_CALL,
                                    [RET] = VS_BR_TAKEN | VS_BR_INDIRECT | VS_BR_RETURN};
    CHECK(i.class >= COND && i.class <= RET);
    CHECK_EQ(e->flags | (i.class == COND ? VS_BR_TAKEN : 0),
             flags[i.class] | (i.class == COND ? VS_BR_TAKEN : 0));
    CHECK_EQ(e->size, i.size);
    if (!(e->flags & VS_BR_INDIRECT))
        CHECK_EQ(e->addr, e->pc + (uint64_t)i.offset);
    if (e->flags & VS_BR_CALL)
        push(w, e->pc + e->size, false);
    else if (e->flags & VS_BR_RETURN)
        pop(w, e->addr, false);
    else if (e->flags & VS_BR_INDIRECT)
        drop_to(w, e->addr);
    w->pc = e->flags & VS_BR_TAKEN ? e->addr : e->pc + e->size;
}

/* An event of the instruction i at e->pc, the first or a further one. */
static void match(const struct follow_run *r, struct walker *w, const struct vs_event *e,
                  struct insn i, bool further)
{
    if (i.stack && w->sp != 0)
        CHECK_EQ(e->addr, w->sp + (uint64_t)i.offset);
    switch (e->kind) {
    case VS_BRANCH:
        follow_branch(w, e, i);
        break;
    case VS_LOAD:
        CHECK(i.class == LOAD || i.class == AMO || i.class == LR);
        CHECK_EQ(e->flags, i.class == LOAD ? 0 : VS_MEM_ATOMIC);
        CHECK_EQ(e->size, i.operand);
        break;
    case VS_STORE:
        CHECK(i.class == (further ? i.class == SC ? SC : AMO : STORE));
        CHECK_EQ(e->flags, i.class == STORE ? 0 : VS_MEM_ATOMIC);
        CHECK_EQ(e->size, i.operand);
        break;
    case VS_NONDET:
        CHECK(i.class == CSR || i.class == SC);
        break;
    case VS_EXCEPTION_RET:
        CHECK(i.class == ECALL);
        w->sp = register_of(r, e, 2);
        pop(w, e->addr, true);
        w->pc = e->addr;
        break;
    default:
        CHECK(i.class == ECALL);
    }
}

static void follow_insn(const struct follow_run *r, struct walker *w, struct half *code,
                        const struct vs_event *e)
{
    struct insn i = fetch(code, e->pc);
    if (e->icount == 0) {
        CHECK_EQ(e->kind, VS_STORE);
        CHECK_EQ(e->pc, w->last);
        match(r, w, e, i, true);
        return;
    }
    step_plain(w, code, e->icount - 1u, r->memory);
    CHECK_EQ(w->pc, e->pc);
    w->last = w->pc;
    w->pc += i.size;
    match(r, w, e, i, false);
}

static void follow_other(const struct follow_run *r, struct walker *w, struct half *code,
                         const struct vs_event *e)
{
    step_plain(w, code, e->icount, r->memory);
    switch (e->kind) {
    case VS_THREAD_START:
        CHECK_EQ(register_of(r, e, VS_REG_PC), e->pc);
        w->sp = register_of(r, e, 2);
        w->pc = e->pc;
        break;
    case VS_EXCEPTION:
        CHECK_EQ(w->pc, e->pc);
        CHECK(register_of(r, e, VS_REG_CAUSE) != 0);
        push(w, e->pc, true);
        w->sp = register_of(r, e, 2);
        push(w, register_of(r, e, 1), false);
        w->pc = e->addr;
        break;
    case VS_GAP:
        CHECK_EQ(register_of(r, e, VS_REG_PC), e->pc);
        w->depth = 0;
        w->lost = true;
        w->sp = register_of(r, e, 2);
        w->pc = e->pc;
        break;
    case VS_CODE:
        install(code, &r->blocks[e->value]);
        break;
    case VS_COUNT:
        CHECK(e->icount > 0);
        break;
    default:
        break;
    }
}

static void follow(const struct follow_run *r, struct walker *w, struct half *code,
                   const struct vs_event *e)
{
    CHECK(!w->ended);
    CHECK_EQ(e->kind == VS_THREAD_START, !w->started);
    w->started = true;
    w->ended = e->kind == VS_THREAD_EXIT;
    bool insn = e->kind == VS_BRANCH || e->kind == VS_LOAD || e->kind == VS_STORE ||
                e->kind == VS_NONDET || e->kind == VS_SYSCALL || e->kind == VS_EXCEPTION_RET;
    if (insn)
        follow_insn(r, w, code, e);
    else
        follow_other(r, w, code, e);
}

void follow_code(const struct follow_run *r)
{
    struct walker *threads = NULL;
    struct half *code = code_at_start(r);
    unsigned seen = 0;
    for (size_t i = 0; i < r->all.count; i++) {
        const struct vs_event *e = &r->all.events[i];
        CHECK(e->thread <= seen);
        if (e->thread == seen) {
            threads = realloc(threads, ++seen * sizeof *threads);
            CHECK(threads);
            memset(&threads[seen - 1], 0, sizeof *threads);
        }
        follow(r, &threads[e->thread], code, e);
    }
    for (unsigned i = 0; i < seen; i++)
        CHECK(threads[i].ended);
    free(threads);
    free(code);
}
