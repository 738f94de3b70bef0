/* SPDX-License-Identifier: MIT */
/* Of a replay: what its memory is known to hold, and what makes it unknown again. For the files of
 * replay/replay.h. All return 0; -VSE_NOMEM. */
#ifndef REPLAY_KNOWN_H
#define REPLAY_KNOWN_H

#include "replay/replay.h"

/* The bytes of code at addr, up to size, for the core to fetch. Returns how many of them are known.
 */
size_t vs_replay_fetch(struct vs_replay *r, unsigned core, uint64_t addr, uint8_t *bytes,
                       size_t size);

/* All cores have come to the change of code: what they stored before is what they fetch. */
int vs_replay_change_code(struct vs_replay *r);

/* Of a checkpoint. The copy's memory is its own. */
int vs_replay_code_clone(struct vs_replay_code *to, struct vs_replay_code *from);
void vs_replay_code_fini(struct vs_replay_code *c);

/* The core's call has returned: what the kernel wrote, and memory that came or went, is unknown. */
int vs_replay_after_call(struct vs_replay *r, unsigned core);

/* The core enters a signal handler: the kernel wrote a frame where its stack now ends. */
int vs_replay_after_signal(struct vs_replay *r, unsigned core);

/* Nothing is known of memory any more, after what the core did while nobody looked. */
int vs_replay_forget_all(struct vs_replay *r, unsigned core);

/* r->noted is not NULL, and the core stored. */
int vs_replay_note(struct vs_replay *r, unsigned core, uint64_t addr, uint64_t size);

/* Of outside.gone and the rest, which a checkpoint has too. The copy's memory is its own. */
int vs_replay_outside_clone(struct vs_replay_outside *to, struct vs_replay_outside *from,
                            unsigned cores);
void vs_replay_outside_fini(struct vs_replay_outside *o);

#endif
