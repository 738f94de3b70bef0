/* SPDX-License-Identifier: MIT */
/* The engine for native x86-64 programs: runs them under Valgrind with the tool of
 * capture/valgrind. */
#ifndef CAPTURE_VALGRIND_H
#define CAPTURE_VALGRIND_H

#include "engine/engine.h"

#define VS_VALGRIND_ISA "x86-64" /* the ISA of the programs that the tool records */

/* This engine's vs_engine_request.settings. */
struct vs_valgrind_settings {
    const char *tool; /* folder of the tool, or NULL to look beside the executable */
};

/* It takes what no other engine takes, which includes scripts, and files that it refuses with a
 * reason. Its results have no details. */
extern const struct vs_engine vs_engine_valgrind;

#endif
