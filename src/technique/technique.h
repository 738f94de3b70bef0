/* SPDX-License-Identifier: MIT */
/* The technique layer: trace modules. A technique is two machines, the encoder on the chip and its
 * twin in the debugger; they share code, never state. It is one file, and one row of the table in
 * registry.c.
 *
 *   step        control flow as the modules see it
 *   counts      what encoders met, as a table
 *   stretches   the code between steps, for encoders that report more than steps have
 *   interrupted repeated instructions that a core left
 *   predictors  outcome and target predictors as one set
 *   parts       what encoders of one run share
 *   branches    a slice as those see it that report little of it
 *   predicted   which steps of a slice are predicted wrongly
 *   tagged      the same with tagged tables
 *   mispredict  the machines that report mispredictions only
 *   mcfta       outcomes and targets, arithmetic-coded
 *   streams     the machines that report streams of instructions
 *   pt          Intel Processor Trace
 *   data        load values
 *   address     data addresses
 *   validity    registers that the debugger knows from data addresses
 *   seen        memory as a run shows it
 *   writers     which core stored last to code
 *   packets     streams through a general compressor
 *   plugin      a technique in a shared object, as it says what it is
 *   plugins     the table with those of shared objects
 *   spec_list   several techniques, as users ask for them
 *
 * A core is a thread of the run. Each core begins with a discontinuity whose target is its first
 * instruction, and ends with one to VS_STEP_NOWHERE: a stream is complete in itself. */
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

/* What a technique may report. It serves a set of these. */
enum vs_technique_kind {
    VS_TECHNIQUE_FLOW = 1,    /* control flow */
    VS_TECHNIQUE_DATA = 2,    /* load values */
    VS_TECHNIQUE_ADDRESS = 4, /* data addresses */
};

#define VS_TECHNIQUE_KINDS 3 /* how many bits such a set has */

/* Returns the name of a set of kinds: "control flow", "load values", "data addresses", "control
 * flow and load values" and so on. */
const char *vs_technique_kinds_name(unsigned serves);

/* technique/seen.h */
struct vs_prior;

/* technique/data.h */
struct vs_data_decoder_ops;

/* technique/address.h */
struct vs_address_code;
struct vs_address_decoder_ops;

/* technique/writers.h */
struct vs_code_pages;

/* technique/parts.h */
struct vs_parts;

/* technique/packets.h */
struct vs_packets_plan;

/* What both machines are told, beside the parameters. */
struct vs_technique_setup {
    unsigned cores;
    unsigned address_bits; /* 32 or 64 */
    bool timed;
    unsigned alignment; /* of an instruction's address: 1, 2 or 4; 0: not known */
};

/* ---- the encoder ----------------------------------------------------------------------------- */

/* What an encoder has to be given; its needs are a set of these. */
enum vs_technique_need {
    VS_NEEDS_STEPS = 1,  /* a slice's steps */
    VS_NEEDS_EVENTS = 2, /* a slice's events */
    VS_NEEDS_LOADS = 4,  /* a run whose loads were recorded */
    VS_NEEDS_STORES = 8, /* a run whose stores were recorded */
    VS_NEEDS_PRIOR = 16, /* a pass over the run beforehand: technique/seen.h */
    VS_NEEDS_CODE = 32,  /* the program's code, which the decoder then needs too */
};

/* What most memory techniques need. */
#define VS_NEEDS_ACCESSES (VS_NEEDS_EVENTS | VS_NEEDS_LOADS | VS_NEEDS_STORES)

/* What an encoder is opened with. All of it but the params and the setup outlives the encoder. */
struct vs_technique_context {
    const void *params; /* checked and settled */
    const struct vs_technique_setup *setup;
    struct vs_port_writer *port;            /* its shape is the technique's */
    const struct vs_prior *prior;           /* NULL: there is none, even if the encoder needs one */
    const struct vs_address_code *code;     /* NULL: there is none, or its ISA is not known */
    const struct vs_code_pages *code_pages; /* NULL: the program does not write code */
    struct vs_parts *parts; /* NULL, or shared with other encoders of the run's same slices */
};

