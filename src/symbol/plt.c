/* SPDX-License-Identifier: MIT */
/* The stubs through which an x86-64 image calls other images. They have no symbols: a stub jumps
 * through a slot, and a relocation says whose address the slot gets. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bytes.h"
#include "symbol/elf.h"

struct slot {
    uint64_t address;
    const char *name;
};

struct slots {
    struct slot *list;
    size_t count, capacity;
};

/* ---- slots ----------------------------------------------------------------------------------- */

static const char *symbol_name(const struct vs_elf *e, size_t table, size_t number)
{
    Elf_Scn *scn = elf_getscn(e->elf, table);
    Elf_Data *data;
    GElf_Shdr h;
    GElf_Sym sym;

    if (!scn || !gelf_getshdr(scn, &h) || h.sh_type != SHT_DYNSYM || number > INT32_MAX)
        return NULL;
    data = elf_getdata(scn, NULL);
    if (!data || !data->d_buf || !gelf_getsym(data, (int)number, &sym))
        return NULL;
    return elf_strptr(e->elf, h.sh_link, sym.st_name);
}

static int read_relocations(struct slots *s, const struct vs_elf *e, Elf_Scn *scn, size_t symbols)
{
    Elf_Data *data = elf_getdata(scn, NULL);
    GElf_Rela r;

    if (!data || !data->d_buf || data->d_type != ELF_T_RELA)
        return 0;
    for (int i = 0; gelf_getrela(data, i, &r); i++) {
        unsigned type = GELF_R_TYPE(r.r_info);
        const char *name;

        if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT)
            continue;
        name = symbol_name(e, symbols, GELF_R_SYM(r.r_info));
        if (!name || !*name)
            continue;
        if (vs_array_room((void **)&s->list, &s->capacity, s->count, 1, sizeof(*s->list)) < 0)
            return -VSE_NOMEM;
        s->list[s->count++] = (struct slot){r.r_offset, name};
    }
    return 0;
}

static int by_address(const void *a, const void *b)
{
    const struct slot *x = a, *y = b;

    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    return strcmp(x->name, y->name);
}

static int read_slots(struct slots *s, const struct vs_elf *e)
{
    GElf_Shdr h;
    int err = 0;

    for (Elf_Scn *scn = NULL; err == 0 && (scn = elf_nextscn(e->elf, scn));)
        if (gelf_getshdr(scn, &h) && h.sh_type == SHT_RELA && (h.sh_flags & SHF_ALLOC) &&
            !(h.sh_flags & SHF_COMPRESSED))
            err = read_relocations(s, e, scn, h.sh_link);
    if (s->count)
        qsort(s->list, s->count, sizeof(*s->list), by_address);
    return err;
}

static const char *slot_name(const struct slots *s, uint64_t address)
{
    size_t lo = 0, hi = s->count;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;

        if (s->list[mid].address < address)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < s->count && s->list[lo].address == address ? s->list[lo].name : NULL;
}

/* ---- stubs ----------------------------------------------------------------------------------- */

/* Whether a stub of `size` bytes, 8 at least, begins with [endbr64] [bnd] jmp *slot(%rip). */
static bool stub_slot(const uint8_t *stub, size_t size, uint64_t address, uint64_t *slot)
{
    size_t at = memcmp(stub, "\xf3\x0f\x1e\xfa", 4) == 0 ? 4 : 0;

    at += stub[at] == 0xf2;
    if (size - at < 6 || stub[at] != 0xff || stub[at + 1] != 0x25)
        return false;
    *slot = address + at + 6 + (uint64_t)(int32_t)vs_get32(stub + at + 2);
    return true;
}

static int read_stubs(const struct slots *s, Elf_Scn *scn, const GElf_Shdr *h, vs_elf_take *take,
                      void *context)
{
    Elf_Data *data = elf_getdata(scn, NULL);
    size_t each = h->sh_entsize == 8 ? 8 : 16;
    GElf_Sym sym = {.st_info = GELF_ST_INFO(STB_LOCAL, STT_FUNC), .st_size = each};
    uint64_t slot;
    int err = 0;

    if (!data || !data->d_buf)
        return 0;
    for (size_t at = 0; err == 0 && at < data->d_size && data->d_size - at >= each; at += each) {
        const char *name = NULL;

        sym.st_value = h->sh_addr + at;
        if (stub_slot((const uint8_t *)data->d_buf + at, each, sym.st_value, &slot))
            name = slot_name(s, slot);
        if (name)
            err = take(context, &sym, name);
    }
    return err;
}

static bool has_stubs(const struct vs_elf *e, const GElf_Shdr *h, size_t names)
{
    const char *name = elf_strptr(e->elf, names, h->sh_name);

    return h->sh_type == SHT_PROGBITS && (h->sh_flags & SHF_EXECINSTR) &&
           !(h->sh_flags & SHF_COMPRESSED) && name &&
           (strcmp(name, ".plt") == 0 || strcmp(name, ".plt.sec") == 0 ||
            strcmp(name, ".plt.got") == 0);
}

int vs_elf_stubs(const struct vs_elf *e, vs_elf_take *take, void *context)
{
    struct slots s = {0};
    GElf_Ehdr header;
    GElf_Shdr h;
    size_t names;
    int err;

    if (!gelf_getehdr(e->elf, &header) || header.e_machine != EM_X86_64 ||
        elf_getshdrstrndx(e->elf, &names) < 0)
        return 0;
    err = read_slots(&s, e);
    for (Elf_Scn *scn = NULL; err == 0 && (scn = elf_nextscn(e->elf, scn));)
        if (gelf_getshdr(scn, &h) && has_stubs(e, &h, names))
            err = read_stubs(&s, scn, &h, take, context);
    free(s.list);
    return err;
}
