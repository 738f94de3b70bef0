/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "cli/commands.h"
#include "cli/plugin.h"
#include "front/report.h"
#include "cli/specs.h"
#include "study/bandwidth.h"

struct chunks_options {
    struct option_list plugins;
    struct option_list techniques;
    const char *field;
    uint64_t most;
    bool json, csv;
};

/* A field that carried numbers. */
struct surface {
    const struct vs_lengths *lengths;
    const char *field;
    uint64_t numbers, used; /* used: bits at the port, for all numbers of the field */
    unsigned most;
    struct vs_chunks best;
    uint64_t best_bits;
    struct vs_unary unary;
    uint64_t unary_bits;
};

static uint64_t count_numbers(const struct vs_lengths *l)
{
    uint64_t n = 0;
    for (unsigned i = 0; i <= 64; i++)
        n += l->count[i];
    return n;
}

static void surface_of(struct surface *s, const struct vs_bandwidth_row *row, unsigned field,
                       unsigned most)
{
    *s = (struct surface){.lengths = &row->lengths[field],
                          .field = vs_field_name(field),
                          .used = row->counts.bits[field],
                          .most = most};
    s->numbers = count_numbers(s->lengths);
    s->best_bits = vs_lengths_best_chunks(s->lengths, most, &s->best);
    s->unary_bits = vs_lengths_best_unary(s->lengths, most, &s->unary);
}

/* ---- the pair in use ------------------------------------------------------------------------- */

/* Finds a field's chunks, whose parameters are named after it: bcnt and bcnt_next. Returns false if
 * there are none, since the technique has another code. */
static bool used_pair(const struct surface *s, const struct vs_technique_spec *spec,
                      struct vs_chunks *pair)
{
    const struct vs_parameter *first = NULL, *other = NULL;
    size_t n = strlen(s->field);
    for (const struct vs_parameter *p = spec->technique->parameters; p->name; p++) {
        if (!strcasecmp(p->name, s->field))
            first = p;
        else if (!strncasecmp(p->name, s->field, n) && !strcmp(p->name + n, "_next"))
            other = p;
    }
    if (!first || !other)
        return false;
    *pair = (struct vs_chunks){(uint8_t)vs_parameter_get(first, spec->params),
                               (uint8_t)vs_parameter_get(other, spec->params)};
    return vs_chunks_valid(*pair);
}

/* ---- printing -------------------------------------------------------------------------------- */

/* What a pair of chunks would cost. */
struct pair_row {
    const char *field;
    uint64_t first, other, bits;
};

static struct pair_row pair_of(const struct surface *s, struct vs_chunks pair)
{
    return (struct pair_row){s->field, pair.first, pair.other,
                             vs_lengths_chunks_bits(s->lengths, pair)};
}

/* A field that carried numbers, as it is printed. */
struct field_row {
    const char *technique;
    struct surface s;
    struct pair_row best, used;
    bool uses_chunks;
};

static struct field_row field_row(const struct surface *s, const struct vs_technique_spec *spec)
{
    struct field_row row = {
        .technique = spec->technique->name, .s = *s, .best = pair_of(s, s->best)};
    struct vs_chunks used;
    row.uses_chunks = used_pair(s, spec, &used);
    if (row.uses_chunks)
        row.used = pair_of(s, used);
    return row;
}

/* A line of the surface: all pairs that have this first chunk. */
struct surface_row {
    const struct surface *s;
    unsigned first;
};

static bool first_at(const void *row, size_t i, void *element)
{
    const struct surface *s = row;
    *(struct surface_row *)element = (struct surface_row){s, (unsigned)i + 1};
    return i < s->most;
}

static bool other_at(const void *row, size_t i, void *element)
{
    const struct surface_row *r = row;
    if (i >= r->s->most)
        return false;
    *(struct pair_row *)element =
        pair_of(r->s, (struct vs_chunks){(uint8_t)r->first, (uint8_t)(i + 1)});
    return true;
}

static bool length_at(const void *row, size_t i, void *element)
{
    if (i <= 64)
        *(uint64_t *)element = ((const struct surface *)row)->lengths->count[i];
    return i <= 64;
}

static const struct report_rows first_rows = {.size = sizeof(struct surface_row), .at = first_at};
static const struct report_rows other_rows = {.size = sizeof(struct pair_row), .at = other_at};
static const struct report_rows length_rows = {.size = sizeof(uint64_t), .at = length_at};

