/* SPDX-License-Identifier: MIT */
/* Data-address techniques: their table, messages worked out by hand, and round trips. */
#include "technique/address.h"

#include "model/adac.h"
#include "unit/addressrun.h"
#include "unit/rng.h"

/* ---- the table ------------------------------------------------------------------------------- */

static const struct vs_adac_config small = {
    .sets = 1, .ways = 4, .window = 4, .max = 12, .min = 0, .tmax = 8, .inc = 8, .dec = 1};

/* Looks an address up in set 0 and takes it in. */
static struct vs_adac_result access_table(struct vs_adac *c, uint64_t addr)
{
    struct vs_adac_result r = vs_adac_find(c, 0, addr);
    vs_adac_update(c, 0, &r, addr);
    return r;
}

static void check_access(struct vs_adac *c, uint64_t addr, enum vs_adac_kind kind, unsigned way,
                         unsigned j, unsigned bits)
{
    struct vs_adac_result r = access_table(c, addr);
    CHECK_EQ(r.kind, kind);
    CHECK_EQ(r.way, way);
    CHECK_EQ(r.j, j);
    CHECK_EQ(r.bits, bits);
}

TEST(finds_the_first_way_and_the_smallest_j)
{
    struct vs_adac c;
    CHECK_EQ(vs_adac_init(&c, &small), 0);
    CHECK_EQ(vs_adac_mru(&c, 0), 3);
    check_access(&c, 0x10000, VS_ADAC_MISS, 0, 0, 0);
    CHECK_EQ(vs_adac_mru(&c, 0), 0);
    check_access(&c, 0x10008, VS_ADAC_MRU, 0, 0, 12);
    check_access(&c, 0x900000, VS_ADAC_MISS, 0, 0, 0); /* to way 1 */
    CHECK_EQ(vs_adac_mru(&c, 0), 1);
    check_access(&c, 0x10ff8, VS_ADAC_OTHER, 0, 0, 12);
    check_access(&c, 0x900001, VS_ADAC_OTHER, 1, 0, 12);
    check_access(&c, 0x12000, VS_ADAC_WIDER, 0, 2, 14);
    /* way 3, of address 0, would have j = 0 the second time: the first way is taken */
    check_access(&c, 0x7000, VS_ADAC_WIDER, 2, 3, 15);
    check_access(&c, 0x0800, VS_ADAC_WIDER, 2, 3, 15);
    vs_adac_fini(&c);
}

TEST(grows_and_shrinks_shift)
{
    struct vs_adac_config g = small;
    struct vs_adac c;
    const struct vs_adac_entry *e;
    g.ways = 1;
    g.max = 5;
    g.min = 3;
    g.tmax = 4;
    g.inc = 3;
    g.dec = 2;
    CHECK_EQ(vs_adac_init(&c, &g), 0);
    e = vs_adac_entry(&c, 0, 0);
    CHECK_EQ(e->shift, 5);
    CHECK_EQ(e->tcnt, 4);
    check_access(&c, 0x1000, VS_ADAC_MISS, 0, 0, 0);
    check_access(&c, 0x1000, VS_ADAC_MRU, 0, 0, 5);
    CHECK_EQ(e->tcnt, 2);
    check_access(&c, 0x101f, VS_ADAC_MRU, 0, 0, 5); /* down to 0: it shrinks */
    CHECK_EQ(e->shift, 4);
    CHECK_EQ(e->tcnt, 4);
    for (unsigned i = 0; i < 2; i++)
        check_access(&c, 0x101f, VS_ADAC_MRU, 0, 0, 4);
    CHECK_EQ(e->shift, 3);
    for (unsigned i = 0; i < 2; i++)
        check_access(&c, 0x101f, VS_ADAC_MRU, 0, 0, 3);
    CHECK_EQ(e->shift, 3); /* not below min */
    CHECK_EQ(e->tcnt, 4);
    check_access(&c, 0x101f, VS_ADAC_MRU, 0, 0, 3);
    CHECK_EQ(e->tcnt, 2);
    check_access(&c, 0x1000, VS_ADAC_WIDER, 0, 2, 5); /* up to tmax: it grows */
    CHECK_EQ(e->shift, 4);
    CHECK_EQ(e->tcnt, 0);
    check_access(&c, 0x101f, VS_ADAC_WIDER, 0, 1, 5);
    CHECK_EQ(e->shift, 4);
    CHECK_EQ(e->tcnt, 3);
    check_access(&c, 0x1000, VS_ADAC_WIDER, 0, 1, 5);
    CHECK_EQ(e->shift, 5);
    CHECK_EQ(e->tcnt, 0);
    for (unsigned i = 0; i < 2; i++)
        check_access(&c, i ? 0x1000 : 0x1020, VS_ADAC_WIDER, 0, 1, 6);
    CHECK_EQ(e->shift, 5); /* not above max */
    CHECK_EQ(e->tcnt, 0);
    check_access(&c, 0x1001, VS_ADAC_MRU, 0, 0, 5); /* at 0 it stays: shrinks again */
    CHECK_EQ(e->shift, 4);
    vs_adac_fini(&c);
}

