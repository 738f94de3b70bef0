/* SPDX-License-Identifier: MIT */
/* Hostile .vport files, and hostile bits in good ones. The first byte of an input is options:
 *
 *   bit 0 clear: the rest is a file, as it is
 *   bit 0 set: the rest is a description of 16-bit length and then a stream, of which a file with
 *     right checksums is built, so that what lies behind them is reached
 *   bits 1 to 5: how the streams' fields are read; of a file that is built, bit 6: each core has a
 *     stream, of which the first three get blocks by turns; bit 7: it is timed
 *
 * `vport --seed DIR` writes inputs of both forms. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/crc32c.h"
#include "port/port.h"
#include "port/vport_layout.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BUILT = 1, PER_CORE = 0x40, TIMED = 0x80, TURN = 256 };

static void must(bool ok)
{
    if (!ok)
        abort();
}

static struct vs_port_shape shape_of(const struct vs_vport_about *about)
{
    return (struct vs_port_shape){.cores = about->cores,
                                  .timed = about->timed,
                                  .cycles = {4, 2},
                                  .packets = about->per_core,
                                  .per_core = about->per_core};
}

static void begin(struct vs_port_writer *w, unsigned core, uint64_t cycle)
{
    if (w->shape.packets)
        vs_port_begin_packet(w, core, cycle);
    else
        vs_port_begin(w, core, cycle);
}

/* Writes again what is read of a message. Returns 0, or why it could not be read. */
static int use_message(struct vs_port_reader *r, struct vs_port_writer *w, unsigned how,
                       unsigned width)
{
    struct vs_chunks chunks = {(uint8_t)(1 + how % 7), (uint8_t)(1 + how / 7 % 5)};
    struct vs_unary unary = {chunks.first, chunks.other, 0};
    uint64_t cycle = 0, count, extra, to, from = r->bits.pos;
    struct vs_difference d;
    unsigned core = r->stream;
    int err = r->shape.packets ? vs_port_next_packet(r) : vs_port_next(r, &core, &cycle);

    if (err || (err = vs_port_get_chunks(r, VS_FIELD_BCNT, chunks, &count)) < 0 ||
        (err = vs_port_get_unary(r, VS_FIELD_ICNT, unary, &extra)) < 0 ||
        (err = vs_port_get_difference(r, VS_FIELD_TARGET, chunks, 64, &d)) < 0 ||
        (err = vs_port_get_address(r, VS_FIELD_ADDRESS, unary, from, width, &to)) < 0)
        return err;
    begin(w, core, cycle);
    vs_port_put_chunks(w, VS_FIELD_BCNT, chunks, count);
    vs_port_put_unary(w, VS_FIELD_ICNT, unary, extra);
    vs_port_put_difference(w, VS_FIELD_TARGET, chunks, d);
    vs_port_put_address(w, VS_FIELD_ADDRESS, unary, from, to, width);
    vs_port_end(w);
    return 0;
}

/* Every field that was read is written again; the bits must be the same. */
static void use_streams(const struct vs_vport *v, unsigned how)
{
    struct vs_port_shape shape = shape_of(&v->about);
    struct vs_port_reader r;
    struct vs_port_writer w;
    struct vs_port_store again = {0};
    uint64_t total = 0;

    must(vs_port_reader_init(&r, &shape, v->streams) == 0);
    must(vs_port_reader_bits(&r) == v->nbits);
    must(vs_port_store_init(&again, &shape) == 0);
    must(vs_port_writer_init(&w, &shape, vs_port_to_store, &again) == 0);
    for (unsigned i = 0; i < again.count; i++) {
        uint64_t whole;
        int err;

        must(v->streams[i].size == (v->streams[i].nbits + 7) / 8);
        vs_port_select(&r, i);
        do {
            whole = r.bits.pos;
            err = use_message(&r, &w, how, v->about.address_bits);
        } while (!err);
        must(err == -VSE_END || ((err == -VSE_TRUNCATED || err == -VSE_CORRUPT) &&
                                 r.diag.error == err && r.diag.text[0]));
        must(vs_port_stream_bits(&w, i) == whole);
        total += whole;
    }
    must(vs_port_finish(&w) == (int64_t)total);
    for (unsigned i = 0; i < again.count; i++)
        must(!again.streams[i].nbits || memcmp(again.streams[i].data, v->streams[i].data,
                                               (size_t)(again.streams[i].nbits / 8)) == 0);
    vs_port_writer_fini(&w);
    vs_port_reader_fini(&r);
    vs_port_store_fini(&again);
}

static void use(const uint8_t *data, size_t size, unsigned how)
{
    struct vs_diag d = {0};
    struct vs_vport *v;
    int err = vs_vport_open_memory(&v, data, size, &d);

    must(err == 0 || (err <= -VSE_FORMAT && err >= -VSE_LIMIT));
    must((err == 0) == (v != NULL));
    if (err) {
        must(d.error == err && d.text[0] && d.offset >= 0);
        return;
    }
    must(v->verified <= v->nbits);
    must(v->truncated == (v->missing.error != 0));
    must(v->about.technique[0] && v->about.isa[0] && v->about.cores);
    for (size_t i = 0; i < v->about.param_count; i++)
        must(vs_vport_param(&v->about, v->about.params[i].name) == v->about.params[i].value);
    use_streams(v, how);
    vs_vport_close(v);
}

static void put(struct vs_buf *out, const void *bytes, size_t size)
{
    must(vs_buf_put(out, bytes, size) == 0);
}

