/* SPDX-License-Identifier: MIT */
#include "isa/rv64/rv64.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rng.h"
#include "unittest.h"

#define PC UINT64_C(0x10430)

enum {
    COND = VS_BR_COND,
    CALL = VS_BR_CALL,
    IJUMP = VS_BR_INDIRECT,
    ICALL = VS_BR_INDIRECT | VS_BR_CALL,
    RET = VS_BR_INDIRECT | VS_BR_RETURN,
    RET_CALL = VS_BR_INDIRECT | VS_BR_RETURN | VS_BR_CALL,
};

static struct vs_rv64_insn decode(uint32_t word)
{
    struct vs_rv64_insn insn;
    if (vs_rv64_insn_decode(word, &insn))
        unittest_fail(__FILE__, __LINE__, "%08x does not decode", word);
    return insn;
}

/* ---- the list ------------------------------------------------------------------------------- */

TEST(has_rows_whose_match_lies_within_the_mask)
{
    for (unsigned op = 0; op < VS_RV64_OPS; op++) {
        const struct vs_rv64_row *row = vs_rv64_row(op);
        CHECK_EQ(row->match & ~row->mask, 0);
        CHECK_EQ(row->match & 3, 3);
        CHECK((row->mask & 0x7f) == 0x7f);
    }
}

TEST(has_no_two_rows_for_one_word)
{
    for (unsigned a = 0; a < VS_RV64_OPS; a++)
        for (unsigned b = 0; b < a; b++) {
            const struct vs_rv64_row *ra = vs_rv64_row(a), *rb = vs_rv64_row(b);
            uint32_t both = ra->mask & rb->mask;
            if ((ra->match & both) == (rb->match & both))
                unittest_fail(__FILE__, __LINE__, "%s and %s", ra->mnemonic, rb->mnemonic);
        }
}

TEST(decodes_every_row_whatever_its_operands)
{
    struct rng rng = rng_init(1);
    for (unsigned op = 0; op < VS_RV64_OPS; op++)
        for (unsigned i = 0; i < 200; i++) {
            const struct vs_rv64_row *row = vs_rv64_row(op);
            uint32_t word = row->match | ((uint32_t)rng_next(&rng) & ~row->mask);
            struct vs_rv64_insn insn = decode(word);
            CHECK_EQ(insn.op, op);
            CHECK_EQ(insn.length, 4);
        }
}

/* Compressed rows, for which only the decoder's answers are at hand. */
static const struct {
    const char *name;
    uint16_t match, mask;
    uint16_t op;
} compressed[] = {
#define ROW(name, match, mask, format, expansion, needs) {#name, match, mask, VS_RV64_##expansion},
    VS_RV64C_LIST(ROW)
#undef ROW
};

TEST(decodes_a_compressed_word_only_as_a_row_that_matches_it)
{
    unsigned legal = 0;
    for (uint32_t word = 0; word < 65536; word++) {
        struct vs_rv64_insn insn;
        bool known = false;
        if ((word & 3) == 3 || vs_rv64_insn_decode(word, &insn))
            continue;
        for (size_t i = 0; i < sizeof(compressed) / sizeof(compressed[0]); i++)
            known |=
                (word & compressed[i].mask) == compressed[i].match && insn.op == compressed[i].op;
        CHECK(known);
        CHECK_EQ(insn.length, 2);
        legal++;
    }
    /* 3 * 2^14 words, without the 2409 reserved ones. */
    CHECK_EQ(legal, 46743);
}

TEST(reaches_every_compressed_row)
{
    for (size_t i = 0; i < sizeof(compressed) / sizeof(compressed[0]); i++) {
        unsigned hits = 0;
        CHECK_EQ(compressed[i].match & ~compressed[i].mask, 0);
        for (uint32_t word = 0; word < 65536; word++) {
            struct vs_rv64_insn insn;
            if ((word & compressed[i].mask) == compressed[i].match &&
                !vs_rv64_insn_decode(word, &insn) && insn.op == compressed[i].op)
                hits++;
        }
        if (!hits)
            unittest_fail(__FILE__, __LINE__, "%s never", compressed[i].name);
    }
}

