/* SPDX-License-Identifier: MIT */
/* What instructions do with registers and memory: of RV64 against the simulator, of x86-64 against
 * facts worked out by hand. */
#include "isa/operand.h"

#include <stdlib.h>
#include <string.h>

#include "isa/isa.h"
#include "isa/x86_64/x86.h"
#include "isa/rv64/iss.h"

#include "isa/ram.h"
#include "rng.h"
#include "unittest.h"

#define CODE UINT64_C(0x10000)

/* ---- RV64 ------------------------------------------------------------------------------------ */

struct machine {
    struct vs_ram memory;
    struct vs_cpu_code *code;
    struct vs_hart hart;
};

static void machine_init(struct machine *m)
{
    vs_ram_init(&m->memory);
    m->code = vs_rv64_cpu.code_new();
    CHECK(m->code);
    CHECK_EQ(vs_ram_map(&m->memory, CODE, VS_PAGE_SIZE, VS_MAP_READ | VS_MAP_WRITE | VS_MAP_EXEC),
             0);
    vs_rv64_cpu.init(&m->hart.cpu, 0, m->code, &m->memory.seen);
    CHECK_EQ(vs_ram_attach(&m->memory, &m->hart.cpu), 0);
}

static void machine_fini(struct machine *m)
{
    vs_cpu_code_free(m->code);
    vs_ram_fini(&m->memory);
}

static bool computes(const struct vs_rv64_row *row)
{
    return row->class == VS_RV64_CLASS_ALU || row->class == VS_RV64_CLASS_MUL ||
           row->class == VS_RV64_CLASS_DIV || row->class == VS_RV64_CLASS_JAL ||
           row->class == VS_RV64_CLASS_JALR;
}

/* Numbers that arithmetic minds, and any others. */
static uint64_t interesting(struct rng *rng)
{
    static const uint64_t edges[] = {0,         1,          UINT64_MAX, INT64_MAX, 1ull << 63,
                                     INT32_MAX, 1ull << 31, UINT32_MAX, 63,        0x8080};
    return rng_below(rng, 3) ? rng_any(rng) : edges[rng_below(rng, sizeof(edges) / 8)];
}

/* One instruction on random registers, by both. */
static void check_word(struct machine *m, struct rng *rng, uint32_t word)
{
    struct vs_operands o;
    uint64_t pc = CODE + 4 * rng_below(rng, 1000), want[32];
    CHECK_EQ(vs_rv64_operands((const uint8_t *)&word, 4, pc, &o), 0);
    CHECK_EQ(o.length, 4);
    CHECK_EQ(o.memory_count, 0);
    CHECK_EQ(o.clobbers, 0);
    CHECK_EQ(vs_ram_put(&m->memory, pc, &word, 4), 0);
    vs_cpu_flush_all(m->code);
    for (unsigned i = 1; i < 32; i++)
        m->hart.x[i] = interesting(rng);
    memcpy(want, m->hart.x, sizeof(want));
    CHECK_EQ(o.effect_count, o.destinations ? 1 : 0);
    if (o.effect_count) {
        CHECK_EQ(o.destinations, UINT32_C(1) << o.effects[0].to);
        CHECK(!(vs_alu_sources(&o.effects[0]) & ~o.sources));
        want[o.effects[0].to] = vs_alu_value(&o.effects[0], m->hart.x);
    }
    m->hart.cpu.pc = pc;
    vs_cpu_run(&m->hart.cpu, 1);
    for (unsigned i = 0; i < 32; i++)
        if (m->hart.x[i] != want[i])
            unittest_fail(__FILE__, __LINE__, "%08x: x%u is 0x%llx, not 0x%llx", word, i,
                          (unsigned long long)m->hart.x[i], (unsigned long long)want[i]);
}

TEST(computes_what_the_simulator_does)
{
    struct machine *m = malloc(sizeof(*m));
    struct rng rng = rng_init(11);
    unsigned operations = 0;
    CHECK(m);
    machine_init(m);
    for (unsigned op = 0; op < VS_RV64_OPS; op++) {
        const struct vs_rv64_row *row = vs_rv64_row(op);
        if (!computes(row))
            continue;
        operations++;
        for (unsigned i = 0; i < 60; i++)
            check_word(m, &rng, row->match | ((uint32_t)rng_next(&rng) & ~row->mask));
    }
    CHECK(operations > 80);
    machine_fini(m);
    free(m);
}

static void rv64(uint32_t word, struct vs_operands *o)
{
    CHECK_EQ(vs_rv64_operands((const uint8_t *)&word, 4, 0x1000, o), 0);
}

