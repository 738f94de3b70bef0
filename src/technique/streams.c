/* SPDX-License-Identifier: MIT */
#include "technique/streams.h"

#include <stdlib.h>

#include "base/likely.h"

/* ---- states ---------------------------------------------------------------------------------- */

static void free_states(const struct vs_stream_coder *coder, char *states, unsigned cores)
{
    for (unsigned i = 0; states && coder->fini && i < cores; i++)
        coder->fini(states + i * coder->size);
    free(states);
}

/* Returns NULL if there is no memory. */
static char *make_states(const struct vs_stream_coder *coder, const void *params,
                         const struct vs_technique_setup *setup)
{
    char *states = calloc(setup->cores, coder->size);
    int err = 0;
    for (unsigned i = 0; states && i < setup->cores; i++)
        err |= coder->init(states + i * coder->size, params, setup->address_bits);
    if (!err)
        return states;
    free_states(coder, states, setup->cores);
    return NULL;
}

/* ---- records --------------------------------------------------------------------------------- */

void vs_stream_put_record(void *state, struct vs_stream_out *out, const struct vs_stream *s)
{
    if (s->sent)
        out->coder->put_start(state, out, s);
    vs_port_put(out->values, VS_FIELD_ICNT, s->length, VS_STREAM_BITS);
}

int vs_stream_get_record(void *state, struct vs_stream_in *in, struct vs_stream *s)
{
    uint64_t length = 0;
    int err = 0;
    s->start = in->start;
    if (in->sent)
        err = in->coder->get_start(state, in, &s->start);
    if (!err)
        err = vs_port_get(in->values, VS_FIELD_ICNT, VS_STREAM_BITS, &length);
    s->length = (uint32_t)length;
    return err;
}

void vs_stream_put_whole(void *state, struct vs_stream_out *out, const struct vs_stream *s)
{
    (void)state;
    vs_port_put(out->values, VS_FIELD_TARGET, s->start, out->address_bits);
}

int vs_stream_get_whole(void *state, struct vs_stream_in *in, uint64_t *start)
{
    (void)state;
    return vs_port_get(in->values, VS_FIELD_TARGET, in->address_bits, start);
}

/* ---- what coders share ----------------------------------------------------------------------- */

void vs_stream_put_split(struct vs_lastvalue *upper, struct vs_stream_out *out,
                         const struct vs_stream *s)
{
    bool near = vs_lastvalue_match(upper, s->start);
    vs_port_put(out->port, VS_FIELD_HEADER, near, 1);
    if (near)
        vs_port_put(out->port, VS_FIELD_TARGET, vs_lastvalue_lower(upper, s->start), upper->low);
    else
        vs_stream_put_whole(NULL, out, s);
    vs_lastvalue_update(upper, s->start);
}

int vs_stream_get_split(struct vs_lastvalue *upper, struct vs_stream_in *in, uint64_t *start)
{
    uint64_t near, lower;
    int err = vs_port_get(in->port, VS_FIELD_HEADER, 1, &near);
    if (err)
        return err;
    if (near) {
        err = vs_port_get(in->port, VS_FIELD_TARGET, upper->low, &lower);
        *start = err ? 0 : vs_lastvalue_join(upper, lower);
    } else {
        err = vs_stream_get_whole(NULL, in, start);
        if (!err && vs_lastvalue_match(upper, *start))
            err = vs_port_refuse(in->port, VS_FIELD_TARGET, "has upper bits that are known");
    }
    if (!err)
        vs_lastvalue_update(upper, *start);
    return err;
}

int vs_stream_runs_get(struct vs_stream_runs *r, struct vs_stream_in *in, uint64_t *more)
{
    uint64_t value;
    if (!r->counted)
        return 0;
    int width = vs_runcount_width(&r->count);
    if (width < 0)
        return vs_port_refuse(in->port, VS_FIELD_RUN, "goes on after a count that was not full");
    int err = vs_port_get(in->port, VS_FIELD_RUN, (unsigned)width, &value);
    if (!err)
        *more = vs_runcount_read(&r->count, value) - 1;
    return err;
}

void vs_stream_runs_end(struct vs_stream_runs *r)
{
    struct vs_run_record ignored;
    if (r->counted)
        vs_runcount_end(&r->count, &ignored);
}

/* ---- encoder --------------------------------------------------------------------------------- */

struct encoder_core {
    struct vs_stream stream; /* the one under way */
    uint64_t count;          /* its instructions since the last cut */
    bool alive;
};

struct encoder {
    const struct vs_stream_coder *coder;
    char *states;
    unsigned cores;
    struct vs_stream_out out;
    struct vs_flow_counts counts;
    struct encoder_core core[];
};

