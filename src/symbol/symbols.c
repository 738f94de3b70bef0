/* SPDX-License-Identifier: MIT */
/* The table of an image's routines. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/diag.h"
#include "base/search.h"
#include "symbol/elf.h"
#include "symbol/names.h"
#include "symbol/symbol.h"

struct symbol {
    uint64_t start, end; /* end is that of the code around it if it has no size */
    const char *name;
    bool sized, local, ifunc;
};

/* All symbols with one start. */
struct entry {
    struct vs_routine routine; /* it comes first, so that a pointer to it is one to the entry */
    size_t first, last;        /* symbols [first, last); the first one names the routine */
    bool sized;
};

/* The addresses from its start to the next piece's start belong to one entry, or to none. */
struct piece {
    uint64_t start;
    size_t entry;
};

#define NONE SIZE_MAX

struct vs_symbols {
    struct vs_arena names;
    struct symbol *symbols;
    struct entry *entries;
    struct piece *pieces;
    struct vs_segment *segments;
    size_t symbol_count, symbol_capacity, entry_count, piece_count, segment_count;
    uint8_t build_id[VS_BUILD_ID_MAX];
    size_t build_id_size;
};

/* ---- collecting ------------------------------------------------------------------------------ */

struct collector {
    struct vs_symbols *s;
    const struct vs_range *code;
    size_t code_count;
};

static const struct vs_range *code_around(const struct collector *c, uint64_t address)
{
    size_t after = VS_FIRST_AFTER(c->code, c->code_count, start, address);

    return after && address < c->code[after - 1].end ? &c->code[after - 1] : NULL;
}

/* Adds a routine of that name, which an arena holds, or is NULL if there was no memory for it. */
static int add(struct collector *c, const GElf_Sym *sym, const char *name)
{
    struct vs_symbols *s = c->s;
    const struct vs_range *code = code_around(c, sym->st_value);
    struct symbol made = {.start = sym->st_value,
                          .name = name,
                          .sized = sym->st_size > 0,
                          .local = GELF_ST_BIND(sym->st_info) == STB_LOCAL,
                          .ifunc = GELF_ST_TYPE(sym->st_info) == STT_GNU_IFUNC};

    if (!code)
        return 0;
    made.end =
        made.sized && sym->st_size < code->end - made.start ? made.start + sym->st_size : code->end;
    if (!name || vs_array_room((void **)&s->symbols, &s->symbol_capacity, s->symbol_count, 1,
                               sizeof(*s->symbols)) < 0)
        return -VSE_NOMEM;
    s->symbols[s->symbol_count++] = made;
    return 0;
}

static int take_symbol(void *context, const GElf_Sym *sym, const char *name)
{
    struct collector *c = context;
    unsigned type = GELF_ST_TYPE(sym->st_info);

    if (type != STT_FUNC && type != STT_GNU_IFUNC)
        return 0;
    return add(c, sym, vs_arena_dup(&c->s->names, name, 1 + strcspn(name + 1, "@")));
}

static int take_stub(void *context, const GElf_Sym *sym, const char *name)
{
    struct collector *c = context;
    size_t size = strlen(name);
    char *stub = vs_arena_alloc(&c->s->names, size + sizeof("@plt"), 1);

    if (stub) {
        memcpy(stub, name, size);
        memcpy(stub + size, "@plt", sizeof("@plt"));
    }
    return add(c, sym, stub);
}

static int collect(struct collector *c, const struct vs_elf *image, const char *path)
{
    struct vs_elf debug;
    int err = vs_elf_symbols(image, SHT_SYMTAB, take_symbol, c);

    if (err < 0 || c->s->symbol_count)
        return err;
    err = vs_elf_open_debug(&debug, image, path);
    if (err == 0) {
        err = vs_elf_symbols(&debug, SHT_SYMTAB, take_symbol, c);
        vs_elf_close(&debug);
    }
    if (err == -VSE_NOMEM || c->s->symbol_count)
        return err;
    return vs_elf_symbols(image, SHT_DYNSYM, take_symbol, c);
}

