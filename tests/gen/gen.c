/* SPDX-License-Identifier: MIT */
/* Opening, the order of threads, batches. */
#include "gen/gen.h"

#include <stdlib.h>

#include "gen/machine.h"

/* Slices are 1 to 2^(bits + 1) - 1 events long. */
static const uint8_t slice_bits[GEN_PROFILE_END] = {
    [GEN_MIXED] = 9, [GEN_LOOPS] = 12, [GEN_BRANCHY] = 8};

static void default_to(uint32_t *field, uint32_t value)
{
    if (*field == 0)
        *field = value;
}

static struct gen_options complete(struct gen_options o)
{
    if (o.events == 0)
        o.events = 100000;
    default_to(&o.threads, 4);
    default_to(&o.syscalls, 1000);
    default_to(&o.signals, 4000);
    default_to(&o.gaps, 40000);
    default_to(&o.code, 8000);
    default_to(&o.counts, 3000);
    default_to(&o.wide, 6);
    default_to(&o.atomics, 4);
    default_to(&o.unaligned, 6);
    return o;
}

static bool spacing_ok(uint32_t knob)
{
    return knob == GEN_NEVER || knob <= 1u << 30;
}

static bool percent_ok(uint32_t knob)
{
    return knob == GEN_NEVER || knob <= 100;
}

static bool options_ok(const struct gen_options *o)
{
    return o->threads <= GEN_THREADS_MAX && (unsigned)o->profile < GEN_PROFILE_END &&
           spacing_ok(o->syscalls) && spacing_ok(o->signals) && spacing_ok(o->gaps) &&
           spacing_ok(o->code) && spacing_ok(o->counts) && percent_ok(o->wide) &&
           percent_ok(o->atomics) && percent_ok(o->unaligned);
}

static void set_images(struct gen *g)
{
    static const uint8_t ids[2][20] = {"generated main prog", "generated a library"};
    static const char *const paths[2] = {"/generated/main", "/generated/libwork.so"};
    const uint64_t start[2] = {MAIN_BASE, LIB_BASE};
    for (int i = 0; i < 2; i++) {
        uint64_t length = g->program.cursor[i] - start[i];
        g->image[i] = (struct vs_image){.path = paths[i],
                                        .symbols = "",
                                        .build_id = ids[i],
                                        .build_id_size = sizeof ids[i],
                                        .base = start[i],
                                        .start = start[i],
                                        .length = (length + PAGE_SIZE - 1) & ~(PAGE_SIZE - 1ull)};
    }
}

static void set_clocks(struct gen *g)
{
    g->next_syscall = next_due(g, g->options.syscalls);
    g->next_signal = next_due(g, g->options.signals);
    g->next_gap = next_due(g, g->options.gaps);
    g->next_code = next_due(g, g->options.code);
    g->next_count = next_due(g, g->options.counts);
}

static int setup(struct gen *g, const struct gen_options *options)
{
    g->options = complete(*options);
    g->control = rng_make(g->options.seed, 2);
    g->data = rng_make(g->options.seed, 3);
    g->order = rng_make(g->options.seed, 4);
    g->timing = rng_make(g->options.seed, 5);
    g->version = -1;
    int program = program_init(&g->program, &g->options);
    int memory = memory_init(&g->memory, g->options.seed);
    if (program != 0 || memory != 0)
        return -VSE_NOMEM;
    size_t threads = g->options.threads;
    g->threads = calloc(threads, sizeof *g->threads);
    g->states = calloc(threads * g->program.slots, sizeof *g->states);
    g->block_of_id = calloc(g->program.blocks, sizeof *g->block_of_id);
    if (!g->threads || !g->states || !g->block_of_id)
        return -VSE_NOMEM;
    set_images(g);
    set_clocks(g);
    return 0;
}

int gen_open(struct gen **out, const struct gen_options *options)
{
    if (!options_ok(options))
        return -VSE_INVAL;
    struct gen *g = calloc(1, sizeof *g);
    if (!g)
        return -VSE_NOMEM;
    int error = setup(g, options);
    if (error != 0) {
        gen_close(g);
        return error;
    }
    *out = g;
    return 0;
}

void gen_close(struct gen *g)
{
    if (!g)
        return;
    program_fini(&g->program);
    memory_fini(&g->memory);
    free(g->threads);
    free(g->states);
    free(g->block_of_id);
    free(g);
}

/* ---- the order of threads ---- */

static void next_slice(struct gen *g)
{
    uint64_t now = events_so_far(g);
    uint32_t index = rng_below(&g->order, g->started);
    /* thread 0 has the others to start */
    if (g->started < g->options.threads && rng_one_in(&g->order, 2))
        index = 0;
    while (!g->threads[index].alive)
        index = index + 1 == g->started ? 0 : index + 1;
    g->now = index;
    if (now >= g->fine_end && rng_one_in(&g->order, 24))
        g->fine_end = now + rng_range(&g->order, 50, 800);
    uint32_t bits = slice_bits[g->options.profile];
    uint32_t length = now < g->fine_end ? rng_range(&g->order, 1, 3) : rng_log(&g->order, bits);
    g->slice_end = now + length;
}