TEST(replaces_the_least_recently_used_way)
{
    struct vs_adac_config g = small;
    struct vs_adac c;
    g.max = 0;
    g.window = 1;
    CHECK_EQ(vs_adac_init(&c, &g), 0);
    for (unsigned i = 1; i <= 4; i++)
        check_access(&c, i, VS_ADAC_MISS, 0, 0, 0);
    check_access(&c, 1, VS_ADAC_OTHER, 0, 0, 0); /* now way 1 is the oldest */
    check_access(&c, 5, VS_ADAC_MISS, 0, 0, 0);
    CHECK_EQ(vs_adac_entry(&c, 0, 1)->da, 5);
    check_access(&c, 3, VS_ADAC_OTHER, 2, 0, 0);
    check_access(&c, 6, VS_ADAC_MISS, 0, 0, 0);
    CHECK_EQ(vs_adac_entry(&c, 0, 3)->da, 6);
    vs_adac_fini(&c);
}

TEST(spreads_instructions_over_sets)
{
    struct vs_adac_config g = small;
    struct vs_adac c;
    g.sets = 16;
    g.low = 2;
    CHECK_EQ(vs_adac_init(&c, &g), 0);
    CHECK_EQ(vs_adac_set(&c, 0x10), 4);
    CHECK_EQ(vs_adac_set(&c, 0x13), 4);
    CHECK_EQ(vs_adac_set(&c, 0x50), 4 ^ 1);
    vs_adac_fini(&c);
}

TEST(refuses_tables)
{
    struct vs_adac c;
    static const struct {
        uint32_t sets, ways, window, max, min, tmax;
    } bad[] = {{3, 4, 4, 12, 0, 8},  {16, 3, 4, 12, 0, 8},  {16, 32, 4, 12, 0, 8},
               {0, 4, 4, 12, 0, 8},  {16, 4, 0, 12, 0, 8},  {16, 4, 9, 12, 0, 8},
               {16, 4, 4, 25, 0, 8}, {16, 4, 4, 12, 13, 8}, {16, 4, 4, 12, 0, 0}};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        const struct vs_adac_config g = {.sets = bad[i].sets,
                                         .ways = bad[i].ways,
                                         .window = bad[i].window,
                                         .max = bad[i].max,
                                         .min = bad[i].min,
                                         .tmax = bad[i].tmax,
                                         .inc = 1,
                                         .dec = 1};
        CHECK_ERR(vs_adac_init(&c, &g), VSE_INVAL);
    }
}

/* ---- messages -------------------------------------------------------------------------------- */

TEST(sends_differences_in_bytes)
{
    static struct run r = {.cores = 1};
    struct stream s;
    touch(&r, 0, 0x100, 0x1000, false);
    touch(&r, 0, 0x104, 0x1004, true);
    touch(&r, 0, 0x108, 0x1004, false);
    touch(&r, 0, 0x108, 0xfffffffffffff004, false);
    encode(&s, "daNX", &r, 64);
    CHECK_FIELDS(&s, {0, 2}, {0, 6}, {0, 2}, {0, 6}, {3, 2}, {1, 6}, /* 0x1000 */
                 {3, 2}, {4, 6},                                     /* 4 */
                 {3, 2}, {0, 6},                                     /* the same */
                 {0, 2}, {0, 6}, {0, 2}, {0, 6}, {0, 2}, {0x3e, 6}, {0, 2}, {0x3f, 6}, {0, 2},
                 {0x3f, 6}, {0, 2}, {0x3f, 6}, {0, 2}, {0x3f, 6}, {0, 2}, {0x3f, 6}, {0, 2},
                 {0x3f, 6}, {0, 2}, {0x3f, 6}, {3, 2}, {0xf, 6});
    CHECK_EQ(s.fields.bits[VS_FIELD_ADDRESS], s.nbits);
    CHECK_EQ(s.counts.loads, 3);
    CHECK_EQ(s.counts.stores_sent, 1);
    check_decodes(&s, &r);
    stream_free(&s);
}