static int load(struct vs_symbols *s, const struct vs_elf *image, const char *path,
                struct vs_diag *diag)
{
    struct collector c;
    struct vs_range *code;
    int64_t count = vs_elf_segments(image, &s->segments, diag);
    int err;

    if (count < 0)
        return (int)count;
    s->segment_count = (size_t)count;
    count = vs_elf_build_id(image, s->build_id, diag);
    if (count < 0)
        return (int)count;
    s->build_id_size = (size_t)count;
    count = vs_elf_code(image, &code, diag);
    if (count < 0)
        return (int)count;
    c = (struct collector){s, code, (size_t)count};
    err = collect(&c, image, path);
    if (err == 0)
        err = vs_elf_stubs(image, take_stub, &c);
    free(code);
    return err < 0 ? vs_diag_set(diag, err, -1, -1, "no memory for the symbols") : 0;
}

/* ---- arranging ------------------------------------------------------------------------------- */

/* C++ names start with an underscore that says nothing about them. */
static size_t underscores(const char *name)
{
    return strncmp(name, "_Z", 2) == 0 ? 0 : strspn(name, "_");
}

static int compare_sizes(size_t a, size_t b)
{
    return (a > b) - (a < b);
}

/* Compares by start, then puts the better name first. A copy's name is never better than the
 * original's, since that is shorter. */
static int compare_symbols(const void *a, const void *b)
{
    const struct symbol *x = a, *y = b;
    int c;

    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->local != y->local)
        return x->local ? 1 : -1;
    c = compare_sizes(underscores(x->name), underscores(y->name));
    if (c == 0)
        c = compare_sizes(strlen(x->name), strlen(y->name));
    return c ? c : strcmp(x->name, y->name);
}

static struct entry make_entry(const struct vs_symbols *s, size_t first)
{
    const struct symbol *start = &s->symbols[first];
    struct entry e = {.routine = {.start = start->start, .name = start->name}, .first = first};
    uint64_t end = 0;

    for (e.last = first; e.last < s->symbol_count; e.last++) {
        const struct symbol *sym = &s->symbols[e.last];

        if (sym->start != start->start)
            break;
        e.routine.ifunc |= sym->ifunc;
        if (sym->sized > e.sized || (sym->sized == e.sized && sym->end > end))
            end = sym->end;
        e.sized |= sym->sized;
    }
    e.routine.size = end - start->start;
    return e;
}

static void make_entries(struct vs_symbols *s)
{
    for (size_t i = 0; i < s->symbol_count;) {
        s->entries[s->entry_count] = make_entry(s, i);
        i = s->entries[s->entry_count++].last;
    }
}

static uint64_t end_of(const struct vs_symbols *s, size_t entry)
{
    return s->entries[entry].routine.start + s->entries[entry].routine.size;
}

/* The entries that have started and not ended, the latest last. */
struct stack {
    size_t *entries;
    size_t depth;
};

static void put_piece(struct vs_symbols *s, uint64_t start, size_t entry)
{
    if (s->piece_count && s->pieces[s->piece_count - 1].start == start)
        s->piece_count--;
    s->pieces[s->piece_count++] = (struct piece){start, entry};
}

/* Takes off the entries that end at or before `address`. */
static void close_before(struct vs_symbols *s, struct stack *open, uint64_t address)
{
    while (open->depth && end_of(s, open->entries[open->depth - 1]) <= address) {
        uint64_t end = end_of(s, open->entries[--open->depth]);

        while (open->depth && end_of(s, open->entries[open->depth - 1]) <= end)
            open->depth--;
        put_piece(s, end, open->depth ? open->entries[open->depth - 1] : NONE);
    }
}

static void cut(struct vs_routine *r, uint64_t end)
{
    if (end - r->start < r->size)
        r->size = end - r->start;
}

static void make_pieces(struct vs_symbols *s, struct stack *open)
{
    for (size_t i = 0; i < s->entry_count; i++) {
        struct vs_routine *r = &s->entries[i].routine;

        close_before(s, open, r->start);
        if (!s->entries[i].sized && i + 1 < s->entry_count)
            cut(r, s->entries[i + 1].routine.start);
        if (!s->entries[i].sized && open->depth)
            cut(r, end_of(s, open->entries[open->depth - 1]));
        put_piece(s, r->start, i);
        open->entries[open->depth++] = i;
    }
    close_before(s, open, UINT64_MAX);
}

