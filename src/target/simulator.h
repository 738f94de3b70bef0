/* SPDX-License-Identifier: MIT */
/* The engine for static programs of the target's ISA: the platform (target/machine.h), and places
 * that the user names in the program. */
#ifndef TARGET_SIMULATOR_H
#define TARGET_SIMULATOR_H

#include "engine/engine.h"
#include "target/config.h"

/* This engine's vs_engine_request.settings, which must not be NULL. */
struct vs_simulator_settings {
    struct vs_target_config config;
    char **env; /* the program's; ended by NULL */
};

/* It takes every program for the target's processor, and refuses those that it cannot run with a
 * reason. Its details are a struct vs_machine_result. It does not filter by routine
 * (VS_PLACE_WANTED). */
extern const struct vs_engine vs_engine_simulator;

#endif
