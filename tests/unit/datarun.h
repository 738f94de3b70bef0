/* SPDX-License-Identifier: MIT */
/* Runs in memory, encoded and decoded by load-value techniques, for tests. */
#ifndef UNIT_DATARUN_H
#define UNIT_DATARUN_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/pack.h"
#include "gen/feed.h"
#include "gen/gen.h"
#include "model/granules.h"
#include "study/verify_data.h"
#include "technique/data.h"
#include "technique/registry.h"
#include "unit/rng.h"
#include "unit/unittest.h"

/* ---- runs in memory ------------------------------------------------------------------------ */

struct run {
    struct vs_event *events;
    uint64_t *cycles;
    size_t count, capacity;
    struct vs_buf wide;
    unsigned cores;
    bool timed;
};

static inline void run_add(struct run *r, const struct vs_event *e, const uint8_t *bytes,
                           uint64_t cycle)
{
    if (r->count == r->capacity) {
        r->capacity = r->capacity ? 2 * r->capacity : 1024;
        CHECK((r->events = realloc(r->events, r->capacity * sizeof *r->events)));
        CHECK((r->cycles = realloc(r->cycles, r->capacity * sizeof *r->cycles)));
    }
    struct vs_event *copy = &r->events[r->count];
    *copy = *e;
    if (vs_event_is_wide(e)) {
        copy->value = r->wide.len;
        CHECK_EQ(vs_buf_put(&r->wide, bytes, e->size), 0);
    }
    r->cycles[r->count++] = cycle;
    if (e->thread >= r->cores)
        r->cores = e->thread + 1u;
}

static inline struct vs_batch run_batch(const struct run *r)
{
    return (struct vs_batch){.events = r->events,
                             .cycles = r->timed ? r->cycles : NULL,
                             .wide = r->wide.data,
                             .wide_size = r->wide.len,
                             .count = r->count};
}

static inline void run_free(struct run *r)
{
    free(r->events);
    free(r->cycles);
    vs_buf_fini(&r->wide);
}

static inline void generate(struct run *r, const struct gen_options *options)
{
    struct gen *g;
    struct vs_batch b;
    *r = (struct run){.timed = options->timed};
    CHECK_EQ(gen_open(&g, options), 0);
    while (gen_next(g, &b) > 0)
        for (size_t i = 0; i < b.count; i++)
            run_add(r, &b.events[i], vs_event_bytes(&b, &b.events[i]), b.cycles ? b.cycles[i] : 0);
    gen_close(g);
}

/* Accesses of one core after the other; a memory gives the loads' values. */
struct script {
    struct run run;
    uint8_t memory[4096]; /* of addresses [BASE, BASE + 4096) */
};

#define BASE 0x7fff0000u

static inline struct script *script_new(void)
{
    struct script *s = calloc(1, sizeof *s);
    CHECK(s);
    for (size_t i = 0; i < sizeof s->memory; i++)
        s->memory[i] = (uint8_t)(i * 7 + i / 256);
    return s;
}

static inline void script_free(struct script *s)
{
    run_free(&s->run);
    free(s);
}

static inline void touch(struct script *s, unsigned kind, unsigned core, unsigned at, unsigned size)
{
    uint8_t bytes[256];
    struct vs_event e = {.kind = (uint8_t)kind,
                         .pc = 0x1000 + 4 * s->run.count,
                         .addr = BASE + at,
                         .thread = (uint16_t)core,
                         .size = (uint16_t)size,
                         .icount = kind != VS_EXTERNAL};
    for (unsigned i = 0; i < size && kind != VS_LOAD; i++)
        s->memory[at + i] = (uint8_t)(s->run.count * 31 + i + 1);
    memcpy(bytes, s->memory + at, size);
    if (size <= 8)
        memcpy(&e.value, bytes, size);
    run_add(&s->run, &e, bytes, 10 * s->run.count);
}

static inline void load(struct script *s, unsigned core, unsigned at, unsigned size)
{
    touch(s, VS_LOAD, core, at, size);
}

static inline void store(struct script *s, unsigned core, unsigned at, unsigned size)
{
    touch(s, VS_STORE, core, at, size);
}

/* ---- encoding and decoding ----------------------------------------------------------------- */

struct stream {
    struct vs_technique_spec spec;
    struct vs_technique_setup setup;
    struct vs_port_shape shape;
    struct vs_buf bits;
    uint64_t nbits;
    struct vs_data_counts counts;
    struct vs_port_counts fields;
};

/* From this row of the table on. */
static inline const struct vs_technique *const *next_data(const struct vs_technique *const *t)
{
    while (*t && !((*t)->serves & VS_TECHNIQUE_DATA))
        t++;
    return t;
}

/* Parameters are separated by commas or spaces. */
static inline void parse(struct vs_technique_spec *spec, const char *name, const char *params)
{
    struct vs_diag diag = {0};
    char text[300];
    snprintf(text, sizeof text, "%s%s%s", name, *params ? ":" : "", params);
    for (char *p = text; *p; p++)
        *p = *p == ' ' ? ',' : *p;
    if (vs_technique_parse(spec, text, &diag))
        unittest_fail(__FILE__, __LINE__, "%s: %s", text, diag.text);
}

