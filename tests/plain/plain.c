/* SPDX-License-Identifier: MIT */
/* The file, its chunks and columns, and what does not change: sections 1 to 3 and the index. */
#include "plain/state.h"

#include <string.h>
#include <zstd.h>

/* Section 2: the type of chunk that each column belongs to. */
static const uint8_t chunk_of[COLUMNS] = {0, 1, 2, 2, 2, 2, 4, 0, 3, 3, 3, 3,
                                          3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3};

static uint32_t crc(const uint8_t *data, size_t size)
{
    uint32_t c = UINT32_MAX;
    for (size_t i = 0; i < size; i++) {
        c ^= data[i];
        for (int bit = 0; bit < 8; bit++)
            c = c >> 1 ^ (c & 1 ? 0x82f63b78 : 0);
    }
    return ~c;
}

/* ---- section 2: columns ------------------------------------------------------------------- */

static void expand(struct plain *p, struct bytes *raw, unsigned codec, const uint8_t *stored,
                   size_t stored_size)
{
    if (codec == 0) {
        must(p, raw->size == stored_size, "raw column of two lengths");
        raw->data = stored;
        return;
    }
    must(p, codec == 1, "unknown codec");
    must(p, ZSTD_findFrameCompressedSize(stored, stored_size) == stored_size, "not one frame");
    uint8_t *memory = allocate(p, raw->size, 1);
    must(p, ZSTD_decompress(memory, raw->size, stored, stored_size) == raw->size, "bad frame");
    raw->data = memory;
}

static void read_columns(struct plain *p, unsigned type, struct bytes payload)
{
    uint8_t ids[COLUMNS], codecs[COLUMNS];
    uint64_t stored[COLUMNS], total = 0, most = type == CHUNK_INDEX ? 256 * MIB : 64 * MIB;
    unsigned count = take_byte(p, &payload);
    must(p, count < COLUMNS, "too many columns");
    for (unsigned i = 0; i < count; i++) {
        ids[i] = take_byte(p, &payload);
        must(p, ids[i] < COLUMNS && chunk_of[ids[i]] == type, "column of another chunk");
        must(p, i == 0 || ids[i] > ids[i - 1], "columns not ascending");
        codecs[i] = take_byte(p, &payload);
        total += column(p, ids[i])->size = take_at_most(p, &payload, most);
        must(p, column(p, ids[i])->size > 0, "empty column");
        stored[i] = take_varint(p, &payload);
    }
    must(p, total <= 128 * MIB || type == CHUNK_INDEX, "columns too long");
    for (unsigned i = 0; i < count; i++)
        expand(p, column(p, ids[i]), codecs[i], take(p, &payload, stored[i]), stored[i]);
    must(p, ended(&payload), "payload too long");
}

/* ---- section 3: meta and static chunks ---------------------------------------------------- */

static void read_facts(struct plain *p)
{
    struct bytes *b = column(p, FACTS);
    while (!ended(b)) {
        struct plain_string key = take_string(p, b, MIB), value = take_string(p, b, MIB);
        must(p, key.size > 0, "fact without a key");
        must(p, !memchr(key.data, 0, key.size), "zero byte in a key");
        must(p, !value.size || !memchr(value.data, 0, value.size), "zero byte in a value");
        p->sink->fact(p->sink->context, key, value);
    }
}

static void read_images(struct plain *p)
{
    struct bytes *b = column(p, IMAGES);
    while (!ended(b)) {
        struct plain_image image;
        image.path = take_string(p, b, UINT64_MAX);
        image.symbols = take_string(p, b, UINT64_MAX);
        image.build_id = take_string(p, b, 64);
        image.base = take_varint(p, b);
        image.start = take_varint(p, b);
        image.length = take_varint(p, b);
        p->sink->image(p->sink->context, p->totals->images++, &image);
    }
}

static void read_blocks(struct plain *p)
{
    struct bytes *b = column(p, BLOCKS), *code = column(p, CODE);
    while (!ended(b)) {
        struct plain_block block = {.addr = p->block_end + take_zigzag(p, b)};
        block.bytes.size = take_at_most(p, b, 65535);
        block.insns = take_at_most(p, b, block.bytes.size);
        must(p, block.insns > 0, "empty block");
        block.bytes.data = take(p, code, block.bytes.size);
        p->block_end = block.addr + block.bytes.size;
        p->code_size += block.bytes.size;
        p->sink->block(p->sink->context, p->totals->blocks++, &block);
    }
    must(p, ended(code), "code of no block");
    must(p, p->totals->blocks <= 1 << 24 && p->code_size <= 512 * MIB, "too much code");
}

struct site plain_site(struct plain *p, struct bytes *b, uint64_t previous_pc)
{
    struct site site = {.kind = take_byte(p, b)};
    site.flags = take_byte(p, b);
    must(p, site.kind > 0 && site.kind < VS_KIND_END, "unknown kind");
    if (site.kind > VS_STORE)
        return site;
    site.size = (uint16_t)take_at_most(p, b, 65535);
    site.icount = (uint16_t)take_at_most(p, b, 65535);
    site.pc = previous_pc + take_zigzag(p, b);
    if (site.kind == VS_BRANCH) {
        must(p, !(site.flags & VS_BR_TAKEN), "site that says taken");
        if (!(site.flags & VS_BR_INDIRECT))
            site.target = site.pc + take_zigzag(p, b);
    }
    return site;
}

