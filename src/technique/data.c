/* SPDX-License-Identifier: MIT */
#include "technique/data.h"

#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "technique/data_common.h"

const char *const vs_data_policy_words[] = {"lru", "round-robin", "fifo", "plru", NULL};
const char *const vs_data_account_words[] = {"exact", "published", NULL};
const char *const vs_data_caches_words[] = {"coherent", "private", "shared", NULL};
const char *const vs_data_order_words[] = {"exact", "published", NULL};
const char *const vs_data_rule_words[] = {"all", "shared", NULL};

const struct vs_data_technique *const vs_data_techniques[] = {
    &vs_nexus_data, &vs_cfiat_b, &vs_cfiat_e, &vs_first_access, &vs_first_access_dedicated,
    &vs_mc2rt,      NULL,
};

const struct vs_data_technique *vs_data_technique_find(const char *name)
{
    const struct vs_data_technique *const *t = vs_data_techniques;
    while (*t && strcmp((*t)->name, name))
        t++;
    return *t;
}

/* ---- parameters ------------------------------------------------------------------------------ */

static int set_items(const struct vs_data_technique *t, void *params, const char *text,
                     bool configs, struct vs_diag *diag);

static int set_item(const struct vs_data_technique *t, void *params, char *item, bool configs,
                    struct vs_diag *diag)
{
    char *equals = strchr(item, '=');
    if (equals) {
        *equals = 0;
        return vs_parameter_set(t->parameters, params, item, equals + 1, diag);
    }
    for (const struct vs_data_config *c = configs ? t->configs : NULL; c && c->name; c++)
        if (!strcmp(c->name, item))
            return set_items(t, params, c->values, false, diag);
    return vs_diag_set(diag, -VSE_NOTFOUND, -1, -1, "%s has no configuration '%.40s'", t->name,
                       item);
}

static int set_items(const struct vs_data_technique *t, void *params, const char *text,
                     bool configs, struct vs_diag *diag)
{
    int err = 0;
    while (!err) {
        char item[80];
        text += strspn(text, " ,");
        size_t n = strcspn(text, " ,");
        if (!n)
            break;
        if (n >= sizeof(item))
            return vs_diag_set(diag, -VSE_INVAL, -1, -1, "no parameter is as long as '%.40s'",
                               text);
        memcpy(item, text, n);
        item[n] = 0;
        text += n;
        err = set_item(t, params, item, configs, diag);
    }
    return err;
}

int vs_data_params_parse(const struct vs_data_technique *t, struct vs_data_params *params,
                         const char *text, struct vs_diag *diag)
{
    memset(params, 0, sizeof(*params));
    int err = set_items(t, params, t->defaults, false, diag);
    if (!err)
        err = set_items(t, params, text, true, diag);
    return err || !t->check ? err : t->check(params, diag);
}

void vs_data_shape(const struct vs_data_technique *t, const struct vs_data_params *params,
                   const struct vs_data_setup *setup, struct vs_port_shape *shape)
{
    *shape = (struct vs_port_shape){
        .cores = setup->cores, .timed = setup->timed, .cycles = t->cycles(params)};
}

struct vs_chunks vs_data_cycle_chunks(const void *params)
{
    const struct vs_data_params *p = params;
    return (struct vs_chunks){(uint8_t)p->cycles_first, (uint8_t)p->cycles_other};
}

/* ---- cost ------------------------------------------------------------------------------------ */

void vs_data_cost_add(struct vs_data_cost *list, const char *name, struct vs_cost cost,
                      uint64_t copies)
{
    list->items[list->count++] = (struct vs_data_cost_item){name, cost, copies};
}

double vs_data_cost_fraction(const struct vs_data_technique *t, const struct vs_data_params *p,
                             const struct vs_data_setup *setup)
{
    struct vs_data_cost list;
    uint64_t bits = 0, caches = p->caches == VS_DATA_SHARED ? 1 : setup->cores;
    t->cost(p, setup, &list);
    for (size_t i = 0; i < list.count; i++)
        bits += list.items[i].copies * vs_cost_storage(list.items[i].cost);
    return p->size ? (double)bits / (8.0 * (double)p->size * (double)caches) : 0;
}

/* ---- encoders -------------------------------------------------------------------------------- */

void vs_data_encoder_init(struct vs_data_encoder *e, const struct vs_data_rare *rare,
                          const struct vs_data_setup *setup, const struct vs_prior *prior,
                          struct vs_port_writer *port)
{
    e->port = port;
    e->rare = rare;
    e->cores = setup->cores;
    vs_seen_init(&e->seen, prior);
}

