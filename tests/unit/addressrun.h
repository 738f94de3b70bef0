/* SPDX-License-Identifier: MIT */
/* Accesses in memory, encoded and decoded by data-address techniques, for tests. */
#ifndef UNIT_ADDRESSRUN_H
#define UNIT_ADDRESSRUN_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "gen/feed.h"
#include "study/verify_address.h"
#include "technique/address.h"
#include "unit/unittest.h"

/* ---- runs ------------------------------------------------------------------------------------ */

enum { EVENTS_MAX = 4096 };

struct run {
    struct vs_event events[EVENTS_MAX];
    uint64_t cycles[EVENTS_MAX];
    size_t count;
    unsigned cores;
    bool timed;
};

static inline void touch(struct run *r, unsigned core, uint64_t pc, uint64_t addr, bool store)
{
    CHECK(r->count < EVENTS_MAX);
    r->cycles[r->count] = 3 * r->count;
    r->events[r->count++] = (struct vs_event){.kind = store ? VS_STORE : VS_LOAD,
                                              .thread = (uint16_t)core,
                                              .pc = pc,
                                              .addr = addr,
                                              .size = 4,
                                              .icount = 1};
}

static inline struct vs_batch batch_of(const struct run *r)
{
    return (struct vs_batch){
        .events = r->events, .cycles = r->timed ? r->cycles : NULL, .count = r->count};
}

struct stream {
    struct vs_technique_spec spec;
    struct vs_technique_setup setup;
    struct vs_port_shape shape;
    struct vs_buf bits;
    uint64_t nbits;
    struct vs_address_counts counts;
    struct vs_port_counts fields;
    const struct vs_address_code *code; /* or NULL */
};

static inline void encode_spec(struct stream *s, const struct run *r, size_t piece)
{
    const struct vs_encoder_ops *ops = s->spec.technique->encoder;
    const struct vs_batch b = batch_of(r);
    struct vs_port_writer w;
    void *e;
    vs_technique_settle(&s->spec, r->timed);
    vs_technique_shape(&s->spec, &s->setup, &s->shape);
    CHECK_EQ(vs_port_writer_init(&w, &s->shape, vs_port_to_buf, &s->bits), 0);
    CHECK_EQ(ops->open(&e, &(struct vs_technique_context){.params = s->spec.params,
                                                          .setup = &s->setup,
                                                          .port = &w,
                                                          .code = s->code}),
             0);
    for (size_t at = 0; at < r->count; at += piece) {
        struct vs_batch part = b;
        part.events += at;
        part.cycles = b.cycles ? b.cycles + at : NULL;
        part.count = r->count - at < piece ? r->count - at : piece;
        CHECK_EQ(ops->consume(e, &(struct vs_slice){.events = &part}), 0);
    }
    CHECK_EQ(vs_encoder_finish(ops, e), 0);
    int64_t nbits = vs_port_finish(&w);
    CHECK(nbits >= 0);
    s->nbits = (uint64_t)nbits;
    vs_port_totals(&w, &s->fields);
    CHECK_EQ(vs_port_counts_bits(&s->fields), s->nbits);
    ops->counts(e, &s->counts);
    ops->close(e);
    vs_port_writer_fini(&w);
}

static inline void encode(struct stream *s, const char *spec, const struct run *r, unsigned width)
{
    struct vs_diag diag = {0};
    *s = (struct stream){.setup = {r->cores, width, r->timed, 0}};
    if (vs_technique_parse(&s->spec, spec, &diag))
        unittest_fail(__FILE__, __LINE__, "%s: %s", spec, diag.text);
    encode_spec(s, r, r->count + 1);
}

static inline void stream_free(struct stream *s)
{
    vs_buf_fini(&s->bits);
}

/* The first nbits bits, against a run. */
static inline int verify(const struct stream *s, const struct run *r, uint64_t nbits, bool by_turns,
                         struct vs_verify_address *v)
{
    const struct vs_address_decoder_ops *ops = s->spec.technique->address_decoder;
    const struct vs_batch b = batch_of(r);
    struct feed f = {.all = &b};
    struct vs_port_reader reader;
    void *d;
    CHECK_EQ(vs_port_reader_init(&reader, &s->shape,
                                 &(struct vs_port_stream){s->bits.data, s->bits.len, nbits}),
             0);
    vs_verify_address_init(v, ops, &reader, s->code ? s->code->isa : NULL, s->setup.cores);
    CHECK_EQ(ops->open(&d, s->spec.params, &s->setup, s->code, &reader), 0);
    vs_verify_address_drive(v, d);
    int err =
        by_turns ? vs_verify_address_by_turns(v, feed_core, &f) : vs_verify_address_batch(v, &b);
    if (!err && !by_turns)
        err = vs_verify_address_end(v);
    ops->close(d);
    vs_port_reader_fini(&reader);
    return err;
}

