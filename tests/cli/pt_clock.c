/* SPDX-License-Identifier: MIT */
/* Reads streams of Intel PT that have MTCs with libipt's query decoder, which needs no code, and
 * compares the time that it tells of every branch with the run's.
 *
 *   pt_clock RUN MTC CRYSTAL exact|estimated STREAM...
 *
 * There is a stream for each thread, with MTC ticks of CRYSTAL cycles between two MTCs. libipt must
 * put every branch that has an outcome or a target into the period in which it was retired. Where
 * control left code asynchronously, the stream has the cycle, which libipt must tell; if it is
 * estimated, because CYCs tell of it, for which libipt knows no frequency but the one that it
 * finds between MTCs, only the period is compared. */
#include <intel-pt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vestige/run.h"

/* The cycles of one thread. */
struct clock_thread {
    uint64_t *branches, *exceptions;
    size_t branch_count, exception_count;
};

static void fail(const char *what, const char *why)
{
    fprintf(stderr, "pt_clock: %s: %s\n", what, why);
    exit(1);
}

static uint64_t *append(uint64_t *list, size_t count, uint64_t value)
{
    if (!(count & (count - 1)) && !(list = realloc(list, (count ? 2 * count : 1) * sizeof(*list))))
        fail("run", "no memory");
    list[count] = value;
    return list;
}

static void read_run(const char *path, struct clock_thread *threads, unsigned count)
{
    struct vs_reader *reader;
    struct vs_batch b;
    if (vs_reader_open(&reader, path, VS_OPEN_DEFAULT, NULL) < 0)
        fail(path, "it cannot be read");
    while (vs_reader_next(reader, &b) > 0)
        for (size_t i = 0; i < b.count; i++) {
            const struct vs_event *e = &b.events[i];
            struct clock_thread *t = &threads[e->thread];
            if (e->thread >= count || !b.cycles)
                fail(path, "it has another number of threads, or no time");
            if (e->kind == VS_EXCEPTION)
                t->exceptions = append(t->exceptions, t->exception_count++, b.cycles[i]);
            if (e->kind == VS_BRANCH && e->flags & (VS_BR_COND | VS_BR_INDIRECT))
                t->branches = append(t->branches, t->branch_count++, b.cycles[i]);
        }
    vs_reader_close(reader);
}

static uint8_t *load(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    uint8_t *bytes = malloc(1 << 26);
    if (!f || !bytes || !(*size = fread(bytes, 1, 1 << 26, f)) || *size == 1 << 26)
        fail(path, "it cannot be read");
    fclose(f);
    return bytes;
}

/* What was compared in one stream. */
struct clock_stream {
    const char *path;
    struct pt_query_decoder *decoder;
    struct clock_thread *thread;
    uint64_t period;
    bool exact;
    size_t branches, exceptions;
};

static void differ(struct clock_stream *s, const char *what, size_t number, uint64_t time,
                   uint64_t cycle)
{
    char text[160];
    snprintf(text, sizeof(text), "%s %zu: libipt says %" PRIu64 ", the run %" PRIu64, what, number,
             time, cycle);
    fail(s->path, text);
}

static void take_branch(struct clock_stream *s)
{
    uint64_t time = 0;
    uint32_t lost_mtc = 0, lost_cyc = 0;
    if (s->branches == s->thread->branch_count)
        fail(s->path, "libipt finds more branches than the run has");
    uint64_t cycle = s->thread->branches[s->branches];
    if (pt_qry_time(s->decoder, &time, &lost_mtc, &lost_cyc) < 0 || lost_mtc)
        fail(s->path, "libipt knows no time, or misses an MTC");
    if (time / s->period != cycle / s->period)
        differ(s, "branch", s->branches, time, cycle);
    s->branches++;
}

static void take_event(struct clock_stream *s, const struct pt_event *event)
{
    if (event->type != ptev_async_branch)
        return;
    if (s->exceptions == s->thread->exception_count)
        fail(s->path, "libipt finds more exceptions than the run has");
    uint64_t cycle = s->thread->exceptions[s->exceptions++];
    if (!event->has_tsc ||
        (s->exact ? event->tsc != cycle : event->tsc / s->period != cycle / s->period))
        differ(s, "exception", s->exceptions - 1, event->tsc, cycle);
}

static void follow(struct clock_stream *s)
{
    uint64_t ip;
    int status = pt_qry_sync_forward(s->decoder, &ip);
    while (status >= 0 && !(status & pts_eos && !(status & pts_event_pending))) {
        struct pt_event event;
        int taken;
        if (status & pts_event_pending) {
            if ((status = pt_qry_event(s->decoder, &event, sizeof(event))) >= 0)
                take_event(s, &event);
            continue;
        }
        status = pt_qry_cond_branch(s->decoder, &taken);
        if (status == -pte_bad_query)
            status = pt_qry_indirect_branch(s->decoder, &ip);
        if (status >= 0)
            take_branch(s);
    }
    if (status < 0 && status != -pte_eos)
        fail(s->path, pt_errstr(pt_errcode(status)));
    if (s->branches != s->thread->branch_count || s->exceptions != s->thread->exception_count)
        fail(s->path, "libipt finds fewer branches or exceptions than the run has");
}

int main(int argc, char **argv)
{
    if (argc < 6) {
        fprintf(stderr, "usage: pt_clock RUN MTC CRYSTAL exact|estimated STREAM...\n");
        return 2;
    }
    unsigned count = (unsigned)(argc - 5);
    uint64_t mtc = strtoull(argv[2], NULL, 10), crystal = strtoull(argv[3], NULL, 10);
    struct clock_thread *threads = calloc(count, sizeof(*threads));
    size_t branches = 0, exceptions = 0;
    if (!threads)
        return 2;
    read_run(argv[1], threads, count);
    for (unsigned i = 0; i < count; i++) {
        struct clock_stream s = {.path = argv[5 + i],
                                 .thread = &threads[i],
                                 .period = mtc * crystal,
                                 .exact = !strcmp(argv[4], "exact")};
        struct pt_config config;
        size_t size;
        uint8_t *bytes = load(argv[5 + i], &size);
        pt_config_init(&config);
        config.begin = bytes;
        config.end = bytes + size;
        config.cpuid_0x15_eax = 1;
        config.cpuid_0x15_ebx = (uint32_t)crystal;
        config.mtc_freq = (uint8_t)__builtin_ctzll(mtc);
        if (!(s.decoder = pt_qry_alloc_decoder(&config)))
            return 2;
        follow(&s);
        branches += s.branches;
        exceptions += s.exceptions;
        pt_qry_free_decoder(s.decoder);
        free(bytes);
        free(threads[i].branches);
        free(threads[i].exceptions);
    }
    free(threads);
    printf("%zu %zu\n", branches, exceptions);
    return 0;
}
