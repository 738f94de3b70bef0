/* SPDX-License-Identifier: MIT */
/* A streaming JSON emitter, which keeps nothing but the nesting, of at most 32 levels. Keys are
 * NULL inside arrays and at the top. */
#ifndef FRONT_JSON_H
#define FRONT_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "front/out.h"

struct json {
    struct out *out;
    unsigned indent; /* spaces per level; 0 puts everything on one line */
    unsigned depth;
    uint32_t array; /* a bit per level: it is an array, else an object */
    uint32_t some;  /* a bit per level: it has a member */
    bool in_page;   /* the owner sets it: strings have nothing that could end a script in HTML */
};

void json_init(struct json *j, struct out *out, unsigned indent);

/* json_end closes the innermost of them; after the outermost it ends the line. */
void json_object(struct json *j, const char *key);
void json_array(struct json *j, const char *key);
void json_end(struct json *j);

/* Bytes that are not UTF-8 become U+FFFD. */
void json_str(struct json *j, const char *key, const char *value);
void json_u64(struct json *j, const char *key, uint64_t value);
void json_bool(struct json *j, const char *key, bool value);
void json_null(struct json *j, const char *key);

/* Prints `places` decimals; null if the value is not finite. */
void json_double(struct json *j, const char *key, double value, int places);

/* Prints a string "0x...", since JSON numbers are read as doubles, which cannot hold every
 * address. */
void json_hex(struct json *j, const char *key, uint64_t value);

/* Prints a string "0x..." of 2 n digits: the bytes as a little-endian number. */
void json_number_bytes(struct json *j, const char *key, const uint8_t *p, size_t n);

/* Prints a string of 2 n digits: the bytes in memory order. */
void json_bytes(struct json *j, const char *key, const uint8_t *p, size_t n);

#endif
