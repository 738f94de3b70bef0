/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "helpers.h"

#include <string.h>

#include <libvex.h>
#include <libvex_ir.h>

#include "access.h"
#include "base/likely.h"
#include "enter.h"

/* Leaves translated code before the spot's instruction. */
static _Noreturn void leave(struct core *c, Spot spot, int stop)
{
    core_stand(c, spot);
    if (spot & SPOT_UNDO) {
        c->undo.host_EvC_COUNTER = c->frame.guest.host_EvC_COUNTER;
        c->undo.host_EvC_FAILADDR = c->frame.guest.host_EvC_FAILADDR;
        c->frame.guest = c->undo;
    }
    c->stop = stop;
    enter_escape(&c->frame);
}

static inline __attribute__((always_inline)) void get_bytes(struct core *c, uint64_t addr,
                                                            Spot spot, unsigned size,
                                                            enum vs_access access, void *bytes)
{
    struct vs_cpu_memory *memory = c->cpu.memory;
    core_stand(c, spot);
    int r = memory->ops->read(memory, &c->cpu, addr, size, access, bytes);
    if (unlikely(r))
        leave(c, spot, r == VS_CPU_FAULT ? VS_STOP_LOAD_FAULT : r);
}

/* Where code changes, a memory of ours says so between runs; one that says it here is believed when
 * the block ends. */
static inline __attribute__((always_inline)) void put_bytes(struct core *c, uint64_t addr,
                                                            Spot spot, unsigned size,
                                                            enum vs_access access,
                                                            const void *bytes)
{
    struct vs_cpu_memory *memory = c->cpu.memory;
    core_stand(c, spot);
    int r = memory->ops->write(memory, &c->cpu, addr, size, access, bytes);
    if (unlikely(r == VS_CPU_CODE))
        c->code_changed = true;
    else if (unlikely(r))
        leave(c, spot, r == VS_CPU_FAULT ? VS_STOP_STORE_FAULT : r);
}

/* Read back what the memory wrote, not more: a processor forwards a store only to a load that is
 * within it, and otherwise waits. */
#define NUMBER(size, type)                                                                         \
    uint64_t helper_read_##size(Guest *g, uint64_t addr, Spot spot)                                \
    {                                                                                              \
        type value;                                                                                \
        get_bytes(core_of(g), addr, spot, size, spot_access(spot), &value);                        \
        return value;                                                                              \
    }                                                                                              \
    void helper_write_##size(Guest *g, uint64_t addr, Spot spot, uint64_t value)                   \
    {                                                                                              \
        put_bytes(core_of(g), addr, spot, size, spot_access(spot), &value);                        \
    }
#define WIDE(size)                                                                                 \
    void helper_read_##size(Guest *g, uint64_t addr, Spot spot)                                    \
    {                                                                                              \
        struct core *c = core_of(g);                                                               \
        get_bytes(c, addr, spot, size, spot_access(spot), c->frame.lane.wide);                     \
    }                                                                                              \
    void helper_write_##size(Guest *g, uint64_t addr, Spot spot, uint64_t unused)                  \
    {                                                                                              \
        struct core *c = core_of(g);                                                               \
        (void)unused;                                                                              \
        put_bytes(c, addr, spot, size, spot_access(spot), c->frame.lane.wide);                     \
    }

NUMBER(1, uint8_t)
NUMBER(2, uint16_t)
NUMBER(4, uint32_t)
NUMBER(8, uint64_t)
WIDE(16)
WIDE(32)

/* ---- values from outside --------------------------------------------------------------------- */

static void get_outside(struct core *c, Spot spot, uint64_t size, void *bytes)
{
    struct vs_cpu_memory *memory = c->cpu.memory;
    core_stand(c, spot);
    int r = memory->ops->outside(memory, &c->cpu, VS_COUNTER_OTHER, (unsigned)size, bytes);
    if (r)
        leave(c, spot, r == VS_CPU_FAULT ? VS_STOP_ILLEGAL : r);
}

uint64_t helper_outside(Guest *g, Spot spot, uint64_t size)
{
    uint64_t value = 0;
    get_outside(core_of(g), spot, size, &value);
    return value;
}

