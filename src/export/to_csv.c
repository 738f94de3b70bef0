/* SPDX-License-Identifier: MIT */
/* Comma-separated values: a line for each event, a column for each field. A field that an event of
 * its kind does not have is empty. */
#include <stdlib.h>

#include "export/format.h"
#include "trace/retired.h"

enum { WIDE_PIECE = 64, LINE_MAX = 512 };

struct csv {
    uint64_t *retired; /* by each thread so far */
    /* What most lines have between and after their numbers, with commas and the line's end. */
    struct vs_text_piece kinds[VS_KIND_END], branches[VS_BR_ALL + 1], accesses[VS_MEM_ALL + 1];
};

static void make_pieces(struct csv *c)
{
    for (unsigned kind = 1; kind < VS_KIND_END; kind++)
        vs_text_piece_make(&c->kinds[kind], ",%s,", vs_kind_name(kind));
    for (unsigned flags = 0; flags <= VS_BR_ALL; flags++)
        vs_text_piece_make(&c->branches[flags], ",%s %s\n", vs_branch_name(flags),
                           flags & VS_BR_TAKEN ? "taken" : "not-taken");
    for (unsigned flags = 0; flags <= VS_MEM_ALL; flags++)
        vs_text_piece_make(&c->accesses[flags], ",%s%s%s\n", flags & VS_MEM_ATOMIC ? "atomic" : "",
                           flags == VS_MEM_ALL ? " " : "", flags & VS_MEM_REPEAT ? "repeat" : "");
}

static int begin(struct vs_exporting *x)
{
    struct csv *c = x->state;
    bool timed = vs_reader_info(x->reader)->features & VS_RUN_TIMED;

    c->retired = calloc(VS_THREADS_MAX, sizeof(*c->retired));
    if (!c->retired)
        return -VSE_NOMEM;
    make_pieces(c);
    vs_sink_text(&x->sink, "event,");
    vs_sink_text(&x->sink, timed ? "cycle," : "");
    return vs_sink_text(&x->sink, "thread,at,kind,icount,pc,addr,size,value,what\n");
}

/* The columns that a kind of event fills. */
enum { PC = 1, ADDR = 2, SIZE = 4, VALUE = 8 };

static const uint8_t columns[VS_KIND_END] = {
    [VS_BRANCH] = PC | ADDR | SIZE,
    [VS_LOAD] = PC | ADDR | SIZE | VALUE,
    [VS_STORE] = PC | ADDR | SIZE | VALUE,
    [VS_EXTERNAL] = PC | ADDR | SIZE | VALUE,
    [VS_EXCEPTION] = PC | ADDR,
    [VS_EXCEPTION_RET] = PC | ADDR,
    [VS_SYSCALL] = PC | ADDR | VALUE,
    [VS_NONDET] = PC | SIZE | VALUE,
    [VS_THREAD_START] = PC | ADDR,
    [VS_THREAD_EXIT] = VALUE,
    [VS_GAP] = PC | ADDR,
    [VS_MAP] = ADDR | VALUE,
    [VS_CODE] = VALUE,
    [VS_CONTENT] = ADDR,
};

/* What a letter or word tells of the event's flags; the line ends with it. */
static uint8_t *put_what(uint8_t *p, const struct vs_exporting *x, const struct vs_event *e)
{
    const struct csv *c = x->state;
    const char *name = NULL;

    if (e->kind == VS_LOAD || e->kind == VS_STORE)
        return vs_text_piece(p, &c->accesses[e->flags & VS_MEM_ALL]);
    *p++ = ',';
    switch (e->kind) {
    case VS_SYSCALL:
        name = vs_isa_call_name(x->isa, e->addr);
        p = vs_text_put(p, name ? name : "");
        break;
    case VS_MAP:
        *p++ = e->flags & VS_MAP_READ ? 'r' : '-';
        *p++ = e->flags & VS_MAP_WRITE ? 'w' : '-';
        *p++ = e->flags & VS_MAP_EXEC ? 'x' : '-';
        p = vs_text_put(p, e->flags & VS_MAP_GONE ? " gone" : "");
        break;
    default:
        break;
    }
    *p++ = '\n';
    return p;
}

/* The value as a number. One that is longer than a line's room is written in pieces, the last bytes
 * first. */
