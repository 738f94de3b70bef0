/* SPDX-License-Identifier: MIT */
/* How a technique's figures on a run, or summed over runs, are printed. */
#ifndef CLI_FIGURES_H
#define CLI_FIGURES_H

#include "front/report.h"
#include "study/bandwidth_figures.h"

/* A row is a JSON object, and a line of CSV. */
extern const struct report_column figures_columns[];

/* Print a table: the head, and then rows of one kind. `fields` adds a line of bits by field under
 * each row. */
void figures_text_head(struct out *out, const struct vs_bandwidth_figures *like);
void figures_text(struct out *out, const struct vs_bandwidth_figures *f, bool fields);

#endif
