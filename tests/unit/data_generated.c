/* SPDX-License-Identifier: MIT */
/* Load-value techniques: generated runs that are encoded, decoded and compared, and streams that
 * are damaged. */
#include "unit/datarun.h"

/* ---- generated runs ------------------------------------------------------------------------ */

static const char *pick(struct rng *r, const char *const *list, unsigned count)
{
    return list[rng_below(r, count)];
}

/* Any width of a counter that a technique has, half of them narrow enough to be full. */
static void draw_widths(struct rng *r, const struct vs_technique *t, char *text, size_t size)
{
    static const char *const names[] = {"fahcnt_bits", "icnt_bits"};
    for (const struct vs_parameter *p = t->parameters; p->name; p++)
        for (unsigned i = 0; i < 2; i++)
            if (!strcmp(p->name, names[i])) {
                size_t n = strlen(text);
                unsigned range = rng_below(r, 2) ? 6 : VS_COUNTER_BITS_MAX - 3;
                snprintf(text + n, size - n, "%s%s=%u", n ? "," : "", p->name,
                         VS_COUNTER_BITS_MIN + (unsigned)rng_below(r, range));
            }
}

/* The same of a compressor, up to levels that do not take long. */
static void draw_compressor(struct rng *r, char *text, size_t size)
{
    snprintf(text, size, "%s,level=%u,dcc=%u,dcc_next=%u", rng_below(r, 2) ? "split" : "unified",
             1 + (unsigned)rng_below(r, 6), 1 + (unsigned)rng_below(r, 64),
             1 + (unsigned)rng_below(r, 64));
}

/* Parameters, but for widths, of any technique that can be decoded. */
static void draw_tables(struct rng *r, char *text, size_t size)
{
    static const char *const predicts[] = {"none", "zero"}, *const heads[] = {"plain", "adaptive"};
    static const unsigned filters[] = {0, 64, 1024}, words[] = {0, 2, 64};
    snprintf(text, size, ",k=%u,r=%u,region=%u,complete=%u,filter=%u,words=%u,predict=%s,heads=%s",
             8u * (unsigned)rng_below(r, 3), 8u * (unsigned)rng_below(r, 3),
             4096u << rng_below(r, 7), (unsigned)rng_below(r, 40), filters[rng_below(r, 3)],
             words[rng_below(r, 3)], pick(r, predicts, 2), pick(r, heads, 2));
}

static void draw_params(struct rng *r, const struct vs_technique *t, char *text, size_t size)
{
    static const char *const policies[] = {"lru", "round-robin", "fifo", "plru"};
    static const char *const caches[] = {"coherent", "coherent", "shared"};
    static const char *const rules[] = {"all", "implied"};
    static const char *const supplies[] = {"any", "owner"};
    static const char *const values[] = {"xor", "full", "shorter"};
    unsigned line = 4u << rng_below(r, 6), ways = 1u << rng_below(r, 4);
    unsigned sets = 1u << rng_below(r, 6), granule = 1u << rng_below(r, 6);
    size_t n = 0;
    *text = 0;
    if (t == &vs_technique_mlvnx_b)
        return;
    if (t == &vs_technique_etrace_lv) {
        snprintf(text, size, "data_bytes=%u,values=%s", 1u << rng_below(r, 4), pick(r, values, 3));
        return;
    }
    for (unsigned i = 0; i < COMPRESSORS; i++)
        if (t == compressors[i].technique) {
            draw_compressor(r, text, size);
            return;
        }
    n += (size_t)snprintf(text, size, "line=%u,ways=%u,size=%u,policy=%s", line, ways,
                          line * ways * sets, pick(r, policies, 4));
    if (t != &vs_technique_mc2rt && t != &vs_technique_mc2rt_k &&
        t != &vs_technique_mlvfa_dedicated)
        n += (size_t)snprintf(text + n, size - n, ",granule=%u", granule < line ? granule : line);
    if (t == &vs_technique_mlvcf_b || t == &vs_technique_mlvcf_e)
        n += (size_t)snprintf(text + n, size - n, ",caches=%s", pick(r, caches, 3));
    if (t == &vs_technique_mc2rt)
        n += (size_t)snprintf(text + n, size - n, ",rule=%s,supply=%s", pick(r, rules, 2),
                              pick(r, supplies, 2));
    if (t == &vs_technique_mc2rt_k)
        draw_tables(r, text + n, size - n);
    if (t == &vs_technique_mc2rt || t == &vs_technique_mlvcf_e)
        snprintf(text + n, size - n, ",fahcnt=%u,fahcnt_next=%u", 1 + (unsigned)rng_below(r, 9),
                 1 + (unsigned)rng_below(r, 9));
}