/* The table's ways are first of address 0, way 3 the most recent. */
TEST(sends_hits_and_misses_of_the_adaptive_table)
{
    static struct run r = {.cores = 1};
    struct stream s;
    touch(&r, 0, 0x100, 0x10000, false);
    touch(&r, 0, 0x100, 0x10008, false);
    touch(&r, 0, 0x100, 0x13008, true);
    touch(&r, 0, 0x100, 0x13000, false); /* TCNT was 0: SHIFT becomes 11 */
    touch(&r, 0, 0x100, 0x13801, false); /* and 12 again */
    touch(&r, 0, 0x100, 0x900000, false);
    touch(&r, 0, 0x100, 0x13810, false);
    encode(&s, "ADAC:sets=1", &r, 64);
    CHECK_FIELDS(&s, {0, 1}, {3, 2}, {0, 2}, {0, 2}, {0x10000, 64},            /* miss */
                 {1, 1}, {8, 12},                                              /* most recent way */
                 {0, 1}, {0, 2}, {0, 2}, {2, 2}, {0x3008, 14},                 /* j = 2 */
                 {1, 1}, {0, 12}, {0, 1}, {0, 2}, {0, 2}, {1, 2}, {0x801, 12}, /* 11, j = 1 */
                 {0, 1}, {0, 2}, {0, 2}, {0, 2}, {0x900000, 64},               /* to way 1 */
                 {0, 1}, {0, 2}, {0x810, 12});                                 /* another way */
    CHECK_EQ(s.counts.hits_mru, 2);
    CHECK_EQ(s.counts.hits_other, 1);
    CHECK_EQ(s.counts.hits_wider, 2);
    CHECK_EQ(s.counts.misses, 2);
    CHECK_EQ(s.counts.shifts, 12 + 12 + 12 + 11 + 12);
    CHECK_EQ(s.fields.bits[VS_FIELD_HEADER], 7);
    CHECK_EQ(s.fields.bits[VS_FIELD_INDEX], 4 * 6 + 2);
    CHECK_EQ(s.fields.bits[VS_FIELD_ADDRESS], 2 * 64 + 12 + 14 + 12 + 12 + 12);
    check_decodes(&s, &r);
    stream_free(&s);
}

TEST(sends_fixed_bits_of_the_plain_table)
{
    static struct run r = {.cores = 2};
    struct stream s;
    touch(&r, 0, 0x100, 0xabcd1230, false);
    touch(&r, 1, 0x100, 0xabcd1230, false); /* each core has its own */
    touch(&r, 0, 0x100, 0xabcd1234, false);
    touch(&r, 0, 0x100, 0xabcd1244, false);
    encode(&s, "DAC:shift=4,ways=2,sets=16", &r, 32);
    CHECK_FIELDS(&s, {0, 1}, {0, 1}, {1, 1}, {0, 1}, {0xabcd1230, 32}, {1, 1}, {0, 1}, {1, 1},
                 {0, 1}, {0xabcd1230, 32}, {0, 1}, {1, 1}, {4, 4}, {0, 1}, {0, 1}, {0, 1}, {0, 1},
                 {0xabcd1244, 32});
    check_decodes(&s, &r);
    stream_free(&s);
}

TEST(sends_the_cycle)
{
    static struct run r = {.cores = 1, .timed = true};
    struct stream s;
    touch(&r, 0, 0x100, 4, false);
    touch(&r, 0, 0x100, 4, false);
    encode(&s, "daNX", &r, 64);
    CHECK_EQ(s.nbits, 2 * (9 + 8));
    CHECK_EQ(s.fields.bits[VS_FIELD_CYCLES], 18);
    check_decodes(&s, &r);
    stream_free(&s);
}

/* ---- registers that are known ---------------------------------------------------------------- */

#define CODE UINT64_C(0x1000)

/* Words of RV64 from CODE on; from `change` instructions on the last is replaced. */
struct program {
    uint32_t words[16];
    unsigned count;
    uint64_t change;
    uint32_t then;
};

static uint32_t program_version(const void *context, unsigned core, uint64_t n, uint64_t *until)
{
    const struct program *p = context;
    (void)core;
    bool changed = p->change && n >= p->change;
    *until = p->change && !changed ? p->change : UINT64_MAX;
    return changed;
}

static size_t program_fetch(const void *context, uint32_t version, uint64_t pc, uint8_t *bytes,
                            size_t capacity)
{
    const struct program *p = context;
    uint64_t i = (pc - CODE) / 4;
    if (pc < CODE || i >= p->count || capacity < 4)
        return 0;
    memcpy(bytes, version && i + 1 == p->count ? &p->then : &p->words[i], 4);
    return 4;
}

