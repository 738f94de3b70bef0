/* SPDX-License-Identifier: MIT */
/* ETMv4: packets worked out by hand, CoreSight frames, and synchronisation points. */
#include "technique/etm4.h"

#include "model/atoms.h"
#include "port/coresight.h"
#include "port/store.h"
#include "replay/walk.h"
#include "runs.h"
#include "study/codeview.h"
#include "study/verify.h"

/* ---- atoms ----------------------------------------------------------------------------------- */

static void check_atoms(const char *atoms, const char *packets)
{
    struct vs_atoms a = {0};
    char text[64] = "";
    for (const char *p = atoms; *p; p++)
        vs_atoms_add(&a, *p == 'E');
    while (a.count)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%02X", vs_atoms_pack(&a));
    CHECK_STR(text, packets);
}

TEST(packs_atoms)
{
    check_atoms("E", "F7");
    check_atoms("N", "F6");
    check_atoms("NE", "DA");
    check_atoms("EE", "DB");
    check_atoms("EEE", "FF");
    check_atoms("ENN", "F9");
    check_atoms("EEEE", "C0");
    check_atoms("EEEN", "E0");
    check_atoms("NEEE", "DC");
    check_atoms("NNNN", "DD");
    check_atoms("NENE", "DE");
    check_atoms("ENEN", "DF");
    check_atoms("NEEEE", "F5");
    check_atoms("NNNNN", "D5");
    check_atoms("NENEN", "D6");
    check_atoms("ENENE", "D7");
    check_atoms("EEEEEEEEEEEEEEEEEEEEEEEE", "D4"); /* 24 */
    check_atoms("EEEEEEEEEEEEEEEEEEEEEEEN", "F4");
    check_atoms("EENEN", "FBD9"); /* no pattern: three, and two */
    check_atoms("EEENNNNNN", "E0D5");
}

TEST(unpacks_what_is_packed_and_nothing_else)
{
    unsigned packets = 0;
    for (unsigned byte = 0; byte < 256; byte++) {
        struct vs_atoms a = {0}, b;
        if (!vs_atoms_unpack(&a, (uint8_t)byte))
            continue;
        b = a;
        CHECK(a.count >= 1 && a.count <= VS_ATOMS_MAX && !(a.bits >> a.count));
        CHECK_EQ(vs_atoms_pack(&a), byte);
        CHECK_EQ(a.count, 0);
        while (b.count)
            vs_atoms_take(&b);
        packets++;
    }
    CHECK_EQ(packets, 64); /* all from 0xC0 on */
}

/* ---- streams by hand ------------------------------------------------------------------------- */

/* 1000 addi; 1004 beq 1000; 1008 jal ra 1020; 100c j 1004; 1020 addi; 1024 bne 1030;
 * 1028 jalr ra, a0; 102c ret; 1030 jr a0 */
static const uint32_t words[][2] = {
    {0x1000, 0x00150513}, {0x1004, 0xfe050ee3}, {0x1008, 0x018000ef},
    {0x100c, 0xff9ff06f}, {0x1020, 0x00150513}, {0x1024, 0x00051663},
    {0x1028, 0x000500e7}, {0x102c, 0x00008067}, {0x1030, 0x00050067},
};

struct etm4_module {
    struct vs_technique_spec spec;
    struct vs_technique_setup setup;
    struct vs_port_writer port;
    struct vs_buf out;
    struct vs_text text;
    struct vs_address_code code;
    void *encoder;
    uint64_t time;
    uint32_t jumps; /* before the next step */
};

static void start(struct etm4_module *m, const char *spec, bool timed)
{
    struct vs_port_shape shape;
    *m = (struct etm4_module){
        .setup = {.cores = 1, .address_bits = 64, .timed = timed, .alignment = 2}};
    CHECK_EQ(vs_technique_parse(&m->spec, spec, NULL), 0);
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        const struct vs_block b = {words[i][0], (const uint8_t *)&words[i][1], 4, 1};
        CHECK_EQ(vs_text_add(&m->text, &b), 0);
    }
    CHECK_EQ(vs_text_index(&m->text), 0);
    m->code = vs_code_of_text(&m->text, vs_isa_find("rv64"));
    vs_technique_settle(&m->spec, timed);
    vs_technique_shape(&m->spec, &m->setup, &shape);
    CHECK_EQ(vs_port_writer_init(&m->port, &shape, vs_port_to_buf, &m->out), 0);
    CHECK_EQ(
        vs_etm4_encoder.open(&m->encoder, &(struct vs_technique_context){.params = m->spec.params,
                                                                         .setup = &m->setup,
                                                                         .port = &m->port,
                                                                         .code = &m->code}),
        0);
}

