/* SPDX-License-Identifier: MIT */
/* What mcfTrace, mlsTrace, mcfTRaptor and mlvCFiat share: flags, the window of instructions,
 * filters, output, messages. A tool is a consumer of runs (trace/consumer.h) that turns events into
 * descriptors. */
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
    bool main_only;              /* no shared libraries */
    struct option_list routines; /* only these; empty: all */
    uint64_t skip, length;       /* instructions, over all threads */
    uint64_t max_mb;             /* of the trace, in 10^6 bytes */
    unsigned compressor;         /* mtrace_compressor_name */
    const char *output;          /* without suffix; NULL: from the tool's name and the time */
    const char *input;           /* a recorded run; NULL: record `program` */
    bool descriptors;            /* the input is no run: the tool's `read` takes it */
    const char *code;            /* a run that has the code of descriptors */
    char **program;              /* ended by NULL; NULL with `input` */

    /* What other layers know; tests have others. */
    mtrace_find_routine *find_routine; /* for -filter_rtn */
};

/* The defaults. */
void mtrace_options_init(struct mtrace_options *o);

struct mtrace;

struct mtrace_tool {
    const char *name;
    bool operands; /* it wants loads and stores */
    /* What a descriptor consists of, for the message. */
    const char *(*layout)(const struct mtrace_options *o);
    /* Turns events into descriptors. Returns 0; -VSE_END: it has enough; an error, with m->diag. */
    int (*put)(struct mtrace *m, const struct vs_batch *batch);
    void (*statistics)(const struct mtrace *m, struct out *out);
    /* Takes an input that is no run: hands its events to mtrace_feed. NULL: it takes none. Returns
     * 0; an error, with m->diag. */
    int (*read)(struct mtrace *m);
};

/* First in a tool's own struct. */
struct mtrace {
    const struct mtrace_tool *tool;
    const struct mtrace_options *o;
    struct cli *cli;

    const char *whose; /* goes before "thread begin"; NULL: nothing does */

    struct mtrace_out out;
    struct mtrace_filter filter;
    struct disasm disasm;
    struct vs_progress progress;
    int error;           /* that ended it; -VSE_END: enough was traced */
    struct vs_diag diag; /* why, unless it is -VSE_END */

    uint64_t traced, skipped; /* instructions */
    uint32_t threads;         /* seen */
    double milliseconds;      /* set before the statistics */
    int program;              /* exit status of the program that was run */

    /* The window: of the instructions that are delivered, skip + 1 to end, over all threads in
     * global order. */
    bool windowed; /* false: all of them */
    uint64_t now;  /* instructions up to here */
    uint64_t skip, end;
    uint64_t *at;       /* of each thread, the number of its last instruction */
    unsigned open;      /* threads whose last instruction is in the window */
    bool begun, beyond; /* saw events; all that follows is after the window */
};

/* Traces as the options say. `m` is zeroed but for `tool`; afterwards it owns nothing. Returns the
 * exit status, after messages. */
int mtrace_run(struct mtrace *m, struct cli *cli, const struct mtrace_options *o);

/* Parses the arguments of a tool's command. As options_parse. */
bool mtrace_parse(struct cli *cli, const struct command *command, struct mtrace_options *o,
                  int argc, char **argv, int *status);

/* How a program that was recorded ended. */
struct mtrace_ending {
    uint64_t skipped; /* instructions that are known not to have been delivered */
    int status;       /* the exit status that tells the program's */
};

/* Runs o->program, recording it into the consumer, with loads and stores if `operands`; its first
 * o->skip instructions are not delivered. Returns CLI_DONE with the ending filled in, or the exit
 * status after a message: it could not be recorded. That the consumer's put returned -VSE_END means
 * that it has enough: the program runs on unrecorded, and all is well. After any other error of the
 * consumer it ends the program and returns CLI_DONE; the caller knows why. */
int mtrace_live(struct cli *cli, const struct mtrace_options *o, bool operands,
                const struct vs_consumer *c, struct mtrace_ending *ending);

/* For a tool's read: events to its put. Returns 0 or an error, which ends the reading. */
int mtrace_feed(struct mtrace *m, const struct vs_batch *batch);

/* ---- for a tool's put ------------------------------------------------------------------------ */

/* An event that is neither branch, load nor store, after mtrace_step. Returns 0 or the error to
 * return. */
int mtrace_other(struct mtrace *m, const struct vs_event *e);

/* The part of mtrace_step for a window. */
bool mtrace_step_window(struct mtrace *m, const struct vs_event *e);

/* Counts the event's instructions; to be called for every event. Returns whether its own is in the
 * window. Once m->beyond is set put returns -VSE_END. */
static inline bool mtrace_step(struct mtrace *m, const struct vs_event *e)
{
    if (unlikely(m->windowed))
        return mtrace_step_window(m, e);
    m->traced += e->icount;
    return true;
}

/* Why a thread's descriptor cannot be written, in binary. Returns the error. */
int mtrace_thread_too_high(struct mtrace *m, unsigned thread);

/* Room for n bytes at m->out.at, and for the event's thread in them. 0 or the error to return. */
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

/* A row of the statistics: "\t12 ( %3.45 ) name". */
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
