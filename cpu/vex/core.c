/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core.h"

#include <string.h>

#include "isa/x86_64/x86.h"
#include "vestige/error.h"
#include "vestige/event.h"

_Static_assert(sizeof(struct lane) <= 2 * sizeof(Guest), "it fits into the shadows");
_Static_assert(offsetof(struct frame, spill) == 3 * sizeof(Guest), "as LibVEX demands");
_Static_assert(offsetof(struct core, frame) % 32 == 0, "vectors are aligned");

_Static_assert(sizeof(struct core_copy) <= VS_CPU_SAVED_MAX, "a checkpoint has room for it");

void core_init(struct vs_cpu *cpu, unsigned id, struct vs_cpu_code *code,
               struct vs_cpu_memory *memory)
{
    struct core *c = (struct core *)cpu;
    memset(c, 0, sizeof(*c));
    c->cpu = (struct vs_cpu){
        .ops = &vex_cpu, .memory = memory, .code = code, .passing = VS_PASSING_NONE, .id = id};
    LibVEX_GuestAMD64_initialise(&c->frame.guest);
}

/* ---- registers ------------------------------------------------------------------------------- */

/* The selectors of Linux's 64-bit programs, from es to gs; VEX has none. */
enum { SELECTORS = 50, SELECTORS_END = 56 };
static const uint16_t selectors[] = {0, 0x33, 0x2b, 0, 0, 0};

/* DWARF's order is rax, rdx, rcx, rbx, rsi, rdi, rbp, rsp, r8 and so on. */
static const uint8_t gpr_places[] = {0, 2, 1, 3, 6, 7, 5, 4, 8, 9, 10, 11, 12, 13, 14, 15};
enum { GPRS = sizeof(gpr_places), XMMS = 16, X87S = 8 };

static uint64_t *gpr(const Guest *g, unsigned number)
{
    return (uint64_t *)(uintptr_t)&g->guest_RAX + gpr_places[number];
}

static uint8_t *ymm(const Guest *g, unsigned i)
{
    return (uint8_t *)(uintptr_t)&g->guest_YMM0 + 32 * i;
}

static uint32_t status_word(const Guest *g)
{
    return (uint32_t)((g->guest_FTOP & 7) << 11 | (g->guest_FC3210 & 0x4700));
}

static uint32_t tags_of(const Guest *g)
{
    uint32_t tags = 0;
    for (unsigned i = 0; i < X87S; i++)
        tags |= (uint32_t)(g->guest_FPTAG[i] != 0) << i;
    return tags;
}

static int put_number(void *bytes, uint64_t value, int size)
{
    memcpy(bytes, &value, (size_t)size);
    return size;
}

/* st(i) is the register i places above the top, and a program sees 80 bits of it. */
static int get_st(const Guest *g, unsigned i, void *bytes)
{
    long double wide;
    double narrow;
    memcpy(&narrow, &g->guest_FPREG[(g->guest_FTOP + i) & 7], sizeof(narrow));
    wide = narrow;
    memcpy(bytes, &wide, 10);
    return 10;
}

int core_get(const struct vs_cpu *cpu, unsigned number, void *bytes)
{
    const Guest *g = &((const struct core *)cpu)->frame.guest;
    if (number < GPRS)
        return put_number(bytes, *gpr(g, number), 8);
    if (number - VS_X86_REG_XMM0 < XMMS) {
        memcpy(bytes, ymm(g, number - VS_X86_REG_XMM0), 32);
        return 32;
    }
    if (number - VS_X86_REG_ST0 < X87S)
        return get_st(g, number - VS_X86_REG_ST0, bytes);
    if (number - VS_X86_REG_MM0 < X87S)
        return put_number(bytes, g->guest_FPREG[number - VS_X86_REG_MM0], 8);
    if (number - SELECTORS < SELECTORS_END - SELECTORS)
        return put_number(bytes, selectors[number - SELECTORS], 4);
    switch (number) {
    case VS_REG_PC:
        return put_number(bytes, cpu->pc, 8);
    case VS_X86_REG_RFLAGS:
        return put_number(bytes, LibVEX_GuestAMD64_get_rflags(g), 8);
    case VS_X86_REG_FS_BASE:
        return put_number(bytes, g->guest_FS_CONST, 8);
    case VS_X86_REG_GS_BASE:
        return put_number(bytes, g->guest_GS_CONST, 8);
    case VS_X86_REG_MXCSR:
        return put_number(bytes, 0x1f80 | (g->guest_SSEROUND & 3) << 13, 4);
    case VS_X86_REG_FCW:
        return put_number(bytes, 0x37f | (g->guest_FPROUND & 3) << 10, 4);
    case VS_X86_REG_FSW:
        return put_number(bytes, status_word(g), 4);
    case VS_X86_REG_FTAG:
        return put_number(bytes, tags_of(g), 2);
    default:
        return -VSE_NOTFOUND;
    }
}

