/* SPDX-License-Identifier: MIT */
/* How a stream is divided. The shape says which of two ways is used:
 *
 * Messages. Each begins with Ti (ceil(log2 cores) bits) and, in a timed stream, dCC: the cycles
 * since the core's last message, or since cycle 0. What follows belongs to the technique. An
 * untimed stream has the messages in global order; a timed one has them as they leave the port, and
 * their cycles order them.
 *
 * Packets. The technique puts all of their bits: core numbers, cycles, headers, lengths. The writer
 * is told which core a packet is charged to, or that it is charged to all of them, and when it
 * leaves; its content may be older, and need not begin or end with an instruction. If each core has
 * a stream, a packet goes to its core's stream. The order between cores is what the packets tell:
 * cycles, or nothing.
 *
 * The writer counts packets as messages. */
#ifndef PORT_FRAMING_H
#define PORT_FRAMING_H

#include "port/stream.h"

/* ---- writing ------------------------------------------------------------------------------- */

/* What begin and end call in a timed stream, and if there are windows, a drain, a meter or
 * buffers. */
void vs_port_put_cycles(struct vs_port_writer *w);
void vs_port_tell(struct vs_port_writer *w);

/* A message is what is put between begin and end. `time` is the commit cycle in a timed stream;
 * otherwise it is the number of instructions retired by all cores, for the windows. */
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
    if (w->windows || w->drain || w->meter || w->buffers)
        vs_port_tell(w);
}

#define VS_PORT_SHARED UINT32_MAX /* in place of a core: the packet is charged to all of them */

/* What begin does for a core other than the last packet's: enters its stream, if it has one. */
void vs_port_charge(struct vs_port_writer *w, unsigned core);

/* Begins a packet, which vs_port_end ends. `time` is as for a message, but says when the packet
 * leaves. The windows charge a shared packet to core 0; a port with a stream per core has none. */
static inline void vs_port_begin_packet(struct vs_port_writer *w, unsigned core, uint64_t time)
{
    if (unlikely(!w->shape.per_core || core != w->stream))
        vs_port_charge(w, core);
    w->time = time;
    w->start = vs_port_bits(w);
}

/* ---- reading ------------------------------------------------------------------------------- */

/* Begins the next message and tells its core and its cycle (0 if not timed). Either may be NULL.
 * Returns 0; -VSE_END if no bit is left; -VSE_TRUNCATED; -VSE_CORRUPT. */
int vs_port_next(struct vs_port_reader *r, unsigned *core, uint64_t *cycle);

/* Begins the next packet of the stream that is being read, at the next bit. Returns 0; -VSE_END. */
int vs_port_next_packet(struct vs_port_reader *r);

/* Says which core the packet under way belongs to, in a stream of all cores, as field f has just
 * told. Returns 0; -VSE_CORRUPT (there is no such core). */
int vs_port_packet_core(struct vs_port_reader *r, enum vs_field f, uint64_t core);

/* Goes to a bit of a stream; the next packet is read from there. Returns 0; -VSE_END (the stream is
 * shorter). */
int vs_port_seek(struct vs_port_reader *r, unsigned stream, uint64_t bit);

#endif
