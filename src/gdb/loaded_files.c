/* SPDX-License-Identifier: MIT */
#include "gdb/loaded_files.h"

#include <stdlib.h>
#include <string.h>

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

static bool has_id(const struct vs_elf *elf, const struct vs_image *image)
{
    uint8_t id[VS_BUILD_ID_MAX];
    struct vs_diag diag;
    int64_t size = vs_elf_build_id(elf, id, &diag);
    return size == image->build_id_size && !memcmp(id, image->build_id, (size_t)size);
}

/* Returns whether the file is the image, under whatever name, or has its name. */
static bool is_image(const char *path, const struct vs_image *image)
{
    struct vs_diag diag;
    struct vs_elf elf;
    if (is_named(path, image->path))
        return true;
    if (!image->build_id_size || vs_elf_open(&elf, path, &diag))
        return false;
    bool is = has_id(&elf, image);
    vs_elf_close(&elf);
    return is;
}

/* A file that the user gave is taken as it is. */
static int read_file(struct vs_gdb_file *file)
{
    struct vs_diag diag;
    struct vs_elf elf;
    int err = vs_elf_open(&elf, file->path, &diag);
    if (!err) {
        file->changed = file->path == file->image->path && file->image->build_id_size &&
                        !has_id(&elf, file->image);
        err = file->changed ? -VSE_NOTFOUND : vs_elf_layout(&elf, &file->layout, &diag);
        vs_elf_close(&elf);
    }
    file->readable = !err;
    if (err)
        file->layout = (struct vs_elf_layout){0};
    /* An executable of which only some other code is mapped, such as Valgrind's, is not run. */
    const struct vs_image *image = file->image;
    file->layout.program &= file->layout.entry + image->base - image->start < image->length;
    return err == -VSE_NOMEM ? err : 0;
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
        struct vs_gdb_file *file = &f->list[i];
        file->image = &images[i];
        file->path = images[i].path;
        f->count++;
        if (file->path[0] != '/')
            continue;
        for (size_t k = 0; k < given_count; k++)
            if (is_image(given[k], &images[i]))
                file->path = given[k];
        err = read_file(file);
    }
    return err;
}

void vs_gdb_files_fini(struct vs_gdb_files *f)
{
    free(f->list);
    free(f->libraries);
    *f = (struct vs_gdb_files){0};
}

/* ---- programs -------------------------------------------------------------------------------- */

static bool is_loader(const struct vs_gdb_file *file, const struct vs_gdb_file *program)
{
    return file != program && program->layout.loader[0] &&
           is_named(file->path, program->layout.loader);
}

/* Returns the first file of the program that now runs. If the replay has its code from elsewhere
 * and knows no files, each executable begins a program; its loader may come just before it. */
static size_t first_file(const struct vs_gdb_files *f, const struct vs_replay *r)
{
    const struct vs_present *present = &r->outside.present;
    unsigned programs = 0;
    if (present->image_count)
        return present->programs[present->program_count - 1];
    for (size_t i = 0; i < f->count; i++) {
        programs += f->list[i].layout.program;
        if (f->list[i].layout.program && programs == present->program_count)
            return i && is_loader(&f->list[i - 1], &f->list[i]) ? i - 1 : i;
    }
    return present->program_count > 1 ? f->count : 0;
}

const struct vs_gdb_file *vs_gdb_files_program(const struct vs_gdb_files *f,
                                               const struct vs_replay *r)
{
    size_t first = first_file(f, r), i = first;
    while (i < f->count && !f->list[i].layout.program)
        i++;
    return i < f->count ? &f->list[i] : first < f->count ? &f->list[first] : NULL;
}

static const struct vs_gdb_file *find_loader(const struct vs_gdb_files *f, size_t first,
                                             const struct vs_gdb_file *program)
{
    for (size_t i = first; i < f->count; i++)
        if (is_loader(&f->list[i], program))
            return &f->list[i];
    return NULL;
}

