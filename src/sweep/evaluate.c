/* SPDX-License-Identifier: MIT */
#include "sweep/evaluate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/number.h"
#include "rerun/run_open.h"
#include "study/bandwidth.h"
#include "study/decoders.h"
#include "study/prove.h"
#include "sweep/measures.h"

bool vs_sweep_buffer(const char *text, struct vs_drain_config *drain)
{
    const char *end = text + strlen(text), *colon = strchr(text, ':');
    const char *rate_end = colon ? colon : end,
               *slash = memchr(text, '/', (size_t)(rate_end - text)),
               *second = colon ? strchr(colon + 1, ':') : NULL;
    uint64_t bits, cycles = 1, capacity = 0;
    if (vs_number(text, slash ? slash : rate_end, &bits) || !bits || bits > 1 << 20 ||
        (slash && (vs_number(slash + 1, rate_end, &cycles) || !cycles || cycles > 1 << 20)) ||
        (colon && (vs_number(colon + 1, second ? second : end, &capacity) || !capacity ||
                   capacity > UINT64_C(1) << 40)) ||
        (second && strcmp(second, ":stall") != 0))
        return false;
    *drain = (struct vs_drain_config){
        .bits = (uint32_t)bits, .cycles = (uint32_t)cycles, .capacity = capacity, .stall = second};
    return true;
}

/* What becomes of a unit. */
struct outcome {
    struct vs_technique_spec spec;
    int64_t row; /* in the bandwidth study; -1: none */
    uint64_t compared;
    struct vs_buf values; /* text */
    char wrong[256];      /* "": nothing */
    bool passing;         /* it may go well another time */
};

struct batch {
    const struct vs_sweep_run *run;
    const struct vs_sweep_unit *units;
    size_t count;
    struct outcome *outcomes;
    const atomic_bool *stop;
    struct vs_bandwidth_options options;
};

static bool is_stopped(const struct batch *b)
{
    return b->stop && atomic_load(b->stop);
}

/* What the machine was short of, or refused: no property of the run and the technique. */
static bool is_passing(int error)
{
    return error == -VSE_NOMEM || error == -VSE_IO;
}

/* Says why for all units for which nothing else was said. */
static void refuse(struct batch *b, int error, const struct vs_diag *diag)
{
    const char *reason = diag->text[0] ? diag->text : vs_errstr(error);
    for (size_t i = 0; i < b->count; i++) {
        char *wrong = b->outcomes[i].wrong;
        if (*wrong)
            continue;
        b->outcomes[i].passing = is_passing(error);
        if (diag->offset >= 0)
            snprintf(wrong, sizeof(b->outcomes[i].wrong), "offset %lld: %s",
                     (long long)diag->offset, reason);
        else
            snprintf(wrong, sizeof(b->outcomes[i].wrong), "%s", reason);
        vs_oneline(wrong);
    }
}

static int open_run(const struct batch *b, unsigned needs, struct vs_reader **reader,
                    struct vs_diag *diag)
{
    if (needs & (VS_NEEDS_LOADS | VS_NEEDS_STORES | VS_NEEDS_PRIOR))
        return vs_run_open_shown(reader, b->run->path, VS_OPEN_DEFAULT, NULL, NULL, diag);
    return vs_run_open_flow(reader, b->run->path, VS_OPEN_DEFAULT, NULL, NULL, diag);
}

/* ---- bandwidth ------------------------------------------------------------------------------- */

static int add_rows(struct batch *b, struct vs_bandwidth *study, const struct vs_run_info *info,
                    struct vs_diag *diag)
{
    for (size_t i = 0; i < b->count; i++) {
        struct outcome *o = &b->outcomes[i];
        struct vs_diag why = {0};
        if (*o->wrong)
            continue;
        if (vs_bandwidth_lacks(o->spec.technique, info, &why))
            snprintf(o->wrong, sizeof(o->wrong), "%s", why.text);
        else if ((o->row = vs_bandwidth_add(study, &o->spec, NULL, NULL, diag)) < 0)
            return (int)o->row;
    }
    return 0;
}

static int give(void *context, const char *name, uint64_t value)
{
    struct vs_buf *values = context;
    const char *between = values->len ? " " : "";
    if (value == VS_MEASURE_UNKNOWN)
        return vs_buf_print(values, "%s%s -", between, name);
    return vs_buf_print(values, "%s%s %llu", between, name, (unsigned long long)value);
}

