/* SPDX-License-Identifier: MIT */
#include "technique/data.h"

#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "technique/data_common.h"

const char *const vs_data_account_words[] = {"exact", "published", NULL};
const char *const vs_data_caches_words[] = {"coherent", "private", "shared", NULL};
const char *const vs_data_order_words[] = {"exact", "published", NULL};
const char *const vs_data_rule_words[] = {"all", "implied", NULL};
const char *const vs_data_supply_words[] = {"any", "owner", NULL};
const char *const vs_data_streams_words[] = {"unified", "split", NULL};
const char *const vs_data_predict_words[] = {"none", "zero", NULL};
const char *const vs_data_heads_words[] = {"plain", "adaptive", NULL};

struct vs_chunks vs_data_cycle_chunks(const void *params)
{
    const struct vs_data_params *p = params;
    return (struct vs_chunks){(uint8_t)p->dcc, (uint8_t)p->dcc_next};
}

/* ---- cost ------------------------------------------------------------------------------------ */

void vs_data_cost_common(struct vs_cost_list *list, const struct vs_data_params *params,
                         const struct vs_technique_setup *setup)
{
    vs_cost_list_add(list, "iCnt", vs_counter_cost(params->icnt_bits), setup->cores);
}

uint64_t vs_data_cache_bits(const void *params, const struct vs_technique_setup *setup)
{
    const struct vs_data_params *p = params;
    return 8 * p->size * (p->caches == VS_DATA_SHARED ? 1 : setup->cores);
}

/* ---- encoders -------------------------------------------------------------------------------- */

int vs_data_encoder_init(struct vs_data_encoder *e, const struct vs_data_rare *rare,
                         const struct vs_technique_context *context)
{
    const struct vs_data_params *params = context->params;
    const struct vs_technique_setup *setup = context->setup;
    e->port = context->port;
    e->rare = rare;
    e->cores = setup->cores;
    e->full = vs_counter_full(params->icnt_bits);
    vs_seen_init(&e->seen, context->prior);
    e->writers.code = setup->cores > 1 && !rare->ordered ? context->code_pages : NULL;
    e->since = calloc(setup->cores, sizeof(*e->since));
    e->live = calloc(setup->cores, sizeof(*e->live));
    e->filled = calloc(setup->cores, sizeof(*e->filled));
    return e->since && e->live && e->filled ? 0 : -VSE_NOMEM;
}

void vs_data_encoder_fini(struct vs_data_encoder *e)
{
    vs_seen_fini(&e->seen);
    vs_writers_fini(&e->writers);
    free(e->since);
    free(e->live);
    free(e->filled);
}

static void put_payload(struct vs_data_encoder *e, enum vs_field f, const uint8_t *bytes,
                        size_t size)
{
    if (e->rare->payload)
        e->rare->payload(e, f, bytes, size);
    else
        vs_port_put_bytes(e->port, f, bytes, size);
}

static void put_nondet(struct vs_data_encoder *e, unsigned core, const uint8_t *bytes, size_t size)
{
    if (e->rare->predicts && e->rare->predicts(e, core, bytes, size))
        return;
    e->rare->head(e, core, VS_DATA_NONDET, size);
    if (e->rare->kinds)
        put_payload(e, VS_FIELD_VALUE, bytes, size);
    else
        vs_data_put_value(e, bytes, size);
    vs_port_end(e->port);
    e->counts.nondets++;
    e->counts.nondet_bits += vs_data_message_bits(e);
}

/* Puts what says where the core stands. Registers follow, or nothing does. */
static void put_place(struct vs_data_encoder *e, unsigned core, enum vs_data_what what, size_t size,
                      uint64_t instructions)
{
    e->rare->head(e, core, what, size);
    if (!e->rare->kinds)
        vs_port_put(e->port, VS_FIELD_STATE, VS_DATA_ESCAPE | 1 << 8, 9);
    vs_port_put_chunks(e->port, VS_FIELD_STATE, VS_DATA_STATE_CHUNKS, instructions);
}

void vs_data_put_full(struct vs_data_encoder *e, unsigned core)
{
    for (; e->since[core] >= e->full; e->since[core] -= e->full) {
        put_place(e, core, VS_DATA_FULL, 0, e->full);
        e->filled[core] = true;
        vs_port_end(e->port);
        e->counts.state_bits += vs_data_message_bits(e);
    }
}

static void put_state_head(struct vs_data_encoder *e, unsigned core, enum vs_data_what what,
                           size_t size)
{
    put_place(e, core, what, size, e->since[core]);
    vs_port_put_chunks(e->port, VS_FIELD_STATE, VS_DATA_STATE_CHUNKS,
                       what == VS_DATA_END ? 0 : size + 1);
    e->since[core] = 0;
    e->filled[core] = false;
}

