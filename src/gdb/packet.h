/* SPDX-License-Identifier: MIT */
/* Frames of gdb's remote protocol: `$data#cs`, where cs is the sum of the bytes of data modulo 256
 * in two hexadecimal digits. In data, each '$', '#', '*' and '}' is sent as a '}' followed by the
 * byte with bit 5 flipped. Between frames stand '+' and '-', which tell how the last one arrived,
 * and the byte 3, which asks a running machine to stop.
 *
 * Nothing here knows what packets mean, or where bytes come from and go to. */
#ifndef GDB_PACKET_H
#define GDB_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define VS_GDB_PACKET_MAX 16384 /* bytes of data in either direction; counts escapes when sent */

/* ---- from the debugger --------------------------------------------------------------------- */

enum vs_gdb_event {
    VS_GDB_MORE,      /* needs more bytes */
    VS_GDB_PACKET,    /* a packet arrived, and is in data and size */
    VS_GDB_INTERRUPT, /* a byte 3 arrived between packets */
    VS_GDB_REPEAT,    /* a '-' arrived: the last packet sent was received badly */
    VS_GDB_SPOILT,    /* a packet arrived with a wrong checksum, or malformed */
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
    uint8_t data[VS_GDB_PACKET_MAX + 1]; /* without escapes, ended by a NUL */
    size_t size;
    enum vs_gdb_reader_state state;
    uint8_t sum, claimed;
    bool spoilt, too_long;
};

/* Takes bytes up to the end of the next event, which it returns, and sets *used to their number,
 * which is `size` with VS_GDB_MORE. A packet stays in `data` until the next call. A '$' begins a
 * packet wherever it stands; all other bytes between packets are skipped. */
enum vs_gdb_event vs_gdb_reader_take(struct vs_gdb_reader *r, const uint8_t *bytes, size_t size,
                                     size_t *used);

/* Returns what to send at once after an event, since the answer may take its time: "+", "-" or
 * "". */
const char *vs_gdb_acknowledgement(enum vs_gdb_event event);

/* ---- to the debugger ----------------------------------------------------------------------- */

/* Collects bytes to send. A zeroed struct is an empty writer. Errors stick: a packet that fails is
 * left out, and so is everything after it. */
struct vs_gdb_writer {
    struct vs_buf out;
    size_t last; /* where the last packet begins */
    uint8_t sum;
    bool open; /* between vs_gdb_begin and vs_gdb_end */
    int error; /* 0; -VSE_NOMEM; -VSE_LIMIT (a packet was longer than VS_GDB_PACKET_MAX) */
};

void vs_gdb_writer_fini(struct vs_gdb_writer *w);

/* Forgets the bytes and any error. */
void vs_gdb_writer_clear(struct vs_gdb_writer *w);

/* A packet is its begin, any number of pieces, and its end. */
void vs_gdb_begin(struct vs_gdb_writer *w);
void vs_gdb_put(struct vs_gdb_writer *w, const void *bytes, size_t size);
void vs_gdb_end(struct vs_gdb_writer *w);

/* Puts a piece: the bytes as pairs of hexadecimal digits. */
void vs_gdb_put_hex(struct vs_gdb_writer *w, const void *bytes, size_t size);

/* Puts a piece: text, which is cut after 255 bytes. */
void vs_gdb_printf(struct vs_gdb_writer *w, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
