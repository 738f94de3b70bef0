/* SPDX-License-Identifier: MIT */
#include "vestige/playback.h"

#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "isa/cpu_load.h"
#include "isa/noted.h"
#include "library/catalog.h"
#include "library/encode.h"
#include "library/program.h"
#include "library/sized.h"
#include "port/store.h"
#include "replay/history.h"
#include "study/stream_file.h"
#include "target/config.h"
#include "target/linux_abi.h"
#include "trace/run_file.h"

#define TECHNIQUE "mc2RT" /* whose streams order all that cores do to each other's memory */
#define MEMORY    (UINT64_C(1) << 30)

struct vs_playback {
    struct vs_vport *port;       /* a stream's file; NULL if it is a run: */
    struct vs_reader *reader;    /* of the run, whose strings `about` has */
    struct vs_port_store stream; /* the run's */
    struct vs_image *images;
    struct vs_vport_pair facts[VS_STREAM_FACTS];
    struct vs_vport_about about;
    struct vs_program program;
    struct vs_replay replay;
    struct vs_history history;
    bool ready, goes_back; /* there is the replay, and the history */
};

/* ---- opening --------------------------------------------------------------------------------- */

static int tell(struct vs_diag *diag, int err)
{
    return err ? vs_diag_set(diag, err, -1, -1, "%s", vs_errstr(err)) : 0;
}

static int describe(struct vs_playback *p, const struct vs_technique_spec *spec,
                    const struct vs_technique_setup *setup)
{
    const char *isa = vs_reader_meta(p->reader, "isa");
    uint32_t count = vs_reader_info(p->reader)->images;
    p->images = calloc(count + 1u, sizeof(*p->images));
    if (!p->images)
        return -VSE_NOMEM;
    for (uint32_t i = 0; i < count; i++)
        vs_reader_image(p->reader, i, &p->images[i]);
    p->about = (struct vs_vport_about){.technique = spec->technique->name,
                                       .isa = isa && *isa ? isa : "unknown",
                                       .address_bits = setup->address_bits,
                                       .cores = setup->cores,
                                       .timed = setup->timed,
                                       .facts = p->facts,
                                       .fact_count = vs_stream_facts(p->reader, p->facts),
                                       .images = p->images,
                                       .image_count = count};
    return 0;
}

/* Encodes the run into memory. */
static int open_run(struct vs_playback *p, const char *path, const struct vs_playback_options *o,
                    struct vs_replay_config *config, struct vs_diag *diag)
{
    struct vs_bandwidth b;
    struct vs_port_shape shape;
    int err = vs_run_open(&p->reader, path, VS_OPEN_DEFAULT, diag);
    if (!err)
        err = vs_encode_prepare(&b, p->reader, vs_catalog_table(o->catalog),
                                o->technique ? o->technique : TECHNIQUE, &config->spec, diag);
    if (err)
        return err;
    config->setup = b.setup;
    vs_technique_shape(&config->spec, &b.setup, &shape);
    err = tell(diag, vs_port_store_init(&p->stream, &shape));
    int64_t row =
        err ? err : vs_bandwidth_add(&b, &config->spec, vs_port_to_store, &p->stream, diag);
    if (row >= 0) {
        err = vs_bandwidth_run(&b, p->reader, NULL, diag);
        if (!err)
            err = tell(diag, describe(p, &config->spec, &b.setup));
    }
    vs_bandwidth_fini(&b);
    config->streams = p->stream.streams;
    return row < 0 ? (int)row : err;
}

static int open_stream(struct vs_playback *p, const char *path, const struct vs_playback_options *o,
                       struct vs_replay_config *config, struct vs_diag *diag)
{
    if (o->technique)
        return vs_diag_set(diag, -VSE_INVAL, -1, -1,
                           "it is a stream, which has its technique; one is named for runs only");
    int err = vs_vport_open(&p->port, path, diag);
    if (err)
        return err;
    p->about = p->port->about;
    config->streams = p->port->streams;
    return vs_stream_spec(vs_catalog_table(o->catalog), &p->about, &config->spec, &config->setup,
                          diag);
}

