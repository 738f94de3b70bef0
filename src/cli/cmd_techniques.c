/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/measured.h"
#include "cli/plugin.h"
#include "front/report.h"
#include "front/suggest.h"
#include "technique/technique.h"

struct techniques_options {
    struct option_list plugins;
    bool json;
    uint64_t cores;
};

/* A technique, and what it costs. */
struct technique_row {
    const struct vs_technique_spec *spec;
    uint64_t cores;
    struct vs_cost_list costs;
    uint64_t cache_bits; /* 0 if there is no cache */
};

/* The costs are those for 64-bit addresses. */
static int row_of(struct cli *cli, const struct techniques_options *o,
                  const struct vs_technique_spec *given, struct technique_row *row)
{
    const struct vs_technique_setup setup = {.cores = (unsigned)o->cores, .address_bits = 64};
    struct vs_technique_spec spec = *given;
    vs_technique_settle(&spec, false);
    int e = vs_technique_cost(&spec, &setup, &row->costs);
    row->spec = given;
    row->cores = o->cores;
    row->cache_bits = vs_technique_cache_bits(&spec, &setup);
    return e < 0 ? cli_report(cli, spec.technique->name, e, NULL) : CLI_DONE;
}

static const struct vs_technique_spec *spec_of(const void *row)
{
    return ((const struct technique_row *)row)->spec;
}

static const struct vs_technique *technique_of(const void *row)
{
    return spec_of(row)->technique;
}

/* ---- parameters and configurations ----------------------------------------------------------- */

struct parameter_row {
    const struct vs_parameter *p;
    char value[VS_PARAMETER_TEXT];
    char range[256]; /* "1 to 64", "words|of|an|enumeration" */
};

static const struct vs_parameter *parameter_of(const void *row)
{
    return ((const struct parameter_row *)row)->p;
}

static void put_range(const struct vs_parameter *p, char *text, size_t capacity)
{
    size_t used = 0;
    text[0] = 0;
    if (!p->words) {
        snprintf(text, capacity, "%llu to %llu%s", (unsigned long long)p->min,
                 (unsigned long long)p->max, p->power ? ", power of two" : "");
        return;
    }
    for (const char *const *w = p->words; *w && used < capacity; w++)
        used += (size_t)snprintf(text + used, capacity - used, "%s%s", used ? "|" : "", *w);
}

static bool parameter_at(const void *row, size_t i, void *element)
{
    struct parameter_row *r = element;
    r->p = &technique_of(row)->parameters[i];
    if (!r->p->name)
        return false;
    vs_parameter_text(r->p, spec_of(row)->params, r->value);
    put_range(r->p, r->range, sizeof(r->range));
    return true;
}

static bool word_at(const void *row, size_t i, void *element)
{
    *(const char **)element = parameter_of(row)->words[i];
    return parameter_of(row)->words[i];
}

static bool takes_words(const void *row)
{
    return parameter_of(row)->words;
}

static bool takes_numbers(const void *row)
{
    return !takes_words(row);
}

static struct cell parameter_name(const void *row)
{
    return cell_word(parameter_of(row)->name);
}

static struct cell parameter_value(const void *row)
{
    return cell_word(((const struct parameter_row *)row)->value);
}

static struct cell parameter_range(const void *row)
{
    return cell_word(((const struct parameter_row *)row)->range);
}

static struct cell parameter_min(const void *row)
{
    return cell_count(parameter_of(row)->min);
}

static struct cell parameter_max(const void *row)
{
    return cell_count(parameter_of(row)->max);
}

static struct cell parameter_power(const void *row)
{
    return cell_bool(parameter_of(row)->power);
}

static struct cell parameter_help(const void *row)
{
    return cell_word(parameter_of(row)->help ? parameter_of(row)->help : "");
}

static const struct report_rows word_rows = {.size = sizeof(const char *), .at = word_at};
static const struct report_rows parameter_rows = {.size = sizeof(struct parameter_row),
                                                  .at = parameter_at};

static const struct report_column word_columns[] = {{.json = "", .kind = CELL_WORD}, {0}};

static const struct report_column parameter_columns[] = {
    {.json = "name", .text = "name", .get = parameter_name, .width = -12},
    {.json = "default", .text = "default", .get = parameter_value, .width = -10},
    {.text = "values", .get = parameter_range, .width = -32},
    {.json = "values", .rows = &word_rows, .group = word_columns, .when = takes_words},
    {.json = "min", .get = parameter_min, .when = takes_numbers},
    {.json = "max", .get = parameter_max, .when = takes_numbers},
    {.json = "power", .get = parameter_power, .when = takes_numbers},
    {.json = "help", .text = "", .get = parameter_help},
    {0},
};