static const struct report_column pair_columns[] = {
    {.csv = "field", .kind = CELL_WORD, REPORT_IN(pair_row, field)},
    {.json = "first", .csv = "first", REPORT_AT(pair_row, first)},
    {.json = "other", .csv = "other", REPORT_AT(pair_row, other)},
    {.json = "bits", .csv = "bits", REPORT_AT(pair_row, bits)},
    {0},
};

static const struct report_column cost_columns[] = {
    {.json = "", .text = "bits", REPORT_AT(pair_row, bits), .width = 11},
    {0},
};

static const struct report_column surface_columns[] = {
    {.json = "", .rows = &other_rows, .group = cost_columns},
    {0},
};

static const struct report_column length_columns[] = {
    {.json = "", .kind = CELL_COUNT, .size = sizeof(uint64_t)},
    {0},
};

static bool uses_chunks(const void *row)
{
    return ((const struct field_row *)row)->uses_chunks;
}

static struct cell more_than_best(const void *row)
{
    const struct field_row *f = row;
    return cell_real(f->best.bits ? (double)(f->used.bits - f->best.bits) / (double)f->best.bits
                                  : 0);
}

static const struct report_column columns[] = {
    REPORT_WORD(field_row, technique),
    {.json = "field", .kind = CELL_WORD, REPORT_IN(field_row, s.field)},
    {.json = "numbers", REPORT_AT(field_row, s.numbers)},
    {.json = "bits", REPORT_AT(field_row, s.used)},
    {.json = "best", .group = pair_columns, REPORT_IN(field_row, best)},
    {.json = "used", .group = pair_columns, REPORT_IN(field_row, used), .known = uses_chunks},
    {.text = "more", .get = more_than_best, .percent = true, .places = 2},
    {.text = "unary_size", REPORT_AT(field_row, s.unary.size)},
    {.text = "unary_step", REPORT_AT(field_row, s.unary.step)},
    {.text = "unary_bits", REPORT_AT(field_row, s.unary_bits)},
    {.json = "lengths", .rows = &length_rows, .group = length_columns, REPORT_IN(field_row, s)},
    {.json = "surface", .rows = &first_rows, .group = surface_columns, REPORT_IN(field_row, s)},
    {0},
};

static void print_text(struct out *out, const struct field_row *f)
{
    struct surface_row line;
    struct pair_row pair;
    report_say(out, columns, f,
               "{field}: {numbers} numbers, {bits} bits at the port\n"
               "  best chunks ({best.first},{best.other}): {best.bits} bits\n");
    report_say(out, columns, f,
               f->uses_chunks ? "  used chunks ({used.first},{used.other}): {used.bits} bits, "
                                "{more} % more than the best\n"
                              : "  used: another code\n");
    if (f->s.unary_bits != UINT64_MAX)
        report_say(out, columns, f,
                   "  best unary prefix ({unary_size},{unary_step}): {unary_bits} bits\n");
    out_printf(out, "  %5s", "first");
    for (unsigned other = 1; other <= f->s.most; other++)
        out_printf(out, " %11u", other);
    out_str(out, "  other\n");
    for (size_t i = 0; first_at(&f->s, i, &line); i++) {
        out_printf(out, "  %5u", line.first);
        for (size_t k = 0; other_at(&line, k, &pair); k++)
            report_table_cells(out, cost_columns, &pair, 1);
        out_char(out, '\n');
    }
}

static void print_csv(struct out *out, const struct field_row *f)
{
    struct surface_row line;
    struct pair_row pair;
    for (size_t i = 0; first_at(&f->s, i, &line); i++)
        for (size_t k = 0; other_at(&line, k, &pair); k++)
            report_csv(out, pair_columns, &pair);
}

static int print(struct cli *cli, const struct chunks_options *o, const char *path,
                 const struct vs_bandwidth_row *row)
{
    unsigned shown = 0;
    if (o->csv)
        report_csv_head(&cli->out, pair_columns, &(struct pair_row){0});
    for (unsigned i = 0; i < VS_FIELD_END; i++) {
        struct surface s;
        if ((o->field && strcmp(o->field, vs_field_name(i))) || !count_numbers(&row->lengths[i]))
            continue;
        surface_of(&s, row, i, (unsigned)o->most);
        const struct field_row f = field_row(&s, &row->spec);
        if (o->json)
            report_json_line(&cli->out, columns, &f);
        else if (o->csv)
            print_csv(&cli->out, &f);
        else
            print_text(&cli->out, &f);
        shown++;
    }
    if (shown)
        return CLI_DONE;
    cli_error(cli, "%s: %s%s%s carries no numbers of %s", path, o->field ? "field '" : "no field",
              o->field ? o->field : "", o->field ? "'" : "", row->spec.technique->name);
    return CLI_USAGE;
}

