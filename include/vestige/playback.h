/* SPDX-License-Identifier: MIT */
/* A program run again from its stream and its code alone, to any position, forwards and backwards:
 * registers and memory as they were. A position is the number of instructions that all cores have
 * retired. */
#ifndef VESTIGE_PLAYBACK_H
#define VESTIGE_PLAYBACK_H

#include "vestige/error.h"
#include "vestige/technique.h"

#ifdef __cplusplus
extern "C" {
#endif

struct vs_playback;

/* Zero in a field means the default. */
struct vs_playback_options {
    size_t size;
    const struct vs_catalog *catalog; /* must outlive the playback */
    const char *technique;            /* what encodes a recorded run; default mc2RT */
    const char *code;                 /* take a stream's code from the run of this path */
    const char *const *images;        /* or from these files; see vestige/stream.h */
    size_t image_count;
    uint64_t memory; /* bytes that checkpoints may take; default 1 GiB */
};

/* Opens a stream of load values, or a recorded run, which is encoded first; the playback stands at
 * position 0. options and diag may be NULL. Returns 0; -VSE_FEATURE (the stream has no load values;
 * the options have fields that this library does not know); -VSE_NOTFOUND (no such technique; the
 * code, or what executes it, is not there); -VSE_INVAL; -VSE_NOMEM; as vs_run_open. */
VS_API int vs_playback_open(struct vs_playback **p, const char *path,
                            const struct vs_playback_options *options, struct vs_diag *diag);

/* Ends a playback. NULL is fine. */
VS_API void vs_playback_close(struct vs_playback *p);

struct vs_playback_state {
    size_t size;
    uint64_t position;
    unsigned cores;
    bool over; /* every core has ended */
};

/* Tells where the playback stands. Returns 0; -VSE_INVAL (the size is too small). */
VS_API int vs_playback_tell(const struct vs_playback *p, struct vs_playback_state *state);

/* Goes to a position. Returns 0; -VSE_END (the program ends before; the playback stands at its
 * end); -VSE_TRUNCATED (the stream is cut before; it stands where it is cut); -VSE_FEATURE (it lies
 * behind, and the technique's decoder cannot go back); -VSE_CORRUPT (the stream does not fit the
 * code); -VSE_NOMEM. */
VS_API int vs_playback_goto(struct vs_playback *p, uint64_t position, struct vs_diag *diag);

/* Goes to where a core has just retired so many instructions. Returns as vs_playback_goto;
 * -VSE_NOTFOUND (no such core). */
VS_API int vs_playback_goto_core(struct vs_playback *p, unsigned core, uint64_t retired,
                                 struct vs_diag *diag);

struct vs_playback_core {
    size_t size;
    uint64_t pc, retired;
    bool started, ended;
};

/* Tells where a core stands. Returns 0; -VSE_NOTFOUND (no such core); -VSE_INVAL (the size is too
 * small). */
VS_API int vs_playback_core(const struct vs_playback *p, unsigned core,
                            struct vs_playback_core *state);

/* Names the i-th register, as gdb does, with its size in bytes. The name is static. Returns 0;
 * -VSE_NOTFOUND (there are no more). */
VS_API int vs_playback_register_at(const struct vs_playback *p, unsigned i, const char **name,
                                   unsigned *size);

/* Copies a core's register, least significant byte first, to a buffer of `capacity` bytes. Returns
 * its size; -VSE_NOTFOUND (no such core or register, or its value is not known); -VSE_LIMIT (it
 * does not fit). */
VS_API int vs_playback_register(const struct vs_playback *p, unsigned core, const char *name,
                                void *bytes, size_t capacity);

/* Copies memory from addr on, as the core knows it. Returns how many of the `size` bytes are known,
 * up to the first that is not: nothing in the stream or the program's files tells it; -VSE_NOTFOUND
 * (no such core). */
VS_API int64_t vs_playback_memory(struct vs_playback *p, unsigned core, uint64_t addr, void *bytes,
                                  size_t size);

#ifdef __cplusplus
}
#endif

#endif
