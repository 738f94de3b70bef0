/* SPDX-License-Identifier: MIT */
#include "base/pack.h"

#include <bzlib.h>
#include <lzma.h>
#include <stdbool.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/diag.h"
#include "base/invariant.h"

enum {
    PIECE = 1 << 14,        /* the most bytes that the sink gets at once */
    MOST_AT_ONCE = 1 << 30, /* sizes are 32 bits wide in two of the libraries */
    ZSTD_WINDOW = 23,       /* log2 of how far level 19 looks back */
};

#define XZ_MEMORY (UINT64_C(80) << 20) /* more than it takes to unpack what level 9 wrote */

struct library {
    union {
        z_stream gzip;
        bz_stream bzip2;
        lzma_stream xz;
        ZSTD_CCtx *zstd_pack;
        ZSTD_DCtx *zstd_unpack;
    };
};

/* What is left of the input, and of the room for output. */
struct flow {
    const uint8_t *in;
    size_t in_size;
    uint8_t *out;
    size_t out_size;
};

static unsigned at_once(size_t size)
{
    return size < MOST_AT_ONCE ? (unsigned)size : MOST_AT_ONCE;
}

static void advance(struct flow *f, size_t in, size_t out)
{
    if (in) /* otherwise the pointer may be NULL */
        f->in += in;
    f->in_size -= in;
    f->out += out;
    f->out_size -= out;
}

/* A step takes input and gives output, some of either. It returns 0; DONE: the stream is complete;
 * -VSE_CORRUPT, -VSE_NOMEM. */
enum { DONE = 1 };

/* ---- gzip ------------------------------------------------------------------------------------ */

enum { GZIP_FORMAT = 16 + MAX_WBITS };

static int gzip_result(int result)
{
    switch (result) {
    case Z_OK:
    case Z_BUF_ERROR: /* nothing to do at present */
        return 0;
    case Z_STREAM_END:
        return DONE;
    case Z_MEM_ERROR:
        return -VSE_NOMEM;
    default:
        return -VSE_CORRUPT;
    }
}

static int gzip_open(struct library *l, unsigned level)
{
    return gzip_result(deflateInit2(&l->gzip, (int)level, Z_DEFLATED, GZIP_FORMAT,
                                    MAX_MEM_LEVEL - 1, Z_DEFAULT_STRATEGY));
}

static int gzip_step(struct library *l, struct flow *f, bool finish, int run(z_streamp, int))
{
    unsigned in = at_once(f->in_size), out = at_once(f->out_size);
    l->gzip.next_in = (z_const Bytef *)(uintptr_t)f->in;
    l->gzip.avail_in = in;
    l->gzip.next_out = f->out;
    l->gzip.avail_out = out;
    int result = run(&l->gzip, finish ? Z_FINISH : Z_NO_FLUSH);
    advance(f, in - l->gzip.avail_in, out - l->gzip.avail_out);
    return gzip_result(result);
}

static int gzip_pack(struct library *l, struct flow *f, bool finish)
{
    return gzip_step(l, f, finish, deflate);
}

static int gzip_unpack(struct library *l, struct flow *f)
{
    return gzip_step(l, f, false, inflate);
}

static void gzip_close(struct library *l)
{
    deflateEnd(&l->gzip);
}

static int gzip_unpack_open(struct library *l)
{
    return gzip_result(inflateInit2(&l->gzip, GZIP_FORMAT));
}

static void gzip_unpack_close(struct library *l)
{
    inflateEnd(&l->gzip);
}

/* ---- bzip2 ----------------------------------------------------------------------------------- */

static int bzip2_result(int result)
{
    switch (result) {
    case BZ_OK:
    case BZ_RUN_OK:
    case BZ_FLUSH_OK:
    case BZ_FINISH_OK:
        return 0;
    case BZ_STREAM_END:
        return DONE;
    case BZ_MEM_ERROR:
        return -VSE_NOMEM;
    default:
        return -VSE_CORRUPT;
    }
}

static int bzip2_open(struct library *l, unsigned level)
{
    return bzip2_result(BZ2_bzCompressInit(&l->bzip2, (int)level, 0, 0));
}

