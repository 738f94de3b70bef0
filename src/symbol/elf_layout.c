/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "symbol/elf.h"

static void note_segment(struct vs_elf_layout *l, const GElf_Ehdr *file, const GElf_Phdr *p)
{
    if (l->start == l->end || p->p_vaddr < l->start)
        l->start = p->p_vaddr;
    if (p->p_vaddr + p->p_memsz > l->end)
        l->end = p->p_vaddr + p->p_memsz;
    if (!l->headers && file->e_phoff - p->p_offset < p->p_filesz)
        l->headers = file->e_phoff - p->p_offset + p->p_vaddr;
}

static void read_loader(const struct vs_elf *e, const GElf_Phdr *p, char *loader, size_t capacity)
{
    ssize_t n =
        p->p_filesz < capacity ? pread(e->fd, loader, (size_t)p->p_filesz, (off_t)p->p_offset) : 0;
    loader[n > 0 ? n : 0] = 0;
}

/* Returns whether the dynamic section says that this is a program that can lie anywhere, which
 * otherwise looks like a library. */
static bool is_movable_program(const struct vs_elf *e)
{
    GElf_Shdr h;
    GElf_Dyn entry;
    for (Elf_Scn *scn = NULL; (scn = elf_nextscn(e->elf, scn));) {
        Elf_Data *data =
            gelf_getshdr(scn, &h) && h.sh_type == SHT_DYNAMIC ? elf_getdata(scn, NULL) : NULL;
        for (int i = 0; data && gelf_getdyn(data, i, &entry) && entry.d_tag != DT_NULL; i++)
            if (entry.d_tag == DT_FLAGS_1)
                return entry.d_un.d_val & DF_1_PIE;
    }
    return false;
}

int vs_elf_layout(const struct vs_elf *e, struct vs_elf_layout *l, struct vs_diag *diag)
{
    GElf_Ehdr file;
    GElf_Phdr p;
    size_t count;
    *l = (struct vs_elf_layout){0};
    errno = 0;
    if (!gelf_getehdr(e->elf, &file) || elf_getphdrnum(e->elf, &count) < 0)
        return vs_diag_set(diag, -VSE_CORRUPT, -1, -1, "a damaged ELF file: it has no headers");
    l->entry = file.e_entry;
    l->header_count = count;
    l->program = file.e_type == ET_EXEC || is_movable_program(e);
    for (size_t i = 0; i < count && gelf_getphdr(e->elf, (int)i, &p); i++) {
        if (p.p_type == PT_LOAD && p.p_memsz <= UINT64_MAX - p.p_vaddr)
            note_segment(l, &file, &p);
        else if (p.p_type == PT_DYNAMIC)
            l->dynamic = p.p_vaddr;
        else if (p.p_type == PT_TLS)
            l->tls = p.p_memsz > 0;
        else if (p.p_type == PT_INTERP)
            read_loader(e, &p, l->loader, sizeof(l->loader));
    }
    return errno == ENOMEM ? -VSE_NOMEM : errno == EIO ? vs_diag_io(diag, "read", NULL) : 0;
}
