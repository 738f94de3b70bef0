/* SPDX-License-Identifier: MIT */
#include "front/simulation.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "front/core_facts.h"
#include "front/recording.h"
#include "isa/isa.h"

bool simulation_offer_preset(unsigned number, char word[OPTION_WORD])
{
    const char *name = vs_target_presets[number];
    if (name)
        snprintf(word, OPTION_WORD, "%s", name);
    return name;
}

bool simulation_offer_parameter(unsigned number, char word[OPTION_WORD])
{
    const char *name = vs_target_parameters[number].name;
    if (name)
        snprintf(word, OPTION_WORD, "%s=", name);
    return name;
}

bool simulation_asked(const struct simulation_options *o)
{
    return o->cores || o->seed || o->timed || o->check || o->preset || o->config || o->set.count ||
           o->env.count;
}

static int set_one(struct vs_target_config *config, const char *text, struct vs_diag *diag)
{
    const char *equals = strchr(text, '=');
    char name[64];

    if (!equals || equals == text || (size_t)(equals - text) >= sizeof(name))
        return vs_diag_set(diag, -VSE_INVAL, -1, -1, "--set takes NAME=VALUE, not '%.80s'", text);
    snprintf(name, sizeof(name), "%.*s", (int)(equals - text), text);
    return vs_target_config_set(config, name, equals + 1, diag);
}

int simulation_config(const struct simulation_options *o, struct vs_target_config *config,
                      struct vs_diag *diag)
{
    int e;

    for (size_t i = 0; i < o->env.count; i++)
        if (!*o->env.items[i] || *o->env.items[i] == '=')
            return vs_diag_set(diag, -VSE_INVAL, -1, -1,
                               "--env takes NAME or NAME=VALUE, not '%.40s'", o->env.items[i]);
    if (vs_target_config_init(config, o->preset ? o->preset : vs_target_presets[0]) < 0)
        return vs_diag_set(diag, -VSE_INVAL, -1, -1, "no preset '%.40s'; there are: %s, %s, %s",
                           o->preset, vs_target_presets[0], vs_target_presets[1],
                           vs_target_presets[2]);
    if (o->config && (e = vs_target_config_load(config, o->config, diag)) < 0)
        return e;
    for (size_t i = 0; i < o->set.count; i++)
        if ((e = set_one(config, o->set.items[i], diag)) < 0)
            return e;
    if (o->cores)
        config->cores = o->cores;
    if (o->seed)
        config->seed = o->seed;
    if (o->timed || o->check)
        config->timed = 1;
    if (o->check)
        config->check = 1;
    return vs_target_config_check(config, diag);
}

static char *variable(const char *text)
{
    const char *value = strchr(text, '=') ? NULL : getenv(text);
    char *made;

    if (strchr(text, '='))
        return strdup(text);
    return asprintf(&made, "%s=%s", text, value ? value : "") < 0 ? NULL : made;
}

char **simulation_env(const struct simulation_options *o)
{
    char **env = calloc(o->env.count + 1, sizeof(*env));

    for (size_t i = 0; env && i < o->env.count; i++)
        if (!(env[i] = variable(o->env.items[i]))) {
            simulation_free_env(env);
            return NULL;
        }
    return env;
}

void simulation_free_env(char **env)
{
    for (char **v = env; v && *v; v++)
        free(*v);
    free(env);
}

/* Writes "thread 1 at 0x12345 in futex on core 0", as far as this is known. */
static void name_place(const struct vs_machine_halt *at, char *text, size_t capacity)
{
    const char *call = at->in_call ? vs_isa_call_name(vs_isa_find(VS_TARGET_ISA), at->call) : NULL;
    char core[24] = "";

    if (at->core >= 0)
        snprintf(core, sizeof(core), " on core %d", at->core);
    snprintf(text, capacity, "thread %u at 0x%" PRIx64 "%s%s%s", at->thread, at->pc,
             call ? " in " : "", call ? call : "", core);
}

const char *simulation_incomplete(const struct vs_machine_result *result,
                                  char text[SIMULATION_TEXT])
{
    char place[80];

    name_place(&result->halt, place, sizeof(place));
    switch (result->end) {
    case VS_END_DEADLOCK:
        snprintf(text, SIMULATION_TEXT, "every thread waits for another, %s: stopped", place);
        return text;
    case VS_END_MEMORY:
        snprintf(text, SIMULATION_TEXT,
                 "the program touched more than %" PRIu64 " MiB of memory, the last at 0x%" PRIx64
                 " by %s: stopped; --set memory=MIB gives it more",
                 result->memory, result->halt.addr, place);
        return text;
    case VS_END_INTERRUPTED:
        return "interrupted";
    default:
        return result->interrupted ? "interrupted" : NULL;
    }
}

int simulation_status(const struct vs_machine_result *result)
{
    switch (result->end) {
    case VS_END_DEADLOCK:
        return CLI_BAD_DATA;
    case VS_END_MEMORY:
        return CLI_USAGE;
    default:
        return recording_status(result->status);
    }
}

void simulation_notes(const struct vs_machine_result *result)
{
    for (size_t i = 0; i < result->unsupported_count; i++) {
        const struct vs_unsupported *u = &result->unsupported[i];
        const char *name = vs_isa_call_name(vs_isa_find(VS_TARGET_ISA), u->number);

        recording_tell("system call %s (%" PRIu64 ") at 0x%" PRIx64
                       " is not supported; it failed with ENOSYS%s",
                       name ? name : "?", u->number, u->pc, u->times > 1 ? ", several times" : "");
    }
}

void simulation_summary(const struct vs_machine_result *result, bool timed)
{
    const struct vs_machine_stats *s = &result->stats;
    char digits[32];

    if (timed)
        recording_tell("%s cycles on %u core%s, %.3f instructions per cycle",
                       group_digits(digits, s->cycles), s->cores, s->cores == 1 ? "" : "s",
                       s->cycles ? (double)s->instructions / (double)s->cycles : 0);
    simulation_notes(result);
}

/* ---- facts ----------------------------------------------------------------------------------- */

int simulation_facts(const struct vs_machine_stats *stats, bool timed,
                     int (*put)(void *context, const char *key, const char *value), void *context)
{
    char text[CORE_FACT_MAX], key[16];
    int e;

    snprintf(text, sizeof(text), "%u", stats->cores);
    if ((e = put(context, "cores", text)) < 0 || !timed)
        return e;
    snprintf(text, sizeof(text), "%" PRIu64, stats->cycles);
    if ((e = put(context, "cycles", text)) < 0)
        return e;
    for (unsigned i = 0; i < stats->cores; i++) {
        core_fact_key(key, i);
        core_fact_write(text, &stats->core[i]);
        if ((e = put(context, key, text)) < 0)
            return e;
    }
    return 0;
}
