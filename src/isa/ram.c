/* SPDX-License-Identifier: MIT */
#include "isa/ram.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "vestige/error.h"

#define OFFSET(addr)  ((addr) & (VS_PAGE_SIZE - 1))
#define PAGE_OF(addr) ((addr) & ~(VS_PAGE_SIZE - 1))
#define GRANULE(addr) ((addr) & ~(uint64_t)(VS_RESERVATION_SIZE - 1))

/* ---- pages ----------------------------------------------------------------------------------- */

static struct vs_page *find_page(const struct vs_ram *m, uint64_t addr)
{
    return vs_map_pointer(&m->pages, PAGE_OF(addr));
}

static void forget_page(struct vs_ram *m, uint64_t addr, bool only_writes)
{
    for (size_t i = 0; i < m->core_count; i++)
        vs_cpu_forget_page(m->cores[i].cpu, addr, only_writes);
}

/* Returns NULL without memory. */
static struct vs_page *add_page(struct vs_ram *m, uint64_t addr)
{
    struct vs_page *p = malloc(sizeof(*p));
    uint8_t *bytes = aligned_alloc(64, VS_PAGE_SIZE);
    if (!p || !bytes || vs_map_set_pointer(&m->pages, addr, p)) {
        free(bytes);
        free(p);
        return NULL;
    }
    p->bytes = bytes;
    return p;
}

static void free_page(struct vs_page *p)
{
    free(p->bytes);
    free(p);
}

static int map_page(struct vs_ram *m, uint64_t addr, unsigned flags)
{
    struct vs_page *p = find_page(m, addr);
    if (!p && !(p = add_page(m, addr)))
        return -VSE_NOMEM;
    memset(p->bytes, 0, VS_PAGE_SIZE);
    p->flags = (uint8_t)flags;
    p->code = p->written = false;
    forget_page(m, addr, false);
    return 0;
}

static void unmap_page(struct vs_ram *m, uint64_t addr)
{
    struct vs_page *p = find_page(m, addr);
    if (!p)
        return;
    vs_map_remove(&m->pages, addr);
    free_page(p);
    forget_page(m, addr, false);
}

/* ---- reservations ---------------------------------------------------------------------------- */

static void lose_reservation(struct vs_ram *m, struct vs_ram_core *h)
{
    if (h->reserved != VS_RAM_NONE)
        m->reservations--;
    h->reserved = VS_RAM_NONE;
}

/* Breaks the reservations that these bytes lie in, of all cores but `but`. */
static void break_reservations(struct vs_ram *m, const struct vs_cpu *but, uint64_t addr,
                               size_t size)
{
    if (!m->reservations)
        return;
    for (size_t i = 0; i < m->core_count; i++) {
        struct vs_ram_core *h = &m->cores[i];
        if (h->cpu != but && h->reserved != VS_RAM_NONE &&
            (addr - h->reserved < VS_RESERVATION_SIZE || h->reserved - addr < size))
            lose_reservation(m, h);
    }
}

static void reserve(struct vs_ram *m, struct vs_cpu *cpu, uint64_t addr)
{
    struct vs_ram_core *h = &m->cores[cpu->id];
    lose_reservation(m, h);
    h->reserved = GRANULE(addr);
    m->reservations++;
    for (size_t i = 0; i < m->core_count; i++)
        if (m->cores[i].cpu != cpu)
            vs_cpu_forget_page(m->cores[i].cpu, addr, true);
}

static bool is_watched(const struct vs_ram *m, const struct vs_cpu *cpu, uint64_t page)
{
    for (size_t i = 0; m->reservations && i < m->core_count; i++)
        if (m->cores[i].cpu != cpu && m->cores[i].reserved != VS_RAM_NONE &&
            PAGE_OF(m->cores[i].reserved) == page)
            return true;
    return false;
}

/* ---- for the cores --------------------------------------------------------------------------- */

