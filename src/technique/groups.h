/* SPDX-License-Identifier: MIT */
/* The variable code of the Nexus standard: a number in groups of bits, the least significant first,
 * without those that lead with zeros. Each group has a header of 2 bits before it, 3 for the last
 * one and 0 for others. */
#ifndef TECHNIQUE_GROUPS_H
#define TECHNIQUE_GROUPS_H

#include <stdint.h>

#include "port/framing.h"

/* group: 1 to 64 bits. */
void vs_groups_put(struct vs_port_writer *port, enum vs_field f, unsigned group, uint64_t v);

/* As vs_port_get; also corrupt: a header that there is not, a last group of zeros, more bits than
 * `width`. */
int vs_groups_get(struct vs_port_reader *port, enum vs_field f, unsigned group, unsigned width,
                  uint64_t *v);

#endif
