/* SPDX-License-Identifier: MIT */
/* Worker threads that run jobs in the order in which they were submitted: a job starts only after
 * every earlier one has started; with several threads they may end in any order.
 *
 * Ownership: a job is the caller's memory. From vs_workers_submit until vs_workers_wait for it (or
 * vs_workers_close) returns, the job and what its arg points to belong to the workers; after that
 * they are the caller's again, to reuse or to free.
 *
 * Memory ordering: what the caller wrote before vs_workers_submit is visible to the job, and what
 * the job wrote is visible to whoever returns from vs_workers_wait for it or vs_workers_close.
 *
 * Any thread may submit, a running job too; a job must not wait, since all threads might. Workers
 * have all signals blocked but those for faults, so that the program's handlers run elsewhere. */
#ifndef BASE_WORKERS_H
#define BASE_WORKERS_H

#include <stdbool.h>

struct vs_workers;

struct vs_job {
    void (*run)(void *arg);
    void *arg;

    /* private */
    struct vs_job *next;
    bool done;
};

/* Starts `threads` threads. With 0, a job is run by whoever submits it, before submit returns.
 * 0, or -VSE_NOMEM: no memory, or no more threads to be had; then *ws is NULL. */
int vs_workers_open(struct vs_workers **ws, unsigned threads);

/* Queues a job that is in no queue. The private members need no initial value. */
void vs_workers_submit(struct vs_workers *ws, struct vs_job *job);

/* Blocks until a submitted job is done. Returns at once if it is; may be called again. */
void vs_workers_wait(struct vs_workers *ws, struct vs_job *job);

/* Finishes all queued jobs, ends the threads and frees ws, which no one else may be using. Accepts
 * NULL. */
void vs_workers_close(struct vs_workers *ws);

#endif
