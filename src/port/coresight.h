/* SPDX-License-Identifier: MIT */
/* The CoreSight formatter: it carries the bytes of trace sources in frames of 16 bytes, here those
 * of one source.
 *
 * Bytes 0 to 14 of a frame are data, or the number of a source: an even byte has 1 in its lowest
 * bit if the rest of it is the number of the source that follows. If it is data, its lowest bit
 * lies in byte 15, where even byte 2i has bit i; of a number, that bit says that the number holds
 * only after the next byte. Source 0 is none: it fills the last frame, with zeros.
 *
 * What is no data is encapsulation, and counted so: 8 bits of a full frame. */
#ifndef PORT_CORESIGHT_H
#define PORT_CORESIGHT_H

#include "port/framing.h"

enum { VS_CORESIGHT_FRAME = 16, VS_CORESIGHT_DATA = 15 }; /* bytes */

/* Returns the number of a core's source, which is a legal one. */
static inline uint8_t vs_coresight_source(unsigned core)
{
    return (uint8_t)(0x10 + core % 0x60);
}

/* A zeroed struct is ready. */
struct vs_coresight_out {
    uint8_t bytes[VS_CORESIGHT_FRAME];
    uint8_t fields[VS_CORESIGHT_DATA]; /* VS_FIELD_END: no data */
    unsigned at;                       /* the byte that is free */
    bool begun;
};

/* Puts a byte of a core's source; every full frame is a packet that leaves at `time`. */
void vs_coresight_put(struct vs_coresight_out *o, struct vs_port_writer *w, unsigned core,
                      uint64_t time, enum vs_field f, uint8_t byte);

/* Fills and puts the last frame, if there is something in it. */
void vs_coresight_finish(struct vs_coresight_out *o, struct vs_port_writer *w, unsigned core,
                         uint64_t time);

/* A zeroed struct is ready. */
struct vs_coresight_in {
    uint8_t data[VS_CORESIGHT_DATA];
    unsigned count, at; /* of the data: how many there are, and those taken */
    bool begun, ended;  /* the source's number was told; source 0 follows */
};

/* Reads the next frame of a core's stream, which is the one being read, as a packet. All data of
 * the frame before must have been taken. Returns 0; -VSE_END; -VSE_TRUNCATED; -VSE_CORRUPT (another
 * source; something after source 0). */
int vs_coresight_get(struct vs_coresight_in *i, struct vs_port_reader *r, unsigned core);

/* Forgets what was read; the next frame may be any of the stream. */
void vs_coresight_seek(struct vs_coresight_in *i);

#endif
