/* SPDX-License-Identifier: MIT */
#include "symbol/lines.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/diag.h"
#include "base/search.h"
#include "symbol/elf.h"

#define NONE UINT32_MAX

enum {
    DEPTH_MAX = 512, /* blocks within blocks; what lies deeper is taken to be part of these */
    RECORDS_MAX = 1 << 24,
};

/* A routine, or a copy of one that was inlined. */
struct record {
    const char *inlined; /* NULL: it is no copy */
    uint64_t call_file;  /* where the copy was called from: a number in the unit's list of files */
    uint64_t call_line;
    uint32_t parent; /* the record around it, or NONE */
};

/* Addresses of a record, which may have several such extents. */
struct extent {
    uint64_t start, end;
    uint32_t record;
    uint32_t depth;
    uint32_t up; /* the nearest extent before it that is not over at its start, or NONE */
};

/* A compilation unit. */
struct unit {
    Dwarf_Die die;  /* it has the lines ... */
    Dwarf_Die tree; /* ... and this the routines; another one if the debug information is split */
    const char *folder;
    bool walked;
    struct record *records;
    size_t record_count, record_capacity;
    struct extent *extents;
    size_t extent_count, extent_capacity;
};

struct span {
    uint64_t start, end;
    size_t unit;
};

struct vs_lines {
    struct vs_elf elf;
    Dwarf *dwarf; /* NULL: there is no debug information */
    struct unit *units;
    size_t unit_count, unit_capacity;
    struct span *spans; /* by start */
    size_t span_count, span_capacity;
    bool listed; /* the units are */
    bool broken; /* there was no memory, and libdw was left in the midst of something */
};

/* ---- lack of memory -------------------------------------------------------------------------- */

/* libdw asks for no more than a function without arguments that does not return. */
static _Thread_local jmp_buf *no_memory;

__attribute__((noreturn)) static void give_up(void)
{
    longjmp(*no_memory, 1);
}

/* Calls a function that uses libdw. Other failures of libdw only mean that nothing is known, but
 * those for want of memory, or because the file cannot be read, are told apart by errno. */
static int guarded(struct vs_lines *l, int (*work)(struct vs_lines *l, void *argument),
                   void *argument)
{
    jmp_buf here, *before = no_memory;
    volatile int e;

    if (l->broken)
        return -VSE_NOMEM;
    no_memory = &here;
    errno = 0;
    if (setjmp(here)) {
        l->broken = true;
        e = -VSE_NOMEM;
    } else {
        e = work(l, argument);
        if (errno == ENOMEM || errno == EIO)
            e = errno == ENOMEM ? -VSE_NOMEM : -VSE_IO;
    }
    no_memory = before;
    return e;
}

/* ---- units ----------------------------------------------------------------------------------- */

static int add_span(struct vs_lines *l, uint64_t start, uint64_t end)
{
    if (end <= start)
        return 0;
    if (vs_array_room((void **)&l->spans, &l->span_capacity, l->span_count, 1, sizeof(*l->spans)))
        return -VSE_NOMEM;
    l->spans[l->span_count++] = (struct span){start, end, l->unit_count - 1};
    return 0;
}

static int add_unit(struct vs_lines *l, Dwarf_Die *die, Dwarf_Die *tree)
{
    Dwarf_Addr base, start, end;
    Dwarf_Attribute attribute;
    ptrdiff_t at = 0;
    int e = 0;

    if (vs_array_room((void **)&l->units, &l->unit_capacity, l->unit_count, 1, sizeof(*l->units)))
        return -VSE_NOMEM;
    l->units[l->unit_count++] = (struct unit){
        .die = *die,
        .tree = *tree,
        .folder = dwarf_formstring(dwarf_attr(die, DW_AT_comp_dir, &attribute)),
    };
    while (e == 0 && (at = dwarf_ranges(die, at, &base, &start, &end)) > 0)
        e = add_span(l, start, end);
    return e;
}

