/* SPDX-License-Identifier: MIT */
/* A run's instructions, one by one, with their code; and the names of its addresses. */
#ifndef VESTIGE_CODE_H
#define VESTIGE_CODE_H

#include "vestige/run.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- instructions ------------------------------------------------------------------------- */

struct vs_insns;

#define VS_INSN_BYTES 15

/* An instruction that retired. */
struct vs_retired {
    uint64_t pc;
    uint64_t event; /* number of the event with which it is counted */
    uint16_t thread;
    uint8_t size; /* bytes */
    uint8_t bytes[VS_INSN_BYTES];
    uint8_t reserved[6];
};

/* Prepares to walk over a run from its reader's position on, which should be the first event; the
 * reader must deliver all events (vs_run_open), outlive the walk, and not be read meanwhile.
 * Returns 0; -VSE_FEATURE (nothing here decodes the run's instruction set); -VSE_NOMEM; -VSE_LIMIT.
 */
VS_API int vs_insns_open(struct vs_insns **w, struct vs_reader *reader, struct vs_diag *diag);

/* Ends a walk. NULL is fine. */
VS_API void vs_insns_close(struct vs_insns *w);

/* Delivers the next instructions: each thread's in order, and those of all threads in the order of
 * the events with which they are counted. They are valid until the next call. Returns their number,
 * at least 1 and below 1,200,000; -VSE_END after the last; -VSE_NOMEM; -VSE_CORRUPT (the code is
 * not what the events say); as vs_reader_next. */
VS_API int64_t vs_insns_next(struct vs_insns *w, const struct vs_retired **list,
                             struct vs_diag *diag);

/* Writes an instruction as text, with a NUL; 128 bytes hold any. Returns its length; -VSE_CORRUPT
 * (its bytes are no instruction); -VSE_LIMIT (it does not fit). */
VS_API int vs_insns_text(const struct vs_insns *w, const struct vs_retired *insn, char *text,
                         size_t capacity);

/* ---- names -------------------------------------------------------------------------------- */

struct vs_names;

/* What lies at an address. The strings are valid until the names are closed. */
struct vs_name {
    size_t size;
    const char *image;   /* path of the file; NULL: none lies there, and nothing else is known */
    const char *routine; /* NULL: it has no name */
    uint64_t offset;     /* from where the routine begins */
    const char *file;    /* of the source; NULL: not known */
    unsigned line;       /* 0: not known */
};

/* Prepares to name addresses of a run, by the files that it names. The reader must outlive the
 * names. Returns 0; -VSE_NOMEM. */
VS_API int vs_names_open(struct vs_names **n, const struct vs_reader *reader, struct vs_diag *diag);

/* Names an address; if images replaced each other, by the one that starts last. Returns 0;
 * -VSE_INVAL (the size is too small); -VSE_LIMIT (too many addresses were named); -VSE_NOMEM;
 * -VSE_IO (of a file whose debug information was there). */
VS_API int vs_names_at(struct vs_names *n, uint64_t address, struct vs_name *name);

/* Ends it. NULL is fine. */
VS_API void vs_names_close(struct vs_names *n);

#ifdef __cplusplus
}
#endif

#endif
