/* SPDX-License-Identifier: MIT */
/* Builds what the Valgrind tool would say (capture/wire.h), record by record, for tests.
 *
 *     struct wb w = {0};
 *     struct wb_block b;
 *
 *     wb_hello(&w);
 *     wb_block_init(&b, 0x1000);
 *     wb_insn(&b, "48 8b 03");
 *     wb_op(&b, WIRE_LOAD, 0, 8);
 *     wb_exit_to(&b, WIRE_BORING, 0x1003);
 *     wb_define(&w, &b);
 *     wb_run(&w, 1);
 *     wb_exec(&w, &b);
 *     wb_addr(&w, &b, 0, 0x5000);
 *     wb_leave(&w, 0);
 *     wb_end(&w);
 *
 * leaves a buffer in w.out. Lies are told by changing what was built. */
#ifndef WIREBUILD_H
#define WIREBUILD_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "capture/wire.h"

struct wb {
    struct vs_buf out;
    uint32_t left;   /* of the next slot */
    uint32_t blocks; /* defined so far */
    size_t at;       /* the block's record that is being built */
};

enum { WB_OPS = 2400, WB_EXITS = 8, WB_INSNS = 5000, WB_CODE = 20000 };

struct wb_block {
    struct wire_block head;
    struct wire_op ops[WB_OPS];
    struct wire_exit exits[WB_EXITS];
    uint8_t lengths[WB_INSNS];
    uint8_t code[WB_CODE];
    uint64_t pc; /* of the last instruction */
};

static inline void wb_must(bool ok)
{
    if (!ok)
        abort();
}

/* Appends bytes and pads them to 8. */
static inline size_t wb_put(struct wb *w, const void *bytes, size_t size)
{
    static const uint8_t zeros[8];
    size_t at = w->out.len;

    wb_must(vs_buf_put(&w->out, bytes, size) == 0);
    wb_must(vs_buf_put(&w->out, zeros, -size & 7) == 0);
    return at;
}

static inline void wb_slot(struct wb *w, uint32_t what)
{
    struct wire_slot slot = {w->left, what};

    wb_put(w, &slot, sizeof(slot));
    w->left = 0;
}

/* Ends the buffer. */
static inline void wb_end(struct wb *w)
{
    wb_slot(w, 0);
}

/* A record of a head and two pieces of data. Returns where its data is. */
static inline size_t wb_record2(struct wb *w, uint32_t kind, uint32_t thread, const void *a,
                                size_t a_size, const void *b, size_t b_size)
{
    struct wire_head head = {(uint32_t)(sizeof(head) + ((a_size + b_size + 7) & ~(size_t)7)),
                             thread};
    size_t at;

    wb_slot(w, kind);
    wb_put(w, &head, sizeof(head));
    at = w->out.len;
    wb_must(vs_buf_put(&w->out, a, a_size) == 0);
    wb_put(w, b, b_size);
    while ((w->out.len - at) % 8)
        wb_must(vs_buf_put(&w->out, "", 1) == 0);
    return at;
}

static inline size_t wb_record(struct wb *w, uint32_t kind, uint32_t thread, const void *data,
                               size_t size)
{
    return wb_record2(w, kind, thread, data, size, NULL, 0);
}

/* ---- records that are no blocks -------------------------------------------------------------- */

static inline void wb_simple(struct wb *w, uint32_t kind, uint32_t thread)
{
    wb_record(w, kind, thread, NULL, 0);
}

static inline void wb_hello(struct wb *w)
{
    const struct wire_hello hello = {"3.19", "0.1.0", "avx2"};

    wb_record(w, WIRE_HELLO, 0, &hello, sizeof(hello));
    w->blocks = 0;
}

static inline void wb_run(struct wb *w, uint32_t thread)
{
    wb_simple(w, WIRE_RUN, thread);
}

/* Registers that all differ. */
static inline struct wire_regs wb_regs(uint64_t rip)
{
    struct wire_regs r = {.rip = rip, .rflags = 0x246, .fs_base = 0x7000, .gs_base = 0x7100};

    for (unsigned i = 0; i < 16; i++) {
        r.gpr[i] = 0x100 + i;
        memset(r.ymm[i], (int)(0x40 + i), sizeof(r.ymm[i]));
    }
    return r;
}

