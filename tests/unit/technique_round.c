/* SPDX-License-Identifier: MIT */
/* Generated runs through every control-flow technique and back. */
#include <inttypes.h>

#include "runs.h"
#include "study/verify.h"
#include "technique/registry.h"

/* ---- runs ----------------------------------------------------------------------------------- */

/* The generator's whole-register vector instructions are not among those that the ISA decodes. */
static struct gen_options options(uint64_t seed)
{
    return (struct gen_options){.seed = seed,
                                .events = 20000,
                                .threads = 1 + (unsigned)seed % 5,
                                .profile = (enum gen_profile)(seed % GEN_PROFILE_END),
                                .timed = seed % 2,
                                .memory = seed % 3 == 0,
                                .wide = GEN_NEVER,
                                .signals = 300,
                                .gaps = 3000,
                                .code = 400,
                                .syscalls = 200};
}

static struct vs_reader *generate(const struct gen_options *o, struct file *f)
{
    CHECK_EQ(gen_record("run.vest", o, NULL, NULL), 0);
    *f = file_load("run.vest");
    CHECK_EQ(unlink("run.vest"), 0);
    return file_open(f);
}

/* ---- techniques ------------------------------------------------------------------------------ */

static void set_number(struct vs_technique_spec *s, const char *name, uint64_t value)
{
    char text[24];
    snprintf(text, sizeof(text), "%" PRIu64, value);
    CHECK_EQ(vs_technique_set(s, name, text, NULL), 0);
}

static bool is_width(const struct vs_parameter *p)
{
    return p->min == VS_COUNTER_BITS_MIN && p->max == VS_COUNTER_BITS_MAX;
}

/* Generated returns do not always go back to their calls, which a counter of calls, or parts of
 * addresses, take for granted. */
static void avoid(struct vs_technique_spec *s, const char *name, const char *value,
                  const char *instead)
{
    for (const struct vs_parameter *p = s->technique->parameters; p->name; p++) {
        char text[VS_PARAMETER_TEXT];
        vs_parameter_text(p, s->params, text);
        if (!strcmp(p->name, name) && !strcmp(text, value))
            CHECK_EQ(vs_technique_set(s, name, instead, NULL), 0);
    }
}

/* Any value that a parameter may have, but tables that are quick to make. */
static void randomize(struct vs_technique_spec *s, struct rng *rng)
{
    for (const struct vs_parameter *p = s->technique->parameters; p->name; p++) {
        unsigned words = 0;
        uint64_t most = p->max < 300 ? p->max : 300;
        while (p->words && p->words[words])
            words++;
        if (words)
            CHECK_EQ(vs_technique_set(s, p->name, p->words[rng_below(rng, words)], NULL), 0);
        else if (is_width(p) && rng_below(rng, 2)) /* narrow counters are often full */
            set_number(s, p->name, p->min + rng_below(rng, 6));
        else if (p->power)
            set_number(s, p->name, (uint64_t)2 << rng_below(rng, 9));
        else
            set_number(s, p->name, p->min + rng_below(rng, most - p->min + 1));
    }
    avoid(s, "ibtb_tags", "untagged-oracle", "tagged");
    if (vs_technique_undecodable(s))
        avoid(s, "direct", "reported", "inferred");
    CHECK(!vs_technique_undecodable(s));
    if (vs_technique_check(s, NULL)) { /* direct branches need predictors of their own */
        avoid(s, "direct", "learned", "inferred");
        avoid(s, "direct", "reported", "inferred");
    }
    avoid(s, "implicit_return", "counter", "stack");
    avoid(s, "implicit_return", "partial", "stack");
    CHECK_EQ(vs_technique_check(s, NULL), 0);
}

/* Returns the messages that it took. */
static uint64_t check_same(struct vs_verify *v, const struct vs_technique_spec *s, uint64_t seed)
{
    struct vs_verify_result r;
    struct vs_diag diag = {0};
    char text[VS_TECHNIQUE_TEXT];
    int err = vs_verify_flow(v, s, &r, &diag);
    CHECK(vs_technique_text(s, text, sizeof(text)) > 0);
    if (err || r.outcome != VS_VERIFY_SAME)
        unittest_fail(__FILE__, __LINE__, "seed %" PRIu64 ", %s: %s", seed, text,
                      err ? diag.text : r.diag.text);
    CHECK_EQ(r.compared, v->steps);
    CHECK_EQ(r.branches, v->branches);
    CHECK_EQ(r.instructions, v->instructions);
    CHECK_EQ(vs_port_counts_bits(&r.counts), r.bits);
    return r.counts.messages;
}

/* The same steps give the same bits, from a machine that was opened anew. */
static void check_repeats(struct vs_verify *v, const struct vs_technique_spec *s)
{
    struct vs_port_store a = {0}, b = {0};
    int64_t bits = vs_verify_encode(v, s, &a, NULL, NULL, NULL);
    CHECK(bits > 0);
    CHECK_EQ(vs_verify_encode(v, s, &b, NULL, NULL, NULL), bits);
    CHECK_EQ(a.streams->size, b.streams->size);
    CHECK_MEM(a.streams->data, b.streams->data, a.streams->size);
    vs_port_store_fini(&a);
    vs_port_store_fini(&b);
}

