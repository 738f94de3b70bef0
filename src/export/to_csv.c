/* SPDX-License-Identifier: MIT */
/* Comma-separated values: a line for each event, a column for each field. A field that an event of
 * its kind does not have is empty. */
#include <stdlib.h>

#include "export/format.h"
#include "trace/retired.h"

enum { WIDE_PIECE = 64, LINE_MAX = 512 };

static int begin(struct vs_exporting *x)
{
    uint64_t **retired = x->state;
    bool timed = vs_reader_info(x->reader)->features & VS_RUN_TIMED;

    *retired = calloc(VS_THREADS_MAX, sizeof(**retired));
    if (!*retired)
        return -VSE_NOMEM;
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

/* What a letter or word tells of the event's flags. */
static uint8_t *put_what(uint8_t *p, const struct vs_exporting *x, const struct vs_event *e)
{
    const char *name = NULL;

    switch (e->kind) {
    case VS_BRANCH:
        p = vs_text_put(p, vs_branch_name(e->flags));
        return vs_text_put(p, e->flags & VS_BR_TAKEN ? " taken" : " not-taken");
    case VS_LOAD:
    case VS_STORE:
        p = vs_text_put(p, e->flags & VS_MEM_ATOMIC ? "atomic" : "");
        p = vs_text_put(p, e->flags == VS_MEM_ALL ? " " : "");
        return vs_text_put(p, e->flags & VS_MEM_REPEAT ? "repeat" : "");
    case VS_SYSCALL:
        name = vs_isa_call_name(x->isa, e->addr);
        return vs_text_put(p, name ? name : "");
    case VS_MAP:
        *p++ = e->flags & VS_MAP_READ ? 'r' : '-';
        *p++ = e->flags & VS_MAP_WRITE ? 'w' : '-';
        *p++ = e->flags & VS_MAP_EXEC ? 'x' : '-';
        return vs_text_put(p, e->flags & VS_MAP_GONE ? " gone" : "");
    default:
        return p;
    }
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

static int put_event(struct vs_exporting *x, const struct vs_batch *b, size_t i, uint64_t at)
{
    const struct vs_event *e = &b->events[i];
    uint8_t *p = vs_sink_room(&x->sink, LINE_MAX);
    unsigned has = columns[e->kind];

    if (!p)
        return x->sink.error;
    if ((e->kind == VS_EXTERNAL && !e->pc) || (e->kind == VS_MAP && e->pc == VS_NO_IMAGE))
        has &= ~(unsigned)PC;
    p = vs_text_dec(p, b->first + i);
    *p++ = ',';
    if (b->cycles) {
        p = vs_text_dec(p, b->cycles[i]);
        *p++ = ',';
    }
    p = vs_text_dec(p, e->thread);
    *p++ = ',';
    p = vs_text_dec(p, at);
    *p++ = ',';
    p = vs_text_put(p, vs_kind_name(e->kind));
    *p++ = ',';
    p = vs_text_dec(p, e->icount);
    p = vs_text_put(p, has & PC ? ",0x" : ",");
    p = has & PC ? vs_text_hex(p, e->pc, 1) : p;
    p = vs_text_put(p, has & ADDR ? ",0x" : ",");
    p = has & ADDR ? vs_text_hex(p, e->addr, 1) : p;
    *p++ = ',';
    p = has & SIZE ? vs_text_dec(p, e->size) : p;
    *p++ = ',';
    p = has & VALUE ? put_value(p, &x->sink, b, e) : p;
    if (!p)
        return x->sink.error;
    *p++ = ',';
    p = put_what(p, x, e);
    *p++ = '\n';
    x->sink.at = p;
    return 0;
}

static int take(struct vs_exporting *x, const struct vs_batch *b)
{
    uint64_t *retired = *(uint64_t **)x->state;
    int e = 0;

    for (size_t i = 0; i < b->count && !e; i++) {
        uint64_t at = vs_event_place(&b->events[i], retired);

        if (vs_export_wants(x, &b->events[i]))
            e = put_event(x, b, i, at);
    }
    return e;
}

static void finish(struct vs_exporting *x)
{
    free(*(uint64_t **)x->state);
}

const struct vs_export_format vs_to_csv = {
    .name = "csv",
    .summary = "a line for each event, for spreadsheets, databases and scripts",
    .state = sizeof(uint64_t *),
    .begin = begin,
    .take = take,
    .close = finish,
};
