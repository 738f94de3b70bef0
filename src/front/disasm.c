/* SPDX-License-Identifier: MIT */
#include "front/disasm.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

enum {
    SLOTS = 1 << 18,
    /* Beyond either all is forgotten: a program has fewer instructions in use at a time. */
    USED_MAX = SLOTS / 2,
    TEXT_MAX = 1 << 26,
};

struct disasm_entry {
    uint64_t pc;
    const char *text; /* NULL: free, or stale if `taken` */
    uint32_t length;
    bool taken;
};

/* The entry of a pc, or the free one where it belongs. */
static struct disasm_entry *entry_of(const struct disasm *d, uint64_t pc)
{
    size_t i = (size_t)(pc * UINT64_C(0x9e3779b97f4a7c15) >> 40);
    for (;; i++) {
        struct disasm_entry *e = &d->entries[i % SLOTS];
        if (!e->taken || e->pc == pc)
            return e;
    }
}

static void forget_all(struct disasm *d)
{
    memset(d->entries, 0, SLOTS * sizeof(*d->entries));
    vs_arena_fini(&d->texts);
    d->used = d->text_bytes = 0;
}

static int make_text(struct disasm *d, struct disasm_entry *e, uint64_t pc)
{
    uint8_t bytes[VS_ISA_LENGTH_MAX];
    char text[VS_ISA_TEXT_MAX] = "";
    size_t size = vs_codemap_fetch(&d->code, pc, bytes, sizeof(bytes));
    if (!size || d->isa->format(bytes, size, pc, text, sizeof(text)) < 0)
        text[0] = 0;
    size_t length = strlen(text);
    const char *copy = vs_arena_dup(&d->texts, text, length);
    if (!copy)
        return -VSE_NOMEM;
    d->used += !e->taken;
    d->text_bytes += length + 1;
    *e = (struct disasm_entry){.pc = pc, .text = copy, .length = (uint32_t)length, .taken = true};
    return 0;
}

const char *disasm_text(struct disasm *d, uint64_t pc, size_t *length)
{
    *length = 0;
    if (!d->isa)
        return "";
    if (!d->entries && !(d->entries = calloc(SLOTS, sizeof(*d->entries))))
        return NULL;
    struct disasm_entry *e = entry_of(d, pc);
    if (!e->text) {
        if (d->used >= USED_MAX || d->text_bytes >= TEXT_MAX) {
            forget_all(d);
            e = entry_of(d, pc);
        }
        if (make_text(d, e, pc))
            return NULL;
    }
    *length = e->length;
    return e->text;
}

int64_t disasm_block(struct disasm *d, const struct vs_block *block)
{
    struct vs_block copy = *block;
    void *array = d->blocks;
    int e = vs_array_room(&array, &d->block_capacity, d->block_count, 1, sizeof(copy));
    d->blocks = array;
    copy.bytes = vs_arena_dup(&d->bytes, block->bytes, block->size);
    if (e || !copy.bytes)
        return -VSE_NOMEM;
    e = vs_codemap_add(&d->code, &copy);
    if (e)
        return e;
    d->blocks[d->block_count] = copy;
    return (int64_t)d->block_count++;
}

void disasm_replace(struct disasm *d, uint64_t number)
{
    if (number >= d->block_count)
        return;
    const struct vs_block *block = &d->blocks[number];
    /* Its pages are there since it was added: there is nothing to allocate. */
    vs_codemap_replace(&d->code, block);
    if (!d->entries)
        return;
    /* An instruction that begins before the block may reach into it. */
    for (uint64_t i = 0; i < VS_ISA_LENGTH_MAX - 1 + (uint64_t)block->size; i++)
        entry_of(d, block->addr - (VS_ISA_LENGTH_MAX - 1) + i)->text = NULL;
}

void disasm_fini(struct disasm *d)
{
    vs_codemap_fini(&d->code);
    vs_arena_fini(&d->bytes);
    free(d->blocks);
    vs_arena_fini(&d->texts);
    free(d->entries);
    *d = (struct disasm){0};
}
