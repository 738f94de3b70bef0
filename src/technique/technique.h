/* SPDX-License-Identifier: MIT */
/* The technique layer: trace modules. A technique is two machines, the encoder on the chip and its
 * twin in the debugger; they share code, never state. It is one file, and one row of the table in
 * registry.c.
 *
 *   step        control flow as the modules see it
 *   counts      what encoders met, as a table
 *   predictors  outcome and target predictors as one set
 *   mispredict  the machines that report mispredictions only
 *   streams     the machines that report streams of instructions
 *   data        load values
 *   address     data addresses
 *   validity    registers that the debugger knows of data addresses
 *   seen        memory as a run shows it
 *   packets     streams through a general compressor
 *   spec_list   several techniques, as users ask for them
 *
 * A core is a thread of the run. Each core begins with a discontinuity whose target is its first
 * instruction, and ends with one to VS_STEP_NOWHERE: a stream is complete in itself.
 */
#ifndef TECHNIQUE_TECHNIQUE_H
#define TECHNIQUE_TECHNIQUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/parameter.h"
#include "model/counter.h"
#include "port/framing.h"
#include "technique/counts.h"
#include "technique/step.h"
#include "vestige/error.h"

/* What a technique may report: it serves a set of these. */
enum vs_technique_kind {
    VS_TECHNIQUE_FLOW = 1,    /* control flow */
    VS_TECHNIQUE_DATA = 2,    /* load values */
    VS_TECHNIQUE_ADDRESS = 4, /* data addresses */
};

#define VS_TECHNIQUE_KINDS 3 /* so many bits */

/* The name of a set of kinds: "control flow", "load values", "data addresses", "control flow and
 * load values" and so on. */
const char *vs_technique_kinds_name(unsigned serves);

/* technique/seen.h */
struct vs_prior;

/* technique/data.h */
struct vs_data_decoder_ops;

/* technique/address.h */
struct vs_address_code;
struct vs_address_decoder_ops;

/* technique/packets.h */
struct vs_packets_plan;

/* What both machines are told, beside the parameters. */
struct vs_technique_setup {
    unsigned cores;
    unsigned address_bits; /* 32 or 64 */
    bool timed;
};

/* ---- the encoder ----------------------------------------------------------------------------- */

/* What an encoder has to be given: a set of these. */
enum vs_technique_need {
    VS_NEEDS_STEPS = 1,  /* the steps of a slice */
    VS_NEEDS_EVENTS = 2, /* its events */
    VS_NEEDS_LOADS = 4,  /* a run whose loads were recorded */
    VS_NEEDS_STORES = 8, /* the same of stores */
    VS_NEEDS_PRIOR = 16, /* a pass over the run before: technique/seen.h */
    VS_NEEDS_CODE = 32,  /* the program's code; so does the decoder */
};

/* What most techniques of memory need. */
#define VS_NEEDS_ACCESSES (VS_NEEDS_EVENTS | VS_NEEDS_LOADS | VS_NEEDS_STORES)

/* What an encoder is opened with. All of it outlives the encoder but the params and the setup. */
struct vs_technique_context {
    const void *params; /* checked and settled */
    const struct vs_technique_setup *setup;
    struct vs_port_writer *port;        /* its shape is the technique's */
    const struct vs_prior *prior;       /* NULL: none, whoever needs one */
    const struct vs_address_code *code; /* NULL: none, or of an ISA that is not known */
};

/* A stretch of the run. Steps and events are of the same stretch, each in global order, and set if
 * the encoder needs them. A step belongs to the event at which its core has executed as many
 * instructions; at the run's end cores may step without one. */
struct vs_slice {
    const struct vs_step *steps;
    size_t step_count;
    const struct vs_batch *events;
};