/* ---- the command ----------------------------------------------------------------------------- */

static int measure(struct cli *cli, const struct chunks_options *o, const char *path,
                   const struct vs_technique_spec *spec)
{
    struct vs_diag diag = {.offset = -1, .chunk = -1};
    struct vs_progress progress;
    struct vs_reader *reader;
    struct vs_bandwidth b;
    int status = cli_open_file(cli, &reader, path, false);
    if (status != CLI_DONE)
        return status;
    if (vs_bandwidth_lacks(spec->technique, vs_reader_info(reader), &diag)) {
        cli_error(cli, "%s: %s cannot encode it: %s", path, spec->technique->name, diag.text);
        vs_reader_close(reader);
        return CLI_USAGE;
    }
    int64_t e = vs_bandwidth_init(&b, reader, NULL, &diag);
    if (!e)
        e = vs_bandwidth_add(&b, spec, NULL, NULL, &diag);
    if (e >= 0) {
        vs_progress_init(&progress, stderr, "encoding", vs_bandwidth_work(&b, reader), "events");
        e = vs_bandwidth_run(&b, reader, &progress, &diag);
        vs_progress_finish(&progress);
    }
    if (e == -VSE_END && cli_missing(cli, path, vs_reader_info(reader)) != CLI_DONE)
        status = CLI_BAD_DATA; /* what there is of the run has no thread */
    else
        status = e < 0 ? cli_report(cli, path, (int)e, &diag) : print(cli, o, path, &b.rows[0]);
    if (e >= 0)
        status = cli_worse(status, cli_missing(cli, path, vs_reader_info(reader)));
    vs_bandwidth_fini(&b);
    vs_reader_close(reader);
    return status;
}

static bool is_field(const char *name)
{
    for (unsigned i = 0; i < VS_FIELD_END; i++)
        if (!strcmp(name, vs_field_name(i)))
            return true;
    return false;
}

static int no_field(struct cli *cli, const char *name)
{
    char list[256] = "";
    for (unsigned i = 0; i < VS_FIELD_END; i++)
        snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s", i ? ", " : "",
                 vs_field_name(i));
    cli_error(cli, "--field: '%s' is not one of %s", name, list);
    return CLI_USAGE;
}

static int run(struct cli *cli, int argc, char **argv)
{
    struct chunks_options o = {.most = 10};
    struct vs_technique_spec spec;
    int status;
    if (!options_parse(cli, &command_chunks, &o, &argc, argv, &status))
        return status;
    status = plugin_load(cli, &o.plugins);
    if (status != CLI_DONE)
        return status;
    if (o.techniques.count != 1 || (o.json && o.csv)) {
        cli_error(cli, o.json && o.csv
                           ? "--json and --csv exclude each other"
                           : "one -t says whose fields they are; see 'vestige chunks --help'");
        return CLI_USAGE;
    }
    if (o.field && !is_field(o.field))
        return no_field(cli, o.field);
    status = specs_parse_one(cli, &spec, o.techniques.items[0]);
    return status == CLI_DONE ? measure(cli, &o, argv[0], &spec) : status;
}

#define FIELD(member) offsetof(struct chunks_options, member)

static const struct cli_option options[] = {
    SPECS_OPTION_ONE(FIELD(techniques)),
    PLUGIN_OPTION(FIELD(plugins)),
    {.name = "field",
     .argument = "NAME",
     .help = "show only this field: bCnt, target, dCC, ...",
     .type = OPTION_STRING,
     .offset = FIELD(field)},
    {.name = "most",
     .argument = "N",
     .help = "try chunks of up to N bits, at most 64 (10)",
     .type = OPTION_U64,
     .offset = FIELD(most),
     .min = 1,
     .max = 64},
    {.name = "json", .help = "print a JSON object per field", .offset = FIELD(json)},
    {.name = "csv",
     .help = "print a line of comma-separated values per pair",
     .offset = FIELD(csv)},
    {0},
};

const struct command command_chunks = {
    .name = "chunks",
    .summary = "find the chunk sizes that suit a technique's fields",
    .run = run,
    .options = options,
    .operands = "run.vest",
    .operands_min = 1,
    .operands_max = 1,
    .description =
        "Counts in one pass how long the numbers in each field are, and shows what every\n"
        "pair of a first and further chunks would cost, which pair is best, and which one\n"
        "is used. The costs do not include signs.\n"
        "\n"
        "" SPECS_HELP_ONE,
    .example = "vestige chunks run.vest -t mcfTR_e --field bCnt",
    .exits = COMMAND_EXITS,
};