static void verify_all(uint64_t seed, const struct gen_options *o)
{
    struct rng rng = rng_init(seed);
    struct file f;
    struct vs_verify v;
    struct vs_reader *reader = generate(o, &f);
    CHECK_EQ(vs_verify_init(&v, reader, NULL), 0);
    for (size_t i = 0; vs_techniques[i]; i++) {
        struct vs_technique_spec s;
        if (!(vs_techniques[i]->serves & VS_TECHNIQUE_FLOW))
            continue;
        CHECK_EQ(vs_technique_defaults(&s, vs_techniques[i]), 0);
        check_same(&v, &s, seed);
        randomize(&s, &rng);
        check_same(&v, &s, seed);
        check_repeats(&v, &s);
    }
    vs_verify_fini(&v);
    vs_reader_close(reader);
    file_free(&f);
}

TEST(replays_generated_runs)
{
    struct place place;
    place_init(&place);
    for (uint64_t seed = 1; seed <= 24; seed += unittest_every(5)) {
        const struct gen_options o = options(seed);
        verify_all(seed, &o);
    }
    place_fini(&place);
}

/* With counters of several widths, the narrowest of which are often full. */
static void verify_narrow(struct vs_verify *v, const char *text, uint64_t seed)
{
    static const unsigned widths[][2] = {{4, 4}, {4, 8}, {6, 6}, {4, 64}, {64, 4}};
    struct vs_technique_spec s;
    CHECK_EQ(vs_technique_parse(&s, text, NULL), 0);
    uint64_t messages = check_same(v, &s, seed);
    for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
        if (strncmp(text, "mcfNX", 5))
            set_number(&s, "bcnt_bits", widths[i][0]);
        set_number(&s, "icnt_bits", widths[i][1]);
        uint64_t more = check_same(v, &s, seed);
        CHECK(widths[i][1] > 4 || more > messages);
    }
}

TEST(replays_with_counters_that_are_full)
{
    static const char *const specs[] = {"mcfNX_b",
                                        "mcfTR_b",
                                        "mcfTR_e",
                                        "mcfTR_e:predictors=shared",
                                        "tTMBP",
                                        "bTMBP",
                                        "sTMBP:predictors=shared"};
    struct place place;
    place_init(&place);
    for (unsigned i = 0; i < 4; i++) { /* one core and four, without time and with it */
        struct gen_options o = options(31 + i);
        struct file f;
        struct vs_verify v;
        o.threads = i & 1 ? 4 : 1;
        o.timed = i & 2;
        o.events = 4000;
        struct vs_reader *reader = generate(&o, &f);
        CHECK_EQ(vs_verify_init(&v, reader, NULL), 0);
        for (size_t k = 0; k < sizeof(specs) / sizeof(specs[0]); k++)
            verify_narrow(&v, specs[k], o.seed);
        vs_verify_fini(&v);
        vs_reader_close(reader);
        file_free(&f);
    }
    place_fini(&place);
}

/* The encoder with a point after a third of all places, whatever comes next there. */
static int synchronise(void *encoder, const struct vs_slice *slice)
{
    const struct vs_encoder_ops *ops = vs_technique_etrace.encoder;
    int err = 0;
    for (size_t i = 0; i < slice->step_count && !err; i++) {
        const struct vs_step *s = slice->steps + i;
        err = ops->consume(encoder, &(struct vs_slice){.steps = s, .step_count = 1});
        if (!err && s->kind != VS_STEP_DISCONTINUITY && s->pc / 2 % 3 == 0)
            err = ops->sync(encoder, s->core);
    }
    return err;
}

TEST(replays_with_points_anywhere)
{
    static const char *const specs[] = {"etrace", "etrace:all", "etrace:all,tvec=4096,resync=3"};
    static const uint64_t seeds[] = {1, 2, 3, 4, 83}; /* the last has an end right after a point */
    struct vs_encoder_ops ops = *vs_technique_etrace.encoder;
    struct vs_technique synchronising = vs_technique_etrace;
    struct place place;
    ops.consume = synchronise;
    synchronising.encoder = &ops;
    place_init(&place);
    for (size_t k = 0; k < sizeof(seeds) / sizeof(seeds[0]); k++) {
        const struct gen_options o = options(seeds[k]);
        struct file f;
        struct vs_verify v;
        struct vs_reader *reader = generate(&o, &f);
        CHECK_EQ(vs_verify_init(&v, reader, NULL), 0);
        for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
            struct vs_technique_spec s;
            CHECK_EQ(vs_technique_parse(&s, specs[i], NULL), 0);
            uint64_t messages = check_same(&v, &s, seeds[k]);
            s.technique = &synchronising;
            CHECK(check_same(&v, &s, seeds[k]) > messages);
        }
        vs_verify_fini(&v);
        vs_reader_close(reader);
        file_free(&f);
    }
    place_fini(&place);
}

TEST(refuses_to_decode_what_no_decoder_can)
{
    const struct gen_options o = options(3);
    struct place place;
    struct file f;
    struct vs_verify v;
    struct vs_verify_result r;
    struct vs_technique_spec s;
    struct vs_diag diag = {0};
    place_init(&place);
    struct vs_reader *reader = generate(&o, &f);
    CHECK_EQ(vs_verify_init(&v, reader, NULL), 0);
    CHECK_EQ(vs_technique_parse(&s, "mcfTR_e:ibtb_tags=untagged-oracle", NULL), 0);
    CHECK_ERR(vs_verify_flow(&v, &s, &r, &diag), VSE_INVAL);
    CHECK(strstr(diag.text, "tags"));
    CHECK(vs_counts_get(&r.encoded, "conditional") > 0 &&
          vs_port_counts_bits(&r.counts) > 0); /* it was encoded */
    vs_verify_fini(&v);
    vs_reader_close(reader);
    file_free(&f);
    place_fini(&place);
}
