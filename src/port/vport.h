/* SPDX-License-Identifier: MIT */
/* Port streams as files: .vport. docs/vport.md describes the bytes.
 *
 * A file has the exact bits of a port's streams, and what a decoder has to be told before the first
 * bit: the technique with its parameters, and which code ran. None of that counts as bits at the
 * port, and nothing of the run is in it. */
#ifndef PORT_VPORT_H
#define PORT_VPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "port/stream.h"
#include "vestige/error.h"
#include "vestige/event.h"

#define VS_VPORT_VERSION        1 /* what this build writes */
#define VS_VPORT_VERSION_OLDEST 1 /* the oldest it reads */

#define VS_VPORT_PAIRS_MAX  1024
#define VS_VPORT_IMAGES_MAX 65536
#define VS_VPORT_NAME_MAX   256 /* for a parameter's or fact's name */
#define VS_VPORT_STRING_MAX (1u << 20)
#define VS_VPORT_ABOUT_MAX  (16u << 20) /* bytes of the whole description in the file */

struct vs_vport_pair {
    const char *name, *value;
};

/* What the file says about its streams. Its strings are not to be trusted: they may come from a
 * hostile file. */
struct vs_vport_about {
    const char *technique;              /* not empty */
    const char *isa;                    /* "rv64", "x86-64", ...; not empty */
    unsigned address_bits;              /* 32 or 64 */
    unsigned cores;                     /* 1 to 65536 */
    bool timed;                         /* the run has cycles */
    bool per_core;                      /* a stream for each core; else one */
    const struct vs_vport_pair *params; /* the technique's, all that shape the bits */
    size_t param_count;
    const struct vs_vport_pair *facts; /* of the run: what a replay depends on */
    size_t fact_count;
    const struct vs_image *images; /* the code */
    size_t image_count;
};

/* ---- writing ------------------------------------------------------------------------------- */

struct vs_vport_writer;

/* Starts a file, which gets its name only when it is sealed. Everything is copied.
 * Returns 0; -VSE_INVAL (about breaks a rule above; or as vs_outfile_open); -VSE_LIMIT;
 * -VSE_EXISTS; -VSE_IO; -VSE_NOMEM. diag may be NULL. */
int vs_vport_create(struct vs_vport_writer **w, const char *path,
                    const struct vs_vport_about *about, bool overwrite, struct vs_diag *diag);

/* Tells why an append failed; its error is 0 if none did. */
const struct vs_diag *vs_vport_writer_diag(const struct vs_vport_writer *w);

/* Appends bits to a stream: a vs_port_sink whose context is the writer. The unused bits of the last
 * byte must be 0. Returns 0; -VSE_INVAL (they are not; there is no such stream; the stream has
 * ended within a byte); -VSE_IO. */
int vs_vport_append(void *writer, unsigned stream, const uint8_t *bytes, uint64_t nbits);

/* Ends the file, syncs and renames it, and frees the writer. On failure no file is left.
 * Returns 0; an append's error; -VSE_IO; -VSE_EXISTS. */
int vs_vport_seal(struct vs_vport_writer *w, struct vs_diag *diag);

/* Gives the file up and frees the writer. NULL is fine. */
void vs_vport_abort(struct vs_vport_writer *w);

/* ---- reading ------------------------------------------------------------------------------- */

struct vs_vport {
    struct vs_vport_about about;
    const struct vs_port_stream *streams; /* one, or one for each core */
    uint64_t nbits;                       /* the bits of all streams that are there */
    uint64_t verified; /* how many of them had their checksum compared: all but a cut block's */
    bool truncated;    /* the file is cut: there may have been more bits */
    struct vs_diag missing; /* if truncated: where it is cut */
};

/* Reads a whole file. One that is cut after its description opens with the bits that are there; one
 * that is damaged does not open.
 * Returns 0; -VSE_INVAL (not a regular file); -VSE_NOMEM; -VSE_IO; -VSE_FORMAT; -VSE_VERSION;
 * -VSE_FEATURE; -VSE_CHECKSUM; -VSE_TRUNCATED (the description is cut); -VSE_CORRUPT;
 * -VSE_LIMIT. */
int vs_vport_open(struct vs_vport **v, const char *path, struct vs_diag *diag);

/* Does the same from memory, which is copied. */
int vs_vport_open_memory(struct vs_vport **v, const void *data, size_t size, struct vs_diag *diag);

/* NULL is fine. */
void vs_vport_close(struct vs_vport *v);

/* Return the value of a parameter or fact, or NULL. */
const char *vs_vport_param(const struct vs_vport_about *about, const char *name);
const char *vs_vport_fact(const struct vs_vport_about *about, const char *name);

#endif
