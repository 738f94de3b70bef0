/* SPDX-License-Identifier: MIT */
/* Digests that were noted of memory, compared with what it holds when the run is executed again. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "rerun/rerun_state.h"

static int digest_of_page(struct vs_rerun *r, uint64_t addr, uint32_t *digest)
{
    uint64_t words[VS_DIGEST_PAGE / sizeof(uint64_t)];
    int err = vs_whole_get(&r->memory, addr, words, sizeof(words));
    *digest = vs_page_digest(words);
    return err;
}

/* ---- saying where it differs ----------------------------------------------------------------- */

struct mapping {
    bool known;
    uint64_t start, image;
};

static void follow_mappings(struct mapping *m, const struct vs_event *e, uint64_t addr)
{
    if (e->kind == VS_MAP && addr - e->addr < e->value)
        *m = (struct mapping){!(e->flags & VS_MAP_GONE), e->addr, e->pc};
}

/* Finds what was mapped there before the input at r->at, by going through all inputs before it. */
static void find_mapping(struct vs_rerun *r, uint64_t addr, struct mapping *m)
{
    uint64_t until = r->in.first + r->at;
    struct vs_batch batch;
    *m = (struct mapping){0};
    if (vs_reader_seek_event(r->inputs, 0))
        return;
    while (vs_reader_next(r->inputs, &batch) > 0 && batch.first < until)
        for (size_t i = 0; i < batch.count && batch.first + i < until; i++)
            follow_mappings(m, &batch.events[i], addr);
}

/* Where the memory is that differs: in what the program mapped, and of which file, if that is
 * known.
 */
static void describe_mapping(struct vs_rerun *r, uint64_t addr, char *text, size_t size)
{
    struct mapping m;
    struct vs_image image;
    find_mapping(r, addr, &m);
    text[0] = 0;
    if (!m.known)
        return;
    int n = snprintf(text, size, ", mapped at 0x%" PRIx64, m.start);
    if (m.image != VS_NO_IMAGE && vs_reader_image(r->inputs, m.image, &image) == 0)
        snprintf(text + n, size - (size_t)n, " of %s", image.path);
}

/* The pages of the event that differ. */
struct difference {
    uint64_t first, last, count;
};

static int differs(struct vs_rerun *r, const struct vs_event *e, const struct difference *d)
{
    const struct vs_cpu *cpu = r->threads[r->ran].cpu;
    uint64_t from = e->addr + d->first * VS_DIGEST_PAGE,
             to = e->addr + d->last * VS_DIGEST_PAGE + VS_DIGEST_PAGE - 1;
    char mapping[128], since[48] = "";
    describe_mapping(r, from, mapping, sizeof(mapping));
    if (r->digested.before)
        snprintf(since, sizeof(since), " (not yet after %" PRIu64 ")", r->digested.before - 1);
    return vs_diag_set(&r->diag, -VSE_CORRUPT, -1, -1,
                       "memory was changed from outside: after %" PRIu64
                       " instructions%s, thread %u at 0x%" PRIx64 ", %" PRIu64 " page%s: 0x%" PRIx64
                       "-0x%" PRIx64 "%s",
                       r->executed, since, r->ran, cpu ? cpu->pc : 0, d->count,
                       d->count == 1 ? " differs" : "s differ", from, to, mapping);
}

/* ---- comparing ------------------------------------------------------------------------------- */

int vs_rerun_compare_memory(struct vs_rerun *r, const struct vs_event *e, const uint8_t *payload)
{
    struct difference d = {0};
    if (r->digested.at != r->executed + 1) {
        r->digested.before = r->digested.at;
        r->digested.at = r->executed + 1;
        r->digested.times++;
    }
    for (size_t i = 0; i < e->size / sizeof(uint32_t); i++) {
        uint32_t noted, found;
        int err = digest_of_page(r, e->addr + i * VS_DIGEST_PAGE, &found);
        if (err)
            return err;
        memcpy(&noted, payload + i * sizeof(noted), sizeof(noted));
        if (noted == found)
            continue;
        d.first = d.count ? d.first : i;
        d.last = i;
        d.count++;
    }
    r->digested.pages += e->size / sizeof(uint32_t);
    return d.count ? differs(r, e, &d) : 0;
}