static void read_sites(struct plain *p)
{
    struct bytes *b = column(p, SITES);
    while (!ended(b)) {
        struct site site = plain_site(p, b, p->site_pc);
        must(p, p->site_count < 1 << 22, "too many sites");
        p->sites = grow(p, p->sites, (p->site_count + 1) * sizeof *p->sites);
        p->sites[p->site_count++] = site;
        p->site_pc = site.pc;
    }
}

/* ---- sections 1 and 4: the file ----------------------------------------------------------- */

/* Header, chunk headers and trailer have this in common. */
static const uint8_t *take_head(struct plain *p, const char *magic)
{
    const uint8_t *h = take(p, &p->file, 32);
    must(p, !memcmp(h, magic, strlen(magic)), "magic number");
    must(p, little_endian(h + 28, 4) == crc(h, 28), "checksum of a header");
    return h;
}

static void read_header(struct plain *p)
{
    const uint8_t *h = take_head(p, "\x89VEST\r\n\x1a");
    must(p, little_endian(h + 10, 2) <= 1, "version");
    p->totals->features = (uint32_t)little_endian(h + 12, 4);
    must(p, p->totals->features <= 127, "unknown feature");
    must(p, !little_endian(h + 16, 8) && !little_endian(h + 24, 4), "header");
}

/* Returns the type of the chunk. */
static unsigned read_chunk(struct plain *p, struct bytes *payload)
{
    const uint8_t *h = take_head(p, "VSCK");
    must(p, !little_endian(h + 5, 3) && !little_endian(h + 24, 4), "header of a chunk");
    must(p, little_endian(h + 8, 4) == p->totals->chunks++, "number of a chunk");
    *payload = (struct bytes){.size = little_endian(h + 16, 8)};
    must(p, payload->size <= 260 * MIB, "chunk too long");
    payload->data = take(p, &p->file, payload->size);
    must(p, little_endian(h + 12, 4) == crc(payload->data, payload->size), "checksum of a chunk");
    return h[4];
}

static void add_to_index(struct plain *p, const uint8_t *data, size_t size)
{
    if (size == 0)
        return;
    p->index = grow(p, p->index, p->index_size + size);
    memcpy(p->index + p->index_size, data, size);
    p->index_size += size;
}

/* Varints have one form only: the index can be compared as bytes. */
static void note_chunk(struct plain *p, unsigned type, uint64_t length)
{
    uint8_t bytes[11] = {(uint8_t)type};
    size_t n = 1;
    for (; length >= 128; length >>= 7)
        bytes[n++] = (uint8_t)(length | 128);
    bytes[n++] = (uint8_t)length;
    add_to_index(p, bytes, n);
    add_to_index(p, column(p, SUMMARY)->data, column(p, SUMMARY)->size);
}

static void read_payload(struct plain *p, unsigned type, struct bytes payload)
{
    memset(&p->chunk, 0, sizeof p->chunk);
    must(p, type >= CHUNK_META && type <= CHUNK_INDEX, "unknown chunk");
    read_columns(p, type, payload);
    read_facts(p);
    read_images(p);
    read_blocks(p);
    read_sites(p);
    if (type == CHUNK_EVENTS)
        plain_events(p);
}

static void read_end(struct plain *p, uint64_t index_offset)
{
    const struct bytes *index = column(p, INDEX);
    must(p, index->size == p->index_size, "length of the index");
    must(p, !index->size || !memcmp(index->data, p->index, index->size), "index");
    const uint8_t *t = take_head(p, "VESTEND\n");
    must(p, little_endian(t + 8, 8) == index_offset, "offset of the index");
    must(p, little_endian(t + 16, 8) == p->file.size && ended(&p->file), "length of the file");
    must(p, !little_endian(t + 24, 4), "trailer");
}

static void read_file(struct plain *p)
{
    p->sites = grow(p, NULL, sizeof *p->sites);
    p->site_count = 1;
    read_header(p);
    for (;;) {
        uint64_t offset = p->file.at;
        struct bytes payload;
        unsigned type = read_chunk(p, &payload);
        read_payload(p, type, payload);
        p->totals->sites = p->site_count - 1;
        if (type == CHUNK_INDEX) {
            read_end(p, offset);
            return;
        }
        note_chunk(p, type, payload.size);
        release(p);
    }
}

int plain_read(const uint8_t *data, size_t size, const struct plain_sink *sink,
               struct plain_totals *totals, const char **why)
{
    *totals = (struct plain_totals){0};
    struct plain *p = calloc(1, sizeof *p);
    if (!p) {
        *why = "out of memory";
        return -1;
    }
    p->sink = sink;
    p->totals = totals;
    p->file = (struct bytes){.data = data, .size = size};
    if (!setjmp(p->failed))
        read_file(p);
    *why = p->why;
    release(p);
    free(p->sites);
    free(p->index);
    free(p);
    return *why ? -1 : 0;
}