/* In runs that do not have the registers as Valgrind keeps them: 80 bits become a double. */
static int set_st(Guest *g, unsigned i, const void *bytes, size_t size)
{
    unsigned at = (g->guest_FTOP + i) & 7;
    long double wide = 0;
    if (size > 10)
        return -VSE_CORRUPT;
    memcpy(&wide, bytes, size);
    double narrow = (double)wide;
    memcpy(&g->guest_FPREG[at], &narrow, sizeof(narrow));
    g->guest_FPTAG[at] = 1;
    return 0;
}

static int set_ymm(Guest *g, unsigned i, const void *bytes, size_t size)
{
    if (size > 32)
        return -VSE_CORRUPT;
    memset(ymm(g, i), 0, 32);
    memcpy(ymm(g, i), bytes, size);
    return 0;
}

static int set_special(struct core *c, unsigned number, uint64_t value)
{
    Guest *g = &c->frame.guest;
    switch (number) {
    case VS_REG_PC:
        c->cpu.pc = value;
        c->cpu.iterations = 0;
        return 0;
    case VS_X86_REG_RFLAGS:
        LibVEX_GuestAMD64_put_rflags(value, g);
        return 0;
    case VS_X86_REG_FS_BASE:
        g->guest_FS_CONST = value;
        return 0;
    case VS_X86_REG_GS_BASE:
        g->guest_GS_CONST = value;
        return 0;
    case VS_X86_REG_MXCSR:
        g->guest_SSEROUND = value >> 13 & 3;
        return 0;
    case VS_X86_REG_FCW:
        g->guest_FPROUND = value >> 10 & 3;
        return 0;
    case VS_X86_REG_FSW:
        g->guest_FTOP = value >> 11 & 7;
        g->guest_FC3210 = value & 0x4700;
        return 0;
    case VS_X86_REG_FTAG:
        for (unsigned i = 0; i < X87S; i++)
            g->guest_FPTAG[i] = value >> i & 1;
        return 0;
    default:
        return -VSE_CORRUPT;
    }
}

int core_set(struct vs_cpu *cpu, unsigned number, const void *bytes, size_t size)
{
    struct core *c = (struct core *)cpu;
    Guest *g = &c->frame.guest;
    uint64_t value = 0;
    if (number - VS_X86_REG_XMM0 < XMMS)
        return set_ymm(g, number - VS_X86_REG_XMM0, bytes, size);
    if (number - VS_X86_REG_ST0 < X87S)
        return set_st(g, number - VS_X86_REG_ST0, bytes, size);
    if (size > sizeof(value))
        return -VSE_CORRUPT;
    memcpy(&value, bytes, size);
    if (number < GPRS)
        *gpr(g, number) = value;
    else if (number - VS_X86_REG_MM0 < X87S)
        g->guest_FPREG[number - VS_X86_REG_MM0] = value;
    else
        return set_special(c, number, value);
    return 0;
}

/* ---- copies ---------------------------------------------------------------------------------- */

void core_save(const struct vs_cpu *cpu, void *copy)
{
    struct core_copy *to = copy;
    to->guest = ((const struct core *)cpu)->frame.guest;
    to->pc = cpu->pc;
    to->retired = cpu->retired;
    to->iterations = cpu->iterations;
}

void core_restore(struct vs_cpu *cpu, const void *copy)
{
    const struct core_copy *from = copy;
    ((struct core *)cpu)->frame.guest = from->guest;
    cpu->pc = from->pc;
    cpu->retired = from->retired;
    cpu->iterations = from->iterations;
    cpu->passing = VS_PASSING_NONE;
}
