/* SPDX-License-Identifier: MIT */
/* Worker threads that run jobs in the order in which they were submitted: a job starts only after
 * every earlier one has started (or waits for its strand); with several threads they may end in any
 * order.
 *
 * Ownership: a job is the caller's memory. From vs_workers_submit until vs_workers_wait or _help
 * for it (or vs_workers_close) returns, the job and what its arg points to belong to the workers;
 * after that they are the caller's again, to reuse or to free.
 *
 * Memory ordering: what the caller wrote before vs_workers_submit is visible to the job, and what
 * the job wrote is visible to whoever returns from vs_workers_wait or _help for it or
 * vs_workers_close.
 *
 * Any thread may submit, a running job too (but, without threads, one thread at a time); a job must
 * not wait for another, since all threads might end up waiting. Workers block all signals except
 * those for faults, so that the program's handlers run elsewhere. */
#ifndef BASE_WORKERS_H
#define BASE_WORKERS_H

#include <stdbool.h>

struct vs_workers;

struct vs_job {
    void (*run)(void *arg);
    void *arg;

    /* Who runs it, set before run: the number of the thread, from 0; the number of threads stands
     * for a caller that runs it. No two jobs that run at the same time have the same. */
    unsigned worker;

    /* private */
    struct vs_strand *strand;
    struct vs_job *next;
    bool done;
};

/* A strand: jobs that run one after the other, in the order in which they were submitted to it,
 * whichever thread runs them; what one wrote is visible to the next. A zeroed struct is a strand
 * without jobs. It must outlive its jobs. */
struct vs_strand {
    /* private */
    struct vs_job *head, *tail; /* they wait for the one that is queued or runs */
    bool busy;
};

/* Returns how many threads are worth having beside the caller's: one for each further processor. */
unsigned vs_workers_beside(void);

/* Starts `threads` threads. With 0, a job is run by whoever submits it, before submit returns.
 * 0, or -VSE_NOMEM: no memory, or no more threads to be had; then *ws is NULL. */
int vs_workers_open(struct vs_workers **ws, unsigned threads);

/* Queues a job that is not in a queue already. The private members need no initial value. */
void vs_workers_submit(struct vs_workers *ws, struct vs_job *job);

/* The same, on a strand. */
void vs_workers_submit_to(struct vs_workers *ws, struct vs_strand *strand, struct vs_job *job);

/* Blocks until a submitted job is done. Returns at once if it is; may be called again. */
void vs_workers_wait(struct vs_workers *ws, struct vs_job *job);

/* The same, but runs queued jobs meanwhile instead of doing nothing. By one thread at a time. */
void vs_workers_help(struct vs_workers *ws, struct vs_job *job);

/* Finishes all queued jobs, ends the threads and frees ws, which nobody else may be using. ws may
 * be NULL. */
void vs_workers_close(struct vs_workers *ws);

#endif
