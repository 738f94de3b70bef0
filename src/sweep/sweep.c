/* SPDX-License-Identifier: MIT */
#include "sweep/sweep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/diag.h"
#include "base/workers.h"
#include "sweep/measures.h"

static int no_memory(struct vs_diag *diag)
{
    return vs_diag_set(diag, -VSE_NOMEM, -1, -1, "out of memory");
}

/* ---- preparing ------------------------------------------------------------------------------- */

int vs_sweep_how_text(char *out, size_t capacity, const char *window, const char *buffer)
{
    int n = snprintf(out, capacity, "window=%s buffer=%s", window, buffer);
    return n < 0 || (size_t)n >= capacity ? -VSE_LIMIT : 0;
}

int vs_sweep_init(struct vs_sweep *s, const struct vs_sweep_study *study, const char *folder,
                  bool read_only, struct vs_diag *diag)
{
    char window[24];
    *s = (struct vs_sweep){.study = study, .how = {.window = study->window}};
    if (study->buffer && !vs_sweep_buffer(study->buffer, &s->how.drain))
        return vs_diag_set(diag, -VSE_INVAL, -1, -1,
                           "buffer: '%.40s' is not BITS[/CYCLES][:CAPACITY[:stall]], as in 1, 1/4, "
                           "2:1024 or 2:1024:stall",
                           study->buffer);
    snprintf(window, sizeof(window), "%llu", (unsigned long long)study->window);
    if (vs_sweep_how_text(s->how_text, sizeof(s->how_text), window,
                          study->buffer ? study->buffer : "none"))
        return vs_diag_set(diag, -VSE_INVAL, -1, -1, "buffer: '%.40s...' is too long",
                           study->buffer);
    int e = vs_sweep_runs_list(&s->runs, study, diag);
    return e ? e : vs_store_open(&s->store, folder, s->how_text, read_only, diag);
}

int vs_sweep_look(struct vs_sweep *s, const char *const *measures, size_t measure_count,
                  const atomic_bool *stop, struct vs_progress *progress, struct vs_diag *diag)
{
    int e = 0;
    for (size_t i = 0; i < measure_count && !e; i++)
        if (vs_sweep_measure(s, measures[i]) < 0)
            e = vs_words_add(&s->measures, &s->arena, measures[i], strlen(measures[i]))
                    ? no_memory(diag)
                    : 0;
    for (size_t i = 0; i < s->runs.count && !e; i++) {
        struct vs_sweep_run *run = &s->runs.items[i];
        if (run->path) /* or it is not recorded, and its units are missing */
            e = atomic_load(stop) ? -VSE_END : vs_sweep_run_look(run, diag);
        vs_progress_update(progress, i + 1);
    }
    if (!e)
        e = vs_sweep_points_list(&s->points, s->study, &s->runs, diag);
    if (e)
        return e;
    size_t units = s->points.count * s->runs.count;
    s->state = calloc(units + 1, sizeof(*s->state));
    s->wrong = calloc(units + 1, sizeof(*s->wrong));
    s->passing = calloc(units + 1, sizeof(*s->passing));
    s->values = calloc(units * s->measures.count + 1, sizeof(*s->values));
    return s->state && s->wrong && s->passing && s->values ? 0 : no_memory(diag);
}

void vs_sweep_fini(struct vs_sweep *s)
{
    vs_sweep_runs_fini(&s->runs);
    vs_sweep_points_fini(&s->points);
    vs_store_fini(&s->store);
    vs_words_fini(&s->measures);
    free(s->state);
    free(s->wrong);
    free(s->passing);
    free(s->values);
    free(s->done_work);
    vs_arena_fini(&s->arena);
    *s = (struct vs_sweep){0};
}

void vs_sweep_forget(struct vs_sweep *s, const bool *kept)
{
    for (size_t i = 0; i < s->points.count * s->runs.count; i++) {
        if (kept[i] || s->state[i] == VS_UNIT_NONE || s->points.items[i / s->runs.count].wrong)
            continue;
        s->done -= s->state[i] == VS_UNIT_DONE;
        s->failed -= s->state[i] == VS_UNIT_FAILED;
        s->state[i] = VS_UNIT_MISSING;
    }
}

int vs_sweep_measure(const struct vs_sweep *s, const char *name)
{
    for (size_t i = 0; i < s->measures.count; i++)
        if (!strcmp(s->measures.items[i], name))
            return (int)i;
    return -1;
}

