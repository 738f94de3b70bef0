/* SPDX-License-Identifier: MIT */
#include "front/options.h"

#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "front/command.h"
#include "front/suggest.h"

struct parser {
    struct cli *cli;
    const struct command *command;
    char *values;
    char **argv;
    int argc, next; /* next: the argument to look at next */
    int operands;
};

static const char *dashes(const struct command *c)
{
    return c->one_dash ? "-" : "--";
}

/* ---- values ------------------------------------------------------------------------------- */

static const char *parse_range(const char *s, struct range *r)
{
    const char *end = s + strlen(s), *dash = strchr(s, '-');
    const char *wrong = vs_number(s, dash ? dash : end, &r->lo);
    r->hi = r->lo;
    if (!wrong && dash)
        wrong = vs_number(dash + 1, end, &r->hi);
    if (wrong)
        return "is not a range LO-HI";
    return r->lo > r->hi ? "ends before it starts" : NULL;
}

/* The number of the name [s, s + n), or -1. */
static int name_number(const struct cli_option *o, const char *s, size_t n)
{
    for (unsigned i = o->first; i < o->end; i++) {
        const char *name = o->number_name(i);
        if (strlen(name) == n && !memcmp(name, s, n))
            return (int)i;
    }
    return -1;
}

static bool wrong_name(struct parser *p, const struct cli_option *o, const char *s, size_t n)
{
    char list[512] = "";
    for (unsigned i = o->first; i < o->end; i++) {
        if (strlen(list) + strlen(o->number_name(i)) + 3 > sizeof(list))
            break;
        strcat(list, i == o->first ? "" : ", ");
        strcat(list, o->number_name(i));
    }
    cli_error(p->cli, "%s%s: '%.*s' is not one of %s", dashes(p->command), o->name, (int)n, s,
              list);
    return false;
}

static bool parse_names(struct parser *p, const struct cli_option *o, const char *s, void *field)
{
    for (;;) {
        size_t n = o->type == OPTION_SET ? strcspn(s, ",") : strlen(s);
        int number = name_number(o, s, n);
        if (number < 0)
            return wrong_name(p, o, s, n);
        if (o->type == OPTION_ENUM)
            *(unsigned *)field = (unsigned)number;
        else
            *(uint64_t *)field |= UINT64_C(1) << number;
        if (!s[n])
            return true;
        s += n + 1;
    }
}

static bool add_item(struct parser *p, const struct cli_option *o, const char *text)
{
    struct option_list *list = (struct option_list *)(void *)(p->values + o->offset);
    if (list->count == OPTION_LIST_MAX) {
        cli_error(p->cli, "%s%s: given more than %d times", dashes(p->command), o->name,
                  OPTION_LIST_MAX);
        return false;
    }
    list->items[list->count++] = text;
    return true;
}

static bool store(struct parser *p, const struct cli_option *o, const char *text)
{
    void *field = p->values + o->offset;
    const char *wrong = NULL;
    uint64_t v = 0;
    switch (o->type) {
    case OPTION_FLAG:
        *(bool *)field = true;
        return true;
    case OPTION_STRING:
        *(const char **)field = text;
        return true;
    case OPTION_ENUM:
    case OPTION_SET:
        return parse_names(p, o, text, field);
    case OPTION_LIST:
        return add_item(p, o, text);
    case OPTION_RANGE:
        wrong = parse_range(text, field);
        break;
    case OPTION_U64:
        wrong = vs_number(text, text + strlen(text), &v);
        if (!wrong && (v < o->min || (o->max && v > o->max))) {
            cli_error(p->cli, "%s%s: '%s' is not between %llu and %llu", dashes(p->command),
                      o->name, text, (unsigned long long)o->min,
                      (unsigned long long)(o->max ? o->max : UINT64_MAX));
            return false;
        }
        *(uint64_t *)field = v;
        break;
    }
    if (wrong)
        cli_error(p->cli, "%s%s: '%s' %s", dashes(p->command), o->name, text, wrong);
    return !wrong;
}

