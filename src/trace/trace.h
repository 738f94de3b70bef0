/* SPDX-License-Identifier: MIT */
/* The trace layer: what a run is, and its file.
 *
 * Later layers use the public interface: vestige/event.h (the events), vestige/run.h (writer and
 * reader); and of this folder
 *
 *   consumer  what takes a run as it is made
 *   recipe    events that come together, as records of what varies
 *   relay     a consumer in a thread of its own
 *   run_file  telling a run from other files
 *   retired   where events are, in instructions
 *   expander  what makes events that a file does not have
 *
 * The rest is how a .vest file is made:
 *
 *   event           the rules of events
 *   layout          fixed structures, column numbers, limits        docs/format.md 1, 2
 *   columns         payloads of chunks                              2
 *   tables          facts, images, blocks                           3
 *   sites           what is the same each time an event happens     3
 *   index           summaries of chunks, seeking                    4
 *   predict         what is expected next; shared by those below    6, 7
 *   chunk_encode    events to columns: all but addresses and values
 *   chunk_records   the same for records
 *   chunk_flow      what these two have in common
 *   chunk_operands  addresses and values to columns
 *   chunk_decode    columns to events
 *   run_writer      chunk_encode + chunk_operands + columns + workers -> file
 *   chunk_load, run_reader    file -> chunk_decode -> batches
 */
#ifndef TRACE_TRACE_H
#define TRACE_TRACE_H

#include "trace/consumer.h"
#include "trace/expander.h"
#include "vestige/event.h"
#include "vestige/run.h"

#endif
