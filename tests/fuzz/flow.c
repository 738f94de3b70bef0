/* SPDX-License-Identifier: MIT */
/* Any bits as a port stream of any control-flow technique, for a small program with branches of all
 * kinds and code that changes. The first bytes choose technique, widths of counters, cores and
 * whether it is timed. Nothing may crash or run on for ever; every error has a name and a place;
 * and a stream that decodes to its end encodes to the same bits again, or of a compressor to the
 * same steps.
 *
 *   --seed DIR   writes streams that decode
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "replay/walk.h"
#include "study/codeview.h"

static void must(bool holds)
{
    if (!holds)
        abort();
}

/* ---- the program ----------------------------------------------------------------------------- */

/* 1000 addi; 1004 beq 1000; 1008 jal ra 1020; 100c j 1004; 1020 addi; 1024 bne 1030;
 * 1028 jalr ra, a0; 102c ret; 1030 jr a0; 1034 j 1034 */
static const uint32_t words[][2] = {
    {0x1000, 0x00150513}, {0x1004, 0xfe050ee3}, {0x1008, 0x018000ef}, {0x100c, 0xff9ff06f},
    {0x1020, 0x00150513}, {0x1024, 0x00051663}, {0x1028, 0x000500e7}, {0x102c, 0x00008067},
    {0x1030, 0x00050067}, {0x1034, 0x0000006f},
};
static const uint32_t changed = 0x00051463; /* at 1020: bne 1028 */

enum { CORES = 3, LIMIT = 20000 };

static void make_code(struct vs_text *code)
{
    const struct vs_block change = {0x1020, (const uint8_t *)&changed, 4, 1};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        const struct vs_block b = {words[i][0], (const uint8_t *)&words[i][1], 4, 1};
        must(vs_text_add(code, &b) == 0);
    }
    code->changes = malloc(sizeof(*code->changes));
    code->cores = calloc(1, sizeof(*code->cores));
    must(code->changes && code->cores);
    code->changes[0] = change;
    code->change_count = code->change_capacity = 1;
    code->core_count = code->core_capacity = 1;
    code->cores[0].views = malloc(sizeof(*code->cores[0].views));
    must(code->cores[0].views);
    code->cores[0].views[0] = (struct vs_text_view){50, 1};
    code->cores[0].view_count = code->cores[0].view_capacity = 1;
    must(vs_text_index(code) == 0);
}

/* Keeps the first stream, as the others are empty. */
static int to_buf(void *buf, unsigned stream, const uint8_t *bytes, uint64_t nbits)
{
    must(!stream || !nbits);
    return stream ? 0 : vs_port_to_buf(buf, stream, bytes, nbits);
}

/* ---- streams --------------------------------------------------------------------------------- */

struct again {
    const struct vs_encoder_ops *ops;
    void *encoder;
    struct vs_buf *steps; /* all of them, in text: structs have gaps */
};

static int encode(void *context, const struct vs_step *steps, size_t count)
{
    struct again *a = context;
    for (size_t i = 0; i < count; i++) {
        const struct vs_step *s = &steps[i];
        char text[160];
        int n = snprintf(text, sizeof(text), "%u %u %u %u %u %llx %llx %llu\n", s->core, s->kind,
                         s->flags, s->size, s->icount, (unsigned long long)s->pc,
                         (unsigned long long)s->target, (unsigned long long)s->time);
        must(n > 0 && vs_buf_put(a->steps, text, (size_t)n) == 0);
    }
    must(a->ops->consume(a->encoder, &(struct vs_slice){.steps = steps, .step_count = count}) == 0);
    return 0;
}

/* What the first bytes choose. */
struct choice {
    struct vs_technique_spec spec;
    struct vs_technique_setup setup;
};

static unsigned technique_count(void)
{
    unsigned count = 0;
    for (size_t i = 0; vs_techniques[i]; i++)
        count += (vs_techniques[i]->serves & VS_TECHNIQUE_FLOW) != 0;
    return count;
}

static const struct vs_technique *technique_of(unsigned n)
{
    size_t i;
    n %= technique_count();
    for (i = 0; !(vs_techniques[i]->serves & VS_TECHNIQUE_FLOW) || n--; i++)
        continue;
    return vs_techniques[i];
}

/* Not all have such a counter. */
static void narrow(struct choice *c, const char *name, unsigned bits)
{
    char text[16];
    snprintf(text, sizeof(text), "%u", bits);
    vs_technique_set(&c->spec, name, text, NULL);
}

