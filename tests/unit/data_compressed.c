/* SPDX-License-Identifier: MIT */
/* Load values that a compressor packed: packets, windows, and streams that are damaged. */
#include "unit/datarun.h"

/* What the packets of a stream hold, unpacked. Returns its bits, as the last packet says. */
static uint64_t unpacked(const struct stream *s, enum vs_pack_kind kind, unsigned streams,
                         unsigned which, struct vs_buf *out)
{
    const struct vs_chunks chunks = {8, 8};
    struct vs_port_reader r;
    struct vs_unpack *u;
    uint8_t *packet = malloc(4096);
    uint64_t stream = 0, size, lengths[2] = {0};
    int64_t n;
    out->len = 0;
    CHECK(packet);
    CHECK_EQ(vs_unpack_open(&u, kind), 0);
    CHECK_EQ(vs_port_reader_init(&r, &s->shape,
                                 &(struct vs_port_stream){s->bits.data, s->bits.len, s->nbits}),
             0);
    for (;;) {
        CHECK_EQ(vs_port_next_packet(&r), 0);
        CHECK_EQ(vs_port_get(&r, VS_FIELD_HEADER, streams - 1, &stream), 0);
        CHECK_EQ(vs_port_get_chunks(&r, VS_FIELD_HEADER, chunks, &size), 0);
        if (!size)
            break;
        CHECK(size <= 4096);
        CHECK_EQ(vs_port_get_bytes(&r, VS_FIELD_PACKED, packet, size), 0);
        if (stream != which)
            continue;
        vs_unpack_feed(u, packet, size);
        do {
            CHECK_EQ(vs_buf_reserve(out, 1 << 16), 0);
            n = vs_unpack_get(u, out->data + out->len, 1 << 16, NULL);
            out->len += n > 0 ? (size_t)n : 0;
        } while (n > 0);
    }
    CHECK_ERR(vs_unpack_get(u, packet, 1, NULL), VSE_END);
    for (unsigned i = 0; i < streams; i++)
        CHECK_EQ(vs_port_get_chunks(&r, VS_FIELD_HEADER, chunks, &lengths[i]), 0);
    CHECK_ERR(vs_port_next_packet(&r), VSE_END);
    vs_port_reader_fini(&r);
    vs_unpack_close(u);
    free(packet);
    return lengths[which];
}

static void medium_run(struct run *run, unsigned threads, bool timed)
{
    const struct gen_options options = {.seed = 41,
                                        .events = 30000,
                                        .threads = threads,
                                        .memory = true,
                                        .timed = timed,
                                        .syscalls = 100,
                                        .gaps = 2000,
                                        .wide = 40};
    generate(run, &options);
}

TEST(packs_the_stream_of_the_baseline)
{
    for (unsigned i = 0; i < 2 * COMPRESSORS; i++) {
        enum vs_pack_kind kind = compressors[i / 2].kind;
        const char *name = compressors[i / 2].technique->name;
        struct stream base, unified, split;
        struct vs_buf out = {0};
        struct run run;
        medium_run(&run, 3, i % 2);
        encode(&base, "mlvNX_b", "", &run, false);
        encode(&unified, name, "", &run, false);
        CHECK_EQ(unpacked(&unified, kind, 1, 0, &out), base.nbits);
        CHECK_EQ(out.len, base.bits.len);
        CHECK_MEM(out.data, base.bits.data, out.len);
        CHECK(unified.nbits < base.nbits && unified.fields.messages > 2);
        CHECK_EQ(unified.fields.bits[VS_FIELD_PACKED] + unified.fields.bits[VS_FIELD_HEADER],
                 unified.nbits);
        CHECK(unified.fields.bits[VS_FIELD_HEADER] < unified.nbits / 100);
        encode(&split, name, "split", &run, false);
        uint64_t heads = unpacked(&split, kind, 2, 0, &out);
        CHECK_EQ(heads, base.fields.bits[VS_FIELD_CORE] + base.fields.bits[VS_FIELD_CYCLES]);
        CHECK_EQ(heads + unpacked(&split, kind, 2, 1, &out), base.nbits);
        /* the counts are the baseline's, of messages whole */
        CHECK_MEM(&unified.counts, &base.counts, sizeof base.counts);
        CHECK_MEM(&split.counts, &base.counts, sizeof base.counts);
        CHECK(base.counts.state_bits);
        stream_free(&base);
        stream_free(&unified);
        stream_free(&split);
        vs_buf_fini(&out);
        run_free(&run);
    }
}

