/* SPDX-License-Identifier: MIT */
/* Loads a program: makes an ELF file a task that stands before its first instruction. */
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/diag.h"
#include "target/config.h"
#include "target/linux.h"
#include "symbol/elf.h"

#define SEGMENTS_MAX 64
#define LOAD_CHUNK   65536

/* What is to be loaded. */
struct program {
    const struct vs_isa *isa;
    struct vs_elf elf;
    GElf_Ehdr header;
    GElf_Phdr segments[SEGMENTS_MAX];
    size_t count;
    uint64_t start, end; /* of all segments, in whole pages, as linked */
};

static uint64_t page_down(uint64_t addr)
{
    return addr & ~(VS_PAGE_SIZE - 1);
}

static uint64_t page_up(uint64_t addr)
{
    return page_down(addr + VS_PAGE_SIZE - 1);
}

/* ---- checking -------------------------------------------------------------------------------- */

static int refuse(struct vs_diag *diag, const char *why)
{
    return vs_diag_set(diag, -VSE_INVAL, -1, -1, "%s", why);
}

static int check_header(const struct program *g, struct vs_diag *diag)
{
    const GElf_Ehdr *h = &g->header;
    if (h->e_machine != g->isa->elf_machine || h->e_ident[EI_CLASS] != ELFCLASS64 ||
        h->e_ident[EI_DATA] != ELFDATA2LSB)
        return vs_diag_set(diag, -VSE_INVAL, -1, -1, "not a program for %s", g->isa->title);
    const char *why = g->isa->abi->refuse(h->e_flags);
    if (why)
        return refuse(diag, why);
    if (h->e_phentsize != sizeof(Elf64_Phdr))
        return refuse(diag, "a damaged ELF file: program headers of an unknown size");
    return 0;
}

static bool is_sane(const GElf_Phdr *s, uint64_t after)
{
    return s->p_filesz <= s->p_memsz && s->p_memsz <= VS_LINUX_PIE_BASE &&
           s->p_vaddr <= VS_LINUX_PIE_BASE - s->p_memsz && s->p_vaddr >= after &&
           s->p_offset <= INT64_MAX - s->p_filesz &&
           !((s->p_offset ^ s->p_vaddr) & (VS_PAGE_SIZE - 1));
}

static int add_segment(struct program *g, const GElf_Phdr *s, struct vs_diag *diag)
{
    const GElf_Phdr *last = g->count ? &g->segments[g->count - 1] : NULL;
    if (!s->p_memsz)
        return 0;
    if (g->count == SEGMENTS_MAX)
        return refuse(diag, "a program of too many segments");
    if (!is_sane(s, last ? last->p_vaddr + last->p_memsz : 0))
        return refuse(diag, "a damaged ELF file: a segment has no place in memory");
    if (!last)
        g->start = page_down(s->p_vaddr);
    g->end = page_up(s->p_vaddr + s->p_memsz);
    g->segments[g->count++] = *s;
    return 0;
}

static bool has_code_at(const struct program *g, uint64_t addr)
{
    for (size_t i = 0; i < g->count; i++)
        if (g->segments[i].p_flags & PF_X && addr >= g->segments[i].p_vaddr &&
            addr - g->segments[i].p_vaddr < g->segments[i].p_memsz)
            return true;
    return false;
}

static int read_segments(struct program *g, struct vs_diag *diag)
{
    size_t total;
    GElf_Phdr s;
    int err = 0;
    if (elf_getphdrnum(g->elf.elf, &total))
        return refuse(diag, "a damaged ELF file: no program headers");
    for (size_t i = 0; !err && i < total; i++) {
        if (!gelf_getphdr(g->elf.elf, (int)i, &s))
            return refuse(diag, "a damaged ELF file: its program headers cannot be read");
        if (s.p_type == PT_INTERP)
            return refuse(diag, "a dynamically linked program; link it with -static");
        if (s.p_type == PT_LOAD)
            err = add_segment(g, &s, diag);
    }
    if (err)
        return err;
    if (!has_code_at(g, g->header.e_entry) || g->header.e_entry & (g->isa->alignment - 1))
        return refuse(diag, "not a program: there is no code at its entry");
    if (g->header.e_type == ET_EXEC && g->start < VS_LINUX_LOWEST)
        return refuse(diag, "a program that is linked to the lowest addresses");
    return 0;
}

