/* SPDX-License-Identifier: MIT */
#include "trace/consumer.h"

static int writer_meta(void *context, const char *key, const char *value)
{
    return vs_writer_meta(context, key, value);
}

static int writer_put(void *context, const struct vs_batch *batch)
{
    return vs_writer_put(context, batch);
}

static int64_t writer_image(void *context, const struct vs_image *image)
{
    return vs_writer_image(context, image);
}

static int64_t writer_block(void *context, const struct vs_block *block)
{
    return vs_writer_block(context, block);
}

static int64_t writer_recipe(void *context, const struct vs_recipe *recipe)
{
    return vs_writer_recipe(context, recipe);
}

static int writer_records(void *context, const struct vs_records *records)
{
    return vs_writer_records(context, records);
}

struct vs_consumer vs_consumer_writer(struct vs_writer *w)
{
    return (struct vs_consumer){.context = w,
                                .meta = writer_meta,
                                .put = writer_put,
                                .image = writer_image,
                                .block = writer_block,
                                .recipe = writer_recipe,
                                .records = writer_records};
}

/* ---- before another -------------------------------------------------------------------------- */

static int before_meta(void *context, const char *key, const char *value)
{
    const struct vs_before *b = context;

    return b->to.meta(b->to.context, key, value);
}

static int before_put(void *context, const struct vs_batch *batch)
{
    const struct vs_before *b = context;

    return b->put(b->context, batch);
}

static int64_t before_image(void *context, const struct vs_image *image)
{
    const struct vs_before *b = context;

    return b->to.image(b->to.context, image);
}

static int64_t before_block(void *context, const struct vs_block *block)
{
    const struct vs_before *b = context;

    return b->to.block(b->to.context, block);
}

static int64_t before_recipe(void *context, const struct vs_recipe *recipe)
{
    const struct vs_before *b = context;

    return b->to.recipe(b->to.context, recipe);
}

static int before_records(void *context, const struct vs_records *records)
{
    const struct vs_before *b = context;

    return b->records(b->context, records);
}

struct vs_consumer vs_consumer_before(struct vs_before *before)
{
    bool records = before->records && before->to.records;

    return (struct vs_consumer){.context = before,
                                .meta = before->to.meta ? before_meta : NULL,
                                .put = before_put,
                                .image = before->to.image ? before_image : NULL,
                                .block = before->to.block ? before_block : NULL,
                                .recipe = records ? before_recipe : NULL,
                                .records = records ? before_records : NULL};
}

/* ---- a recorded run -------------------------------------------------------------------------- */

static int feed_tables(struct vs_reader *r, const struct vs_consumer *c)
{
    const struct vs_run_info *info = vs_reader_info(r);
    const char *key, *value;
    struct vs_image image;
    struct vs_block block;
    int64_t e = 0;

    for (uint32_t i = 0; e >= 0 && c->meta && i < info->metas; i++)
        if ((e = vs_reader_meta_at(r, i, &key, &value)) == 0)
            e = c->meta(c->context, key, value);
    for (uint32_t i = 0; e >= 0 && c->image && i < info->images; i++)
        if ((e = vs_reader_image(r, i, &image)) == 0)
            e = c->image(c->context, &image);
    for (uint32_t i = 0; e >= 0 && c->block && i < info->blocks; i++)
        if ((e = vs_reader_block(r, i, &block)) == 0)
            e = c->block(c->context, &block);
    return e < 0 ? (int)e : 0;
}

int vs_consume_run(struct vs_reader *r, const struct vs_consumer *c, bool *theirs)
{
    struct vs_batch batch;
    int e = feed_tables(r, c);

    *theirs = true;
    while (e == 0) {
        int got = vs_reader_next(r, &batch);

        if (got < 0) {
            *theirs = false;
            return got == -VSE_END ? 0 : got;
        }
        if (c->put)
            e = c->put(c->context, &batch);
    }
    return e;
}
