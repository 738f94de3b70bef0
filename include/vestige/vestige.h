/* SPDX-License-Identifier: MIT */
/* All of libvestige's public interface. */
#ifndef VESTIGE_VESTIGE_H
#define VESTIGE_VESTIGE_H

#include "vestige/code.h"
#include "vestige/error.h"
#include "vestige/event.h"
#include "vestige/measure.h"
#include "vestige/playback.h"
#include "vestige/run.h"
#include "vestige/stream.h"
#include "vestige/technique.h"
#include "vestige/version.h"

#endif
