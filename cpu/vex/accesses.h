/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Statements that access memory, or that can fail otherwise, become calls of helpers. */
#ifndef ACCESSES_H
#define ACCESSES_H

#include "work.h"

/* Rewrites the statement at i if it is of that kind. Returns whether it is. */
bool rewrite_access(struct work *w, Int i);

/* Whether translated code may be left at the statement. */
bool may_leave(const struct work *w, const IRStmt *st);

/* Returns an expression for what was read. The guard may be NULL. */
IRExpr *read_memory(struct work *w, IRType type, IRExpr *addr, enum vs_access access,
                    IRExpr *guard);

/* Gets 8 bytes from outside. */
IRTemp read_outside(struct work *w);

/* Lets the instruction be refused. */
void refuse(struct work *w);

#endif
