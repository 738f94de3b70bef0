/* SPDX-License-Identifier: MIT */
#include "symbol/symbol.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdio.h>

#include "runs.h"
#include "unittest.h"

/* ---- routines to be found: a section of this program --------------------------------------- */

#define PART(name, type, bytes) ".type " name ", @" type "\n" name ": .fill " #bytes ", 1, 0x90\n"
#define SIZED(name, bytes)      PART(name, "function", bytes) ".size " name ", " #bytes "\n"
#define ALIAS(name, target)     ".type " name ", @function\n.set " name ", " target "\n"

__asm__(".pushsection routines, \"ax\", @progbits\n" SIZED("_ZN2ns1fEi", 16)       /*   0 */
        SIZED("_ZN2ns1fEd", 16)                                                    /*  16 */
        SIZED("_ZNK2ns1C1mEv", 16)                                                 /*  32 */
        SIZED("_Z3tplIiET_S0_i", 16)                                               /*  48 */
        SIZED("work", 16)                                                          /*  64 */
        SIZED("work.constprop.0", 16)                                              /*  80 */
        SIZED("work.part.0.cold", 16)                                              /*  96 */
        SIZED("_ZN2ns1fEi.cold", 16)                                               /* 112 */
        PART("outer", "function", 16) ".size outer, 60\n"                          /* 128 */
        SIZED("inner", 8) ".fill 8, 1, 0x90\n"                                     /* 144 */
        PART("label", "function", 32)                                              /* 160 */
        SIZED("__shared", 16) ".globl __shared\n" ALIAS("shared", "__shared")      /* 192 */
        ".globl shared\n" ALIAS("a", "__shared") ALIAS("another_name", "__shared") /* local a */
        ".globl another_name\n" PART("unsized", "function", 16)                    /* 208 */
        SIZED("before_gap", 8) ".fill 8, 1, 0x90\n"                                /* 224 */
        PART("endless", "function", 8) ".size endless, -1\n"                       /* 240 */
        PART("last", "gnu_indirect_function", 8)                                   /* 248 */
        "no_routine: .popsection\n");

extern const char __start_routines[], __stop_routines[];

enum { SELF_SIZE = 256 };

static const struct {
    unsigned start, size;
    const char *name;
} expected[] = {
    {0, 16, "_ZN2ns1fEi"},
    {16, 16, "_ZN2ns1fEd"},
    {32, 16, "_ZNK2ns1C1mEv"},
    {48, 16, "_Z3tplIiET_S0_i"},
    {64, 16, "work"},
    {80, 16, "work.constprop.0"},
    {96, 16, "work.part.0.cold"},
    {112, 16, "_ZN2ns1fEi.cold"},
    {128, 60, "outer"},
    {144, 8, "inner"},
    {160, 28, "label"},
    {192, 16, "shared"},
    {208, 16, "unsized"},
    {224, 8, "before_gap"},
    {240, 16, "endless"},
    {248, 8, "last"},
};

enum { EXPECTED = sizeof(expected) / sizeof(*expected) };

static const char *expected_at(unsigned offset)
{
    const char *name = NULL;

    for (size_t i = 0; i < EXPECTED; i++)
        if (offset >= expected[i].start && offset - expected[i].start < expected[i].size)
            name = expected[i].name;
    return name;
}

/* ---- this process --------------------------------------------------------------------------- */

struct loaded {
    const char *part; /* of the path; "": the program itself, which comes first */
    char path[PATH_MAX];
    uint64_t base;
};

static int look(struct dl_phdr_info *info, size_t size, void *context)
{
    struct loaded *l = context;

    (void)size;
    if (!strstr(info->dlpi_name, l->part))
        return 0;
    snprintf(l->path, sizeof(l->path), "%s", *l->part ? info->dlpi_name : "/proc/self/exe");
    l->base = info->dlpi_addr;
    return 1;
}

static struct loaded loaded(const char *part)
{
    struct loaded l = {.part = part};

