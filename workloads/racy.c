/* SPDX-License-Identifier: MIT */
/* Three ways to share data, correct in mode none, each with a mistake in the mode of its name:
 *
 * counter  Finds are appended to a common list. The mistake: no lock, so that two workers may take
 *          the same place and a find is lost (a data race).
 * bank     Money moves between accounts that must not be overdrawn. The mistake: the lock is given
 *          up between the look at the balance and the withdrawal (an atomicity violation; every
 *          access is under its lock, so there is no data race).
 * publish  A message is written by one worker and read by another when its flag is up. The mistake:
 *          the flag goes up before the message is written (a data race, an order violation).
 *
 * All three run in every mode. Whether a mistake shows depends on the schedule; with one worker
 * none does. The checksum is over what every correct schedule must give alike.
 */
#include <inttypes.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "wl.h"

#define ACCOUNTS 8
#define START    400 /* of every account */
#define WORDS    7   /* of a message */
#define BATCH    32

enum mode { NONE, COUNTER, BANK, PUBLISH };

struct account {
    pthread_mutex_t lock;
    int64_t balance, lowest; /* under the lock */
};

struct transfer {
    uint32_t from, to;
    int64_t amount;
    uint64_t receipt; /* not 0 when done */
};

struct message {
    uint64_t word[WORDS];
    _Atomic uint64_t up;
};

struct shared {
    struct wl_args args;
    pthread_barrier_t barrier;

    pthread_mutex_t lock;
    uint64_t found; /* under the lock */
    uint64_t *finds;

    struct account account[ACCOUNTS];
    struct transfer *transfers;

    struct message *messages;
    uint64_t *digests; /* as read */
};

/* A busy machine interrupts a worker now and then; a small run is to see that as well. In the
 * middle of what must not be interrupted, which only the mistakes mind. */
static void interruption(uint64_t what)
{
    if (wl_sum(0, what) % 1024 == 0)
        sched_yield();
}

/* ---- counter --------------------------------------------------------------------------------- */

static uint64_t candidate(const struct shared *s, uint64_t k)
{
    struct wl_rng rng = wl_rng(s->args.seed, k);

    return 1 + wl_below(&rng, 1000000);
}

/* Whether halving and tripling takes more than 120 steps to come down to 1. */
static bool is_long(uint64_t x)
{
    unsigned steps = 0;

    for (; x > 1; steps++)
        x = x & 1 ? 3 * x + 1 : x / 2;
    return steps > 120;
}

/* volatile, lest the compiler bring the two accesses together. */
static void append_find(struct shared *s, uint64_t x)
{
    volatile uint64_t *found = &s->found;
    uint64_t place = *found;

    s->finds[place] = x;
    interruption(x);
    *found = place + 1;
}

static void counter_worker(struct shared *s, unsigned id)
{
    size_t first, end;

    wl_share(s->args.size, s->args.threads, id, &first, &end);
    for (size_t k = first; k < end; k++) {
        uint64_t x = candidate(s, k);

        if (!is_long(x))
            continue;
        if (s->args.mode != COUNTER)
            pthread_mutex_lock(&s->lock);
        append_find(s, x);
        if (s->args.mode != COUNTER)
            pthread_mutex_unlock(&s->lock);
    }
}

static uint64_t counter_sum(const struct shared *s)
{
    uint64_t sum = 0;

    for (uint64_t k = 0; k < s->found; k++)
        sum += wl_sum(0, s->finds[k]); /* in any order */
    return wl_sum(sum, s->found);
}

static bool counter_check(const struct shared *s)
{
    uint64_t found = 0, total = 0, listed = 0;

    for (uint64_t k = 0; k < s->args.size; k++) {
        uint64_t x = candidate(s, k);

        found += is_long(x);
        total += is_long(x) ? x : 0;
    }
    for (uint64_t k = 0; k < s->found; k++)
        listed += s->finds[k];
    if (found == s->found && total == listed)
        return true;
    printf("racy: counter: %" PRIu64 " finds, sum %" PRIu64 "; should be %" PRIu64 ", sum %" PRIu64
           "\n",
           s->found, listed, found, total);
    return false;
}