TEST(refuses_reserved_words)
{
    static const uint32_t reserved[] = {
        0x0000,
        0x2001,
        0x6101,
        0x6001,
        0x4002,
        0x6002,
        0x8002,
        0x9c41,
        0x8000,
        0xffffffff,
        0x0000707f,
        0x00007003,
        0x00004023,
        0x00200073,
        0x10200073,
        0x30200073,
        0x02001013 | 0x08000000,
        0x000000f3,
        0x00008073,
        0x001000f3,
        0x10100073,
    };
    struct vs_rv64_insn insn;
    for (size_t i = 0; i < sizeof(reserved) / sizeof(reserved[0]); i++)
        if (vs_rv64_insn_decode(reserved[i], &insn) != -VSE_CORRUPT)
            unittest_fail(__FILE__, __LINE__, "%08x decodes", reserved[i]);
}

/* ---- fields --------------------------------------------------------------------------------- */

TEST(finds_the_fields_of_an_instruction)
{
    struct vs_rv64_insn insn = decode(0xff010113); /* addi sp,sp,-16 */
    CHECK(insn.op == VS_RV64_ADDI && insn.rd == 2 && insn.rs1 == 2 && insn.imm == -16);
    insn = decode(0x1af7b52f); /* sc.d.rl a0,a5,(a5) */
    CHECK(insn.op == VS_RV64_SC_D && insn.rd == 10 && insn.rs1 == 15 && insn.rs2 == 15 &&
          insn.aqrl == 1);
    insn = decode(0x6ac5f543); /* fmadd.d fa0,fa1,fa2,fa3 */
    CHECK(insn.op == VS_RV64_FMADD_D && insn.rd == 10 && insn.rs1 == 11 && insn.rs2 == 12 &&
          insn.rs3 == 13 && insn.rm == VS_RV64_DYN);
    insn = decode(0x80000537); /* lui a0,0x80000 */
    CHECK(insn.op == VS_RV64_LUI && insn.rd == 10 && insn.imm == INT32_MIN);
    insn = decode(0xc0102573); /* rdtime a0 */
    CHECK(insn.op == VS_RV64_CSRRS && insn.csr == VS_RV64_TIME && insn.rs1 == 0);
    insn = decode(0x0330000f); /* fence rw,rw */
    CHECK(insn.op == VS_RV64_FENCE && insn.imm == 0x33 && insn.rd == 0);
}

TEST(finds_memory_operands)
{
    struct vs_rv64_insn insn = decode(0xfec42783); /* lw a5,-20(s0) */
    struct vs_rv64_memory m = vs_rv64_memory(&insn);
    CHECK(m.load && !m.store && !m.atomic && m.size == 4 && m.base == 8 && m.offset == -20);
    insn = decode(0xe406); /* sd ra,8(sp) */
    m = vs_rv64_memory(&insn);
    CHECK(!m.load && m.store && !m.atomic && m.size == 8 && m.base == 2 && m.offset == 8);
    insn = decode(0x00c5b52f); /* amoadd.d a0,a2,(a1) */
    m = vs_rv64_memory(&insn);
    CHECK(m.load && m.store && m.atomic && m.size == 8 && m.base == 11 && m.offset == 0);
    insn = decode(0x1005a52f); /* lr.w a0,(a1) */
    m = vs_rv64_memory(&insn);
    CHECK(m.load && !m.store && m.atomic && m.size == 4);
    insn = decode(0x00054503); /* lbu a0,0(a0) */
    CHECK_EQ(vs_rv64_memory(&insn).size, 1);
    insn = decode(0x00b51023); /* sh a1,0(a0) */
    CHECK_EQ(vs_rv64_memory(&insn).size, 2);
    insn = decode(0x00053507); /* fld fa0,0(a0) */
    CHECK_EQ(vs_rv64_memory(&insn).size, 8);
    insn = decode(0x00a5f533); /* and a0,a1,a0 */
    CHECK_EQ(vs_rv64_memory(&insn).size, 0);
}

