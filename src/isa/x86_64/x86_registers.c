/* SPDX-License-Identifier: MIT */
#include "isa/registers.h"
#include "isa/x86_64/x86.h"
#include "vestige/event.h"

enum { CORE, SSE, LINUX, SEGMENTS, AVX };

/* A run has the 32 bytes of ymm0 and so on under the number of xmm0, and only those x87 words that
 * programs set. */
static const struct vs_register list[] = {
    {"rax", "int64", 0, 0, 0, 8, CORE},
    {"rbx", "int64", 3, 0, 0, 8, CORE},
    {"rcx", "int64", 2, 0, 0, 8, CORE},
    {"rdx", "int64", 1, 0, 0, 8, CORE},
    {"rsi", "int64", 4, 0, 0, 8, CORE},
    {"rdi", "int64", 5, 0, 0, 8, CORE},
    {"rbp", "data_ptr", 6, 0, 0, 8, CORE},
    {"rsp", "data_ptr", 7, 0, 0, 8, CORE},
    {"r8", "int64", 8, 0, 0, 8, CORE},
    {"r9", "int64", 9, 0, 0, 8, CORE},
    {"r10", "int64", 10, 0, 0, 8, CORE},
    {"r11", "int64", 11, 0, 0, 8, CORE},
    {"r12", "int64", 12, 0, 0, 8, CORE},
    {"r13", "int64", 13, 0, 0, 8, CORE},
    {"r14", "int64", 14, 0, 0, 8, CORE},
    {"r15", "int64", 15, 0, 0, 8, CORE},
    {"rip", "code_ptr", VS_REG_PC, 0, 0, 8, CORE},
    {"eflags", "i386_eflags", VS_X86_REG_RFLAGS, 0, 0, 4, CORE},
    {"cs", "int32", 51, 0, 0, 4, CORE},
    {"ss", "int32", 52, 0, 0, 4, CORE},
    {"ds", "int32", 53, 0, 0, 4, CORE},
    {"es", "int32", 50, 0, 0, 4, CORE},
    {"fs", "int32", 54, 0, 0, 4, CORE},
    {"gs", "int32", 55, 0, 0, 4, CORE},
    {"st0", "i387_ext", VS_X86_REG_ST0 + 0, 0, 0, 10, CORE},
    {"st1", "i387_ext", VS_X86_REG_ST0 + 1, 0, 0, 10, CORE},
    {"st2", "i387_ext", VS_X86_REG_ST0 + 2, 0, 0, 10, CORE},
    {"st3", "i387_ext", VS_X86_REG_ST0 + 3, 0, 0, 10, CORE},
    {"st4", "i387_ext", VS_X86_REG_ST0 + 4, 0, 0, 10, CORE},
    {"st5", "i387_ext", VS_X86_REG_ST0 + 5, 0, 0, 10, CORE},
    {"st6", "i387_ext", VS_X86_REG_ST0 + 6, 0, 0, 10, CORE},
    {"st7", "i387_ext", VS_X86_REG_ST0 + 7, 0, 0, 10, CORE},
    {"fctrl", "int", VS_X86_REG_FCW, 0, 0, 4, CORE},
    {"fstat", "int", VS_X86_REG_FSW, 0, 0, 4, CORE},
    {"ftag", "int", VS_X86_REG_FTAG, 0, 8 | VS_REGISTER_PAIRS, 4, CORE},
    {"fiseg", "int", VS_REGISTER_NONE, 0, 0, 4, CORE},
    {"fioff", "int", VS_REGISTER_NONE, 0, 0, 4, CORE},
    {"foseg", "int", VS_REGISTER_NONE, 0, 0, 4, CORE},
    {"fooff", "int", VS_REGISTER_NONE, 0, 0, 4, CORE},
    {"fop", "int", VS_REGISTER_NONE, 0, 0, 4, CORE},
    {"xmm0", "vec128", VS_X86_REG_XMM0 + 0, 0, 128, 16, SSE},
    {"xmm1", "vec128", VS_X86_REG_XMM0 + 1, 0, 128, 16, SSE},
    {"xmm2", "vec128", VS_X86_REG_XMM0 + 2, 0, 128, 16, SSE},
    {"xmm3", "vec128", VS_X86_REG_XMM0 + 3, 0, 128, 16, SSE},
    {"xmm4", "vec128", VS_X86_REG_XMM0 + 4, 0, 128, 16, SSE},
    {"xmm5", "vec128", VS_X86_REG_XMM0 + 5, 0, 128, 16, SSE},
    {"xmm6", "vec128", VS_X86_REG_XMM0 + 6, 0, 128, 16, SSE},
    {"xmm7", "vec128", VS_X86_REG_XMM0 + 7, 0, 128, 16, SSE},
    {"xmm8", "vec128", VS_X86_REG_XMM0 + 8, 0, 128, 16, SSE},
    {"xmm9", "vec128", VS_X86_REG_XMM0 + 9, 0, 128, 16, SSE},
    {"xmm10", "vec128", VS_X86_REG_XMM0 + 10, 0, 128, 16, SSE},
    {"xmm11", "vec128", VS_X86_REG_XMM0 + 11, 0, 128, 16, SSE},
    {"xmm12", "vec128", VS_X86_REG_XMM0 + 12, 0, 128, 16, SSE},
    {"xmm13", "vec128", VS_X86_REG_XMM0 + 13, 0, 128, 16, SSE},
    {"xmm14", "vec128", VS_X86_REG_XMM0 + 14, 0, 128, 16, SSE},
    {"xmm15", "vec128", VS_X86_REG_XMM0 + 15, 0, 128, 16, SSE},
    {"mxcsr", "i386_mxcsr", VS_X86_REG_MXCSR, 0, 0, 4, SSE},
    {"orig_rax", "int", VS_REGISTER_ONES, 0, 0, 8, LINUX}, /* it is in no system call */
    {"fs_base", "int", VS_X86_REG_FS_BASE, 0, 0, 8, SEGMENTS},
    {"gs_base", "int", VS_X86_REG_GS_BASE, 0, 0, 8, SEGMENTS},
    {"ymm0h", "uint128", VS_X86_REG_XMM0 + 0, 128, 128, 16, AVX},
    {"ymm1h", "uint128", VS_X86_REG_XMM0 + 1, 128, 128, 16, AVX},
    {"ymm2h", "uint128", VS_X86_REG_XMM0 + 2, 128, 128, 16, AVX},
    {"ymm3h", "uint128", VS_X86_REG_XMM0 + 3, 128, 128, 16, AVX},
    {"ymm4h", "uint128", VS_X86_REG_XMM0 + 4, 128, 128, 16, AVX},
    {"ymm5h", "uint128", VS_X86_REG_XMM0 + 5, 128, 128, 16, AVX},
    {"ymm6h", "uint128", VS_X86_REG_XMM0 + 6, 128, 128, 16, AVX},
    {"ymm7h", "uint128", VS_X86_REG_XMM0 + 7, 128, 128, 16, AVX},
    {"ymm8h", "uint128", VS_X86_REG_XMM0 + 8, 128, 128, 16, AVX},
    {"ymm9h", "uint128", VS_X86_REG_XMM0 + 9, 128, 128, 16, AVX},
    {"ymm10h", "uint128", VS_X86_REG_XMM0 + 10, 128, 128, 16, AVX},
    {"ymm11h", "uint128", VS_X86_REG_XMM0 + 11, 128, 128, 16, AVX},
    {"ymm12h", "uint128", VS_X86_REG_XMM0 + 12, 128, 128, 16, AVX},
    {"ymm13h", "uint128", VS_X86_REG_XMM0 + 13, 128, 128, 16, AVX},
    {"ymm14h", "uint128", VS_X86_REG_XMM0 + 14, 128, 128, 16, AVX},
    {"ymm15h", "uint128", VS_X86_REG_XMM0 + 15, 128, 128, 16, AVX},
};

