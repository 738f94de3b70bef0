/* SPDX-License-Identifier: MIT */
#include "cli/plugin.h"

#include <stdlib.h>

#include "technique/plugins.h"

int plugin_load(struct cli *cli, const struct option_list *paths)
{
    if (paths->count && !cli->plugins && !(cli->plugins = calloc(1, sizeof(*cli->plugins)))) {
        cli_error(cli, "out of memory");
        return CLI_USAGE;
    }
    for (size_t i = 0; i < paths->count; i++) {
        struct vs_diag diag = {.offset = -1, .chunk = -1};
        if (vs_plugins_add(cli->plugins, paths->items[i], &diag)) {
            cli_error(cli, "--plugin %s: %s", paths->items[i], diag.text);
            return CLI_USAGE;
        }
        cli->techniques = (const struct vs_technique *const *)cli->plugins->table;
    }
    return CLI_DONE;
}

void plugin_unload(struct cli *cli)
{
    if (cli->plugins)
        vs_plugins_fini(cli->plugins);
    free(cli->plugins);
    cli->plugins = NULL;
    cli->techniques = NULL;
}

const struct vs_technique *const *plugin_table(const struct cli *cli)
{
    return cli->techniques ? cli->techniques : vs_techniques;
}