int vs_stream_encoder_open(void **out, const struct vs_stream_coder *coder,
                           const struct vs_technique_context *context, struct vs_port_writer *heads)
{
    const struct vs_technique_setup *setup = context->setup;
    struct encoder *e = calloc(1, sizeof(*e) + setup->cores * sizeof(e->core[0]));
    if (!(*out = e))
        return -VSE_NOMEM;
    e->coder = coder;
    e->cores = setup->cores;
    e->out = (struct vs_stream_out){.coder = coder,
                                    .port = heads,
                                    .values = context->port,
                                    .address_bits = setup->address_bits};
    if ((e->states = make_states(coder, context->params, setup)))
        return 0;
    free(e);
    *out = NULL;
    return -VSE_NOMEM;
}

void vs_stream_encoder_close(void *encoder)
{
    struct encoder *e = encoder;
    if (!e)
        return;
    free_states(e->coder, e->states, e->cores);
    free(e);
}

static void *encoder_state(struct encoder *e)
{
    return e->states + e->out.core * e->coder->size;
}

static bool put_stream(struct encoder *e, struct encoder_core *c, uint32_t length)
{
    c->stream.length = length;
    return e->coder->put(encoder_state(e), &e->out, &c->stream);
}

/* Leaves no more instructions than one code of SL, or one iCnt, can tell. */
static void cut_stream(struct encoder *e, struct encoder_core *c)
{
    for (; unlikely(c->count > VS_STREAM_MOST); c->count -= VS_STREAM_MOST) {
        put_stream(e, c, VS_STREAM_CUT);
        c->stream.sent = false;
    }
}

/* Ends the stream with a branch. Returns whether that is reported. */
static bool end_stream(struct encoder *e, struct encoder_core *c, uint64_t target, bool indirect)
{
    cut_stream(e, c);
    bool reported = put_stream(e, c, (uint32_t)c->count);
    c->stream.previous = c->stream.start;
    c->stream.start = target;
    c->stream.sent = indirect;
    c->count = 0;
    return reported;
}

static void break_stream(struct encoder *e, struct encoder_core *c, uint64_t target)
{
    bool sync = !c->alive || target == VS_STEP_NOWHERE;
    enum vs_field f = sync ? VS_FIELD_SYNC : VS_FIELD_TARGET;
    cut_stream(e, c);
    c->stream.length = VS_STREAM_BREAK;
    e->coder->put_break(encoder_state(e), &e->out, &c->stream);
    vs_port_put(e->out.values, sync ? f : VS_FIELD_ICNT, c->count, VS_STREAM_BITS);
    vs_port_put(e->out.values, f, target, e->out.address_bits);
    vs_port_end(e->out.port);
    c->stream = (struct vs_stream){.start = target};
    c->count = 0;
    c->alive = target != VS_STEP_NOWHERE;
    e->counts.discontinuities++;
    e->counts.syncs += sync;
}

static void take_conditional(struct encoder *e, struct encoder_core *c, const struct vs_step *s)
{
    e->counts.conditional++;
    if (vs_step_taken(s))
        e->counts.conditional_reported += end_stream(e, c, s->target, false);
}

static void take_indirect(struct encoder *e, struct encoder_core *c, const struct vs_step *s)
{
    bool reported = vs_step_taken(s) && end_stream(e, c, s->target, true);
    if (s->flags & VS_BR_RETURN)
        e->counts.returns++, e->counts.returns_reported += reported;
    else
        e->counts.indirect++, e->counts.indirect_reported += reported;
}

int vs_stream_consume(void *encoder, const struct vs_slice *slice)
{
    struct encoder *e = encoder;
    for (const struct vs_step *s = slice->steps, *end = s + slice->step_count; s < end; s++) {
        if (unlikely(s->core >= e->cores))
            return -VSE_INVAL;
        struct encoder_core *c = &e->core[s->core];
        e->out.core = s->core;
        e->out.time = s->time;
        c->count += s->icount;
        e->counts.instructions += s->icount;
        switch (s->kind) {
        case VS_STEP_CONDITIONAL:
            take_conditional(e, c, s);
            break;
        case VS_STEP_INDIRECT:
            take_indirect(e, c, s);
            break;
        case VS_STEP_DISCONTINUITY:
            break_stream(e, c, s->target);
            break;
        default:
            break;
        }
    }
    return 0;
}

int vs_stream_finish(void *encoder)
{
    struct encoder *e = encoder;
    for (unsigned i = 0; e->coder->flush && i < e->cores; i++) {
        e->out.core = i;
        e->coder->flush(encoder_state(e), &e->out);
    }
    return 0;
}

void vs_stream_counts(const void *encoder, void *counts)
{
    *(struct vs_flow_counts *)counts = ((const struct encoder *)encoder)->counts;
}

/* ---- decoder --------------------------------------------------------------------------------- */

struct decoder_core {
    uint64_t start; /* the next stream's; the last one's if its branch waits for a target */
    bool waits;
};

struct decoder {
    const struct vs_stream_coder *coder;
    char *states;
    unsigned cores, address_bits;
    struct vs_port_reader *port, *values;

    /* the message under way */
    unsigned number; /* its core's */
    uint64_t cycle;
    uint64_t more;   /* streams that it still stands for */
    uint32_t length; /* the last stream's */
    struct decoder_core core[];
};

