/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "cli/commands.h"
#include "cli/where_print.h"
#include "front/json.h"
#include "study/run_diff.h"

struct diff_options {
    bool json, all, values;
};

/* How many threads that differ are shown unless all are asked for. */
enum { SHOWN_THREADS = 16 };

struct comparing {
    struct cli *cli;
    const struct diff_options *o;
    const char *paths[2];
    struct vs_reader *readers[2];
    struct vs_diff diff;
};

/* Returns 0, with *place NULL if the event has none; -VSE_NOMEM. */
static int name_event(struct comparing *c, unsigned side, const struct vs_diff_event *e,
                      const struct vs_where_place **place)
{
    *place = NULL;
    return e->site > 0 ? vs_where_name(&c->diff.where[side], (uint64_t)e->site, place) : 0;
}

static size_t count_different(const struct vs_diff *d)
{
    size_t n = 0;
    for (size_t i = 0; i < d->count; i++)
        n += d->threads[i].differs;
    return n;
}

/* ---- text ------------------------------------------------------------------------------------ */

static void text_event(struct comparing *c, unsigned side, const struct vs_diff_thread *t,
                       const struct vs_where_place *place)
{
    struct out *out = &c->cli->out;
    const struct vs_diff_event *e = &t->events[side];
    out_str(out, "  ");
    out_safe(out, c->paths[side]);
    if (!t->has[side]) {
        out_str(out, ": no more events\n");
        return;
    }
    out_printf(out, ": event %llu, %s", (unsigned long long)e->number,
               e->kind == VS_BRANCH ? vs_branch_name(e->flags) : vs_kind_name(e->kind));
    if (e->pc)
        out_printf(out, ", pc 0x%llx", (unsigned long long)e->pc);
    if (e->kind == VS_BRANCH && e->flags & VS_BR_COND)
        out_str(out, e->flags & VS_BR_TAKEN ? " taken" : " not taken");
    if (e->addr)
        out_printf(out, " %s0x%llx", e->kind == VS_LOAD || e->kind == VS_STORE ? "of " : "-> ",
                   (unsigned long long)e->addr);
    if ((e->kind == VS_LOAD || e->kind == VS_STORE) && e->size <= 8)
        out_printf(out, " = 0x%llx", (unsigned long long)e->value);
    out_printf(out, "  +%llu", (unsigned long long)e->icount);
    if (place) {
        out_str(out, "  # ");
        where_text(out, place);
    }
    out_char(out, '\n');
}

/* Returns 0; -VSE_NOMEM. */
static int text_thread(struct comparing *c, size_t thread)
{
    const struct vs_diff_thread *t = &c->diff.threads[thread];
    const struct vs_where_place *places[2];
    int e = 0;
    for (unsigned k = 0; k < 2 && !e; k++)
        e = name_event(c, k, &t->events[k], &places[k]);
    if (e)
        return e;
    out_printf(&c->cli->out, "thread %zu: equal in %s events, then\n", thread, DIGITS(t->position));
    for (unsigned k = 0; k < 2; k++)
        text_event(c, k, t, places[k]);
    return 0;
}