TEST(knows_addresses_and_destinations_of_rv64)
{
    struct vs_operands o;
    rv64(0xff853503, &o); /* ld a0,-8(a0) */
    CHECK_EQ(o.memory_count, 1);
    CHECK_EQ(o.memory[0].form, VS_FORM_BASE);
    CHECK_EQ(o.memory[0].base, 10);
    CHECK_EQ(o.memory[0].displacement, -8);
    CHECK(o.memory[0].load && !o.memory[0].store);
    CHECK_EQ(o.clobbers, 1 << 10);
    rv64(0x00a12423, &o); /* sw a0,8(sp) */
    CHECK(!o.memory[0].load && o.memory[0].store);
    CHECK_EQ(o.sources, 1 << 10 | 1 << 2);
    CHECK_EQ(o.destinations, 0);
    rv64(0x00a5a62f, &o); /* amoadd.w a2,a0,(a1) */
    CHECK(o.memory[0].load && o.memory[0].store);
    CHECK_EQ(o.clobbers, 1 << 12);
    rv64(0x02000503, &o); /* lb a0,32(zero) */
    CHECK_EQ(o.memory[0].form, VS_FORM_ABSOLUTE);
    CHECK_EQ(vs_memory_sources(&o.memory[0]), 0);
    rv64(0x00053507, &o); /* fld fa0,0(a0) */
    CHECK_EQ(o.destinations, 0);
    rv64(0xe2050553, &o); /* fmv.x.d a0,fa0 */
    CHECK_EQ(o.clobbers, 1 << 10);
    CHECK_EQ(o.sources, 0);
    rv64(0x02057507, &o); /* vle64.v v10,(a0) */
    CHECK_EQ(o.clobbers, 0xfffffffe);
    CHECK_ERR(vs_rv64_operands((const uint8_t *)"\0\0", 2, 0, &o), VSE_CORRUPT);
    CHECK_ERR(vs_rv64_operands((const uint8_t *)"\x03\x35", 2, 0, &o), VSE_TRUNCATED);
}

/* ---- x86-64 ---------------------------------------------------------------------------------- */

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, NONE = VS_NO_REGISTER };

/* Every register holds 0x1122334455667700 plus its number, but rcx: 8. */
static void registers_init(uint64_t x[32])
{
    for (unsigned i = 0; i < 32; i++)
        x[i] = UINT64_C(0x1122334455667700) + i;
    x[RCX] = 8;
}

static void x86(const char *bytes, size_t size, struct vs_operands *o)
{
    CHECK_EQ(vs_x86_operands((const uint8_t *)bytes, size, 0x400000, o), 0);
    CHECK_EQ(o->length, size);
}

struct computed {
    const char *bytes;
    uint8_t size, to; /* NONE: nothing that is known */
    uint64_t value;
};