/* What a program starts with is listed by address, so its loader may come just before it. */
uint64_t vs_gdb_files_start(const struct vs_gdb_files *f, size_t i)
{
    const struct vs_gdb_file *file = &f->list[i];
    bool first = true;
    for (size_t k = 0; k < i; k++)
        first &= !f->list[k].layout.program;
    if (first || !file->layout.program)
        return 0;
    const struct vs_gdb_file *loader = find_loader(f, i - 1, file);
    if (file->layout.loader[0])
        file = loader;
    return file && file->readable ? file->layout.entry + file->image->base : 0;
}

/* ---- libraries ------------------------------------------------------------------------------- */

static uint64_t dynamic_of(const struct vs_gdb_file *file)
{
    return file->layout.dynamic ? file->layout.dynamic + file->image->base : 0;
}

/* A file without a dynamic section is none that the loader loaded. If it cannot be read, a debugger
 * should say so. */
static bool is_library(const struct vs_gdb_files *f, size_t i, const struct vs_gdb_file *program,
                       const struct vs_replay *r)
{
    const struct vs_gdb_file *file = &f->list[i];
    const struct vs_present *present = &r->outside.present;
    if (file == program || file->changed ||
        (file->readable ? !file->layout.dynamic : file->path[0] != '/'))
        return false;
    return file == find_loader(f, first_file(f, r), program) ||
           vs_present_came_already(present, present->program_count - 1, (unsigned)i);
}

void vs_gdb_files_now(const struct vs_gdb_files *f, const struct vs_replay *r,
                      struct vs_gdb_process *p)
{
    const struct vs_gdb_file *program = vs_gdb_files_program(f, r);
    *p = (struct vs_gdb_process){.libraries = f->libraries};
    if (!program)
        return;
    const struct vs_elf_layout *l = &program->layout;
    const struct vs_gdb_file *loader = find_loader(f, first_file(f, r), program);
    p->program = program->readable ? program->path : NULL;
    p->base = program->image->base;
    p->dynamic = dynamic_of(program);
    p->entry = l->entry ? l->entry + p->base : 0;
    p->headers = l->headers ? l->headers + p->base : 0;
    p->header_count = l->header_count;
    p->loader = loader ? loader->image->base : 0;
    for (size_t i = first_file(f, r); i < f->count; i++) {
        const struct vs_gdb_file *file = &f->list[i];
        if (is_library(f, i, program, r))
            f->libraries[p->library_count++] = (struct vs_gdb_library){
                .path = file == loader ? program->layout.loader : file->path,
                .base = file->image->base,
                .dynamic = file->readable ? dynamic_of(file) : file->image->start};
    }
}

/* A debugger takes a file for the same that has the same name and lies at the same place. */
static bool is_there(const struct vs_gdb_files *f, const struct vs_gdb_file *file,
                     const struct vs_replay *r, const struct vs_gdb_file *program)
{
    for (size_t i = first_file(f, r); i < f->count && program; i++)
        if (f->list[i].image->base == file->image->base && !strcmp(f->list[i].path, file->path) &&
            is_library(f, i, program, r))
            return true;
    return false;
}

const struct vs_image *vs_gdb_files_gone(struct vs_gdb_files *f, const struct vs_replay *r)
{
    const struct vs_gdb_file *program = vs_gdb_files_program(f, r);
    for (size_t i = 0; i < f->count; i++)
        if (f->list[i].told && !is_there(f, &f->list[i], r, program)) {
            f->list[i].told = false;
            return f->list[i].image;
        }
    for (size_t i = first_file(f, r); i < f->count && program; i++)
        f->list[i].told |= is_library(f, i, program, r);
    return NULL;
}

void vs_gdb_files_untell(struct vs_gdb_files *f)
{
    for (size_t i = 0; i < f->count; i++)
        f->list[i].told = false;
}

unsigned vs_gdb_files_module(const struct vs_gdb_files *f, const struct vs_replay *r,
                             uint64_t dynamic)
{
    const struct vs_gdb_file *program = vs_gdb_files_program(f, r);
    unsigned number = 0;
    for (size_t i = first_file(f, r); i < f->count && program; i++) {
        const struct vs_gdb_file *file = &f->list[i];
        if (!file->layout.tls || (file != program && !is_library(f, i, program, r)))
            continue;
        number++;
        if (dynamic_of(file) == dynamic)
            return number;
    }
    return 0;
}
