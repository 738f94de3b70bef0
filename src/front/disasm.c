/* SPDX-License-Identifier: MIT */
#include "front/disasm.h"

#include <stdlib.h>
#include <string.h>

#include "vestige/error.h"
#include "base/array.h"

enum {
    /* Beyond either limit everything is forgotten: a program has fewer instructions in use at a
     * time. */
    TEXTS_MAX = 1 << 17,
    TEXT_BYTES_MAX = 1 << 26,
};

_Static_assert(VS_ISA_TEXT_MAX <= UINT8_MAX, "a text's length is one byte");

static void forget_all(struct disasm *d)
{
    vs_map_clear(&d->texts);
    vs_arena_fini(&d->text_memory);
    d->text_bytes = 0;
}

/* Makes an instruction's text, with its length before it. Returns NULL if there is no memory. */
static const uint8_t *make_text(struct disasm *d, uint64_t pc)
{
    uint8_t bytes[VS_ISA_LENGTH_MAX];
    char text[VS_ISA_TEXT_MAX] = "";
    size_t size = vs_codemap_fetch(&d->code, pc, bytes, sizeof(bytes));
    if (!size || d->isa->format(bytes, size, pc, text, sizeof(text)) < 0)
        text[0] = 0;
    size_t length = strlen(text);
    uint8_t *made = vs_arena_alloc(&d->text_memory, length + 1, 1);
    if (!made || vs_map_set_pointer(&d->texts, pc, made))
        return NULL;
    d->text_bytes += length + 1;
    made[0] = (uint8_t)length;
    memcpy(made + 1, text, length);
    return made;
}

const char *disasm_text(struct disasm *d, uint64_t pc, size_t *length)
{
    *length = 0;
    if (!d->isa)
        return "";
    const uint8_t *text = vs_map_pointer(&d->texts, pc);
    if (!text) {
        if (d->texts.count >= TEXTS_MAX || d->text_bytes >= TEXT_BYTES_MAX)
            forget_all(d);
        if (!(text = make_text(d, pc)))
            return NULL;
    }
    *length = text[0];
    return (const char *)text + 1;
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
    /* Its pages have been there since it was added, so there is nothing to allocate. */
    vs_codemap_replace(&d->code, block);
    /* An instruction that begins before the block may reach into it. */
    for (uint64_t i = 0; i < VS_ISA_LENGTH_MAX - 1 + (uint64_t)block->size; i++)
        vs_map_remove(&d->texts, block->addr - (VS_ISA_LENGTH_MAX - 1) + i);
}

void disasm_fini(struct disasm *d)
{
    vs_codemap_fini(&d->code);
    vs_arena_fini(&d->bytes);
    free(d->blocks);
    vs_arena_fini(&d->text_memory);
    vs_map_fini(&d->texts);
    *d = (struct disasm){0};
}
