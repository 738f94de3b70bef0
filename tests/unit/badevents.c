/* SPDX-License-Identifier: MIT */
/* Bad goldens: events chunks that lie with right checksums. */
#include "refuse.h"

/* ---- events ---- */

/* The n-th number of a column of varints in the first events chunk becomes another. */
static void check_number(unsigned id, size_t n, uint64_t to, int error)
{
    struct fixture x;

    setup(&x);
    forge_set_number(column(&x, 0, id), n, to);
    check_forged(&x, error, events_chunk(&x, 0));
}

TEST(refuses_sites_out_of_range)
{
    check_number(VS_COL_SITE, 0, 1u << 20, VSE_CORRUPT);
    check_number(VS_COL_SITE, 0, (1u << 20) + 1, VSE_CORRUPT);
    check_number(VS_COL_SITE, 0, UINT64_MAX, VSE_CORRUPT);
    check_number(VS_COL_SITE, 0, UINT64_MAX - 1, VSE_CORRUPT);
}

/* Two chunks of jumps, each one that follows the last: predictions alone lead through them. */
static void setup_jumps(struct fixture *x)
{
    struct place p;

    *x = (struct fixture){0};
    for (unsigned i = 0; i < 200; i++) {
        struct vs_event e = {
            .kind = VS_BRANCH, .flags = VS_BR_TAKEN, .size = 4, .pc = 4 * i, .addr = 4 * i + 4};

        run_append(&x->run, &(struct vs_batch){.events = &e, .count = 1});
    }
    place_init(&p);
    x->file = run_file(&x->run, &(struct vs_writer_options){.chunk_events = 100}, 200);
    forge_load(&x->forge, x->file.data, x->file.size);
    place_fini(&p);
}

/* More sites are in the table by the end than the chunk may use. */
TEST(refuses_sites_added_after_the_chunk)
{
    for (uint64_t sites = 1; sites <= 100; sites += 33) {
        struct fixture x;

        setup_jumps(&x);
        forge_set_number(column(&x, 0, VS_COL_SUMMARY), 2, sites);
        check_forged(&x, VSE_CORRUPT, events_chunk(&x, 0));
    }
}

TEST(refuses_sites_that_run_out)
{
    struct fixture x;

    setup(&x);
    column(&x, 0, VS_COL_SITE)->len = 0;
    check_forged(&x, VSE_TRUNCATED, events_chunk(&x, 0));
}

TEST(refuses_a_wrong_order_of_threads)
{
    check_number(VS_COL_ORDER, 0, 99, VSE_CORRUPT);         /* not in the summary */
    check_number(VS_COL_ORDER, 0, UINT64_MAX, VSE_CORRUPT); /* no thread at all */
    check_number(VS_COL_ORDER, 1, 0, VSE_CORRUPT);          /* an empty run */
    check_number(VS_COL_ORDER, 1, 61, VSE_CORRUPT);         /* longer than the chunk */
    check_number(VS_COL_ORDER, 1, UINT64_MAX, VSE_CORRUPT);
}

TEST(refuses_an_order_that_runs_out)
{
    struct fixture x;
    struct vs_buf *order;

    setup(&x);
    order = column(&x, 0, VS_COL_ORDER);
    CHECK(order->len > 2);
    order->len -= 2;
    check_forged(&x, VSE_TRUNCATED, events_chunk(&x, 0));
}

/* Something is appended to each column that events consume. */
TEST(refuses_columns_that_are_left_over)
{
    static const uint8_t ids[] = {VS_COL_ORDER, VS_COL_SITE,  VS_COL_TARGET_HOW, VS_COL_TARGET,
                                  VS_COL_HOW,   VS_COL_ADDR,  VS_COL_VALUE,      VS_COL_WIDE,
                                  VS_COL_OTHER, VS_COL_CYCLE, VS_COL_LITERAL};

    for (size_t i = 0; i < sizeof(ids); i++) {
        struct fixture x;
        int64_t n;

        setup(&x);
        n = events_chunk(&x, 0);
        forge_must(vs_buf_put(&x.forge.chunks[n].cols.col[ids[i]], "\0", 1) == 0);
        check_forged(&x, VSE_CORRUPT, n);
    }
}

/* Bytes follow the summary in a chunk; the index has it without them. */
TEST(refuses_a_summary_with_something_after_it)
{
    struct fixture x;
    struct vs_buf *summary, out = {0};

    setup(&x);
    summary = column(&x, 0, VS_COL_SUMMARY);
    CHECK_EQ(vs_buf_put(summary, "\0", 1), 0);
    forge_build(&x.forge, &out);
    summary->len--;
    for (size_t i = 0; i < x.forge.count; i++)
        forge_index_entry(&x.forge.index, &x.forge.chunks[i]);
    summary->len++;
    vs_buf_fini(&out);
    check_forged(&x, VSE_CORRUPT, events_chunk(&x, 0));
}