/* Returns the page of addr if it has all of flags; otherwise NULL, with cpu->fault set. */
static struct vs_page *allowed(struct vs_ram *m, struct vs_cpu *cpu, uint64_t addr, unsigned flags)
{
    struct vs_page *p = find_page(m, addr);
    if (p && (p->flags & flags) == flags)
        return p;
    cpu->fault = addr;
    return NULL;
}

/* Returns how many bytes of an access lie in its first page. */
static unsigned first_part(uint64_t addr, unsigned size)
{
    uint64_t room = VS_PAGE_SIZE - OFFSET(addr);
    return room < size ? (unsigned)room : size;
}

static int ram_fetch(struct vs_cpu_memory *memory, struct vs_cpu *cpu, uint64_t addr, void *bytes,
                     size_t size)
{
    struct vs_ram *m = (struct vs_ram *)memory;
    struct vs_page *p = allowed(m, cpu, addr, VS_MAP_EXEC);
    if (!p)
        return 0;
    if (!p->code) {
        p->code = true;
        forget_page(m, addr, true);
    }
    unsigned part = first_part(addr, (unsigned)size);
    memcpy(bytes, p->bytes + OFFSET(addr), part);
    if (part == size)
        return (int)size;
    int rest = ram_fetch(memory, cpu, addr + part, (uint8_t *)bytes + part, size - part);
    return rest < 0 ? rest : (int)part + rest;
}

static int ram_read(struct vs_cpu_memory *memory, struct vs_cpu *cpu, uint64_t addr, unsigned size,
                    enum vs_access access, void *bytes)
{
    struct vs_ram *m = (struct vs_ram *)memory;
    unsigned part = first_part(addr, size);
    unsigned flags = access == VS_ACCESS_ATOMIC ? VS_MAP_READ | VS_MAP_WRITE : VS_MAP_READ;
    const struct vs_page *p = allowed(m, cpu, addr, flags);
    const struct vs_page *q = p && part < size ? allowed(m, cpu, addr + part, flags) : p;
    if (!p || !q)
        return VS_CPU_FAULT;
    memcpy(bytes, p->bytes + OFFSET(addr), part);
    if (part < size)
        memcpy((uint8_t *)bytes + part, q->bytes, size - part);
    if (access == VS_ACCESS_RESERVED)
        reserve(m, cpu, addr);
    return 0;
}

static void put_bytes(struct vs_page *p, uint64_t offset, const uint8_t *bytes, size_t size)
{
    p->written |= memcmp(p->bytes + offset, bytes, size) != 0;
    memcpy(p->bytes + offset, bytes, size);
}

static int ram_write(struct vs_cpu_memory *memory, struct vs_cpu *cpu, uint64_t addr, unsigned size,
                     enum vs_access access, const void *bytes)
{
    struct vs_ram *m = (struct vs_ram *)memory;
    unsigned part = first_part(addr, size);
    struct vs_page *p = allowed(m, cpu, addr, VS_MAP_WRITE);
    struct vs_page *q = p && part < size ? allowed(m, cpu, addr + part, VS_MAP_WRITE) : p;
    (void)access;
    if (!p || !q)
        return VS_CPU_FAULT;
    put_bytes(p, OFFSET(addr), bytes, part);
    if (part < size)
        put_bytes(q, 0, (const uint8_t *)bytes + part, size - part);
    break_reservations(m, cpu, addr, size);
    return p->code || q->code ? VS_CPU_CODE : 0;
}

static int ram_conditional(struct vs_cpu_memory *memory, struct vs_cpu *cpu, uint64_t addr,
                           unsigned size, const void *bytes, int *stored)
{
    struct vs_ram *m = (struct vs_ram *)memory;
    struct vs_ram_core *h = &m->cores[cpu->id];
    bool held = h->reserved == GRANULE(addr);
    if (!allowed(m, cpu, addr, VS_MAP_WRITE))
        return VS_CPU_FAULT;
    lose_reservation(m, h);
    *stored = held;
    return held ? ram_write(memory, cpu, addr, size, VS_ACCESS_PLAIN, bytes) : 0;
}

