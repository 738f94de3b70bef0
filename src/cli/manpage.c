/* SPDX-License-Identifier: MIT */
#include "cli/manpage.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "vestige/version.h"

/* ---- roff ------------------------------------------------------------------------------------ */

/* Prints a character as itself: roff turns some into typographic ones, which nobody could paste. */
static void put_char(struct out *out, char c)
{
    static const struct {
        char c;
        const char *roff;
    } escapes[] = {{'\\', "\\(rs"}, {'-', "\\-"},   {'\'', "\\(aq"}, {'`', "\\(ga"},
                   {'^', "\\(ha"},  {'~', "\\(ti"}, {'"', "\\(dq"}};
    for (size_t i = 0; i < sizeof(escapes) / sizeof(escapes[0]); i++)
        if (c == escapes[i].c) {
            out_str(out, escapes[i].roff);
            return;
        }
    out_char(out, c);
}

static void put_mem(struct out *out, const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        put_char(out, s[i]);
}

static void put_str(struct out *out, const char *s)
{
    put_mem(out, s, strlen(s));
}

static void put_font(struct out *out, char font, const char *s, size_t n)
{
    out_printf(out, "\\f%c", font);
    put_mem(out, s, n);
    out_str(out, "\\fR");
}

/* The length of an option's name at s, with its dashes; 0 if there is none. */
static size_t option_length(const char *s)
{
    size_t dashes = strspn(s, "-"), n = dashes;
    if (dashes < 1 || dashes > 2 || !isalpha((unsigned char)s[dashes]))
        return 0;
    while (isalnum((unsigned char)s[n]) ||
           ((s[n] == '-' || s[n] == '_') && isalnum((unsigned char)s[n + 1])))
        n++;
    return n;
}

/* Prints a line of prose, with options in bold. A dot at its start would begin a request. */
static void put_prose(struct out *out, const char *s, size_t n)
{
    if (n && *s == '.')
        out_str(out, "\\&");
    for (size_t i = 0; i < n;) {
        bool begins = !i || strchr(" (", s[i - 1]);
        size_t length = begins ? option_length(s + i) : 0;
        if (length)
            put_font(out, 'B', s + i, length);
        else
            put_char(out, s[i]);
        i += length ? length : 1;
    }
    out_char(out, '\n');
}

/* Prints lines that are filled. An empty line ends a paragraph. */
static void put_lines(struct out *out, const char *s)
{
    for (;;) {
        size_t n = strcspn(s, "\n");
        if (n)
            put_prose(out, s, n);
        else
            out_str(out, ".PP\n");
        if (!s[n])
            return;
        s += n + 1;
    }
}

/* Prints "[--] PROGRAM [ARGUMENT...]" or "RATE[:CAPACITY]", with placeholders in italics. */
static void put_arguments(struct out *out, const char *s)
{
    while (*s) {
        size_t n = 0;
        while (isalnum((unsigned char)s[n]) || (s[n] == '.' && isalnum((unsigned char)s[n + 1])))
            n++;
        if (n)
            put_font(out, 'I', s, n);
        else
            put_char(out, *s);
        s += n ? n : 1;
    }
}

/* ---- sections -------------------------------------------------------------------------------- */

static bool is_program(const struct command *c)
{
    return c == &commands_program || c->tool;
}

static void put_page_name(struct out *out, const struct command *c)
{
    put_str(out, is_program(c) ? "" : "vestige-");
    put_str(out, c->name);
}

static void put_title(struct out *out, const struct command *c)
{
    out_str(out, ".\\\" SPDX-License-Identifier: MIT\n"
                 ".\\\" Printed by 'vestige help --format man'; the text is in src/cli.\n"
                 ".TH ");
    put_page_name(out, c);
    /* No words are broken: the macros obey HY, and other text obeys nh. */
    out_printf(out, " 1 \"\" \"vestige %s\" \"Vestige\"\n", vs_version());
    out_str(out, ".nr HY 0\n.nh\n.ad l\n.SH NAME\n");
    put_page_name(out, c);
    out_str(out, " \\- ");
    put_str(out, c->summary);
    out_char(out, '\n');
}

static void put_usage(struct out *out, const struct command *c, const char *before)
{
    out_str(out, "\\fB");
    put_str(out, before);
    put_str(out, c->name);
    out_str(out, "\\fR ");
    if (c != &commands_program)
        out_str(out, "[\\fIoptions\\fR] ");
    put_arguments(out, c->operands);
    out_char(out, '\n');
}

static void put_synopsis(struct out *out, const struct command *c)
{
    out_str(out, ".SH SYNOPSIS\n");
    if (is_program(c))
        put_usage(out, c, "");
    if (c->tool)
        out_str(out, ".br\n");
    if (c != &commands_program)
        put_usage(out, c, "vestige ");
}

