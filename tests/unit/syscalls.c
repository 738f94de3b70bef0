/* SPDX-License-Identifier: MIT */
#include "study/syscalls.h"

#include <stdlib.h>
#include <string.h>

#include "unittest.h"

TEST(names_calls_of_x86_64)
{
    CHECK_STR(vs_syscall_name("x86-64", 0), "read");
    CHECK_STR(vs_syscall_name("x86-64", 1), "write");
    CHECK_STR(vs_syscall_name("x86-64", 56), "clone");
    CHECK_STR(vs_syscall_name("x86-64", 202), "futex");
    CHECK_STR(vs_syscall_name("x86-64", 231), "exit_group");
    CHECK_STR(vs_syscall_name("x86-64", 435), "clone3");
}

TEST(names_calls_of_rv64)
{
    CHECK_STR(vs_syscall_name("rv64", 25), "fcntl");
    CHECK_STR(vs_syscall_name("rv64", 63), "read");
    CHECK_STR(vs_syscall_name("rv64", 64), "write");
    CHECK_STR(vs_syscall_name("rv64", 79), "newfstatat");
    CHECK_STR(vs_syscall_name("rv64", 222), "mmap");
    CHECK_STR(vs_syscall_name("rv64", 259), "riscv_flush_icache");
    CHECK_STR(vs_syscall_name("rv64", 435), "clone3");
}

TEST(has_no_name_for_others)
{
    CHECK_STR(vs_syscall_name("x86-64", 400), NULL); /* between the old and the common numbers */
    CHECK_STR(vs_syscall_name("rv64", 244), NULL);
    CHECK_STR(vs_syscall_name("rv64", UINT64_MAX), NULL);
    CHECK_STR(vs_syscall_name("sparc", 1), NULL);
    CHECK_STR(vs_syscall_name("", 1), NULL);
    CHECK_STR(vs_syscall_name(NULL, 1), NULL);
}

/* The list lacks none of the old calls. Their numbers have one hole: rv64 never had renameat. */
TEST(names_every_old_call)
{
    for (unsigned i = 0; i <= 334; i++)
        if (!vs_syscall_name("x86-64", i))
            unittest_fail(__FILE__, __LINE__, "x86-64 has no %u", i);
    for (unsigned i = 0; i < 244; i++)
        if (!vs_syscall_name("rv64", i) != (i == 38))
            unittest_fail(__FILE__, __LINE__, "rv64 has no %u", i);
}

static void check_no_number_twice(const struct vs_syscall_row *rows)
{
    for (size_t i = 0; rows[i].name; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(rows[i].number, rows[k].number) == 0)
                unittest_fail(__FILE__, __LINE__, "%s and %s are both %s", rows[i].name,
                              rows[k].name, rows[i].number);
}

TEST(has_no_number_twice)
{
    check_no_number_twice(vs_syscalls_x86_64);
    check_no_number_twice(vs_syscalls_rv64);
}

static void check_numbers_are_plain(const struct vs_syscall_row *rows)
{
    for (; rows->name; rows++)
        CHECK(strncmp(rows->number, "__NR_", 5) == 0 ||
              strspn(rows->number, "0123456789") == strlen(rows->number));
}

TEST(has_only_plain_numbers)
{
    check_numbers_are_plain(vs_syscalls_x86_64);
    check_numbers_are_plain(vs_syscalls_rv64);
}

TEST(names_signals)
{
    CHECK_STR(vs_signal_name(11), "SEGV");
    CHECK_STR(vs_signal_name(10), "USR1");
    CHECK_STR(vs_signal_name(0), NULL);
    CHECK_STR(vs_signal_name(64), NULL);
    CHECK_STR(vs_signal_name(UINT64_C(1) << 32 | 11), NULL);
}
