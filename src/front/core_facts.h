/* SPDX-License-Identifier: MIT */
/* What each core of the simulated platform counted: as the fact "core.N" of a run, and for the
 * user. */
#ifndef FRONT_CORE_FACTS_H
#define FRONT_CORE_FACTS_H

#include "front/report.h"
#include "target/machine.h"

#define CORE_FACT_MAX 1024

/* The fact's key, and whether a key is one of those. */
void core_fact_key(char key[16], unsigned core);
bool core_fact_is(const char *key);

/* Writes "name=number name=number ..." with a NUL. */
void core_fact_write(char text[CORE_FACT_MAX], const struct vs_machine_core *core);

/* The cores, as a row of a report has them; in JSON under the names of the fact. */
struct core_facts {
    const struct vs_machine_core *cores;
    unsigned count;
};
extern const struct report_rows core_fact_rows;
extern const struct report_column core_fact_columns[];

/* A table with a row for each core and one for all, which took so many cycles. */
void core_facts_text(struct out *o, const struct core_facts *facts, uint64_t cycles);

/* The statistics in a run's facts, if it has any. Returns the number of cores read, at most
 * VS_CORES_MAX; 0 if there are none. */
unsigned core_facts_of_run(const struct vs_reader *r, struct vs_machine_core *cores,
                           uint64_t *cycles);

#endif
