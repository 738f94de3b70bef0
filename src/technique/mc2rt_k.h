/* SPDX-License-Identifier: MIT */
/* What both machines of mc2RT_k know: mc2rt_k.c has the layout of messages. */
#ifndef TECHNIQUE_MC2RT_K_H
#define TECHNIQUE_MC2RT_K_H

#include "model/width.h"
#include "model/wordbook.h"
#include "technique/data_common.h"

#define VS_MC2RT_K_LENGTH ((struct vs_chunks){4, 8})

/* The debugger is told of memory in units of a line and of a page. */
enum { VS_MC2RT_K_PAGE = VS_COPY_PAGE };

enum vs_mc2rt_k_kind {
    VS_MC2RT_K_ORDER,
    VS_MC2RT_K_LINE,
    VS_MC2RT_K_ZERO,   /* the line is zero */
    VS_MC2RT_K_BLANK,  /* the page is */
    VS_MC2RT_K_REST,   /* the line, and all of its page that is not known */
    VS_MC2RT_K_NONDET, /* a value from outside */
    VS_MC2RT_K_STATE,  /* registers */
    VS_MC2RT_K_END,
    VS_MC2RT_K_KINDS
};

/* What is in a message of REST for each line of the page. */
enum vs_mc2rt_k_part { VS_MC2RT_K_KNOWN, VS_MC2RT_K_BLANK_LINE, VS_MC2RT_K_DATA };

enum { VS_MC2RT_K_PACES = 16 };

/* The code of heads: Ti, dCC, THCnt. Plain ones are those of other techniques. In adaptive ones dCC
 * is the cycles since the last message of any core, and the width of THCnt follows from those of
 * numbers that came as long after their core's last message. */
struct vs_mc2rt_k_heads {
    bool adaptive, timed;
    unsigned cores, core_bits;
    struct vs_chunks plain_count, plain_passed;
    struct vs_width passed;                  /* of dCC */
    struct vs_width count[VS_MC2RT_K_PACES]; /* of THCnt, by the length of its core's cycles */
    uint64_t cycle;                          /* the last message's */
    uint64_t *cycles;                        /* by core: its last message's */
};

/* Return 0; -VSE_NOMEM. */
int vs_mc2rt_k_heads_init(struct vs_mc2rt_k_heads *h, const struct vs_data_params *params,
                          const struct vs_technique_setup *setup);
int vs_mc2rt_k_heads_clone(struct vs_mc2rt_k_heads *to, const struct vs_mc2rt_k_heads *from);
void vs_mc2rt_k_heads_fini(struct vs_mc2rt_k_heads *h);
struct vs_cost vs_mc2rt_k_heads_cost(const struct vs_data_params *params,
                                     const struct vs_technique_setup *setup);

/* Begins a message. */
void vs_mc2rt_k_put_head(struct vs_mc2rt_k_heads *h, struct vs_port_writer *port, unsigned core,
                         uint64_t time, uint64_t count);
/* Reads what that put. Returns 0; -VSE_END if no bit is left; -VSE_TRUNCATED; -VSE_CORRUPT. */
int vs_mc2rt_k_get_head(struct vs_mc2rt_k_heads *h, struct vs_port_reader *port, unsigned *core,
                        uint64_t *cycle, uint64_t *count);

void vs_mc2rt_k_put_kind(struct vs_port_writer *port, enum vs_mc2rt_k_kind kind);
/* Returns as vs_port_get. */
int vs_mc2rt_k_get_kind(struct vs_port_reader *port, unsigned *kind);

void vs_mc2rt_k_put_part(struct vs_port_writer *port, enum vs_mc2rt_k_part part);
int vs_mc2rt_k_get_part(struct vs_port_reader *port, enum vs_mc2rt_k_part *part);

/* Bytes of memory, of a value or of registers: as they are, or in words of a book that has any. A
 * message's bytes may come in several parts after vs_wordbook_begin; what is less than a word at
 * the end of a part is put as it is. */
void vs_mc2rt_k_put_bytes(struct vs_wordbook *book, struct vs_port_writer *port, enum vs_field f,
                          const uint8_t *bytes, size_t size);

/* Gets them. Returns as vs_port_get_bytes. */
int vs_mc2rt_k_get_bytes(struct vs_wordbook *book, struct vs_port_reader *port, enum vs_field f,
                         uint8_t *bytes, size_t size);

/* Passes over them; the book is only asked for the width of its indices. */
int vs_mc2rt_k_skip_bytes(const struct vs_wordbook *book, struct vs_port_reader *port,
                          enum vs_field f, uint64_t size);

extern const struct vs_data_decoder_ops vs_mc2rt_k_decoder; /* mc2rt_k_decoder.c */

#endif