static int feed(struct etm4_module *m, unsigned kind, uint64_t pc, uint64_t target, unsigned flags,
                uint32_t icount)
{
    const struct vs_step s = {.kind = (uint8_t)kind,
                              .pc = pc,
                              .target = target,
                              .flags = (uint8_t)flags,
                              .size = pc ? 4 : 0,
                              .icount = icount,
                              .jumps = m->jumps,
                              .time = m->time};
    m->jumps = 0;
    return vs_etm4_encoder.consume(m->encoder, &(struct vs_slice){.steps = &s, .step_count = 1});
}

static void conditional(struct etm4_module *m, uint64_t pc, uint64_t target, bool taken,
                        uint32_t icount)
{
    CHECK_EQ(
        feed(m, VS_STEP_CONDITIONAL, pc, target, VS_BR_COND | (taken ? VS_BR_TAKEN : 0), icount),
        0);
}

static void indirect(struct etm4_module *m, uint64_t pc, uint64_t target, unsigned flags)
{
    CHECK_EQ(feed(m, VS_STEP_INDIRECT, pc, target, VS_BR_INDIRECT | VS_BR_TAKEN | flags, 1), 0);
}

static void elsewhere(struct etm4_module *m, uint64_t target, uint32_t icount)
{
    CHECK_EQ(feed(m, VS_STEP_DISCONTINUITY, 0, target, 0, icount), 0);
}

static void stop(struct etm4_module *m)
{
    vs_etm4_encoder.close(m->encoder);
    vs_port_writer_fini(&m->port);
    vs_buf_fini(&m->out);
    vs_text_fini(&m->text);
}

