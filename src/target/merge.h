/* SPDX-License-Identifier: MIT */
/* Events of several sources, each in the order of time, become one sequence: by cycle, then by the
 * source's number. This is done where the events are consumed, so that whoever makes them can go on
 * meanwhile.
 *
 * A merge is a consumer in front of another one. Beside events it takes two signs, as events of
 * kinds that no run has; together they are in the order in which they were made. */
#ifndef TARGET_MERGE_H
#define TARGET_MERGE_H

#include "target/line.h"
#include "trace/consumer.h"

enum {
    /* The next `value` events, in the same batch, come from source `addr`. The wide flag: there is
     * one, and its value is wide. */
    VS_SIGN_SOURCE = 254,
    /* All events before the cycle `addr` and source `value` have come, and go out, in whole
     * batches. The last flag: and the rest of them. */
    VS_SIGN_UNTIL = 255,
};

enum {
    VS_SIGN_WIDE = 1,
    VS_SIGN_LAST = 2,
};

struct vs_merge;

/* For at most VS_CORES_MAX + 1 sources; batches that go out have so many events. The consumer is
 * copied. Returns 0; -VSE_NOMEM. */
int vs_merge_open(struct vs_merge **m, const struct vs_consumer *to, unsigned sources,
                  size_t events);
/* NULL is fine. */
void vs_merge_close(struct vs_merge *m);

/* Returns the consumer that the merge is. Its functions return what the other's do; -VSE_NOMEM. */
const struct vs_consumer *vs_merge_consumer(const struct vs_merge *m);

#endif