struct vs_encoder_ops {
    unsigned needs; /* VS_NEEDS_* */
    /* Returns 0; -VSE_NOMEM; -VSE_INVAL (no code); -VSE_LIMIT (too many cores). */
    int (*open)(void **encoder, const struct vs_technique_context *context);
    /* The next slice. Returns 0; -VSE_INVAL (no such core; no cycles); -VSE_NOMEM. What the port
     * reports stays in its `error`. */
    int (*consume)(void *encoder, const struct vs_slice *slice);
    /* A synchronisation point of a core, from which on a decoder can follow it without what is
     * before. The core has begun. NULL: the technique has none. Returns 0; -VSE_NOMEM. */
    int (*sync)(void *encoder, unsigned core);
    /* Writes what is pending after the last slice. NULL: nothing ever is. Returns 0; -VSE_NOMEM. */
    int (*finish)(void *encoder);
    /* What it met, to a struct of uint64_t, at most VS_COUNTS_MAX, that `rows` describe. */
    void (*counts)(const void *encoder, void *counts);
    const struct vs_count_row *rows;
    void (*close)(void *encoder); /* NULL is fine */
};

static inline int vs_encoder_finish(const struct vs_encoder_ops *ops, void *encoder)
{
    return ops->finish ? ops->finish(encoder) : 0;
}

/* What an encoder of control flow met, and how much of it took a message's content. */
struct vs_flow_counts {
    uint64_t instructions;
    uint64_t conditional, conditional_reported;
    uint64_t returns, returns_reported;   /* indirect branches that go to a return address */
    uint64_t indirect, indirect_reported; /* the other indirect ones */
    uint64_t discontinuities;             /* all of them are reported */
    uint64_t syncs;                       /* of these: where a core starts, ends, or has a gap */
    uint64_t switches;                    /* messages that only order cores */
};

extern const struct vs_count_row vs_flow_count_rows[];

/* ---- control flow: the decoder --------------------------------------------------------------- */

/* The stream drives the debugger: a head says which core goes on, and how far is known now. The
 * walker follows that core's code and asks at every conditional and indirect branch, and at the
 * end. Then comes the next head. A message may have several heads, or several messages one. */
struct vs_flow_head {
    unsigned core;
    uint64_t cycle; /* of the message; 0 if the stream is not timed */

    /* The core stands at a branch that was answered "later": this is the answer. */
    bool resolves;
    bool taken;      /* of that branch */
    uint64_t target; /* the same, if taken */

    /* How far: so many instructions, or VS_FLOW_OPEN: until an answer is the last, or the core
     * stands at `until`, if that is not VS_STEP_NOWHERE. */
    uint64_t count;
    uint64_t until;
    /* After `count` instructions the decoder's `discontinuity` tells where the core goes. */
    bool discontinuity;
    /* Without a discontinuity: the last of `count` instructions need not be a conditional or an
     * indirect branch. */
    bool cut;
    /* A synchronisation point: with all this done, and no discontinuity, the core stands at `pc`.
     * One that is lost begins there instead. */
    bool sync;
    uint64_t pc;
    uint64_t instructions; /* of the core by then; VS_FLOW_OPEN: that is not told */
};

#define VS_FLOW_OPEN UINT64_MAX
#define VS_FLOW_LAST 1

/* Where the core stands when the decoder is asked. */
struct vs_flow_site {
    uint64_t pc;
    uint64_t target; /* of a conditional direct branch */
    uint8_t flags;   /* VS_BR_*, without VS_BR_TAKEN */
    uint8_t size;    /* bytes */
    bool last;       /* it is the last of the head's count */
};

static inline bool vs_flow_site_indirect(const struct vs_flow_site *s)
{
    return s->flags & VS_BR_INDIRECT;
}

/* Zeroed by the walker. */
struct vs_flow_answer {
    bool taken;
    bool later;      /* the core's next head resolves it; the rest does not matter */
    bool last;       /* the head ends here, whatever its count */
    uint64_t target; /* of an indirect branch that is taken */
};

/* A synchronisation point in a stream: a place from which on a decoder can read it without having
 * read what is before. */
struct vs_flow_point {
    unsigned stream;
    uint64_t bit; /* of the stream */
    unsigned core;
    uint64_t pc;
};

