/* SPDX-License-Identifier: MIT */
/* Filling in a struct vs_diag. Both setters accept a NULL diag and return the error, so that the
 * usual form is `return vs_diag_set(diag, -VSE_CORRUPT, ...)`. */
#ifndef BASE_DIAG_H
#define BASE_DIAG_H

#include <stddef.h>
#include <stdint.h>

#include "vestige/error.h"

/* Stores all of it and returns `error`, which is negative. The text is cut to fit and made one
 * line by vs_oneline. The arguments may include d->text itself, to put words around it. */
int vs_diag_set(struct vs_diag *d, int error, int64_t offset, int64_t chunk, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));

/* Stores "verb path: reason" with the reason for errno, no offset and no chunk; "verb: reason" if
 * path is NULL. The start of a long path is left out rather than the reason. Returns -VSE_IO. */
int vs_diag_io(struct vs_diag *d, const char *verb, const char *path);

/* Adds a word to a list for a diag's text, a string that is "" at first. The first word that does
 * not fit is replaced by "..."; those after it are left out. */
void vs_list_word(char *list, size_t capacity, const char *word);

/* Replaces every control character by '?', in place: ASCII's, and those that UTF-8 writes as
 * C2 80 to C2 9F, which terminals obey as well. */
void vs_oneline(char *text);

#endif
