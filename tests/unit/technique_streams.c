/* SPDX-License-Identifier: MIT */
/* Techniques that code streams: worked examples, message by message; steps of every kind through
 * each of them and back; and streams that no encoder writes. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "rng.h"
#include "technique/streams.h"
#include "unittest.h"

static const char *const names[] = {"BASE",      "NEXS",       "bDMTF",   "hDMTF",    "eDMTF",
                                    "bSDC",      "eSDC",       "rSDC",    "HWLZ-256", "HWLZ-1024",
                                    "BASE_gzip", "BASE_bzip2", "BASE_xz", "BASE_zstd"};
enum { NAMES = sizeof(names) / sizeof(names[0]) };

/* ---- an encoder and its stream --------------------------------------------------------------- */

struct module {
    struct vs_technique_spec spec;
    struct vs_technique_setup setup;
    struct vs_port_shape shape;
    struct vs_port_writer port;
    struct vs_buf out;
    void *encoder;
    uint64_t bits; /* of the finished stream */
};

static void start_with(struct module *m, const struct vs_technique_spec *spec,
                       const struct vs_technique_setup *setup)
{
    *m = (struct module){.spec = *spec, .setup = *setup};
    vs_technique_settle(&m->spec, setup->timed);
    vs_technique_shape(&m->spec, &m->setup, &m->shape);
    CHECK_EQ(vs_port_writer_init(&m->port, &m->shape, vs_port_to_buf, &m->out), 0);
    CHECK_EQ(m->spec.technique->encoder->open(
                 &m->encoder, &(struct vs_technique_context){.params = m->spec.params,
                                                             .setup = &m->setup,
                                                             .port = &m->port}),
             0);
}

/* One core, 32-bit addresses, no times. */
static void start(struct module *m, const char *text)
{
    const struct vs_technique_setup setup = {.cores = 1, .address_bits = 32};
    struct vs_technique_spec spec;
    struct vs_diag diag;
    if (vs_technique_parse(&spec, text, &diag) < 0)
        unittest_fail(__FILE__, __LINE__, "%s: %s", text, diag.text);
    start_with(m, &spec, &setup);
}

static void feed(struct module *m, struct vs_step s)
{
    CHECK_EQ(m->spec.technique->encoder->consume(m->encoder,
                                                 &(struct vs_slice){.steps = &s, .step_count = 1}),
             0);
}

static void finish(struct module *m)
{
    CHECK_EQ(vs_encoder_finish(m->spec.technique->encoder, m->encoder), 0);
    int64_t bits = vs_port_finish(&m->port);
    CHECK(bits >= 0);
    m->bits = (uint64_t)bits;
}

static void stop(struct module *m)
{
    m->spec.technique->encoder->close(m->encoder);
    vs_port_writer_fini(&m->port);
    vs_buf_fini(&m->out);
}

static void conditional(struct module *m, uint32_t icount, uint64_t target)
{
    feed(m, (struct vs_step){.kind = VS_STEP_CONDITIONAL,
                             .icount = icount,
                             .pc = 0x100,
                             .target = target,
                             .size = 4,
                             .flags = VS_BR_COND | VS_BR_TAKEN});
}

static void not_taken(struct module *m, uint32_t icount)
{
    feed(m, (struct vs_step){.kind = VS_STEP_CONDITIONAL,
                             .icount = icount,
                             .pc = 0x100,
                             .target = 0x300,
                             .size = 4,
                             .flags = VS_BR_COND});
}

static void indirect(struct module *m, uint32_t icount, uint64_t target)
{
    feed(m, (struct vs_step){.kind = VS_STEP_INDIRECT,
                             .icount = icount,
                             .pc = 0x100,
                             .target = target,
                             .size = 4,
                             .flags = VS_BR_INDIRECT | VS_BR_RETURN | VS_BR_TAKEN});
}

static void elsewhere(struct module *m, uint32_t icount, uint64_t target)
{
    feed(m, (struct vs_step){.kind = VS_STEP_DISCONTINUITY, .icount = icount, .target = target});
}

