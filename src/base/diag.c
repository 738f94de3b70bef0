/* SPDX-License-Identifier: MIT */
#include "base/diag.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

void vs_oneline(char *text)
{
    for (unsigned char *p = (unsigned char *)text; *p; p++) {
        if (*p < 0x20 || *p == 0x7f)
            *p = '?';
        else if (p[0] == 0xc2 && p[1] >= 0x80 && p[1] <= 0x9f)
            p[0] = p[1] = '?';
    }
}

int vs_diag_set(struct vs_diag *d, int error, int64_t offset, int64_t chunk, const char *fmt, ...)
{
    if (!d)
        return error;
    struct vs_diag made = {.error = error, .offset = offset, .chunk = chunk};
    va_list args;
    va_start(args, fmt);
    vsnprintf(made.text, sizeof(made.text), fmt, args);
    va_end(args);
    vs_oneline(made.text);
    *d = made;
    return error;
}

int vs_diag_io(struct vs_diag *d, const char *verb, const char *path)
{
    char spare[64];
    const char *reason = strerror_r(errno, spare, sizeof(spare));
    size_t fixed = strlen(verb) + strlen(reason) + sizeof(" ...: ");
    size_t room = fixed < sizeof(d->text) ? sizeof(d->text) - fixed : 0;
    size_t length;

    if (!path)
        return vs_diag_set(d, -VSE_IO, -1, -1, "%s: %s", verb, reason);
    length = strlen(path);
    size_t skip = length > room ? length - room : 0;
    return vs_diag_set(d, -VSE_IO, -1, -1, "%s %s%s: %s", verb, skip ? "..." : "", path + skip,
                       reason);
}

void vs_list_word(char *list, size_t capacity, const char *word)
{
    static const char more[] = "...";
    size_t used = strlen(list);
    bool full = used + strlen(", ") + strlen(word) + strlen(", ") + sizeof(more) > capacity;
    bool cut = used >= strlen(more) && !strcmp(list + used - strlen(more), more);

    if (!cut)
        snprintf(list + used, capacity - used, "%s%s", used ? ", " : "", full ? more : word);
}