static const struct computed computed[] = {
    {"\x48\x89\xd8", 3, RAX, 0x1122334455667703},         /* mov rax,rbx */
    {"\x89\xd8", 2, RAX, 0x55667703},                     /* mov eax,ebx */
    {"\x88\xd8", 2, NONE, 0},                             /* mov al,bl */
    {"\x66\x89\xd8", 3, NONE, 0},                         /* mov ax,bx */
    {"\xb8\xff\xff\xff\xff", 5, RAX, 0xffffffff},         /* mov eax,-1 */
    {"\x48\xc7\xc0\xff\xff\xff\xff", 7, RAX, UINT64_MAX}, /* mov rax,-1 */
    {"\x49\xb8\x88\x77\x66\x55\x44\x33\x22\x11", 10, R8, 0x1122334455667788},
    {"\x0f\xb6\xc3", 3, RAX, 3},                                       /* movzx eax,bl */
    {"\x0f\xb6\xc7", 3, NONE, 0},                                      /* movzx eax,bh */
    {"\x48\x0f\xbf\xc3", 4, RAX, 0x7703},                              /* movsx rax,bx */
    {"\x48\x63\xc3", 3, RAX, 0x55667703},                              /* movsxd rax,ebx */
    {"\x48\x8d\x44\x8b\x10", 5, RAX, 0x1122334455667703 + 4 * 8 + 16}, /* lea rax,[rbx+rcx*4+16] */
    {"\x48\x8d\x05\x10\x00\x00\x00", 7, RAX, 0x400017},                /* lea rax,[rip+16] */
    {"\x8d\x43\xff", 3, RAX, 0x55667702},                              /* lea eax,[rbx-1] */
    {"\x67\x48\x8d\x03", 4, NONE, 0},                                  /* lea rax,[ebx] */
    {"\x48\x01\xd8", 3, RAX, 0x22446688aaccee03},                      /* add rax,rbx */
    {"\x48\x83\xec\x18", 4, RSP, 0x1122334455667704 - 0x18},           /* sub rsp,24 */
    {"\x48\x83\xe4\xf0", 4, RSP, 0x1122334455667700},                  /* and rsp,-16 */
    {"\x31\xc0", 2, RAX, 0},                                           /* xor eax,eax */
    {"\x48\xff\xc8", 3, RAX, 0x11223344556676ff},                      /* dec rax */
    {"\xff\xc0", 2, RAX, 0x55667701},                                  /* inc eax */
    {"\x48\xf7\xd9", 3, RCX, 0 - 8ull},                                /* neg rcx */
    {"\xf7\xd1", 2, RCX, 0xfffffff7},                                  /* not ecx */
    {"\x48\xc1\xe1\x04", 4, RCX, 128},                                 /* shl rcx,4 */
    {"\x48\xd3\xe0", 3, NONE, 0},                                      /* shl rax,cl */
    {"\xc1\xf8\x1f", 3, RAX, 0},                                       /* sar eax,31 */
    {"\x48\x6b\xc1\x64", 4, RAX, 800},                                 /* imul rax,rcx,100 */
    {"\x48\x0f\xaf\xc9", 4, RCX, 64},                                  /* imul rcx,rcx */
    {"\x48\xf7\xe9", 3, NONE, 0},                                      /* imul rcx */
    {"\x0f\xc8", 2, RAX, 0x00776655},                                  /* bswap eax */
    {"\x48\x98", 2, RAX, 0x55667700},                                  /* cdqe */
    {"\x48\x99", 2, RDX, 0},                                           /* cqo */
    {"\x48\x0f\x44\xc3", 4, NONE, 0},                                  /* cmove rax,rbx */
    {"\x48\x19\xc0", 3, NONE, 0},                                      /* sbb rax,rax */
    {"\x53", 1, RSP, 0x11223344556676fc},                              /* push rbx */
    {"\x5b", 1, RSP, 0x112233445566770c},                              /* pop rbx */
    {"\x5c", 1, NONE, 0},                                              /* pop rsp */
    {"\xc3", 1, RSP, 0x112233445566770c},                              /* ret */
    {"\xc2\x10\x00", 3, RSP, 0x112233445566771c},                      /* ret 16 */
    {"\xe8\x00\x00\x00\x00", 5, RSP, 0x11223344556676fc},              /* call */
    {"\xc9", 1, RSP, 0x112233445566770d},                              /* leave */
    {"\x48\x8b\x03", 3, NONE, 0},                                      /* mov rax,[rbx] */
    {"\x48\x03\x03", 3, NONE, 0},                                      /* add rax,[rbx] */
};

TEST(computes_what_x86_does)
{
    uint64_t x[32];
    registers_init(x);
    for (size_t i = 0; i < sizeof(computed) / sizeof(computed[0]); i++) {
        const struct computed *c = &computed[i];
        struct vs_operands o;
        x86(c->bytes, c->size, &o);
        bool known = o.effect_count == 1 && o.effects[0].to == c->to &&
                     vs_alu_value(&o.effects[0], x) == c->value;
        if (c->to == NONE ? o.effect_count != 0 || !o.clobbers : !known)
            unittest_fail(__FILE__, __LINE__, "row %zu", i);
        if (c->to != NONE && (o.clobbers & 1u << c->to || !(o.destinations & 1u << c->to)))
            unittest_fail(__FILE__, __LINE__, "row %zu: destinations", i);
    }
}

TEST(exchanges_at_once)
{
    struct vs_operands o;
    uint64_t x[32];
    registers_init(x);
    x86("\x48\x87\xd8", 3, &o); /* xchg rax,rbx */
    CHECK_EQ(o.effect_count, 2);
    CHECK_EQ(o.clobbers, 0);
    for (unsigned i = 0; i < 2; i++)
        CHECK_EQ(vs_alu_value(&o.effects[i], x), x[o.effects[i].to == RAX ? RBX : RAX]);
}

struct addressed {
    const char *bytes;
    uint8_t size, operand; /* which */
    uint8_t form, base, index, scale;
    bool load, store;
    int64_t displacement;
};

