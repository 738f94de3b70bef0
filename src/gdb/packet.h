/* SPDX-License-Identifier: MIT */
/* Frames of gdb's remote protocol: `$data#cs`, where cs is the sum of the bytes of data modulo 256
 * in two hexadecimal digits. Of data, '$', '#', '*' and '}' are sent as '}' and the byte with bit 5
 * flipped. Between frames stand '+' and '-', which tell how the last one arrived, and the byte 3,
 * which asks a running machine to stop.
 *
 * Nothing here knows what packets mean, or where bytes come from and go to. */
#ifndef GDB_PACKET_H
#define GDB_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define VS_GDB_PACKET_MAX 16384 /* bytes of data, in either direction; with escapes when sent */

/* ---- from the debugger --------------------------------------------------------------------- */

enum vs_gdb_event {
    VS_GDB_MORE,      /* needs more bytes */
    VS_GDB_PACKET,    /* data and size have one */
    VS_GDB_INTERRUPT, /* a byte 3 between packets */
    VS_GDB_REPEAT,    /* a '-': the last packet sent did not arrive well */
    VS_GDB_SPOILT,    /* a packet arrived with a wrong checksum, or is no data */
    VS_GDB_TOO_LONG,  /* a packet of more than VS_GDB_PACKET_MAX bytes arrived */
};

enum vs_gdb_reader_state {
    VS_GDB_READ_BETWEEN,
    VS_GDB_READ_DATA,
    VS_GDB_READ_ESCAPED,
    VS_GDB_READ_SUM_HIGH,
    VS_GDB_READ_SUM_LOW,
};

/* A zeroed struct is a reader at the start. */
struct vs_gdb_reader {
    uint8_t data[VS_GDB_PACKET_MAX + 1]; /* without escapes, and a NUL */
    size_t size;
    enum vs_gdb_reader_state state;
    uint8_t sum, claimed;
    bool spoilt, too_long;
};

/* Takes bytes up to the end of what happens next; *used has their number, and is `size` with
 * VS_GDB_MORE. A packet stays in `data` until the next call. A '$' begins a packet wherever it
 * stands; all other bytes between packets are skipped. */
enum vs_gdb_event vs_gdb_reader_take(struct vs_gdb_reader *r, const uint8_t *bytes, size_t size,
                                     size_t *used);

/* What to send at once on an event, before an answer that may take its time: "+", "-", or "". */
const char *vs_gdb_acknowledgement(enum vs_gdb_event event);

/* ---- to the debugger ----------------------------------------------------------------------- */

/* Bytes to send. A zeroed struct is an empty writer. Errors stick: a packet that fails is left out,
 * and so is everything after it. */
struct vs_gdb_writer {
    struct vs_buf out;
    size_t last; /* where the last packet begins */
    uint8_t sum;
    bool open; /* within a packet */
    int error; /* 0; -VSE_NOMEM; -VSE_LIMIT: a packet was longer than VS_GDB_PACKET_MAX */
};

void vs_gdb_writer_fini(struct vs_gdb_writer *w);

/* Forgets the bytes and an error. */
void vs_gdb_writer_clear(struct vs_gdb_writer *w);

/* A packet: its begin, any number of pieces, its end. */
void vs_gdb_begin(struct vs_gdb_writer *w);
void vs_gdb_put(struct vs_gdb_writer *w, const void *bytes, size_t size);
void vs_gdb_end(struct vs_gdb_writer *w);

/* A piece: bytes as pairs of digits. */
void vs_gdb_put_hex(struct vs_gdb_writer *w, const void *bytes, size_t size);

/* A piece: text of no more than 255 bytes; what is longer is cut. */
void vs_gdb_printf(struct vs_gdb_writer *w, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