/* Makes entries and pieces. There is no entry without a symbol, and no piece but where an entry
 * starts or ends. */
static int arrange(struct vs_symbols *s, struct vs_diag *diag)
{
    size_t count = s->symbol_count;
    struct stack open = {.entries = calloc(count + 1, sizeof(*open.entries))};

    s->entries = calloc(count + 1, sizeof(*s->entries));
    s->pieces = calloc(count + 1, 2 * sizeof(*s->pieces));
    if (!open.entries || !s->entries || !s->pieces) {
        free(open.entries);
        return vs_diag_set(diag, -VSE_NOMEM, -1, -1, "no memory for %zu symbols", count);
    }
    if (count)
        qsort(s->symbols, count, sizeof(*s->symbols), compare_symbols);
    make_entries(s);
    make_pieces(s, &open);
    free(open.entries);
    return 0;
}

/* ---- using ----------------------------------------------------------------------------------- */

int vs_symbols_open(struct vs_symbols **out, const char *path, struct vs_diag *diag)
{
    struct vs_symbols *s;
    struct vs_elf image;
    int err = vs_elf_open(&image, path, diag);

    *out = NULL;
    if (err < 0)
        return err;
    s = calloc(1, sizeof(*s));
    err = s ? load(s, &image, path, diag) : vs_diag_set(diag, -VSE_NOMEM, -1, -1, "no memory");
    vs_elf_close(&image);
    if (err == 0)
        err = arrange(s, diag);
    if (err < 0)
        vs_symbols_close(s);
    else
        *out = s;
    return err;
}

void vs_symbols_close(struct vs_symbols *s)
{
    if (!s)
        return;
    vs_arena_fini(&s->names);
    free(s->symbols);
    free(s->entries);
    free(s->pieces);
    free(s->segments);
    free(s);
}

size_t vs_symbols_count(const struct vs_symbols *s)
{
    return s->entry_count;
}

const struct vs_routine *vs_symbols_get(const struct vs_symbols *s, size_t number)
{
    return &s->entries[number].routine;
}

size_t vs_symbols_number(const struct vs_symbols *s, const struct vs_routine *r)
{
    return (size_t)((const struct entry *)r - s->entries);
}

const struct vs_routine *vs_symbols_at(const struct vs_symbols *s, uint64_t address)
{
    size_t after = VS_FIRST_AFTER(s->pieces, s->piece_count, start, address);

    if (!after || s->pieces[after - 1].entry == NONE)
        return NULL;
    return &s->entries[s->pieces[after - 1].entry].routine;
}

static bool has_name(const struct vs_symbols *s, const struct entry *e, const char *name)
{
    for (size_t i = e->first; i < e->last; i++)
        if (vs_name_matches(s->symbols[i].name, name))
            return true;
    return false;
}

const struct vs_routine *vs_symbols_find(const struct vs_symbols *s, const char *name,
                                         const struct vs_routine *after)
{
    for (size_t i = after ? vs_symbols_number(s, after) + 1 : 0; i < s->entry_count; i++)
        if (has_name(s, &s->entries[i], name))
            return &s->entries[i].routine;
    return NULL;
}

const uint8_t *vs_symbols_build_id(const struct vs_symbols *s, size_t *size)
{
    *size = s->build_id_size;
    return s->build_id;
}

/* A segment is mapped from the page on which it starts, so what is mapped need only touch it. */
int vs_symbols_base(const struct vs_symbols *s, uint64_t start, uint64_t offset, uint64_t length,
                    uint64_t *base)
{
    for (size_t i = 0; i < s->segment_count; i++) {
        const struct vs_segment *g = &s->segments[i];

        if (offset < g->offset + g->size && (offset >= g->offset || length > g->offset - offset)) {
            *base = start - (g->address - g->offset + offset);
            return 0;
        }
    }
    return -VSE_NOTFOUND;
}