static int by_start(const void *a, const void *b)
{
    const struct span *x = a, *y = b;

    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return (x->unit > y->unit) - (x->unit < y->unit);
}

static int list_units(struct vs_lines *l, void *argument)
{
    Dwarf_CU *unit = NULL;
    Dwarf_Die die, split;
    uint8_t type;
    int e = 0;

    (void)argument;
    l->listed = true;
    while (e == 0 && dwarf_get_units(l->dwarf, unit, &unit, NULL, &type, &die, &split) == 0) {
        bool skeleton = type == DW_UT_skeleton && dwarf_tag(&split) == DW_TAG_compile_unit;

        if (type == DW_UT_compile || type == DW_UT_skeleton)
            e = add_unit(l, &die, skeleton ? &split : &die);
    }
    if (l->span_count)
        qsort(l->spans, l->span_count, sizeof(*l->spans), by_start);
    return e;
}

static struct unit *unit_at(const struct vs_lines *l, uint64_t address)
{
    size_t after = VS_FIRST_AFTER(l->spans, l->span_count, start, address);

    return after && address < l->spans[after - 1].end ? &l->units[l->spans[after - 1].unit] : NULL;
}

/* ---- inlined routines ------------------------------------------------------------------------ */

/* Where a walk over a unit's tree will go on. */
struct visit {
    Dwarf_Die die;
    uint32_t record; /* the one around it */
};

static uint64_t number(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;
    Dwarf_Word value;

    return dwarf_formudata(dwarf_attr(die, name, &attribute), &value) == 0 ? value : 0;
}

static const char *name_of(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    const char *name = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute));

    if (!name)
        name = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute));
    if (!name)
        name = dwarf_diename(die);
    return name && *name ? name : "?";
}

static int add_extents(struct unit *u, Dwarf_Die *die, uint32_t depth)
{
    uint32_t record = (uint32_t)u->record_count - 1;
    Dwarf_Addr base, start, end;
    ptrdiff_t at = 0;

    while ((at = dwarf_ranges(die, at, &base, &start, &end)) > 0) {
        if (end <= start || u->extent_count == RECORDS_MAX)
            continue;
        if (vs_array_room((void **)&u->extents, &u->extent_capacity, u->extent_count, 1,
                          sizeof(*u->extents)))
            return -VSE_NOMEM;
        u->extents[u->extent_count++] = (struct extent){start, end, record, depth, NONE};
    }
    return 0;
}

/* Adds a routine or copy. *record is the one around it, and then the new one. */
static int add_record(struct unit *u, Dwarf_Die *die, bool copy, uint32_t depth, uint32_t *record)
{
    if (u->record_count == RECORDS_MAX)
        return 0;
    if (vs_array_room((void **)&u->records, &u->record_capacity, u->record_count, 1,
                      sizeof(*u->records)))
        return -VSE_NOMEM;
    u->records[u->record_count] = (struct record){.parent = copy ? *record : NONE};
    if (copy) {
        u->records[u->record_count].inlined = name_of(die);
        u->records[u->record_count].call_file = number(die, DW_AT_call_file);
        u->records[u->record_count].call_line = number(die, DW_AT_call_line);
    }
    *record = (uint32_t)u->record_count++;
    return add_extents(u, die, depth);
}

static bool may_hold_code(int tag)
{
    switch (tag) {
    case DW_TAG_subprogram:
    case DW_TAG_inlined_subroutine:
    case DW_TAG_lexical_block:
    case DW_TAG_try_block:
    case DW_TAG_catch_block:
    case DW_TAG_namespace:
    case DW_TAG_module:
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
        return true;
    default:
        return false;
    }
}

/* A walk over a unit's tree, in the order of the file. */
struct walk {
    struct unit *unit;
    struct visit stack[DEPTH_MAX];
    size_t depth;
    Dwarf_Off last; /* where the entry before lies; a damaged tree may go back, and is left there */
};