/* Ends the stream; it must have these bytes. */
static void check_stream(struct etm4_module *m, const char *expected)
{
    char text[1024] = "";
    CHECK_EQ(vs_encoder_finish(&vs_etm4_encoder, m->encoder), 0);
    CHECK_EQ(vs_port_finish(&m->port), 8 * (int64_t)m->out.len);
    for (size_t i = 0; i < m->out.len; i++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%02x ", m->out.data[i]);
    CHECK_STR(text, expected);
    stop(m);
}

#define ASYNC "00 00 00 00 00 00 00 00 00 00 00 80 "
#define INFO  "01 01 00 "
#define BEGIN "04 86 00 10 00 00 00 00 00 00 30 " /* trace on, at 1000 with context */

TEST(sends_packets_as_the_standard_has_them)
{
    struct etm4_module m;
    start(&m, "etm4", false);
    elsewhere(&m, 0x1000, 0);
    conditional(&m, 0x1004, 0x1000, false, 2);
    CHECK_EQ(feed(&m, VS_STEP_CALL, 0x1008, 0x1020, VS_BR_CALL | VS_BR_TAKEN, 1), 0);
    conditional(&m, 0x1024, 0x1030, true, 2);
    indirect(&m, 0x1030, 0x102c, 0);
    indirect(&m, 0x102c, 0x100c, VS_BR_RETURN);
    m.jumps = 1;
    conditional(&m, 0x1004, 0x1000, true, 2);
    elsewhere(&m, 0x1020, 1); /* an interrupt at 1004 */
    conditional(&m, 0x1024, 0x1030, false, 2);
    indirect(&m, 0x1028, 0x1000, VS_BR_CALL);
    elsewhere(&m, VS_STEP_NOWHERE, 0);
    check_stream(&m, ASYNC INFO BEGIN "dc "                /* NEEE */
                                      "96 16 "             /* 102c */
                                      "ff "                /* EEE: the return has no address */
                                      "06 1d 96 02 96 10 " /* from 1004 to 1020 */
                                      "da 96 00 "          /* NE, 1000 */
                                      "06 03 90 ");        /* halts there */
}

TEST(sends_every_target_when_broadcasting)
{
    struct etm4_module m;
    start(&m, "etm4:broadcast,context=core", false);
    elsewhere(&m, 0x1000, 0);
    conditional(&m, 0x1004, 0x1000, true, 2);
    conditional(&m, 0x1004, 0x1000, false, 2);
    CHECK_EQ(feed(&m, VS_STEP_CALL, 0x1008, 0x1020, VS_BR_CALL | VS_BR_TAKEN, 1), 0);
    elsewhere(&m, VS_STEP_NOWHERE, 1);
    check_stream(&m, ASYNC INFO "04 86 00 10 00 00 00 00 00 00 b0 00 00 00 00 "
                                "f7 90 da 96 10 06 03 96 12 ");
}

TEST(sends_long_addresses)
{
    struct etm4_module m;
    start(&m, "etm4:plain", false);
    elsewhere(&m, 0x1030, 0);
    indirect(&m, 0x1030, 0x11030, 0);
    elsewhere(&m, 0x1030, 0);
    indirect(&m, 0x1030, 0x1230, 0);
    elsewhere(&m, 0x1030, 0);
    indirect(&m, 0x1030, UINT64_C(0x123456789abcdef0), 0);
    elsewhere(&m, VS_STEP_NOWHERE, 0);
    check_stream(&m, ASYNC INFO "04 86 18 10 00 00 00 00 00 00 30 "
                                "f7 9b 18 10 01 00 "             /* 11030 */
                                "06 1d 90 92 "                   /* from there to 1030 */
                                "f7 96 98 12 "                   /* 1230 */
                                "06 1d 90 92 "                   /* from there to 1030 */
                                "f7 9e 78 de bc 9a 78 56 34 12 " /* all of it */
                                "06 03 90 ");
}

TEST(counts_cycles)
{
    struct etm4_module m;
    start(&m, "etm4:cycles", true);
    m.time = 300;
    elsewhere(&m, 0x1000, 0);
    m.time = 305;
    conditional(&m, 0x1004, 0x1000, true, 2);
    m.time = 308;
    conditional(&m, 0x1004, 0x1000, true, 2);
    m.time = 320;
    conditional(&m, 0x1004, 0x1000, true, 2);
    m.time = 5320;
    conditional(&m, 0x1004, 0x1000, true, 2);
    m.time = 5321;
    elsewhere(&m, VS_STEP_NOWHERE, 0);
    check_stream(&m, ASYNC "01 09 01 04 " BEGIN "03 ac 02 00 " /* 300 */
                           "f7 11 "                            /* 5 cycles */
                           "db 0e 0b "                         /* two atoms, 15 cycles */
                           "f7 03 40 00 0f 03 c8 29 00 "       /* 320, more than fit, 5320 */
                           "06 03 90 03 49 01 ");              /* 5321, a cycle later */
}

TEST(sends_timestamps_without_cycle_counts)
{
    struct etm4_module m;
    start(&m, "etm4", true);
    m.time = 300;
    elsewhere(&m, 0x1000, 0);
    m.time = 305;
    conditional(&m, 0x1004, 0x1000, true, 2);
    m.time = UINT64_MAX;
    elsewhere(&m, VS_STEP_NOWHERE, 0);
    check_stream(&m, ASYNC INFO BEGIN "02 ac 02 f7 06 03 90 02 ff ff ff ff ff ff ff ff ff ");
}

TEST(refuses_steps_of_other_code)
{
    struct etm4_module m;
    start(&m, "etm4:broadcast", false); /* it needs to know where jumps go */
    elsewhere(&m, 0x1000, 0);
    CHECK_EQ(feed(&m, VS_STEP_CONDITIONAL, 0x1008, 0x1000, VS_BR_COND, 2), -VSE_INVAL);
    stop(&m);
    start(&m, "etm4", false);
    elsewhere(&m, 0x1000, 0);
    CHECK_EQ(feed(&m, VS_STEP_DISCONTINUITY, 0, 0x1020, 0, 3), -VSE_INVAL); /* over a branch */
    stop(&m);
    start(&m, "etm4", false);
    CHECK_EQ(feed(&m, VS_STEP_CONDITIONAL, 0x1004, 0x1000, VS_BR_COND, 2), -VSE_INVAL); /* off */
    stop(&m);
    start(&m, "etm4", false);
    CHECK_EQ(feed(&m, VS_STEP_DISCONTINUITY, 0, 0x1001, 0, 0), -VSE_INVAL); /* an odd address */
    stop(&m);
}

/* ---- addresses ------------------------------------------------------------------------------- */

TEST(sends_twice_the_address_if_instructions_lie_anywhere)
{
    const struct vs_etm4_form x86 = vs_etm4_form(&(struct vs_technique_setup){.alignment = 1});
    static const uint64_t good[] = {1, 0x401ab71, UINT64_C(0x7fffffffffff),
                                    UINT64_C(0xffffffffff600001)};
    uint64_t sent;
    CHECK_EQ(vs_etm4_is1(x86), 1);
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        CHECK(vs_etm4_sendable(x86, good[i], &sent) && sent == 2 * good[i]);
        CHECK_EQ(vs_etm4_received(x86, sent), good[i]);
    }
    CHECK(!vs_etm4_sendable(x86, UINT64_C(1) << 63, &sent));
    CHECK(!vs_etm4_is1(vs_etm4_form(&(struct vs_technique_setup){.alignment = 4})));
}

