/* SPDX-License-Identifier: MIT */
/* A ready-made memory: sparse pages with permissions, shared by cores that take turns, coherent and
 * in order. It is made for functional simulation at full speed: cores access pages directly, except
 * where the memory has to see the access: a store to a page in which another core holds a
 * reservation, or to one that holds decoded code.
 *
 * A reservation covers 64 aligned bytes. It is lost when another core or the owner stores there,
 * and by any store-conditional of its core. */
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
    struct vs_cpu_memory seen; /* what the cores see; must be first */
    struct vs_map pages;       /* struct vs_page, by address */
    struct vs_ram_core *cores; /* by the core's id */
    size_t core_count, core_capacity;
    size_t reservations; /* cores that have one */
};

/* Makes an empty memory, to be freed with vs_ram_fini. */
void vs_ram_init(struct vs_ram *m);
void vs_ram_fini(struct vs_ram *m);

/* Lets the core access this memory. It must have the next free id, from 0 on, and stay until
 * vs_ram_fini. Returns 0; -VSE_INVAL (another id); -VSE_NOMEM. */
int vs_ram_attach(struct vs_ram *m, struct vs_cpu *cpu);

/* Maps zeros in place of what was there. Address and size are multiples of VS_PAGE_SIZE; flags are
 * VS_MAP_READ, WRITE and EXEC. Returns 0; -VSE_INVAL; -VSE_NOMEM, with some of it mapped. */
int vs_ram_map(struct vs_ram *m, uint64_t addr, uint64_t size, unsigned flags);

/* Unmap pages, and change what may be done with them; pages that are not mapped stay so. Return 0;
 * -VSE_INVAL. The caller flushes decoded code if any of them may have held code. */
int vs_ram_unmap(struct vs_ram *m, uint64_t addr, uint64_t size);
int vs_ram_protect(struct vs_ram *m, uint64_t addr, uint64_t size, unsigned flags);

/* Copy bytes in and out, whatever the flags of the pages. Return 0; -VSE_NOTFOUND if not all of it
 * is mapped, with the part before that copied. put breaks reservations; the caller flushes decoded
 * code that it replaces. */
int vs_ram_put(struct vs_ram *m, uint64_t addr, const void *bytes, size_t size);
int vs_ram_get(const struct vs_ram *m, uint64_t addr, void *bytes, size_t size);

/* Returns whether cores may have changed a page that these bytes lie in since it was mapped, or
 * since this was last asked about it. For pages that code was fetched from, changes are known;
 * others count as changed once a core was allowed to write them. */
bool vs_ram_take_written(struct vs_ram *m, uint64_t addr, uint64_t size);

/* Breaks the core's reservation, as a context switch does. */
void vs_ram_break(struct vs_ram *m, struct vs_cpu *cpu);

#endif
