/* SPDX-License-Identifier: MIT */
#include "front/json_read.h"

#include <string.h>

#include "vestige/error.h"

enum { DEPTH_MAX = 32 };

void json_reader_init(struct json_reader *r, const char *bytes, size_t size)
{
    *r = (struct json_reader){.bytes = bytes, .size = size};
}

void json_reader_fini(struct json_reader *r)
{
    vs_buf_fini(&r->text);
}

static enum json_token bad(struct json_reader *r, const char *why)
{
    r->why = why;
    return JSON_BAD;
}

/* The next character; 0 at the end, and for a zero byte, which is nowhere allowed. */
static char peek(const struct json_reader *r)
{
    return r->at < r->size ? r->bytes[r->at] : 0;
}

static void skip_blanks(struct json_reader *r)
{
    while (r->at < r->size && strchr(" \t\r\n", r->bytes[r->at]) && r->bytes[r->at])
        r->at++;
}

static bool put(struct json_reader *r, const char *bytes, size_t size)
{
    return vs_buf_put(&r->text, bytes, size) == 0;
}

/* ---- strings --------------------------------------------------------------------------------- */

/* Reads four hexadecimal digits. Returns -1 if there are none. */
static int read_unit(struct json_reader *r)
{
    int value = 0;

    for (int i = 0; i < 4; i++, r->at++) {
        const char *digits = "0123456789abcdef", *found;
        char c = peek(r);

        if (c >= 'A' && c <= 'F')
            c = (char)(c - 'A' + 'a');
        found = c ? strchr(digits, c) : NULL;
        if (!found)
            return -1;
        value = value << 4 | (int)(found - digits);
    }
    return value;
}

static bool put_point(struct json_reader *r, uint32_t p)
{
    char utf8[4];
    size_t n;

    if (p < 0x80) {
        utf8[0] = (char)p;
        n = 1;
    } else if (p < 0x800) {
        utf8[0] = (char)(0xc0 | p >> 6);
        n = 2;
    } else if (p < 0x10000) {
        utf8[0] = (char)(0xe0 | p >> 12);
        n = 3;
    } else {
        utf8[0] = (char)(0xf0 | p >> 18);
        n = 4;
    }
    for (size_t i = 1; i < n; i++)
        utf8[i] = (char)(0x80 | (p >> 6 * (n - 1 - i) & 0x3f));
    return put(r, utf8, n);
}

/* A character beyond the first 65,536 is written as two units. */
static bool read_point(struct json_reader *r)
{
    int unit = read_unit(r), low;

    if (unit >= 0xd800 && unit < 0xdc00) {
        if (peek(r) != '\\')
            return false;
        r->at++;
        if (peek(r) != 'u')
            return false;
        r->at++;
        low = read_unit(r);
        if (low < 0xdc00 || low > 0xdfff)
            return false;
        return put_point(r, 0x10000 + ((uint32_t)(unit - 0xd800) << 10 | (uint32_t)(low - 0xdc00)));
    }
    return unit > 0 && (unit < 0xdc00 || unit > 0xdfff) && put_point(r, (uint32_t)unit);
}

static bool read_escape(struct json_reader *r)
{
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    char c = peek(r);
    const char *found = c ? strchr(names, c) : NULL;

    r->at++;
    if (c == 'u')
        return read_point(r);
    return found && put(r, &values[found - names], 1);
}

static enum json_token read_string(struct json_reader *r, enum json_token token)
{
    r->text.len = 0;
    for (r->at++; peek(r) != '"';) {
        size_t n = 0;

        while (r->at + n < r->size && r->bytes[r->at + n] != '"' && r->bytes[r->at + n] != '\\' &&
               (unsigned char)r->bytes[r->at + n] >= ' ')
            n++;
        if (!put(r, r->bytes + r->at, n))
            return bad(r, "out of memory");
        r->at += n;
        if (peek(r) == '"')
            break;
        if (peek(r) != '\\')
            return bad(r, "a string without an end");
        r->at++;
        if (!read_escape(r))
            return bad(r, "an escape that makes no sense");
    }
    r->at++;
    return put(r, "", 1) ? token : bad(r, "out of memory");
}

/* ---- other values ---------------------------------------------------------------------------- */

static enum json_token read_number(struct json_reader *r)
{
    size_t n = 0, digits = 0;

    while (r->at + n < r->size && r->bytes[r->at + n] &&
           strchr("+-.0123456789eE", r->bytes[r->at + n])) {
        digits += r->bytes[r->at + n] >= '0' && r->bytes[r->at + n] <= '9';
        n++;
    }
    if (!digits || n > 64)
        return bad(r, "no value");
    r->text.len = 0;
    if (!put(r, r->bytes + r->at, n) || !put(r, "", 1))
        return bad(r, "out of memory");
    r->at += n;
    return JSON_NUMBER;
}

static bool read_word(struct json_reader *r, const char *word)
{
    size_t n = strlen(word);

    if (r->size - r->at < n || memcmp(r->bytes + r->at, word, n) != 0)
        return false;
    r->at += n;
    return true;
}

static enum json_token open(struct json_reader *r, bool array)
{
    if (r->depth == DEPTH_MAX)
        return bad(r, "too many levels");
    r->at++;
    r->array = (r->array & ~(1u << r->depth)) | (uint32_t)array << r->depth;
    r->depth++;
    r->some = r->value = false;
    return array ? JSON_ARRAY : JSON_OBJECT;
}

static enum json_token read_value(struct json_reader *r)
{
    switch (peek(r)) {
    case '{':
        return open(r, false);
    case '[':
        return open(r, true);
    case '"':
        return read_string(r, JSON_STRING);
    default:
        break;
    }
    if (read_word(r, "true"))
        return JSON_TRUE;
    if (read_word(r, "false"))
        return JSON_FALSE;
    if (read_word(r, "null"))
        return JSON_NULL;
    return read_number(r);
}

static enum json_token close_level(struct json_reader *r)
{
    r->at++;
    r->depth--;
    r->some = true;
    r->value = false;
    r->done = r->depth == 0;
    return JSON_CLOSE;
}

static enum json_token read_key(struct json_reader *r)
{
    enum json_token token = peek(r) == '"' ? read_string(r, JSON_KEY) : bad(r, "no key");

    if (token == JSON_BAD)
        return token;
    skip_blanks(r);
    if (peek(r) != ':')
        return bad(r, "no colon after a key");
    r->at++;
    r->value = true;
    return token;
}

enum json_token json_next(struct json_reader *r)
{
    bool array = r->depth && r->array >> (r->depth - 1) & 1;
    enum json_token token;

    skip_blanks(r);
    if (r->done)
        return r->at == r->size ? JSON_END : bad(r, "more after the end");
    if (r->depth && !r->value) {
        if (peek(r) == (array ? ']' : '}'))
            return close_level(r);
        if (r->some && peek(r) != ',')
            return bad(r, "no comma between values");
        r->at += r->some;
        skip_blanks(r);
        if (!array)
            return read_key(r);
    }
    token = read_value(r);
    if (token == JSON_BAD || token == JSON_OBJECT || token == JSON_ARRAY)
        return token;
    r->value = false;
    r->some = true;
    r->done = r->depth == 0;
    return token;
}

bool json_skip(struct json_reader *r, enum json_token token)
{
    unsigned depth = r->depth;

    if (token != JSON_OBJECT && token != JSON_ARRAY)
        return token != JSON_BAD;
    while (r->depth >= depth)
        if (json_next(r) == JSON_BAD)
            return false;
    return true;
}
