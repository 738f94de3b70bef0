/* SPDX-License-Identifier: MIT */
#include "study/locality.h"

#include <stdlib.h>
#include <string.h>

#include "base/likely.h"
#include "isa/set.h"
#include "model/adac.h"
#include "study/bandwidth.h"
#include "study/explain.h"

const uint8_t vs_locality_shifts[VS_LOCALITY_SHIFTS] = {0, 4, 8};
const uint8_t vs_locality_history[VS_LOCALITY_SIZES] = {16, 32, 64};
const uint8_t vs_locality_table[VS_LOCALITY_SIZES] = {32, 64, 128};

enum { HISTORY = 64, PC_LOW = 1 };

struct core {
    uint64_t history[HISTORY]; /* the most recent first */
    unsigned known;            /* how many of them are known */
    struct vs_adac tables[VS_LOCALITY_SIZES][VS_LOCALITY_SHIFTS];
};

/* The hit rates, event by event. */
struct hits {
    struct vs_locality_figures figures;
    struct core **cores; /* NULL until a core accesses memory */
    unsigned count;
};

/* hits_fini is needed in any case. */
static int hits_init(struct hits *h, unsigned cores)
{
    *h = (struct hits){.cores = calloc(cores, sizeof(*h->cores)), .count = cores};
    return h->cores ? 0 : -VSE_NOMEM;
}

static void core_free(struct core *c)
{
    for (unsigned size = 0; c && size < VS_LOCALITY_SIZES; size++)
        for (unsigned s = 0; s < VS_LOCALITY_SHIFTS; s++)
            vs_adac_fini(&c->tables[size][s]);
    free(c);
}

static void hits_fini(struct hits *h)
{
    for (unsigned i = 0; h->cores && i < h->count; i++)
        core_free(h->cores[i]);
    free(h->cores);
    *h = (struct hits){0};
}

static int core_init(struct core *c)
{
    int err = 0;
    for (unsigned size = 0; size < VS_LOCALITY_SIZES; size++)
        for (unsigned s = 0; s < VS_LOCALITY_SHIFTS && !err; s++) {
            const struct vs_adac_config config = {.sets =
                                                      vs_locality_table[size] / VS_LOCALITY_WAYS,
                                                  .ways = VS_LOCALITY_WAYS,
                                                  .low = PC_LOW,
                                                  .window = 1,
                                                  .max = vs_locality_shifts[s],
                                                  .min = vs_locality_shifts[s],
                                                  .tmax = 1,
                                                  .inc = 1,
                                                  .dec = 1};
            err = vs_adac_init(&c->tables[size][s], &config);
        }
    return err;
}

/* ---- hit rates ------------------------------------------------------------------------------- */

/* Finds where the history has an address that is the same above each shift; HISTORY if nowhere. */
static void find(const struct core *c, uint64_t addr, unsigned at[VS_LOCALITY_SHIFTS])
{
    for (unsigned s = 0; s < VS_LOCALITY_SHIFTS; s++)
        at[s] = HISTORY;
    for (unsigned i = c->known; i-- > 0;) {
        uint64_t differ = c->history[i] ^ addr;
        for (unsigned s = 0; s < VS_LOCALITY_SHIFTS; s++)
            at[s] = differ >> vs_locality_shifts[s] ? at[s] : i;
    }
}

static void look_in_history(struct vs_locality_figures *f, struct core *c, uint64_t addr)
{
    unsigned at[VS_LOCALITY_SHIFTS];
    find(c, addr, at);
    for (unsigned size = 0; size < VS_LOCALITY_SIZES; size++)
        for (unsigned s = 0; s < VS_LOCALITY_SHIFTS; s++)
            f->history[size][s] += at[s] < vs_locality_history[size];
    /* the address moves to the front; a new one pushes the last one out */
    unsigned from = at[0] < HISTORY ? at[0] : c->known < HISTORY ? c->known++ : HISTORY - 1;
    memmove(c->history + 1, c->history, from * sizeof(c->history[0]));
    c->history[0] = addr;
}

static void look_in_tables(struct vs_locality_figures *f, struct core *c, uint64_t pc,
                           uint64_t addr)
{
    for (unsigned size = 0; size < VS_LOCALITY_SIZES; size++)
        for (unsigned s = 0; s < VS_LOCALITY_SHIFTS; s++) {
            struct vs_adac *table = &c->tables[size][s];
            uint32_t set = vs_adac_set(table, pc);
            struct vs_adac_result r = vs_adac_find(table, set, addr);
            f->table[size][s] += r.kind != VS_ADAC_MISS;
            vs_adac_update(table, set, &r, addr);
        }
}

