/* SPDX-License-Identifier: MIT */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"

static const char *const names[] = {
    [VS_LOG_ERROR] = "error",
    [VS_LOG_WARN] = "warn",
    [VS_LOG_INFO] = "info",
    [VS_LOG_DEBUG] = "debug",
};

enum { LEVELS = sizeof(names) / sizeof(names[0]) };

void vs_log_init(struct vs_log *log, vs_log_sink *sink, void *ctx)
{
    *log = (struct vs_log){.sink = sink, .ctx = ctx, .level = VS_LOG_WARN, .highest = VS_LOG_WARN};
}

static int set_domain(struct vs_log *log, const char *name, size_t length, int level)
{
    if (!length || length >= VS_LOG_DOMAIN_MAX)
        return -VSE_INVAL;
    unsigned i = 0;
    while (i < log->count &&
           (strlen(log->domains[i].name) != length || memcmp(log->domains[i].name, name, length)))
        i++;
    if (i == VS_LOG_DOMAINS)
        return -VSE_INVAL;
    if (i == log->count) {
        memcpy(log->domains[i].name, name, length);
        log->count++;
    }
    log->domains[i].level = level;
    return 0;
}

static int set_item(struct vs_log *log, const char *item, size_t length)
{
    const char *equals = memchr(item, '=', length);
    const char *word = equals ? equals + 1 : item;
    size_t rest = length - (size_t)(word - item);
    int level = 0;
    while (level < LEVELS && (strlen(names[level]) != rest || memcmp(names[level], word, rest)))
        level++;
    if (level == LEVELS)
        return -VSE_INVAL;
    if (equals)
        return set_domain(log, item, (size_t)(equals - item), level);
    log->level = level;
    return 0;
}

int vs_log_configure(struct vs_log *log, const char *spec)
{
    struct vs_log made = *log;
    const char *end = spec;
    for (const char *item = spec; *end; item = end + 1) {
        end = strchrnul(item, ',');
        int rc = set_item(&made, item, (size_t)(end - item));
        if (rc)
            return rc;
    }
    made.highest = made.level;
    for (unsigned i = 0; i < made.count; i++)
        if (made.domains[i].level > made.highest)
            made.highest = made.domains[i].level;
    *log = made;
    return 0;
}

const char *vs_log_level_name(int level)
{
    return level >= 0 && level < LEVELS ? names[level] : "?";
}

int vs_log_level_of(const struct vs_log *log, const char *domain)
{
    for (unsigned i = 0; i < log->count; i++)
        if (!strcmp(log->domains[i].name, domain))
            return log->domains[i].level;
    return log->level;
}

void vs_log(const struct vs_log *log, int level, const char *domain, const char *fmt, ...)
{
    if (!vs_log_on(log, level, domain))
        return;
    char text[VS_LOG_TEXT_MAX];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    vs_oneline(text);
    log->sink(log->ctx, level, domain, text);
}
