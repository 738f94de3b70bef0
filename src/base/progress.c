/* SPDX-License-Identifier: MIT */
#include "base/progress.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "base/diag.h"

#define SECOND   INT64_C(1000000000)
#define INTERVAL (SECOND / 10)
#define COLUMNS  80

/* The coarse clock ticks every few milliseconds, enough here, and costs a quarter of the fine one.
 */
static int64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    return t.tv_sec * SECOND + t.tv_nsec;
}

/* Three significant digits and an SI prefix: "999", "1.00k", "12.3M". */
static void format_si(char *text, size_t cap, double v)
{
    static const char *const prefixes[] = {"", "k", "M", "G", "T", "P", "E"};
    size_t i = 0;
    for (; v >= 999.5 && i < sizeof(prefixes) / sizeof(prefixes[0]) - 1; i++)
        v /= 1000;
    int digits = i == 0 || v >= 99.95 ? 0 : v >= 9.995 ? 1 : 2;
    snprintf(text, cap, "%.*f%s", digits, v, prefixes[i]);
}

static void format_time(char *text, size_t cap, double seconds)
{
    if (!(seconds < 100 * 3600)) {
        snprintf(text, cap, "--:--");
        return;
    }
    unsigned s = (unsigned)(seconds + 0.5);
    if (s < 3600)
        snprintf(text, cap, "%u:%02u", s / 60, s % 60);
    else
        snprintf(text, cap, "%u:%02u:%02u", s / 3600, s / 60 % 60, s % 60);
}

static int columns(FILE *out)
{
    struct winsize size;
    if (ioctl(fileno(out), TIOCGWINSZ, &size) || !size.ws_col || size.ws_col > COLUMNS)
        return COLUMNS;
    return size.ws_col;
}

/* Per second, over the last second or so. */
static double rate_of(struct vs_progress *p, uint64_t done, int64_t time)
{
    int64_t since = p->start;
    uint64_t before = 0;
    for (unsigned i = 0; i < VS_PROGRESS_PAST; i++) {
        unsigned at = (p->next + i) % VS_PROGRESS_PAST; /* from the oldest on */
        if (!p->past[at].time)
            continue;
        if (since == p->start || time - p->past[at].time >= SECOND) {
            since = p->past[at].time;
            before = p->past[at].done;
        }
    }
    p->past[p->next].time = time;
    p->past[p->next].done = done;
    p->next = (p->next + 1) % VS_PROGRESS_PAST;
    if (done <= before || time <= since)
        return 0;
    return (double)(done - before) / ((double)(time - since) / SECOND);
}

enum part { WHAT, SHARE, COUNT, RATE, LEFT, MORE, PARTS };

/* In the order in which they are left out if there is no room. */
static const enum part dispensable[] = {MORE, RATE, COUNT, LEFT, WHAT};

enum { DISPENSABLE = sizeof(dispensable) / sizeof(dispensable[0]), PART = 128 };

/* Joins the parts to a line of at most so many columns. A part is shown whole or not at all. */
static void join(char parts[PARTS][PART], size_t columns, char *line, size_t capacity)
{
    /* If the total is unknown, the count matters most. */
    if (!parts[SHARE][0]) {
        memcpy(parts[SHARE], parts[COUNT], PART);
        parts[COUNT][0] = 0;
    }
    for (int i = 0; i <= DISPENSABLE; i++) {
        size_t length = 0;
        line[0] = 0;
        for (int part = 0; part < PARTS; part++) {
            const char *between = !length ? "" : part == SHARE ? " " : "  ";
            if (parts[part][0])
                length += (size_t)snprintf(line + length, capacity - length, "%s%s", between,
                                           parts[part]);
        }
        if (length <= columns)
            return;
        if (i < DISPENSABLE)
            parts[dispensable[i]][0] = 0;
    }
    line[0] = 0;
}

static void draw(struct vs_progress *p, uint64_t done, double rate)
{
    char parts[PARTS][PART] = {{0}}, line[PARTS * (PART + 2)], count[16], total[16], left[16];
    format_si(count, sizeof(count), (double)done);
    snprintf(parts[WHAT], PART, "%s:", p->what);
    if (p->total) {
        done = done < p->total ? done : p->total;
        format_si(total, sizeof(total), (double)p->total);
        format_time(left, sizeof(left), (double)(p->total - done) / rate);
        snprintf(parts[SHARE], PART, "%5.1f%%", (double)done / (double)p->total * 100);
        snprintf(parts[COUNT], PART, "%s of %s %s", count, total, p->unit);
        snprintf(parts[LEFT], PART, "ETA %s", left);
    } else {
        snprintf(parts[COUNT], PART, "%s %s", count, p->unit);
    }
    format_si(count, sizeof(count), rate);
    snprintf(parts[RATE], PART, "%s/s", count);
    snprintf(parts[MORE], PART, "%s", p->more ? p->more : "");
    /* The last column stays free: some terminals wrap as soon as it is filled. */
    join(parts, (size_t)columns(p->out) - 1, line, sizeof(line));
    vs_oneline(line);
    fprintf(p->out, "\r%s\033[K", line);
    fflush(p->out);
    p->drawn = true;
}

/* Whether the terminal is ours. It is not if we are in the background, or if a program has set it
 * to read keys one by one or without echo. */
static bool has_terminal(const struct vs_progress *p)
{
    int fd = fileno(p->out);
    pid_t group = tcgetpgrp(fd); /* -1: another's */
    struct termios t;
    if (group > 0 && group != getpgrp())
        return false;
    return tcgetattr(fd, &t) < 0 || (t.c_lflag & (ICANON | ECHO)) == (ICANON | ECHO);
}

/* It could not clear the line. */
static bool is_dumb(void)
{
    const char *terminal = getenv("TERM");
    return terminal && !strcmp(terminal, "dumb");
}

static void activate(struct vs_progress *p, FILE *out)
{
    p->out = out;
    p->start = now();
    p->due = p->start + INTERVAL;
}

void vs_progress_init(struct vs_progress *p, FILE *out, const char *what, uint64_t total,
                      const char *unit)
{
    *p = (struct vs_progress){.what = what, .unit = unit, .total = total};
    if (!out || !isatty(fileno(out)) || is_dumb())
        return;
    activate(p, out);
}

void vs_progress_force(struct vs_progress *p, FILE *out)
{
    activate(p, out);
    p->forced = true;
}

void vs_progress_tick(struct vs_progress *p, uint64_t done)
{
    int64_t t = now();
    if (t < p->due)
        return;
    p->due = t + INTERVAL;
    double rate = rate_of(p, done, t);
    if (p->forced || has_terminal(p))
        draw(p, done, rate);
}

void vs_progress_show(void *progress, uint64_t done, uint64_t total)
{
    struct vs_progress *p = progress;
    p->total = total;
    vs_progress_update(p, done);
}

void vs_progress_finish(struct vs_progress *p)
{
    if (!p || !p->out)
        return;
    if (p->drawn) {
        fputs("\r\033[K", p->out);
        fflush(p->out);
    }
    p->out = NULL;
}
