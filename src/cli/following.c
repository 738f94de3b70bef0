/* SPDX-License-Identifier: MIT */
#include "cli/following.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/diag.h"

/* At most so many children that were not recorded to their ends are named. */
#define TOLD_MAX 8

/* A child whose run is being made. */
struct child {
    struct following *following;
    struct recorded run;
    char path[PATH_MAX];
    uint64_t instructions, bytes; /* as told last */
};

static void lock(struct following *f)
{
    pthread_mutex_lock(&f->lock);
}

static void unlock(struct following *f)
{
    pthread_mutex_unlock(&f->lock);
}

/* ---- the folder ------------------------------------------------------------------------------ */

static int claim_folder(struct following *f)
{
    struct vs_diag diag = {.offset = -1, .chunk = -1};
    struct stat st;
    int e;

    if (mkdir(f->folder, 0777) == 0) {
        f->made = true;
        return CLI_DONE;
    }
    if (errno == EEXIST && stat(f->folder, &st) == 0 && !S_ISDIR(st.st_mode)) {
        cli_error(f->cli,
                  "%s: is no folder; with --follow there are several runs, and -o names "
                  "the folder for them",
                  f->folder);
        return CLI_USAGE;
    }
    if (errno != EEXIST) {
        cli_error(f->cli, "%s: %s", f->folder, strerror(errno));
        return CLI_USAGE;
    }
    e = f->plan->o->overwrite ? manifest_clear(f->folder, &diag) : manifest_there(f->folder, &diag);
    if (e < 0)
        return cli_report(f->cli, f->folder, e, &diag);
    if (e > 0)
        cli_error(f->cli, "%s: has runs already; -f replaces them", f->folder);
    return e > 0 ? CLI_USAGE : CLI_DONE;
}

/* Returns false if the path is too long. */
static bool run_path(const struct following *f, unsigned number, char path[PATH_MAX])
{
    char name[MANIFEST_RUN_NAME];

    snprintf(name, sizeof(name), MANIFEST_RUN, number);
    return snprintf(path, PATH_MAX, "%s/%s", f->folder, name) < PATH_MAX - (int)sizeof(".partial");
}

/* ---- the list -------------------------------------------------------------------------------- */

/* Returns a text to free; NULL if there is no memory. */
static char *short_command(const char *words, size_t size)
{
    char *command = recorded_bytes(words, size);
    size_t n = MANIFEST_COMMAND_MAX - 3;

    if (!command || strlen(command) <= MANIFEST_COMMAND_MAX)
        return command;
    /* Not within a character of UTF-8. */
    while (n && ((unsigned char)command[n] & 0xc0) == 0x80)
        n--;
    strcpy(command + n, "...");
    return command;
}

static char *copy(const char *text)
{
    return text ? strdup(text) : NULL;
}

static void note_status(struct manifest_process *one, int status)
{
    one->exit = (uint64_t)recording_status(status);
    one->exit_known = true;
}

/* A run is over: notes what it came to. What cannot be noted for lack of memory is left out. */
static void note_run(struct following *f, unsigned number, const struct recorded *run,
                     const struct vs_engine_result *result, enum run_left left, uint64_t bytes)
{
    char file[MANIFEST_RUN_NAME], *command = short_command(result->command, result->command_size);
    struct manifest_process *one;

    if (left == RUN_SAVED)
        snprintf(file, sizeof(file), MANIFEST_RUN_SAVED, number);
    else
        snprintf(file, sizeof(file), MANIFEST_RUN, number);
    lock(f);
    one = &f->list.list[number - 1];
    one->file = copy(left != RUN_NONE ? file : NULL);
    one->command = command;
    one->incomplete = copy(run->incomplete);
    one->ended = one->started + result->seconds;
    one->instructions = result->instructions;
    one->events = result->events;
    one->bytes = bytes;
    f->forks += result->forks;
    f->events += result->events;
    unlock(f);
}

/* ---- children -------------------------------------------------------------------------------- */

void following_tick(struct following *f, uint64_t instructions, uint64_t bytes)
{
    lock(f);
    f->instructions += instructions;
    f->bytes += bytes;
    snprintf(f->written, sizeof(f->written), "%.1f MB", 1e-6 * (double)f->bytes);
    if (f->progress)
        vs_progress_update(f->progress, f->instructions);
    unlock(f);
}

