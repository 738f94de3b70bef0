/* SPDX-License-Identifier: MIT */
/* A command's options, declared as rows: the parser, its messages and --help all come from them. */
#ifndef FRONT_OPTIONS_H
#define FRONT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "front/cli.h"

struct command;

/* What an option stores in its command's struct. */
enum option_type {
    OPTION_FLAG,   /* bool: set to true */
    OPTION_STRING, /* const char *: points into argv */
    OPTION_U64,    /* uint64_t: decimal or 0x; K, M, G are powers of 1024 */
    OPTION_RANGE,  /* struct range: LO-HI, or LO alone for LO-LO */
    OPTION_ENUM,   /* unsigned: the number of one of the names */
    OPTION_SET,    /* uint64_t: names separated by commas, a bit per number; repeating it adds */
    OPTION_LIST,   /* struct option_list: repeating it adds */
};

/* Both ends are included. */
struct range {
    uint64_t lo, hi;
};

enum { OPTION_LIST_MAX = 64, OPTION_WORD = 64 };

/* Points into argv. */
struct option_list {
    size_t count;
    const char *items[OPTION_LIST_MAX];
};

struct cli_option {
    const char *name;     /* without dashes; NULL ends the table */
    char letter;          /* 0 if it has none */
    const char *argument; /* what --help calls its value; NULL for a flag */
    const char *help;
    enum option_type type;
    size_t offset; /* the field's, in the command's struct */

    uint64_t min, max; /* OPTION_U64; max 0 means no limit */

    /* OPTION_ENUM, OPTION_SET: the names of the numbers [first, end); end <= 64 for a set. */
    const char *(*number_name)(unsigned number);
    unsigned first, end;

    /* OPTION_STRING, OPTION_LIST: gives the words that completion offers for the value; if it is
     * NULL, files are offered. Writes the word of that number, "HEAD" or "HEAD:ITEM" (items may
     * follow a head, separated by commas); a word that ends with = goes on. Returns false past the
     * last word. */
    bool (*offer)(unsigned number, char word[OPTION_WORD]);
};

/* -h, which every command has. */
extern const struct cli_option options_help_row;

/* Parses the arguments after the command's name into `values`, which holds the defaults. The
 * operands move to the front of argv, and *argc becomes their number, which is one that the command
 * allows. "--" ends the options; so does the first operand if the command takes a program. Returns
 * true to go on; false if the command is over, with its exit status in *status: 0 after --help, 2
 * after a message about bad usage. */
bool options_parse(struct cli *cli, const struct command *command, void *values, int *argc,
                   char **argv, int *status);

/* Whether any of the command's options is a number; its help then says this about numbers: */
bool options_numbers(const struct command *command);
#define OPTIONS_NUMBERS "Numbers are decimal or 0x...; K, M and G after them are powers of 1024."

/* Prints what --help does. */
void options_help(struct out *out, const struct command *command);

#endif