    CHECK_EQ(dl_iterate_phdr(look, &l), 1);
    return l;
}

static struct vs_symbols *open_symbols(const char *path)
{
    struct vs_symbols *s;
    struct vs_diag diag = {0};

    if (vs_symbols_open(&s, path, &diag) < 0)
        unittest_fail(__FILE__, __LINE__, "%s: %s", path, diag.text);
    return s;
}

static uint64_t link_address(const void *p)
{
    return (uint64_t)(uintptr_t)p - loaded("").base;
}

static void check_valid(const struct vs_symbols *s)
{
    size_t count = vs_symbols_count(s);

    for (size_t i = 0; i < count; i++) {
        const struct vs_routine *r = vs_symbols_get(s, i);

        CHECK(r->size > 0 && r->size <= UINT64_MAX - r->start && *r->name);
        CHECK(i == 0 || vs_symbols_get(s, i - 1)->start < r->start);
        CHECK(vs_symbols_at(s, r->start) == r);
        CHECK_EQ(vs_symbols_number(s, r), i);
    }
}

/* Makes `to` from `from` in the current folder. */
static void make_by(const char *options, const char *from, const char *to)
{
    char command[2 * PATH_MAX];

    snprintf(command, sizeof(command), "objcopy %s '%s' %s", options, from, to);
    CHECK_EQ(system(command), 0);
}

/* The path of this program, for other processes. */
static const char *own_path(void)
{
    static char path[PATH_MAX];
    ssize_t size = readlink("/proc/self/exe", path, sizeof(path) - 1);

    CHECK(size > 0);
    return path;
}

/* ---- by address ----------------------------------------------------------------------------- */

TEST(finds_the_routine_at_every_address)
{
    struct vs_symbols *s = open_symbols("/proc/self/exe");
    uint64_t start = link_address(__start_routines);

    CHECK_EQ(__stop_routines - __start_routines, SELF_SIZE);
    check_valid(s);
    for (unsigned i = 0; i < SELF_SIZE; i++) {
        const struct vs_routine *r = vs_symbols_at(s, start + i);

        CHECK_STR(r ? r->name : "none", expected_at(i) ? expected_at(i) : "none");
    }
    CHECK(!vs_symbols_at(s, start + SELF_SIZE) ||
          vs_symbols_at(s, start + SELF_SIZE)->start >= start + SELF_SIZE);
    CHECK(!vs_symbols_at(s, 0));
    CHECK(!vs_symbols_at(s, UINT64_MAX));
    vs_symbols_close(s);
}

TEST(gives_routines_their_extent)
{
    struct vs_symbols *s = open_symbols("/proc/self/exe");
    uint64_t start = link_address(__start_routines);

    for (size_t i = 0; i < EXPECTED; i++) {
        const struct vs_routine *r = vs_symbols_at(s, start + expected[i].start);

        CHECK_EQ(r->start, start + expected[i].start);
        CHECK_EQ(r->size, expected[i].size);
        CHECK_STR(r->name, expected[i].name);
        CHECK_EQ(r->ifunc, strcmp(r->name, "last") == 0);
    }
    vs_symbols_close(s);
}

__attribute__((noinline, used)) static uint64_t a_static_routine(void)
{
    __asm__ volatile("");
    return (uint64_t)(uintptr_t)a_static_routine;
}

TEST(finds_static_routines)
{
    struct vs_symbols *s = open_symbols("/proc/self/exe");
    uint64_t address = a_static_routine() - loaded("").base;
    const struct vs_routine *r = vs_symbols_find(s, "a_static_routine", NULL);

    CHECK(r);
    CHECK_EQ(r->start, address);
    CHECK(vs_symbols_at(s, address) == r);
    CHECK(vs_symbols_at(s, address + 1) == r);
    CHECK(!vs_symbols_find(s, "a_static_routine", r));
    CHECK(!vs_symbols_find(s, "expected", NULL)); /* data */
    vs_symbols_close(s);
}

