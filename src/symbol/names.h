/* SPDX-License-Identifier: MIT */
/* What a symbol's name means. */
#ifndef SYMBOL_NAMES_H
#define SYMBOL_NAMES_H

#include <stdbool.h>

/* Whether a user who asks for `wanted` means the symbol `name`; vs_symbols_find has the rules. */
bool vs_name_matches(const char *name, const char *wanted);

#endif
