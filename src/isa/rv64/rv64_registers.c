/* SPDX-License-Identifier: MIT */
#include "isa/registers.h"
#include "isa/rv64/rv64.h"
#include "vestige/event.h"

enum { CPU, FPU };

enum { F0 = 33 }; /* the first floating-point register's place in the list */

#define X(number, name, type)                                                                      \
    {                                                                                              \
        name, type, number, 0, 0, 8, CPU                                                           \
    }
#define F(number, name)                                                                            \
    {                                                                                              \
        name, "riscv_double", VS_RV64_REG_F0 + number, 0, 0, 8, FPU                                \
    }

static const struct vs_register list[] = {
    X(0, "zero", "int"),
    X(1, "ra", "int"),
    X(2, "sp", "data_ptr"),
    X(3, "gp", "data_ptr"),
    X(4, "tp", "data_ptr"),
    X(5, "t0", "int"),
    X(6, "t1", "int"),
    X(7, "t2", "int"),
    X(8, "s0", "int"),
    X(9, "s1", "int"),
    X(10, "a0", "int"),
    X(11, "a1", "int"),
    X(12, "a2", "int"),
    X(13, "a3", "int"),
    X(14, "a4", "int"),
    X(15, "a5", "int"),
    X(16, "a6", "int"),
    X(17, "a7", "int"),
    X(18, "s2", "int"),
    X(19, "s3", "int"),
    X(20, "s4", "int"),
    X(21, "s5", "int"),
    X(22, "s6", "int"),
    X(23, "s7", "int"),
    X(24, "s8", "int"),
    X(25, "s9", "int"),
    X(26, "s10", "int"),
    X(27, "s11", "int"),
    X(28, "t3", "int"),
    X(29, "t4", "int"),
    X(30, "t5", "int"),
    X(31, "t6", "int"),
    {"pc", "code_ptr", VS_REG_PC, 0, 0, 8, CPU},
    [F0] = F(0, "ft0"),
    F(1, "ft1"),
    F(2, "ft2"),
    F(3, "ft3"),
    F(4, "ft4"),
    F(5, "ft5"),
    F(6, "ft6"),
    F(7, "ft7"),
    F(8, "fs0"),
    F(9, "fs1"),
    F(10, "fa0"),
    F(11, "fa1"),
    F(12, "fa2"),
    F(13, "fa3"),
    F(14, "fa4"),
    F(15, "fa5"),
    F(16, "fa6"),
    F(17, "fa7"),
    F(18, "fs2"),
    F(19, "fs3"),
    F(20, "fs4"),
    F(21, "fs5"),
    F(22, "fs6"),
    F(23, "fs7"),
    F(24, "fs8"),
    F(25, "fs9"),
    F(26, "fs10"),
    F(27, "fs11"),
    F(28, "ft8"),
    F(29, "ft9"),
    F(30, "ft10"),
    F(31, "ft11"),
    {"fflags", "int", VS_RV64_REG_FCSR, 0, 5, 4, FPU},
    {"frm", "int", VS_RV64_REG_FCSR, 5, 3, 4, FPU},
    {"fcsr", "int", VS_RV64_REG_FCSR, 0, 0, 4, FPU},
};

static const struct vs_register_feature features[] = {
    [CPU] = {"org.gnu.gdb.riscv.cpu", ""},
    [FPU] = {"org.gnu.gdb.riscv.fpu",
             "<union id=\"riscv_double\"><field name=\"float\" type=\"ieee_single\"/>"
             "<field name=\"double\" type=\"ieee_double\"/></union>\n"},
};

const struct vs_register_set vs_rv64_registers = {
    .architecture = "riscv:rv64",
    .list = list,
    .count = sizeof(list) / sizeof(list[0]),
    .features = features,
    .feature_count = sizeof(features) / sizeof(features[0]),
};

const char *vs_rv64_xname(unsigned number)
{
    return list[number].name;
}

const char *vs_rv64_fname(unsigned number)
{
    return list[F0 + number].name;
}
