/* SPDX-License-Identifier: MIT */
#include "cli/recording.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

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

time_t recording_time(void)
{
    const char *text = getenv("SOURCE_DATE_EPOCH");
    char *end;
    long long given = text ? strtoll(text, &end, 10) : 0;

    return text && *text && !*end && given >= 0 ? (time_t)given : time(NULL);
}

int recording_status(int status)
{
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void recording_tell(const char *format, ...)
{
    struct out err;
    va_list args;
    char *text;
    int n;

    va_start(args, format);
    n = vasprintf(&text, format, args);
    va_end(args);
    if (n < 0)
        return;
    out_init(&err, STDERR_FILENO);
    out_str(&err, "vestige: ");
    out_safe(&err, text);
    out_char(&err, '\n');
    out_flush(&err);
    free(text);
}

void recording_tell_signal(int status)
{
    if (WIFSIGNALED(status))
        recording_tell("the program was ended by signal %d (SIG%s)", WTERMSIG(status),
                       sigabbrev_np(WTERMSIG(status)) ? sigabbrev_np(WTERMSIG(status)) : "?");
}

void recording_tidy(char *said)
{
    char *to = said;

    while (*said) {
        size_t n = strcspn(said, "\n"), mark = strspn(said, "=-0123456789");
        bool ended = said[n] == '\n';

        if (mark < n && said[mark] == ' ')
            mark++;
        if (mark < n) {
            memmove(to, said + mark, n - mark + ended);
            to += n - mark + ended;
        }
        said += n + ended;
    }
    *to = 0;
}

static void pass_on(const char *said)
{
    enum { LINES_MAX = 6 };
    int lines = 0;

    for (size_t n; *said; said += n + (said[n] == '\n')) {
        n = strcspn(said, "\n");
        if (lines++ < LINES_MAX)
            recording_tell("Valgrind: %.*s", (int)n, said);
    }
    if (lines > LINES_MAX)
        recording_tell("Valgrind: ...");
}

const char *recording_incomplete(const struct vs_valgrind_result *result)
{
    if (result->interrupted)
        return "interrupted";
    return result->stats.ended ? NULL : "the program was killed";
}

void recording_notes(unsigned forks, const char *said, const char *unread, const char *incomplete)
{
    if (forks)
        recording_tell("%u child process%s not recorded", forks, forks == 1 ? " was" : "es were");
    pass_on(said);
    if (*unread)
        recording_tell("an image is recorded without its name and symbols: %s", unread);
    if (incomplete)
        recording_tell("%s; what was captured is in the file", incomplete);
}

int recording_refused(struct cli *cli, const char *program, int error, const struct vs_diag *diag)
{
    cli_error(cli, "%s: %s", program, diag->error ? diag->text : vs_errstr(error));
    return CLI_USAGE;
}
