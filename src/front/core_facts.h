/* SPDX-License-Identifier: MIT */
/* What each core of the simulated platform counted: as the fact "core.N" of a run, and for the
 * user. */
#ifndef FRONT_CORE_FACTS_H
#define FRONT_CORE_FACTS_H

#include "front/json.h"
#include "front/out.h"
#include "target/machine.h"

#define CORE_FACT_MAX 1024

/* The fact's key, and whether a key is one of those. */
void core_fact_key(char key[16], unsigned core);
bool core_fact_is(const char *key);

/* Writes "name=number name=number ..." with a NUL. */
void core_fact_write(char text[CORE_FACT_MAX], const struct vs_machine_core *core);

/* A table with a row for each core and one for all. */
void core_facts_text(struct out *o, const struct vs_machine_core *cores, unsigned count,
                     uint64_t cycles);

/* An array "cores" of objects with the names as in the fact. */
void core_facts_json(struct json *j, const struct vs_machine_core *cores, unsigned count);

/* The statistics in a run's facts, if it has any. Returns the number of cores read, at most
 * VS_CORES_MAX; 0 if there are none. */
unsigned core_facts_of_run(const struct vs_reader *r, struct vs_machine_core *cores,
                           uint64_t *cycles);

#endif
