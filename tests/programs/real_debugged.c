/* SPDX-License-Identifier: MIT */
/* What a debugger is to find its way in: libraries, signal handlers, threads, code that nobody
 * compiled, another program, a race, and crashes. The first argument says which. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct node {
    struct node *next;
    int value;
};

static int shared, signals;
static __thread int own = 7;
static long double tenth;

static void handle(int number)
{
    signals += number;
}

static void signalled(void)
{
    struct sigaction action = {.sa_handler = handle};
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
    printf("%d\n", signals);
}

static void *work(void *name)
{
    pthread_setname_np(pthread_self(), name);
    own = 40 + __sync_add_and_fetch(&shared, 1);
    return NULL;
}

/* One after the other, so that every recording is the same. */
static void threads(void)
{
    static char names[2][16] = {"reader", "writer"};
    pthread_t thread;
    for (int i = 0; i < 2; i++) {
        pthread_create(&thread, NULL, work, names[i]);
        pthread_join(thread, NULL);
    }
}

/* lea (%rdi,%rdi),%eax; add $1,%eax; ret */
static int made(int n)
{
    static const unsigned char code[] = {0x8d, 0x04, 0x3f, 0x83, 0xc0, 0x01, 0xc3};
    void *page =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int (*function)(int);
    memcpy(page, code, sizeof(code));
    memcpy(&function, &page, sizeof(function));
    return function(n);
}

static int sum(const struct node *node, int most)
{
    int total = 0;
    while (most-- > 0) {
        total += node->value;
        node = node->next;
    }
    return total;
}

static void crash(void)
{
    struct node *last = calloc(1, sizeof(*last)), *first = calloc(1, sizeof(*first));
    first->next = last;
    first->value = last->value = 1;
    printf("%d\n", sum(first, 3));
}

static void *crash_alone(void *unused)
{
    crash();
    return unused;
}

static void crash_in_thread(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, crash_alone, NULL);
    pthread_join(thread, NULL);
}

static long balance = 100;
static sem_t looked, paid;

/* What another thread pays in between is lost. */
static void pay_in(long amount, int slowly)
{
    long found = balance;
    if (slowly) {
        sem_post(&looked);
        sem_wait(&paid);
    }
    balance = found + amount;
}

static void *slow_clerk(void *unused)
{
    pay_in(30, 1);
    return unused;
}

static void *quick_clerk(void *unused)
{
    sem_wait(&looked);
    pay_in(20, 0);
    sem_post(&paid);
    return unused;
}

static void race(void)
{
    pthread_t slow, quick;
    sem_init(&looked, 0, 0);
    sem_init(&paid, 0, 0);
    pthread_create(&slow, NULL, slow_clerk, NULL);
    pthread_create(&quick, NULL, quick_clerk, NULL);
    pthread_join(slow, NULL);
    pthread_join(quick, NULL);
    printf("%ld\n", balance);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    char *next[] = {argv[0], argv[1], NULL};
    tenth = argc / 10.0L;
    if (!strcmp(what, "exec") && getenv("AGAIN"))
        return puts("again") < 0;
    if (!strcmp(what, "exec")) {
        char *variables[] = {"AGAIN=1", NULL};
        execve("./other", next, variables);
    }
    if (!strcmp(what, "signal"))
        signalled();
    if (!strcmp(what, "threads"))
        threads();
    if (!strcmp(what, "made"))
        printf("%d\n", made(20));
    if (!strcmp(what, "crash"))
        crash();
    if (!strcmp(what, "crash-in-thread"))
        crash_in_thread();
    if (!strcmp(what, "race"))
        race();
    if (!strcmp(what, "library")) {
        void *library = dlopen("./library.so", RTLD_NOW);
        int (*function)(int) = library ? (int (*)(int))dlsym(library, "twist") : NULL;
        errno = 33;
        printf("%d\n", function ? function(2) : -1);
        puts("done");
    }
    return 0;
}
