/* SPDX-License-Identifier: MIT */
#include "model/jtc.h"

#include <string.h>

#include "rng.h"
#include "unittest.h"

/* Against an array that is searched by the target's own number. */
TEST(agrees_with_a_plain_reference)
{
    enum { ENTRIES = 8 };
    uint64_t there[ENTRIES] = {0};
    struct rng rng = rng_init(11);
    struct vs_jtc j;
    CHECK_EQ(vs_jtc_init(&j, ENTRIES, 1), 0);
    for (unsigned n = 0; n < 5000; n++) {
        uint64_t target = 0x2000 + 2 * rng_below(&rng, 20);
        unsigned entry = (unsigned)(target / 2 % ENTRIES);
        CHECK_EQ(vs_jtc_index(&j, target), entry);
        CHECK_EQ(vs_jtc_put(&j, target), there[entry] == target);
        there[entry] = target;
        if (n % 500 == 499) {
            vs_jtc_clear(&j);
            memset(there, 0, sizeof(there));
        }
    }
    vs_jtc_fini(&j);
}

TEST(refuses_other_sizes)
{
    struct vs_jtc j;
    CHECK_ERR(vs_jtc_init(&j, 0, 1), VSE_INVAL);
    CHECK_ERR(vs_jtc_init(&j, 3, 1), VSE_INVAL);
    CHECK_ERR(vs_jtc_init(&j, 2 * VS_JTC_MAX, 1), VSE_INVAL);
}