static bool config_at(const void *row, size_t i, void *element)
{
    const struct vs_technique_config *configs = technique_of(row)->configs;
    if (!configs || !configs[i].name)
        return false;
    *(struct vs_technique_config *)element = configs[i];
    return true;
}

static const char *config_name(const void *element)
{
    return ((const struct vs_technique_config *)element)->name;
}

static const struct report_rows config_rows = {
    .size = sizeof(struct vs_technique_config), .at = config_at, .name = config_name};

static const struct report_column config_columns[] = {
    {.json = "", .kind = CELL_WORD, REPORT_IN(vs_technique_config, values)},
    {0},
};

/* ---- cost ------------------------------------------------------------------------------------ */

struct cost_row {
    const char *name;
    uint64_t copies;
    struct vs_cost cost; /* of all copies */
    uint64_t cache_bits;
};

static bool cost_at(const void *row, size_t i, void *element)
{
    const struct technique_row *t = row;
    struct cost_row *c = element;
    if (i >= t->costs.count)
        return false;
    *c = (struct cost_row){.name = t->costs.items[i].name,
                           .copies = t->costs.items[i].copies,
                           .cache_bits = t->cache_bits};
    vs_cost_add(&c->cost, t->costs.items[i].cost, t->costs.items[i].copies);
    return true;
}

static struct cost_row total_of(const struct technique_row *t)
{
    return (struct cost_row){
        .name = "total", .cost = vs_cost_list_sum(&t->costs), .cache_bits = t->cache_bits};
}

static const struct cost_row *cost_of(const void *row)
{
    return row;
}

static struct cell cost_storage(const void *row)
{
    return cell_count(vs_cost_storage(cost_of(row)->cost));
}

static struct cell cost_gates(const void *row)
{
    return cell_count(vs_cost_gates(cost_of(row)->cost));
}

/* The storage as a share of the data in the caches. */
static struct cell cost_share(const void *row)
{
    return cell_ratio(vs_cost_storage(cost_of(row)->cost), cost_of(row)->cache_bits);
}

static struct cell cost_copies(const void *row)
{
    return cost_of(row)->copies ? cell_count(cost_of(row)->copies) : cell_word("");
}

static const struct report_rows cost_rows = {.size = sizeof(struct cost_row), .at = cost_at};

static const struct report_column cost_columns[] = {
    {.json = "name",
     .text = "structure",
     .kind = CELL_WORD,
     REPORT_IN(cost_row, name),
     .width = -28},
    {.json = "copies", .text = "copies", .get = cost_copies, .width = 6},
    {.json = "storage_bits", .text = "storage bits", .get = cost_storage, .width = 12},
    {.json = "gates", .text = "gates", .get = cost_gates, .width = 12},
    {.json = "cache_fraction", .get = cost_share, .places = 3, .percent = true, .width = 9},
    {0},
};

/* ---- gates after synthesis ------------------------------------------------------------------- */

static bool measured_at(const void *row, size_t i, void *element)
{
    const struct technique_row *t = row;
    const struct measured *m = measured_of(t->spec, t->cores, i);
    if (m)
        *(struct measured *)element = *m;
    return m;
}

static struct cell measured_timed(const void *row)
{
    return cell_bool(((const struct measured *)row)->timed);
}

static const struct report_rows measured_list = {.size = sizeof(struct measured),
                                                 .at = measured_at};

static const struct report_column measured_columns[] = {
    {.json = "timed", .text = "timed", .get = measured_timed, .width = -5},
    {.json = "options",
     .text = "options",
     .kind = CELL_WORD,
     REPORT_IN(measured, options),
     .width = -34},
    {.json = "logic", .text = "logic", REPORT_AT(measured, logic), .width = 8},
    {.json = "flip_flops", .text = "flip-flops", REPORT_AT(measured, flip_flops), .width = 10},
    {.json = "gates", .text = "gates", REPORT_AT(measured, gates), .width = 8},
    {.json = "memory_bits", .text = "memory bits", REPORT_AT(measured, memory_bits), .width = 11},
    {.json = "levels", .text = "levels", REPORT_AT(measured, levels), .width = 6},
    {0},
};

/* ---- a technique ----------------------------------------------------------------------------- */

static bool alias_at(const void *row, size_t i, void *element)
{
    const char *const *aliases = technique_of(row)->aliases;
    *(const char **)element = aliases ? aliases[i] : NULL;
    return aliases && aliases[i];
}

static struct cell name(const void *row)
{
    return cell_word(technique_of(row)->name);
}

static struct cell summary(const void *row)
{
    return cell_word(technique_of(row)->summary);
}

static struct cell kind(const void *row)
{
    return cell_word(vs_technique_kinds_name(technique_of(row)->serves));
}

static struct cell why(const void *row)
{
    return cell_word(vs_technique_undecodable(spec_of(row)));
}

static bool is_undecodable(const void *row)
{
    return vs_technique_undecodable(spec_of(row));
}

