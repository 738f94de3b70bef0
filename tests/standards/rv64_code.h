/* SPDX-License-Identifier: MIT */
/* A program's code for the decoders beside this file, which share nothing with src: what
 * `vestige encode --raw FILE` leaves of an RV64 program, what its jumps and branches do, and a hash
 * of executed addresses. */
#ifndef STANDARDS_RV64_CODE_H
#define STANDARDS_RV64_CODE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline void fail(const char *what, uint64_t where)
{
    fprintf(stderr, "%s at %#llx\n", what, (unsigned long long)where);
    exit(1);
}

static inline uint8_t *load(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    uint8_t *data = NULL;
    size_t room = 0;
    if (!f)
        fail(path, 0);
    for (*size = 0; !feof(f);) {
        if (*size == room && !(data = realloc(data, room = 2 * room + 65536)))
            fail("no memory", 0);
        *size += fread(data + *size, 1, room - *size, f);
    }
    fclose(f);
    return data;
}

enum kind { PLAIN, CONDITIONAL, JUMP, INDIRECT, SYSTEM };

struct insn {
    enum kind kind;
    unsigned length;
    unsigned rd, rs1;
    uint64_t target; /* of a direct one */
    int64_t imm;     /* of an indirect one */
    bool upper;      /* lui or auipc: sets rd to `target` */
};

/* The bytes of FILE.code, and the lines "address offset size" of FILE.ranges, by address. */
struct range {
    uint64_t address, offset, size;
};

struct code {
    uint8_t *bytes;
    struct range *ranges;
    size_t count, last; /* last: where the last look was */
};

static inline struct code load_code(const char *path)
{
    char name[4096], *text, *p;
    size_t size, used = 0;
    snprintf(name, sizeof(name), "%s.code", path);
    struct code c = {.bytes = load(name, &size)};
    snprintf(name, sizeof(name), "%s.ranges", path);
    text = (char *)load(name, &used);
    c.ranges = calloc(used + 1, sizeof(*c.ranges));
    if (!c.ranges || !used)
        fail("no code", 0);
    text[used - 1] = 0; /* instead of the last newline */
    for (p = text; *p; p += *p != 0) {
        struct range *r = &c.ranges[c.count++];
        r->address = strtoull(p, &p, 0);
        r->offset = strtoull(p, &p, 0);
        r->size = strtoull(p, &p, 0);
        if (r->offset + r->size > size)
            fail("code that is cut", r->address);
    }
    free(text);
    return c;
}

static inline void free_code(struct code *c)
{
    free(c->bytes);
    free(c->ranges);
}

static inline bool lies_in(const struct range *r, uint64_t pc)
{
    return pc >= r->address && pc + 2 <= r->address + r->size;
}

static inline uint32_t half(struct code *c, uint64_t pc)
{
    size_t low = 0, high = c->count;
    if (!lies_in(&c->ranges[c->last], pc)) {
        while (high - low > 1) {
            size_t middle = (low + high) / 2;
            if (c->ranges[middle].address <= pc)
                low = middle;
            else
                high = middle;
        }
        c->last = low;
    }
    const struct range *r = &c->ranges[c->last];
    if (!lies_in(r, pc))
        fail("no code", pc);
    const uint8_t *at = c->bytes + r->offset + (pc - r->address);
    return at[0] | (uint32_t)at[1] << 8;
}

static inline int64_t bits_of(uint32_t w, unsigned from, unsigned count, unsigned to)
{
    return (int64_t)(w >> from & ((1u << count) - 1)) << to;
}

static inline int64_t extend(int64_t v, unsigned bits)
{
    return (int64_t)((uint64_t)v << (64 - bits)) >> (64 - bits);
}

