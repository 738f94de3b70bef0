/* SPDX-License-Identifier: MIT */
/* Packets that a technique frames itself, in one stream and in one per core. */
#include "port/framing.h"

#include <stdlib.h>

#include "port/store.h"
#include "rng.h"
#include "unittest.h"

enum { CORES = 5, PACKETS = 20000 };

/* A packet: [core] n | n values of 11 bits, of which the second half is encapsulation. */
struct packet {
    unsigned core, n;
    uint64_t time, first;
    uint64_t start; /* the bit of its stream, once it is stored */
};

static struct packet *make_packets(void)
{
    struct packet *all = calloc(PACKETS, sizeof(*all));
    struct rng rng = rng_init(7);

    for (unsigned i = 0; i < PACKETS; i++) /* core 3 has none */
        all[i] = (struct packet){(unsigned)rng_below(&rng, CORES), (unsigned)rng_below(&rng, 40),
                                 10 * i, rng_below(&rng, 1000), 0};
    for (unsigned i = 0; i < PACKETS; i++)
        all[i].core = all[i].core == 3 ? 4 : all[i].core;
    return all;
}

static void put_packet(struct vs_port_writer *w, const struct packet *p)
{
    vs_port_begin_packet(w, p->core, p->time);
    if (!w->shape.per_core)
        vs_port_put(w, VS_FIELD_CORE, p->core, 8);
    vs_port_put(w, VS_FIELD_HEADER, p->n, 6);
    for (unsigned k = 0; k < p->n; k++)
        if (k < p->n / 2)
            vs_port_put(w, VS_FIELD_OUTCOME, p->first + k, 11);
        else
            vs_port_put_frame(w, VS_FIELD_HEADER, p->first + k, 11);
    vs_port_end(w);
}

static void get_packet(struct vs_port_reader *r, const struct packet *p)
{
    uint64_t core = p->core, n, v;

    if (r->shape.per_core)
        vs_port_select(r, p->core);
    CHECK_EQ(vs_port_next_packet(r), 0);
    if (!r->shape.per_core)
        CHECK_EQ(vs_port_get(r, VS_FIELD_CORE, 8, &core), 0);
    CHECK_EQ(vs_port_packet_core(r, VS_FIELD_CORE, core), 0);
    CHECK_EQ(r->core, p->core);
    CHECK_EQ(vs_port_get(r, VS_FIELD_HEADER, 6, &n), 0);
    CHECK_EQ(n, p->n);
    for (unsigned k = 0; k < n; k++) {
        CHECK_EQ(vs_port_get(r, VS_FIELD_OUTCOME, 11, &v), 0);
        CHECK_EQ(v, p->first + k);
    }
}

static void check_counts(const struct vs_port_writer *w, const struct packet *all)
{
    struct vs_port_counts sum, expected[CORES + 1] = {0};

    for (unsigned i = 0; i < PACKETS; i++) {
        struct vs_port_counts *c = &expected[all[i].core];
        unsigned frame = 11 * (all[i].n - all[i].n / 2);

        c->messages++;
        c->bits[VS_FIELD_CORE] += w->shape.per_core ? 0 : 8;
        c->bits[VS_FIELD_HEADER] += 6 + frame;
        c->bits[VS_FIELD_OUTCOME] += 11 * (all[i].n / 2);
        c->frame += frame;
    }
    for (unsigned i = 0; i <= CORES; i++)
        CHECK_MEM(&w->cores[i].counts, &expected[i], sizeof(*expected));
    vs_port_totals(w, &sum);
    CHECK_EQ(sum.messages, PACKETS);
    CHECK_EQ(vs_port_counts_payload(&sum), vs_port_counts_bits(&sum) - sum.frame);
    CHECK(sum.frame > 1000000 && sum.frame < vs_port_counts_bits(&sum));
}

