/* SPDX-License-Identifier: MIT */
/* A value change dump: the words that a trace module puts through its port, and where each core is.
 * A nanosecond stands for a cycle or, in an untimed run, for an instruction of all threads.
 *
 * The port takes a word of 32 bits a cycle from a buffer that is never full; so a word leaves once
 * its last bit is there and the words before it have left. When bits are there is known to the
 * window (export/bits.h), which is a cycle unless the run is long. */
#include <stdio.h>
#include <stdlib.h>

#include "base/scratch.h"
#include "export/bits.h"

enum { WINDOWS = 1 << 20, WORD = 32, CODE = 8, LINE = 128 };

/* What a core's state is. */
enum { NOT_BEGUN, RUNS, IN_HANDLER, ENDED };

/* The wires: the port's, and those of each core. */
enum { PORT_WORD, PORT_COUNT, PORT_WIRES, CORE_PC = 0, CORE_STATE, CORE_CALL, CORE_WIRES };

struct core {
    uint64_t pc;
    unsigned depth; /* of handlers */
};

struct vcd {
    struct vs_bits bits;
    struct vs_scratch stream; /* the bits that leave through the port */
    bool open;
    uint64_t size; /* bytes of it */
    struct vs_clock clock;
    struct core *cores;
    uint64_t time;          /* the time that was written last; UINT64_MAX: none */
    size_t window;          /* the next one whose bits come */
    uint64_t there;         /* bits that have come */
    uint64_t words, leaves; /* that have left; when the next one may */
};

static const char *const usual[] = {"mcfTR_e", NULL};

