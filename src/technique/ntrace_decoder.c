/* SPDX-License-Identifier: MIT */
/* The decoder of RISC-V N-Trace. iCnt says how far a message reaches; only ResourceFull with a
 * history says nothing about that, and reaches to the last of its branches. */
#include "technique/flow_common.h"
#include "technique/ntrace.h"

struct core {
    uint64_t address; /* the last in a message */
    uint64_t time;
    bool alive, started, lost;
    struct vs_ras ras;

    uint64_t mark;  /* bytes up to the last message with iCnt, as the walk counts them */
    uint64_t at;    /* bytes that the core has walked */
    uint64_t extra; /* iCnt of ResourceFull since */

    uint64_t hist; /* outcomes that are still to come, the first of them at `bits` - 1 */
    unsigned bits;
    uint64_t pattern; /* they come so often again */
    unsigned width;
    uint64_t repeats;

    struct vs_ntrace_message last; /* the last message of a branch */
    uint64_t last_address;
    uint64_t copies; /* how often it is still to be repeated */

    uint8_t number;  /* of the message under way; 0: none */
    uint8_t code;    /* its bType or rCode */
    bool reached;    /* its branch has come */
    uint64_t target; /* of its branch, or of a discontinuity */
};

struct decoder {
    struct vs_ntrace_config config;
    struct vs_port_reader *port;
    unsigned count;
    struct core cores[];
};

static void decoder_close(void *decoder)
{
    struct decoder *d = decoder;
    for (unsigned i = 0; d && i < d->count; i++)
        vs_ras_fini(&d->cores[i].ras);
    free(d);
}

static int decoder_open(void **out, const void *params, const struct vs_technique_setup *setup,
                        struct vs_port_reader *port)
{
    int err = vs_machine_new(out, sizeof(struct decoder), setup->cores, sizeof(struct core));
    struct decoder *d = *out;
    if (err)
        return err;
    d->config = vs_ntrace_config(params, setup);
    d->port = port;
    d->count = setup->cores;
    /* a counter's calls are the newest, however deep the stack is */
    uint32_t depth = d->config.params.implicit_return == VS_NTRACE_COUNTED
                         ? (uint32_t)d->config.params.depth
                         : VS_NTRACE_STACK;
    for (unsigned i = 0; i < d->count && !err; i++)
        err = vs_ras_init(&d->cores[i].ras, depth);
    return vs_machine_opened(out, err, decoder_close);
}

static int refuse(struct decoder *d, enum vs_field f, const char *why)
{
    return vs_port_refuse(d->port, f, why);
}

/* ---- branches -------------------------------------------------------------------------------- */

static bool is_jump(const struct core *c)
{
    return (c->number == VS_NTRACE_INDIRECT || c->number == VS_NTRACE_HISTORY) &&
           c->code == VS_NTRACE_JUMP;
}

static int take_outcome(struct decoder *d, struct core *c, bool *taken)
{
    if (!c->bits && c->repeats) {
        c->repeats--;
        c->hist = c->pattern;
        c->bits = c->width;
    }
    if (!c->bits)
        return refuse(d, VS_FIELD_OUTCOME, "a branch of which no message tells");
    *taken = c->hist >> --c->bits & 1;
    return 0;
}

/* Whether the core has gone as far as ResourceFull with a history reaches. */
static bool is_last_of_full(const struct core *c)
{
    return c->number == VS_NTRACE_FULL && !c->bits && !c->repeats;
}

static int conditional(struct decoder *d, struct core *c, const struct vs_flow_site *site,
                       struct vs_flow_answer *answer)
{
    if (d->config.params.mode == VS_NTRACE_BTM) {
        answer->taken = site->last && c->number == VS_NTRACE_DIRECT;
        c->reached |= answer->taken;
        return 0;
    }
    int err = take_outcome(d, c, &answer->taken);
    answer->last = is_last_of_full(c);
    return err;
}