static int check(const struct vs_playback *p, const struct vs_replay_config *config,
                 struct vs_diag *diag)
{
    const char *lacks = vs_noted_lacks(p->about.isa, vs_vport_fact(&p->about, VS_NOTED_FACT));
    if (!(config->spec.technique->serves & VS_TECHNIQUE_DATA))
        return vs_diag_set(diag, -VSE_FEATURE, -1, -1, "%s has no load values to replay from",
                           config->spec.technique->name);
    if (!config->isa)
        return vs_diag_set(diag, -VSE_NOTFOUND, -1, -1, "it is of %.60s, which nothing executes",
                           p->about.isa);
    return lacks ? vs_diag_set(diag, -VSE_FEATURE, -1, -1,
                               "was recorded by an older vestige, which did not note %s", lacks)
                 : 0;
}

/* Makes the replay, once everything that it needs is there. */
static int begin(struct vs_playback *p, struct vs_replay_config *config, uint64_t memory,
                 struct vs_diag *diag)
{
    config->code = &p->program.image.text;
    config->loaded = &p->program.image.loaded;
    if (!strcmp(config->isa->name, VS_TARGET_ISA)) {
        config->stack = VS_LINUX_STACK_TOP - VS_LINUX_STACK_SIZE;
        config->stack_size = VS_LINUX_STACK_SIZE;
    }
    p->ready = true;
    int err = vs_replay_init(&p->replay, config, diag);
    if (err)
        return err;
    err = vs_history_init(&p->history, &p->replay, (size_t)(memory ? memory : MEMORY));
    p->goes_back = !err;
    if (err)
        vs_history_fini(&p->history);
    return err == -VSE_FEATURE ? 0 : tell(diag, err);
}

int vs_playback_open(struct vs_playback **to, const char *path,
                     const struct vs_playback_options *options, struct vs_diag *diag)
{
    struct vs_diag own = {.offset = -1, .chunk = -1};
    struct vs_replay_config config = {0};
    struct vs_playback_options o;
    struct vs_playback *p;
    *to = NULL;
    int err = path ? vs_sized_take(&o, sizeof(o), options) : -VSE_INVAL;
    if (err || !(p = calloc(1, sizeof(*p))))
        return tell(diag, err ? err : -VSE_NOMEM);
    bool run = vs_run_file_is(path);
    err = run ? open_run(p, path, &o, &config, &own) : open_stream(p, path, &o, &config, &own);
    config.isa = err ? NULL : vs_isa_find(p->about.isa);
    if (!err)
        err = check(p, &config, &own);
    if (!err)
        err = vs_cpu_load(config.isa, NULL, &config.cpu, NULL, &own);
    const struct vs_program_source source = {o.code, o.images, o.image_count,
                                             run && !o.image_count ? path : NULL};
    if (!err)
        err = vs_program_open(&p->program, &source, &p->about, &own);
    if (!err)
        err = begin(p, &config, o.memory, &own);
    if (!err) {
        *to = p;
        return 0;
    }
    vs_playback_close(p);
    return vs_diag_set(diag, err, own.offset, own.chunk, "%s",
                       own.text[0] ? own.text : vs_errstr(err));
}

void vs_playback_close(struct vs_playback *p)
{
    if (!p)
        return;
    if (p->goes_back)
        vs_history_fini(&p->history);
    if (p->ready)
        vs_replay_fini(&p->replay);
    vs_program_fini(&p->program);
    vs_port_store_fini(&p->stream);
    vs_vport_close(p->port);
    vs_reader_close(p->reader);
    free(p->images);
    free(p);
}

/* ---- going ----------------------------------------------------------------------------------- */

/* Says where a replay's goal is not reached. */
static int arrive(struct vs_playback *p, int stop, struct vs_diag *diag)
{
    const struct vs_replay *r = &p->replay;
    if (stop == VS_REPLAY_REACHED)
        return 0;
    if (stop == VS_REPLAY_OVER)
        return vs_diag_set(diag, -VSE_END, -1, -1, "the program ends at position %llu",
                           (unsigned long long)r->position);
    if (stop == VS_REPLAY_CUT)
        return vs_diag_set(diag, -VSE_TRUNCATED, -1, -1, "the stream ends at position %llu",
                           (unsigned long long)r->position);
    int err = stop < 0 ? stop : -VSE_INTERNAL;
    return vs_diag_set(diag, err, r->diag.offset, r->diag.chunk, "%s",
                       r->diag.text[0] ? r->diag.text : vs_errstr(err));
}

