/* SPDX-License-Identifier: MIT */
#include "base/workers.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "unittest.h"

enum { JOBS = 2000 };

struct sum {
    struct vs_job job;
    unsigned from, result;
};

static void add_up(void *arg)
{
    struct sum *s = arg;
    s->result = 0;
    for (unsigned i = 0; i < 100; i++)
        s->result += s->from + i;
}

static void runs_all(unsigned threads)
{
    struct vs_workers *ws;
    CHECK_EQ(vs_workers_open(&ws, threads), 0);
    for (int round = 0; round < 3; round++) {
        struct sum *sums = calloc(JOBS, sizeof(*sums));
        for (unsigned i = 0; i < JOBS; i++) {
            sums[i] = (struct sum){.job = {.run = add_up, .arg = &sums[i]}, .from = i};
            vs_workers_submit(ws, &sums[i].job);
        }
        for (unsigned i = JOBS; i-- > 0;) {
            vs_workers_wait(ws, &sums[i].job);
            CHECK_EQ(sums[i].result, i * 100 + 4950);
        }
        vs_workers_wait(ws, &sums[0].job);
        free(sums);
    }
    vs_workers_close(ws);
}

TEST(runs_all_jobs_in_the_caller)
{
    runs_all(0);
}

TEST(runs_all_jobs_on_one_thread)
{
    runs_all(1);
}

TEST(runs_all_jobs_on_several_threads)
{
    runs_all(7);
}

struct order {
    struct vs_job job;
    unsigned *next, place;
};

static void take_place(void *arg)
{
    struct order *o = arg;
    o->place = (*o->next)++;
}

TEST(keeps_the_order_of_submission)
{
    static struct order jobs[JOBS];
    unsigned next = 0;
    struct vs_workers *ws;
    CHECK_EQ(vs_workers_open(&ws, 1), 0);
    for (unsigned i = 0; i < JOBS; i++) {
        jobs[i] = (struct order){.job = {.run = take_place, .arg = &jobs[i]}, .next = &next};
        vs_workers_submit(ws, &jobs[i].job);
    }
    vs_workers_close(ws);
    CHECK_EQ(next, JOBS);
    for (unsigned i = 0; i < JOBS; i++)
        CHECK_EQ(jobs[i].place, i);
}

/* Each strand counts without a lock. */
TEST(runs_the_jobs_of_a_strand_in_order)
{
    enum { STRANDS = 3 };
    static struct order jobs[JOBS];
    for (unsigned threads = 0; threads < 5; threads++) {
        struct vs_strand strands[STRANDS] = {0};
        unsigned next[STRANDS] = {0};
        struct vs_workers *ws;
        CHECK_EQ(vs_workers_open(&ws, threads), 0);
        for (unsigned i = 0; i < JOBS; i++) {
            jobs[i] = (struct order){.job = {.run = take_place, .arg = &jobs[i]},
                                     .next = &next[i % STRANDS]};
            vs_workers_submit_to(ws, &strands[i % STRANDS], &jobs[i].job);
        }
        vs_workers_help(ws, &jobs[JOBS / 2].job);
        CHECK_EQ(jobs[JOBS / 2].place, JOBS / 2 / STRANDS);
        vs_workers_close(ws);
        for (unsigned i = 0; i < JOBS; i++)
            CHECK_EQ(jobs[i].place, i / STRANDS);
    }
}

TEST(uses_a_strand_again_that_was_done)
{
    struct vs_strand strand = {0};
    unsigned next = 0;
    struct vs_workers *ws;
    CHECK_EQ(vs_workers_open(&ws, 2), 0);
    for (unsigned i = 0; i < 100; i++) {
        struct order job = {.job = {.run = take_place, .arg = &job}, .next = &next};
        vs_workers_submit_to(ws, &strand, &job.job);
        vs_workers_wait(ws, &job.job);
        CHECK_EQ(job.place, i);
    }
    vs_workers_close(ws);
}

struct numbered {
    struct vs_job job;
    atomic_bool *taken; /* by number */
    pthread_t by;
};

static void use_number(void *arg)
{
    struct numbered *n = arg;
    CHECK(!atomic_exchange(&n->taken[n->job.worker], true));
    n->by = pthread_self();
    for (volatile unsigned i = 0; i < 100; i++)
        ;
    atomic_store(&n->taken[n->job.worker], false);
}

TEST(numbers_those_who_work)
{
    enum { THREADS = 3 };
    static struct numbered jobs[JOBS];
    atomic_bool taken[THREADS + 1] = {0};
    struct vs_workers *ws;
    CHECK_EQ(vs_workers_open(&ws, THREADS), 0);
    for (unsigned i = 0; i < JOBS; i++) {
        jobs[i] = (struct numbered){.job = {.run = use_number, .arg = &jobs[i]}, .taken = taken};
        vs_workers_submit(ws, &jobs[i].job);
    }
    for (unsigned i = 0; i < JOBS; i++) {
        vs_workers_help(ws, &jobs[i].job);
        CHECK(jobs[i].job.worker <= THREADS);
        CHECK_EQ(jobs[i].job.worker == THREADS, !!pthread_equal(jobs[i].by, pthread_self()));
    }
    vs_workers_close(ws);
}

