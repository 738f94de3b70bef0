/* SPDX-License-Identifier: MIT */
/* Proof of a technique's figures: a run is encoded, the port stream is decoded, and what comes out
 * is compared with the run, step by step and core by core. This is the one place that holds both.
 *
 * A stream brings the cores in another order than the run does, so that one side would have to wait
 * in memory for the other. Instead, both are cut into pieces of VS_VERIFY_PIECE steps per core, and
 * a 64-bit digest over every field of every step in a piece is compared; where one differs, the run
 * is read again to find the step. In a timed run, the cycles of discontinuities are compared too,
 * and those of all other steps whose cycle the stream tells; for these the run's are kept, in a
 * byte or two for each step. */
#ifndef STUDY_VERIFY_H
#define STUDY_VERIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "isa/set.h"
#include "port/account.h"
#include "port/store.h"
#include "isa/text.h"
#include "study/pieces.h"
#include "technique/technique.h"
#include "vestige/run.h"

#define VS_VERIFY_PIECE 1024

struct vs_verify_core {
    uint64_t steps;
    uint64_t digest; /* over the piece under way */
    uint64_t *digests;
    size_t count, capacity;
    struct vs_buf times; /* of a timed run's steps: varints of what lies between them */
    uint64_t time;       /* of the last step that was put there, or read */
    const uint8_t *next; /* reading: the next step's */
};

/* Told of a byte of memory about which the run knows nothing. It came in a message that the event
 * of that number takes. */
typedef void vs_verify_unknown(void *context, uint64_t number, uint64_t addr, uint8_t byte);

/* What is asked of a comparison beside its outcome. Any member may be zero. */
struct vs_verify_probe {
    uint8_t *fields; /* by bit of the stream: see vs_port_witness */
    vs_verify_unknown *unknown;
    void *context;
    bool brief; /* it does not matter where it differs */
};

/* A run, prepared once for any number of techniques. */
struct vs_verify {
    struct vs_reader *reader;
    const struct vs_isa *isa;
    struct vs_technique_setup setup;
    struct vs_text code;
    uint64_t instructions, steps, branches; /* branches: conditional and indirect */
    uint64_t end;                           /* time of the last event */
    struct vs_verify_core *cores;
    struct vs_pieces *pieces;  /* those of vs_verify_read, which are whole; or NULL */
    struct vs_prior *prior;    /* that of vs_verify_read; or NULL */
    struct vs_changes changes; /* of code, as vs_verify_read found them, if pieces is NULL */
    const struct vs_verify_probe *probe; /* NULL, or the caller's */
};

enum vs_verify_outcome {
    VS_VERIFY_SAME,
    VS_VERIFY_DIFFERS,   /* core, position, expected, found */
    VS_VERIFY_MISSING,   /* the stream has fewer steps than the run: core, position, expected */
    VS_VERIFY_EXTRA,     /* the stream has more: core, position, found */
    VS_VERIFY_UNREADABLE /* the decoder gave up: diag */
};

struct vs_verify_result {
    enum vs_verify_outcome outcome;
    uint64_t compared; /* steps; or loads, values and registers; or data addresses */
    uint64_t branches; /* conditional and indirect ones among these */
    uint64_t instructions;
    uint64_t times; /* steps whose own cycle the stream told, among those compared */
    uint64_t bits;  /* of the stream */
    struct vs_port_counts counts;
    struct vs_counts encoded; /* what the encoder met, if the study encoded it */

    /* for load values, instead of branches and instructions: see study/verify_data.h */
    uint64_t loads, load_bytes, values, states;
    uint64_t memory_bytes, unknown_bytes;
    uint64_t stores;   /* for data addresses, beside loads: see study/verify_address.h */
    uint64_t messages; /* for both: messages whose cycle and order were compared */

    unsigned core;
    uint64_t position; /* the step's number among that core's, from 0 */
    struct vs_step expected, found;
    uint64_t pc;         /* of the instruction at the first difference; 0: of none */
    struct vs_diag diag; /* one line about the first difference */
};

/* Reads the run once. The reader must outlive the verification; its position is lost. Returns 0;
 * -VSE_FEATURE (the code's ISA is not known); -VSE_END (the run has no step); -VSE_NOMEM;
 * -VSE_LIMIT; else as vs_reader_next. fini is needed in any case. */
int vs_verify_init(struct vs_verify *v, struct vs_reader *reader, struct vs_diag *diag);

/* For load values alone, for which any code will do; nothing is read yet. Returns 0; -VSE_END (the
 * run has no event). */
int vs_verify_init_data(struct vs_verify *v, struct vs_reader *reader, struct vs_diag *diag);

/* For data addresses as well: the run is read once for its code, if its ISA is known. Returns as
 * vs_verify_init_data; -VSE_NOMEM; -VSE_LIMIT; as vs_reader_next. */
int vs_verify_init_code(struct vs_verify *v, struct vs_reader *reader, struct vs_diag *diag);
void vs_verify_fini(struct vs_verify *v);

/* After one of these, for load values and data addresses: reads the run once and keeps its events
 * if there is room for them, so that they need not be read for every stream. If `memory` is set,
 * what later loads tell of memory is compared too, for load values. Returns 0; -VSE_NOMEM; as
 * vs_reader_next. */
int vs_verify_read(struct vs_verify *v, bool memory, struct vs_diag *diag);

/* Gives the run in pieces: those that were kept or, if there are none, `own`, which are read from
 * the reader. vs_pieces_fini(own) is needed in any case. Returns 0; -VSE_NOMEM. */
int vs_verify_pieces(const struct vs_verify *v, struct vs_pieces *own, struct vs_pieces **pieces);

/* Encodes the run with a control-flow technique that needs nothing but steps and code, and whose
 * spec is first settled for this run. `out` is a store that was zeroed; vs_port_store_fini is
 * needed in any case. counts and encoded may be NULL. Returns the length in bits; -VSE_INVAL;
 * -VSE_NOMEM; as vs_reader_next. */
int64_t vs_verify_encode(struct vs_verify *v, const struct vs_technique_spec *spec,
                         struct vs_port_store *out, struct vs_port_counts *counts,
                         struct vs_counts *encoded, struct vs_diag *diag);

/* Decodes a stream and compares it with the run. Returns 0 if the comparison could be made, with
 * its outcome in the result; -VSE_INVAL (the technique cannot be decoded; diag says why);
 * -VSE_NOMEM; as vs_reader_next. */
int vs_verify_decode(struct vs_verify *v, const struct vs_technique_spec *spec,
                     const struct vs_port_stream *streams, struct vs_verify_result *result,
                     struct vs_diag *diag);

/* Encodes the run, decodes the stream and compares. Returns as vs_verify_encode, but 0 for a
 * length, and as vs_verify_decode. */
int vs_verify_flow(struct vs_verify *v, const struct vs_technique_spec *spec,
                   struct vs_verify_result *result, struct vs_diag *diag);

#endif