static struct cell decodable(const void *row)
{
    return cell_bool(!is_undecodable(row));
}

static struct cell ordered(const void *row)
{
    return cell_bool(vs_technique_ordered(spec_of(row)));
}

static struct cell storage(const void *row)
{
    return cost_storage(&(struct cost_row){.cost = total_of(row).cost});
}

static struct cell gates(const void *row)
{
    return cost_gates(&(struct cost_row){.cost = total_of(row).cost});
}

static struct cell cache_share(const void *row)
{
    const struct cost_row total = total_of(row);
    return cost_share(&total);
}

/* The first row without time, which is of the module as it is if nobody sets its options. */
static struct cell measured_gates(const void *row)
{
    struct measured m;
    for (size_t i = 0; measured_at(row, i, &m); i++)
        if (!m.timed)
            return cell_count(m.gates);
    return cell_word("");
}

static const struct report_rows alias_rows = {.size = sizeof(const char *), .at = alias_at};

static const struct report_column columns[] = {
    {.json = "name", .text = "technique", .get = name, .width = -15},
    {.json = "aliases", .rows = &alias_rows, .group = word_columns},
    {.json = "summary", .get = summary},
    {.json = "kind", .text = "kind", .get = kind, .width = -14},
    {.text = "bits", .get = storage, .width = 9},
    {.text = "gates", .get = gates, .width = 9},
    {.text = "measured", .get = measured_gates, .width = 8},
    {.json = "decodable", .text = "dec", .get = decodable, .width = -3, .before = "  "},
    {.text = "summary", .get = summary},
    {.json = "why", .get = why, .when = is_undecodable},
    {.json = "ordered", .get = ordered},
    {.json = "parameters", .rows = &parameter_rows, .group = parameter_columns},
    {.json = "configurations", .rows = &config_rows, .group = config_columns},
    REPORT_COUNT(technique_row, cores),
    {.json = "storage_bits", .get = storage},
    {.json = "gates", .get = gates},
    {.json = "cache_fraction", .get = cache_share},
    {.json = "structures", .rows = &cost_rows, .group = cost_columns},
    {.json = "measured", .rows = &measured_list, .group = measured_columns},
    {0},
};

static void text_cost(struct out *out, const struct cost_row *cost)
{
    report_table_cells(out, cost_columns, cost, 2);
    if (cost->cache_bits)
        report_say(out, cost_columns, cost, " {>cache_fraction} %");
    out_char(out, '\n');
}

static void text_costs(struct out *out, const struct technique_row *row)
{
    struct cost_row cost = total_of(row);
    out_printf(out, "\ncost, %llu core%s, 64-bit addresses:\n", (unsigned long long)row->cores,
               row->cores == 1 ? "" : "s");
    report_table_names(out, cost_columns, &cost, 2);
    out_printf(out, "%s\n", row->cache_bits ? " of the cache" : "");
    for (size_t i = 0; cost_at(row, i, &cost); i++)
        text_cost(out, &cost);
    cost = total_of(row);
    text_cost(out, &cost);
}

static void text_measured(struct out *out, const struct technique_row *row)
{
    struct measured m;
    if (!measured_at(row, 0, &m))
        return;
    out_str(out,
            "\nmeasured by synthesis; gates are those of logic and flip-flops, beside memories:\n");
    report_table_head(out, measured_columns, &m, 2);
    for (size_t i = 0; measured_at(row, i, &m); i++)
        report_table_row(out, measured_columns, &m, 2);
}

static void print_text(struct out *out, const struct technique_row *row)
{
    struct parameter_row parameter = {0};
    struct vs_technique_config config;
    const char *alias;
    char text[VS_TECHNIQUE_TEXT];
    report_say(out, columns, row, "{name}: {summary}\nkind: {kind}\n");
    for (size_t i = 0; alias_at(row, i, &alias); i++)
        out_printf(out, "%s%s", i ? " " : "also: ", alias);
    if (alias_at(row, 0, &alias))
        out_char(out, '\n');
    report_say(out, columns, row,
               is_undecodable(row) ? "decodable: no: {why}\n" : "decodable: yes\n");
    if (ordered(row).count)
        out_str(out, "order: the structures see the cores in global order\n");
    if (vs_technique_text(row->spec, text, sizeof(text)) > 0)
        out_printf(out, "spec: %s\n", text);
    out_str(out, "\nparameters:\n");
    report_table_head(out, parameter_columns, &parameter, 2);
    for (size_t i = 0; parameter_at(row, i, &parameter); i++)
        report_table_row(out, parameter_columns, &parameter, 2);
    if (config_at(row, 0, &config))
        out_str(out, "\nconfigurations:\n");
    for (size_t i = 0; config_at(row, i, &config); i++)
        out_printf(out, "  %-12s %s\n", config.name, config.values);
    text_costs(out, row);
    text_measured(out, row);
}