static int open_program(struct program *g, const char *path, struct vs_diag *diag)
{
    *g = (struct program){.isa = vs_isa_find(VS_TARGET_ISA), .elf.fd = -1};
    if (access(path, F_OK)) {
        vs_diag_io(diag, "cannot open it", NULL);
        int err = errno == ENOENT || errno == ENOTDIR ? -VSE_NOTFOUND : -VSE_IO;
        if (diag)
            diag->error = err;
        return err;
    }
    int err = vs_elf_open(&g->elf, path, diag);
    if (err) {
        err = err == -VSE_IO || err == -VSE_NOMEM ? err : -VSE_INVAL;
        if (diag)
            diag->error = err;
        return err;
    }
    if (!gelf_getehdr(g->elf.elf, &g->header))
        err = refuse(diag, "a damaged ELF file: it has no header");
    if (!err)
        err = check_header(g, diag);
    if (!err)
        err = read_segments(g, diag);
    if (!err && access(path, X_OK))
        err = refuse(diag, "it may not be executed; chmod +x it");
    if (err)
        vs_elf_close(&g->elf);
    return err;
}

int vs_process_check(const char *path, struct vs_diag *diag)
{
    struct program g;
    int err = open_program(&g, path, diag);
    if (!err)
        vs_elf_close(&g.elf);
    return err;
}

/* ---- loading --------------------------------------------------------------------------------- */

static int limit(struct vs_process *p, struct vs_diag *diag)
{
    if (p->linux_state->nomem)
        return -VSE_NOMEM;
    return vs_diag_set(diag, -VSE_LIMIT, -1, -1,
                       "the program alone takes more than the %llu MiB of memory that it may "
                       "touch; --set memory=MIB gives it more",
                       (unsigned long long)(p->linux_state->space.limit >> 20));
}

/* Loads bytes of the file from offset on to addr. */
static int load_bytes(struct vs_process *p, const struct program *g, uint64_t addr, uint64_t offset,
                      uint64_t size, struct vs_diag *diag)
{
    uint8_t *bytes = malloc(LOAD_CHUNK);
    int err = bytes ? 0 : -VSE_NOMEM;
    while (!err && size) {
        size_t part = size < LOAD_CHUNK ? (size_t)size : LOAD_CHUNK;
        ssize_t got = TEMP_FAILURE_RETRY(pread(g->elf.fd, bytes, part, (off_t)offset));
        if (got < 0)
            err = vs_diag_io(diag, "cannot read it", NULL);
        else if (!got)
            err = refuse(diag, "a damaged ELF file: a segment lies outside the file");
        else
            vs_space_load(p, addr, bytes, (uint64_t)got);
        if (got > 0) {
            addr += (uint64_t)got;
            offset += (uint64_t)got;
            size -= (uint64_t)got;
        }
        if (!err && p->full)
            err = limit(p, diag);
    }
    free(bytes);
    return err;
}

/* Does as Linux does: loads whole pages of the file, and zeros where the segment goes on after what
 * it has in the file. A page that is also part of the segment before has the same bytes there. */
static int load_segment(struct vs_process *p, struct vs_task *t, const struct program *g,
                        const GElf_Phdr *s, uint64_t base, struct vs_diag *diag)
{
    unsigned flags = (s->p_flags & PF_R ? VS_MAP_READ : 0) |
                     (s->p_flags & PF_W ? VS_MAP_READ | VS_MAP_WRITE : 0) |
                     (s->p_flags & PF_X ? VS_MAP_EXEC : 0);
    uint64_t start = page_down(s->p_vaddr), before = s->p_vaddr - start;
    if (vs_space_map(p, t, base + start, page_up(s->p_vaddr + s->p_memsz) - start, flags,
                     VS_AREA_IMAGE))
        return limit(p, diag);
    return load_bytes(p, g, base + start, s->p_offset - before, s->p_filesz + before, diag);
}

