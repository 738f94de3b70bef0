/* SPDX-License-Identifier: MIT */
/* Unit tests. A file of cases is linked with unittest.c into one program:
 *
 *     TEST(rejects_an_empty_name)
 *     {
 *         CHECK_ERR(open_it(""), VSE_INVAL);
 *     }
 *
 * Each case runs in a process of its own with a time limit, so that a crash or an endless loop is
 * one failed case. A failed check ends the case, from any of its threads; what it would have
 * cleaned up stays. The suite is named after the source file.
 *
 * Usage: program [-v] [-l] [substring...]   -v names passed cases too, -l lists the cases; only
 * cases whose "suite.case" contains one of the substrings are run. The last line is
 * "N passed, N failed". The exit status is 1 if a case failed or none ran, and 2 for a wrong
 * option. */
#ifndef UNITTEST_H
#define UNITTEST_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vestige/error.h"

struct unittest {
    const char *file, *name;
    void (*run)(void);
};

/* The section holds pointers: sanitizers may put space between objects, not into an array of them
 * that the linker assembles, since they leave named sections alone. */
#define TEST(name)                                                                                 \
    static void test_##name(void);                                                                 \
    static const struct unittest case_##name = {__FILE__, #name, test_##name};                     \
    static const struct unittest *const entry_##name __attribute__((section("unittests"), used)) = \
        &case_##name;                                                                              \
    static void test_##name(void)

#define CHECK(expr) ((expr) ? (void)0 : unittest_fail(__FILE__, __LINE__, "%s", #expr))

/* Integers of any types, compared by value: -1 differs from every unsigned number. */
#define CHECK_EQ(a, b)                                                                             \
    do {                                                                                           \
        __int128 check_a = (a), check_b = (b);                                                     \
        if (check_a != check_b)                                                                    \
            unittest_fail_eq(__FILE__, __LINE__, #a " == " #b, check_a, check_b);                  \
    } while (0)

/* expr returns -code. */
#define CHECK_ERR(expr, code)                                                                      \
    do {                                                                                           \
        int64_t check_got = (expr);                                                                \
        if (check_got != -(code))                                                                  \
            unittest_fail_err(__FILE__, __LINE__, #expr " is -" #code, check_got);                 \
    } while (0)

#define CHECK_STR(a, b)    unittest_str(__FILE__, __LINE__, #a " equals " #b, (a), (b))
#define CHECK_MEM(a, b, n) unittest_mem(__FILE__, __LINE__, #a " equals " #b, (a), (b), (n))

/* Whether a string contains another. */
#define CHECK_HAS(a, b) unittest_has(__FILE__, __LINE__, #a " contains " #b, (a), (b))

_Noreturn void unittest_fail(const char *file, int line, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
_Noreturn void unittest_fail_eq(const char *file, int line, const char *expr, __int128 a,
                                __int128 b);
_Noreturn void unittest_fail_err(const char *file, int line, const char *expr, int64_t got);
void unittest_str(const char *file, int line, const char *expr, const char *a, const char *b);
void unittest_has(const char *file, int line, const char *expr, const char *a, const char *b);
void unittest_mem(const char *file, int line, const char *expr, const void *a, const void *b,
                  size_t n);

/* The step through many cases that are alike: 1, and n under the sanitizers, where each costs many
 * times as much; there too it is 1 in `make check-long` (VESTIGE_LONG is set). */
unsigned unittest_every(unsigned n);

/* The absolute path of a file of the build, for cases go elsewhere. What is the same for all
 * variants, as workloads, lies in the root of the build, of which a variant's folder is a part. */
void unittest_built(const char *name, char path[PATH_MAX]);

/* Where files may be made: TMPDIR, or /tmp. */
const char *unittest_folder(void);

#endif
