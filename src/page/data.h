/* SPDX-License-Identifier: MIT */
/* A run's figures as JSON, which the page's scripts read. Each function prints members of the
 * object that is open. */
#ifndef PAGE_DATA_H
#define PAGE_DATA_H

#include "front/json.h"
#include "page/gather.h"

/* A text of the run, of which no more than that is printed. */
enum { PAGE_TEXT_MAX = 240 };
void page_text(struct json *j, const char *key, const char *text);

/* What ran: facts, threads, images, kinds of events. */
void page_put_run(struct json *j, struct page_run *run);

/* What threads did when. */
void page_put_timeline(struct json *j, const struct page_run *run);

/* What techniques cost. */
void page_put_techniques(struct json *j, const struct page_run *run);

/* Where instructions, mispredictions and bits are: routines, lines, the tree of calls. Returns 0;
 * -VSE_NOMEM. */
int page_put_places(struct json *j, struct page_run *run);

/* The branches that are mispredicted most, with their code. Returns 0; -VSE_NOMEM. */
int page_put_branches(struct json *j, struct page_run *run);

/* Where loads and stores go. Returns 0; -VSE_NOMEM. */
int page_put_memory(struct json *j, struct page_run *run);

#endif
