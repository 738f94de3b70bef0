/* SPDX-License-Identifier: MIT */
/* Templates of techniques, limits and results of sweeps. */
#include "sweep/template.h"

#include <string.h>

#include "sweep/store.h"
#include "sweep/study_file.h"
#include "technique/technique.h"
#include "unittest.h"

/* Checks all points of a template, in order, against texts between blanks. */
static void check_points(const char *text, const char *points)
{
    struct vs_arena arena = {0};
    struct vs_template t;
    struct vs_diag diag;
    char all[4096] = "", config[256];
    CHECK_EQ(vs_template_parse(&t, &arena, text, &diag), 0);
    for (uint64_t i = 0; i < t.points; i++) {
        CHECK_EQ(vs_template_config(&t, i, config, sizeof(config)), 0);
        strcat(strcat(all, i ? " " : ""), config);
    }
    CHECK_STR(all, points);
    vs_template_fini(&t);
    vs_arena_fini(&arena);
}

static void check_wrong(const char *text, int error, const char *why)
{
    struct vs_arena arena = {0};
    struct vs_template t;
    struct vs_diag diag;
    CHECK_EQ(vs_template_parse(&t, &arena, text, &diag), -error);
    CHECK_HAS(diag.text, why);
    vs_template_fini(&t);
    vs_arena_fini(&arena);
}

TEST(expands_axes_in_order)
{
    check_points("mcfTR_e", "default");
    check_points("mcfTR_e:small", "small");
    check_points("mcfTR_e:gshare=256..1024*2", "gshare=256 gshare=512 gshare=1024");
    check_points("mcfTR_e:ras=2..9+3", "ras=2 ras=5 ras=8");
    check_points("mcfTR_e:ras=7..8", "ras=7 ras=8");
    check_points("mcfTR_e:gshare=1K|2K,hash=*",
                 "gshare=1K,hash=published gshare=1K,hash=folded gshare=2K,hash=published "
                 "gshare=2K,hash=folded");
    check_points("mcfTA:2K|8K,loops=0|16", "2K,loops=0 2K,loops=16 8K,loops=0 8K,loops=16");
    check_points("mcfTR_e:*,ras=4", "small,ras=4 medium,ras=4 large,ras=4");
    check_points("mlvCF_e:(k=0|k=8,r=16),granule=4", "k=0,granule=4 k=8,r=16,granule=4");
    check_points("mcfTR_e:gshare=256..256*2", "gshare=256");
}

TEST(ends_a_range_before_numbers_do)
{
    struct vs_arena arena = {0};
    struct vs_words out = {0};
    struct vs_diag diag;
    static const char text[] = "9223372036854775808..18446744073709551615*2";
    CHECK_EQ(vs_range_expand(&out, &arena, text, strlen(text), NULL, &diag), 0);
    CHECK_EQ(out.count, 1);
    vs_words_fini(&out);
    vs_arena_fini(&arena);
}

TEST(says_what_is_wrong)
{
    check_wrong("nope:x", VSE_NOTFOUND, "no technique 'nope'");
    check_wrong("mcfTR_e:nope", VSE_NOTFOUND, "'nope'");
    check_wrong("mcfTR_e:nope=1", VSE_NOTFOUND, "'nope'");
    check_wrong("mcfTR_e:ras=9..8", VSE_INVAL, "the range '9..8' is empty");
    check_wrong("mcfTR_e:ras=1..8*1", VSE_INVAL, "is no range");
    check_wrong("mcfTR_e:ras=0..8*2", VSE_INVAL, "is no range");
    check_wrong("mcfTR_e:ras=1..8+0", VSE_INVAL, "is no range");
    check_wrong("mcfTR_e:ras=*", VSE_INVAL, "'*' stands for words");
    check_wrong("mcfNX_b:*", VSE_INVAL, "mcfNX_b has no configurations");
    check_wrong("mcfTR_e:ras=", VSE_INVAL, "a value is empty");
    check_wrong("mcfTR_e:ras=1||2", VSE_INVAL, "a value is empty");
    check_wrong("mcfTR_e:", VSE_INVAL, "a value is empty");
    check_wrong("mcfTR_e:gshare=1..3", VSE_INVAL, "power of two, not 3");
    check_wrong("mcfTR_e:ras=0..1000000", VSE_LIMIT, "more than 100000 values");
}

TEST(refuses_more_points_than_there_may_be)
{
    check_wrong("mcfTR_e:ras=1..64,ras=1..64,ras=1..64,ras=1..64", VSE_LIMIT,
                "more than 1048576 points");
}

TEST(reads_limits_of_both_kinds)
{
    static const struct {
        const char *text;
        uint64_t limit;
    } right[] = {{"20k", 20000}, {"16Ki", 16384}, {"16K", 16384}, {"3m", 3000000}, {"7", 7}};
    uint64_t limit;
    for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++) {
        CHECK(vs_sweep_limit(right[i].text, &limit));
        CHECK_EQ(limit, right[i].limit);
    }
    CHECK(!vs_sweep_limit("", &limit));
    CHECK(!vs_sweep_limit("k", &limit));
    CHECK(!vs_sweep_limit("20kk", &limit));
    CHECK(!vs_sweep_limit("18446744073709551615k", &limit));
}

static int count_units(void *context, const char *run, const struct vs_store_unit *unit,
                       struct vs_diag *diag)
{
    (void)run, (void)unit, (void)diag;
    ++*(unsigned *)context;
    return 0;
}

TEST(notices_each_changed_byte_of_results)
{
    static const char text[] = "vestige results 1\nversion 0.1.0\nrun 12\nwith w\nunit a\n= bits "
                               "1\nend 63d1a6f6\n";
    char copy[sizeof(text)];
    unsigned units = 0;
    struct vs_diag diag;
    for (size_t i = 0; i + 1 < sizeof(text); i++) {
        memcpy(copy, text, sizeof(text));
        copy[i] ^= 1;
        CHECK_ERR(vs_store_parse(copy, sizeof(text) - 1, "w", count_units, &units, &diag),
                  VSE_CORRUPT);
    }
    for (size_t size = 0; size + 1 < sizeof(text); size++)
        CHECK_ERR(vs_store_parse(text, size, "w", count_units, &units, &diag), VSE_CORRUPT);
    CHECK_EQ(units, 0);
}