static inline void wb_start(struct wb *w, uint32_t thread, uint64_t system_id, uint64_t rip)
{
    struct wire_start s = {.system_id = system_id, .regs = wb_regs(rip)};

    wb_record(w, WIRE_START, thread, &s, sizeof(s));
}

static inline void wb_exit(struct wb *w, uint32_t thread, uint64_t status)
{
    wb_record(w, WIRE_EXIT, thread, &status, sizeof(status));
}

/* A call that moves the base of fs by so much. */
static inline void wb_base_call(struct wb *w, uint32_t thread, uint64_t number, uint64_t result,
                                uint64_t moves)
{
    struct wire_regs regs = wb_regs(0);
    struct wire_syscall s = {.number = number,
                             .args = {1, 2, 3, 4, 5, 6},
                             .result = result,
                             .rcx = 0xc,
                             .r11 = 0x11,
                             .fs_base = regs.fs_base + moves,
                             .gs_base = regs.gs_base};

    wb_record(w, WIRE_SYSCALL, thread, &s, sizeof(s));
}

static inline void wb_syscall(struct wb *w, uint32_t thread, uint64_t number, uint64_t result)
{
    wb_base_call(w, thread, number, result, 0);
}

static inline void wb_request(struct wb *w, uint32_t thread, uint64_t result)
{
    wb_record(w, WIRE_REQUEST, thread, &result, sizeof(result));
}

static inline void wb_external(struct wb *w, uint32_t thread, uint64_t addr, const void *bytes,
                               size_t size)
{
    struct wire_external x = {addr, size};

    wb_record2(w, WIRE_EXTERNAL, thread, &x, sizeof(x), bytes, size);
}

/* WIRE_SIGNAL or WIRE_RETURN. */
static inline void wb_signal(struct wb *w, uint32_t kind, uint32_t thread, uint64_t number,
                             const struct wire_regs *regs)
{
    struct wire_signal s = {number, *regs};

    wb_record(w, kind, thread, &s, sizeof(s));
}

static inline void wb_resume(struct wb *w, uint32_t thread, const struct wire_regs *regs)
{
    wb_record(w, WIRE_RESUME, thread, regs, sizeof(*regs));
}

static inline void wb_gap(struct wb *w, uint32_t thread, uint64_t skipped, uint64_t window,
                          uint64_t rip)
{
    struct wire_gap g = {skipped, window, wb_regs(rip)};

    wb_record(w, WIRE_GAP, thread, &g, sizeof(g));
}

static inline void wb_map(struct wb *w, uint64_t addr, uint64_t length, uint32_t flags,
                          const char *path)
{
    struct wire_map m = {
        .addr = addr, .length = length, .flags = flags, .path = (uint32_t)strlen(path)};

    wb_record2(w, WIRE_MAP, 0, &m, sizeof(m), path, strlen(path));
}

/* ---- blocks: what they are ------------------------------------------------------------------- */

static inline void wb_block_init(struct wb_block *b, uint64_t addr)
{
    memset(b, 0, sizeof(*b));
    b->head.addr = addr;
    b->head.length = sizeof(struct wire_slot);
}

/* An instruction, as in a listing: "f3 a4". */
static inline void wb_insn(struct wb_block *b, const char *hex)
{
    char *end;
    unsigned length = 0;

    b->pc = b->head.addr + b->head.code;
    for (;; hex = end, length++) {
        unsigned long byte = strtoul(hex, &end, 16);

        if (end == hex)
            break;
        b->code[b->head.code++] = (uint8_t)byte;
    }
    b->lengths[b->head.insns++] = (uint8_t)length;
}

static inline uint16_t wb_room(struct wb_block *b, unsigned size)
{
    unsigned at = b->head.length;

    b->head.length += (size + 7) & ~7u;
    return (uint16_t)at;
}

/* An operand of the last instruction, with room for what is recorded of it. Returns its number. */
static inline unsigned wb_op(struct wb_block *b, uint8_t kind, uint8_t flags, uint16_t size)
{
    struct wire_op *op = &b->ops[b->head.ops];

    *op = (struct wire_op){
        .insn = (uint16_t)(b->head.insns - 1), .kind = kind, .flags = flags, .size = size};
    if (flags & WIRE_GUARDED)
        op->guard_at = wb_room(b, 8);
    if (kind != WIRE_NONDET && !(flags & (WIRE_ADDR_CONST | WIRE_ADDR_OF)))
        op->addr_at = wb_room(b, 8);
    if (!(flags & (WIRE_VALUE_CONST | WIRE_VALUE_OF)))
        op->value_at = wb_room(b, size);
    return b->head.ops++;
}

