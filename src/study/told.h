/* SPDX-License-Identifier: MIT */
/* What a stream tells of memory about which the run knows nothing, and what another stream tells
 * otherwise. If no core reads the bytes that differ, then telling them otherwise has no effect. */
#ifndef STUDY_TOLD_H
#define STUDY_TOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "study/verify.h"

/* Bytes with consecutive addresses that one event's message brought. */
struct vs_told_span {
    uint64_t number, addr; /* the event's, and the first byte's */
    size_t size;
};

/* Zeroed at first. */
struct vs_told {
    struct vs_buf bytes; /* of all spans, one after the other */
    struct vs_told_span *spans;
    size_t count, capacity;
    int error; /* 0; -VSE_NOMEM, and something is missing */
};

/* A vs_verify_unknown, whose context is a struct vs_told. */
void vs_told_note(void *told, uint64_t number, uint64_t addr, uint8_t byte);
void vs_told_fini(struct vs_told *t);

/* A byte that is told otherwise. */
struct vs_retold_byte {
    uint64_t number, addr;
};

/* Zeroed at first but for `told`. */
struct vs_retold {
    const struct vs_told *told;
    size_t span, offset, done; /* the next byte: in which span, where in it, and in `told->bytes` */
    bool others;               /* other bytes were told of */
    struct vs_retold_byte *changed;
    size_t count, capacity;
    int error; /* 0; -VSE_NOMEM, and something is missing */
};

/* A vs_verify_unknown, whose context is a struct vs_retold. */
void vs_retold_note(void *retold, uint64_t number, uint64_t addr, uint8_t byte);
void vs_retold_fini(struct vs_retold *r);

/* *unread says whether both streams told of the same bytes, told some of them otherwise, and no
 * core reads one of these before it is replaced or the run ends. Returns 0; -VSE_NOMEM; as
 * vs_pieces_next, but for the end. */
int vs_retold_unread(const struct vs_verify *v, struct vs_retold *r, bool *unread);

#endif
