/* SPDX-License-Identifier: MIT */
/* Turns what the Valgrind tool says (capture/wire.h) into events. */
#ifndef CAPTURE_ASSEMBLE_H
#define CAPTURE_ASSEMBLE_H

#include "capture/images.h"
#include "trace/relay.h"
#include "isa/codemap.h"

struct vs_assembler;

/* How many events are delivered together: few enough to stay in a cache on the way, and many enough
 * to be worth waking a thread. A parcel has room for them and one more whole block. */
#define VS_PARCEL_BATCH  16384
#define VS_PARCEL_EVENTS (VS_PARCEL_BATCH + 2304)

struct vs_assembler_options {
    struct vs_relay *relay; /* for parcels of VS_PARCEL_EVENTS */
    struct vs_images *images;
    /* The windows' lengths, in order; after that many instructions the rest of a window is left
     * out. 0 means that it has no end. The last instruction is there with all its events. */
    const uint64_t *windows;
    size_t window_count;
    bool inputs; /* the tool tells how far threads ran, ... */
    bool light;  /* ... instead of blocks */
    /* Called when the tool says that the program waited for a child; may be NULL. */
    void (*reaped)(void *context, unsigned process, int status);
    void *context;
};

struct vs_assembler_stats {
    uint64_t instructions; /* recorded */
    uint64_t skipped;      /* known not to have been recorded */
    uint64_t events;
    unsigned threads, programs;
    unsigned forks; /* children that are not followed ... */
    unsigned made;  /* ... and that are, or were to be */
    bool ended;     /* the program came to its end */
    bool triggered; /* what was waited for has happened */
    bool full;      /* the last window is over: nothing more will be recorded */
};

/* Returns 0; -VSE_NOMEM. What the options point to must outlive the assembler. */
int vs_assembler_open(struct vs_assembler **a, const struct vs_assembler_options *options);
void vs_assembler_close(struct vs_assembler *a);

/* Takes a buffer of records, 8-aligned, up to its last slot. The bytes may change meanwhile:
 * nothing relies on reading the same twice. After an error only vs_assembler_close makes sense.
 * Returns 0; -VSE_NOMEM; -VSE_LIMIT (more threads, or code in more places, than a run can have);
 * -VSE_CORRUPT (the stream makes no sense: the traced program wrote over the tool's memory, or tool
 * and recorder are of different versions); the consumer's error. diag may be NULL; for the
 * consumer's error it is not written, and *theirs is set. */
int vs_assembler_take(struct vs_assembler *a, const uint8_t *bytes, size_t size,
                      struct vs_diag *diag, bool *theirs);

/* Lets an assembler whose stream begins where another one's has come to, and that has taken all
 * that is told there, know the code that was announced before. There are no blocks that ran.
 * Returns as vs_assembler_take. */
int vs_assembler_inherit(struct vs_assembler *a, const struct vs_assembler *from,
                         struct vs_diag *diag, bool *theirs);

/* Ends all threads after the stream's end, and delivers what is left. Returns as
 * vs_assembler_take. */
int vs_assembler_finish(struct vs_assembler *a, struct vs_diag *diag, bool *theirs);

struct vs_assembler_stats vs_assembler_stats(const struct vs_assembler *a);

/* The first memory that the program shares with others, so that they may change it: the path of
 * what it maps, or words; "" if there is none. */
const char *vs_assembler_shared(const struct vs_assembler *a);

/* The words of the last program, each ended by a zero byte, as far as the tool told them. *size
 * gets their bytes. */
const char *vs_assembler_command(const struct vs_assembler *a, size_t *size);

#endif
