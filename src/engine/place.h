/* SPDX-License-Identifier: MIT */
/* What a user names: the program and places in it. */
#ifndef ENGINE_PLACE_H
#define ENGINE_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum vs_place_kind {
    VS_PLACE_WANTED = 1, /* the routine's code is recorded */
    VS_PLACE_FROM,       /* recording begins when it is reached ... */
    VS_PLACE_TO,         /* ... and ends when this is reached */
};

struct vs_place {
    const char *name; /* a routine, or an address as "0x..." */
    enum vs_place_kind kind;
    uint64_t found; /* how many were found */
    bool chooser; /* one of those found only chooses among implementations that have other names */
};

bool vs_place_is_address(const struct vs_place *place);

/* The address that a place is; vs_place_is_address must hold. */
uint64_t vs_place_address(const struct vs_place *place);

/* Whether it is a regular file that may be executed. */
bool vs_is_program(const char *path);

/* Finds the file that a command's name means: the name itself if it has a slash, else a file in
 * PATH. Returns 0; -VSE_NOTFOUND; -VSE_LIMIT. */
int vs_find_program(const char *name, char *path, size_t capacity);

#endif
