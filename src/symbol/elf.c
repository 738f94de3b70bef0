/* SPDX-License-Identifier: MIT */
#include "symbol/elf.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/diag.h"

/* ---- opening --------------------------------------------------------------------------------- */

/* libelf does not distinguish what is wrong with the file from what is wrong with reading it, but
 * errno does, if it was zero before. Returns 0 if it is the file. */
static int trouble(struct vs_diag *diag)
{
    if (errno == ENOMEM)
        return vs_diag_set(diag, -VSE_NOMEM, -1, -1, "out of memory");
    return errno == EIO ? vs_diag_io(diag, "cannot read it", NULL) : 0;
}

static int corrupt(struct vs_diag *diag, const char *what)
{
    int err = trouble(diag);

    if (err)
        return err;
    return vs_diag_set(diag, -VSE_CORRUPT, -1, -1, "a damaged ELF file: %s", what);
}

static int check_kind(Elf *elf, struct vs_diag *diag)
{
    GElf_Ehdr header;

    if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &header)) {
        int err = trouble(diag);

        return err ? err : vs_diag_set(diag, -VSE_FORMAT, -1, -1, "not an ELF file");
    }
    if (header.e_type != ET_EXEC && header.e_type != ET_DYN)
        return vs_diag_set(diag, -VSE_FORMAT, -1, -1,
                           "an ELF file, but neither an executable nor a shared library");
    return 0;
}

/* libelf treats tables that lie outside the file as if there were none. */
static int check_tables(Elf *elf, struct vs_diag *diag)
{
    GElf_Ehdr header;
    size_t sections, segments;

    if (!gelf_getehdr(elf, &header) || elf_getshdrnum(elf, &sections) < 0 ||
        (header.e_shoff && header.e_shnum && !sections))
        return corrupt(diag, "the section headers lie outside the file");
    if (elf_getphdrnum(elf, &segments) < 0 || (header.e_phoff && header.e_phnum && !segments))
        return corrupt(diag, "the program headers lie outside the file");
    return 0;
}

static int open_regular(const char *path, struct vs_diag *diag)
{
    /* O_NONBLOCK: opening a pipe must not wait for its writer, only for the pipe to be refused
     * then */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), err;
    struct stat st;

    if (fd < 0 || fstat(fd, &st) < 0)
        err = vs_diag_io(diag, "cannot open it", NULL);
    else if (!S_ISREG(st.st_mode))
        err = vs_diag_set(diag, -VSE_INVAL, -1, -1, "not a regular file");
    else
        return fd;
    if (fd >= 0)
        close(fd);
    return err;
}

int vs_elf_open(struct vs_elf *e, const char *path, struct vs_diag *diag)
{
    int err;

    *e = (struct vs_elf){.fd = open_regular(path, diag)};
    if (e->fd < 0)
        return e->fd;
    elf_version(EV_CURRENT);
    /* not mapped: a file that shrinks while it is read must not be a SIGBUS */
    errno = 0;
    e->elf = elf_begin(e->fd, ELF_C_READ, NULL);
    err = check_kind(e->elf, diag);
    if (err == 0)
        err = check_tables(e->elf, diag);
    if (err < 0)
        vs_elf_close(e);
    return err;
}

void vs_elf_close(struct vs_elf *e)
{
    elf_end(e->elf);
    if (e->fd >= 0)
        close(e->fd);
    *e = (struct vs_elf){.fd = -1};
}

int64_t vs_elf_build_id(const struct vs_elf *e, uint8_t id[VS_BUILD_ID_MAX], struct vs_diag *diag)
{
    const void *bytes;
    ssize_t size;

    errno = 0;
    size = dwelf_elf_gnu_build_id(e->elf, &bytes);
    if (size <= 0) /* libelf does not find what it could not read, either */
        return trouble(diag);
    if (size > VS_BUILD_ID_MAX)
        return 0;
    memcpy(id, bytes, (size_t)size);
    return size;
}

uint64_t vs_elf_entry(const struct vs_elf *e)
{
    GElf_Ehdr header;

    return gelf_getehdr(e->elf, &header) ? header.e_entry : 0;
}

/* ---- where code lies ------------------------------------------------------------------------- */

static bool is_loaded(const GElf_Phdr *p)
{
    return p->p_type == PT_LOAD && p->p_memsz > 0 && p->p_memsz >= p->p_filesz &&
           p->p_filesz <= UINT64_MAX - p->p_offset && p->p_memsz <= UINT64_MAX - p->p_vaddr;
}