/* An exit at the last instruction. Returns its number. */
static inline unsigned wb_exit_to(struct wb_block *b, uint8_t leave, uint64_t target)
{
    b->exits[b->head.exits] = (struct wire_exit){.insn = (uint16_t)(b->head.insns - 1),
                                                 .ops = b->head.ops,
                                                 .leave = leave,
                                                 .target = target};
    return b->head.exits++;
}

/* The same, at the block's end. */
static inline unsigned wb_end_to(struct wb_block *b, uint8_t leave, uint64_t target)
{
    unsigned x = wb_exit_to(b, leave, target);

    b->exits[x].is_end = 1;
    return x;
}

/* The same, with a target that is recorded. */
static inline unsigned wb_end_indirect(struct wb_block *b)
{
    unsigned x = wb_end_to(b, WIRE_BORING, 0);

    b->exits[x].target_at = wb_room(b, 8);
    return x;
}

/* WIRE_BLOCK, with the next number. Returns where its struct wire_block is in the buffer. */
static inline size_t wb_define(struct wb *w, struct wb_block *b)
{
    struct vs_buf t = {0};
    size_t at;

    b->head.number = ++w->blocks;
    wb_must(vs_buf_put(&t, b->ops, b->head.ops * sizeof(b->ops[0])) == 0);
    wb_must(vs_buf_put(&t, b->exits, b->head.exits * sizeof(b->exits[0])) == 0);
    wb_must(vs_buf_put(&t, b->lengths, b->head.insns) == 0);
    wb_must(vs_buf_put(&t, b->code, b->head.code) == 0);
    at = wb_record2(w, WIRE_BLOCK, 0, &b->head, sizeof(b->head), t.data, t.len);
    vs_buf_fini(&t);
    return at;
}

/* WIRE_AGAIN, for a block that was defined. */
static inline void wb_again(struct wb *w, const struct wb_block *b)
{
    uint64_t number = b->head.number;

    wb_record(w, WIRE_AGAIN, 0, &number, sizeof(number));
}

/* ---- blocks: that they ran ------------------------------------------------------------------- */

/* A record of zeros. */
static inline void wb_exec(struct wb *w, const struct wb_block *b)
{
    w->at = w->out.len;
    wb_slot(w, b->head.number);
    wb_must(vs_buf_reserve(&w->out, b->head.length) == 0);
    memset(w->out.data + w->out.len, 0, b->head.length - sizeof(struct wire_slot));
    w->out.len += b->head.length - sizeof(struct wire_slot);
}

static inline void wb_word(struct wb *w, unsigned at, uint64_t value)
{
    memcpy(w->out.data + w->at + at, &value, sizeof(value));
}

static inline void wb_addr(struct wb *w, const struct wb_block *b, unsigned op, uint64_t addr)
{
    wb_word(w, b->ops[op].addr_at, addr);
}

static inline void wb_value(struct wb *w, const struct wb_block *b, unsigned op, uint64_t value)
{
    wb_word(w, b->ops[op].value_at, value);
}

static inline void wb_wide(struct wb *w, const struct wb_block *b, unsigned op, const void *bytes)
{
    memcpy(w->out.data + w->at + b->ops[op].value_at, bytes, b->ops[op].size);
}

static inline void wb_guard(struct wb *w, const struct wb_block *b, unsigned op, bool happened)
{
    wb_word(w, b->ops[op].guard_at, happened);
}

static inline void wb_target(struct wb *w, const struct wb_block *b, unsigned x, uint64_t target)
{
    wb_word(w, b->exits[x].target_at, target);
}

static inline void wb_leave(struct wb *w, unsigned x)
{
    w->left = x + 1;
}

/* So many instructions retired, then one faulted. */
static inline void wb_fault(struct wb *w, unsigned insns)
{
    w->left = WIRE_LEFT_FAULT | insns;
}

/* A block without operands ran. */
static inline void wb_ran(struct wb *w, const struct wb_block *b, unsigned x)
{
    wb_exec(w, b);
    wb_leave(w, x);
}

static inline void wb_fini(struct wb *w)
{
    vs_buf_fini(&w->out);
    *w = (struct wb){0};
}

#endif
