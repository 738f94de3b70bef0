/* SPDX-License-Identifier: MIT */
#include "cli/engines.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#define ENGINE_ROW(name, what) &engine_##name,
const struct engine_row *const engine_rows[] = {ENGINES(ENGINE_ROW) NULL};

enum { COUNT = sizeof(engine_rows) / sizeof(engine_rows[0]) - 1 };

static bool fits(const struct engine_row *row, const char *name, const char *path)
{
    return name ? !strcmp(row->engine->name, name) : *path && row->engine->fits(path);
}

const struct engine_row *engine_choose(const char *name, const char *program)
{
    char path[PATH_MAX];

    if (vs_find_program(program, path, sizeof(path)) < 0)
        *path = 0;
    for (size_t i = COUNT; i-- > 0;)
        if (fits(engine_rows[i], name, path))
            return engine_rows[i];
    return name ? NULL : engine_rows[0];
}

bool engine_offer(unsigned number, char word[OPTION_WORD])
{
    if (number >= COUNT)
        return false;
    snprintf(word, OPTION_WORD, "%s", engine_rows[COUNT - 1 - number]->engine->name);
    return true;
}
