/* SPDX-License-Identifier: MIT */
/* What the test benches of the RTL need of Vestige: steps, recorded or at random, and the model's
 * encoder, whose bits the RTL has to send. For C and C++. */
#ifndef RTL_GOLDEN_H
#define RTL_GOLDEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* As struct vs_step (technique/step.h), of which it has what the RTL gets. */
struct rtl_step {
    uint64_t pc, target, time;
    uint32_t icount;
    uint16_t core;
    uint8_t kind, flags, size;
};

enum {
    RTL_CONDITIONAL,
    RTL_INDIRECT,
    RTL_CALL,
    RTL_DISCONTINUITY,
    RTL_ONLY,
    RTL_ACCESS, /* no step: the instruction at pc loads or stores at the target */
};
enum { /* itype */
       RTL_ITYPE_NONE,
       RTL_ITYPE_EXCEPTION,
       RTL_ITYPE_INTERRUPT,
       RTL_ITYPE_TRAP_RETURN,
       RTL_ITYPE_NOT_TAKEN,
       RTL_ITYPE_TAKEN,
       RTL_ITYPE_INDIRECT_CALL = 8,
       RTL_ITYPE_CALL,
       RTL_ITYPE_TAIL_CALL,
       RTL_ITYPE_SWAP = 12,
       RTL_ITYPE_RETURN,
       RTL_ITYPE_INDIRECT_JUMP,
       RTL_ITYPE_JUMP,
};
enum { RTL_IS_CALL = 4, RTL_IS_RETURN = 8, RTL_IS_TAKEN = 16 };

/* All functions below end the process with a line on standard error if something fails. */

/* ---- steps ---- */

struct rtl_source;

/* With `code`, models can be told the run's code, and a discontinuity's pc is that of the last
 * instruction before it. */
struct rtl_source *rtl_source_run(const char *path, bool code);

/* Makes `count` steps for that many cores, whose branches are partly predictable; the same for the
 * same seed. */
struct rtl_source *rtl_source_random(uint64_t seed, uint64_t count, unsigned cores);

/* The same of accesses to memory. */
struct rtl_source *rtl_source_accesses(const char *path);
struct rtl_source *rtl_source_random_accesses(uint64_t seed, uint64_t count);

bool rtl_source_next(struct rtl_source *s, struct rtl_step *step);
unsigned rtl_source_cores(const struct rtl_source *s);
bool rtl_source_timed(const struct rtl_source *s);
unsigned rtl_source_address_bits(const struct rtl_source *s);
uint64_t rtl_source_instructions(const struct rtl_source *s); /* so far */

/* What a core's trace ingress port tells of a step: blocks without a jump in them. */
struct rtl_block {
    uint64_t pc;
    uint32_t bytes, icount; /* an empty one is for what happens without an instruction */
    uint8_t itype;
    uint8_t last; /* bytes of the last instruction */
};

/* Tells the blocks of the last step of a run with code. Where a core starts there are none. One
 * that ends would have gone on at *after. Valid until the next step. */
const struct rtl_block *rtl_source_blocks(const struct rtl_source *s, size_t *count,
                                          uint64_t *after);
void rtl_source_close(struct rtl_source *s);

/* ---- the model ---- */

struct rtl_model;

/* Of the source it takes the code, if there is some. */
struct rtl_model *rtl_model_open(const char *spec, unsigned cores, bool timed,
                                 const struct rtl_source *source);
void rtl_model_step(struct rtl_model *m, const struct rtl_step *step);

/* Tells the bits of the stream so far; after `finish`, all of them. Whole bytes are at `data`. */
uint64_t rtl_model_bits(struct rtl_model *m, const uint8_t **data);
void rtl_model_finish(struct rtl_model *m);
uint64_t rtl_model_messages(const struct rtl_model *m);
uint64_t rtl_model_sent(const struct rtl_model *m); /* bits in messages so far */

/* Writes which message, of which step, and which field of it a bit belongs to. */
void rtl_model_where(const struct rtl_model *m, uint64_t bit, char *text, size_t size);
void rtl_model_close(struct rtl_model *m);

#ifdef __cplusplus
}
#endif

#endif
