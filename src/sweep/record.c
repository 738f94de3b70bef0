/* SPDX-License-Identifier: MIT */
#include "sweep/record.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/workers.h"

extern char **environ;

enum {
    WORDS_MAX = 1024,
    POLL_MS = 32,    /* at most, between two looks at a program that runs */
    TELL_AGAIN = 32, /* looks until one that is to end is told once more */
};

static int no_memory(struct vs_diag *diag)
{
    return vs_diag_set(diag, -VSE_NOMEM, -1, -1, "out of memory");
}

/* ---- words ----------------------------------------------------------------------------------- */

/* Splits a text at blanks as a shell does: '...', "..." and \ keep them. Returns how many words
 * there are; -VSE_INVAL (a quotation does not end, or there are too many words). The words are in
 * `text` itself. */
static int split(char *text, char **words)
{
    int count = 0;
    char *out = text;
    for (;;) {
        text += strspn(text, " \t");
        if (!*text)
            return count;
        if (count == WORDS_MAX)
            return -VSE_INVAL;
        words[count++] = out;
        char quote = 0;
        for (; *text && (quote || !strchr(" \t", *text)); text++) {
            if (quote ? *text == quote : *text == '\'' || *text == '"') {
                quote = quote ? 0 : *text;
                continue;
            }
            if (*text == '\\' && quote != '\'' && text[1])
                text++;
            *out++ = *text;
        }
        if (quote)
            return -VSE_INVAL;
        bool more = *text;
        text += more;
        *out++ = 0;
        if (!more)
            return count;
    }
}

/* ---- one recording --------------------------------------------------------------------------- */

struct recording {
    struct vs_job job;
    struct vs_sweep_run *run;
    const char *vestige;
    const atomic_bool *stop;
    const sigset_t *mask; /* of blocked signals: the program's is not to be a worker's */
    char *path, *own;     /* to be, and until it is whole */
    int error;
    struct vs_diag diag;
};

/* Waits until it is over; once `stop` is set, it is told to end, and told again: a signal that
 * comes while a program becomes another one may be lost. */
static void wait_for(pid_t child, const atomic_bool *stop)
{
    int status, pause = 1;
    unsigned looks = 0;
    for (;;) {
        pid_t over = waitpid(child, &status, WNOHANG);
        if (over == child || (over < 0 && errno != EINTR))
            return;
        if (atomic_load(stop) && looks++ % TELL_AGAIN == 0)
            kill(child, SIGTERM);
        poll(NULL, 0, pause);
        pause = pause < POLL_MS ? 2 * pause : POLL_MS;
    }
}

/* As posix_spawn, with the mask of signals. Returns an errno. */
static int spawn_masked(const struct recording *r, const posix_spawn_file_actions_t *actions,
                        char **argv, pid_t *child)
{
    posix_spawnattr_t attributes;
    int e = posix_spawnattr_init(&attributes);
    if (e)
        return e;
    e = posix_spawnattr_setsigmask(&attributes, r->mask);
    e = e ? e : posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    e = e ? e : posix_spawn(child, r->vestige, actions, &attributes, argv, environ);
    posix_spawnattr_destroy(&attributes);
    return e;
}

static int spawn(const struct recording *r, char **argv, struct vs_diag *diag)
{
    const struct vs_sweep_source *source = r->run->source;
    posix_spawn_file_actions_t actions;
    pid_t child;
    if (posix_spawn_file_actions_init(&actions))
        return no_memory(diag);
    int e = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    e = e ? e : posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    e = e ? e : spawn_masked(r, &actions, argv, &child);
    posix_spawn_file_actions_destroy(&actions);
    if (e)
        return vs_sweep_at(diag, -VSE_IO, source->study, source->line, "cannot run %.80s: %s",
                           r->vestige, strerror(e));
    wait_for(child, r->stop); /* the program's status is its own affair */
    if (atomic_load(r->stop)) {
        unlink(r->own); /* the signal that stops us may have ended the program, too */
        return 0;
    }
    if (rename(r->own, r->path))
        return vs_sweep_at(diag, -VSE_IO, source->study, source->line, "%.80s was not recorded",
                           r->run->name);
    return 0;
}

static void run_recording(void *arg)
{
    struct recording *r = arg;
    const struct vs_sweep_run *run = r->run;
    char *options = strdup(run->options ? run->options : ""), *command = strdup(run->command);
    char **words = calloc(2 * WORDS_MAX + 16, sizeof(*words));
    const char *const first[] = {r->vestige, "record", "-q", "-f", "-o", r->own};
    int n = 0, count = 0;
    r->error = 0;
    if (!options || !command || !words) {
        r->error = no_memory(&r->diag);
    } else if (!atomic_load(r->stop)) {
        for (; n < 6; n++)
            words[n] = (char *)(uintptr_t)first[n];
        if (run->as) {
            words[n++] = (char *)(uintptr_t) "--as";
            words[n++] = (char *)(uintptr_t)run->as;
        }
        if ((count = split(options, words + n)) >= 0) {
            n += count;
            words[n++] = (char *)(uintptr_t) "--";
            count = split(command, words + n);
        }
        r->error = count > 0 ? spawn(r, words, &r->diag)
                             : vs_sweep_at(&r->diag, -VSE_INVAL, run->source->study,
                                           run->source->line, "a quotation does not end");
    }
    free(options);
    free(command);
    free(words);
}

/* ---- all of them ----------------------------------------------------------------------------- */

/* Finds the program as a shell does. Returns 0; -VSE_NOTFOUND; -VSE_INVAL (a quotation does not
 * end). */
