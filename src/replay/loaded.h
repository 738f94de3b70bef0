/* SPDX-License-Identifier: MIT */
/* What the program's files say about memory before anything has written it: the bytes of their
 * segments, and zeros after those. */
#ifndef REPLAY_LOADED_H
#define REPLAY_LOADED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* [addr, addr + size), which does not wrap. Its first `stored` bytes are `bytes`, which must
 * outlive the list; the others are zero. */
struct vs_loaded_part {
    uint64_t addr, size;
    const uint8_t *bytes;
    uint64_t stored;
    bool writable;
    unsigned image; /* the file's index in the stream's list */
};

/* A file that the stream names. */
struct vs_loaded_image {
    uint64_t code;    /* where executable memory begins */
    const char *path; /* the stream's, which must outlive this */
    bool read;        /* the file was read: */
    uint64_t entry;   /* where a program begins */
};

/* A zeroed struct is empty. */
struct vs_loaded {
    struct vs_loaded_part *parts;
    size_t count, capacity;
    struct vs_loaded_image *images; /* NULL, or all that the stream names */
    size_t image_count;
};

/* Returns 0; -VSE_NOMEM. */
int vs_loaded_add(struct vs_loaded *l, const struct vs_loaded_part *part);

/* Makes room for that many images, of which nothing is known. Returns 0; -VSE_NOMEM. */
int vs_loaded_name(struct vs_loaded *l, size_t images);

static inline uint8_t vs_loaded_byte(const struct vs_loaded_part *part, uint64_t addr)
{
    return addr - part->addr < part->stored ? part->bytes[addr - part->addr] : 0;
}

void vs_loaded_fini(struct vs_loaded *l);

#endif
