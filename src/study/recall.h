/* SPDX-License-Identifier: MIT */
/* What a run knows of memory at any of its events: the bytes that were loaded or written since
 * their page's last boundary, and those that a later load tells (technique/seen.h). It goes through
 * the run in global order, and only forwards. */
#ifndef STUDY_RECALL_H
#define STUDY_RECALL_H

#include "study/pieces.h"

struct vs_recall {
    struct vs_pieces_cursor cursor;
    struct vs_seen seen;
    struct vs_copy touched; /* its known bytes are those touched since their page's last boundary */
};

/* If the prior is NULL, what later loads tell is not known. Pieces and prior must outlive it. */
void vs_recall_init(struct vs_recall *r, struct vs_pieces *pieces, const struct vs_prior *prior);
void vs_recall_fini(struct vs_recall *r);

/* Goes on to the event of that number, including what that event itself loads, unless it has been
 * there already. Returns 0; -VSE_NOMEM; as vs_pieces_read. */
int vs_recall_go(struct vs_recall *r, uint64_t number);

/* Whether the byte is known; if so, *byte is its value. */
bool vs_recall_knows(const struct vs_recall *r, uint64_t addr, uint8_t *byte);

#endif
