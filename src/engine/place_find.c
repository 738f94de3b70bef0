/* SPDX-License-Identifier: MIT */
#include "engine/place_find.h"

#include <string.h>

/* Whether the compiler split this off a routine: it is the routine's code, but not its entry. */
static bool is_piece(const char *name)
{
    static const char *const words[] = {".cold", ".part"};

    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
        const char *at = strstr(name, words[i]);
        char after = at ? at[strlen(words[i])] : 'x';

        if (!after || after == '.')
            return true;
    }
    return false;
}

int vs_place_find(struct vs_place *place, const struct vs_symbols *symbols, vs_place_put *put,
                  void *context)
{
    const struct vs_routine *r = NULL;
    int e = 0;

    while (e == 0 && (r = vs_symbols_find(symbols, place->name, r)) != NULL) {
        if (place->kind != VS_PLACE_WANTED && is_piece(r->name))
            continue;
        place->found++;
        place->chooser |= r->ifunc;
        e = put(context, place, r->start, r->size ? r->size : 1);
    }
    return e;
}