struct vs_flow_decoder_ops {
    /* The params have been checked and settled. The reader must outlive the decoder. Returns 0;
     * -VSE_NOMEM. */
    int (*open)(void **decoder, const void *params, const struct vs_technique_setup *setup,
                struct vs_port_reader *port);
    /* The next head. Of a port with a stream per core, that of the head's core is then the one
     * being read. Returns 0; -VSE_END (the stream ends before a message); as all below
     * -VSE_TRUNCATED and -VSE_CORRUPT, with the reader's diag. */
    int (*head)(void *decoder, struct vs_flow_head *head);
    /* The head's core meets a conditional or indirect branch. */
    int (*branch)(void *decoder, unsigned core, const struct vs_flow_site *site,
                  struct vs_flow_answer *answer);
    /* It meets a direct call. NULL if nobody wants to know. Returns 0; VS_FLOW_LAST: the head ends
     * here. */
    int (*call)(void *decoder, unsigned core, uint64_t return_address);
    /* Where it goes after the head's count; VS_STEP_NOWHERE if it ends. */
    int (*discontinuity)(void *decoder, unsigned core, uint64_t *target);
    /* Forgets the cores of a stream, finds the first synchronisation point of one of them at or
     * after a bit, and goes on there: what it has for these cores from then on begins with a head
     * that is a synchronisation point. It may have been opened just now, or have failed. NULL: the
     * technique has no such points. Returns 0; -VSE_END (there is none: the stream has no more
     * heads). */
    int (*sync)(void *decoder, unsigned stream, uint64_t bit, struct vs_flow_point *point);
    void (*close)(void *decoder); /* NULL is fine */
};

/* ---- the decoders of memory ------------------------------------------------------------------ */

/* What the functions of data and address decoders return if the core needs a message that is not
 * the next one: nothing was done. It has to wait until the others took theirs. In global order this
 * means that the stream is another run's. */
enum { VS_DECODER_WAIT = 1 };

/* ---- techniques ------------------------------------------------------------------------------ */

/* A row of a table of parameters: the width of a counter. */
#define VS_COUNTER_ROW(type, field, text)                                                          \
    {                                                                                              \
        .name = #field, .offset = offsetof(type, field), .min = VS_COUNTER_BITS_MIN,               \
        .max = VS_COUNTER_BITS_MAX, .help = text                                                   \
    }

/* A structure of the encoder, and how often it is there. */
struct vs_cost_item {
    const char *name;
    struct vs_cost cost; /* of one */
    uint64_t copies;
};

#define VS_COST_ITEMS 16

struct vs_cost_list {
    struct vs_cost_item items[VS_COST_ITEMS];
    size_t count;
};

/* A named choice of parameters. A table ends with a row without a name. */
struct vs_technique_config {
    const char *name;
    const char *values; /* "name=value name=value ..." */
};

struct vs_technique {
    const char *name;
    const char *const *aliases; /* ended by NULL; NULL: none */
    const char *summary;        /* one line */
    unsigned serves;            /* enum vs_technique_kind */
    unsigned cores_max;         /* 0: any number */

    const struct vs_parameter *parameters; /* of a struct of uint64_t */
    size_t params_size;                    /* its size, at most VS_TECHNIQUE_PARAMS numbers */
    const char *defaults;                  /* as the values of a configuration; the rest is 0 */
    const char *unnamed; /* values for files older than a parameter, which do not name it: without
                          * widths of counters these were never full. NULL: none */
    const struct vs_technique_config *configs; /* NULL: none */

    /* Whether the parameters fit together. NULL: they always do. Returns 0; -VSE_INVAL. */
    int (*check)(const void *params, struct vs_diag *diag);
    /* Sets what is left open until it is known whether the stream is timed. NULL: nothing is. */
    void (*settle)(void *params, bool timed);
    /* The code of dCC, of settled parameters. NULL: no message carries it. */
    struct vs_chunks (*cycles)(const void *params);
    /* Sets `packets` and `per_core` of the shape, of settled parameters: how the streams are
     * divided, and among whom. NULL: into messages of all cores, or a general compressor's packets.
     */
    void (*framing)(const void *params, struct vs_port_shape *shape);
    /* NULL, or why no decoder could read the stream. The pointer may be NULL: it always can. */
    const char *(*undecodable)(const void *params);
    /* How a general compressor packs the stream. NULL: none does. */
    struct vs_packets_plan (*packets)(const void *params, const struct vs_technique_setup *setup);
    /* Whether the structures see the cores in global order. NULL: they do not. */
    bool (*ordered)(const void *params);
    /* Returns 0; -VSE_NOMEM. */
    int (*cost)(const void *params, const struct vs_technique_setup *setup,
                struct vs_cost_list *list);
    /* The bits of data in the caches that its structures are added to. NULL: there are none. */
    uint64_t (*cache_bits)(const void *params, const struct vs_technique_setup *setup);