/* A stretch of the run. Steps and events cover the same stretch, each in global order, and are set
 * if the encoder needs them. A step belongs to the event at which its core has executed as many
 * instructions; at the run's end cores may step without an event. */
struct vs_slice {
    const struct vs_step *steps;
    size_t step_count;
    const struct vs_batch *events;
};

struct vs_encoder_ops {
    unsigned needs; /* VS_NEEDS_* */
    /* Returns 0; -VSE_NOMEM; -VSE_INVAL (no code); -VSE_LIMIT (too many cores). */
    int (*open)(void **encoder, const struct vs_technique_context *context);
    /* Takes the next slice. Returns 0; -VSE_INVAL (no such core; no cycles); -VSE_NOMEM. The port's
     * errors stay in its `error`. */
    int (*consume)(void *encoder, const struct vs_slice *slice);
    /* Puts a synchronisation point for a core that has begun: a decoder can follow it from there
     * without what came before. NULL: the technique has none. Returns 0; -VSE_NOMEM. */
    int (*sync)(void *encoder, unsigned core);
    /* Writes what is pending after the last slice. NULL: nothing ever is. Returns 0; -VSE_NOMEM. */
    int (*finish)(void *encoder);
    /* Writes what it met to a struct that `rows` describe, of at most VS_COUNTS_MAX uint64_t. */
    void (*counts)(const void *encoder, void *counts);
    const struct vs_count_row *rows;
    void (*close)(void *encoder); /* NULL is fine */
};

static inline int vs_encoder_finish(const struct vs_encoder_ops *ops, void *encoder)
{
    return ops->finish ? ops->finish(encoder) : 0;
}

/* What a control-flow encoder met, and how much of it became a message's content. */
struct vs_flow_counts {
    uint64_t instructions;
    uint64_t conditional, conditional_reported;
    uint64_t returns, returns_reported;   /* indirect branches that go to a return address */
    uint64_t indirect, indirect_reported; /* the other indirect ones */
    uint64_t discontinuities;             /* all of them are reported */
    uint64_t syncs;                       /* those where a core starts, ends, or has a gap */
    uint64_t switches;                    /* messages that only order cores */
};

extern const struct vs_count_row vs_flow_count_rows[];

/* ---- control flow: the decoder --------------------------------------------------------------- */

/* The stream drives the debugger: a head says which core goes on, and how far is known now. The
 * walker follows that core's code and asks at every conditional and indirect branch, and at the
 * end. Then comes the next head. A message may have several heads, or several messages one head. */
struct vs_flow_head {
    unsigned core;
    uint64_t cycle; /* the message's; 0 if the stream is not timed */

    /* The core stands at a branch that was answered "later"; this is the answer. */
    bool resolves;
    bool taken;      /* whether that branch is taken */
    uint64_t target; /* where it goes, if taken */

    /* How far the core goes: so many instructions; or VS_FLOW_OPEN: until an answer is the last, or
     * until the core stands at `until`, unless that is VS_STEP_NOWHERE. */
    uint64_t count;
    uint64_t until;
    /* The count is one of bytes: of the instructions that the core executes. */
    bool bytes;
    /* An open head ends as soon as the core has asked the system for something (a system call's
     * instruction). */
    bool system;
    /* The instruction at `until`, which repeats itself, was interrupted after it had begun: it is
     * counted. */
    bool within;
    /* The stream would tell that: the instruction before `until` was over. */
    bool whole;
    /* After `count` instructions the decoder's `discontinuity` tells where the core goes. */
    bool discontinuity;
    /* It is none, and no step, if the core stands there already. */
    bool returns;
    /* Without a discontinuity: the last of `count` instructions need not be a conditional or
     * indirect branch. */
    bool cut;
    /* A synchronisation point: after all this, and without a discontinuity, the core stands at
     * `pc`. A core that is lost begins there instead. */
    bool sync;
    uint64_t pc;
    uint64_t instructions; /* the core's by then; VS_FLOW_OPEN: not told */
};

#define VS_FLOW_OPEN UINT64_MAX
#define VS_FLOW_LAST 1