static void choose(struct choice *c, unsigned technique, unsigned how)
{
    must(vs_technique_defaults(&c->spec, technique_of(technique)) == 0);
    if (how & 2 && c->spec.technique->ordered)
        must(vs_technique_set(&c->spec, "predictors", "shared", NULL) == 0);
    if (how & 16)
        narrow(c, "bcnt_bits", VS_COUNTER_BITS_MIN + (how >> 6 & 3));
    if (how & 32)
        narrow(c, "icnt_bits", VS_COUNTER_BITS_MIN + (how >> 6 & 3));
    c->setup = (struct vs_technique_setup){.cores = how & 4 ? CORES : 1,
                                           .address_bits = how & 8 ? 32 : 64,
                                           .timed = how & 1,
                                           .alignment = 2};
    vs_technique_settle(&c->spec, c->setup.timed);
}

static int walk(const struct choice *c, const uint8_t *data, size_t size, vs_walk_sink *sink,
                void *context)
{
    const struct vs_technique *t = c->spec.technique;
    struct vs_port_shape shape;
    struct vs_port_reader port;
    struct vs_text code = {0};
    struct vs_walk w;
    void *decoder;
    int err;
    make_code(&code);
    /* if each core has a stream, only the first one's has bits */
    const struct vs_port_stream streams[CORES] = {{data, size, 8 * (uint64_t)size}};
    vs_technique_shape(&c->spec, &c->setup, &shape);
    must(vs_port_reader_init(&port, &shape, streams) == 0);
    must(t->flow_decoder->open(&decoder, c->spec.params, &c->setup, &port) == 0);
    const struct vs_walk_config config = {.isa = vs_isa_find("rv64"),
                                          .code = &code,
                                          .ops = t->flow_decoder,
                                          .decoder = decoder,
                                          .port = &port,
                                          .cores = c->setup.cores,
                                          .limit = LIMIT,
                                          .sink = sink,
                                          .context = context};
    must(vs_walk_init(&w, &config) == 0);
    err = vs_walk_all(&w);
    must(w.instructions <= LIMIT);
    must(!err || ((err == -VSE_TRUNCATED || err == -VSE_CORRUPT || err == -VSE_LIMIT) &&
                  w.diag.error == err && w.diag.text[0] && w.diag.offset >= 0));
    vs_walk_fini(&w);
    t->flow_decoder->close(decoder);
    vs_port_reader_fini(&port);
    vs_text_fini(&code);
    return err;
}

/* Decodes a stream that has no error, and encodes its steps to `out`. Whether a general compressor
 * had a part in it. */
static bool encode_again(const struct choice *c, const struct vs_buf *in, struct vs_buf *out,
                         struct vs_buf *steps)
{
    struct again a = {.ops = c->spec.technique->encoder, .steps = steps};
    struct vs_port_shape shape;
    struct vs_port_writer port;
    struct vs_text text = {0};
    int64_t bits;
    bool packed;
    vs_technique_shape(&c->spec, &c->setup, &shape);
    must(vs_port_writer_init(&port, &shape, to_buf, out) == 0);
    make_code(&text);
    const struct vs_address_code code = vs_code_of_text(&text, vs_isa_find("rv64"));
    must(a.ops->open(&a.encoder, &(struct vs_technique_context){.params = c->spec.params,
                                                                .setup = &c->setup,
                                                                .port = &port,
                                                                .code = &code}) == 0);
    must(walk(c, in->data, in->len, encode, &a) == 0);
    must(vs_encoder_finish(a.ops, a.encoder) == 0);
    bits = vs_port_finish(&port);
    must(bits >= 0 && (size_t)(bits + 7) / 8 == out->len);
    packed = shape.packets;
    must(packed || bits == (int64_t)(8 * in->len));
    a.ops->close(a.encoder);
    vs_port_writer_fini(&port);
    vs_text_fini(&text);
    return packed;
}

static bool same_bytes(const struct vs_buf *a, const struct vs_buf *b)
{
    return a->len == b->len && (!a->len || memcmp(a->data, b->data, a->len) == 0);
}

/* A stream of one core that decoded without an error is what the encoder makes of its steps. Steps
 * do not keep cycles, nor where another core would have come.
 *
 * What general compressors packed has many forms: another version, level or strategy of a library
 * writes other bits for the same bytes, and the decoder must read them all. So it does not ask for
 * the one form that the library here would write, and neither does this: what is encoded again has
 * to decode to the same steps, and to be the form that is written from then on. */
