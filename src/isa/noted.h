/* SPDX-License-Identifier: MIT */
/* Whether a run has everything that an exact replay needs. What a recorder has to note is more than
 * it first was; it says in a fact of the run, which streams made from the run have too, how much
 * that is. */
#ifndef ISA_NOTED_H
#define ISA_NOTED_H

#define VS_NOTED_FACT "noted"
/* What recorders of all sets write that have such a fact: 1 = everything that the sets' rows
 * name. */
#define VS_NOTED_NOW "1"

/* Returns what the recorder of a run did not note, to follow "did not note"; NULL if nothing is
 * missing. isa and noted are the run's facts; each may be NULL. Static storage. */
const char *vs_noted_lacks(const char *isa, const char *noted);

#endif
