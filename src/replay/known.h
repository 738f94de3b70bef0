/* SPDX-License-Identifier: MIT */
/* What a replay's memory is known to hold, and what makes it unknown again. This is for the files
 * behind replay/replay.h. Functions return 0; -VSE_NOMEM, where nothing else is said. */
#ifndef REPLAY_KNOWN_H
#define REPLAY_KNOWN_H

#include "replay/replay.h"

/* Gets the bytes of code from addr on, up to size, that the core fetches. Returns how many of them
 * are known. */
size_t vs_replay_fetch(struct vs_replay *r, unsigned core, uint64_t addr, uint8_t *bytes,
                       size_t size);

/* All cores have come to the change of code: from now on they fetch what was stored before. */
int vs_replay_change_code(struct vs_replay *r);

/* Gives decoded code another version if the program has changed it since this was last called. */
void vs_replay_note_code(struct vs_replay *r);

/* For checkpoints. The copy has memory of its own. */
int vs_replay_code_clone(struct vs_replay_code *to, struct vs_replay_code *from);
void vs_replay_code_fini(struct vs_replay_code *c);

/* The core's call has returned: what the kernel wrote, and memory that came or went, becomes
 * unknown. */
int vs_replay_after_call(struct vs_replay *r, unsigned core);

/* The core has ended, whatever ended it. */
int vs_replay_after_end(struct vs_replay *r, unsigned core);

/* The core enters a signal handler: the kernel wrote a frame where the core's stack now ends. */
int vs_replay_after_signal(struct vs_replay *r, unsigned core);

/* The core begins. If it is the first of another program, which the one before executed, memory and
 * code are the new program's. */
int vs_replay_begin(struct vs_replay *r, unsigned core);

/* Nothing is known about memory any more, because of what the core did while it was not traced. */
int vs_replay_forget_all(struct vs_replay *r, unsigned core);

/* The core ended while its last instruction repeated itself: what further iterations would store
 * becomes unknown, since nothing tells how many of them were done. */
int vs_replay_forget_iterations(struct vs_replay *r, unsigned core);

/* The core stored; r->noted must not be NULL. */
int vs_replay_note(struct vs_replay *r, unsigned core, uint64_t addr, uint64_t size);

/* For checkpoints, too. The copy has memory of its own. */
int vs_replay_outside_clone(struct vs_replay_outside *to, struct vs_replay_outside *from,
                            unsigned cores);
void vs_replay_outside_fini(struct vs_replay_outside *o);

#endif