static inline void encode_split(struct stream *s, const char *name, const char *params,
                                const struct run *r, bool prior, size_t piece)
{
    struct vs_prior *p = NULL;
    struct vs_port_writer w;
    struct vs_batch b = run_batch(r);
    void *e;
    memset(s, 0, sizeof *s);
    parse(&s->spec, name, params);
    s->setup =
        (struct vs_technique_setup){.cores = r->cores, .address_bits = 64, .timed = r->timed};
    vs_technique_shape(&s->spec, &s->setup, &s->shape);
    if (prior) {
        CHECK_EQ(vs_prior_open(&p), 0);
        CHECK_EQ(vs_prior_consume(p, &b), 0);
    }
    CHECK_EQ(vs_port_writer_init(&w, &s->shape, vs_port_to_buf, &s->bits), 0);
    CHECK_EQ(s->spec.technique->encoder->open(
                 &e,
                 &(struct vs_technique_context){
                     .params = s->spec.params, .setup = &s->setup, .port = &w, .prior = p}),
             0);
    for (size_t at = 0; at < r->count; at += piece) {
        struct vs_batch part = b;
        part.events += at;
        part.cycles = b.cycles ? b.cycles + at : NULL;
        part.count = r->count - at < piece ? r->count - at : piece;
        CHECK_EQ(s->spec.technique->encoder->consume(e, &(struct vs_slice){.events = &part}), 0);
    }
    CHECK_EQ(vs_encoder_finish(s->spec.technique->encoder, e), 0);
    int64_t nbits = vs_port_finish(&w);
    CHECK(nbits >= 0);
    s->nbits = (uint64_t)nbits;
    vs_port_totals(&w, &s->fields);
    CHECK_EQ(vs_port_counts_bits(&s->fields), s->nbits);
    s->spec.technique->encoder->counts(e, &s->counts);
    s->spec.technique->encoder->close(e);
    vs_port_writer_fini(&w);
    vs_prior_close(p);
}

static inline void encode(struct stream *s, const char *name, const char *params,
                          const struct run *r, bool prior)
{
    encode_split(s, name, params, r, prior, r->count + 1);
}

static inline void stream_free(struct stream *s)
{
    vs_buf_fini(&s->bits);
}

/* The escape, few instructions, no registers. */
enum { END = 9 + 9 + 9 };

enum walk { IN_ORDER, BY_TURNS };

/* The first nbits bits, against a run. */
static inline int verify(const struct stream *s, const struct run *r, uint64_t nbits,
                         enum walk walk, struct vs_verify_data *v)
{
    struct vs_port_reader reader;
    struct vs_batch b = run_batch(r);
    void *d;
    CHECK_EQ(vs_port_reader_init(&reader, &s->shape,
                                 &(struct vs_port_stream){s->bits.data, s->bits.len, nbits}),
             0);
    CHECK_EQ(vs_verify_data_init(v, s->spec.technique->data_decoder, &reader, s->setup.cores), 0);
    CHECK_EQ(s->spec.technique->data_decoder->open(&d, s->spec.params, &s->setup, &reader), 0);
    vs_verify_data_drive(v, d);
    if (b.cycles && b.count)
        v->end = (struct vs_standing){.cycle = b.cycles[b.count - 1], .timed = true};
    int err;
    struct feed f = {.all = &b};
    struct vs_changes changes = {0};
    CHECK_EQ(vs_changes_take(&changes, &b), 0);
    v->changes = walk == BY_TURNS ? &changes : NULL;
    if (walk == BY_TURNS)
        err = vs_verify_data_by_turns(v, feed_core, &f);
    else if (!(err = vs_verify_data_batch(v, &b)))
        err = vs_verify_data_end(v);
    vs_verify_data_fini(v);
    vs_changes_fini(&changes);
    s->spec.technique->data_decoder->close(d);
    vs_port_reader_fini(&reader);
    return err;
}

static inline void check_replays(const struct stream *s, const struct run *r)
{
    struct vs_verify_data *v = malloc(sizeof *v);
    CHECK(v);
    CHECK(!s->spec.technique->undecodable || !s->spec.technique->undecodable(s->spec.params));
    for (enum walk walk = IN_ORDER; walk <= BY_TURNS; walk++) {
        if (verify(s, r, s->nbits, walk, v))
            unittest_fail(__FILE__, __LINE__, "%s, walk %d: %s", s->spec.technique->name, walk,
                          v->c.diag.text);
        CHECK_EQ(v->loads, s->counts.loads);
        CHECK_EQ(v->stores, s->counts.stores);
        CHECK_EQ(v->nondets, s->counts.nondets + s->counts.expected);
        CHECK_EQ(v->states, s->counts.states);
    }
    free(v);
}

static const struct {
    const struct vs_technique *technique;
    enum vs_pack_kind kind;
} compressors[] = {{&vs_technique_mlvnx_gzip, VS_PACK_GZIP},
                   {&vs_technique_mlvnx_bzip2, VS_PACK_BZIP2},
                   {&vs_technique_mlvnx_xz, VS_PACK_XZ},
                   {&vs_technique_mlvnx_zstd, VS_PACK_ZSTD}};

enum { COMPRESSORS = sizeof compressors / sizeof *compressors };

#endif
