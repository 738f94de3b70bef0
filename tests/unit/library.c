/* SPDX-License-Identifier: MIT */
/* What programs get beyond runs: structs of other versions, wrong calls, results in a row. */
#include "library/sized.h"
#include "runs.h"
#include "vestige/vestige.h"

struct given {
    size_t size;
    int a, b;
};

struct longer {
    struct given head;
    int c;
};

TEST(takes_structs_of_other_versions)
{
    struct longer newer = {.head = {sizeof(newer), 1, 2}},
                  back = {.head = {sizeof(back), 8, 8}, .c = 8};
    struct given own = {.a = 9}, older = {.size = offsetof(struct given, b), .a = 7, .b = 7};

    CHECK_EQ(vs_sized_take(&own, sizeof(own), &newer), 0);
    CHECK(own.a == 1 && own.b == 2);
    newer.c = 3;
    CHECK_ERR(vs_sized_take(&own, sizeof(own), &newer), VSE_FEATURE);
    CHECK_EQ(vs_sized_take(&own, sizeof(own), &older), 0);
    CHECK(own.a == 7 && own.b == 0);
    CHECK_EQ(vs_sized_take(&own, sizeof(own), NULL), 0);
    CHECK(own.a == 0 && own.b == 0);
    older.size = sizeof(size_t) - 1;
    CHECK_ERR(vs_sized_take(&own, sizeof(own), &older), VSE_INVAL);

    own = (struct given){.a = 4, .b = 5};
    CHECK_EQ(vs_sized_give(&back, &own, sizeof(own)), 0);
    CHECK(back.head.size == sizeof(back) && back.head.a == 4 && back.head.b == 5 && back.c == 0);
    older = (struct given){.size = offsetof(struct given, b), .b = 6};
    CHECK_EQ(vs_sized_give(&older, &own, sizeof(own)), 0);
    CHECK(older.a == 4 && older.b == 6);
    older.size = 1;
    CHECK_ERR(vs_sized_give(&older, &own, sizeof(own)), VSE_INVAL);
    CHECK_ERR(vs_sized_give(NULL, &own, sizeof(own)), VSE_INVAL);
}

TEST(lists_techniques_and_their_hardware)
{
    struct vs_catalog_entry e = {.size = sizeof(e)};
    struct vs_machine m = {.size = sizeof(m), .cores = 4, .address_bits = 64};
    struct vs_hardware list[32] = {{.size = sizeof(list[0])}};
    struct vs_catalog *c;
    struct vs_diag diag;
    size_t count = 0;

    CHECK_EQ(vs_catalog_open(&c), 0);
    while (vs_catalog_at(c, count, &e) == 0) {
        int64_t n = vs_hardware_of(c, e.name, &m, list, 32, &diag);

        CHECK(n >= 0 && n <= 32); /* general compressors have no structures */
        for (int64_t i = 0; i < n; i++)
            CHECK(list[i].size == sizeof(list[0]) && list[i].name[0] && list[i].copies);
        CHECK_EQ(vs_hardware_of(NULL, e.name, &m, NULL, 0, NULL), n);
        CHECK(e.reports >= 1 && e.reports <= 7 && e.summary[0]);
        count++;
    }
    CHECK(count > 40);
    CHECK_ERR(vs_hardware_of(c, "none", &m, list, 32, &diag), VSE_NOTFOUND);
    CHECK_HAS(diag.text, "no technique 'none'");
    CHECK_ERR(vs_hardware_of(c, NULL, &m, list, 32, &diag), VSE_INVAL);
    m.cores = 0;
    CHECK_ERR(vs_hardware_of(c, "mcfTR_e", &m, list, 32, &diag), VSE_INVAL);
    m.cores = 1;
    list[0].size = 3;
    CHECK_ERR(vs_hardware_of(c, "mcfTR_e", &m, list, 32, &diag), VSE_INVAL);
    CHECK_ERR(vs_catalog_plugin(c, "./none.so", &diag), VSE_IO);
    CHECK_ERR(vs_catalog_plugin(NULL, "./none.so", NULL), VSE_INVAL);
    e.size = 0;
    CHECK_ERR(vs_catalog_at(c, 0, &e), VSE_INVAL);
    vs_catalog_close(c);
    vs_catalog_close(NULL);
}

