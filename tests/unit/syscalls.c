/* SPDX-License-Identifier: MIT */
#include "isa/syscalls.h"

#include <asm/unistd_64.h>
#include <stdbool.h>
#include <stdlib.h>

#include <stdlib.h>

#include "isa/isa.h"
#include "unittest.h"

TEST(names_calls_of_x86_64)
{
    CHECK_STR(vs_isa_call_name(vs_isa_find("x86-64"), 0), "read");
    CHECK_STR(vs_isa_call_name(vs_isa_find("x86-64"), 1), "write");
    CHECK_STR(vs_isa_call_name(vs_isa_find("x86-64"), 56), "clone");
    CHECK_STR(vs_isa_call_name(vs_isa_find("x86-64"), 202), "futex");
    CHECK_STR(vs_isa_call_name(vs_isa_find("x86-64"), 231), "exit_group");
    CHECK_STR(vs_isa_call_name(vs_isa_find("x86-64"), 435), "clone3");
}

TEST(names_calls_of_rv64)
{
    CHECK_STR(vs_isa_call_name(vs_isa_find("rv64"), 25), "fcntl");
    CHECK_STR(vs_isa_call_name(vs_isa_find("rv64"), 63), "read");
    CHECK_STR(vs_isa_call_name(vs_isa_find("rv64"), 64), "write");
    CHECK_STR(vs_isa_call_name(vs_isa_find("rv64"), 79), "newfstatat");
    CHECK_STR(vs_isa_call_name(vs_isa_find("rv64"), 222), "mmap");
    CHECK_STR(vs_isa_call_name(vs_isa_find("rv64"), 259), "riscv_flush_icache");
    CHECK_STR(vs_isa_call_name(vs_isa_find("rv64"), 435), "clone3");
}

TEST(has_no_name_for_others)
{
    CHECK_STR(vs_isa_call_name(vs_isa_find("x86-64"), 400),
              NULL); /* between the old and the common numbers */
    CHECK_STR(vs_isa_call_name(vs_isa_find("rv64"), 244), NULL);
    CHECK_STR(vs_isa_call_name(vs_isa_find("rv64"), UINT64_MAX), NULL);
    CHECK_STR(vs_isa_call_name(vs_isa_find("sparc"), 1), NULL);
    CHECK_STR(vs_isa_call_name(vs_isa_find(""), 1), NULL);
    CHECK_STR(vs_isa_call_name(vs_isa_find(NULL), 1), NULL);
}

/* The list lacks none of the old calls. Their numbers have one hole: rv64 never had renameat. */
TEST(names_every_old_call)
{
    for (unsigned i = 0; i <= 334; i++)
        if (!vs_isa_call_name(vs_isa_find("x86-64"), i))
            unittest_fail(__FILE__, __LINE__, "x86-64 has no %u", i);
    for (unsigned i = 0; i < 244; i++)
        if (!vs_isa_call_name(vs_isa_find("rv64"), i) != (i == 38))
            unittest_fail(__FILE__, __LINE__, "rv64 has no %u", i);
}

static void check_no_call_twice(const struct vs_abi *abi)
{
    bool seen[VS_SYS_END] = {false};
    for (uint64_t i = 0; i < abi->call_count; i++) {
        enum vs_syscall call = vs_abi_call(abi, i);
        if (call != VS_SYS_none && seen[call])
            unittest_fail(__FILE__, __LINE__, "%s has two numbers", vs_syscall_name(call));
        seen[call] = true;
    }
}

TEST(has_no_call_twice)
{
    check_no_call_twice(vs_isa_find("x86-64")->abi);
    check_no_call_twice(vs_isa_find("rv64")->abi);
}

/* The numbers are those of the kernel's headers. An ISA lacks some of the calls: the text of a
 * macro that is not defined is its own name, which is no number. */
TEST(has_the_numbers_of_the_host)
{
#define TEXT(number)   #number
#define EXPAND(number) TEXT(number)
#define NAME(name)     {VS_SYS_##name, EXPAND(__NR_##name)},
    static const struct {
        enum vs_syscall call;
        const char *number;
    } rows[] = {VS_SYS_LIST(NAME)};
    unsigned numbers = 0;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (rows[i].number[0] != '_') {
            CHECK_EQ(vs_abi_call(vs_isa_find("x86-64")->abi, strtoull(rows[i].number, NULL, 10)),
                     rows[i].call);
            numbers++;
        }
    CHECK(numbers > 340);
}

TEST(names_signals)
{
    CHECK_STR(vs_signal_name(11), "SEGV");
    CHECK_STR(vs_signal_name(10), "USR1");
    CHECK_STR(vs_signal_name(0), NULL);
    CHECK_STR(vs_signal_name(64), NULL);
    CHECK_STR(vs_signal_name(UINT64_C(1) << 32 | 11), NULL);
}