static const struct addressed addressed[] = {
    {"\x48\x8b\x43\x08", 4, 0, VS_FORM_BASE, RBX, NONE, 1, true, false, 8},
    {"\x48\x89\x44\x8b\xf8", 5, 0, VS_FORM_INDEX, RBX, RCX, 4, false, true, -8},
    {"\x48\x8b\x04\xcd\x00\x10\x00\x00", 8, 0, VS_FORM_INDEX, NONE, RCX, 8, true, false, 0x1000},
    {"\x48\x8b\x05\x10\x00\x00\x00", 7, 0, VS_FORM_PC, NONE, NONE, 1, true, false, 0x400017},
    {"\x8b\x04\x25\x00\x10\x00\x00", 7, 0, VS_FORM_ABSOLUTE, NONE, NONE, 1, true, false, 0x1000},
    {"\x48\x01\x03", 3, 0, VS_FORM_BASE, RBX, NONE, 1, true, true, 0}, /* add [rbx],rax */
    {"\x53", 1, 0, VS_FORM_STACK, RSP, NONE, 1, false, true, -8},      /* push rbx */
    {"\x5b", 1, 0, VS_FORM_STACK, RSP, NONE, 1, true, false, 0},       /* pop rbx */
    {"\xff\x33", 2, 0, VS_FORM_BASE, RBX, NONE, 1, true, false, 0},    /* push [rbx] */
    {"\xff\x33", 2, 1, VS_FORM_STACK, RSP, NONE, 1, false, true, -8},
    {"\xff\x13", 2, 0, VS_FORM_BASE, RBX, NONE, 1, true, false, 0}, /* call [rbx] */
    {"\xff\x13", 2, 1, VS_FORM_STACK, RSP, NONE, 1, false, true, -8},
    {"\xc9", 1, 0, VS_FORM_STACK, RBP, NONE, 1, true, false, 0},        /* leave */
    {"\x0f\x28\x03", 3, 0, VS_FORM_BASE, RBX, NONE, 1, true, false, 0}, /* movaps */
    {"\x64\x48\x8b\x04\x25\x28\x00\x00\x00", 9, 0, VS_FORM_OTHER, NONE, NONE, 1, true, false, 0},
    {"\x67\x8b\x03", 3, 0, VS_FORM_OTHER, NONE, NONE, 1, true, false, 0},    /* [ebx] */
    {"\xf3\x48\xab", 3, 0, VS_FORM_STRING, RDI, NONE, 1, false, true, 0},    /* rep stosq */
    {"\x0f\xae\x03", 3, 0, VS_FORM_OTHER, NONE, NONE, 1, false, true, 0},    /* fxsave */
    {"\x48\x0f\xab\x03", 4, 0, VS_FORM_OTHER, NONE, NONE, 1, true, true, 0}, /* bts [rbx],rax */
    {"\x8f\x04\x24", 3, 0, VS_FORM_OTHER, NONE, NONE, 1, false, true, 0},    /* pop [rsp] */
    /* vpmaskmovd, vmaskmovps, vpgatherdd, vmovups with a mask and without */
    {"\xc4\xe2\x75\x8c\x13", 5, 0, VS_FORM_OTHER, NONE, NONE, 1, true, false, 0},
    {"\xc4\xe2\x75\x2e\x13", 5, 0, VS_FORM_OTHER, NONE, NONE, 1, false, true, 0},
    {"\xc4\xe2\x75\x90\x14\x9b", 6, 0, VS_FORM_OTHER, NONE, NONE, 1, true, false, 0},
    {"\x62\xf1\x7c\x49\x10\x0b", 6, 0, VS_FORM_OTHER, NONE, NONE, 1, true, false, 0},
    {"\x62\xf1\x7c\x48\x10\x0b", 6, 0, VS_FORM_BASE, RBX, NONE, 1, true, false, 0},
};

TEST(knows_addresses_of_x86)
{
    for (size_t i = 0; i < sizeof(addressed) / sizeof(addressed[0]); i++) {
        const struct addressed *a = &addressed[i];
        struct vs_operands o;
        x86(a->bytes, a->size, &o);
        const struct vs_memory_operand *m = &o.memory[a->operand];
        if (o.memory_count <= a->operand || m->form != a->form || m->base != a->base ||
            m->index != a->index || m->scale != a->scale || m->load != a->load ||
            m->store != a->store || m->displacement != a->displacement)
            unittest_fail(__FILE__, __LINE__, "row %zu", i);
    }
}

