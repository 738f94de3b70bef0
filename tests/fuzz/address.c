/* SPDX-License-Identifier: MIT */
/* Data-address techniques. The first 8 bytes of an input choose the technique, its parameters, the
 * number of cores, and what the rest is:
 *
 *   a run      a program of RV64 and what happens to its cores, which is encoded, decoded and
 *              compared. The cores execute it with all registers known.
 *   a stream   of bits, which the decoder is asked for addresses of; errors are named
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "gen/feed.h"
#include "isa/rv64/rv64.h"
#include "study/verify_address.h"
#include "technique/registry.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEAD = 8, WORDS = 32, EVENTS_MAX = 6000, CORES_MAX = 5, WIDTH = 64 };

#define CODE UINT64_C(0x10000)

static void must(bool ok)
{
    if (!ok)
        abort();
}

struct core {
    uint64_t x[32];
    unsigned at, since; /* its next instruction; those after its last event */
};

struct machine {
    uint32_t words[WORDS];
    struct core cores[CORES_MAX];
    struct vs_event events[EVENTS_MAX];
    uint64_t cycles[EVENTS_MAX];
    size_t count;
    uint64_t seed;
    struct vs_technique_spec spec;
    struct vs_technique_setup setup;
    struct vs_port_shape shape;
    struct vs_address_code code;
};

static uint64_t draw(struct machine *m)
{
    m->seed = m->seed * 6364136223846793005 + 1442695040888963407;
    return m->seed >> 11 ^ m->seed << 40;
}

/* ---- what is chosen ---- */

static const struct vs_technique *technique(unsigned n)
{
    unsigned count = 0, i;
    for (i = 0; vs_techniques[i]; i++)
        count += (vs_techniques[i]->serves & VS_TECHNIQUE_ADDRESS) != 0;
    n %= count;
    for (i = 0; !(vs_techniques[i]->serves & VS_TECHNIQUE_ADDRESS) || n--; i++)
        ;
    return vs_techniques[i];
}

static void set(struct machine *m, const char *name, unsigned value)
{
    char text[16];
    snprintf(text, sizeof(text), "%u", value);
    vs_technique_set(&m->spec, name, text, NULL); /* not all have all parameters */
}

static bool choose(struct machine *m, const uint8_t *head)
{
    static const char *const codes[] = {"plain", "nexus", "adac"};
    static const char *const addresses[] = {"delta", "full", "shorter"};
    m->setup = (struct vs_technique_setup){
        .cores = 1u + head[1] % CORES_MAX, .address_bits = WIDTH, .timed = head[1] & 0x80};
    must(!vs_technique_defaults(&m->spec, technique(head[0])));
    set(m, "sets", 1u << head[2] % 6);
    set(m, "ways", 1u << (head[2] >> 4) % 4);
    set(m, "window", 1 + head[3] % 8);
    set(m, "max", (head[3] >> 3) % 25);
    set(m, "min", head[4] % 13);
    set(m, "shift", head[4] % 25);
    set(m, "tmax", 1 + head[5] % 16);
    set(m, "inc", 1 + (head[5] >> 4));
    set(m, "dec", 1 + head[6] % 4);
    set(m, "group", 1 + head[6] % 64);
    set(m, "data_bytes", 1u << head[6] % 7);
    vs_technique_set(&m->spec, "code", codes[head[7] % 3], NULL);
    vs_technique_set(&m->spec, "addresses", addresses[head[7] % 3], NULL);
    if (vs_technique_check(&m->spec, NULL))
        return false;
    vs_technique_settle(&m->spec, m->setup.timed);
    vs_technique_shape(&m->spec, &m->setup, &m->shape);
    memcpy(&m->seed, head, 8);
    return true;
}

/* ---- a program ---- */

static uint32_t version(const void *context, unsigned core, uint64_t instructions, uint64_t *until)
{
    (void)context, (void)core, (void)instructions;
    *until = UINT64_MAX;
    return 0;
}

static size_t fetch(const void *context, uint32_t v, uint64_t pc, uint8_t *bytes, size_t capacity)
{
    const struct machine *m = context;
    uint64_t i = (pc - CODE) / 4;
    (void)v;
    if (pc < CODE || pc % 4 || i >= WORDS || capacity < 4)
        return 0;
    memcpy(bytes, &m->words[i], 4);
    return 4;
}

static bool may_be(const struct vs_rv64_row *row)
{
    switch (row->class) {
    case VS_RV64_CLASS_ALU:
    case VS_RV64_CLASS_MUL:
    case VS_RV64_CLASS_DIV:
    case VS_RV64_CLASS_LOAD:
    case VS_RV64_CLASS_STORE:
    case VS_RV64_CLASS_AMO:
    case VS_RV64_CLASS_ECALL:
        return true;
    default:
        return false;
    }
}