static int load_program(struct vs_process *p, struct vs_task *t, const struct program *g,
                        struct vs_diag *diag)
{
    struct vs_linux *s = p->linux_state;
    uint64_t base = g->header.e_type == ET_DYN ? VS_LINUX_PIE_BASE - g->start : 0;
    for (size_t i = 0; i < g->count; i++) {
        int err = load_segment(p, t, g, &g->segments[i], base, diag);
        if (err)
            return err;
    }
    int64_t id = vs_elf_build_id(&g->elf, s->build_id, diag);
    if (id < 0)
        return (int)id;
    s->space.brk_start = s->space.brk = base + g->end;
    p->entry = base + g->header.e_entry;
    p->image = (struct vs_image){.path = s->path,
                                 .symbols = "",
                                 .build_id = s->build_id,
                                 .build_id_size = (uint32_t)id,
                                 .base = base,
                                 .start = base + g->start,
                                 .length = g->end - g->start};
    return 0;
}

static int load_trampoline(struct vs_process *p, struct vs_task *t, struct vs_diag *diag)
{
    const struct vs_abi_signals *signals = p->isa->abi->signals;
    if (vs_space_map(p, t, VS_LINUX_TRAMPOLINE, VS_PAGE_SIZE, VS_MAP_READ | VS_MAP_EXEC,
                     VS_AREA_PLAIN))
        return limit(p, diag);
    vs_space_load(p, VS_LINUX_TRAMPOLINE, signals->back, signals->back_size);
    struct vs_effect *e = vs_effect_add(p, VS_EFFECT_WROTE, t);
    e->addr = VS_LINUX_TRAMPOLINE;
    e->size = signals->back_size;
    return 0;
}

/* ---- the stack ------------------------------------------------------------------------------- */

/* The stack is built downwards from VS_LINUX_STACK_TOP, in a copy of its upper end. */
struct stack {
    uint8_t *bytes;
    uint64_t size, used; /* bytes */
};

static uint64_t stack_addr(const struct stack *s)
{
    return VS_LINUX_STACK_TOP - s->used;
}

static uint64_t push(struct stack *s, const void *bytes, uint64_t size)
{
    s->used += size;
    memcpy(s->bytes + s->size - s->used, bytes, size);
    return stack_addr(s);
}

static size_t count_of(char *const *list)
{
    size_t n = 0;
    while (list && list[n])
        n++;
    return n;
}

static uint64_t size_of(char *const *list)
{
    uint64_t size = 8;
    for (size_t i = 0; list && list[i]; i++)
        size += strlen(list[i]) + 1 + 8;
    return size;
}

/* Pushes strings, in order of address, and puts their addresses into `table`, ended by 0. */
static void push_strings(struct stack *s, char *const *list, uint64_t *table)
{
    size_t n = count_of(list);
    table[n] = 0;
    while (n--)
        table[n] = push(s, list[n], strlen(list[n]) + 1);
}

struct tables {
    uint64_t argc, *argv, envc, *envp;
    uint64_t random, path;
};

static uint64_t phdr_addr(const struct program *g, uint64_t base)
{
    for (size_t i = 0; i < g->count; i++) {
        const GElf_Phdr *s = &g->segments[i];
        if (g->header.e_phoff >= s->p_offset && g->header.e_phoff - s->p_offset < s->p_filesz)
            return base + s->p_vaddr + (g->header.e_phoff - s->p_offset);
    }
    return 0;
}

