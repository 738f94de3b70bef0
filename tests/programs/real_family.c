/* SPDX-License-Identifier: MIT */
/* Processes that make others, in all the ways there are. The first argument says which. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static char *self;

static void say(const char *text)
{
    if (write(1, text, strlen(text)) < 0)
        _exit(9);
}

/* In one piece, whoever else prints. */
static void say_number(const char *what, int number)
{
    char text[64];

    snprintf(text, sizeof(text), "%s %d\n", what, number);
    say(text);
}

/* Waits for a child, and prints how it ended. */
static void await(pid_t child)
{
    int status = 0;

    if (waitpid(child, &status, 0) != child)
        printf("lost\n");
    else if (WIFSIGNALED(status))
        printf("signal %d\n", WTERMSIG(status));
    else
        printf("exit %d\n", WEXITSTATUS(status));
    fflush(stdout);
}

static int work(int n)
{
    volatile int sum = 0;

    for (int i = 0; i < n; i++)
        sum += i % 7;
    return sum;
}

/* ---- ways to make a child -------------------------------------------------------------------- */

static void by_fork(void)
{
    pid_t child = fork();

    if (child == 0) {
        say("child\n");
        _exit(work(500) & 63);
    }
    await(child);
}

static void by_clone(void)
{
    pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

    if (child == 0) {
        say("child\n");
        _exit(3);
    }
    await(child);
}

static void by_vfork(void)
{
    char *const argv[] = {self, "said", "vfork", NULL};
    pid_t child = vfork();

    if (child == 0) {
        execv(self, argv);
        _exit(9);
    }
    await(child);
}

static void by_spawn(void)
{
    char *const argv[] = {self, "said", "posix_spawn", NULL};
    pid_t child;

    if (posix_spawn(&child, self, NULL, NULL, argv, environ) != 0)
        exit(9);
    await(child);
}

/* The child's exec fails, and it goes on. */
static void by_failing(void)
{
    pid_t child = fork();

    if (child == 0) {
        char *const argv[] = {"none", NULL};

        execv("/nowhere/none", argv);
        say(strerror(errno));
        say("\n");
        _exit(4);
    }
    await(child);
}

/* ---- ends ------------------------------------------------------------------------------------ */

/* The child prints when its parent is gone. */
static void outlive(void)
{
    pid_t parent = getpid();

    if (fork() == 0) {
        while (getppid() == parent)
            usleep(1000);
        say("outlived\n");
        _exit(5);
    }
}

/* The child is stopped in its tracks once it runs. */
static void kill_child(void)
{
    int ready[2];
    char c;
    pid_t child;

    if (pipe(ready) < 0)
        exit(9);
    child = fork();
    if (child == 0) {
        work(1000);
        if (write(ready[1], "x", 1) != 1)
            _exit(9);
        for (;;)
            pause();
    }
    if (read(ready[0], &c, 1) != 1)
        exit(9);
    kill(child, SIGKILL);
    await(child);
}

/* Two that stay until they are killed, and say so. */
static void stay(void)
{
    signal(SIGTERM, SIG_IGN);
    signal(SIGINT, SIG_IGN);
    fork();
    say_number("stays", getpid());
    for (;;)
        pause();
}

/* Two that a signal ends. */
static void interrupt(void)
{
    fork();
    say("waits\n");
    for (;;)
        pause();
}

/* The child goes on until it is told to end. */
static void leave(void)
{
    if (fork() == 0) {
        say_number("stays", getpid());
        for (;;)
            pause();
    }
    say_number("leaves", getpid());
}

static void abort_child(void)
{
    pid_t child = fork();

    if (child == 0)
        abort();
    await(child);
}

/* Waits with waitid, and without asking how it ended. */
static void wait_otherwise(void)
{
    siginfo_t info = {0};
    pid_t child = fork();

    if (child == 0)
        _exit(6);
    if (waitid(P_PID, (id_t)child, &info, WEXITED) < 0)
        exit(9);
    printf("exit %d\n", info.si_status);
    fflush(stdout);
    if (fork() == 0)
        _exit(7);
    wait(NULL);
}

/* ---- where a fork can happen ----------------------------------------------------------------- */

static volatile pid_t forked = -1;

static void fork_in_handler(int number)
{
    (void)number;
    forked = fork();
}

/* Both return from the handler. */
static void in_handler(void)
{
    signal(SIGUSR1, fork_in_handler);
    raise(SIGUSR1);
    if (forked == 0) {
        say("returned\n");
        _exit(work(300) & 63);
    }
    await(forked);
}

static pthread_barrier_t barrier;

static void *idle(void *arg)
{
    pthread_barrier_wait(&barrier);
    for (;;)
        pause();
    return arg;
}

static void *forks(void *arg)
{
    pthread_barrier_wait(&barrier);
    by_fork();
    return arg;
}