    const struct vs_encoder_ops *encoder;
    /* One for each kind that it serves; the others are NULL. */
    const struct vs_flow_decoder_ops *flow_decoder;
    const struct vs_data_decoder_ops *data_decoder;
    const struct vs_address_decoder_ops *address_decoder;
};

/* All of them, ended by NULL. */
extern const struct vs_technique *const vs_techniques[];

/* By name or alias. NULL if there is none. */
const struct vs_technique *vs_technique_find(const char *name);

/* The baseline of a kind, which ratios refer to: the first in the table that serves it. NULL if
 * there is none. */
const struct vs_technique *vs_technique_baseline(enum vs_technique_kind kind);

/* ---- a technique with its parameters --------------------------------------------------------- */

#define VS_TECHNIQUE_PARAMS 48   /* numbers */
#define VS_TECHNIQUE_TEXT   1024 /* holds every spec, with its NUL */

struct vs_technique_spec {
    const struct vs_technique *technique;
    uint64_t params[VS_TECHNIQUE_PARAMS]; /* starts with the technique's struct */
};

/* The defaults. Returns 0; an error: the technique's table is at fault. */
int vs_technique_defaults(struct vs_technique_spec *s, const struct vs_technique *t);

/* The same for a file's stream, whose own parameters are to be set then: with the values of those
 * that older files do not name. */
int vs_technique_unnamed(struct vs_technique_spec *s, const struct vs_technique *t);

/* Sets one parameter, as vs_parameter_set; whether they fit together is not checked. */
int vs_technique_set(struct vs_technique_spec *s, const char *name, const char *value,
                     struct vs_diag *diag);

/* What a user writes: "name", or "name:item,item,..." with items that are configurations or
 * name=value, applied in order over the defaults. "mcfTRaptor_e:small,gshare=2048".
 * Returns 0; -VSE_NOTFOUND (no such technique, configuration, parameter); -VSE_INVAL (no such
 * value, or values that do not fit together). diag says what there is. */
int vs_technique_parse(struct vs_technique_spec *s, const char *text, struct vs_diag *diag);

/* Whether the parameters fit together. Returns 0; -VSE_INVAL. */
int vs_technique_check(const struct vs_technique_spec *s, struct vs_diag *diag);

/* To be called when it is known whether the stream is timed, before any of what follows. */
void vs_technique_settle(struct vs_technique_spec *s, bool timed);

/* Writes the spec with all its parameters: what vs_technique_parse takes. Returns its length;
 * -VSE_LIMIT. */
int vs_technique_text(const struct vs_technique_spec *s, char *out, size_t capacity);

void vs_technique_shape(const struct vs_technique_spec *s, const struct vs_technique_setup *setup,
                        struct vs_port_shape *shape);

/* NULL, or why the stream of these parameters cannot be decoded. Static storage. */
const char *vs_technique_undecodable(const struct vs_technique_spec *s);

bool vs_technique_ordered(const struct vs_technique_spec *s);

/* The encoder's structures. Returns 0; -VSE_NOMEM. */
int vs_technique_cost(const struct vs_technique_spec *s, const struct vs_technique_setup *setup,
                      struct vs_cost_list *list);

/* As vs_technique.cache_bits; 0 for one that has no caches. */
uint64_t vs_technique_cache_bits(const struct vs_technique_spec *s,
                                 const struct vs_technique_setup *setup);

/* For cost functions: adds a row; one more than VS_COST_ITEMS is dropped. */
void vs_cost_list_add(struct vs_cost_list *list, const char *name, struct vs_cost cost,
                      uint64_t copies);
struct vs_cost vs_cost_list_sum(const struct vs_cost_list *list);

#endif
