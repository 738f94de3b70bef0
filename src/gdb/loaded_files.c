/* SPDX-License-Identifier: MIT */
#include "gdb/loaded_files.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* ---- the files ------------------------------------------------------------------------------- */

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool is_named(const char *path, const char *other)
{
    return !strcmp(name_of(path), name_of(other));
}

/* Returns whether the file is the image, under whatever name, or has its name. */
static bool is_image(const char *path, const struct vs_image *image)
{
    uint8_t id[VS_BUILD_ID_MAX];
    struct vs_diag diag;
    struct vs_elf elf;
    if (is_named(path, image->path))
        return true;
    if (!image->build_id_size || vs_elf_open(&elf, path, &diag))
        return false;
    int64_t size = vs_elf_build_id(&elf, id, &diag);
    vs_elf_close(&elf);
    return size == image->build_id_size && !memcmp(id, image->build_id, (size_t)size);
}

static int read_file(struct vs_gdb_file *file)
{
    struct vs_diag diag;
    struct vs_elf elf;
    int err = vs_elf_open(&elf, file->path, &diag);
    if (!err) {
        err = vs_elf_layout(&elf, &file->layout, &diag);
        vs_elf_close(&elf);
    }
    file->readable = !err;
    if (err)
        file->layout = (struct vs_elf_layout){0};
    return err == -VSE_NOMEM ? err : 0;
}

/* Finds which files belong to which program. Each has one executable. What a process starts with is
 * listed by address, so the loader may come before it. */
static void divide(struct vs_gdb_files *f)
{
    bool known = false;
    unsigned program = 0;
    for (size_t i = 0; i < f->count; i++) {
        struct vs_gdb_file *file = &f->list[i];
        bool begins = file->layout.program && known;
        program += begins;
        file->program = program;
        known |= file->layout.program;
        if (begins && is_named(file->layout.loader, f->list[i - 1].path))
            f->list[i - 1].program = program;
    }
    f->programs = f->count ? program + 1 : 0;
}

int vs_gdb_files_init(struct vs_gdb_files *f, const struct vs_image *images, size_t count,
                      const char *const *given, size_t given_count)
{
    int err = 0;
    *f = (struct vs_gdb_files){.list = calloc(count + 1, sizeof(*f->list)),
                               .libraries = calloc(count + 1, sizeof(*f->libraries))};
    if (!f->list || !f->libraries)
        return -VSE_NOMEM;
    for (size_t i = 0; i < count && !err; i++) {
        struct vs_gdb_file *file = &f->list[f->count];
        if (images[i].path[0] != '/')
            continue;
        file->image = &images[i];
        file->path = images[i].path;
        for (size_t k = 0; k < given_count; k++)
            if (is_image(given[k], &images[i]))
                file->path = given[k];
        err = read_file(file);
        f->count++;
    }
    divide(f);
    return err;
}

void vs_gdb_files_fini(struct vs_gdb_files *f)
{
    free(f->list);
    free(f->libraries);
    *f = (struct vs_gdb_files){0};
}

/* ---- programs -------------------------------------------------------------------------------- */

unsigned vs_gdb_files_execs(const struct vs_replay *r)
{
    unsigned count = 0;
    for (unsigned i = 0; i < r->count; i++)
        count += vs_replay_is_replaced(&r->cores[i]);
    return count;
}

const struct vs_gdb_file *vs_gdb_files_program(const struct vs_gdb_files *f, unsigned execs)
{
    const struct vs_gdb_file *first = NULL;
    for (size_t i = 0; i < f->count; i++)
        if (f->list[i].program == execs) {
            if (f->list[i].layout.program)
                return &f->list[i];
            first = first ? first : &f->list[i];
        }
    return first;
}

static bool is_loader(const struct vs_gdb_file *file, const struct vs_gdb_file *program)
{
    return file->program == program->program && file != program && program->layout.loader[0] &&
           is_named(file->path, program->layout.loader);
}

static const struct vs_gdb_file *find_loader(const struct vs_gdb_files *f,
                                             const struct vs_gdb_file *program)
{
    for (size_t i = 0; i < f->count; i++)
        if (is_loader(&f->list[i], program))
            return &f->list[i];
    return NULL;
}