/* Where the core stands when the decoder is asked. */
struct vs_flow_site {
    uint64_t pc;
    uint64_t target; /* a direct branch's, or an indirect one's that is `inferable` */
    uint64_t bytes;  /* of all that the core has executed since its start, or since it was found
                      * again at a synchronisation point, this branch included */
    uint8_t flags;   /* VS_BR_*, without VS_BR_TAKEN */
    uint8_t size;    /* bytes */
    bool last;       /* it is the last of the head's `count` */
    bool inferable; /* indirect, but the instruction before it has set its register to a constant */
};

static inline bool vs_flow_site_indirect(const struct vs_flow_site *s)
{
    return s->flags & VS_BR_INDIRECT;
}

/* Straight code that a core executes: `count` instructions from pc on. */
struct vs_flow_passage {
    uint64_t pc;
    uint32_t version; /* of the code */
    uint32_t count;
};

/* The walker zeroes it. */
struct vs_flow_answer {
    uint64_t cycle; /* when the branch committed, if the stream tells that beside its messages'
                     * cycles; 0: it does not */
    bool taken;
    bool later;      /* the core's next head resolves it; the other members do not matter */
    bool last;       /* the head ends here, whatever its count */
    uint64_t target; /* where an indirect branch goes, if taken */
};

/* A synchronisation point: a place in a stream from which a decoder can read without having read
 * what comes before. */
struct vs_flow_point {
    unsigned stream;
    uint64_t bit; /* in the stream */
    unsigned core;
    uint64_t pc;
};

/* What a decoder may ask about the program's code while a core walks. */
struct vs_flow_code {
    const struct vs_address_code *code; /* without `version`; it stays with the walk */
    void *walk;
    /* Whether a conditional direct branch lies at pc, in the code that the core sees next. */
    bool (*conditional)(void *walk, unsigned core, uint64_t pc);
    /* Whether the core stands at a repeated instruction that has begun and is counted. */
    bool (*begun)(void *walk, unsigned core);
};

struct vs_flow_decoder_ops {
    /* The params have been checked and settled. The reader must outlive the decoder. Returns 0;
     * -VSE_NOMEM. */
    int (*open)(void **decoder, const void *params, const struct vs_technique_setup *setup,
                struct vs_port_reader *port);
    /* Gets the code, which stays with the decoder. NULL: the decoder asks nothing about it. */
    void (*look)(void *decoder, const struct vs_flow_code *code);
    /* Gets the next head. If each core has a stream, the one being read is then the head's core's.
     * Returns 0; -VSE_END (the stream ends before a message); and, like all functions below,
     * -VSE_TRUNCATED and -VSE_CORRUPT with the reader's diag. */
    int (*head)(void *decoder, struct vs_flow_head *head);
    /* The head's core executes straight code, which ends with a branch, with a system call, or
     * anywhere; what it meets there is told afterwards. NULL: nobody wants to know. */
    void (*passed)(void *decoder, unsigned core, const struct vs_flow_passage *passage);
    /* The head's core meets a conditional or indirect branch. */
    int (*branch)(void *decoder, unsigned core, const struct vs_flow_site *site,
                  struct vs_flow_answer *answer);
    /* The head's core meets a direct call. NULL: nobody wants to know. Returns 0; VS_FLOW_LAST: the
     * head ends here. */
    int (*call)(void *decoder, unsigned core, uint64_t return_address, uint64_t target);
    /* The head's core meets a direct jump or a direct call, which `call` then is not told of. NULL:
     * nobody wants to know. Returns as call. */
    int (*direct)(void *decoder, unsigned core, const struct vs_flow_site *site);
    /* Tells where the head's core goes after the count; VS_STEP_NOWHERE if it ends. */
    int (*discontinuity)(void *decoder, unsigned core, uint64_t *target);
    /* Forgets the cores of a stream, finds the first synchronisation point of one of them at or
     * after a bit, and goes on there: the next head for each of these cores is a synchronisation
     * point. The decoder may have been opened just now, or have failed. NULL: the technique has no
     * such points. Returns 0; -VSE_END (there is none: the stream has no more heads). */
    int (*sync)(void *decoder, unsigned stream, uint64_t bit, struct vs_flow_point *point);
    void (*close)(void *decoder); /* NULL is fine */
};

