/* SPDX-License-Identifier: MIT */
/* A second reader of .vest files, written from docs/format.md alone and sharing no code with the
 * library: it proves that the page suffices, and that the library does what the page says.
 *
 * It takes a sealed file in memory and walks it from the first byte to the last. It is plain
 * rather than fast, and gives up at the first byte that is not as the page has it. Two of the
 * checks of section 9 it leaves to the library: the rules of event.h and the number of keys. */
#ifndef PLAIN_H
#define PLAIN_H

#include <stddef.h>
#include <stdint.h>

#include "vestige/event.h"

/* Bytes that may contain zeros and end without one. */
struct plain_string {
    const uint8_t *data;
    size_t size;
};

struct plain_image {
    struct plain_string path, symbols, build_id;
    uint64_t base, start, length;
};

struct plain_block {
    uint64_t addr, insns;
    struct plain_string bytes;
};

/* Who is told, in the order of the file. Pointers are valid until the function returns. Facts come
 * as they lie there: a later one for the same key replaces the earlier. */
struct plain_sink {
    void *context;
    void (*fact)(void *context, struct plain_string key, struct plain_string value);
    void (*image)(void *context, uint64_t id, const struct plain_image *image);
    void (*block)(void *context, uint64_t id, const struct plain_block *block);
    /* bytes are those of the value, size of them and at least 8; value is 0 if size > 8.
     * cycle is 0 in an untimed run. */
    void (*event)(void *context, uint64_t number, const struct vs_event *event,
                  const uint8_t *bytes, uint64_t cycle);
};

/* What there was, as far as it was read. */
struct plain_totals {
    uint32_t features;
    uint64_t chunks, event_chunks, events, literals;
    uint64_t images, blocks, sites, threads;
};

/* Reads all of a file. Returns 0, or -1 with *why set to one phrase (static storage). */
int plain_read(const uint8_t *data, size_t size, const struct plain_sink *sink,
               struct plain_totals *totals, const char **why);

#endif
