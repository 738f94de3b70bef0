/* SPDX-License-Identifier: MIT */
/* Many techniques in one pass, and their proof in parallel. */
#include <string.h>

#include "runs.h"
#include "study/study.h" /* must compile by itself */

static const struct gen_options options = {.seed = 7,
                                           .events = 60000,
                                           .threads = 3,
                                           .profile = GEN_MIXED,
                                           .timed = true,
                                           .wide = GEN_NEVER,
                                           .signals = 300,
                                           .gaps = 3000,
                                           .code = 400,
                                           .syscalls = 200};

struct fixture {
    struct place place;
    struct file file;
    struct vs_reader *reader;
};

static void fixture_init(struct fixture *r, const struct gen_options *o)
{
    place_init(&r->place);
    CHECK_EQ(gen_record("run.vest", o, NULL, NULL), 0);
    r->file = file_load("run.vest");
    r->reader = file_open(&r->file);
}

static void fixture_fini(struct fixture *r)
{
    vs_reader_close(r->reader);
    file_free(&r->file);
    place_fini(&r->place);
}

static int64_t add(struct vs_bandwidth *b, const char *text, vs_port_sink *sink, void *context)
{
    struct vs_technique_spec spec;
    CHECK_EQ(vs_technique_parse(&spec, text, NULL), 0);
    return vs_bandwidth_add(b, &spec, sink, context, NULL);
}

static void add_all(struct vs_bandwidth *b)
{
    for (size_t i = 0; vs_techniques[i]; i++)
        if (vs_techniques[i]->serves & VS_TECHNIQUE_FLOW)
            CHECK_EQ(add(b, vs_techniques[i]->name, NULL, NULL), (int64_t)b->count - 1);
}

TEST(counts_what_one_at_a_time_does)
{
    struct fixture r;
    struct vs_verify v;
    struct vs_bandwidth b;
    fixture_init(&r, &options);
    CHECK_EQ(vs_verify_init(&v, r.reader, NULL), 0);
    CHECK_EQ(vs_bandwidth_init(&b, r.reader, NULL, NULL), 0);
    add_all(&b);
    CHECK(b.count >= 6);
    CHECK_EQ(vs_bandwidth_run(&b, r.reader, NULL, NULL), 0);
    CHECK_EQ(b.instructions, v.instructions);
    for (size_t i = 0; i < b.count; i++) {
        struct vs_port_store bits = {0};
        struct vs_port_counts counts;
        struct vs_counts encoded;
        int64_t n = vs_verify_encode(&v, &b.rows[i].spec, &bits, &counts, &encoded, NULL);
        CHECK_EQ(n, b.rows[i].bits);
        CHECK_EQ(vs_port_counts_bits(&b.rows[i].counts), b.rows[i].bits);
        CHECK_MEM(&counts, &b.rows[i].counts, sizeof(counts));
        CHECK_MEM(&encoded, &b.rows[i].encoded, sizeof(encoded));
        vs_port_store_fini(&bits);
    }
    vs_bandwidth_fini(&b);
    vs_verify_fini(&v);
    fixture_fini(&r);
}

TEST(hands_over_the_bits_that_it_counts)
{
    struct fixture r;
    struct vs_bandwidth b;
    struct vs_buf bits[2] = {{0}, {0}};
    fixture_init(&r, &options);
    CHECK_EQ(vs_bandwidth_init(&b, r.reader, NULL, NULL), 0);
    for (unsigned i = 0; i < 2; i++)
        CHECK_EQ(add(&b, "mcfTR_e:small", vs_port_to_buf, &bits[i]), i);
    CHECK_EQ(vs_bandwidth_run(&b, r.reader, NULL, NULL), 0);
    CHECK_EQ(bits[0].len, (b.rows[0].bits + 7) / 8);
    CHECK_EQ(bits[1].len, bits[0].len);
    CHECK_MEM(bits[0].data, bits[1].data, bits[0].len);
    vs_bandwidth_fini(&b);
    vs_buf_fini(&bits[0]);
    vs_buf_fini(&bits[1]);
    fixture_fini(&r);
}