/* These are as in gdb's own descriptions. */
#define BIT(name, at)           "<field name=\"" name "\" start=\"" at "\" end=\"" at "\"/>"
#define VECTOR(id, type, count) "<vector id=\"" id "\" type=\"" type "\" count=\"" count "\"/>\n"
#define FIELD(name, type)       "<field name=\"" name "\" type=\"" type "\"/>"

/* clang-format off */
static const struct vs_register_feature features[] = {
    [CORE] = {"org.gnu.gdb.i386.core",
    "<flags id=\"i386_eflags\" size=\"4\">"
    BIT("CF", "0")
    BIT("", "1")
    BIT("PF", "2")
    BIT("AF", "4")
    BIT("ZF", "6")
    BIT("SF", "7")
    BIT("TF", "8")
    BIT("IF", "9")
    BIT("DF", "10")
    BIT("OF", "11")
    BIT("NT", "14")
    BIT("RF", "16")
    BIT("VM", "17")
    BIT("AC", "18")
    BIT("VIF", "19")
    BIT("VIP", "20")
    BIT("ID", "21")
    "</flags>\n"},
    [SSE] = {"org.gnu.gdb.i386.sse",
    VECTOR("v4f", "ieee_single", "4") VECTOR("v2d", "ieee_double", "2")
    VECTOR("v16i8", "int8", "16") VECTOR("v8i16", "int16", "8")
    VECTOR("v4i32", "int32", "4") VECTOR("v2i64", "int64", "2")
    "<union id=\"vec128\">"
    FIELD("v4_float", "v4f") FIELD("v2_double", "v2d") FIELD("v16_int8", "v16i8")
    FIELD("v8_int16", "v8i16") FIELD("v4_int32", "v4i32") FIELD("v2_int64", "v2i64")
    FIELD("uint128", "uint128")
    "</union>\n"
    "<flags id=\"i386_mxcsr\" size=\"4\">"
    BIT("IE", "0")
    BIT("DE", "1")
    BIT("ZE", "2")
    BIT("OE", "3")
    BIT("UE", "4")
    BIT("PE", "5")
    BIT("DAZ", "6")
    BIT("IM", "7")
    BIT("DM", "8")
    BIT("ZM", "9")
    BIT("OM", "10")
    BIT("UM", "11")
    BIT("PM", "12")
    BIT("FZ", "15")
    "</flags>\n"},
    [LINUX] = {"org.gnu.gdb.i386.linux", ""},
    [SEGMENTS] = {"org.gnu.gdb.i386.segments", ""},
    [AVX] = {"org.gnu.gdb.i386.avx", ""},
};
/* clang-format on */

const struct vs_register_set vs_x86_registers = {
    .architecture = "i386:x86-64",
    .list = list,
    .count = sizeof(list) / sizeof(list[0]),
    .features = features,
    .feature_count = sizeof(features) / sizeof(features[0]),
    .watch_after = true,
};
