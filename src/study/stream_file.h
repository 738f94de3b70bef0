/* SPDX-License-Identifier: MIT */
/* A run's stream as a file: what its description says, and which technique can read it. */
#ifndef STUDY_STREAM_FILE_H
#define STUDY_STREAM_FILE_H

#include "port/vport.h"
#include "technique/technique.h"
#include "vestige/run.h"

/* The facts of a run that its streams have too, because a replay depends on them. Returns how many
 * there are, at most VS_STREAM_FACTS; they are the reader's. */
#define VS_STREAM_FACTS 4
size_t vs_stream_facts(const struct vs_reader *run, struct vs_vport_pair facts[VS_STREAM_FACTS]);

/* Starts a file for a run's stream; the spec must be settled. Returns as vs_vport_create. */
int vs_stream_create(struct vs_vport_writer **w, const char *path, bool overwrite,
                     const struct vs_reader *run, const struct vs_technique_spec *spec,
                     const struct vs_technique_setup *setup, struct vs_diag *diag);

/* Finds the technique that can read a stream, in a table (vs_technique_find_in). Its parameters
 * come from the file, so all of them are checked as a user's are. The spec is settled. Returns 0;
 * -VSE_NOTFOUND (no such technique); -VSE_CORRUPT (bad parameters, or they do not fit the streams).
 */
int vs_stream_spec(const struct vs_technique *const *table, const struct vs_vport_about *about,
                   struct vs_technique_spec *spec, struct vs_technique_setup *setup,
                   struct vs_diag *diag);

#endif
