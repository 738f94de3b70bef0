/* SPDX-License-Identifier: MIT */
/* Where instructions are counted, and to which routine they go. */
#include "study/routines.h"

#include "runs.h"

#define CALL (VS_BR_CALL | VS_BR_TAKEN)

/* ---- counting ---- */

static uint64_t count_at(const struct vs_profile *p, uint64_t pc)
{
    const struct vs_map_entry *e = vs_map_find(&p->places, pc);

    return e ? vs_profile_place(e).instructions : 0;
}

static bool entered(const struct vs_profile *p, uint64_t pc)
{
    const struct vs_map_entry *e = vs_map_find(&p->places, pc);

    return e && vs_profile_place(e).entry;
}

static uint64_t total(const struct vs_profile *p)
{
    uint64_t sum = p->unknown;

    for (const struct vs_map_entry *e = NULL; (e = vs_map_next(&p->places, e));)
        sum += vs_profile_place(e).instructions;
    return sum;
}

static struct vs_profile profile_of(const struct vs_event *events, size_t count)
{
    struct vs_profile p;

    CHECK_EQ(vs_profile_init(&p), 0);
    CHECK_EQ(vs_profile_batch(&p, &(struct vs_batch){.events = events, .count = count}), 0);
    return p;
}

#define PROFILE(events) profile_of(events, sizeof(events) / sizeof(events[0]))

TEST(counts_at_the_pc_of_an_event)
{
    const struct vs_event e[] = {
        {.kind = VS_BRANCH, .pc = 0x100, .addr = 0x200, .flags = VS_BR_TAKEN, .icount = 5},
        {.kind = VS_LOAD, .pc = 0x204, .icount = 2},
        {.kind = VS_STORE, .pc = 0x204},
        {.kind = VS_SYSCALL, .pc = 0x208, .icount = 1},
        {.kind = VS_NONDET, .pc = 0x20c, .icount = 1},
        {.kind = VS_LOAD, .pc = 0x204, .icount = 7},
    };
    struct vs_profile p = PROFILE(e);

    CHECK_EQ(count_at(&p, 0x100), 5);
    CHECK_EQ(count_at(&p, 0x204), 9);
    CHECK_EQ(count_at(&p, 0x208), 1);
    CHECK_EQ(count_at(&p, 0x20c), 1);
    CHECK_EQ(p.unknown, 0);
    vs_profile_fini(&p);
}

TEST(counts_where_the_thread_is_without_a_pc)
{
    const struct vs_event e[] = {
        {.kind = VS_COUNT, .icount = 1}, /* nothing is known yet */
        {.kind = VS_BRANCH, .pc = 0x100, .addr = 0x200, .flags = VS_BR_TAKEN},
        {.kind = VS_COUNT, .icount = 10},
        {.kind = VS_COUNT, .icount = 20, .thread = 1},
        {.kind = VS_BRANCH, .pc = 0x300, .addr = 0x200, .flags = VS_BR_COND}, /* not taken */
        {.kind = VS_EXTERNAL, .pc = 0x999, .icount = 30},
        {.kind = VS_EXCEPTION, .pc = 0x310, .addr = 0x400, .icount = 4},
        {.kind = VS_COUNT, .icount = 40},
        {.kind = VS_EXCEPTION_RET, .pc = 0x410, .addr = 0x310},
        {.kind = VS_MAP, .pc = 3, .icount = 50},
        {.kind = VS_GAP, .pc = 0x500, .icount = 60},
        {.kind = VS_THREAD_EXIT, .icount = 70},
    };
    struct vs_profile p = PROFILE(e);

    CHECK_EQ(p.unknown, 21);
    CHECK_EQ(count_at(&p, 0x200), 10);
    CHECK_EQ(count_at(&p, 0x300), 30);
    CHECK_EQ(count_at(&p, 0x310), 4 + 50 + 60);
    CHECK_EQ(count_at(&p, 0x400), 40);
    CHECK_EQ(count_at(&p, 0x500), 70);
    CHECK_EQ(total(&p), 21 + 10 + 30 + 114 + 40 + 70);
    vs_profile_fini(&p);
}

