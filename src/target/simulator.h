/* SPDX-License-Identifier: MIT */
/* The engine for static programs of the target's ISA: the platform (target/machine.h), with places
 * that the user names. */
#ifndef TARGET_SIMULATOR_H
#define TARGET_SIMULATOR_H

#include "engine/engine.h"
#include "target/config.h"

/* vs_engine_request.settings of this engine; not NULL. */
struct vs_simulator_settings {
    struct vs_target_config config;
    char **env; /* of the program; ended by NULL */
};

/* It takes every program for the target's processor: what it cannot run is refused with a reason.
 * Its details are a struct vs_machine_result. It does not filter by routine (VS_PLACE_WANTED). */
extern const struct vs_engine vs_engine_simulator;

#endif