static struct vs_address_code code_of(const struct program *p)
{
    return (struct vs_address_code){.context = p,
                                    .isa = vs_isa_find("rv64"),
                                    .version = program_version,
                                    .fetch = program_fetch};
}

static void add_event(struct run *r, struct vs_event e)
{
    CHECK(r->count < EVENTS_MAX);
    r->cycles[r->count] = r->count;
    r->events[r->count++] = e;
}

static void start_at(struct run *r, unsigned instruction)
{
    add_event(r, (struct vs_event){.kind = VS_THREAD_START, .pc = CODE + 4 * instruction});
}

/* After so many instructions that do nothing else. */
static void access_of(struct run *r, unsigned instruction, unsigned icount, uint64_t addr)
{
    add_event(r, (struct vs_event){.kind = VS_LOAD,
                                   .pc = CODE + 4 * instruction,
                                   .addr = addr,
                                   .size = 8,
                                   .icount = (uint16_t)icount});
}

static void filter(struct stream *s, const char *spec, const struct run *r,
                   const struct vs_address_code *code)
{
    *s = (struct stream){.setup = {r->cores, 64, r->timed, 0}, .code = code};
    CHECK_EQ(vs_technique_parse(&s->spec, spec, NULL), 0);
    encode_spec(s, r, r->count + 1);
    check_decodes(s, r);
}

enum {
    LI_A1_0 = 0x00000593,      /* li a1,0 */
    LD_A5_8_A2 = 0x00863783,   /* ld a5,8(a2) */
    ADD_A4_A2_A1 = 0x00b60733, /* add a4,a2,a1 */
    LD_A6_A4 = 0x00073803,     /* ld a6,0(a4) */
    MV_A2_A7 = 0x00088613,     /* mv a2,a7 */
    LD_A3_A2 = 0x00063683,     /* ld a3,0(a2) */
    LD_A2_A2 = 0x00063603,     /* ld a2,0(a2) */
    LD_A3_A0 = 0x00053683,     /* ld a3,0(a0) */
    AUIPC_A0 = 0x00000517,     /* auipc a0,0 */
    ECALL = 0x00000073,
    JUMP_BACK = 0xff9ff06f, /* j .-8 */
};

/* The published example, and a load after it. */
TEST(sends_what_registers_do_not_tell)
{
    static const struct program p = {
        .words = {LI_A1_0, LD_A5_8_A2, ADD_A4_A2_A1, LD_A6_A4, MV_A2_A7, LD_A3_A2}, .count = 6};
    const struct vs_address_code code = code_of(&p);
    static struct run r = {.cores = 1};
    struct stream s;
    start_at(&r, 0);
    access_of(&r, 1, 2, 0x2008); /* a2 = 0x2000 */
    access_of(&r, 3, 2, 0x2000); /* a4 = a2 + a1 */
    access_of(&r, 5, 2, 0x3000); /* a7 is not known */
    filter(&s, "daFilter", &r, &code);
    CHECK_FIELDS(&s, {0x2008, 64}, {0x3000, 64});
    CHECK_EQ(s.counts.loads, 3);
    CHECK_EQ(s.counts.loads_sent, 2);
    CHECK_EQ(s.counts.form_loads[VS_FORM_BASE], 3);
    CHECK_EQ(s.counts.form_loads_sent[VS_FORM_BASE], 2);
    stream_free(&s);
    filter(&s, "daFilter:nexus", &r, &code);
    CHECK_EQ(s.fields.bits[VS_FIELD_ADDRESS], 24 + 24); /* 0x2008 and its difference from 0x3000 */
    stream_free(&s);
    filter(&s, "daFilter:adac", &r, &code);
    CHECK_EQ(s.counts.misses + s.counts.hits_wider, 2);
    stream_free(&s);
    s = (struct stream){.setup = {1, 64, false, 0}}; /* without code all are sent */
    CHECK_EQ(vs_technique_parse(&s.spec, "daFilter", NULL), 0);
    encode_spec(&s, &r, 100);
    CHECK_EQ(s.counts.loads_sent, 3);
    CHECK_EQ(s.counts.form_loads[VS_FORM_OTHER], 3);
    check_decodes(&s, &r);
    stream_free(&s);
}

