/* SPDX-License-Identifier: MIT */
/* How much of the addresses that a run accesses is known from those before.
 *
 * Hit rates, on the bits of addresses above SHIFT:
 *   history   of the most recent distinct addresses of the core, whatever instruction's
 *   table     of those that the same instruction accessed before: the table of DAC, 4-way, indexed
 *             by the pc (model/adac.h)
 * Each core has its own. Every load and store is an access.
 *
 * Filtering: the addresses that a debugger computes from registers that it knows, by their form;
 * that is technique daFilter, with whole addresses and with the code of daNX for the others.
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
    bool filtered; /* the code is of an ISA that is known: */
    struct vs_address_counts filter;
    uint64_t plain_bits, nexus_bits; /* of the stream, by the code of what is sent */
};

/* All figures of a run, which is read from its first event on, up to three times; progress, unless
 * it is NULL, counts the events of the first. Returns 0; -VSE_NOMEM; -VSE_INVAL (an event of a core
 * that there is not); as vs_bandwidth_run and vs_reader_next. */
int vs_locality_run(struct vs_locality_figures *figures, struct vs_reader *reader,
                    struct vs_progress *progress, struct vs_diag *diag);

/* Adds a run's figures to a sum, which is zeroed at first. The sum is filtered if all runs are. */
void vs_locality_add(struct vs_locality_figures *sum, const struct vs_locality_figures *f);

#endif