/* ---- the list -------------------------------------------------------------------------------- */

static void print_row(struct out *out, const struct technique_row *row)
{
    struct vs_technique_config config;
    report_table_row(out, columns, row, 0);
    if (!config_at(row, 0, &config))
        return;
    out_printf(out, "%-15s configurations:", "");
    for (size_t i = 0; config_at(row, i, &config); i++)
        out_printf(out, " %s", config.name);
    out_char(out, '\n');
}

static int print_list(struct cli *cli, const struct techniques_options *o)
{
    struct vs_technique_spec spec;
    struct technique_row row;
    struct json j;
    json_init(&j, &cli->out, 2);
    if (o->json)
        json_array(&j, NULL);
    const struct vs_technique *const *table = plugin_table(cli);
    for (size_t i = 0; table[i]; i++) {
        if (vs_technique_defaults(&spec, table[i]) < 0)
            continue;
        int status = row_of(cli, o, &spec, &row);
        if (status != CLI_DONE)
            return status;
        if (!i && !o->json)
            report_table_head(&cli->out, columns, &row, 0);
        if (o->json)
            report_json(&j, NULL, columns, &row);
        else
            print_row(&cli->out, &row);
    }
    if (o->json)
        json_end(&j);
    else
        out_str(&cli->out, "\nbits and gates: of the defaults, 64-bit addresses; dec: whether the "
                           "stream can be decoded\n"
                           "measured: gates after synthesis, of logic and flip-flops beside "
                           "memories\n"
                           "'vestige techniques NAME' has the parameters\n");
    return CLI_DONE;
}

static int no_technique(struct cli *cli, const char *text)
{
    char name[64];
    struct suggest s;
    snprintf(name, sizeof(name), "%.*s", (int)strcspn(text, ":"), text);
    suggest_init(&s, name);
    for (const struct vs_technique *const *t = plugin_table(cli); *t; t++) {
        suggest_offer(&s, (*t)->name);
        for (const char *const *a = (*t)->aliases; a && *a; a++)
            suggest_offer(&s, *a);
    }
    if (s.best)
        cli_error(cli, "no technique '%s'; did you mean '%s'?", name, s.best);
    else
        cli_error(cli, "no technique '%s'; 'vestige techniques' lists them", name);
    return CLI_USAGE;
}

static int run(struct cli *cli, int argc, char **argv)
{
    struct techniques_options o = {.cores = 1};
    struct vs_technique_spec spec;
    struct vs_diag diag = {0};
    struct json j;
    int status;
    if (!options_parse(cli, &command_techniques, &o, &argc, argv, &status))
        return status;
    status = plugin_load(cli, &o.plugins);
    if (status != CLI_DONE)
        return status;
    if (!argc)
        return print_list(cli, &o);
    char name[64];
    snprintf(name, sizeof(name), "%.*s", (int)strcspn(argv[0], ":"), argv[0]);
    if (!vs_technique_find_in(cli->techniques, name))
        return no_technique(cli, argv[0]);
    if (vs_technique_parse_in(cli->techniques, &spec, argv[0], &diag) < 0) {
        cli_error(cli, "%s: %s", argv[0], diag.text);
        return CLI_USAGE;
    }
    struct technique_row row;
    status = row_of(cli, &o, &spec, &row);
    if (status != CLI_DONE)
        return status;
    json_init(&j, &cli->out, 2);
    if (o.json)
        report_json(&j, NULL, columns, &row);
    else
        print_text(&cli->out, &row);
    return CLI_DONE;
}

#define FIELD(member) offsetof(struct techniques_options, member)

static const struct cli_option options[] = {
    PLUGIN_OPTION(FIELD(plugins)),
    {.name = "json",
     .help = "print an array of JSON objects, or one object for a\n"
             "SPEC",
     .offset = FIELD(json)},
    {.name = "cores",
     .argument = "N",
     .help = "show the costs for N cores, 1 to 1024 (1)",
     .type = OPTION_U64,
     .offset = FIELD(cores),
     .min = 1,
     .max = 1024},
    {0},
};

const struct command command_techniques = {
    .name = "techniques",
    .summary = "list the trace modules: parameters, configurations, cost",
    .run = run,
    .options = options,
    .operands = "[SPEC]",
    .operands_max = 1,
    .description =
        "Lists the trace modules. With a name, shows its parameters with their defaults\n"
        "and allowed values, its configurations, and what its structures cost, by the\n"
        "formula and, where there is a module in hardware, by synthesis. The name may\n"
        "have parameters, as after -t in other commands.",
    .example = "vestige techniques\n"
               "vestige techniques mcfTR_e:small --cores 4",
    .exits = "0  done\n2  bad usage",
};
