/* SPDX-License-Identifier: MIT */
/* What a format is: a row of export.c, whose functions are in a file of its own. */
#ifndef EXPORT_FORMAT_H
#define EXPORT_FORMAT_H

#include "base/diag.h"
#include "export/export.h"
#include "export/sink.h"
#include "isa/set.h"

/* A run that is being written. */
struct vs_exporting {
    struct vs_reader *reader;
    const struct vs_isa *isa; /* NULL: it is not known */
    const struct vs_export_options *options;
    struct vs_sink sink;
    struct vs_diag *diag;
    void *state; /* the format's, zeroed at first */
};

struct vs_export_format {
    const char *name, *summary;
    bool code;        /* it follows instructions: the run's ISA must be known */
    bool single;      /* it holds one thread */
    const char *isa;  /* it holds only this one; NULL: any */
    unsigned modules; /* how many trace modules' bits it shows at most */
    size_t state;     /* bytes */
    /* Each returns 0, or an error as vs_export_run. After an error only close is called, which is
     * called in any case once the state was allocated. What may be NULL is begin, read, end, close;
     * without read, every batch of the run is handed to take, which nobody calls otherwise. */
    int (*begin)(struct vs_exporting *x);
    int (*read)(struct vs_exporting *x, struct vs_progress *progress);
    int (*take)(struct vs_exporting *x, const struct vs_batch *batch);
    int (*end)(struct vs_exporting *x);
    void (*close)(struct vs_exporting *x);
};

extern const struct vs_export_format vs_to_champsim, vs_to_csv, vs_to_din, vs_to_folded,
    vs_to_lackey, vs_to_perfetto, vs_to_pprof, vs_to_speedscope, vs_to_vcd;

/* Whether an event is of a thread that was chosen. What is not may still change code or maps. */
static inline bool vs_export_wants(const struct vs_exporting *x, const struct vs_event *e)
{
    return x->options->thread < 0 || e->thread == x->options->thread;
}

/* Whether it has to be taken by who follows instructions (insns.h), since it may change code. */
static inline bool vs_export_follows(const struct vs_exporting *x, const struct vs_event *e)
{
    return vs_export_wants(x, e) || e->kind == VS_CODE;
}

#endif