/* ---- classes -------------------------------------------------------------------------------- */

static struct vs_insn classify(uint32_t word)
{
    uint8_t bytes[4];
    struct vs_insn insn, untouched;
    size_t length = (word & 3) == 3 ? 4 : 2;
    memcpy(bytes, &word, sizeof(bytes));
    memset(&untouched, 0xa5, sizeof(untouched));
    for (size_t cut = 0; cut < length; cut++) {
        memcpy(&insn, &untouched, sizeof(insn));
        CHECK_ERR(vs_rv64_decode(bytes, cut, PC, &insn), VSE_TRUNCATED);
        CHECK_MEM(&insn, &untouched, sizeof(insn));
    }
    CHECK_EQ(vs_rv64_decode(bytes, length, PC, &insn), 0);
    CHECK_EQ(insn.length, length);
    return insn;
}

static void is_branch(uint32_t word, unsigned flags, uint64_t target)
{
    struct vs_insn insn = classify(word);
    if (insn.kind != VS_INSN_BRANCH || insn.branch != flags || insn.target != target ||
        insn.repeat || insn.locked)
        unittest_fail(__FILE__, __LINE__, "%08x has kind %u, branch %u, target %#" PRIx64, word,
                      insn.kind, insn.branch, insn.target);
    CHECK_EQ(vs_insn_is_direct(&insn), !(flags & VS_BR_INDIRECT));
}

static void is_kind(uint32_t word, unsigned kind, bool locked)
{
    struct vs_insn insn = classify(word);
    if (insn.kind != kind || insn.branch || insn.target || insn.repeat || insn.locked != locked)
        unittest_fail(__FILE__, __LINE__, "%08x has kind %u, branch %u, locked %d", word, insn.kind,
                      insn.branch, insn.locked);
}

static uint32_t jalr(unsigned rd, unsigned rs1)
{
    return 0x67 | rd << 7 | rs1 << 15;
}

TEST(knows_calls_and_returns_by_the_manuals_hints)
{
    for (unsigned rd = 0; rd < 32; rd++)
        for (unsigned rs1 = 0; rs1 < 32; rs1++) {
            bool link_d = rd == 1 || rd == 5, link_s = rs1 == 1 || rs1 == 5;
            unsigned flags = !link_d && !link_s ? IJUMP
                             : !link_d          ? RET
                             : !link_s          ? ICALL
                             : rd != rs1        ? RET_CALL
                                                : ICALL;
            is_branch(jalr(rd, rs1), flags, 0);
        }
    is_branch(0x8082, RET, 0);   /* ret */
    is_branch(0x8782, IJUMP, 0); /* jr a5 */
    is_branch(0x9782, ICALL, 0); /* jalr a5 */
    is_branch(0x9282, RET_CALL, 0);
    is_branch(0x9082, ICALL, 0);
}

TEST(knows_direct_jumps_and_calls)
{
    is_branch(0x008000ef, CALL, PC + 8);
    is_branch(0x008002ef, CALL, PC + 8);
    is_branch(0x0080006f, 0, PC + 8);
    is_branch(0x0080016f, 0, PC + 8);
    is_branch(0xffdff06f, 0, PC - 4);
    is_branch(0x8000006f, 0, PC - 0x100000);
    is_branch(0x7ffff06f, 0, PC + 0xffffe);
    is_branch(0xa001, 0, PC);
    is_branch(0xbffd, 0, PC - 2);
    is_branch(0xb001, 0, PC - 0x800);
    is_branch(0xaffd, 0, PC + 0x7fe);
}

