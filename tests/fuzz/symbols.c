/* SPDX-License-Identifier: MIT */
/* Reading hostile ELF files and the debug information in them, and demangling names. An input is a
 * file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symbol/lines.h"
#include "symbol/symbol.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LOOKED_AT = 64, FOUND = 8 };

static int fd;
static char path[64];

static void must(bool ok)
{
    if (!ok)
        abort();
}

static bool is_expected(int err)
{
    return err == 0 || err == -VSE_FORMAT || err == -VSE_CORRUPT;
}

static void use_name(const char *name)
{
    static const size_t capacities[] = {1, 2, 20, 4096};
    char out[4096];

    for (size_t i = 0; i < sizeof(capacities) / sizeof(*capacities); i++) {
        int n = vs_symbol_demangle(name, out, capacities[i]);

        must(n >= 0 && (size_t)n < capacities[i] && strlen(out) <= (size_t)n);
    }
}

static void use_routine(const struct vs_symbols *s, size_t number)
{
    const struct vs_routine *r = vs_symbols_get(s, number), *at;

    must(r->size > 0 && r->start <= UINT64_MAX - r->size && r->name && *r->name);
    must(vs_symbols_number(s, r) == number);
    must(number == 0 || vs_symbols_get(s, number - 1)->start < r->start);
    must(vs_symbols_at(s, r->start) == r);
    at = vs_symbols_at(s, r->start + r->size - 1);
    must(at && at->start >= r->start && at->start < r->start + r->size);
    use_name(r->name);
}

static void use_symbols(const struct vs_symbols *s)
{
    size_t count = vs_symbols_count(s), size;
    uint64_t base;

    for (size_t i = 0; i < count && i < LOOKED_AT; i++)
        use_routine(s, i);
    if (count)
        use_routine(s, count - 1);
    for (size_t i = 0; i < count && i < FOUND; i++) {
        const struct vs_routine *wanted = vs_symbols_get(s, i), *r = NULL;

        while ((r = vs_symbols_find(s, wanted->name, r)) && r != wanted)
            ;
        must(r == wanted);
    }
    must(!vs_symbols_find(s, "", NULL));
    vs_symbols_find(s, "ns::f(int)", NULL);
    vs_symbols_at(s, 0);
    vs_symbols_at(s, UINT64_MAX);
    vs_symbols_build_id(s, &size);
    must(size <= 64);
    vs_symbols_base(s, 0x400000, 0, 0x1000, &base);
    vs_symbols_base(s, UINT64_MAX, UINT64_MAX, UINT64_MAX, &base);
}

/* Asks for the lines at the beginning of routines, or of the file if it has none. */
static void use_lines(const struct vs_symbols *s)
{
    struct vs_source chain[4];
    struct vs_lines *l;
    size_t count = vs_symbols_count(s);

    must(vs_lines_open(&l, path, NULL) == 0);
    for (size_t i = 0; i <= count && i < LOOKED_AT; i++) {
        uint64_t address = i < count ? vs_symbols_get(s, i)->start : i - count;
        int n = vs_lines_at(l, address, chain, 4);

        must(n >= 0 && n <= 4 && (n == 0 || vs_lines_known(l)));
        for (int k = 0; k < n; k++)
            must(k + 1 == n || chain[k].inlined);
    }
    vs_lines_close(l);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct vs_diag d = {0};
    struct vs_symbols *s;
    int e;

    must(ftruncate(fd, 0) == 0);
    must(pwrite(fd, data, size, 0) == (ssize_t)size);
    e = vs_symbols_open(&s, path, &d);
    must(is_expected(e) && (e == 0) == (s != NULL) && (e == 0 || (d.error == e && d.text[0])));
    if (e == 0) {
        use_symbols(s);
        use_lines(s);
    }
    vs_symbols_close(s);
    return 0;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    fd = memfd_create("image", MFD_CLOEXEC);
    must(fd >= 0);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    return 0;
}
