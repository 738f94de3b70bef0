/* SPDX-License-Identifier: MIT */
/* Which core stored last to code. */
#include "technique/writers.h"

#include "unittest.h"

#define CODE UINT64_C(0x4000)
enum { PAGE = 4096, LINE = 64 };

/* Takes a whole store. Returns the last core that has to be told of, and counts them in *told. */
static unsigned store(struct vs_writers *w, unsigned core, uint64_t addr, size_t size,
                      unsigned *told)
{
    unsigned last = VS_WRITERS_NOBODY, other;
    *told = 0;
    CHECK(vs_writers_concern(w, addr, size));
    while (size) {
        CHECK_EQ(vs_writers_take(w, core, &addr, &size, &other), 0);
        last = other == VS_WRITERS_NOBODY ? last : other;
        *told += other != VS_WRITERS_NOBODY;
    }
    return last;
}

TEST(tells_of_the_core_that_stored_last)
{
    struct vs_code_pages code = {0};
    struct vs_writers w = {.code = &code};
    unsigned told;
    CHECK_EQ(vs_code_pages_add(&code, CODE, 4), 0);
    CHECK_EQ(store(&w, 0, CODE + 8, 4, &told), VS_WRITERS_NOBODY);
    CHECK_EQ(store(&w, 0, CODE + 16, 4, &told), VS_WRITERS_NOBODY);
    CHECK_EQ(store(&w, 2, CODE + LINE - 1, 1, &told), 0);
    CHECK_EQ(store(&w, 2, CODE, 1, &told), VS_WRITERS_NOBODY);
    CHECK_EQ(store(&w, 1, CODE + LINE, 8, &told), VS_WRITERS_NOBODY); /* another line */
    CHECK_EQ(store(&w, 0, CODE + LINE - 4, 8, &told), 1);             /* both */
    CHECK_EQ(told, 2);
    CHECK_EQ(store(&w, 1, CODE + PAGE - 4, 4, &told), VS_WRITERS_NOBODY);
    vs_writers_fini(&w);
    vs_code_pages_fini(&code);
}

TEST(minds_only_pages_with_code)
{
    struct vs_code_pages code = {0};
    struct vs_writers w = {0};
    unsigned told;
    CHECK(!vs_writers_concern(&w, CODE, 8));
    w.code = &code;
    CHECK(!vs_writers_concern(&w, CODE, 8));
    CHECK_EQ(vs_code_pages_add(&code, CODE + PAGE - 2, 4), 0); /* a block in two pages */
    CHECK(vs_writers_concern(&w, CODE - 4, 8));
    CHECK(!vs_writers_concern(&w, CODE - 8, 8));
    CHECK(!vs_writers_concern(&w, CODE + 2 * PAGE, 8));
    for (unsigned core = 0; core < 2; core++) /* only its end lies in code */
        CHECK_EQ(store(&w, core, CODE - 3 * LINE, 4 * LINE, &told), core ? 0 : VS_WRITERS_NOBODY);
    CHECK_EQ(told, 1);
    for (unsigned core = 0; core < 2; core++) /* only its beginning does */
        CHECK_EQ(store(&w, core, CODE + 2 * PAGE - 8, 16, &told), core ? 0 : VS_WRITERS_NOBODY);
    CHECK_EQ(told, 1);
    vs_writers_fini(&w);
    vs_code_pages_fini(&code);
}

/* Pages whose numbers have the same last bits are told apart. */
TEST(is_not_misled_by_the_filter)
{
    struct vs_code_pages code = {0};
    struct vs_writers w = {.code = &code};
    const uint64_t alike = CODE + (UINT64_C(512 * 64) << VS_CODE_PAGE_BITS);
    unsigned told;
    CHECK_EQ(vs_code_pages_add(&code, CODE, 4), 0);
    CHECK_EQ(store(&w, 0, alike, 4, &told), VS_WRITERS_NOBODY);
    CHECK_EQ(store(&w, 1, alike, 4, &told), VS_WRITERS_NOBODY);
    CHECK_EQ(code.numbers.count, 1);
    CHECK_EQ(w.lines.count, 0);
    vs_writers_fini(&w);
    vs_code_pages_fini(&code);
}

TEST(goes_to_the_last_address)
{
    struct vs_code_pages code = {0};
    struct vs_writers w = {.code = &code};
    unsigned told;
    CHECK_EQ(vs_code_pages_add(&code, UINT64_MAX - 3, 4), 0);
    CHECK_EQ(vs_code_pages_add(&code, 0, 4), 0);
    CHECK_EQ(store(&w, 0, UINT64_MAX - 3, 8, &told), VS_WRITERS_NOBODY); /* it wraps around */
    CHECK_EQ(store(&w, 1, UINT64_MAX, 1, &told), 0);
    CHECK_EQ(store(&w, 1, 0, 1, &told), 0);
    vs_writers_fini(&w);
    vs_code_pages_fini(&code);
}
