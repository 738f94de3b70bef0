/* SPDX-License-Identifier: MIT */
/* What the machines of all load-value techniques share. */
#ifndef TECHNIQUE_DATA_COMMON_H
#define TECHNIQUE_DATA_COMMON_H

#include "base/buf.h"
#include "model/cache.h"
#include "technique/data.h"
#include "technique/registry.h"
#include "technique/writers.h"

/* The code of the numbers that go with registers: instructions, and bytes. */
#define VS_DATA_STATE_CHUNKS ((struct vs_chunks){8, 8})

/* ---- parameters ---- */

/* Rows of parameter tables. */
#define VS_DATA_NUMBER(field, lo, hi, text)                                                        \
    {                                                                                              \
        .name = #field, .offset = offsetof(struct vs_data_params, field), .min = (lo),             \
        .max = (hi), .help = (text)                                                                \
    }
#define VS_DATA_POWER(field, lo, hi, text)                                                         \
    {                                                                                              \
        .name = #field, .offset = offsetof(struct vs_data_params, field), .min = (lo),             \
        .max = (hi), .power = true, .help = (text)                                                 \
    }
#define VS_DATA_WORD(field, list, text)                                                            \
    {                                                                                              \
        .name = #field, .offset = offsetof(struct vs_data_params, field), .words = (list),         \
        .help = (text)                                                                             \
    }

/* The words for the enumerations in technique/data.h. */
extern const char *const vs_data_account_words[];
extern const char *const vs_data_caches_words[];
extern const char *const vs_data_order_words[];
extern const char *const vs_data_rule_words[];
extern const char *const vs_data_supply_words[];
extern const char *const vs_data_streams_words[];
extern const char *const vs_data_predict_words[];
extern const char *const vs_data_heads_words[];

/* Lines lie within the pages of base/copy.h. */
#define VS_DATA_LINE_MAX 4096

#define VS_DATA_CACHE_ROWS                                                                         \
    VS_DATA_NUMBER(size, 4, 1u << 30, "bytes of a cache"),                                         \
        VS_DATA_POWER(line, 4, VS_DATA_LINE_MAX, "bytes of a cache line"),                         \
        VS_DATA_NUMBER(ways, 1, VS_CACHE_WAYS_MAX, "ways of a cache"),                             \
        VS_DATA_WORD(policy, vs_cache_policy_words, "replacement")
#define VS_DATA_HITS_ROWS(counter)                                                                 \
    VS_DATA_NUMBER(fahcnt, 1, 64, "bits of " counter "'s first chunk"),                            \
        VS_DATA_NUMBER(fahcnt_next, 1, 64, "bits of its other chunks"),                            \
        VS_COUNTER_ROW(struct vs_data_params, fahcnt_bits,                                         \
                       "bits of the counter " counter "; a message when it is full")
#define VS_DATA_ICNT_ROW                                                                           \
    VS_COUNTER_ROW(struct vs_data_params, icnt_bits,                                               \
                   "bits of the counter of instructions; a message when it is full")
#define VS_DATA_CYCLE_ROWS                                                                         \
    VS_DATA_NUMBER(dcc, 1, 64, "bits of dCC's first chunk"),                                       \
        VS_DATA_NUMBER(dcc_next, 1, 64, "bits of its other chunks")

static inline struct vs_cache_config vs_data_cache_config(const struct vs_data_params *p)
{
    return (struct vs_cache_config){.size = p->size,
                                    .line = (uint32_t)p->line,
                                    .ways = (uint32_t)p->ways,
                                    .policy = (enum vs_cache_policy)p->policy};
}

static inline struct vs_chunks vs_data_count_chunks(const struct vs_data_params *p)
{
    return (struct vs_chunks){(uint8_t)p->fahcnt, (uint8_t)p->fahcnt_next};
}

struct vs_chunks vs_data_cycle_chunks(const void *params);

/* vs_technique.cache_bits of techniques that have caches. */
uint64_t vs_data_cache_bits(const void *params, const struct vs_technique_setup *setup);

/* Adds what every technique has: the counter of instructions since the last registers. */
void vs_data_cost_common(struct vs_cost_list *list, const struct vs_data_params *params,
                         const struct vs_technique_setup *setup);

/* ---- encoders ---- */

enum vs_data_what {
    VS_DATA_NONDET,
    VS_DATA_STATE,
    VS_DATA_END,
    VS_DATA_FULL, /* the counter of instructions is full */
};

struct vs_data_encoder;

/* The part of an encoder for rare events. Any function but head may be NULL. */
struct vs_data_rare {
    bool kinds;   /* heads say what the message is, so there is no escape */
    bool ordered; /* the stream orders the stores of all cores */
    /* Begins the core's message, up to its payload of so many bytes. */
    void (*head)(struct vs_data_encoder *e, unsigned core, enum vs_data_what what, size_t size);
    /* Puts a value's or registers' bytes. NULL: they go as they are. */
    void (*payload)(struct vs_data_encoder *e, enum vs_field f, const uint8_t *bytes, size_t size);
    /* Whether a value from outside takes no message, since the debugger expects it. */
    bool (*predicts)(struct vs_data_encoder *e, unsigned core, const uint8_t *bytes, size_t size);
    /* Something outside wrote these bytes. */
    void (*outside)(struct vs_data_encoder *e, unsigned core, uint64_t addr, uint64_t size);
    /* Nothing is certain any more. */
    void (*forget)(struct vs_data_encoder *e, unsigned core);
};

