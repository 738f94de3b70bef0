/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/figures.h"
#include "front/json.h"
#include "front/suggest.h"
#include "technique/data.h"
#include "technique/technique.h"

struct techniques_options {
    bool json;
    uint64_t cores;
};

static const char *kind_name(const struct vs_technique *t)
{
    switch (t->kind) {
    case VS_TECHNIQUE_FLOW:
        return "control flow";
    case VS_TECHNIQUE_DATA:
        return "load values";
    case VS_TECHNIQUE_ADDRESS:
        return "data addresses";
    }
    return "other";
}

struct costs {
    struct vs_cost_list list;
    uint64_t cache_bits; /* 0: there is no cache */
};

/* Of 64-bit addresses. */
static int cost_of(struct cli *cli, const struct techniques_options *o,
                   const struct vs_technique_spec *given, struct costs *costs)
{
    const struct vs_technique_setup setup = {.cores = (unsigned)o->cores, .address_bits = 64};
    struct vs_technique_spec spec = *given;
    vs_technique_settle(&spec, false);
    int e = vs_technique_cost(&spec, &setup, &costs->list);
    costs->cache_bits = vs_data_cache_bits(&spec, &setup);
    return e < 0 ? cli_report(cli, spec.technique->name, e, NULL) : CLI_DONE;
}

static const char *why_not(const struct vs_technique_spec *spec)
{
    return vs_technique_undecodable(spec);
}

/* "1..64", "words|of|an|enumeration". */
static void allowed(const struct vs_parameter *p, char *text, size_t capacity)
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

/* ---- one ------------------------------------------------------------------------------------- */

static void show_aliases(struct out *out, const struct vs_technique *t)
{
    if (!t->aliases || !t->aliases[0])
        return;
    out_str(out, "also:");
    for (const char *const *a = t->aliases; *a; a++)
        out_printf(out, " %s", *a);
    out_char(out, '\n');
}

static void show_parameters(struct out *out, const struct vs_technique_spec *spec)
{
    char value[VS_PARAMETER_TEXT], range[256];
    out_str(out, "\nparameters:\n");
    out_printf(out, "  %-12s %-10s %-32s %s\n", "name", "default", "values", "");
    for (const struct vs_parameter *p = spec->technique->parameters; p->name; p++) {
        vs_parameter_text(p, spec->params, value);
        allowed(p, range, sizeof(range));
        out_printf(out, "  %-12s %-10s %-32s %s\n", p->name, value, range, p->help ? p->help : "");
    }
}

static void show_configs(struct out *out, const struct vs_technique *t)
{
    if (!t->configs || !t->configs->name)
        return;
    out_str(out, "\nconfigurations:\n");
    for (const struct vs_technique_config *c = t->configs; c->name; c++)
        out_printf(out, "  %-12s %s\n", c->name, c->values);
}

static void show_cost_row(struct out *out, const char *name, const char *copies,
                          struct vs_cost cost, uint64_t cache_bits)
{
    out_printf(out, "  %-28s %6s %12s %12s", name, copies, DIGITS(vs_cost_storage(cost)),
               DIGITS(vs_cost_gates(cost)));
    if (cache_bits)
        out_printf(out, " %9.3f %%", 100 * figures_ratio(vs_cost_storage(cost), cache_bits));
    out_char(out, '\n');
}

static void show_cost(struct out *out, const struct techniques_options *o,
                      const struct costs *costs)
{
    const struct vs_cost_list *list = &costs->list;
    out_printf(out, "\ncost, %llu core%s, 64-bit addresses:\n", (unsigned long long)o->cores,
               o->cores == 1 ? "" : "s");
    out_printf(out, "  %-28s %6s %12s %12s%s\n", "structure", "copies", "storage bits", "gates",
               costs->cache_bits ? " of the cache" : "");
    for (size_t i = 0; i < list->count; i++) {
        struct vs_cost all = {0};
        vs_cost_add(&all, list->items[i].cost, list->items[i].copies);
        show_cost_row(out, list->items[i].name, DIGITS(list->items[i].copies), all,
                      costs->cache_bits);
    }
    show_cost_row(out, "total", "", vs_cost_list_sum(list), costs->cache_bits);
}

