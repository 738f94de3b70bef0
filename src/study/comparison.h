/* SPDX-License-Identifier: MIT */
/* What the comparisons share that drive a decoder by the run's events (verify_data.h,
 * verify_address.h): which event is under way, what the messages that it takes say of core, cycle
 * and order, and the first thing that differs. */
#ifndef STUDY_COMPARISON_H
#define STUDY_COMPARISON_H

#include "study/core_walk.h"
#include "study/verify.h"

struct vs_comparison {
    const struct vs_port_reader *port;
    unsigned cores;
    uint64_t messages;      /* taken */
    bool by_turns, differs; /* differs: what the diag tells of is a difference */
    struct vs_diag diag;    /* of the first difference: its chunk is the number of the event */

    struct vs_port_witness witness;
    struct vs_standing now;     /* of the event under way */
    const struct vs_event *who; /* that event; NULL: a core's end */
    uint64_t who_number;        /* as messages have it */
    uint64_t last;              /* the number of the event that took the last message */
};

/* The port gets its witness, which is called with that context. */
void vs_comparison_init(struct vs_comparison *c, struct vs_port_reader *port, unsigned cores,
                        const struct vs_port_witness *witness);

/* That event is under way; of a walk by turns the number is that of the core's event. */
static inline void vs_comparison_at(struct vs_comparison *c, const struct vs_event *e,
                                    uint64_t number, const struct vs_standing *standing)
{
    c->now = *standing;
    c->who = e;
    c->who_number = number;
}

/* Where, as messages begin. */
#define VS_COMPARISON_PLACE 96
void vs_comparison_place(const struct vs_comparison *c, const struct vs_event *e, uint64_t number,
                         char text[VS_COMPARISON_PLACE]);

/* The decoder failed there, or has to wait in global order. Returns the diag's error. */
int vs_comparison_fail(struct vs_comparison *c, const struct vs_event *e, uint64_t number, int err);
int vs_comparison_fail_at_end(struct vs_comparison *c, unsigned core, int err);

/* Something differs, unless something did before. Returns the diag's error. */
int vs_comparison_differ(struct vs_comparison *c, unsigned core, const char *what, uint64_t is,
                         uint64_t should);

/* The event under way takes a message of that core and cycle. */
void vs_comparison_message(struct vs_comparison *c, unsigned core, uint64_t cycle);

/* After the end of the run: what the decoder's `turn` returned. Returns 0 if the stream is over. */
int vs_comparison_over(struct vs_comparison *c, int turn);

/* A stream of that technique: its spec, settled, a reader of it, and its bits in the result.
 * vs_port_reader_fini is needed in any case. Returns as vs_port_reader_init. */
int vs_comparison_open(const struct vs_verify *v, const struct vs_technique_spec *given,
                       const struct vs_port_stream *streams, struct vs_technique_spec *spec,
                       struct vs_port_reader *port, struct vs_verify_result *result);

/* What came of it, if err is what the walk returned. Returns 0 if the comparison was made; err. */
int vs_comparison_result(const struct vs_comparison *c, int err, struct vs_verify_result *result,
                         struct vs_diag *diag);

#endif
