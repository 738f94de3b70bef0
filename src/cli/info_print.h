/* SPDX-License-Identifier: MIT */
/* What is known of a run, as text or as a JSON object. docs/commands.md describes both. */
#ifndef CLI_INFO_PRINT_H
#define CLI_INFO_PRINT_H

#include "front/json.h"
#include "front/out.h"
#include "study/event_counts.h"
#include "study/profile.h"
#include "study/routines.h"
#include "vestige/run.h"

/* One run, gathered before anything of it is printed. */
struct info_report {
    const char *path;
    const struct vs_reader *reader;
    const struct vs_run_info *info;
    const char *isa; /* NULL if it is not known */

    /* what was counted in the events; all NULL if nothing was */
    const struct vs_event_counts *stats;
    const struct vs_profile *profile;
    const struct vs_routines *routines;

    uint64_t code_bytes; /* in all blocks */
    bool all_threads;    /* in the text; the JSON object always has all */
};

/* System calls, causes and routines that are listed, at most. */
enum { INFO_TOP = 16 };

/* A feature bit of the file, in words; bit 0 ends the table. */
struct info_feature {
    uint32_t bit;
    const char *name;
};
extern const struct info_feature info_features[];

/* a / b, 0 if b is 0. */
double info_ratio(uint64_t a, uint64_t b);

/* Whether the run has cycles, and over how many it goes. */
bool info_timed(const struct info_report *r);
uint64_t info_cycles(const struct info_report *r);

/* Instructions with every iteration of a repeated one counted. */
uint64_t info_iterated(const struct info_report *r);

/* "SIGSEGV" for 11, into name; NULL for a number that is no signal's. */
const char *info_signal(char name[32], uint64_t number);

/* The last part of a path. */
const char *info_file_name(const char *path);

void info_text(struct out *o, const struct info_report *r);
void info_json(struct out *o, const struct info_report *r);

#endif