static void put_streams(struct vs_buf *out, const uint8_t *data, size_t size, bool per_core)
{
    uint8_t header[VS_VPORT_BLOCK_HEADER_MAX], end[VS_VPORT_END];
    size_t left = size, most = per_core ? TURN : VS_VPORT_BLOCK;
    uint32_t blocks = 0;

    for (; left; blocks++) {
        size_t n = left < most ? left : most;
        struct vs_vport_block b = {blocks, (uint32_t)(8 * n), vs_crc32c(0, data, n), blocks % 3};

        vs_vport_block_pack(header, &b, per_core);
        put(out, header, vs_vport_block_header(per_core));
        put(out, data, n);
        data += n;
        left -= n;
    }
    vs_vport_end_pack(end, &(struct vs_vport_end){8 * size, out->len + sizeof(end), blocks});
    put(out, end, sizeof(end));
}

static void build(struct vs_buf *out, const uint8_t *data, size_t size, unsigned options)
{
    struct vs_vport_header h = {.features = (options & TIMED ? VS_VPORT_TIMED : 0u) |
                                            (options & PER_CORE ? VS_VPORT_PER_CORE : 0u)};
    uint8_t header[VS_VPORT_HEADER];

    if (size < 2)
        return;
    h.about_size = vs_get16(data);
    data += 2;
    size -= 2;
    h.about_size = h.about_size < size ? h.about_size : (uint32_t)size;
    h.about_crc = vs_crc32c(0, data, h.about_size);
    vs_vport_header_pack(header, &h);
    put(out, header, sizeof(header));
    put(out, data, h.about_size);
    put_streams(out, data + h.about_size, size - h.about_size, options & PER_CORE);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct vs_buf out = {0};

    if (!size)
        return 0;
    if (data[0] & BUILT)
        build(&out, data + 1, size - 1, data[0]);
    else
        put(&out, data + 1, size - 1);
    use(out.data, out.len, (data[0] & 0x3fu) >> 1);
    vs_buf_fini(&out);
    return 0;
}

/* ---- seeds ---- */

/* A stream that use_streams reads to its end. */
static void seed_stream(struct vs_buf *out, const struct vs_vport_about *about, unsigned how)
{
    struct vs_port_shape shape = shape_of(about);
    struct vs_chunks chunks = {(uint8_t)(1 + how), 1};
    struct vs_unary unary = {chunks.first, chunks.other, 0};
    struct vs_port_writer w;

    must(vs_port_writer_init(&w, &shape, vs_port_to_buf, out) == 0); /* stream 0 is all there is */
    for (unsigned i = 0; i < 40; i++) {
        uint64_t from = vs_port_bits(&w);

        begin(&w, about->per_core ? 0 : i % about->cores, 5 * i);
        vs_port_put_chunks(&w, VS_FIELD_BCNT, chunks, i * i);
        vs_port_put_unary(&w, VS_FIELD_ICNT, unary, i);
        vs_port_put_difference(&w, VS_FIELD_TARGET, chunks, vs_difference(i, 1000, 64));
        vs_port_put_address(&w, VS_FIELD_ADDRESS, unary, from, 0x1000 + i, about->address_bits);
        vs_port_end(&w);
    }
    must(vs_port_finish(&w) > 0);
    vs_port_writer_fini(&w);
}

static void save(const char *dir, const char *name, unsigned how, int options,
                 const struct vs_buf *bytes)
{
    char path[4096];
    FILE *f;

    snprintf(path, sizeof(path), "%s/%s.%u", dir, name, how);
    f = fopen(path, "wb");
    must(f && fputc(options, f) == options);
    must(fwrite(bytes->data, 1, bytes->len, f) == bytes->len && fclose(f) == 0);
}

static void make_seed(const char *dir, unsigned how)
{
    static const struct vs_vport_pair params[] = {{"gshare", "512"}, {"bcnt", "4,2"}};
    static const struct vs_image image = {"/bin/prog", "",    (const uint8_t *)"\1\2\3", 3, 0,
                                          0x400000,    0x1000};
    struct vs_vport_about about = {.technique = "mcfTR_e",
                                   .isa = "rv64",
                                   .address_bits = how & 1 ? 64 : 32,
                                   .cores = 1 + 2 * how,
                                   .timed = how & 2,
                                   .per_core = how == 3,
                                   .params = params,
                                   .param_count = how % 3,
                                   .images = &image,
                                   .image_count = how % 2};
    struct vs_buf parts = {0}, file = {0};

    put(&parts, "\0\0", 2);
    must(vs_vport_about_pack(&parts, &about, NULL) == 0);
    vs_put16(parts.data, (uint16_t)(parts.len - 2));
    seed_stream(&parts, &about, how);
    unsigned options =
        BUILT | how << 1 | (about.timed ? TIMED : 0u) | (about.per_core ? PER_CORE : 0u);
    build(&file, parts.data, parts.len, options);
    save(dir, "parts", how, (int)options, &parts);
    save(dir, "file", how, (int)(how << 1), &file);
    vs_buf_fini(&parts);
    vs_buf_fini(&file);
}

static int make_seeds(const char *dir)
{
    for (unsigned how = 0; how < 4; how++)
        make_seed(dir, how);
    return 0;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    if (*argc == 3 && strcmp((*argv)[1], "--seed") == 0)
        _exit(make_seeds((*argv)[2]));
    return 0;
}
