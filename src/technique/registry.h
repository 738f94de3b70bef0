/* SPDX-License-Identifier: MIT */
/* The techniques, each defined in a file of its own. */
#ifndef TECHNIQUE_REGISTRY_H
#define TECHNIQUE_REGISTRY_H

#include "technique/technique.h"

extern const struct vs_technique vs_technique_mcfnx_b; /* nexus.c */
extern const struct vs_technique vs_technique_mcftr_b; /* traptor.c */
extern const struct vs_technique vs_technique_mcftr_e;
extern const struct vs_technique vs_technique_ttmbp; /* tmbp.c */
extern const struct vs_technique vs_technique_stmbp;
extern const struct vs_technique vs_technique_btmbp;

#endif
