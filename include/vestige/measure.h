/* SPDX-License-Identifier: MIT */
/* What techniques take of a run: the bits that leave the chip, and what they are for. The run is
 * read once for all techniques of a study, which encode it in parallel. */
#ifndef VESTIGE_MEASURE_H
#define VESTIGE_MEASURE_H

#include "vestige/run.h"
#include "vestige/technique.h"

#ifdef __cplusplus
extern "C" {
#endif

struct vs_measure;

/* Zero in a field means none. */
struct vs_measure_options {
    size_t size;
    const struct vs_catalog *catalog; /* must outlive the study */
    uint64_t window; /* also count bits in windows of so many cycles, or of instructions in a run
                      * that is not timed */
    uint64_t sync;   /* a core's instructions from one synchronisation point to the next, for
                      * techniques that have them */
};

/* Prepares a study of a run whose reader delivers all of its events (vs_run_open). The reader must
 * outlive the study, and its position is lost. options and diag may be NULL. Returns 0; -VSE_INVAL
 * (the options' size); -VSE_FEATURE (the options have fields that this library does not know);
 * -VSE_END (the run has no thread); -VSE_NOMEM. */
VS_API int vs_measure_open(struct vs_measure **m, struct vs_reader *reader,
                           const struct vs_measure_options *options, struct vs_diag *diag);

/* Adds a technique by its spec, before the run is read. Returns its number, from 0 up; with diag,
 * -VSE_NOTFOUND or -VSE_INVAL (no such technique, configuration, parameter or value); -VSE_FEATURE
 * (the run was recorded without what the technique needs); -VSE_LIMIT (too many threads for it);
 * -VSE_INVAL (the run was read already); -VSE_NOMEM. */
VS_API int64_t vs_measure_add(struct vs_measure *m, const char *spec, struct vs_diag *diag);

/* Reads the run, once. Returns 0; -VSE_INVAL (it was read already); -VSE_LIMIT (too many windows);
 * -VSE_NOMEM; as vs_reader_next. */
VS_API int vs_measure_run(struct vs_measure *m, struct vs_diag *diag);

/* What a technique took. The strings are valid until the study is closed. */
struct vs_measured {
    size_t size;
    const char *technique;
    const char *spec; /* with all parameters */
    unsigned reports; /* enum vs_reports */
    unsigned cores;
    uint64_t bits, messages;
    uint64_t instructions, cycles; /* of the run; cycles: 0 if it is not timed */
    uint64_t storage, gates;       /* of the encoders of all cores: bits, and gates */
};

/* Tells what technique number i took. Returns 0; -VSE_NOTFOUND (no such number); -VSE_INVAL (the
 * run was not read, or the size is too small). */
VS_API int vs_measure_get(const struct vs_measure *m, uint64_t i, struct vs_measured *result);

/* Tells how many bits went to the k-th field: "Ti", "header", "target" and so on; all fields
 * together are all bits. The name is static. Returns 0; -VSE_NOTFOUND (no such number, or no more
 * fields); -VSE_INVAL (the run was not read). */
VS_API int vs_measure_field(const struct vs_measure *m, uint64_t i, unsigned k, const char **name,
                            uint64_t *bits);

/* Tells the k-th number that the encoder counted, such as "conditional" branches. The name is valid
 * as long as the catalog. Returns as vs_measure_field. */
VS_API int vs_measure_count(const struct vs_measure *m, uint64_t i, unsigned k, const char **name,
                            uint64_t *value);

/* Copies the bits in each window to an array of `capacity`: those of one core, or with core = -1 of
 * all. Returns how many windows there are, which may be more than fit; -VSE_NOTFOUND (no such
 * number or core); -VSE_INVAL (the run was not read, or there are no windows). */
VS_API int64_t vs_measure_windows(const struct vs_measure *m, uint64_t i, int core, uint64_t *bits,
                                  size_t capacity);

/* Ends a study. NULL is fine. */
VS_API void vs_measure_close(struct vs_measure *m);

#ifdef __cplusplus
}
#endif

#endif
