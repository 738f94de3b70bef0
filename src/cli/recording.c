/* SPDX-License-Identifier: MIT */
#include "cli/recording.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

static const int caught[] = {SIGINT, SIGTERM, SIGHUP};

enum { CAUGHT = sizeof(caught) / sizeof(caught[0]) };

/* Signal handlers reach nothing else. */
static struct vs_interrupt interrupt;
static struct sigaction before[CAUGHT], before_limit;

static void handle(int signal, siginfo_t *info, void *context)
{
    (void)context;
    /* A terminal's keys reach the program as well; what a process sends does not. */
    interrupt.everywhere = info->si_code > 0;
    interrupt.signal = signal;
}

/* The write that exceeded the limit then fails. Not ignored: that would be inherited. */
static void let_fail(int signal)
{
    (void)signal;
}

const struct vs_interrupt *recording_catch_signals(void)
{
    struct sigaction limit = {.sa_handler = let_fail, .sa_flags = SA_RESTART};
    struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO};

    interrupt.signal = 0;
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < CAUGHT; i++) {
        sigaction(caught[i], NULL, &before[i]);
        if (before[i].sa_handler != SIG_IGN)
            sigaction(caught[i], &action, NULL);
    }
    sigaction(SIGXFSZ, &limit, &before_limit);
    return &interrupt;
}

void recording_release_signals(void)
{
    for (int i = 0; i < CAUGHT; i++)
        sigaction(caught[i], &before[i], NULL);
    sigaction(SIGXFSZ, &before_limit, NULL);
}

int recording_status(int status)
{
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Valgrind's words, without the process number that its lines begin with. */
static void pass_on(const char *said)
{
    enum { LINES_MAX = 6 };
    int lines = 0;

    while (*said) {
        size_t n = strcspn(said, "\n"), mark = strspn(said, "=-0123456789");

        if (mark < n && said[mark] == ' ')
            mark++;
        if (mark < n && lines++ < LINES_MAX)
            fprintf(stderr, "vestige: Valgrind: %.*s\n", (int)(n - mark), said + mark);
        said += n + (said[n] == '\n');
    }
    if (lines > LINES_MAX)
        fprintf(stderr, "vestige: Valgrind: ...\n");
}

void recording_notes(const struct vs_valgrind_result *result)
{
    unsigned forks = result->stats.forks;

    if (forks)
        fprintf(stderr, "vestige: %u child process%s not recorded\n", forks,
                forks == 1 ? " was" : "es were");
    pass_on(result->said);
    if (result->interrupted || !result->stats.ended)
        fprintf(stderr, "vestige: %s; what was captured is in the file\n",
                result->interrupted ? "interrupted" : "the program was killed");
}

int recording_refused(struct cli *cli, const char *program, int error, const struct vs_diag *diag)
{
    cli_error(cli, "%s: %s", program, diag->error ? diag->text : vs_errstr(error));
    return CLI_USAGE;
}
