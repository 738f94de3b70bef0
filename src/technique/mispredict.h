/* SPDX-License-Identifier: MIT */
/* The machines of the techniques that report mispredictions only (mcfTRaptor, TMBP, mcfTG). They
 * differ in the kind and sizes of the predictors and in how numbers are coded.
 *
 *   misprediction   Ti [dCC] bCnt [outcome] [target]
 *   discontinuity   Ti [dCC] 0 [0] iCnt target
 *   switch          Ti [dCC] 0 1 bCnt
 *   bCnt is full    Ti [dCC] all ones
 *   iCnt is full    Ti [dCC] 0 [0] all ones
 *
 * bCnt counts the core's conditional and indirect branches since its last message, the mispredicted
 * one included, and its direct calls if predictors are shared; iCnt counts its instructions.
 * Indirect branches have the target, and those of them that are conditional the outcome.
 *
 * Cores that share predictors see each other's predictions, right ones too, so the decoder has to
 * make them in the same order. Before a core's first branch or call after another core's, a switch
 * reports that the other core has passed bCnt of them, all predicted right, unless there are none.
 * The bit after the 0 exists only if predictors are shared.
 *
 * Unconditional direct branches may be learnt, too, for which the encoder walks the code between
 * steps. If they are reported, they count in bCnt as conditional ones do.
 *
 * Both counters have a width, and are full at the latest at all ones. A misprediction may be the
 * last branch that bCnt holds, so all ones in its place are no count: they say that 2^b - 2
 * branches have passed, all predicted right. iCnt is only sent between instructions: all ones are
 * the number of instructions that have passed, with all branches among them predicted right, and no
 * target follows. Both counters then start from 0. A counter that is full sends its message at
 * once, unless the instruction that fills it has a message of its own; if both are full, bCnt sends
 * it. */
#ifndef TECHNIQUE_MISPREDICT_H
#define TECHNIQUE_MISPREDICT_H

#include "technique/predictors.h"
#include "technique/tagged.h"

/* What becomes of unconditional direct branches: jumps and calls. */
enum vs_mispredict_direct {
    VS_DIRECT_INFERRED, /* nothing */
    VS_DIRECT_LEARNED,  /* the predictor of outcomes learns that they are taken */
    VS_DIRECT_REPORTED, /* the same; bCnt counts them, and wrong predictions of them are reported */
};

struct vs_mispredict_config {
    bool is_tagged;                         /* which of these two sets predicts: */
    struct vs_predictors_config predictors; /* gshare, stack and buffer */
    struct vs_tagged_config tagged;         /* TAGE and its like */
    bool shared;
    enum vs_mispredict_direct direct; /* only with `predictors`, and if they are not shared */
    unsigned bcnt_bits, icnt_bits;    /* widths of the counters: model/counter.h */

    bool unary; /* which of the two codes below */
    struct {
        struct vs_chunks bcnt, icnt, target;
    } chunks; /* targets are differences from the last one in a message of the core */
    struct {
        struct vs_unary bcnt, icnt, target;
    } prefix; /* the same for branches; discontinuities have the whole address */
};

struct vs_mispredict_encoder;
struct vs_mispredict_decoder;

/* These are as the functions of vs_encoder_ops and vs_flow_decoder_ops, whose open they
 * complete. */
int vs_mispredict_encoder_open(void **e, const struct vs_mispredict_config *config,
                               const struct vs_technique_context *context);
int vs_mispredict_consume(void *e, const struct vs_slice *slice);
void vs_mispredict_counts(const void *e, void *counts);
void vs_mispredict_encoder_close(void *e);

int vs_mispredict_decoder_open(void **d, const struct vs_mispredict_config *config,
                               const struct vs_technique_setup *setup, struct vs_port_reader *port);
int vs_mispredict_head(void *d, struct vs_flow_head *head);
int vs_mispredict_branch(void *d, unsigned core, const struct vs_flow_site *site,
                         struct vs_flow_answer *answer);
int vs_mispredict_direct(void *d, unsigned core, const struct vs_flow_site *site);
int vs_mispredict_discontinuity(void *d, unsigned core, uint64_t *target);
void vs_mispredict_decoder_close(void *d);

/* Defines encoder_ops, decoder_ops and ordered in a file that has config_of, which makes a
 * vs_mispredict_config from parameters. */
