/* SPDX-License-Identifier: MIT */
/* Round trips of load-value techniques: an input is a run, which is encoded, decoded and compared.
 * The first 8 bytes choose the technique, its parameters and the number of cores; then every 5
 * bytes are an event. Memory is what the events make of it, but it may also change unseen. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "gen/feed.h"
#include "study/verify_data.h"
#include "technique/registry.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEAD = 8, EVENT = 5, EVENTS_MAX = 4000, CORES_MAX = 9, MEMORY = 1024, WIDE = 128 };

static void must(bool ok)
{
    if (!ok)
        abort();
}

struct run {
    struct vs_event events[EVENTS_MAX];
    uint64_t cycles[EVENTS_MAX];
    size_t count;
    struct vs_buf wide;
    uint8_t memory[MEMORY];
    unsigned cores;
    bool timed, prior;
    struct vs_technique_spec spec;
    struct vs_technique_setup setup;
    struct vs_port_shape shape;
};

static const struct vs_technique *technique(unsigned n)
{
    unsigned count = 0, i;
    for (i = 0; vs_techniques[i]; i++)
        count += (vs_techniques[i]->serves & VS_TECHNIQUE_DATA) != 0;
    n %= count;
    for (i = 0; !(vs_techniques[i]->serves & VS_TECHNIQUE_DATA) || n--; i++)
        ;
    return vs_techniques[i];
}

static void set(struct run *r, const char *name, const char *value)
{
    struct vs_diag diag;
    vs_technique_set(&r->spec, name, value, &diag); /* not all have all parameters */
}

static void set_number(struct run *r, const char *name, unsigned value)
{
    char text[16];
    snprintf(text, sizeof(text), "%u", value);
    set(r, name, text);
}

static bool choose(struct run *r, const uint8_t *head)
{
    static const char *const policies[] = {"lru", "round-robin", "fifo", "plru"};
    unsigned line = 4u << head[2] % 6, ways = 1u << head[3] % 3;
    const struct vs_technique *t = technique(head[0]);
    r->cores = 1u + head[1] % CORES_MAX;
    r->timed = head[1] & 0x80;
    r->prior = head[1] & 0x40;
    r->setup =
        (struct vs_technique_setup){.cores = r->cores, .address_bits = 64, .timed = r->timed};
    must(!vs_technique_defaults(&r->spec, t));
    set_number(r, "line", line);
    set_number(r, "ways", ways);
    set_number(r, "size", line * ways << head[4] % 4);
    if (head[4] & 4)
        set_number(r, "k", 1u << (head[4] >> 3) % 4);
    if ((head[4] & 4) && (head[4] & 0x80))
        set_number(r, "r", 1u << (head[4] >> 5) % 4);
    set_number(r, "granule", 1u << head[5] % 6);
    set_number(r, "fahcnt", 1 + head[6] % 9);
    if (head[7] & 16)
        set_number(r, "fahcnt_bits", VS_COUNTER_BITS_MIN + (head[7] >> 6));
    if (head[7] & 32)
        set_number(r, "icnt_bits", VS_COUNTER_BITS_MIN + (head[7] >> 6));
    set(r, "policy", policies[head[3] >> 6]);
    set_number(r, "data_bytes", 1u << (head[7] >> 4) % 4);
    set(r, "values", head[7] & 1 ? "xor" : head[7] & 2 ? "full" : "shorter");
    set(r, "rule", head[7] & 1 ? "implied" : "all");
    set(r, "supply", head[7] & 8 ? "owner" : "any");
    set(r, "caches", head[7] & 2 ? "shared" : "coherent");
    set(r, "streams", head[7] & 4 ? "split" : "unified");
    if (vs_technique_check(&r->spec, NULL) || vs_technique_undecodable(&r->spec))
        return false;
    vs_technique_settle(&r->spec, r->timed);
    vs_technique_shape(&r->spec, &r->setup, &r->shape);
    return true;
}

/* ---- events ---- */

#define BASE UINT64_C(0x7ffff000)

static void put_value(struct run *r, struct vs_event *e, const uint8_t *bytes)
{
    if (e->size <= 8) {
        memcpy(&e->value, bytes, e->size);
        return;
    }
    e->value = r->wide.len;
    must(!vs_buf_put(&r->wide, bytes, e->size));
}