static int measure(struct batch *b, struct vs_reader *reader, struct vs_diag *diag)
{
    struct vs_bandwidth study;
    const struct vs_run_info *info = vs_reader_info(reader);
    struct vs_bandwidth_figures *f = malloc(sizeof(*f));
    int e = vs_bandwidth_init(&study, reader, &b->options, diag);
    if (!e)
        e = f ? add_rows(b, &study, info, diag)
              : vs_diag_set(diag, -VSE_NOMEM, -1, -1, "out of memory");
    if (!e && study.count)
        e = vs_bandwidth_run(&study, reader, NULL, diag);
    if (!e && !info->sealed && info->missing.error) {
        *diag = info->missing;
        e = diag->error;
    }
    for (size_t i = 0; i < b->count && !e; i++) {
        struct outcome *o = &b->outcomes[i];
        if (o->row < 0)
            continue;
        vs_bandwidth_figures_of(f, b->run->name, "", &study, &study.rows[o->row], 0);
        if (vs_measures_give(f, o->compared, give, &o->values))
            e = vs_diag_set(diag, -VSE_NOMEM, -1, -1, "out of memory");
    }
    free(f);
    vs_bandwidth_fini(&study);
    return e;
}

/* ---- proofs ---------------------------------------------------------------------------------- */

static void take_proof(struct outcome *o, const struct vs_proof *p)
{
    o->passing = is_passing(p->error ? p->error : p->result.diag.error);
    if (p->skipped)
        return; /* there is no decoder: nothing is compared, and the table shows that */
    if (p->error)
        snprintf(o->wrong, sizeof(o->wrong), "it could not be verified: %s",
                 p->diag.text[0] ? p->diag.text : vs_errstr(p->error));
    else if (p->result.outcome == VS_VERIFY_SAME)
        o->compared = p->result.compared;
    else if (p->result.outcome != VS_VERIFY_UNREADABLE || p->result.diag.error != -VSE_NOTFOUND)
        snprintf(o->wrong, sizeof(o->wrong), "its stream is not the run: %s", p->result.diag.text);
    vs_oneline(o->wrong);
}

static bool wants_proof(const struct batch *b)
{
    for (size_t i = 0; i < b->count; i++)
        if (b->units[i].proof)
            return true;
    return false;
}

static int prove_with(struct batch *b, struct vs_reader *reader, struct vs_proof *proofs,
                      struct outcome **of, struct vs_diag *diag)
{
    struct vs_proof_source source = {b->run->path, NULL};
    unsigned serves = 0, needs = 0;
    struct vs_verify v;
    size_t count = 0;
    for (size_t i = 0; i < b->count; i++) {
        struct outcome *o = &b->outcomes[i];
        struct vs_diag why = {0};
        if (!b->units[i].proof || *o->wrong ||
            vs_bandwidth_lacks(o->spec.technique, vs_reader_info(reader), &why))
            continue;
        serves |= o->spec.technique->serves;
        needs |= vs_technique_needs(&o->spec);
        of[count] = o;
        proofs[count++].spec = o->spec;
    }
    if (!count)
        return 0;
    int e = vs_verify_prepare(&v, reader, serves, needs, diag);
    if (!e)
        e = vs_prove(&v, &source, NULL, proofs, count, NULL, diag);
    vs_verify_fini(&v);
    for (size_t i = 0; i < count && !e; i++)
        take_proof(of[i], &proofs[i]);
    return e;
}

/* Proves those units that ask for it. */
static int prove(struct batch *b, struct vs_diag *diag)
{
    if (!wants_proof(b))
        return 0;
    struct vs_proof *proofs = calloc(b->count, sizeof(*proofs));
    struct outcome **of = calloc(b->count, sizeof(*of));
    struct vs_reader *reader = NULL;
    int e = proofs && of ? 0 : vs_diag_set(diag, -VSE_NOMEM, -1, -1, "out of memory");
    if (!e)
        e = vs_run_open_shown(&reader, b->run->path, VS_OPEN_DEFAULT, NULL, NULL, diag);
    if (!e)
        e = prove_with(b, reader, proofs, of, diag);
    vs_reader_close(reader);
    free(proofs);
    free(of);
    return e;
}

/* ---- the batch ------------------------------------------------------------------------------- */

/* Returns what the encoders need. */
static unsigned parse_specs(struct batch *b)
{
    unsigned needs = 0;
    for (size_t i = 0; i < b->count; i++) {
        struct outcome *o = &b->outcomes[i];
        struct vs_diag why = {0};
        o->row = -1;
        if (vs_technique_parse(&o->spec, b->units[i].spec, &why))
            snprintf(o->wrong, sizeof(o->wrong), "%s", why.text);
        else
            needs |= vs_technique_needs(&o->spec);
    }
    return needs;
}