/* ---- the stream, field by field -------------------------------------------------------------- */

/* The stream from a bit on. Each message is a word of fields: digits 0 and 1 are an index or a flag
 * with its most significant bit first, l followed by a number is a length, @ a whole address, both
 * of them hexadecimal. */
static void check_messages(struct module *m, uint64_t from, const char *text)
{
    struct vs_bitr r;
    finish(m);
    CHECK_EQ(vs_bitr_init(&r, m->out.data, m->out.len, m->bits), 0);
    r.pos = from;
    for (const char *p = text; *p;) {
        unsigned n = (unsigned)strspn(p, "01"), used = n;
        uint64_t expected = 0, got;
        if (n) {
            for (unsigned i = 0; i < n; i++)
                expected = expected << 1 | (uint64_t)(p[i] - '0');
        } else if (*p == 'l' || *p == '@') {
            char *end;
            expected = strtoull(p + 1, &end, 16);
            n = *p == 'l' ? VS_STREAM_BITS : m->setup.address_bits;
            used = (unsigned)(end - p);
        }
        p += used ? used : 1;
        if (!n)
            continue;
        CHECK_EQ(vs_bitr_get(&r, n, &got), 0);
        if (got != expected)
            unittest_fail(__FILE__, __LINE__, "'%s', before '%s': %#" PRIx64, text, p, got);
    }
    CHECK_EQ(vs_bitr_left(&r), 0);
}

/* Brings the core to life; returns the bits that it took. */
static uint64_t begin(struct module *m, const char *text, uint64_t at)
{
    start(m, text);
    elsewhere(m, 0, at);
    return vs_port_bits(&m->port);
}

/* ---- worked examples ------------------------------------------------------------------------- */

/* A prologue of 1 and a body of 14 instructions four times; the last branch of the loop falls
 * through to a jump into a tail of 5 that ends in a return. */
TEST(cuts_a_loop_into_streams)
{
    struct module m;
    uint64_t from = begin(&m, "BASE", 0x1000);
    conditional(&m, 15, 0x1004);
    conditional(&m, 14, 0x1004);
    conditional(&m, 14, 0x1004);
    not_taken(&m, 14);
    indirect(&m, 6, 0x2000);
    indirect(&m, 3, 0x3000);
    check_messages(&m, from, "lf / le / le / l14 / @2000 l3");
    stop(&m);
}

TEST(codes_moves_to_front)
{
    static const char order[] = "ABCAABABAC";
    struct module m;
    uint64_t from = begin(&m, "bDMTF:64x8", 0xa00);
    for (size_t i = 0; order[i]; i++) {
        uint64_t next = order[i + 1] ? order[i + 1] - 'A' + UINT64_C(0xa) : 0xf;
        conditional(&m, (uint32_t)(order[i] - 'A' + 1), next << 8);
    }
    check_messages(&m, from,
                   "1 111 111111 l1 / 1 111 111111 l2 / 1 111 111111 l3 / 1 111 000010 / "
                   "1 111 000000 / 1 001 / 1 111 000001 / 0 / 0 / 1 001");
    stop(&m);
}

TEST(codes_cached_streams)
{
    struct module m;
    char text[1000] = "0 000000 @20001f4 l9 / 0 011000 / 0 011000";
    elsewhere((start(&m, "bSDC:16x4"), &m), 0, 0x100);
    indirect(&m, 5, 0x020001f4);
    uint64_t from = vs_port_bits(&m.port);
    for (unsigned i = 0; i < 99; i++)
        conditional(&m, 9, 0x020001f4);
    conditional(&m, 20, 0x100);
    for (unsigned i = 4; i <= 99; i++)
        strcat(text, " / 1");
    strcat(text, " / 0 000000 l14");
    check_messages(&m, from, text);
    stop(&m);
}

/* ---- records --------------------------------------------------------------------------------- */

