/* SPDX-License-Identifier: MIT */
#include "study/run_memory.h"

#include "base/diag.h"

void vs_run_memory_init(struct vs_run_memory *m)
{
    vs_copy_init(&m->is);
    vs_copy_init(&m->outside);
}

void vs_run_memory_fini(struct vs_run_memory *m)
{
    vs_copy_fini(&m->is);
    vs_copy_fini(&m->outside);
}

int vs_run_memory_inside(struct vs_run_memory *m, uint64_t addr, const void *bytes, size_t size)
{
    int err = vs_copy_write(&m->is, addr, bytes, size);
    return err ? err : vs_copy_forget(&m->outside, addr, size);
}

/* Returns whether a mapping's bytes may be others than before; a call that only protects memory
 * leaves them as they are. On the simulated platform a call's mappings follow it; elsewhere they
 * come before, and only code's rights are told. */
static bool is_new(const struct vs_abi *abi, const struct vs_event *e, uint64_t call)
{
    return abi->signals ? vs_abi_call(abi, call) != VS_SYS_mprotect
                        : !(e->flags & VS_MAP_EXEC && e->pc != VS_NO_IMAGE);
}

int vs_run_memory_outside(struct vs_run_memory *m, const struct vs_abi *abi,
                          const struct vs_batch *batch, const struct vs_event *e, uint64_t call)
{
    int err = 0;
    if (e->kind == VS_EXTERNAL) {
        const uint8_t *bytes = vs_event_bytes(batch, e);
        err = vs_copy_write(&m->is, e->addr, bytes, e->size);
        return err ? err : vs_copy_write(&m->outside, e->addr, bytes, e->size);
    }
    return e->kind == VS_MAP && is_new(abi, e, call) ? vs_copy_forget(&m->is, e->addr, e->value)
                                                     : 0;
}

/* ---- comparing ------------------------------------------------------------------------------- */

static bool is_known(const struct vs_copy_page *page, size_t i)
{
    return page && page->known[i / 8] >> i % 8 & 1;
}

static int compare_page(uint64_t number, const struct vs_copy_page *is,
                        const struct vs_copy_page *was, const struct vs_copy_page *outside,
                        bool cautious, uint64_t *bytes, struct vs_diag *diag)
{
    uint64_t at = number << VS_COPY_BITS;
    for (size_t i = 0; i < VS_COPY_PAGE; i++) {
        bool known = is_known(is, i), should = is_known(was, i);
        if (!known && (cautious || is_known(outside, i)))
            continue;
        if (known != should || (known && is->bytes[i] != was->bytes[i]))
            return vs_diag_set(
                diag, -VSE_CORRUPT, -1, -1, "memory at 0x%llx is 0x%x%s, and was 0x%x%s at the end",
                (unsigned long long)(at + i), known ? is->bytes[i] : 0, known ? "" : " (unknown)",
                should ? was->bytes[i] : 0, should ? "" : " (unknown)");
        *bytes += known;
    }
    return 0;
}

int vs_run_memory_compare(const struct vs_run_memory *was, const struct vs_copy *is, bool cautious,
                          uint64_t *bytes, struct vs_diag *diag)
{
    int err = 0;
    const struct vs_copy_page *page;
    for (struct vs_copy_walk w = {0}; !err && (page = vs_copy_next(is, &w));)
        err = compare_page(page->number, page, vs_copy_look(&was->is, page->number),
                           vs_copy_look(&was->outside, page->number), cautious, bytes, diag);
    for (struct vs_copy_walk w = {0}; !err && (page = vs_copy_next(&was->is, &w));)
        if (!vs_copy_look(is, page->number))
            err = compare_page(page->number, NULL, page, vs_copy_look(&was->outside, page->number),
                               cautious, bytes, diag);
    return err;
}
