/* SPDX-License-Identifier: MIT */
/* A ready-made memory: sparse pages with permissions, shared by harts that take turns, coherent and
 * in order. Functional simulation at full speed: harts access pages directly, except where the
 * memory has to see them: stores to a page in which another hart holds a reservation, and stores to
 * pages that hold decoded code.
 *
 * A reservation covers 64 aligned bytes. It is lost when another hart or the owner stores there,
 * and by any store-conditional of its hart.
 */
#ifndef ISA_RV64_ISS_MEMORY_H
#define ISA_RV64_ISS_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isa/rv64/hart.h"
#include "isa/rv64/iss_port.h"
#include "vestige/event.h"

#define VS_RESERVATION_SIZE 64

struct vs_page {
    uint64_t addr; /* VS_MEMORY_FREE: no page here */
    uint8_t *bytes;
    uint8_t flags; /* VS_MAP_READ, WRITE, EXEC */
    bool code;     /* instructions were fetched from it */
    bool written;  /* harts may have changed it since vs_memory_take_written */
};

#define VS_MEMORY_FREE UINT64_MAX

struct vs_memory_hart {
    struct vs_hart *hart;
    uint64_t reserved; /* start of the reservation, or VS_MEMORY_FREE */
};

struct vs_memory {
    struct vs_port port;
    struct vs_page *pages; /* a hash table with open addressing */
    size_t page_count, page_capacity;
    struct vs_memory_hart *harts; /* by the hart's id */
    size_t hart_count, hart_capacity;
    size_t reservations; /* harts that have one */
};

/* An empty memory. To be freed with vs_memory_fini. */
void vs_memory_init(struct vs_memory *m);
void vs_memory_fini(struct vs_memory *m);

/* Makes the hart one that accesses this memory; it must have the next free id, from 0 on, and stay
 * until vs_memory_fini. 0; -VSE_INVAL for another id; -VSE_NOMEM. */
int vs_memory_attach(struct vs_memory *m, struct vs_hart *hart);

/* Maps zeros, in place of what was there. Both numbers are multiples of VS_PAGE_SIZE; flags are of
 * VS_MAP_READ, WRITE and EXEC. 0; -VSE_INVAL; -VSE_NOMEM, with some of it mapped. */
int vs_memory_map(struct vs_memory *m, uint64_t addr, uint64_t size, unsigned flags);

/* Unmaps, and changes what may be done; what is not mapped is left so. 0 or -VSE_INVAL. The caller
 * flushes decoded code if any of it may have been code. */
int vs_memory_unmap(struct vs_memory *m, uint64_t addr, uint64_t size);
int vs_memory_protect(struct vs_memory *m, uint64_t addr, uint64_t size, unsigned flags);

/* Copies whatever the flags of the pages. 0, or -VSE_NOTFOUND if not all of it is mapped, with the
 * part before copied. Putting breaks reservations; the caller flushes code that it replaces. */
int vs_memory_put(struct vs_memory *m, uint64_t addr, const void *bytes, size_t size);
int vs_memory_get(const struct vs_memory *m, uint64_t addr, void *bytes, size_t size);

/* Whether harts may have changed a page that these bytes lie in, since it was mapped or since the
 * last time that this was asked of it. Of pages that code is fetched from changes are known; others
 * count as changed when a hart was let write them. */
bool vs_memory_take_written(struct vs_memory *m, uint64_t addr, uint64_t size);

/* Breaks the hart's reservation, as a change of context does. */
void vs_memory_break(struct vs_memory *m, struct vs_hart *hart);

#endif