/* A switch may need a thread's count brought up to date; one that has nothing to say says
 * nothing. */
static void put_count(struct gen *g, struct thread *t)
{
    exec_advance(g, t);
    if (t->icount > 0)
        emit(g, t, (struct vs_event){.kind = VS_COUNT});
}

static void interrupt(struct gen *g, struct thread *t)
{
    uint64_t now = events_so_far(g);
    if (now >= g->next_signal) {
        system_signal(g, t);
        g->next_signal = next_due(g, g->options.signals);
    }
    if (now >= g->next_gap) {
        system_gap(g, t);
        g->next_gap = next_due(g, g->options.gaps);
    }
    if (now >= g->next_count) {
        put_count(g, t);
        g->next_count = next_due(g, g->options.counts);
    }
}

static uint64_t earliest(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Where the running thread must stop at the latest, as a count of the batch. */
static uint32_t stop_at(const struct gen *g, const struct thread *t)
{
    uint64_t stop = earliest(g->slice_end, g->options.events - g->alive);
    stop = earliest(stop, earliest(g->next_signal, earliest(g->next_gap, g->next_count)));
    stop = earliest(stop, t->quits) - g->first;
    return stop < BATCH_SOFT ? (uint32_t)stop : BATCH_SOFT;
}

static void turn(struct gen *g)
{
    uint64_t now = events_so_far(g);
    struct thread *t = &g->threads[g->now];
    if (now + g->alive >= g->options.events) {
        /* the budget is used up: all that is left are the ends */
        g->slice_end = now;
        next_slice(g);
        system_exit(g, &g->threads[g->now]);
        return;
    }
    if (!t->alive || now >= g->slice_end) {
        next_slice(g);
        return;
    }
    if (now >= t->quits) {
        /* the last one stays to the end */
        t->quits = UINT64_MAX;
        if (g->alive > 1)
            system_exit(g, t);
        return;
    }
    interrupt(g, t);
    g->limit = stop_at(g, t);
    exec_run(g, t);
}

/* ---- batches ---- */

/* Threads share the time: cores run side by side. */
static void fill_cycles(struct gen *g)
{
    uint64_t cores = g->started < 8 ? g->started : 8;
    for (uint32_t i = 0; i < g->count; i++) {
        const struct vs_event *e = &g->events[i];
        uint64_t random = rng_next(&g->timing);
        /* eighths of a cycle: 1 to 3 per instruction */
        g->clock_rest += e->icount * (8 + (random & 15)) / cores;
        if (e->kind == VS_LOAD && (random >> 8) % 64 == 0)
            g->clock_rest += 800 / cores;
        else if (e->kind == VS_SYSCALL || e->kind == VS_EXCEPTION || e->kind == VS_GAP)
            g->clock_rest += (random >> 8 & 0x3fff) * 8;
        g->clock += g->clock_rest / 8;
        g->clock_rest %= 8;
        g->cycles[i] = g->clock;
    }
}

int gen_next(struct gen *g, struct vs_batch *batch)
{
    g->first += g->count;
    g->count = 0;
    g->wide_size = 0;
    if (g->started == 0)
        system_begin(g);
    while (g->alive > 0 && g->count < BATCH_SOFT && g->wide_size <= WIDE_SOFT)
        turn(g);
    if (g->memory.error != 0)
        return g->memory.error;
    if (g->options.timed)
        fill_cycles(g);
    *batch = (struct vs_batch){.events = g->events,
                               .cycles = g->options.timed ? g->cycles : NULL,
                               .wide = g->wide,
                               .wide_size = g->wide_size,
                               .count = g->count,
                               .first = g->first};
    return (int)g->count;
}

/* ---- tables ---- */

uint64_t gen_block_count(const struct gen *g)
{
    return g->block_ids;
}

int gen_block(const struct gen *g, uint64_t id, struct vs_block *block)
{
    if (id >= g->block_ids)
        return -VSE_NOTFOUND;
    const struct block *b = &g->program.block[g->block_of_id[id]];
    *block = (struct vs_block){
        .addr = b->addr, .bytes = g->program.code + b->code, .size = b->size, .insns = b->insns};
    return 0;
}

uint64_t gen_image_count(const struct gen *g)
{
    return g->image_ids;
}

int gen_image(const struct gen *g, uint64_t id, struct vs_image *image)
{
    if (id >= g->image_ids)
        return -VSE_NOTFOUND;
    *image = g->image[id];
    return 0;
}

uint32_t gen_features(const struct gen_options *options)
{
    return (options->timed ? VS_RUN_TIMED : 0u) |
           (options->memory ? (uint32_t)(VS_RUN_LOADS | VS_RUN_STORES) : 0u);
}

const char *gen_profile_name(enum gen_profile profile)
{
    static const char *const names[GEN_PROFILE_END] = {"mixed", "loops", "branchy"};
    return names[profile];
}