static void put_state(struct vs_data_encoder *e, unsigned core, const uint8_t *bytes, size_t size)
{
    put_state_head(e, core, VS_DATA_STATE, size);
    put_payload(e, VS_FIELD_STATE, bytes, size);
    vs_port_end(e->port);
    e->counts.states++;
    e->counts.state_bits += vs_data_message_bits(e);
}

void vs_data_put_ends(struct vs_data_encoder *e)
{
    for (unsigned core = 0; core < e->cores; core++) {
        put_state_head(e, core, VS_DATA_END, 0);
        vs_port_end(e->port);
        e->counts.state_bits += vs_data_message_bits(e);
    }
}

static int outside_write(struct vs_data_encoder *e, const struct vs_event *event,
                         const uint8_t *bytes)
{
    e->counts.outside++;
    if (e->rare->outside)
        e->rare->outside(e, event->thread, event->addr, event->size);
    return e->memory ? vs_seen_write(&e->seen, event->addr, bytes, event->size) : 0;
}

void vs_data_mapped(const struct vs_event *event, uint64_t *start, uint64_t *size)
{
    uint64_t last = event->addr + (event->value - 1);
    if (last < event->addr)
        last = UINT64_MAX;
    *start = event->addr >> VS_COPY_BITS << VS_COPY_BITS;
    *size = (last | (VS_COPY_PAGE - 1)) - *start;
    *size += *size < UINT64_MAX; /* all memory lacks its last byte, but not that byte's line */
}

static int mapping(struct vs_data_encoder *e, const struct vs_event *event)
{
    uint64_t start, size;
    if (!event->value)
        return 0;
    vs_data_mapped(event, &start, &size);
    e->counts.outside++;
    if (e->rare->outside)
        e->rare->outside(e, event->thread, start, size);
    return e->memory ? vs_seen_map(&e->seen, start, size) : 0;
}

static int gap(struct vs_data_encoder *e, const struct vs_event *event, const uint8_t *bytes)
{
    if (e->rare->forget)
        e->rare->forget(e, event->thread);
    put_state(e, event->thread, bytes, event->size);
    return e->memory ? vs_seen_gap(&e->seen) : 0;
}

/* Returns whether a core's place has to be told when others need to know it: not before it begins,
 * and not if it ended where it was told last. */
static bool has_place(const struct vs_data_encoder *e, unsigned core)
{
    return e->live[core] || e->since[core] || e->filled[core];
}

/* Code changed for all cores: tells where each of them stands. */
static void code_changed(struct vs_data_encoder *e)
{
    for (unsigned core = 0; core < e->cores; core++)
        if (has_place(e, core))
            put_state(e, core, NULL, 0);
}

int vs_data_order_store(struct vs_data_encoder *e, const struct vs_event *event)
{
    uint64_t addr = event->addr;
    size_t size = event->size;
    unsigned other;
    int err = 0;
    while (size && !err &&
           !(err = vs_writers_take(&e->writers, event->thread, &addr, &size, &other))) {
        if (other == VS_WRITERS_NOBODY || !has_place(e, other))
            continue;
        put_state_head(e, other, VS_DATA_STATE, VS_DATA_PLACE);
        vs_port_put(e->port, VS_FIELD_STATE, 0, 8 * VS_DATA_PLACE);
        vs_port_end(e->port);
        e->counts.orders++;
        e->counts.order_bits += vs_data_message_bits(e);
    }
    return err;
}

int vs_data_rare_event(struct vs_data_encoder *e, const struct vs_batch *b,
                       const struct vs_event *event)
{
    const uint8_t *bytes = vs_event_bytes(b, event);
    size_t head = sizeof(struct vs_syscall_head);
    switch (event->kind) {
    case VS_EXTERNAL:
        return outside_write(e, event, bytes);
    case VS_MAP:
        return mapping(e, event);
    case VS_GAP:
        e->live[event->thread] = true;
        return gap(e, event, bytes);
    case VS_CODE:
        code_changed(e);
        return 0;
    case VS_THREAD_EXIT:
        e->live[event->thread] = false;
        return 0;
    case VS_NONDET:
        put_nondet(e, event->thread, bytes, event->size);
        return 0;
    case VS_SYSCALL:
        if (event->size < head)
            return -VSE_INVAL;
        put_state(e, event->thread, bytes + head, event->size - head);
        return 0;
    case VS_THREAD_START:
        e->live[event->thread] = true;
        /* fallthrough */
    case VS_EXCEPTION:
    case VS_EXCEPTION_RET:
        put_state(e, event->thread, bytes, event->size);
        return 0;
    default:
        return 0;
    }
}

int vs_data_finish(void *encoder)
{
    vs_data_put_ends(encoder);
    return 0;
}