/* Specs of techniques whose encoders have parts in common. Narrow counters are often full. */
static const char *const alike[] = {"mcfTR_e",
                                    "mcfTR_e:gshare=64",
                                    "mcfTR_e:gshare=64,hash=folded",
                                    "mcfTR_e:gshare=64,ras=0,ibtb=0",
                                    "mcfTR_e:gshare=64,ras=3,pir=all",
                                    "mcfTR_e:gshare=64,ibtb=4,pir_bits=13,pir_pc_bits=8",
                                    "mcfTR_e:ibtb=4,ibtb_tags=untagged-oracle",
                                    "mcfTR_e:bcnt_bits=4,icnt_bits=4",
                                    "mcfTR_e:bcnt_bits=4,icnt_bits=12",
                                    "mcfTR_e:bcnt_bits=7,icnt_bits=8",
                                    "mcfTR_e:bcnt_bits=64,icnt_bits=10",
                                    "mcfTR_e:bcnt_bits=64,icnt_bits=64",
                                    "mcfTR_e:predictors=shared",
                                    "mcfTR_e:predictors=shared,gshare=64,bcnt_bits=5,icnt_bits=7",
                                    "mcfTR_e:direct=learned",
                                    "mcfTR_e:direct=reported,icnt_bits=7",
                                    "mcfTR_b:gshare=64",
                                    "tTMBP",
                                    "tTMBP:ibtb=8,ibtb_target=8,icnt_bits=9",
                                    "sTMBP:predictors=shared,pir=all",
                                    "mcfTG:2K",
                                    "mcfTG:2K,bcnt_bits=6,icnt_bits=9",
                                    "mcfTG:2K,predictors=shared"};

enum { ALIKE = sizeof(alike) / sizeof(alike[0]) };

static void encode_alike(struct vs_bandwidth *b, struct vs_reader *reader, bool alone,
                         struct vs_buf *bits)
{
    const struct vs_bandwidth_options o = {.alone = alone, .window = 1000};
    CHECK_EQ(vs_bandwidth_init(b, reader, &o, NULL), 0);
    for (unsigned i = 0; i < ALIKE; i++)
        CHECK_EQ(add(b, alike[i], bits ? vs_port_to_buf : NULL, bits ? &bits[i] : NULL), i);
    CHECK_EQ(vs_bandwidth_run(b, reader, NULL, NULL), 0);
}

/* Without threads, encoders share parts: the bits are those of each by itself. */
static void check_alike(const struct gen_options *o)
{
    struct fixture r;
    struct vs_bandwidth each, sharing, counting;
    struct vs_buf a[ALIKE] = {{0}}, b[ALIKE] = {{0}};
    fixture_init(&r, o);
    encode_alike(&each, r.reader, false, a);
    encode_alike(&sharing, r.reader, true, b);
    encode_alike(&counting, r.reader, true, NULL);
    for (unsigned i = 0; i < ALIKE; i++) {
        const struct vs_bandwidth_row *x = &each.rows[i], *y = &sharing.rows[i],
                                      *z = &counting.rows[i];
        if (x->bits != y->bits || a[i].len != b[i].len || memcmp(a[i].data, b[i].data, a[i].len))
            unittest_fail(__FILE__, __LINE__, "%s: other bits", alike[i]);
        CHECK_EQ(x->bits, z->bits);
        CHECK_MEM(&x->counts, &z->counts, sizeof(x->counts));
        CHECK_MEM(&x->encoded, &y->encoded, sizeof(x->encoded));
        CHECK_MEM(&x->encoded, &z->encoded, sizeof(x->encoded));
        CHECK_EQ(x->windows.count, z->windows.count);
        CHECK_MEM(x->windows.bits, z->windows.bits,
                  x->windows.count * x->windows.cores * sizeof(*x->windows.bits));
        vs_buf_fini(&a[i]);
        vs_buf_fini(&b[i]);
    }
    vs_bandwidth_fini(&each);
    vs_bandwidth_fini(&sharing);
    vs_bandwidth_fini(&counting);
    fixture_fini(&r);
}

