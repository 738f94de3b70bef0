/* SPDX-License-Identifier: MIT */
/* Raw streams of a run, decoded by Vestige into steps, direct jumps included. */
#ifndef FLOW_WALK_H
#define FLOW_WALK_H

#include <stdio.h>
#include <stdlib.h>

#include "replay/walk.h"
#include "study/verify.h"

static inline _Noreturn void fail(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

static inline struct vs_port_stream load_stream(const char *path)
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

struct flow_walk {
    struct vs_reader *reader;
    struct vs_verify v;
    struct vs_technique_spec spec;
};

/* Opens run.vest with the arguments `run.vest SPEC STREAM...`. */
static inline void flow_open(struct flow_walk *f, int argc, char **argv)
{
    struct vs_diag diag = {0};
    if (argc < 4)
        fail("usage", "run.vest SPEC STREAM...");
    if (vs_reader_open(&f->reader, argv[1], VS_OPEN_DEFAULT, &diag) < 0 ||
        vs_verify_init(&f->v, f->reader, &diag) < 0 ||
        vs_technique_parse(&f->spec, argv[2], &diag) < 0)
        fail(argv[1], diag.text);
    if (f->v.setup.cores != (unsigned)argc - 3)
        fail(argv[1], "it has another number of threads");
    vs_technique_settle(&f->spec, f->v.setup.timed);
}

/* Hands all steps of these files to a sink. */
static inline void flow_follow(struct flow_walk *f, char **paths, vs_walk_sink *sink, void *context)
{
    struct vs_port_shape shape;
    struct vs_port_reader port;
    struct vs_walk w;
    void *decoder;
    struct vs_port_stream *streams = calloc(f->v.setup.cores, sizeof(*streams));
    if (!streams)
        fail(paths[0], "out of memory");
    for (unsigned i = 0; i < f->v.setup.cores; i++)
        streams[i] = load_stream(paths[i]);
    vs_technique_shape(&f->spec, &f->v.setup, &shape);
    if (vs_port_reader_init(&port, &shape, streams) < 0 ||
        f->spec.technique->flow_decoder->open(&decoder, f->spec.params, &f->v.setup, &port) < 0)
        fail(paths[0], "it cannot be decoded");
    const struct vs_walk_config config = {.isa = f->v.isa,
                                          .code = &f->v.code,
                                          .ops = f->spec.technique->flow_decoder,
                                          .decoder = decoder,
                                          .port = &port,
                                          .cores = f->v.setup.cores,
                                          .jumps = true,
                                          .sink = sink,
                                          .context = context};
    if (vs_walk_init(&w, &config) < 0 || vs_walk_all(&w) < 0)
        fail(paths[0], w.diag.text);
    vs_walk_fini(&w);
    f->spec.technique->flow_decoder->close(decoder);
    vs_port_reader_fini(&port);
    for (unsigned i = 0; i < f->v.setup.cores; i++)
        free((void *)streams[i].data);
    free(streams);
}

static inline void flow_close(struct flow_walk *f)
{
    vs_verify_fini(&f->v);
    vs_reader_close(f->reader);
}

static inline uint64_t flow_mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

#endif
