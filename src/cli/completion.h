/* SPDX-License-Identifier: MIT */
/* Completion of commands, options and values in shells. A script has tables, made from the
 * commands' rows, and a part that does not depend on them: src/cli/completion.bash and
 * completion.zsh. */
#ifndef CLI_COMPLETION_H
#define CLI_COMPLETION_H

#include "cli/commands.h"

/* Print a script for all commands, and for the programs that some of them are. */
void completion_bash(struct out *out);
void completion_zsh(struct out *out);

/* ---- for the writers of scripts ---- */

/* What is offered where a value or an operand is completed. */
enum completion_kind {
    COMPLETION_NOTHING,  /* a number has to be given */
    COMPLETION_FILE,     /* perhaps with an extension */
    COMPLETION_ONE,      /* one of an OPTION_ENUM's names */
    COMPLETION_SET,      /* some of an OPTION_SET's names, separated by commas */
    COMPLETION_OFFER,    /* what a row's `offer` has */
    COMPLETION_COMMANDS, /* the names of commands */
    COMPLETION_PROGRAM,  /* a program, and then its own arguments */
};

struct completion {
    enum completion_kind kind;
    const struct cli_option *option; /* for ONE and SET */
    unsigned offer;                  /* for OFFER: which */
    char extension[16];              /* for FILE; "" is any */
};

/* The distinct functions that rows have as `offer`. */
enum { COMPLETION_OFFERS = 16 };

struct completion_offers {
    unsigned count;
    bool (*items[COMPLETION_OFFERS])(unsigned number, char word[OPTION_WORD]);
};

void completion_offers(struct completion_offers *offers);

/* The option must not be a flag. */
struct completion completion_of_option(const struct completion_offers *offers,
                                       const struct cli_option *o);
struct completion completion_of_operands(const struct completion_offers *offers,
                                         const struct command *c);

#endif