TEST(shares_what_encoders_have_in_common)
{
    struct gen_options o = options;
    check_alike(&o);
    o.threads = 1;
    o.timed = false;
    check_alike(&o);
    o.threads = 70; /* blocks of more than a word */
    o.timed = true;
    check_alike(&o);
}

static int fail_later(void *context, unsigned stream, const uint8_t *bytes, uint64_t nbits)
{
    unsigned *calls = context;
    (void)bytes;
    (void)stream, (void)nbits;
    return ++*calls > 1 ? -VSE_IO : 0;
}

TEST(reports_a_sink_that_fails)
{
    struct fixture r;
    struct vs_bandwidth b;
    unsigned calls = 1;
    fixture_init(&r, &options);
    CHECK_EQ(vs_bandwidth_init(&b, r.reader, NULL, NULL), 0);
    add_all(&b);
    CHECK(add(&b, "mcfNX_b", fail_later, &calls) > 0);
    CHECK_ERR(vs_bandwidth_run(&b, r.reader, NULL, NULL), VSE_IO);
    CHECK_EQ(calls, 2);
    vs_bandwidth_fini(&b);
    fixture_fini(&r);
}

TEST(sums_windows_and_drains_a_buffer)
{
    const struct vs_bandwidth_options o = {.window = 5000, .drain = {.bits = 1, .cycles = 4}};
    struct vs_window_summary s;
    struct fixture r;
    struct vs_bandwidth b;
    fixture_init(&r, &options);
    CHECK_EQ(vs_bandwidth_init(&b, r.reader, &o, NULL), 0);
    add_all(&b);
    CHECK_EQ(vs_bandwidth_run(&b, r.reader, NULL, NULL), 0);
    CHECK(b.cycles > 0);
    for (size_t i = 0; i < b.count; i++) {
        vs_windows_summary(&b.rows[i].windows, VS_WINDOW_ALL, b.end, &s);
        CHECK_EQ(s.bits, b.rows[i].bits);
        CHECK(b.rows[i].drain.largest > 0);
        CHECK_EQ(b.rows[i].drain.accepted_bits, b.rows[i].bits);
    }
    vs_bandwidth_fini(&b);
    fixture_fini(&r);
}

TEST(refuses_what_it_cannot_do)
{
    const struct vs_bandwidth_options bad = {.drain = {.bits = 1, .cycles = 0}};
    const struct vs_bandwidth_options narrow = {.window = 1};
    struct gen_options later = options;
    struct vs_bandwidth b;
    struct fixture r;
    later.events = 2000000;
    later.threads = 16;
    fixture_init(&r, &options);
    CHECK_ERR(vs_bandwidth_init(&b, r.reader, &bad, NULL), VSE_INVAL);
    vs_bandwidth_fini(&b);
    fixture_fini(&r);
    fixture_init(&r, &later);
    CHECK_EQ(vs_bandwidth_init(&b, r.reader, &narrow, NULL), 0);
    CHECK_EQ(add(&b, "mcfNX_b", NULL, NULL), 0);
    CHECK_ERR(vs_bandwidth_run(&b, r.reader, NULL, NULL), VSE_LIMIT);
    vs_bandwidth_fini(&b);
    fixture_fini(&r);
}

/* ---- a technique that serves two kinds ------------------------------------------------------- */

/* Merges the steps and events that it gets: a step belongs to the event at which its core has
 * executed as many instructions. */
struct merging {
    uint64_t conditional, loads, merged;
    uint64_t by_steps[16], by_events[16]; /* instructions of a core */
};