TEST(notes_what_is_entered)
{
    const struct vs_event e[] = {
        {.kind = VS_THREAD_START, .pc = 0x100},
        {.kind = VS_BRANCH, .pc = 0x108, .addr = 0x200, .flags = CALL},
        {.kind = VS_BRANCH, .pc = 0x208, .addr = 0x300, .flags = VS_BR_TAKEN},
        {.kind = VS_BRANCH, .pc = 0x308, .addr = 0x400, .flags = VS_BR_COND | VS_BR_CALL},
        {.kind = VS_EXCEPTION, .pc = 0x30c, .addr = 0x500},
    };
    struct vs_profile p = PROFILE(e);

    CHECK(entered(&p, 0x100) && entered(&p, 0x200) && entered(&p, 0x500));
    CHECK(!entered(&p, 0x300) && !entered(&p, 0x400));
    vs_profile_fini(&p);
}

TEST(counts_iterations_not_operands)
{
    enum { R = VS_MEM_REPEAT };
    const struct vs_event e[] = {
        /* movs, three times, and another thread in between */
        {.kind = VS_LOAD, .pc = 0x100, .icount = 1},
        {.kind = VS_STORE, .pc = 0x100},
        {.kind = VS_LOAD, .pc = 0x100, .flags = R},
        {.kind = VS_LOAD, .pc = 0x900, .thread = 1, .icount = 3},
        {.kind = VS_LOAD, .pc = 0x900, .thread = 1, .flags = R}, /* lods, twice */
        {.kind = VS_STORE, .pc = 0x100, .flags = R},
        {.kind = VS_LOAD, .pc = 0x100, .flags = R},
        {.kind = VS_STORE, .pc = 0x100, .flags = R},
        /* cmps, twice: two loads each */
        {.kind = VS_LOAD, .pc = 0x104, .icount = 1},
        {.kind = VS_LOAD, .pc = 0x104},
        {.kind = VS_LOAD, .pc = 0x104, .flags = R},
        {.kind = VS_LOAD, .pc = 0x104, .flags = R},
        /* stos: the same instruction again, once and then twice */
        {.kind = VS_STORE, .pc = 0x108, .icount = 1},
        {.kind = VS_STORE, .pc = 0x108, .icount = 2},
        {.kind = VS_STORE, .pc = 0x108, .flags = R},
    };
    struct vs_profile p = PROFILE(e);

    CHECK_EQ(p.iterations, 2 + 1 + 1 + 1);
    vs_profile_fini(&p);
}

TEST(keeps_many_places)
{
    enum { PLACES = 100000 };
    struct vs_event e = {.kind = VS_LOAD};
    struct vs_profile p;

    CHECK_EQ(vs_profile_init(&p), 0);
    for (unsigned round = 0; round < 2; round++)
        for (unsigned i = 1; i <= PLACES; i++) {
            e.pc = (uint64_t)i << 32;
            e.icount = (uint16_t)(i % 7);
            CHECK_EQ(vs_profile_batch(&p, &(struct vs_batch){.events = &e, .count = 1}), 0);
        }
    CHECK_EQ(p.places.count, PLACES - PLACES / 7);
    CHECK_EQ(count_at(&p, UINT64_C(99999) << 32), 2 * (99999 % 7));
    vs_profile_fini(&p);
}

TEST(counts_every_instruction_of_generated_runs)
{
    struct run r = run_generate(
        &(struct gen_options){.seed = 8, .events = 50000, .threads = 4, .memory = true});
    struct vs_profile p = profile_of(r.events, r.count);
    uint64_t sum = 0;

    for (size_t i = 0; i < r.count; i++)
        sum += r.events[i].icount;
    CHECK_EQ(total(&p), sum);
    CHECK_EQ(p.unknown, 0);
    vs_profile_fini(&p);
    run_free(&r);
}

/* ---- naming ---- */

/* Names the 0x100 bytes from each multiple of 0x100 on, but none below 0x200. */
static int resolve(void *context, const char *path, uint64_t link, char *out, size_t capacity,
                   uint64_t *start)
{
    ++*(unsigned *)context;
    if (link < 0x200)
        return -VSE_NOTFOUND;
    *start = link & ~UINT64_C(0xff);
    snprintf(out, capacity, "%s_%llx", path, (unsigned long long)*start);
    return 0;
}

