/* SPDX-License-Identifier: MIT */
#include "front/json.h"

#include <assert.h>
#include <math.h>
#include <string.h>

void json_init(struct json *j, struct out *out, unsigned indent)
{
    *j = (struct json){.out = out, .indent = indent};
}

static void new_line(struct json *j)
{
    if (j->indent) {
        out_char(j->out, '\n');
        out_pad(j->out, (size_t)j->depth * j->indent);
    }
}

/* The length of the beginning that can be printed as it is: most strings as a whole. */
static size_t plain(const char *s)
{
    size_t n = 0;
    while (s[n] >= ' ' && s[n] < 0x7f && s[n] != '"' && s[n] != '\\' && s[n] != '<')
        n++;
    return n;
}

/* Whether a sequence of n bytes ends a line of a script: U+2028 and U+2029. */
static bool ends_line(const char *s, size_t n)
{
    return n == 3 && !memcmp(s, "\xe2\x80", 2) && ((uint8_t)s[2] & 0xfe) == 0xa8;
}

static void quoted(struct out *o, const char *s, bool in_page)
{
    out_char(o, '"');
    while (*s) {
        size_t n = plain(s);
        out_mem(o, s, n);
        s += n;
        if (!*s)
            break;
        n = utf8_length(s);
        if (n == 0) {
            out_str(o, "\xef\xbf\xbd");
            n = 1;
        } else if (*s == '"' || *s == '\\') {
            out_char(o, '\\');
            out_char(o, *s);
        } else if (in_page && *s == '<') {
            out_str(o, "\\u003c");
        } else if (in_page && ends_line(s, n)) {
            out_printf(o, "\\u202%c", s[2] & 1 ? '9' : '8');
        } else if (n == 1 && ((uint8_t)*s < 0x20 || *s == 0x7f)) {
            out_printf(o, "\\u%04x", (unsigned)*s);
        } else {
            out_mem(o, s, n);
        }
        s += n;
    }
    out_char(o, '"');
}

/* Prints what comes before every value: the comma, the line and the key. */
static void begin(struct json *j, const char *key)
{
    if (!j->depth)
        return;
    uint32_t level = UINT32_C(1) << (j->depth - 1);
    assert((key == NULL) == !!(j->array & level));
    if (j->some & level)
        out_char(j->out, ',');
    j->some |= level;
    new_line(j);
    if (key) {
        quoted(j->out, key, j->in_page);
        out_str(j->out, j->indent ? ": " : ":");
    }
}

static void nest(struct json *j, const char *key, bool array)
{
    begin(j, key);
    assert(j->depth < 32);
    uint32_t level = UINT32_C(1) << j->depth++;
    j->some &= ~level;
    j->array = array ? j->array | level : j->array & ~level;
    out_char(j->out, array ? '[' : '{');
}

void json_object(struct json *j, const char *key)
{
    nest(j, key, false);
}

void json_array(struct json *j, const char *key)
{
    nest(j, key, true);
}

void json_end(struct json *j)
{
    assert(j->depth);
    uint32_t level = UINT32_C(1) << --j->depth;
    if (j->some & level)
        new_line(j);
    out_char(j->out, j->array & level ? ']' : '}');
    if (!j->depth)
        out_char(j->out, '\n');
}

void json_str(struct json *j, const char *key, const char *value)
{
    begin(j, key);
    quoted(j->out, value, j->in_page);
}

void json_u64(struct json *j, const char *key, uint64_t value)
{
    begin(j, key);
    out_dec(j->out, value, 0);
}

void json_bool(struct json *j, const char *key, bool value)
{
    begin(j, key);
    out_str(j->out, value ? "true" : "false");
}

void json_null(struct json *j, const char *key)
{
    begin(j, key);
    out_str(j->out, "null");
}

void json_double(struct json *j, const char *key, double value, int places)
{
    begin(j, key);
    if (isfinite(value))
        out_printf(j->out, "%.*f", places, value);
    else
        out_str(j->out, "null");
}

void json_hex(struct json *j, const char *key, uint64_t value)
{
    begin(j, key);
    out_char(j->out, '"');
    out_hex(j->out, value, 0);
    out_char(j->out, '"');
}

void json_number_bytes(struct json *j, const char *key, const uint8_t *p, size_t n)
{
    begin(j, key);
    out_str(j->out, "\"0x");
    out_bytes_reversed(j->out, p, n);
    out_char(j->out, '"');
}

void json_bytes(struct json *j, const char *key, const uint8_t *p, size_t n)
{
    begin(j, key);
    out_char(j->out, '"');
    out_bytes(j->out, p, n);
    out_char(j->out, '"');
}
