/* SPDX-License-Identifier: MIT */
/* The engine for native x86-64 programs: runs them under Valgrind with the tool of
 * capture/valgrind. */
#ifndef CAPTURE_VALGRIND_H
#define CAPTURE_VALGRIND_H

#include "engine/engine.h"

#define VS_VALGRIND_ISA "x86-64" /* of the programs that the tool records */

/* vs_engine_request.settings of this engine. */
struct vs_valgrind_settings {
    const char *tool; /* folder of the tool, or NULL to look beside the executable */
};

/* It takes what no other engine does: scripts too, and what is refused with a reason. It has no
 * details. */
extern const struct vs_engine vs_engine_valgrind;

#endif
