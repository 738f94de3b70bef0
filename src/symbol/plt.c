/* SPDX-License-Identifier: MIT */
/* The stubs through which an image calls other images. They have no symbols: a stub jumps
 * through a slot, and a relocation says whose address the slot gets. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"
#include "isa/isa.h"
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

static int read_relocations(struct slots *s, const struct vs_elf *e,
                            const struct vs_isa_stubs *stubs, Elf_Scn *scn, size_t symbols)
{
    Elf_Data *data = elf_getdata(scn, NULL);
    GElf_Rela r;

    if (!data || !data->d_buf || data->d_type != ELF_T_RELA)
        return 0;
    for (int i = 0; gelf_getrela(data, i, &r); i++) {
        unsigned type = GELF_R_TYPE(r.r_info);
        const char *name;

        if (type != stubs->relocations[0] && type != stubs->relocations[1])
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

static int read_slots(struct slots *s, const struct vs_elf *e, const struct vs_isa_stubs *stubs)
{
    GElf_Shdr h;
    int err = 0;

    for (Elf_Scn *scn = NULL; err == 0 && (scn = elf_nextscn(e->elf, scn));)
        if (gelf_getshdr(scn, &h) && h.sh_type == SHT_RELA && (h.sh_flags & SHF_ALLOC) &&
            !(h.sh_flags & SHF_COMPRESSED))
            err = read_relocations(s, e, stubs, scn, h.sh_link);
    if (s->count)
        qsort(s->list, s->count, sizeof(*s->list), by_address);
    return err;
}

static const char *slot_name(const struct slots *s, uint64_t address)
{
    size_t i = VS_FIRST_FROM(s->list, s->count, address, address);

    return i < s->count && s->list[i].address == address ? s->list[i].name : NULL;
}

/* ---- stubs ----------------------------------------------------------------------------------- */

static int read_stubs(const struct slots *s, const struct vs_isa_stubs *stubs, Elf_Scn *scn,
                      const GElf_Shdr *h, vs_elf_take *take, void *context)
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
        if (stubs->find_slot((const uint8_t *)data->d_buf + at, each, sym.st_value, &slot))
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
    const struct vs_isa *isa;
    struct slots s = {0};
    GElf_Ehdr header;
    GElf_Shdr h;
    size_t names;
    int err;

    if (!gelf_getehdr(e->elf, &header) || !(isa = vs_isa_of_machine(header.e_machine)) ||
        !isa->stubs || elf_getshdrstrndx(e->elf, &names) < 0)
        return 0;
    err = read_slots(&s, e, isa->stubs);
    for (Elf_Scn *scn = NULL; err == 0 && (scn = elf_nextscn(e->elf, scn));)
        if (gelf_getshdr(scn, &h) && has_stubs(e, &h, names))
            err = read_stubs(&s, isa->stubs, scn, &h, take, context);
    free(s.list);
    return err;
}
