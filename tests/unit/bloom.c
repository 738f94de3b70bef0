/* SPDX-License-Identifier: MIT */
#include "model/bloom.h"

#include "rng.h"
#include "unittest.h"
#include "vestige/error.h"

TEST(has_all_that_it_was_given)
{
    struct vs_bloom b;
    struct rng rng = rng_init(3);
    CHECK_EQ(vs_bloom_init(&b, 256, 5), 0);
    for (unsigned round = 0; round < 100; round++) {
        uint64_t given[20];
        CHECK(!vs_bloom_has(&b, rng_next(&rng)));
        for (unsigned i = 0; i < 20; i++)
            vs_bloom_add(&b, given[i] = rng_next(&rng));
        for (unsigned i = 0; i < 20; i++)
            CHECK(vs_bloom_has(&b, given[i] ^ 31)); /* of the same 32 bytes */
        unsigned others = 0;
        for (unsigned i = 0; i < 1000; i++)
            others += vs_bloom_has(&b, rng_next(&rng));
        CHECK(others > 20 && others < 150); /* 20 of 256 bits are set, or a few less */
        vs_bloom_clear(&b);
    }
    vs_bloom_fini(&b);
}

TEST(has_everything_when_it_is_filled_or_has_no_bits)
{
    struct vs_bloom b;
    CHECK_EQ(vs_bloom_init(&b, 64, 12), 0);
    vs_bloom_fill(&b);
    for (uint64_t at = 0; at < 100; at++)
        CHECK(vs_bloom_has(&b, at << 12));
    vs_bloom_clear(&b);
    CHECK(!vs_bloom_has(&b, 0));
    vs_bloom_fini(&b);
    CHECK_EQ(vs_bloom_init(&b, 0, 12), 0);
    vs_bloom_add(&b, 1);
    vs_bloom_clear(&b);
    CHECK(vs_bloom_has(&b, 7));
    vs_bloom_fini(&b);
    CHECK_EQ(vs_bloom_cost(1024).registers, 1024);
}

TEST(refuses_other_sizes)
{
    struct vs_bloom b;
    CHECK_ERR(vs_bloom_init(&b, 32, 5), VSE_INVAL);
    CHECK_ERR(vs_bloom_init(&b, 96, 5), VSE_INVAL);
    CHECK_ERR(vs_bloom_init(&b, 2 * VS_BLOOM_BITS_MAX, 5), VSE_INVAL);
}