void vs_data_encoder_fini(struct vs_data_encoder *e)
{
    vs_seen_fini(&e->seen);
}

static void put_nondet(struct vs_data_encoder *e, unsigned core, const uint8_t *bytes, size_t size)
{
    e->rare->head(e, core, VS_DATA_NONDET, size);
    vs_port_put_bytes(e->port, VS_FIELD_VALUE, bytes, size);
    vs_port_end(e->port);
    e->counts.nondets++;
    e->counts.nondet_bits += vs_data_message_bits(e);
}

static void put_state(struct vs_data_encoder *e, unsigned core, const uint8_t *bytes, size_t size)
{
    e->rare->head(e, core, VS_DATA_STATE, size);
    vs_port_put_chunks(e->port, VS_FIELD_STATE, VS_DATA_STATE_CHUNKS, size);
    vs_port_put_bytes(e->port, VS_FIELD_STATE, bytes, size);
    vs_port_end(e->port);
    e->counts.states++;
    e->counts.state_bits += vs_data_message_bits(e);
}

void vs_data_put_ends(struct vs_data_encoder *e, unsigned first, unsigned end)
{
    for (unsigned core = first; core < end; core++) {
        e->rare->head(e, core, VS_DATA_END, 0);
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

/* Whole pages. Lengths that leave the addresses are cut at their end. */
static int mapping(struct vs_data_encoder *e, const struct vs_event *event)
{
    uint64_t start = event->addr >> VS_COPY_BITS << VS_COPY_BITS, size = event->value;
    if (!size)
        return 0;
    uint64_t last = event->addr + (size - 1);
    if (last < event->addr)
        last = UINT64_MAX;
    e->counts.outside++;
    size = (last | (VS_COPY_PAGE - 1)) - start;
    size += size < UINT64_MAX; /* all there is: but for one byte, which has its line's company */
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
        return gap(e, event, bytes);
    case VS_NONDET:
        put_nondet(e, event->thread, bytes, event->size);
        return 0;
    case VS_SYSCALL:
        if (event->size < head)
            return -VSE_INVAL;
        put_state(e, event->thread, bytes + head, event->size - head);
        return 0;
    case VS_EXCEPTION:
    case VS_EXCEPTION_RET:
    case VS_THREAD_START:
        put_state(e, event->thread, bytes, event->size);
        return 0;
    default:
        return 0;
    }
}

/* ---- decoders -------------------------------------------------------------------------------- */

int vs_data_get_state(struct vs_port_reader *port, struct vs_buf *state, const uint8_t **bytes,
                      size_t *size)
{
    uint64_t n;
    int err = vs_port_get_chunks(port, VS_FIELD_STATE, VS_DATA_STATE_CHUNKS, &n);
    if (err)
        return err;
    if (n > VS_SIZE_MAX)
        return vs_port_refuse(port, VS_FIELD_STATE, "too many registers");
    state->len = 0;
    if ((err = vs_buf_reserve(state, (size_t)n + 1)) ||
        (err = vs_port_get_bytes(port, VS_FIELD_STATE, state->data, (size_t)n)))
        return err;
    *bytes = state->data;
    *size = (size_t)n;
    return 0;
}

int vs_data_refuse(struct vs_port_reader *port, unsigned core, const char *why)
{
    return vs_diag_set(&port->diag, -VSE_CORRUPT, (int64_t)(port->bits.pos / 8), -1,
                       "bit %llu, after message %llu: core %u %s",
                       (unsigned long long)port->bits.pos, (unsigned long long)port->messages, core,
                       why);
}

int vs_data_ended(struct vs_port_reader *port, unsigned core)
{
    return vs_diag_set(&port->diag, -VSE_END, (int64_t)(port->bits.pos / 8), -1,
                       "bit %llu, after message %llu: the stream ends, and core %u goes on",
                       (unsigned long long)port->bits.pos, (unsigned long long)port->messages,
                       core);
}

struct vs_copy *vs_data_copies_new(unsigned count)
{
    struct vs_copy *copies = malloc(count * sizeof(*copies));
    for (unsigned i = 0; copies && i < count; i++)
        vs_copy_init(&copies[i]);
    return copies;
}

void vs_data_copies_free(struct vs_copy *copies, unsigned count)
{
    for (unsigned i = 0; copies && i < count; i++)
        vs_copy_fini(&copies[i]);
    free(copies);
}
