/* SPDX-License-Identifier: MIT */
/* Port streams: the exact bits that leave the chip, written to files, read back, and proved. */
#ifndef VESTIGE_STREAM_H
#define VESTIGE_STREAM_H

#include "vestige/run.h"
#include "vestige/technique.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- encoding ----------------------------------------------------------------------------- */

struct vs_encode_options {
    size_t size;
    const struct vs_catalog *catalog; /* NULL: the library's own techniques */
    bool overwrite;                   /* replace a file of that name; else -VSE_EXISTS */
};

struct vs_encoded {
    size_t size;
    uint64_t bits, messages;
};

/* Encodes a run, whose reader delivers all events, with a technique, and writes the stream to a
 * file, which gets its name only when it is complete. The reader's position is lost. options,
 * result and diag may be NULL. Returns 0; -VSE_NOTFOUND or -VSE_INVAL (no such technique,
 * configuration, parameter or value; an argument is missing); -VSE_FEATURE (the run was recorded
 * without what the technique needs; the options have fields that this library does not know);
 * -VSE_LIMIT; -VSE_END (the run has no thread); -VSE_EXISTS; -VSE_IO; -VSE_NOMEM; as
 * vs_reader_next. */
VS_API int vs_encode(struct vs_reader *reader, const char *spec, const char *path,
                     const struct vs_encode_options *options, struct vs_encoded *result,
                     struct vs_diag *diag);

/* ---- decoding ----------------------------------------------------------------------------- */

/* Where a program's code comes from: a run (`code`), whose blocks are all of it; or files
 * (`images`), and those that the stream names and that none of these replaces. */
struct vs_decode_options {
    size_t size;
    const struct vs_catalog *catalog; /* NULL: the library's own techniques */
    const char *code;                 /* a run's path, or NULL */
    const char *const *images;        /* paths of ELF files */
    size_t image_count;
    uint64_t limit; /* stop after so many instructions of all cores; 0: never */
};

/* A conditional or indirect branch, a direct call, or a discontinuity: control went to the target
 * without a branch. A target of 0 is nowhere: the core ended, or a gap began. */
struct vs_decoded {
    uint64_t pc; /* the branch's; 0 for a discontinuity */
    uint64_t target;
    uint64_t cycle;        /* of a timed stream's message that the step ends; else 0 */
    uint32_t instructions; /* the core's since its last step, this one's included */
    uint16_t core;
    uint8_t flags; /* a branch's VS_BR_* (vestige/event.h); 0 for a discontinuity */
    uint8_t size;  /* bytes of the branch */
};

/* Gets steps, each core's in order. Returns 0, or a negative number, which ends the decoding and is
 * what vs_decode returns. */
typedef int vs_decode_sink(void *context, const struct vs_decoded *steps, size_t count);

struct vs_decode_result {
    size_t size;
    uint64_t steps, branches, instructions, messages; /* branches: conditional and indirect */
};

/* Rebuilds control flow from a stream's file and the program's code, and hands it to the sink, even
 * before an error. options, sink, result and diag may be NULL. Returns 0; -VSE_LIMIT (the options'
 * limit was reached); -VSE_TRUNCATED (the stream ends although a core goes on); -VSE_CORRUPT (the
 * stream does not fit the code, or no encoder would write it); -VSE_FEATURE (the technique has no
 * control flow, or the instruction set is not known); -VSE_NOTFOUND (no such technique, or the code
 * is not there); an error of the sink; as vs_run_open. */
VS_API int vs_decode(const char *path, const struct vs_decode_options *options,
                     vs_decode_sink *sink, void *context, struct vs_decode_result *result,
                     struct vs_diag *diag);

/* ---- proving ------------------------------------------------------------------------------ */

/* What a comparison of a decoded stream with its run gave. */
struct vs_proved {
    size_t size;
    bool same;         /* everything that the stream tells is as in the run */
    uint64_t compared; /* steps, or loads, values and registers, or data addresses */
    uint64_t bits;     /* of the stream */
    char why[200];     /* if it is not the same: where they part; or why nothing can be decoded */
};

/* Encodes a run with each technique, decodes the streams, and compares what comes out with the run.
 * Fills `count` results; the first one's size goes for all. catalog and diag may be NULL. Returns 0
 * if all comparisons could be made, whatever they gave; -VSE_NOTFOUND or -VSE_INVAL (a spec);
 * -VSE_FEATURE (the run lacks what a technique needs); -VSE_NOMEM; as vs_run_open. */
VS_API int vs_prove_run(const char *path, const struct vs_catalog *catalog,
                        const char *const *specs, size_t count, struct vs_proved *results,
                        struct vs_diag *diag);

#ifdef __cplusplus
}
#endif

#endif
