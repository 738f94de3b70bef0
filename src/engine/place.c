/* SPDX-License-Identifier: MIT */
#include "engine/place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "vestige/error.h"

bool vs_place_is_address(const struct vs_place *place)
{
    return !strncmp(place->name, "0x", 2);
}

uint64_t vs_place_address(const struct vs_place *place)
{
    return strtoull(place->name, NULL, 16);
}

bool vs_is_program(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

int vs_find_program(const char *name, char *path, size_t capacity)
{
    const char *dirs = getenv("PATH"), *end;

    if (strchr(name, '/'))
        return (size_t)snprintf(path, capacity, "%s", name) < capacity ? 0 : -VSE_LIMIT;
    for (dirs = dirs ? dirs : "/usr/bin:/bin"; *name; dirs = end + 1) {
        int len;

        end = strchrnul(dirs, ':');
        len = (int)(end - dirs);
        if ((size_t)snprintf(path, capacity, "%.*s/%s", len ? len : 1, len ? dirs : ".", name) <
                capacity &&
            vs_is_program(path))
            return 0;
        if (!*end)
            break;
    }
    return -VSE_NOTFOUND;
}