static int tick(void *context, uint64_t instructions)
{
    struct child *c = context;
    uint64_t bytes = c->run.bytes;

    following_tick(c->following, instructions - c->instructions, bytes - c->bytes);
    c->instructions = instructions;
    c->bytes = bytes;
    return recorded_full(&c->run);
}

static int put_number(struct vs_writer *w, const char *key, int number)
{
    char text[24];

    snprintf(text, sizeof(text), "%d", number);
    return vs_writer_meta(w, key, text);
}

static int put_facts(struct recorded *run, const struct vs_followed *process)
{
    int e = recorded_facts(run, NULL);

    if (e == 0)
        e = put_number(run->writer, "process", (int)process->number);
    if (e == 0)
        e = put_number(run->writer, "parent", (int)process->parent);
    return e < 0 ? e : put_number(run->writer, "pid", process->id);
}

/* Notes the process. Returns 0; -VSE_NOMEM. */
static int note_process(struct following *f, const struct vs_followed *process)
{
    struct manifest_process *one;
    int e;

    lock(f);
    e = manifest_grow(&f->list, process->number);
    if (e == 0) {
        one = &f->list.list[process->number - 1];
        one->parent = process->parent;
        one->pid = (uint64_t)process->id;
        one->parent_pid = (uint64_t)process->parent_id;
        one->started = process->started;
    }
    unlock(f);
    return e;
}

static int open_run(struct child *c, const struct vs_followed *process, struct vs_diag *diag)
{
    int e;

    if (!run_path(c->following, process->number, c->path))
        return vs_diag_set(diag, -VSE_IO, -1, -1, "the folder's name is too long");
    e = recorded_open(&c->run, c->following->plan, c->path, diag);
    if (e == 0 && (e = put_facts(&c->run, process)) < 0) {
        *diag = *vs_writer_diag(c->run.writer);
        vs_writer_abort(c->run.writer);
    }
    return e;
}

static void fail(struct following *f, int status)
{
    f->status = cli_worse(f->status, status);
}

static int begin(void *context, const struct vs_followed *process,
                 struct vs_engine_request *request, struct vs_diag *diag)
{
    struct following *f = context;
    struct child *c = NULL;
    int e = note_process(f, process);

    /* Of the program itself, it is said elsewhere. */
    if (process->number == 1)
        return e < 0 ? vs_diag_set(diag, e, -1, -1, "out of memory") : 0;
    if (e == 0 && !(c = calloc(1, sizeof(*c))))
        e = -VSE_NOMEM;
    if (e == 0) {
        c->following = f;
        e = open_run(c, process, diag);
    }
    if (e < 0) {
        lock(f);
        fail(f, cli_report(f->cli, c && *c->path ? c->path : f->folder, e, c ? diag : NULL));
        unlock(f);
        free(c);
        return e;
    }
    request->consumer = &c->run.consumer;
    request->tick = tick;
    request->context = c;
    return 0;
}

/* The child could not be recorded any further: says so, and what is left. */
static void report(struct child *c, unsigned number, int error, const struct vs_diag *diag,
                   bool theirs, uint64_t events)
{
    struct following *f = c->following;
    char more[PATH_MAX + 128];

    recorded_saved(c->path, events, more, sizeof(more));
    lock(f);
    if (theirs) {
        fail(f, cli_report_more(f->cli, c->path, error, diag, more));
    } else {
        cli_error(f->cli, "process %u: %s%s", number, diag->error ? diag->text : vs_errstr(error),
                  more);
        fail(f, CLI_USAGE);
    }
    unlock(f);
}

static int put_command(struct recorded *run, const struct vs_engine_result *result)
{
    char *command = recorded_bytes(result->command, result->command_size);
    int e = command ? recorded_command(run, command) : -VSE_NOMEM;

    free(command);
    return e;
}

