/* SPDX-License-Identifier: MIT */
#include "isa/rv64/hart.h"

#include <string.h>

#include "isa/rv64/iss.h"
#include "isa/rv64/rv64.h"
#include "vestige/error.h"
#include "vestige/event.h"

void vs_hart_init(struct vs_cpu *cpu, unsigned id, struct vs_cpu_code *code,
                  struct vs_cpu_memory *memory)
{
    struct vs_hart *hart = (struct vs_hart *)cpu;
    memset(hart, 0, sizeof(*hart));
    hart->cpu = (struct vs_cpu){
        .ops = &vs_rv64_cpu, .memory = memory, .code = code, .passing = VS_PASSING_NONE, .id = id};
#ifdef __x86_64__
    hart->host_fma = __builtin_cpu_supports("fma");
#endif
    for (unsigned i = 0; i < VS_TLB_ENTRIES; i++)
        hart->reads[i].tag = hart->writes[i].tag = VS_TLB_NONE;
}

/* ---- registers ------------------------------------------------------------------------------- */

enum { REG_END = VS_RV64_REG_F0 + 32 };

int vs_hart_get(const struct vs_cpu *cpu, unsigned number, void *bytes)
{
    const struct vs_hart *hart = (const struct vs_hart *)cpu;
    const void *from;
    size_t size = 8;
    if (number < VS_RV64_REG_F0) {
        from = &hart->x[number];
    } else if (number < REG_END) {
        from = &hart->f[number - VS_RV64_REG_F0];
    } else if (number == VS_RV64_REG_FCSR) {
        from = &hart->fcsr;
        size = sizeof(hart->fcsr);
    } else if (number == VS_REG_PC) {
        from = &cpu->pc;
    } else {
        return -VSE_NOTFOUND;
    }
    memcpy(bytes, from, size);
    return (int)size;
}

int vs_hart_set(struct vs_cpu *cpu, unsigned number, const void *bytes, size_t size)
{
    struct vs_hart *hart = (struct vs_hart *)cpu;
    uint64_t value = 0;
    if (size > sizeof(value))
        return -VSE_CORRUPT;
    memcpy(&value, bytes, size);
    if (number < VS_RV64_REG_F0)
        hart->x[number] = number ? value : 0;
    else if (number < REG_END)
        hart->f[number - VS_RV64_REG_F0] = value;
    else if (number == VS_RV64_REG_FCSR)
        hart->fcsr = value & 255;
    else if (number == VS_REG_PC && !(value & 1))
        cpu->pc = value;
    else
        return -VSE_CORRUPT;
    return 0;
}

void vs_hart_save(const struct vs_cpu *cpu, void *copy)
{
    const struct vs_hart *hart = (const struct vs_hart *)cpu;
    struct vs_hart_copy *c = copy;
    memcpy(c->x, hart->x, sizeof(c->x));
    memcpy(c->f, hart->f, sizeof(c->f));
    c->pc = cpu->pc;
    c->retired = cpu->retired;
    c->fcsr = hart->fcsr;
}

void vs_hart_restore(struct vs_cpu *cpu, const void *copy)
{
    struct vs_hart *hart = (struct vs_hart *)cpu;
    const struct vs_hart_copy *c = copy;
    memcpy(hart->x, c->x, sizeof(c->x));
    memcpy(hart->f, c->f, sizeof(c->f));
    cpu->pc = c->pc;
    cpu->retired = c->retired;
    cpu->passing = VS_PASSING_NONE;
    hart->fcsr = c->fcsr;
    hart->in_block = NULL;
}

/* ---- pages ----------------------------------------------------------------------------------- */

static void forget(struct vs_tlb_entry *entries, uint64_t page)
{
    struct vs_tlb_entry *e = &entries[page >> VS_PAGE_BITS & (VS_TLB_ENTRIES - 1)];
    if (e->tag == page)
        e->tag = VS_TLB_NONE;
}

void vs_hart_forget_page(struct vs_cpu *cpu, uint64_t addr, bool only_writes)
{
    struct vs_hart *hart = (struct vs_hart *)cpu;
    uint64_t page = addr & ~(VS_PAGE_SIZE - 1);
    forget(hart->writes, page);
    if (!only_writes)
        forget(hart->reads, page);
}
