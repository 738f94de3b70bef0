/* SPDX-License-Identifier: MIT */
/* A run's code, as isa/text.h holds it and as data-address techniques see it
 * (technique/address.h). */
#ifndef STUDY_CODEVIEW_H
#define STUDY_CODEVIEW_H

#include "isa/set.h"
#include "isa/text.h"
#include "technique/address.h"
#include "technique/writers.h"
#include "vestige/run.h"

/* Adds all of a run's blocks, whose bytes stay the reader's. Returns as vs_text_add. */
int vs_codeview_add(struct vs_text *text, const struct vs_reader *reader);

/* Adds the changes of code that the run's events tell, after all of its blocks were added and
 * nothing else. If no block differs from another in the same place, there is no need to, and no
 * event is read. Returns 0; as vs_text_change; as vs_reader_next. */
int vs_codeview_changes(struct vs_text *text, struct vs_reader *reader);

/* Adds the pages of all of them. Returns as vs_code_pages_add. */
int vs_codeview_pages(struct vs_code_pages *pages, const struct vs_reader *reader);

/* Takes the run's next events, of all threads: changes of code, and the counts of instructions
 * between them. Returns 0; -VSE_NOMEM; -VSE_LIMIT; -VSE_CORRUPT (an event names a block that does
 * not exist). */
int vs_codeview_take(struct vs_text *text, const struct vs_reader *reader,
                     const struct vs_batch *batch);

/* The text must be indexed, and must outlive the code that is returned. */
struct vs_address_code vs_code_of_text(const struct vs_text *text, const struct vs_isa *isa);

#endif
