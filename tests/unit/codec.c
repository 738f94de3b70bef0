/* SPDX-License-Identifier: MIT */
/* Encoder and decoder of events chunks, without files around them. */
#include <zstd.h>

#include "runs.h"
#include "trace/chunk_decode.h"
#include "trace/chunk_encode.h"

/* ---- one chunk ---- */

struct chunk {
    struct vs_tables tables;
    struct vs_encoder *encoder;
    struct vs_chunk_operand_coder *coder;
    struct vs_columns cols;
    struct vs_chunk_operands operands;
    struct vs_summary summary;
    struct vs_buf threads;
    size_t taken; /* events */
};

static void encode(struct chunk *k, const struct run *run, uint32_t max_sites,
                   uint32_t chunk_events, uint32_t chunk_bytes)
{
    struct vs_batch b = run_batch(run, 0, run->count);
    struct vs_image image;
    struct vs_block block;
    const char *why = "";
    int err;

    *k = (struct chunk){.encoder = malloc(sizeof(*k->encoder)),
                        .coder = calloc(1, sizeof(*k->coder))};
    CHECK(k->encoder && k->coder);
    CHECK_EQ(vs_tables_init(&k->tables), 0);
    for (uint64_t i = 0; run->gen && gen_image(run->gen, i, &image) == 0; i++)
        CHECK_EQ(vs_tables_image(&k->tables, &image), i);
    for (uint64_t i = 0; run->gen && gen_block(run->gen, i, &block) == 0; i++)
        CHECK_EQ(vs_tables_block(&k->tables, &block), i);
    vs_encoder_init(k->encoder, &k->tables, run->features, max_sites, chunk_events, chunk_bytes);
    CHECK_EQ(vs_encoder_begin(k->encoder, &k->cols), 0);
    CHECK_EQ(vs_chunk_operands_init(&k->operands), 0);
    CHECK_EQ(vs_chunk_operand_coder_begin(k->coder, k->encoder->shadow_bits), 0);
    do {
        vs_chunk_operands_clear(&k->operands);
        err = vs_encoder_put(k->encoder, &b, &k->taken, &k->operands, &why);
        CHECK_EQ(vs_chunk_operand_coder_put(k->coder, &k->operands, &k->cols), 0);
    } while (err == VS_ENCODED_BLOCK);
    CHECK_EQ(err, k->taken < run->count ? VS_ENCODED_CHUNK : VS_ENCODED_ALL);
    CHECK_EQ(vs_encoder_end(k->encoder, &k->summary, &k->threads), 0);
    CHECK(k->summary.events == k->taken && k->summary.first == 0);
    CHECK_EQ(k->threads.len, k->summary.threads * sizeof(struct vs_chunk_thread));
}

static void chunk_free(struct chunk *k)
{
    vs_encoder_fini(k->encoder);
    vs_chunk_operand_coder_fini(k->coder);
    free(k->encoder);
    free(k->coder);
    vs_chunk_operands_fini(&k->operands);
    vs_tables_fini(&k->tables);
    vs_columns_fini(&k->cols);
    vs_buf_fini(&k->threads);
}

/* Columns as a reader has them. */
static void unpack(const struct vs_columns *c, struct vs_buf *raw,
                   struct vs_column cols[VS_COL_END])
{
    ZSTD_CCtx *cc = ZSTD_createCCtx();
    ZSTD_DCtx *dc = ZSTD_createDCtx();
    struct vs_buf payload = {0};

    CHECK_EQ(vs_columns_pack(c, cc, VS_LEVEL_DEFAULT, &payload), 0);
    CHECK_EQ(
        vs_columns_unpack(payload.data, payload.len, VS_CHUNK_EVENTS, dc, raw, cols, 0, 0, NULL),
        0);
    vs_buf_fini(&payload);
    ZSTD_freeCCtx(cc);
    ZSTD_freeDCtx(dc);
}

/* Decodes in calls of random sizes up to `most`. */
static void check_decodes(const struct chunk *k, const struct run *run, unsigned most)
{
    struct vs_decoder *d = malloc(sizeof(*d));
    struct vs_event *events = calloc(most, sizeof(*events));
    uint64_t *cycles = calloc(most, sizeof(*cycles));
    struct run got = {.features = run->features};
    struct vs_column cols[VS_COL_END];
    struct vs_buf wide = {0}, raw = {0};
    struct rng rng = rng_init(most);
    int n;

    unpack(&k->cols, &raw, cols);
    vs_decoder_init(d, &k->tables.sites, run->features);
    CHECK_EQ(vs_decoder_begin(d, cols), 0);
    while ((n = vs_decoder_next(d, events, cycles, &wide, 1 + (unsigned)rng_below(&rng, most))) > 0)
        run_append(&got, &(struct vs_batch){.events = events,
                                            .cycles = run->cycles ? cycles : NULL,
                                            .wide = wide.data,
                                            .wide_size = wide.len,
                                            .count = (size_t)n});
    CHECK_EQ(n, 0);
    CHECK_EQ(got.count, k->taken);
    run_check_part(&got, run, 0);
    vs_decoder_fini(d);
    run_free(&got);
    vs_buf_fini(&wide);
    vs_buf_fini(&raw);
    free(events);
    free(cycles);
    free(d);
}