/* ---- by name -------------------------------------------------------------------------------- */

/* Exactly the routines at these offsets, -1 at the end. */
static void check_found(const struct vs_symbols *s, const char *name, const int *offsets)
{
    uint64_t start = link_address(__start_routines);
    const struct vs_routine *r = NULL;

    while ((r = vs_symbols_find(s, name, r))) {
        if (r->start != start + (uint64_t)*offsets)
            unittest_fail(__FILE__, __LINE__, "%s finds %s", name, r->name);
        offsets++;
    }
    if (*offsets >= 0)
        unittest_fail(__FILE__, __LINE__, "%s does not find %d", name, *offsets);
}

#define CHECK_FOUND(s, name, ...) check_found(s, name, (const int[]){__VA_ARGS__, -1})

TEST(finds_by_the_symbol_or_what_it_was_made_from)
{
    struct vs_symbols *s = open_symbols("/proc/self/exe");

    CHECK_FOUND(s, "_ZN2ns1fEi", 0, 112);
    CHECK_FOUND(s, "_ZN2ns1fEi.cold", 112);
    CHECK_FOUND(s, "work", 64, 80, 96);
    CHECK_FOUND(s, "work.constprop.0", 80);
    CHECK_FOUND(s, "work.constprop", -1);
    CHECK_FOUND(s, "shared", 192);
    CHECK_FOUND(s, "__shared", 192);
    CHECK_FOUND(s, "a", 192);
    CHECK_FOUND(s, "last", 248);
    CHECK_FOUND(s, "no_routine", -1);
    CHECK_FOUND(s, "wor", -1);
    CHECK_FOUND(s, "works", -1);
    CHECK_FOUND(s, "", -1);
    vs_symbols_close(s);
}

TEST(finds_by_readable_names)
{
    struct vs_symbols *s = open_symbols("/proc/self/exe");

    CHECK_FOUND(s, "ns::f(int)", 0, 112);
    CHECK_FOUND(s, "ns::f( int )", 0, 112);
    CHECK_FOUND(s, "ns::f(double)", 16);
    CHECK_FOUND(s, "ns::f", 0, 16, 112);
    CHECK_FOUND(s, "ns::C::m", 32);
    CHECK_FOUND(s, "ns::C::m() const", 32);
    CHECK_FOUND(s, "tpl<int>(int,int)", 48);
    CHECK_FOUND(s, "tpl<int>", 48);
    CHECK_FOUND(s, "ns::f(", -1);
    CHECK_FOUND(s, "ns::", -1);
    CHECK_FOUND(s, "f", -1);
    CHECK_FOUND(s, " ", -1);
    vs_symbols_close(s);
}

/* ---- names ---------------------------------------------------------------------------------- */

static void check_readable(const char *name, const char *readable)
{
    char out[200];

    CHECK_EQ(vs_symbol_demangle(name, out, sizeof(out)), strlen(readable));
    CHECK_STR(out, readable);
}

TEST(makes_names_readable)
{
    check_readable("main", "main");
    check_readable("", "");
    check_readable("_ZN2ns1fEi", "ns::f(int)");
    check_readable("_ZNK2ns1C1mEv", "ns::C::m() const");
    check_readable("_Z3tplIiET_S0_i", "tpl<int>(int, int)");
    check_readable("_ZN2ns1CC1ERKS0_", "ns::C::C(ns::C const&)");
    check_readable("_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write");
    check_readable("_Z", "_Z");
    check_readable("memcpy@plt", "memcpy@plt");
    check_readable("_ZN2ns1fEi@plt", "ns::f(int)@plt");
    check_readable("_Zwhat", "_Zwhat");
    check_readable("_ZN2ns1fE!", "_ZN2ns1fE!");
    check_readable("a\033[2Jb", "a?[2Jb");
}

