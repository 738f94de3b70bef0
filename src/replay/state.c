/* SPDX-License-Identifier: MIT */
/* Checkpoints. They share pages of memory with the replay until one of them writes. */
#include <stdlib.h>

#include "base/invariant.h"
#include "replay/known.h"

struct core_state {
    struct vs_replay_core core; /* without its cpu, which is saved after all of these */
    uint64_t retired;
};

struct vs_replay_state {
    const struct vs_data_decoder_ops *ops;
    struct vs_port_reader reader;
    void *decoder;
    struct vs_copy *views;
    struct vs_replay_outside outside;
    struct vs_replay_code code;
    uint64_t position, code_version;
    size_t map_count; /* how many of the replay's maps, which are the same every time */
    size_t saved;     /* bytes of each core's cpu */
    unsigned current, starting, last, count, view_count, decoded_program;
    bool over;
    int broken;
    struct vs_diag diag; /* if it is broken */
    uint8_t *cpus;
    struct core_state cores[];
};

static void save_core(struct vs_replay_state *s, unsigned core, const struct vs_replay_core *c)
{
    s->cores[core] = (struct core_state){.core = *c, .retired = c->cpu->retired};
    c->cpu->ops->save(c->cpu, s->cpus + core * s->saved);
}

static void restore_core(struct vs_replay_core *c, const struct vs_replay_state *s, unsigned core)
{
    struct vs_cpu *cpu = c->cpu;
    *c = s->cores[core].core;
    c->cpu = cpu;
    cpu->ops->restore(cpu, s->cpus + core * s->saved);
}

/* Returns NULL without memory. */
static struct vs_copy *clone_views(struct vs_copy *from, unsigned count)
{
    struct vs_copy *to = malloc(count * sizeof(*to));
    int err = 0;
    for (unsigned i = 0; to && i < count; i++) {
        if (err)
            vs_copy_init(&to[i]);
        else
            err = vs_copy_clone(&to[i], &from[i]);
    }
    for (unsigned i = 0; to && err && i < count; i++)
        vs_copy_fini(&to[i]);
    if (!err)
        return to;
    free(to);
    return NULL;
}

static void free_views(struct vs_copy *views, unsigned count)
{
    for (unsigned i = 0; views && i < count; i++)
        vs_copy_fini(&views[i]);
    free(views);
}

void vs_replay_note_code(struct vs_replay *r)
{
    if (r->flushes != r->decoded->flushes)
        r->code_version = ++r->versions;
    r->flushes = r->decoded->flushes;
}

int vs_replay_save(struct vs_replay *r, struct vs_replay_state **state)
{
    *state = NULL;
    if (!r->ops->clone)
        return -VSE_FEATURE;
    struct vs_replay_state *s = calloc(1, sizeof(*s) + r->count * sizeof(s->cores[0]));
    if (!s)
        return -VSE_NOMEM;
    s->ops = r->ops;
    s->view_count = r->view_count;
    s->saved = (r->config.cpu->saved + 15) & ~(size_t)15;
    int err = vs_port_reader_clone(&s->reader, &r->reader);
    if (!err && !(s->cpus = malloc(r->count * s->saved)))
        err = -VSE_NOMEM;
    if (!err)
        err = r->ops->clone(r->decoder, &s->reader, &s->decoder);
    if (!err && !(s->views = clone_views(r->views, r->view_count)))
        err = -VSE_NOMEM;
    if (!err)
        err = vs_replay_outside_clone(&s->outside, &r->outside, r->count);
    if (!err)
        err = vs_replay_code_clone(&s->code, &r->code);
    if (err) {
        vs_replay_drop(s);
        return err;
    }
    s->position = r->position;
    vs_replay_note_code(r);
    s->code_version = r->code_version;
    s->decoded_program = r->decoded_program;
    s->map_count = r->map_count;
    s->current = r->current;
    s->starting = r->starting;
    s->last = r->last;
    s->over = r->over;
    s->broken = r->broken;
    s->diag = r->diag;
    s->count = r->count;
    for (unsigned i = 0; i < r->count; i++)
        save_core(s, i, &r->cores[i]);
    *state = s;
    return 0;
}