/* Sets registers, by their places in the guest's state, to what came from outside. */
static void set_registers(Guest *g, Spot spot, uint64_t size, const Int *places)
{
    uint64_t values[4];
    get_outside(core_of(g), spot, size, values);
    for (unsigned i = 0; i < size / sizeof(values[0]); i++)
        memcpy((uint8_t *)g + places[i], &values[i], sizeof(values[i]));
}

void helper_cpuid(Guest *g, Spot spot, uint64_t size)
{
    set_registers(g, spot, size, cpuid_sets);
}

void helper_rdtscp(Guest *g, Spot spot, uint64_t size)
{
    set_registers(g, spot, size, rdtscp_sets);
}

/* ---- others ---------------------------------------------------------------------------------- */

static void put_parts(struct core *c, uint64_t addr, const struct site *s, const uint8_t *operand)
{
    for (unsigned i = 0; i < s->parts; i++)
        put_bytes(c, addr + s->part[i].offset, s->spot, s->part[i].size,
                  i + 1u < s->parts ? VS_ACCESS_PART : spot_access(s->spot),
                  operand + s->part[i].offset);
}

uint64_t helper_call(Guest *g, const struct site *s, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    typedef uint64_t with_state(void *, uint64_t, uint64_t, uint64_t, uint64_t);
    typedef uint64_t without(uint64_t, uint64_t, uint64_t, uint64_t);
    struct core *core = core_of(g);
    uint64_t args[4] = {a, b, c, d};
    uint64_t addr = args[s->address] + s->offset;
    uint8_t *operand = core->scratch + s->offset;
    args[s->address] = (uintptr_t)core->scratch;
    if (s->effect == Ifx_Read || s->effect == Ifx_Modify)
        get_bytes(core, addr, s->spot, s->size,
                  s->effect == Ifx_Modify ? VS_ACCESS_PART : spot_access(s->spot), operand);
    uint64_t result = s->has_state
                          ? ((with_state *)s->helper)(g, args[0], args[1], args[2], args[3])
                          : ((without *)s->helper)(args[0], args[1], args[2], args[3]);
    if (s->effect == Ifx_Write || s->effect == Ifx_Modify)
        put_parts(core, addr, s, operand);
    return result;
}

void helper_keep(Guest *g)
{
    core_of(g)->undo = *g;
}

static uint8_t *scratch_at(Guest *g, uint64_t addr)
{
    struct core *c = core_of(g);
    return c->scratch + (addr & (sizeof(c->scratch) / 2 - 1));
}

void helper_scratch_write(Guest *g, uint64_t addr, uint64_t size, uint64_t value)
{
    memcpy(scratch_at(g, addr), &value, size);
}

uint64_t helper_scratch_read(Guest *g, uint64_t addr, uint64_t size)
{
    uint64_t value = 0;
    memcpy(&value, scratch_at(g, addr), size);
    return value;
}

/* ---- division -------------------------------------------------------------------------------- */

void helper_check_unsigned(Guest *g, Spot spot, uint64_t high, uint64_t low, uint64_t divisor,
                           uint64_t size)
{
    bool fits = size == 8 ? high < divisor : low >> 32 < divisor;
    if (!fits)
        leave(core_of(g), spot, VS_STOP_ARITHMETIC);
}

void helper_check_signed(Guest *g, Spot spot, uint64_t high, uint64_t low, uint64_t divisor,
                         uint64_t size)
{
    unsigned bits = 8u * (unsigned)size;
    __int128 a = size == 8 ? (__int128)((unsigned __int128)high << 64 | low) : (int64_t)low;
    __int128 b = size == 8 ? (int64_t)divisor : (int32_t)divisor;
    __int128 least = (__int128)((unsigned __int128)1 << 127);
    bool fits = b != 0 && !(a == least && b == -1);
    if (fits) {
        __int128 quotient = a / b, half = (__int128)1 << (bits - 1);
        fits = quotient >= -half && quotient < half;
    }
    if (!fits)
        leave(core_of(g), spot, VS_STOP_ARITHMETIC);
}

void helper_refuse(Guest *g, Spot spot)
{
    leave(core_of(g), spot, VS_STOP_LOAD_FAULT);
}

void helper_branch(Guest *g, Spot spot, Branch branch, uint64_t taken, uint64_t to, uint64_t next)
{
    struct core *c = core_of(g);
    const struct vs_insn insn = branch_insn(branch);
    core_stand(c, spot);
    c->cpu.code->branched(&c->cpu, &insn, taken ? to : next, taken);
}