TEST(leaves_out_what_compilers_append)
{
    check_readable("f.constprop.0", "f");
    check_readable("f.isra.0.part.12.cold", "f");
    check_readable("f.cold.3", "f");
    check_readable("nested.0", "nested");
    check_readable("f.lto_priv.0", "f");
    check_readable("_ZN2ns1fEi.part.0", "ns::f(int)");
    check_readable("main.run", "main.run");
    check_readable("main.run.cold", "main.run");
    check_readable("main._omp_fn.0", "main._omp_fn.0");
    check_readable(".cold", ".cold");
    check_readable("..0", ".");
    check_readable("f.", "f.");
    check_readable("f..cold", "f.");
}

TEST(cuts_names_to_fit)
{
    char out[8];

    memset(out, '#', sizeof(out));
    CHECK_EQ(vs_symbol_demangle("_ZN2ns1fEi", out, 6), 5);
    CHECK_MEM(out, "ns::f\0##", 8);
    CHECK_EQ(vs_symbol_demangle("something", out, 5), 4);
    CHECK_STR(out, "some");
    CHECK_EQ(vs_symbol_demangle("_ZN2ns1fEi@plt", out, 6), 5);
    CHECK_STR(out, "ns::f");
    CHECK_EQ(vs_symbol_demangle("some@plt", out, 8), 7);
    CHECK_STR(out, "some@pl");
    CHECK_EQ(vs_symbol_demangle("_ZN2ns1fEi", out, 1), 0);
    CHECK_STR(out, "");
}

/* Its readable form has more than 2^32 bytes: each parameter has the one before twice. */
TEST(survives_a_name_that_explodes)
{
    char name[1000], out[100];
    int size = snprintf(name, sizeof(name), "_Z1f1AIiiE");

    for (int i = 0; i < 33; i++) {
        char ref = (char)(i < 10 ? '0' + i : 'A' + i - 10);

        size += snprintf(name + size, sizeof(name) - (size_t)size, "S_IS%c_S%c_E", ref, ref);
    }
    CHECK_EQ(vs_symbol_demangle(name, out, sizeof(out)), sizeof(out) - 1);
    CHECK(strncmp(out, "f(A<int, int>, A<A<int, int>, A<int, int> >", 43) == 0);
}

TEST(survives_names_that_nest)
{
    static char name[100000];
    char out[100];

    for (size_t depth = 10; depth < sizeof(name) - 10; depth *= 3) {
        memset(name, 'P', sizeof(name));
        memcpy(name, "_Z1f", 4);
        strcpy(name + depth, "i");
        CHECK(vs_symbol_demangle(name, out, sizeof(out)) > 0);
    }
}

/* ---- images --------------------------------------------------------------------------------- */

/* The base of an image from each of its mappings of code. */
static void check_bases(const struct vs_symbols *s, const char *path, uint64_t base)
{
    char line[PATH_MAX + 200];
    FILE *maps = fopen("/proc/self/maps", "r");
    int seen = 0;

    CHECK(maps);
    while (fgets(line, sizeof(line), maps)) {
        unsigned long long start, end, offset;
        char mode[5];
        uint64_t got;

        CHECK_EQ(sscanf(line, "%llx-%llx %4s %llx", &start, &end, mode, &offset), 4);
        if (mode[2] != 'x' || !strstr(line, path))
            continue;
        seen++;
        CHECK_EQ(vs_symbols_base(s, start, offset, end - start, &got), 0);
        CHECK_EQ(got, base);
        CHECK_EQ(vs_symbols_base(s, start + 4096, offset + 4096, 4096, &got), 0);
        CHECK_EQ(got, base);
        CHECK_ERR(vs_symbols_base(s, start, UINT64_MAX - 4095, 4096, &got), VSE_NOTFOUND);
        CHECK_ERR(vs_symbols_base(s, start, 0, 0, &got), VSE_NOTFOUND);
    }
    fclose(maps);
    CHECK(seen > 0);
}