static void check_round(bool per_core)
{
    const struct vs_port_shape shape = {.cores = CORES, .packets = true, .per_core = per_core};
    struct packet *all = make_packets();
    struct vs_port_store store = {0};
    struct vs_port_writer w;
    struct vs_port_reader r, half = {0};
    struct vs_windows windows;
    int64_t bits;

    CHECK_EQ(vs_port_store_init(&store, &shape), 0);
    CHECK_EQ(store.count, per_core ? CORES : 1);
    CHECK_EQ(vs_windows_init(&windows, CORES, 1000), 0);
    CHECK_EQ(vs_port_writer_init(&w, &shape, vs_port_to_store, &store), 0);
    w.windows = &windows;
    for (unsigned i = 0; i < PACKETS; i++)
        put_packet(&w, &all[i]);
    CHECK((bits = vs_port_finish(&w)) > 0);
    check_counts(&w, all);
    CHECK_EQ(vs_port_streams_bits(store.streams, store.count), bits);
    for (unsigned i = 0; i < store.count; i++) {
        CHECK_EQ(store.streams[i].nbits, vs_port_stream_bits(&w, i));
        CHECK_EQ(store.streams[i].size, (store.streams[i].nbits + 7) / 8);
        if (per_core) /* each stream has what its core is charged with */
            CHECK_EQ(store.streams[i].nbits, vs_port_counts_bits(&w.cores[i].counts));
    }
    for (unsigned core = 0; core < CORES; core++) {
        uint64_t sum = 0;

        for (size_t i = 0; i < windows.count; i++)
            sum += vs_windows_bits(&windows, i, (int)core);
        CHECK_EQ(sum, vs_port_counts_bits(&w.cores[core].counts));
    }

    CHECK_EQ(vs_port_reader_init(&r, &shape, store.streams), 0);
    CHECK_EQ(vs_port_reader_bits(&r), bits);
    for (unsigned i = 0; i < PACKETS; i++) {
        if (i == PACKETS / 2)
            CHECK_EQ(vs_port_reader_clone(&half, &r), 0);
        get_packet(&r, &all[i]);
    }
    CHECK_EQ(r.messages, PACKETS);
    CHECK_EQ(vs_port_reader_done(&r), bits);
    for (unsigned i = 0; i < store.count; i++) {
        vs_port_select(&r, i);
        CHECK_ERR(vs_port_next_packet(&r), VSE_END);
    }
    for (unsigned i = PACKETS / 2; i < PACKETS; i++)
        get_packet(&half, &all[i]);
    vs_port_reader_fini(&half);
    vs_port_reader_fini(&r);
    vs_windows_fini(&windows);
    vs_port_writer_fini(&w);
    vs_port_store_fini(&store);
    free(all);
}

TEST(reads_packets_back_from_one_stream)
{
    check_round(false);
}

TEST(reads_packets_back_from_a_stream_per_core)
{
    check_round(true);
}

/* Also notes at which bit of its stream each packet starts. */
static void store_packets(struct vs_port_store *store, const struct vs_port_shape *shape,
                          struct packet *all)
{
    struct vs_port_writer w;

    *store = (struct vs_port_store){0};
    CHECK_EQ(vs_port_store_init(store, shape), 0);
    CHECK_EQ(vs_port_writer_init(&w, shape, vs_port_to_store, store), 0);
    for (unsigned i = 0; i < PACKETS; i++) {
        all[i].start = vs_port_stream_bits(&w, shape->per_core ? all[i].core : 0);
        put_packet(&w, &all[i]);
    }
    CHECK(vs_port_finish(&w) > 0);
    vs_port_writer_fini(&w);
}

/* Streams are independent: they may be read one after the other. */
TEST(reads_one_stream_to_its_end)
{
    const struct vs_port_shape shape = {.cores = CORES, .packets = true, .per_core = true};
    struct packet *all = make_packets();
    struct vs_port_store store;
    struct vs_port_reader r;

    store_packets(&store, &shape, all);
    CHECK_EQ(vs_port_reader_init(&r, &shape, store.streams), 0);
    for (unsigned core = CORES; core-- > 0;) {
        for (unsigned i = 0; i < PACKETS; i++)
            if (all[i].core == core)
                get_packet(&r, &all[i]);
        CHECK_EQ(vs_port_left(&r, core), 0);
    }
    CHECK_EQ(vs_port_seek(&r, 4, 0), 0);
    for (unsigned i = 0; i < 100; i++)
        if (all[i].core == 4)
            get_packet(&r, &all[i]);
    CHECK_ERR(vs_port_seek(&r, 4, store.streams[4].nbits + 1), VSE_END);
    CHECK_EQ(vs_port_seek(&r, 3, 0), 0);
    CHECK_ERR(vs_port_next_packet(&r), VSE_END);
    vs_port_reader_fini(&r);
    vs_port_store_fini(&store);
    free(all);
}

TEST(reads_on_from_any_packet_of_a_shared_stream)
{
    const struct vs_port_shape shape = {.cores = CORES, .packets = true};
    struct packet *all = make_packets();
    struct vs_port_store store;
    struct vs_port_reader r;

    store_packets(&store, &shape, all);
    CHECK_EQ(vs_port_reader_init(&r, &shape, store.streams), 0);
    for (unsigned first = PACKETS - 7; first > 1000; first -= 999) {
        CHECK_EQ(vs_port_seek(&r, 0, all[first].start), 0);
        for (unsigned i = first; i < first + 7; i++)
            get_packet(&r, &all[i]);
    }
    vs_port_reader_fini(&r);
    vs_port_store_fini(&store);
    free(all);
}

TEST(charges_a_shared_packet_to_nobody)
{
    const struct vs_port_shape shape = {.cores = 2, .packets = true};
    struct vs_port_writer w;
    struct vs_port_counts sum;
    struct vs_drain drain;

    CHECK_EQ(vs_drain_init(&drain, &(struct vs_drain_config){.bits = 1, .cycles = 1}), 0);
    CHECK_EQ(vs_port_writer_init(&w, &shape, NULL, NULL), 0);
    w.drain = &drain;
    vs_port_begin_packet(&w, VS_PORT_SHARED, 5);
    vs_port_put(&w, VS_FIELD_PACKED, 0, 13);
    vs_port_end(&w);
    vs_port_begin_packet(&w, 1, 6);
    vs_port_put(&w, VS_FIELD_PACKED, 0, 2);
    vs_port_end(&w);
    CHECK_EQ(vs_port_counts_bits(&w.cores[0].counts), 0);
    CHECK_EQ(vs_port_counts_bits(&w.cores[1].counts), 2);
    CHECK_EQ(vs_port_counts_bits(&w.cores[2].counts), 13); /* behind the cores */
    vs_port_totals(&w, &sum);
    CHECK_EQ(vs_port_counts_bits(&sum), 15);
    CHECK_EQ(drain.accepted_bits, 15);
    CHECK_EQ(vs_port_finish(&w), 15);
    vs_port_writer_fini(&w);
}

