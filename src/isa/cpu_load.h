/* SPDX-License-Identifier: MIT */
/* What executes an ISA's programs: the CPU in the ISA's row, or one that is loaded when it is first
 * needed, since it is under another licence than the rest. */
#ifndef ISA_CPU_LOAD_H
#define ISA_CPU_LOAD_H

#include <stdint.h>

#include "isa/cpu.h"
#include "isa/set.h"
#include "vestige/error.h"

/* What such an object exports, under this name. */
struct vs_cpu_object {
    uint32_t version;      /* VS_CPU_OBJECT_VERSION, with which it was built */
    uint32_t cpu, code;    /* bytes of struct vs_cpu and struct vs_cpu_code, likewise */
    uint32_t memory;       /* bytes of struct vs_cpu_memory_ops */
    const char *made_from; /* what it is made from, with the version, for people */
    const struct vs_cpu_ops *ops;
};

#define VS_CPU_OBJECT         vestige_cpu
#define VS_CPU_OBJECT_NAME    "vestige_cpu"
#define VS_CPU_OBJECT_VERSION 1

/* Gets what executes the ISA. An object is looked for in `folder`, or if that is NULL in
 * lib/vestige beside the folder of the program that runs, or else in `vestige` beside the library
 * that this is in, or one folder up. It stays loaded. *made_from, if made_from is not NULL, is set
 * to what the object says, or NULL. Returns 0; or, with diag, -VSE_NOTFOUND (nothing executes this
 * ISA, or the object is not there); -VSE_INVAL (the object is another version's, or none). */
int vs_cpu_load(const struct vs_isa *isa, const char *folder, const struct vs_cpu_ops **ops,
                const char **made_from, struct vs_diag *diag);

#endif
