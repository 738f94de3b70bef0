/* SPDX-License-Identifier: MIT */
/* The replay layer: the software debugger. It has the program's code and a port stream, never the
 * run's events.
 *
 *   text   the code that each core executes, as it changes
 *   walk   control flow from a port stream
 */
#ifndef REPLAY_REPLAY_H
#define REPLAY_REPLAY_H

#include "replay/text.h"
#include "replay/walk.h"

#endif