static void put_option(struct out *out, const struct command *c, const struct cli_option *o)
{
    const char letter[] = {'-', o->letter, 0};
    out_str(out, ".TP\n");
    if (o->letter && !c->one_dash) {
        put_font(out, 'B', letter, 2);
        out_str(out, ", ");
    }
    out_str(out, "\\fB");
    put_str(out, c->one_dash ? "-" : "--");
    put_str(out, o->name);
    out_str(out, "\\fR");
    if (o->argument) {
        out_char(out, ' ');
        put_arguments(out, o->argument);
    }
    out_char(out, '\n');
    put_lines(out, o->help);
    for (unsigned i = o->first; o->number_name && i < o->end; i++) {
        put_str(out, o->number_name(i));
        out_str(out, i + 1 < o->end ? ",\n" : "\n");
    }
}

static void put_options(struct out *out, const struct command *c)
{
    out_str(out, ".SH OPTIONS\n");
    for (const struct cli_option *o = c->options; o && o->name; o++)
        put_option(out, c, o);
    put_option(out, c, &options_help_row);
    if (options_numbers(c)) {
        out_str(out, ".PP\n");
        put_lines(out, OPTIONS_NUMBERS);
    }
}

static void put_commands(struct out *out)
{
    const struct command *c;
    out_str(out, ".SH COMMANDS\n");
    for (size_t i = 0; (c = commands_at(i)); i++) {
        out_str(out, ".TP\n.B ");
        put_str(out, c->name);
        out_char(out, '\n');
        put_lines(out, c->summary);
    }
    put_lines(out, "\n"
                   "The page of a command is vestige-COMMAND(1), or COMMAND(1) if it is a program\n"
                   "of its own. --help of a command prints the same in short.");
}

static void put_examples(struct out *out, const char *s)
{
    out_str(out, ".SH EXAMPLES\n.EX\n");
    for (;;) {
        size_t n = strcspn(s, "\n");
        if (*s == '.')
            out_str(out, "\\&");
        put_mem(out, s, n);
        out_char(out, '\n');
        if (!s[n])
            break;
        s += n + 1;
    }
    out_str(out, ".EE\n");
}

/* Prints lines of a word, two blanks and a text; one that begins with a blank continues the one
 * before. */
static void put_list(struct out *out, const char *heading, const char *s)
{
    out_printf(out, ".SH %s\n", heading);
    for (;;) {
        size_t n = strcspn(s, "\n"), word = strcspn(s, " \n"), text;
        if (word) {
            out_str(out, ".TP\n");
            put_font(out, 'B', s, word);
            out_char(out, '\n');
        }
        text = word + strspn(s + word, " ");
        put_prose(out, s + text, n - text);
        if (!s[n])
            return;
        s += n + 1;
    }
}

/* ---- what else to read ----------------------------------------------------------------------- */

static bool is_word(const char *text, const char *at, size_t n)
{
    return (at == text || !isalnum((unsigned char)at[-1])) && !isalnum((unsigned char)at[n]);
}

static bool has_word(const char *text, const char *word)
{
    for (const char *at = text; (at = strstr(at, word)); at++)
        if (is_word(text, at, strlen(word)))
            return true;
    return false;
}

/* Whether c's row mentions a command: a program by its name, and others as "vestige NAME". */
static bool speaks_of(const struct command *c, const struct command *other)
{
    char word[64];
    snprintf(word, sizeof(word), "%s%s", is_program(other) ? "" : "vestige ", other->name);
    if (has_word(c->description, word) || has_word(c->example, word))
        return true;
    for (const struct cli_option *o = c->options; o && o->name; o++)
        if (has_word(o->help, word))
            return true;
    return false;
}

static void put_reference(struct out *out, const struct command *c)
{
    out_str(out, ".BR ");
    put_page_name(out, c);
    out_str(out, " (1)");
}

static void put_see_also(struct out *out, const struct command *c)
{
    const struct command *other;
    bool first = true;
    out_str(out, ".SH SEE ALSO\n");
    if (c != &commands_program) {
        put_reference(out, &commands_program);
        first = false;
    }
    for (size_t i = 0; (other = commands_at(i)); i++) {
        if (other == c || (c != &commands_program && !speaks_of(c, other)))
            continue;
        out_str(out, first ? "" : ",\n");
        put_reference(out, other);
        first = false;
    }
    out_char(out, '\n');
}

void manpage(struct out *out, const struct command *c)
{
    put_title(out, c);
    put_synopsis(out, c);
    out_str(out, ".SH DESCRIPTION\n");
    put_lines(out, c->description);
    if (c == &commands_program)
        put_commands(out);
    put_options(out, c);
    put_examples(out, c->example);
    put_list(out, "EXIT STATUS", c->exits);
    if (c->environment)
        put_list(out, "ENVIRONMENT", c->environment);
    put_see_also(out, c);
}