/* ---- bank ------------------------------------------------------------------------------------ */

static void plan_transfers(struct shared *s)
{
    struct wl_rng rng = wl_rng(s->args.seed, UINT64_MAX);

    for (unsigned a = 0; a < ACCOUNTS; a++) {
        pthread_mutex_init(&s->account[a].lock, NULL);
        s->account[a].balance = s->account[a].lowest = START;
    }
    for (uint64_t k = 0; k < s->args.size; k++) {
        struct transfer *t = &s->transfers[k];

        t->from = (uint32_t)wl_below(&rng, ACCOUNTS);
        t->to = (t->from + 1 + (uint32_t)wl_below(&rng, ACCOUNTS - 1)) % ACCOUNTS;
        t->amount = 1 + (int64_t)wl_below(&rng, START);
    }
}

/* Stands for what a bank does before it pays. */
static uint64_t make_receipt(const struct transfer *t)
{
    uint64_t sum = t->from;

    for (int64_t left = t->amount; left > 0; left -= 8)
        sum = wl_sum(sum, (uint64_t)left ^ t->to);
    interruption(sum);
    return sum | 1;
}

static void move_money(struct shared *s, struct transfer *t)
{
    struct account *from = &s->account[t->from], *to = &s->account[t->to];
    bool enough;

    pthread_mutex_lock(&from->lock);
    enough = from->balance >= t->amount;
    if (s->args.mode == BANK)
        pthread_mutex_unlock(&from->lock);
    if (enough)
        t->receipt = make_receipt(t);
    if (s->args.mode == BANK)
        pthread_mutex_lock(&from->lock);
    if (enough) {
        from->balance -= t->amount;
        if (from->balance < from->lowest)
            from->lowest = from->balance;
    }
    pthread_mutex_unlock(&from->lock);
    if (!enough)
        return;
    pthread_mutex_lock(&to->lock);
    to->balance += t->amount;
    pthread_mutex_unlock(&to->lock);
}

static void bank_worker(struct shared *s, unsigned id)
{
    size_t first, end;

    wl_share(s->args.size, s->args.threads, id, &first, &end);
    for (size_t k = first; k < end; k++)
        move_money(s, &s->transfers[k]);
}

/* Which transfers are refused is the schedule's, not the sum and not the floor. */
static uint64_t bank_sum(const struct shared *s)
{
    uint64_t total = 0, overdrawn = 0;

    for (unsigned a = 0; a < ACCOUNTS; a++) {
        total += (uint64_t)s->account[a].balance;
        overdrawn += s->account[a].lowest < 0;
    }
    return wl_sum(wl_sum(0, total), overdrawn);
}

static bool bank_check(const struct shared *s)
{
    int64_t balance[ACCOUNTS];
    bool passed = true;

    for (unsigned a = 0; a < ACCOUNTS; a++)
        balance[a] = START;
    for (uint64_t k = 0; k < s->args.size; k++) {
        const struct transfer *t = &s->transfers[k];

        if (t->receipt) {
            balance[t->from] -= t->amount;
            balance[t->to] += t->amount;
        }
    }
    for (unsigned a = 0; a < ACCOUNTS; a++) {
        const struct account *c = &s->account[a];

        if (c->lowest >= 0 && c->balance == balance[a])
            continue;
        printf("racy: bank: account %u was down to %" PRId64 " and has %" PRId64
               "; should never be below 0, its receipts make %" PRId64 "\n",
               a, c->lowest, c->balance, balance[a]);
        passed = false;
    }
    return passed;
}

/* ---- publish --------------------------------------------------------------------------------- */

static void compose(const struct shared *s, uint64_t k, uint64_t *word)
{
    struct wl_rng rng = wl_rng(s->args.seed, ~k);

    interruption(k);
    for (unsigned i = 0; i < WORDS; i++)
        word[i] = wl_random(&rng);
}

