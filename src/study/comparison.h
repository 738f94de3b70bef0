/* SPDX-License-Identifier: MIT */
/* What those comparisons share that drive a decoder by the run's events (verify_data.h,
 * verify_address.h): which event is under way, whether the messages that it takes have its core,
 * cycle and order, and the first difference. */
#ifndef STUDY_COMPARISON_H
#define STUDY_COMPARISON_H

#include "study/core_walk.h"
#include "study/verify.h"

struct vs_comparison {
    const struct vs_port_reader *port;
    unsigned cores;
    uint64_t messages;      /* taken */
    bool by_turns, differs; /* differs: the diag is about a difference */
    struct vs_diag diag;    /* about the first difference; its chunk is the event's number */
    uint64_t pc;            /* of the instruction there; 0: of none */

    struct vs_port_witness witness;
    struct vs_standing now;     /* where the event under way stands */
    const struct vs_event *who; /* the event under way; NULL at a core's end */
    uint64_t who_number;        /* its number, as error messages give it */
    uint64_t last;              /* the number of the event that took the last message */
};

/* Sets the port's witness, which is called with its own context. */
void vs_comparison_init(struct vs_comparison *c, struct vs_port_reader *port, unsigned cores,
                        const struct vs_port_witness *witness);

/* Says which event is under way. In a walk by turns, the number is the event's among its core's. */
static inline void vs_comparison_at(struct vs_comparison *c, const struct vs_event *e,
                                    uint64_t number, const struct vs_standing *standing)
{
    c->now = *standing;
    c->who = e;
    c->who_number = number;
}

/* Says where the event is, as error messages begin. */
#define VS_COMPARISON_PLACE 96
void vs_comparison_place(const struct vs_comparison *c, const struct vs_event *e, uint64_t number,
                         char text[VS_COMPARISON_PLACE]);

/* Note that the decoder failed at that event or at the core's end, or has to wait in global order.
 * Return the diag's error. */
int vs_comparison_fail(struct vs_comparison *c, const struct vs_event *e, uint64_t number, int err);
int vs_comparison_fail_at_end(struct vs_comparison *c, unsigned core, int err);

/* Notes a difference, unless there was an error before. Returns the diag's error. */
int vs_comparison_differ(struct vs_comparison *c, unsigned core, const char *what, uint64_t is,
                         uint64_t should);

/* The event under way takes a message of that core and cycle, which are compared with its own. */
void vs_comparison_message(struct vs_comparison *c, unsigned core, uint64_t cycle);

/* Takes what the decoder's `turn` returned after the run's end. Returns 0 if the stream is over
 * too; else the diag's error. */
int vs_comparison_over(struct vs_comparison *c, int turn);

/* Opens a stream of that technique: settles its spec, opens a reader of it, and puts its bits into
 * the result. vs_port_reader_fini is needed in any case. Returns as vs_port_reader_init. */
int vs_comparison_open(const struct vs_verify *v, const struct vs_technique_spec *given,
                       const struct vs_port_stream *streams, struct vs_technique_spec *spec,
                       struct vs_port_reader *port, struct vs_verify_result *result);

/* Fills in the outcome; err is what the walk returned. Returns 0 if the comparison was made; else
 * err. */
int vs_comparison_result(const struct vs_comparison *c, int err, struct vs_verify_result *result,
                         struct vs_diag *diag);

#endif
