/* SPDX-License-Identifier: MIT */
#include "capture/valgrind.h"

#include "base/diag.h"
#include "capture/family.h"
#include "capture/tool_session.h"

/* ---- the row --------------------------------------------------------------------------------- */

static bool fits(const char *path)
{
    (void)path;
    return true;
}

static int check(const struct vs_engine_request *o, uint32_t *features, struct vs_diag *diag)
{
    (void)features;
    return vs_launch_check(o, diag);
}

/* Runs the program, which is the first of the family, if there is one. */
static int record(struct vs_session *s, struct vs_family *family)
{
    double start = vs_session_now();
    int e = vs_session_open(s);

    if (e == 0)
        e = vs_launch_start(&s->launch, s->o, s->diag);
    if (e == 0 && s->o->interrupt)
        s->o->interrupt->program = s->launch.pid;
    if (e == 0 && family)
        e = vs_family_begin(family, s);
    if (e == 0)
        e = vs_session_run(s, start);
    if (family)
        vs_family_wait(family, s, e < 0);
    return e;
}

static int run(const struct vs_engine_request *o, struct vs_engine_result *result,
               struct vs_diag *diag, bool *theirs)
{
    struct vs_session s = {.o = o,
                           .result = result,
                           .diag = diag,
                           .theirs = theirs,
                           .launch = {.socket = -1, .log = -1, .process = -1}};
    struct vs_family *family = NULL;
    int e;

    *result = (struct vs_engine_result){0};
    *theirs = false;
    e = vs_launch_check(o, diag);
    if (e == 0 && o->follower)
        e = vs_family_open(&family, o);
    if (e == 0)
        e = record(&s, family);
    vs_launch_close(&s.launch);
    vs_session_close(&s);
    vs_family_close(family);
    if (e == -VSE_NOMEM && !*theirs)
        vs_diag_set(diag, e, -1, -1, "out of memory");
    return e;
}

const struct vs_engine vs_engine_valgrind = {
    .name = "valgrind",
    .isa = VS_VALGRIND_ISA,
    .apart = true,
    .inputs = true,
    .fits = fits,
    .check = check,
    .run = run,
};
