/* SPDX-License-Identifier: MIT */
#include "study/changes.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/likely.h"
#include "study/codeview.h"

int vs_changes_init(struct vs_changes *c, const struct vs_reader *reader)
{
    c->cores = vs_reader_info(reader)->threads;
    if (c->cores < 2)
        return 0;
    int err = vs_codeview_pages(&c->code, reader);
    c->writers.code = &c->code;
    c->retired = calloc(c->cores, sizeof(*c->retired));
    return err || c->retired ? err : -VSE_NOMEM;
}

static int add(struct vs_changes *c, const struct vs_batch *b, size_t i, struct vs_change change)
{
    int err = vs_array_room((void **)&c->all, &c->capacity, c->count, 1, sizeof(*c->all));
    if (err)
        return err;
    change.number = b->first + i;
    change.cycle = b->cycles ? b->cycles[i] : 0;
    c->all[c->count++] = change;
    return 0;
}

static int take_store(struct vs_changes *c, const struct vs_batch *b, size_t i)
{
    uint64_t addr = b->events[i].addr;
    size_t size = b->events[i].size;
    unsigned other;
    int err = 0;
    while (size && !err &&
           !(err = vs_writers_take(&c->writers, b->events[i].thread, &addr, &size, &other)))
        if (other != VS_WRITERS_NOBODY)
            err = add(c, b, i, (struct vs_change){.core = other, .place = c->retired[other]});
    return err;
}

int vs_changes_take(struct vs_changes *c, const struct vs_batch *b)
{
    int err = 0;
    for (size_t i = 0; i < b->count && !err; i++) {
        const struct vs_event *e = &b->events[i];
        if (unlikely(c->retired && e->thread >= c->cores))
            return -VSE_CORRUPT;
        if (unlikely(e->kind == VS_CODE))
            err = add(c, b, i, (struct vs_change){.core = VS_CHANGE_ALL, .version = ++c->versions});
        else if (e->kind == VS_STORE && unlikely(vs_writers_concern(&c->writers, e->addr, e->size)))
            err = take_store(c, b, i);
        if (c->retired)
            c->retired[e->thread] += e->icount;
    }
    return err;
}

void vs_changes_fini(struct vs_changes *c)
{
    vs_code_pages_fini(&c->code);
    vs_writers_fini(&c->writers);
    free(c->retired);
    free(c->all);
    *c = (struct vs_changes){0};
}

const struct vs_change *vs_changes_next(const struct vs_changes *c, unsigned core, bool places,
                                        size_t *at)
{
    for (; *at < c->count; ++*at)
        if (c->all[*at].core == VS_CHANGE_ALL || (places && c->all[*at].core == core))
            return &c->all[*at];
    return NULL;
}