static void walk_again(const struct choice *c, const uint8_t *data, size_t size)
{
    struct vs_buf in = {0}, out = {0}, once_more = {0}, steps = {0}, steps_again = {0};
    must(vs_buf_put(&in, data, size) == 0);
    if (!encode_again(c, &in, &out, &steps)) {
        must(same_bytes(&in, &out));
    } else {
        encode_again(c, &out, &once_more, &steps_again);
        must(same_bytes(&steps, &steps_again));
        must(same_bytes(&out, &once_more));
    }
    vs_buf_fini(&in);
    vs_buf_fini(&out);
    vs_buf_fini(&once_more);
    vs_buf_fini(&steps);
    vs_buf_fini(&steps_again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct choice c;
    if (size < 2)
        return 0;
    choose(&c, data[0], data[1]);
    /* what an encoder needs beside steps and code, the steps of a stream do not tell */
    if (walk(&c, data + 2, size - 2, NULL, NULL) == 0 && c.setup.cores == 1 && !c.setup.timed &&
        !vs_technique_ordered(&c.spec) && !(c.spec.technique->encoder->needs & VS_NEEDS_EVENTS))
        walk_again(&c, data + 2, size - 2);
    return 0;
}

/* ---- seeds ----------------------------------------------------------------------------------- */

/* Hands the encoder a step, and the event that it is made of. */
static void seed_step(const struct vs_encoder_ops *ops, void *encoder, const struct vs_step *s)
{
    const struct vs_event event = {.pc = s->kind == VS_STEP_DISCONTINUITY ? s->target : s->pc,
                                   .addr = s->kind == VS_STEP_DISCONTINUITY ? 0 : s->target,
                                   .size = s->size,
                                   .icount = (uint16_t)s->icount,
                                   .kind = s->kind != VS_STEP_DISCONTINUITY ? VS_BRANCH
                                           : s->target                      ? VS_THREAD_START
                                                                            : VS_THREAD_EXIT,
                                   .flags = s->flags};
    const struct vs_batch batch = {.events = &event, .cycles = &s->time, .count = 1};
    must(ops->consume(encoder, &(struct vs_slice){.steps = s, .step_count = 1, .events = &batch}) ==
         0);
}

/* Goes through the program as the bits of `turns` say, as a run of it would. */
static void seed_steps(struct vs_port_writer *port, const struct choice *c, uint64_t turns)
{
    const struct vs_encoder_ops *ops = c->spec.technique->encoder;
    struct vs_text text = {0};
    void *encoder;
    make_code(&text);
    const struct vs_address_code code = vs_code_of_text(&text, vs_isa_find("rv64"));
    struct vs_step s = {.kind = VS_STEP_DISCONTINUITY, .target = 0x1000};
    must(ops->open(&encoder, &(struct vs_technique_context){.params = c->spec.params,
                                                            .setup = &c->setup,
                                                            .port = port,
                                                            .code = &code}) == 0);
    seed_step(ops, encoder, &s);
    for (; turns; turns >>= 1) {
        bool taken = turns & 1;
        s = (struct vs_step){.pc = 0x1004,
                             .target = 0x1000,
                             .time = ++s.time,
                             .icount = 2,
                             .kind = VS_STEP_CONDITIONAL,
                             .flags = (uint8_t)(VS_BR_COND | (taken ? VS_BR_TAKEN : 0)),
                             .size = 4};
        seed_step(ops, encoder, &s);
        if (!taken)
            break;
    }
    s = (struct vs_step){.time = ++s.time, .kind = VS_STEP_DISCONTINUITY};
    seed_step(ops, encoder, &s);
    must(vs_encoder_finish(ops, encoder) == 0);
    ops->close(encoder);
    vs_text_fini(&text);
}

static void make_seed(const char *dir, unsigned technique, unsigned how)
{
    struct choice c;
    struct vs_port_shape shape;
    struct vs_port_writer port;
    struct vs_buf out = {0};
    char path[4096];
    FILE *f;
    choose(&c, technique, how);
    vs_technique_shape(&c.spec, &c.setup, &shape);
    must(vs_port_writer_init(&port, &shape, to_buf, &out) == 0);
    seed_steps(&port, &c, 0x1ffff);
    must(vs_port_finish(&port) > 0);
    snprintf(path, sizeof(path), "%s/flow.%u.%u", dir, technique, how);
    f = fopen(path, "wb");
    must(f && fputc((int)technique, f) == (int)technique && fputc((int)how, f) == (int)how);
    must(fwrite(out.data, 1, out.len, f) == out.len && fclose(f) == 0);
    vs_port_writer_fini(&port);
    vs_buf_fini(&out);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    if (*argc != 3 || strcmp((*argv)[1], "--seed") != 0)
        return 0;
    for (unsigned t = 0; t < technique_count(); t++)
        for (unsigned how = 0; how < 64; how++)
            make_seed((*argv)[2], t, how);
    _exit(0);
}