static int indirect(struct decoder *d, struct core *c, const struct vs_flow_site *site,
                    struct vs_flow_answer *answer)
{
    uint64_t predicted = 0;
    bool any = d->config.params.implicit_return && vs_step_returns(site->flags) &&
               vs_ras_pop(&c->ras, &predicted);
    answer->taken = true;
    if (site->last && is_jump(c)) {
        answer->target = c->target;
        c->reached = true;
    } else if (any) {
        answer->target = predicted;
    } else if (site->inferable && d->config.params.sijump) {
        answer->target = site->target;
    } else {
        return refuse(d, VS_FIELD_TARGET, "a jump of which no message tells");
    }
    if (vs_step_calls(site->flags))
        vs_ras_push(&c->ras, site->pc + site->size);
    return 0;
}

static int decoder_branch(void *decoder, unsigned core, const struct vs_flow_site *site,
                          struct vs_flow_answer *answer)
{
    struct decoder *d = decoder;
    struct core *c = &d->cores[core];
    if (c->number == VS_NTRACE_FULL)
        c->at = site->bytes;
    return likely(!vs_flow_site_indirect(site)) ? conditional(d, c, site, answer)
                                                : indirect(d, c, site, answer);
}

/* A direct jump or call, which may be reported like a branch that is taken. */
static int jump_reported(struct decoder *d, struct core *c, const struct vs_flow_site *site)
{
    bool taken = true;
    int err = 0;
    if (c->number == VS_NTRACE_FULL)
        c->at = site->bytes;
    if (d->config.params.mode == VS_NTRACE_HTM) {
        err = take_outcome(d, c, &taken);
        if (!err && !taken)
            err = refuse(d, VS_FIELD_OUTCOME, "a direct jump that is not taken");
        return err ? err : is_last_of_full(c) ? VS_FLOW_LAST : 0;
    }
    if (!site->last || c->number != VS_NTRACE_DIRECT)
        return refuse(d, VS_FIELD_ICNT, "a direct jump of which no message tells");
    c->reached = true;
    return 0;
}

static int decoder_direct(void *decoder, unsigned core, const struct vs_flow_site *site)
{
    struct decoder *d = decoder;
    struct core *c = &d->cores[core];
    if (vs_step_calls(site->flags))
        vs_ras_push(&c->ras, site->pc + site->size);
    return d->config.params.all_jumps ? jump_reported(d, c, site) : 0;
}

static int decoder_discontinuity(void *decoder, unsigned core, uint64_t *target)
{
    *target = ((struct decoder *)decoder)->cores[core].target;
    return 0;
}

/* ---- messages -------------------------------------------------------------------------------- */

static int take_history(struct decoder *d, struct core *c, uint64_t hist, uint64_t repeats)
{
    if (!hist || hist >> (VS_NTRACE_HIST_BITS + 1))
        return refuse(d, VS_FIELD_OUTCOME, "no history is like that");
    c->width = 63 - (unsigned)__builtin_clzll(hist);
    c->pattern = hist ^ UINT64_C(1) << c->width;
    c->repeats = c->width ? repeats : 0;
    return 0;
}

/* The core goes as far as iCnt says. */
static int reach(struct decoder *d, struct core *c, uint64_t icnt, struct vs_flow_head *h)
{
    uint64_t end = c->mark + ((c->extra + icnt) << d->config.shift);
    if (icnt >> d->config.params.icnt_bits || end < c->at)
        return refuse(d, VS_FIELD_ICNT, "a count that was exceeded or cannot be");
    h->count = end - c->at;
    h->bytes = true;
    h->cut = true;
    c->mark = c->at = end;
    c->extra = 0;
    return 0;
}

