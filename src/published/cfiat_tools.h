/* SPDX-License-Identifier: MIT */
/* The caches behind mlvCFiat and tmlvCFiat, and what they count. Unlike the techniques of these
 * names, these are the software tools: private caches do not see what other threads write, nobody
 * sees what the system writes, a store flags every granule that it touches, and a shared cache
 * still has a counter per thread. */
#ifndef PUBLISHED_CFIAT_TOOLS_H
#define PUBLISHED_CFIAT_TOOLS_H

#include <stdbool.h>
#include <stdint.h>

#include "published/mtrace_operands.h"
#include "front/options.h"
#include "model/granules.h"

struct cfiat_config {
    uint64_t size, line, ways, granule; /* in bytes, except for ways */
    bool shared;                        /* one cache for all threads */
};

struct cfiat_thread {
    struct vs_granules *cache;
    uint32_t hits; /* fahCnt: loads since its last message */
};

struct cfiat_share {
    uint64_t hits, misses;
};

struct cfiat {
    struct cfiat_config config;
    struct vs_granules *shared;
    struct cfiat_thread *threads;
    size_t count, capacity;

    struct cfiat_share lines[OPERAND_CLASSES]; /* loads and stores */
    struct cfiat_share flags[OPERAND_CLASSES]; /* loads that found all their lines */
};

/* `t` is zeroed except for the config. Returns 0; -VSE_INVAL (there is no such cache; diag says
 * why); -VSE_NOMEM. fini is needed in any case. */
int cfiat_init(struct cfiat *t, struct vs_diag *diag);
void cfiat_fini(struct cfiat *t);

/* Gives a thread its cache; it must be called before cfiat_load and cfiat_store. Returns 0;
 * -VSE_NOMEM. */
int cfiat_know_thread(struct cfiat *t, unsigned thread);

static inline int cfiat_know(struct cfiat *t, unsigned thread)
{
    return likely(thread < t->count && t->threads[thread].cache) ? 0 : cfiat_know_thread(t, thread);
}

/* Takes a load, whose size is not 0. Returns whether it takes a message; *hits is then its
 * fahCnt. */
bool cfiat_load(struct cfiat *t, unsigned thread, uint64_t addr, unsigned size, uint32_t *hits);

void cfiat_store(struct cfiat *t, unsigned thread, uint64_t addr, unsigned size);

/* Prints the statistics that both tools have. */
void cfiat_statistics(const struct cfiat *t, struct out *out);

/* ---- rows of the tools' commands: fields are of a struct cfiat_flags at `base` --------------- */

struct cfiat_flags {
    uint64_t kilobytes, line, ways, granule;
};

#define CFIAT_DEFAULTS                                                                             \
    {                                                                                              \
        .kilobytes = 32, .line = 32, .ways = 4, .granule = 4                                       \
    }

/* Makes the model that the flags describe. Returns CLI_DONE, or the exit status after a message. */
int cfiat_make(struct cfiat *t, struct cli *cli, const struct cfiat_flags *flags, bool shared);

#define CFIAT_NUMBER(title, unit, text, base, member, least, most)                                 \
    {                                                                                              \
        .name = title, .argument = unit, .help = text, .type = OPTION_U64,                         \
        .offset = (base) + offsetof(struct cfiat_flags, member), .min = least, .max = most         \
    }

#define CFIAT_OPTIONS(base)                                                                        \
    CFIAT_NUMBER("cs", "KB", "size of the cache in KiB (32)", base, kilobytes, 1, 1 << 24),        \
        CFIAT_NUMBER("cls", "BYTES", "bytes of a line (32)", base, line, VS_CACHE_LINE_MIN,        \
                     VS_CACHE_LINE_MAX),                                                           \
        CFIAT_NUMBER("ca", "WAYS", "associativity (4)", base, ways, 1, VS_CACHE_WAYS_MAX),         \
        CFIAT_NUMBER("cfg", "BYTES", "bytes that share a first-access flag (4)", base, granule, 1, \
                     VS_CACHE_LINE_MAX)

#endif
