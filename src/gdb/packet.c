/* SPDX-License-Identifier: MIT */
#include "gdb/packet.h"

#include <stdarg.h>
#include <stdio.h>

#include "gdb/fields.h"
#include "vestige/error.h"

#define ESCAPE    '}'
#define FLIPPED   0x20
#define INTERRUPT 3

/* ---- from the debugger --------------------------------------------------------------------- */

static void start(struct vs_gdb_reader *r)
{
    r->state = VS_GDB_READ_DATA;
    r->size = 0;
    r->sum = 0;
    r->spoilt = r->too_long = false;
}

static void add(struct vs_gdb_reader *r, uint8_t byte)
{
    if (r->size < VS_GDB_PACKET_MAX)
        r->data[r->size++] = byte;
    else
        r->too_long = true;
}

static enum vs_gdb_event take_between(struct vs_gdb_reader *r, uint8_t byte)
{
    if (byte == '$')
        start(r);
    return byte == INTERRUPT ? VS_GDB_INTERRUPT : byte == '-' ? VS_GDB_REPEAT : VS_GDB_MORE;
}

static void take_data(struct vs_gdb_reader *r, uint8_t byte)
{
    bool escaped = r->state == VS_GDB_READ_ESCAPED;

    if (byte == '$') {
        start(r);
        return;
    }
    if (byte == '#') {
        r->spoilt |= escaped;
        r->state = VS_GDB_READ_SUM_HIGH;
        return;
    }
    r->sum = (uint8_t)(r->sum + byte);
    r->state = byte == ESCAPE && !escaped ? VS_GDB_READ_ESCAPED : VS_GDB_READ_DATA;
    if (r->state == VS_GDB_READ_DATA)
        add(r, escaped ? byte ^ FLIPPED : byte);
}

static enum vs_gdb_event finish(struct vs_gdb_reader *r)
{
    r->state = VS_GDB_READ_BETWEEN;
    r->data[r->size] = 0;
    if (r->spoilt || r->claimed != r->sum)
        return VS_GDB_SPOILT;
    return r->too_long ? VS_GDB_TOO_LONG : VS_GDB_PACKET;
}

static enum vs_gdb_event take_sum(struct vs_gdb_reader *r, uint8_t byte)
{
    int digit = vs_gdb_digit((char)byte);

    r->spoilt |= digit < 0;
    r->claimed = (uint8_t)(r->claimed << 4 | (digit & 15));
    if (r->state == VS_GDB_READ_SUM_LOW)
        return finish(r);
    r->state = VS_GDB_READ_SUM_LOW;
    return VS_GDB_MORE;
}

static enum vs_gdb_event take_byte(struct vs_gdb_reader *r, uint8_t byte)
{
    switch (r->state) {
    case VS_GDB_READ_BETWEEN:
        return take_between(r, byte);
    case VS_GDB_READ_DATA:
    case VS_GDB_READ_ESCAPED:
        take_data(r, byte);
        return VS_GDB_MORE;
    case VS_GDB_READ_SUM_HIGH:
    case VS_GDB_READ_SUM_LOW:
        break;
    }
    return take_sum(r, byte);
}

static bool in_sum(const struct vs_gdb_reader *r)
{
    return r->state == VS_GDB_READ_SUM_HIGH || r->state == VS_GDB_READ_SUM_LOW;
}

enum vs_gdb_event vs_gdb_reader_take(struct vs_gdb_reader *r, const uint8_t *bytes, size_t size,
                                     size_t *used)
{
    for (size_t i = 0; i < size; i++) {
        enum vs_gdb_event event;

        /* Another packet begins where digits should be: the one before lost its end. */
        if (in_sum(r) && bytes[i] == '$') {
            r->state = VS_GDB_READ_BETWEEN;
            *used = i;
            return VS_GDB_SPOILT;
        }
        event = take_byte(r, bytes[i]);
        if (event != VS_GDB_MORE) {
            *used = i + 1;
            return event;
        }
    }
    *used = size;
    return VS_GDB_MORE;
}

/* A packet that is too long would be no shorter a second time. */
const char *vs_gdb_acknowledgement(enum vs_gdb_event event)
{
    if (event == VS_GDB_SPOILT)
        return "-";
    return event == VS_GDB_PACKET || event == VS_GDB_TOO_LONG ? "+" : "";
}

/* ---- to the debugger ----------------------------------------------------------------------- */

void vs_gdb_writer_fini(struct vs_gdb_writer *w)
{
    vs_buf_fini(&w->out);
    *w = (struct vs_gdb_writer){0};
}

void vs_gdb_writer_clear(struct vs_gdb_writer *w)
{
    w->out.len = w->last = 0;
    w->open = false;
    w->error = 0;
}

static void put_raw(struct vs_gdb_writer *w, uint8_t byte)
{
    if (!w->error)
        w->error = vs_buf_put(&w->out, &byte, 1);
}

void vs_gdb_begin(struct vs_gdb_writer *w)
{
    if (w->error)
        return;
    w->last = w->out.len;
    w->sum = 0;
    w->open = true;
    put_raw(w, '$');
}

static void put_data(struct vs_gdb_writer *w, uint8_t byte)
{
    if (!w->error && w->out.len - w->last > VS_GDB_PACKET_MAX)
        w->error = -VSE_LIMIT;
    w->sum = (uint8_t)(w->sum + byte);
    put_raw(w, byte);
}

void vs_gdb_put(struct vs_gdb_writer *w, const void *bytes, size_t size)
{
    const uint8_t *p = bytes;

    for (size_t i = 0; i < size; i++) {
        bool escaped = p[i] == '$' || p[i] == '#' || p[i] == '*' || p[i] == ESCAPE;

        if (escaped)
            put_data(w, ESCAPE);
        put_data(w, escaped ? p[i] ^ FLIPPED : p[i]);
    }
}

static const char digits[] = "0123456789abcdef";

void vs_gdb_put_hex(struct vs_gdb_writer *w, const void *bytes, size_t size)
{
    const uint8_t *p = bytes;

    for (size_t i = 0; i < size; i++) {
        put_data(w, (uint8_t)digits[p[i] >> 4]);
        put_data(w, (uint8_t)digits[p[i] & 15]);
    }
}

void vs_gdb_printf(struct vs_gdb_writer *w, const char *format, ...)
{
    char text[256];
    va_list ap;

    va_start(ap, format);
    vsnprintf(text, sizeof(text), format, ap);
    va_end(ap);
    vs_gdb_put(w, text, strlen(text));
}

void vs_gdb_end(struct vs_gdb_writer *w)
{
    uint8_t sum = w->sum;

    put_raw(w, '#');
    put_raw(w, (uint8_t)digits[sum >> 4]);
    put_raw(w, (uint8_t)digits[sum & 15]);
    if (w->error && w->open)
        w->out.len = w->last;
    w->open = false;
}
