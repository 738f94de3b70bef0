/* SPDX-License-Identifier: MIT */
/* A recorded run that is encoded by a thread of its own while its stream is already being
 * replayed. */
#ifndef CLI_ENCODING_H
#define CLI_ENCODING_H

#include <stdatomic.h>

#include "base/workers.h"
#include "cli/vport_open.h"
#include "front/cli.h"
#include "port/growing.h"
#include "study/bandwidth.h"

struct encoding {
    struct vs_technique_spec spec; /* settled */
    struct vs_technique_setup setup;
    struct vs_vport_about about; /* without parameters */
    struct vs_port_growing bits;

    /* private */
    struct vs_reader *reader;
    struct vs_image *images;
    struct vs_vport_pair facts[VS_STREAM_FACTS];
    struct vs_bandwidth study;
    struct vs_workers *workers;
    struct vs_job job;
    atomic_bool stop;
};

struct encoding_options {
    bool at_once;       /* bits come without a pass beforehand (study/bandwidth.h) */
    const char *folder; /* the bits are kept in a file there; NULL: in memory */
};

/* Begins to encode the run at `path` as the spec says. Returns CLI_DONE, or the status after a
 * message; then *e is NULL. */
int encoding_open(struct cli *cli, struct encoding **e, const char *path,
                  const struct vs_technique_spec *spec, const struct encoding_options *o);

/* Ends it, whether or not the run is at its end. NULL is fine. */
void encoding_close(struct encoding *e);

/* What the run lacks at its end. */
const struct vs_run_info *encoding_info(const struct encoding *e);

#endif
