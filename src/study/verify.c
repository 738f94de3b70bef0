/* SPDX-License-Identifier: MIT */
#include "study/verify.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/diag.h"
#include "base/hash.h"
#include "base/invariant.h"
#include "base/varint.h"
#include "replay/walk.h"
#include "study/codeview.h"
#include "study/explain.h"

/* ---- digests --------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t h, uint64_t v)
{
    h = vs_hash(h ^ v);
    return h ^ h >> 29;
}

/* A stream has its messages' cycles; with every technique, a discontinuity is a message. */
static uint64_t known_time(const struct vs_verify *v, const struct vs_step *s)
{
    return v->setup.timed && s->kind == VS_STEP_DISCONTINUITY ? s->time : 0;
}

static uint64_t digest(const struct vs_verify *v, uint64_t h, const struct vs_step *s)
{
    h = mix(h, s->pc ^ known_time(v, s)); /* one of them is 0 */
    h = mix(h, s->target);
    return mix(h, (uint64_t)s->icount << 32 | (uint64_t)s->kind << 16 | (uint64_t)s->flags << 8 |
                      s->size);
}

static bool is_branch(const struct vs_step *s)
{
    return s->kind == VS_STEP_CONDITIONAL || s->kind == VS_STEP_INDIRECT;
}

static int keep_digest(struct vs_verify_core *c)
{
    invariant(c->count == (c->steps - 1) / VS_VERIFY_PIECE);
    void *digests = c->digests;
    int err = vs_array_room(&digests, &c->capacity, c->count, 1, sizeof(*c->digests));
    c->digests = digests;
    if (!err)
        c->digests[c->count++] = c->digest;
    c->digest = 0;
    return err;
}

/* ---- times of steps -------------------------------------------------------------------------- */

static int keep_time(struct vs_verify_core *c, uint64_t time)
{
    if (vs_buf_reserve(&c->times, VS_VARINT_MAX))
        return -VSE_NOMEM;
    uint8_t *at = c->times.data + c->times.len;
    c->times.len += (size_t)(vs_varint_put(at, vs_zigzag((int64_t)(time - c->time))) - at);
    c->time = time;
    return 0;
}

/* Sets c->time to that of the next step, whose number is less than `expected` has steps. */
static void read_time(struct vs_verify_core *c, const struct vs_verify_core *expected)
{
    const uint8_t *end = expected->times.data + expected->times.len;
    uint64_t moved;
    if (!c->next)
        c->next = expected->times.data;
    int err = vs_varint_get(&c->next, end, &moved);
    invariant(!err);
    c->time += (uint64_t)vs_unzigzag(moved);
}

/* ---- reading the run ------------------------------------------------------------------------- */

/* Takes steps of the run, in global order, and the events that they were made of, or NULL. */
typedef int step_sink(void *context, const struct vs_step *steps, size_t count,
                      const struct vs_batch *events);

static int rewind_run(struct vs_reader *r)
{
    int err = vs_reader_select(r, -1);
    return err ? err : vs_reader_seek_event(r, 0);
}

/* Hands all of the run's steps to a sink, and its events to `code` unless that is NULL. */
static int read_run(struct vs_verify *v, struct vs_text *code, step_sink *sink, void *context)
{
    struct vs_stepper stepper = {0};
    struct vs_batch batch;
    int n = rewind_run(v->reader), err = 0;
    while (!n && (n = vs_reader_next(v->reader, &batch)) > 0) {
        if (code)
            err = vs_codeview_take(code, v->reader, &batch);
        if (!err)
            err = vs_stepper_take(&stepper, &batch);
        if (!err)
            err = sink(context, stepper.steps, stepper.count, &batch);
        v->end = batch.cycles ? batch.cycles[batch.count - 1] : stepper.instructions;
        n = err;
    }
    if (n == -VSE_END && !(n = vs_stepper_end(&stepper, v->end)))
        n = sink(context, stepper.steps, stepper.count, NULL);
    vs_stepper_fini(&stepper);
    return n;
}

static int keep_steps(void *context, const struct vs_step *steps, size_t count,
                      const struct vs_batch *events)
{
    (void)events;
    struct vs_verify *v = context;
    int err = 0;
    for (const struct vs_step *s = steps; s < steps + count && !err; s++) {
        if (s->core >= v->setup.cores)
            return -VSE_CORRUPT;
        struct vs_verify_core *c = &v->cores[s->core];
        c->digest = digest(v, c->digest, s);
        v->steps++;
        v->instructions += s->icount;
        v->branches += is_branch(s);
        if (v->setup.timed)
            err = keep_time(c, s->time);
        if (!err && ++c->steps % VS_VERIFY_PIECE == 0)
            err = keep_digest(c);
    }
    return err;
}