/* Takes the entry that is on top, and puts in its place the one after it and what is within it. */
static int visit_top(struct walk *w)
{
    struct visit *top = &w->stack[w->depth - 1];
    Dwarf_Die die = top->die, child;
    uint32_t record = top->record;
    int tag = dwarf_tag(&die), e = 0;
    bool back = dwarf_dieoffset(&die) <= w->last;

    w->last = dwarf_dieoffset(&die);
    if (back || dwarf_siblingof(&die, &top->die) != 0)
        w->depth--;
    if (back)
        return 0;
    if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine)
        e = add_record(w->unit, &die, tag == DW_TAG_inlined_subroutine, (uint32_t)w->depth,
                       &record);
    if (may_hold_code(tag) && w->depth < DEPTH_MAX && dwarf_child(&die, &child) == 0)
        w->stack[w->depth++] = (struct visit){child, record};
    return e;
}

static int by_extent(const void *a, const void *b)
{
    const struct extent *x = a, *y = b;

    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->end != y->end)
        return x->end > y->end ? -1 : 1;
    if (x->depth != y->depth)
        return x->depth < y->depth ? -1 : 1;
    return (x->record > y->record) - (x->record < y->record);
}

static void link_extents(struct unit *u)
{
    if (u->extent_count)
        qsort(u->extents, u->extent_count, sizeof(*u->extents), by_extent);
    for (uint32_t i = 1; i < u->extent_count; i++) {
        uint32_t up = i - 1;

        while (up != NONE && u->extents[up].end <= u->extents[i].start)
            up = u->extents[up].up;
        u->extents[i].up = up;
    }
}

static int walk_unit(struct vs_lines *l, void *argument)
{
    struct unit *u = argument;
    struct walk *w = calloc(1, sizeof(*w));
    int e = 0;

    (void)l;
    if (!w)
        return -VSE_NOMEM;
    u->walked = true;
    w->unit = u;
    w->last = dwarf_dieoffset(&u->tree);
    w->stack[0].record = NONE;
    w->depth = dwarf_child(&u->tree, &w->stack[0].die) == 0;
    while (e == 0 && w->depth)
        e = visit_top(w);
    free(w);
    link_extents(u);
    return e;
}

