/* SPDX-License-Identifier: MIT */
/* How the places to which a technique's bits are charged are printed (study/attribution.h). */
#ifndef CLI_SHARES_H
#define CLI_SHARES_H

#include "front/report.h"
#include "study/bandwidth_figures.h"

/* The rows of the table that the figures have, as JSON has them beside the figures. */
extern const struct report_rows shares_rows;
extern const struct report_column shares_columns[];

/* Print a line of CSV for each row. */
void shares_csv_head(struct out *out);
void shares_csv(struct out *out, const struct vs_bandwidth_figures *f);

/* Prints the table, as it stands under the figures. */
void shares_text(struct out *out, const struct vs_bandwidth_figures *f);

#endif