TEST(sends_groups_of_what_differs)
{
    struct module m;
    uint64_t from = begin(&m, "NEXS", 0x1000);
    indirect(&m, 2, 0x1000);
    indirect(&m, 3, 0x1fc1);
    indirect(&m, 4, 0x1fc0);
    conditional(&m, 5, 0x1);
    /* 1000 to 1000: 0; to 1fc1: 111111 000001; to 1fc0: 1 */
    check_messages(&m, from, "l2 / 11 000000 l3 / 00 000001 11 111111 l4 / 11 000001 l5");
    stop(&m);
}

TEST(cuts_long_streams)
{
    struct module m;
    uint64_t from = begin(&m, "BASE", 0x1000);
    conditional(&m, 254, 0x1000);
    conditional(&m, 255, 0x1000);
    conditional(&m, 508, 0x1000);
    not_taken(&m, 254);
    indirect(&m, 256, 0x2000);
    elsewhere(&m, 254, 0x3000);
    elsewhere(&m, 255, 0x4000);
    check_messages(&m, from,
                   "lfe / lff l1 / lff lfe / lff lff l2 / @2000 l0 lfe @3000 / lff l0 l1 @4000");
    stop(&m);
}

TEST(reports_discontinuities)
{
    struct module m;
    uint64_t from = begin(&m, "eDMTF:64x4,low=20", 0x1000);
    elsewhere(&m, 0, 0x5000);
    indirect(&m, 7, 0x6000);
    /* a record, and the same with a start that has the upper bits of the last */
    elsewhere(&m, 3, 0x5000);
    check_messages(&m, from,
                   "1 11 111111 l0 l0 @5000 / 1 11 111111 l7 / "
                   "1 11 111111 1 00000110000000000000 l0 l3 @5000");
    stop(&m);
}

TEST(sends_a_stream_anew_that_is_far)
{
    struct module m;
    uint64_t from = begin(&m, "hDMTF:64x4", 0x1000);
    indirect(&m, 7, 0x101000);
    indirect(&m, 7, 0x1000);
    indirect(&m, 7, 0x1000);
    conditional(&m, 7, 0x1000);
    conditional(&m, 7, 0x1000);
    check_messages(&m, from,
                   "1 11 111111 l7 / 1 11 111111 0 @101000 l7 / 1 11 111111 0 @1000 l7 / "
                   "1 11 000000 / 0");
    stop(&m);
    from = begin(&m, "rSDC:16x4,run=0", 0x101000);
    indirect(&m, 7, 0x1000);
    indirect(&m, 7, 0x1000);
    conditional(&m, 7, 0x1000);
    conditional(&m, 7, 0x1000);
    conditional(&m, 7, 0x1000);
    check_messages(&m, from, "0 000000 l7 / 0 000000 0 @1000 l7 / 0 011100 / 0 011100 / 1");
    stop(&m);
}

TEST(counts_runs)
{
    struct module m;
    uint64_t from = begin(&m, "eDMTF:64x4,run=4", 0x1000);
    for (unsigned i = 0; i < 2 + 16 + 5; i++)
        conditional(&m, 7, 0x1000);
    elsewhere(&m, 0, 0x1000);
    check_messages(&m, from,
                   "1 11 111111 l7 / 1 11 000000 / 0 1111 / 0 0100 / 1 11 111111 l0 l0 @1000");
    stop(&m);
    from = begin(&m, "eSDC:16x4,run=2", 0x1000);
    for (unsigned i = 0; i < 3 + 4 + 1; i++)
        conditional(&m, 7, 0x1000);
    check_messages(&m, from, "0 000000 l7 / 0 011100 / 0 011100 / 1 11 / 1 00");
    stop(&m);
}