TEST(forgets_what_a_load_replaces)
{
    static const struct program p = {.words = {LD_A2_A2, LD_A3_A2, LD_A3_A2, JUMP_BACK},
                                     .count = 4};
    const struct vs_address_code code = code_of(&p);
    static struct run r = {.cores = 1};
    struct stream s;
    start_at(&r, 0);
    access_of(&r, 0, 1, 0x2000);
    access_of(&r, 1, 1, 0x4000); /* a2 is what was loaded */
    access_of(&r, 2, 1, 0x4000);
    add_event(&r, (struct vs_event){.kind = VS_BRANCH,
                                    .pc = CODE + 12,
                                    .addr = CODE + 4,
                                    .size = 4,
                                    .icount = 1,
                                    .flags = VS_BR_TAKEN});
    access_of(&r, 1, 1, 0x4000);
    access_of(&r, 2, 1, 0x4000);
    filter(&s, "daFilter", &r, &code);
    CHECK_FIELDS(&s, {0x2000, 64}, {0x4000, 64});
    stream_free(&s);
}

TEST(forgets_what_the_system_changes)
{
    static const struct program p = {
        .words = {LD_A3_A0, LD_A3_A2, ECALL, LD_A3_A2, LD_A3_A0, LD_A3_A2}, .count = 6};
    const struct vs_address_code code = code_of(&p);
    static struct run r = {.cores = 1};
    struct stream s;
    start_at(&r, 0);
    access_of(&r, 0, 1, 0x2000);
    access_of(&r, 1, 1, 0x3000);
    add_event(&r, (struct vs_event){.kind = VS_SYSCALL, .pc = CODE + 8, .icount = 1});
    access_of(&r, 3, 1, 0x3000); /* a2 stays */
    access_of(&r, 4, 1, 0x2000); /* a0 may be another */
    access_of(&r, 5, 1, 0x3000);
    add_event(&r, (struct vs_event){.kind = VS_EXCEPTION, .pc = CODE, .addr = CODE + 12});
    access_of(&r, 3, 1, 0x5000); /* nothing is certain */
    add_event(&r, (struct vs_event){.kind = VS_GAP, .pc = CODE + 4});
    access_of(&r, 1, 1, 0x6000);
    filter(&s, "daFilter", &r, &code);
    CHECK_FIELDS(&s, {0x2000, 64}, {0x3000, 64}, {0x2000, 64}, {0x5000, 64}, {0x6000, 64});
    stream_free(&s);
}

TEST(computes_addresses_from_the_pc)
{
    static const struct program p = {.words = {AUIPC_A0, LD_A3_A0}, .count = 2};
    const struct vs_address_code code = code_of(&p);
    static struct run r = {.cores = 1};
    struct stream s;
    start_at(&r, 0);
    access_of(&r, 1, 2, CODE);
    filter(&s, "daFilter", &r, &code);
    CHECK_EQ(s.nbits, 0);
    stream_free(&s);
    r.events[1].addr += 8; /* what the code does not do shows */
    struct vs_verify_address v;
    s = (struct stream){.setup = {1, 64, false, 0}, .code = &code};
    CHECK_EQ(vs_technique_parse(&s.spec, "daFilter", NULL), 0);
    encode_spec(&s, &r, 100);
    CHECK_ERR(verify(&s, &r, s.nbits, false, &v), VSE_CORRUPT);
    CHECK(v.c.differs);
    stream_free(&s);
}

TEST(is_lost_where_the_code_does_not_go)
{
    static const struct program p = {.words = {LD_A3_A2, LD_A3_A2, LD_A3_A2, LD_A3_A2}, .count = 4};
    const struct vs_address_code code = code_of(&p);
    static struct run r = {.cores = 1};
    struct stream s;
    start_at(&r, 0);
    access_of(&r, 0, 1, 0x2000);
    access_of(&r, 1, 1, 0x2000);
    access_of(&r, 3, 1, 0x2000); /* not the next one */
    access_of(&r, 7, 4, 0x2000); /* no code */
    access_of(&r, 0, 1, 0x2000);
    access_of(&r, 1, 1, 0x2000);
    filter(&s, "daFilter", &r, &code);
    CHECK_FIELDS(&s, {0x2000, 64}, {0x2000, 64}, {0x2000, 64}, {0x2000, 64});
    CHECK_EQ(s.counts.form_loads[VS_FORM_OTHER], 1);
    stream_free(&s);
}

/* rep stosb: the direction is known from the second iteration on. */
TEST(follows_iterations)
{
    static const struct program p = {.words = {0x9090aaf3}, .count = 1};
    struct vs_address_code code = code_of(&p);
    static struct run r = {.cores = 1};
    struct stream s;
    code.isa = vs_isa_find("x86-64");
    for (unsigned down = 0; down < 2; down++) {
        r.count = 0;
        start_at(&r, 0);
        for (unsigned i = 0; i < 600; i++)
            add_event(&r, (struct vs_event){.kind = VS_STORE,
                                            .pc = CODE,
                                            .addr = down ? 0x2000 - i : 0x2000 + i,
                                            .size = 1,
                                            .icount = i == 0,
                                            .flags = i ? VS_MEM_REPEAT : 0});
        filter(&s, "daFilter", &r, &code);
        CHECK_EQ(s.counts.form_stores[VS_FORM_STRING], 600);
        CHECK_EQ(s.counts.stores_sent, 2);
        CHECK_EQ(s.nbits, 128);
        stream_free(&s);
    }
}

