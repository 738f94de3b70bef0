/* SPDX-License-Identifier: MIT */
#include "isa/codemap.h"

#include <string.h>

#include "vestige/error.h"
#include "base/invariant.h"

enum {
    PAGE_SIZE = 256,     /* small: a hostile run may have every block on a page of its own */
    PAGES_MAX = 1 << 22, /* about 1.2 GiB */
};

struct vs_codemap_page {
    uint64_t known[PAGE_SIZE / 64]; /* a bit per byte */
    uint8_t bytes[PAGE_SIZE];
};

static struct vs_codemap_page *find_page(const struct vs_codemap *m, uint64_t number)
{
    return vs_map_pointer(&m->pages, number);
}

static int make_page(struct vs_codemap *m, uint64_t number)
{
    if (find_page(m, number))
        return 0;
    if (m->pages.count == PAGES_MAX)
        return -VSE_LIMIT;
    struct vs_codemap_page *page =
        vs_arena_alloc(&m->memory, sizeof(*page), _Alignof(struct vs_codemap_page));
    if (!page)
        return -VSE_NOMEM;
    memset(page, 0, sizeof(*page));
    return vs_map_set_pointer(&m->pages, number, page);
}

static bool is_known(const struct vs_codemap_page *page, unsigned at)
{
    return page->known[at / 64] >> at % 64 & 1;
}

/* Copies a block into its pages, which must exist; without `force` only where nothing is known. */
static void place(struct vs_codemap *m, const struct vs_block *block, bool force)
{
    struct vs_codemap_page *page = NULL;
    for (uint32_t i = 0; i < block->size; i++) {
        uint64_t addr = block->addr + i;
        unsigned at = (unsigned)(addr % PAGE_SIZE);
        if (!page || at == 0)
            page = find_page(m, addr / PAGE_SIZE);
        if (!force && is_known(page, at))
            continue;
        page->bytes[at] = block->bytes[i];
        page->known[at / 64] |= UINT64_C(1) << at % 64;
    }
}

static int make_pages(struct vs_codemap *m, const struct vs_block *block)
{
    invariant(block->size);
    uint64_t last = (block->addr % PAGE_SIZE + block->size - 1) / PAGE_SIZE;
    int e = 0;
    /* Pages are counted from the first, since a block may wrap around the end of the addresses. */
    for (uint64_t i = 0; e == 0 && i <= last; i++)
        e = make_page(m, (block->addr + i * PAGE_SIZE) / PAGE_SIZE);
    return e;
}

static int put(struct vs_codemap *m, const struct vs_block *block, bool force)
{
    int e = make_pages(m, block);

    if (e == 0)
        place(m, block, force);
    return e;
}

int vs_codemap_add(struct vs_codemap *m, const struct vs_block *block)
{
    return put(m, block, false);
}

int vs_codemap_replace(struct vs_codemap *m, const struct vs_block *block)
{
    return put(m, block, true);
}

bool vs_codemap_differs(const struct vs_codemap *m, const struct vs_block *block)
{
    const struct vs_codemap_page *page = NULL;

    for (uint32_t i = 0; i < block->size; i++) {
        uint64_t addr = block->addr + i;
        unsigned at = (unsigned)(addr % PAGE_SIZE);

        if (i == 0 || at == 0)
            page = find_page(m, addr / PAGE_SIZE);
        if (page && is_known(page, at) && page->bytes[at] != block->bytes[i])
            return true;
    }
    return false;
}

size_t vs_codemap_fetch(const struct vs_codemap *m, uint64_t addr, uint8_t *bytes, size_t capacity)
{
    const struct vs_codemap_page *page = NULL;
    size_t n = 0;
    for (; n < capacity; n++) {
        unsigned at = (unsigned)((addr + n) % PAGE_SIZE);
        if (n == 0 || at == 0)
            page = find_page(m, (addr + n) / PAGE_SIZE);
        if (!page || !is_known(page, at))
            break;
        bytes[n] = page->bytes[at];
    }
    return n;
}

void vs_codemap_fini(struct vs_codemap *m)
{
    vs_map_fini(&m->pages);
    vs_arena_fini(&m->memory);
    *m = (struct vs_codemap){0};
}
