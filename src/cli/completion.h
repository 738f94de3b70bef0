/* SPDX-License-Identifier: MIT */
/* Completion of commands, options and values in shells, from the rows of the commands: tables, and
 * a part that is the same whatever they have, src/cli/completion.bash and completion.zsh. */
#ifndef CLI_COMPLETION_H
#define CLI_COMPLETION_H

#include "cli/commands.h"

/* Print a script for all commands, and the programs that some are. */
void completion_bash(struct out *out);
void completion_zsh(struct out *out);

/* ---- for the writers of scripts ---- */

/* What stands where a value or an operand is completed. */
enum completion_kind {
    COMPLETION_NOTHING,  /* a number */
    COMPLETION_FILE,     /* perhaps with an extension */
    COMPLETION_ONE,      /* one of the names of an OPTION_ENUM */
    COMPLETION_SET,      /* some, separated by commas */
    COMPLETION_OFFER,    /* what a row's `offer` has */
    COMPLETION_COMMANDS, /* the names of commands */
    COMPLETION_PROGRAM,  /* a program, and then its own arguments */
};

struct completion {
    enum completion_kind kind;
    const struct cli_option *option; /* of ONE and SET */
    unsigned offer;                  /* which, of OFFER */
    char extension[16];              /* of FILE; "" is any */
};

/* The different functions that rows have as `offer`. */
enum { COMPLETION_OFFERS = 16 };

struct completion_offers {
    unsigned count;
    bool (*items[COMPLETION_OFFERS])(unsigned number, char word[OPTION_WORD]);
};

void completion_offers(struct completion_offers *offers);

/* Of an option that is no flag. */
struct completion completion_of_option(const struct completion_offers *offers,
                                       const struct cli_option *o);
struct completion completion_of_operands(const struct completion_offers *offers,
                                         const struct command *c);

#endif