/* The innermost record at an address, or NONE. */
static uint32_t record_at(const struct unit *u, uint64_t address)
{
    uint32_t i = (uint32_t)VS_FIRST_AFTER(u->extents, u->extent_count, start, address) - 1;

    while (i != NONE && u->extents[i].end <= address)
        i = u->extents[i].up;
    return i == NONE ? NONE : u->extents[i].record;
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* Names a file relative to the unit's folder, if it lies below that. */
static void name_file(const struct unit *u, const char *file, struct vs_source *s)
{
    size_t size = u->folder ? strlen(u->folder) : 0;

    while (size > 1 && u->folder[size - 1] == '/')
        size--;
    s->file = file;
    if (!file || !size)
        return;
    if (strncmp(file, u->folder, size) == 0 && file[size] == '/' && file[size + 1]) {
        s->file = file + size + 1;
        s->folder = u->folder;
    } else if (*file != '/') {
        s->folder = u->folder;
    }
}

struct question {
    struct unit *unit;
    uint64_t address;
    struct vs_source *chain;
    size_t capacity;
};

static void find_line(const struct question *q, struct vs_source *s)
{
    Dwarf_Line *line = dwarf_getsrc_die(&q->unit->die, q->address);
    int n;

    if (!line)
        return;
    name_file(q->unit, dwarf_linesrc(line, NULL, NULL), s);
    if (dwarf_lineno(line, &n) == 0 && n > 0)
        s->line = (unsigned)n;
}

static void find_call(const struct question *q, const struct record *r, struct vs_source *s)
{
    Dwarf_Files *files;
    size_t count;

    if (dwarf_getsrcfiles(&q->unit->die, &files, &count) == 0 && r->call_file < count)
        name_file(q->unit, dwarf_filesrc(files, (size_t)r->call_file, NULL, NULL), s);
    s->line = r->call_line <= INT32_MAX ? (unsigned)r->call_line : 0;
}

static int answer(struct vs_lines *l, void *argument)
{
    struct question *q = argument;
    const struct unit *u = q->unit;
    uint32_t at = record_at(u, q->address);
    size_t n = 0;

    (void)l;
    q->chain[n] = (struct vs_source){0};
    find_line(q, &q->chain[n]);
    for (; at != NONE && u->records[at].inlined; at = u->records[at].parent) {
        q->chain[n++].inlined = u->records[at].inlined;
        if (n == q->capacity)
            return (int)n;
        q->chain[n] = (struct vs_source){0};
        find_call(q, &u->records[at], &q->chain[n]);
    }
    return n || q->chain[0].file ? (int)n + 1 : 0;
}

int vs_lines_at(struct vs_lines *l, uint64_t address, struct vs_source *chain, size_t capacity)
{
    struct question q = {NULL, address, chain, capacity};
    int e = l->dwarf && !l->listed ? guarded(l, list_units, NULL) : 0;

    if (e == 0)
        q.unit = unit_at(l, address);
    if (!q.unit || !capacity)
        return e;
    if (!q.unit->walked)
        e = guarded(l, walk_unit, q.unit);
    return e < 0 ? e : guarded(l, answer, &q);
}

/* ---- opening --------------------------------------------------------------------------------- */

static int begin(struct vs_lines *l, void *argument)
{
    Dwarf_CU *unit = NULL;
    Dwarf_Die die;

    (void)argument;
    l->dwarf = dwarf_begin_elf(l->elf.elf, DWARF_C_READ, NULL);
    if (!l->dwarf)
        return 0;
    dwarf_new_oom_handler(l->dwarf, give_up);
    if (dwarf_get_units(l->dwarf, NULL, &unit, NULL, NULL, &die, NULL) != 0) {
        dwarf_end(l->dwarf);
        l->dwarf = NULL;
    }
    return 0;
}

/* Takes the debug information of the image or, if it has none, of its separate file. */
static int find_information(struct vs_lines *l, const char *path)
{
    struct vs_elf debug;
    int e = guarded(l, begin, NULL);

    if (e < 0 || l->dwarf)
        return e;
    e = vs_elf_open_debug(&debug, &l->elf, path);
    if (e < 0)
        return e == -VSE_NOMEM ? e : 0;
    vs_elf_close(&l->elf);
    l->elf = debug;
    return guarded(l, begin, NULL);
}

int vs_lines_open(struct vs_lines **out, const char *path, struct vs_diag *diag)
{
    struct vs_lines *l = calloc(1, sizeof(*l));
    int e;

    *out = NULL;
    if (!l)
        return vs_diag_set(diag, -VSE_NOMEM, -1, -1, "no memory for lines");
    e = vs_elf_open(&l->elf, path, diag);
    if (e < 0) {
        free(l);
        return e;
    }
    e = find_information(l, path);
    if (e < 0) {
        vs_lines_close(l);
        return vs_diag_set(diag, e, -1, -1,
                           e == -VSE_IO ? "cannot read it" : "no memory for lines");
    }
    *out = l;
    return 0;
}

void vs_lines_close(struct vs_lines *l)
{
    if (!l)
        return;
    for (size_t i = 0; i < l->unit_count; i++) {
        free(l->units[i].records);
        free(l->units[i].extents);
    }
    free(l->units);
    free(l->spans);
    dwarf_end(l->dwarf);
    vs_elf_close(&l->elf);
    free(l);
}

bool vs_lines_known(const struct vs_lines *l)
{
    return l->dwarf;
}