static void bzip2_begin(struct library *l, const struct flow *f)
{
    l->bzip2.next_in = (char *)(uintptr_t)f->in;
    l->bzip2.avail_in = at_once(f->in_size);
    l->bzip2.next_out = (char *)f->out;
    l->bzip2.avail_out = at_once(f->out_size);
}

static int bzip2_end(const struct library *l, struct flow *f, int result)
{
    advance(f, at_once(f->in_size) - l->bzip2.avail_in, at_once(f->out_size) - l->bzip2.avail_out);
    return bzip2_result(result);
}

static int bzip2_pack(struct library *l, struct flow *f, bool finish)
{
    bzip2_begin(l, f);
    return bzip2_end(l, f, BZ2_bzCompress(&l->bzip2, finish ? BZ_FINISH : BZ_RUN));
}

static void bzip2_close(struct library *l)
{
    BZ2_bzCompressEnd(&l->bzip2);
}

static int bzip2_unpack_open(struct library *l)
{
    return bzip2_result(BZ2_bzDecompressInit(&l->bzip2, 0, 0));
}

static int bzip2_unpack(struct library *l, struct flow *f)
{
    bzip2_begin(l, f);
    return bzip2_end(l, f, BZ2_bzDecompress(&l->bzip2));
}

static void bzip2_unpack_close(struct library *l)
{
    BZ2_bzDecompressEnd(&l->bzip2);
}

/* ---- xz -------------------------------------------------------------------------------------- */

static int xz_result(lzma_ret result)
{
    switch (result) {
    case LZMA_OK:
    case LZMA_BUF_ERROR: /* nothing to do at present */
        return 0;
    case LZMA_STREAM_END:
        return DONE;
    case LZMA_MEM_ERROR:
        return -VSE_NOMEM;
    default:
        return -VSE_CORRUPT;
    }
}

static int xz_open(struct library *l, unsigned level)
{
    l->xz = (lzma_stream)LZMA_STREAM_INIT;
    return xz_result(lzma_easy_encoder(&l->xz, level, LZMA_CHECK_CRC64));
}

static int xz_step(struct library *l, struct flow *f, lzma_action action)
{
    l->xz.next_in = f->in;
    l->xz.avail_in = f->in_size;
    l->xz.next_out = f->out;
    l->xz.avail_out = f->out_size;
    lzma_ret result = lzma_code(&l->xz, action);
    advance(f, f->in_size - l->xz.avail_in, f->out_size - l->xz.avail_out);
    return xz_result(result);
}

static int xz_pack(struct library *l, struct flow *f, bool finish)
{
    return xz_step(l, f, finish ? LZMA_FINISH : LZMA_RUN);
}

static int xz_unpack_open(struct library *l)
{
    l->xz = (lzma_stream)LZMA_STREAM_INIT;
    return xz_result(lzma_stream_decoder(&l->xz, XZ_MEMORY, LZMA_TELL_UNSUPPORTED_CHECK));
}

static int xz_unpack(struct library *l, struct flow *f)
{
    return xz_step(l, f, LZMA_RUN);
}

static void xz_close(struct library *l)
{
    lzma_end(&l->xz);
}

/* ---- zstd ------------------------------------------------------------------------------------ */

static int zstd_open(struct library *l, unsigned level)
{
    l->zstd_pack = ZSTD_createCCtx();
    if (!l->zstd_pack)
        return -VSE_NOMEM;
    ZSTD_CCtx_setParameter(l->zstd_pack, ZSTD_c_compressionLevel, (int)level);
    ZSTD_CCtx_setParameter(l->zstd_pack, ZSTD_c_checksumFlag, 1);
    return 0;
}

static int zstd_pack(struct library *l, struct flow *f, bool finish)
{
    ZSTD_inBuffer in = {f->in, f->in_size, 0};
    ZSTD_outBuffer out = {f->out, f->out_size, 0};
    size_t left =
        ZSTD_compressStream2(l->zstd_pack, &out, &in, finish ? ZSTD_e_end : ZSTD_e_continue);
    advance(f, in.pos, out.pos);
    if (ZSTD_isError(left))
        return -VSE_NOMEM; /* nothing else goes wrong here */
    return finish && !left ? DONE : 0;
}