TEST(repeats_symbols)
{
    static const uint32_t lengths[] = {1, 2, 1, 2, 1, 2, 1, 3, 1, 4};
    struct module m;
    uint64_t from = begin(&m, "HWLZ-256:length=4", 0x1000);
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++)
        conditional(&m, lengths[i], 0x1000);
    indirect(&m, 5, 0x12345678);
    indirect(&m, 5, 0x12345678);
    elsewhere(&m, 6, 0x1000);
    check_messages(&m, from,
                   "0 l1 / 0 l2 / 1 00000001 0100 / 0 l3 / 0 l1 / 0 l4 / 0 l5 / "
                   "0 011001111000 / 0 001101000101 / 0 l12 / "
                   /* the stream that ends, and the start of the one that is broken off */
                   "1 00000011 0011 / 0 l0 l6 @1000");
    stop(&m);
}

TEST(weighs_what_was_published)
{
    static const struct {
        const char *spec;
        uint64_t gates; /* without the stream detector and the counter of runs */
    } rows[] = {{"eDMTF", 24640}, {"rSDC", 5736 + 60}, {"eDMTF:64x4", 7530}, {"HWLZ-256", 49900}};
    const struct vs_technique_setup setup = {.cores = 1, .address_bits = 32};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct vs_technique_spec s;
        struct vs_cost_list list;
        struct vs_cost sum = {0};
        CHECK_EQ(vs_technique_parse(&s, rows[i].spec, NULL), 0);
        CHECK_EQ(vs_technique_cost(&s, &setup, &list), 0);
        for (size_t k = 0; k < list.count; k++)
            if (strcmp(list.items[k].name, "run") != 0 && strcmp(list.items[k].name, "stream") != 0)
                vs_cost_add(&sum, list.items[k].cost, 1);
        CHECK_EQ(vs_cost_gates(sum), rows[i].gates);
        CHECK(vs_cost_gates(vs_cost_list_sum(&list)) < rows[i].gates + 250);
    }
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* Sequences that never come from code, so that the cases that code has rarely are frequent. */
struct steps {
    struct vs_step *at;
    size_t count;
    struct vs_technique_setup setup;
};

static uint32_t some_length(struct rng *rng, uint32_t least)
{
    static const uint32_t edges[] = {0, 1, 2, 253, 254, 255, 256, 507, 508, 509, 510, 762, 763};
    uint32_t n = rng_below(rng, 8) ? (uint32_t)rng_below(rng, 6)
                                   : edges[rng_below(rng, sizeof(edges) / sizeof(edges[0]))];
    return n < least ? least : n;
}

static uint64_t some_address(struct rng *rng, const struct steps *s)
{
    uint64_t far = rng_below(rng, 6) ? 0 : rng_below(rng, 3) << (s->setup.address_bits - 8);
    return far + 0x10000 + rng_below(rng, 5) * 16;
}

static struct vs_step some_step(struct rng *rng, const struct steps *s, bool *alive)
{
    struct vs_step step = {.pc = some_address(rng, s), .target = some_address(rng, s), .size = 4};
    uint64_t kind = *alive ? rng_below(rng, 20) : 19;
    step.icount = some_length(rng, kind < 19);
    if (kind < 9) {
        step.kind = VS_STEP_CONDITIONAL;
        step.flags = VS_BR_COND | VS_BR_TAKEN;
    } else if (kind < 13) {
        step.kind = VS_STEP_CONDITIONAL;
        step.flags = VS_BR_COND;
    } else if (kind < 17) {
        step.kind = VS_STEP_INDIRECT;
        step.flags = VS_BR_INDIRECT | VS_BR_TAKEN | (kind % 2 ? VS_BR_RETURN : 0);
    } else if (kind < 18) {
        step.kind = VS_STEP_CALL;
        step.flags = VS_BR_CALL | VS_BR_TAKEN;
    } else if (kind < 19) {
        bool taken = rng_below(rng, 2);
        step.kind = VS_STEP_INDIRECT;
        step.flags = VS_BR_INDIRECT | VS_BR_COND | (taken ? VS_BR_TAKEN : 0);
        step.target = taken ? step.target : 0;
    } else {
        step.kind = VS_STEP_DISCONTINUITY;
        step.pc = 0;
        step.size = 0;
        step.icount = *alive ? step.icount : 0;
        step.target = *alive && !rng_below(rng, 4) ? VS_STEP_NOWHERE : step.target;
        *alive = step.target != VS_STEP_NOWHERE;
    }
    return step;
}

