/* SPDX-License-Identifier: MIT */
#include "trace/tables.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/varint.h"

#define BUILD_ID_MAX 64
/* About how many bytes a column of a meta or static chunk has: far below the limit, so that reading
 * such a chunk needs little memory. */
#define COLUMN_ENOUGH (8u << 20)

int vs_tables_init(struct vs_tables *t)
{
    memset(t, 0, sizeof(*t));
    t->packed_sites = 1; /* site 0 is implied */
    return vs_sites_init(&t->sites);
}

void vs_tables_fini(struct vs_tables *t)
{
    vs_sites_fini(&t->sites);
    free(t->blocks);
    vs_map_fini(&t->block_numbers);
    free(t->images);
    free(t->facts);
    vs_arena_fini(&t->arena);
    memset(t, 0, sizeof(*t));
}

/* ---- facts --------------------------------------------------------------------------------- */

/* Accounts for strings, as small chunks could otherwise expand to any amount of memory. */
static bool take_text(struct vs_tables *t, uint64_t size)
{
    if (size > VS_MAX_TEXT - t->text_size)
        return false;
    t->text_size += size;
    return true;
}

static struct vs_fact *find_fact(const struct vs_tables *t, const char *key)
{
    for (size_t i = 0; i < t->fact_count; i++)
        if (strcmp(t->facts[i].key, key) == 0)
            return &t->facts[i];
    return NULL;
}

static int set_fact(struct vs_tables *t, const void *key, size_t key_size, const void *value,
                    size_t value_size)
{
    struct vs_fact *f;
    char *k, *v;

    if (t->facts_set >= VS_MAX_SET || !take_text(t, key_size + value_size))
        return -VSE_LIMIT;
    k = vs_arena_dup(&t->arena, key, key_size);
    v = vs_arena_dup(&t->arena, value, value_size);
    if (!k || !v)
        return -VSE_NOMEM;
    t->facts_set++;
    f = find_fact(t, k);
    if (!f) {
        if (t->fact_count >= VS_MAX_FACTS)
            return -VSE_LIMIT;
        if (vs_array_room((void **)&t->facts, &t->fact_capacity, t->fact_count, 1, sizeof(*f)) < 0)
            return -VSE_NOMEM;
        f = &t->facts[t->fact_count++];
        f->key = k;
    }
    f->value = v;
    f->packed = false;
    return 0;
}

int vs_tables_fact(struct vs_tables *t, const char *key, const char *value)
{
    size_t k = strlen(key), v = strlen(value);

    if (k == 0 || k > VS_MAX_STRING || v > VS_MAX_STRING)
        return -VSE_INVAL;
    return set_fact(t, key, k, value, v);
}

static int put_string(struct vs_buf *col, const void *bytes, size_t n)
{
    uint8_t *p;

    if (vs_buf_reserve(col, VS_VARINT_MAX + n) < 0)
        return -VSE_NOMEM;
    p = vs_varint_put(col->data + col->len, n);
    col->len = (size_t)(p - col->data);
    return vs_buf_put(col, bytes, n);
}

static int get_string(struct vs_column *col, const uint8_t **bytes, size_t *n, size_t max)
{
    uint64_t size;
    int err = vs_varint_get(&col->p, col->end, &size);

    if (err < 0)
        return err;
    if (size > max)
        return -VSE_LIMIT;
    if (size > (uint64_t)(col->end - col->p))
        return -VSE_TRUNCATED;
    *bytes = col->p;
    *n = size;
    col->p += size;
    return 0;
}

/* Gets a string for people, which has no zero byte in it. */
static int get_text(struct vs_column *col, const uint8_t **bytes, size_t *n)
{
    int err = get_string(col, bytes, n, VS_MAX_STRING);

    return err < 0 ? err : memchr(*bytes, 0, *n) ? -VSE_CORRUPT : 0;
}

int vs_tables_pack_meta(struct vs_tables *t, struct vs_columns *cols)
{
    struct vs_buf *col = &cols->col[VS_COL_META];

    /* a chunk's worth at a time; the rest goes into the next chunk */
    for (size_t i = 0; i < t->fact_count && col->len < COLUMN_ENOUGH; i++) {
        struct vs_fact *f = &t->facts[i];

        if (f->packed)
            continue;
        if (put_string(col, f->key, strlen(f->key)) < 0 ||
            put_string(col, f->value, strlen(f->value)) < 0)
            return -VSE_NOMEM;
        f->packed = true;
    }
    return col->len > 0;
}

static int unpack_meta(struct vs_tables *t, struct vs_column col, bool apply)
{
    while (col.p < col.end) {
        const uint8_t *key, *value;
        size_t k, v;
        int err;

        if ((err = get_text(&col, &key, &k)) < 0 || (err = get_text(&col, &value, &v)) < 0)
            return err;
        if (k == 0)
            return -VSE_CORRUPT;
        if (apply && (err = set_fact(t, key, k, value, v)) < 0)
            return err;
    }
    return 0;
}

