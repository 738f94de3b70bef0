/* SPDX-License-Identifier: MIT */
#include "sweep/job_file.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"

enum { BATCH_MAX = 1024 };

/* ---- writing --------------------------------------------------------------------------------- */

struct cutter {
    const struct vs_sweep *sweep;
    struct vs_buf *text;
    struct vs_sweep_unit *units;
    size_t *numbers;
    const char *here;  /* the folder to which paths are relative */
    double work, done; /* that a task should have, and has */
    uint64_t tasks, most;
};

/* Begins another task if this one has enough. Returns false if there can be none. */
static bool has_room(const struct cutter *c)
{
    return !c->tasks || c->done < c->work || c->tasks < c->most;
}

/* Tasks may run in another folder. */
static int print_path(const struct cutter *c, const char *path)
{
    bool whole = *path == '/';
    return vs_buf_print(c->text, "%s%s%s\n", whole ? "" : c->here, whole ? "" : "/", path);
}

static int print_batch(struct cutter *c, const struct vs_sweep_run *run, size_t count)
{
    int e = 0;
    if (!c->tasks || c->done >= c->work) {
        e = vs_buf_print(c->text, "task %llu\n", (unsigned long long)c->tasks++);
        c->done = 0;
    }
    c->done += (double)count * (double)(run->info.instructions + 1);
    e = e ? e : vs_buf_print(c->text, "run %s ", run->hash);
    e = e ? e : print_path(c, run->path);
    for (size_t i = 0; i < count && !e; i++)
        e = vs_buf_print(c->text, "%s %s\n", c->units[i].proof ? "proof" : "unit",
                         c->units[i].spec);
    return e;
}

/* A batch is never more than a task. */
static size_t batch_size(const struct cutter *c, const struct vs_sweep_run *run)
{
    double units = c->work / (double)(run->info.instructions + 1);
    size_t most = (size_t)c->sweep->study->batch;
    return units < 1 ? 1 : units < (double)most ? (size_t)units : most;
}

static int cut(struct cutter *c, const struct vs_sweep_wanted *wanted)
{
    const struct vs_sweep *s = c->sweep;
    int e = 0;
    for (size_t run = 0; run < s->runs.count; run++)
        for (size_t point = 0, count = 1; point < s->points.count && !e && has_room(c);) {
            const struct vs_sweep_run *r = &s->runs.items[run];
            point = vs_sweep_batch(s, wanted, run, point, c->units, c->numbers, batch_size(c, r),
                                   &count);
            if (count)
                e = print_batch(c, r, count);
        }
    return e;
}

int64_t vs_job_print(const struct vs_sweep *s, const struct vs_sweep_wanted *wanted, double work,
                     uint64_t most, struct vs_buf *text)
{
    char here[PATH_MAX];
    struct cutter c = {.sweep = s,
                       .here = getcwd(here, sizeof(here)),
                       .text = text,
                       .units = calloc(BATCH_MAX, sizeof(*c.units)),
                       .numbers = calloc(BATCH_MAX, sizeof(*c.numbers)),
                       .work = work,
                       .most = most};
    int e = !c.here ? -VSE_IO : c.units && c.numbers ? 0 : -VSE_NOMEM;
    if (!e)
        e = vs_buf_print(text, "vestige tasks 1\nstore ");
    e = e ? e : print_path(&c, s->store.folder);
    if (!e)
        e = vs_buf_print(text, "window %llu\nbuffer %s\n", (unsigned long long)s->study->window,
                         s->study->buffer ? s->study->buffer : "none");
    if (!e)
        e = cut(&c, wanted);
    free(c.units);
    free(c.numbers);
    return e ? e : (int64_t)c.tasks;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* The next line; NULL after the last. */
static char *next_line(char **text)
{
    char *line = *text, *feed = strchr(line, '\n');
    if (!feed)
        return NULL;
    *feed = 0;
    *text = feed + 1;
    return line;
}

static char *after(char *line, const char *word)
{
    size_t n = strlen(word);
    return line && !strncmp(line, word, n) && line[n] == ' ' ? line + n + 1 : NULL;
}

static int corrupt(struct vs_diag *diag)
{
    return vs_diag_set(diag, -VSE_CORRUPT, -1, -1, "it is no file of tasks, or a damaged one");
}

/* What is gathered of a batch. */
struct gathered {
    struct vs_store store;
    struct vs_sweep_how how;
    const char *digest, *path; /* NULL: none has begun */
    struct vs_sweep_unit *units;
    size_t count;
    vs_job_batch *batch;
    void *context;
};

static int end_batch(struct gathered *g, struct vs_diag *diag)
{
    int e = g->path && g->count ? g->batch(g->context, &g->store, &g->how, g->digest, g->path,
                                           g->units, g->count, diag)
                                : 0;
    g->path = NULL;
    g->count = 0;
    return e;
}

static int take_line(struct gathered *g, char *line, struct vs_diag *diag)
{
    char *run = after(line, "run"), *unit = after(line, "unit"), *proof = after(line, "proof");
    char *blank = run ? strchr(run, ' ') : NULL;
    if (blank) {
        int e = end_batch(g, diag);
        *blank = 0;
        g->digest = run;
        g->path = blank + 1;
        return e;
    }
    if ((!unit && !proof) || !g->path || g->count == BATCH_MAX)
        return corrupt(diag);
    g->units[g->count++] = (struct vs_sweep_unit){.spec = unit ? unit : proof, .proof = proof};
    return 0;
}

/* Whether the line begins that task; *other if it begins another one. */
static bool begins_task(char *line, uint64_t task, bool *other)
{
    char *number = after(line, "task"), *end = number;
    *other = number;
    if (!number || strtoull(number, &end, 10) != task || *end)
        return false;
    *other = false;
    return true;
}

int vs_job_read(char *text, uint64_t task, vs_job_batch *batch, void *context, struct vs_diag *diag)
{
    struct gathered g = {.batch = batch, .context = context};
    char *head = next_line(&text), *folder = NULL, *window = NULL, *buffer = NULL, *line;
    char how[160];
    bool found = false, other = false;
    if (head && !strcmp(head, "vestige tasks 1")) {
        folder = after(next_line(&text), "store");
        window = folder ? after(next_line(&text), "window") : NULL;
        buffer = window ? after(next_line(&text), "buffer") : NULL;
    }
    if (!buffer || vs_sweep_how_text(how, sizeof(how), window, buffer) ||
        (strcmp(buffer, "none") != 0 && !vs_sweep_buffer(buffer, &g.how.drain)))
        return corrupt(diag);
    g.how.window = strtoull(window, NULL, 10);
    int e = vs_store_open(&g.store, folder, how, false, diag);
    if (e)
        return e;
    g.units = calloc(BATCH_MAX, sizeof(*g.units));
    if (!g.units)
        e = vs_diag_set(diag, -VSE_NOMEM, -1, -1, "out of memory");
    while (!e && !(found && other) && (line = next_line(&text))) {
        if (begins_task(line, task, &other))
            found = true;
        else if (found && !other)
            e = take_line(&g, line, diag);
    }
    if (!e)
        e = found ? end_batch(&g, diag)
                  : vs_diag_set(diag, -VSE_NOTFOUND, -1, -1, "it has no task %llu",
                                (unsigned long long)task);
    free(g.units);
    vs_store_fini(&g.store);
    return e;
}
