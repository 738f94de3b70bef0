/* SPDX-License-Identifier: MIT */
#include "study/verify_inputs.h"

#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "rerun/rerun.h"

#define STRETCH (UINT64_C(1) << 22) /* instructions between two reports of progress */

struct check {
    struct vs_inputs_check *result;
    struct vs_reader *inputs, *recorded; /* recorded: NULL if there are only inputs */
    struct vs_rerun *rerun;
    struct vs_batch there; /* recorded events; those from `at` on are not compared yet */
    size_t at;
    /* By thread, instructions that were counted by themselves: recorded ones less those that were
     * made. Where they are counted is not said by inputs, but they count before the next event. */
    int64_t *counted;
    struct vs_diag *diag;
};

/* Whether they are the same, if one counts so many instructions more. */
static bool same(const struct vs_batch *a, const struct vs_event *x, const struct vs_batch *b,
                 const struct vs_event *y, int64_t more)
{
    struct vs_event p = *x, q = *y;
    if (x->icount + more != y->icount)
        return false;
    p.icount = q.icount = 0;
    if (!vs_event_is_wide(x) || !vs_event_is_wide(y))
        return memcmp(&p, &q, sizeof(p)) == 0;
    p.value = q.value = 0;
    return memcmp(&p, &q, sizeof(p)) == 0 &&
           memcmp(vs_event_bytes(a, x), vs_event_bytes(b, y), x->size) == 0;
}

/* Goes to the next recorded event that does not only count. Returns 0; -VSE_END; an error. */
static int refill(struct check *k)
{
    for (;;) {
        for (; k->at < k->there.count; k->at++) {
            const struct vs_event *e = &k->there.events[k->at];
            if (e->kind != VS_COUNT)
                return 0;
            k->counted[e->thread] += e->icount;
        }
        k->at = k->there.count = 0;
        int n = vs_reader_next(k->recorded, &k->there);
        if (n < 0 && n != -VSE_END)
            *k->diag = *vs_reader_diag(k->recorded);
        if (n < 0)
            return n;
    }
}

static void differ(struct check *k, uint64_t event, const struct vs_event *expected,
                   const struct vs_event *got)
{
    k->result->differences = 1;
    k->result->first.event = event;
    if (expected)
        k->result->first.expected = *expected;
    if (got)
        k->result->first.got = *got;
}

static int compare(struct check *k, const struct vs_batch *made)
{
    int err = 0;
    for (size_t i = 0; i < made->count && !k->result->differences; i++) {
        const struct vs_event *got = &made->events[i], *expected;
        if (got->kind == VS_COUNT) {
            k->counted[got->thread] -= got->icount;
            k->result->compared++;
            continue;
        }
        err = refill(k);
        if (err && err != -VSE_END)
            return err;
        expected = err ? NULL : &k->there.events[k->at];
        if (!expected || !same(&k->there, expected, made, got, k->counted[got->thread])) {
            differ(k, made->first + i, expected, got);
            break;
        }
        k->at++;
        k->counted[got->thread] = 0;
        k->result->compared++;
    }
    return 0;
}

static void count(struct check *k, const struct vs_batch *made)
{
    struct vs_inputs_check *c = k->result;
    for (size_t i = 0; i < made->count; i++) {
        const struct vs_event *e = &made->events[i];
        uint64_t digest;
        c->instructions += e->icount;
        if (e->kind != VS_TURN)
            continue;
        memcpy(&digest, vs_event_bytes(made, e), sizeof(digest));
        c->digests += digest != 0;
    }
    c->made += made->count;
}

static int go(struct check *k, vs_check_progress *progress, void *context)
{
    uint64_t total = vs_reader_info(k->inputs)->instructions;
    struct vs_batch made;
    int n = 0, err = 0;
    while (!err && !k->result->differences && (n = vs_rerun_next(k->rerun, &made, k->diag)) > 0) {
        count(k, &made);
        err = compare(k, &made);
        if (progress)
            progress(context, k->result->instructions, total);
    }
    if (err || k->result->differences)
        return err;
    if (n != -VSE_END)
        return n;
    err = refill(k);
    if (!err)
        differ(k, k->result->made, &k->there.events[k->at], NULL);
    for (unsigned i = 0; i < vs_reader_info(k->inputs)->threads; i++)
        if (err == -VSE_END && k->counted[i])
            differ(k, k->result->made, NULL, NULL);
    return err == -VSE_END ? 0 : err;
}

/* Without events to compare with, none have to be made. */
static int execute(struct check *k, vs_check_progress *progress, void *context)
{
    const struct vs_run_info *info = vs_reader_info(k->inputs);
    struct vs_inputs_check *c = k->result;
    int err;
    do {
        err = vs_rerun_skip(k->rerun, STRETCH, k->diag);
        if (progress)
            progress(context, vs_rerun_executed(k->rerun), info->instructions);
    } while (!err);
    for (unsigned i = 0; i < info->threads; i++)
        c->made += vs_rerun_thread(k->rerun, i).events;
    c->instructions = vs_rerun_executed(k->rerun);
    c->digests = vs_rerun_digests(k->rerun);
    return err == -VSE_END ? 0 : err;
}

int vs_inputs_check(struct vs_inputs_check *c, const char *path, vs_check_progress *progress,
                    void *context, struct vs_diag *diag)
{
    struct check k = {.result = c, .diag = diag};
    *c = (struct vs_inputs_check){0};
    int err = vs_reader_open(&k.inputs, path, VS_OPEN_DEFAULT, diag);
    if (!err && !(vs_reader_info(k.inputs)->features & VS_RUN_SHORT))
        err = vs_reader_open(&k.recorded, path, VS_OPEN_DEFAULT, diag);
    if (!err && !(k.counted = calloc(vs_reader_info(k.inputs)->threads + 1u, sizeof(*k.counted))))
        err = vs_diag_set(diag, -VSE_NOMEM, -1, -1, "out of memory");
    if (!err)
        err = vs_rerun_open(&k.rerun, k.inputs, NULL, diag);
    if (!err)
        err = k.recorded ? go(&k, progress, context) : execute(&k, progress, context);
    if (k.rerun)
        c->memory_pages = vs_rerun_pages(k.rerun, &c->memory_times);
    vs_rerun_close(k.rerun);
    free(k.counted);
    vs_reader_close(k.inputs);
    vs_reader_close(k.recorded);
    return err;
}
