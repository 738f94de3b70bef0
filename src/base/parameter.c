/* SPDX-License-Identifier: MIT */
#include "base/parameter.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "base/number.h"

uint64_t vs_parameter_get(const struct vs_parameter *p, const void *values)
{
    return *(const uint64_t *)((const char *)values + p->offset);
}

static bool parse_word(const char *const *words, const char *text, uint64_t *number)
{
    for (*number = 0; words[*number]; ++*number)
        if (!strcmp(words[*number], text))
            return true;
    return false;
}

static int no_parameter(const struct vs_parameter *table, const char *name, struct vs_diag *diag)
{
    char list[128] = "";
    for (const struct vs_parameter *p = table; p->name; p++)
        vs_list_word(list, sizeof(list), p->name);
    return vs_diag_set(diag, -VSE_NOTFOUND, -1, -1, "no parameter '%.40s'; there are: %s", name,
                       *list ? list : "none");
}

static int no_word(const struct vs_parameter *p, const char *value, struct vs_diag *diag)
{
    char list[96] = "";
    for (size_t i = 0; p->words[i]; i++)
        vs_list_word(list, sizeof(list), p->words[i]);
    return vs_diag_set(diag, -VSE_INVAL, -1, -1, "%s is one of %s, not '%.40s'", p->name, list,
                       value);
}

int vs_parameter_set(const struct vs_parameter *table, void *values, const char *name,
                     const char *value, struct vs_diag *diag)
{
    const struct vs_parameter *p = table;
    uint64_t number;
    while (p->name && strcmp(p->name, name))
        p++;
    if (!p->name)
        return no_parameter(table, name, diag);
    if (p->words) {
        if (!parse_word(p->words, value, &number))
            return no_word(p, value, diag);
    } else if (vs_number(value, value + strlen(value), &number) || number < p->min ||
               number > p->max) {
        return vs_diag_set(diag, -VSE_INVAL, -1, -1,
                           "%s is a number from %" PRIu64 " to %" PRIu64 ", not '%.40s': %s",
                           p->name, p->min, p->max, value, p->help);
    } else if (p->power && number & (number - 1)) {
        return vs_diag_set(diag, -VSE_INVAL, -1, -1, "%s is a power of two, not %" PRIu64, p->name,
                           number);
    }
    memcpy((char *)values + p->offset, &number, sizeof(number));
    return 0;
}

void vs_parameter_text(const struct vs_parameter *p, const void *values,
                       char out[VS_PARAMETER_TEXT])
{
    uint64_t value = vs_parameter_get(p, values);
    if (p->words)
        snprintf(out, VS_PARAMETER_TEXT, "%s", p->words[value]);
    else
        snprintf(out, VS_PARAMETER_TEXT, "%" PRIu64, value);
}

int vs_parameters_text(const struct vs_parameter *table, const void *values, char *out,
                       size_t capacity)
{
    size_t used = 0;
    if (!capacity)
        return -VSE_LIMIT;
    *out = 0;
    for (const struct vs_parameter *p = table; p->name; p++) {
        char value[VS_PARAMETER_TEXT];
        vs_parameter_text(p, values, value);
        int n = snprintf(out + used, capacity - used, "%s%s=%s", used ? " " : "", p->name, value);
        if (n < 0 || (size_t)n >= capacity - used)
            return -VSE_LIMIT;
        used += (size_t)n;
    }
    return (int)used;
}
