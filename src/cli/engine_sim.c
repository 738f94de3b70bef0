/* SPDX-License-Identifier: MIT */
/* Static programs of its ISA, on the simulated platform. */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bytes.h"
#include "base/diag.h"
#include "isa/isa.h"
#include "base/infile.h"
#include "capture/valgrind.h"
#include "cli/engine_row.h"
#include "symbol/symbol.h"

/* Whatever is for the target's processor: what the simulator cannot run is refused with a reason.
 */
static bool fits(const char *path)
{
    struct vs_infile f;
    uint8_t head[20] = {0};
    bool read = vs_infile_open(&f, path, NULL) == 0 &&
                vs_infile_bytes(&f, head, sizeof(head), NULL) == sizeof(head);

    vs_infile_close(&f);
    return read && !memcmp(head, ELFMAG, SELFMAG) &&
           vs_get16(head + 18) == vs_isa_find(VS_TARGET_ISA)->elf_machine;
}

/* A static program has all its routines in its file. */
static int check_places(const struct recording *r, const char *path, struct vs_diag *diag)
{
    struct vs_symbols *symbols = NULL;
    int e = r->place_count ? vs_symbols_open(&symbols, path, diag) : 0;

    for (size_t i = 0; e == 0 && i < r->place_count; i++) {
        const char *name = r->places[i].name;

        if (strncmp(name, "0x", 2) && !vs_symbols_find(symbols, name, NULL))
            e = vs_diag_set(diag, -VSE_NOTFOUND, -1, -1,
                            "no routine '%.100s' in the program; 'nm -C' lists what there is",
                            name);
    }
    vs_symbols_close(symbols);
    return e;
}

static int check(struct recording *r, uint32_t *features, struct vs_diag *diag)
{
    struct vs_target_config config;
    char path[4096];
    int e = vs_find_program(r->argv[0], path, sizeof(path));

    if (e < 0)
        return vs_diag_set(diag, e, -1, -1, "no such program");
    for (size_t i = 0; i < r->place_count; i++)
        if (r->places[i].kind == WIRE_RANGE_WANTED)
            return vs_diag_set(diag, -VSE_INVAL, -1, -1,
                               "the simulator does not filter by --routine; use --from and --to");
    if ((e = vs_process_check(path, diag)) < 0 || (e = check_places(r, path, diag)) < 0 ||
        (e = simulation_config(r->simulation, &config, diag)) < 0)
        return e;
    if (config.timed)
        *features |= VS_RUN_TIMED;
    return 0;
}

static int tick(void *context, const struct vs_machine_stats *stats)
{
    struct recording *r = context;

    return r->tick(r->context, stats->recorded);
}

/* ---- places ---------------------------------------------------------------------------------- */

struct places {
    struct vs_machine_place *list;
    size_t count, capacity;
};

static int add_place(struct places *p, const struct vs_place *place, uint64_t addr, bool link)
{
    int e = vs_array_room((void **)&p->list, &p->capacity, p->count, 1, sizeof(*p->list));

    if (e < 0)
        return e;
    p->list[p->count++] = (struct vs_machine_place){
        .addr = addr,
        .link = link,
        .use = place->kind == WIRE_RANGE_FROM ? VS_PLACE_FROM : VS_PLACE_TO};
    return 0;
}

static int find_place(struct places *p, const struct vs_symbols *symbols, struct vs_place *place)
{
    const struct vs_routine *routine = NULL;
    int e = 0;

    if (!strncmp(place->name, "0x", 2)) {
        place->found = 1;
        return add_place(p, place, strtoull(place->name, NULL, 16), false);
    }
    while (e == 0 && (routine = vs_symbols_find(symbols, place->name, routine))) {
        place->found++;
        place->chooser |= routine->ifunc;
        e = add_place(p, place, routine->start, true);
    }
    return e;
}

static int find_places(struct recording *r, const char *path, struct places *p,
                       struct vs_diag *diag)
{
    struct vs_symbols *symbols = NULL;
    int e = r->place_count ? vs_symbols_open(&symbols, path, diag) : 0;

    for (size_t i = 0; e == 0 && i < r->place_count; i++)
        e = find_place(p, symbols, &r->places[i]);
    vs_symbols_close(symbols);
    return e;
}

/* ---- running --------------------------------------------------------------------------------- */

static void take_result(struct recording *r)
{
    const struct vs_machine_result *result = &r->machine;

    r->simulated = true;
    r->instructions = result->stats.recorded;
    r->skipped = result->stats.skipped;
    r->events = result->stats.events;
    r->threads = result->stats.threads;
    r->programs = 1;
    r->status = result->status;
    r->exit = simulation_status(result);
    r->halted = result->end == VS_END_DEADLOCK || result->end == VS_END_MEMORY;
    r->stopped = result->stopped;
    r->incomplete = simulation_incomplete(result, r->why);
    r->seconds = result->seconds;
}

static int run(struct recording *r, struct vs_diag *diag, bool *theirs)
{
    struct vs_machine_options o = {.loads = r->loads,
                                   .stores = r->stores,
                                   .consumer = r->consumer,
                                   .windows = r->windows,
                                   .window_count = r->window_count,
                                   .marks = r->marks,
                                   .interrupt = r->interrupt,
                                   .tick = tick,
                                   .context = r};
    struct places places = {0};
    char path[4096], **env = simulation_env(r->simulation);
    int e = env ? vs_find_program(r->argv[0], path, sizeof(path)) : -VSE_NOMEM;

    *theirs = false;
    if (e == 0)
        e = simulation_config(r->simulation, &o.config, diag);
    if (e == 0)
        e = find_places(r, path, &places, diag);
    if (e == 0) {
        o.process.path = path;
        o.process.argv = r->argv;
        o.process.envp = env;
        o.places = places.list;
        o.place_count = places.count;
        e = vs_machine_run(&o, &r->machine, diag, theirs);
    }
    if (e == 0)
        take_result(r);
    free(places.list);
    simulation_free_env(env);
    return e;
}

const struct engine engine_sim = {
    .name = "sim",
    .isa = VS_TARGET_ISA,
    .fits = fits,
    .check = check,
    .run = run,
};
