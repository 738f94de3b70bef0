/* SPDX-License-Identifier: MIT */
#include "export/sink.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* Enough for the system to be called rarely; the rest is for the bytes that text writes beyond its
 * end. */
enum { SIZE = 1 << 18, SLACK = 32 };

int vs_sink_init(struct vs_sink *s, vs_export_write *write, void *context)
{
    *s = (struct vs_sink){.write = write, .context = context, .buffer = malloc(SIZE + SLACK)};
    if (!s->buffer)
        return -VSE_NOMEM;
    s->at = s->buffer;
    s->end = s->buffer + SIZE;
    return 0;
}

void vs_sink_fini(struct vs_sink *s)
{
    free(s->buffer);
    *s = (struct vs_sink){0};
}

int vs_sink_flush(struct vs_sink *s)
{
    size_t n = (size_t)(s->at - s->buffer);

    s->at = s->buffer;
    if (!s->error && n)
        s->error = s->write(s->context, s->buffer, n);
    return s->error;
}

int vs_sink_put(struct vs_sink *s, const void *bytes, size_t size)
{
    if ((size_t)(s->end - s->at) < size && vs_sink_flush(s))
        return s->error;
    if ((size_t)(s->end - s->at) < size)
        return s->error = s->write(s->context, bytes, size);
    if (size)
        memcpy(s->at, bytes, size);
    s->at += size;
    return s->error;
}

int vs_sink_text(struct vs_sink *s, const char *text)
{
    return vs_sink_put(s, text, strlen(text));
}

int vs_sink_printf(struct vs_sink *s, const char *format, ...)
{
    char text[1024];
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    return n < 0 || n >= (int)sizeof(text) ? (s->error = -VSE_INTERNAL)
                                           : vs_sink_put(s, text, (size_t)n);
}

void vs_text_piece_make(struct vs_text_piece *piece, const char *format, ...)
{
    char text[VS_TEXT_PIECE + 1] = "";
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    piece->size = (uint32_t)strlen(text);
    memcpy(piece->text, text, VS_TEXT_PIECE);
}

/* The length of the well-formed UTF-8 sequence that begins at s, which ends with a zero; 0 if there
 * is none. */
static size_t sequence(const uint8_t *s)
{
    size_t n = s[0] < 0x80   ? 1
               : s[0] < 0xc2 ? 0
               : s[0] < 0xe0 ? 2
               : s[0] < 0xf0 ? 3
               : s[0] < 0xf5 ? 4
                             : 0;

    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] >= 0xa0) ||
        (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] >= 0x90))
        return 0;
    return n;
}

int vs_sink_json(struct vs_sink *s, const char *text)
{
    const uint8_t *p = (const uint8_t *)text;

    vs_sink_put(s, "\"", 1);
    while (*p) {
        size_t n = sequence(p);

        if (n == 1 && (*p < 0x20 || *p == 0x7f || *p == '"' || *p == '\\'))
            vs_sink_printf(s, "\\u%04x", *p);
        else if (n)
            vs_sink_put(s, p, n);
        else
            vs_sink_text(s, "\\ufffd");
        p += n ? n : 1;
    }
    return vs_sink_put(s, "\"", 1);
}