/* Time passes by one with each instruction. */
static int ram_outside(struct vs_cpu_memory *memory, struct vs_cpu *cpu, unsigned what,
                       unsigned size, void *bytes)
{
    (void)memory;
    if (what >= VS_COUNTER_OTHER || size > sizeof(cpu->retired))
        return VS_CPU_FAULT;
    memcpy(bytes, &cpu->retired, size);
    return 0;
}

static uint8_t *ram_page(struct vs_cpu_memory *memory, struct vs_cpu *cpu, uint64_t addr,
                         int writing)
{
    struct vs_ram *m = (struct vs_ram *)memory;
    struct vs_page *p = find_page(m, addr);
    if (!p || !(p->flags & (writing ? VS_MAP_WRITE : VS_MAP_READ)))
        return NULL;
    if (writing && (p->code || is_watched(m, cpu, addr)))
        return NULL;
    p->written |= writing;
    return p->bytes;
}

static const struct vs_cpu_memory_ops ram_ops = {
    .fetch = ram_fetch,
    .read = ram_read,
    .write = ram_write,
    .conditional = ram_conditional,
    .outside = ram_outside,
    .page = ram_page,
};

/* ---- the owner ------------------------------------------------------------------------------- */

void vs_ram_init(struct vs_ram *m)
{
    *m = (struct vs_ram){.seen.ops = &ram_ops};
}

void vs_ram_fini(struct vs_ram *m)
{
    for (const struct vs_map_entry *e = NULL; (e = vs_map_next(&m->pages, e));)
        free_page(e->pointer);
    vs_map_fini(&m->pages);
    free(m->cores);
    vs_ram_init(m);
}

int vs_ram_attach(struct vs_ram *m, struct vs_cpu *cpu)
{
    if (cpu->id != m->core_count)
        return -VSE_INVAL;
    int err =
        vs_array_room((void **)&m->cores, &m->core_capacity, m->core_count, 1, sizeof(m->cores[0]));
    if (!err)
        m->cores[m->core_count++] = (struct vs_ram_core){.cpu = cpu, .reserved = VS_RAM_NONE};
    return err;
}

static bool is_range(uint64_t addr, uint64_t size)
{
    return !OFFSET(addr) && !OFFSET(size) && size && addr <= UINT64_MAX - size;
}

int vs_ram_map(struct vs_ram *m, uint64_t addr, uint64_t size, unsigned flags)
{
    int err = is_range(addr, size) ? 0 : -VSE_INVAL;
    for (uint64_t done = 0; !err && done < size; done += VS_PAGE_SIZE)
        err = map_page(m, addr + done, flags);
    return err;
}

int vs_ram_unmap(struct vs_ram *m, uint64_t addr, uint64_t size)
{
    if (!is_range(addr, size))
        return -VSE_INVAL;
    for (uint64_t done = 0; done < size; done += VS_PAGE_SIZE)
        unmap_page(m, addr + done);
    return 0;
}

int vs_ram_protect(struct vs_ram *m, uint64_t addr, uint64_t size, unsigned flags)
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

int vs_ram_put(struct vs_ram *m, uint64_t addr, const void *bytes, size_t size)
{
    const uint8_t *from = bytes;
    while (size) {
        struct vs_page *p = find_page(m, addr);
        size_t room = VS_PAGE_SIZE - OFFSET(addr), part = size < room ? size : room;
        if (!p)
            return -VSE_NOTFOUND;
        if (p->code) /* otherwise bytes are being loaded, which is no change */
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

int vs_ram_get(const struct vs_ram *m, uint64_t addr, void *bytes, size_t size)
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

bool vs_ram_take_written(struct vs_ram *m, uint64_t addr, uint64_t size)
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

void vs_ram_break(struct vs_ram *m, struct vs_cpu *cpu)
{
    lose_reservation(m, &m->cores[cpu->id]);
}
