/* SPDX-License-Identifier: MIT */
/* What each of the simulated platform's cores counted, as a run's fact "core.N" and for the
 * user. */
#ifndef FRONT_CORE_FACTS_H
#define FRONT_CORE_FACTS_H

#include "front/report.h"
#include "target/machine.h"

#define CORE_FACT_MAX 1024

/* Write the key of a core's fact, and tell whether a key is one. */
void core_fact_key(char key[16], unsigned core);
bool core_fact_is(const char *key);

/* Writes "name=number name=number ..." with a NUL. */
void core_fact_write(char text[CORE_FACT_MAX], const struct vs_machine_core *core);

/* The cores as a report's row has them; in JSON they have the fact's names. */
struct core_facts {
    const struct vs_machine_core *cores;
    unsigned count;
};
extern const struct report_rows core_fact_rows;
extern const struct report_column core_fact_columns[];

/* Prints a table with a row for each core and one for all of them, which took so many cycles. */
void core_facts_text(struct out *o, const struct core_facts *facts, uint64_t cycles);

/* Reads the statistics in a run's facts. Returns the number of cores read, at most VS_CORES_MAX; 0
 * if the run has none. */
unsigned core_facts_of_run(const struct vs_reader *r, struct vs_machine_core *cores,
                           uint64_t *cycles);

#endif
