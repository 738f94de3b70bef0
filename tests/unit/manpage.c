/* SPDX-License-Identifier: MIT */
#include "cli/manpage.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "unittest.h"

struct printed {
    struct out out;
    char text[8192];
};

/* The page of a row, in p->text. */
static void print_page(struct printed *p, const struct command *row)
{
    FILE *file = tmpfile();
    CHECK(file);
    out_init(&p->out, fileno(file));
    manpage(&p->out, row);
    CHECK_EQ(out_flush(&p->out), 0);
    ssize_t n = pread(fileno(file), p->text, sizeof(p->text) - 1, 0);
    CHECK(n > 0);
    p->text[n] = 0;
    fclose(file);
}

static const char *const colours[] = {"red", "light-blue"};

static const char *colour_name(unsigned number)
{
    return colours[number];
}

static const struct cli_option options[] = {
    {.name = "no-dots", .letter = 'n', .help = ".leading dot,\n'quoted' \\n and ~`^\""},
    {.name = "colour",
     .argument = "NAME[,NAME...]",
     .help = "one of:",
     .type = OPTION_SET,
     .number_name = colour_name,
     .end = 2},
    {0},
};

static const struct command row = {
    .name = "odd",
    .summary = "it's odd",
    .options = options,
    .operands = "run.vest...",
    .description = "First (--no-dots), as x-y.\n.TH is no request.\n\n'nor is this",
    .example = ".hidden\\\nvestige info x",
    .exits = "0  done,\n   and well\nelse .other",
    .environment = "HOME  where",
};

TEST(escapes_what_roff_would_take)
{
    struct printed p;
    print_page(&p, &row);
    CHECK_HAS(p.text, "\nvestige\\-odd \\- it\\(aqs odd\n");
    CHECK_HAS(p.text, "\nFirst (\\fB\\-\\-no\\-dots\\fR), as x\\-y.\n");
    CHECK_HAS(p.text, "\n\\&.TH is no request.\n.PP\n\\(aqnor is this\n");
    CHECK_HAS(p.text, "\n\\&.leading dot,\n\\(aqquoted\\(aq \\(rsn and \\(ti\\(ga\\(ha\\(dq\n");
    CHECK_HAS(p.text, ".EX\n\\&.hidden\\(rs\nvestige info x\n.EE\n");
    CHECK_HAS(p.text, "\\fBelse\\fR\n\\&.other\n");
}

TEST(lays_out_options_and_lists)
{
    struct printed p;
    print_page(&p, &row);
    CHECK_HAS(p.text, "\n\\fBvestige odd\\fR [\\fIoptions\\fR] \\fIrun.vest\\fR...\n");
    CHECK_HAS(p.text, ".TP\n\\fB\\-n\\fR, \\fB\\-\\-no\\-dots\\fR\n");
    CHECK_HAS(p.text, ".TP\n\\fB\\-\\-colour\\fR \\fINAME\\fR[,\\fINAME\\fR...]\n"
                      "one of:\nred,\nlight\\-blue\n");
    CHECK_HAS(p.text, ".SH EXIT STATUS\n.TP\n\\fB0\\fR\ndone,\nand well\n.TP\n");
    CHECK_HAS(p.text, ".SH ENVIRONMENT\n.TP\n\\fBHOME\\fR\nwhere\n");
}

TEST(refers_to_the_commands_that_it_speaks_of)
{
    struct printed p;
    print_page(&p, &row);
    CHECK_HAS(p.text, ".SH SEE ALSO\n.BR vestige (1),\n.BR vestige\\-info (1)\n");
}

TEST(names_programs_of_their_own_by_one_dash)
{
    struct command tool = row;
    struct printed p;
    tool.tool = tool.one_dash = true;
    print_page(&p, &tool);
    CHECK_HAS(p.text, "\n.TH odd 1 ");
    CHECK_HAS(p.text,
              "\\fBodd\\fR [\\fIoptions\\fR] \\fIrun.vest\\fR...\n.br\n\\fBvestige odd\\fR ");
    CHECK_HAS(p.text, ".TP\n\\fB\\-no\\-dots\\fR\n");
}
