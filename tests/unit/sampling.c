/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "study/sampling.h"
#include "unittest.h"

static const struct vs_run_info run = {.instructions = 10000, .threads = 2};

TEST(places_windows_by_the_seed)
{
    const struct vs_sampling_plan plan = {.period = 1000, .length = 100, .warm = 300, .seed = 5};
    struct vs_sampling s;
    CHECK(vs_sampling_init(&s, &plan, &run, NULL) == 0);
    CHECK(s.count >= 9 && s.count <= 10);
    for (size_t i = 0; i < s.count; i++) {
        uint64_t end = s.windows[i].start + s.windows[i].length;
        CHECK(end <= run.instructions);
        CHECK(i == 0 || s.windows[i].length == 400);
        CHECK(i == 0 || end - s.windows[i - 1].start - s.windows[i - 1].length == 1000);
    }
    vs_sampling_fini(&s);
}

TEST(warms_up_with_what_there_is)
{
    const struct vs_sampling_plan plan = {.period = 100, .length = 100, .warm = 300};
    struct vs_sampling s;
    CHECK(vs_sampling_init(&s, &plan, &run, NULL) == 0);
    CHECK(s.count == 100);
    for (size_t i = 0; i < s.count; i++)
        CHECK(s.windows[i].start == 100 * i && s.windows[i].length == 100);
    vs_sampling_fini(&s);
}

TEST(refuses_a_short_run)
{
    const struct vs_sampling_plan plan = {.period = 20000, .length = 10001};
    struct vs_diag diag = {0};
    struct vs_sampling s;
    CHECK(vs_sampling_init(&s, &plan, &run, &diag) == -VSE_INVAL);
    vs_sampling_fini(&s);
}

/* Computed by hand: the ratio is 2, the residuals are -10, 0 and 10, and t is 4.303. */
TEST(estimates_a_rate_and_its_error)
{
    struct vs_sample_sums sums = {0};
    for (uint64_t i = 1; i <= 3; i++)
        vs_sample_add(&sums, 10, 10 * i);
    struct vs_estimate e = vs_sample_estimate(&sums, 300);
    CHECK(e.windows == 3 && e.instructions == 30);
    CHECK(fabs(e.rate - 2) < 1e-9);
    CHECK(fabs(e.error - 4.303 * sqrt(0.9 * 100 / 3) / 10) < 1e-9);
    CHECK(vs_sample_estimate(&sums, 30).error < 1e-9); /* nothing was left out */
}

TEST(knows_no_error_of_one_window)
{
    struct vs_sample_sums sums = {0};
    CHECK(isnan(vs_sample_estimate(&sums, 300).rate));
    vs_sample_add(&sums, 10, 7);
    CHECK(isinf(vs_sample_estimate(&sums, 300).error));
    CHECK(fabs(vs_sample_estimate(&sums, 300).rate - 0.7) < 1e-9);
}