static const struct vs_image images[] = {
    {.path = "b", .symbols = "", .base = 0x20000, .start = 0x20000, .length = 0x1000},
    {.path = "a", .symbols = "a.debug", .base = 0xf000, .start = 0x10000, .length = 0x1000},
    {.path = "none", .base = 0, .start = 0x10800, .length = 0},
};

static const struct vs_event calls[] = {
    {.kind = VS_COUNT, .icount = 1},
    {.kind = VS_LOAD, .pc = 0x10010, .icount = 10}, /* a: link 0x1010 */
    {.kind = VS_BRANCH, .pc = 0x100f0, .addr = 0x10140, .flags = CALL, .icount = 20},
    {.kind = VS_LOAD, .pc = 0x10148, .icount = 30},
    {.kind = VS_BRANCH, .pc = 0x10150, .addr = 0x20010, .flags = CALL, .icount = 1},
    {.kind = VS_LOAD, .pc = 0x20014, .icount = 100},
    {.kind = VS_LOAD, .pc = 0x20200, .icount = 200},
    {.kind = VS_LOAD, .pc = 0x20fff, .icount = 1},
    {.kind = VS_LOAD, .pc = 0x21000, .icount = 40}, /* just after b */
    {.kind = VS_LOAD, .pc = 0x21f00, .icount = 2},
};

static void check_row(const struct vs_routines *r, size_t i, const char *name, int64_t image,
                      uint64_t start, uint64_t instructions)
{
    CHECK(i < r->count);
    CHECK_STR(r->rows[i].name, name);
    CHECK_EQ(r->rows[i].image, image);
    CHECK_EQ(r->rows[i].start, start);
    CHECK_EQ(r->rows[i].instructions, instructions);
}

static void check_images(const struct vs_routines *r)
{
    CHECK_EQ(r->image_count, 3);
    CHECK_EQ(r->images[0], 301);
    CHECK_EQ(r->images[1], 61);
    CHECK_EQ(r->images[2], 0);
    CHECK_EQ(r->elsewhere, 42);
    CHECK_EQ(r->unknown, 1);
}

TEST(tells_routines_by_entries)
{
    struct vs_profile p = PROFILE(calls);
    struct vs_routines r;

    CHECK_EQ(vs_routines_init(&r, &p, images, 3, NULL), 0);
    check_images(&r);
    CHECK_EQ(r.count, 4);
    check_row(&r, 0, NULL, 0, 0x20010, 301);
    check_row(&r, 1, NULL, -1, 0x21000, 42);
    check_row(&r, 2, NULL, 1, 0x10140, 31);
    check_row(&r, 3, NULL, 1, 0x10000, 30);
    vs_routines_fini(&r);
    vs_profile_fini(&p);
}

TEST(takes_names_of_the_resolver)
{
    struct vs_profile p = PROFILE(calls);
    struct vs_routines r;
    unsigned asked = 0;
    const struct vs_resolver resolver = {&asked, resolve};

    CHECK_EQ(vs_routines_init(&r, &p, images, 3, &resolver), 0);
    check_images(&r);
    CHECK_EQ(r.count, 6);
    check_row(&r, 0, "b_200", 0, 0x20200, 200);
    check_row(&r, 1, NULL, 0, 0x20010, 100); /* has no name */
    check_row(&r, 2, NULL, -1, 0x21000, 42);
    check_row(&r, 3, "a.debug_1100", 1, 0x10100, 31);
    check_row(&r, 4, "a.debug_1000", 1, 0x10000, 30);
    check_row(&r, 5, "b_f00", 0, 0x20f00, 1);
    CHECK_EQ(asked, 7); /* once per place that is in an image */
    vs_routines_fini(&r);
    vs_profile_fini(&p);
}

static int64_t image_of(const struct vs_image *list, size_t n, uint64_t pc)
{
    const struct vs_event e = {.kind = VS_LOAD, .pc = pc, .icount = 1};
    struct vs_profile p = profile_of(&e, 1);
    struct vs_routines r;

    CHECK_EQ(vs_routines_init(&r, &p, list, n, NULL), 0);
    CHECK_EQ(r.count, 1);
    int64_t image = r.rows[0].image;
    CHECK_EQ(r.elsewhere, image < 0);
    vs_routines_fini(&r);
    vs_profile_fini(&p);
    return image;
}