/* Neither Ti nor dCC has a bit. */
TEST(splits_off_nothing_of_one_core_without_time)
{
    struct run run;
    medium_run(&run, 1, false);
    for (unsigned i = 0; i < COMPRESSORS; i++) {
        struct stream split;
        struct vs_buf out = {0};
        encode(&split, compressors[i].technique->name, "split", &run, false);
        CHECK_EQ(unpacked(&split, compressors[i].kind, 2, 0, &out), 0);
        CHECK_EQ(out.len, 0);
        check_replays(&split, &run);
        stream_free(&split);
        vs_buf_fini(&out);
    }
    run_free(&run);
}

/* Longer than the windows of decoders, with operands as large as there are. */
TEST(replays_more_than_a_window)
{
    struct script *s = script_new();
    uint8_t *bytes = calloc(1, VS_SIZE_MAX);
    CHECK(bytes);
    for (unsigned i = 0; i < 60; i++) {
        const struct vs_event large = {
            .kind = VS_NONDET, .thread = i % 3, .size = VS_SIZE_MAX, .icount = 1};
        memset(bytes, (int)i, VS_SIZE_MAX / (1 + i % 4));
        run_add(&s->run, &large, bytes, 100000 * i);
        for (unsigned k = 0; k < 2000; k++)
            load(s, k % 3, 8 * (k % 100), 1 + k % 8);
    }
    for (size_t i = 0; i < s->run.count; i++)
        s->run.cycles[i] = 7 * i * i;
    for (unsigned i = 0; i < 4; i++) {
        struct stream t;
        s->run.timed = i & 1;
        encode(&t, "mlvNX_zstd", i & 2 ? "split" : "", &s->run, false);
        check_replays(&t, &s->run);
        stream_free(&t);
    }
    free(bytes);
    script_free(s);
}

/* Packets by hand. */
static int pack_to_buf(void *buf, const uint8_t *bytes, size_t size)
{
    return vs_buf_put(buf, bytes, size);
}

static void put_packet(struct vs_port_writer *w, unsigned streams, unsigned which,
                       const uint8_t *bytes, size_t size)
{
    vs_port_begin_packet(w, VS_PORT_SHARED, 0);
    vs_port_put(w, VS_FIELD_HEADER, which, streams - 1);
    vs_port_put_chunks(w, VS_FIELD_HEADER, (struct vs_chunks){8, 8}, size);
    vs_port_put_bytes(w, VS_FIELD_PACKED, bytes, size);
    vs_port_end(w);
}

struct forgery {
    const char *says;
    int err;
    unsigned after;    /* bits after the last packet */
    int length[2];     /* of the streams, too much */
    unsigned bytes[2]; /* the same of bytes */
    unsigned large;    /* size of a packet that is too large */
    bool open;         /* there is no last packet */
    bool again;        /* a packet after the stream's end */
    bool swapped;      /* a stream's packets are the other's */
};

static void forge(struct stream *s, const struct vs_buf plain[2], const uint64_t bits[2],
                  const struct forgery *f)
{
    struct vs_port_writer w;
    struct vs_buf packed = {0};
    static const uint8_t zeros[5000];
    s->bits.len = 0;
    CHECK_EQ(vs_port_writer_init(&w, &s->shape, vs_port_to_buf, &s->bits), 0);
    for (unsigned i = 0; i < 2; i++) {
        struct vs_pack *p;
        packed.len = 0;
        CHECK_EQ(vs_pack_open(&p, VS_PACK_GZIP, 1, pack_to_buf, &packed), 0);
        CHECK_EQ(vs_pack_put(p, plain[i].data, plain[i].len), 0);
        CHECK_EQ(vs_pack_put(p, zeros, f->bytes[i]), 0);
        CHECK_EQ(vs_pack_finish(p), 0);
        vs_pack_close(p);
        if (f->large)
            put_packet(&w, 2, i, zeros, f->large);
        put_packet(&w, 2, f->swapped ? 1 - i : i, packed.data, packed.len);
        if (f->again)
            put_packet(&w, 2, i, packed.data, packed.len);
    }
    if (!f->open) {
        put_packet(&w, 2, 0, NULL, 0);
        for (unsigned i = 0; i < 2; i++)
            vs_port_put_chunks(&w, VS_FIELD_HEADER, (struct vs_chunks){8, 8},
                               bits[i] + (uint64_t)f->length[i]);
        vs_port_put(&w, VS_FIELD_HEADER, 0, f->after);
    }
    s->nbits = (uint64_t)vs_port_finish(&w);
    vs_port_writer_fini(&w);
    vs_buf_fini(&packed);
}

