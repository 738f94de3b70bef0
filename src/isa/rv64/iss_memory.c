/* SPDX-License-Identifier: MIT */
#include "isa/rv64/iss_memory.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/invariant.h"
#include "isa/rv64/rv64.h"
#include "vestige/error.h"

#define OFFSET(addr)  ((addr) & (VS_PAGE_SIZE - 1))
#define PAGE_OF(addr) ((addr) & ~(VS_PAGE_SIZE - 1))
#define GRANULE(addr) ((addr) & ~(uint64_t)(VS_RESERVATION_SIZE - 1))

/* ---- pages ----------------------------------------------------------------------------------- */

static size_t slot_of(uint64_t page, size_t capacity)
{
    return (size_t)((page >> VS_PAGE_BITS) * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (capacity - 1);
}

/* The page's slot, or the free one where it would go. There always is a free one. */
static struct vs_page *find_slot(struct vs_page *pages, size_t capacity, uint64_t page)
{
    size_t i = slot_of(page, capacity);
    while (pages[i].addr != VS_MEMORY_FREE && pages[i].addr != page)
        i = (i + 1) & (capacity - 1);
    return &pages[i];
}

static struct vs_page *find_page(const struct vs_memory *m, uint64_t addr)
{
    if (!m->page_capacity)
        return NULL;
    struct vs_page *p = find_slot(m->pages, m->page_capacity, PAGE_OF(addr));
    return p->addr == VS_MEMORY_FREE ? NULL : p;
}

static int grow(struct vs_memory *m)
{
    size_t capacity = m->page_capacity ? 2 * m->page_capacity : 1024;
    struct vs_page *pages = malloc(capacity * sizeof(*pages));
    if (!pages)
        return -VSE_NOMEM;
    for (size_t i = 0; i < capacity; i++)
        pages[i].addr = VS_MEMORY_FREE;
    for (size_t i = 0; i < m->page_capacity; i++)
        if (m->pages[i].addr != VS_MEMORY_FREE)
            *find_slot(pages, capacity, m->pages[i].addr) = m->pages[i];
    free(m->pages);
    m->pages = pages;
    m->page_capacity = capacity;
    return 0;
}

static void forget_page(struct vs_memory *m, uint64_t addr, bool only_writes)
{
    for (size_t i = 0; i < m->hart_count; i++)
        vs_hart_forget_page(m->harts[i].hart, addr, only_writes);
}

static int map_page(struct vs_memory *m, uint64_t addr, unsigned flags)
{
    struct vs_page *p = find_page(m, addr);
    if (!p) {
        if (2 * (m->page_count + 1) > m->page_capacity && grow(m))
            return -VSE_NOMEM;
        uint8_t *bytes = aligned_alloc(64, VS_PAGE_SIZE);
        if (!bytes)
            return -VSE_NOMEM;
        invariant(2 * (m->page_count + 1) <= m->page_capacity);
        p = find_slot(m->pages, m->page_capacity, addr);
        *p = (struct vs_page){.addr = addr, .bytes = bytes};
        m->page_count++;
    }
    memset(p->bytes, 0, VS_PAGE_SIZE);
    p->flags = (uint8_t)flags;
    p->code = p->written = false;
    forget_page(m, addr, false);
    return 0;
}

/* Takes the page out; those after it that had to make way for it move up. */
static void unmap_page(struct vs_memory *m, uint64_t addr)
{
    struct vs_page *p = find_page(m, addr);
    if (!p)
        return;
    free(p->bytes);
    p->addr = VS_MEMORY_FREE;
    m->page_count--;
    forget_page(m, addr, false);
    size_t mask = m->page_capacity - 1;
    for (size_t i = ((size_t)(p - m->pages) + 1) & mask; m->pages[i].addr != VS_MEMORY_FREE;
         i = (i + 1) & mask) {
        struct vs_page moved = m->pages[i];
        m->pages[i].addr = VS_MEMORY_FREE;
        *find_slot(m->pages, m->page_capacity, moved.addr) = moved;
    }
}

/* ---- reservations ---------------------------------------------------------------------------- */

static void lose_reservation(struct vs_memory *m, struct vs_memory_hart *h)
{
    if (h->reserved != VS_MEMORY_FREE)
        m->reservations--;
    h->reserved = VS_MEMORY_FREE;
}

/* Breaks reservations of harts other than `but` that bytes at addr are part of. */
static void break_reservations(struct vs_memory *m, const struct vs_hart *but, uint64_t addr,
                               size_t size)
{
    if (!m->reservations)
        return;
    for (size_t i = 0; i < m->hart_count; i++) {
        struct vs_memory_hart *h = &m->harts[i];
        if (h->hart != but && h->reserved != VS_MEMORY_FREE &&
            (addr - h->reserved < VS_RESERVATION_SIZE || h->reserved - addr < size))
            lose_reservation(m, h);
    }
}

static void reserve(struct vs_memory *m, struct vs_hart *hart, uint64_t addr)
{
    struct vs_memory_hart *h = &m->harts[hart->id];
    lose_reservation(m, h);
    h->reserved = GRANULE(addr);
    m->reservations++;
    for (size_t i = 0; i < m->hart_count; i++)
        if (m->harts[i].hart != hart)
            vs_hart_forget_page(m->harts[i].hart, addr, true);
}

static bool is_watched(const struct vs_memory *m, const struct vs_hart *hart, uint64_t page)
{
    for (size_t i = 0; m->reservations && i < m->hart_count; i++)
        if (m->harts[i].hart != hart && m->harts[i].reserved != VS_MEMORY_FREE &&
            PAGE_OF(m->harts[i].reserved) == page)
            return true;
    return false;
}

/* ---- the port -------------------------------------------------------------------------------- */

/* The page of addr if it has all of flags, else NULL, with tval set. */
static struct vs_page *allowed(struct vs_memory *m, struct vs_hart *hart, uint64_t addr,
                               unsigned flags)
{
    struct vs_page *p = find_page(m, addr);
    if (p && (p->flags & flags) == flags)
        return p;
    hart->tval = addr;
    return NULL;
}

static int port_fetch(struct vs_port *port, struct vs_hart *hart, uint64_t addr, uint16_t *parcel)
{
    struct vs_memory *m = (struct vs_memory *)port;
    struct vs_page *p = allowed(m, hart, addr, VS_MAP_EXEC);
    if (!p)
        return VS_PORT_FAULT;
    if (!p->code) {
        p->code = true;
        forget_page(m, addr, true);
    }
    memcpy(parcel, p->bytes + OFFSET(addr), sizeof(*parcel));
    return 0;
}

/* Bytes of an access that lie in its first page. */
static unsigned first_part(uint64_t addr, unsigned size)
{
    uint64_t room = VS_PAGE_SIZE - OFFSET(addr);
    return room < size ? (unsigned)room : size;
}

static int port_read(struct vs_port *port, struct vs_hart *hart, uint64_t addr, unsigned size,
                     enum vs_access access, uint64_t *value)
{
    struct vs_memory *m = (struct vs_memory *)port;
    unsigned part = first_part(addr, size);
    unsigned flags = access == VS_ACCESS_AMO ? VS_MAP_READ | VS_MAP_WRITE : VS_MAP_READ;
    const struct vs_page *p = allowed(m, hart, addr, flags);
    const struct vs_page *q = p && part < size ? allowed(m, hart, addr + part, flags) : p;
    if (!p || !q)
        return VS_PORT_FAULT;
    *value = 0;
    memcpy(value, p->bytes + OFFSET(addr), part);
    if (part < size)
        memcpy((uint8_t *)value + part, q->bytes, size - part);
    if (access == VS_ACCESS_RESERVED)
        reserve(m, hart, addr);
    return 0;
}

static void put_bytes(struct vs_page *p, uint64_t offset, const uint8_t *bytes, size_t size)
{
    p->written |= memcmp(p->bytes + offset, bytes, size) != 0;
    memcpy(p->bytes + offset, bytes, size);
}

static int port_write(struct vs_port *port, struct vs_hart *hart, uint64_t addr, unsigned size,
                      enum vs_access access, uint64_t value)
{
    struct vs_memory *m = (struct vs_memory *)port;
    unsigned part = first_part(addr, size);
    struct vs_page *p = allowed(m, hart, addr, VS_MAP_WRITE);
    struct vs_page *q = p && part < size ? allowed(m, hart, addr + part, VS_MAP_WRITE) : p;
    (void)access;
    if (!p || !q)
        return VS_PORT_FAULT;
    put_bytes(p, OFFSET(addr), (const uint8_t *)&value, part);
    if (part < size)
        put_bytes(q, 0, (const uint8_t *)&value + part, size - part);
    break_reservations(m, hart, addr, size);
    return p->code || q->code ? VS_PORT_CODE : 0;
}

static int port_conditional(struct vs_port *port, struct vs_hart *hart, uint64_t addr,
                            unsigned size, uint64_t value, int *stored)
{
    struct vs_memory *m = (struct vs_memory *)port;
    struct vs_memory_hart *h = &m->harts[hart->id];
    bool held = h->reserved == GRANULE(addr);
    if (!allowed(m, hart, addr, VS_MAP_WRITE))
        return VS_PORT_FAULT;
    lose_reservation(m, h);
    *stored = held;
    return held ? port_write(port, hart, addr, size, VS_ACCESS_PLAIN, value) : 0;
}

/* Time that passes by one with each instruction. */
static int port_counter(struct vs_port *port, struct vs_hart *hart, unsigned csr, uint64_t *value)
{
    (void)port;
    if (csr > VS_RV64_INSTRET)
        return VS_PORT_FAULT;
    *value = hart->instret;
    return 0;
}

static uint8_t *port_page(struct vs_port *port, struct vs_hart *hart, uint64_t addr, int writing)
{
    struct vs_memory *m = (struct vs_memory *)port;
    struct vs_page *p = find_page(m, addr);
    if (!p || !(p->flags & (writing ? VS_MAP_WRITE : VS_MAP_READ)))
        return NULL;
    if (writing && (p->code || is_watched(m, hart, addr)))
        return NULL;
    p->written |= writing;
    return p->bytes;
}

static const struct vs_port_ops memory_ops = {
    .fetch = port_fetch,
    .read = port_read,
    .write = port_write,
    .conditional = port_conditional,
    .counter = port_counter,
    .page = port_page,
};

/* ---- the owner ------------------------------------------------------------------------------- */

void vs_memory_init(struct vs_memory *m)
{
    *m = (struct vs_memory){.port.ops = &memory_ops};
}

void vs_memory_fini(struct vs_memory *m)
{
    for (size_t i = 0; i < m->page_capacity; i++)
        if (m->pages[i].addr != VS_MEMORY_FREE)
            free(m->pages[i].bytes);
    free(m->pages);
    free(m->harts);
    vs_memory_init(m);
}

int vs_memory_attach(struct vs_memory *m, struct vs_hart *hart)
{
    if (hart->id != m->hart_count)
        return -VSE_INVAL;
    int err =
        vs_array_room((void **)&m->harts, &m->hart_capacity, m->hart_count, 1, sizeof(m->harts[0]));
    if (!err)
        m->harts[m->hart_count++] =
            (struct vs_memory_hart){.hart = hart, .reserved = VS_MEMORY_FREE};
    return err;
}

static bool is_range(uint64_t addr, uint64_t size)
{
    return !OFFSET(addr) && !OFFSET(size) && size && addr <= UINT64_MAX - size;
}

int vs_memory_map(struct vs_memory *m, uint64_t addr, uint64_t size, unsigned flags)
{
    int err = is_range(addr, size) ? 0 : -VSE_INVAL;
    for (uint64_t done = 0; !err && done < size; done += VS_PAGE_SIZE)
        err = map_page(m, addr + done, flags);
    return err;
}

int vs_memory_unmap(struct vs_memory *m, uint64_t addr, uint64_t size)
{
    if (!is_range(addr, size))
        return -VSE_INVAL;
    for (uint64_t done = 0; done < size; done += VS_PAGE_SIZE)
        unmap_page(m, addr + done);
    return 0;
}

int vs_memory_protect(struct vs_memory *m, uint64_t addr, uint64_t size, unsigned flags)
{
    if (!is_range(addr, size))
        return -VSE_INVAL;
    for (uint64_t done = 0; done < size; done += VS_PAGE_SIZE) {
        struct vs_page *p = find_page(m, addr + done);
        if (p) {
            p->flags = (uint8_t)flags;
            forget_page(m, addr + done, false);
        }
    }
    return 0;
}

int vs_memory_put(struct vs_memory *m, uint64_t addr, const void *bytes, size_t size)
{
    const uint8_t *from = bytes;
    while (size) {
        struct vs_page *p = find_page(m, addr);
        size_t room = VS_PAGE_SIZE - OFFSET(addr), part = size < room ? size : room;
        if (!p)
            return -VSE_NOTFOUND;
        if (p->code) /* else it is loaded, which is no change */
            put_bytes(p, OFFSET(addr), from, part);
        else
            memcpy(p->bytes + OFFSET(addr), from, part);
        break_reservations(m, NULL, addr, part);
        addr += part;
        from += part;
        size -= part;
    }
    return 0;
}

int vs_memory_get(const struct vs_memory *m, uint64_t addr, void *bytes, size_t size)
{
    uint8_t *to = bytes;
    while (size) {
        const struct vs_page *p = find_page(m, addr);
        size_t room = VS_PAGE_SIZE - OFFSET(addr), part = size < room ? size : room;
        if (!p)
            return -VSE_NOTFOUND;
        memcpy(to, p->bytes + OFFSET(addr), part);
        addr += part;
        to += part;
        size -= part;
    }
    return 0;
}

bool vs_memory_take_written(struct vs_memory *m, uint64_t addr, uint64_t size)
{
    bool written = false;
    for (uint64_t page = PAGE_OF(addr); page - PAGE_OF(addr) < OFFSET(addr) + size;
         page += VS_PAGE_SIZE) {
        struct vs_page *p = find_page(m, page);
        if (!p || !p->written)
            continue;
        written = true;
        p->written = false;
    }
    return written;
}

void vs_memory_break(struct vs_memory *m, struct vs_hart *hart)
{
    lose_reservation(m, &m->harts[hart->id]);
}
