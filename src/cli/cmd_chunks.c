/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "cli/commands.h"
#include "front/json.h"
#include "cli/specs.h"
#include "study/bandwidth.h"

struct chunks_options {
    struct option_list techniques;
    const char *field;
    uint64_t most;
    bool json, csv;
};

/* A field that carried numbers. */
struct surface {
    const struct vs_lengths *lengths;
    const char *field;
    uint64_t numbers, used; /* used: bits at the port, of all that the field has */
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

/* Where a field has chunks, its parameters are named after it: bcnt and bcnt_next. Returns false if
 * there are none: the technique has another code. */
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

static void text_surface(struct out *out, const struct surface *s,
                         const struct vs_technique_spec *spec)
{
    struct vs_chunks used;
    char numbers[32], bits[32];
    out_printf(out, "%s: %s numbers, %s bits at the port\n", s->field,
               group_digits(numbers, s->numbers), group_digits(bits, s->used));
    out_printf(out, "  best chunks (%u,%u): %s bits\n", s->best.first, s->best.other,
               group_digits(bits, s->best_bits));
    if (used_pair(s, spec, &used)) {
        uint64_t cost = vs_lengths_chunks_bits(s->lengths, used);
        out_printf(out, "  used chunks (%u,%u): %s bits, %.2f %% more than the best\n", used.first,
                   used.other, group_digits(bits, cost),
                   s->best_bits ? 100.0 * (double)(cost - s->best_bits) / (double)s->best_bits : 0);
    } else {
        out_str(out, "  used: another code\n");
    }
    if (s->unary_bits != UINT64_MAX)
        out_printf(out, "  best unary prefix (%u,%u): %s bits\n", s->unary.size, s->unary.step,
                   group_digits(bits, s->unary_bits));
    out_printf(out, "  %5s", "first");
    for (unsigned other = 1; other <= s->most; other++)
        out_printf(out, " %11u", other);
    out_str(out, "  other\n");
    for (unsigned first = 1; first <= s->most; first++) {
        out_printf(out, "  %5u", first);
        for (unsigned other = 1; other <= s->most; other++)
            out_printf(out, " %11s",
                       DIGITS(vs_lengths_chunks_bits(
                           s->lengths, (struct vs_chunks){(uint8_t)first, (uint8_t)other})));
        out_char(out, '\n');
    }
}

static void csv_surface(struct out *out, const struct surface *s)
{
    for (unsigned first = 1; first <= s->most; first++)
        for (unsigned other = 1; other <= s->most; other++)
            out_printf(out, "%s,%u,%u,%" PRIu64 "\n", s->field, first, other,
                       vs_lengths_chunks_bits(s->lengths,
                                              (struct vs_chunks){(uint8_t)first, (uint8_t)other}));
}

static void json_pair(struct json *j, const char *key, struct vs_chunks c, uint64_t bits)
{
    json_object(j, key);
    json_u64(j, "first", c.first);
    json_u64(j, "other", c.other);
    json_u64(j, "bits", bits);
    json_end(j);
}

static void json_surface(struct out *out, const struct surface *s,
                         const struct vs_technique_spec *spec)
{
    struct vs_chunks used;
    struct json j;
    json_init(&j, out, 0);
    json_object(&j, NULL);
    json_str(&j, "technique", spec->technique->name);
    json_str(&j, "field", s->field);
    json_u64(&j, "numbers", s->numbers);
    json_u64(&j, "bits", s->used);
    json_pair(&j, "best", s->best, s->best_bits);
    if (used_pair(s, spec, &used))
        json_pair(&j, "used", used, vs_lengths_chunks_bits(s->lengths, used));
    else
        json_null(&j, "used");
    json_array(&j, "lengths");
    for (unsigned i = 0; i <= 64; i++)
        json_u64(&j, NULL, s->lengths->count[i]);
    json_end(&j);
    json_array(&j, "surface");
    for (unsigned first = 1; first <= s->most; first++) {
        json_array(&j, NULL);
        for (unsigned other = 1; other <= s->most; other++)
            json_u64(&j, NULL,
                     vs_lengths_chunks_bits(s->lengths,
                                            (struct vs_chunks){(uint8_t)first, (uint8_t)other}));
        json_end(&j);
    }
    json_end(&j);
    json_end(&j);
}

static int print(struct cli *cli, const struct chunks_options *o, const char *path,
                 const struct vs_bandwidth_row *row)
{
    unsigned shown = 0;
    if (o->csv)
        out_str(&cli->out, "field,first,other,bits\n");
    for (unsigned i = 0; i < VS_FIELD_END; i++) {
        struct surface s;
        if ((o->field && strcmp(o->field, vs_field_name(i))) || !count_numbers(&row->lengths[i]))
            continue;
        surface_of(&s, row, i, (unsigned)o->most);
        if (o->json)
            json_surface(&cli->out, &s, &row->spec);
        else if (o->csv)
            csv_surface(&cli->out, &s);
        else
            text_surface(&cli->out, &s, &row->spec);
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
    int status = cli_open(cli, &reader, path, false);
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
        status = CLI_BAD_DATA; /* what there is has no thread */
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
    {.name = "field",
     .argument = "NAME",
     .help = "only this field: bCnt, target, dCC, ...",
     .type = OPTION_STRING,
     .offset = FIELD(field)},
    {.name = "most",
     .argument = "N",
     .help = "chunks of up to N bits, at most 64 (10)",
     .type = OPTION_U64,
     .offset = FIELD(most),
     .min = 1,
     .max = 64},
    {.name = "json", .help = "a JSON object per field", .offset = FIELD(json)},
    {.name = "csv", .help = "a line per pair", .offset = FIELD(csv)},
    {0},
};

const struct command command_chunks = {
    .name = "chunks",
    .summary = "which chunk sizes suit the numbers of a technique's fields",
    .run = run,
    .options = options,
    .operands = "run.vest",
    .operands_min = 1,
    .operands_max = 1,
    .description =
        "Counts how long the numbers in each field are, in one pass, and shows what every\n"
        "pair of a first and further chunks would cost, the best pair and the one used.\n"
        "Signs are not among the costs.\n"
        "\n" SPECS_HELP_ONE,
    .example = "vestige chunks run.vest -t mcfTR_e --field bCnt",
    .exits = COMMAND_EXITS,
};