TEST(finds_images_that_overlap)
{
    const struct vs_image list[] = {
        {.path = "inner", .start = 0x3000, .length = 0x100},
        {.path = "outer", .start = 0x1000, .length = 0x9000},
        {.path = "top", .start = UINT64_MAX - 0xff, .length = UINT64_MAX},
    };

    CHECK_EQ(image_of(list, 3, 0xfff), -1);
    CHECK_EQ(image_of(list, 3, 0x1000), 1);
    CHECK_EQ(image_of(list, 3, 0x3000), 0);
    CHECK_EQ(image_of(list, 3, 0x30ff), 0);
    CHECK_EQ(image_of(list, 3, 0x3100), 1);
    CHECK_EQ(image_of(list, 3, 0x9fff), 1);
    CHECK_EQ(image_of(list, 3, 0xa000), -1);
    CHECK_EQ(image_of(list, 3, UINT64_MAX), 2);
    CHECK_EQ(image_of(list, 0, 0x1000), -1);
}

/* Images 0 and 1 lie at the same place one after the other; 2, which nobody maps, beside them. */
TEST(counts_in_the_image_that_was_there)
{
    const struct vs_image list[] = {
        {.path = "a", .symbols = "", .base = 0x10000, .start = 0x10000, .length = 0x1000},
        {.path = "b", .symbols = "", .base = 0x10000, .start = 0x10000, .length = 0x800},
        {.path = "c", .symbols = "", .base = 0x20000, .start = 0x20000, .length = 0x1000},
    };
    const struct vs_event e[] = {
        {.kind = VS_MAP, .pc = 0, .addr = 0x10000, .value = 0x1000, .flags = VS_MAP_EXEC},
        {.kind = VS_LOAD, .pc = 0x10200, .icount = 1},
        {.kind = VS_LOAD, .pc = 0x20200, .icount = 2},
        {.kind = VS_LOAD, .pc = 0x10900, .icount = 4},
        /* data of no interest */
        {.kind = VS_MAP, .pc = VS_NO_IMAGE, .addr = 0x50000, .value = 0x1000, .flags = 8},
        {.kind = VS_LOAD, .pc = 0x10900, .icount = 8},
        /* a part of it */
        {.kind = VS_MAP, .pc = VS_NO_IMAGE, .addr = 0x10100, .value = 0x300, .flags = 8},
        {.kind = VS_LOAD, .pc = 0x10200, .icount = 16}, /* code of nobody */
        {.kind = VS_LOAD, .pc = 0x10010, .icount = 32},
        {.kind = VS_LOAD, .pc = 0x10900, .icount = 64},
        /* another program */
        {.kind = VS_MAP, .pc = VS_NO_IMAGE, .value = UINT64_C(1) << 47, .flags = 8},
        {.kind = VS_MAP, .pc = 1, .addr = 0x10000, .value = 0x800, .flags = VS_MAP_EXEC},
        {.kind = VS_LOAD, .pc = 0x10200, .icount = 128},
        {.kind = VS_LOAD, .pc = 0x10900, .icount = 256}, /* behind it */
        /* the first again, in place of it */
        {.kind = VS_MAP, .pc = 0, .addr = 0x10000, .value = 0x1000, .flags = VS_MAP_EXEC},
        {.kind = VS_MAP, .pc = 0, .addr = 0x10000, .value = 0x1000, .flags = VS_MAP_EXEC},
        {.kind = VS_LOAD, .pc = 0x10200, .icount = 512},
        {.kind = VS_COUNT, .icount = 1024},
    };
    struct vs_profile p = PROFILE(e);
    struct vs_routines r;
    unsigned asked = 0;
    const struct vs_resolver resolver = {&asked, resolve};

    CHECK_EQ(p.epochs, 3);
    CHECK_EQ(vs_routines_init(&r, &p, list, 3, &resolver), 0);
    CHECK_EQ(r.images[0], 1 + 4 + 8 + 32 + 64 + 512 + 1024);
    CHECK_EQ(r.images[1], 128);
    CHECK_EQ(r.images[2], 2);
    CHECK_EQ(r.elsewhere, 16 + 256);
    CHECK_EQ(r.unknown, 0);
    CHECK_EQ(r.count, 7);
    check_row(&r, 0, "a_200", 0, 0x10200, 1 + 512 + 1024);
    check_row(&r, 1, NULL, -1, 0x10900, 256);
    check_row(&r, 2, "b_200", 1, 0x10200, 128);
    check_row(&r, 3, "a_900", 0, 0x10900, 4 + 8 + 64);
    check_row(&r, 4, NULL, 0, 0x10000, 32);
    check_row(&r, 5, NULL, -1, 0x10200, 16);
    check_row(&r, 6, "c_200", 2, 0x20200, 2);
    vs_routines_fini(&r);
    vs_profile_fini(&p);
}