static void show_one(struct out *out, const struct techniques_options *o,
                     const struct vs_technique_spec *spec, const struct costs *costs)
{
    const struct vs_technique *t = spec->technique;
    const char *why = why_not(spec);
    char text[VS_TECHNIQUE_TEXT];
    out_printf(out, "%s: %s\nkind: %s\n", t->name, t->summary, kind_name(t));
    show_aliases(out, t);
    out_printf(out, "decodable: %s%s\n", why ? "no: " : "yes", why ? why : "");
    if (vs_technique_ordered(spec))
        out_str(out, "order: the structures see the cores in global order\n");
    if (vs_technique_text(spec, text, sizeof(text)) > 0)
        out_printf(out, "spec: %s\n", text);
    show_parameters(out, spec);
    show_configs(out, t);
    show_cost(out, o, costs);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void json_parameters(struct json *j, const struct vs_technique_spec *spec)
{
    char value[VS_PARAMETER_TEXT];
    json_array(j, "parameters");
    for (const struct vs_parameter *p = spec->technique->parameters; p->name; p++) {
        vs_parameter_text(p, spec->params, value);
        json_object(j, NULL);
        json_str(j, "name", p->name);
        json_str(j, "default", value);
        if (p->words) {
            json_array(j, "values");
            for (const char *const *w = p->words; *w; w++)
                json_str(j, NULL, *w);
            json_end(j);
        } else {
            json_u64(j, "min", p->min);
            json_u64(j, "max", p->max);
            json_bool(j, "power", p->power);
        }
        json_str(j, "help", p->help ? p->help : "");
        json_end(j);
    }
    json_end(j);
}

/* Of the data in the caches; null if there are none. */
static void json_share(struct json *j, struct vs_cost cost, uint64_t cache_bits)
{
    json_double(j, "cache_fraction", figures_ratio(vs_cost_storage(cost), cache_bits), 6);
}

static void json_cost(struct json *j, const struct techniques_options *o, const struct costs *costs)
{
    const struct vs_cost_list *list = &costs->list;
    struct vs_cost sum = vs_cost_list_sum(list);
    json_u64(j, "cores", o->cores);
    json_u64(j, "storage_bits", vs_cost_storage(sum));
    json_u64(j, "gates", vs_cost_gates(sum));
    json_share(j, sum, costs->cache_bits);
    json_array(j, "structures");
    for (size_t i = 0; i < list->count; i++) {
        struct vs_cost all = {0};
        vs_cost_add(&all, list->items[i].cost, list->items[i].copies);
        json_object(j, NULL);
        json_str(j, "name", list->items[i].name);
        json_u64(j, "copies", list->items[i].copies);
        json_u64(j, "storage_bits", vs_cost_storage(all));
        json_u64(j, "gates", vs_cost_gates(all));
        json_share(j, all, costs->cache_bits);
        json_end(j);
    }
    json_end(j);
}

static void json_one(struct json *j, const struct techniques_options *o,
                     const struct vs_technique_spec *spec, const struct costs *costs)
{
    const struct vs_technique *t = spec->technique;
    const char *why = why_not(spec);
    json_object(j, NULL);
    json_str(j, "name", t->name);
    json_array(j, "aliases");
    for (const char *const *a = t->aliases; a && *a; a++)
        json_str(j, NULL, *a);
    json_end(j);
    json_str(j, "summary", t->summary);
    json_str(j, "kind", kind_name(t));
    json_bool(j, "decodable", !why);
    if (why)
        json_str(j, "why", why);
    json_bool(j, "ordered", vs_technique_ordered(spec));
    json_parameters(j, spec);
    json_object(j, "configurations");
    for (const struct vs_technique_config *c = t->configs; c && c->name; c++)
        json_str(j, c->name, c->values);
    json_end(j);
    json_cost(j, o, costs);
    json_end(j);
}

/* ---- the list -------------------------------------------------------------------------------- */

static void show_row(struct out *out, const struct vs_technique_spec *spec,
                     const struct costs *costs)
{
    const struct vs_technique *t = spec->technique;
    struct vs_cost sum = vs_cost_list_sum(&costs->list);
    out_printf(out, "%-15s %-14s %9s %9s  %-3s %s\n", t->name, kind_name(t),
               DIGITS(vs_cost_storage(sum)), DIGITS(vs_cost_gates(sum)),
               why_not(spec) ? "no" : "yes", t->summary);
    if (!t->configs || !t->configs->name)
        return;
    out_printf(out, "%-15s configurations:", "");
    for (const struct vs_technique_config *c = t->configs; c->name; c++)
        out_printf(out, " %s", c->name);
    out_char(out, '\n');
}

static int show_list(struct cli *cli, const struct techniques_options *o)
{
    struct vs_technique_spec spec;
    struct costs costs;
    struct json j;
    json_init(&j, &cli->out, 2);
    if (o->json)
        json_array(&j, NULL);
    else
        out_printf(&cli->out, "%-15s %-14s %9s %9s  %-3s %s\n", "technique", "kind", "bits",
                   "gates", "dec", "summary");
    for (size_t i = 0; vs_techniques[i]; i++) {
        if (vs_technique_defaults(&spec, vs_techniques[i]) < 0)
            continue;
        int status = cost_of(cli, o, &spec, &costs);
        if (status != CLI_DONE)
            return status;
        if (o->json)
            json_one(&j, o, &spec, &costs);
        else
            show_row(&cli->out, &spec, &costs);
    }
    if (o->json)
        json_end(&j);
    else
        out_str(&cli->out, "\nbits and gates: of the defaults, 64-bit addresses; dec: whether the "
                           "stream can be decoded\n'vestige techniques NAME' has the parameters\n");
    return CLI_DONE;
}

static int no_technique(struct cli *cli, const char *text)
{
    char name[64];
    struct suggest s;
    snprintf(name, sizeof(name), "%.*s", (int)strcspn(text, ":"), text);
    suggest_init(&s, name);
    for (size_t i = 0; vs_techniques[i]; i++) {
        suggest_offer(&s, vs_techniques[i]->name);
        for (const char *const *a = vs_techniques[i]->aliases; a && *a; a++)
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
    if (!argc)
        return show_list(cli, &o);
    char name[64];
    snprintf(name, sizeof(name), "%.*s", (int)strcspn(argv[0], ":"), argv[0]);
    if (!vs_technique_find(name))
        return no_technique(cli, argv[0]);
    if (vs_technique_parse(&spec, argv[0], &diag) < 0) {
        cli_error(cli, "%s: %s", argv[0], diag.text);
        return CLI_USAGE;
    }
    struct costs costs;
    status = cost_of(cli, &o, &spec, &costs);
    if (status != CLI_DONE)
        return status;
    json_init(&j, &cli->out, 2);
    if (o.json)
        json_one(&j, &o, &spec, &costs);
    else
        show_one(&cli->out, &o, &spec, &costs);
    return CLI_DONE;
}

#define FIELD(member) offsetof(struct techniques_options, member)

static const struct cli_option options[] = {
    {.name = "json", .help = "an array of objects; with NAME one", .offset = FIELD(json)},
    {.name = "cores",
     .argument = "N",
     .help = "of which the costs are shown, 1 to 1024 (1)",
     .type = OPTION_U64,
     .offset = FIELD(cores),
     .min = 1,
     .max = 1024},
    {0},
};

const struct command command_techniques = {
    .name = "techniques",
    .summary = "the trace modules: parameters, configurations, cost",
    .run = run,
    .options = options,
    .operands = "[SPEC]",
    .operands_max = 1,
    .description =
        "Lists the trace modules. With a name: its parameters with their defaults and\n"
        "allowed values, its configurations, and what its structures cost. The name may\n"
        "have parameters, as -t of other commands takes them.",
    .example = "vestige techniques\n"
               "vestige techniques mcfTR_e:small --cores 4",
    .exits = "0  done\n2  bad usage",
};