TEST(knows_conditional_branches)
{
    static const unsigned functs[] = {0, 1, 4, 5, 6, 7};
    for (size_t i = 0; i < 6; i++) {
        is_branch(0x00b50463 | functs[i] << 12, COND, PC + 8);
        is_branch(0x80000063 | functs[i] << 12, COND, PC - 4096);
        is_branch(0x7e000fe3 | functs[i] << 12, COND, PC + 4094);
    }
    is_branch(0xc119, COND, PC + 6);
    is_branch(0xf101, COND, PC - 256);
    is_branch(0xedfd, COND, PC + 0xfe);
}

TEST(knows_system_calls_and_what_comes_from_outside)
{
    is_kind(0x00000073, VS_INSN_SYSCALL, false);
    is_kind(0x00100073, VS_INSN_PLAIN, false);
    is_kind(0x9002, VS_INSN_PLAIN, false);
    is_kind(0xc0002573, VS_INSN_NONDET, false); /* rdcycle */
    is_kind(0xc0102573, VS_INSN_NONDET, false); /* rdtime */
    is_kind(0xc0202573, VS_INSN_NONDET, false); /* rdinstret */
    is_kind(0xc0302573, VS_INSN_NONDET, false); /* hpmcounter3 */
    is_kind(0xc0001073, VS_INSN_PLAIN, false);  /* unimp */
    is_kind(0x00302573, VS_INSN_PLAIN, false);  /* frcsr */
    is_kind(0x18b6252f, VS_INSN_NONDET, true);  /* sc.w */
    is_kind(0x18b6352f, VS_INSN_NONDET, true);
    is_kind(0x1006252f, VS_INSN_PLAIN, true); /* lr.w */
    is_kind(0x00b6252f, VS_INSN_PLAIN, true); /* amoadd.w */
    is_kind(0x0ff0000f, VS_INSN_PLAIN, false);
    is_kind(0x0000100f, VS_INSN_PLAIN, false);
}

TEST(refuses_instructions_longer_than_four_bytes)
{
    const uint8_t bytes[] = {0x1f, 0, 0, 0, 0, 0};
    struct vs_insn insn;
    char text[VS_RV64_TEXT_MAX];
    for (size_t size = 2; size <= sizeof(bytes); size++) {
        CHECK_ERR(vs_rv64_decode(bytes, size, PC, &insn), VSE_CORRUPT);
        CHECK_ERR(vs_rv64_format(bytes, size, PC, text, sizeof(text)), VSE_CORRUPT);
    }
}

/* ---- text ----------------------------------------------------------------------------------- */

static const char *format(uint32_t word)
{
    static char text[VS_RV64_TEXT_MAX];
    uint8_t bytes[4];
    memcpy(bytes, &word, sizeof(bytes));
    int n = vs_rv64_format(bytes, (word & 3) == 3 ? 4 : 2, PC, text, sizeof(text));
    CHECK(n > 0 && (size_t)n == strlen(text));
    return text;
}

TEST(writes_what_objdump_would)
{
    CHECK_STR(format(0x8082), "ret");
    CHECK_STR(format(0x0001), "nop");
    CHECK_STR(format(0x0000), "unimp");
    CHECK_STR(format(0x0005), "c.nop 1");
    CHECK_STR(format(0xc0001073), "unimp");
    CHECK_STR(format(0x7131), "add sp,sp,-192");
    CHECK_STR(format(0x008000ef), "jal 10438");
    CHECK_STR(format(0x00008567), "jalr a0,ra");
    CHECK_STR(format(0xfec42783), "lw a5,-20(s0)");
    CHECK_STR(format(0x0330000f), "fence rw,rw");
    CHECK_STR(format(0x0ff0000f), "fence");
    CHECK_STR(format(0x8330000f), "fence.tso");
    CHECK_STR(format(0x1ef7b52f), "sc.d.aqrl a0,a5,(a5)");
    CHECK_STR(format(0x02a59553), "fadd.d fa0,fa1,fa0,rtz");
    CHECK_STR(format(0xc0102573), "rdtime a0");
    CHECK_STR(format(0x00302573), "frcsr a0");
    CHECK_STR(format(0x22a50553), "fmv.d fa0,fa0");
}

