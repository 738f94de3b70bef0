/* SPDX-License-Identifier: MIT */
/* What commands that measure techniques on runs share. */
#ifndef CLI_CMD_BANDWIDTH_H
#define CLI_CMD_BANDWIDTH_H

#include "front/region.h"

struct bandwidth_options {
    struct option_list techniques, plugins;
    uint64_t window;
    const char *buffer, *plot;
    bool json, csv, fields, overwrite;
    struct region_options region;
    const char *sample;
    unsigned by;         /* enum vs_by */
    uint64_t top;        /* so many places are told apart; 0: all; UINT64_MAX is the default */
    uint64_t warm, seed; /* warm: UINT64_MAX is the default */
};

#define BANDWIDTH_DEFAULTS                                                                         \
    {                                                                                              \
        .warm = UINT64_MAX, .top = UINT64_MAX                                                      \
    }

/* Encodes the runs and prints what that takes, with a total if there are several. Returns the exit
 * status. */
int bandwidth_measure(struct cli *cli, const struct bandwidth_options *o, int count, char **paths);

#endif