int vs_verify_init(struct vs_verify *v, struct vs_reader *reader, struct vs_diag *diag)
{
    const struct vs_run_info *info = vs_reader_info(reader);
    const char *isa = vs_reader_meta(reader, "isa");
    int err;
    *v = (struct vs_verify){.reader = reader, .isa = vs_isa_find(isa)};
    if (!v->isa)
        return vs_diag_set(diag, -VSE_FEATURE, -1, -1, "code of '%s' cannot be followed",
                           isa ? isa : "an unknown instruction set");
    v->setup = (struct vs_technique_setup){.cores = info->threads,
                                           .address_bits = v->isa->address_bits,
                                           .timed = info->features & VS_RUN_TIMED,
                                           .alignment = v->isa->alignment};
    if (!info->events || !info->threads)
        return vs_diag_set(diag, -VSE_END, -1, -1, "the run has no control flow to compare");
    v->cores = calloc(info->threads, sizeof(*v->cores));
    if (!v->cores)
        return vs_study_explain(v->reader, -VSE_NOMEM, diag);
    if ((err = vs_codeview_add(&v->code, reader)) < 0 ||
        (err = read_run(v, &v->code, keep_steps, v)) < 0 || (err = vs_text_index(&v->code)) < 0)
        return vs_study_explain(v->reader, err, diag);
    for (unsigned i = 0; i < info->threads; i++)
        if (v->cores[i].steps % VS_VERIFY_PIECE && keep_digest(&v->cores[i]) < 0)
            return vs_study_explain(v->reader, -VSE_NOMEM, diag);
    return v->steps ? 0 : vs_diag_set(diag, -VSE_END, -1, -1, "the run has no step to compare");
}

int vs_verify_init_data(struct vs_verify *v, struct vs_reader *reader, struct vs_diag *diag)
{
    const struct vs_run_info *info = vs_reader_info(reader);
    *v = (struct vs_verify){.reader = reader, .isa = vs_isa_find(vs_reader_meta(reader, "isa"))};
    v->setup = (struct vs_technique_setup){.cores = info->threads,
                                           .address_bits = v->isa ? v->isa->address_bits : 64,
                                           .timed = info->features & VS_RUN_TIMED,
                                           .alignment = v->isa ? v->isa->alignment : 0};
    return info->events && info->threads
               ? 0
               : vs_diag_set(diag, -VSE_END, -1, -1, "the run has no event");
}

int vs_verify_init_code(struct vs_verify *v, struct vs_reader *reader, struct vs_diag *diag)
{
    struct vs_batch batch;
    int n = vs_verify_init_data(v, reader, diag);
    if (n || !v->isa)
        return n;
    if (!(n = vs_codeview_add(&v->code, reader)))
        n = rewind_run(reader);
    while (!n && (n = vs_reader_next(reader, &batch)) > 0)
        n = vs_codeview_take(&v->code, reader, &batch);
    if (n == -VSE_END)
        n = vs_text_index(&v->code);
    return n < 0 ? vs_study_explain(v->reader, n, diag) : 0;
}

static void drop_pieces(struct vs_verify *v)
{
    if (v->pieces)
        vs_pieces_fini(v->pieces);
    free(v->pieces);
    v->pieces = NULL;
}

void vs_verify_fini(struct vs_verify *v)
{
    for (unsigned i = 0; v->cores && i < v->setup.cores; i++) {
        free(v->cores[i].digests);
        vs_buf_fini(&v->cores[i].times);
    }
    free(v->cores);
    vs_text_fini(&v->code);
    drop_pieces(v);
    vs_changes_fini(&v->changes);
    vs_prior_close(v->prior);
    v->cores = NULL;
    v->prior = NULL;
}

int vs_verify_read(struct vs_verify *v, bool memory, struct vs_diag *diag)
{
    v->pieces = calloc(1, sizeof(*v->pieces));
    int err = v->pieces ? vs_pieces_init(v->pieces, v->reader, VS_PIECES_ROOM) : -VSE_NOMEM;
    if (!err && memory)
        err = vs_prior_open(&v->prior);
    if (!err)
        err = vs_pieces_read(v->pieces, v->prior);
    if (v->pieces && !v->pieces->whole) {
        v->changes = v->pieces->changes;
        v->pieces->changes = (struct vs_changes){0};
        drop_pieces(v);
    }
    return err ? vs_study_explain(v->reader, err, diag) : 0;
}