TEST(moves_on_in_strings)
{
    struct vs_operands o;
    x86("\xae", 1, &o); /* scasb */
    CHECK_EQ(o.memory[0].form, VS_FORM_STRING);
    CHECK_EQ(o.memory[0].step, 1);
    CHECK_EQ(o.clobbers & (1 << RDI | 1 << RSI), 1 << RDI);
    x86("\xf3\x48\xa5", 3, &o); /* rep movsq */
    CHECK_EQ(o.memory_count, 2);
    CHECK_EQ(o.memory[0].step, 8);
    CHECK_EQ(o.clobbers, 1 << RCX | 1 << RSI | 1 << RDI);
    x86("\xf3\xa6", 2, &o); /* repe cmpsb */
    CHECK_EQ(o.memory[0].form, VS_FORM_OTHER);
    CHECK_EQ(o.clobbers, 1 << RCX | 1 << RSI | 1 << RDI);
    x86("\xe2\xfe", 2, &o); /* loop */
    CHECK_EQ(o.clobbers, 1 << RCX);
    x86("\xfd", 1, &o); /* std */
    CHECK_EQ(o.destinations, 1 << VS_DIRECTION);
    CHECK_EQ(o.clobbers, 0);
    x86("\x9d", 1, &o); /* popfq */
    CHECK_EQ(o.clobbers, 1 << VS_DIRECTION);
}

TEST(sees_no_access_in_lea)
{
    struct vs_operands o;
    x86("\x48\x8d\x44\x8b\x10", 5, &o);
    CHECK_EQ(o.memory_count, 0);
    CHECK_EQ(o.sources, 1 << RBX | 1 << RCX);
}

TEST(refuses_what_is_no_instruction)
{
    struct vs_operands o;
    CHECK_ERR(vs_x86_operands((const uint8_t *)"\x06", 1, 0, &o), VSE_CORRUPT);
    CHECK_ERR(vs_x86_operands((const uint8_t *)"\x48\x8b", 2, 0, &o), VSE_TRUNCATED);
    CHECK_ERR(vs_x86_operands((const uint8_t *)"", 0, 0, &o), VSE_TRUNCATED);
}

TEST(knows_destinations_that_are_implied)
{
    static const struct {
        const char *bytes;
        unsigned size, clobbers;
    } rows[] = {{"\x48\xf7\xe1", 3, 1 << RAX | 1 << RDX},                   /* mul rcx */
                {"\x48\xf7\xf1", 3, 1 << RAX | 1 << RDX},                   /* div rcx */
                {"\x0f\xa2", 2, 1 << RAX | 1 << RBX | 1 << RCX | 1 << RDX}, /* cpuid */
                {"\x0f\x31", 2, 1 << RAX | 1 << RDX},                       /* rdtsc */
                {"\x48\x0f\xb1\x0b", 4, 1 << RAX},                          /* cmpxchg */
                {"\x48\x0f\xc7\x0b", 4, 1 << RAX | 1 << RDX},               /* cmpxchg16b */
                {"\xd7", 1, 1 << RAX},                                      /* xlat */
                {"\x9f", 1, 1 << RAX},                                      /* lahf */
                {"\x48\x0f\xc1\x0b", 4, 1 << RCX},                          /* xadd */
                {"\x48\x87\x0b", 3, 1 << RCX}};                             /* xchg [rbx],rcx */
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct vs_operands o;
        x86(rows[i].bytes, rows[i].size, &o);
        if (o.clobbers != rows[i].clobbers)
            unittest_fail(__FILE__, __LINE__, "row %zu: 0x%x", i, o.clobbers);
    }
}

/* ---- addresses ------------------------------------------------------------------------------- */

TEST(solves_the_register_that_is_missing)
{
    struct vs_memory_operand m = {
        .form = VS_FORM_INDEX, .base = RBX, .index = RCX, .scale = 1, .displacement = -4};
    uint64_t x[32] = {[RBX] = 0x1000, [RCX] = 0x20};
    CHECK_EQ(vs_memory_address(&m, x), 0x101c);
    CHECK_EQ(vs_memory_solves(&m, 0), NONE);
    CHECK_EQ(vs_memory_solves(&m, 1 << RBX | 1 << RCX), NONE);
    CHECK_EQ(vs_memory_solves(&m, 1 << RBX), RCX);
    CHECK_EQ(vs_memory_solution(&m, RCX, 0x101c, x), 0x20);
    CHECK_EQ(vs_memory_solves(&m, 1 << RCX), RBX);
    CHECK_EQ(vs_memory_solution(&m, RBX, 0x101c, x), 0x1000);
    m.scale = 4; /* the index loses its upper bits, the base does not */
    CHECK_EQ(vs_memory_solves(&m, 1 << RBX), NONE);
    CHECK_EQ(vs_memory_solves(&m, 1 << RCX), RBX);
    CHECK_EQ(vs_memory_solution(&m, RBX, 0x1000 + 0x80 - 4, x), 0x1000);
    m.index = RBX; /* a register twice */
    m.scale = 1;
    CHECK_EQ(vs_memory_solves(&m, 0), NONE);
}