/* An encoder's first member. */
struct vs_data_encoder {
    struct vs_port_writer *port;
    const struct vs_data_rare *rare;
    unsigned cores;
    bool memory; /* `seen` is kept */
    struct vs_seen seen;
    uint64_t time;   /* the event's, in cycles or instructions */
    uint64_t *since; /* by core: instructions after its last registers, or full counter */
    uint64_t full;   /* at which the counter is full */
    bool *live;      /* by core: it has begun and not ended */
    bool *filled;    /* by core: its counter was full since its last registers */
    struct vs_writers writers;
    struct vs_data_counts counts;
    uint8_t granules[VS_SIZE_MAX + 2 * VS_DATA_LINE_MAX]; /* a message's bytes */
};

/* Returns 0; -VSE_NOMEM. e needs fini in any case. */
int vs_data_encoder_init(struct vs_data_encoder *e, const struct vs_data_rare *rare,
                         const struct vs_technique_context *context);
void vs_data_encoder_fini(struct vs_data_encoder *e);

/* Takes an event that is no load or store. Returns 0; -VSE_NOMEM. */
int vs_data_rare_event(struct vs_data_encoder *e, const struct vs_batch *b,
                       const struct vs_event *event);

/* The core's counter of instructions is full or beyond: sends messages until it is not. */
void vs_data_put_full(struct vs_data_encoder *e, unsigned core);

/* A core is about to store where code may lie. Returns 0; -VSE_NOMEM. */
int vs_data_order_store(struct vs_data_encoder *e, const struct vs_event *event);

/* Puts the ends of all cores. */
void vs_data_put_ends(struct vs_data_encoder *e);

/* Serve as vs_encoder_ops.finish, which puts the ends, and .counts for encoders that begin with a
 * struct vs_data_encoder. */
int vs_data_finish(void *encoder);
void vs_data_encoder_counts(const void *encoder, void *counts);

/* Such an encoder's table. */
#define VS_DATA_ENCODER(opens, consumes, finishes, closes)                                         \
    {                                                                                              \
        .needs = VS_NEEDS_ACCESSES | VS_NEEDS_PRIOR, .open = opens, .consume = consumes,           \
        .finish = finishes, .counts = vs_data_encoder_counts, .rows = vs_data_count_rows,          \
        .close = closes                                                                            \
    }

/* Puts a value of at least one byte where registers could be. */
static inline void vs_data_put_value(struct vs_data_encoder *e, const uint8_t *bytes, size_t size)
{
    if (likely(bytes[0] != VS_DATA_ESCAPE)) {
        vs_port_put_bytes(e->port, VS_FIELD_VALUE, bytes, size);
        return;
    }
    vs_port_put_bytes(e->port, VS_FIELD_VALUE, bytes, 1);
    vs_port_put(e->port, VS_FIELD_STATE, 0, 1);
    vs_port_put_bytes(e->port, VS_FIELD_VALUE, bytes + 1, size - 1);
}

/* Returns 0 or an error. */
typedef int vs_data_load(struct vs_data_encoder *e, unsigned core, uint64_t addr, size_t size,
                         const uint8_t *bytes);
typedef vs_data_load vs_data_store;

/* The store of encoders for which stores do not matter. */
static inline int vs_data_store_nothing(struct vs_data_encoder *e, unsigned core, uint64_t addr,
                                        size_t size, const uint8_t *bytes)
{
    (void)e, (void)core, (void)addr, (void)size, (void)bytes;
    return 0;
}

/* Every technique's consume is this, with its own two functions, which are inlined. */
static inline __attribute__((always_inline)) int vs_data_each(struct vs_data_encoder *e,
                                                              const struct vs_batch *b,
                                                              vs_data_load *load,
                                                              vs_data_store *store)
{
    bool timed = e->port->shape.timed;
    if (timed && !b->cycles && b->count)
        return -VSE_INVAL;
    for (size_t i = 0; i < b->count; i++) {
        const struct vs_event *event = &b->events[i];
        int err = 0;
        if (unlikely(event->thread >= e->cores))
            return -VSE_INVAL;
        e->counts.instructions += event->icount;
        e->since[event->thread] += event->icount;
        e->time = timed ? b->cycles[i] : e->counts.instructions;
        if (unlikely(e->since[event->thread] >= e->full))
            vs_data_put_full(e, event->thread);
        if (event->kind == VS_LOAD) {
            e->counts.loads++;
            err = load(e, event->thread, event->addr, event->size, vs_event_bytes(b, event));
        } else if (event->kind == VS_STORE) {
            e->counts.stores++;
            if (unlikely(vs_writers_concern(&e->writers, event->addr, event->size)))
                err = vs_data_order_store(e, event);
            if (likely(!err))
                err = store(e, event->thread, event->addr, event->size, vs_event_bytes(b, event));
        } else if (event->kind != VS_BRANCH) {
            err = vs_data_rare_event(e, b, event);
        }
        if (unlikely(err))
            return err;
    }
    return 0;
}