int vs_verify_pieces(const struct vs_verify *v, struct vs_pieces *own, struct vs_pieces **pieces)
{
    *own = (struct vs_pieces){0};
    *pieces = v->pieces ? v->pieces : own;
    return v->pieces ? 0 : vs_pieces_init(own, v->reader, VS_PIECES_ROOM);
}

/* ---- encoding -------------------------------------------------------------------------------- */

struct encoding {
    const struct vs_encoder_ops *ops;
    void *encoder;
};

static int encode_steps(void *context, const struct vs_step *steps, size_t count,
                        const struct vs_batch *events)
{
    static const struct vs_batch none = {0};
    struct encoding *e = context;
    return e->ops->consume(
        e->encoder,
        &(struct vs_slice){.steps = steps, .step_count = count, .events = events ? events : &none});
}

int64_t vs_verify_encode(struct vs_verify *v, const struct vs_technique_spec *given,
                         struct vs_port_store *out, struct vs_port_counts *counts,
                         struct vs_counts *encoded, struct vs_diag *diag)
{
    struct vs_technique_spec spec = *given;
    struct encoding e = {.ops = spec.technique->encoder};
    struct vs_port_writer port;
    struct vs_port_shape shape;
    int64_t bits = -VSE_INTERNAL;
    int err;
    struct vs_address_code code;
    if (!(spec.technique->serves & VS_TECHNIQUE_FLOW) ||
        e.ops->needs & ~(unsigned)(VS_NEEDS_STEPS | VS_NEEDS_EVENTS | VS_NEEDS_CODE))
        return vs_diag_set(diag, -VSE_INVAL, -1, -1, "%s does not encode control flow",
                           spec.technique->name);
    vs_technique_settle(&spec, v->setup.timed);
    vs_technique_shape(&spec, &v->setup, &shape);
    if ((err = vs_port_store_init(out, &shape)) < 0 ||
        (err = vs_port_writer_init(&port, &shape, vs_port_to_store, out)) < 0)
        return vs_study_explain(v->reader, err, diag);
    code = vs_code_of_text(&v->code, v->isa);
    const struct vs_technique_context context = {
        .params = spec.params, .setup = &v->setup, .port = &port, .code = &code};
    if (!(err = e.ops->open(&e.encoder, &context)) && !(err = read_run(v, NULL, encode_steps, &e)))
        err = vs_encoder_finish(e.ops, e.encoder);
    if (!err)
        bits = vs_port_finish(&port);
    if (!err && counts)
        vs_port_totals(&port, counts);
    if (!err && encoded)
        vs_counts_take(encoded, e.ops, e.encoder);
    e.ops->close(e.encoder);
    vs_port_writer_fini(&port);
    if (!err && bits < 0)
        err = (int)bits;
    return err ? vs_study_explain(v->reader, err, diag) : bits;
}

/* ---- comparing ------------------------------------------------------------------------------- */

/* What came of the stream so far. */
struct found {
    const struct vs_verify *v;
    struct vs_verify_core *cores;
    uint64_t compared, times;
    /* the first piece that differs, or the one that is to be kept */
    bool differs;
    unsigned core;
    uint64_t piece;
    struct vs_step *kept; /* NULL: nothing is kept */
    size_t kept_count;
};

enum { STOPPED = -VSE_NOTFOUND };

static int differ(struct found *f, unsigned core, uint64_t piece)
{
    f->differs = true;
    f->core = core;
    f->piece = piece;
    return STOPPED;
}

static int compare_steps(void *context, const struct vs_step *steps, size_t count)
{
    struct found *f = context;
    for (const struct vs_step *s = steps; s < steps + count; s++) {
        struct vs_verify_core *c = &f->cores[s->core];
        const struct vs_verify_core *expected = &f->v->cores[s->core];
        uint64_t piece = c->steps / VS_VERIFY_PIECE;
        if (c->steps == expected->steps)
            return differ(f, s->core, piece);
        c->digest = digest(f->v, c->digest, s);
        if (f->v->setup.timed)
            read_time(c, expected);
        if (s->timed && s->time != c->time)
            return differ(f, s->core, piece);
        f->compared++;
        f->times += s->timed;
        if (++c->steps % VS_VERIFY_PIECE && c->steps != expected->steps)
            continue;
        if (c->digest != expected->digests[piece])
            return differ(f, s->core, piece);
        c->digest = 0;
    }
    return 0;
}