/* The chunk is parsed twice, so that a bad one changes nothing. */
int vs_tables_unpack_meta(struct vs_tables *t, const struct vs_column cols[VS_COL_END],
                          const char **why)
{
    int err = unpack_meta(t, cols[VS_COL_META], false);

    *why = "a fact is not valid";
    return err < 0 ? err : unpack_meta(t, cols[VS_COL_META], true);
}

/* ---- images -------------------------------------------------------------------------------- */

static int64_t add_image(struct vs_tables *t, const struct vs_image *image, size_t path_size,
                         size_t symbols_size)
{
    struct vs_image copy = *image;

    if (t->image_count >= VS_MAX_IMAGES ||
        !take_text(t, path_size + symbols_size + image->build_id_size))
        return -VSE_LIMIT;
    copy.path = vs_arena_dup(&t->arena, image->path, path_size);
    copy.symbols = vs_arena_dup(&t->arena, image->symbols, symbols_size);
    copy.build_id = vs_arena_dup(&t->arena, image->build_id, image->build_id_size);
    if (!copy.path || !copy.symbols || !copy.build_id ||
        vs_array_room((void **)&t->images, &t->image_capacity, t->image_count, 1, sizeof(copy)) < 0)
        return -VSE_NOMEM;
    t->images[t->image_count] = copy;
    return (int64_t)t->image_count++;
}

int64_t vs_tables_image(struct vs_tables *t, const struct vs_image *image)
{
    const char *symbols = image->symbols ? image->symbols : "";
    struct vs_image full = *image;

    if (!image->path || strlen(image->path) > VS_MAX_STRING || strlen(symbols) > VS_MAX_STRING ||
        image->build_id_size > BUILD_ID_MAX || (image->build_id_size && !image->build_id))
        return -VSE_INVAL;
    full.symbols = symbols;
    return add_image(t, &full, strlen(image->path), strlen(symbols));
}

static int pack_image(struct vs_buf *col, const struct vs_image *m)
{
    uint8_t *p;

    if (put_string(col, m->path, strlen(m->path)) < 0 ||
        put_string(col, m->symbols, strlen(m->symbols)) < 0 ||
        put_string(col, m->build_id, m->build_id_size) < 0 ||
        vs_buf_reserve(col, 3 * VS_VARINT_MAX) < 0)
        return -VSE_NOMEM;
    p = col->data + col->len;
    p = vs_varint_put(p, m->base);
    p = vs_varint_put(p, m->start);
    p = vs_varint_put(p, m->length);
    col->len = (size_t)(p - col->data);
    return 0;
}

static int unpack_image(struct vs_tables *t, struct vs_column *col)
{
    struct vs_image m;
    const uint8_t *path, *symbols;
    size_t path_size, symbols_size, id_size;
    int64_t number;
    int err;

    if ((err = get_text(col, &path, &path_size)) < 0 ||
        (err = get_text(col, &symbols, &symbols_size)) < 0 ||
        (err = get_string(col, &m.build_id, &id_size, BUILD_ID_MAX)) < 0 ||
        (err = vs_varint_get(&col->p, col->end, &m.base)) < 0 ||
        (err = vs_varint_get(&col->p, col->end, &m.start)) < 0 ||
        (err = vs_varint_get(&col->p, col->end, &m.length)) < 0)
        return err;
    m.path = (const char *)path;
    m.symbols = (const char *)symbols;
    m.build_id_size = (uint32_t)id_size;
    number = add_image(t, &m, path_size, symbols_size);
    return number < 0 ? (int)number : 0;
}

/* ---- blocks -------------------------------------------------------------------------------- */

static bool block_valid(const struct vs_block *b)
{
    return b->size > 0 && b->size <= VS_SIZE_MAX && b->insns > 0 && b->insns <= b->size;
}

static uint64_t block_hash(const struct vs_block *b)
{
    uint64_t h = b->addr;

    for (uint32_t i = 0; i < b->size; i++)
        h = (h ^ b->bytes[i]) * UINT64_C(0x100000001b3);
    return h;
}

static bool block_equal(const struct vs_block *a, const struct vs_block *b)
{
    return a->addr == b->addr && a->size == b->size && a->insns == b->insns &&
           memcmp(a->bytes, b->bytes, a->size) == 0;
}

static int64_t add_block(struct vs_tables *t, const struct vs_block *block)
{
    struct vs_block copy = *block;

    if (t->block_count >= VS_MAX_BLOCKS || t->code_size + block->size > VS_MAX_CODE)
        return -VSE_LIMIT;
    copy.bytes = vs_arena_dup(&t->arena, block->bytes, block->size);
    if (!copy.bytes ||
        vs_array_room((void **)&t->blocks, &t->block_capacity, t->block_count, 1, sizeof(copy)) < 0)
        return -VSE_NOMEM;
    t->code_size += block->size;
    t->blocks[t->block_count] = copy;
    return (int64_t)t->block_count++;
}