/* ---- frames ---------------------------------------------------------------------------------- */

static const struct vs_port_shape one_core = {.cores = 1, .packets = true, .per_core = true};

TEST(frames_bytes)
{
    static const uint8_t expected[] = {0x21, 2,  2,  4,  4,    6,    6,    8, 8, 10,  10,
                                       12,   12, 14, 14, 0xfe, 0x01, 0xab, 0, 0, 0,   0,
                                       0,    0,  0,  0,  0,    0,    0,    0, 0, 0x01};
    struct vs_coresight_out o = {0};
    struct vs_port_writer w;
    struct vs_port_counts counts;
    struct vs_buf out = {0};
    CHECK_EQ(vs_port_writer_init(&w, &one_core, vs_port_to_buf, &out), 0);
    for (unsigned i = 2; i < 16; i++)
        vs_coresight_put(&o, &w, 0, 0, VS_FIELD_OUTCOME, (uint8_t)i);
    vs_coresight_put(&o, &w, 0, 0, VS_FIELD_TARGET, 0xab);
    vs_coresight_finish(&o, &w, 0, 0);
    CHECK_EQ(vs_port_finish(&w), 256);
    CHECK_EQ(out.len, sizeof(expected));
    CHECK_MEM(out.data, expected, sizeof(expected));
    vs_port_totals(&w, &counts);
    CHECK_EQ(counts.bits[VS_FIELD_OUTCOME], 14 * 8);
    CHECK_EQ(counts.bits[VS_FIELD_TARGET], 8);
    CHECK_EQ(counts.frame, 256 - 15 * 8);
    vs_port_writer_fini(&w);
    vs_buf_fini(&out);
}

static void check_frames(struct rng *rng, unsigned size)
{
    struct vs_coresight_out o = {0};
    struct vs_coresight_in in = {0};
    struct vs_port_writer w;
    struct vs_port_reader r;
    struct vs_buf out = {0};
    uint8_t bytes[80];
    unsigned got = 0;
    int err = 0;
    CHECK_EQ(vs_port_writer_init(&w, &one_core, vs_port_to_buf, &out), 0);
    for (unsigned i = 0; i < size; i++) {
        bytes[i] = (uint8_t)rng_below(rng, 256);
        vs_coresight_put(&o, &w, 0, 0, VS_FIELD_OUTCOME, bytes[i]);
    }
    vs_coresight_finish(&o, &w, 0, 0);
    CHECK_EQ(vs_port_finish(&w), (size + 15) / 15 * 128);
    CHECK_EQ(vs_port_reader_init(&r, &one_core,
                                 &(struct vs_port_stream){out.data, out.len, 8 * out.len}),
             0);
    while (!(err = vs_coresight_get(&in, &r, 0)))
        for (; in.at < in.count; in.at++, got++)
            CHECK(got < size && in.data[in.at] == bytes[got]);
    CHECK_EQ(err, -VSE_END);
    CHECK_EQ(got, size);
    vs_port_reader_fini(&r);
    vs_port_writer_fini(&w);
    vs_buf_fini(&out);
}

TEST(reads_frames_of_any_length)
{
    struct rng rng = rng_init(22);
    for (unsigned size = 1; size < 80; size++)
        check_frames(&rng, size);
}

/* ---- synchronisation points ------------------------------------------------------------------ */

enum { STEPS = 60000, CORES = 3 };

struct etm4_trail {
    struct vs_step steps[CORES][STEPS];
    size_t count[CORES];
};

