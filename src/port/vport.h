/* SPDX-License-Identifier: MIT */
/* Port streams as files: .vport. docs/vport.md has the bytes.
 *
 * A file is the exact bits of a port's streams, and what a decoder has to be told before the first:
 * the technique with its parameters, and which code ran. None of that counts as bits at the port,
 * and nothing of the run is in it. */
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
#define VS_VPORT_NAME_MAX   256 /* of a parameter or fact */
#define VS_VPORT_STRING_MAX (1u << 20)
#define VS_VPORT_ABOUT_MAX  (16u << 20) /* bytes of all of it in the file */

struct vs_vport_pair {
    const char *name, *value;
};

/* What the file says about its streams. Strings have no control over what a reader does with them:
 * they may come from a hostile file. */
struct vs_vport_about {
    const char *technique;              /* not empty */
    const char *isa;                    /* "rv64", "x86-64", ...; not empty */
    unsigned address_bits;              /* 32 or 64 */
    unsigned cores;                     /* 1 to 65536 */
    bool timed;                         /* the run has cycles */
    bool per_core;                      /* a stream for each core; else one */
    const struct vs_vport_pair *params; /* of the technique, all that shape the bits */
    size_t param_count;
    const struct vs_vport_pair *facts; /* for people: where the run came from, ... */
    size_t fact_count;
    const struct vs_image *images; /* the code */
    size_t image_count;
};

/* ---- writing ------------------------------------------------------------------------------- */

struct vs_vport_writer;

/* Starts a file; it has its name only when it is sealed. All is copied.
 * Returns 0; -VSE_INVAL (about breaks a rule above; or as vs_outfile_open); -VSE_LIMIT;
 * -VSE_EXISTS; -VSE_IO; -VSE_NOMEM. diag may be NULL. */
int vs_vport_create(struct vs_vport_writer **w, const char *path,
                    const struct vs_vport_about *about, bool overwrite, struct vs_diag *diag);

/* Why an append failed; its error is 0 if none did. */
const struct vs_diag *vs_vport_writer_diag(const struct vs_vport_writer *w);

/* Appends bits of a stream: a vs_port_sink whose context is the writer. What is left of the last
 * byte is 0. Returns 0; -VSE_INVAL (it is not, there is no such stream, or it has ended within a
 * byte); -VSE_IO. */
int vs_vport_append(void *writer, unsigned stream, const uint8_t *bytes, uint64_t nbits);

/* Ends the file, syncs, renames, frees the writer. On failure no file is left.
 * Returns 0; the error of an append; -VSE_IO; -VSE_EXISTS. */
int vs_vport_seal(struct vs_vport_writer *w, struct vs_diag *diag);

/* Gives the file up, frees the writer. NULL is fine. */
void vs_vport_abort(struct vs_vport_writer *w);

/* ---- reading ------------------------------------------------------------------------------- */

struct vs_vport {
    struct vs_vport_about about;
    const struct vs_port_stream *streams; /* one, or one for each core */
    uint64_t nbits;                       /* of all of them, that are there */
    uint64_t verified; /* of these: whose checksums were compared, all but the last of a cut file */
    bool truncated;    /* the file is cut: there may have been more bits */
    struct vs_diag missing; /* if truncated: where it is cut */
};

/* Reads a file whole. One that is cut after its description opens with the bits that are there;
 * one that is damaged does not.
 * Returns 0; -VSE_INVAL (not a regular file); -VSE_NOMEM; -VSE_IO; -VSE_FORMAT; -VSE_VERSION;
 * -VSE_FEATURE; -VSE_CHECKSUM; -VSE_TRUNCATED (the description is cut); -VSE_CORRUPT; -VSE_LIMIT.
 */
int vs_vport_open(struct vs_vport **v, const char *path, struct vs_diag *diag);

/* The same from memory, which is copied. */
int vs_vport_open_memory(struct vs_vport **v, const void *data, size_t size, struct vs_diag *diag);

/* NULL is fine. */
void vs_vport_close(struct vs_vport *v);

/* The value of a parameter or fact, or NULL. */
const char *vs_vport_param(const struct vs_vport_about *about, const char *name);
const char *vs_vport_fact(const struct vs_vport_about *about, const char *name);

#endif
