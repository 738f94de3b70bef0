/* SPDX-License-Identifier: MIT */
/* What a run knows of memory at any of its events: bytes that were loaded or written since their
 * page's last boundary, and those that a later load tells of (technique/seen.h). It goes through
 * the run in global order, forwards only. */
#ifndef STUDY_RECALL_H
#define STUDY_RECALL_H

#include "study/pieces.h"

struct vs_recall {
    struct vs_pieces_cursor cursor;
    struct vs_seen seen;
    struct vs_copy touched; /* its known bytes: since their boundary */
};

/* The prior may be NULL: what later loads tell is then not known. Both must outlive it. */
void vs_recall_init(struct vs_recall *r, struct vs_pieces *pieces, const struct vs_prior *prior);
void vs_recall_fini(struct vs_recall *r);

/* Goes on to the event of that number, whose own load counts, as far as it has not been there.
 * Returns 0; -VSE_NOMEM; as vs_pieces_read. */
int vs_recall_go(struct vs_recall *r, uint64_t number);

/* Whether the byte is known, and what it is. */
bool vs_recall_knows(const struct vs_recall *r, uint64_t addr, uint8_t *byte);

#endif
