/* SPDX-License-Identifier: MIT */
/* The memory of a generated run, and where things lie in it. Pages appear at first touch; their
 * content is a function of seed and address. */
#ifndef GEN_MEMORY_H
#define GEN_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#define MAIN_BASE  0x2aaaaaa000u
#define DATA_BASE  0x2aaae00000u /* globals, then the data that threads share */
#define HEAP_BASE  0x2aab000000u /* arrays, small objects, linked nodes */
#define STACK_BASE 0x3f00000000u
#define MAP_BASE   0x3f60000000u
#define JIT_BASE   0x3fa0000000u
#define LIB_BASE   0x3fb7000000u

enum {
    DATA_SIZE = 0x10000,
    SHARED_OFFSET = 0x8000,
    SHARED_SIZE = 0x1000,
    ARRAYS_SIZE = 0x200000,
    OBJECTS_OFFSET = ARRAYS_SIZE,
    OBJECTS_SIZE = 0x100000,
    NODES_OFFSET = OBJECTS_OFFSET + OBJECTS_SIZE,
    NODES_SIZE = 0x100000,
    NODE_SIZE = 64, /* the word at offset 0 points to the next node */
    HEAP_SIZE = NODES_OFFSET + NODES_SIZE,
    STACK_SIZE = 0x40000,
    MAP_SPACING = 0x100000,
    JIT_SIZE = 0x4000,
    PAGE_SIZE = 4096,
    TLB_SIZE = 512
};

struct page {
    uint64_t number;
    uint8_t bytes[PAGE_SIZE];
};

struct memory {
    uint64_t seed;
    struct page **table; /* open addressing by page number */
    size_t capacity, used;
    struct page *tlb[TLB_SIZE];
    struct page spare; /* stands in for a page that could not be had */
    int error;         /* -VSE_NOMEM from then on */
};

/* Returns 0; -VSE_NOMEM. Needs memory_fini in either case. */
int memory_init(struct memory *m, uint64_t seed);
void memory_fini(struct memory *m);

void memory_read(struct memory *m, uint64_t addr, void *bytes, size_t size);
void memory_write(struct memory *m, uint64_t addr, const void *bytes, size_t size);

/* 1 to 8 bytes as a little-endian number, upper bytes zero. */
uint64_t memory_load(struct memory *m, uint64_t addr, unsigned size);
void memory_store(struct memory *m, uint64_t addr, uint64_t value, unsigned size);

/* A double of everyday magnitude with these random bits. */
static inline uint64_t memory_double(uint64_t random)
{
    return 0x3fc0000000000000u + (random & 0x807fffffffffffffu);
}

/* The node of the heap with this random number. */
static inline uint64_t memory_node(uint64_t random)
{
    return HEAP_BASE + NODES_OFFSET + random % (NODES_SIZE / NODE_SIZE) * NODE_SIZE;
}

#endif