static void check_codec(struct gen_options g, uint32_t max_sites)
{
    static const unsigned most[] = {1, 2, 17, 500, 4096};
    struct run run = run_generate(&g);
    struct chunk k;

    encode(&k, &run, max_sites, VS_MAX_CHUNK_EVENTS, 32u << 20);
    CHECK_EQ(k.taken, run.count);
    for (size_t i = 0; i < sizeof(most) / sizeof(most[0]); i++)
        check_decodes(&k, &run, most[i]);
    chunk_free(&k);
    run_free(&run);
}

TEST(decodes_in_calls_of_any_size)
{
    check_codec((struct gen_options){.seed = 1, .events = 5000, .memory = true, .timed = true},
                VS_MAX_SITES);
}

TEST(decodes_literals_in_calls_of_any_size)
{
    check_codec((struct gen_options){.seed = 2, .events = 5000, .memory = true, .timed = true}, 30);
}

TEST(decodes_control_flow_in_calls_of_any_size)
{
    check_codec((struct gen_options){.seed = 3, .events = 5000, .profile = GEN_BRANCHY},
                VS_MAX_SITES);
}

/* Short runs of many threads: what is kept between calls is kept per thread. */
TEST(decodes_many_threads_in_calls_of_any_size)
{
    check_codec(
        (struct gen_options){
            .seed = 4, .events = 5000, .threads = 40, .memory = true, .wide = 50, .timed = true},
        VS_MAX_SITES);
}

/* ---- limits of a chunk ---- */

TEST(ends_a_chunk_at_the_number_of_events)
{
    struct run run = run_generate(&(struct gen_options){.seed = 5, .events = 2000});
    struct chunk k;

    encode(&k, &run, VS_MAX_SITES, 777, 32u << 20);
    CHECK_EQ(k.taken, 777);
    check_decodes(&k, &run, 100);
    chunk_free(&k);
    run_free(&run);
}

TEST(ends_a_chunk_near_the_number_of_bytes)
{
    struct run run = run_generate(
        &(struct gen_options){.seed = 6, .events = 9000, .memory = true, .timed = true});
    struct chunk k;

    encode(&k, &run, VS_MAX_SITES, VS_MAX_CHUNK_EVENTS, 5000);
    CHECK(k.taken > 100 && k.taken < run.count);
    CHECK(vs_columns_size(&k.cols) >= 4000 && vs_columns_size(&k.cols) < 9000);
    check_decodes(&k, &run, 100);
    chunk_free(&k);
    run_free(&run);
}

/* ---- what predictions are for ---- */

/* A loop over an array: the same few sites, regular addresses, constant values. */
TEST(stores_almost_nothing_of_a_regular_loop)
{
    struct run run = {.features = VS_RUN_LOADS | VS_RUN_STORES};
    struct chunk k;

    for (unsigned i = 0; i < 3000; i++) {
        struct vs_event e[] = {
            {.kind = VS_LOAD, .pc = 0x100, .addr = 0x8000 + 8 * i, .size = 8, .icount = 1},
            {.kind = VS_STORE, .pc = 0x104, .addr = 0x80000 + 8 * i, .size = 8, .icount = 1},
            {.kind = VS_BRANCH,
             .pc = 0x108,
             .addr = 0x100,
             .size = 4,
             .icount = 1,
             .flags = VS_BR_COND | VS_BR_TAKEN}};

        run_append(&run, &(struct vs_batch){.events = e, .count = 3});
    }
    encode(&k, &run, VS_MAX_SITES, VS_MAX_CHUNK_EVENTS, 32u << 20);
    check_decodes(&k, &run, 4096);
    CHECK_EQ(k.tables.sites.count, 4);
    CHECK(k.cols.col[VS_COL_SITE].len < 10 && k.cols.col[VS_COL_ADDR].len < 50);
    CHECK(k.cols.col[VS_COL_VALUE].len < 50 && k.cols.col[VS_COL_OUTCOME_GAP].len < 30);
    chunk_free(&k);
    run_free(&run);
}

TEST(predicts_returns)
{
    struct run run = {0};
    struct chunk k;

    for (unsigned i = 0; i < 1000; i++) {
        struct vs_event e[] = {{.kind = VS_BRANCH,
                                .pc = 0x100 + 16 * (i % 7),
                                .addr = 0x9000,
                                .size = 4,
                                .flags = VS_BR_TAKEN | VS_BR_CALL},
                               {.kind = VS_BRANCH,
                                .pc = 0x9004,
                                .addr = 0x104 + 16 * (i % 7),
                                .size = 2,
                                .flags = VS_BR_TAKEN | VS_BR_INDIRECT | VS_BR_RETURN}};

        run_append(&run, &(struct vs_batch){.events = e, .count = 2});
    }
    encode(&k, &run, VS_MAX_SITES, VS_MAX_CHUNK_EVENTS, 32u << 20);
    check_decodes(&k, &run, 4096);
    CHECK_EQ(k.cols.col[VS_COL_TARGET].len, 0);
    chunk_free(&k);
    run_free(&run);
}
