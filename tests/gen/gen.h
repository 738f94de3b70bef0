/* SPDX-License-Identifier: MIT */
/* A generator of random valid runs: it invents a program, executes it abstractly, and yields the
 * events. The same options give the same run, on every host.
 *
 * What holds of every generated run
 *  - The code is RV64GC with whole-register vector loads and stores (VLEN 128). All instructions
 *    have their real encodings, stack accesses their real offset from x2; the other registers do
 *    not compute the addresses and values that the events show.
 *  - Memory is one and sequentially consistent: a load returns what the last store or VS_EXTERNAL
 *    before it in global order put there. What was there first is a function of seed and address.
 *    While a thread is in a gap, memory changes unseen; that is the only time.
 *  - A block that no VS_CODE names lies in memory from the start. A block that one does is first
 *    executed after the first such event; a later VS_CODE may bring an old block back.
 *  - A handler returns to a block that ends in an ecall: that ecall is the VS_EXCEPTION_RET.
 *    Calls and handlers may also be left for good by an indirect jump to an outer return address,
 *    the innermost of that number.
 *  - The first event of a thread is VS_THREAD_START, its last VS_THREAD_EXIT. Thread 0 starts the
 *    others early, as far as the number of events allows. Some threads end before the rest.
 *  - Without memory there are no loads, stores and external writes.
 */
#ifndef GEN_H
#define GEN_H

#include "vestige/run.h"

enum gen_profile {
    GEN_MIXED = 0,
    GEN_LOOPS = 1,   /* regular kernels: nested loops over arrays, predictable branches */
    GEN_BRANCHY = 2, /* hard to predict, pointer chasing, short blocks */
    GEN_PROFILE_END
};

/* In a knob: not at all. */
#define GEN_NEVER UINT32_MAX

#define GEN_THREADS_MAX  1024
#define GEN_BATCH_EVENTS 4096
/* A run has at most `events` + GEN_SLACK events, and at least `events` - GEN_SLACK if that is
 * more than 4 per thread. */
#define GEN_SLACK 32

/* Zero in a field means the default. */
struct gen_options {
    uint64_t seed;
    uint64_t events;  /* default 100000 */
    unsigned threads; /* default 4, at most GEN_THREADS_MAX */
    enum gen_profile profile;
    bool memory; /* loads, stores and external writes */
    bool timed;  /* cycles, never decreasing in global order */

    /* mean number of events from one to the next, 1 to 2^30, or GEN_NEVER */
    uint32_t syscalls; /* default 1000 */
    uint32_t signals;  /* default 4000 */
    uint32_t gaps;     /* default 40000 */
    uint32_t code;     /* replacements of code (at system calls); default 8000 */
    uint32_t counts;   /* VS_COUNT that no long count forces; default 3000 */

    /* percent of the places that could have one, 1 to 100, or GEN_NEVER */
    uint32_t wide;      /* operands of 16 to 128 bytes; default 6 */
    uint32_t atomics;   /* read-modify-writes, lr/sc; default 4 */
    uint32_t unaligned; /* sites that miss natural alignment now and then; default 6 */
};

struct gen;

/* Returns 0; -VSE_INVAL (an option out of range); -VSE_NOMEM. */
int gen_open(struct gen **g, const struct gen_options *options);

/* NULL is fine. */
void gen_close(struct gen *g);

/* The next events. The batch belongs to the generator and is valid until the next call.
 * Returns how many, 1 to GEN_BATCH_EVENTS; 0 at the end; -VSE_NOMEM. */
int gen_next(struct gen *g, struct vs_batch *batch);

/* Blocks and images seen so far, all among them that the batches so far refer to. Ids are dense, in
 * order of first execution or announcement. Bytes and strings stay valid until gen_close.
 * gen_block, gen_image return 0; -VSE_NOTFOUND. */
uint64_t gen_block_count(const struct gen *g);
int gen_block(const struct gen *g, uint64_t id, struct vs_block *block);
uint64_t gen_image_count(const struct gen *g);
int gen_image(const struct gen *g, uint64_t id, struct vs_image *image);

/* The feature bits of a run with these options. */
uint32_t gen_features(const struct gen_options *options);

/* Writes a whole run to a file. writer may be NULL; its features are replaced by gen_features.
 * Returns 0; -VSE_INVAL; -VSE_NOMEM; -VSE_EXISTS; -VSE_IO. */
int gen_record(const char *path, const struct gen_options *options,
               const struct vs_writer_options *writer, struct vs_diag *diag);

/* "mixed", "loops", "branchy". Static storage. */
const char *gen_profile_name(enum gen_profile profile);

#endif
