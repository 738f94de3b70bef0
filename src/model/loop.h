/* SPDX-License-Identifier: MIT */
/* The loop predictor: branches that go one way a fixed number of times and then the other way once.
 *
 * Sets of 4 ways, or one of fewer; with n = log2(sets), set = (pc >> 1 xor pc >> (1 + n)) mod sets
 * and tag = (pc >> 1 xor pc >> 7) mod 2^10. An entry has its tag, the direction of the loop's body,
 * the length of the loop (10 bits; 0: not known yet), how far it has come (10 bits), a confidence
 * (2 bits) and an age (3 bits). All start at 0.
 *
 * An entry of full confidence predicts the body's direction, and the other one in the last
 * iteration. When it is wrong it is emptied. An outcome counts an iteration; more of them than the
 * length make the length unknown. At the exit, the length becomes known, or is confirmed (the
 * confidence counts up) or refuted (it becomes unknown). A loop of fewer than 3 iterations is
 * forgotten. The age counts up when an entry is right and the other predictor is wrong.
 *
 * A branch that has no entry and was mispredicted gets one: ways are tried from the one after the
 * last that was tried. One of age 0 is taken, with age 7, and with the outcome's opposite as the
 * body's direction; otherwise its age counts down. */
#ifndef MODEL_LOOP_H
#define MODEL_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "model/cost.h"
#include "vestige/error.h"

enum { VS_LOOP_WAYS = 4, VS_LOOP_MAX = 1 << 16 };

struct vs_loop_entry {
    uint16_t tag, length, done;
    uint8_t confidence, age;
    bool body;
};

struct vs_loop {
    struct vs_loop_entry *entries; /* NULL: none */
    uint32_t sets;
    unsigned ways, log; /* of a set; log2 of the sets */
    uint8_t next;       /* the way that is tried next */
};

struct vs_loop_lookup {
    uint32_t set;
    uint16_t tag;
    int8_t way; /* -1: none */
    bool sure;  /* it predicts */
    bool prediction;
};

/* entries: 0 to VS_LOOP_MAX, 0 or a power of two. Returns 0; -VSE_INVAL; -VSE_NOMEM. */
int vs_loop_init(struct vs_loop *p, uint32_t entries);
void vs_loop_fini(struct vs_loop *p);
void vs_loop_clear(struct vs_loop *p);

struct vs_cost vs_loop_cost(const struct vs_loop *p);

/* Looks a branch up and changes nothing. */
void vs_loop_look(const struct vs_loop *p, uint64_t pc, struct vs_loop_lookup *l);

/* Learns the outcome of the branch that was looked up last, and what the other predictor said. */
void vs_loop_learn(struct vs_loop *p, const struct vs_loop_lookup *l, bool taken, bool other);

#endif
