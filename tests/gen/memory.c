/* SPDX-License-Identifier: MIT */
#include "gen/memory.h"

#include <stdlib.h>
#include <string.h>

#include "gen/random.h"
#include "vestige/error.h"

enum { FIRST_CAPACITY = 4096 };

int memory_init(struct memory *m, uint64_t seed)
{
    memset(m, 0, sizeof *m);
    m->seed = rng_mix(seed ^ 0x6d656d6f7279u);
    m->spare.number = UINT64_MAX;
    m->capacity = FIRST_CAPACITY;
    m->table = calloc(m->capacity, sizeof *m->table);
    return m->table ? 0 : -VSE_NOMEM;
}

void memory_fini(struct memory *m)
{
    for (size_t i = 0; m->table && i < m->capacity; i++)
        free(m->table[i]);
    free(m->table);
    m->table = NULL;
}

static struct page **find(struct page **table, size_t capacity, uint64_t number)
{
    size_t i = rng_mix(number) & (capacity - 1);
    while (table[i] && table[i]->number != number)
        i = (i + 1) & (capacity - 1);
    return &table[i];
}

static int grow(struct memory *m)
{
    size_t capacity = m->capacity * 2;
    struct page **table = calloc(capacity, sizeof *table);
    if (!table)
        return -VSE_NOMEM;
    for (size_t i = 0; i < m->capacity; i++) {
        if (m->table[i])
            *find(table, capacity, m->table[i]->number) = m->table[i];
    }
    free(m->table);
    m->table = table;
    m->capacity = capacity;
    return 0;
}

static uint64_t first_word(const struct memory *m, uint64_t addr)
{
    uint64_t random = rng_mix(m->seed ^ addr);
    if (addr - (HEAP_BASE + NODES_OFFSET) < NODES_SIZE && addr % NODE_SIZE == 0)
        return memory_node(random);
    switch (rng_mix(m->seed ^ addr / PAGE_SIZE) % 4) {
    case 0:
        return 0;
    case 1:
        return random & 0xff;
    case 2:
        return memory_double(random);
    default:
        return random;
    }
}

static struct page *make_page(struct memory *m, struct page **place, uint64_t number)
{
    struct page *page = malloc(sizeof *page);
    if (!page) {
        m->error = -VSE_NOMEM;
        return &m->spare;
    }
    page->number = number;
    for (size_t i = 0; i < PAGE_SIZE; i += 8) {
        uint64_t word = first_word(m, number * PAGE_SIZE + i);
        memcpy(page->bytes + i, &word, 8);
    }
    *place = page;
    m->used++;
    return page;
}

static struct page *find_page(struct memory *m, uint64_t number)
{
    struct page **place = find(m->table, m->capacity, number);
    if (!*place && m->used * 2 >= m->capacity) {
        if (grow(m) != 0) {
            m->error = -VSE_NOMEM;
            return &m->spare;
        }
        place = find(m->table, m->capacity, number);
    }
    struct page *page = *place ? *place : make_page(m, place, number);
    m->tlb[number % TLB_SIZE] = page;
    return page;
}

static inline uint8_t *at(struct memory *m, uint64_t addr)
{
    uint64_t number = addr / PAGE_SIZE;
    struct page *page = m->tlb[number % TLB_SIZE];
    if (!page || page->number != number)
        page = find_page(m, number);
    return page->bytes + addr % PAGE_SIZE;
}

static size_t first_part(uint64_t addr, size_t size)
{
    size_t room = PAGE_SIZE - addr % PAGE_SIZE;
    return size < room ? size : room;
}

void memory_read(struct memory *m, uint64_t addr, void *bytes, size_t size)
{
    uint8_t *to = bytes;
    while (size > 0) {
        size_t n = first_part(addr, size);
        memcpy(to, at(m, addr), n);
        to += n;
        addr += n;
        size -= n;
    }
}

void memory_write(struct memory *m, uint64_t addr, const void *bytes, size_t size)
{
    const uint8_t *from = bytes;
    while (size > 0) {
        size_t n = first_part(addr, size);
        memcpy(at(m, addr), from, n);
        from += n;
        addr += n;
        size -= n;
    }
}

uint64_t memory_load(struct memory *m, uint64_t addr, unsigned size)
{
    uint64_t value = 0;
    if (addr % PAGE_SIZE > PAGE_SIZE - 8) {
        memory_read(m, addr, &value, size);
        return value;
    }
    memcpy(&value, at(m, addr), 8);
    return value & (UINT64_MAX >> (64 - 8 * size));
}

void memory_store(struct memory *m, uint64_t addr, uint64_t value, unsigned size)
{
    if (addr % PAGE_SIZE + size > PAGE_SIZE) {
        memory_write(m, addr, &value, size);
        return;
    }
    uint8_t *to = at(m, addr);
    switch (size) {
    case 1:
        memcpy(to, &value, 1);
        break;
    case 2:
        memcpy(to, &value, 2);
        break;
    case 4:
        memcpy(to, &value, 4);
        break;
    default:
        memcpy(to, &value, 8);
        break;
    }
}
