/* SPDX-License-Identifier: MIT */
/* Hostile streams of load-value techniques. The first 8 bytes of an input choose the technique, its
 * parameters, the number of cores and the seed of the accesses; the rest is the stream. A decoder
 * may refuse anything, with a reason; a core that waits may wait for good. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "technique/data.h"
#include "technique/registry.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEAD = 8, ACCESSES = 600, CACHED = 5, TECHNIQUES = 10 };

static const struct vs_technique *const techniques[TECHNIQUES] = {
    &vs_technique_mlvcf_b,         &vs_technique_mlvcf_e,     &vs_technique_mlvfa,
    &vs_technique_mlvfa_dedicated, &vs_technique_mc2rt,       &vs_technique_mlvnx_b,
    &vs_technique_mlvnx_gzip,      &vs_technique_mlvnx_bzip2, &vs_technique_mlvnx_xz,
    &vs_technique_mlvnx_zstd};

static void must(bool ok)
{
    if (!ok)
        abort();
}

struct machine {
    struct vs_technique_spec spec;
    const struct vs_technique *technique;
    struct vs_technique_setup setup;
    struct vs_port_shape shape;
    uint64_t seed;
};

static bool choose(struct machine *m, const uint8_t *head)
{
    static const char *const policies[] = {"lru", "round-robin", "fifo", "plru"};
    char text[200];
    size_t n = 0;
    unsigned which = head[0] % TECHNIQUES;
    m->technique = techniques[which];
    m->setup = (struct vs_technique_setup){.cores = 1u + head[1] % 9,
                                           .address_bits = head[1] & 0x40 ? 32 : 64,
                                           .timed = head[1] & 0x80};
    m->seed = head[2] | (uint64_t)head[3] << 8 | 0x10000;
    n = (size_t)snprintf(text, sizeof(text), "%s", m->technique->name);
    if (which < CACHED)
        n += (size_t)snprintf(text + n, sizeof(text) - n, ":line=%u,ways=%u,size=%u,policy=%s",
                              4u << head[4] % 8, 1u << head[5] % 3,
                              (4u << head[4] % 8) << (head[5] % 3 + head[6] % 4),
                              policies[head[6] >> 4 & 3]);
    if (m->technique == &vs_technique_mlvcf_b || m->technique == &vs_technique_mlvcf_e)
        n += (size_t)snprintf(text + n, sizeof(text) - n, ",caches=%s",
                              head[7] & 1 ? "shared" : "coherent");
    if (which > CACHED)
        n += (size_t)snprintf(text + n, sizeof(text) - n, ":%s", head[7] & 1 ? "split" : "unified");
    if (m->technique == &vs_technique_mc2rt)
        snprintf(text + n, sizeof(text) - n, ",rule=%s,supply=%s", head[7] & 1 ? "implied" : "all",
                 head[7] & 2 ? "owner" : "any");
    return !vs_technique_parse(&m->spec, text, NULL);
}

static uint64_t draw(struct machine *m, uint64_t below)
{
    m->seed = m->seed * 6364136223846793005 + 1442695040888963407;
    return (m->seed >> 33) % below;
}

/* What the accesses of a seed are; the encoder of seeds makes the same. */
static struct vs_event draw_access(struct machine *m)
{
    static const uint16_t sizes[] = {1, 2, 4, 8, 8, 16, 64, 300};
    static const uint8_t kinds[] = {VS_LOAD,  VS_LOAD,   VS_LOAD,         VS_LOAD, VS_STORE,
                                    VS_STORE, VS_NONDET, VS_THREAD_START, VS_LOAD, VS_EXTERNAL};
    struct vs_event e = {.kind = kinds[draw(m, 10)],
                         .thread = (uint16_t)draw(m, m->setup.cores),
                         .size = sizes[draw(m, 8)]};
    e.addr = (draw(m, 4) ? 0x1000 : UINT64_MAX - 300) + draw(m, 600);
    return e;
}