TEST(computes_the_base)
{
    struct loaded libc = loaded("/libc.so");
    struct vs_symbols *s = open_symbols("/proc/self/exe");

    check_bases(s, own_path(), loaded("").base);
    vs_symbols_close(s);
    s = open_symbols(libc.path);
    check_bases(s, "/libc.so", libc.base);
    vs_symbols_close(s);
}

static void check_libc(const struct vs_symbols *s, uint64_t base)
{
    const struct vs_routine *r = vs_symbols_find(s, "memcpy", NULL);
    void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
    uint64_t getppid_at = (uint64_t)(uintptr_t)dlsym(libc, "getppid") - base;

    CHECK(vs_symbols_count(s) > 1000);
    check_valid(s);
    while (r && !r->ifunc) /* an old version is a plain routine */
        r = vs_symbols_find(s, "memcpy", r);
    CHECK(r);
    r = vs_symbols_find(s, "getppid", NULL);
    CHECK(r && !r->ifunc);
    CHECK_EQ(r->start, getppid_at);
    CHECK_STR(vs_symbols_at(s, getppid_at)->name, "getppid");
    for (size_t i = 0; i < vs_symbols_count(s); i++) {
        const char *version = strchr(vs_symbols_get(s, i)->name, '@');

        CHECK(!version || strcmp(version, "@plt") == 0);
    }
    dlclose(libc);
}

TEST(reads_a_shared_library)
{
    struct loaded libc = loaded("/libc.so");
    struct vs_symbols *s = open_symbols(libc.path);

    check_libc(s, libc.base);
    vs_symbols_close(s);
}

TEST(falls_back_on_dynamic_symbols)
{
    struct loaded libc = loaded("/libc.so");
    struct vs_symbols *s;
    struct place p;
    size_t size;

    place_init(&p);
    make_by("--strip-all -R .note.gnu.build-id -R .gnu_debuglink", libc.path, "libc");
    s = open_symbols("libc");
    check_libc(s, libc.base);
    vs_symbols_build_id(s, &size);
    CHECK_EQ(size, 0);
    vs_symbols_close(s);
    place_fini(&p);
}

TEST(knows_the_build_id)
{
    struct vs_symbols *s = open_symbols("/proc/self/exe"), *copy;
    size_t size, copy_size;
    const uint8_t *id = vs_symbols_build_id(s, &size), *copy_id;
    struct place p;

    place_init(&p);
    make_by("--strip-all", own_path(), "stripped");
    copy = open_symbols("stripped");
    copy_id = vs_symbols_build_id(copy, &copy_size);
    CHECK(size >= 8);
    CHECK_EQ(size, copy_size);
    CHECK_MEM(id, copy_id, size);
    vs_symbols_close(copy);
    vs_symbols_close(s);
    place_fini(&p);
}

/* ---- stubs ----------------------------------------------------------------------------------- */

extern const uint8_t call_site[] __attribute__((visibility("hidden")));

/* A call that goes through a stub, whatever the compiler's defaults. */
__asm__(".pushsection .text\n.globl call_site\n.hidden call_site\n"
        "call_site: call getppid@PLT\nret\n.popsection\n");

TEST(names_stubs)
{
    struct vs_symbols *s = open_symbols("/proc/self/exe");
    int32_t distance;
    const struct vs_routine *r;

    memcpy(&distance, call_site + 1, sizeof(distance));
    r = vs_symbols_at(s, link_address(call_site + 5 + distance));
    CHECK(r);
    CHECK_STR(r->name, "getppid@plt");
    CHECK(r->start == link_address(call_site + 5 + distance) && r->size >= 8 && r->size <= 16);
    CHECK(vs_symbols_find(s, "getppid@plt", NULL) == r);
    CHECK(!vs_symbols_find(s, "getppid", NULL));
    vs_symbols_close(s);
}

/* ---- separate debug files -------------------------------------------------------------------- */

