/* SPDX-License-Identifier: MIT */
#include "unittest.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    SECONDS = 600, /* per case: only one that hangs takes so long */
    REPORTED = 99, /* exit status of a case that has printed its failure */
};

extern const struct unittest *const __start_unittests[] __attribute__((weak));
extern const struct unittest *const __stop_unittests[] __attribute__((weak));

/* Checks have no argument for the case they are in. Set once in the case's own process. */
static char current[128];

void unittest_fail(const char *file, int line, const char *fmt, ...)
{
    va_list args;
    flockfile(stdout);
    printf("FAIL %s: %s:%d: ", current, file, line);
    va_start(args, fmt);
    vprintf(fmt, args);
    va_end(args);
    putchar('\n');
    fflush(stdout);
    _exit(REPORTED);
}

#ifdef __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED true
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED true
#endif
#ifndef SANITIZED
#define SANITIZED false
#endif

unsigned unittest_every(unsigned n)
{
    const char *all = getenv("VESTIGE_LONG");
    return SANITIZED && !(all && *all) ? n : 1;
}

void unittest_built(const char *name, char path[PATH_MAX])
{
    const char *build = getenv("VESTIGE_BUILD");
    char at[PATH_MAX];
    build = build ? build : "build";
    snprintf(at, sizeof(at), "%s/%s", build, name);
    if (access(at, R_OK))
        snprintf(at, sizeof(at), "%s/../%s", build, name);
    if (!realpath(at, path))
        unittest_fail(__FILE__, __LINE__, "%s is not built", name);
}

static const char *decimal(char text[48], __int128 v)
{
    bool negative = v < 0;
    unsigned __int128 u = negative ? -(unsigned __int128)v : (unsigned __int128)v;
    char *p = text + 47;
    *p = '\0';
    do
        *--p = (char)('0' + (int)(u % 10));
    while (u /= 10);
    if (negative)
        *--p = '-';
    return p;
}

void unittest_fail_eq(const char *file, int line, const char *expr, __int128 a, __int128 b)
{
    char x[48], y[48];
    unittest_fail(file, line, "%s (%s, %s)", expr, decimal(x, a), decimal(y, b));
}

void unittest_fail_err(const char *file, int line, const char *expr, int64_t got)
{
    if (got < 0 && got > -100)
        unittest_fail(file, line, "%s (-%s)", expr, vs_errname((int)got));
    unittest_fail(file, line, "%s (%lld)", expr, (long long)got);
}

void unittest_str(const char *file, int line, const char *expr, const char *a, const char *b)
{
    if (a != b && (!a || !b || strcmp(a, b)))
        unittest_fail(file, line, "%s (\"%s\", \"%s\")", expr, a ? a : "(null)", b ? b : "(null)");
}

void unittest_has(const char *file, int line, const char *expr, const char *a, const char *b)
{
    if (!a || !strstr(a, b))
        unittest_fail(file, line, "%s (\"%s\", \"%s\")", expr, a ? a : "(null)", b);
}

void unittest_mem(const char *file, int line, const char *expr, const void *a, const void *b,
                  size_t n)
{
    const unsigned char *x = a, *y = b;
    for (size_t i = 0; i < n; i++)
        if (x[i] != y[i])
            unittest_fail(file, line, "%s (byte %zu of %zu: 0x%02x, 0x%02x)", expr, i, n, x[i],
                          y[i]);
}

static void name_case(char *text, size_t cap, const struct unittest *t)
{
    const char *slash = strrchr(t->file, '/');
    const char *base = slash ? slash + 1 : t->file;
    snprintf(text, cap, "%.*s.%s", (int)strcspn(base, "."), base, t->name);
}

static bool run_case(const struct unittest *t, const char *name)
{
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        snprintf(current, sizeof(current), "%s", name);
        alarm(SECONDS);
        t->run();
        exit(0); /* not _exit: the leak sanitizer looks for leaks on exit */
    }
    int status;
    if (pid < 0 || waitpid(pid, &status, 0) != pid) {
        printf("FAIL %s: cannot run it\n", name);
        return false;
    }
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        printf("FAIL %s: not done after %d seconds\n", name, SECONDS);
    else if (WIFSIGNALED(status))
        printf("FAIL %s: killed by signal %d (%s)\n", name, WTERMSIG(status),
               strsignal(WTERMSIG(status)));
    else if (WEXITSTATUS(status) && WEXITSTATUS(status) != REPORTED)
        printf("FAIL %s: exit status %d\n", name, WEXITSTATUS(status));
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool selected(const char *name, char **filters)
{
    if (!*filters)
        return true;
    for (; *filters; filters++)
        if (strstr(name, *filters))
            return true;
    return false;
}

int main(int argc, char **argv)
{
    bool verbose = false, list = false;
    unsigned passed = 0, failed = 0;
    for (int option; (option = getopt(argc, argv, "lv")) != -1;) {
        if (option == '?')
            return 2;
        verbose |= option == 'v';
        list |= option == 'l';
    }
    for (const struct unittest *const *t = __start_unittests; t < __stop_unittests; t++) {
        char name[sizeof(current)];
        name_case(name, sizeof(name), *t);
        if (!selected(name, argv + optind))
            continue;
        if (list) {
            puts(name);
            continue;
        }
        bool ok = run_case(*t, name);
        *(ok ? &passed : &failed) += 1;
        if (ok && verbose)
            printf("ok %s\n", name);
    }
    if (list)
        return 0;
    printf("%u passed, %u failed\n", passed, failed);
    return failed || !passed;
}

const char *unittest_folder(void)
{
    const char *folder = getenv("TMPDIR");

    return folder && *folder ? folder : "/tmp";
}
