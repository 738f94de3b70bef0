/* SPDX-License-Identifier: MIT */
#include "cli/completion.h"

/* This is the part that does not depend on the rows. */
__asm__(".pushsection .rodata\n"
        "completion_bash_rest:\n"
        ".incbin \"src/cli/completion.bash\"\n"
        ".byte 0\n"
        ".popsection");
extern const char completion_bash_rest[];

/* Prints words as they are, since the names in rows have nothing that a shell would interpret. */
static void put_names(struct out *out, const struct cli_option *o)
{
    for (unsigned i = o->first; i < o->end; i++)
        out_printf(out, "%s%s", i > o->first ? " " : "", o->number_name(i));
}

static void put_offers(struct out *out, const struct completion_offers *offers)
{
    char word[OPTION_WORD];
    for (unsigned i = 0; i < offers->count; i++) {
        out_printf(out, "_vestige_offer%u='", i);
        for (unsigned n = 0; offers->items[i](n, word); n++)
            out_printf(out, "%s%s", n ? " " : "", word);
        out_str(out, "'\n");
    }
}

static void put_commands(struct out *out)
{
    const struct command *c;
    out_str(out, "_vestige_commands='");
    for (size_t i = 0; (c = commands_at(i)); i++)
        out_printf(out, "%s%s", i ? " " : "", c->name);
    out_str(out, "'\n");
}

static void put_spellings(struct out *out, const struct command *c, const struct cli_option *o)
{
    if (o->letter && !c->one_dash)
        out_printf(out, "-%c ", o->letter);
    out_printf(out, "%s%s", c->one_dash ? "-" : "--", o->name);
}

static void put_options(struct out *out)
{
    const struct command *c;
    out_str(out, "\n# The options of command $1.\n_vestige_options() {\n    case $1 in\n");
    for (size_t i = 0; (c = commands_at(i)); i++) {
        out_printf(out, "    %s) options='", c->name);
        for (const struct cli_option *o = c->options; o && o->name; o++) {
            put_spellings(out, c, o);
            out_char(out, ' ');
        }
        put_spellings(out, c, &options_help_row);
        out_printf(out, "' single=%s ;;\n", c->one_dash ? "yes" : "");
    }
    out_str(out, "    esac\n}\n");
}

static void put_completion(struct out *out, const struct completion *what)
{
    switch (what->kind) {
    case COMPLETION_NOTHING:
        out_str(out, "kind=nothing");
        break;
    case COMPLETION_FILE:
        out_printf(out, "kind=file words=%s", what->extension);
        break;
    case COMPLETION_ONE:
    case COMPLETION_SET:
        out_printf(out, "kind=%s words='", what->kind == COMPLETION_SET ? "set" : "words");
        put_names(out, what->option);
        out_char(out, '\'');
        break;
    case COMPLETION_OFFER:
        out_printf(out, "kind=words words=$_vestige_offer%u", what->offer);
        break;
    case COMPLETION_COMMANDS:
        out_str(out, "kind=words words=$_vestige_commands");
        break;
    case COMPLETION_PROGRAM:
        out_str(out, "kind=program");
        break;
    }
    out_str(out, " ;;\n");
}

static void put_values(struct out *out, const struct completion_offers *offers)
{
    const struct command *c;
    out_str(out, "\n# What follows option $2 of command $1; without $2, its operands.\n"
                 "_vestige_value() {\n    kind=flag words=\n    case \"$1 $2\" in\n");
    for (size_t i = 0; (c = commands_at(i)); i++) {
        for (const struct cli_option *o = c->options; o && o->name; o++) {
            struct completion what = completion_of_option(offers, o);
            if (o->type == OPTION_FLAG)
                continue;
            out_printf(out, "    '%s ", c->name);
            if (o->letter && !c->one_dash)
                out_printf(out, "-%c' | '%s ", o->letter, c->name);
            out_printf(out, "%s%s') ", c->one_dash ? "-" : "--", o->name);
            put_completion(out, &what);
        }
        struct completion operands = completion_of_operands(offers, c);
        out_printf(out, "    '%s ') ", c->name);
        put_completion(out, &operands);
    }
    out_str(out, "    esac\n}\n\n");
}

static void put_programs(struct out *out)
{
    const struct command *c;
    out_str(out, "complete -F _vestige vestige");
    for (size_t i = 0; (c = commands_at(i)); i++)
        if (c->tool)
            out_printf(out, " %s", c->name);
    out_char(out, '\n');
}

void completion_bash(struct out *out)
{
    struct completion_offers offers;
    completion_offers(&offers);
    out_str(out, "# SPDX-License-Identifier: MIT\n"
                 "# Completion for vestige in bash. Printed by 'vestige help --format bash'.\n");
    put_commands(out);
    put_offers(out, &offers);
    put_options(out);
    put_values(out, &offers);
    out_str(out, completion_bash_rest);
    put_programs(out);
}