/* ---- loading --------------------------------------------------------------------------------- */

/* Reads "name number name number ..." into the measures that the table needs. */
static int take_values(const struct vs_sweep *s, const char *text, uint64_t *values)
{
    for (size_t i = 0; i < s->measures.count; i++)
        values[i] = vs_measure_missing(s->measures.items[i]);
    while (*text) {
        char name[64], number[24];
        int used = 0;
        if (sscanf(text, "%63s %23s%n", name, number, &used) != 2 || !used)
            return -VSE_CORRUPT;
        int i = vs_sweep_measure(s, name);
        if (i >= 0)
            values[i] = *number == '-' ? VS_MEASURE_UNKNOWN : strtoull(number, NULL, 10);
        text += used + strspn(text + used, " ");
    }
    return 0;
}

/* Notes when a unit of a run was done. Units of one file come one after another. */
static int note_work(struct vs_sweep *s, size_t run, int64_t when, struct vs_diag *diag)
{
    void *items = s->done_work;
    if (!s->done_count || s->done_work[s->done_count - 1].when != when) {
        if (vs_array_room(&items, &s->done_capacity, s->done_count, 1, sizeof(*s->done_work)))
            return no_memory(diag);
        s->done_work = items;
        s->done_work[s->done_count++] = (struct vs_done_work){.when = when};
    }
    s->done_work[s->done_count - 1].work += (double)s->runs.items[run].info.instructions;
    return 0;
}

bool vs_sweep_seconds_left(struct vs_sweep *s, uint64_t *seconds)
{
    double missing = 0;
    for (size_t point = 0; point < s->points.count; point++)
        for (size_t run = 0; run < s->runs.count; run++)
            if (s->state[vs_sweep_unit_of(s, point, run)] == VS_UNIT_MISSING) {
                if (!s->runs.items[run].open)
                    return false; /* it is to be recorded */
                missing += (double)s->runs.items[run].info.instructions;
            }
    return missing > 0 && vs_remaining_seconds(s->done_work, s->done_count, missing, seconds);
}

/* The result of a point on a run, both of which may be no business of the study. */
static int take_result(struct vs_sweep *s, size_t run, const struct vs_store_unit *unit,
                       struct vs_diag *diag)
{
    int64_t point = vs_sweep_points_find(&s->points, unit->spec);
    if (point < 0 || s->points.items[point].verified != unit->proof)
        return 0;
    size_t n = vs_sweep_unit_of(s, (size_t)point, run);
    if (s->state[n] == VS_UNIT_NONE)
        return 0;
    uint64_t *values = s->values + n * s->measures.count;
    if (unit->wrong) {
        if (s->state[n] != VS_UNIT_MISSING || s->retry)
            return 0;
        s->wrong[n] = vs_arena_dup(&s->arena, unit->wrong, strlen(unit->wrong));
        s->state[n] = VS_UNIT_FAILED;
        s->failed++;
        return s->wrong[n] ? 0 : no_memory(diag);
    }
    if (s->state[n] == VS_UNIT_DONE) {
        uint64_t *again = malloc((s->measures.count + 1) * sizeof(*again));
        int e = again ? take_values(s, unit->values, again) : no_memory(diag);
        if (!e && memcmp(again, values, s->measures.count * sizeof(*again)) != 0)
            e = vs_diag_set(diag, -VSE_INTERNAL, -1, -1,
                            "the store has two different results of %.60s... on %.60s", unit->spec,
                            s->runs.items[run].name);
        free(again);
        return e;
    }
    int e = take_values(s, unit->values, values);
    if (e)
        return vs_diag_set(diag, e, -1, -1, "a unit's values are no pairs of name and number");
    if (s->state[n] == VS_UNIT_FAILED)
        s->failed--;
    s->state[n] = VS_UNIT_DONE;
    s->done++;
    return note_work(s, run, unit->when, diag);
}

/* The same content may be several runs'. */
static int take_unit(void *context, const char *hash, const struct vs_store_unit *unit,
                     struct vs_diag *diag)
{
    struct vs_sweep *s = context;
    int e = 0;
    for (size_t i = 0; i < s->runs.count && !e; i++)
        if (!strcmp(s->runs.items[i].hash, hash))
            e = take_result(s, i, unit, diag);
    return e;
}

