/* SPDX-License-Identifier: MIT */
/* Reading hostile files. The first byte of an input says what the rest is:
 *
 *   bit 0 clear: a file, as it is
 *   bit 0 set: features, then columns, of which a file with right checksums and a true index is
 *     built, so that what lies behind the checksums is reached. A column is
 *     { byte type, byte id, 16-bit length, bytes }; bit 7 of the type begins a new chunk.
 *   bit 1: the index is left out, as in a run that was not sealed
 *
 * `reader --seed in.vest out` turns an intact file into an input of the second form. */
#include <stdio.h>
#include <unistd.h>

#include "unit/forge.h"
#include "vestige/run.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { STRUCTURED = 1, UNSEALED = 2, NEW_CHUNK = 0x80, EVENTS_MOST = 200000 };

/* ---- what is done with a file ---- */

static bool is_expected(int err)
{
    return err == 0 || err == -VSE_END || err == -VSE_NOTFOUND ||
           (err <= -VSE_FORMAT && err >= -VSE_LIMIT);
}

/* Every event that comes out keeps the rules. */
static void use_batch(const struct vs_reader *r, const struct vs_batch *b)
{
    forge_must(b->count > 0);
    for (size_t i = 0; i < b->count; i++) {
        forge_must(vs_event_check(&b->events[i], b->wide_size, NULL) == 0);
        forge_must(b->events[i].thread < vs_reader_info(r)->threads);
        forge_must(!b->cycles || i == 0 || b->cycles[i] >= b->cycles[i - 1]);
    }
}

static void read_some(struct vs_reader *r, uint64_t most)
{
    struct vs_batch b;
    uint64_t events = 0;
    int n = 0;

    while (events < most && (n = vs_reader_next(r, &b)) > 0) {
        use_batch(r, &b);
        events += b.count;
    }
    forge_must(n > 0 || is_expected(n));
}

static void seek_some(struct vs_reader *r)
{
    const struct vs_run_info *info = vs_reader_info(r);
    const uint64_t at[] = {0, info->events / 2, info->events - 1, info->events, UINT64_MAX};

    for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
        unsigned thread = info->threads ? (unsigned)(i % info->threads) : 0;

        forge_must(is_expected(vs_reader_seek_event(r, at[i])));
        read_some(r, 1);
        forge_must(is_expected(vs_reader_seek_insn(r, thread, at[i])));
        read_some(r, 1);
        forge_must(is_expected(vs_reader_seek_cycle(r, at[i])));
        forge_must(is_expected(vs_reader_select(r, (int)thread)));
        read_some(r, 1);
        forge_must(is_expected(vs_reader_select(r, -1)));
    }
}

static void use(const uint8_t *data, size_t size, enum vs_open_mode mode)
{
    struct vs_check_result result;
    struct vs_reader *r;
    struct vs_diag d = {0};
    int err = vs_reader_open_memory(&r, data, size, mode, &d);

    forge_must(is_expected(err) && (err == 0 || (d.error == err && d.text[0])));
    if (err)
        return;
    read_some(r, EVENTS_MOST);
    seek_some(r);
    if (vs_reader_info(r)->events <= EVENTS_MOST) {
        err = vs_reader_check(r, &result, NULL, NULL);
        forge_must(is_expected(err) && (err == 0 || vs_reader_diag(r)->text[0]));
    }
    vs_reader_close(r);
}

/* ---- inputs of the second form ---- */

static void build(const uint8_t *p, const uint8_t *end, bool sealed, struct vs_buf *out)
{
    struct forge f = {.features = p < end ? *p++ & VS_RUN_KNOWN : 0};
    struct forge_chunk *c = NULL;

    while (end - p >= 4) {
        unsigned type = p[0] & 3, id = p[1] % VS_COL_END;
        size_t n = vs_get16(p + 2);

        if (!c || (p[0] & NEW_CHUNK))
            c = forge_insert(&f, f.count, type ? type : VS_CHUNK_EVENTS);
        p += 4;
        n = n < (size_t)(end - p) ? n : (size_t)(end - p);
        forge_must(vs_buf_put(&c->cols.col[id], p, n) == 0);
        p += n;
    }
    forge_build(&f, out);
    if (!sealed)
        out->len = f.index_at;
    forge_free(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct vs_buf out = {0};

    if (size == 0)
        return 0;
    if (data[0] & STRUCTURED)
        build(data + 1, data + size, !(data[0] & UNSEALED), &out);
    else
        forge_set(&out, data + 1, size - 1);
    use(out.data, out.len, VS_OPEN_DEFAULT);
    use(out.data, out.len, VS_OPEN_SALVAGE);
    vs_buf_fini(&out);
    return 0;
}

/* ---- seeds ---- */

static void put_columns(const struct forge_chunk *c, FILE *out)
{
    unsigned mark = NEW_CHUNK;

    for (unsigned id = 0; id < VS_COL_END; id++) {
        const struct vs_buf *col = &c->cols.col[id];
        uint8_t head[4] = {(uint8_t)(c->type | mark), (uint8_t)id};

        if (!col->len)
            continue;
        forge_must(col->len <= UINT16_MAX);
        vs_put16(head + 2, (uint16_t)col->len);
        fwrite(head, 1, sizeof(head), out);
        fwrite(col->data, 1, col->len, out);
        mark = 0;
    }
}

static int make_seed(const char *from, const char *to)
{
    static uint8_t data[1 << 20];
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    struct forge f;
    size_t size;

    if (!in || !out)
        return 1;
    size = fread(data, 1, sizeof(data), in);
    forge_load(&f, data, size);
    fputc(STRUCTURED, out);
    fputc((int)f.features, out);
    for (size_t i = 0; i < f.count; i++)
        put_columns(&f.chunks[i], out);
    forge_free(&f);
    fclose(in);
    return fclose(out) != 0;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    if (*argc == 4 && strcmp((*argv)[1], "--seed") == 0)
        _exit(make_seed((*argv)[2], (*argv)[3]));
    return 0;
}