static int keep(void *context, const struct vs_step *steps, size_t count)
{
    struct etm4_trail *t = context;
    for (; count--; steps++) {
        CHECK(t->count[steps->core] < STEPS);
        t->steps[steps->core][t->count[steps->core]++] = *steps;
    }
    return 0;
}

/* Walks the streams from a bit of one on, or all of them. */
static void follow(struct vs_verify *v, const struct vs_technique_spec *s,
                   const struct vs_port_store *store, struct etm4_trail *t, unsigned stream,
                   uint64_t bit)
{
    struct vs_port_reader port;
    struct vs_port_shape shape;
    struct vs_flow_point point;
    struct vs_walk w;
    void *decoder;
    memset(t->count, 0, sizeof(t->count));
    vs_technique_shape(s, &v->setup, &shape);
    CHECK_EQ(vs_port_reader_init(&port, &shape, store->streams), 0);
    CHECK_EQ(vs_etm4_decoder.open(&decoder, s->params, &v->setup, &port), 0);
    const struct vs_walk_config config = {.isa = v->isa,
                                          .code = &v->code,
                                          .ops = &vs_etm4_decoder,
                                          .decoder = decoder,
                                          .port = &port,
                                          .cores = v->setup.cores,
                                          .sink = keep,
                                          .context = t};
    CHECK_EQ(vs_walk_init(&w, &config), 0);
    if (bit) {
        CHECK_EQ(vs_walk_sync(&w, stream, bit, &point), 0);
        CHECK(point.bit >= bit && point.core == stream && point.pc);
    }
    if (vs_walk_all(&w))
        unittest_fail(__FILE__, __LINE__, "%s", w.diag.text);
    vs_walk_fini(&w);
    vs_etm4_decoder.close(decoder);
    vs_port_reader_fini(&port);
}

/* What was found from a point on is the end of what there is. */
static void check_end(const struct etm4_trail *all, const struct etm4_trail *found, unsigned core)
{
    size_t n = found->count[core], from = all->count[core] - (n - 1);
    CHECK(n > 10 && n < all->count[core]);
    CHECK_EQ(found->steps[core][0].kind, VS_STEP_DISCONTINUITY);
    for (size_t i = 1; i < n; i++) {
        const struct vs_step *a = &all->steps[core][from + i - 1], *b = &found->steps[core][i];
        CHECK(a->pc == b->pc && a->target == b->target && a->kind == b->kind);
        CHECK(i == 1 || a->icount == b->icount);
    }
}

static void check_points(const char *spec, bool timed)
{
    const struct gen_options o = {.seed = 5,
                                  .events = 20000,
                                  .threads = CORES,
                                  .timed = timed,
                                  .wide = GEN_NEVER,
                                  .code = GEN_NEVER, /* a point does not tell which version */
                                  .signals = 300,
                                  .gaps = 3000,
                                  .syscalls = 200};
    struct etm4_trail *all = calloc(1, sizeof(*all)), *found = calloc(1, sizeof(*found));
    struct vs_port_store store = {0};
    struct vs_technique_spec s;
    struct vs_reader *reader;
    struct vs_verify v;
    CHECK(all && found);
    CHECK_EQ(gen_record("run.vest", &o, &(struct vs_writer_options){.overwrite = true}, NULL), 0);
    CHECK_EQ(vs_reader_open(&reader, "run.vest", VS_OPEN_STRICT, NULL), 0);
    CHECK_EQ(vs_verify_init(&v, reader, NULL), 0);
    CHECK_EQ(vs_technique_parse(&s, spec, NULL), 0);
    vs_technique_settle(&s, timed);
    CHECK(vs_verify_encode(&v, &s, &store, NULL, NULL, NULL) > 0);
    follow(&v, &s, &store, all, 0, 0);
    for (unsigned core = 0; core < CORES; core++)
        for (unsigned i = 1; i < 4; i++) {
            follow(&v, &s, &store, found, core, store.streams[core].nbits * i / 5);
            check_end(all, found, core);
        }
    vs_port_store_fini(&store);
    vs_verify_fini(&v);
    vs_reader_close(reader);
    free(all);
    free(found);
}

TEST(begins_in_the_middle_of_a_stream)
{
    struct place place;
    place_init(&place);
    check_points("etm4:sync=100", false);
    check_points("etm4:sync=100,context=core", true);
    check_points("etm4:sync=64,formatter=on,broadcast=on", false);
    check_points("etm4:cycles,sync=150,formatter=on", true);
    place_fini(&place);
}
