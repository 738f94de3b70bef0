/* SPDX-License-Identifier: MIT */
/* How far the addresses that a run accesses are known from earlier ones.
 *
 * Hit rates, for the bits of addresses above SHIFT:
 *   history   among the core's most recent distinct addresses, whichever instruction accessed them
 *   table     among those that the same instruction accessed before: DAC's table, which has 4 ways
 *             and is indexed by the pc (model/adac.h)
 * Each core has its own history and table. Every load and store is an access.
 *
 * Filtering: the addresses that a debugger computes from registers that it knows, by their form.
 * This is the technique daFilter, which sends the other addresses whole or in daNX's code.
 */
#ifndef STUDY_LOCALITY_H
#define STUDY_LOCALITY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/progress.h"
#include "technique/address.h"
#include "vestige/run.h"

enum { VS_LOCALITY_SHIFTS = 3, VS_LOCALITY_SIZES = 3, VS_LOCALITY_WAYS = 4 };

extern const uint8_t vs_locality_shifts[VS_LOCALITY_SHIFTS]; /* 0, 4, 8 */
extern const uint8_t vs_locality_history[VS_LOCALITY_SIZES]; /* addresses: 16, 32, 64 */
extern const uint8_t vs_locality_table[VS_LOCALITY_SIZES];   /* entries: 32, 64, 128 */

struct vs_locality_figures {
    uint64_t instructions, loads, stores;
    uint64_t history[VS_LOCALITY_SIZES][VS_LOCALITY_SHIFTS]; /* hits */
    uint64_t table[VS_LOCALITY_SIZES][VS_LOCALITY_SHIFTS];
    bool filtered; /* the ISA is known, and what follows is set: */
    struct vs_address_counts filter;
    uint64_t plain_bits, nexus_bits; /* the stream's: with whole addresses, and with daNX's code */
};

/* Fills in all of a run's figures. The run is read from its first event on, up to three times;
 * progress, which may be NULL, counts the first pass's events. Returns 0; -VSE_NOMEM; -VSE_INVAL
 * (an event's core does not exist); as vs_bandwidth_run and vs_reader_next. */
int vs_locality_run(struct vs_locality_figures *figures, struct vs_reader *reader,
                    struct vs_progress *progress, struct vs_diag *diag);

/* Adds a run's figures to a sum, which starts out zeroed. The sum is filtered if all runs are. */
void vs_locality_add(struct vs_locality_figures *sum, const struct vs_locality_figures *f);

#endif