/* What failed in passing is not stored, so that it is tried again. */
static int store_batch(const struct batch *b, const struct vs_store *store, struct vs_diag *diag)
{
    struct vs_store_unit *units = calloc(b->count, sizeof(*units));
    int e = units ? 0 : vs_diag_set(diag, -VSE_NOMEM, -1, -1, "out of memory");
    size_t count = 0;
    for (size_t i = 0; i < b->count && !e; i++) {
        struct outcome *o = &b->outcomes[i];
        bool wrong = *o->wrong;
        if (wrong && o->passing)
            continue;
        if (!wrong && vs_buf_put(&o->values, "", 1))
            e = vs_diag_set(diag, -VSE_NOMEM, -1, -1, "out of memory");
        units[count++] = (struct vs_store_unit){.spec = b->units[i].spec,
                                                .proof = b->units[i].proof,
                                                .wrong = wrong ? o->wrong : NULL,
                                                .values = (const char *)o->values.data};
    }
    if (!e && count)
        e = vs_store_write(store, b->run->hash, units, count, diag);
    free(units);
    return e;
}

/* Hands over what failed in passing, and why the first did. */
static void report_passing(const struct batch *b, bool *passing, struct vs_diag *diag)
{
    bool any = false;
    for (size_t i = 0; i < b->count; i++) {
        const struct outcome *o = &b->outcomes[i];
        passing[i] = *o->wrong && o->passing;
        if (passing[i] && !any)
            vs_diag_set(diag, -VSE_IO, -1, -1, "%s", o->wrong);
        any |= passing[i];
    }
}

/* Everything but storing. */
static int run_batch(struct batch *b, struct vs_diag *why)
{
    struct vs_reader *reader = NULL;
    unsigned needs = parse_specs(b);
    *why = (struct vs_diag){.offset = -1, .chunk = -1};
    if (!b->run->open) {
        *why = b->run->why;
        return why->error ? why->error : -VSE_IO;
    }
    int e = prove(b, why);
    if (!e && !is_stopped(b))
        e = open_run(b, needs, &reader, why);
    if (!e && reader)
        e = measure(b, reader, why);
    vs_reader_close(reader);
    return e;
}

/* Whether it may be one technique's fault alone. */
static bool may_be_one(int error)
{
    return error == -VSE_LIMIT || error == -VSE_INVAL || error == -VSE_NOMEM ||
           error == -VSE_FEATURE || error == -VSE_INTERNAL;
}

/* Runs units one by one, so that one that fails does not take others with it. */
static void run_singly(const struct batch *all)
{
    struct batch b = *all;
    struct vs_diag why;
    for (b.count = 1; b.units < all->units + all->count && !is_stopped(&b);
         b.units++, b.outcomes++) {
        vs_buf_fini(&b.outcomes->values);
        *b.outcomes = (struct outcome){0};
        int e = run_batch(&b, &why);
        if (e)
            refuse(&b, e, &why);
    }
}

int vs_sweep_evaluate(const struct vs_sweep_run *run, const struct vs_sweep_how *how,
                      const struct vs_sweep_unit *units, size_t count, const struct vs_store *store,
                      const atomic_bool *stop, bool *passing, struct vs_diag *diag)
{
    struct batch b = {
        .run = run,
        .units = units,
        .count = count,
        .outcomes = calloc(count, sizeof(*b.outcomes)),
        .stop = stop,
        .options = {.window = how->window, .drain = how->drain, .alone = true, .stop = stop}};
    struct vs_diag why;
    if (!b.outcomes)
        return vs_diag_set(diag, -VSE_NOMEM, -1, -1, "out of memory");
    int e = run_batch(&b, &why);
    if (e && may_be_one(e) && count > 1)
        run_singly(&b);
    else if (e)
        refuse(&b, e, &why);
    if (run->open && !vs_sweep_run_is_same(run)) {
        for (size_t i = 0; i < count; i++)
            b.outcomes[i].wrong[0] = 0;
        vs_diag_set(&why, -VSE_IO, -1, -1, "it changed while it was read");
        refuse(&b, -VSE_IO, &why);
    }
    e = is_stopped(&b) ? -VSE_END : store_batch(&b, store, diag);
    if (!e)
        report_passing(&b, passing, diag);
    for (size_t i = 0; i < count; i++)
        vs_buf_fini(&b.outcomes[i].values);
    free(b.outcomes);
    return e;
}