/* Each column is cut to so many bytes less, or to nothing. Fewer wrong outcomes are another run. */
static void check_cut_columns(size_t less)
{
    for (unsigned id = VS_COL_ORDER; id < VS_COL_END; id++) {
        struct fixture x;
        struct vs_buf *col, out = {0};
        struct verdict v;

        setup(&x);
        col = &x.forge.chunks[events_chunk(&x, 0)].cols.col[id];
        if (col->len && id != VS_COL_OUTCOME_GAP) {
            col->len -= less < col->len ? less : col->len;
            forge_build(&x.forge, &out);
            v = judge(out.data, out.len, VS_OPEN_DEFAULT);
            CHECK(v.err == -VSE_TRUNCATED || v.err == -VSE_CORRUPT);
            CHECK_EQ(v.diag.chunk, events_chunk(&x, 0));
            run_free(&v.events);
            vs_buf_fini(&out);
        }
        teardown(&x);
    }
}

TEST(refuses_columns_that_are_cut)
{
    check_cut_columns(1);
}

TEST(refuses_columns_that_are_missing)
{
    check_cut_columns(SIZE_MAX);
}

static void check_byte(unsigned id, uint8_t value, int error)
{
    struct fixture x;

    setup(&x);
    column(&x, 0, id)->data[0] = value;
    check_forged(&x, error, events_chunk(&x, 0));
}

TEST(refuses_codes_out_of_range)
{
    check_byte(VS_COL_TARGET_HOW, 9, VSE_CORRUPT);
    check_byte(VS_COL_TARGET_HOW, 255, VSE_CORRUPT);
    for (unsigned how = 0; how < 16; how++) {
        if (how > VS_HOW_SECOND)
            check_byte(VS_COL_HOW, (uint8_t)how, VSE_CORRUPT);
        if (how > VS_HOW_LOADED)
            check_byte(VS_COL_HOW, (uint8_t)(how << 4), VSE_CORRUPT);
    }
}

TEST(refuses_other_events_that_break_the_rules)
{
    check_number(VS_COL_OTHER, 2, 65536, VSE_CORRUPT); /* size */
    check_number(VS_COL_OTHER, 3, 65536, VSE_CORRUPT); /* icount */
    check_number(VS_COL_OTHER, 2, UINT64_MAX, VSE_CORRUPT);
}

/* ---- summaries ---- */

TEST(refuses_shadow_memory_out_of_range)
{
    check_number(VS_COL_SUMMARY, 5, 0, VSE_CORRUPT);
    check_number(VS_COL_SUMMARY, 5, VS_SHADOW_MIN - 1, VSE_CORRUPT);
    check_number(VS_COL_SUMMARY, 5, VS_SHADOW_MAX + 1, VSE_CORRUPT);
    check_number(VS_COL_SUMMARY, 5, 32, VSE_CORRUPT);
}

TEST(refuses_shadow_memory_in_a_run_without_loads)
{
    struct fixture x;

    setup_run(&x, (struct gen_options){.seed = 5, .threads = 2, .events = 100}, 50);
    forge_set_number(column(&x, 0, VS_COL_SUMMARY), 5, VS_SHADOW_MIN);
    check_forged(&x, VSE_CORRUPT, events_chunk(&x, 0));
}

/* Found with the index, which repeats the summaries. */
static void check_summary(size_t chunk, unsigned field, int64_t change, int error)
{
    struct fixture x;
    struct vs_buf *summary;

    setup(&x);
    summary = column(&x, chunk, VS_COL_SUMMARY);
    forge_set_number(summary, field, forge_number(summary, field) + (uint64_t)change);
    check_forged(&x, error, (int64_t)x.forge.count);
}

TEST(refuses_summaries_that_do_not_follow)
{
    check_summary(0, 0, 1, VSE_CORRUPT); /* first event */
    check_summary(1, 0, -1, VSE_CORRUPT);
    check_summary(0, 1, 1, VSE_CORRUPT); /* events */
    check_summary(0, 1, 1 << 30, VSE_LIMIT);
    check_summary(0, 2, 1 << 30, VSE_LIMIT); /* sites */
    check_summary(1, 2, -1000000, VSE_LIMIT);
    check_summary(1, 6, -1000, VSE_CORRUPT); /* first cycle */
    check_summary(0, 7, 1000000, VSE_CORRUPT);
    check_summary(0, 8, 1 << 20, VSE_LIMIT); /* threads */
    check_summary(0, 8, -1, VSE_CORRUPT);
    check_summary(0, 9, 1, VSE_CORRUPT);  /* first thread */
    check_summary(1, 12, 1, VSE_CORRUPT); /* instructions before */
}