TEST(sees_code_change)
{
    struct program p = {
        .words = {LD_A3_A2, LD_A3_A2, LD_A3_A0}, .count = 3, .change = 2, .then = LD_A3_A2};
    const struct vs_address_code code = code_of(&p);
    static struct run r = {.cores = 1};
    struct stream s;
    start_at(&r, 0);
    access_of(&r, 0, 1, 0x2000);
    access_of(&r, 1, 1, 0x2000);
    access_of(&r, 2, 1, 0x2000); /* by a2 now, and not a0 */
    filter(&s, "daFilter", &r, &code);
    CHECK_EQ(s.counts.loads_sent, 1);
    stream_free(&s);
    p.change = 0;
    filter(&s, "daFilter", &r, &code);
    CHECK_EQ(s.counts.loads_sent, 2);
    stream_free(&s);
}

/* ---- cost ------------------------------------------------------------------------------------ */

static uint64_t gates_of(const char *spec, unsigned cores)
{
    const struct vs_technique_setup setup = {.cores = cores, .address_bits = 32};
    struct vs_technique_spec s;
    struct vs_cost_list list;
    CHECK_EQ(vs_technique_parse(&s, spec, NULL), 0);
    CHECK_EQ(vs_technique_cost(&s, &setup, &list), 0);
    return vs_cost_gates(vs_cost_list_sum(&list));
}

/* Published: less than 4000, and about 30,000. */
TEST(costs_what_was_published)
{
    CHECK_EQ(gates_of("ADAC:16x4", 1), (64 * (32 + 4 + 4) + 16 * 5) * 3 / 2);
    CHECK(gates_of("ADAC:16x4", 1) < 4000);
    CHECK_EQ(gates_of("ADAC", 1), (512 * (32 + 4 + 4) + 128 * 5) * 3 / 2);
    CHECK_EQ(gates_of("ADAC", 4), 4 * gates_of("ADAC", 1));
    CHECK_EQ(gates_of("DAC", 1), (512 * 32 + 128 * 5) * 3 / 2);
    CHECK_EQ(gates_of("daNX", 1), 32 * 5 / 2);
    CHECK_EQ(gates_of("etrace_da", 1), 4 * (32 + 1) * 5 / 2);
    CHECK_EQ(gates_of("etrace_da:full", 1), 0);
}

/* ---- refusals -------------------------------------------------------------------------------- */

TEST(refuses_what_no_encoder_sends)
{
    CHECK_REFUSED("ADAC:sets=1", 1, VSE_CORRUPT, "a miss with a way", {0, 1}, {3, 2}, {1, 2},
                  {0, 2}, {0x10000, 64});
    /* a miss of what way 0 holds */
    CHECK_REFUSED("ADAC:sets=1", 2, VSE_CORRUPT, "another entry", {0, 1}, {3, 2}, {0, 2}, {0, 2},
                  {0x10000, 64}, {0, 1}, {0, 2}, {0, 2}, {0, 2}, {0x10001, 64});
    /* a way behind one that agrees too */
    CHECK_REFUSED("ADAC:sets=1", 1, VSE_CORRUPT, "another entry", {1, 1}, {5, 12});
    /* j = 2 with bits that j = 1 has */
    CHECK_REFUSED("ADAC:sets=1", 2, VSE_CORRUPT, "another entry", {0, 1}, {3, 2}, {0, 2}, {0, 2},
                  {0x10000, 64}, {0, 1}, {0, 2}, {0, 2}, {2, 2}, {0x1000, 14});
    CHECK_REFUSED("ADAC:sets=1,window=3", 1, VSE_CORRUPT, "another entry", {0, 1}, {3, 2}, {0, 2},
                  {3, 2}, {0, 15});
    CHECK_REFUSED("daNX", 1, VSE_CORRUPT, "no such header", {1, 2}, {1, 6});
    CHECK_REFUSED("daNX", 1, VSE_CORRUPT, "leading zeros", {0, 2}, {1, 6}, {3, 2}, {0, 6});
    CHECK_REFUSED("daNX", 1, VSE_TRUNCATED, "address", {0, 2}, {1, 6});
    CHECK_REFUSED("ADAC", 1, VSE_TRUNCATED, "address", {1, 1}, {1, 6});
    CHECK_REFUSED("daNX", 2, VSE_END, "core 0 goes on", {3, 2}, {1, 6});
}

