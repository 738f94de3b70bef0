/* SPDX-License-Identifier: MIT */
/* usage: read run.vest   Prints how many events of each kind a run has, and how often each of its
 * threads went on. */
#include <inttypes.h>
#include <stdio.h>
#include <vestige/vestige.h>

struct counts {
    uint64_t kinds[VS_KIND_END];
    uint64_t switches; /* of threads, from one event to the next */
    int last;          /* thread, or -1 */
};

static void count(struct counts *c, const struct vs_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        const struct vs_event *e = &batch->events[i];
        c->kinds[e->kind]++;
        c->switches += e->thread != c->last;
        c->last = e->thread;
    }
}

int main(int argc, char **argv)
{
    struct counts c = {{0}, 0, -1};
    struct vs_diag diag;
    struct vs_batch batch;
    struct vs_reader *run;
    int n;
    if (argc != 2) {
        fprintf(stderr, "usage: read run.vest\n");
        return 2;
    }
    if (vs_run_open(&run, argv[1], VS_OPEN_DEFAULT, &diag) < 0) {
        fprintf(stderr, "read: %s: %s\n", argv[1], diag.text);
        return 1;
    }
    while ((n = vs_reader_next(run, &batch)) > 0)
        count(&c, &batch);
    if (n != -VSE_END)
        fprintf(stderr, "read: %s: %s\n", argv[1], vs_reader_diag(run)->text);
    for (unsigned kind = 1; kind < VS_KIND_END; kind++)
        if (c.kinds[kind])
            printf("%-16s %" PRIu64 "\n", vs_kind_name(kind), c.kinds[kind]);
    printf("%-16s %" PRIu64 "\n", "switches", c.switches);
    vs_reader_close(run);
    return n == -VSE_END ? 0 : 1;
}
