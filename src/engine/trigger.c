/* SPDX-License-Identifier: MIT */
#include "engine/trigger.h"

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"

#define SIGNALS   64
#define LONG_TIME 1e9

/* The number of a signal by its name, with or without SIG, or by its number; 0 if there is none. */
static int signal_number(const char *text)
{
    const char *name = strncmp(text, "SIG", 3) ? text : text + 3;
    char *end;
    long number = strtol(text, &end, 10);

    if (*text && !*end)
        return number > 0 && number <= SIGNALS ? (int)number : 0;
    for (int i = 1; i <= SIGNALS; i++)
        if (sigabbrev_np(i) && !strcmp(sigabbrev_np(i), name))
            return i;
    return 0;
}

static bool parse_exit(struct vs_trigger *t, const char *text)
{
    char *end;
    long status = strtol(text, &end, 10);

    t->kind = strcmp(text, "nonzero") ? VS_TRIGGER_EXIT : VS_TRIGGER_NONZERO;
    t->number = (int)status;
    return t->kind == VS_TRIGGER_NONZERO || (*text && !*end && status >= 0 && status <= 255);
}

static bool parse_time(struct vs_trigger *t, const char *text)
{
    char *end;

    t->kind = VS_TRIGGER_TIME;
    t->seconds = strtod(text, &end);
    return *text && !*end && t->seconds >= 0 && t->seconds < LONG_TIME;
}

static bool parse(struct vs_trigger *t, const char *text)
{
    const char *what = strchr(text, ':');
    size_t length = what ? (size_t)(what - text) : 0;

    if (!what)
        return false;
    what++;
    if (length == 4 && !strncmp(text, "exit", length))
        return parse_exit(t, what);
    if (length == 4 && !strncmp(text, "time", length))
        return parse_time(t, what);
    t->name = what;
    if (length == 7 && !strncmp(text, "routine", length)) {
        t->kind = VS_TRIGGER_ROUTINE;
        return *what;
    }
    t->kind = VS_TRIGGER_SIGNAL;
    t->number = signal_number(what);
    return length == 6 && !strncmp(text, "signal", length) && t->number;
}

int vs_trigger_parse(struct vs_trigger *t, const char *text, struct vs_diag *diag)
{
    *t = (struct vs_trigger){0};
    return parse(t, text) ? 0
                          : vs_diag_set(diag, -VSE_INVAL, -1, -1,
                                        "'%s' is not signal:NAME, exit:STATUS, exit:nonzero, "
                                        "routine:NAME or time:SECONDS",
                                        text);
}
