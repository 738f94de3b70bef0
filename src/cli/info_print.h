/* SPDX-License-Identifier: MIT */
/* What is known about a run, as text or as a JSON object. docs/commands.md describes both. */
#ifndef CLI_INFO_PRINT_H
#define CLI_INFO_PRINT_H

#include "front/core_facts.h"
#include "front/report.h"
#include "study/callers.h"
#include "study/event_counts.h"
#include "study/profile.h"
#include "study/routines.h"
#include "study/where.h"
#include "vestige/run.h"

/* The routines on a path of calls, the outermost first. */
struct info_path {
    struct vs_caller_run *runs;
    size_t count, capacity;
};

/* What is gathered about one run before anything is printed. */
struct info_report {
    const char *path;
    const struct vs_reader *reader;
    struct vs_run_info info;
    const char *isa; /* NULL if it is not known */

    /* what was counted in the events; all NULL if nothing was counted */
    const struct vs_event_counts *stats;
    const struct vs_profile *profile;
    const struct vs_routines *routines;

    const struct vs_callers *callers; /* NULL if they are not asked for */
    const uint32_t *paths;            /* numbers of the callers' paths, the hottest first */
    size_t path_count;
    const struct info_path *hottest; /* the first INFO_TOP of them, as far as there are any */

    struct vs_where *where; /* NULL if there was no memory for it */
    bool source;            /* files and lines are shown */

    uint64_t code_bytes;     /* in all blocks */
    struct core_facts cores; /* a simulated run's, else none */
    uint64_t core_cycles;    /* how many cycles they took */
    bool all_threads;        /* the text has all threads; the JSON object always does */
};

/* How many system calls, causes and routines are listed at most. */
enum { INFO_TOP = 16 };

/* A report's columns, all of which are in JSON. */
extern const struct report_column info_columns[];

/* A named count, out of a total. What has a number has that too, and its own name as the field. */
struct info_count {
    char name[96], field[64];
    uint64_t number, count, total;
};
extern const struct report_column info_count_columns[];

struct info_thread {
    uint64_t thread;
    struct vs_thread_info counts;
};
extern const struct report_column info_thread_columns[];

/* The elements of a report's lists, for struct report_rows: names of features, threads and
 * counts. */
bool info_feature_at(const void *report, size_t i, void *element);
bool info_thread_at(const void *report, size_t i, void *element);
bool info_kind_at(const void *report, size_t i, void *element);
bool info_class_at(const void *report, size_t i, void *element);
bool info_branch_at(const void *report, size_t i, void *element);
bool info_load_size_at(const void *report, size_t i, void *element);
bool info_store_size_at(const void *report, size_t i, void *element);
bool info_syscall_at(const void *report, size_t i, void *element);
bool info_cause_at(const void *report, size_t i, void *element);

/* Whether there is debug information for that image. */
bool info_sourced(const struct info_report *r, uint64_t image);

/* Where a routine begins. Returns 1; 0 if it is not known, or not asked for; -VSE_NOMEM. */
int info_source(const struct info_report *r, const struct vs_routine_count *routine,
                struct vs_source *source);

/* a / b; 0 if b is 0. */
double info_ratio(uint64_t a, uint64_t b);

/* Whether the run has cycles, and how many it takes. */
bool info_timed(const struct info_report *r);
uint64_t info_cycles(const struct info_report *r);

void info_text(struct out *o, const struct info_report *r);

/* Prints a line for each path of calls: its routines with semicolons between them, and its
 * instructions. Returns 0; -VSE_NOMEM. */
int info_folded(struct out *o, const struct info_report *r);

#endif
