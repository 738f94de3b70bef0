/* SPDX-License-Identifier: MIT */
/* What mcfTrace, mlsTrace, mcfTRaptor and mlvCFiat share: flags, the window of instructions,
 * filters, output and messages. A tool is a consumer of runs (trace/consumer.h) that turns events
 * into descriptors. */
#ifndef PUBLISHED_MTRACE_H
#define PUBLISHED_MTRACE_H

#include "base/likely.h"
#include "base/progress.h"
#include "published/published.h"
#include "front/disasm.h"
#include "published/mtrace_filter.h"
#include "published/mtrace_out.h"
#include "front/recording.h"
#include "trace/consumer.h"

struct mtrace_options {
    bool ascii, disasm, store;
    bool main_only;              /* shared libraries are left out */
    struct option_list routines; /* only these; if empty, all */
    uint64_t skip, length;       /* instructions, over all threads */
    uint64_t max_mb;             /* the trace's limit, in 10^6 bytes */
    unsigned compressor;         /* mtrace_compressor_name */
    const char *output; /* without suffix; if NULL, it is made from the tool's name and the time */
    const char *input;  /* a recorded run; if NULL, `program` is recorded */
    bool descriptors;   /* the input is no run, and the tool's `read` takes it */
    const char *code;   /* a run that has the descriptors' code */
    char **program;     /* ended by NULL; NULL with `input` */

    /* This comes from another layer; tests use their own. */
    mtrace_find_routine *find_routine; /* for -filter_rtn */
};

/* The defaults. */
void mtrace_options_init(struct mtrace_options *o);

struct mtrace;

struct mtrace_tool {
    const char *name;
    bool operands; /* it wants loads and stores */
    /* Says what a descriptor consists of, for the message. */
    const char *(*layout)(const struct mtrace_options *o);
    /* Turns events into descriptors. Returns 0; -VSE_END (it has enough); an error, with
     * m->diag. */
    int (*put)(struct mtrace *m, const struct vs_batch *batch);
    void (*statistics)(const struct mtrace *m, struct out *out);
    /* Takes an input that is no run, and hands its events to mtrace_feed; NULL if the tool takes
     * none. Returns 0; an error, with m->diag. */
    int (*read)(struct mtrace *m);
};

/* This comes first in a tool's own struct. */
struct mtrace {
    const struct mtrace_tool *tool;
    const struct mtrace_options *o;
    struct cli *cli;

    const char *whose; /* stands before "thread begin"; may be NULL */

    struct mtrace_out out;
    struct mtrace_filter filter;
    struct disasm disasm;
    struct vs_progress progress;
    int error;           /* what ended it; -VSE_END: enough was traced */
    struct vs_diag diag; /* why, unless it is -VSE_END */

    uint64_t traced, skipped; /* instructions */
    uint32_t threads;         /* seen */
    double milliseconds;      /* set before the statistics */
    int program;              /* the exit status of the program that was run */

    /* The window holds the instructions skip + 1 to end of those that are delivered, over all
     * threads in global order. */
    bool windowed; /* if false, all instructions are in it */
    uint64_t now;  /* instructions up to here */
    uint64_t skip, end;
    uint64_t *at;       /* by thread: the number of its last instruction */
    unsigned open;      /* threads whose last instruction is in the window */
    bool begun, beyond; /* there were events; everything that follows is after the window */
};

/* Traces as the options say. `m` is zeroed except for `tool`; afterwards it owns nothing. Returns
 * the exit status, after messages. */
int mtrace_run(struct mtrace *m, struct cli *cli, const struct mtrace_options *o);

/* Parses the arguments of a tool's command. Returns as options_parse. */
bool mtrace_parse(struct cli *cli, const struct command *command, struct mtrace_options *o,
                  int argc, char **argv, int *status);

/* How a program that was recorded ended. */
struct mtrace_ending {
    uint64_t skipped; /* instructions that are known not to have been delivered */
    int status;       /* the exit status that stands for the program's */
};

/* Runs o->program, recording it into the consumer, with loads and stores if `operands`; its first
 * o->skip instructions are not delivered. Returns CLI_DONE with the ending filled in, or the exit
 * status after a message if the program could not be recorded. If the consumer's put returns
 * -VSE_END, it has enough: the program runs on unrecorded, and all is well. After any other of the
 * consumer's errors, the program is ended and CLI_DONE is returned; the caller knows why. */
int mtrace_live(struct cli *cli, const struct mtrace_options *o, bool operands,
                const struct vs_consumer *c, struct mtrace_ending *ending);

/* Hands events to the tool's put, on behalf of its read. Returns 0; an error, which ends the
 * reading. */
int mtrace_feed(struct mtrace *m, const struct vs_batch *batch);

/* ---- for a tool's put ------------------------------------------------------------------------ */

/* Takes an event that is neither branch, load nor store, after mtrace_step. Returns 0; the error
 * that put has to return. */
int mtrace_other(struct mtrace *m, const struct vs_event *e);

/* The part of mtrace_step for a window. */
bool mtrace_step_window(struct mtrace *m, const struct vs_event *e);

/* Counts the event's instructions; it must be called for every event. Returns whether the event's
 * own instruction is in the window. Once m->beyond is set, put returns -VSE_END. */
static inline bool mtrace_step(struct mtrace *m, const struct vs_event *e)
{
    if (unlikely(m->windowed))
        return mtrace_step_window(m, e);
    m->traced += e->icount;
    return true;
}

