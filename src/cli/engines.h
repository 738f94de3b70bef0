/* SPDX-License-Identifier: MIT */
/* The engines, as `vestige record` sees them. To add an engine, add a file with its row and an
 * entry in ENGINES. */
#ifndef CLI_ENGINES_H
#define CLI_ENGINES_H

#include "engine/engine.h"
#include "front/simulation.h"

/* The engines' rows, engine_<name>, and what each is for, which the help says. The first takes the
 * programs that none of the others takes. */
#define ENGINES(row) row(valgrind, "native x86-64 programs; ") row(sim, "static RV64\nprograms")

/* Those options of `vestige record` that are for one engine alone. */
struct engine_options {
    struct simulation_options simulation;
};
#define ENGINE_OPTIONS(base)                                                                       \
    SIMULATION_OPTIONS((base) + offsetof(struct engine_options, simulation))

enum { ENGINE_TEXT = 256 };

/* Where a function is NULL, the engine has nothing to say. */
struct engine_row {
    const struct vs_engine *engine;
    const char *own; /* its own options, in words; NULL if it has none */
    bool (*asked)(const struct engine_options *o); /* whether any of those was given */
    /* Makes the engine's settings, which unsettle frees; unsettle accepts NULL. Returns 0; an
     * error, with diag. */
    int (*settle)(const struct engine_options *o, void **settings, struct vs_diag *diag);
    void (*unsettle)(void *settings);
    /* Adds the settings, in words, to the fact "config". */
    void (*config)(const void *settings, void (*add)(void *context, const char *word),
                   void *context);

    /* About a result: */
    int (*status)(const struct vs_engine_result *r); /* what we exit with */
    const char *(*incomplete)(const struct vs_engine_result *r, char text[ENGINE_TEXT]);
    int (*facts)(const struct vs_engine_result *r, bool timed, struct vs_writer *w);
    void (*summary)(const struct vs_engine_result *r, bool timed); /* lines for the user */
};

#define ENGINE_ROW(name, what) extern const struct engine_row engine_##name;
ENGINES(ENGINE_ROW)
#undef ENGINE_ROW

/* The rows in the order of ENGINES, ended by NULL. */
extern const struct engine_row *const engine_rows[];

/* The engine of that name or, if `name` is NULL, the one for the program. Returns NULL if no engine
 * has that name. */
const struct engine_row *engine_choose(const char *name, const char *program);

/* Engines by number, for a table of options. */
bool engine_offer(unsigned number, char word[OPTION_WORD]);

#endif