/* own.debug, and `own` that refers to it; `more`: also removed from both. */
static void separate(const char *more)
{
    char options[200];

    snprintf(options, sizeof(options), "--only-keep-debug %s", more);
    make_by(options, own_path(), "own.debug");
    snprintf(options, sizeof(options), "--strip-all --add-gnu-debuglink=own.debug %s", more);
    make_by(options, own_path(), "own");
}

/* Those that have symbols. */
static size_t count_routines(const char *path)
{
    struct vs_symbols *s = open_symbols(path);
    size_t count = 0;

    check_valid(s);
    for (size_t i = 0; i < vs_symbols_count(s); i++)
        count += !strchr(vs_symbols_get(s, i)->name, '@');
    if (count)
        CHECK_FOUND(s, "ns::f", 0, 16, 112);
    vs_symbols_close(s);
    return count;
}

static void append_byte(const char *path)
{
    FILE *f = fopen(path, "a");

    CHECK(f && fputc(0, f) == 0 && fclose(f) == 0);
}

TEST(reads_a_debug_file_of_the_same_build)
{
    size_t whole = count_routines("/proc/self/exe");
    struct place p;

    place_init(&p);
    separate("");
    CHECK_EQ(count_routines("own"), whole);
    append_byte("own.debug"); /* the build id counts, not the checksum */
    CHECK_EQ(count_routines("own"), whole);
    make_by("-R .note.gnu.build-id", "own.debug", "own.debug");
    CHECK_EQ(count_routines("own"), 0);
    place_fini(&p);
}

TEST(reads_a_debug_file_by_its_checksum)
{
    size_t whole = count_routines("/proc/self/exe");
    struct place p;

    place_init(&p);
    separate("-R .note.gnu.build-id");
    CHECK_EQ(count_routines("own"), whole);
    CHECK_EQ(mkdir(".debug", 0777), 0);
    CHECK_EQ(rename("own.debug", ".debug/own.debug"), 0);
    CHECK_EQ(count_routines("own"), whole);
    append_byte(".debug/own.debug");
    CHECK_EQ(count_routines("own"), 0);
    CHECK_EQ(unlink(".debug/own.debug"), 0);
    CHECK_EQ(count_routines("own"), 0);
    place_fini(&p);
}

/* ---- bad files ------------------------------------------------------------------------------- */

static void check_refusal(const char *path, int error, const char *text)
{
    struct vs_symbols *s;
    struct vs_diag diag = {0};

    CHECK_ERR(vs_symbols_open(&s, path, &diag), error);
    CHECK(!s);
    CHECK_EQ(diag.error, -error);
    CHECK_HAS(diag.text, text);
    CHECK_ERR(vs_symbols_open(&s, path, NULL), error);
}

static void write_file(const char *path, const void *data, size_t size)
{
    FILE *f = fopen(path, "w");

    CHECK(f && fwrite(data, 1, size, f) == size && fclose(f) == 0);
}

TEST(refuses_what_is_no_image)
{
    struct place p;

    place_init(&p);
    check_refusal("missing", VSE_IO, "No such file");
    check_refusal(".", VSE_INVAL, "regular");
    CHECK_EQ(mkfifo("pipe", 0600), 0);
    check_refusal("pipe", VSE_INVAL, "regular");
    write_file("empty", "", 0);
    check_refusal("empty", VSE_FORMAT, "not an ELF file");
    write_file("text", "int main(void);\n", 16);
    check_refusal("text", VSE_FORMAT, "not an ELF file");
    write_file("head", "\177ELF", 4);
    check_refusal("head", VSE_FORMAT, "not an ELF file");
    write_file("archive", "!<arch>\n", 8);
    check_refusal("archive", VSE_FORMAT, "not an ELF file");
    place_fini(&p);
}

/* A small image: this program without what a debugger needs. */
static struct file small_image(void)
{
    make_by("--strip-debug", own_path(), "image");
    return file_load("image");
}

