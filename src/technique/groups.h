/* SPDX-License-Identifier: MIT */
/* The Nexus standard's variable code: a number in groups of bits, the least significant first,
 * without leading groups of zeros. A header of 2 bits precedes each group: 3 for the last one, 0
 * for the others. */
#ifndef TECHNIQUE_GROUPS_H
#define TECHNIQUE_GROUPS_H

#include <stdint.h>

#include "port/framing.h"

/* A group has 1 to 64 bits. */
void vs_groups_put(struct vs_port_writer *port, enum vs_field f, unsigned group, uint64_t v);

/* Returns as vs_port_get. An unknown header, a last group of zeros and more bits than `width` are
 * corrupt too. */
int vs_groups_get(struct vs_port_reader *port, enum vs_field f, unsigned group, unsigned width,
                  uint64_t *v);

#endif