static inline void check_decodes(const struct stream *s, const struct run *r)
{
    struct vs_verify_address v;
    for (unsigned by_turns = 0; by_turns < 2; by_turns++) {
        if (verify(s, r, s->nbits, by_turns, &v))
            unittest_fail(__FILE__, __LINE__, "%s: %s", s->spec.technique->name, v.c.diag.text);
        CHECK_EQ(v.loads, s->counts.loads);
        CHECK_EQ(v.stores, s->counts.stores);
    }
}

/* ---- messages -------------------------------------------------------------------------------- */

/* Fields of messages, in order: their values and bits. */
struct field {
    uint64_t value;
    unsigned bits;
};

static inline void check_bits(const struct stream *s, const struct field *fields, size_t count)
{
    struct vs_bitr r;
    uint64_t sum = 0;
    CHECK_EQ(vs_bitr_init(&r, s->bits.data, s->bits.len, s->nbits), 0);
    for (size_t i = 0; i < count; i++) {
        uint64_t v = 0;
        CHECK_EQ(vs_bitr_get(&r, fields[i].bits, &v), 0);
        if (v != fields[i].value)
            unittest_fail(__FILE__, __LINE__, "field %zu is 0x%llx", i, (unsigned long long)v);
        sum += fields[i].bits;
    }
    CHECK_EQ(sum, s->nbits);
}

#define CHECK_FIELDS(stream, ...)                                                                  \
    do {                                                                                           \
        static const struct field fields[] = {__VA_ARGS__};                                        \
        check_bits(stream, fields, sizeof(fields) / sizeof(fields[0]));                            \
    } while (0)

/* A stream of the given fields, of one core, and what the first address of pc 0x100 gives. */
static inline int decode_fields(const char *spec, const struct field *fields, size_t count,
                                unsigned addresses, struct vs_diag *diag)
{
    const struct vs_technique_setup setup = {.cores = 1, .address_bits = 64};
    struct vs_technique_spec s;
    struct vs_port_shape shape;
    struct vs_port_reader reader;
    struct vs_bitw w = {0};
    uint8_t bytes[256];
    uint64_t addr;
    void *d;
    int err = 0;
    vs_bitw_init(&w, bytes, sizeof(bytes));
    for (size_t i = 0; i < count; i++)
        vs_bitw_put(&w, fields[i].value, fields[i].bits);
    uint64_t nbits = vs_bitw_bits(&w);
    CHECK(vs_bitw_finish(&w) > 0);
    CHECK_EQ(vs_technique_parse(&s, spec, NULL), 0);
    vs_technique_shape(&s, &setup, &shape);
    CHECK_EQ(
        vs_port_reader_init(&reader, &shape, &(struct vs_port_stream){bytes, sizeof(bytes), nbits}),
        0);
    CHECK_EQ(s.technique->address_decoder->open(&d, s.params, &setup, NULL, &reader), 0);
    for (unsigned i = 0; i < addresses && !err; i++)
        err = s.technique->address_decoder->address(
            d, &(struct vs_address_operand){0, 0x100, 4, false}, &addr);
    *diag = reader.diag;
    s.technique->address_decoder->close(d);
    vs_port_reader_fini(&reader);
    return err;
}

#define CHECK_REFUSED(spec, addresses, error, words, ...)                                          \
    do {                                                                                           \
        static const struct field fields[] = {__VA_ARGS__};                                        \
        struct vs_diag diag;                                                                       \
        CHECK_ERR(                                                                                 \
            decode_fields(spec, fields, sizeof(fields) / sizeof(fields[0]), addresses, &diag),     \
            error);                                                                                \
        if (!strstr(diag.text, words))                                                             \
            unittest_fail(__FILE__, __LINE__, "'%s' lacks '%s'", diag.text, words);                \
    } while (0)

#endif
