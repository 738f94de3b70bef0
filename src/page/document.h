/* SPDX-License-Identifier: MIT */
/* The HTML file: one that needs nothing else. Its parts are printed in this order:
 * page_begin, page_put for each run, page_put_parting perhaps, page_end; or
 * page_begin, page_begin_sweep, what sweep.js reads, page_end_sweep, page_end. */
#ifndef PAGE_DOCUMENT_H
#define PAGE_DOCUMENT_H

#include "front/json.h"
#include "page/gather.h"
#include "study/run_diff.h"

/* Prints all up to the first run; j must be kept until the end. */
void page_begin(struct json *j, struct out *out);

/* Prints the figures of a run that was gathered. Returns 0; -VSE_NOMEM. */
int page_put(struct json *j, struct page_run *run);

/* After the last run: prints where the first two part. Returns 0; -VSE_NOMEM. */
int page_put_parting(struct json *j, struct vs_diff *d);

/* What is printed between them are members of an object. */
void page_begin_sweep(struct json *j);
void page_end_sweep(struct json *j);

void page_end(struct json *j, struct out *out);

#endif
