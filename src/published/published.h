/* SPDX-License-Identifier: MIT */
/* The published layer: the research tools that Vestige succeeds, with their options and output.
 * Each is a command, and also a program of its own.
 *
 *   mcftrace, mlstrace        mTrace's two tools: a native run as text or binary
 *   mcftraptor, mlvcfiat      read that, and report as the published modules would
 *   tmtrace                   the same with time, on the simulated platform
 *   tmcftraptor, tmlvcfiat    read that
 */
#ifndef PUBLISHED_PUBLISHED_H
#define PUBLISHED_PUBLISHED_H

#include "front/command.h"

extern const struct command command_mcftrace;
extern const struct command command_mcftraptor;
extern const struct command command_mlstrace;
extern const struct command command_mlvcfiat;
extern const struct command command_tmcftraptor;
extern const struct command command_tmlvcfiat;
extern const struct command command_tmtrace;

#endif
