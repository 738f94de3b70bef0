/* SPDX-License-Identifier: MIT */
#include "target/simulator.h"

#include <elf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bytes.h"
#include "base/diag.h"
#include "base/infile.h"
#include "isa/isa.h"
#include "symbol/symbol.h"
#include "target/machine.h"

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
    p->list[p->count++] =
        (struct vs_machine_place){.addr = addr, .link = link, .kind = place->kind};
    return 0;
}

static int find_place(struct places *p, const struct vs_symbols *symbols, struct vs_place *place)
{
    const struct vs_routine *routine = NULL;
    int e = 0;

    if (vs_place_is_address(place)) {
        place->found = 1;
        return add_place(p, place, vs_place_address(place), false);
    }
    while (e == 0 && (routine = vs_symbols_find(symbols, place->name, routine))) {
        place->found++;
        place->chooser |= routine->ifunc;
        e = add_place(p, place, routine->start, true);
    }
    return e;
}

static int find_places(const struct vs_engine_request *r, const char *path, struct places *p,
                       struct vs_diag *diag)
{
    struct vs_symbols *symbols = NULL;
    int e = r->place_count ? vs_symbols_open(&symbols, path, diag) : 0;

    for (size_t i = 0; e == 0 && i < r->place_count; i++)
        e = find_place(p, symbols, &r->places[i]);
    vs_symbols_close(symbols);
    return e;
}

/* A static program has all its routines in its file, so they can be looked up before it runs. */
static int check_places(const struct vs_engine_request *r, const char *path, struct vs_diag *diag)
{
    struct vs_symbols *symbols = NULL;
    int e = r->place_count ? vs_symbols_open(&symbols, path, diag) : 0;

    for (size_t i = 0; e == 0 && i < r->place_count; i++) {
        const struct vs_place *place = &r->places[i];

        if (!vs_place_is_address(place) && !vs_symbols_find(symbols, place->name, NULL))
            e = vs_diag_set(diag, -VSE_NOTFOUND, -1, -1,
                            "no routine '%.100s' in the program; 'nm -C' lists what there is",
                            place->name);
    }
    vs_symbols_close(symbols);
    return e;
}

/* ---- the row --------------------------------------------------------------------------------- */

static int check(const struct vs_engine_request *r, uint32_t *features, struct vs_diag *diag)
{
    const struct vs_simulator_settings *settings = r->settings;
    char path[PATH_MAX];
    int e = vs_find_program(r->argv[0], path, sizeof(path));

    if (e < 0)
        return vs_diag_set(diag, e, -1, -1, "no such program");
    for (size_t i = 0; i < r->place_count; i++)
        if (r->places[i].kind == VS_PLACE_WANTED)
            return vs_diag_set(diag, -VSE_INVAL, -1, -1,
                               "the simulator does not filter by --routine; use --from and --to");
    if (r->inputs)
        return vs_diag_set(diag, -VSE_INVAL, -1, -1,
                           "the simulator records everything; --inputs is for native programs");
    if ((e = vs_process_check(path, diag)) < 0 || (e = check_places(r, path, diag)) < 0)
        return e;
    if (settings->config.timed)
        *features |= VS_RUN_TIMED;
    return 0;
}

static int tick(void *context, const struct vs_machine_stats *stats)
{
    const struct vs_engine_request *r = context;

    return r->tick ? r->tick(r->context, stats->recorded) : 0;
}

static void take_result(struct vs_engine_result *r, const struct vs_machine_result *result)
{
    r->instructions = result->stats.recorded;
    r->skipped = result->stats.skipped;
    r->events = result->stats.events;
    r->cycles = result->stats.cycles;
    r->threads = result->stats.threads;
    r->programs = 1;
    r->status = result->status;
    r->ended = result->end == VS_END_EXIT;
    r->halted = result->end == VS_END_DEADLOCK || result->end == VS_END_MEMORY;
    r->interrupted = result->interrupted || result->end == VS_END_INTERRUPTED;
    r->stopped = result->stopped;
    r->seconds = result->seconds;
}

/* The arguments of a program that was started from the folder of its file. The array has to be
 * freed; NULL: no memory. */
static char **arguments_as(const struct vs_engine_request *r, char *started, size_t capacity)
{
    size_t n = 0;
    while (r->argv[n])
        n++;
    char **argv = calloc(n + 1, sizeof(*argv));
    if (!argv)
        return NULL;
    memcpy(argv, r->argv, n * sizeof(*argv));
    snprintf(started, capacity, ".%s", strrchr(r->as, '/'));
    argv[0] = started;
    return argv;
}

static int run(const struct vs_engine_request *r, struct vs_engine_result *result,
               struct vs_diag *diag, bool *theirs)
{
    const struct vs_simulator_settings *settings = r->settings;
    char path[PATH_MAX];
    struct vs_machine_options o = {
        .config = settings->config,
        .process = {.path = path, .exe = r->as, .argv = r->argv, .envp = settings->env},
        .consumer = r->consumer,
        .loads = r->loads,
        .stores = r->stores,
        .windows = r->windows,
        .window_count = r->window_count,
        .marks = r->marks,
        .interrupt = r->interrupt,
        .tick = tick,
        .context = (void *)(uintptr_t)r,
    };
    struct places places = {0};
    char started[PATH_MAX + 2];
    char **argv = NULL;
    int e = vs_find_program(r->argv[0], path, sizeof(path));

    *result = (struct vs_engine_result){.details = calloc(1, sizeof(struct vs_machine_result))};
    *theirs = false;
    if (e == 0 && !result->details)
        e = -VSE_NOMEM;
    if (e == 0 && r->as && !(o.process.argv = argv = arguments_as(r, started, sizeof(started))))
        e = -VSE_NOMEM;
    if (e == 0 && r->as)
        o.process.started = started;
    if (e == 0)
        e = find_places(r, path, &places, diag);
    if (e == 0) {
        o.places = places.list;
        o.place_count = places.count;
        e = vs_machine_run(&o, result->details, diag, theirs);
    }
    if (e == 0)
        take_result(result, result->details);
    free(places.list);
    free(argv);
    return e;
}

const struct vs_engine vs_engine_simulator = {
    .name = "sim",
    .isa = VS_TARGET_ISA,
    .fits = fits,
    .check = check,
    .run = run,
};
