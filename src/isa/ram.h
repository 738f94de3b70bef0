/* SPDX-License-Identifier: MIT */
/* A ready-made memory: sparse pages with permissions, shared by cores that take turns, coherent and
 * in order. Functional simulation at full speed: cores access pages directly, except where the
 * memory has to see them: stores to a page in which another core holds a reservation, and stores to
 * pages that hold decoded code.
 *
 * A reservation covers 64 aligned bytes. It is lost when another core or the owner stores there,
 * and by any store-conditional of its core.
 */
#ifndef ISA_RAM_H
#define ISA_RAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "isa/cpu.h"
#include "vestige/event.h"

#define VS_RESERVATION_SIZE 64

struct vs_page {
    uint8_t *bytes;
    uint8_t flags; /* VS_MAP_READ, WRITE, EXEC */
    bool code;     /* instructions were fetched from it */
    bool written;  /* cores may have changed it since vs_ram_take_written */
};

#define VS_RAM_NONE UINT64_MAX

struct vs_ram_core {
    struct vs_cpu *cpu;
    uint64_t reserved; /* start of the reservation, or VS_RAM_NONE */
};

struct vs_ram {
    struct vs_cpu_memory seen; /* first: by the cores */
    struct vs_map pages;       /* struct vs_page, by address */
    struct vs_ram_core *cores; /* by the core's id */
    size_t core_count, core_capacity;
    size_t reservations; /* cores that have one */
};

/* An empty memory. To be freed with vs_ram_fini. */
void vs_ram_init(struct vs_ram *m);
void vs_ram_fini(struct vs_ram *m);

/* Makes the core one that accesses this memory; it must have the next free id, from 0 on, and stay
 * until vs_ram_fini. 0; -VSE_INVAL for another id; -VSE_NOMEM. */
int vs_ram_attach(struct vs_ram *m, struct vs_cpu *cpu);

/* Maps zeros, in place of what was there. Both numbers are multiples of VS_PAGE_SIZE; flags are of
 * VS_MAP_READ, WRITE and EXEC. 0; -VSE_INVAL; -VSE_NOMEM, with some of it mapped. */
int vs_ram_map(struct vs_ram *m, uint64_t addr, uint64_t size, unsigned flags);

/* Unmaps, and changes what may be done; what is not mapped is left so. 0 or -VSE_INVAL. The caller
 * flushes decoded code if any of it may have been code. */
int vs_ram_unmap(struct vs_ram *m, uint64_t addr, uint64_t size);
int vs_ram_protect(struct vs_ram *m, uint64_t addr, uint64_t size, unsigned flags);

/* Copies whatever the flags of the pages. 0, or -VSE_NOTFOUND if not all of it is mapped, with the
 * part before copied. Putting breaks reservations; the caller flushes code that it replaces. */
int vs_ram_put(struct vs_ram *m, uint64_t addr, const void *bytes, size_t size);
int vs_ram_get(const struct vs_ram *m, uint64_t addr, void *bytes, size_t size);

/* Whether cores may have changed a page that these bytes lie in, since it was mapped or since the
 * last time that this was asked of it. Of pages that code is fetched from changes are known; others
 * count as changed when a core was let write them. */
bool vs_ram_take_written(struct vs_ram *m, uint64_t addr, uint64_t size);

/* Breaks the core's reservation, as a change of context does. */
void vs_ram_break(struct vs_ram *m, struct vs_cpu *cpu);

#endif
