/* SPDX-License-Identifier: MIT */
#include "port/window.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"

int vs_windows_init(struct vs_windows *w, unsigned cores, uint64_t width)
{
    *w = (struct vs_windows){.width = width, .cores = cores};
    return width && cores ? 0 : -VSE_INVAL;
}

void vs_windows_fini(struct vs_windows *w)
{
    free(w->bits);
    *w = (struct vs_windows){0};
}

static int make_room(struct vs_windows *w, size_t count)
{
    size_t row = w->cores * sizeof(*w->bits);

    if (count > w->capacity) {
        size_t capacity = count > 2 * w->capacity ? count : 2 * w->capacity;
        uint64_t *p = realloc(w->bits, capacity * row);

        if (!p)
            return -VSE_NOMEM;
        w->bits = p;
        w->capacity = capacity;
    }
    invariant(w->count <= count && count <= w->capacity);
    memset(w->bits + w->count * w->cores, 0, (count - w->count) * row);
    w->count = count;
    return 0;
}

int vs_windows_add(struct vs_windows *w, unsigned core, uint64_t time, uint64_t bits)
{
    invariant(core < w->cores);
    uint64_t at = time / w->width;
    int err;

    if (at >= w->count) {
        if (at >= VS_WINDOWS_MAX / w->cores)
            return -VSE_LIMIT;
        if ((err = make_room(w, (size_t)at + 1)) < 0)
            return err;
    }
    w->bits[at * w->cores + core] += bits;
    return 0;
}

uint64_t vs_windows_bits(const struct vs_windows *w, size_t window, int core)
{
    uint64_t sum = 0;

    if (window >= w->count)
        return 0;
    if (core >= 0)
        return w->bits[window * w->cores + (unsigned)core];
    for (unsigned c = 0; c < w->cores; c++)
        sum += w->bits[window * w->cores + c];
    return sum;
}

uint64_t vs_windows_end(const struct vs_windows *w, uint64_t end)
{
    return w->count && end <= (w->count - 1) * w->width ? w->count * w->width : end;
}

double vs_windows_rate(const struct vs_windows *w, size_t window, int core, uint64_t end)
{
    uint64_t bits = vs_windows_bits(w, window, core),
             span = vs_windows_end(w, end) - window * w->width;

    return bits ? (double)bits / (double)(span < w->width ? span : w->width) : 0;
}

void vs_windows_summary(const struct vs_windows *w, int core, uint64_t end,
                        struct vs_window_summary *s)
{
    *s = (struct vs_window_summary){0};
    end = vs_windows_end(w, end);
    for (size_t i = 0; i < w->count; i++) {
        uint64_t bits = vs_windows_bits(w, i, core);

        s->bits += bits;
        if (bits > s->peak) {
            s->peak = bits;
            s->peak_at = i;
        }
    }
    s->average = end ? (double)s->bits / (double)end : 0;
    s->peak_rate = vs_windows_rate(w, s->peak_at, core, end);
}