/* ---- the decoders of memory ------------------------------------------------------------------ */

/* The functions of data and address decoders return this if the core needs a message that is not
 * the next one. Nothing was done: the core has to wait until the others have taken theirs. In
 * global order it means that the stream belongs to another run. */
enum { VS_DECODER_WAIT = 1 };

/* The quiet accesses of data decoders return this, with nothing done, if there is more to do. */
enum { VS_DECODER_LOUD = 2 };

/* ---- techniques ------------------------------------------------------------------------------ */

/* A row of a parameter table: a counter's width. */
#define VS_COUNTER_ROW(type, field, text)                                                          \
    {                                                                                              \
        .name = #field, .offset = offsetof(type, field), .min = VS_COUNTER_BITS_MIN,               \
        .max = VS_COUNTER_BITS_MAX, .help = text                                                   \
    }

/* A structure of the encoder, and how many copies of it there are. */
struct vs_cost_item {
    const char *name;
    struct vs_cost cost; /* one copy's */
    uint64_t copies;
};

#define VS_COST_ITEMS 24

struct vs_cost_list {
    struct vs_cost_item items[VS_COST_ITEMS];
    size_t count;
};

/* A named choice of parameters. A row without a name ends a table. */
struct vs_technique_config {
    const char *name;
    const char *values; /* "name=value name=value ..." */
};

struct vs_technique {
    const char *name;
    const char *const *aliases; /* NULL ends them; NULL: none */
    const char *summary;        /* one line */
    const char *raw;    /* the standard whose byte streams a port's streams are, one for each
                         * core; NULL: they are no bytes that others can read */
    unsigned serves;    /* enum vs_technique_kind */
    unsigned cores_max; /* 0: any number */

    const struct vs_parameter *parameters; /* the numbers of a struct of uint64_t */
    size_t params_size;   /* that struct's size, at most VS_TECHNIQUE_PARAMS numbers */
    const char *defaults; /* written as a configuration's values; the rest is 0 */
    const char *unnamed;  /* what holds in files that are older than a parameter and do not name it:
                             before counters had widths, they were never full. NULL: nothing */
    const struct vs_technique_config *configs; /* NULL: none */

    /* Checks that the parameters fit together. NULL: they always do. Returns 0; -VSE_INVAL. */
    int (*check)(const void *params, struct vs_diag *diag);
    /* Sets what stays open until it is known whether the stream is timed. NULL: nothing does. */
    void (*settle)(void *params, bool timed);
    /* Returns dCC's code for settled parameters. NULL: no message carries dCC. */
    struct vs_chunks (*cycles)(const void *params);
    /* Sets the shape's `packets` and `per_core` for settled parameters: how the streams are
     * divided, and among which cores. NULL: into messages of all cores, or a general compressor's
     * packets. */
    void (*framing)(const void *params, struct vs_port_shape *shape);
    /* Returns NULL, or why no decoder could read the stream. The pointer may be NULL: a decoder
     * always can. */
    const char *(*undecodable)(const void *params);
    /* Tells how a general compressor packs the stream. NULL: none does. */
    struct vs_packets_plan (*packets)(const void *params, const struct vs_technique_setup *setup);
    /* Whether the structures see the cores in global order. NULL: they do not. */
    bool (*ordered)(const void *params);
    /* Returns 0; -VSE_NOMEM. */
    int (*cost)(const void *params, const struct vs_technique_setup *setup,
                struct vs_cost_list *list);
    /* The bits of data in the caches to which its structures are added. NULL: there are no
     * caches. */
    uint64_t (*cache_bits)(const void *params, const struct vs_technique_setup *setup);

    /* Returns what the encoder has to be given with these parameters beyond `encoder->needs`. NULL:
     * nothing. */
    unsigned (*needs)(const void *params);
    const struct vs_encoder_ops *encoder;
    /* One for each kind that the technique serves; the others are NULL. */
    const struct vs_flow_decoder_ops *flow_decoder;
    const struct vs_data_decoder_ops *data_decoder;
    const struct vs_address_decoder_ops *address_decoder;
};

/* All techniques, ended by NULL. */
extern const struct vs_technique *const vs_techniques[];