/* Often repeats what it did before. */
static struct steps make_steps(struct rng *rng, size_t count)
{
    struct steps s = {.setup = {.cores = 1 + (unsigned)rng_below(rng, 4),
                                .address_bits = rng_below(rng, 2) ? 64 : 32,
                                .timed = rng_below(rng, 2)}};
    bool alive[4] = {0};
    uint64_t time = 0;
    s.at = calloc(count, sizeof(*s.at));
    CHECK(s.at);
    for (size_t again = 0, distance = 0; s.count < count; s.count++) {
        struct vs_step *step = &s.at[s.count];
        if (!again && s.count > 40 && !rng_below(rng, 20)) {
            distance = s.setup.cores + rng_below(rng, 40 - s.setup.cores);
            again = rng_below(rng, 200);
        }
        unsigned core = (unsigned)rng_below(rng, s.setup.cores);
        if (again && s.at[s.count - distance].kind != VS_STEP_DISCONTINUITY &&
            alive[s.at[s.count - distance].core]) {
            *step = s.at[s.count - distance];
            core = step->core;
        } else {
            *step = some_step(rng, &s, &alive[core]);
        }
        again -= again > 0;
        step->core = (uint16_t)core;
        step->time = time += rng_below(rng, 30);
    }
    return s;
}

static void encode(struct module *m, const struct vs_technique_spec *spec, const struct steps *s)
{
    start_with(m, spec, &s->setup);
    CHECK_EQ(m->spec.technique->encoder->consume(
                 m->encoder, &(struct vs_slice){.steps = s->at, .step_count = s->count}),
             0);
    finish(m);
}

/* ---- walking through them -------------------------------------------------------------------- */

/* A debugger that knows the steps instead of the code, and sees whether the answers agree. */
struct walker {
    const struct steps *s;
    const struct vs_flow_decoder_ops *ops;
    void *decoder;
    size_t at[4];       /* by core: its next step */
    uint64_t passed[4]; /* instructions of it that passed */
    const struct vs_step *waits[4];
};

static const struct vs_step *step_of(struct walker *w, unsigned core)
{
    while (w->at[core] < w->s->count && w->s->at[w->at[core]].core != core)
        w->at[core]++;
    return w->at[core] < w->s->count ? &w->s->at[w->at[core]] : NULL;
}

static void pass_step(struct walker *w, unsigned core)
{
    w->at[core]++;
    w->passed[core] = 0;
}

/* Returns whether the decoder agrees with a step. */
static bool ask(struct walker *w, const struct vs_step *step, bool last)
{
    struct vs_flow_site site = {.pc = step->pc,
                                .target = step->kind == VS_STEP_CONDITIONAL ? step->target : 0,
                                .flags = step->flags & (uint8_t)~VS_BR_TAKEN,
                                .size = step->size,
                                .last = last};
    struct vs_flow_answer answer = {0};
    if (w->ops->branch(w->decoder, step->core, &site, &answer) < 0)
        return false;
    if (answer.later) {
        w->waits[step->core] = step;
        return vs_step_taken(step);
    }
    return answer.taken == vs_step_taken(step) &&
           (step->kind == VS_STEP_CONDITIONAL || !answer.taken || answer.target == step->target);
}

static bool follow(struct walker *w, const struct vs_flow_head *head)
{
    bool branch = false;
    for (uint64_t left = head->count; left;) {
        const struct vs_step *step = step_of(w, head->core);
        if (!step)
            return false;
        uint64_t need = step->icount - w->passed[head->core];
        branch = left >= need && step->kind != VS_STEP_DISCONTINUITY && step->kind != VS_STEP_CALL;
        if (left < need || step->kind == VS_STEP_DISCONTINUITY) {
            if (left > need)
                return false;
            w->passed[head->core] += left;
            break;
        }
        left -= need;
        if (branch && !ask(w, step, !left))
            return false;
        pass_step(w, head->core);
    }
    return branch || head->discontinuity || head->cut;
}