static int find_program(const char *command, char path[PATH_MAX])
{
    char *text = strdup(command), **words = calloc(WORDS_MAX, sizeof(*words));
    const char *folders = getenv("PATH");
    int count = text && words ? split(text, words) : 0, e = count > 0 ? 0 : -VSE_NOTFOUND;
    if (count < 0)
        e = count;
    else if (!e && strchr(words[0], '/')) {
        snprintf(path, PATH_MAX, "%s", words[0]);
        e = access(path, R_OK) ? -VSE_NOTFOUND : 0;
    } else if (!e) {
        for (e = -VSE_NOTFOUND; e && folders && *folders;) {
            size_t n = strcspn(folders, ":");
            snprintf(path, PATH_MAX, "%.*s/%s", (int)n, folders, words[0]);
            e = access(path, X_OK) ? -VSE_NOTFOUND : 0;
            folders += n + (folders[n] != 0);
        }
    }
    free(text);
    free(words);
    return e;
}

/* Adds what is run. Where the program lies does not matter if it sees another path. */
static int add_command(struct vs_sha256 *sum, const struct vs_sweep_run *run)
{
    char *text = strdup(run->command), **words = calloc(WORDS_MAX, sizeof(*words));
    int count = text && words ? split(text, words) : -VSE_NOMEM;
    if (!run->as)
        vs_sha256_add_text(sum, run->command);
    for (int i = 1; run->as && i < count; i++)
        vs_sha256_add_text(sum, words[i]);
    free(text);
    free(words);
    return count < 0 ? count : 0;
}

/* Sets the path that follows from what is recorded. */
static int name_recording(const struct vs_sweep *s, struct recording *r, struct vs_diag *diag)
{
    const struct vs_sweep_run *run = r->run;
    char program[PATH_MAX], hash[VS_SHA256_TEXT], name[80];
    struct vs_sha256 sum;
    int e = find_program(run->command, program);
    if (e)
        return vs_sweep_at(diag, e, run->source->study, run->source->line,
                           e == -VSE_INVAL ? "a quotation does not end: %.80s"
                                           : "there is no program for '%.80s'",
                           run->command);
    e = vs_sha256_file(program, hash, diag);
    if (e)
        return e;
    vs_sha256_init(&sum);
    vs_sha256_add_text(&sum, vs_version());
    vs_sha256_add_text(&sum, hash);
    e = add_command(&sum, run);
    if (e)
        return no_memory(diag); /* its words were split before */
    vs_sha256_add_text(&sum, run->options ? run->options : "");
    vs_sha256_add_text(&sum, run->as ? run->as : "");
    vs_sha256_end(&sum, hash);
    snprintf(name, sizeof(name), "runs/%.32s.vest", hash);
    r->path = vs_store_path(&s->store, name);
    if (r->path && asprintf(&r->own, "%s.%ld", r->path, (long)getpid()) < 0)
        r->own = NULL;
    return r->path && r->own ? 0 : no_memory(diag);
}

/* Starts the next ones, as long as they are few. */
static int record_all(struct vs_workers *workers, struct recording *list, size_t count,
                      struct vs_progress *progress, struct vs_diag *diag)
{
    int e = 0;
    for (size_t i = 0; i < count; i++)
        vs_workers_submit(workers, &list[i].job);
    for (size_t i = 0; i < count; i++) {
        vs_workers_wait(workers, &list[i].job);
        if (list[i].error && !e) {
            e = list[i].error;
            *diag = list[i].diag;
        }
        vs_progress_update(progress, i + 1);
    }
    return e;
}

/* Two runs of different names may be one recording. */
static bool is_listed(const struct recording *list, size_t count, const char *path)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(list[i].path, path))
            return true;
    return false;
}

int vs_sweep_record(struct vs_sweep *s, const char *vestige, unsigned jobs, const atomic_bool *stop,
                    struct vs_progress *progress, struct vs_diag *diag)
{
    struct recording *list = calloc(s->runs.count + 1, sizeof(*list));
    char *folder = vs_store_path(&s->store, "runs");
    struct vs_workers *workers = NULL;
    size_t count = 0;
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    int e = list && folder ? 0 : no_memory(diag);
    if (!e && vestige)
        e = vs_store_folder(folder, diag);
    for (size_t i = 0; i < s->runs.count && !e; i++) {
        struct recording *r = &list[count];
        if (!s->runs.items[i].command)
            continue;
        *r = (struct recording){.run = &s->runs.items[i],
                                .vestige = vestige,
                                .stop = stop,
                                .mask = &mask,
                                .job = {.run = run_recording, .arg = r}};
        e = name_recording(s, r, diag);
        bool there = !e && access(r->path, R_OK) == 0;
        if (!e && (there || vestige) &&
            !(r->run->path = vs_arena_dup(&s->runs.arena, r->path, strlen(r->path))))
            e = no_memory(diag);
        if (!e && vestige && !there && !is_listed(list, count, r->path)) {
            count++;
        } else {
            free(r->path);
            free(r->own);
            *r = (struct recording){0};
        }
    }
    if (!e && count)
        e = vs_workers_open(&workers, jobs > 1 ? jobs : 0)
                ? no_memory(diag)
                : record_all(workers, list, count, progress, diag);
    vs_workers_close(workers);
    for (size_t i = 0; list && i < count; i++) {
        free(list[i].path);
        free(list[i].own);
    }
    free(list);
    free(folder);
    return !e && atomic_load(stop) ? -VSE_END : e;
}