uint64_t vs_gdb_files_start(const struct vs_gdb_files *f, unsigned execs)
{
    const struct vs_gdb_file *program = vs_gdb_files_program(f, execs);
    const struct vs_gdb_file *loader = program ? find_loader(f, program) : NULL;
    const struct vs_gdb_file *first = loader ? loader : program;
    return first && first->readable ? first->layout.entry + first->image->base : 0;
}

/* ---- libraries ------------------------------------------------------------------------------- */

/* Returns whether the file's code is mapped after the call, if that was so before it or not. Other
 * files may have lain there; they hardly have the same size. */
static bool is_there_after(const struct vs_gdb_file *file, const struct vs_replay_map *m,
                           bool there)
{
    const struct vs_image *image = file->image;
    bool own = m->rights & PROT_EXEC && m->addr == image->start && m->size == image->length;
    return image->start - m->addr < m->size ? m->there && (there || own) : there;
}

static bool is_mapped(const struct vs_gdb_file *file, const struct vs_replay *r)
{
    bool there = false;
    for (size_t i = 0; i < r->map_count; i++)
        there = is_there_after(file, &r->maps[i], there);
    return there;
}

static uint64_t dynamic_of(const struct vs_gdb_file *file)
{
    return file->layout.dynamic ? file->layout.dynamic + file->image->base : 0;
}

/* A file without a dynamic section is none that the loader loaded. If it cannot be read, a debugger
 * should say so. */
static bool is_library(const struct vs_gdb_file *file, const struct vs_gdb_file *program,
                       const struct vs_replay *r)
{
    return file != program && file->program == program->program &&
           (file->layout.dynamic || !file->readable) &&
           (is_loader(file, program) || is_mapped(file, r));
}

static struct vs_gdb_library library_of(const struct vs_gdb_file *file,
                                        const struct vs_gdb_file *program)
{
    return (struct vs_gdb_library){
        .path = is_loader(file, program) ? program->layout.loader : file->path,
        .base = file->image->base,
        .dynamic = file->readable ? dynamic_of(file) : file->image->start};
}

void vs_gdb_files_now(const struct vs_gdb_files *f, const struct vs_replay *r,
                      struct vs_gdb_process *p)
{
    const struct vs_gdb_file *program = vs_gdb_files_program(f, vs_gdb_files_execs(r));
    *p = (struct vs_gdb_process){.libraries = f->libraries};
    if (!program)
        return;
    const struct vs_elf_layout *l = &program->layout;
    const struct vs_gdb_file *loader = find_loader(f, program);
    p->program = program->path;
    p->base = program->image->base;
    p->dynamic = dynamic_of(program);
    p->entry = l->entry ? l->entry + p->base : 0;
    p->headers = l->headers ? l->headers + p->base : 0;
    p->header_count = l->header_count;
    p->loader = loader ? loader->image->base : 0;
    for (size_t i = 0; i < f->count; i++)
        if (is_library(&f->list[i], program, r))
            f->libraries[p->library_count++] = library_of(&f->list[i], program);
}

/* ---- variables of threads -------------------------------------------------------------------- */

static size_t find_owner(const struct vs_gdb_file **owners, const struct vs_gdb_file *file,
                         size_t count)
{
    size_t i = 0;
    while (i < count && owners[i] != file)
        i++;
    return i;
}

/* The loader gives files with such variables the lowest number that is free when it maps them. */
unsigned vs_gdb_files_module(const struct vs_gdb_files *f, const struct vs_replay *r,
                             uint64_t dynamic)
{
    const struct vs_gdb_file *program = vs_gdb_files_program(f, vs_gdb_files_execs(r));
    const struct vs_gdb_file **owners = calloc(f->count + 1, sizeof(*owners));
    size_t number = 0;
    if (!owners || !program)
        goto done;
    owners[0] = program->layout.tls ? program : NULL;
    for (size_t i = 0; i < r->map_count; i++)
        for (size_t k = 0; k < f->count; k++) {
            const struct vs_gdb_file *file = &f->list[k];
            if (file == program || file->program != program->program || !file->layout.tls)
                continue;
            size_t at = find_owner(owners, file, f->count);
            bool there = is_there_after(file, &r->maps[i], at < f->count);
            if (!there && at < f->count)
                owners[at] = NULL;
            else if (there && at == f->count)
                owners[find_owner(owners, NULL, f->count)] = file;
        }
    while (number < f->count && (!owners[number] || dynamic_of(owners[number]) != dynamic))
        number++;
    number = number < f->count ? number + 1 : 0;
done:
    free(owners);
    return (unsigned)number;
}
