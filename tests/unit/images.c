/* SPDX-License-Identifier: MIT */
#include "capture/images.h"

#include <dirent.h>
#include <link.h>
#include <sys/resource.h>

#include "capture/wire.h"
#include "unittest.h"

/* A routine to be found in this program. */
static __attribute__((noinline, used)) int a_routine_to_be_found(int x)
{
    return x * 3;
}

/* What a compiler made of another: a special form, with an entry, and a piece, without. */
int special(int x) __asm__("a_split_routine.constprop.0");
int piece(int x) __asm__("a_split_routine.constprop.0.cold");

__attribute__((noinline, used)) int special(int x)
{
    return x * 5;
}

__attribute__((noinline, used)) int piece(int x)
{
    return x * 7;
}

#define SELF "/proc/self/exe"

/* Where this program's code is mapped: the first thing that the callback sees is the program. */
struct self {
    uint64_t base, start, offset, length;
};

static int look(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct self *s = arg;

    (void)size;
    s->base = info->dlpi_addr;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];

        if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
            continue;
        s->start = s->base + p->p_vaddr;
        s->offset = p->p_offset;
        s->length = p->p_memsz;
    }
    return 1;
}

static struct self self(void)
{
    struct self s = {0};

    dl_iterate_phdr(look, &s);
    CHECK(s.length > 0);
    return s;
}

static int64_t image(void *context, const struct vs_image *i)
{
    struct vs_image *last = context;

    *last = *i;
    if (i->length == 1)
        return -VSE_LIMIT;
    return 40;
}

struct fixture {
    struct vs_image last;
    struct vs_consumer consumer;
    struct vs_images m;
    struct vs_buf ranges;
    struct self self;
};

static void setup(struct fixture *f, struct vs_place *places, size_t count)
{
    *f = (struct fixture){.self = self()};
    f->consumer = (struct vs_consumer){.context = &f->last, .image = image};
    CHECK_EQ(vs_relay_open(&f->m.relay, &f->consumer, 1, false), 0);
    f->m.places = places;
    f->m.place_count = count;
}

static void teardown(struct fixture *f)
{
    vs_relay_close(f->m.relay);
    vs_images_fini(&f->m);
    vs_buf_fini(&f->ranges);
}

static int64_t map_self(struct fixture *f)
{
    return vs_images_map(&f->m, SELF, f->self.start, f->self.length, f->self.offset, true);
}

static const struct wire_range *range_at(const struct fixture *f, size_t i)
{
    CHECK((i + 1) * sizeof(struct wire_range) <= f->ranges.len);
    return (const struct wire_range *)(const void *)f->ranges.data + i;
}

static unsigned open_files(void)
{
    DIR *d = opendir("/proc/self/fd");
    unsigned n = 0;

    CHECK(d);
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

TEST(announces_an_image_once)
{
    struct fixture f;
    unsigned files;

    setup(&f, NULL, 0);
    files = open_files();
    CHECK_EQ(map_self(&f), 40);
    CHECK_EQ(f.last.base, f.self.base);
    CHECK_EQ(f.last.start, f.self.start);
    f.last.base = 1;
    CHECK_EQ(map_self(&f), 40);
    CHECK_EQ(f.last.base, 1); /* not told again */
    vs_images_forget(&f.m);
    CHECK_EQ(map_self(&f), 40);
    CHECK_EQ(f.last.base, f.self.base);
    CHECK_EQ(open_files(), files);
    teardown(&f);
}

TEST(knows_what_is_no_image)
{
    struct fixture f;
    unsigned files;

    setup(&f, NULL, 0);
    files = open_files();
    CHECK_ERR(vs_images_map(&f.m, "/nowhere", 0, 1, 0, false), VSE_NOTFOUND);
    CHECK_ERR(vs_images_map(&f.m, "/proc/self/maps", 0, 1, 0, false), VSE_NOTFOUND);
    CHECK_ERR(vs_images_map(&f.m, "/proc/self", 0, 1, 0, false), VSE_NOTFOUND);
    CHECK_ERR(vs_images_map(&f.m, SELF, 0, 1, UINT64_MAX, false), VSE_NOTFOUND);
    CHECK_ERR(vs_images_map(&f.m, SELF, f.self.start, 1, f.self.offset, false),
              VSE_LIMIT); /* theirs */
    CHECK_EQ(open_files(), files);
    teardown(&f);
}

TEST(tells_of_an_image_that_it_cannot_read)
{
    struct fixture f;
    struct rlimit files, none;

    setup(&f, NULL, 0);
    CHECK_ERR(vs_images_map(&f.m, "/nowhere", 0, 1, 0, false), VSE_NOTFOUND);
    CHECK_ERR(vs_images_map(&f.m, "/proc/self/maps", 0, 1, 0, false), VSE_NOTFOUND);
    CHECK_STR(f.m.unread, "");
    CHECK_EQ(getrlimit(RLIMIT_NOFILE, &files), 0);
    none = (struct rlimit){0, files.rlim_max};
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
    CHECK_ERR(map_self(&f), VSE_NOTFOUND);
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &files), 0);
    CHECK_STR(f.m.unread, "cannot open it: Too many open files: " SELF);
    teardown(&f);
}