static int keep(void *context, unsigned stream, const uint8_t *bytes, uint64_t nbits)
{
    struct vcd *v = context;
    size_t n = (size_t)(nbits + 7) / 8;
    int e;

    (void)stream;
    /* A word is read whole, also the last one. */
    e = vs_scratch_reach(&v->stream, v->size + n + WORD / 8);
    if (e)
        return e;
    memcpy(v->stream.data + v->size, bytes, n);
    v->size += n;
    return 0;
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* The name of a wire within the file: some printable characters. */
static uint8_t *put_code(uint8_t *p, uint64_t wire)
{
    do {
        *p++ = (uint8_t)('!' + wire % 94);
        wire /= 94;
    } while (wire);
    return p;
}

static int put_time(struct vs_exporting *x, struct vcd *v, uint64_t time)
{
    uint8_t *p;

    if (time == v->time)
        return 0;
    p = vs_sink_room(&x->sink, LINE);
    if (!p)
        return x->sink.error;
    *p++ = '#';
    p = vs_text_dec(p, time);
    *p++ = '\n';
    x->sink.at = p;
    v->time = time;
    return 0;
}

/* A wire's new value, in binary without leading zeros. */
static int put_value(struct vs_exporting *x, uint64_t wire, uint64_t value)
{
    static const char nibbles[16][5] = {"0000", "0001", "0010", "0011", "0100", "0101",
                                        "0110", "0111", "1000", "1001", "1010", "1011",
                                        "1100", "1101", "1110", "1111"};
    uint8_t *p = vs_sink_room(&x->sink, LINE);
    unsigned digits = (unsigned)(67 - __builtin_clzll(value | 1)) / 4;

    if (!p)
        return x->sink.error;
    *p++ = 'b';
    for (unsigned i = digits; i--; p += 4)
        memcpy(p, nibbles[value >> 4 * i & 15], 4);
    *p++ = ' ';
    p = put_code(p, wire);
    *p++ = '\n';
    x->sink.at = p;
    return 0;
}

static uint64_t wire_of(unsigned core, unsigned wire)
{
    return PORT_WIRES + (uint64_t)CORE_WIRES * core + wire;
}

static int put_wire(struct vs_exporting *x, unsigned bits, uint64_t wire, const char *name)
{
    char code[CODE] = "";

    put_code((uint8_t *)code, wire);
    return vs_sink_printf(&x->sink, "$var wire %u %s %s [%u:0] $end\n", bits, code, name, bits - 1);
}

/* ---- the port -------------------------------------------------------------------------------- */

static int put_word(struct vs_exporting *x, struct vcd *v, uint64_t time)
{
    int e = put_time(x, v, time);

    if (!e)
        e = put_value(x, PORT_WORD, vs_get32(v->stream.data + v->words * (WORD / 8)));
    v->words++;
    v->leaves = time + 1;
    return e ? e : put_value(x, PORT_COUNT, v->words);
}

/* Writes the words that leave before or at a time. */
static int put_words(struct vs_exporting *x, struct vcd *v, uint64_t time)
{
    const struct vs_windows *w = &v->bits.b.rows[0].windows;
    int e = 0;

    for (;;) {
        uint64_t come = v->window * w->width; /* when the bits so far were there */

        while (!e && (v->words + 1) * WORD <= v->there) {
            uint64_t leaves = v->leaves > come ? v->leaves : come;

            if (leaves > time)
                return 0;
            e = put_word(x, v, leaves);
        }
        if (e || v->window == w->count || come > time)
            return e;
        v->there += vs_windows_bits(w, v->window++, VS_WINDOW_ALL);
    }
}

/* ---- the format ------------------------------------------------------------------------------ */

static int head(struct vs_exporting *x, struct vcd *v)
{
    struct vs_sink *s = &x->sink;
    int e = 0;

    vs_sink_text(s, "$comment a run of vestige; a nanosecond is ");
    vs_sink_text(s, v->bits.b.setup.timed ? "a cycle" : "an instruction");
    vs_sink_text(s, " $end\n$timescale 1ns $end\n$scope module run $end\n");
    vs_sink_text(s, "$scope module port $end\n");
    put_wire(x, WORD, PORT_WORD, "word");
    put_wire(x, 64, PORT_COUNT, "count");
    vs_sink_text(s, "$upscope $end\n");
    for (unsigned i = 0; i < v->bits.b.setup.cores; i++) {
        vs_sink_printf(s, "$scope module core%u $end\n", i);
        put_wire(x, 64, wire_of(i, CORE_PC), "pc");
        put_wire(x, 4, wire_of(i, CORE_STATE), "state");
        put_wire(x, 32, wire_of(i, CORE_CALL), "call");
        vs_sink_text(s, "$upscope $end\n");
    }
    vs_sink_text(s, "$upscope $end\n$enddefinitions $end\n");
    e = put_time(x, v, 0);
    for (unsigned i = 0; i < v->bits.b.setup.cores && !e; i++)
        e = put_value(x, wire_of(i, CORE_STATE), NOT_BEGUN);
    return e;
}

static int begin(struct vs_exporting *x)
{
    struct vcd *v = x->state;
    struct vs_port_shape shape;
    int e = vs_scratch_open(&v->stream, P_tmpdir, x->diag);

    v->time = UINT64_MAX;
    if (e)
        return e;
    v->open = true;
    e = vs_bits_open(&v->bits, x, usual, WINDOWS, keep, v);
    if (!e)
        e = vs_bits_measure(&v->bits, x, NULL);
    if (!e)
        e = vs_reader_seek_event(x->reader, 0);
    if (e)
        return e;
    vs_technique_shape(&v->bits.b.rows[0].spec, &v->bits.b.setup, &shape);
    if (vs_port_streams(&shape) > 1)
        return vs_diag_set(x->diag, -VSE_INVAL, -1, -1,
                           "%s has a stream for each core, and a waveform shows one port",
                           v->bits.b.rows[0].spec.technique->name);
    v->cores = calloc(v->bits.b.setup.cores, sizeof(*v->cores));
    return v->cores ? head(x, v) : -VSE_NOMEM;
}

/* Whether the event has the address of an instruction. */
static bool has_pc(const struct vs_event *e)
{
    const uint32_t with = 1u << VS_BRANCH | 1u << VS_LOAD | 1u << VS_STORE | 1u << VS_EXCEPTION |
                          1u << VS_EXCEPTION_RET | 1u << VS_SYSCALL | 1u << VS_NONDET |
                          1u << VS_THREAD_START | 1u << VS_GAP;

    return with >> e->kind & 1;
}

static int put_state(struct vs_exporting *x, struct vcd *v, const struct vs_event *e)
{
    struct core *c = &v->cores[e->thread];
    unsigned state;

    switch (e->kind) {
    case VS_EXCEPTION:
        c->depth++;
        break;
    case VS_EXCEPTION_RET:
        c->depth -= c->depth > 0;
        break;
    case VS_SYSCALL:
        return put_value(x, wire_of(e->thread, CORE_CALL), (uint32_t)e->addr);
    case VS_THREAD_START:
    case VS_THREAD_EXIT:
        break;
    default:
        return 0;
    }
    state = e->kind == VS_THREAD_EXIT ? ENDED : c->depth ? IN_HANDLER : RUNS;
    return put_value(x, wire_of(e->thread, CORE_STATE), state);
}

static int take(struct vs_exporting *x, const struct vs_batch *b)
{
    struct vcd *v = x->state;
    int err = 0;

    for (size_t i = 0; i < b->count && !err; i++) {
        const struct vs_event *e = &b->events[i];
        uint64_t time = vs_clock_take(&v->clock, b, i);
        struct core *c = &v->cores[e->thread];

        if (!vs_export_wants(x, e))
            continue;
        err = put_words(x, v, time);
        if (!err && has_pc(e) && e->pc != c->pc) {
            c->pc = e->pc;
            err = put_time(x, v, time);
            err = err ? err : put_value(x, wire_of(e->thread, CORE_PC), e->pc);
        }
        if (!err && e->kind >= VS_EXCEPTION && e->kind <= VS_THREAD_EXIT && e->kind != VS_NONDET) {
            err = put_time(x, v, time);
            err = err ? err : put_state(x, v, e);
        }
    }
    return err;
}

/* The last word is filled up with zeros. */
static int end(struct vs_exporting *x)
{
    struct vcd *v = x->state;
    int e = put_words(x, v, UINT64_MAX - 1);
    uint64_t time = v->time != UINT64_MAX && v->time > v->leaves ? v->time : v->leaves;

    if (!e && v->words * WORD < v->there)
        e = put_word(x, v, time);
    return e;
}

static void finish(struct vs_exporting *x)
{
    struct vcd *v = x->state;

    vs_bits_fini(&v->bits);
    if (v->open)
        vs_scratch_close(&v->stream);
    free(v->cores);
}

const struct vs_export_format vs_to_vcd = {
    .name = "vcd",
    .summary = "a trace port's words and where each core is, for waveform viewers",
    .modules = 1,
    .state = sizeof(struct vcd),
    .begin = begin,
    .take = take,
    .end = end,
    .close = finish,
};