static void publish(struct shared *s, uint64_t k)
{
    struct message *m = &s->messages[k];

    if (s->args.mode == PUBLISH) {
        atomic_store_explicit(&m->up, 1, memory_order_relaxed);
        atomic_signal_fence(memory_order_seq_cst); /* the compiler is not to mend it */
        compose(s, k, m->word);
    } else {
        compose(s, k, m->word);
        atomic_store_explicit(&m->up, 1, memory_order_release);
    }
}

static uint64_t digest(const uint64_t *word)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < WORDS; i++)
        sum = wl_sum(sum, word[i]);
    return sum;
}

static void await_message(struct shared *s, uint64_t k)
{
    struct message *m = &s->messages[k];

    for (unsigned tries = 1; !atomic_load_explicit(&m->up, memory_order_acquire); tries++)
        if (tries % 256 == 0)
            sched_yield();
    s->digests[k] = digest(m->word);
}

/* Who writes a batch reads the one before it, message by message: side by side with its writer. A
 * read waits only for earlier batches, so somebody can always go on. */
static void publish_worker(struct shared *s, unsigned id)
{
    uint64_t n = s->args.size;

    for (uint64_t at = (uint64_t)id * BATCH; at < n + BATCH; at += s->args.threads * BATCH) {
        for (uint64_t k = at; k < at + BATCH; k++) {
            if (k < n)
                publish(s, k);
            if (k >= BATCH && k - BATCH < n)
                await_message(s, k - BATCH);
        }
    }
}

static uint64_t publish_sum(const struct shared *s)
{
    uint64_t sum = 0;

    for (uint64_t k = 0; k < s->args.size; k++)
        sum = wl_sum(sum, s->digests[k]);
    return sum;
}

static bool publish_check(const struct shared *s)
{
    uint64_t word[WORDS], wrong = 0;

    for (uint64_t k = 0; k < s->args.size; k++) {
        compose(s, k, word);
        if (s->digests[k] == digest(word))
            continue;
        if (wrong++ == 0)
            printf("racy: publish: message %" PRIu64 " was read as %016" PRIx64
                   "; should be %016" PRIx64 "\n",
                   k, s->digests[k], digest(word));
    }
    if (wrong)
        printf("racy: publish: %" PRIu64 " of %" PRIu64 " messages were read too early\n", wrong,
               s->args.size);
    return wrong == 0;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void worker(unsigned id, void *arg)
{
    struct shared *s = arg;

    pthread_barrier_wait(&s->barrier);
    counter_worker(s, id);
    pthread_barrier_wait(&s->barrier);
    bank_worker(s, id);
    pthread_barrier_wait(&s->barrier);
    publish_worker(s, id);
}

static bool verify(const struct shared *s)
{
    bool counter = counter_check(s), bank = bank_check(s), published = publish_check(s);

    return counter && bank && published;
}

static const char *const modes[] = {"none", "counter", "bank", "publish", NULL};

static const struct wl_program program = {
    .name = "racy",
    .about = "Shares data in three ways, one of them wrongly: a lost update, an atomicity\n"
             "violation, a flag before its data. Correct in mode none.",
    .size = "steps of each",
    .size_default = 2000,
    .size_min = 1,
    .size_max = 8000000,
    .threads_max = 64,
    .modes = modes,
};

int main(int argc, char **argv)
{
    struct wl_args args = wl_args(&program, argc, argv);
    struct shared *s = wl_alloc(sizeof(*s));
    uint64_t sum;
    bool passed;

    s->args = args;
    s->finds = wl_alloc(s->args.size * sizeof(*s->finds));
    s->transfers = wl_alloc(s->args.size * sizeof(*s->transfers));
    s->messages = wl_alloc(s->args.size * sizeof(*s->messages));
    s->digests = wl_alloc(s->args.size * sizeof(*s->digests));
    pthread_mutex_init(&s->lock, NULL);
    pthread_barrier_init(&s->barrier, NULL, s->args.threads);
    plan_transfers(s);
    wl_run(s->args.threads, worker, s);
    sum = wl_sum(wl_sum(counter_sum(s), bank_sum(s)), publish_sum(s));
    passed = !args.check || verify(s);
    free(s->digests);
    free(s->messages);
    free(s->transfers);
    free(s->finds);
    free(s);
    return wl_finish(&program, &args, sum, passed);
}
