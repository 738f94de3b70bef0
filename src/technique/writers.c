/* SPDX-License-Identifier: MIT */
#include "technique/writers.h"

#include "vestige/error.h"

enum { LINE_BITS = 6 };

int vs_code_pages_add(struct vs_code_pages *p, uint64_t addr, uint64_t size)
{
    uint64_t last = (addr + (size - 1)) >> VS_CODE_PAGE_BITS;
    int err = 0;
    for (uint64_t n = addr >> VS_CODE_PAGE_BITS; n <= last && !err; n++) {
        err = vs_map_set(&p->numbers, n, 1);
        p->filter[n / 64 % 512] |= UINT64_C(1) << n % 64;
    }
    return err;
}

void vs_code_pages_fini(struct vs_code_pages *p)
{
    vs_map_fini(&p->numbers);
    *p = (struct vs_code_pages){0};
}

void vs_writers_fini(struct vs_writers *w)
{
    vs_map_fini(&w->lines);
}

int vs_writers_take(struct vs_writers *w, unsigned core, uint64_t *addr, size_t *size,
                    unsigned *other)
{
    uint64_t line = *addr >> LINE_BITS, rest = ((line + 1) << LINE_BITS) - *addr;
    size_t part = *size < rest ? *size : (size_t)rest;
    bool code = vs_map_value(&w->code->numbers, *addr >> VS_CODE_PAGE_BITS);
    uint64_t before = code ? vs_map_value(&w->lines, line) : 0;
    *addr += part;
    *size -= part;
    *other = before && before != core + 1u ? (unsigned)before - 1 : VS_WRITERS_NOBODY;
    return code && before != core + 1u ? vs_map_set(&w->lines, line, core + 1u) : 0;
}
