/* SPDX-License-Identifier: MIT */
/* A run made of streams of control flow from elsewhere: the decoder reads them, the walk follows
 * the code, and each step becomes an event. The run has branches, starts and ends of threads,
 * exceptions and gaps, and the code that was executed; nothing of data, and no time. System calls
 * are told, but not which: their numbers are VS_FLOW_RUN_CALL, and all else about them is 0.
 *
 * Where control goes elsewhere after a system call's instruction, that is taken for the return from
 * an exception; anywhere else, for an exception. */
#ifndef STUDY_FLOW_RUN_H
#define STUDY_FLOW_RUN_H

#include "isa/set.h"
#include "isa/text.h"
#include "port/stream.h"
#include "technique/technique.h"
#include "vestige/run.h"

#define VS_FLOW_RUN_CALL UINT64_MAX

struct vs_flow_run_config {
    const struct vs_isa *isa;
    const struct vs_text *code;           /* indexed */
    const struct vs_technique_spec *spec; /* settled; serves control flow */
    struct vs_technique_setup setup;
    const struct vs_port_stream *streams;
    const uint64_t *tids; /* by core: the system's number of its thread; NULL: not known */
    struct vs_writer *writer;
    uint64_t limit; /* the most instructions; 0: any number */
};

struct vs_flow_run_result {
    uint64_t instructions, branches, gaps, threads;
    unsigned stream; /* after an error: the stream that it is about */
};

/* Writes the events; sealing the run is the caller's. Returns 0; -VSE_CORRUPT and -VSE_TRUNCATED
 * (the diag says what is wrong, and has the byte in the stream); -VSE_LIMIT; -VSE_NOMEM; an error
 * of the writer, which then has it in its own diag. */
int vs_flow_run_make(const struct vs_flow_run_config *config, struct vs_flow_run_result *result,
                     struct vs_diag *diag);

#endif
