/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "cli/completion.h"

/* This is the part that does not depend on the rows. */
__asm__(".pushsection .rodata\n"
        "completion_zsh_rest:\n"
        ".incbin \"src/cli/completion.zsh\"\n"
        ".byte 0\n"
        ".popsection");
extern const char completion_zsh_rest[];

/* Prints text between single quotes, on one line, in which `special` characters get a backslash. */
static void put_quoted(struct out *out, const char *s, const char *special)
{
    for (; *s; s++) {
        if (*s == '\'')
            out_str(out, "'\\''");
        else if (*s == '\n')
            out_char(out, ' ');
        else
            out_printf(out, "%s%c", strchr(special, *s) ? "\\" : "", *s);
    }
}

/* Prints functions that add the words of an offer. */
static void put_offers(struct out *out, const struct completion_offers *offers)
{
    char word[OPTION_WORD];
    for (unsigned i = 0; i < offers->count; i++) {
        out_printf(out, "_vestige_offer%u() {\n    _vestige_words", i);
        for (unsigned n = 0; offers->items[i](n, word); n++)
            out_printf(out, " %s", word);
        out_str(out, "\n}\n\n");
    }
}

/* Prints the action for _arguments. */
static void put_action(struct out *out, const struct completion *what)
{
    switch (what->kind) {
    case COMPLETION_NOTHING:
    case COMPLETION_PROGRAM:
        break;
    case COMPLETION_FILE:
        out_str(out, "_files");
        if (what->extension[0])
            out_printf(out, " -g \"*.%s\"", what->extension);
        break;
    case COMPLETION_ONE:
    case COMPLETION_SET:
        out_str(out, what->kind == COMPLETION_SET ? "_values -s , name" : "(");
        for (unsigned i = what->option->first; i < what->option->end; i++)
            out_printf(out, " %s", what->option->number_name(i));
        out_str(out, what->kind == COMPLETION_SET ? "" : ")");
        break;
    case COMPLETION_OFFER:
        out_printf(out, "_vestige_offer%u", what->offer);
        break;
    case COMPLETION_COMMANDS:
        out_str(out, "_vestige_commands");
        break;
    }
}

/* Prints '(-o --output)'{-o+,--output=}'[help]:FILE:action'. An option that may be repeated
 * excludes nothing. */
static void put_option(struct out *out, const struct command *c, const struct cli_option *o,
                       const struct completion_offers *offers)
{
    bool value = o->type != OPTION_FLAG, letter = o->letter && !c->one_dash;
    bool repeats = o->type == OPTION_LIST || o->type == OPTION_SET;
    const char *dashes = c->one_dash ? "-" : "--", *end = value && !c->one_dash ? "=" : "";
    out_str(out, " \\\n        ");
    if (repeats)
        out_str(out, "'*'");
    else if (letter)
        out_printf(out, "'(-%c --%s)'", o->letter, o->name);
    if (letter)
        out_printf(out, "{-%c%s,--%s%s}", o->letter, value ? "+" : "", o->name, end);
    else
        out_printf(out, "%s%s%s", dashes, o->name, end);
    out_str(out, "'[");
    put_quoted(out, o->help, "[]\\:");
    out_char(out, ']');
    if (value) {
        struct completion what = completion_of_option(offers, o);
        out_char(out, ':');
        put_quoted(out, o->argument, "\\:");
        out_char(out, ':');
        put_action(out, &what);
    }
    out_char(out, '\'');
}

static void put_operands(struct out *out, const struct command *c,
                         const struct completion_offers *offers)
{
    struct completion what = completion_of_operands(offers, c);
    if (what.kind == COMPLETION_PROGRAM) {
        out_str(out, " \\\n        '(-)1:program:_vestige_programs' '*::argument:_normal'\n");
        return;
    }
    out_printf(out, " \\\n        '%s:", c->operands_max == 1 ? "1" : "*");
    put_quoted(out, c->operands, "\\:");
    out_char(out, ':');
    put_action(out, &what);
    out_str(out, "'\n");
}

static void put_command(struct out *out, const struct command *c,
                        const struct completion_offers *offers)
{
    out_printf(out, "_vestige_%s() {\n    _arguments %s-S :", c->name, c->one_dash ? "" : "-s ");
    for (const struct cli_option *o = c->options; o && o->name; o++)
        put_option(out, c, o, offers);
    out_printf(out, " \\\n        '(- *)'{-h,%s%s}'[%s]'", c->one_dash ? "-" : "--",
               options_help_row.name, options_help_row.help);
    put_operands(out, c, offers);
    out_str(out, "}\n\n");
}

static void put_commands(struct out *out)
{
    const struct command *c;
    out_str(out, "_vestige_commands() {\n    local -a commands=(");
    for (size_t i = 0; (c = commands_at(i)); i++) {
        out_printf(out, "\n        '%s:", c->name);
        put_quoted(out, c->summary, "\\:");
        out_char(out, '\'');
    }
    out_str(out, ")\n    _describe -t commands command commands\n}\n\n");
}

void completion_zsh(struct out *out)
{
    const struct command *c;
    struct completion_offers offers;
    completion_offers(&offers);
    out_str(out, "#compdef vestige");
    for (size_t i = 0; (c = commands_at(i)); i++)
        if (c->tool)
            out_printf(out, " %s", c->name);
    out_str(out, "\n# SPDX-License-Identifier: MIT\n"
                 "# Completion for vestige in zsh. Printed by 'vestige help --format zsh'.\n\n");
    put_commands(out);
    put_offers(out, &offers);
    for (size_t i = 0; (c = commands_at(i)); i++)
        put_command(out, c, &offers);
    out_str(out, completion_zsh_rest);
}