static void add_event(struct run *r, const uint8_t *b)
{
    static const uint8_t kinds[] = {VS_LOAD,          VS_LOAD,  VS_LOAD,      VS_LOAD,
                                    VS_STORE,         VS_STORE, VS_STORE,     VS_EXTERNAL,
                                    VS_NONDET,        VS_GAP,   VS_EXCEPTION, VS_MAP,
                                    VS_EXCEPTION_RET, VS_COUNT, VS_LOAD,      VS_STORE};
    static const uint16_t sizes[] = {1, 2, 4, 8, 16, 32, 64, 100};
    struct vs_event e = {.kind = kinds[b[0] % 16],
                         .thread = (uint16_t)(b[1] % r->cores),
                         .size = sizes[b[0] >> 4 & 7],
                         .icount = b[1] >> 4,
                         .pc = 0x1000};
    unsigned at = (b[2] | (unsigned)b[3] << 8) % (MEMORY - WIDE);
    e.addr = BASE + at;
    if (b[0] & 0x80)
        r->memory[at] = b[4]; /* unseen */
    if (e.kind == VS_STORE || e.kind == VS_EXTERNAL)
        memset(r->memory + at, b[4], e.size);
    if (e.kind == VS_MAP)
        e = (struct vs_event){.kind = VS_MAP,
                              .thread = e.thread,
                              .addr = BASE,
                              .value = 1 + at,
                              .pc = VS_NO_IMAGE,
                              .flags = VS_MAP_READ};
    else if (e.kind == VS_COUNT)
        e = (struct vs_event){.kind = VS_COUNT, .thread = e.thread, .icount = e.icount};
    else
        put_value(r, &e, r->memory + at);
    r->cycles[r->count] = (r->count ? r->cycles[r->count - 1] : 0) + (b[4] & 15);
    r->events[r->count++] = e;
}

static struct vs_batch batch_of(const struct run *r)
{
    return (struct vs_batch){.events = r->events,
                             .cycles = r->timed ? r->cycles : NULL,
                             .wide = r->wide.data,
                             .wide_size = r->wide.len,
                             .count = r->count};
}

/* ---- both ways ---- */

static void encode(const struct run *r, struct vs_buf *bits, uint64_t *nbits)
{
    const struct vs_encoder_ops *ops = r->spec.technique->encoder;
    const struct vs_batch batch = batch_of(r);
    struct vs_prior *prior = NULL;
    struct vs_port_writer w;
    void *e;
    if (r->prior)
        must(!vs_prior_open(&prior) && !vs_prior_consume(prior, &batch));
    must(!vs_port_writer_init(&w, &r->shape, vs_port_to_buf, bits));
    must(!ops->open(&e,
                    &(struct vs_technique_context){
                        .params = r->spec.params, .setup = &r->setup, .port = &w, .prior = prior}));
    must(!ops->consume(e, &(struct vs_slice){.events = &batch}) && !vs_encoder_finish(ops, e));
    int64_t n = vs_port_finish(&w);
    must(n >= 0);
    *nbits = (uint64_t)n;
    ops->close(e);
    vs_port_writer_fini(&w);
    vs_prior_close(prior);
}

static void verify(const struct run *r, const struct vs_buf *bits, uint64_t nbits, bool by_turns)
{
    const struct vs_data_decoder_ops *ops = r->spec.technique->data_decoder;
    const struct vs_batch batch = batch_of(r);
    struct feed f = {.all = &batch};
    struct vs_changes changes = {0};
    struct vs_verify_data *v = malloc(sizeof(*v));
    struct vs_port_reader reader;
    void *d;
    must(v);
    must(!vs_port_reader_init(&reader, &r->shape,
                              &(struct vs_port_stream){bits->data, bits->len, nbits}));
    must(!vs_verify_data_init(v, ops, &reader, r->cores));
    must(!ops->open(&d, r->spec.params, &r->setup, &reader));
    vs_verify_data_drive(v, d);
    if (batch.cycles && batch.count)
        v->end = (struct vs_standing){.cycle = batch.cycles[batch.count - 1], .timed = true};
    must(!vs_changes_take(&changes, &batch));
    v->changes = &changes;
    int err =
        by_turns ? vs_verify_data_by_turns(v, feed_core, &f) : vs_verify_data_batch(v, &batch);
    if (!err && !by_turns)
        err = vs_verify_data_end(v);
    if (err && err != -VSE_NOTFOUND) { /* nothing to compare */
        fprintf(stderr, "%s: %s\n", r->spec.technique->name, v->c.diag.text);
        abort();
    }
    vs_verify_data_fini(v);
    vs_changes_fini(&changes);
    ops->close(d);
    vs_port_reader_fini(&reader);
    free(v);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct run *r = calloc(1, sizeof(*r));
    struct vs_buf bits = {0};
    uint64_t nbits;
    must(r);
    if (size >= HEAD && choose(r, data)) {
        for (size_t at = HEAD; at + EVENT <= size && r->count < EVENTS_MAX; at += EVENT)
            add_event(r, data + at);
        encode(r, &bits, &nbits);
        verify(r, &bits, nbits, false);
        verify(r, &bits, nbits, true);
    }
    vs_buf_fini(&bits);
    vs_buf_fini(&r->wide);
    free(r);
    return 0;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    uint64_t seed = 1;
    if (*argc != 3 || strcmp((*argv)[1], "--seed"))
        return 0;
    for (unsigned i = 0; i < 24; i++) {
        char path[4096];
        snprintf(path, sizeof(path), "%s/run.%u", (*argv)[2], i);
        FILE *f = fopen(path, "wb");
        must(f);
        for (unsigned k = 0; k < HEAD + EVENT * 200; k++) {
            seed = seed * 6364136223846793005 + 1442695040888963407;
            fputc(k ? (int)(seed >> 40 & 255) : (int)i, f);
        }
        must(fclose(f) == 0);
    }
    _exit(0);
}