/* The child has only the thread that made it. */
static void in_thread(void)
{
    pthread_t a, b;

    pthread_barrier_init(&barrier, NULL, 2);
    if (pthread_create(&a, NULL, idle, NULL) || pthread_create(&b, NULL, forks, NULL))
        exit(9);
    pthread_join(b, NULL);
}

/* Memory that may not be accessed at the fork holds what it held; so does a file that was mapped
 * and written to, and may only be read since. */
static void with_memory(void)
{
    size_t size = 1 << 20;
    unsigned char *hidden =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    unsigned char *reserved =
        mmap(NULL, (size_t)1 << 32, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    int fd = open(self, O_RDONLY);
    unsigned char *file, *given;
    unsigned sum = 0;
    pid_t child;

    if (hidden == MAP_FAILED || reserved == MAP_FAILED || fd < 0)
        exit(9);
    file = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    given = malloc(300000);
    if (file == MAP_FAILED || !given)
        exit(9);
    for (size_t i = 0; i < size; i += 999)
        hidden[i] = (unsigned char)(i / 999);
    memset(file + 100, 7, 5000);
    memset(given, 3, 300000);
    mprotect(hidden, size, PROT_NONE);
    mprotect(file, 8192, PROT_READ);
    child = fork();
    if (child == 0) {
        mprotect(hidden, size, PROT_READ);
        for (size_t i = 0; i < size; i++)
            sum += hidden[i];
        for (size_t i = 0; i < 8192; i++)
            sum += file[i];
        for (size_t i = 0; i < 300000; i++)
            sum += given[i];
        printf("sum %u\n", sum);
        fflush(stdout);
        _exit(0);
    }
    await(child);
}

/* Each is the child of the one before. */
static void generations(int n)
{
    pid_t child = n ? fork() : -1;

    if (child == 0) {
        generations(n - 1);
        _exit(n);
    }
    if (n)
        await(child);
}

static void many(int n)
{
    pid_t children[64];

    for (int i = 0; i < n; i++)
        if ((children[i] = fork()) == 0)
            _exit(work(100 * i) & 63);
    for (int i = 0; i < n; i++)
        await(children[i]);
}

/* ---- a server with several processes --------------------------------------------------------- */

static void serve(int listener)
{
    for (;;) {
        int n = 0, s = accept(listener, NULL, NULL);

        if (s < 0)
            _exit(9);
        if (read(s, &n, sizeof(n)) == sizeof(n)) {
            n *= n;
            if (write(s, &n, sizeof(n)) < 0)
                _exit(9);
        }
        close(s);
    }
}

static int ask(const struct sockaddr_in *a, int n)
{
    int s = socket(AF_INET, SOCK_STREAM, 0);

    if (s < 0 || connect(s, (const struct sockaddr *)a, sizeof(*a)) < 0 ||
        write(s, &n, sizeof(n)) != sizeof(n) || read(s, &n, sizeof(n)) != sizeof(n))
        _exit(9);
    close(s);
    return n;
}

static void server(void)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(a);
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    pid_t workers[3], client;

    if (listener < 0 || bind(listener, (struct sockaddr *)&a, sizeof(a)) < 0 ||
        getsockname(listener, (struct sockaddr *)&a, &size) < 0 || listen(listener, 8) < 0)
        exit(9);
    for (int i = 0; i < 3; i++)
        if ((workers[i] = fork()) == 0)
            serve(listener);
    if ((client = fork()) == 0) {
        for (int i = 1; i <= 9; i++)
            printf("%d ", ask(&a, i));
        printf("\n");
        fflush(stdout);
        _exit(0);
    }
    await(client);
    for (int i = 0; i < 3; i++) {
        kill(workers[i], SIGTERM);
        await(workers[i]);
    }
}

/* ---- choosing -------------------------------------------------------------------------------- */

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } ways[] = {
        {"fork", by_fork},        {"clone", by_clone},     {"vfork", by_vfork},
        {"spawn", by_spawn},      {"failing", by_failing}, {"outlive", outlive},
        {"kill", kill_child},     {"abort", abort_child},  {"otherwise", wait_otherwise},
        {"handler", in_handler},  {"thread", in_thread},   {"memory", with_memory},
        {"server", server},       {"stay", stay},          {"leave", leave},
        {"interrupt", interrupt},
    };
    const char *way = argc > 1 ? argv[1] : "fork";

    self = argv[0];
    for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
        if (!strcmp(way, ways[i].name))
            ways[i].run();
    if (!strcmp(way, "said") && argc > 2) {
        printf("%s\n", argv[2]);
        return 2;
    }
    if (!strcmp(way, "generations"))
        generations(4);
    if (!strcmp(way, "many"))
        many(24);
    return 0;
}