static bool resolve(struct walker *w, const struct vs_flow_head *head)
{
    const struct vs_step *step = w->waits[head->core];
    w->waits[head->core] = NULL;
    if (head->resolves != (step != NULL))
        return false;
    return !step || (head->taken && head->target == step->target);
}

static bool jump(struct walker *w, const struct vs_flow_head *head)
{
    const struct vs_step *step = step_of(w, head->core);
    uint64_t target = 1;
    if (!step || step->kind != VS_STEP_DISCONTINUITY || w->passed[head->core] != step->icount)
        return false;
    if (w->ops->discontinuity(w->decoder, head->core, &target) < 0 || target != step->target ||
        (w->s->setup.timed && head->cycle != step->time))
        return false;
    pass_step(w, head->core);
    return true;
}

/* Decodes bits as a stream of the steps. Returns what the last head did; 1: it differs. */
static int walk(const struct module *m, const struct steps *s, const uint8_t *data, uint64_t bits,
                struct walker *w, struct vs_diag *diag)
{
    struct vs_port_reader port;
    int err;
    *w = (struct walker){.s = s, .ops = m->spec.technique->flow_decoder};
    CHECK_EQ(
        vs_port_reader_init(&port, &m->shape, &(struct vs_port_stream){data, m->out.len, bits}), 0);
    CHECK_EQ(w->ops->open(&w->decoder, m->spec.params, &m->setup, &port), 0);
    for (;;) {
        struct vs_flow_head head = {0};
        if ((err = w->ops->head(w->decoder, &head)) < 0)
            break;
        if (!resolve(w, &head) || !follow(w, &head) || (head.discontinuity && !jump(w, &head))) {
            err = port.diag.error ? port.diag.error : 1;
            break;
        }
    }
    *diag = port.diag;
    w->ops->close(w->decoder);
    vs_port_reader_fini(&port);
    return err;
}

static void set_number(struct vs_technique_spec *s, const char *name, uint64_t value)
{
    char text[24];
    snprintf(text, sizeof(text), "%" PRIu64, value);
    CHECK_EQ(vs_technique_set(s, name, text, NULL), 0);
}

/* Small tables, so that they overflow, and any numbers else. */
static void randomize(struct vs_technique_spec *s, struct rng *rng)
{
    for (const struct vs_parameter *p = s->technique->parameters; p->name; p++) {
        uint64_t most = p->max < 24 + p->min ? p->max : 24 + p->min;
        unsigned words = 0;
        while (p->words && p->words[words])
            words++;
        if (words)
            CHECK_EQ(vs_technique_set(s, p->name, p->words[rng_below(rng, words)], NULL), 0);
        else if (p->power)
            set_number(s, p->name, (uint64_t)2 << rng_below(rng, 5));
        else
            set_number(s, p->name, p->min + rng_below(rng, most - p->min + 1));
    }
    CHECK_EQ(vs_technique_check(s, NULL), 0);
}

/* The steps that a stream tells of: all but what comes after a core's last end of a stream. */
static bool is_told(struct walker *w, unsigned core)
{
    const struct vs_step *step;
    while ((step = step_of(w, core))) {
        if (step->kind == VS_STEP_DISCONTINUITY || vs_step_taken(step))
            return step->kind == VS_STEP_CALL;
        pass_step(w, core);
    }
    return true;
}

static void check_round(const struct vs_technique_spec *spec, const struct steps *s, uint64_t seed)
{
    struct module m;
    struct walker w;
    struct vs_diag diag;
    char text[VS_TECHNIQUE_TEXT];
    CHECK(vs_technique_text(spec, text, sizeof(text)) > 0);
    encode(&m, spec, s);
    int err = walk(&m, s, m.out.data, m.bits, &w, &diag);
    for (unsigned i = 0; i < s->setup.cores && err == -VSE_END; i++)
        err = is_told(&w, i) ? err : 1;
    if (err != -VSE_END)
        unittest_fail(__FILE__, __LINE__, "seed %" PRIu64 ", %s: %d %s", seed, text, err,
                      diag.text);
    stop(&m);
}