int vs_stream_decoder_open(void **out, const struct vs_stream_coder *coder, const void *params,
                           const struct vs_technique_setup *setup, struct vs_port_reader *heads,
                           struct vs_port_reader *values)
{
    struct decoder *d = calloc(1, sizeof(*d) + setup->cores * sizeof(d->core[0]));
    if (!(*out = d))
        return -VSE_NOMEM;
    d->coder = coder;
    d->cores = setup->cores;
    d->address_bits = setup->address_bits;
    d->port = heads;
    d->values = values;
    if ((d->states = make_states(coder, params, setup)))
        return 0;
    free(d);
    *out = NULL;
    return -VSE_NOMEM;
}

void vs_stream_decoder_close(void *decoder)
{
    struct decoder *d = decoder;
    if (!d)
        return;
    free_states(d->coder, d->states, d->cores);
    free(d);
}

/* Reads the next message. Errors in the rest of it are reported for the same message. */
static int next_message(struct decoder *d)
{
    int err = vs_port_next(d->port, &d->number, &d->cycle);
    if (d->values != d->port) {
        d->values->messages = d->port->messages;
        d->values->start = d->values->bits.pos;
        d->values->core = d->number;
    }
    return err;
}

/* Reads on in the message under way, or the next one. Returns as vs_stream_coder.get. */
static int read_on(struct decoder *d, struct vs_stream *s)
{
    bool begins = !d->more;
    int err = begins ? next_message(d) : 0;
    if (unlikely(err))
        return err;
    const struct decoder_core *c = &d->core[d->number];
    void *state = d->states + d->number * d->coder->size;
    struct vs_stream_in in = {.coder = d->coder,
                              .port = d->port,
                              .values = d->values,
                              .address_bits = d->address_bits,
                              .start = c->start,
                              .sent = c->waits};
    s->sent = c->waits;
    if (begins)
        return d->coder->get(state, &in, s, &d->more);
    d->more--;
    return d->coder->next(state, &in, s);
}

static int next_stream(struct decoder *d, struct vs_stream *s)
{
    int err;
    while ((err = read_on(d, s)) > 0)
        d->more = 0;
    return err;
}

/* Tells how far a stream of this length goes. */
static int set_extent(struct decoder *d, struct vs_flow_head *head)
{
    int err = 0;
    head->count = d->length;
    if (d->length == VS_STREAM_CUT) {
        head->count = VS_STREAM_MOST;
        head->cut = true;
    } else if (d->length == VS_STREAM_BREAK) {
        head->discontinuity = true;
        err = vs_port_get(d->values, VS_FIELD_ICNT, VS_STREAM_BITS, &head->count);
        if (!err && head->count > VS_STREAM_MOST)
            err = vs_port_refuse(d->values, VS_FIELD_ICNT, "more instructions than pass uncut");
    }
    return err;
}

int vs_stream_head(void *decoder, struct vs_flow_head *head)
{
    struct decoder *d = decoder;
    struct vs_stream s = {0};
    int err = next_stream(d, &s);
    head->core = d->number;
    head->cycle = d->cycle;
    if (unlikely(err))
        return err;
    struct decoder_core *c = &d->core[d->number];
    if (unlikely(!c->waits && s.start != c->start))
        return vs_port_refuse(d->values, VS_FIELD_INDEX, "a stream that begins elsewhere");
    head->resolves = head->taken = c->waits;
    head->target = s.start;
    c->start = s.start;
    c->waits = false;
    d->length = s.length;
    return set_extent(d, head);
}

int vs_stream_branch(void *decoder, unsigned core, const struct vs_flow_site *site,
                     struct vs_flow_answer *answer)
{
    struct decoder *d = decoder;
    struct decoder_core *c = &d->core[core];
    bool ends = site->last && d->length != VS_STREAM_BREAK && d->length != VS_STREAM_CUT;
    if (!ends)
        return vs_flow_site_indirect(site) && !(site->flags & VS_BR_COND)
                   ? vs_port_refuse(d->values, VS_FIELD_ICNT, "passes over an indirect branch")
                   : 0;
    answer->taken = true;
    if (vs_flow_site_indirect(site))
        answer->later = c->waits = true;
    else
        c->start = site->target;
    return 0;
}

int vs_stream_discontinuity(void *decoder, unsigned core, uint64_t *target)
{
    struct decoder *d = decoder;
    int err = vs_port_get(d->values, VS_FIELD_TARGET, d->address_bits, target);
    if (!err)
        d->core[core].start = *target;
    return err;
}

/* ---- cost ------------------------------------------------------------------------------------ */

/* The length cannot overflow, since a stream longer than VS_STREAM_MOST is cut. */
void vs_stream_cost(const struct vs_technique_setup *setup, struct vs_cost_list *list)
{
    vs_cost_list_add(list, "stream",
                     (struct vs_cost){.registers = setup->address_bits + VS_STREAM_BITS},
                     setup->cores);
}