static int branch_message(struct decoder *d, struct core *c, const struct vs_ntrace_message *m,
                          struct vs_flow_head *h)
{
    bool history = m->number == VS_NTRACE_HISTORY;
    c->number = m->number;
    c->code = m->code;
    c->reached = false;
    if ((m->number == VS_NTRACE_DIRECT || !history) && m->number != VS_NTRACE_INDIRECT &&
        d->config.params.mode != VS_NTRACE_BTM)
        return refuse(d, VS_FIELD_HEADER, "a direct branch with histories");
    if (history && (d->config.params.mode != VS_NTRACE_HTM || m->hist < 2))
        return refuse(d, VS_FIELD_OUTCOME, "a history of nothing");
    int err = history ? take_history(d, c, m->hist, 1) : 0;
    if (!err)
        err = reach(d, c, m->icnt, h);
    if (!err && m->number != VS_NTRACE_DIRECT && m->code == VS_NTRACE_TRAP) {
        h->discontinuity = true;
        c->last.number = 0;
    } else if (!err && m->code != VS_NTRACE_JUMP) {
        err = refuse(d, VS_FIELD_HEADER, "no such bType");
    }
    return err;
}

/* A message that tells of a branch or a trap, for the first time. */
static int first_message(struct decoder *d, struct core *c, const struct vs_ntrace_message *m,
                         struct vs_flow_head *h)
{
    c->last = *m;
    if (m->number != VS_NTRACE_DIRECT)
        c->address = (c->address ^ m->address << d->config.shift) & d->config.mask;
    c->target = c->last_address = c->address;
    return branch_message(d, c, m, h);
}

static int full_message(struct decoder *d, struct core *c, const struct vs_ntrace_message *m,
                        struct vs_flow_head *h)
{
    c->number = m->number;
    c->last.number = 0;
    if (m->code == VS_NTRACE_FULL_ICNT) {
        uint64_t full = (UINT64_C(1) << d->config.params.icnt_bits) - 1;
        c->number = 0;
        c->extra += m->icnt;
        return m->icnt == full ? 0 : refuse(d, VS_FIELD_ICNT, "a counter that is not full");
    }
    bool repeated = m->code == VS_NTRACE_REPEATED;
    if (d->config.params.mode != VS_NTRACE_HTM || m->hist < 2 ||
        (repeated && (!d->config.params.repeat_history || m->repeat < 2 ||
                      m->repeat > vs_ntrace_repeat_most())))
        return refuse(d, VS_FIELD_RUN, "a repetition that no encoder counts");
    h->count = VS_FLOW_OPEN;
    return take_history(d, c, m->hist, repeated ? m->repeat : 1);
}

static int sync_message(struct decoder *d, struct core *c, const struct vs_ntrace_message *m,
                        struct vs_flow_head *h)
{
    bool starts = !c->alive && !c->lost;
    unsigned code = c->lost || c->alive ? VS_NTRACE_PERIODIC
                    : c->started        ? VS_NTRACE_ENABLED
                                        : VS_NTRACE_EXIT_RESET;
    c->number = m->number;
    c->last.number = 0;
    c->address = c->target = m->address << d->config.shift;
    if (m->code != code || (starts && m->icnt))
        return refuse(d, VS_FIELD_SYNC, "another reason to synchronise");
    h->discontinuity = starts;
    h->sync = !starts;
    h->pc = c->address;
    h->instructions = VS_FLOW_OPEN;
    int err = c->lost ? 0 : reach(d, c, m->icnt, h);
    c->alive = c->started = true;
    c->lost = false;
    return err;
}

static int end_message(struct decoder *d, struct core *c, const struct vs_ntrace_message *m,
                       struct vs_flow_head *h)
{
    bool history = d->config.params.mode == VS_NTRACE_HTM;
    c->number = m->number;
    if (m->code != VS_NTRACE_DISABLED || m->history != history)
        return refuse(d, VS_FIELD_HEADER, "a core that ends otherwise");
    int err = history ? take_history(d, c, m->hist, 1) : 0;
    h->discontinuity = true;
    c->target = VS_STEP_NOWHERE;
    c->alive = false;
    c->last.number = 0;
    return err ? err : reach(d, c, m->icnt, h);
}

/* The last message of a branch comes again, some times. */
static int repeat_message(struct decoder *d, struct core *c, const struct vs_ntrace_message *m)
{
    if (!d->config.params.repeat_branch || !c->last.number || !m->icnt ||
        m->icnt > vs_ntrace_repeat_most())
        return refuse(d, VS_FIELD_RUN, "a repetition of nothing");
    c->copies = m->icnt;
    return 0;
}

