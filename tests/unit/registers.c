/* SPDX-License-Identifier: MIT */
#include "isa/registers.h"

#include <string.h>

#include "isa/isa.h"
#include "unittest.h"
#include "vestige/event.h"

static const char *const isas[] = {"rv64", "x86-64"};

TEST(names_registers_once_and_features_in_order)
{
    for (unsigned k = 0; k < 2; k++) {
        const struct vs_register_set *set = vs_isa_find(isas[k])->registers;
        unsigned feature = 0;

        for (unsigned i = 0; i < set->count; i++) {
            const struct vs_register *r = &set->list[i];
            bool pairs = r->bits & VS_REGISTER_PAIRS;
            unsigned bits = !r->bits ? 8u * r->size : pairs ? r->bits % 256 * 2 : r->bits;

            CHECK(vs_register_find(set, r->name) == r);
            CHECK(r->feature == feature || r->feature == feature + 1);
            feature = r->feature;
            CHECK(r->size && bits <= 8u * r->size && (r->from + bits + 7) / 8 <= VS_REGISTER_BYTES);
        }
        CHECK_EQ(feature + 1, set->feature_count);
        CHECK(vs_register_find(set, "nobody") == NULL);
    }
}

/* What operands are called is among the registers, under the number that DWARF has for it. */
TEST(knows_the_registers_of_operands)
{
    static const char *const names[2][3] = {{"ra", "a0", "t6"}, {"rcx", "rdi", "r15"}};
    static const uint8_t numbers[2][3] = {{1, 10, 31}, {1, 7, 15}};

    for (unsigned k = 0; k < 2; k++) {
        const struct vs_isa *isa = vs_isa_find(isas[k]);

        for (unsigned i = 0; i < 3; i++) {
            const struct vs_register *r = vs_register_find(isa->registers, names[k][i]);

            CHECK(r && vs_register_is_whole(r) && r->size == 8);
            CHECK_EQ(isa->dwarf[r->number], numbers[k][i]);
        }
    }
}

static uint64_t cut(const char *isa, const char *name, const uint8_t *whole, size_t width)
{
    const struct vs_register *r = vs_register_find(vs_isa_find(isa)->registers, name);
    uint8_t bytes[VS_REGISTER_BYTES];
    uint64_t low;

    memset(bytes, 0xee, sizeof(bytes));
    vs_register_cut(r, whole, width, bytes);
    CHECK(r->size == VS_REGISTER_BYTES || bytes[r->size] == 0xee);
    low = 0;
    memcpy(&low, bytes, r->size < 8 ? r->size : 8);
    return low;
}

TEST(cuts_registers_out_of_others)
{
    uint8_t whole[32];

    for (unsigned i = 0; i < 32; i++)
        whole[i] = (uint8_t)(i + 1);
    CHECK_EQ(cut("rv64", "fflags", (const uint8_t[]){0xb7, 0, 0, 0}, 4), 0x17);
    CHECK_EQ(cut("rv64", "frm", (const uint8_t[]){0xb7, 0, 0, 0}, 4), 5);
    CHECK_EQ(cut("rv64", "fcsr", (const uint8_t[]){0xb7, 0, 0, 0}, 4), 0xb7);
    CHECK_EQ(cut("rv64", "pc", whole, 8), 0x0807060504030201);
    CHECK_EQ(cut("x86-64", "xmm3", whole, 32), 0x0807060504030201);
    CHECK_EQ(cut("x86-64", "ymm3h", whole, 32), 0x1817161514131211);
    CHECK_EQ(cut("x86-64", "ymm3h", whole, 16), 0);
    CHECK_EQ(cut("x86-64", "eflags", whole, 8), 0x04030201);
    CHECK_EQ(cut("x86-64", "ftag", (const uint8_t[]){0x81, 0}, 2), 0x3ffc);
    CHECK_EQ(cut("x86-64", "orig_rax", whole, 0), UINT64_MAX);
}

TEST(tells_whole_registers_from_parts)
{
    const struct vs_register_set *rv64 = vs_isa_find("rv64")->registers;
    const struct vs_register_set *x86 = vs_isa_find("x86-64")->registers;

    CHECK(vs_register_is_whole(vs_register_find(rv64, "fcsr")));
    CHECK(vs_register_is_whole(vs_register_find(rv64, "pc")));
    CHECK_EQ(vs_register_find(rv64, "pc")->number, VS_REG_PC);
    CHECK(!vs_register_is_whole(vs_register_find(rv64, "frm")));
    CHECK(!vs_register_is_whole(vs_register_find(x86, "xmm0")));
    CHECK(!vs_register_is_whole(vs_register_find(x86, "ymm0h")));
    CHECK(!vs_register_is_whole(vs_register_find(x86, "ftag")));
    CHECK(!vs_register_is_whole(vs_register_find(x86, "orig_rax")));
    CHECK(!vs_register_is_whole(vs_register_find(x86, "fop"))); /* nothing tells of it */
    CHECK_EQ(vs_register_find(x86, "fop")->number, VS_REGISTER_NONE);
}