TEST(tells_all_steps)
{
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct rng rng = rng_init(seed);
        struct steps s = make_steps(&rng, 3000);
        for (unsigned i = 0; i < NAMES; i++) {
            struct vs_technique_spec spec;
            CHECK_EQ(vs_technique_parse(&spec, names[i], NULL), 0);
            check_round(&spec, &s, seed);
            randomize(&spec, &rng);
            check_round(&spec, &s, seed);
        }
        free(s.at);
    }
}

/* ---- streams that no encoder writes ---------------------------------------------------------- */

TEST(says_where_a_stream_is_cut_off)
{
    struct rng rng = rng_init(7);
    struct steps s = make_steps(&rng, 400);
    for (unsigned i = 0; i < NAMES; i++) {
        struct vs_technique_spec spec;
        struct module m;
        unsigned cut = 0;
        CHECK_EQ(vs_technique_parse(&spec, names[i], NULL), 0);
        encode(&m, &spec, &s);
        for (uint64_t bits = 0; bits < m.bits; bits++) {
            struct walker w;
            struct vs_diag diag;
            int err = walk(&m, &s, m.out.data, bits, &w, &diag);
            CHECK(err == -VSE_END || err == -VSE_TRUNCATED);
            if (err == -VSE_TRUNCATED)
                CHECK_HAS(diag.text, "bit ");
            cut += err == -VSE_TRUNCATED;
        }
        CHECK(cut > m.bits / 2);
        stop(&m);
    }
    free(s.at);
}

