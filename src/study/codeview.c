/* SPDX-License-Identifier: MIT */
#include "study/codeview.h"

#include "base/likely.h"
#include "base/search.h"

typedef int take_block(void *to, const struct vs_block *block);

static int each_block(const struct vs_reader *reader, take_block *take, void *to)
{
    uint32_t count = vs_reader_info(reader)->blocks;
    struct vs_block block;
    int err = 0;
    for (uint32_t i = 0; !err && i < count; i++)
        if (!(err = vs_reader_block(reader, i, &block)))
            err = take(to, &block);
    return err;
}

static int add_to_text(void *to, const struct vs_block *block)
{
    return vs_text_add(to, block);
}

static int add_to_pages(void *to, const struct vs_block *block)
{
    return vs_code_pages_add(to, block->addr, block->size);
}

int vs_codeview_add(struct vs_text *text, const struct vs_reader *reader)
{
    return each_block(reader, add_to_text, text);
}

static int find_difference(void *text, const struct vs_block *block)
{
    return vs_codemap_differs(&((struct vs_text *)text)->base, block);
}

int vs_codeview_changes(struct vs_text *text, struct vs_reader *reader)
{
    struct vs_batch batch;
    struct vs_block block;
    int err = each_block(reader, find_difference, text);
    if (err <= 0)
        return err;
    err = 0;
    while (!err && (err = vs_reader_next(reader, &batch)) > 0) {
        err = 0;
        for (size_t i = 0; i < batch.count && !err; i++)
            if (unlikely(batch.events[i].kind == VS_CODE))
                err = vs_reader_block(reader, batch.events[i].value, &block) < 0
                          ? -VSE_CORRUPT
                          : vs_text_change(text, &block);
    }
    return err == -VSE_END ? 0 : err;
}

int vs_codeview_pages(struct vs_code_pages *pages, const struct vs_reader *reader)
{
    return each_block(reader, add_to_pages, pages);
}

int vs_codeview_take(struct vs_text *text, const struct vs_reader *reader,
                     const struct vs_batch *batch)
{
    struct vs_block block;
    int err = 0;
    for (size_t i = 0; i < batch->count && !err; i++) {
        const struct vs_event *e = &batch->events[i];
        err = vs_text_retire(text, e->thread, e->icount);
        if (unlikely(e->kind == VS_CODE) && !err)
            err = vs_reader_block(reader, e->value, &block) < 0 ? -VSE_CORRUPT
                                                                : vs_text_change(text, &block);
    }
    return err;
}

static uint32_t version(const void *context, unsigned core, uint64_t instructions, uint64_t *until)
{
    const struct vs_text *text = context;
    *until = UINT64_MAX;
    if (core >= text->core_count)
        return 0;
    const struct vs_text_core *c = &text->cores[core];
    size_t later = VS_FIRST_AFTER(c->views, c->view_count, count, instructions);
    if (later < c->view_count)
        *until = c->views[later].count;
    return later ? c->views[later - 1].version : 0;
}

static size_t fetch(const void *context, uint32_t version, uint64_t pc, uint8_t *bytes,
                    size_t capacity)
{
    return vs_text_fetch(context, version, pc, bytes, capacity);
}

struct vs_address_code vs_code_of_text(const struct vs_text *text, const struct vs_isa *isa)
{
    return (struct vs_address_code){
        .context = text, .isa = isa, .version = version, .fetch = fetch};
}
