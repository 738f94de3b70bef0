/* SPDX-License-Identifier: MIT */
/* Why a study of a run failed. */
#ifndef STUDY_EXPLAIN_H
#define STUDY_EXPLAIN_H

#include "vestige/run.h"

/* Fills in diag, which may be NULL, for an error: with the reader's diag if the error is the
 * reader's, else with the error's text. Returns err. */
int vs_study_explain(const struct vs_reader *reader, int err, struct vs_diag *diag);

#endif