/* The words' registers are few, so that they meet. The last one stands for a jump to the first. */
static void program(struct machine *m, const uint8_t *bytes)
{
    for (unsigned i = 0; i < WORDS; i++) {
        unsigned op = bytes[4 * i] % VS_RV64_OPS;
        uint32_t fields;
        while (!may_be(vs_rv64_row(op)))
            op = (op + 1) % VS_RV64_OPS;
        memcpy(&fields, bytes + 4 * i, 4);
        fields &= 0xfff3fbff & ~(UINT32_C(1) << 23 | UINT32_C(1) << 24);
        m->words[i] = vs_rv64_row(op)->match | (fields & ~vs_rv64_row(op)->mask);
    }
    m->words[WORDS - 1] = 0x0000006f;
}

/* ---- what happens ---- */

static void add(struct machine *m, unsigned core, struct vs_event e)
{
    e.thread = (uint16_t)core;
    e.icount = (uint16_t)m->cores[core].since;
    m->cores[core].since = 0;
    m->cycles[m->count] = (m->count ? m->cycles[m->count - 1] : 0) + draw(m) % 9;
    m->events[m->count++] = e;
}

static void go_elsewhere(struct machine *m, unsigned core, uint8_t kind, unsigned to)
{
    struct core *c = &m->cores[core];
    struct vs_event e = {.kind = kind, .pc = CODE + 4 * c->at};
    if (kind == VS_EXCEPTION)
        e.addr = CODE + 4 * to;
    else
        e.pc = CODE + 4 * to;
    for (unsigned i = 1; i < 32; i++)
        c->x[i] = draw(m);
    c->at = to;
    add(m, core, e);
}

static void access_memory(struct machine *m, unsigned core, const struct vs_memory_operand *o)
{
    uint64_t pc = CODE + 4 * m->cores[core].at, addr = vs_memory_address(o, m->cores[core].x);
    if (o->load)
        add(m, core, (struct vs_event){.kind = VS_LOAD, .pc = pc, .addr = addr, .size = 8});
    if (o->store)
        add(m, core, (struct vs_event){.kind = VS_STORE, .pc = pc, .addr = addr, .size = 8});
}

static void execute(struct machine *m, unsigned core)
{
    struct core *c = &m->cores[core];
    uint64_t pc = CODE + 4 * c->at;
    struct vs_operands o;
    uint8_t bytes[4];
    must(fetch(m, 0, pc, bytes, 4) == 4 && !vs_rv64_operands(bytes, 4, pc, &o));
    c->since++;
    if (o.memory_count)
        access_memory(m, core, &o.memory[0]);
    if (o.effect_count)
        c->x[o.effects[0].to] = vs_alu_value(&o.effects[0], c->x);
    for (unsigned i = 1; i < 32; i++)
        if (o.clobbers >> i & 1)
            c->x[i] = draw(m) % 3 ? draw(m) : draw(m) % 4096;
    if (c->at == WORDS - 1) {
        add(m, core,
            (struct vs_event){
                .kind = VS_BRANCH, .pc = pc, .addr = CODE, .size = 4, .flags = VS_BR_TAKEN});
        c->at = 0;
        return;
    }
    if (m->words[c->at] == 0x73) { /* ecall */
        add(m, core, (struct vs_event){.kind = VS_SYSCALL, .pc = pc});
        c->x[10] = draw(m);
    }
    c->at++;
}

static void happen(struct machine *m, const uint8_t *b, size_t size)
{
    for (unsigned core = 0; core < m->setup.cores; core++)
        go_elsewhere(m, core, VS_THREAD_START, 0);
    for (size_t i = 0; i + 1 < size && m->count + 80 < EVENTS_MAX; i += 2) {
        unsigned core = b[i] % m->setup.cores;
        if (b[i] >= 0xf8)
            go_elsewhere(m, core, b[i] & 1 ? VS_EXCEPTION : VS_GAP, b[i + 1] % WORDS);
        else
            for (unsigned n = b[i + 1] % 32; n--;)
                execute(m, core);
    }
}

static struct vs_batch batch_of(const struct machine *m)
{
    return (struct vs_batch){
        .events = m->events, .cycles = m->setup.timed ? m->cycles : NULL, .count = m->count};
}

/* ---- both ways ---- */

static void encode(const struct machine *m, struct vs_buf *bits, uint64_t *nbits)
{
    const struct vs_encoder_ops *ops = m->spec.technique->encoder;
    const struct vs_batch batch = batch_of(m);
    struct vs_port_writer w;
    void *e;
    must(!vs_port_writer_init(&w, &m->shape, vs_port_to_buf, bits));
    must(!ops->open(
        &e, &(struct vs_technique_context){
                .params = m->spec.params, .setup = &m->setup, .port = &w, .code = &m->code}));
    must(!ops->consume(e, &(struct vs_slice){.events = &batch}) && !vs_encoder_finish(ops, e));
    int64_t n = vs_port_finish(&w);
    must(n >= 0);
    *nbits = (uint64_t)n;
    ops->close(e);
    vs_port_writer_fini(&w);
}