/* Finds a technique by name or alias; NULL if there is none. */
const struct vs_technique *vs_technique_find(const char *name);

/* Finds it in a table, which NULL ends; NULL in place of the table is vs_techniques. */
const struct vs_technique *vs_technique_find_in(const struct vs_technique *const *table,
                                                const char *name);

/* Returns the baseline of a kind, which ratios refer to: the first in the table that serves it.
 * NULL if there is none. */
const struct vs_technique *vs_technique_baseline(enum vs_technique_kind kind);

/* ---- a technique with its parameters --------------------------------------------------------- */

#define VS_TECHNIQUE_PARAMS 48   /* numbers */
#define VS_TECHNIQUE_TEXT   1024 /* holds every spec, with its NUL */

struct vs_technique_spec {
    const struct vs_technique *technique;
    uint64_t params[VS_TECHNIQUE_PARAMS]; /* starts with the technique's struct */
};

/* Sets the defaults. Returns 0; an error if the technique's table is at fault. */
int vs_technique_defaults(struct vs_technique_spec *s, const struct vs_technique *t);

/* Does the same before a file's own parameters are set: parameters that older files do not name get
 * the values that held then. */
int vs_technique_unnamed(struct vs_technique_spec *s, const struct vs_technique *t);

/* Sets one parameter and returns as vs_parameter_set. Whether the parameters fit together is not
 * checked. */
int vs_technique_set(struct vs_technique_spec *s, const char *name, const char *value,
                     struct vs_diag *diag);

/* Parses what a user writes: "name", or "name:item,item,..." with items that are configurations or
 * name=value, applied in order over the defaults. An example: "mcfTRaptor_e:small,gshare=2048".
 * Returns 0; -VSE_NOTFOUND (no such technique, configuration, parameter); -VSE_INVAL (no such
 * value, or values that do not fit together). diag says what there is. */
int vs_technique_parse(struct vs_technique_spec *s, const char *text, struct vs_diag *diag);

/* Does the same with the techniques of a table, as in vs_technique_find_in. */
int vs_technique_parse_in(const struct vs_technique *const *table, struct vs_technique_spec *s,
                          const char *text, struct vs_diag *diag);

/* Applies the items of such a text to a spec. Whether the parameters fit together is not checked.
 * Returns as vs_technique_parse. */
int vs_technique_items(struct vs_technique_spec *s, const char *items, struct vs_diag *diag);

/* Checks that the parameters fit together. Returns 0; -VSE_INVAL. */
int vs_technique_check(const struct vs_technique_spec *s, struct vs_diag *diag);

/* Must be called once it is known whether the stream is timed, and before any function below. */
void vs_technique_settle(struct vs_technique_spec *s, bool timed);

/* Writes the spec with all its parameters, as vs_technique_parse takes it. Returns its length;
 * -VSE_LIMIT. */
int vs_technique_text(const struct vs_technique_spec *s, char *out, size_t capacity);

void vs_technique_shape(const struct vs_technique_spec *s, const struct vs_technique_setup *setup,
                        struct vs_port_shape *shape);

/* Returns what the encoder has to be given: VS_NEEDS_*. */
unsigned vs_technique_needs(const struct vs_technique_spec *s);

/* Returns NULL, or why the stream of these parameters cannot be decoded. The string is static. */
const char *vs_technique_undecodable(const struct vs_technique_spec *s);

bool vs_technique_ordered(const struct vs_technique_spec *s);

/* Lists the encoder's structures. Returns 0; -VSE_NOMEM. */
int vs_technique_cost(const struct vs_technique_spec *s, const struct vs_technique_setup *setup,
                      struct vs_cost_list *list);

/* As vs_technique.cache_bits; 0 for a technique without caches. */
uint64_t vs_technique_cache_bits(const struct vs_technique_spec *s,
                                 const struct vs_technique_setup *setup);

/* For cost functions: adds a row. Rows beyond VS_COST_ITEMS are dropped. */
void vs_cost_list_add(struct vs_cost_list *list, const char *name, struct vs_cost cost,
                      uint64_t copies);
struct vs_cost vs_cost_list_sum(const struct vs_cost_list *list);

#endif