static int next_message(struct decoder *d, struct core *c, struct vs_flow_head *h)
{
    struct vs_ntrace_message m;
    int err = vs_port_next_packet(d->port);
    if (!err)
        err = vs_ntrace_get(d->port, &d->config.layout, &m);
    if (err)
        return err;
    if (!c->alive && m.number != VS_NTRACE_SYNC)
        return refuse(d, VS_FIELD_HEADER, "a core that does not run");
    c->time = m.number == VS_NTRACE_SYNC ? m.time : c->time + m.time;
    h->cycle = c->time;
    c->number = 0;
    switch (m.number) {
    case VS_NTRACE_FULL:
        return full_message(d, c, &m, h);
    case VS_NTRACE_SYNC:
        err = sync_message(d, c, &m, h);
        vs_ras_clear(&c->ras);
        return err;
    case VS_NTRACE_REPEAT:
        return repeat_message(d, c, &m);
    case VS_NTRACE_CORRELATION:
        return end_message(d, c, &m, h);
    default:
        return first_message(d, c, &m, h);
    }
}

/* The head before has ended. */
static int check_done(struct decoder *d, const struct core *c)
{
    if (c->bits || c->repeats)
        return refuse(d, VS_FIELD_OUTCOME, "fewer branches than the message has");
    if ((c->number == VS_NTRACE_DIRECT || (c->number && is_jump(c))) && !c->reached)
        return refuse(d, VS_FIELD_ICNT, "the message's last instruction is no such branch");
    return 0;
}

static int next_head(void *decoder, unsigned core, struct vs_flow_head *h)
{
    struct decoder *d = decoder;
    struct core *c = &d->cores[core];
    int err = check_done(d, c);
    c->number = 0;
    while (!err && !c->number) {
        if (c->copies) {
            c->copies--;
            c->target = c->last_address;
            h->cycle = c->time;
            err = branch_message(d, c, &c->last, h);
        } else {
            err = next_message(d, c, h);
        }
    }
    return err;
}

static int decoder_head(void *decoder, struct vs_flow_head *h)
{
    return vs_flow_decoder_head(decoder, ((struct decoder *)decoder)->port, h, next_head);
}

/* ---- synchronisation points ------------------------------------------------------------------ */

static void forget(struct core *c)
{
    struct vs_ras ras = c->ras;
    vs_ras_clear(&ras);
    *c = (struct core){.ras = ras};
}

static int decoder_sync(void *decoder, unsigned stream, uint64_t bit, struct vs_flow_point *point)
{
    enum { LAST = 3 };
    struct decoder *d = decoder;
    struct core *c = &d->cores[stream];
    struct vs_ntrace_message m;
    uint64_t byte = 0;
    forget(c);
    bit = (bit + 7) / 8 * 8;
    int err = vs_port_seek(d->port, stream, bit ? bit - 8 : 0);
    while (!err && bit && (byte & LAST) != LAST) /* a message begins after the end of another */
        err = vs_port_goes_on(d->port) ? vs_port_get(d->port, VS_FIELD_HEADER, 8, &byte) : -VSE_END;
    while (!err) {
        bit = d->port->bits.pos;
        err = vs_port_next_packet(d->port);
        if (err || vs_ntrace_get(d->port, &d->config.layout, &m) || m.number != VS_NTRACE_SYNC ||
            m.code != VS_NTRACE_PERIODIC)
            continue;
        *point = (struct vs_flow_point){stream, bit, stream, m.address << d->config.shift};
        c->lost = c->alive = true;
        return vs_port_seek(d->port, stream, bit);
    }
    return -VSE_END;
}

const struct vs_flow_decoder_ops vs_ntrace_decoder_ops = {.open = decoder_open,
                                                          .head = decoder_head,
                                                          .branch = decoder_branch,
                                                          .direct = decoder_direct,
                                                          .discontinuity = decoder_discontinuity,
                                                          .sync = decoder_sync,
                                                          .close = decoder_close};