static void verify(const struct machine *m, const struct vs_buf *bits, uint64_t nbits,
                   bool by_turns)
{
    const struct vs_address_decoder_ops *ops = m->spec.technique->address_decoder;
    const struct vs_batch batch = batch_of(m);
    struct feed f = {.all = &batch};
    struct vs_verify_address v;
    struct vs_port_reader reader;
    void *d;
    must(!vs_port_reader_init(&reader, &m->shape,
                              &(struct vs_port_stream){bits->data, bits->len, nbits}));
    vs_verify_address_init(&v, ops, &reader, m->code.isa, m->setup.cores);
    must(!ops->open(&d, m->spec.params, &m->setup, &m->code, &reader));
    vs_verify_address_drive(&v, d);
    int err = by_turns ? vs_verify_address_by_turns(&v, feed_core, &f)
                       : vs_verify_address_batch(&v, &batch);
    if (!err && !by_turns)
        err = vs_verify_address_end(&v);
    if (err && err != -VSE_NOTFOUND) { /* nothing to compare */
        fprintf(stderr, "%s: %s\n", m->spec.technique->name, v.c.diag.text);
        abort();
    }
    ops->close(d);
    vs_port_reader_fini(&reader);
}

static void round_trip(struct machine *m, const uint8_t *data, size_t size)
{
    struct vs_buf bits = {0};
    uint64_t nbits;
    if (size < 4 * WORDS)
        return;
    program(m, data);
    happen(m, data + 4 * WORDS, size - 4 * WORDS);
    encode(m, &bits, &nbits);
    verify(m, &bits, nbits, false);
    verify(m, &bits, nbits, true);
    vs_buf_fini(&bits);
}

/* ---- a stream ---- */

static void decode(struct machine *m, const uint8_t *data, size_t size)
{
    const struct vs_address_decoder_ops *ops = m->spec.technique->address_decoder;
    struct vs_port_reader reader;
    uint64_t addr;
    void *d;
    int err = 0;
    m->words[0] = 0x00863783; /* ld a5,8(a2) */
    must(!vs_port_reader_init(&reader, &m->shape, &(struct vs_port_stream){data, size, 8 * size}));
    must(!ops->open(&d, m->spec.params, &m->setup, &m->code, &reader));
    for (unsigned i = 0; i < 3000 && err >= 0; i++) {
        unsigned core = (unsigned)(draw(m) % m->setup.cores), turn;
        uint64_t pc = CODE + 4 * (draw(m) % (WORDS + 2));
        struct vs_address_move move = {.core = core,
                                       .instructions = draw(m) % 3,
                                       .located = draw(m) % 2,
                                       .at = pc,
                                       .forgets = draw(m) % 4 ? 0 : (uint32_t)draw(m),
                                       .goes = draw(m) % 2,
                                       .to = CODE + 4 * (draw(m) % (WORDS + 2))};
        if (ops->follow)
            must(!ops->follow(d, &move));
        if (i % 4 == 0 && !ops->turn(d, &turn))
            must(turn < m->setup.cores && (core = turn, true));
        const struct vs_address_operand operand = {core, pc, 1u << draw(m) % 5, draw(m) & 1};
        err = ops->address(d, &operand, &addr);
    }
    must(err >= 0 || err == -VSE_END || err == -VSE_TRUNCATED || err == -VSE_CORRUPT);
    must(err >= 0 || (reader.diag.error == err && reader.diag.text[0]));
    ops->close(d);
    vs_port_reader_fini(&reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct machine *m = calloc(1, sizeof(*m));
    must(m);
    m->code = (struct vs_address_code){
        .context = m, .isa = vs_isa_find("rv64"), .version = version, .fetch = fetch};
    if (size >= HEAD && choose(m, data)) {
        if (data[7] & 0x80)
            decode(m, data + HEAD, size - HEAD);
        else
            round_trip(m, data + HEAD, size - HEAD);
    }
    free(m);
    return 0;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    uint64_t seed = 1;
    if (*argc != 3 || strcmp((*argv)[1], "--seed"))
        return 0;
    for (unsigned i = 0; i < 48; i++) {
        char path[4096];
        snprintf(path, sizeof(path), "%s/run.%u", (*argv)[2], i);
        FILE *f = fopen(path, "wb");
        must(f);
        for (unsigned k = 0; k < HEAD + 4 * WORDS + 2 * 100; k++) {
            seed = seed * 6364136223846793005 + 1442695040888963407;
            unsigned byte = seed >> 40 & 255;
            fputc((int)(k == 0   ? i
                        : k == 4 ? byte % 4 /* min, below most of max */
                        : k == 7 ? (byte & 0x7f) | (i % 3 ? 0 : 0x80)
                                 : byte),
                  f);
        }
        must(fclose(f) == 0);
    }
    _exit(0);
}
