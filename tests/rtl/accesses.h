/* SPDX-License-Identifier: MIT */
/* What the test bench of vs_mlvcf needs of Vestige: what the cores of a run, or random ones, do to
 * memory, as their caches and the trace module see it, and the model's encoder beside it. For C and
 * C++. */
#ifndef RTL_ACCESSES_H
#define RTL_ACCESSES_H

#include "rtl/golden.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { RTL_BYTES = 64 }; /* the most that a step has */

enum {
    RTL_LOAD,
    RTL_STORE,
    RTL_VALUE,     /* from outside */
    RTL_REGISTERS, /* `number` is how many bytes, plus 1; or 0: the core ends */
    RTL_MORE,      /* of the bytes of the last two */
    RTL_COUNTS,    /* instructions only */
    RTL_DROP,      /* no step: the line at `line` leaves all caches */
    RTL_FORGET,    /* no step: all flags are cleared */
};

/* A step of a core, or something that happens to all caches. */
struct rtl_access {
    uint64_t line;       /* load, store: the address in this part's line */
    uint64_t addr, time; /* of the operand */
    uint32_t icount, number;
    uint16_t core;
    uint8_t kind, size;
    uint8_t length;        /* of the bytes */
    bool goes_on, changed; /* changed: the load met bytes that nobody told of */
    uint8_t bytes[RTL_BYTES];
};

struct rtl_accesses;

/* For that technique. Steps have at most so many bytes and instructions. */
struct rtl_accesses *rtl_accesses_run(const char *path, const char *spec, unsigned bytes,
                                      unsigned icount);
struct rtl_accesses *rtl_accesses_random(uint64_t seed, uint64_t events, unsigned cores,
                                         const char *spec, unsigned bytes, unsigned icount);
unsigned rtl_accesses_cores(const struct rtl_accesses *a);
bool rtl_accesses_timed(const struct rtl_accesses *a);

/* Opens the model for these accesses, which then consumes them as they are made. It must be closed
 * before they are. */
struct rtl_model *rtl_accesses_model(struct rtl_accesses *a, bool timed);

/* Tells what comes next. Returns false when nothing does; the model is not finished then. */
bool rtl_accesses_next(struct rtl_accesses *a, struct rtl_access *access);
uint64_t rtl_accesses_loads(const struct rtl_accesses *a); /* and stores: events so far */
void rtl_accesses_close(struct rtl_accesses *a);

#ifdef __cplusplus
}
#endif

#endif