TEST(refuses_packets_that_do_not_fit)
{
    static const struct forgery forgeries[] = {
        {.says = ""},
        {.says = "last packet is missing", .err = -VSE_TRUNCATED, .open = true},
        {.says = "something follows the last packet", .err = -VSE_CORRUPT, .after = 1},
        {.says = "should have", .err = -VSE_CORRUPT, .length = {8, 0}},
        {.says = "should have", .err = -VSE_CORRUPT, .length = {0, -8}},
        {.says = "should have", .err = -VSE_CORRUPT, .bytes = {0, 1}},
        {.says = "values are left, and no message",
         .err = -VSE_CORRUPT,
         .bytes = {0, 9},
         .length = {0, 72}},
        {.says = "too long a packet", .err = -VSE_CORRUPT, .large = 4097},
        {.says = "not what a packer writes", .err = -VSE_CORRUPT, .large = 100},
        {.says = "something follows its end", .err = -VSE_CORRUPT, .again = true},
        {.says = "", .err = -VSE_CORRUPT, .swapped = true},
    };
    struct vs_verify_data *v = malloc(sizeof *v);
    struct vs_buf plain[2] = {{0}};
    struct stream s;
    struct run run;
    CHECK(v);
    const struct gen_options options = {
        .seed = 31, .events = 500, .threads = 3, .memory = true, .timed = true};
    generate(&run, &options);
    encode(&s, "mlvNX_gzip", "split", &run, false);
    uint64_t bits[2] = {unpacked(&s, VS_PACK_GZIP, 2, 0, &plain[0]),
                        unpacked(&s, VS_PACK_GZIP, 2, 1, &plain[1])};
    for (size_t i = 0; i < sizeof forgeries / sizeof *forgeries; i++) {
        const struct forgery *f = &forgeries[i];
        forge(&s, plain, bits, f);
        CHECK_EQ(verify(&s, &run, s.nbits, IN_ORDER, v), f->err);
        CHECK_HAS(v->c.diag.text, f->says);
        CHECK_EQ(verify(&s, &run, s.nbits, BY_TURNS, v), f->err);
        CHECK_HAS(v->c.diag.text, f->says);
    }
    stream_free(&s);
    run_free(&run);
    vs_buf_fini(&plain[0]);
    vs_buf_fini(&plain[1]);
    free(v);
}

TEST(sends_packets_at_the_time_of_what_fills_them)
{
    struct script *s = script_new();
    struct vs_windows windows;
    struct vs_port_writer w;
    struct vs_technique_spec spec;
    struct vs_port_shape shape;
    struct rng r = {3};
    void *e;
    for (unsigned i = 0; i < 4000; i++) {
        for (unsigned k = 0; k < 64; k++)
            s->memory[k] = (uint8_t)rng_next(&r);
        load(s, 0, 0, 64);
    }
    s->run.timed = true;
    const struct vs_technique_setup setup = {.cores = 1, .address_bits = 64, .timed = true};
    const struct vs_batch batch = run_batch(&s->run);
    parse(&spec, "mlvNX_gzip", "");
    vs_technique_shape(&spec, &setup, &shape);
    CHECK_EQ(vs_windows_init(&windows, 1, 10000), 0);
    CHECK_EQ(vs_port_writer_init(&w, &shape, NULL, NULL), 0);
    w.windows = &windows;
    CHECK_EQ(
        spec.technique->encoder->open(
            &e, &(struct vs_technique_context){.params = spec.params, .setup = &setup, .port = &w}),
        0);
    CHECK_EQ(spec.technique->encoder->consume(e, &(struct vs_slice){.events = &batch}), 0);
    CHECK_EQ(vs_encoder_finish(spec.technique->encoder, e), 0);
    int64_t bits = vs_port_finish(&w);
    struct vs_window_summary summary;
    vs_windows_summary(&windows, VS_WINDOW_ALL, 40000, &summary);
    CHECK_EQ(summary.bits, bits);
    CHECK_EQ(windows.count, 4);
    CHECK_EQ(vs_windows_bits(&windows, 0, 0), 0); /* held back */
    for (unsigned i = 1; i < 4; i++)
        CHECK(vs_windows_bits(&windows, i, 0) > 0);
    spec.technique->encoder->close(e);
    vs_port_writer_fini(&w);
    vs_windows_fini(&windows);
    script_free(s);
}