/* Keeps the steps of one piece of one core; it serves the run and the stream alike. */
static int keep_walked(void *context, const struct vs_step *steps, size_t count)
{
    struct found *f = context;
    for (const struct vs_step *s = steps; s < steps + count; s++) {
        if (s->core != f->core)
            continue;
        uint64_t number = f->cores[s->core].steps++;
        if (number / VS_VERIFY_PIECE == f->piece)
            f->kept[f->kept_count++] = *s;
        if (number / VS_VERIFY_PIECE > f->piece)
            return STOPPED;
    }
    return 0;
}

static int keep_piece(void *context, const struct vs_step *steps, size_t count,
                      const struct vs_batch *events)
{
    (void)events;
    return keep_walked(context, steps, count);
}

/* Walks the stream. Returns as vs_walk_all. */
static int walk(struct vs_verify *v, const struct vs_technique_spec *spec,
                const struct vs_port_stream *streams, vs_walk_sink *sink, struct found *f,
                struct vs_diag *diag)
{
    struct vs_port_reader port;
    struct vs_port_shape shape;
    struct vs_walk w;
    void *decoder = NULL;
    int err;
    vs_technique_shape(spec, &v->setup, &shape);
    const struct vs_port_witness witness = {.fields = v->probe ? v->probe->fields : NULL};
    err = vs_port_reader_init(&port, &shape, streams);
    port.witness = &witness;
    if (!err)
        err = spec->technique->flow_decoder->open(&decoder, spec->params, &v->setup, &port);
    const struct vs_walk_config config = {.isa = v->isa,
                                          .code = &v->code,
                                          .ops = spec->technique->flow_decoder,
                                          .decoder = decoder,
                                          .port = &port,
                                          .cores = v->setup.cores,
                                          .limit = v->instructions,
                                          .sink = sink,
                                          .context = f};
    if (err) {
        vs_diag_set(diag, err, -1, -1, "%s", vs_errstr(err));
    } else {
        if (!(err = vs_walk_init(&w, &config)))
            err = vs_walk_all(&w);
        *diag = w.diag;
        vs_walk_fini(&w);
    }
    spec->technique->flow_decoder->close(decoder);
    vs_port_reader_fini(&port);
    return err;
}

/* a is the stream's. */
static bool same_step(const struct vs_verify *v, const struct vs_step *a, const struct vs_step *b)
{
    return (!a->timed || a->time == b->time) && a->pc == b->pc && a->target == b->target &&
           a->icount == b->icount && a->kind == b->kind && a->flags == b->flags &&
           a->size == b->size && known_time(v, a) == known_time(v, b);
}

/* Fills in what the result says about the piece that differs; found and expected hold its steps. */
static void describe(struct vs_verify_result *r, const struct found *found,
                     const struct found *expected)
{
    size_t i = 0;
    while (i < found->kept_count && i < expected->kept_count &&
           same_step(found->v, &found->kept[i], &expected->kept[i]))
        i++;
    r->core = found->core;
    r->position = found->piece * VS_VERIFY_PIECE + i;
    if (i < expected->kept_count)
        r->expected = expected->kept[i];
    if (i < found->kept_count)
        r->found = found->kept[i];
    r->outcome = i == found->kept_count      ? VS_VERIFY_MISSING
                 : i == expected->kept_count ? VS_VERIFY_EXTRA
                                             : VS_VERIFY_DIFFERS;
}

/* Finds the step in the piece at which `f` stopped. */
static int find_step(struct vs_verify *v, const struct vs_technique_spec *spec,
                     const struct vs_port_stream *streams, const struct found *f,
                     struct vs_verify_result *r)
{
    struct found sides[2];
    struct vs_diag ignored;
    int err = 0;
    for (unsigned i = 0; i < 2; i++) {
        sides[i] = (struct found){.v = v, .core = f->core, .piece = f->piece};
        sides[i].cores = calloc(v->setup.cores, sizeof(*f->cores));
        sides[i].kept = malloc(VS_VERIFY_PIECE * sizeof(*f->kept));
        err = sides[i].cores && sides[i].kept ? err : -VSE_NOMEM;
    }
    if (!err) {
        walk(v, spec, streams, keep_walked, &sides[0], &ignored);
        err = read_run(v, NULL, keep_piece, &sides[1]);
        err = err == STOPPED ? 0 : err;
        describe(r, &sides[0], &sides[1]);
    }
    for (unsigned i = 0; i < 2; i++) {
        free(sides[i].cores);
        free(sides[i].kept);
    }
    return err;
}