TEST(survives_any_bits)
{
    struct rng rng = rng_init(8);
    for (unsigned turn = 0; turn < 400; turn++) {
        struct steps s = make_steps(&rng, 300);
        struct vs_technique_spec spec;
        struct module m;
        struct walker w;
        struct vs_diag diag;
        CHECK_EQ(vs_technique_parse(&spec, names[turn % NAMES], NULL), 0);
        if (turn % 3 == 0)
            randomize(&spec, &rng);
        encode(&m, &spec, &s);
        for (uint64_t n = 1 + rng_below(&rng, 4); n; n--) {
            uint64_t bit = rng_below(&rng, m.bits);
            m.out.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
        int err = walk(&m, &s, m.out.data, m.bits, &w, &diag);
        CHECK(err == 1 || err == -VSE_END || err == -VSE_TRUNCATED || err == -VSE_CORRUPT);
        if (err == -VSE_CORRUPT && !strstr(diag.text, "bit "))
            CHECK_HAS(diag.text, "byte "); /* of a packed stream */
        stop(&m);
        free(s.at);
    }
}

/* Bits after a core's start at 0x1000, as in check_messages. */
static void check_refused(const char *text, const char *bits, const char *why)
{
    static struct vs_step none[] = {
        {.kind = VS_STEP_DISCONTINUITY, .target = 0x1000},
        {.kind = VS_STEP_CONDITIONAL,
         .icount = 7,
         .target = 0x1000,
         .flags = VS_BR_COND | VS_BR_TAKEN},
        {.kind = VS_STEP_CONDITIONAL,
         .icount = 7,
         .target = 0x1000,
         .flags = VS_BR_COND | VS_BR_TAKEN},
        {.kind = VS_STEP_CONDITIONAL,
         .icount = 7,
         .target = 0x2000,
         .flags = VS_BR_COND | VS_BR_TAKEN},
        {.kind = VS_STEP_INDIRECT, .icount = 9, .target = 0x1000, .flags = 0},
    };
    const struct steps s = {
        .at = none, .count = 5, .setup = {.cores = 1, .address_bits = 32, .timed = false}};
    struct module m;
    struct walker w;
    struct vs_diag diag = {0};
    none[4].flags = VS_BR_INDIRECT | VS_BR_TAKEN;
    begin(&m, text, 0x1000);
    for (const char *p = bits; *p;) {
        unsigned n = (unsigned)strspn(p, "01"), used = n;
        uint64_t value = 0;
        for (unsigned i = 0; i < n; i++)
            value = value << 1 | (uint64_t)(p[i] - '0');
        if (*p == 'l' || *p == '@') {
            char *end;
            value = strtoull(p + 1, &end, 16);
            n = *p == 'l' ? VS_STREAM_BITS : 32;
            used = (unsigned)(end - p);
        }
        if (n)
            vs_port_put(&m.port, VS_FIELD_HEADER, value, n);
        p += used ? used : 1;
    }
    finish(&m);
    int err = walk(&m, &s, m.out.data, m.bits, &w, &diag);
    if (err != -VSE_CORRUPT || !strstr(diag.text, why))
        unittest_fail(__FILE__, __LINE__, "%s, %s: %d '%s' lacks '%s'", text, bits, err, diag.text,
                      why);
    stop(&m);
}

TEST(refuses_what_no_encoder_writes)
{
    check_refused("BASE", "l7 l7 l7 lff", "passes over an indirect branch");
    check_refused("BASE", "l0 lff @1000", "more instructions");
    check_refused("NEXS", "l7 l7 l7 l9 01 000001", "header");
    check_refused("NEXS", "l7 l7 l7 l9 00 000001 11 000000", "leading zeros");
    check_refused("NEXS:group=20", "l7 l7 l7 l9 00 00000000000000000001 11 00000001000000000000",
                  "wider");
    check_refused("bDMTF:64x4", "0", "no index");
    check_refused("bDMTF:64x4", "1 00", "shorter code");
    check_refused("bDMTF:64x4", "1 01", "no index");
    check_refused("bDMTF:64x4", "1 11 000000", "no stream");
    check_refused("bDMTF:m1=48,m2=4", "1 11 110000", "no stream");
    check_refused("bDMTF:64x4", "1 11 111111 l7 1 11 111111 l7", "is known");
    check_refused("bDMTF:64x4", "1 11 111111 l7 1 11 000000 1 11 000000", "shorter code");
    check_refused("bDMTF:64x4", "1 11 111111 l7 1 11 000000 0 0", "begins elsewhere");
    check_refused("hDMTF:64x4", "1 11 111111 l7 1 11 000000 0 1 11 111111 l9 1 11 111111 0 @1000",
                  "upper bits");
    check_refused("eDMTF:64x4,run=2", "0 00", "no index");
    check_refused("eDMTF:64x4,run=2", "1 11 111111 l7 1 11 000000 0 00 0", "was not full");
    check_refused("bSDC:16x4", "1", "no stream is predicted");
    check_refused("bSDC:16x4", "0 000001", "no stream is at");
    check_refused("bSDC:16x4", "0 000000 l7 0 000000 l7", "is known");
    check_refused("bSDC:16x4", "0 000000 l7 0 011100 0 011100 1", "begins elsewhere");
    check_refused("HWLZ-256", "1 00000000 00000000", "never was");
    check_refused("HWLZ-256", "0 l7 1 00000000 00000000", "single symbol");
    check_refused("HWLZ-256",
                  "0 l7 0 l7 0 l7 0 l9 0 001000000000 0 001000000000 0 l0 1 00000000 00000001",
                  "cannot be here");
}

TEST(refuses_parameters)
{
    static const char *const bad[] = {
        "bDMTF:m1=1",       "bDMTF:low=20", "hDMTF:run=4",         "eDMTF:run=17",
        "bSDC:sets=3",      "bSDC:ways=17", "bSDC:sets=1,ways=1",  "rSDC:low=19",
        "eSDC:policy=best", "NEXS:group=0", "HWLZ-256:entries=100"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct vs_technique_spec s;
        struct vs_diag diag = {0};
        CHECK(vs_technique_parse(&s, bad[i], &diag) < 0);
        CHECK(diag.text[0]);
    }
}