static int access_it(struct machine *m, void *d, const struct vs_event *e)
{
    static const uint8_t zeros[300];
    const struct vs_data_decoder_ops *ops = m->technique->data_decoder;
    uint8_t bytes[300];
    const uint8_t *regs;
    size_t size;
    int err;
    switch (e->kind) {
    case VS_LOAD:
        return ops->read(d, e->thread, e->addr, e->size, bytes);
    case VS_STORE:
        return ops->write(d, e->thread, e->addr, e->size, zeros);
    case VS_NONDET:
        return ops->nondet(d, e->thread, e->size, bytes);
    case VS_EXTERNAL:
        return ops->outside ? ops->outside(d, e->thread) : 0;
    default:
        err = ops->state(d, e->thread, 0, &regs, &size);
        for (size_t i = 0; !err && i < size; i++)
            bytes[i % 300] = regs[i];
        return err;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct machine m;
    struct vs_port_reader reader;
    void *d;
    int err = 0;
    if (size < HEAD || !choose(&m, data))
        return 0;
    vs_technique_shape(&m.spec, &m.setup, &m.shape);
    must(!vs_port_reader_init(
        &reader, &m.shape, &(struct vs_port_stream){data + HEAD, size - HEAD, 8 * (size - HEAD)}));
    must(!m.technique->data_decoder->open(&d, m.spec.params, &m.setup, &reader));
    for (unsigned i = 0; i < ACCESSES && err >= 0; i++) {
        unsigned core;
        struct vs_event e = draw_access(&m);
        err = access_it(&m, d, &e);
        if (i % 16 == 0 && !m.technique->data_decoder->turn(d, &core)) {
            uint64_t after;
            bool ends;
            must(core < m.setup.cores);
            m.technique->data_decoder->due(d, core, 0, &after, &ends);
        }
    }
    for (unsigned core = 0; core < m.setup.cores && err >= 0; core++)
        err = m.technique->data_decoder->end(d, core, 0);
    must(err >= 0 || err == -VSE_END || err == -VSE_TRUNCATED || err == -VSE_CORRUPT);
    must(err >= 0 || (reader.diag.error == err && reader.diag.text[0]));
    m.technique->data_decoder->close(d);
    vs_port_reader_fini(&reader);
    return 0;
}

/* ---- seeds ---- */

static void save(const char *dir, const uint8_t *head, const struct vs_buf *bits)
{
    char path[4096];
    FILE *f;
    snprintf(path, sizeof(path), "%s/stream.%u.%u", dir, head[0], head[7]);
    f = fopen(path, "wb");
    must(f && fwrite(head, 1, HEAD, f) == HEAD);
    must(fwrite(bits->data, 1, bits->len, f) == bits->len && fclose(f) == 0);
}

/* A stream of the accesses that its head leads to. Memory is all zeros. */
static void make_seed(const char *dir, const uint8_t *head)
{
    static const uint8_t zeros[300];
    struct machine m;
    struct vs_port_writer w;
    struct vs_buf bits = {0};
    uint64_t cycle = 0;
    void *e;
    must(choose(&m, head));
    vs_technique_shape(&m.spec, &m.setup, &m.shape);
    must(!vs_port_writer_init(&w, &m.shape, vs_port_to_buf, &bits));
    must(!m.technique->encoder->open(
        &e,
        &(struct vs_technique_context){.params = m.spec.params, .setup = &m.setup, .port = &w}));
    for (unsigned i = 0; i < ACCESSES; i++) {
        struct vs_event event = draw_access(&m);
        const struct vs_batch batch = {.events = &event,
                                       .cycles = &cycle,
                                       .wide = zeros,
                                       .wide_size = sizeof(zeros),
                                       .count = 1};
        must(!m.technique->encoder->consume(e, &(struct vs_slice){.events = &batch}));
        cycle += i % 7;
    }
    must(!vs_encoder_finish(m.technique->encoder, e) && vs_port_finish(&w) > 0);
    save(dir, head, &bits);
    m.technique->encoder->close(e);
    vs_port_writer_fini(&w);
    vs_buf_fini(&bits);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    if (*argc != 3 || strcmp((*argv)[1], "--seed"))
        return 0;
    for (uint8_t i = 0; i < 2 * TECHNIQUES; i++)
        make_seed((*argv)[2], (const uint8_t[HEAD]){(uint8_t)(i % TECHNIQUES), (uint8_t)(i * 37), i,
                                                    1, (uint8_t)(i + 2), i, (uint8_t)(i * 19),
                                                    (uint8_t)(i / TECHNIQUES)});
    _exit(0);
}
