/* SPDX-License-Identifier: MIT */
/* Reads JSON token by token, from memory, without recursion and with at most 32 levels. */
#ifndef FRONT_JSON_READ_H
#define FRONT_JSON_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum json_token {
    JSON_BAD,    /* `why` says what is wrong, and `at` where */
    JSON_OBJECT, /* it begins */
    JSON_ARRAY,  /* it begins */
    JSON_CLOSE,  /* the innermost of these ends */
    JSON_KEY,    /* the text is in `text`; the value follows */
    JSON_STRING, /* likewise */
    JSON_NUMBER, /* its characters are in `text` */
    JSON_TRUE,
    JSON_FALSE,
    JSON_NULL,
    JSON_END, /* of the only value */
};

struct json_reader {
    const char *bytes;
    size_t size, at;
    unsigned depth;
    uint32_t array;     /* a bit per level: it is an array, else an object */
    bool some;          /* the innermost has a member, so that a comma is due */
    bool value;         /* a key was read, whose value is due */
    bool done;          /* the only value is over */
    struct vs_buf text; /* ended by a zero; zeros within a string are refused */
    const char *why;
};

void json_reader_init(struct json_reader *r, const char *bytes, size_t size);
void json_reader_fini(struct json_reader *r);

/* After JSON_BAD and JSON_END, only json_reader_fini makes sense. */
enum json_token json_next(struct json_reader *r);

/* Skips the rest of a value that began with this token. Returns false if it is bad. */
bool json_skip(struct json_reader *r, enum json_token token);

#endif