void vs_data_encoder_counts(const void *encoder, void *counts)
{
    struct vs_data_counts *c = counts;
    *c = ((const struct vs_data_encoder *)encoder)->counts;
    for (unsigned i = 0; i < VS_DATA_SIZES; i++)
        c->reported += c->misses[i];
}

#define ROW(name, field, text)                                                                     \
    {                                                                                              \
        name, text, offsetof(struct vs_data_counts, field)                                         \
    }
#define SIZE_ROWS(class, size)                                                                     \
    ROW("loads_known_" size, hits[class], "loads of up to " size " bytes that took no value"),     \
        ROW("loads_reported_" size, misses[class], "of the same size: took one")

const struct vs_count_row vs_data_count_rows[] = {
    ROW("instructions", instructions, "executed"),
    ROW("loads", loads, "loads"),
    ROW("stores", stores, "stores"),
    SIZE_ROWS(0, "1"),
    SIZE_ROWS(1, "2"),
    SIZE_ROWS(2, "4"),
    SIZE_ROWS(3, "8"),
    SIZE_ROWS(4, "16"),
    SIZE_ROWS(5, "32"),
    SIZE_ROWS(6, "64"),
    SIZE_ROWS(7, "more"),
    ROW("loads_reported", reported, "loads that took a value"),
    ROW("line_hits", line_hits, "loads and stores that found all their lines"),
    ROW("line_misses", line_misses, "those that did not"),
    ROW("outside_writes", outside, "outside writes and mappings"),
    ROW("loads_unseen", unseen, "loads of what changed without an event, or was not known"),
    ROW("value_messages", nondets, "values from outside"),
    ROW("value_message_bits", nondet_bits, "bits of their messages"),
    ROW("values_expected", expected, "values from outside that took no message"),
    ROW("state_messages", states, "registers, and ends of cores"),
    ROW("state_message_bits", state_bits, "bits of their messages"),
    ROW("order_messages", orders, "messages that only order cores; invalidations from outside"),
    ROW("order_message_bits", order_bits, "bits of these"),
    ROW("orders_implied", silent, "transactions whose order is implied"),
    ROW("prefetches_reported", prefetches, "prefetches that were messages"),
    {0},
};

_Static_assert(VS_DATA_SIZES == 8, "each size has its rows");
_Static_assert(sizeof(struct vs_data_counts) <= VS_COUNTS_MAX * sizeof(uint64_t), "they fit");

/* ---- decoders -------------------------------------------------------------------------------- */

/* Sets *taken to whether the escape follows. It is consumed only if it does. */
static int take_escape(struct vs_port_reader *port, bool *taken)
{
    uint64_t pos = port->bits.pos, byte, bit = 0;
    int err = vs_port_get(port, VS_FIELD_VALUE, 8, &byte);
    if (!err && byte == VS_DATA_ESCAPE)
        err = vs_port_get(port, VS_FIELD_STATE, 1, &bit);
    *taken = bit;
    if (!bit)
        port->bits.pos = pos;
    return err;
}

int vs_data_passed_init(struct vs_data_passed *p, const struct vs_data_params *params,
                        unsigned cores)
{
    *p = (struct vs_data_passed){.full = vs_counter_full(params->icnt_bits), .cores = cores};
    p->instructions = calloc(cores, sizeof(*p->instructions));
    return p->instructions ? 0 : -VSE_NOMEM;
}

int vs_data_passed_clone(struct vs_data_passed *to, const struct vs_data_passed *from)
{
    size_t size = from->cores * sizeof(*from->instructions);
    *to = *from;
    to->instructions = malloc(size);
    if (!to->instructions)
        return -VSE_NOMEM;
    memcpy(to->instructions, from->instructions, size);
    return 0;
}

void vs_data_passed_fini(struct vs_data_passed *p)
{
    free(p->instructions);
    p->instructions = NULL;
}

int vs_data_add_passed(struct vs_port_reader *port, enum vs_field field, uint64_t full,
                       uint64_t *passed, uint64_t *count)
{
    if (*count > full || __builtin_add_overflow(*count, *passed, count))
        return vs_port_refuse(port, field, "more than the counter holds");
    bool is_full = *count - *passed == full;
    *passed = is_full ? *count : 0;
    return is_full;
}

int vs_data_get_hits(struct vs_port_reader *port, struct vs_chunks code, uint64_t full,
                     uint64_t *passed, uint64_t *count)
{
    int err = vs_port_get_chunks(port, VS_FIELD_FAHCNT, code, count);
    return err ? err : vs_data_add_passed(port, VS_FIELD_FAHCNT, full, passed, count);
}

int vs_data_get_head(struct vs_port_reader *port, struct vs_data_passed *passed, unsigned core,
                     struct vs_data_head *head)
{
    int err = take_escape(port, &head->state);
    head->full = false;
    return err || !head->state ? err : vs_data_get_place(port, passed, core, head);
}

