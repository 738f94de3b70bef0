/* SPDX-License-Identifier: MIT */
/* One event as a line of text or as a JSON object. docs/commands.md describes both. */
#ifndef CLI_EVENT_PRINT_H
#define CLI_EVENT_PRINT_H

#include "front/json.h"
#include "front/out.h"
#include "vestige/event.h"
#include "study/callstack.h"
#include "study/where.h"
#include "vestige/run.h"

/* Whether the event's kind has a pc that is an address of code, and an addr that is one of data. */
bool event_has_pc(const struct vs_event *e);
bool event_has_data(const struct vs_event *e);

#define EVENT_PATH_MAX 4096

/* The path in a VS_CONTENT with VS_CONTENT_FILE. */
void event_content_path(const struct vs_batch *batch, const struct vs_event *e,
                        char path[EVENT_PATH_MAX]);

/* What else is told of an event. */
struct event_more {
    const struct vs_where_place *place; /* NULL: it is not asked for, or the event has no pc */
    const char *insn;                   /* the instruction; NULL likewise */
    size_t insn_length;

    /* The calls that the thread is in, the innermost last, and where each of them is; NULL: they
     * are not asked for. */
    const struct vs_stack_call *calls;
    const struct vs_where_place *const *callers;
    size_t call_count;
};

/* Prints the event batch->events[i], whose thread had retired `at` instructions (trace/retired.h),
 * as one line. Values of more than 64 bytes are shortened to their 64 least significant bytes
 * unless `full` is set. */
void event_text(struct out *o, const struct vs_batch *batch, size_t i, uint64_t at, bool full,
                const struct event_more *more);

/* Prints it as one JSON object, with values always in full. */
void event_json(struct out *o, const struct vs_batch *batch, size_t i, uint64_t at,
                const struct event_more *more);

#endif
