/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>

#include "base/diag.h"
#include "cli/engines.h"
#include "target/simulator.h"

static bool asked(const struct engine_options *o)
{
    return simulation_asked(&o->simulation);
}

static void unsettle(void *settings)
{
    struct vs_simulator_settings *s = settings;

    if (s)
        simulation_free_env(s->env);
    free(s);
}

static int settle(const struct engine_options *o, void **settings, struct vs_diag *diag)
{
    struct vs_simulator_settings *s = calloc(1, sizeof(*s));

    *settings = s;
    if (!s || !(s->env = simulation_env(&o->simulation)))
        return vs_diag_set(diag, -VSE_NOMEM, -1, -1, "out of memory");
    return simulation_config(&o->simulation, &s->config, diag);
}

/* Adds all of the platform's parameters. */
static void config(const void *settings, void (*add)(void *context, const char *word),
                   void *context)
{
    const struct vs_simulator_settings *s = settings;

    for (const struct vs_parameter *p = vs_target_parameters; p->name; p++) {
        char value[VS_PARAMETER_TEXT], word[VS_PARAMETER_TEXT + 64];

        vs_parameter_text(p, &s->config, value);
        snprintf(word, sizeof(word), "%s=%s", p->name, value);
        add(context, word);
    }
}

_Static_assert((int)ENGINE_TEXT >= (int)SIMULATION_TEXT, "why a run is incomplete fits");

static int status(const struct vs_engine_result *r)
{
    return simulation_status(r->details);
}

static const char *incomplete(const struct vs_engine_result *r, char text[ENGINE_TEXT])
{
    return simulation_incomplete(r->details, text);
}

static int put_fact(void *context, const char *key, const char *value)
{
    return vs_writer_meta(context, key, value);
}

static int facts(const struct vs_engine_result *r, bool timed, struct vs_writer *w)
{
    const struct vs_machine_result *result = r->details;

    return simulation_facts(&result->stats, timed, put_fact, w);
}

static void summary(const struct vs_engine_result *r, bool timed)
{
    simulation_summary(r->details, timed);
}

const struct engine_row engine_sim = {
    .engine = &vs_engine_simulator,
    .own = "--cores, --timed, --preset, --platform, --set, --seed, --env and --check-coherence",
    .asked = asked,
    .settle = settle,
    .unsettle = unsettle,
    .config = config,
    .status = status,
    .incomplete = incomplete,
    .facts = facts,
    .summary = summary,
};
