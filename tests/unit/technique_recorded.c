/* SPDX-License-Identifier: MIT */
/* Recorded programs through every control-flow technique and back. */
#include <stdio.h>
#include <stdlib.h>

#include "runs.h"
#include "study/verify.h"

static void verify_all(const char *path)
{
    struct file f = file_load(path);
    struct vs_reader *reader = file_open(&f);
    struct vs_verify v;
    size_t count = 0;
    while (vs_techniques[count])
        count++;
    CHECK_EQ(vs_verify_init(&v, reader, NULL), 0);
    for (size_t i = 0; i < count; i += unittest_every(3)) {
        struct vs_technique_spec s;
        struct vs_verify_result r;
        struct vs_diag diag = {0};
        if (!(vs_techniques[i]->serves & VS_TECHNIQUE_FLOW))
            continue;
        CHECK_EQ(vs_technique_defaults(&s, vs_techniques[i]), 0);
        int err = vs_verify_flow(&v, &s, &r, &diag);
        if (err || r.outcome != VS_VERIFY_SAME)
            unittest_fail(__FILE__, __LINE__, "%s: %s", s.technique->name,
                          err ? diag.text : r.diag.text);
        CHECK_EQ(r.compared, v.steps);
        CHECK_EQ(vs_counts_get(&r.encoded, "instructions"), v.instructions);
    }
    vs_verify_fini(&v);
    vs_reader_close(reader);
    file_free(&f);
}

static void record(const char *options, const char *workload, const char *arguments)
{
    char vestige[PATH_MAX], program[PATH_MAX], command[3 * PATH_MAX];
    struct place place;
    unittest_built("bin/vestige", vestige);
    unittest_built(workload, program);
    place_init(&place);
    snprintf(command, sizeof(command), "'%s' record %s -o run.vest -- '%s' %s >out 2>&1", vestige,
             options, program, arguments);
    CHECK_EQ(system(command), 0);
    verify_all("run.vest");
    place_fini(&place);
}

TEST(replays_signals)
{
    record("--all", "workloads/host/signals", "-n 150");
}

TEST(replays_an_interpreter)
{
    record("--all", "workloads/host/interp", "-n 1");
}

TEST(replays_simulated_signals)
{
    record("--timed", "workloads/rv64/signals", "-n 150");
}

TEST(replays_simulated_cores)
{
    record("--cores 4", "workloads/rv64/fft", "-n 9 -p 4");
}

TEST(replays_cores_that_race)
{
    record("--cores 4 --timed", "workloads/rv64/racy", "-n 200 -p 4");
}