TEST(refuses_cores_that_there_are_not)
{
    for (size_t i = 0; vs_techniques[i]; i++) {
        const struct vs_technique *t = vs_techniques[i];
        const struct vs_technique_setup setup = {.cores = 2, .address_bits = 64};
        static struct run r = {.cores = 2};
        struct vs_technique_spec s;
        struct vs_port_shape shape;
        struct vs_port_reader reader;
        struct vs_port_writer w;
        uint64_t addr;
        void *e, *d;
        if (!(t->serves & VS_TECHNIQUE_ADDRESS))
            continue;
        r.count = 0;
        touch(&r, 2, 0x100, 8, false);
        struct vs_batch b = batch_of(&r);
        CHECK_EQ(vs_technique_defaults(&s, t), 0);
        vs_technique_shape(&s, &setup, &shape);
        CHECK_EQ(vs_port_writer_init(&w, &shape, NULL, NULL), 0);
        CHECK_EQ(vs_port_reader_init(&reader, &shape, &(struct vs_port_stream){NULL, 0, 0}), 0);
        CHECK_EQ(t->encoder->open(&e, &(struct vs_technique_context){.params = s.params,
                                                                     .setup = &setup,
                                                                     .port = &w}),
                 0);
        CHECK_ERR(t->encoder->consume(e, &(struct vs_slice){.events = &b}), VSE_INVAL);
        CHECK_EQ(t->address_decoder->open(&d, s.params, &setup, NULL, &reader), 0);
        CHECK_ERR(
            t->address_decoder->address(d, &(struct vs_address_operand){2, 0x100, 4, false}, &addr),
            VSE_INVAL);
        int err =
            t->address_decoder->address(d, &(struct vs_address_operand){1, 0x100, 4, false}, &addr);
        CHECK(err == -VSE_END || err == -VSE_TRUNCATED); /* a compressor's last packet is missing */
        t->encoder->close(e);
        t->address_decoder->close(d);
        vs_port_reader_fini(&reader);
        vs_port_writer_fini(&w);
    }
}

TEST(waits_for_other_cores)
{
    static struct run r = {.cores = 2};
    struct stream s;
    struct vs_port_reader reader;
    uint64_t addr;
    unsigned core;
    void *d;
    touch(&r, 1, 0x100, 0x40, false);
    touch(&r, 0, 0x100, 0x80, false);
    encode(&s, "daNX", &r, 64);
    const struct vs_address_decoder_ops *ops = s.spec.technique->address_decoder;
    CHECK_EQ(vs_port_reader_init(&reader, &s.shape,
                                 &(struct vs_port_stream){s.bits.data, s.bits.len, s.nbits}),
             0);
    CHECK_EQ(ops->open(&d, s.spec.params, &s.setup, NULL, &reader), 0);
    CHECK_EQ(ops->address(d, &(struct vs_address_operand){0, 0x100, 4, false}, &addr),
             VS_DECODER_WAIT);
    CHECK_EQ(ops->turn(d, &core), 0);
    CHECK_EQ(core, 1);
    CHECK_EQ(ops->address(d, &(struct vs_address_operand){1, 0x100, 4, false}, &addr), 0);
    CHECK_EQ(addr, 0x40);
    CHECK_EQ(ops->turn(d, &core), 0);
    CHECK_EQ(core, 0);
    CHECK_EQ(ops->address(d, &(struct vs_address_operand){0, 0x100, 4, false}, &addr), 0);
    CHECK_EQ(addr, 0x80);
    CHECK_ERR(ops->turn(d, &core), VSE_END);
    ops->close(d);
    vs_port_reader_fini(&reader);
    stream_free(&s);
}

TEST(finds_differences)
{
    static struct run r = {.cores = 1}, other;
    struct vs_verify_address v;
    struct stream s;
    for (unsigned i = 0; i < 10; i++)
        touch(&r, 0, 0x100, 0x1000 + 8 * i, i % 2);
    encode(&s, "ADAC", &r, 64);
    other = r;
    other.events[7].addr += 8;
    for (unsigned by_turns = 0; by_turns < 2; by_turns++) {
        CHECK_ERR(verify(&s, &other, s.nbits, by_turns, &v), VSE_CORRUPT);
        CHECK(v.c.differs);
        CHECK(strstr(v.c.diag.text, "event 7"));
        CHECK(strstr(v.c.diag.text, "store differs: 0x1038, not 0x1040"));
    }
    other = r;
    other.count--;
    for (unsigned by_turns = 0; by_turns < 2; by_turns++) {
        CHECK_ERR(verify(&s, &other, s.nbits, by_turns, &v), VSE_CORRUPT);
        CHECK(!v.c.differs);
    }
    CHECK_ERR(verify(&s, &r, s.nbits - 1, false, &v), VSE_TRUNCATED);
    other.count = 0;
    CHECK_ERR(verify(&s, &other, 0, true, &v), VSE_NOTFOUND);
    stream_free(&s);
}