static int go(struct vs_playback *p, const struct vs_replay_goal *goal, bool behind,
              struct vs_diag *diag)
{
    int stop;
    if (!p->goes_back && behind)
        return vs_diag_set(diag, -VSE_FEATURE, -1, -1, "the decoder of %s cannot go back",
                           p->replay.config.spec.technique->name);
    if (!p->goes_back)
        stop = vs_replay_run(&p->replay, goal);
    else if (goal->position != UINT64_MAX)
        stop = vs_history_goto(&p->history, goal->position);
    else
        stop = vs_history_goto_core(&p->history, goal->core, goal->retired);
    return arrive(p, stop, diag);
}

int vs_playback_goto(struct vs_playback *p, uint64_t position, struct vs_diag *diag)
{
    const struct vs_replay_goal goal = {
        .position = position, .core = VS_REPLAY_NONE, .retired = UINT64_MAX};
    if (position == p->replay.position)
        return 0;
    return position == UINT64_MAX ? vs_playback_goto(p, position - 1, diag)
                                  : go(p, &goal, position < p->replay.position, diag);
}

int vs_playback_goto_core(struct vs_playback *p, unsigned core, uint64_t retired,
                          struct vs_diag *diag)
{
    const struct vs_replay_goal goal = {.position = UINT64_MAX, .core = core, .retired = retired};
    if (core >= p->replay.count)
        return vs_diag_set(diag, -VSE_NOTFOUND, -1, -1, "there is no core %u; there are %u", core,
                           p->replay.count);
    uint64_t now = p->replay.cores[core].cpu->retired;
    return retired == now ? 0 : go(p, &goal, retired < now, diag);
}

/* ---- looking --------------------------------------------------------------------------------- */

int vs_playback_tell(const struct vs_playback *p, struct vs_playback_state *state)
{
    const struct vs_playback_state own = {
        .position = p->replay.position, .cores = p->replay.count, .over = p->replay.over};
    return vs_sized_give(state, &own, sizeof(own));
}

int vs_playback_core(const struct vs_playback *p, unsigned core, struct vs_playback_core *state)
{
    if (core >= p->replay.count)
        return -VSE_NOTFOUND;
    const struct vs_replay_core *c = &p->replay.cores[core];
    const struct vs_playback_core own = {
        .pc = c->cpu->pc, .retired = c->cpu->retired, .started = c->started, .ended = c->ended};
    return vs_sized_give(state, &own, sizeof(own));
}

int vs_playback_register_at(const struct vs_playback *p, unsigned i, const char **name,
                            unsigned *size)
{
    const struct vs_register_set *set = p->replay.config.isa->registers;
    if (i >= set->count)
        return -VSE_NOTFOUND;
    *name = set->list[i].name;
    *size = set->list[i].size;
    return 0;
}

int vs_playback_register(const struct vs_playback *p, unsigned core, const char *name, void *bytes,
                         size_t capacity)
{
    uint8_t whole[VS_REGISTER_BYTES];
    const struct vs_register *reg =
        name ? vs_register_find(p->replay.config.isa->registers, name) : NULL;
    if (!reg || core >= p->replay.count || reg->number == VS_REGISTER_NONE)
        return -VSE_NOTFOUND;
    if (reg->size > capacity)
        return -VSE_LIMIT;
    const struct vs_cpu *cpu = p->replay.cores[core].cpu;
    int size = vs_register_is_numbered(reg) ? cpu->ops->get(cpu, reg->number, whole) : 0;
    if (size < 0)
        return -VSE_NOTFOUND;
    vs_register_cut(reg, whole, (size_t)size, bytes);
    return reg->size;
}

int64_t vs_playback_memory(struct vs_playback *p, unsigned core, uint64_t addr, void *bytes,
                           size_t size)
{
    if (core >= p->replay.count)
        return -VSE_NOTFOUND;
    return (int64_t)vs_replay_look(&p->replay, core, addr, bytes, size);
}
