/* SPDX-License-Identifier: MIT */
#include "base/workers.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/invariant.h"
#include "vestige/error.h"

struct vs_workers {
    pthread_mutex_t lock; /* for all below, and for next and done of every submitted job */
    pthread_cond_t work, done;
    struct vs_job *head, **tail;
    bool closing;
    unsigned started; /* threads that have a number */
    unsigned count;
    pthread_t threads[];
};

/* The next job of a strand takes the place of the one before it, ahead of jobs submitted later. */
static void go_on(struct vs_workers *ws, struct vs_strand *s)
{
    invariant(s->busy);
    struct vs_job *job = s->head;
    if (!job) {
        s->busy = false;
        return;
    }
    s->head = job->next;
    job->next = ws->head;
    if (!ws->head)
        ws->tail = &job->next;
    ws->head = job;
    pthread_cond_signal(&ws->work);
}

/* Runs the first job of the queue, which is not empty. Called and returns with the lock held. */
static void run_first(struct vs_workers *ws, unsigned worker)
{
    invariant(ws->head);
    struct vs_job *job = ws->head;
    ws->head = job->next;
    if (!ws->head)
        ws->tail = &ws->head;
    pthread_mutex_unlock(&ws->lock);
    job->worker = worker;
    job->run(job->arg);
    pthread_mutex_lock(&ws->lock);
    if (job->strand)
        go_on(ws, job->strand);
    job->done = true; /* the last access: a waiter may free the job once it has the lock */
    pthread_cond_broadcast(&ws->done);
}

static void *work(void *arg)
{
    struct vs_workers *ws = arg;
    pthread_mutex_lock(&ws->lock);
    unsigned worker = ws->started++;
    for (;;) {
        while (!ws->head && !ws->closing)
            pthread_cond_wait(&ws->work, &ws->lock);
        if (!ws->head)
            break;
        run_first(ws, worker);
    }
    pthread_mutex_unlock(&ws->lock);
    return NULL;
}

/* Blocked signals that a thread raises by its own fault kill the process without asking a handler,
 * so those stay deliverable. */
static void block_signals(sigset_t *old)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
    sigset_t set;
    sigfillset(&set);
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
        sigdelset(&set, faults[i]);
    pthread_sigmask(SIG_SETMASK, &set, old);
}

unsigned vs_workers_beside(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 64 ? 63 : n > 1 ? (unsigned)n - 1 : 0;
}

int vs_workers_open(struct vs_workers **out, unsigned threads)
{
    *out = NULL;
    struct vs_workers *ws = calloc(1, sizeof(*ws) + threads * sizeof(ws->threads[0]));
    if (!ws)
        return -VSE_NOMEM;
    pthread_mutex_init(&ws->lock, NULL);
    pthread_cond_init(&ws->work, NULL);
    pthread_cond_init(&ws->done, NULL);
    ws->tail = &ws->head;

    sigset_t old;
    block_signals(&old); /* threads inherit the mask */
    while (ws->count < threads && !pthread_create(&ws->threads[ws->count], NULL, work, ws))
        ws->count++;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (ws->count < threads) {
        vs_workers_close(ws);
        return -VSE_NOMEM;
    }
    *out = ws;
    return 0;
}

void vs_workers_submit_to(struct vs_workers *ws, struct vs_strand *strand, struct vs_job *job)
{
    invariant(job->run);
    job->strand = strand;
    job->next = NULL;
    job->done = false;
    if (!ws->count) {
        job->worker = 0;
        job->run(job->arg);
        job->done = true;
        return;
    }
    pthread_mutex_lock(&ws->lock);
    if (strand && strand->busy) {
        *(strand->head ? &strand->tail->next : &strand->head) = job;
        strand->tail = job;
    } else {
        if (strand)
            strand->busy = true;
        *ws->tail = job;
        ws->tail = &job->next;
        pthread_cond_signal(&ws->work);
    }
    pthread_mutex_unlock(&ws->lock);
}

void vs_workers_submit(struct vs_workers *ws, struct vs_job *job)
{
    vs_workers_submit_to(ws, NULL, job);
}

void vs_workers_wait(struct vs_workers *ws, struct vs_job *job)
{
    pthread_mutex_lock(&ws->lock);
    while (!job->done)
        pthread_cond_wait(&ws->done, &ws->lock);
    pthread_mutex_unlock(&ws->lock);
}

void vs_workers_help(struct vs_workers *ws, struct vs_job *job)
{
    pthread_mutex_lock(&ws->lock);
    while (!job->done)
        if (ws->head)
            run_first(ws, ws->count);
        else
            pthread_cond_wait(&ws->done, &ws->lock);
    pthread_mutex_unlock(&ws->lock);
}

void vs_workers_close(struct vs_workers *ws)
{
    if (!ws)
        return;
    pthread_mutex_lock(&ws->lock);
    ws->closing = true;
    pthread_cond_broadcast(&ws->work);
    pthread_mutex_unlock(&ws->lock);
    for (unsigned i = 0; i < ws->count; i++)
        pthread_join(ws->threads[i], NULL);
    invariant(!ws->head);
    pthread_cond_destroy(&ws->done);
    pthread_cond_destroy(&ws->work);
    pthread_mutex_destroy(&ws->lock);
    free(ws);
}
