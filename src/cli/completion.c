/* SPDX-License-Identifier: MIT */
#include "cli/completion.h"

#include <ctype.h>
#include <string.h>

#include "cli/specs.h"

typedef bool offer_function(unsigned number, char word[OPTION_WORD]);

/* Returns offers->count if it is not among them. */
static unsigned find(const struct completion_offers *offers, offer_function *offer)
{
    unsigned i = 0;
    while (i < offers->count && offers->items[i] != offer)
        i++;
    return i;
}

static void add(struct completion_offers *offers, offer_function *offer)
{
    if (find(offers, offer) == offers->count && offers->count < COMPLETION_OFFERS)
        offers->items[offers->count++] = offer;
}

void completion_offers(struct completion_offers *offers)
{
    const struct command *c;
    *offers = (struct completion_offers){0};
    add(offers, specs_offer_one); /* for an operand SPEC */
    for (size_t i = 0; (c = commands_at(i)); i++)
        for (const struct cli_option *o = c->options; o && o->name; o++)
            if (o->offer)
                add(offers, o->offer);
}

/* Gives files if nothing is offered. */
static struct completion of_offer(const struct completion_offers *offers, offer_function *offer)
{
    unsigned i = offer ? find(offers, offer) : offers->count;
    return (struct completion){.kind = i < offers->count ? COMPLETION_OFFER : COMPLETION_FILE,
                               .offer = i};
}

struct completion completion_of_option(const struct completion_offers *offers,
                                       const struct cli_option *o)
{
    switch (o->type) {
    case OPTION_ENUM:
        return (struct completion){.kind = COMPLETION_ONE, .option = o};
    case OPTION_SET:
        return (struct completion){.kind = COMPLETION_SET, .option = o};
    case OPTION_STRING:
    case OPTION_LIST:
        return of_offer(offers, o->offer);
    default:
        return (struct completion){.kind = COMPLETION_NOTHING};
    }
}

/* Finds the extension, "vest" in "run.vest..."; if there is none, any file will do. */
static struct completion of_files(const char *operands)
{
    struct completion files = {.kind = COMPLETION_FILE};
    const char *run = strstr(operands, "run.");
    for (size_t i = 0; run && isalnum((unsigned char)run[4 + i]) && i + 1 < sizeof(files.extension);
         i++)
        files.extension[i] = run[4 + i];
    return files;
}

struct completion completion_of_operands(const struct completion_offers *offers,
                                         const struct command *c)
{
    if (c->takes_program)
        return (struct completion){.kind = COMPLETION_PROGRAM};
    if (strstr(c->operands, "COMMAND"))
        return (struct completion){.kind = COMPLETION_COMMANDS};
    if (strstr(c->operands, "SPEC"))
        return of_offer(offers, specs_offer_one);
    return of_files(c->operands);
}