int vs_data_get_place(struct vs_port_reader *port, struct vs_data_passed *passed, unsigned core,
                      struct vs_data_head *head)
{
    head->state = true;
    int err = vs_port_get_chunks(port, VS_FIELD_STATE, VS_DATA_STATE_CHUNKS, &head->instructions);
    if (!err)
        err = vs_data_add_passed(port, VS_FIELD_STATE, passed->full, &passed->instructions[core],
                                 &head->instructions);
    head->full = err > 0;
    if (!err)
        err = vs_port_get_chunks(port, VS_FIELD_STATE, VS_DATA_STATE_CHUNKS, &head->size);
    if (!err && head->size > VS_SIZE_MAX + 1)
        err = vs_port_refuse(port, VS_FIELD_STATE, "too many registers");
    return err < 0 ? err : 0;
}

int vs_data_get_value(struct vs_port_reader *port, const struct vs_data_head *head, uint8_t *bytes,
                      size_t size)
{
    uint64_t bit;
    int err;
    if (head->state)
        return vs_port_refuse(port, VS_FIELD_VALUE, "registers where a value should be");
    if ((err = vs_port_get_bytes(port, VS_FIELD_VALUE, bytes, 1)) ||
        (bytes[0] == VS_DATA_ESCAPE && (err = vs_port_get(port, VS_FIELD_STATE, 1, &bit))))
        return err;
    return vs_port_get_bytes(port, VS_FIELD_VALUE, bytes + 1, size - 1);
}

static int check_place(struct vs_port_reader *port, const struct vs_data_head *head, unsigned core,
                       uint64_t instructions)
{
    char where[VS_PORT_WHERE];
    if (head->state && head->instructions == instructions)
        return 0;
    return vs_diag_set(
        &port->diag, -VSE_CORRUPT, (int64_t)(port->bits.pos / 8), -1,
        "%s, in message %llu: core %u gets a value or registers elsewhere than after %llu "
        "instructions",
        vs_port_where(port, where), (unsigned long long)port->messages, core,
        (unsigned long long)instructions);
}

int vs_data_begin_state(struct vs_port_reader *port, const struct vs_data_head *head, unsigned core,
                        uint64_t instructions, struct vs_buf *state, size_t *size)
{
    int err = check_place(port, head, core, instructions);
    if (err)
        return err;
    if (!head->size)
        return vs_data_refuse(port, core, "ends where registers should come");
    *size = (size_t)head->size - 1;
    state->len = 0;
    return vs_buf_reserve(state, *size + 1);
}

int vs_data_get_state(struct vs_port_reader *port, const struct vs_data_head *head, unsigned core,
                      uint64_t instructions, struct vs_buf *state, const uint8_t **bytes,
                      size_t *size)
{
    int err = vs_data_begin_state(port, head, core, instructions, state, size);
    if (!err)
        err = vs_port_get_bytes(port, VS_FIELD_STATE, state->data, *size);
    *bytes = state->data;
    return err;
}

int vs_data_get_end(struct vs_port_reader *port, const struct vs_data_head *head, unsigned core,
                    uint64_t instructions)
{
    int err = check_place(port, head, core, instructions);
    return err || !head->size ? err
                              : vs_data_refuse(port, core, "gets registers where it should end");
}

int vs_data_refuse(struct vs_port_reader *port, unsigned core, const char *why)
{
    char where[VS_PORT_WHERE];
    return vs_diag_set(&port->diag, -VSE_CORRUPT, (int64_t)(port->bits.pos / 8), -1,
                       "%s, after message %llu: core %u %s", vs_port_where(port, where),
                       (unsigned long long)port->messages, core, why);
}

int vs_data_ended(struct vs_port_reader *port, unsigned core)
{
    char where[VS_PORT_WHERE];
    return vs_diag_set(&port->diag, -VSE_END, (int64_t)(port->bits.pos / 8), -1,
                       "%s, after message %llu: the stream ends, and core %u goes on",
                       vs_port_where(port, where), (unsigned long long)port->messages, core);
}

struct vs_copy *vs_data_copies_new(unsigned count)
{
    struct vs_copy *copies = malloc(count * sizeof(*copies));
    for (unsigned i = 0; copies && i < count; i++)
        vs_copy_init(&copies[i]);
    return copies;
}

struct vs_copy *vs_data_copies_clone(struct vs_copy *copies, unsigned count)
{
    struct vs_copy *clones = vs_data_copies_new(count);
    int err = 0;
    for (unsigned i = 0; clones && i < count && !err; i++)
        err = vs_copy_clone(&clones[i], &copies[i]);
    if (!err)
        return clones;
    vs_data_copies_free(clones, count);
    return NULL;
}

void vs_data_copies_free(struct vs_copy *copies, unsigned count)
{
    for (unsigned i = 0; copies && i < count; i++)
        vs_copy_fini(&copies[i]);
    free(copies);
}