static void push_tables(struct vs_process *p, const struct program *g, struct stack *s,
                        const struct tables *tables)
{
    uint64_t aux[][2] = {
        {AT_PHDR, phdr_addr(g, p->image.base)},
        {AT_PHENT, sizeof(Elf64_Phdr)},
        {AT_PHNUM, g->header.e_phnum},
        {AT_PAGESZ, VS_PAGE_SIZE},
        {AT_BASE, 0},
        {AT_FLAGS, 0},
        {AT_ENTRY, p->entry},
        {AT_UID, VS_LINUX_UID},
        {AT_EUID, VS_LINUX_UID},
        {AT_GID, VS_LINUX_UID},
        {AT_EGID, VS_LINUX_UID},
        {AT_HWCAP, p->isa->abi->hwcap},
        {AT_CLKTCK, 100},
        {AT_SECURE, 0},
        {AT_RANDOM, tables->random},
        {AT_EXECFN, tables->path},
        {AT_MINSIGSTKSZ, p->isa->abi->signals->frame_size},
        {AT_NULL, 0},
    };
    uint64_t size = 8 + (tables->argc + tables->envc + 2) * 8 + sizeof(aux);
    s->used = (s->used + size + 15) / 16 * 16 - size; /* sp is a multiple of 16 */
    push(s, aux, sizeof(aux));
    push(s, tables->envp, (tables->envc + 1) * 8);
    push(s, tables->argv, (tables->argc + 1) * 8);
    push(s, &tables->argc, 8);
}

static const char *started_as(const struct vs_process_options *o)
{
    return o->started ? o->started : o->path;
}

static void build_stack(struct vs_process *p, struct vs_task *t, const struct program *g,
                        const struct vs_process_options *o, struct stack *s, struct tables *tables)
{
    uint64_t random[2] = {vs_process_random(p), vs_process_random(p)}, zero = 0;
    push(s, &zero, 8);
    tables->path = push(s, started_as(o), strlen(started_as(o)) + 1);
    push_strings(s, o->envp, tables->envp);
    push_strings(s, o->argv, tables->argv);
    s->used = (s->used + 15) / 16 * 16;
    tables->random = push(s, random, sizeof(random));
    push_tables(p, g, s, tables);
    vs_cpu_put(t->cpu, p->isa->abi->stack, stack_addr(s));
    vs_guest_put_quiet(p, t, stack_addr(s), s->bytes + s->size - s->used, s->used);
}

static int load_stack(struct vs_process *p, struct vs_task *t, const struct program *g,
                      const struct vs_process_options *o, struct vs_diag *diag)
{
    struct stack s = {.size = size_of(o->argv) + size_of(o->envp) + strlen(started_as(o)) + 1024};
    struct tables tables = {.argc = count_of(o->argv), .envc = count_of(o->envp)};
    if (vs_space_map(p, t, VS_LINUX_STACK_TOP - VS_LINUX_STACK_SIZE, VS_LINUX_STACK_SIZE,
                     VS_MAP_READ | VS_MAP_WRITE, VS_AREA_STACK))
        return limit(p, diag);
    if (s.size > VS_LINUX_STACK_SIZE / 4)
        return vs_diag_set(diag, -VSE_LIMIT, -1, -1, "arguments and environment are too long");
    s.bytes = calloc(1, s.size);
    tables.argv = malloc((tables.argc + 1) * 8);
    tables.envp = malloc((tables.envc + 1) * 8);
    int err = s.bytes && tables.argv && tables.envp ? 0 : -VSE_NOMEM;
    if (!err)
        build_stack(p, t, g, o, &s, &tables);
    free(s.bytes);
    free(tables.argv);
    free(tables.envp);
    return err;
}

int vs_load(struct vs_process *p, struct vs_task *t, const struct vs_process_options *options,
            struct vs_diag *diag)
{
    struct program g;
    int err = open_program(&g, options->path, diag);
    if (err)
        return err;
    p->linux_state->path = options->exe ? strdup(options->exe) : realpath(options->path, NULL);
    if (!p->linux_state->path) /* a file without a name */
        p->linux_state->path = strdup(options->path);
    if (!p->linux_state->path)
        err = -VSE_NOMEM;
    if (!err)
        err = load_program(p, t, &g, diag);
    if (!err)
        err = load_trampoline(p, t, diag);
    if (!err)
        err = load_stack(p, t, &g, options, diag);
    if (!err && p->full)
        err = limit(p, diag);
    if (!err) {
        const char *path = started_as(options), *name = strrchr(path, '/');
        snprintf(t->linux_state->name, sizeof(t->linux_state->name), "%s", name ? name + 1 : path);
        t->cpu->pc = p->entry;
    }
    vs_elf_close(&g.elf);
    return err;
}