static void check_run(struct rng *r, const struct run *run)
{
    for (const struct vs_technique *const *t = next_data(vs_techniques); *t; t = next_data(t + 1)) {
        struct stream a, b;
        char text[400];
        draw_params(r, *t, text, sizeof text);
        draw_widths(r, *t, text, sizeof text);
        bool prior = rng_below(r, 4);
        encode(&a, (*t)->name, text, run, prior);
        encode_split(&b, (*t)->name, text, run, prior, 1 + rng_below(r, 3000));
        CHECK_EQ(a.nbits, b.nbits);
        CHECK_MEM(a.bits.data, b.bits.data, a.bits.len);
        check_replays(&a, run);
        stream_free(&a);
        stream_free(&b);
    }
}

TEST(replays_generated_runs)
{
    struct rng r = {77};
    for (unsigned i = 0; i < 24; i += unittest_every(7)) {
        const struct gen_options options = {.seed = 900 + i,
                                            .events = 4000 + 3000 * (i % 4),
                                            .threads = 1 + i % 7,
                                            .profile = (enum gen_profile)(i % GEN_PROFILE_END),
                                            .memory = true,
                                            .timed = i % 2,
                                            .syscalls = i % 3 ? 100 : 0,
                                            .signals = i % 5 ? 0 : 100,
                                            .gaps = i % 4 ? 2000 : GEN_NEVER,
                                            .wide = i % 3 ? 0 : 40,
                                            .unaligned = i % 2 ? 50 : 0};
        struct run run;
        generate(&run, &options);
        check_run(&r, &run);
        run_free(&run);
    }
}

/* Narrow ones, so that they are full all the time. */
static void check_narrow(const struct run *run, const char *name, const char *params)
{
    static const unsigned widths[][2] = {{4, 4}, {6, 6}, {4, 64}, {64, 4}};
    bool counts =
        strncmp(name, "mlvNX", 5) && strncmp(name, "mlvFA", 5) && strcmp(name, "etrace_lv");
    struct stream s;
    encode(&s, name, params, run, true);
    uint64_t usual = s.fields.messages;
    stream_free(&s);
    for (unsigned i = 0; i < sizeof widths / sizeof *widths; i++) {
        char text[200];
        int n = snprintf(text, sizeof text, "%s%sicnt_bits=%u", params, *params ? "," : "",
                         widths[i][1]);
        if (counts)
            snprintf(text + n, sizeof text - (size_t)n, ",fahcnt_bits=%u", widths[i][0]);
        encode(&s, name, text, run, true);
        if (widths[i][1] == 4 && !strstr(name, "zip"))
            CHECK(s.fields.messages > usual);
        check_replays(&s, run);
        stream_free(&s);
    }
}

TEST(replays_with_counters_that_are_full)
{
    static const char *const specs[][2] = {
        {"mlvNX_b", ""},        {"mlvNX_gzip", "split"},
        {"mlvCF_e", "size=1K"}, {"mlvCF_b", "caches=shared"},
        {"mlvFA", ""},          {"mlvFA_dedicated", ""},
        {"mc2RT", "CS16"},      {"mc2RT", "rule=implied size=512 line=8"},
        {"mc2RT_k", ""},        {"mc2RT_k", "heads=plain words=0 size=512 line=8 r=0"},
        {"etrace_lv", ""},      {"etrace_lv", "xor data_bytes=2"}};
    for (unsigned i = 0; i < 4; i++) { /* one core and four, without time and with it */
        const struct gen_options options = {.seed = 950 + i,
                                            .events = 5000,
                                            .threads = i & 1 ? 4 : 1,
                                            .timed = i & 2,
                                            .profile = (enum gen_profile)(i % GEN_PROFILE_END),
                                            .memory = true,
                                            .syscalls = 100,
                                            .signals = 100,
                                            .gaps = 1000,
                                            .unaligned = 50};
        struct run run;
        generate(&run, &options);
        for (unsigned k = 0; k < sizeof specs / sizeof *specs; k++)
            check_narrow(&run, specs[k][0], specs[k][1]);
        run_free(&run);
    }
}

/* Memory changes unseen only in gaps, and the prior tells what was there first. */
TEST(sees_every_change_of_a_run_without_gaps)
{
    static const char *const names[] = {"mlvCF_e", "mlvFA", "mc2RT", "mc2RT_k"};
    const struct gen_options options = {
        .seed = 5, .events = 40000, .threads = 4, .memory = true, .gaps = GEN_NEVER};
    struct run run;
    generate(&run, &options);
    for (unsigned i = 0; i < 4; i++) {
        struct stream s;
        encode(&s, names[i], "", &run, true);
        CHECK_EQ(s.counts.unseen, 0);
        CHECK(s.counts.loads > 1000 && s.counts.states > 0);
        check_replays(&s, &run);
        stream_free(&s);
    }
    run_free(&run);
}