int vs_replay_restore(struct vs_replay *r, struct vs_replay_state *s)
{
    struct vs_port_reader reader;
    struct vs_replay_outside outside = {0};
    struct vs_replay_code code = {0};
    struct vs_copy *views;
    void *decoder = NULL;
    invariant(s->ops == r->ops && s->count == r->count && s->view_count == r->view_count);
    int err = vs_port_reader_clone(&reader, &s->reader);
    if (err)
        return err;
    views = clone_views(s->views, s->view_count);
    err = views ? vs_replay_outside_clone(&outside, &s->outside, s->count) : -VSE_NOMEM;
    if (!err)
        err = vs_replay_code_clone(&code, &s->code);
    if (err || (err = r->ops->clone(s->decoder, &r->reader, &decoder))) {
        free_views(views, s->view_count);
        vs_replay_outside_fini(&outside);
        vs_replay_code_fini(&code);
        vs_port_reader_fini(&reader);
        return err;
    }
    vs_replay_outside_fini(&r->outside);
    r->outside = outside;
    vs_replay_code_fini(&r->code);
    r->code = code;
    r->ops->close(r->decoder);
    vs_port_reader_fini(&r->reader);
    free_views(r->views, r->view_count);
    r->reader = reader;
    r->reader.witness = &r->witness;
    r->views = views;
    r->decoder = decoder;
    r->position = s->position;
    r->map_count = s->map_count;
    r->current = s->current;
    r->starting = s->starting;
    r->last = s->last;
    r->over = s->over;
    r->broken = s->broken;
    if (s->broken)
        r->diag = s->diag;
    r->hit = NULL;
    r->signalled = false;
    vs_replay_note_code(r);
    if (s->code_version != r->code_version)
        vs_cpu_flush_all(r->decoded); /* code may have been different then */
    r->code_version = s->code_version;
    r->decoded_program = s->decoded_program;
    r->flushes = r->decoded->flushes;
    for (unsigned i = 0; i < r->count; i++)
        restore_core(&r->cores[i], s, i);
    return 0;
}

void vs_replay_drop(struct vs_replay_state *s)
{
    if (!s)
        return;
    if (s->decoder)
        s->ops->close(s->decoder);
    vs_port_reader_fini(&s->reader);
    free_views(s->views, s->view_count);
    vs_replay_outside_fini(&s->outside);
    vs_replay_code_fini(&s->code);
    free(s->cpus);
    free(s);
}

uint64_t vs_replay_state_position(const struct vs_replay_state *s)
{
    return s->position;
}

uint64_t vs_replay_state_retired(const struct vs_replay_state *s, unsigned core)
{
    return s->cores[core].retired;
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* All copies of memory of a replay or a checkpoint. */
struct copies {
    struct vs_copy *views, *decoder;
    unsigned view_count, decoder_count;
    struct vs_copy *others[3];
};

static struct copies find_copies(const struct vs_data_decoder_ops *ops, void *decoder,
                                 struct vs_copy *views, unsigned view_count,
                                 struct vs_replay_outside *outside, struct vs_replay_code *code)
{
    struct copies c = {.views = views,
                       .view_count = view_count,
                       .others = {&outside->gone, &code->stored, &code->image}};
    c.decoder = ops->copies ? ops->copies(decoder, &c.decoder_count) : NULL;
    return c;
}

static struct copies copies_of_replay(struct vs_replay *r)
{
    return find_copies(r->ops, r->decoder, r->views, r->view_count, &r->outside, &r->code);
}

static struct copies copies_of_state(struct vs_replay_state *s)
{
    return find_copies(s->ops, s->decoder, s->views, s->view_count, &s->outside, &s->code);
}

/* Returns NULL after the last. */
static struct vs_copy *copy_at(const struct copies *c, size_t i)
{
    if (i < c->view_count)
        return &c->views[i];
    i -= c->view_count;
    if (i < c->decoder_count)
        return &c->decoder[i];
    i -= c->decoder_count;
    return i < 3 ? c->others[i] : NULL;
}

void vs_replay_use(struct vs_replay *r, struct vs_copy_pool *pool)
{
    const struct copies c = copies_of_replay(r);
    for (size_t i = 0; copy_at(&c, i); i++)
        vs_copy_use(copy_at(&c, i), pool);
}

size_t vs_replay_made(struct vs_replay *r)
{
    const struct copies c = copies_of_replay(r);
    size_t made = 0;
    for (size_t i = 0; copy_at(&c, i); i++)
        made += copy_at(&c, i)->made;
    return made;
}

size_t vs_replay_held(struct vs_replay *r)
{
    const struct copies c = copies_of_replay(r);
    size_t held = r->ops->size ? r->ops->size(r->decoder) : 0;
    for (size_t i = 0; copy_at(&c, i); i++)
        held += copy_at(&c, i)->count * sizeof(struct vs_copy_page);
    return held;
}

size_t vs_replay_state_heap(struct vs_replay_state *s)
{
    const struct copies c = copies_of_state(s);
    size_t size = sizeof(*s) + s->count * (sizeof(s->cores[0]) + s->saved);
    for (size_t i = 0; copy_at(&c, i); i++)
        size += sizeof(struct vs_copy) + vs_copy_table(copy_at(&c, i));
    return size + (s->ops->size ? s->ops->size(s->decoder) : 0);
}

size_t vs_replay_state_size(struct vs_replay_state *s)
{
    const struct copies c = copies_of_state(s);
    size_t size = vs_replay_state_heap(s);
    for (size_t i = 0; copy_at(&c, i); i++)
        size += vs_copy_alone(copy_at(&c, i)) - vs_copy_table(copy_at(&c, i));
    return size;
}