static const char *const outcome_words[] = {"the same", "another step", "no more steps",
                                            "a step too many", "unreadable"};

static void summarize(struct vs_verify_result *r)
{
    const struct vs_step *e = &r->expected, *s = &r->found;
    r->pc = e->pc ? e->pc : s->pc;
    if (r->outcome == VS_VERIFY_DIFFERS && s->timed && s->time != e->time)
        vs_diag_set(&r->diag, -VSE_CORRUPT, -1, -1,
                    "core %u, step %llu: another cycle; expected %llu, found %llu", r->core,
                    (unsigned long long)r->position, (unsigned long long)e->time,
                    (unsigned long long)s->time);
    else
        vs_diag_set(
            &r->diag, -VSE_CORRUPT, -1, -1,
            "core %u, step %llu: %s; expected pc %#llx to %#llx after %u, found %#llx to %#llx "
            "after %u",
            r->core, (unsigned long long)r->position, outcome_words[r->outcome],
            (unsigned long long)e->pc, (unsigned long long)vs_step_next(e), e->icount,
            (unsigned long long)s->pc, (unsigned long long)vs_step_next(s), s->icount);
}

/* Looks, after a walk without error, for a core whose steps did not all come. */
static void find_missing(struct found *f)
{
    for (unsigned i = 0; i < f->v->setup.cores && !f->differs; i++)
        if (f->cores[i].steps != f->v->cores[i].steps)
            differ(f, i, f->cores[i].steps / VS_VERIFY_PIECE);
}

static int compare(struct vs_verify *v, const struct vs_technique_spec *spec,
                   const struct vs_port_stream *streams, struct found *f,
                   struct vs_verify_result *r)
{
    int err = walk(v, spec, streams, compare_steps, f, &r->diag);
    r->compared = f->compared;
    r->times = f->times;
    if (err && !f->differs) {
        if (err == -VSE_NOMEM)
            return err;
        r->outcome = VS_VERIFY_UNREADABLE;
        return 0;
    }
    find_missing(f);
    if (!f->differs) {
        r->branches = v->branches;
        r->instructions = v->instructions;
        return 0;
    }
    r->outcome = VS_VERIFY_DIFFERS;
    if (v->probe && v->probe->brief)
        return 0;
    if ((err = find_step(v, spec, streams, f, r)) < 0)
        return err;
    summarize(r);
    return 0;
}

int vs_verify_decode(struct vs_verify *v, const struct vs_technique_spec *given,
                     const struct vs_port_stream *streams, struct vs_verify_result *result,
                     struct vs_diag *diag)
{
    struct vs_technique_spec spec = *given;
    struct found f = {.v = v};
    struct vs_port_shape shape;
    const char *why = vs_technique_undecodable(given);
    int err;
    if (why)
        return vs_diag_set(diag, -VSE_INVAL, -1, -1, "%s", why);
    vs_technique_settle(&spec, v->setup.timed);
    vs_technique_shape(&spec, &v->setup, &shape);
    result->outcome = VS_VERIFY_SAME;
    result->bits = vs_port_streams_bits(streams, vs_port_streams(&shape));
    f.cores = calloc(v->setup.cores, sizeof(*f.cores));
    err = f.cores ? compare(v, &spec, streams, &f, result) : -VSE_NOMEM;
    free(f.cores);
    return err ? vs_study_explain(v->reader, err, diag) : 0;
}

int vs_verify_flow(struct vs_verify *v, const struct vs_technique_spec *spec,
                   struct vs_verify_result *result, struct vs_diag *diag)
{
    struct vs_port_store out = {0};
    int64_t bits;
    int err;
    *result = (struct vs_verify_result){0};
    bits = vs_verify_encode(v, spec, &out, &result->counts, &result->encoded, diag);
    err = bits < 0 ? (int)bits : vs_verify_decode(v, spec, out.streams, result, diag);
    vs_port_store_fini(&out);
    return err;
}
