/* SPDX-License-Identifier: MIT */
/* Opens any run, or a part of it. */
#ifndef RERUN_RUN_OPEN_H
#define RERUN_RUN_OPEN_H

#include "rerun/selection.h"
#include "rerun/survey.h"
#include "vestige/run.h"

/* Does what vs_run_open does (vestige/run.h), and says how far it came with executing the run, if
 * it has to. Returns as that; also as vs_rerun_open and vs_rerun_next. */
int vs_run_open_shown(struct vs_reader **r, const char *path, enum vs_open_mode mode,
                      vs_survey_progress *progress, void *context, struct vs_diag *diag);

/* The same without the loads and stores of a run that is executed, which takes less time. The
 * reader can only seek by executing the run from its beginning. */
int vs_run_open_flow(struct vs_reader **r, const char *path, enum vs_open_mode mode,
                     vs_survey_progress *progress, void *context, struct vs_diag *diag);

/* The same of what is selected of a run that has all inputs, alone or among its events; `what` has
 * to outlive the reader. All of it was executed once when this returns. NULL selects everything.
 * Returns as above; also -VSE_INVAL (the run does not have its inputs); an error of what->find. */
int vs_run_open_selected(struct vs_reader **r, const char *path, enum vs_open_mode mode,
                         const struct vs_selection *what, vs_survey_progress *progress,
                         void *context, struct vs_diag *diag);

#endif
