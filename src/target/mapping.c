/* SPDX-License-Identifier: MIT */
/* Calls that change what is mapped. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <fcntl.h>

#include "target/linux.h"

_Static_assert(MAP_FIXED == 0x10 && MAP_ANONYMOUS == 0x20, "of the host as of the target");

#define FILE_CHUNK 65536
#define MADV_LAST  25 /* the last that Linux 6.1 knows */

static uint64_t round_up(uint64_t size)
{
    return (size + VS_PAGE_SIZE - 1) & ~(VS_PAGE_SIZE - 1);
}

/* What can be written can also be read. PROT_x are the bits of VS_MAP_x. */
static unsigned flags_of(uint64_t protection)
{
    unsigned flags = 0;
    if (protection & (PROT_READ | PROT_WRITE))
        flags |= VS_MAP_READ;
    if (protection & PROT_WRITE)
        flags |= VS_MAP_WRITE;
    if (protection & PROT_EXEC)
        flags |= VS_MAP_EXEC;
    return flags;
}

/* Checks that this file may be mapped with these flags. Returns 0 or a negative errno. */
static int check_file(const struct vs_file *f, unsigned flags, uint64_t how)
{
    bool shared = (how & MAP_TYPE) != MAP_PRIVATE;
    struct stat st;
    if (!f)
        return -EBADF;
    if (f->host < 0 || fstat(f->host, &st) || !S_ISREG(st.st_mode))
        return -ENODEV;
    if ((f->flags & O_ACCMODE) == O_WRONLY)
        return -EACCES;
    return shared && flags & VS_MAP_WRITE ? -ENODEV : 0;
}

/* Fills new memory with the bytes of the file. */
static void fill(struct vs_process *p, struct vs_task *t, const struct vs_file *f, uint64_t addr,
                 uint64_t size, uint64_t offset)
{
    uint8_t *bytes = malloc(FILE_CHUNK);
    uint64_t done = 0;
    if (!bytes)
        p->linux_state->nomem = true;
    while (bytes && done < size && !p->linux_state->nomem && !p->full) {
        size_t part = size - done < FILE_CHUNK ? (size_t)(size - done) : FILE_CHUNK;
        ssize_t got = TEMP_FAILURE_RETRY(pread(f->host, bytes, part, (off_t)(offset + done)));
        if (got <= 0)
            break;
        vs_space_load(p, addr + done, bytes, (uint64_t)got);
        done += (uint64_t)got;
    }
    free(bytes);
    if (done) {
        struct vs_effect *e = vs_effect_add(p, VS_EFFECT_WROTE, t);
        e->pc = t->call.pc;
        e->addr = addr;
        e->size = done;
    }
}

/* Sets *addr, which holds the address asked for, to where the mapping goes. Returns 0 or a negative
 * errno. */
static int place(const struct vs_process *p, uint64_t *addr, uint64_t size, uint64_t how)
{
    if (how & (MAP_FIXED | MAP_FIXED_NOREPLACE)) {
        if (*addr & (VS_PAGE_SIZE - 1))
            return -EINVAL;
        if (!vs_space_is_range(*addr, size))
            return -ENOMEM;
        if (*addr < VS_LINUX_LOWEST)
            return -EPERM;
        const struct vs_area *a = vs_space_at(p, *addr);
        return how & MAP_FIXED_NOREPLACE && a && a->start < *addr + size ? -EEXIST : 0;
    }
    *addr = vs_space_free(p, *addr & ~(VS_PAGE_SIZE - 1), size);
    return *addr ? 0 : -ENOMEM;
}

