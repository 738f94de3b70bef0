/* SPDX-License-Identifier: MIT */
/* What commands that read and write port streams share. */
#ifndef CLI_VPORT_OPEN_H
#define CLI_VPORT_OPEN_H

#include "front/cli.h"
#include "port/vport.h"
#include "study/stream_file.h"
#include "technique/technique.h"

/* Opens a stream, and finds the technique that can read it; its spec is settled. Returns CLI_DONE,
 * or the status after a message. */
int vport_open(struct cli *cli, struct vs_vport **port, const char *path,
               struct vs_technique_spec *spec, struct vs_technique_setup *setup);

/* Says that the file is cut off, if it is. Returns CLI_DONE; CLI_BAD_DATA. */
int vport_missing(struct cli *cli, const struct vs_vport *port, const char *path);

/* Starts a file for a run's stream; the spec must be settled. Returns CLI_DONE, or the status after
 * a message. */
int vport_create(struct cli *cli, struct vs_vport_writer **w, const char *path, bool overwrite,
                 const struct vs_reader *run, const struct vs_technique_spec *spec,
                 const struct vs_technique_setup *setup);

#endif