static int text_diff(struct comparing *c)
{
    const struct vs_diff *d = &c->diff;
    size_t different = count_different(d), shown = 0;
    struct out *out = &c->cli->out;
    int e = 0;
    for (size_t i = 0; i < d->count && !e; i++) {
        if (!d->threads[i].differs)
            continue;
        if (!c->o->all && shown == SHOWN_THREADS)
            break;
        e = text_thread(c, i);
        shown++;
    }
    if (shown < different)
        out_printf(out, "... and %s more threads (--all)\n", DIGITS(different - shown));
    out_printf(out, "compared %s events of %zu thread%s: ", DIGITS(d->compared), d->count,
               d->count == 1 ? "" : "s");
    if (different)
        out_printf(out, "%zu thread%s differ%s\n", different, different == 1 ? "" : "s",
                   different == 1 ? "s" : "");
    else
        out_str(out, "all equal\n");
    return e;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static int json_event(struct comparing *c, struct json *j, unsigned side,
                      const struct vs_diff_thread *t)
{
    const struct vs_diff_event *event = &t->events[side];
    const struct vs_where_place *place;
    int e = name_event(c, side, event, &place);
    if (!t->has[side]) {
        json_null(j, NULL);
        return 0;
    }
    json_object(j, NULL);
    json_u64(j, "event", event->number);
    json_str(j, "kind", vs_kind_name(event->kind));
    json_hex(j, "pc", event->pc);
    json_hex(j, "addr", event->addr);
    json_u64(j, "size", event->size);
    json_u64(j, "icount", event->icount);
    json_u64(j, "instructions", event->instructions);
    if (!e && place)
        where_json(j, "source", place);
    else
        json_null(j, "source");
    json_end(j);
    return e;
}

static int json_diff(struct comparing *c)
{
    const struct vs_diff *d = &c->diff;
    struct json j;
    int e = 0;
    json_init(&j, &c->cli->out, 0);
    json_object(&j, NULL);
    json_array(&j, "runs");
    for (unsigned k = 0; k < 2; k++)
        json_str(&j, NULL, c->paths[k]);
    json_end(&j);
    json_bool(&j, "equal", !count_different(d));
    json_u64(&j, "compared", d->compared);
    json_array(&j, "threads");
    for (size_t i = 0; i < d->count; i++) {
        const struct vs_diff_thread *t = &d->threads[i];
        json_object(&j, NULL);
        json_u64(&j, "thread", i);
        json_bool(&j, "equal", !t->differs);
        json_array(&j, "events");
        for (unsigned k = 0; k < 2; k++)
            json_u64(&j, NULL, t->counts[k]);
        json_end(&j);
        if (t->differs) {
            json_u64(&j, "position", t->position);
            json_array(&j, "first");
            for (unsigned k = 0; k < 2 && !e; k++)
                e = json_event(c, &j, k, t);
            json_end(&j);
        }
        json_end(&j);
    }
    json_end(&j);
    json_end(&j);
    return e;
}

/* ---- the command ----------------------------------------------------------------------------- */

static int compare(struct comparing *c)
{
    const struct vs_run_info *a = vs_reader_info(c->readers[0]), *b = vs_reader_info(c->readers[1]);
    const uint32_t kinds = VS_RUN_LOADS | VS_RUN_STORES;
    unsigned failed;
    int e, status;
    if ((a->features & kinds) != (b->features & kinds)) {
        cli_error(c->cli,
                  "%s and %s cannot be compared: one has loads or stores that the other lacks",
                  c->paths[0], c->paths[1]);
        return CLI_USAGE;
    }
    e = vs_diff_init(&c->diff, c->readers[0], c->readers[1], c->o->values, &failed);
    if (e) {
        status = cli_report(c->cli, c->paths[failed], e,
                            e != -VSE_NOMEM ? vs_reader_diag(c->readers[failed]) : NULL);
    } else {
        e = c->o->json ? json_diff(c) : text_diff(c);
        status = e                           ? cli_report(c->cli, c->paths[0], e, NULL)
                 : count_different(&c->diff) ? CLI_BAD_DATA
                                             : CLI_DONE;
        status = cli_worse(status, cli_missing(c->cli, c->paths[0], a));
        status = cli_worse(status, cli_missing(c->cli, c->paths[1], b));
    }
    vs_diff_fini(&c->diff);
    return status;
}

static int run(struct cli *cli, int argc, char **argv)
{
    struct diff_options o = {0};
    struct comparing c = {.cli = cli, .o = &o};
    int status;
    if (!options_parse(cli, &command_diff, &o, &argc, argv, &status))
        return status;
    status = CLI_DONE;
    for (unsigned k = 0; k < 2 && status == CLI_DONE; k++) {
        c.paths[k] = argv[k];
        status = cli_open(cli, &c.readers[k], argv[k], false);
    }
    if (status == CLI_DONE)
        status = compare(&c);
    vs_reader_close(c.readers[0]);
    vs_reader_close(c.readers[1]);
    return status;
}

#define FIELD(member) offsetof(struct diff_options, member)

static const struct cli_option options[] = {
    {.name = "json", .help = "print one JSON object", .offset = FIELD(json)},
    {.name = "values",
     .help = "compare values too: of loads, stores, registers and\n"
             "system calls",
     .offset = FIELD(values)},
    {.name = "all",
     .letter = 'a',
     .help = "show every thread that differs, not only 16",
     .offset = FIELD(all)},
    {0},
};

const struct command command_diff = {
    .name = "diff",
    .summary = "show where two runs part, thread by thread",
    .run = run,
    .options = options,
    .operands = "a.vest b.vest",
    .operands_min = 2,
    .operands_max = 2,
    .description =
        "Compares the events of each thread of one run with those of the same thread of\n"
        "the other, whatever the order between threads, and shows the first that differs,\n"
        "with its routine and source line. Addresses of code are compared as those of\n"
        "their images, which may lie elsewhere; other addresses as they are, and so with\n"
        "--values what lies there. Cycles are not compared.",
    .example = "vestige diff before.vest after.vest\n"
               "vestige diff --json a.vest b.vest | jq '.threads[0].first'",
    .exits = "0  the runs are equal\n"
             "1  they differ, or one is damaged or incomplete\n"
             "2  bad usage, they cannot be compared, or the system refused something",
};