/* ---- arguments ---------------------------------------------------------------------------- */

static bool unknown_option(struct parser *p, const char *arg, size_t n)
{
    char word[64];
    struct suggest s;
    size_t dash = strlen(dashes(p->command));
    snprintf(word, sizeof(word), "%.*s", (int)(n < dash ? 0 : n - dash), arg + dash);
    suggest_init(&s, word);
    if (n > 2)
        for (const struct cli_option *o = p->command->options; o && o->name; o++)
            suggest_offer(&s, o->name);
    if (s.best)
        cli_error(p->cli, "unknown option '%.*s'; did you mean '%s%s'?", (int)n, arg,
                  dashes(p->command), s.best);
    else
        cli_error(p->cli, "unknown option '%.*s'; see 'vestige %s --help'", (int)n, arg,
                  p->command->name);
    return false;
}

/* Stores an option whose value is `value`, or the next argument if that is NULL. */
static bool take(struct parser *p, const struct cli_option *o, const char *value)
{
    if (o->type == OPTION_FLAG && value) {
        cli_error(p->cli, "%s%s: takes no value", dashes(p->command), o->name);
        return false;
    }
    if (o->type != OPTION_FLAG && !value) {
        if (p->next == p->argc) {
            cli_error(p->cli, "%s%s: needs a value (%s)", dashes(p->command), o->name, o->argument);
            return false;
        }
        value = p->argv[p->next++];
    }
    return store(p, o, value);
}

static bool parse_long(struct parser *p, const char *arg)
{
    size_t n = strcspn(arg + 2, "=");
    const char *value = arg[2 + n] ? arg + 2 + n + 1 : NULL;
    for (const struct cli_option *o = p->command->options; o && o->name; o++)
        if (strlen(o->name) == n && !memcmp(o->name, arg + 2, n))
            return take(p, o, value);
    return unknown_option(p, arg, 2 + n);
}

/* -abc is -a -b -c; after a letter that takes a value, the rest is the value. */
static bool parse_letters(struct parser *p, const char *arg)
{
    for (const char *c = arg + 1; *c; c++) {
        const struct cli_option *o = p->command->options;
        while (o && o->name && o->letter != *c)
            o++;
        if (!o || !o->name) {
            const char wrong[3] = {'-', *c, 0};
            return unknown_option(p, wrong, 2);
        }
        if (o->type != OPTION_FLAG)
            return take(p, o, c[1] ? c + 1 : NULL);
        if (!take(p, o, NULL))
            return false;
    }
    return true;
}

/* Parses -name as a whole; its value is the next argument. */
static bool parse_word(struct parser *p, const char *arg)
{
    for (const struct cli_option *o = p->command->options; o && o->name; o++)
        if (!strcmp(o->name, arg + 1))
            return take(p, o, NULL);
    return unknown_option(p, arg, strlen(arg));
}

static bool parse_option(struct parser *p, const char *arg)
{
    if (p->command->one_dash)
        return parse_word(p, arg);
    return arg[1] == '-' ? parse_long(p, arg) : parse_letters(p, arg);
}

static bool asks_for_help(const struct parser *p, const char *arg)
{
    return !strcmp(arg, "--help") || !strcmp(arg, "-h") ||
           (p->command->one_dash && !strcmp(arg, "-help"));
}

static bool parse_arguments(struct parser *p, bool *help)
{
    bool options = true;
    while (p->next < p->argc) {
        char *arg = p->argv[p->next++];
        if (!options || arg[0] != '-' || !arg[1]) {
            p->argv[p->operands++] = arg;
            options &= !p->command->takes_program;
        } else if (!strcmp(arg, "--")) {
            options = false;
        } else if (asks_for_help(p, arg)) {
            *help = true;
            return true;
        } else if (!parse_option(p, arg)) {
            return false;
        }
    }
    return true;
}