int64_t vs_call_mmap(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    uint64_t addr = a[0], size = a[1], how = a[3], offset = a[5];
    unsigned flags = flags_of(a[2]);
    bool anonymous = how & MAP_ANONYMOUS;
    unsigned type = how & MAP_TYPE;
    if (!size || offset & (VS_PAGE_SIZE - 1) || type < MAP_SHARED || type > MAP_SHARED_VALIDATE)
        return -EINVAL;
    if (size > VS_LINUX_TOP || offset > INT64_MAX - VS_LINUX_TOP)
        return size > VS_LINUX_TOP ? -ENOMEM : -EOVERFLOW;
    size = round_up(size);
    const struct vs_file *f = anonymous ? NULL : vs_file_of(p, a[4]);
    int err = anonymous ? 0 : check_file(f, flags, how);
    if (!err)
        err = place(p, &addr, size, how);
    if (!err)
        err = vs_space_map(p, t, addr, size, flags, anonymous ? VS_AREA_PLAIN : VS_AREA_FILE);
    if (!err && f)
        fill(p, t, f, addr, size, offset);
    return err ? err : (int64_t)addr;
}

int64_t vs_call_munmap(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    if (a[1] > VS_LINUX_TOP || !vs_space_is_range(a[0], round_up(a[1])))
        return -EINVAL;
    return vs_space_unmap(p, t, a[0], round_up(a[1]));
}

int64_t vs_call_mprotect(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    if (a[0] & (VS_PAGE_SIZE - 1) || a[2] & ~(uint64_t)(PROT_READ | PROT_WRITE | PROT_EXEC))
        return -EINVAL;
    if (!a[1])
        return 0;
    if (a[1] > VS_LINUX_TOP || !vs_space_is_range(a[0], round_up(a[1])))
        return -ENOMEM;
    return vs_space_protect(p, t, a[0], round_up(a[1]), flags_of(a[2]));
}

/* ---- mremap ---------------------------------------------------------------------------------- */

/* Moves the pages that were touched; the rest is zero at both places. */
static void move_pages(struct vs_process *p, struct vs_task *t, uint64_t from, uint64_t to,
                       uint64_t size)
{
    uint8_t bytes[VS_PAGE_SIZE];
    for (uint64_t done = 0; done < size; done += VS_PAGE_SIZE) {
        if (vs_ram_get(&p->memory, from + done, bytes, sizeof(bytes)))
            continue;
        vs_space_load(p, to + done, bytes, sizeof(bytes));
        struct vs_effect *e = vs_effect_add(p, VS_EFFECT_WROTE, t);
        e->pc = t->call.pc;
        e->addr = to + done;
        e->size = sizeof(bytes);
    }
}

static int64_t move(struct vs_process *p, struct vs_task *t, struct vs_area from, uint64_t to,
                    uint64_t size)
{
    uint64_t old = from.end - from.start;
    int err = vs_space_map(p, t, to, size, from.flags, from.kind);
    if (err)
        return err;
    move_pages(p, t, from.start, to, old < size ? old : size);
    err = vs_space_unmap(p, t, from.start, old);
    return err ? err : (int64_t)to;
}

static int64_t resize(struct vs_process *p, struct vs_task *t, const struct vs_area *from,
                      uint64_t size, bool may_move)
{
    uint64_t addr = from->start, old = from->end - from->start;
    if (size <= old) {
        int err = size < old ? vs_space_unmap(p, t, addr + size, old - size) : 0;
        return err ? err : (int64_t)addr;
    }
    const struct vs_area *next = vs_space_at(p, from->end);
    if (vs_space_is_range(addr, size) && (!next || next->start >= addr + size)) {
        int err = vs_space_map(p, t, from->end, size - old, from->flags, from->kind);
        return err ? err : (int64_t)addr;
    }
    uint64_t to = may_move ? vs_space_free(p, 0, size) : 0;
    return to ? move(p, t, *from, to, size) : -ENOMEM;
}