TEST(finds_places)
{
    struct vs_place places[] = {
        {.name = "a_routine_to_be_found", .kind = VS_PLACE_FROM},
        {.name = "0x1234", .kind = VS_PLACE_TO},
        {.name = "no_such_routine", .kind = VS_PLACE_TO},
    };
    struct fixture f;

    setup(&f, places, 3);
    f.m.main_only = true;
    CHECK_EQ(vs_images_ranges(&f.m, &f.ranges), 0); /* nothing is mapped yet */
    CHECK_EQ(f.ranges.len, 0);
    CHECK_EQ(map_self(&f), 40);
    CHECK_EQ(vs_images_ranges(&f.m, &f.ranges), 0);
    CHECK_EQ(f.ranges.len, 3 * sizeof(struct wire_range));
    CHECK_EQ(range_at(&f, 0)->kind, WIRE_RANGE_WANTED);
    CHECK_EQ(range_at(&f, 0)->start, f.self.start);
    CHECK_EQ(range_at(&f, 1)->kind, WIRE_RANGE_FROM);
    CHECK_EQ(range_at(&f, 1)->start, (uint64_t)(uintptr_t)a_routine_to_be_found);
    CHECK(range_at(&f, 1)->end > range_at(&f, 1)->start);
    CHECK_EQ(range_at(&f, 2)->start, 0x1234);
    CHECK_EQ(places[0].found, 1);
    CHECK_EQ(places[1].found, 1);
    CHECK_EQ(places[2].found, 0);
    f.ranges.len = 0;
    CHECK_EQ(vs_images_ranges(&f.m, &f.ranges), 0); /* told already */
    CHECK_EQ(f.ranges.len, 0);
    vs_images_replaced(&f.m, f.self.start - 4096, 4096);
    vs_images_replaced(&f.m, f.self.start + f.self.length, 4096);
    CHECK_EQ(vs_images_ranges(&f.m, &f.ranges), 0);
    CHECK_EQ(f.ranges.len, 0);
    vs_images_replaced(&f.m, f.self.start + f.self.length - 1, 4096);
    CHECK_EQ(map_self(&f), 40);
    CHECK_EQ(vs_images_ranges(&f.m, &f.ranges), 0);
    CHECK(f.ranges.len > 0);
    teardown(&f);
}

TEST(tells_entries_from_pieces)
{
    struct vs_place places[] = {
        {.name = "a_split_routine", .kind = VS_PLACE_FROM},
        {.name = "a_split_routine.constprop.0", .kind = VS_PLACE_TO},
        {.name = "a_split_routine", .kind = VS_PLACE_WANTED},
    };
    struct fixture f;

    setup(&f, places, 3);
    CHECK_EQ(map_self(&f), 40);
    CHECK_EQ(vs_images_ranges(&f.m, &f.ranges), 0);
    CHECK_EQ(places[0].found, 1);
    CHECK_EQ(places[1].found, 1);
    CHECK_EQ(places[2].found, 2);
    CHECK_EQ(range_at(&f, 0)->start, (uint64_t)(uintptr_t)special);
    CHECK_EQ(range_at(&f, 1)->start, (uint64_t)(uintptr_t)special);
    teardown(&f);
}

TEST(wants_routines_of_the_program_alone)
{
    struct vs_place place = {.name = "a_routine_to_be_found", .kind = VS_PLACE_WANTED};
    struct fixture f;

    setup(&f, &place, 1);
    f.m.main_only = true;
    CHECK_EQ(vs_images_map(&f.m, SELF, f.self.start, f.self.length, f.self.offset, false), 40);
    CHECK_EQ(vs_images_ranges(&f.m, &f.ranges), 0);
    CHECK_EQ(f.ranges.len, 0);
    vs_images_forget(&f.m);
    CHECK_EQ(map_self(&f), 40);
    CHECK_EQ(vs_images_ranges(&f.m, &f.ranges), 0);
    CHECK_EQ(f.ranges.len, sizeof(struct wire_range));
    CHECK_EQ(range_at(&f, 0)->start, (uint64_t)(uintptr_t)a_routine_to_be_found);
    teardown(&f);
}
