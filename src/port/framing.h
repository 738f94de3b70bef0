/* SPDX-License-Identifier: MIT */
/* How a stream is divided. The shape says which of two it is:
 *
 * Messages. Each begins with Ti (ceil(log2 cores) bits) and, in a timed stream, dCC: the cycles
 * since the core's last message, or since cycle 0. What follows is the technique's. An untimed
 * stream has the messages in global order; a timed one as they leave the port, and their cycles
 * order them.
 *
 * Packets. All of their bits are put by the technique: whose a packet is, cycles, headers, lengths.
 * The writer is told to which core a packet is charged, or that it is charged to all of them, and
 * when it leaves; what is in it may be older, and need not begin or end with an instruction. If
 * each core has a stream, a packet goes to that of its core. The order between cores is what the
 * packets tell: cycles, or nothing.
 *
 * The writer counts packets as messages. */
#ifndef PORT_FRAMING_H
#define PORT_FRAMING_H

#include "port/stream.h"

/* ---- writing ------------------------------------------------------------------------------- */

/* What begin and end do of a timed stream, and with windows or a drain. */
void vs_port_put_cycles(struct vs_port_writer *w);
void vs_port_tell(struct vs_port_writer *w);

/* A message is what is put between begin and end. time: the commit cycle in a timed stream, else
 * the number of instructions retired by all cores, for the windows. */
static inline void vs_port_begin(struct vs_port_writer *w, unsigned core, uint64_t time)
{
    w->core = &w->cores[core];
    w->time = time;
    w->start = vs_port_bits(w);
    if (w->core_bits)
        vs_port_put(w, VS_FIELD_CORE, core, w->core_bits);
    if (w->shape.timed)
        vs_port_put_cycles(w);
}

static inline void vs_port_end(struct vs_port_writer *w)
{
    w->core->counts.messages++;
    if (w->windows || w->drain)
        vs_port_tell(w);
}

#define VS_PORT_SHARED UINT32_MAX /* in place of a core: the packet is charged to all of them */

/* Begins a packet, which vs_port_end ends. time: as of a message, but when it leaves. A shared
 * packet, of which a port with a stream per core has none, is core 0's in the windows. */
void vs_port_begin_packet(struct vs_port_writer *w, unsigned core, uint64_t time);

/* ---- reading ------------------------------------------------------------------------------- */

/* Begins the next message: whose it is, and its cycle (0 if not timed). Either may be NULL.
 * Returns 0; -VSE_END if no bit is left; -VSE_TRUNCATED; -VSE_CORRUPT. */
int vs_port_next(struct vs_port_reader *r, unsigned *core, uint64_t *cycle);

/* Begins the next packet of the stream that is being read, at the next bit. Returns 0; -VSE_END. */
int vs_port_next_packet(struct vs_port_reader *r);

/* Of the packet under way, in a stream of all cores: whose it is, as it was just read of the field.
 * Returns 0; -VSE_CORRUPT (there is no such core). */
int vs_port_packet_core(struct vs_port_reader *r, enum vs_field f, uint64_t core);

/* Goes to a bit of a stream, from which on packets are to be read. Returns 0; -VSE_END (the stream
 * does not reach as far). */
int vs_port_seek(struct vs_port_reader *r, unsigned stream, uint64_t bit);

#endif
