/* SPDX-License-Identifier: MIT */
/* Events that come together, as records and recipes.
 *
 * Code that runs again makes the same events again, except for some addresses and values. Whoever
 * records a program may note only these, in a record of a fixed length, and say once how such a
 * record becomes events: this is its recipe. A consumer that takes records, such as a writer, need
 * not make each event.
 */
#ifndef TRACE_RECIPE_H
#define TRACE_RECIPE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "vestige/event.h"

struct vs_writer;

/* A branch, load or store. Its address is the event's plus the part of the record's word that the
 * mask leaves; so is its value if it has at most 8 bytes. Otherwise its bytes are in the record. */
struct vs_recipe_step {
    struct vs_event event; /* of thread 0 */
    uint64_t addr_mask, value_mask;
    uint16_t addr_at, value_at; /* offsets in the record */
};

struct vs_recipe {
    const struct vs_recipe_step *steps;
    uint32_t count;  /* of steps; there may be none. Only the last may be a branch */
    uint32_t length; /* of a record: at least 8. Words and values lie within it */
};

/* Records of one thread, one behind the other. */
struct vs_records {
    const uint8_t *bytes;
    size_t size;             /* their lengths together */
    const uint32_t *recipes; /* their recipes' numbers */
    size_t count;
    uint16_t thread;
};

/* Reads a word once, so that its value stays the same whoever writes to the memory. */
static inline uint64_t vs_record_word(const uint8_t *record, unsigned at)
{
    uint64_t v;

    memcpy(&v, record + at, 8);
    return v;
}

/* What a step makes of a record that lies `at` bytes into the batch's wide area. */
static inline struct vs_event vs_recipe_event(const struct vs_recipe_step *s, const uint8_t *record,
                                              size_t at, uint16_t thread)
{
    struct vs_event e = s->event;

    e.thread = thread;
    e.addr += vs_record_word(record, s->addr_at) & s->addr_mask;
    if (vs_event_is_wide(&e))
        e.value = at + s->value_at;
    else
        e.value += vs_record_word(record, s->value_at) & s->value_mask;
    return e;
}

/* The writer's part; vestige/run.h has the rest. Takes a recipe, which it copies. Returns its
 * number, from 0 up; -VSE_INVAL; -VSE_LIMIT; -VSE_NOMEM. */
int64_t vs_writer_recipe(struct vs_writer *w, const struct vs_recipe *recipe);

/* Adds the events of records: the file becomes the same as if they were put one by one. The bytes
 * may change meanwhile: each word is read once, or all are copied before. Returns as
 * vs_writer_put. */
int vs_writer_records(struct vs_writer *w, const struct vs_records *records);

#endif
