/* SPDX-License-Identifier: MIT */
/* A stream's program: its code and data, from a run or from files. */
#ifndef LIBRARY_PROGRAM_H
#define LIBRARY_PROGRAM_H

#include "replay/image_code.h"
#include "vestige/run.h"

struct vs_program_source {
    const char *run;           /* take the code from the run of this path; NULL: from files */
    const char *const *images; /* files that replace some that the stream names */
    size_t image_count;
    const char *also; /* with files: a run whose blocks are the code that these do not have; NULL:
                       * the files have to be there */
};

struct vs_program {
    struct vs_image_code image; /* its text is indexed */
    struct vs_reader *reader;   /* of the run, or NULL */
};

/* Returns 0; with diag, -VSE_NOTFOUND (files or code are not there, or changed since); -VSE_INVAL
 * (a run and files); -VSE_CORRUPT (the run is of another instruction set); as vs_run_open and
 * vs_image_code_add. fini is needed in any case. */
int vs_program_open(struct vs_program *p, const struct vs_program_source *source,
                    const struct vs_vport_about *about, struct vs_diag *diag);
void vs_program_fini(struct vs_program *p);

#endif
