/* SPDX-License-Identifier: MIT */
/* The number of all instructions of each thread, and a hash of their addresses, as Vestige decodes
 * the raw streams of a run: a line for each thread.
 *
 *   flow_pcs run.vest SPEC STREAM...
 *
 * It is not for runs in which an instruction that repeats itself is interrupted: Vestige counts it
 * when it begins, others when it ends. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "replay/walk.h"
#include "study/verify.h"

static void fail(const char *what, const char *why)
{
    fprintf(stderr, "flow_pcs: %s: %s\n", what, why);
    exit(1);
}

struct followed {
    const struct vs_verify *v;
    struct {
        uint64_t pc, count, hash;
    } * cores;
};

static int follow(void *context, const struct vs_step *steps, size_t count)
{
    struct followed *f = context;
    for (const struct vs_step *s = steps; s < steps + count; s++) {
        uint64_t *pc = &f->cores[s->core].pc, *hash = &f->cores[s->core].hash;
        for (uint32_t i = 0; i < s->icount; i++) {
            uint8_t bytes[VS_ISA_LENGTH_MAX];
            struct vs_insn insn;
            size_t size = vs_text_fetch(&f->v->code, 0, *pc, bytes, sizeof(bytes));
            if (!size || f->v->isa->decode(bytes, size, *pc, &insn) < 0)
                return -VSE_NOTFOUND;
            *hash = (*hash ^ *pc) * UINT64_C(0x9e3779b97f4a7c15);
            *hash ^= *hash >> 29;
            *pc += insn.length;
        }
        f->cores[s->core].count += s->icount;
        if (s->kind != VS_STEP_DISCONTINUITY && *pc != s->pc + s->size)
            return -VSE_CORRUPT;
        *pc = vs_step_next(s);
    }
    return 0;
}

static struct vs_port_stream load(const char *path)
{
    struct vs_port_stream s = {0};
    FILE *f = fopen(path, "rb");
    uint8_t *bytes = NULL;
    for (size_t n = 1; f && n; s.size += n) {
        bytes = realloc(bytes, s.size + (1 << 16));
        if (!bytes)
            fail(path, "out of memory");
        n = fread(bytes + s.size, 1, 1 << 16, f);
    }
    if (!f)
        fail(path, "it cannot be read");
    fclose(f);
    s.data = bytes;
    s.nbits = 8 * s.size;
    return s;
}

int main(int argc, char **argv)
{
    struct vs_diag diag = {0};
    struct vs_reader *reader;
    struct vs_verify v;
    struct vs_technique_spec spec;
    struct vs_port_shape shape;
    struct vs_port_reader port;
    struct vs_walk w;
    void *decoder;
    if (argc < 4)
        fail("usage", "flow_pcs run.vest SPEC STREAM...");
    if (vs_reader_open(&reader, argv[1], VS_OPEN_DEFAULT, &diag) < 0 ||
        vs_verify_init(&v, reader, &diag) < 0 || vs_technique_parse(&spec, argv[2], &diag) < 0)
        fail(argv[1], diag.text);
    if (v.setup.cores != (unsigned)argc - 3)
        fail(argv[1], "it has another number of threads");
    struct vs_port_stream *streams = calloc(v.setup.cores, sizeof(*streams));
    struct followed f = {.v = &v, .cores = calloc(v.setup.cores, sizeof(*f.cores))};
    if (!streams || !f.cores)
        fail(argv[1], "out of memory");
    for (unsigned i = 0; i < v.setup.cores; i++)
        streams[i] = load(argv[3 + i]);
    vs_technique_settle(&spec, v.setup.timed);
    vs_technique_shape(&spec, &v.setup, &shape);
    if (vs_port_reader_init(&port, &shape, streams) < 0 ||
        spec.technique->flow_decoder->open(&decoder, spec.params, &v.setup, &port) < 0)
        fail(argv[3], "it cannot be decoded");
    const struct vs_walk_config config = {.isa = v.isa,
                                          .code = &v.code,
                                          .ops = spec.technique->flow_decoder,
                                          .decoder = decoder,
                                          .port = &port,
                                          .cores = v.setup.cores,
                                          .jumps = true,
                                          .sink = follow,
                                          .context = &f};
    if (vs_walk_init(&w, &config) < 0 || vs_walk_all(&w) < 0)
        fail(argv[3], w.diag.text);
    for (unsigned i = 0; i < v.setup.cores; i++) {
        printf("%" PRIu64 " %016" PRIx64 "\n", f.cores[i].count, f.cores[i].hash);
        free((void *)streams[i].data);
    }
    vs_walk_fini(&w);
    spec.technique->flow_decoder->close(decoder);
    vs_port_reader_fini(&port);
    free(f.cores);
    free(streams);
    vs_verify_fini(&v);
    vs_reader_close(reader);
    return 0;
}