static bool check_operands(struct parser *p)
{
    const struct command *c = p->command;
    if (p->operands < c->operands_min)
        cli_error(p->cli, "nothing to work on: %s is missing; see 'vestige %s --help'", c->operands,
                  c->name);
    else if (p->operands > c->operands_max)
        cli_error(p->cli, "'%s' is one too many; see 'vestige %s --help'", p->argv[c->operands_max],
                  c->name);
    else
        return true;
    return false;
}

bool options_parse(struct cli *cli, const struct command *command, void *values, int *argc,
                   char **argv, int *status)
{
    struct parser p = {
        .cli = cli, .command = command, .values = values, .argv = argv, .argc = *argc};
    bool help = false;
    *status = CLI_USAGE;
    if (!parse_arguments(&p, &help))
        return false;
    if (help) {
        options_help(&cli->out, command);
        *status = CLI_DONE;
        return false;
    }
    *argc = p.operands;
    return check_operands(&p);
}

/* ---- help --------------------------------------------------------------------------------- */

enum { COLUMN = 26, WIDTH = 80 };

static void help_names(struct out *out, const struct cli_option *o)
{
    size_t at = WIDTH;
    for (unsigned i = o->first; i < o->end; i++) {
        const char *name = o->number_name(i);
        bool wraps = at + strlen(name) + 2 > WIDTH;
        if (i > o->first)
            out_char(out, ',');
        out_char(out, wraps ? '\n' : ' ');
        if (wraps) {
            out_pad(out, COLUMN);
            at = COLUMN;
        }
        out_str(out, name);
        at += strlen(name) + 2;
    }
}

static void help_row(struct out *out, const struct command *c, const struct cli_option *o)
{
    char left[80], letter[8] = "";
    if (!c->one_dash)
        snprintf(letter, sizeof(letter), "%c%c%c ", o->letter ? '-' : ' ',
                 o->letter ? o->letter : ' ', o->letter ? ',' : ' ');
    int n = snprintf(left, sizeof(left), "  %s%s%s%s%s", letter, dashes(c), o->name,
                     o->argument ? " " : "", o->argument ? o->argument : "");
    out_str(out, left);
    if (n >= COLUMN) {
        out_char(out, '\n');
        n = 0;
    }
    out_pad(out, (size_t)(COLUMN - n));
    for (const char *h = o->help; *h; h++) {
        out_char(out, *h);
        if (*h == '\n')
            out_pad(out, COLUMN);
    }
    if (o->number_name)
        help_names(out, o);
    out_char(out, '\n');
}

static void indented(struct out *out, const char *text)
{
    out_str(out, "  ");
    for (; *text; text++) {
        out_char(out, *text);
        if (*text == '\n')
            out_str(out, "  ");
    }
    out_char(out, '\n');
}

bool options_numbers(const struct command *c)
{
    for (const struct cli_option *o = c->options; o && o->name; o++)
        if (o->type == OPTION_U64 || o->type == OPTION_RANGE)
            return true;
    return false;
}

const struct cli_option options_help_row = {
    .name = "help", .letter = 'h', .help = "print this help"};

void options_help(struct out *out, const struct command *c)
{
    out_printf(out, "usage: vestige %s [options] %s\n\n%s\n\noptions:\n", c->name, c->operands,
               c->description);
    for (const struct cli_option *o = c->options; o && o->name; o++)
        help_row(out, c, o);
    help_row(out, c, &options_help_row);
    if (options_numbers(c))
        out_printf(out, "\n%s\n", OPTIONS_NUMBERS);
    out_str(out, "\nexample:\n");
    indented(out, c->example);
    out_str(out, "\nexit status:\n");
    indented(out, c->exits);
    if (c->environment) {
        out_str(out, "\nenvironment:\n");
        indented(out, c->environment);
    }
}
