/* SPDX-License-Identifier: MIT */
/* What the two halves of the reader share: everything it knows while it reads, and how it takes
 * numbers off bytes. Section numbers are those of docs/format.md. */
#ifndef PLAIN_STATE_H
#define PLAIN_STATE_H

#include "plain/plain.h"

#include <setjmp.h>
#include <stdlib.h>

#define MIB ((uint64_t)1 << 20)

enum { CHUNK_META = 1, CHUNK_STATIC, CHUNK_EVENTS, CHUNK_INDEX };

/* Section 2. */
enum { FACTS = 1, IMAGES, BLOCKS, CODE, SITES, INDEX };
enum { SUMMARY = 8, ORDER, SITE_GAPS, SITE_NUMBERS, OUTCOME_GAPS, TARGET_GAPS, TARGET_LENGTHS };
enum { TARGETS = 15, HOW, ADDRESSES, VALUES, WIDE, OTHER, LITERALS, CYCLES, COLUMNS };

/* Bytes and how many of them have been read. */
struct bytes {
    const uint8_t *data;
    size_t size, at;
};

/* Section 3: what is the same each time an event happens. */
struct site {
    uint8_t kind, flags;
    uint16_t size, icount;
    uint64_t pc, target;
};

/* Section 7: numbers that tend to have equal differences. */
struct series {
    uint64_t last, stride;
    uint32_t seen;
};

/* Sections 6 and 7: what a chunk has learnt about a site. */
struct site_state {
    uint64_t next[2], relative;
    struct series addr, value;
    unsigned trust;
};

/* Section 5: a thread in a chunk. */
struct thread {
    uint32_t number;
    uint64_t events, insns; /* that the summary says are still to come */
    uint64_t cycle;         /* of its previous event */
    uint64_t expect, *link;
    uint32_t history, depth;
    uint64_t path, last_addr, loaded, stack[32];
};

/* Section 5: right predictions before the next wrong one, if that is known already. */
struct gap {
    bool pending;
    uint64_t right;
};

/* Section 7. */
struct line {
    uint64_t tag;
    uint8_t bytes[32];
    bool known[32];
};

/* What lives for the duration of a chunk. */
struct allocation {
    struct allocation *next;
    _Alignas(16) uint8_t memory[];
};

struct chunk {
    struct bytes columns[COLUMNS];
    struct gap gaps[COLUMNS];
    uint64_t events, site_count, blocks, images, shadow_bits, cycle_first, cycle_last, thread_count;
    struct thread *threads;
    struct site_state *sites;
    struct line *shadow;
    uint64_t arrival[1 << 12], target[1 << 12];
    uint8_t outcome[1 << 14];
};

struct plain {
    const struct plain_sink *sink;
    struct plain_totals *totals;
    struct bytes file;

    /* over the whole file */
    struct site *sites; /* the first is the literal last read, since site 0 stands for that */
    uint64_t site_count, site_pc, block_end, code_size, cycle;
    uint64_t insns[VS_THREADS_MAX]; /* that each thread has retired */
    uint8_t *index;                 /* what the index should say */
    size_t index_size;

    struct chunk chunk;
    struct allocation *allocations;
    uint8_t value[VS_SIZE_MAX]; /* of the current event */

    jmp_buf failed;
    const char *why;
};

static inline void must(struct plain *p, bool ok, const char *rule)
{
    if (!ok) {
        p->why = rule;
        longjmp(p->failed, 1);
    }
}

static inline void *grow(struct plain *p, void *memory, size_t size)
{
    void *grown = realloc(memory, size);
    must(p, grown != NULL, "out of memory");
    return grown;
}

/* Zeros, until the end of the chunk. */
static inline void *allocate(struct plain *p, size_t count, size_t size)
{
    struct allocation *a = calloc(1, sizeof *a + count * size);
    must(p, a != NULL, "out of memory");
    a->next = p->allocations;
    p->allocations = a;
    return a->memory;
}

static inline void release(struct plain *p)
{
    while (p->allocations) {
        struct allocation *a = p->allocations;
        p->allocations = a->next;
        free(a);
    }
}

/* ---- numbers ------------------------------------------------------------------------------ */

static inline bool ended(const struct bytes *b)
{
    return b->at == b->size;
}

static inline const uint8_t *take(struct plain *p, struct bytes *b, uint64_t size)
{
    must(p, size <= b->size - b->at, "bytes missing");
    if (size == 0)
        return b->data; /* NULL, if the column is missing */
    const uint8_t *start = b->data + b->at;
    b->at += size;
    return start;
}

static inline uint8_t take_byte(struct plain *p, struct bytes *b)
{
    return *take(p, b, 1);
}

static inline uint64_t little_endian(const uint8_t *data, size_t size)
{
    uint64_t x = 0;
    for (size_t i = 0; i < size; i++)
        x |= (uint64_t)data[i] << 8 * i;
    return x;
}

static inline uint64_t take_varint(struct plain *p, struct bytes *b)
{
    uint64_t x = 0;
    for (unsigned shift = 0;; shift += 7) {
        uint8_t byte = take_byte(p, b);
        must(p, shift < 63 || byte <= 1, "varint of more than 64 bits");
        x |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) {
            must(p, byte != 0 || shift == 0, "varint not the shortest");
            return x;
        }
    }
}

static inline uint64_t take_at_most(struct plain *p, struct bytes *b, uint64_t most)
{
    uint64_t x = take_varint(p, b);
    must(p, x <= most, "number beyond its limit");
    return x;
}

/* Signed numbers are kept modulo 2^64, like the sums they are part of. */
static inline uint64_t unzigzag(uint64_t x)
{
    return x & 1 ? ~(x >> 1) : x >> 1;
}

static inline uint64_t take_zigzag(struct plain *p, struct bytes *b)
{
    return unzigzag(take_varint(p, b));
}

/* The same, coded as that many bytes. */
static inline uint64_t take_signed(struct plain *p, struct bytes *b, unsigned size)
{
    must(p, size <= 8, "length of a number");
    return unzigzag(little_endian(take(p, b, size), size));
}

static inline struct plain_string take_string(struct plain *p, struct bytes *b, uint64_t most)
{
    struct plain_string s = {.size = take_at_most(p, b, most)};
    s.data = take(p, b, s.size);
    return s;
}

static inline struct bytes *column(struct plain *p, unsigned id)
{
    return &p->chunk.columns[id];
}

/* A site, or a literal, after one with that pc. */
struct site plain_site(struct plain *p, struct bytes *b, uint64_t previous_pc);

/* Sections 5 to 8: all of an events chunk, whose columns are there. */
void plain_events(struct plain *p);

#endif
