/* SPDX-License-Identifier: MIT */
/* The capture layer: engines that run a program and deliver what it does to a consumer. */
#ifndef CAPTURE_CAPTURE_H
#define CAPTURE_CAPTURE_H

#include "capture/valgrind.h"

#endif