static int merging_open(void **encoder, const struct vs_technique_context *context)
{
    CHECK(context->setup->cores <= 16 && !context->code);
    return (*encoder = calloc(1, sizeof(struct merging))) ? 0 : -VSE_NOMEM;
}

static void merge_event(struct merging *m, const struct vs_event *e, const struct vs_step **s,
                        const struct vs_step *end)
{
    m->by_events[e->thread] += e->icount;
    m->loads += e->kind == VS_LOAD;
    while (*s < end && (*s)->core == e->thread &&
           m->by_steps[e->thread] + (*s)->icount == m->by_events[e->thread]) {
        m->by_steps[e->thread] += (*s)->icount;
        m->conditional += (*s)->kind == VS_STEP_CONDITIONAL;
        m->merged++;
        ++*s;
    }
}

static int merging_consume(void *encoder, const struct vs_slice *slice)
{
    struct merging *m = encoder;
    const struct vs_step *s = slice->steps, *end = s + slice->step_count;
    for (size_t i = 0; i < slice->events->count; i++)
        merge_event(m, &slice->events->events[i], &s, end);
    for (; s < end; s++) /* the end of the run */
        CHECK(s->kind == VS_STEP_DISCONTINUITY && s->target == VS_STEP_NOWHERE);
    return 0;
}

static void merging_counts(const void *encoder, void *counts)
{
    memcpy(counts, encoder, 3 * sizeof(uint64_t));
}

static struct vs_chunks merging_cycles(const void *params)
{
    (void)params;
    return (struct vs_chunks){8, 8};
}

static int merging_cost(const void *params, const struct vs_technique_setup *setup,
                        struct vs_cost_list *list)
{
    (void)params, (void)setup, (void)list;
    return 0;
}

static const struct vs_count_row merging_rows[] = {
    {"conditional", "met", offsetof(struct merging, conditional)},
    {"loads", "met", offsetof(struct merging, loads)},
    {"merged", "steps that belong to an event", offsetof(struct merging, merged)},
    {0},
};

static const struct vs_technique merging = {
    .name = "merging",
    .serves = VS_TECHNIQUE_FLOW | VS_TECHNIQUE_DATA,
    .cycles = merging_cycles,
    .cost = merging_cost,
    .encoder = &(const struct vs_encoder_ops){.needs = VS_NEEDS_STEPS | VS_NEEDS_ACCESSES,
                                              .open = merging_open,
                                              .consume = merging_consume,
                                              .counts = merging_counts,
                                              .rows = merging_rows,
                                              .close = free},
};

TEST(gives_steps_and_events_of_the_same_stretch)
{
    struct fixture r;
    struct vs_bandwidth b;
    const struct vs_technique_spec spec = {.technique = &merging};
    struct gen_options memory = options;
    memory.memory = true;
    fixture_init(&r, &memory);
    CHECK_EQ(vs_bandwidth_init(&b, r.reader, NULL, NULL), 0);
    CHECK_EQ(vs_bandwidth_add(&b, &spec, NULL, NULL, NULL), 0);
    CHECK_EQ(add(&b, "mcfNX_b", NULL, NULL), 1);
    CHECK_EQ(add(&b, "mlvNX_b", NULL, NULL), 2);
    CHECK_EQ(vs_bandwidth_run(&b, r.reader, NULL, NULL), 0);
    const struct vs_counts *both = &b.rows[0].encoded;
    CHECK(vs_counts_get(both, "conditional") > 0 && vs_counts_get(both, "loads") > 0);
    CHECK_EQ(vs_counts_get(both, "conditional"), vs_counts_get(&b.rows[1].encoded, "conditional"));
    CHECK_EQ(vs_counts_get(both, "loads"), vs_counts_get(&b.rows[2].encoded, "loads"));
    CHECK(vs_counts_get(both, "merged") > vs_counts_get(both, "conditional"));
    CHECK_EQ(vs_counts_get(both, "no such row"), 0);
    vs_bandwidth_fini(&b);
    fixture_fini(&r);
}

