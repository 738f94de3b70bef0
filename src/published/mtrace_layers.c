/* SPDX-License-Identifier: MIT */
#include "published/mtrace.h"
#include "symbol/symbol.h"

static int64_t find_routine(const char *path, const char *name, struct mtrace_range *ranges,
                            size_t capacity)
{
    struct vs_symbols *s;
    int64_t n = vs_symbols_open(&s, path, NULL);
    if (n < 0)
        return n;
    for (const struct vs_routine *r = NULL; (r = vs_symbols_find(s, name, r)); n++)
        if ((size_t)n < capacity)
            ranges[n] = (struct mtrace_range){r->start, r->start + r->size};
    vs_symbols_close(s);
    return n;
}

void mtrace_options_init(struct mtrace_options *o)
{
    *o = (struct mtrace_options){
        .length = UINT64_MAX,
        .max_mb = 50000,
        .find_routine = find_routine,
    };
}