/* What never fits together fails on every run, without a result in the store. */
static void take_wrong_points(struct vs_sweep *s)
{
    for (size_t point = 0; point < s->points.count; point++)
        for (size_t run = 0; run < s->runs.count && s->points.items[point].wrong; run++) {
            size_t n = vs_sweep_unit_of(s, point, run);
            if (s->state[n] != VS_UNIT_MISSING)
                continue;
            s->failed++;
            s->state[n] = VS_UNIT_FAILED;
            s->wrong[n] = s->points.items[point].wrong;
        }
}

/* What cannot be read has no content whose results the store could have. */
static int take_unreadable(struct vs_sweep *s, struct vs_diag *diag)
{
    for (size_t run = 0; run < s->runs.count; run++) {
        const struct vs_sweep_run *r = &s->runs.items[run];
        const char *wrong = NULL;
        if (!r->path || *r->hash)
            continue;
        wrong = vs_arena_dup(&s->arena, r->why.text, strlen(r->why.text));
        if (!wrong)
            return no_memory(diag);
        for (size_t point = 0; point < s->points.count; point++) {
            size_t n = vs_sweep_unit_of(s, point, run);
            if (s->state[n] != VS_UNIT_MISSING)
                continue;
            s->state[n] = VS_UNIT_FAILED;
            s->wrong[n] = wrong;
            s->failed++;
        }
    }
    return 0;
}

/* What failed in passing is tried again by the next sweep, not by this one. */
static void take_passing(struct vs_sweep *s)
{
    for (size_t n = 0; n < s->points.count * s->runs.count; n++)
        if (s->passing[n] && s->state[n] == VS_UNIT_MISSING) {
            s->state[n] = VS_UNIT_FAILED;
            s->wrong[n] = s->passing[n];
            s->failed++;
        }
}

/* Counts what the study wants, all of which is missing. */
static void list_units(struct vs_sweep *s)
{
    s->units = s->done = s->failed = s->done_count = 0;
    for (size_t point = 0; point < s->points.count; point++)
        for (size_t run = 0; run < s->runs.count; run++) {
            bool wanted = vs_sweep_point_is_for(&s->points.items[point], &s->runs.items[run]);
            s->state[vs_sweep_unit_of(s, point, run)] = wanted ? VS_UNIT_MISSING : VS_UNIT_NONE;
            s->units += wanted;
        }
}

int vs_sweep_load(struct vs_sweep *s, bool retry, struct vs_diag *diag)
{
    s->retry = retry;
    list_units(s);
    take_wrong_points(s);
    int e = take_unreadable(s, diag);
    e = e ? e : vs_store_read(&s->store, take_unit, s, &s->damaged, diag);
    s->retry = false;
    take_passing(s);
    return e;
}

/* ---- measuring ------------------------------------------------------------------------------- */

size_t vs_sweep_batch(const struct vs_sweep *s, const struct vs_sweep_wanted *wanted, size_t run,
                      size_t point, struct vs_sweep_unit *units, size_t *numbers, size_t most,
                      size_t *count)
{
    *count = 0;
    for (; point < s->points.count && *count < most; point++) {
        size_t n = vs_sweep_unit_of(s, point, run);
        if (s->state[n] != VS_UNIT_MISSING || (wanted && !wanted->units[n]))
            continue;
        numbers[*count] = n;
        units[*count] = (struct vs_sweep_unit){.spec = s->points.items[point].spec,
                                               .proof = s->points.items[point].verified};
        ++*count;
    }
    return point;
}

struct task {
    struct vs_job job;
    const struct vs_sweep *sweep;
    const struct vs_sweep_run *run;
    const atomic_bool *stop;
    struct vs_sweep_unit *units;
    size_t *numbers;
    bool *passing;
    size_t count;
    int error;
    struct vs_diag diag;
};

static void run_task(void *arg)
{
    struct task *t = arg;
    t->error = vs_sweep_evaluate(t->run, &t->sweep->how, t->units, t->count, &t->sweep->store,
                                 t->stop, t->passing, &t->diag);
}

/* A few batches are under way for each thread, so that none waits for the one that is slowest. */
struct crew {
    struct vs_sweep *sweep;
    const struct vs_sweep_wanted *wanted;
    struct vs_workers *workers;
    struct task *tasks;
    size_t room, sent, taken;
    size_t most;       /* units of a batch */
    size_t run, point; /* the next batch's */
    uint64_t measured;
    struct vs_progress *progress;
};