/* ---- round trips ----------------------------------------------------------------------------- */

static void random_run(struct run *r, struct rng *rng)
{
    uint64_t last[8] = {0};
    r->count = 0;
    r->cores = 1 + (unsigned)rng_below(rng, 8);
    r->timed = rng_below(rng, 2);
    size_t count = 1 + rng_below(rng, 1500);
    for (size_t i = 0; i < count; i++) {
        unsigned core = (unsigned)rng_below(rng, r->cores);
        switch (rng_below(rng, 6)) {
        case 0:
            last[core] = rng_next(rng);
            break;
        case 1:
            last[core] ^= UINT64_C(1) << rng_below(rng, 20);
            break;
        case 2:
            last[core] = last[rng_below(rng, 8)];
            break;
        default:
            last[core] += 8;
        }
        touch(r, core, 0x1000 + 2 * rng_below(rng, 40), last[core], rng_below(rng, 2));
        r->events[r->count - 1].size = (uint16_t)(1 + rng_below(rng, rng_below(rng, 2) ? 8 : 70));
    }
}

static void random_params(struct vs_technique_spec *s, const struct vs_technique *t,
                          struct rng *rng)
{
    do {
        CHECK_EQ(vs_technique_defaults(s, t), 0);
        for (const struct vs_parameter *p = t->parameters; p->name; p++) {
            char text[32];
            uint64_t most = p->max > 64 ? 64 : p->max, words = 0;
            while (p->words && p->words[words])
                words++;
            uint64_t v = p->power ? UINT64_C(1) << rng_below(rng, 5)
                                  : p->min + rng_below(rng, most - p->min + 1);
            snprintf(text, sizeof(text), "%llu", (unsigned long long)v);
            CHECK_EQ(vs_technique_set(s, p->name, p->words ? p->words[rng_below(rng, words)] : text,
                                      NULL),
                     0);
        }
    } while (vs_technique_check(s, NULL));
}

TEST(decodes_random_runs_with_random_parameters)
{
    static struct run r;
    struct rng rng = {.state = 20261};
    for (size_t i = 0; vs_techniques[i]; i++) {
        if (!(vs_techniques[i]->serves & VS_TECHNIQUE_ADDRESS))
            continue;
        for (unsigned round = 0; round < 40; round += unittest_every(5)) {
            struct stream s = {0};
            random_run(&r, &rng);
            s.setup = (struct vs_technique_setup){
                .cores = r.cores, .address_bits = round % 4 ? 64 : 32, .timed = r.timed};
            for (size_t k = 0; k < r.count && s.setup.address_bits == 32; k++)
                r.events[k].addr &= UINT32_MAX;
            random_params(&s.spec, vs_techniques[i], &rng);
            encode_spec(&s, &r, 1 + rng_below(&rng, 500));
            check_decodes(&s, &r);
            stream_free(&s);
        }
    }
}

TEST(names_errors_of_damaged_streams)
{
    static struct run r;
    struct rng rng = {.state = 7};
    unsigned named = 0;
    for (size_t i = 0; vs_techniques[i]; i++) {
        if (!(vs_techniques[i]->serves & VS_TECHNIQUE_ADDRESS))
            continue;
        for (unsigned round = 0; round < 40; round += unittest_every(5)) {
            struct stream s = {0};
            struct vs_verify_address v;
            random_run(&r, &rng);
            s.setup =
                (struct vs_technique_setup){.cores = r.cores, .address_bits = 64, .timed = r.timed};
            CHECK_EQ(vs_technique_defaults(&s.spec, vs_techniques[i]), 0);
            encode_spec(&s, &r, r.count);
            s.bits.data[rng_below(&rng, s.bits.len)] ^= (uint8_t)(1 << rng_below(&rng, 8));
            int err = verify(&s, &r, s.nbits, round % 2, &v);
            if (err) { /* the last byte's padding, or a cycle, does not show */
                CHECK(err == -VSE_CORRUPT || err == -VSE_TRUNCATED || err == -VSE_END);
                CHECK(v.c.diag.text[0]);
                named++;
            }
            stream_free(&s);
        }
    }
    CHECK(named > 50 / unittest_every(5));
}