static void zstd_close(struct library *l)
{
    ZSTD_freeCCtx(l->zstd_pack);
}

static int zstd_unpack_open(struct library *l)
{
    l->zstd_unpack = ZSTD_createDCtx();
    if (!l->zstd_unpack)
        return -VSE_NOMEM;
    ZSTD_DCtx_setParameter(l->zstd_unpack, ZSTD_d_windowLogMax, ZSTD_WINDOW);
    return 0;
}

static int zstd_unpack(struct library *l, struct flow *f)
{
    ZSTD_inBuffer in = {f->in, f->in_size, 0};
    ZSTD_outBuffer out = {f->out, f->out_size, 0};
    size_t left = ZSTD_decompressStream(l->zstd_unpack, &out, &in);
    advance(f, in.pos, out.pos);
    if (ZSTD_isError(left))
        return ZSTD_getErrorCode(left) == ZSTD_error_memory_allocation ? -VSE_NOMEM : -VSE_CORRUPT;
    return left ? 0 : DONE;
}

static void zstd_unpack_close(struct library *l)
{
    ZSTD_freeDCtx(l->zstd_unpack);
}

/* ---- all of them ----------------------------------------------------------------------------- */

static const struct {
    const char *name;
    unsigned least, most; /* levels */
    int (*pack_open)(struct library *l, unsigned level);
    int (*pack)(struct library *l, struct flow *f, bool finish);
    void (*pack_close)(struct library *l);
    int (*unpack_open)(struct library *l);
    int (*unpack)(struct library *l, struct flow *f);
    void (*unpack_close)(struct library *l);
} kinds[VS_PACK_KINDS] = {
    [VS_PACK_GZIP] = {"gzip", 1, 9, gzip_open, gzip_pack, gzip_close, gzip_unpack_open, gzip_unpack,
                      gzip_unpack_close},
    [VS_PACK_BZIP2] = {"bzip2", 1, 9, bzip2_open, bzip2_pack, bzip2_close, bzip2_unpack_open,
                       bzip2_unpack, bzip2_unpack_close},
    [VS_PACK_XZ] = {"xz", 0, 9, xz_open, xz_pack, xz_close, xz_unpack_open, xz_unpack, xz_close},
    [VS_PACK_ZSTD] = {"zstd", 1, 19, zstd_open, zstd_pack, zstd_close, zstd_unpack_open,
                      zstd_unpack, zstd_unpack_close},
};

const char *vs_pack_name(enum vs_pack_kind kind)
{
    return kinds[kind].name;
}

void vs_pack_levels(enum vs_pack_kind kind, unsigned *least, unsigned *most)
{
    *least = kinds[kind].least;
    *most = kinds[kind].most;
}

/* ---- packing --------------------------------------------------------------------------------- */

struct vs_pack {
    enum vs_pack_kind kind;
    struct library library;
    int error;
    bool finished;
    vs_pack_sink *sink;
    void *context;
    uint8_t piece[PIECE];
};

int vs_pack_open(struct vs_pack **pack, enum vs_pack_kind kind, unsigned level, vs_pack_sink *sink,
                 void *context)
{
    *pack = NULL;
    if ((unsigned)kind >= VS_PACK_KINDS || level < kinds[kind].least || level > kinds[kind].most)
        return -VSE_INVAL;
    struct vs_pack *p = calloc(1, sizeof(*p));
    if (!p)
        return -VSE_NOMEM;
    p->kind = kind;
    p->sink = sink;
    p->context = context;
    if (kinds[kind].pack_open(&p->library, level)) {
        free(p);
        return -VSE_NOMEM;
    }
    *pack = p;
    return 0;
}

/* Makes one step and hands its output to the sink. Returns 0; DONE; an error. */
static int pack_step(struct vs_pack *p, struct flow *f, bool finish)
{
    f->out = p->piece;
    f->out_size = PIECE;
    int result = kinds[p->kind].pack(&p->library, f, finish);
    size_t size = PIECE - f->out_size;
    invariant(size <= PIECE);
    int err = result < 0 ? result : size ? p->sink(p->context, p->piece, size) : 0;
    return err ? err : result;
}

