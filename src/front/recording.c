/* SPDX-License-Identifier: MIT */
#include "front/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/diag.h"

/* The signals that are passed on to the program. The first ones ask for an end; the last ones stop
 * it and us, and are caught only if it is another process. */
static const int caught[] = {SIGINT,  SIGQUIT, SIGTERM, SIGHUP, SIGUSR1,
                             SIGUSR2, SIGTSTP, SIGTTIN, SIGTTOU};

enum { CAUGHT = sizeof(caught) / sizeof(caught[0]), ENDING = 4, STOPPING = 3 };

#define SECOND INT64_C(1000000000)

/* It is static because signal handlers reach nothing else. */
static struct vs_interrupt interrupt;
static _Atomic int64_t asked[CAUGHT][2]; /* when each came last, and the time before */
static struct sigaction before[CAUGHT];

/* Whether this is the third of its kind within a second; false for those that do not ask for an
 * end. */
static bool insists(int which)
{
    struct timespec t;
    int64_t now, first;

    if (which >= ENDING)
        return false;
    clock_gettime(CLOCK_MONOTONIC, &t);
    now = t.tv_sec * SECOND + t.tv_nsec;
    first = atomic_exchange(&asked[which][1], atomic_exchange(&asked[which][0], now));
    return first && now - first < SECOND;
}

static void handle(int signal, siginfo_t *info, void *context)
{
    bool sent = info->si_code <= 0; /* a process sent it */
    int error = errno, which = 0;

    (void)context;
    while (caught[which] != signal)
        which++;
    if (sent && interrupt.program && info->si_pid == interrupt.program) {
        /* The program sent it to its process group, and so has it itself. */
        if (which >= CAUGHT - STOPPING)
            interrupt.shared |= 1u << signal;
        return;
    }
    if (insists(which))
        interrupt.insists = true;
    /* A terminal's keys reach the program as well. A signal that a process sends does not, nor does
     * the hangup that a terminal sends to its session's leader. */
    if (sent || (signal == SIGHUP && getsid(0) == getpid()))
        interrupt.alone |= 1u << signal;
    else
        interrupt.shared |= 1u << signal;
    errno = error;
}

struct vs_interrupt *recording_catch_signals(bool apart)
{
    struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO};

    interrupt.alone = interrupt.shared = 0;
    interrupt.insists = false;
    interrupt.program = 0;
    interrupt.wish = VS_WISH_NONE;
    memset((void *)asked, 0, sizeof(asked));
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < CAUGHT; i++) {
        sigaction(caught[i], NULL, &before[i]);
        if (before[i].sa_handler != SIG_IGN && (apart || i < CAUGHT - STOPPING))
            sigaction(caught[i], &action, NULL);
    }
    return &interrupt;
}

static void note_wish(int signal)
{
    interrupt.wish = signal == VS_SIGNAL_RESUME ? VS_WISH_RESUME : VS_WISH_PAUSE;
}

void recording_catch_wishes(void)
{
    struct sigaction action = {.sa_handler = note_wish};

    sigemptyset(&action.sa_mask);
    sigaction(VS_SIGNAL_RESUME, &action, NULL);
    sigaction(VS_SIGNAL_PAUSE, &action, NULL);
}

void recording_release_signals(void)
{
    for (int i = 0; i < CAUGHT; i++)
        sigaction(caught[i], &before[i], NULL);
}

bool recording_shows_check(struct cli *cli, const struct recording_shows *s)
{
    if (s->quiet && s->progress)
        cli_error(cli, "--quiet and --progress exclude each other");
    return !s->quiet || !s->progress;
}

void recording_progress(struct vs_progress *p, const struct recording_shows *s, const char *what)
{
    bool disturbs = isatty(STDIN_FILENO) || isatty(STDOUT_FILENO);

    vs_progress_init(p, s->quiet || disturbs ? NULL : stderr, what, 0, "instructions");
    if (s->progress)
        vs_progress_force(p, stderr);
}

/* ---- the summary as JSON --------------------------------------------------------------------- */

static void claim_output(struct cli *cli)
{
    int ours = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1), nowhere;

    if (ours < 0)
        return; /* it is closed, and will still be when we print */
    cli->out.fd = ours;
    if (dup2(STDERR_FILENO, STDOUT_FILENO) >= 0)
        return;
    nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere >= 0)
        dup2(nowhere, STDOUT_FILENO);
}

bool recording_stats_open(struct cli *cli, struct recording_stats *s)
{
    struct vs_diag diag = {.offset = -1, .chunk = -1};
    struct stat st;
    int e = 0;

    s->fd = s->file.fd = -1;
    if (s->path && lstat(s->path, &st) == 0 && !S_ISREG(st.st_mode)) {
        s->fd = vs_outfile_lift(open(s->path, O_WRONLY | O_APPEND | O_CLOEXEC));
        if (s->fd < 0)
            cli_error(cli, "%s: %s", s->path, strerror(errno));
    } else if (s->path && (e = vs_outfile_open(&s->file, s->path, s->overwrite, &diag)) < 0) {
        cli_report_output(cli, s->path, e, &diag);
    }
    if (s->path && s->fd < 0 && s->file.fd < 0)
        return false;
    if (s->json)
        claim_output(cli);
    return true;
}

static int print_to_file(struct cli *cli, struct recording_stats *s,
                         const struct report_column *columns, const void *row)
{
    struct vs_diag diag = {.offset = -1, .chunk = -1};
    struct out out;
    int e = 0;

    out_init(&out, s->fd >= 0 ? s->fd : s->file.fd);
    report_json_line(&out, columns, row);
    errno = out_flush(&out);
    if (errno)
        e = vs_diag_io(&diag, "write", s->path);
    else if (s->file.fd >= 0)
        e = vs_outfile_commit(&s->file, &diag);
    return e < 0 ? cli_report(cli, s->path, e, &diag) : CLI_DONE;
}

int recording_stats_print(struct cli *cli, struct recording_stats *s,
                          const struct report_column *columns, const void *row)
{
    int status = s->path ? print_to_file(cli, s, columns, row) : CLI_DONE;

    if (s->json)
        report_json_line(&cli->out, columns, row);
    recording_stats_abort(s);
    return status;
}

void recording_stats_abort(struct recording_stats *s)
{
    vs_outfile_abort(&s->file);
    if (s->fd >= 0)
        close(s->fd);
    s->fd = -1;
}

/* ---- what is told ---------------------------------------------------------------------------- */

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

const char *recording_incomplete(const struct vs_engine_result *result)
{
    if (result->interrupted)
        return "interrupted";
    return result->ended ? NULL : "the program was killed";
}

void recording_notes(unsigned forks, const char *said, const char *unread, const char *incomplete)
{
    if (forks)
        recording_tell("%s child process%s not recorded", DIGITS(forks),
                       forks == 1 ? " was" : "es were");
    pass_on(said);
    if (*unread)
        recording_tell("an image is recorded without its name and symbols: %s", unread);
    if (incomplete)
        recording_tell("%s; what was captured is in the file", incomplete);
}

int recording_refused(struct cli *cli, const char *program, int error, const struct vs_diag *diag,
                      const char *more)
{
    cli_error(cli, "%s: %s%s", program, diag->error ? diag->text : vs_errstr(error), more);
    return CLI_USAGE;
}
