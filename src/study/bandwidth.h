/* SPDX-License-Identifier: MIT */
/* What techniques cost on a run. The run is read once, and once more beforehand if a technique
 * needs something that only the whole run tells (VS_NEEDS_PRIOR, VS_NEEDS_CODE). The techniques
 * encode it independently and in parallel, and each one's port counts the bits. Pass a sink to
 * receive the bits themselves. */
#ifndef STUDY_BANDWIDTH_H
#define STUDY_BANDWIDTH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/progress.h"
#include "base/workers.h"
#include "port/account.h"
#include "port/buffers.h"
#include "port/drain.h"
#include "port/framing.h"
#include "port/window.h"
#include "isa/text.h"
#include "study/attribution.h"
#include "study/pace.h"
#include "study/sampling.h"
#include "technique/address.h"
#include "technique/parts.h"
#include "technique/technique.h"
#include "technique/writers.h"
#include "vestige/run.h"

/* Numbers the places of events, in place of struct vs_event_sites. It is handed every event of the
 * run once, in order, by the thread that reads, in a batch of one; so it may look at the run by the
 * way. Returns the number of the event's place, below 2^32; an error, which ends the reading. */
struct vs_placer {
    int64_t (*take)(void *context, const struct vs_batch *one);
    void *context;
};

/* Is handed the batches that the encoders get, by the thread that reads, for whoever needs the run
 * itself, too, and would have to read it once more. Returns 0; an error, which ends the reading. */
struct vs_watcher {
    int (*take)(void *context, const struct vs_batch *batch);
    void *context;
};

struct vs_bandwidth_options {
    uint64_t window;              /* cycles, or instructions if the run is untimed; 0: no windows */
    struct vs_drain_config drain; /* bits 0: no buffer. If untimed, an instruction is a cycle */
    uint64_t sync; /* a core's instructions from one synchronisation point to the next, for
                    * techniques that have them (see study/pace.h); 0: none */
    bool at_once;  /* bits come soon: without a pass beforehand, so that there is no prior
                    * (technique/seen.h) and there are more of them; and in small pieces */
    bool alone;    /* without threads of its own, for whoever has several studies side by side;
                    * encoders    then share parts (technique/parts.h) */
    const atomic_bool *stop;               /* NULL, or ends the reading early once it is set */
    enum vs_by by;                         /* rows tell where their bits are sent */
    const struct vs_placer *placer;        /* NULL, or it numbers places; `by` is not used then */
    const struct vs_watcher *watcher;      /* NULL, or it looks on */
    const struct vs_buffers_plan *buffers; /* NULL, or rows try these */
    struct vs_sampling *sampling; /* NULL: everything is read and counted; else rows have samples,
                                   * too */
};

/* What a technique cost on the run. */
struct vs_bandwidth_row {
    struct vs_technique_spec spec; /* settled */
    uint64_t bits;
    struct vs_port_counts counts;
    struct vs_counts encoded; /* what the encoder met */
    struct vs_lengths lengths[VS_FIELD_END];
    struct vs_cost cost;
    struct vs_windows windows;     /* if there are any */
    struct vs_drain drain;         /* if there is one */
    struct vs_sample_sums samples; /* of windows, if only some are read */
    struct vs_attribution sent;    /* if it is asked where bits are sent */
    struct vs_buffers buffers;     /* if there are any */

    /* private */
    vs_port_sink *sink;
    void *context;
    bool at_once; /* as in the options */
    struct vs_port_writer port;
    void *encoder;
    struct vs_pace pace;
    struct vs_strand strand;
    uint64_t sample_from; /* bits before what counts of the current window ... */
    uint64_t sample_bits; /* ... and those that count before that */
    int error;
};

struct vs_bandwidth {
    struct vs_technique_setup setup;
    struct vs_bandwidth_options options;
    uint64_t instructions;
    uint64_t cycles; /* 0 in an untimed run */
    uint64_t end;    /* where the windows end: the cycle after the last one, or the number of
                      * instructions */
    struct vs_bandwidth_row *rows;
    size_t count, capacity;
    struct vs_event_sites sites; /* if it is asked where bits are sent: the places */

    /* private */
    const struct vs_isa *isa;
    unsigned needs;         /* what the rows need (VS_NEEDS_*), as far as the ISA is known */
    struct vs_prior *prior; /* NULL if no row needs one */
    struct vs_text text;    /* empty if no row needs it */
    struct vs_address_code code;
    struct vs_code_pages code_pages;
    struct vs_parts parts; /* that encoders share */
};

/* Prepares a study of that run. options may be NULL. Returns 0; -VSE_INVAL (there is no such
 * drain); -VSE_END (the run has no thread). fini is needed in any case. */
int vs_bandwidth_init(struct vs_bandwidth *b, const struct vs_reader *reader,
                      const struct vs_bandwidth_options *options, struct vs_diag *diag);
void vs_bandwidth_fini(struct vs_bandwidth *b);

/* Adds a row, before the run is read; the sink may be NULL. Returns its number; -VSE_NOMEM. */
int64_t vs_bandwidth_add(struct vs_bandwidth *b, const struct vs_technique_spec *spec,
                         vs_port_sink *sink, void *context, struct vs_diag *diag);

/* How many events vs_bandwidth_run reads; those that it reads twice are counted twice. */
uint64_t vs_bandwidth_work(const struct vs_bandwidth *b, const struct vs_reader *reader);

/* Whether a technique can encode the run. Returns 0; -VSE_FEATURE (events that it needs were not
 * recorded); -VSE_LIMIT (too many threads). */
int vs_bandwidth_lacks(const struct vs_technique *t, const struct vs_run_info *info,
                       struct vs_diag *diag);

/* Reads the run from its first event on and fills in the rows; it may be called once. progress,
 * which may be NULL, counts up to vs_bandwidth_work. Returns 0; -VSE_NOMEM; -VSE_LIMIT (too many
 * windows, or too many cores for a technique); a sink's error; as vs_reader_next. */
int vs_bandwidth_run(struct vs_bandwidth *b, struct vs_reader *reader, struct vs_progress *progress,
                     struct vs_diag *diag);

#endif
