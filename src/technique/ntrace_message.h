/* SPDX-License-Identifier: MIT */
/* The messages of RISC-V N-Trace 1.0, byte for byte. A byte has six bits of data, and below them
 * two that say whether it ends a field or the message:
 *
 *   DirectBranch          3  iCnt
 *   IndirectBranch        4  bType(2) iCnt target
 *   ProgTraceSync         9  sync(4) iCnt target
 *   ResourceFull         27  rCode(4) data [repeat]
 *   IndirectBranchHist   28  bType(2) iCnt target hist
 *   RepeatBranch         30  bCnt
 *   ProgTraceCorrelation 33  evCode(4) cdf(2) iCnt [hist]
 *
 * The number of the message is alone in its first byte. Fields without a width have as many bits as
 * they need, at least one, and end with a byte; in a timed stream each message ends with a
 * timestamp. What is not sent on top of a field is zero, unless addresses are extended: then it is
 * as the last bit that is sent. */
#ifndef TECHNIQUE_NTRACE_MESSAGE_H
#define TECHNIQUE_NTRACE_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "port/stream.h"

enum {
    VS_NTRACE_DIRECT = 3,
    VS_NTRACE_INDIRECT = 4,
    VS_NTRACE_SYNC = 9,
    VS_NTRACE_FULL = 27,
    VS_NTRACE_HISTORY = 28,
    VS_NTRACE_REPEAT = 30,
    VS_NTRACE_CORRELATION = 33,
};

enum { VS_NTRACE_JUMP = 0, VS_NTRACE_TRAP = 1 };                                   /* bType */
enum { VS_NTRACE_FULL_ICNT = 0, VS_NTRACE_FULL_HIST = 1, VS_NTRACE_REPEATED = 2 }; /* rCode */
enum { VS_NTRACE_EXIT_RESET = 1, VS_NTRACE_PERIODIC = 2, VS_NTRACE_ENABLED = 5 };  /* sync */
enum { VS_NTRACE_DISABLED = 4 };                                                   /* evCode */

struct vs_ntrace_message {
    uint8_t number;
    uint8_t code;     /* bType, sync, rCode or evCode */
    bool history;     /* ProgTraceCorrelation: it has hist */
    uint64_t icnt;    /* also ResourceFull's data, and RepeatBranch's bCnt */
    uint64_t address; /* as it is sent */
    uint64_t hist;    /* with its stop bit */
    uint64_t repeat;  /* of ResourceFull */
    uint64_t time;
};

struct vs_ntrace_layout {
    bool timed;            /* messages end with a timestamp */
    bool extended;         /* the last bit of an address that is sent stands for all above it */
    unsigned address_bits; /* as they are sent */
};

enum { VS_NTRACE_BYTES_MAX = 64, VS_NTRACE_PARTS = 8 };

struct vs_ntrace_bytes {
    unsigned count;
    union { /* in order, also of the words */
        uint8_t bytes[VS_NTRACE_BYTES_MAX];
        uint64_t words[VS_NTRACE_BYTES_MAX / 8];
    };
    unsigned parts; /* fields: each has whole bytes, with the fixed ones before it */
    struct vs_port_part part[VS_NTRACE_PARTS];
};

void vs_ntrace_pack(const struct vs_ntrace_layout *layout, const struct vs_ntrace_message *m,
                    struct vs_ntrace_bytes *out);

/* Puts, in one go, what most messages are: branches and histories, without time. Returns whether it
 * is such a message; if not, nothing is put. */
bool vs_ntrace_put_plain(struct vs_port_writer *w, const struct vs_ntrace_layout *layout,
                         const struct vs_ntrace_message *m);

void vs_ntrace_put(struct vs_port_writer *w, const struct vs_ntrace_bytes *bytes);

/* Reads a message. Returns 0; -VSE_TRUNCATED; -VSE_CORRUPT (there is no such message, or it could
 * be shorter). */
int vs_ntrace_get(struct vs_port_reader *r, const struct vs_ntrace_layout *layout,
                  struct vs_ntrace_message *m);

#endif
