/* SPDX-License-Identifier: MIT */
/* A profile by path of calls, for formats that are written once the run is over. */
#ifndef EXPORT_PATHS_H
#define EXPORT_PATHS_H

#include "export/format.h"
#include "study/callers.h"

/* Zeroed at first. */
struct vs_paths {
    struct vs_callers callers;
    struct vs_event *chosen; /* a batch's events of the thread that was chosen */
    size_t capacity;
    uint32_t *hottest; /* the paths in which instructions retired, most of them first */
    size_t count;
};

/* The functions of a format whose state begins with a struct vs_paths. */
int vs_paths_begin(struct vs_exporting *x);
int vs_paths_take(struct vs_exporting *x, const struct vs_batch *batch);
void vs_paths_close(struct vs_exporting *x);

/* To be called once all events were taken. Returns 0; -VSE_NOMEM. */
int vs_paths_end(struct vs_paths *p);

/* Writes what a routine is called into `name`, of VS_PATHS_NAME bytes: without control characters,
 * and without semicolons, which separate names in folded stacks. */
#define VS_PATHS_NAME 1024
void vs_paths_name(const struct vs_caller_routine *routine, char name[VS_PATHS_NAME]);

#endif
