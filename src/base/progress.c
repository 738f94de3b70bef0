/* SPDX-License-Identifier: MIT */
#include "base/progress.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
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

static void draw(struct vs_progress *p, uint64_t done, double seconds)
{
    char line[512], count[16], total[16], speed[16], left[16];
    double rate = (double)done / seconds;
    format_si(count, sizeof(count), (double)done);
    format_si(speed, sizeof(speed), rate);
    if (p->total) {
        if (done > p->total)
            done = p->total;
        format_si(total, sizeof(total), (double)p->total);
        format_time(left, sizeof(left), (double)(p->total - done) / rate);
        snprintf(line, sizeof(line), "%.20s: %5.1f%%  %s of %s %.10s  %s/s  ETA %s", p->what,
                 (double)done / (double)p->total * 100, count, total, p->unit, speed, left);
    } else {
        snprintf(line, sizeof(line), "%.20s: %s %.10s  %s/s", p->what, count, p->unit, speed);
    }
    if (p->more) {
        size_t len = strlen(line);

        snprintf(line + len, sizeof(line) - len, "  %s", p->more);
    }
    vs_oneline(line);
    /* The last column stays free: some terminals wrap as soon as it is filled. */
    fprintf(p->out, "\r%.*s\033[K", columns(p->out) - 1, line);
    fflush(p->out);
    p->drawn = true;
}

/* It could not clear the line. */
static bool is_dumb(void)
{
    const char *terminal = getenv("TERM");
    return terminal && !strcmp(terminal, "dumb");
}

void vs_progress_init(struct vs_progress *p, FILE *out, const char *what, uint64_t total,
                      const char *unit)
{
    *p = (struct vs_progress){.what = what, .unit = unit, .total = total};
    if (!out || !isatty(fileno(out)) || is_dumb())
        return;
    p->out = out;
    p->start = now();
    p->due = p->start + INTERVAL;
}

void vs_progress_tick(struct vs_progress *p, uint64_t done)
{
    int64_t t = now();
    if (t < p->due)
        return;
    p->due = t + INTERVAL;
    draw(p, done, (double)(t - p->start) / SECOND);
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
