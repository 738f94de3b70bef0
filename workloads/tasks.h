/* SPDX-License-Identifier: MIT */
/* Tasks in distributed queues: every worker has a queue with a lock and takes the newest of its own
 * tasks, or else the oldest of another's. Tasks make further tasks; a phase ends when all are done.
 */
#ifndef TASKS_H
#define TASKS_H

#include <stdatomic.h>

#include "common/wl.h"

/* Part of what the task works on, so that queueing needs no memory. */
struct task {
    struct task *next, *prev;
    void (*run)(struct task *t, void *worker);
};

struct task_queue {
    pthread_mutex_t lock;
    struct task end; /* of the ring: next is the newest, prev the oldest */
};

struct tasks {
    unsigned threads;
    struct task_queue *queue; /* per worker */
    atomic_size_t open;       /* tasks not yet done */
    atomic_uint idle;         /* workers asleep, or about to be */
    pthread_mutex_t lock;
    pthread_cond_t wake;
};

static inline void tasks_init(struct tasks *ts, unsigned threads)
{
    ts->threads = threads;
    ts->queue = wl_alloc(threads * sizeof(*ts->queue));
    for (unsigned i = 0; i < threads; i++) {
        pthread_mutex_init(&ts->queue[i].lock, NULL);
        ts->queue[i].end.next = ts->queue[i].end.prev = &ts->queue[i].end;
    }
    pthread_mutex_init(&ts->lock, NULL);
    pthread_cond_init(&ts->wake, NULL);
}

/* A worker going to sleep counts itself before it looks through the queues for the last time, and
 * a worker adding a task looks at the count after it has: one of them sees the other. */
static inline void tasks_push(struct tasks *ts, unsigned id, struct task *t)
{
    struct task_queue *q = &ts->queue[id];

    atomic_fetch_add(&ts->open, 1);
    pthread_mutex_lock(&q->lock);
    t->next = q->end.next;
    t->prev = &q->end;
    t->next->prev = t->prev->next = t;
    pthread_mutex_unlock(&q->lock);
    if (atomic_load(&ts->idle) > 0) {
        pthread_mutex_lock(&ts->lock);
        pthread_cond_signal(&ts->wake);
        pthread_mutex_unlock(&ts->lock);
    }
}

static inline struct task *tasks_take(struct tasks *ts, unsigned id)
{
    for (unsigned k = 0; k < ts->threads; k++) {
        struct task_queue *q = &ts->queue[(id + k) % ts->threads];
        struct task *t;

        pthread_mutex_lock(&q->lock);
        t = k == 0 ? q->end.next : q->end.prev;
        if (t != &q->end) {
            t->next->prev = t->prev;
            t->prev->next = t->next;
            pthread_mutex_unlock(&q->lock);
            return t;
        }
        pthread_mutex_unlock(&q->lock);
    }
    return NULL;
}

/* Waits for a task. NULL: all are done. */
static inline struct task *tasks_wait(struct tasks *ts, unsigned id)
{
    struct task *t;

    pthread_mutex_lock(&ts->lock);
    atomic_fetch_add(&ts->idle, 1);
    while (!(t = tasks_take(ts, id)) && atomic_load(&ts->open) > 0)
        pthread_cond_wait(&ts->wake, &ts->lock);
    atomic_fetch_sub(&ts->idle, 1);
    pthread_mutex_unlock(&ts->lock);
    return t;
}

/* Runs tasks until there are none. The queues must be filled before any worker calls this, and
 * nothing may be pushed for the next phase until all have returned. */
static inline void tasks_drain(struct tasks *ts, unsigned id, void *worker)
{
    struct task *t;

    while ((t = tasks_take(ts, id)) || (t = tasks_wait(ts, id))) {
        t->run(t, worker);
        if (atomic_fetch_sub(&ts->open, 1) == 1) {
            pthread_mutex_lock(&ts->lock);
            pthread_cond_broadcast(&ts->wake);
            pthread_mutex_unlock(&ts->lock);
        }
    }
}

#endif
