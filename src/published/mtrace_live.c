/* SPDX-License-Identifier: MIT */
#include <stdatomic.h>
#include <stdlib.h>

#include "base/progress.h"
#include "capture/valgrind.h"
#include "published/mtrace.h"
#include "front/recording.h"

/* Stands between the engine and a tool, to tell "enough" from failure. */
struct live {
    struct vs_before before; /* the tool */
    atomic_int error;        /* the tool's; -VSE_END: it has enough */
    struct vs_progress progress;
};

static int put(void *context, const struct vs_batch *batch)
{
    struct live *l = context;

    if (l->error != -VSE_END)
        l->error = l->before.to.put(l->before.to.context, batch);
    return l->error == -VSE_END ? 0 : l->error;
}

static int tick(void *context, uint64_t instructions)
{
    struct live *l = context;

    vs_progress_update(&l->progress, instructions);
    return l->error == -VSE_END;
}

int mtrace_live(struct cli *cli, const struct mtrace_options *o, bool operands,
                const struct vs_consumer *c, struct mtrace_ending *ending)
{
    struct live live = {.before = {.to = *c, .put = put, .context = &live}};
    struct vs_window window = {.start = o->skip};
    struct vs_consumer between = vs_consumer_before(&live.before);
    struct vs_valgrind_settings settings = {.tool = getenv("VESTIGE_VALGRIND")};
    struct vs_engine_request v = {.argv = o->program,
                                  .settings = &settings,
                                  .consumer = &between,
                                  .loads = operands,
                                  .stores = operands && o->store,
                                  .windows = &window,
                                  .window_count = o->skip > 0,
                                  .tick = tick,
                                  .context = &live};
    struct vs_engine_result result = {0};
    struct vs_diag diag = {0};
    bool theirs = false;
    int e = 0;

    if (c->meta)
        e = c->meta(c->context, "isa", vs_engine_valgrind.isa);
    if (e == 0) {
        v.interrupt = recording_catch_signals(vs_engine_valgrind.apart);
        recording_progress(&live.progress, &(struct recording_shows){0}, "tracing");
        e = vs_engine_valgrind.run(&v, &result, &diag, &theirs);
        vs_progress_finish(&live.progress);
        recording_release_signals();
        vs_engine_result_fini(&result);
    }
    if (e < 0 && (theirs || live.error))
        return CLI_DONE; /* the tool knows why */
    if (e < 0)
        return recording_refused(cli, o->program[0], e, &diag, "");
    recording_notes(result.forks, result.said, result.unread, recording_incomplete(&result));
    if (*result.gave_up) {
        cli_error(cli, "%s: %s", o->program[0], result.gave_up);
        return CLI_USAGE;
    }
    *ending = (struct mtrace_ending){.skipped = result.skipped,
                                     .status = recording_status(result.status)};
    return CLI_DONE;
}
