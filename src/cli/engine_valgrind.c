/* SPDX-License-Identifier: MIT */
/* Native x86-64 programs, under Valgrind. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/valgrind.h"
#include "cli/engine_row.h"
#include "front/recording.h"

static struct vs_valgrind_options options_of(struct recording *r)
{
    return (struct vs_valgrind_options){.argv = r->argv,
                                        .tool = getenv("VESTIGE_VALGRIND"),
                                        .loads = r->loads,
                                        .stores = r->stores,
                                        .windows = r->windows,
                                        .window_count = r->window_count,
                                        .places = r->places,
                                        .place_count = r->place_count,
                                        .main_only = r->main_only,
                                        .marks = r->marks,
                                        .interrupt = r->interrupt};
}

/* Whatever no other engine takes: scripts too, and what is refused with a reason. */
static bool fits(const char *path)
{
    (void)path;
    return true;
}

static int check(struct recording *r, uint32_t *features, struct vs_diag *diag)
{
    struct vs_valgrind_options o = options_of(r);

    (void)features;
    return vs_valgrind_check(&o, diag);
}

static int tick(void *context, const struct vs_assembler_stats *stats)
{
    struct recording *r = context;

    return r->tick(r->context, stats->instructions);
}

static int run(struct recording *r, struct vs_diag *diag, bool *theirs)
{
    struct vs_valgrind_options o = options_of(r);
    struct vs_valgrind_result result;
    int e;

    o.tick = tick;
    o.context = r;
    if ((e = vs_valgrind_run(&o, r->consumer, &result, diag, theirs)) < 0)
        return e;
    r->instructions = result.stats.instructions;
    r->skipped = result.stats.skipped;
    r->events = result.stats.events;
    r->threads = result.stats.threads;
    r->forks = result.stats.forks;
    r->programs = result.stats.programs;
    r->status = result.status;
    r->exit = recording_status(result.status);
    r->stopped = result.stopped;
    r->incomplete = recording_incomplete(&result);
    if (*result.gave_up) {
        snprintf(r->gave_up, sizeof(r->gave_up), RECORDING_GAVE_UP, result.gave_up);
        r->incomplete = r->gave_up;
    }
    r->seconds = result.seconds;
    r->more = result.more;
    recording_tidy(result.said);
    snprintf(r->said, sizeof(r->said), "%s", result.said);
    memcpy(r->unread, result.unread, sizeof(r->unread));
    return 0;
}

const struct engine engine_valgrind = {
    .name = "valgrind",
    .isa = VS_VALGRIND_ISA,
    .apart = true,
    .fits = fits,
    .check = check,
    .run = run,
};
