/* SPDX-License-Identifier: MIT */
/* The capture layer: the engine that records native programs. Other layers include only its row.
 *
 *   valgrind   the engine, whose other half is the tool in Valgrind (capture/valgrind)
 *   tool_session  one process under Valgrind; family: a program and the children that are followed
 *   wire       what both halves share
 *   launch     starting Valgrind
 *   assemble   from the tool's records to events, with blocks and registers; assemble_records: from
 *              those that are no blocks
 *   images     what a program maps; places checks whether what the user named can be there
 *   log        what Valgrind says
 */
#ifndef CAPTURE_CAPTURE_H
#define CAPTURE_CAPTURE_H

#include "capture/valgrind.h"

#endif
