/* SPDX-License-Identifier: MIT */
/* Files that Linux's `perf record -e intel_pt//u` writes: the bytes of the AUX area, which are
 * streams of Intel PT, and what was mapped as code.
 *
 * Where trace is missing, since perf's buffer was full or the file has a part of the AUX area no
 * more, the stream has a PSB, a PSBEND and an OVF, and goes on with the next PSB.
 *
 * With --per-thread, perf keeps a stream for each thread; else it keeps one for each processor. */
#ifndef PORT_PERF_DATA_H
#define PORT_PERF_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vestige/error.h"

#define VS_PERF_STREAMS_MAX 4096
#define VS_PERF_MAPS_MAX    16384

struct vs_perf_stream {
    uint32_t index; /* perf's number of it */
    uint32_t tid;   /* its thread; UINT32_MAX: it is a processor's */
    uint32_t cpu;   /* its processor; UINT32_MAX: it is a thread's */
    bool lost;      /* a part of it is missing in the file */
    bool lacks;     /* trace is missing up to the next PSB */
    uint8_t *bytes;
    size_t size, capacity;
    uint64_t end; /* the AUX area's offset after what was there last */
};

/* A part of a file at an address, executable. */
struct vs_perf_map {
    char *path;
    uint64_t address, size, offset;
};

/* A zeroed struct is empty. */
struct vs_perf_data {
    struct vs_perf_stream *streams; /* in the order in which they first appear */
    size_t stream_count, stream_capacity;
    struct vs_perf_map *maps; /* in order; no two are the same */
    size_t map_count, map_capacity;
    uint32_t tid;     /* the one thread that perf traced; 0: none, or several */
    bool several;     /* several */
    bool truncated;   /* perf says that trace was lost, since its buffer was full */
    char command[16]; /* what the traced program was called last, cut; or "" */
};

/* Reads a whole file. Nothing in it is trusted; fini is needed in any case. Returns 0; -VSE_FORMAT
 * (not perf's); -VSE_FEATURE (compressed, of another byte order, without Intel PT);
 * -VSE_TRUNCATED; -VSE_CORRUPT; -VSE_LIMIT; -VSE_NOMEM. The diag's offset is in the file. */
int vs_perf_data_parse(struct vs_perf_data *p, const uint8_t *bytes, size_t size,
                       struct vs_diag *diag);
void vs_perf_data_fini(struct vs_perf_data *p);

#endif
