/* SPDX-License-Identifier: MIT */
/* A stream that is read while another thread writes it. */
#include "port/growing.h"

#include <string.h>

#include "base/workers.h"
#include "port/framing.h"
#include "rng.h"
#include "unittest.h"

enum { CORES = 4, MESSAGES = 60000, BYTES = 5000 };

static const struct vs_chunks chunks = {3, 2};
static const struct vs_port_shape shape = {.cores = CORES};

struct message {
    unsigned core;
    uint64_t value;
    size_t size; /* of the bytes that follow */
};

static struct message next_message(struct rng *rng)
{
    struct message m = {(unsigned)rng_below(rng, CORES), rng_below(rng, UINT64_C(1) << 40), 0};
    m.size = rng_below(rng, 500) ? rng_below(rng, 4) : BYTES;
    return m;
}

struct writing {
    struct vs_port_growing *to;
    bool fails; /* it ends with an error */
};

static void write_all(void *arg)
{
    const struct writing *w = arg;
    struct vs_port_writer port;
    struct rng rng = rng_init(5);
    uint8_t bytes[BYTES];
    memset(bytes, 0xa5, sizeof(bytes));
    CHECK_EQ(vs_port_writer_init(&port, &shape, vs_port_to_growing, w->to), 0);
    for (unsigned i = 0; i < MESSAGES; i++) {
        struct message m = next_message(&rng);
        vs_port_begin(&port, m.core, i);
        vs_port_put_chunks(&port, VS_FIELD_ICNT, chunks, m.value);
        vs_port_put(&port, VS_FIELD_HEADER, m.size, 13);
        vs_port_put_bytes(&port, VS_FIELD_VALUE, bytes, m.size);
        vs_port_end(&port);
    }
    CHECK(vs_port_finish(&port) > 0);
    vs_port_writer_fini(&port);
    const struct vs_diag why = {.error = -VSE_CHECKSUM, .offset = 7, .chunk = 3, .text = "bad"};
    vs_port_growing_end(w->to, w->fails ? &why : NULL);
}

static void read_message(struct vs_port_reader *r, struct rng *rng)
{
    struct message m = next_message(rng);
    uint8_t bytes[BYTES];
    unsigned core;
    uint64_t v;
    CHECK_EQ(vs_port_next(r, &core, NULL), 0);
    CHECK_EQ(core, m.core);
    CHECK_EQ(vs_port_get_chunks(r, VS_FIELD_ICNT, chunks, &v), 0);
    CHECK_EQ(v, m.value);
    CHECK_EQ(vs_port_get(r, VS_FIELD_HEADER, 13, &v), 0);
    CHECK_EQ(v, m.size);
    CHECK_EQ(vs_port_get_bytes(r, VS_FIELD_VALUE, bytes, m.size), 0);
    for (size_t i = 0; i < m.size; i++)
        CHECK_EQ(bytes[i], 0xa5);
}

static void read_all(const char *folder, bool fails)
{
    struct vs_port_growing g;
    struct writing w = {&g, fails};
    struct vs_job job = {.run = write_all, .arg = &w};
    struct vs_workers *workers;
    struct vs_port_reader r, early;
    struct rng rng = rng_init(5), then;
    struct vs_diag why;
    CHECK_EQ(vs_port_growing_init(&g, folder, NULL), 0);
    CHECK_EQ(vs_port_reader_init(&r, &shape, &g.stream), 0);
    r.more = &g.more;
    CHECK_EQ(vs_workers_open(&workers, 1), 0);
    vs_workers_submit(workers, &job);
    for (unsigned i = 0; i < MESSAGES; i++) {
        if (i == 10) { /* a copy that knows only the first bits */
            then = rng;
            CHECK_EQ(vs_port_reader_clone(&early, &r), 0);
        }
        read_message(&r, &rng);
    }
    CHECK_ERR(vs_port_next(&r, NULL, NULL), VSE_END);
    CHECK_EQ(g.more.why(g.more.context, &why), fails);
    if (fails)
        CHECK_STR(why.text, "bad");
    vs_workers_close(workers);
    for (unsigned i = 10; i < MESSAGES; i++)
        read_message(&early, &then);
    CHECK_ERR(vs_port_next(&early, NULL, NULL), VSE_END);
    CHECK_EQ(vs_port_reader_bits(&early), vs_port_reader_bits(&r));
    CHECK_EQ(vs_port_reader_done(&early), vs_port_reader_bits(&r));
    vs_port_reader_fini(&early);
    vs_port_reader_fini(&r);
    vs_port_growing_fini(&g);
}

TEST(reads_while_it_is_written)
{
    read_all(NULL, false);
}

TEST(reads_a_file_while_it_is_written)
{
    read_all(unittest_folder(), false);
}

TEST(tells_why_it_ended)
{
    read_all(NULL, true);
}

TEST(sees_a_message_that_is_cut)
{
    struct vs_port_growing g;
    struct vs_port_reader r;
    const uint8_t bytes[2] = {0xff, 0xff};
    uint64_t v;
    CHECK_EQ(vs_port_growing_init(&g, NULL, NULL), 0);
    CHECK_EQ(vs_port_reader_init(&r, &shape, &g.stream), 0);
    r.more = &g.more;
    CHECK_EQ(vs_port_to_growing(&g, 0, bytes, 16), 0);
    vs_port_growing_end(&g, NULL);
    CHECK_EQ(vs_port_next(&r, NULL, NULL), 0);
    CHECK_ERR(vs_port_get(&r, VS_FIELD_HEADER, 15, &v), VSE_TRUNCATED);
    CHECK_EQ(vs_port_get(&r, VS_FIELD_HEADER, 14, &v), 0);
    CHECK_ERR(vs_port_skip_bytes(&r, VS_FIELD_VALUE, 1), VSE_TRUNCATED);
    CHECK_ERR(vs_port_next(&r, NULL, NULL), VSE_END);
    vs_port_reader_fini(&r);
    vs_port_growing_fini(&g);
}
