/* SPDX-License-Identifier: MIT */
#include "events.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "command.h"

void events_must(int64_t e, const char *what)
{
    if (e < 0)
        bench_fail("%s: %s", what, vs_errstr((int)e));
}

struct vs_batch events_batch(const struct events *s)
{
    return (struct vs_batch){.events = (const struct vs_event *)s->list.data,
                             .wide = s->wide.data,
                             .wide_size = s->wide.len,
                             .count = s->list.len / sizeof(struct vs_event)};
}

static void add_event(struct events *s, const struct vs_batch *b, const struct vs_event *event)
{
    struct vs_event e = *event;

    if (vs_event_is_wide(event)) {
        e.value = s->wide.len;
        events_must(vs_buf_put(&s->wide, vs_event_bytes(b, event), event->size), "memory");
    }
    s->accesses += e.kind == VS_LOAD || e.kind == VS_STORE;
    events_must(vs_buf_put(&s->list, &e, sizeof(e)), "memory");
}

static void load_events(struct events *s, const char *path)
{
    struct vs_reader *reader;
    struct vs_batch b;
    int64_t n;

    events_must(vs_reader_open(&reader, path, VS_OPEN_DEFAULT, NULL), path);
    s->setup = (struct vs_technique_setup){
        .cores = vs_reader_info(reader)->threads, .address_bits = 64, .timed = false};
    while ((n = vs_reader_next(reader, &b)) > 0)
        for (size_t i = 0; i < b.count; i++)
            add_event(s, &b, &b.events[i]);
    if (n != -VSE_END)
        events_must(n, "read");
    vs_reader_close(reader);
}

void events_free(struct events *s)
{
    vs_buf_fini(&s->list);
    vs_buf_fini(&s->wide);
}

void events_name(const struct events_program *program, char *name, size_t capacity)
{
    const char *threads = program->threads ? program->threads : "1";
    snprintf(name, capacity, "%s, %s core%s", program->name, threads,
             strcmp(threads, "1") ? "s" : "");
}

void events_record(struct events *s, const struct bench *b, const struct events_program *program)
{
    char self[PATH_MAX], vestige[PATH_MAX + 16], path[PATH_MAX + 64], run[PATH_MAX];
    const char *threads = program->threads;
    const char *argv[] = {vestige,
                          "record",
                          "-f",
                          "-o",
                          run,
                          "--cores",
                          threads ? threads : "1",
                          "--",
                          path,
                          "-n",
                          program->size,
                          threads ? "-p" : NULL,
                          threads,
                          NULL};

    *s = (struct events){0};
    command_build(self, sizeof(self));
    snprintf(vestige, sizeof(vestige), "%s/bin/vestige", self);
    snprintf(run, sizeof(run), "%s/events.vest", bench_folder(b));
    snprintf(path, sizeof(path), "%s/workloads/rv64/%s", self, program->name);
    command_run(argv, "/dev/null");
    load_events(s, run);
    unlink(run);
}
