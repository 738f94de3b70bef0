/* SPDX-License-Identifier: MIT */
/* Parameters by name: a table says which members of a struct they are and what values they take.
 * Command lines, configuration files and the headers of port streams set them; listings and
 * documentation print them. Every parameter is a uint64_t. */
#ifndef BASE_PARAMETER_H
#define BASE_PARAMETER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vestige/error.h"

/* A table ends with a row without a name. */
struct vs_parameter {
    const char *name;
    size_t offset;            /* in the struct */
    uint64_t min, max;        /* of a number */
    bool power;               /* 0 or a power of two */
    const char *const *words; /* of an enumeration, by value, ended by NULL; else NULL */
    const char *help;
};

uint64_t vs_parameter_get(const struct vs_parameter *p, const void *values);

/* Sets the parameter of that name: a number as vs_number reads it, or a word. Returns 0;
 * -VSE_NOTFOUND (no such parameter); -VSE_INVAL (no such value); diag says what is allowed. */
int vs_parameter_set(const struct vs_parameter *table, void *values, const char *name,
                     const char *value, struct vs_diag *diag);

/* Writes the value and a NUL, in the form that vs_parameter_set takes. */
#define VS_PARAMETER_TEXT 32
void vs_parameter_text(const struct vs_parameter *p, const void *values,
                       char out[VS_PARAMETER_TEXT]);

/* Writes "name=value name=value ..." with a NUL. Returns its length; -VSE_LIMIT. */
int vs_parameters_text(const struct vs_parameter *table, const void *values, char *out,
                       size_t capacity);

#endif