int64_t vs_tables_block(struct vs_tables *t, const struct vs_block *block)
{
    if (!block_valid(block) || !block->bytes)
        return -VSE_INVAL;

    uint64_t key = block_hash(block), found;
    /* Another block may have the same hash. */
    for (; (found = vs_map_value(&t->block_numbers, key)); key++)
        if (block_equal(&t->blocks[found - 1], block))
            return (int64_t)found - 1;

    int64_t number = add_block(t, block);
    if (number < 0)
        return number;
    if (vs_map_set(&t->block_numbers, key, (uint64_t)number + 1)) {
        t->block_count--;
        t->code_size -= block->size;
        return -VSE_NOMEM;
    }
    return number;
}

static int pack_block(struct vs_columns *cols, const struct vs_block *b,
                      const struct vs_block *before)
{
    struct vs_buf *col = &cols->col[VS_COL_BLOCKS];
    uint64_t expect = before ? before->addr + before->size : 0;
    uint8_t *p;

    if (vs_buf_reserve(col, 3 * VS_VARINT_MAX) < 0)
        return -VSE_NOMEM;
    p = col->data + col->len;
    p = vs_varint_put(p, vs_zigzag((int64_t)(b->addr - expect)));
    p = vs_varint_put(p, b->size);
    p = vs_varint_put(p, b->insns);
    col->len = (size_t)(p - col->data);
    return vs_buf_put(&cols->col[VS_COL_CODE], b->bytes, b->size);
}

static int unpack_block(struct vs_tables *t, struct vs_column *col, struct vs_column *code)
{
    const struct vs_block *before = t->block_count ? &t->blocks[t->block_count - 1] : NULL;
    uint64_t delta, size, insns;
    struct vs_block b;
    int64_t number;
    int err;

    if ((err = vs_varint_get(&col->p, col->end, &delta)) < 0 ||
        (err = vs_varint_get(&col->p, col->end, &size)) < 0 ||
        (err = vs_varint_get(&col->p, col->end, &insns)) < 0)
        return err;
    if (size > VS_SIZE_MAX || insns > VS_SIZE_MAX)
        return -VSE_CORRUPT;
    b = (struct vs_block){.addr = (before ? before->addr + before->size : 0) +
                                  (uint64_t)vs_unzigzag(delta),
                          .bytes = code->p,
                          .size = (uint32_t)size,
                          .insns = (uint32_t)insns};
    if (!block_valid(&b))
        return -VSE_CORRUPT;
    if (size > (uint64_t)(code->end - code->p))
        return -VSE_TRUNCATED;
    code->p += size;
    number = add_block(t, &b);
    return number < 0 ? (int)number : 0;
}

/* ---- static chunks ------------------------------------------------------------------------- */

int vs_tables_pack_static(struct vs_tables *t, struct vs_columns *cols)
{
    struct vs_buf *col = cols->col;

    for (; t->packed_images < t->image_count && col[VS_COL_IMAGES].len < COLUMN_ENOUGH;
         t->packed_images++)
        if (pack_image(&col[VS_COL_IMAGES], &t->images[t->packed_images]) < 0)
            return -VSE_NOMEM;
    for (; t->packed_blocks < t->block_count && col[VS_COL_CODE].len < COLUMN_ENOUGH &&
           col[VS_COL_BLOCKS].len < COLUMN_ENOUGH;
         t->packed_blocks++) {
        const struct vs_block *b = &t->blocks[t->packed_blocks];

        if (pack_block(cols, b, t->packed_blocks ? b - 1 : NULL) < 0)
            return -VSE_NOMEM;
    }
    for (; t->packed_sites < t->sites.count && col[VS_COL_SITES].len < COLUMN_ENOUGH;
         t->packed_sites++) {
        const struct vs_site *s = &t->sites.list[t->packed_sites];

        if (vs_site_pack(&col[VS_COL_SITES], s, s - 1) < 0)
            return -VSE_NOMEM;
    }
    return vs_columns_size(cols) > 0;
}

static int unpack_static(struct vs_tables *t, const struct vs_column cols[VS_COL_END],
                         const char **why)
{
    struct vs_column images = cols[VS_COL_IMAGES], blocks = cols[VS_COL_BLOCKS];
    struct vs_column code = cols[VS_COL_CODE];
    int err = 0;

    *why = "an image is not valid";
    while (images.p < images.end && err == 0)
        err = unpack_image(t, &images);
    if (err < 0)
        return err;
    *why = "a block is not valid";
    while (blocks.p < blocks.end && err == 0)
        err = unpack_block(t, &blocks, &code);
    if (err < 0)
        return err;
    if (code.p != code.end)
        return -VSE_CORRUPT;
    *why = "a site is not valid";
    return vs_sites_unpack(&t->sites, cols[VS_COL_SITES]);
}

int vs_tables_unpack_static(struct vs_tables *t, const struct vs_column cols[VS_COL_END],
                            const char **why)
{
    struct vs_tables before = *t;
    int err = unpack_static(t, cols, why);

    if (err < 0) {
        t->sites.count = before.sites.count;
        t->block_count = before.block_count;
        t->image_count = before.image_count;
        t->code_size = before.code_size;
        t->text_size = before.text_size;
    }
    return err;
}