int64_t vs_elf_loaded(const struct vs_elf *e, struct vs_segment **list, struct vs_diag *diag)
{
    size_t total, count = 0;
    GElf_Phdr p;

    errno = 0;
    if (elf_getphdrnum(e->elf, &total) < 0 || total > INT32_MAX)
        return corrupt(diag, "the program headers lie outside the file");
    *list = calloc(total + 1, sizeof(**list));
    if (!*list)
        return vs_diag_set(diag, -VSE_NOMEM, -1, -1, "no memory for %zu segments", total);
    for (size_t i = 0; i < total; i++) {
        if (!gelf_getphdr(e->elf, (int)i, &p)) {
            free(*list);
            *list = NULL;
            return corrupt(diag, "the program headers lie outside the file");
        }
        if (is_loaded(&p))
            (*list)[count++] = (struct vs_segment){.offset = p.p_offset,
                                                   .size = p.p_filesz,
                                                   .address = p.p_vaddr,
                                                   .memory = p.p_memsz,
                                                   .code = p.p_flags & PF_X,
                                                   .writable = p.p_flags & PF_W};
    }
    return (int64_t)count;
}

int64_t vs_elf_segments(const struct vs_elf *e, struct vs_segment **list, struct vs_diag *diag)
{
    int64_t count = vs_elf_loaded(e, list, diag), kept = 0;

    for (int64_t i = 0; i < count; i++)
        if ((*list)[i].code && (*list)[i].size)
            (*list)[kept++] = (*list)[i];
    return count < 0 ? count : kept;
}

static int by_start(const void *a, const void *b)
{
    const struct vs_range *x = a, *y = b;

    return (x->start > y->start) - (x->start < y->start);
}

static int64_t code_sections(const struct vs_elf *e, struct vs_range **list)
{
    size_t count = 0, capacity = 0;
    GElf_Shdr h;

    for (Elf_Scn *scn = NULL; (scn = elf_nextscn(e->elf, scn));) {
        if (!gelf_getshdr(scn, &h) || !(h.sh_flags & SHF_ALLOC) || !(h.sh_flags & SHF_EXECINSTR) ||
            h.sh_size == 0 || h.sh_size > UINT64_MAX - h.sh_addr)
            continue;
        if (vs_array_room((void **)list, &capacity, count, 1, sizeof(**list)) < 0)
            return -VSE_NOMEM;
        (*list)[count++] = (struct vs_range){h.sh_addr, h.sh_addr + h.sh_size};
    }
    return (int64_t)count;
}

static int64_t code_segments(const struct vs_elf *e, struct vs_range **list, struct vs_diag *diag)
{
    struct vs_segment *segments;
    int64_t count = vs_elf_segments(e, &segments, diag);

    if (count < 0)
        return count;
    *list = calloc((size_t)count + 1, sizeof(**list));
    for (int64_t i = 0; *list && i < count; i++)
        (*list)[i] = (struct vs_range){segments[i].address, segments[i].address + segments[i].size};
    free(segments);
    return *list ? count : vs_diag_set(diag, -VSE_NOMEM, -1, -1, "no memory for segments");
}

int64_t vs_elf_code(const struct vs_elf *e, struct vs_range **list, struct vs_diag *diag)
{
    int64_t count;

    *list = NULL;
    count = code_sections(e, list);
    if (count == 0)
        count = code_segments(e, list, diag);
    if (count < 0) {
        free(*list);
        *list = NULL;
        return count == -VSE_NOMEM ? vs_diag_set(diag, -VSE_NOMEM, -1, -1, "no memory for sections")
                                   : count;
    }
    qsort(*list, (size_t)count, sizeof(**list), by_start);
    return count;
}

/* ---- symbols --------------------------------------------------------------------------------- */

static int read_table(const struct vs_elf *e, Elf_Scn *scn, const GElf_Shdr *h, vs_elf_take *take,
                      void *context)
{
    size_t each = gelf_fsize(e->elf, ELF_T_SYM, 1, EV_CURRENT), count;
    Elf_Data *data;
    GElf_Sym sym;

    errno = 0;
    data = elf_getdata(scn, NULL);
    if (!data && errno == ENOMEM)
        return -VSE_NOMEM;
    if (!data || !data->d_buf || !each || data->d_type != ELF_T_SYM)
        return 0;
    count = data->d_size / each;
    if (count > INT32_MAX)
        count = INT32_MAX;
    for (size_t i = 0; i < count; i++) {
        const char *name;
        int err;

        if (!gelf_getsym(data, (int)i, &sym) || sym.st_shndx == SHN_UNDEF)
            continue;
        errno = 0;
        name = elf_strptr(e->elf, h->sh_link, sym.st_name);
        if (!name && errno == ENOMEM)
            return -VSE_NOMEM;
        if (name && *name && (err = take(context, &sym, name)) < 0)
            return err;
    }
    return 0;
}

int vs_elf_symbols(const struct vs_elf *e, unsigned type, vs_elf_take *take, void *context)
{
    GElf_Shdr h;
    int err = 0;

    for (Elf_Scn *scn = NULL; err == 0 && (scn = elf_nextscn(e->elf, scn));)
        if (gelf_getshdr(scn, &h) && h.sh_type == type && !(h.sh_flags & SHF_COMPRESSED))
            err = read_table(e, scn, &h, take, context);
    return err;
}
