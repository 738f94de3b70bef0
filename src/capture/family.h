/* SPDX-License-Identifier: MIT */
/* The processes of a recording whose children are followed: the program, and those that it makes,
 * directly or not, each with a session in a thread of its own. */
#ifndef CAPTURE_FAMILY_H
#define CAPTURE_FAMILY_H

#include "capture/tool_session.h"

struct vs_family;

/* Returns 0; -VSE_NOMEM. The request has a follower, and must live on. */
int vs_family_open(struct vs_family **f, const struct vs_engine_request *o);

/* The program has started; this is its session. Returns 0; the follower's error. */
int vs_family_begin(struct vs_family *f, struct vs_session *program);

/* Waits until all of the program's children are over, while it heeds the user. If the program could
 * not be recorded, they are killed. Adds to the program's result what is known of children that
 * were not recorded. */
void vs_family_wait(struct vs_family *f, struct vs_session *program, bool failed);

/* NULL is fine. */
void vs_family_close(struct vs_family *f);

#endif