/* Takes the next event. Returns 1 if it is `wanted` and its instruction is in the window and passes
 * the filter, so that it may have a descriptor; 0; the error that put has to return. */
static inline int mtrace_take(struct mtrace *m, const struct vs_event *e, bool wanted)
{
    bool traced = mtrace_step(m, e);
    if (unlikely(!traced) && m->beyond)
        return -VSE_END;
    int error = unlikely(e->kind > VS_STORE) ? mtrace_other(m, e) : 0;
    if (unlikely(error))
        return error;
    return wanted && traced && mtrace_filter_pass(&m->filter, e->pc);
}

/* Says why a thread's descriptor cannot be written in binary. Returns the error. */
int mtrace_thread_too_high(struct mtrace *m, unsigned thread);

/* Makes room for n bytes at m->out.at, in which the event's thread must fit. Returns 0; the error
 * that put has to return. */
static inline int mtrace_room(struct mtrace *m, const struct vs_event *e, size_t n)
{
    if (unlikely(e->thread > 255) && !m->o->ascii)
        return mtrace_thread_too_high(m, e->thread);
    if (likely((size_t)(m->out.end - m->out.at) >= n))
        return 0;
    return mtrace_out_more(&m->out, n, &m->diag);
}

/* Ends an ASCII descriptor, with the disassembly if it is wanted: at most MTRACE_TAIL bytes at p.
 * Returns 0, with m->out.at moved; -VSE_NOMEM. */
enum { MTRACE_TAIL = VS_ISA_TEXT_MAX + 1 };
int mtrace_tail(struct mtrace *m, uint8_t *p, uint64_t pc);

/* Prints a row of the statistics: "\t12 ( %3.45 ) name". */
void mtrace_share(struct out *out, uint64_t count, uint64_t total, const char *name);

/* ---- rows of a tool's command ---------------------------------------------------------------- */

#define MTRACE_FIELD(member) offsetof(struct mtrace_options, member)

#define MTRACE_OPTIONS                                                                             \
    {.name = "a",                                                                                  \
     .help = "write ASCII descriptors instead of binary ones",                                     \
     .offset = MTRACE_FIELD(ascii)},                                                               \
        {.name = "c",                                                                              \
         .argument = "NAME",                                                                       \
         .help = "compress through this program:",                                                 \
         .type = OPTION_ENUM,                                                                      \
         .offset = MTRACE_FIELD(compressor),                                                       \
         .number_name = mtrace_compressor_name,                                                    \
         .first = 1,                                                                               \
         .end = MTRACE_COMPRESSORS_END},                                                           \
        {.name = "d",                                                                              \
         .help = "with -a: append the instruction, disassembled",                                  \
         .offset = MTRACE_FIELD(disasm)},                                                          \
        {.name = "f",                                                                              \
         .argument = "MB",                                                                         \
         .help = "stop before the trace, uncompressed, gets larger\n"                              \
                 "than this many million bytes (50000)",                                           \
         .type = OPTION_U64,                                                                       \
         .offset = MTRACE_FIELD(max_mb),                                                           \
         .min = 1,                                                                                 \
         .max = UINT64_MAX / 1000000},                                                             \
        {.name = "filter_no_shared_libs",                                                          \
         .help = "trace only instructions of the main program's file",                             \
         .offset = MTRACE_FIELD(main_only)},                                                       \
        {.name = "filter_rtn",                                                                     \
         .argument = "NAME",                                                                       \
         .help = "trace only instructions of this routine; may be\n"                               \
                 "repeated",                                                                       \
         .type = OPTION_LIST,                                                                      \
         .offset = MTRACE_FIELD(routines)},                                                        \
        {.name = "i",                                                                              \
         .argument = "RUN",                                                                        \
         .help = "convert a recorded run, and record nothing",                                     \
         .type = OPTION_STRING,                                                                    \
         .offset = MTRACE_FIELD(input)},                                                           \
        {.name = "l",                                                                              \
         .argument = "N",                                                                          \
         .help = "trace N instructions, counted over all threads",                                 \
         .type = OPTION_U64,                                                                       \
         .offset = MTRACE_FIELD(length),                                                           \
         .min = 1},                                                                                \
        {.name = "o",                                                                              \
         .argument = "NAME",                                                                       \
         .help = "name the trace NAME.bin or NAME.txt, and the\n"                                  \
                 "statistics NAME.Statistics",                                                     \
         .type = OPTION_STRING,                                                                    \
         .offset = MTRACE_FIELD(output)},                                                          \
    {                                                                                              \
        .name = "s", .argument = "N", .help = "skip N instructions first", .type = OPTION_U64,     \
        .offset = MTRACE_FIELD(skip)                                                               \
    }

#define MTRACE_OPERANDS "[PROGRAM [ARGUMENT...]]"

#define MTRACE_EXITS                                                                               \
    "0  done\n"                                                                                    \
    "1  a run is damaged or incomplete, or does not fit into the descriptors\n"                    \
    "2  bad usage, or the system refused something\n"                                              \
    "else the status of PROGRAM; 128 + N if signal N ended it"

#define MTRACE_ENVIRONMENT                                                                         \
    RECORDING_ENVIRONMENT                                                                          \
    "\nTZ                 the time zone of names that are made without -o"

#endif
