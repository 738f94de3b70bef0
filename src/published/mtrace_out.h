/* SPDX-License-Identifier: MIT */
/* The file that descriptors go to, plain or through a compressor. It is limited in size, and gets
 * its name only when it is complete. A tool builds descriptors in the buffer itself:
 *
 *     if (out->end - out->at < n && (e = mtrace_out_more(out, n, diag)) < 0)
 *         return e;
 *     ... n bytes at out->at ...
 *     out->at += n;
 */
#ifndef PUBLISHED_MTRACE_OUT_H
#define PUBLISHED_MTRACE_OUT_H

#include <stdint.h>
#include <string.h>
#include <sys/types.h>

#include "base/hex.h"
#include "base/outfile.h"

enum {
    MTRACE_NEED_MAX = 1 << 18, /* the most bytes that one descriptor has */
    MTRACE_SLACK = 16,         /* bytes that may be written beyond `end` */
};

struct mtrace_out {
    uint8_t *at;  /* the next descriptor goes here */
    uint8_t *end; /* the end of the buffer, or of what the limit leaves of it */
    uint8_t *buffer;
    uint64_t written, limit; /* bytes handed on, and their limit, before compression */
    unsigned compressor;
    pid_t child; /* the compressor's; 0: none */
    int pipe;    /* to the compressor */
    struct vs_outfile file;
};

/* Compressors are numbered from 1 up; 0 is none. */
enum { MTRACE_COMPRESSORS_END = 7 };

/* The name of the program that compresses; NULL for 0. */
const char *mtrace_compressor_name(unsigned compressor);

/* What it adds to a file's name, such as ".gz"; "" for 0. */
const char *mtrace_compressor_suffix(unsigned compressor);

/* Creates the file, and starts the compressor if there is one. Returns 0; -VSE_IO (also if the
 * compressor's program is missing); -VSE_NOMEM; as vs_outfile_open. */
int mtrace_out_open(struct mtrace_out *o, const char *path, bool overwrite, unsigned compressor,
                    uint64_t limit, struct vs_diag *diag);

/* Makes room for `need` bytes, at most MTRACE_NEED_MAX. Returns 0; -VSE_END (the limit does not
 * allow them); -VSE_IO. */
int mtrace_out_more(struct mtrace_out *o, size_t need, struct vs_diag *diag);

/* Hands everything on, waits for the compressor and gives the file its name. Returns 0; -VSE_IO
 * (also if the compressor failed); -VSE_EXISTS. Frees o's memory in any case, and removes the file
 * after an error. */
int mtrace_out_commit(struct mtrace_out *o, struct vs_diag *diag);

/* Gives the file up and removes it. Does nothing after a failed open or a commit. */
void mtrace_out_abort(struct mtrace_out *o);

/* ---- text of descriptors: each function writes at p and returns the end ---------------------- */

static inline uint8_t *text_put(uint8_t *p, const char *text, size_t length)
{
    memcpy(p, text, length);
    return p + length;
}

/* Writes 16 digits of v. */
static inline uint8_t *text_hex64(uint8_t *p, uint64_t v)
{
    vs_hex_put16(p, v);
    return p + 16;
}

/* Writes ", 0x" and 16 digits. */
static inline uint8_t *text_address(uint8_t *p, uint64_t v)
{
    return text_hex64(text_put(p, ", 0x", 4), v);
}

/* Writes v, which is below 100,000, in decimal. */
static inline uint8_t *text_small(uint8_t *p, uint32_t v)
{
    uint32_t power = 1;
    while (v / power >= 10)
        power *= 10;
    for (; power; power /= 10)
        *p++ = (uint8_t)('0' + v / power % 10);
    return p;
}

#endif
