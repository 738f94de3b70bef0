/* SPDX-License-Identifier: MIT */
/* Numbers as people write them, the same in every option, parameter and file of settings. */
#ifndef BASE_NUMBER_H
#define BASE_NUMBER_H

#include <stdint.h>

/* Reads [s, end): decimal or 0x..., which may end in K, M or G; these are powers of 1024, as are
 * Ki, Mi, Gi and KiB, MiB, GiB. (KB is refused: to some it is 1000.) Returns NULL, or a
 * phrase that says what is wrong and follows the text in a message. */
const char *vs_number(const char *s, const char *end, uint64_t *number);

#endif