static uint8_t *put_value(uint8_t *p, struct vs_sink *s, const struct vs_batch *b,
                          const struct vs_event *e)
{
    const uint8_t *bytes;

    *p++ = '0';
    *p++ = 'x';
    if (e->kind == VS_SYSCALL)
        return vs_text_hex(
            p,
            e->size >= sizeof(struct vs_syscall_head)
                ? vs_get64(vs_event_bytes(b, e) + offsetof(struct vs_syscall_head, result))
                : 0,
            1);
    if (e->size <= 8)
        return vs_text_hex(p, e->value, e->size ? 2u * e->size : 1);
    bytes = vs_event_bytes(b, e);
    for (size_t n = e->size; n; n--) {
        p = vs_text_hex(p, bytes[n - 1], 2);
        if (n % WIDE_PIECE == 1) {
            s->at = p;
            p = vs_sink_room(s, LINE_MAX);
            if (!p)
                return NULL;
        }
    }
    return p;
}

/* A column with an address, or without one. */
static inline uint8_t *put_hex(uint8_t *p, bool has, uint64_t v, unsigned least)
{
    memcpy(p, ",0x", 3);
    return has ? vs_text_hex(p + 3, v, least) : p + 1;
}

/* The columns after the thread's instructions. */
static uint8_t *put_fields(uint8_t *p, struct vs_exporting *x, const struct vs_batch *b,
                           const struct vs_event *e)
{
    unsigned has = columns[e->kind];

    if ((e->kind == VS_EXTERNAL && !e->pc) || (e->kind == VS_MAP && e->pc == VS_NO_IMAGE))
        has &= ~(unsigned)PC;
    p = put_hex(p, has & PC, e->pc, 1);
    p = put_hex(p, has & ADDR, e->addr, 1);
    *p++ = ',';
    p = has & SIZE ? vs_text_small(p, e->size) : p;
    *p++ = ',';
    p = has & VALUE ? put_value(p, &x->sink, b, e) : p;
    return p ? put_what(p, x, e) : NULL;
}

/* The same for the events that nearly all are: branches, and accesses whose value is a number. */
static inline uint8_t *put_usual(uint8_t *p, const struct csv *c, const struct vs_event *e)
{
    bool access = e->kind != VS_BRANCH;

    p = put_hex(p, true, e->pc, 1);
    p = put_hex(p, true, e->addr, 1);
    *p++ = ',';
    p = vs_text_small(p, e->size);
    p = put_hex(p, access, e->value, e->size ? 2u * e->size : 1);
    return vs_text_piece(p, access ? &c->accesses[e->flags & VS_MEM_ALL]
                                   : &c->branches[e->flags & VS_BR_ALL]);
}

static int put_event(struct vs_exporting *x, const struct vs_batch *b, size_t i, uint64_t at)
{
    const uint32_t usual = 1u << VS_BRANCH | 1u << VS_LOAD | 1u << VS_STORE;
    const struct vs_event *e = &b->events[i];
    const struct csv *c = x->state;
    uint8_t *p = vs_sink_room(&x->sink, LINE_MAX);

    if (!p)
        return x->sink.error;
    p = vs_text_dec(p, b->first + i);
    *p++ = ',';
    if (b->cycles) {
        p = vs_text_dec(p, b->cycles[i]);
        *p++ = ',';
    }
    p = vs_text_small(p, e->thread);
    *p++ = ',';
    p = vs_text_dec(p, at);
    p = vs_text_piece(p, &c->kinds[e->kind]);
    p = vs_text_small(p, e->icount);
    if (likely(usual >> e->kind & 1 && !vs_event_is_wide(e)))
        p = put_usual(p, c, e);
    else if (!(p = put_fields(p, x, b, e)))
        return x->sink.error;
    x->sink.at = p;
    return 0;
}

static int take(struct vs_exporting *x, const struct vs_batch *b)
{
    const struct csv *c = x->state;
    int e = 0;

    for (size_t i = 0; i < b->count && !e; i++) {
        uint64_t at = vs_event_place(&b->events[i], c->retired);

        if (vs_export_wants(x, &b->events[i]))
            e = put_event(x, b, i, at);
    }
    return e;
}

static void finish(struct vs_exporting *x)
{
    struct csv *c = x->state;

    free(c->retired);
}

const struct vs_export_format vs_to_csv = {
    .name = "csv",
    .summary = "a line for each event, for spreadsheets, databases and scripts",
    .state = sizeof(struct csv),
    .begin = begin,
    .take = take,
    .close = finish,
};