/* Two programs, one after the other, use a library in the same place. */
TEST(adds_up_routines_of_one_file)
{
    static const uint8_t id[] = {1, 2}, other[] = {1, 3};
    const struct vs_image list[] = {
        {.path = "l",
         .base = 0x10000,
         .start = 0x10000,
         .length = 0x1000,
         .build_id = id,
         .build_id_size = 2},
        {.path = "l",
         .base = 0x10000,
         .start = 0x10000,
         .length = 0x1000,
         .build_id = id,
         .build_id_size = 2},
        {.path = "l",
         .base = 0x10000,
         .start = 0x10000,
         .length = 0x1000,
         .build_id = other,
         .build_id_size = 2},
    };
    struct vs_profile p;
    struct vs_routines r;
    unsigned asked = 0;
    const struct vs_resolver resolver = {&asked, resolve};

    CHECK_EQ(vs_profile_init(&p), 0);
    for (uint64_t i = 0; i < 3; i++) {
        const struct vs_event e[] = {
            {.kind = VS_MAP, .pc = i, .addr = 0x10000, .value = 0x1000, .flags = VS_MAP_EXEC},
            {.kind = VS_LOAD, .pc = 0x10200, .icount = (uint16_t)(10 - i)},
        };
        CHECK_EQ(vs_profile_batch(&p, &(struct vs_batch){.events = e, .count = 2}), 0);
    }
    CHECK_EQ(vs_routines_init(&r, &p, list, 3, &resolver), 0);
    CHECK_EQ(r.images[0], 10);
    CHECK_EQ(r.images[1], 9);
    CHECK_EQ(r.images[2], 8);
    CHECK_EQ(r.count, 2);
    check_row(&r, 0, "l_200", 0, 0x10200, 19);
    check_row(&r, 1, "l_200", 2, 0x10200, 8);
    vs_routines_fini(&r);
    vs_profile_fini(&p);
}

/* What cannot be told apart any more is still counted. */
TEST(counts_on_after_many_changes)
{
    const struct vs_image list[] = {{.path = "a", .start = 0x10000, .length = 0x1000}};
    struct vs_event e[] = {
        {.kind = VS_MAP, .pc = 0, .addr = 0x10000, .value = 0x1000, .flags = VS_MAP_EXEC},
        {.kind = VS_LOAD, .pc = 0x10200, .icount = 1},
        {.kind = VS_MAP, .pc = VS_NO_IMAGE, .addr = 0x10000, .value = 0x1000, .flags = 8},
    };
    const unsigned times = VS_PROFILE_EPOCHS_MAX + 100;
    struct vs_profile p;
    struct vs_routines r;

    CHECK_EQ(vs_profile_init(&p), 0);
    for (unsigned i = 0; i < times; i++)
        CHECK_EQ(vs_profile_batch(&p, &(struct vs_batch){.events = e, .count = 3}), 0);
    CHECK_EQ(p.epochs, VS_PROFILE_EPOCHS_MAX);
    CHECK_EQ(p.mapped.count, 1);
    CHECK_EQ(vs_routines_init(&r, &p, list, 1, NULL), 0);
    CHECK_EQ(r.images[0], times);
    CHECK_EQ(r.count, 1);
    vs_routines_fini(&r);
    vs_profile_fini(&p);
}

TEST(has_nothing_of_an_empty_run)
{
    struct vs_profile p;
    struct vs_routines r;

    CHECK_EQ(vs_profile_init(&p), 0);
    CHECK_EQ(vs_routines_init(&r, &p, NULL, 0, NULL), 0);
    CHECK_EQ(r.count, 0);
    CHECK_EQ(r.elsewhere + r.unknown, 0);
    vs_routines_fini(&r);
    vs_profile_fini(&p);
}