static void meet(void *arg)
{
    pthread_barrier_wait(arg);
}

/* The only thread is in a job that ends when another one, behind it in the queue, has run. */
TEST(helps_while_it_waits)
{
    pthread_barrier_t barrier;
    struct vs_job jobs[2];
    struct vs_workers *ws;
    pthread_barrier_init(&barrier, NULL, 2);
    CHECK_EQ(vs_workers_open(&ws, 1), 0);
    for (int i = 0; i < 2; i++) {
        jobs[i] = (struct vs_job){.run = meet, .arg = &barrier};
        vs_workers_submit(ws, &jobs[i]);
    }
    vs_workers_help(ws, &jobs[0]);
    vs_workers_help(ws, &jobs[1]);
    vs_workers_close(ws);
    pthread_barrier_destroy(&barrier);
}

static void note_thread(void *arg)
{
    *(pthread_t *)arg = pthread_self();
}

TEST(uses_the_caller_only_without_threads)
{
    for (unsigned threads = 0; threads < 2; threads++) {
        pthread_t by = pthread_self();
        struct vs_job job = {.run = note_thread, .arg = &by};
        struct vs_workers *ws;
        CHECK_EQ(vs_workers_open(&ws, threads), 0);
        vs_workers_submit(ws, &job);
        vs_workers_wait(ws, &job);
        CHECK_EQ(!pthread_equal(by, pthread_self()), threads);
        vs_workers_close(ws);
    }
}

TEST(runs_jobs_side_by_side)
{
    enum { N = 4 };
    pthread_barrier_t barrier;
    struct vs_job jobs[N];
    struct vs_workers *ws;
    pthread_barrier_init(&barrier, NULL, N);
    CHECK_EQ(vs_workers_open(&ws, N), 0);
    for (int i = 0; i < N; i++) {
        jobs[i] = (struct vs_job){.run = meet, .arg = &barrier};
        vs_workers_submit(ws, &jobs[i]);
    }
    vs_workers_close(ws);
    pthread_barrier_destroy(&barrier);
}

struct chain {
    struct vs_job job;
    struct vs_workers *ws;
    int left;
};

static void submit_again(void *arg)
{
    struct chain *c = arg;
    if (c->left == 0)
        return;
    c[1] = (struct chain){.job = {.run = submit_again, .arg = &c[1]}, .ws = c->ws};
    c[1].left = c->left - 1;
    vs_workers_submit(c->ws, &c[1].job);
}

TEST(finishes_jobs_that_jobs_submit)
{
    static struct chain chain[101];
    for (unsigned threads = 0; threads < 3; threads++) {
        memset(chain, 0, sizeof(chain));
        CHECK_EQ(vs_workers_open(&chain[0].ws, threads), 0);
        chain[0].job = (struct vs_job){.run = submit_again, .arg = &chain[0]};
        chain[0].left = 100;
        vs_workers_submit(chain[0].ws, &chain[0].job);
        vs_workers_close(chain[0].ws);
        CHECK(chain[100].job.run == submit_again);
        CHECK_EQ(chain[100].left, 0);
    }
}

static void get_mask(void *arg)
{
    pthread_sigmask(SIG_BLOCK, NULL, arg);
}

TEST(blocks_signals_in_workers_only)
{
    sigset_t before, after, inside;
    struct vs_job job = {.run = get_mask, .arg = &inside};
    struct vs_workers *ws;
    pthread_sigmask(SIG_BLOCK, NULL, &before);
    CHECK_EQ(vs_workers_open(&ws, 1), 0);
    pthread_sigmask(SIG_BLOCK, NULL, &after);
    vs_workers_submit(ws, &job);
    vs_workers_wait(ws, &job);
    vs_workers_close(ws);
    static const int handled[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD, SIGWINCH, SIGPIPE};
    for (size_t i = 0; i < sizeof(handled) / sizeof(handled[0]); i++) {
        CHECK(sigismember(&inside, handled[i]));
        CHECK_EQ(sigismember(&after, handled[i]), sigismember(&before, handled[i]));
    }
    CHECK(!sigismember(&inside, SIGSEGV));
    CHECK(!sigismember(&inside, SIGBUS));
}

static void count_up(void *arg)
{
    atomic_fetch_add((atomic_uint *)arg, 1);
}

static void *submit_many(void *arg)
{
    void **args = arg;
    static _Thread_local struct vs_job jobs[JOBS];
    for (int i = 0; i < JOBS; i++) {
        jobs[i] = (struct vs_job){.run = count_up, .arg = args[1]};
        vs_workers_submit(args[0], &jobs[i]);
    }
    for (int i = 0; i < JOBS; i++)
        vs_workers_wait(args[0], &jobs[i]);
    return NULL;
}

TEST(takes_jobs_from_several_threads)
{
    struct vs_workers *ws;
    atomic_uint count = 0;
    pthread_t threads[3];
    CHECK_EQ(vs_workers_open(&ws, 2), 0);
    void *args[] = {ws, &count};
    for (int i = 0; i < 3; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, submit_many, args), 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    vs_workers_close(ws);
    CHECK_EQ(atomic_load(&count), 3 * JOBS);
}

TEST(closes_nothing)
{
    vs_workers_close(NULL);
}