static int end(void *context, const struct vs_followed *process,
               const struct vs_engine_request *request, const struct vs_engine_result *result,
               int error, const struct vs_diag *given, bool theirs)
{
    struct following *f = context;
    struct child *c = request->context;
    struct vs_diag diag = *given;
    uint64_t events = 0, bytes = 0;
    int e = error;

    tick(c, result->instructions);
    if (e == 0 && result->programs && (e = put_command(&c->run, result)) < 0)
        theirs = true;
    if (e < 0) {
        if (theirs)
            diag = *vs_writer_diag(c->run.writer);
        events = vs_writer_keep(c->run.writer);
    } else if (!result->programs) {
        c->run.incomplete = "killed before it began";
        vs_writer_abort(c->run.writer);
    } else {
        recorded_ending(&c->run, result);
        e = recorded_seal(&c->run, &bytes, &events, &diag);
        theirs = true;
    }
    if (e < 0)
        report(c, process->number, e, &diag, theirs, events);
    note_run(f, process->number, &c->run, result,
             e < 0 && events              ? RUN_SAVED
             : e < 0 || !result->programs ? RUN_NONE
                                          : RUN_SEALED,
             bytes);
    if (e == 0 && *result->gave_up) {
        lock(f);
        cli_error(f->cli, "process %u: %s; what ran until then is in %s", process->number,
                  result->gave_up, c->path);
        f->status = CLI_USAGE;
        unlock(f);
    }
    free(c);
    return e;
}

static void reaped(void *context, unsigned number, int status)
{
    struct following *f = context;

    lock(f);
    /* It may not have come to its beginning yet. */
    if (manifest_grow(&f->list, number) == 0)
        note_status(&f->list.list[number - 1], status);
    unlock(f);
}

/* ---- the recording --------------------------------------------------------------------------- */

int following_open(struct following *f, struct cli *cli, const struct record_plan *plan,
                   const char *folder)
{
    *f = (struct following){.cli = cli, .plan = plan, .folder = folder};
    f->follower = (struct vs_follower){.context = f, .begin = begin, .end = end, .reaped = reaped};
    pthread_mutex_init(&f->lock, NULL);
    if (!run_path(f, VS_PROCESSES_MAX, f->path) || !run_path(f, 1, f->path)) {
        cli_error(cli, "%s: the name is too long", folder);
        return CLI_USAGE;
    }
    return claim_folder(f);
}

static bool has_run(const struct following *f)
{
    for (size_t i = 0; i < f->list.count; i++)
        if (f->list.list[i].file)
            return true;
    return false;
}

int following_finish(struct following *f, const struct recorded *run,
                     const struct vs_engine_result *result, enum run_left left, uint64_t bytes)
{
    struct vs_diag diag = {.offset = -1, .chunk = -1};
    int e;

    if (!f->list.count)
        return f->status;
    note_run(f, 1, run, result, left, bytes);
    if (!*result->gave_up)
        note_status(&f->list.list[0], result->status);
    if (!has_run(f))
        return f->status;
    e = manifest_write(&f->list, f->folder, &diag);
    if (e < 0)
        return cli_report(f->cli, f->folder, e, &diag);
    if (*result->unfollowed) {
        cli_error(f->cli, "%s: %s child process%s not recorded: %s", f->folder, DIGITS(f->forks),
                  f->forks == 1 ? " was" : "es were", result->unfollowed);
        return CLI_USAGE;
    }
    return f->status;
}

bool following_child(const struct following *f, size_t i, struct manifest_process *child)
{
    if (i + 1 >= f->list.count)
        return false;
    *child = f->list.list[i + 1];
    return true;
}

static void tell_incomplete(const struct following *f)
{
    size_t told = 0;

    for (size_t i = 1; i < f->list.count; i++) {
        const struct manifest_process *one = &f->list.list[i];

        if (one->incomplete && told++ < TOLD_MAX)
            recording_tell("process %zu: %s%s", i + 1, one->incomplete,
                           one->file ? "; what was captured is in the file" : "");
    }
    if (told > TOLD_MAX)
        recording_tell("... and so are %s more processes", DIGITS(told - TOLD_MAX));
}

void following_tell(const struct following *f, double seconds)
{
    uint64_t bytes = 0, instructions = 0;
    char a[32], b[32];

    for (size_t i = 0; i < f->list.count; i++) {
        bytes += f->list.list[i].bytes;
        instructions += f->list.list[i].instructions;
    }
    recording_tell("%s process%s, %s instructions, %s events in %.1f s", DIGITS(f->list.count),
                   f->list.count == 1 ? "" : "es", group_digits(a, instructions),
                   group_digits(b, f->events), seconds);
    tell_incomplete(f);
    recording_tell("%s: %.1f MB", f->folder, 1e-6 * (double)bytes);
}

void following_abort(struct following *f)
{
    if (f->list.count)
        manifest_clear(f->folder, NULL);
}

void following_fini(struct following *f)
{
    if (f->made)
        rmdir(f->folder); /* unless there is something in it */
    manifest_fini(&f->list);
    pthread_mutex_destroy(&f->lock);
}