TEST(names_the_baseline_of_a_kind)
{
    CHECK_STR(vs_technique_baseline(VS_TECHNIQUE_FLOW)->name, "mcfNX_b");
    CHECK_STR(vs_technique_baseline(VS_TECHNIQUE_DATA)->name, "mlvNX_b");
    CHECK_STR(vs_technique_baseline(VS_TECHNIQUE_ADDRESS)->name, "daNX");
}

TEST(proves_more_techniques_than_fit_at_once)
{
    enum { COUNT = 3 * VS_PROVE_GROUP + 1 };
    struct vs_proof *proofs = calloc(COUNT, sizeof(*proofs));
    struct vs_verify v;
    struct fixture r;
    fixture_init(&r, &options);
    CHECK(proofs != NULL);
    CHECK_EQ(vs_verify_init(&v, r.reader, NULL), 0);
    for (unsigned i = 0; i < COUNT; i++)
        CHECK_EQ(vs_technique_parse(&proofs[i].spec,
                                    i % 5 == 4   ? "mcfTR_e:ibtb_tags=untagged-oracle"
                                    : i % 5 == 3 ? "mcfTR_b:small,predictors=shared"
                                                 : "tTMBP",
                                    NULL),
                 0);
    CHECK_EQ(
        vs_prove(&v, &(struct vs_proof_source){"run.vest", NULL}, NULL, proofs, COUNT, NULL, NULL),
        0);
    for (unsigned i = 0; i < COUNT; i++) {
        CHECK_EQ(proofs[i].skipped != NULL, i % 5 == 4);
        CHECK_EQ(proofs[i].error, 0);
        if (!proofs[i].skipped) {
            CHECK_EQ(proofs[i].result.outcome, VS_VERIFY_SAME);
            CHECK_EQ(proofs[i].result.compared, v.steps);
            CHECK(proofs[i].result.bits > 0);
        }
    }
    CHECK_ERR(
        vs_prove(&v, &(struct vs_proof_source){"none.vest", NULL}, NULL, proofs, COUNT, NULL, NULL),
        VSE_IO);
    vs_verify_fini(&v);
    free(proofs);
    fixture_fini(&r);
}

/* mcfNX_b, which says that its stream has addresses, too: it has none. */
TEST(compares_every_kind_that_a_technique_serves)
{
    struct fixture r;
    struct vs_verify v;
    struct vs_technique_spec spec;
    struct vs_port_store bits = {0};
    struct vs_verify_result result = {0};
    struct gen_options memory = options;
    memory.memory = true;
    fixture_init(&r, &memory);
    struct vs_technique both = *vs_technique_find("mcfNX_b");
    CHECK_EQ(vs_technique_defaults(&spec, &both), 0);
    CHECK_EQ(vs_verify_prepare(&v, r.reader, VS_TECHNIQUE_FLOW | VS_TECHNIQUE_ADDRESS, 0, NULL), 0);
    CHECK(vs_verify_encode(&v, &spec, &bits, NULL, NULL, NULL) > 0);
    CHECK_EQ(vs_verify_stream(&v, &spec, bits.streams, &result, NULL), 0);
    CHECK_EQ(result.outcome, VS_VERIFY_SAME);
    CHECK_EQ(result.compared, v.steps);
    both.serves |= VS_TECHNIQUE_ADDRESS;
    both.address_decoder = vs_technique_find("daNX")->address_decoder;
    CHECK_EQ(vs_verify_stream(&v, &spec, bits.streams, &result, NULL), 0);
    CHECK(result.outcome == VS_VERIFY_DIFFERS || result.outcome == VS_VERIFY_UNREADABLE);
    CHECK(result.compared >= v.steps);
    vs_port_store_fini(&bits);
    vs_verify_fini(&v);
    fixture_fini(&r);
}