TEST(replays_many_cores)
{
    const struct gen_options options = {
        .seed = 6, .events = 20000, .threads = 200, .memory = true, .timed = true};
    struct run run;
    struct stream s;
    generate(&run, &options);
    encode(&s, "mlvCF_e", "size=1K", &run, true);
    check_replays(&s, &run);
    stream_free(&s);
    run_free(&run);
}

/* ---- what must fail ------------------------------------------------------------------------ */

TEST(fails_if_nothing_is_compared)
{
    struct vs_verify_data *v = malloc(sizeof *v);
    struct script *s = script_new();
    struct stream t;
    CHECK(v);
    store(s, 0, 0x100, 4);
    for (const struct vs_technique *const *each = next_data(vs_techniques); *each;
         each = next_data(each + 1)) {
        encode(&t, (*each)->name, "", &s->run, true);
        CHECK_ERR(verify(&t, &s->run, t.nbits, IN_ORDER, v), VSE_NOTFOUND);
        CHECK_ERR(verify(&t, &s->run, t.nbits, BY_TURNS, v), VSE_NOTFOUND);
        stream_free(&t);
    }
    script_free(s);
    free(v);
}

TEST(finds_the_first_difference)
{
    struct vs_verify_data *v = malloc(sizeof *v);
    struct script *s = script_new();
    struct stream t;
    CHECK(v);
    for (unsigned i = 0; i < 20; i++)
        load(s, i % 2, 0x100 + 4 * i, 4);
    for (const struct vs_technique *const *each = next_data(vs_techniques); *each;
         each = next_data(each + 1)) {
        encode(&t, (*each)->name, "", &s->run, true);
        s->run.events[13].value ^= 0x100;
        CHECK_ERR(verify(&t, &s->run, t.nbits, IN_ORDER, v), VSE_CORRUPT);
        CHECK_HAS(v->c.diag.text, "event 13, core 1, pc 0x1034");
        CHECK_EQ(v->c.diag.chunk, 13);
        s->run.events[13].value ^= 0x100;
        stream_free(&t);
    }
    script_free(s);
    free(v);
}

static void small_run(struct run *run, bool timed)
{
    const struct gen_options options = {.seed = 31,
                                        .events = 500,
                                        .threads = 3,
                                        .memory = true,
                                        .timed = timed,
                                        .syscalls = 100,
                                        .gaps = 200};
    generate(run, &options);
}

TEST(stops_where_a_stream_is_cut)
{
    struct vs_verify_data *v = malloc(sizeof *v);
    struct run run;
    CHECK(v);
    small_run(&run, true);
    for (const struct vs_technique *const *t = next_data(vs_techniques); *t; t = next_data(t + 1)) {
        struct stream s;
        encode(&s, (*t)->name, "", &run, true);
        for (uint64_t n = 0; n < s.nbits; n += 1 + n / 50) {
            int err = verify(&s, &run, n, n & 1 ? IN_ORDER : BY_TURNS, v);
            CHECK(err == -VSE_END || err == -VSE_TRUNCATED || err == -VSE_CORRUPT);
            CHECK(v->c.diag.error == err && v->c.diag.text[0]);
            err = verify(&s, &run, n, IN_ORDER, v);
            CHECK(err == -VSE_END || err == -VSE_TRUNCATED);
        }
        stream_free(&s);
    }
    run_free(&run);
    free(v);
}

TEST(names_what_is_wrong_with_a_damaged_stream)
{
    struct vs_verify_data *v = malloc(sizeof *v);
    struct rng r = {13};
    struct run run;
    CHECK(v);
    small_run(&run, false);
    for (const struct vs_technique *const *t = next_data(vs_techniques); *t; t = next_data(t + 1)) {
        struct stream s;
        unsigned found = 0;
        encode(&s, (*t)->name, "", &run, true);
        for (unsigned i = 0; i < 300; i++) {
            uint64_t bit = rng_below(&r, s.nbits);
            s.bits.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
            int err = verify(&s, &run, s.nbits, i & 1 ? IN_ORDER : BY_TURNS, v);
            /* bytes that no load asks for may be anything */
            CHECK(err == 0 || err == -VSE_END || err == -VSE_TRUNCATED || err == -VSE_CORRUPT);
            CHECK(err == 0 || v->c.diag.text[0]);
            found += err != 0;
            s.bits.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
        CHECK(found > 150);
        stream_free(&s);
    }
    run_free(&run);
    free(v);
}