TEST(says_when_a_text_does_not_fit)
{
    const uint8_t bytes[] = {0x82, 0x80};
    char text[8];
    memset(text, 'x', sizeof(text));
    for (size_t capacity = 0; capacity < 4; capacity++) {
        CHECK_ERR(vs_rv64_format(bytes, 2, PC, text, capacity), VSE_LIMIT);
        CHECK_EQ(text[capacity], 'x');
    }
    CHECK_EQ(vs_rv64_format(bytes, 2, PC, text, 4), 3);
}

TEST(has_a_short_text_for_every_row)
{
    struct rng rng = rng_init(2);
    for (unsigned op = 0; op < VS_RV64_OPS; op++)
        for (unsigned i = 0; i < 200; i++) {
            const struct vs_rv64_row *row = vs_rv64_row(op);
            CHECK(strlen(format(row->match | ((uint32_t)rng_next(&rng) & ~row->mask))) < 48);
        }
}

/* ---- against objdump ------------------------------------------------------------------------ */

/* Cuts what objdump adds to the text: names of targets, remarks. Tabs become blanks. */
static void plain_text(char *text)
{
    static const char *const additions[] = {" <", "\t#", " #", "\n"};
    for (size_t i = 0; i < sizeof(additions) / sizeof(additions[0]); i++) {
        char *at = strstr(text, additions[i]);
        if (at)
            *at = 0;
    }
    for (char *c = text; *c; c++)
        if (*c == '\t')
            *c = ' ';
    for (size_t n = strlen(text); n && text[n - 1] == ' '; n--)
        text[n - 1] = 0;
}

/* A line `   10430:\t8082                \tret`. Whether it is one. */
static bool split_line(char *line, uint64_t *pc, uint32_t *word, size_t *size, char **text)
{
    char *end, *hex;
    *pc = strtoull(line, &end, 16);
    if (end == line || end[0] != ':' || end[1] != '\t')
        return false;
    hex = end + 2;
    *word = (uint32_t)strtoul(hex, &end, 16);
    *size = (size_t)(end - hex) / 2;
    *text = strchr(end, '\t');
    if (end == hex || !*text)
        return false;
    ++*text;
    plain_text(*text);
    return true;
}

/* Compares every line of a listing; the number of them. */
static unsigned long compare_listing(FILE *in)
{
    char line[512], *want, got[VS_RV64_TEXT_MAX];
    unsigned long count = 0;
    uint64_t pc;
    uint32_t word;
    size_t size;
    while (fgets(line, sizeof(line), in)) {
        if (!split_line(line, &pc, &word, &size, &want))
            continue;
        int n = vs_rv64_format((const uint8_t *)&word, size, pc, got, sizeof(got));
        if (n < 0 || strcmp(got, want))
            unittest_fail(__FILE__, __LINE__, "%" PRIx64 " %08x: '%s', objdump has '%s'", pc, word,
                          n < 0 ? vs_errname(n) : got, want);
        count++;
    }
    return count;
}

/* Fields that objdump insists on where processors do not look. */
static uint32_t as_objdump_wants(uint32_t word, const struct vs_rv64_row *row, struct rng *r)
{
    static const uint32_t csrs[] = {1, 2, 3, 0xc00, 0xc01, 0xc02, 0xc03, 0xc1f};
    if (row->class == VS_RV64_CLASS_FENCEI)
        return row->match;
    if (row->class == VS_RV64_CLASS_FENCE)
        return word & 0x0ff0707f;
    if (row->class == VS_RV64_CLASS_CSR)
        return (word & 0xfffff) | csrs[rng_below(r, 8)] << 20;
    struct vs_rv64_insn insn = decode(word);
    if (insn.op == VS_RV64_FCVT_D_W || insn.op == VS_RV64_FCVT_D_WU || insn.op == VS_RV64_FCVT_D_S)
        return word & ~UINT32_C(0x7000);
    return word;
}

