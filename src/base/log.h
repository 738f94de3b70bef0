/* SPDX-License-Identifier: MIT */
/* Messages by level and domain. There is no global log: whoever logs is handed a struct vs_log, and
 * NULL means silence. Messages go to the caller's sink; nothing here prints.
 *
 * Once configured a log is only read, so threads may share it if its sink allows that. */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdbool.h>

enum vs_log_level {
    VS_LOG_ERROR,
    VS_LOG_WARN,
    VS_LOG_INFO,
    VS_LOG_DEBUG,
};

#define VS_LOG_DOMAINS    8   /* domains with a level of their own */
#define VS_LOG_DOMAIN_MAX 16  /* bytes of a domain's name with its NUL */
#define VS_LOG_TEXT_MAX   512 /* bytes of a message with its NUL; the rest is cut off */

/* Gets one line of text without a newline and without control characters. */
typedef void vs_log_sink(void *ctx, int level, const char *domain, const char *text);

struct vs_log {
    vs_log_sink *sink;
    void *ctx;
    int level;   /* of domains that are not listed */
    int highest; /* no domain has a higher one */
    unsigned count;
    struct {
        char name[VS_LOG_DOMAIN_MAX];
        int level;
    } domains[VS_LOG_DOMAINS];
};

/* Errors and warnings of all domains. */
void vs_log_init(struct vs_log *log, vs_log_sink *sink, void *ctx);

/* Changes levels as told by a comma-separated list: "level" for all domains that are not listed,
 * "domain=level" for one. The levels are error, warn, info and debug; each includes those before
 * it. What comes later wins; an empty list changes nothing. 0, or -VSE_INVAL with nothing changed:
 * an unknown level, an empty, long or malformed item, too many domains. */
int vs_log_configure(struct vs_log *log, const char *spec);

/* The level's name, "warn"; "?" for a number that is none. */
const char *vs_log_level_name(int level);

/* The level of a domain. */
int vs_log_level_of(const struct vs_log *log, const char *domain);

/* Whether a message would reach the sink: cheap, for messages that are costly to make. */
static inline bool vs_log_on(const struct vs_log *log, int level, const char *domain)
{
    return log && level <= log->highest && level <= vs_log_level_of(log, domain);
}

void vs_log(const struct vs_log *log, int level, const char *domain, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

#endif
