/* SPDX-License-Identifier: MIT */
#include "capture/places.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/infile.h"
#include "symbol/symbol.h"

enum { PLACES_MAX = 256, HEADERS_MAX = 64 };

struct search {
    const struct vs_place *places;
    size_t count;
    bool main_only;
    bool found[PLACES_MAX];
    bool open; /* more code may come later */
};

/* The first place that was not found; NULL if all were. */
static const struct vs_place *missing(const struct search *s)
{
    for (size_t i = 0; i < s->count; i++)
        if (!s->found[i] && !vs_place_is_address(&s->places[i]))
            return &s->places[i];
    return NULL;
}

/* Looks for all names in an image. Returns whether it can be read and has names at all. */
static bool look_into(struct search *s, const char *path, bool main)
{
    struct vs_symbols *symbols;
    bool any;

    if (vs_symbols_open(&symbols, path, NULL) < 0)
        return false;
    any = vs_symbols_count(symbols) > 0;
    for (size_t i = 0; i < s->count; i++) {
        bool wanted = main || !s->main_only || s->places[i].kind != VS_PLACE_WANTED;

        s->found[i] |= wanted && vs_symbols_find(symbols, s->places[i].name, NULL) != NULL;
    }
    vs_symbols_close(symbols);
    return any;
}

/* Whether the image names a routine that loads or executes other code. Ways to do so without the
 * name are not looked for. */
static bool brings_more(const char *path)
{
    static const char *const names[] = {"\0dlopen", "\0dlmopen", "\0exec", "\0fexec"};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    void *bytes = MAP_FAILED;
    bool more = true;

    if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0)
        bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (fd >= 0)
        close(fd);
    if (bytes == MAP_FAILED)
        return true;
    more = false;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        more |= memmem(bytes, (size_t)st.st_size, names[i], 1 + strlen(names[i] + 1)) != NULL;
    munmap(bytes, (size_t)st.st_size);
    return more;
}

/* Gives the dynamic loader that the program asks for; "" if it asks for none. Returns false if the
 * engine does not run such programs. */
static bool find_loader(const char *path, char *loader, size_t capacity)
{
    Elf64_Phdr headers[HEADERS_MAX];
    Elf64_Ehdr h;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool ok = fd >= 0 && pread(fd, &h, sizeof(h), 0) == sizeof(h) &&
              !memcmp(h.e_ident, ELFMAG, SELFMAG) && h.e_phnum <= HEADERS_MAX &&
              h.e_phentsize == sizeof(headers[0]);
    size_t size = ok ? h.e_phnum * sizeof(headers[0]) : 0;

    *loader = 0;
    ok = ok && pread(fd, headers, size, (off_t)h.e_phoff) == (ssize_t)size;
    for (size_t i = 0; ok && i < h.e_phnum; i++)
        if (headers[i].p_type == PT_INTERP) {
            ok = headers[i].p_filesz > 0 && headers[i].p_filesz < capacity &&
                 pread(fd, loader, headers[i].p_filesz, (off_t)headers[i].p_offset) ==
                     (ssize_t)headers[i].p_filesz;
            loader[ok ? headers[i].p_filesz : 0] = 0;
        }
    if (fd >= 0)
        close(fd);
    return ok;
}

/* Has the loader write to the file which libraries it would map, without running the program.
 * Returns whether it did. */
static bool list_libraries(char *loader, const char *path, int fd)
{
    char list[] = "--list", program[PATH_MAX];
    char *argv[] = {loader, list, program, NULL};
    posix_spawn_file_actions_t actions;
    int status = -1;
    pid_t pid;
    bool ok;

    if ((size_t)snprintf(program, sizeof(program), "%s", path) >= sizeof(program) ||
        posix_spawn_file_actions_init(&actions) != 0)
        return false;
    ok = posix_spawn_file_actions_adddup2(&actions, fd, STDOUT_FILENO) == 0 &&
         posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0) == 0 &&
         posix_spawn(&pid, loader, &actions, NULL, argv, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    if (!ok)
        return false;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return status == 0;
}

/* The C library's files are in every program, and it is up to the program what it loads and
 * executes by means of them. */
static bool is_c_library(const char *path)
{
    static const char *const names[] = {"/libc.so", "/ld-linux", "/libdl.so", "/libpthread.so"};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strstr(path, names[i]))
            return true;
    return false;
}

/* Takes one of the loader's lines: "\tNAME => /PATH (0x...)" or "\t/PATH (0x...)". */
static void look_into_library(struct search *s, char *line)
{
    char *path = strchr(line, '/'), *end = path ? strstr(path, " (0x") : NULL;
    char *arrow = strstr(line, " => ");

    if (arrow)
        path = arrow + strlen(" => ");
    if (!end || *path != '/')
        return;
    *end = 0;
    look_into(s, path, false);
    s->open |= !is_c_library(path) && brings_more(path);
}

static void look_into_libraries(struct search *s, char *loader, const char *path)
{
    int fd = memfd_create("vestige-libraries", MFD_CLOEXEC);
    struct vs_infile f;
    char name[32];

    snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
    if (fd < 0 || !list_libraries(loader, path, fd) || vs_infile_open(&f, name, NULL) < 0) {
        s->open = true; /* nobody can tell what it brings */
    } else {
        while (vs_infile_line(&f, NULL) >= 0)
            look_into_library(s, (char *)f.text.data);
        vs_infile_close(&f);
    }
    if (fd >= 0)
        close(fd);
}

int vs_places_check(const char *path, const struct vs_place *places, size_t count, bool main_only,
                    struct vs_diag *diag)
{
    struct search s = {.places = places, .count = count, .main_only = main_only};
    char loader[PATH_MAX];

    if (count > PLACES_MAX || !missing(&s) || !find_loader(path, loader, sizeof(loader)))
        return 0;
    /* A program without names may do anything without naming it. */
    if (!look_into(&s, path, true) || !missing(&s) || brings_more(path))
        return 0;
    if (*loader)
        look_into_libraries(&s, loader, path);
    if (s.open || !missing(&s))
        return 0;
    return vs_diag_set(diag, -VSE_NOTFOUND, -1, -1,
                       "no routine '%.100s' in the program or its libraries; 'nm -C' lists what "
                       "there is",
                       missing(&s)->name);
}
