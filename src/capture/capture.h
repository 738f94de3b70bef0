/* SPDX-License-Identifier: MIT */
/* The capture layer: engines that run a program and deliver what it does to a consumer.
 *
 *   valgrind   the engine of which the tool in Valgrind (capture/valgrind) is the other half
 *   wire       what the halves share
 *   launch     starting Valgrind
 *   assemble   from the tool's records to events, with blocks and registers
 *   engine     what engines are told alike
 *   images     what a program maps
 */
#ifndef CAPTURE_CAPTURE_H
#define CAPTURE_CAPTURE_H

#include "capture/engine.h"
#include "capture/images.h"
#include "capture/valgrind.h"

#endif
