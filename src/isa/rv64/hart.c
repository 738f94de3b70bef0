/* SPDX-License-Identifier: MIT */
#include "isa/rv64/hart.h"

#include <string.h>

void vs_hart_init(struct vs_hart *hart, unsigned id, struct vs_code *code)
{
    memset(hart, 0, sizeof(*hart));
    hart->id = id;
    hart->code = code;
    hart->passing = VS_PASSING_NONE;
#ifdef __x86_64__
    hart->host_fma = __builtin_cpu_supports("fma");
#endif
    for (unsigned i = 0; i < VS_TLB_ENTRIES; i++)
        hart->reads[i].tag = hart->writes[i].tag = VS_TLB_NONE;
}

static void forget(struct vs_tlb_entry *entries, uint64_t page)
{
    struct vs_tlb_entry *e = &entries[page >> VS_PAGE_BITS & (VS_TLB_ENTRIES - 1)];
    if (e->tag == page)
        e->tag = VS_TLB_NONE;
}

void vs_hart_forget_page(struct vs_hart *hart, uint64_t addr, bool only_writes)
{
    uint64_t page = addr & ~(VS_PAGE_SIZE - 1);
    forget(hart->writes, page);
    if (!only_writes)
        forget(hart->reads, page);
}