/* Random operands, and often those for which there are aliases. */
static uint32_t random_word(const struct vs_rv64_row *row, struct rng *r)
{
    uint32_t word = (uint32_t)rng_next(r);
    if (rng_below(r, 4) == 0)
        word &= ~UINT32_C(0xf80);
    if (rng_below(r, 4) == 0)
        word = (word & ~UINT32_C(0xf80)) | 0x80;
    if (rng_below(r, 4) == 0)
        word &= ~UINT32_C(0xf8000);
    if (rng_below(r, 4) == 0)
        word = (word & ~UINT32_C(0xf8000)) | 0x8000;
    if (rng_below(r, 4) == 0)
        word = (word & 0xfe0fffff) | (word >> 15 & 31) << 20;
    if (rng_below(r, 6) == 0)
        word &= 0xfffff;
    if (rng_below(r, 6) == 0)
        word = (word & 0xfffff) | (uint32_t)(0xff1000 >> 8 * rng_below(r, 3) & 0xfff) << 20;
    if (rng_below(r, 4) == 0)
        word |= 0x7000;
    return as_objdump_wants((word & ~row->mask) | row->match, row, r);
}

TEST(agrees_with_objdump_on_every_row)
{
    const char *tmp = getenv("TMPDIR");
    char path[256], command[1024];
    struct rng r = rng_init(3);
    struct vs_rv64_insn insn;
    unsigned long words = 0;
    snprintf(path, sizeof(path), "%s/rows.%d", tmp ? tmp : "/tmp", (int)getpid());
    snprintf(command, sizeof(command),
             "riscv64-linux-gnu-as -march=rv64gc_zba_zbb_zbs -o '%s.o' && "
             "riscv64-linux-gnu-ld -Ttext=0x100000 -e 0x100000 -o '%s' '%s.o'",
             path, path, path);
    FILE *out = popen(command, "w");
    CHECK(out);
    fputs("start:\n", out);
    for (unsigned op = 0; op < VS_RV64_OPS; op++)
        for (unsigned i = 0; i < 100; i++, words++)
            fprintf(out, ".insn 4, 0x%x\n", random_word(vs_rv64_row(op), &r));
    for (uint32_t word = 0; word < 65536; word++)
        if ((word & 3) != 3 && !vs_rv64_insn_decode(word, &insn)) {
            fprintf(out, ".insn 2, 0x%x\n", word);
            words++;
        }
    CHECK_EQ(pclose(out), 0);
    snprintf(command, sizeof(command), "riscv64-linux-gnu-objdump -d '%s'; rm '%s' '%s.o'", path,
             path, path);
    FILE *in = popen(command, "r");
    CHECK(in);
    CHECK_EQ(compare_listing(in), words);
    CHECK_EQ(pclose(in), 0);
}

static void agrees_on(const char *program)
{
    char name[64], path[PATH_MAX], command[PATH_MAX + 64];
    snprintf(name, sizeof(name), "workloads/rv64/%s", program);
    unittest_built(name, path);
    snprintf(command, sizeof(command), "riscv64-linux-gnu-objdump -d '%s'", path);
    FILE *in = popen(command, "r");
    CHECK(in);
    unsigned long count = compare_listing(in);
    CHECK_EQ(pclose(in), 0);
    CHECK(count > 100000);
}

TEST(agrees_with_objdump_on_barnes)
{
    agrees_on("barnes");
}

TEST(agrees_with_objdump_on_radiosity)
{
    agrees_on("radiosity");
}

TEST(agrees_with_objdump_on_sha)
{
    agrees_on("sha");
}