int64_t vs_call_mremap(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    uint64_t addr = a[0], to = a[4];
    if (a[1] > VS_LINUX_TOP || a[2] > VS_LINUX_TOP)
        return -EINVAL;
    uint64_t old = round_up(a[1]), size = round_up(a[2]);
    bool fixed = a[3] & MREMAP_FIXED;
    if (a[3] & ~(uint64_t)(MREMAP_MAYMOVE | MREMAP_FIXED) || !size ||
        !vs_space_is_range(addr, old) || (fixed && !(a[3] & MREMAP_MAYMOVE)))
        return -EINVAL;
    const struct vs_area *area = vs_space_at(p, addr);
    if (!area || area->start > addr || area->end < addr + old)
        return -EFAULT;
    struct vs_area from = *area;
    from.start = addr;
    from.end = addr + old;
    if (!fixed)
        return resize(p, t, &from, size, a[3] & MREMAP_MAYMOVE);
    if (!vs_space_is_range(to, size) || to < VS_LINUX_LOWEST ||
        (to < addr + old && addr < to + size))
        return -EINVAL;
    return move(p, t, from, to, size);
}

/* ---- the rest -------------------------------------------------------------------------------- */

/* Makes the memory zero, where it is no file's. */
static int64_t forget(struct vs_process *p, struct vs_task *t, uint64_t addr, uint64_t end)
{
    while (addr < end) {
        const struct vs_area *a = vs_space_at(p, addr);
        if (!a || a->start >= end)
            return 0;
        uint64_t from = a->start > addr ? a->start : addr, to = a->end < end ? a->end : end;
        enum vs_area_kind kind = a->kind;
        unsigned flags = a->flags;
        int err = kind == VS_AREA_FILE || kind == VS_AREA_IMAGE
                      ? 0
                      : vs_space_map(p, t, from, to - from, flags, kind);
        if (err)
            return err;
        addr = to;
    }
    return 0;
}

int64_t vs_call_madvise(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    if (a[0] & (VS_PAGE_SIZE - 1) || a[1] > VS_LINUX_TOP)
        return -EINVAL;
    uint64_t size = round_up(a[1]);
    if (!size)
        return 0;
    if (!vs_space_is_range(a[0], size) || vs_space_span(p, a[0], size, 0) < size)
        return -ENOMEM;
    if (a[2] > MADV_LAST)
        return -EINVAL;
    return a[2] == MADV_DONTNEED ? forget(p, t, a[0], a[0] + size) : 0;
}

int64_t vs_call_brk(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    struct vs_space *s = &p->linux_state->space;
    uint64_t was = round_up(s->brk), want = round_up(a[0]);
    if (a[0] < s->brk_start || a[0] > VS_LINUX_TOP)
        return (int64_t)s->brk;
    if (want > was) {
        const struct vs_area *next = vs_space_at(p, was);
        if ((next && next->start < want + VS_PAGE_SIZE) ||
            vs_space_map(p, t, was, want - was, VS_MAP_READ | VS_MAP_WRITE, VS_AREA_HEAP))
            return (int64_t)s->brk;
    }
    if (want < was && vs_space_unmap(p, t, want, was - want))
        return (int64_t)s->brk;
    s->brk = a[0];
    return (int64_t)s->brk;
}

/* There is nothing to write back, since shared mappings cannot be written. */
int64_t vs_call_msync(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    (void)t;
    if (a[0] & (VS_PAGE_SIZE - 1) || a[1] > VS_LINUX_TOP || a[2] & ~UINT64_C(7))
        return -EINVAL;
    return vs_space_span(p, a[0], round_up(a[1]), 0) < round_up(a[1]) ? -ENOMEM : 0;
}

int64_t vs_call_mincore(struct vs_process *p, struct vs_task *t, const uint64_t *a)
{
    uint8_t here[512];
    if (a[0] & (VS_PAGE_SIZE - 1))
        return -EINVAL;
    if (a[1] > VS_LINUX_TOP || vs_space_span(p, a[0], round_up(a[1]), 0) < round_up(a[1]))
        return -ENOMEM;
    memset(here, 1, sizeof(here));
    for (uint64_t pages = round_up(a[1]) / VS_PAGE_SIZE, to = a[2], part; pages; pages -= part) {
        part = pages < sizeof(here) ? pages : sizeof(here);
        if (vs_guest_put(p, t, to, here, part))
            return -EFAULT;
        to += part;
    }
    return 0;
}
