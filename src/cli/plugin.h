/* SPDX-License-Identifier: MIT */
/* Techniques in shared objects, for the commands that take techniques: --plugin. */
#ifndef CLI_PLUGIN_H
#define CLI_PLUGIN_H

#include "front/options.h"
#include "technique/technique.h"

/* Loads the plugins, whose techniques cli->techniques then has, too. Returns CLI_DONE, or the
 * status after a message. */
int plugin_load(struct cli *cli, const struct option_list *paths);

/* Nothing of them may be in use any more. */
void plugin_unload(struct cli *cli);

/* The techniques that there are, ended by NULL. */
const struct vs_technique *const *plugin_table(const struct cli *cli);

/* The row of --plugin. */
#define PLUGIN_OPTION(where)                                                                       \
    {                                                                                              \
        .name = "plugin", .argument = "FILE",                                                      \
        .help = "take techniques from this shared object, too", .type = OPTION_LIST,               \
        .offset = (where)                                                                          \
    }

#endif
