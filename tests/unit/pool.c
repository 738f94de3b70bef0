/* SPDX-License-Identifier: MIT */
#include "base/pool.h"

#include <stdalign.h>
#include <string.h>

#include "rng.h"
#include "unittest.h"

TEST(reuses_what_was_put_back)
{
    struct vs_pool p;
    vs_pool_init(&p, 40);
    void *a = vs_pool_get(&p), *b = vs_pool_get(&p);
    CHECK(a && b && a != b);
    vs_pool_put(&p, a);
    vs_pool_put(&p, NULL);
    vs_pool_put(&p, b);
    CHECK(vs_pool_get(&p) == b);
    CHECK(vs_pool_get(&p) == a);
    CHECK(vs_pool_get(&p) != a);
    vs_pool_fini(&p);
}

TEST(aligns_for_the_type)
{
    static const struct {
        size_t size, align;
    } types[] = {{1, 1}, {2, 2}, {4, 4}, {8, 8}, {24, 8}, {32, 16}, {48, 16}, {12, 4}};
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        struct vs_pool p;
        vs_pool_init(&p, types[i].size);
        for (int k = 0; k < 5; k++) {
            void *object = vs_pool_get(&p);
            memset(object, 0xff, types[i].size);
            CHECK_EQ((uintptr_t)object % types[i].align, 0);
        }
        vs_pool_fini(&p);
    }
    CHECK_EQ(alignof(max_align_t), 16);
}

enum { OBJECTS = 2000 };

TEST(keeps_live_objects_apart)
{
    static uint8_t *live[OBJECTS];
    struct vs_pool p;
    struct rng r = rng_init(9);
    vs_pool_init(&p, 50);
    for (int i = 0; i < 100000; i++) {
        size_t k = rng_below(&r, OBJECTS);
        if (live[k]) {
            for (int n = 0; n < 50; n++)
                if (live[k][n] != (uint8_t)k)
                    CHECK_EQ(live[k][n], (uint8_t)k);
            vs_pool_put(&p, live[k]);
            live[k] = NULL;
        } else {
            live[k] = vs_pool_get(&p);
            CHECK(live[k]);
            memset(live[k], (uint8_t)k, 50);
        }
    }
    vs_pool_fini(&p);
}