static inline struct insn short_insn(uint32_t w, uint64_t pc)
{
    struct insn i = {.length = 2};
    unsigned op = w & 3, top = w >> 13;
    if (op == 1 && top == 5) {
        i.kind = JUMP;
        i.target = pc + (uint64_t)extend(bits_of(w, 12, 1, 11) | bits_of(w, 11, 1, 4) |
                                             bits_of(w, 9, 2, 8) | bits_of(w, 8, 1, 10) |
                                             bits_of(w, 7, 1, 6) | bits_of(w, 6, 1, 7) |
                                             bits_of(w, 3, 3, 1) | bits_of(w, 2, 1, 5),
                                         12);
    } else if (op == 1 && top >= 6) {
        i.kind = CONDITIONAL;
        i.target = pc + (uint64_t)extend(bits_of(w, 12, 1, 8) | bits_of(w, 10, 2, 3) |
                                             bits_of(w, 5, 2, 6) | bits_of(w, 3, 2, 1) |
                                             bits_of(w, 2, 1, 5),
                                         9);
    } else if (op == 2 && top == 4 && !(w >> 2 & 31) && (w >> 7 & 31)) {
        i.kind = INDIRECT;
        i.rs1 = w >> 7 & 31;
        i.rd = w >> 12 & 1;
    } else if (w == 0x9002) {
        i.kind = SYSTEM;
    } else if (op == 1 && top == 3 && (w >> 7 & 31) != 2 && (w >> 7 & 31)) {
        i.upper = true;
        i.rd = w >> 7 & 31;
        i.target = (uint64_t)extend(bits_of(w, 12, 1, 17) | bits_of(w, 2, 5, 12), 18);
    }
    return i;
}

static inline struct insn insn_at(struct code *c, uint64_t pc)
{
    uint32_t w = half(c, pc);
    if ((w & 3) != 3)
        return short_insn(w, pc);
    w |= half(c, pc + 2) << 16;
    struct insn i = {.length = 4, .rd = w >> 7 & 31, .rs1 = w >> 15 & 31};
    switch (w & 0x7f) {
    case 0x63:
        i.kind = CONDITIONAL;
        i.target = pc + (uint64_t)extend(bits_of(w, 31, 1, 12) | bits_of(w, 7, 1, 11) |
                                             bits_of(w, 25, 6, 5) | bits_of(w, 8, 4, 1),
                                         13);
        break;
    case 0x6f:
        i.kind = JUMP;
        i.target = pc + (uint64_t)extend(bits_of(w, 31, 1, 20) | bits_of(w, 12, 8, 12) |
                                             bits_of(w, 20, 1, 11) | bits_of(w, 21, 10, 1),
                                         21);
        break;
    case 0x67:
        i.kind = INDIRECT;
        i.imm = extend(bits_of(w, 20, 12, 0), 12);
        break;
    case 0x37:
    case 0x17:
        i.upper = true;
        i.target = (uint64_t)extend(w & 0xfffff000, 32) + ((w & 0x7f) == 0x17 ? pc : 0);
        break;
    case 0x73:
        i.kind = w == 0x73 || w == 0x100073 ? SYSTEM : PLAIN;
        break;
    default:
        break;
    }
    return i;
}

static inline bool is_link(unsigned reg)
{
    return reg == 1 || reg == 5;
}

/* A call leaves its return address in a link register; a return goes to one; a swap does both. */
static inline bool is_call(const struct insn *i)
{
    return (i->kind == JUMP && i->length == 4 && is_link(i->rd)) ||
           (i->kind == INDIRECT && is_link(i->rd) && !(is_link(i->rs1) && i->rs1 != i->rd));
}

static inline bool is_return(const struct insn *i)
{
    return i->kind == INDIRECT && is_link(i->rs1) && !is_link(i->rd);
}

/* Whether the jump's target follows from the instruction right before it, and where it goes. */
static inline bool is_sequential(const struct insn *i, const struct insn *before, uint64_t *target)
{
    *target = (before->target + (uint64_t)i->imm) & ~UINT64_C(1);
    return i->kind == INDIRECT && before->upper && before->rd == i->rs1;
}

/* ---- what was executed ---- */

struct executed {
    uint64_t count, hash;
};

static inline void execute(struct executed *e, uint64_t pc)
{
    e->count++;
    e->hash = (e->hash ^ pc) * UINT64_C(0x100000001b3);
    e->hash ^= e->hash >> 32;
}

/* Returns a parameter of "name=value,name=value". */
static inline const char *option(const char *options, const char *name)
{
    size_t n = strlen(name);
    for (const char *p = options; p && *p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL)
        if (!strncmp(p, name, n) && p[n] == '=')
            return p + n + 1;
    fail(name, 0);
    return "";
}

static inline bool option_is(const char *options, const char *name, const char *value)
{
    return !strncmp(option(options, name), value, strlen(value));
}

#endif