/* What only the events can refute. */
TEST(refuses_summaries_that_events_refute)
{
    static const struct {
        unsigned field;
        int64_t change;
    } lies[] = {{7, 1}, {11, 1}, {11, -1}, {2, 1000}, {3, 1000}, {4, 1}};

    for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
        struct fixture x;
        struct vs_buf *summary;
        size_t last;

        setup(&x);
        last = count_chunks(&x, VS_CHUNK_EVENTS) - 1;
        summary = column(&x, last, VS_COL_SUMMARY);
        forge_set_number(summary, lies[i].field,
                         forge_number(summary, lies[i].field) + (uint64_t)lies[i].change);
        check_forged(&x, VSE_CORRUPT, events_chunk(&x, last));
    }
}

/* ---- cycles ---- */

/* Two threads, whose events are at cycles 10 and 20. */
static void setup_cycles(struct fixture *x, uint64_t first, uint64_t second)
{
    struct vs_event e[] = {{.kind = VS_COUNT, .icount = 1},
                           {.kind = VS_COUNT, .icount = 1, .thread = 1}};
    const uint64_t cycles[] = {10, 20};
    struct vs_buf *col;
    struct place p;

    *x = (struct fixture){.run = {.features = VS_RUN_TIMED}};
    place_init(&p);
    run_append(&x->run, &(struct vs_batch){.events = e, .cycles = cycles, .count = 2});
    x->file = run_file(&x->run, NULL, 2);
    forge_load(&x->forge, x->file.data, x->file.size);
    col = column(x, 0, VS_COL_CYCLE);
    CHECK_MEM(col->data, "\0\x0a", 2);
    forge_set_number(col, 0, first);
    forge_set_number(col, 1, second);
    place_fini(&p);
}

TEST(refuses_cycles_that_decrease)
{
    struct fixture x;

    setup_cycles(&x, 10, 0);
    check_forged(&x, VSE_CORRUPT, events_chunk(&x, 0));
}

TEST(refuses_cycles_past_the_last)
{
    struct fixture x;

    setup_cycles(&x, 0, 11);
    check_forged(&x, VSE_CORRUPT, events_chunk(&x, 0));
    setup_cycles(&x, 0, UINT64_MAX);
    check_forged(&x, VSE_CORRUPT, events_chunk(&x, 0));
    setup_cycles(&x, 0, 9); /* or short of it */
    check_forged(&x, VSE_CORRUPT, events_chunk(&x, 0));
}

/* ---- anything ---- */

static void mutate(struct forge *f, struct rng *rng)
{
    for (unsigned n = 1 + (unsigned)rng_below(rng, 3); n;) {
        struct forge_chunk *c = &f->chunks[rng_below(rng, f->count)];
        struct vs_buf *col = &c->cols.col[1 + rng_below(rng, VS_COL_END - 1)];
        size_t at;

        if (!col->len)
            continue;
        n--;
        at = rng_below(rng, col->len);
        switch (rng_below(rng, 5)) {
        case 0:
            col->data[at] ^= (uint8_t)(1 << rng_below(rng, 8));
            break;
        case 1:
            col->data[at] = (uint8_t)rng_next(rng);
            break;
        case 2:
            col->data[at] = rng_below(rng, 2) ? 0 : 0xff;
            break;
        case 3:
            memmove(col->data + at, col->data + at + 1, col->len - at - 1);
            col->len--;
            break;
        default:
            forge_must(vs_buf_put(col, "\x01", 1) == 0);
            memmove(col->data + at + 1, col->data + at, col->len - at - 1);
        }
    }
}

/* Any content under right checksums is refused by name or is a valid run. */
TEST(survives_mutated_columns)
{
    struct fixture x;
    struct rng rng = rng_init(2026);
    unsigned refused = 0;

    setup(&x);
    for (unsigned i = 0; i < 3000; i++) {
        struct forge f;
        struct vs_buf out = {0};
        struct verdict v;

        forge_load(&f, x.file.data, x.file.size);
        mutate(&f, &rng);
        forge_build(&f, &out);
        v = judge(out.data, out.len, i % 4 ? VS_OPEN_DEFAULT : VS_OPEN_SALVAGE);
        refused += v.err != 0;
        run_free(&v.events);
        vs_buf_fini(&out);
        forge_free(&f);
    }
    CHECK(refused > 1000 && refused < 3000);
    teardown(&x);
}
