/* SPDX-License-Identifier: MIT */
/* Which files are in memory, as calls and execs tell. */
#include "replay/present.h"
#include "unittest.h"

/* A program, a loader that stays at its place, and two libraries at one place; and then another
 * program where the first one was. */
enum { PROGRAM, LOADER, ONE, TWO, OTHER, LOADER_AGAIN, IMAGES };

static const uint64_t places[IMAGES] = {0x1000, 0x8000, 0x20000, 0x20000, 0x1000, 0x8000};
static const char *const paths[IMAGES] = {"/bin/a",         "/lib/ld.so", "/lib/libone.so.1.2",
                                          "/lib/libtwo.so", "/bin/b",     "/lib/ld.so"};

static void load(struct vs_loaded *l, struct vs_present *p)
{
    *l = (struct vs_loaded){0};
    CHECK_EQ(vs_loaded_name(l, IMAGES), 0);
    for (unsigned i = 0; i < IMAGES; i++) {
        const struct vs_loaded_part part = {.addr = places[i], .size = 0x1000, .image = i};
        l->images[i] = (struct vs_loaded_image){
            .entry = places[i] + 0x10, .code = places[i], .path = paths[i], .read = true};
        CHECK_EQ(vs_loaded_add(l, &part), 0);
    }
    CHECK_EQ(vs_present_init(p, IMAGES, 2), 0);
}

static unsigned at(struct vs_present *p, const struct vs_loaded *l, unsigned program, uint64_t addr)
{
    const struct vs_loaded_part *part = vs_present_find(p, l, program, addr, true);
    return part ? part->image : VS_PRESENT_NONE;
}

TEST(tells_libraries_apart_by_name)
{
    struct vs_loaded l;
    struct vs_present p;
    load(&l, &p);
    CHECK_EQ(vs_present_came(&p, &l, 0, 0x20000, 0x1000, "libtwo.so"), TWO);
    CHECK_EQ(at(&p, &l, 0, 0x20800), TWO);
    CHECK(vs_present_went(&p, &l, 0, 0x1f000, 0x4000));
    CHECK_EQ(vs_present_came(&p, &l, 0, 0x20000, 0x1000, "libone.so.1"), ONE);
    CHECK_EQ(at(&p, &l, 0, 0x20800), ONE);
    CHECK_EQ(vs_present_came(&p, &l, 0, 0x20000, 0x1000, "libtwo.so"), TWO);
    CHECK_EQ(at(&p, &l, 0, 0x20800), TWO);
    CHECK(!vs_present_has(&p, 0, ONE));
    CHECK_EQ(vs_present_came(&p, &l, 0, 0x90000, 0x1000, "libone.so.1"), VS_PRESENT_NONE);
    vs_present_fini(&p);
    vs_loaded_fini(&l);
}

TEST(takes_the_first_without_a_name)
{
    struct vs_loaded l;
    struct vs_present p;
    load(&l, &p);
    CHECK_EQ(vs_present_came(&p, &l, 0, 0x20000, 0x1000, ""), ONE);
    CHECK_EQ(vs_present_came(&p, &l, 0, 0x20000, 0x1000, ""), TWO);
    vs_present_fini(&p);
    vs_loaded_fini(&l);
}

TEST(begins_anew_with_exec)
{
    struct vs_loaded l;
    struct vs_present p, copy;
    load(&l, &p);
    CHECK_EQ(at(&p, &l, 0, 0x1000), PROGRAM);
    CHECK_EQ(at(&p, &l, 0, 0x8000), LOADER);
    CHECK_EQ(vs_present_came(&p, &l, 0, 0x20000, 0x1000, "libtwo.so"), TWO);
    CHECK(vs_present_begins(&l, 0x8010));
    CHECK(!vs_present_begins(&l, 0x8014));
    CHECK_EQ(vs_present_clone(&copy, &p), 0);
    vs_present_exec(&p);
    CHECK_EQ(p.program_count, 2);
    CHECK_EQ(at(&p, &l, 1, 0x1000), OTHER);
    CHECK_EQ(at(&p, &l, 1, 0x8000), LOADER_AGAIN);
    CHECK_EQ(at(&p, &l, 1, 0x20000), VS_PRESENT_NONE);
    CHECK_EQ(at(&p, &l, 0, 0x1000), PROGRAM); /* a core of the first may still have to be run */
    CHECK_EQ(copy.program_count, 1);
    CHECK_EQ(at(&copy, &l, 0, 0x1000), PROGRAM);
    vs_present_fini(&copy);
    vs_present_fini(&p);
    vs_loaded_fini(&l);
}

/* What is decoded may reach into where the next program will be. */
TEST(begins_anew_without_libraries)
{
    struct vs_loaded l;
    struct vs_present p;
    load(&l, &p);
    CHECK_EQ(at(&p, &l, 0, 0x1000), PROGRAM);
    CHECK_EQ(at(&p, &l, 0, 0x20000), ONE); /* in truth nothing was there */
    vs_present_exec(&p);
    CHECK(!vs_present_has(&p, 1, PROGRAM));
    CHECK(vs_present_has(&p, 1, LOADER));
    vs_present_fini(&p);
    vs_loaded_fini(&l);
}

TEST(always_has_what_no_image_has)
{
    struct vs_present p;
    CHECK_EQ(vs_present_init(&p, 0, 0), 0);
    CHECK(vs_present_has(&p, 0, 0));
    vs_present_fini(&p);
}
