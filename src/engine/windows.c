/* SPDX-License-Identifier: MIT */
#include "engine/windows.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/diag.h"
#include "base/infile.h"
#include "base/number.h"

#define BLANKS " \t\r"

struct reading {
    struct vs_infile file;
    struct vs_window *windows;
    size_t capacity, count;
    struct vs_diag *diag;
};

static int bad(struct reading *r, const char *why)
{
    return vs_diag_set(r->diag, -VSE_INVAL, -1, -1, "line %u: %s", (unsigned)r->file.line, why);
}

/* Reads the number that *text begins with, after blanks, and moves *text behind it. */
static bool take_number(const char **text, uint64_t *number)
{
    const char *start = *text + strspn(*text, BLANKS);

    *text = start + strcspn(start, BLANKS);
    return vs_number(start, *text, number) == NULL;
}

static int add_window(struct reading *r, const char *text)
{
    const struct vs_window *last = r->count ? &r->windows[r->count - 1] : NULL;
    struct vs_window w;
    uint64_t end;

    if (!take_number(&text, &w.start) || !take_number(&text, &w.length) ||
        text[strspn(text, BLANKS)] || !w.length)
        return bad(r, "not two numbers, START and LENGTH in instructions");
    if (__builtin_add_overflow(w.start, w.length, &end))
        return bad(r, "the window's end does not fit in 64 bits");
    if (last && w.start < last->start + last->length)
        return bad(r, "the window starts before the end of the one above");
    if (r->count == r->capacity)
        return bad(r, "too many windows");
    r->windows[r->count++] = w;
    return 0;
}

static int add_windows(struct reading *r)
{
    int64_t n;
    int e = 0;

    while (e == 0 && (n = vs_infile_line(&r->file, r->diag)) != -VSE_END) {
        char *text = (char *)r->file.text.data;

        if (n < 0)
            return (int)n;
        text[strcspn(text, "#")] = 0;
        if (text[strspn(text, BLANKS)])
            e = add_window(r, text);
    }
    return e == 0 && !r->count ? bad(r, "the file has no windows") : e;
}

int vs_windows_load(const char *path, struct vs_window *windows, size_t capacity, size_t *count,
                    struct vs_diag *diag)
{
    struct reading r = {.windows = windows, .capacity = capacity, .diag = diag};
    int e;

    if (vs_infile_open(&r.file, path, NULL) < 0)
        e = vs_diag_set(diag, -VSE_NOTFOUND, -1, -1, "%s", strerror(errno));
    else
        e = add_windows(&r);
    vs_infile_close(&r.file);
    *count = r.count;
    return e;
}