static int access_memory(struct hits *h, const struct vs_event *e)
{
    struct core **c = &h->cores[e->thread];
    if (unlikely(!*c)) {
        struct core *made = calloc(1, sizeof(*made));
        if (!made || core_init(made)) {
            core_free(made);
            return -VSE_NOMEM;
        }
        *c = made;
    }
    h->figures.loads += e->kind == VS_LOAD;
    h->figures.stores += e->kind == VS_STORE;
    look_in_history(&h->figures, *c, e->addr);
    look_in_tables(&h->figures, *c, e->pc, e->addr);
    return 0;
}

static int hits_consume(struct hits *h, const struct vs_batch *batch)
{
    int err = 0;
    for (size_t i = 0; i < batch->count && !err; i++) {
        const struct vs_event *e = &batch->events[i];
        if (unlikely(e->thread >= h->count))
            return -VSE_INVAL;
        h->figures.instructions += e->icount;
        if (e->kind == VS_LOAD || e->kind == VS_STORE)
            err = access_memory(h, e);
    }
    return err;
}

/* ---- a run ----------------------------------------------------------------------------------- */

static int measure_hits(struct vs_locality_figures *figures, struct vs_reader *reader,
                        struct vs_progress *progress, struct vs_diag *diag)
{
    struct hits h;
    struct vs_batch batch;
    int n = hits_init(&h, vs_reader_info(reader)->threads);
    if (!n)
        n = vs_reader_select(reader, -1);
    if (!n)
        n = vs_reader_seek_event(reader, 0);
    while (!n && (n = vs_reader_next(reader, &batch)) > 0) {
        n = hits_consume(&h, &batch);
        vs_progress_update(progress, batch.first + batch.count);
    }
    *figures = h.figures;
    hits_fini(&h);
    return n == -VSE_END ? 0 : vs_study_explain(reader, n, diag);
}

static int64_t add_row(struct vs_bandwidth *b, const char *text, struct vs_diag *diag)
{
    struct vs_technique_spec spec;
    int err = vs_technique_parse(&spec, text, diag);
    return err ? err : vs_bandwidth_add(b, &spec, NULL, NULL, diag);
}

static int measure_filter(struct vs_locality_figures *f, struct vs_reader *reader,
                          struct vs_diag *diag)
{
    struct vs_bandwidth b;
    int err = vs_bandwidth_init(&b, reader, NULL, diag);
    int64_t plain = err ? err : add_row(&b, "daFilter:plain", diag);
    int64_t nexus = plain < 0 ? plain : add_row(&b, "daFilter:nexus", diag);
    err = nexus < 0 ? (int)nexus : vs_bandwidth_run(&b, reader, NULL, diag);
    if (!err) {
        f->filtered = true;
        memcpy(&f->filter, b.rows[plain].encoded.values, sizeof(f->filter));
        f->plain_bits = b.rows[plain].bits;
        f->nexus_bits = b.rows[nexus].bits;
    }
    vs_bandwidth_fini(&b);
    return err;
}

int vs_locality_run(struct vs_locality_figures *figures, struct vs_reader *reader,
                    struct vs_progress *progress, struct vs_diag *diag)
{
    *figures = (struct vs_locality_figures){0};
    if (!vs_reader_info(reader)->events)
        return 0;
    int err = measure_hits(figures, reader, progress, diag);
    if (!err && vs_isa_find(vs_reader_meta(reader, "isa")))
        err = measure_filter(figures, reader, diag);
    return err;
}

/* ---- sums ------------------------------------------------------------------------------------ */

void vs_locality_add(struct vs_locality_figures *sum, const struct vs_locality_figures *f)
{
    bool first = !sum->instructions && !sum->loads && !sum->stores;
    for (unsigned size = 0; size < VS_LOCALITY_SIZES; size++)
        for (unsigned s = 0; s < VS_LOCALITY_SHIFTS; s++) {
            sum->history[size][s] += f->history[size][s];
            sum->table[size][s] += f->table[size][s];
        }
    sum->filtered = (first || sum->filtered) && f->filtered;
    sum->instructions += f->instructions;
    sum->loads += f->loads;
    sum->stores += f->stores;
    for (const struct vs_count_row *r = vs_address_count_rows; r->name; r++)
        *(uint64_t *)((char *)&sum->filter + r->offset) +=
            *(const uint64_t *)((const char *)&f->filter + r->offset);
    sum->plain_bits += f->plain_bits;
    sum->nexus_bits += f->nexus_bits;
}