int vs_pack_put(struct vs_pack *p, const void *bytes, size_t size)
{
    struct flow f = {.in = bytes, .in_size = size};
    if (p->finished)
        return -VSE_INVAL;
    while (f.in_size && !p->error)
        p->error = pack_step(p, &f, false);
    return p->error;
}

int vs_pack_finish(struct vs_pack *p)
{
    struct flow f = {.in = p->piece};
    if (p->finished)
        return -VSE_INVAL;
    int result = p->error;
    while (!result)
        result = pack_step(p, &f, true);
    p->finished = result == DONE;
    p->error = result == DONE ? 0 : result;
    return p->error;
}

void vs_pack_close(struct vs_pack *p)
{
    if (p)
        kinds[p->kind].pack_close(&p->library);
    free(p);
}

/* ---- unpacking ------------------------------------------------------------------------------- */

struct vs_unpack {
    enum vs_pack_kind kind;
    struct library library;
    struct flow flow;
    uint64_t taken; /* packed bytes before the flow's */
    bool dry;       /* no progress before more is fed; zstd takes idle calls for an error */
    bool done, ended;
    int error;
};

int vs_unpack_open(struct vs_unpack **unpack, enum vs_pack_kind kind)
{
    *unpack = NULL;
    if ((unsigned)kind >= VS_PACK_KINDS)
        return -VSE_INVAL;
    struct vs_unpack *u = calloc(1, sizeof(*u));
    if (!u)
        return -VSE_NOMEM;
    u->kind = kind;
    if (kinds[kind].unpack_open(&u->library)) {
        free(u);
        return -VSE_NOMEM;
    }
    *unpack = u;
    return 0;
}

void vs_unpack_feed(struct vs_unpack *u, const uint8_t *bytes, size_t size)
{
    invariant(!u->ended);
    u->flow.in = bytes;
    u->flow.in_size = size;
    u->dry = !size && u->dry;
}

void vs_unpack_end(struct vs_unpack *u)
{
    u->ended = true;
}

/* Steps until there is no room left, or no progress. */
static void unpack(struct vs_unpack *u)
{
    struct flow before;
    do {
        before = u->flow;
        int result = kinds[u->kind].unpack(&u->library, &u->flow);
        u->taken += before.in_size - u->flow.in_size;
        u->done = result == DONE;
        u->error = result < 0 ? result : 0;
    } while (!u->done && !u->error && u->flow.out_size &&
             (u->flow.in_size != before.in_size || u->flow.out_size != before.out_size));
    u->dry = !u->flow.in_size && u->flow.out_size;
}

static int64_t refuse(struct vs_unpack *u, int err, const char *why, struct vs_diag *diag)
{
    u->error = err;
    return vs_diag_set(diag, err, (int64_t)u->taken, -1, "byte %llu of the %s stream: %s",
                       (unsigned long long)u->taken, kinds[u->kind].name, why);
}

int64_t vs_unpack_get(struct vs_unpack *u, uint8_t *bytes, size_t room, struct vs_diag *diag)
{
    invariant(room);
    u->flow.out = bytes;
    u->flow.out_size = room;
    if (!u->done && !u->error && !u->dry)
        unpack(u);
    if (u->flow.out_size < room) /* the caller gets these bytes before the error */
        return (int64_t)(room - u->flow.out_size);
    if (u->error)
        return refuse(u, u->error,
                      u->error == -VSE_NOMEM       ? vs_errstr(u->error)
                      : u->error == -VSE_TRUNCATED ? "it ends too early"
                                                   : "not what a packer writes",
                      diag);
    if (u->done)
        return u->flow.in_size ? refuse(u, -VSE_CORRUPT, "something follows its end", diag)
                               : -VSE_END;
    return u->ended ? refuse(u, -VSE_TRUNCATED, "it ends too early", diag) : 0;
}

void vs_unpack_close(struct vs_unpack *u)
{
    if (u)
        kinds[u->kind].unpack_close(&u->library);
    free(u);
}
