/* SPDX-License-Identifier: MIT */
/* The port layer: what leaves the chip, bit by bit, and what it amounts to.
 *
 *   code      how numbers lie in a stream
 *   field     what a bit is for
 *   stream    the bits of one stream, or of one per core, by field: writer and reader
 *   framing   how streams are divided: messages with Ti and dCC, or a technique's own packets
 *   row       packets of one core, one after the other, put fast
 *   coresight frames that carry the bytes of a trace source
 *   store     streams in memory
 *   growing   a stream that is read while it is written
 *   account   bits by field and core; the cost of other codes for the same numbers
 *   window    bits over time
 *   drain     the buffer before the port: its occupancy, drops, stalls
 *   demux     messages that wait for their core
 *   vport     streams as files                                    docs/vport.md
 *   perf_data streams of Intel PT that Linux's perf recorded
 */
#ifndef PORT_PORT_H
#define PORT_PORT_H

#include "port/account.h"
#include "port/buffers.h"
#include "port/code.h"
#include "port/coresight.h"
#include "port/demux.h"
#include "port/drain.h"
#include "port/field.h"
#include "port/framing.h"
#include "port/growing.h"
#include "port/perf_data.h"
#include "port/row.h"
#include "port/store.h"
#include "port/stream.h"
#include "port/vport.h"
#include "port/window.h"

#endif
