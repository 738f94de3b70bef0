/* SPDX-License-Identifier: MIT */
#include "export/paths.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"

int vs_paths_begin(struct vs_exporting *x)
{
    struct vs_paths *p = x->state;

    return vs_callers_init(&p->callers, x->reader);
}

/* Keeps the events of the chosen thread, and what others change in the map of images. */
static int choose(struct vs_exporting *x, struct vs_paths *p, struct vs_batch *b)
{
    size_t n = 0;

    if (vs_array_room((void **)&p->chosen, &p->capacity, 0, b->count, sizeof(*p->chosen)))
        return -VSE_NOMEM;
    for (size_t i = 0; i < b->count; i++) {
        const struct vs_event *e = &b->events[i];

        if (!vs_export_wants(x, e) && e->kind != VS_MAP)
            continue;
        p->chosen[n] = *e;
        if (!vs_export_wants(x, e))
            p->chosen[n].icount = 0;
        n++;
    }
    b->events = p->chosen;
    b->count = n;
    return 0;
}

int vs_paths_take(struct vs_exporting *x, const struct vs_batch *batch)
{
    struct vs_paths *p = x->state;
    struct vs_batch b = *batch;

    if (x->options->thread >= 0 && choose(x, p, &b))
        return -VSE_NOMEM;
    return vs_callers_batch(&p->callers, &b);
}

int vs_paths_end(struct vs_paths *p)
{
    int64_t n = vs_callers_hottest(&p->callers, &p->hottest);

    p->count = n < 0 ? 0 : (size_t)n;
    return n < 0 ? (int)n : 0;
}

void vs_paths_close(struct vs_exporting *x)
{
    struct vs_paths *p = x->state;

    vs_callers_fini(&p->callers);
    free(p->chosen);
    free(p->hottest);
}

void vs_paths_name(const struct vs_caller_routine *routine, char name[VS_PATHS_NAME])
{
    const char *file = routine->image ? strrchr(routine->image, '/') : NULL;

    if (routine->name)
        snprintf(name, VS_PATHS_NAME, "%s", routine->name);
    else
        snprintf(name, VS_PATHS_NAME, "(%s)",
                 file             ? file + 1
                 : routine->image ? routine->image
                                  : "outside all images");
    vs_oneline(name);
    for (char *c = name; *c; c++)
        if (*c == ';')
            *c = ':';
}