TEST(measures_once_and_in_windows)
{
    struct run run = run_generate(&(struct gen_options){.seed = 3, .events = 20000, .timed = true});
    struct vs_measure_options o = {.size = sizeof(o), .window = 1000};
    struct vs_measured r = {.size = sizeof(r)};
    uint64_t bits, sum = 0, fields = 0, windows[4096], value;
    struct vs_reader *reader;
    struct vs_measure *m;
    struct vs_diag diag;
    struct place place;
    struct file f;
    const char *name;

    place_init(&place);
    f = run_file(&run, NULL, 100);
    reader = file_open(&f);
    CHECK_EQ(vs_measure_open(&m, reader, &o, &diag), 0);
    CHECK_EQ(vs_measure_add(m, "mcfTR_e:small", &diag), 0);
    CHECK_EQ(vs_measure_add(m, "mcfNX_b", NULL), 1);
    CHECK_ERR(vs_measure_add(m, "mcfTR_e:huge", &diag), VSE_NOTFOUND);
    CHECK_ERR(vs_measure_add(m, "mlvCF_e", &diag), VSE_FEATURE);
    CHECK_ERR(vs_measure_add(m, NULL, &diag), VSE_INVAL);
    CHECK_ERR(vs_measure_get(m, 0, &r), VSE_INVAL);
    CHECK_EQ(vs_measure_run(m, &diag), 0);
    CHECK_ERR(vs_measure_run(m, &diag), VSE_INVAL);
    CHECK_ERR(vs_measure_add(m, "mcfNX_b", &diag), VSE_INVAL);
    CHECK_EQ(vs_measure_get(m, 0, &r), 0);
    CHECK(r.bits && r.messages && r.gates && r.cycles && !strcmp(r.technique, "mcfTR_e"));
    CHECK_EQ(r.instructions, vs_reader_info(reader)->instructions);
    for (unsigned k = 0; vs_measure_field(m, 0, k, &name, &bits) == 0; k++)
        fields += bits;
    CHECK_EQ(fields, r.bits);
    CHECK_EQ(vs_measure_count(m, 0, 0, &name, &value), 0);
    int64_t n = vs_measure_windows(m, 0, -1, windows, 4096);
    CHECK(n > 1 && n <= 4096);
    for (int64_t i = 0; i < n; i++)
        sum += windows[i];
    CHECK_EQ(sum, r.bits);
    CHECK_ERR(vs_measure_windows(m, 0, 1000, windows, 4096), VSE_NOTFOUND);
    CHECK_ERR(vs_measure_get(m, 2, &r), VSE_NOTFOUND);
    vs_measure_close(m);
    vs_reader_close(reader);
    CHECK_ERR(vs_measure_open(&m, NULL, NULL, &diag), VSE_INVAL);
    file_free(&f);
    run_free(&run);
    place_fini(&place);
}

TEST(walks_long_stretches_in_parts)
{
    enum { ROUNDS = 40, LENGTH = 65000, START = 0x1000 };
    static uint8_t code[LENGTH - 1 + 5]; /* no branch but the last instruction, which goes back */
    const struct vs_block block = {START, code, sizeof(code), LENGTH};
    const int32_t back = -(int32_t)sizeof(code);
    struct vs_writer_options options = {.inline_work = true};
    struct vs_event events[1 + ROUNDS] = {{.kind = VS_THREAD_START, .pc = START}};
    struct vs_batch b = {.events = events, .count = 1 + ROUNDS};
    uint64_t rounds = 0, in_round = 0, calls = 0;
    const struct vs_retired *list;
    struct vs_reader *reader;
    struct vs_writer *writer;
    struct vs_insns *walk;
    struct place place;
    int64_t n;

    memset(code, 0x90, LENGTH - 1);
    code[LENGTH - 1] = 0xe9;
    memcpy(code + LENGTH, &back, sizeof(back));
    for (unsigned i = 1; i <= ROUNDS; i++)
        events[i] = (struct vs_event){.kind = VS_BRANCH,
                                      .pc = START + LENGTH - 1,
                                      .addr = START,
                                      .size = 5,
                                      .icount = LENGTH,
                                      .flags = VS_BR_TAKEN};
    place_init(&place);
    CHECK_EQ(vs_writer_open(&writer, "run.vest", &options, NULL), 0);
    CHECK_EQ(vs_writer_meta(writer, "isa", "x86-64"), 0);
    CHECK_EQ(vs_writer_block(writer, &block), 0);
    CHECK_EQ(vs_writer_put(writer, &b), 0);
    CHECK_EQ(vs_writer_seal(writer, NULL), 0);
    CHECK_EQ(vs_run_open(&reader, "run.vest", VS_OPEN_STRICT, NULL), 0);
    CHECK_EQ(vs_insns_open(&walk, reader, NULL), 0);
    while ((n = vs_insns_next(walk, &list, NULL)) > 0) {
        CHECK(n < 1200000);
        calls++;
        for (int64_t i = 0; i < n; i++) {
            if (list[i].pc != START + in_round || list[i].event != rounds + 1)
                CHECK_EQ(rounds * LENGTH + in_round, UINT64_MAX); /* which says where */
            in_round = in_round + 1 == LENGTH ? 0 : in_round + 1;
            rounds += !in_round;
        }
    }
    CHECK_ERR(n, VSE_END);
    CHECK_EQ(rounds, ROUNDS);
    CHECK_EQ(in_round, 0);
    CHECK(calls > 1);
    vs_insns_close(walk);
    vs_reader_close(reader);
    place_fini(&place);
}

TEST(refuses_what_is_no_call)
{
    struct vs_encode_options e = {.size = 1};
    struct vs_playback *p;
    struct vs_diag diag;
    const char *spec = "mcfTR_e";

    CHECK_ERR(vs_encode(NULL, spec, "x.vport", NULL, NULL, &diag), VSE_INVAL);
    CHECK_ERR(vs_encode(NULL, spec, "x.vport", &e, NULL, NULL), VSE_INVAL);
    CHECK_ERR(vs_decode(NULL, NULL, NULL, NULL, NULL, &diag), VSE_INVAL);
    CHECK_ERR(vs_decode("/nowhere/x.vport", NULL, NULL, NULL, NULL, &diag), VSE_IO);
    CHECK_ERR(vs_prove_run("x.vest", NULL, &spec, 1, NULL, &diag), VSE_INVAL);
    CHECK_ERR(vs_playback_open(&p, NULL, NULL, &diag), VSE_INVAL);
    CHECK(!p);
    CHECK_ERR(vs_playback_open(&p, "/nowhere/x.vport", NULL, NULL), VSE_IO);
    vs_playback_close(NULL);
    vs_insns_close(NULL);
    vs_names_close(NULL);
    vs_measure_close(NULL);
}
