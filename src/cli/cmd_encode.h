/* SPDX-License-Identifier: MIT */
/* Makes a port stream of a run, for the commands that need one. */
#ifndef CLI_CMD_ENCODE_H
#define CLI_CMD_ENCODE_H

#include "front/options.h"
#include "technique/technique.h"

struct encode_options {
    struct option_list techniques;
    const char *output;
    bool overwrite, json;
    bool quiet; /* nothing is said about what was written */
};

/* Encodes the run at `path` to o->output; the file has that name only if all went well. Returns
 * CLI_DONE, or the status after a message. If there is a file after CLI_BAD_DATA, the run is
 * incomplete. */
int encode_run(struct cli *cli, const struct encode_options *o, const char *path,
               const struct vs_technique_spec *given);

#endif