static void patch(const char *path, const struct file *f, size_t at, size_t size)
{
    int fd = open(path, O_WRONLY);

    CHECK(fd >= 0);
    CHECK_EQ(pwrite(fd, f->data + at, size, (off_t)at), size);
    CHECK_EQ(close(fd), 0);
}

TEST(refuses_objects)
{
    struct place p;
    struct file f;

    place_init(&p);
    f = small_image();
    ((Elf64_Ehdr *)(void *)f.data)->e_type = ET_REL;
    patch("image", &f, 0, sizeof(Elf64_Ehdr));
    check_refusal("image", VSE_FORMAT, "neither an executable nor a shared library");
    file_free(&f);
    place_fini(&p);
}

/* Opens it, uses all of it; every error must say something. */
static int try_image(const char *path)
{
    struct vs_symbols *s;
    struct vs_diag diag = {0};
    int err = vs_symbols_open(&s, path, &diag);
    uint64_t base;

    if (err < 0) {
        CHECK(err == -VSE_FORMAT || err == -VSE_CORRUPT);
        CHECK(diag.error == err && diag.text[0] && !strchr(diag.text, '\n'));
        return err;
    }
    check_valid(s);
    vs_symbols_find(s, "ns::nothing", NULL);
    vs_symbols_at(s, UINT64_MAX);
    vs_symbols_base(s, 0x400000, 4096, 4096, &base);
    vs_symbols_close(s);
    return 0;
}

TEST(survives_cut_files)
{
    struct place p;
    struct file f;
    size_t step;

    place_init(&p);
    f = small_image();
    step = f.size / 150;
    CHECK_EQ(try_image("image"), 0);
    for (size_t size = f.size - 1; size > 0; size -= size > 600 && size > step ? step : 1) {
        CHECK_EQ(truncate("image", (off_t)size), 0);
        CHECK(try_image("image") < 0); /* the linker puts the section headers last */
    }
    file_free(&f);
    place_fini(&p);
}

/* Where damage hurts: the headers, and the tables of symbols, notes, strings. */
static size_t hurtful(const struct file *f, struct rng *r)
{
    const Elf64_Ehdr *h = (const void *)f->data;
    const Elf64_Shdr *sections = (const void *)(f->data + h->e_shoff);
    const Elf64_Shdr *chosen = &sections[rng_below(r, h->e_shnum)];

    switch (rng_below(r, 4)) {
    case 0:
        return rng_below(r, sizeof(*h));
    case 1:
        return h->e_phoff + rng_below(r, (uint64_t)h->e_phnum * sizeof(Elf64_Phdr));
    case 2:
        return h->e_shoff + rng_below(r, (uint64_t)h->e_shnum * sizeof(Elf64_Shdr));
    default:
        if (chosen->sh_type == SHT_NOBITS || chosen->sh_size == 0)
            return 0;
        return chosen->sh_offset + rng_below(r, chosen->sh_size);
    }
}

TEST(survives_damaged_files)
{
    struct rng r = rng_init(5);
    struct place p;
    struct file good, bad;
    int opened = 0, refused = 0;

    place_init(&p);
    good = small_image();
    bad = file_copy(good.data, good.size);
    for (int round = 0; round < 1500; round++) {
        size_t at[4];

        for (size_t i = 0; i < 4; i++) {
            at[i] = hurtful(&good, &r);
            bad.data[at[i]] = rng_below(&r, 2) ? 0xff : (uint8_t)rng_below(&r, 256);
            patch("image", &bad, at[i], 1);
        }
        if (try_image("image") < 0)
            refused++;
        else
            opened++;
        for (size_t i = 0; i < 4; i++) {
            bad.data[at[i]] = good.data[at[i]];
            patch("image", &good, at[i], 1);
        }
    }
    CHECK(opened > 100 && refused > 100);
    CHECK_EQ(try_image("image"), 0);
    file_free(&good);
    file_free(&bad);
    place_fini(&p);
}