#define VS_MISPREDICT_MACHINES                                                                     \
    static bool ordered(const void *params)                                                        \
    {                                                                                              \
        return config_of(params).shared;                                                           \
    }                                                                                              \
    static int encoder_open(void **e, const struct vs_technique_context *context)                  \
    {                                                                                              \
        struct vs_mispredict_config config = config_of(context->params);                           \
        return vs_mispredict_encoder_open(e, &config, context);                                    \
    }                                                                                              \
    static int decoder_open(void **d, const void *params, const struct vs_technique_setup *setup,  \
                            struct vs_port_reader *port)                                           \
    {                                                                                              \
        struct vs_mispredict_config config = config_of(params);                                    \
        return vs_mispredict_decoder_open(d, &config, setup, port);                                \
    }                                                                                              \
    static const struct vs_encoder_ops encoder_ops = {.needs = VS_NEEDS_STEPS,                     \
                                                      .open = encoder_open,                        \
                                                      .consume = vs_mispredict_consume,            \
                                                      .counts = vs_mispredict_counts,              \
                                                      .rows = vs_flow_count_rows,                  \
                                                      .close = vs_mispredict_encoder_close};       \
    static const struct vs_flow_decoder_ops decoder_ops = {.open = decoder_open,                   \
                                                           .head = vs_mispredict_head,             \
                                                           .branch = vs_mispredict_branch,         \
                                                           .direct = vs_mispredict_direct,         \
                                                           .discontinuity =                        \
                                                               vs_mispredict_discontinuity,        \
                                                           .close = vs_mispredict_decoder_close}

/* Rows of a parameter table whose struct has bcnt_bits and icnt_bits. */
#define VS_MISPREDICT_COUNTERS(type)                                                               \
    VS_COUNTER_ROW(type, bcnt_bits, "bits of the counter bCnt; a message when it is full"),        \
        VS_COUNTER_ROW(type, icnt_bits, "bits of the counter iCnt; a message when it is full")

/* ---- parameters of techniques whose numbers are in chunks ---- */

/* Chunks of 0 bits are chosen when it is known whether the stream is timed. */
struct vs_mispredict_chunks {
    uint64_t bcnt, bcnt_next, target, target_next, icnt, icnt_next, dcc, dcc_next;
};

/* Rows of a parameter table whose struct has them as `chunks`. */
#define VS_MISPREDICT_CHUNK_ROW(type, field, text)                                                 \
    {                                                                                              \
        .name = #field, .offset = offsetof(type, chunks.field), .max = 64, .help = text            \
    }
#define VS_MISPREDICT_CHUNK_ROWS(type)                                                             \
    VS_MISPREDICT_CHUNK_ROW(type, bcnt, "bits of the first chunk of bCnt; 0: chosen"),             \
        VS_MISPREDICT_CHUNK_ROW(type, bcnt_next, "bits of its other chunks"),                      \
        VS_MISPREDICT_CHUNK_ROW(type, target, "bits of the first chunk of |diffTA|; 0: chosen"),   \
        VS_MISPREDICT_CHUNK_ROW(type, target_next, "bits of its other chunks"),                    \
        VS_MISPREDICT_CHUNK_ROW(type, icnt, "bits of the first chunk of iCnt; 0: chosen"),         \
        VS_MISPREDICT_CHUNK_ROW(type, icnt_next, "bits of its other chunks"),                      \
        VS_MISPREDICT_CHUNK_ROW(type, dcc, "bits of the first chunk of dCC; 0: chosen"),           \
        VS_MISPREDICT_CHUNK_ROW(type, dcc_next, "bits of its other chunks")

/* Sets those of 0 bits to the chosen ones. */
void vs_mispredict_choose(struct vs_mispredict_chunks *chunks,
                          const struct vs_mispredict_chunks *chosen);

/* As the configuration has them. */
void vs_mispredict_set_chunks(struct vs_mispredict_config *config,
                              const struct vs_mispredict_chunks *chunks);

static inline struct vs_chunks vs_mispredict_cycles(const struct vs_mispredict_chunks *chunks)
{
    return (struct vs_chunks){(uint8_t)chunks->dcc, (uint8_t)chunks->dcc_next};
}

/* Adds the predictors, and the registers that every core has. Returns 0; -VSE_NOMEM. */
int vs_mispredict_cost(const struct vs_mispredict_config *config,
                       const struct vs_technique_setup *setup, struct vs_cost_list *list);

#endif