TEST(says_which_stream_is_damaged)
{
    const struct vs_port_shape shape = {.cores = 3, .packets = true, .per_core = true};
    const uint8_t byte = 0xff;
    const struct vs_port_stream streams[3] = {{&byte, 1, 8}, {NULL, 0, 0}, {&byte, 1, 5}};
    uint8_t fields[13] = {0};
    const struct vs_port_witness witness = {.fields = fields};
    struct vs_port_reader r;
    uint64_t v;

    CHECK_EQ(vs_port_reader_init(&r, &shape, streams), 0);
    r.witness = &witness;
    vs_port_select(&r, 2);
    CHECK_EQ(vs_port_next_packet(&r), 0);
    CHECK_EQ(vs_port_get(&r, VS_FIELD_HEADER, 3, &v), 0);
    CHECK_EQ(r.before + r.bits.pos, 11);
    CHECK_EQ(fields[7], 0);
    CHECK_EQ(fields[8], VS_FIELD_HEADER + 1);
    CHECK_EQ(fields[11], 0);
    CHECK_ERR(vs_port_get(&r, VS_FIELD_VALUE, 3, &v), VSE_TRUNCATED);
    CHECK_HAS(r.diag.text, "stream 2, bit 3, value of message 1 (from bit 0, core 2)");
    CHECK_ERR(vs_port_packet_core(&r, VS_FIELD_CORE, 3), VSE_CORRUPT);
    CHECK_HAS(r.diag.text, "there is no such core");
    vs_port_select(&r, 1);
    CHECK_ERR(vs_port_next_packet(&r), VSE_END);
    vs_port_reader_fini(&r);
}

TEST(numbers_bits_over_all_streams)
{
    const struct vs_port_shape shape = {.cores = 3, .packets = true, .per_core = true};
    const uint8_t bytes[2] = {0xaa, 0x01};
    const struct vs_port_stream streams[3] = {{bytes, 2, 9}, {NULL, 0, 0}, {bytes, 1, 8}};
    struct vs_port_store copy = {0};
    uint64_t at;

    CHECK_EQ(vs_port_stream_of(streams, 3, 8, &at), 0);
    CHECK_EQ(at, 8);
    CHECK_EQ(vs_port_stream_of(streams, 3, 9, &at), 2);
    CHECK_EQ(at, 0);
    CHECK_EQ(vs_port_store_copy(&copy, &shape, streams), 0);
    vs_port_store_flip(&copy, 9);
    CHECK_EQ(copy.streams[2].data[0], 0xab);
    vs_port_store_flip(&copy, 8);
    CHECK_EQ(copy.streams[0].data[1], 0);
    CHECK(bytes[0] == 0xaa && bytes[1] == 1);
    vs_port_store_fini(&copy);
}

static int refuse_bits(void *context, unsigned stream, const uint8_t *bytes, uint64_t nbits)
{
    (void)bytes, (void)nbits;
    ++*(unsigned *)context;
    return stream == 1 ? -VSE_IO : 0;
}

TEST(stops_all_streams_at_an_error)
{
    const struct vs_port_shape shape = {.cores = 3, .packets = true, .per_core = true};
    struct vs_port_writer w;
    struct vs_buf buf = {0};
    unsigned calls = 0;

    CHECK_EQ(vs_port_writer_init(&w, &shape, refuse_bits, &calls), 0);
    for (unsigned i = 0; i < 30000; i++) {
        vs_port_begin_packet(&w, i % 3, i);
        vs_port_put(&w, VS_FIELD_VALUE, i, 64);
        vs_port_end(&w);
    }
    CHECK_ERR(vs_port_finish(&w), VSE_IO);
    CHECK_EQ(calls, 2);
    vs_port_writer_fini(&w);
    CHECK_ERR(vs_port_to_buf(&buf, 1, (const uint8_t *)"", 8), VSE_INVAL);
}

TEST(refuses_shapes_that_cannot_be)
{
    struct vs_port_shape shape = {.cores = 2, .per_core = true};

    CHECK_ERR(vs_port_shape_check(&shape), VSE_INVAL); /* messages have Ti, for one stream */
    shape.packets = true;
    CHECK_EQ(vs_port_shape_check(&shape), 0);
    shape.timed = true; /* cycles lie in packets as the technique puts them */
    CHECK_EQ(vs_port_shape_check(&shape), 0);
    shape.cores = 0;
    CHECK_ERR(vs_port_shape_check(&shape), VSE_INVAL);
}
