/* SPDX-License-Identifier: MIT */
/* Says which signals come, and ends only by SIGUSR2, or with its input: "listens [raw]". */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

static const int numbers[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGTSTP, SIGCONT};
static const char *const names[] = {"INT", "QUIT", "TERM", "HUP", "USR1", "TSTP", "CONT"};

enum { COUNT = sizeof(numbers) / sizeof(*numbers) };

static volatile sig_atomic_t came[COUNT], enough;

static void note(int number)
{
    for (int i = 0; i < COUNT; i++)
        if (numbers[i] == number)
            came[i]++;
    if (number == SIGUSR2)
        enough = 1;
}

/* Without echo and line editing, as editors do. */
static void make_raw(void)
{
    struct termios t;

    tcgetattr(0, &t);
    t.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    tcsetattr(0, TCSANOW, &t);
}

int main(int argc, char **argv)
{
    struct sigaction action = {.sa_handler = note};
    struct pollfd input = {.fd = 0, .events = POLLIN};
    char typed;
    int told[COUNT] = {0};
    sigset_t all, none;

    sigfillset(&all);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &all, NULL);
    for (int i = 0; i < COUNT; i++)
        sigaction(numbers[i], &action, NULL);
    sigaction(SIGUSR2, &action, NULL);
    if (argc > 1 && !strcmp(argv[1], "raw"))
        make_raw();
#ifndef __riscv
    alarm(300); /* if it was forgotten; simulated time would not wait */
#endif
    puts("ready");
    fflush(stdout);
    while (!enough) {
        if (ppoll(&input, 1, NULL, &none) > 0) {
            if (read(0, &typed, 1) <= 0 || typed == 4)
                return 8;
            printf("typed %c\n", typed);
        }
        for (int i = 0; i < COUNT; i++)
            if (told[i] != came[i])
                printf("%s %d\n", names[i], told[i] = (int)came[i]);
        fflush(stdout);
    }
    puts("enough");
    return 7;
}