static inline void vs_data_note_load(struct vs_data_encoder *e, size_t size, bool hit)
{
    unsigned c = vs_data_size_class(size);
    e->counts.hits[c] += hit;
    e->counts.misses[c] += !hit;
}

/* The message's bits so far, from its beginning. */
static inline uint64_t vs_data_message_bits(const struct vs_data_encoder *e)
{
    return vs_port_bits(e->port) - e->port->start;
}

/* Where an operand's granules start, and how many bytes they have. */
static inline uint64_t vs_data_granules_start(uint64_t addr, uint64_t granule)
{
    return addr & ~(granule - 1);
}

static inline size_t vs_data_granules_size(uint64_t addr, size_t size, uint64_t granule)
{
    uint64_t before = addr & (granule - 1);
    return (size_t)((before + size + granule - 1) & ~(granule - 1));
}

/* ---- decoders ---- */

/* What a message begins with where a value or registers may follow. */
struct vs_data_head {
    bool state;            /* registers or the core's end follow */
    uint64_t instructions; /* since the core's last registers */
    uint64_t size;         /* the registers' size plus 1; 0: the end */
    bool full;             /* the counter of instructions is full: the message says nothing else */
};

/* The instructions that full counters have told of since each core's last registers. They are added
 * to its next message's. */
struct vs_data_passed {
    uint64_t full;
    unsigned cores;
    uint64_t *instructions; /* by core */
};

/* Returns 0; -VSE_NOMEM. */
int vs_data_passed_init(struct vs_data_passed *p, const struct vs_data_params *params,
                        unsigned cores);
int vs_data_passed_clone(struct vs_data_passed *to, const struct vs_data_passed *from);
void vs_data_passed_fini(struct vs_data_passed *p);

/* Reads the head of the core's message, if it is one of registers. Returns as
 * vs_port_get_chunks. */
int vs_data_get_head(struct vs_port_reader *port, struct vs_data_passed *passed, unsigned core,
                     struct vs_data_head *head);

/* Does the same where the message's kind says that it is one. */
int vs_data_get_place(struct vs_port_reader *port, struct vs_data_passed *passed, unsigned core,
                      struct vs_data_head *head);

/* Reads fahCnt or THCnt, which is full at `full`, from a core's message; *passed is what full
 * counters have told of. Returns 0, with the sum of both in *count; 1: it is full, and *passed has
 * grown; as vs_port_get_chunks. */
int vs_data_get_hits(struct vs_port_reader *port, struct vs_chunks code, uint64_t full,
                     uint64_t *passed, uint64_t *count);

/* Adds to *count what full counters told of. If this counter is full too, *passed is then the sum,
 * and else 0. Returns 0; 1: it is full; -VSE_CORRUPT. */
int vs_data_add_passed(struct vs_port_reader *port, enum vs_field field, uint64_t full,
                       uint64_t *passed, uint64_t *count);

/* Reads a value after such a head. Returns as vs_port_get_bytes. */
int vs_data_get_value(struct vs_port_reader *port, const struct vs_data_head *head, uint8_t *bytes,
                      size_t size);

/* Reads the registers into `state`; the core is due to get them after so many instructions. Returns
 * as vs_port_get_bytes. */
int vs_data_get_state(struct vs_port_reader *port, const struct vs_data_head *head, unsigned core,
                      uint64_t instructions, struct vs_buf *state, const uint8_t **bytes,
                      size_t *size);

/* Does the same up to the registers, which then belong in state->data: so many bytes. Returns 0;
 * -VSE_NOMEM; -VSE_CORRUPT. */
int vs_data_begin_state(struct vs_port_reader *port, const struct vs_data_head *head, unsigned core,
                        uint64_t instructions, struct vs_buf *state, size_t *size);

/* Checks that the core's end is due. Returns 0; -VSE_CORRUPT. */
int vs_data_get_end(struct vs_port_reader *port, const struct vs_data_head *head, unsigned core,
                    uint64_t instructions);

/* What `due` answers for the core's next message, or if there is none. */
static inline void vs_data_due(const struct vs_data_head *head, uint64_t *instructions, bool *ends)
{
    bool told = head && head->state;
    *instructions = told ? head->instructions : UINT64_MAX;
    *ends = told && !head->size;
}

/* Refuses what the caller asks for, at the stream's position. Returns -VSE_CORRUPT. */
int vs_data_refuse(struct vs_port_reader *port, unsigned core, const char *why);

/* The stream is over. Returns -VSE_END. */
int vs_data_ended(struct vs_port_reader *port, unsigned core);

/* Copies of memory, one per core or one for all. The first two return NULL if there is no
 * memory. */
struct vs_copy *vs_data_copies_new(unsigned count);
struct vs_copy *vs_data_copies_clone(struct vs_copy *copies, unsigned count);
void vs_data_copies_free(struct vs_copy *copies, unsigned count);

#endif