/* Submits the next batch. Returns false if there is none. */
static bool send_batch(struct crew *c, const atomic_bool *stop)
{
    struct vs_sweep *s = c->sweep;
    struct task *t = &c->tasks[c->sent % c->room];
    for (; c->run < s->runs.count; c->run++, c->point = 0) {
        c->point = vs_sweep_batch(s, c->wanted, c->run, c->point, t->units, t->numbers, c->most,
                                  &t->count);
        if (t->count)
            break;
    }
    if (c->run == s->runs.count)
        return false;
    t->sweep = s;
    t->run = &s->runs.items[c->run];
    t->stop = stop;
    t->job = (struct vs_job){.run = run_task, .arg = t};
    vs_workers_submit(c->workers, &t->job);
    c->sent++;
    return true;
}

/* Waits for the batch that was sent first. */
static int take_batch(struct crew *c, struct vs_diag *diag)
{
    struct task *t = &c->tasks[c->taken++ % c->room];
    vs_workers_wait(c->workers, &t->job);
    if (t->error) {
        *diag = t->diag;
        return t->error;
    }
    for (size_t i = 0; i < t->count; i++) {
        if (!t->passing[i])
            continue;
        c->sweep->passing[t->numbers[i]] =
            vs_arena_dup(&c->sweep->arena, t->diag.text, strlen(t->diag.text));
        if (!c->sweep->passing[t->numbers[i]])
            return no_memory(diag);
    }
    c->measured += t->count;
    vs_progress_update(c->progress, c->measured);
    return 0;
}

/* Few units make batches that are small enough to keep all threads busy to the end. */
static size_t batch_size(const struct crew *c, unsigned threads)
{
    const struct vs_sweep *s = c->sweep;
    size_t missing = 0, most = (size_t)s->study->batch, share;
    for (size_t n = 0; n < s->points.count * s->runs.count; n++)
        missing += s->state[n] == VS_UNIT_MISSING && (!c->wanted || c->wanted->units[n]);
    share = threads > 1 ? missing / (4 * (size_t)threads) + 1 : most;
    return share < most ? share : most;
}

static int crew_init(struct crew *c, unsigned threads, struct vs_diag *diag)
{
    size_t batch = c->most = batch_size(c, threads);
    c->room = threads > 1 ? 3 * (size_t)threads : 1;
    c->tasks = calloc(c->room, sizeof(*c->tasks));
    if (!c->tasks)
        return no_memory(diag);
    for (size_t i = 0; i < c->room; i++) {
        c->tasks[i].units = calloc(batch, sizeof(*c->tasks[i].units));
        c->tasks[i].numbers = calloc(batch, sizeof(*c->tasks[i].numbers));
        c->tasks[i].passing = calloc(batch, sizeof(*c->tasks[i].passing));
        if (!c->tasks[i].units || !c->tasks[i].numbers || !c->tasks[i].passing)
            return no_memory(diag);
    }
    return vs_workers_open(&c->workers, threads > 1 ? threads : 0) ? no_memory(diag) : 0;
}

static void crew_fini(struct crew *c)
{
    vs_workers_close(c->workers);
    for (size_t i = 0; c->tasks && i < c->room; i++) {
        free(c->tasks[i].units);
        free(c->tasks[i].numbers);
        free(c->tasks[i].passing);
    }
    free(c->tasks);
}

int vs_sweep_measure_all(struct vs_sweep *s, const struct vs_sweep_wanted *wanted, unsigned threads,
                         const atomic_bool *stop, struct vs_progress *progress,
                         struct vs_diag *diag)
{
    struct crew c = {.sweep = s, .wanted = wanted, .progress = progress};
    int e = crew_init(&c, threads, diag);
    bool more = !e;
    while (!e && (more || c.taken < c.sent)) {
        if (stop && atomic_load(stop))
            more = false;
        while (more && c.sent - c.taken < c.room)
            more = send_batch(&c, stop);
        if (c.taken < c.sent)
            e = take_batch(&c, diag);
    }
    crew_fini(&c);
    if (!e && stop && atomic_load(stop))
        e = -VSE_END;
    return e == -VSE_END || e == 0 ? (vs_sweep_load(s, false, diag) ?: e) : e;
}
