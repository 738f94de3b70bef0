/* SPDX-License-Identifier: MIT */
/* Compares what a run of inputs delivers without loads and stores with what it delivers with them:
 *
 *   flow_events run.vest
 *
 * Prints how many events are the same; the status is 1 if any is not. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rerun/run_open.h"

struct side {
    struct vs_reader *reader;
    struct vs_batch batch;
    size_t at;
    uint64_t retired[UINT16_MAX + 1]; /* by threads */
};

static void fail(const char *what)
{
    fprintf(stderr, "flow_events: %s\n", what);
    exit(1);
}

/* The next event that is neither a load or store nor stands for instructions alone. */
static const struct vs_event *next(struct side *s)
{
    for (;;) {
        if (s->at == s->batch.count) {
            int n = vs_reader_next(s->reader, &s->batch);
            if (n < 0 && n != -VSE_END)
                fail(vs_reader_diag(s->reader)->text);
            if (n < 0)
                return NULL;
            s->at = 0;
        }
        const struct vs_event *e = &s->batch.events[s->at++];
        s->retired[e->thread] += e->icount;
        if (e->kind != VS_LOAD && e->kind != VS_STORE && e->kind != VS_COUNT)
            return e;
    }
}

static void compare(const struct side *a, const struct side *b, const struct vs_event *x,
                    const struct vs_event *y)
{
    if (x->kind != y->kind || x->thread != y->thread || x->flags != y->flags || x->pc != y->pc ||
        x->addr != y->addr || x->size != y->size)
        fail("another event");
    if (a->retired[x->thread] != b->retired[y->thread])
        fail("after another number of instructions");
    if (!vs_event_is_wide(x)
            ? x->value != y->value
            : memcmp(vs_event_bytes(&a->batch, x), vs_event_bytes(&b->batch, y), x->size) != 0)
        fail("another value");
}

int main(int argc, char **argv)
{
    static struct side all, flow;
    const struct vs_event *x, *y;
    struct vs_batch batch;
    struct vs_diag diag = {0};
    uint64_t same = 0, delivered = 0;
    int n;
    if (argc != 2 || vs_run_open(&all.reader, argv[1], VS_OPEN_STRICT, &diag) < 0 ||
        vs_run_open_flow(&flow.reader, argv[1], VS_OPEN_STRICT, NULL, NULL, &diag) < 0)
        fail(argc == 2 ? diag.text : "usage: flow_events run.vest");
    for (;; same++) {
        x = next(&all), y = next(&flow);
        if (!x != !y)
            fail("one has more events");
        if (!x)
            break;
        compare(&all, &flow, x, y);
    }
    if (vs_reader_seek_event(flow.reader, 0) < 0)
        fail("no way back");
    while ((n = vs_reader_next(flow.reader, &batch)) > 0) {
        delivered += (unsigned)n;
        for (int i = 0; i < n; i++)
            if (batch.events[i].kind == VS_LOAD || batch.events[i].kind == VS_STORE)
                fail("a load or store");
    }
    if (n != -VSE_END || delivered != vs_reader_info(flow.reader)->events)
        fail("another number of events");
    if (vs_reader_info(flow.reader)->features & (VS_RUN_LOADS | VS_RUN_STORES))
        fail("it says that it has loads");
    printf("%" PRIu64 "\n", same);
    vs_reader_close(all.reader);
    vs_reader_close(flow.reader);
    return 0;
}
