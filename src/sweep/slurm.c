/* SPDX-License-Identifier: MIT */
#include "sweep/slurm.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/infile.h"
#include "base/outfile.h"
#include "sweep/job_file.h"
#include "sweep/rebuild.h"

extern char **environ;

enum {
    ARGUMENTS_MAX = 128,
    OUTPUT_MAX = 1 << 20,
    POLL_MS = 1000,    /* between two looks at the queue */
    SILENCE_MAX = 900, /* looks in a row that the controller may leave unanswered */
    HELD_MAX = 3,      /* looks in a row that find all that is left held */
    FRUITLESS_MAX = 3, /* jobs in a row that may bring nothing */
    PILOT = 4,         /* units that tell what one costs */
    ARRAY_MAX = 1000,  /* if the controller does not tell its own limit */
};

static int no_memory(struct vs_diag *diag)
{
    return vs_diag_set(diag, -VSE_NOMEM, -1, -1, "out of memory");
}

/* ---- programs of Slurm ----------------------------------------------------------------------- */

static void read_all(int fd, struct vs_buf *out)
{
    char buffer[4096];
    ssize_t n;
    while ((n = read(fd, buffer, sizeof(buffer))) > 0 || (n < 0 && errno == EINTR))
        if (n > 0 && out->len < OUTPUT_MAX && vs_buf_put(out, buffer, (size_t)n))
            break;
}

/* Runs a program and gathers what it prints, errors too; the text is ended by a zero. Returns its
 * exit status; -VSE_IO (it cannot be run), -VSE_NOMEM. */
static int run(char *const *argv, struct vs_buf *out, struct vs_diag *diag)
{
    posix_spawn_file_actions_t actions;
    pid_t child;
    int fds[2], status = 0;
    out->len = 0;
    if (pipe2(fds, O_CLOEXEC))
        return vs_diag_io(diag, "cannot make a pipe for", argv[0]);
    int e = posix_spawn_file_actions_init(&actions);
    if (!e) {
        e = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        e = e ? e : posix_spawn_file_actions_adddup2(&actions, fds[1], STDOUT_FILENO);
        e = e ? e : posix_spawn_file_actions_adddup2(&actions, fds[1], STDERR_FILENO);
        e = e ? e : posix_spawnp(&child, argv[0], &actions, NULL, argv, environ);
        posix_spawn_file_actions_destroy(&actions);
    }
    close(fds[1]);
    if (e) {
        close(fds[0]);
        return vs_diag_set(diag, -VSE_IO, -1, -1, "cannot run %s: %s", argv[0], strerror(e));
    }
    read_all(fds[0], out);
    close(fds[0]);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (vs_buf_put(out, "", 1))
        return no_memory(diag);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

static char *argument(const char *text)
{
    return (char *)(uintptr_t)text;
}

/* The most tasks that an array may have. */
static uint64_t array_limit(void)
{
    char *const argv[] = {argument("scontrol"), argument("show"), argument("config"), NULL};
    struct vs_buf out = {0};
    struct vs_diag diag;
    uint64_t limit = ARRAY_MAX;
    if (!run(argv, &out, &diag)) {
        const char *at = strstr((const char *)out.data, "MaxArraySize");
        const char *equals = at ? strchr(at, '=') : NULL;
        uint64_t size = equals ? strtoull(equals + 1, NULL, 10) : 0;
        limit = size > 1 ? size - 1 : limit;
    }
    vs_buf_fini(&out);
    return limit;
}

struct queue {
    uint64_t left, held; /* tasks that are not over; those of them that nobody will start */
    char reason[64];     /* of the last one that is held */
};

/* Counts one of squeue's lines: the state of a task, and why it waits. */
static void count_task(struct queue *q, const char *line)
{
    static const char *const over[] = {"COMPLETED",     "FAILED",    "CANCELLED",
                                       "TIMEOUT",       "NODE_FAIL", "PREEMPTED",
                                       "OUT_OF_MEMORY", "BOOT_FAIL", "DEADLINE"};
    size_t state = strcspn(line, " ");
    for (size_t i = 0; i < sizeof(over) / sizeof(over[0]); i++)
        if (strlen(over[i]) == state && !memcmp(line, over[i], state))
            return;
    q->left++;
    /* JobHeldUser, JobHeldAdmin, JobHoldMaxRequeue, "launch failed requeued held", ... */
    if (strncmp(line, "PENDING ", 8) != 0 ||
        (!strcasestr(line + 8, "held") && !strcasestr(line + 8, "hold")))
        return;
    q->held++;
    snprintf(q->reason, sizeof(q->reason), "%.60s", line + 8);
}

/* What of a job is in the queue. Returns 0; -VSE_NOTFOUND (Slurm does not know the job any more);
 * -VSE_IO (nobody answers). */
static int look(const char *job, struct queue *q)
{
    char *const argv[] = {argument("squeue"), argument("-h"), argument("-r"),    argument("-j"),
                          argument(job),      argument("-o"), argument("%T %r"), NULL};
    struct vs_buf out = {0};
    struct vs_diag diag;
    int status = run(argv, &out, &diag);
    *q = (struct queue){0};
    for (char *rest = NULL, *line = status ? NULL : strtok_r((char *)out.data, "\n", &rest); line;
         line = strtok_r(NULL, "\n", &rest))
        count_task(q, line);
    if (status)
        status = status > 0 && strstr((const char *)out.data, "Invalid job id") ? -VSE_NOTFOUND
                                                                                : -VSE_IO;
    vs_buf_fini(&out);
    return status;
}

static void cancel(const char *job)
{
    char *const argv[] = {argument("scancel"), argument("-Q"), argument(job), NULL};
    struct vs_buf out = {0};
    struct vs_diag diag;
    run(argv, &out, &diag);
    vs_buf_fini(&out);
}

/* ---- files ----------------------------------------------------------------------------------- */

static int write_file(const char *path, const void *bytes, size_t size, struct vs_diag *diag)
{
    struct vs_outfile f = {.fd = -1};
    int e = vs_outfile_open(&f, path, true, diag);
    e = e ? e : vs_outfile_write(&f, bytes, size, diag);
    e = e ? e : vs_outfile_commit(&f, diag);
    vs_outfile_abort(&f);
    return e;
}

/* Reads a file as a string. Returns 0; -VSE_IO; -VSE_NOMEM. */
static int read_file(const char *path, struct vs_buf *text, struct vs_diag *diag)
{
    struct vs_infile *f = malloc(sizeof(*f));
    int64_t n = 1;
    int e = f ? vs_infile_open(f, path, diag) : no_memory(diag);
    if (e) {
        free(f);
        return e;
    }
    while (!e && n > 0) {
        e = vs_buf_reserve(text, VS_INFILE_BUFFER + 1) ? no_memory(diag) : 0;
        if (!e && (n = vs_infile_bytes(f, text->data + text->len, VS_INFILE_BUFFER, diag)) < 0)
            e = (int)n;
        else if (!e)
            text->len += (size_t)n;
    }
    if (!e)
        text->data[text->len] = 0;
    vs_infile_close(f);
    free(f);
    return e;
}

/* ---- jobs ------------------------------------------------------------------------------------ */

struct job {
    struct vs_sweep *sweep;
    const struct vs_slurm *slurm;
    char *folder, *current; /* of jobs; the file that has the number of the one in the queue */
    char id[32];            /* "": none */
};

/* The script of all tasks. Its path and the tasks' file are absolute, as are runs' paths unless the
 * cluster's tasks begin in another folder: sbatch keeps the current one. */
static int write_script(const struct job *j, const char *tasks, const char *script,
                        struct vs_diag *diag)
{
    char vestige[PATH_MAX * 2], file[PATH_MAX * 2];
    struct vs_buf text = {0};
    vs_shell_word(vestige, sizeof(vestige), j->slurm->vestige);
    vs_shell_word(file, sizeof(file), tasks);
    int e = vs_buf_print(&text, "#!/bin/sh\nexec %s sweep --task \"$SLURM_ARRAY_TASK_ID\" %s\n",
                         vestige, file)
                ? no_memory(diag)
                : write_file(script, text.data, text.len, diag);
    vs_buf_fini(&text);
    return e;
}

/* Finds the job's number, which has a line of its own among warnings: "123" or "123;cluster". There
 * is none if `id` is "". */
static void find_job(const char *text, char *id, size_t capacity)
{
    *id = 0;
    while (*text) {
        size_t digits = strspn(text, "0123456789"), line = strcspn(text, "\n");
        if (digits && digits < capacity && (digits == line || text[digits] == ';')) {
            memcpy(id, text, digits);
            id[digits] = 0;
            return;
        }
        text += line + (text[line] != 0);
    }
}

static int submit_script(struct job *j, const char *script, const char *log, uint64_t tasks,
                         struct vs_diag *diag)
{
    char array[64];
    char *argv[ARGUMENTS_MAX] = {argument("sbatch"), argument("--parsable"), argument("--requeue"),
                                 argument("--job-name=vestige-sweep")};
    size_t n = 4;
    struct vs_buf out = {0};
    snprintf(array, sizeof(array), "--array=0-%llu", (unsigned long long)tasks - 1);
    argv[n++] = array;
    argv[n++] = argument(log);
    if (j->slurm->option_count > ARGUMENTS_MAX - 2 - n)
        return vs_diag_set(diag, -VSE_LIMIT, -1, -1, "more than %zu options for sbatch",
                           ARGUMENTS_MAX - 2 - n);
    for (size_t i = 0; i < j->slurm->option_count; i++)
        argv[n++] = argument(j->slurm->options[i]);
    argv[n++] = argument(script);
    int status = run(argv, &out, diag);
    if (status > 0) {
        char *end = strpbrk((char *)out.data, "\n");
        if (end)
            *end = 0;
        status = vs_diag_set(diag, -VSE_IO, -1, -1, "sbatch: %.150s", (const char *)out.data);
    }
    if (!status) {
        find_job((const char *)out.data, j->id, sizeof(j->id));
        if (!*j->id)
            status = vs_diag_set(diag, -VSE_IO, -1, -1, "sbatch: '%.100s' is no job",
                                 (const char *)out.data);
    }
    vs_buf_fini(&out);
    return status;
}

static int submit(struct job *j, const struct vs_buf *tasks, uint64_t count, struct vs_diag *diag)
{
    struct timespec now;
    char *file = NULL, *script = NULL, *log = NULL;
    clock_gettime(CLOCK_REALTIME, &now);
    int e = asprintf(&file, "%s/%lld-%ld.tasks", j->folder, (long long)now.tv_sec, (long)getpid()) <
                        0 ||
                    asprintf(&script, "%s/%lld-%ld.sh", j->folder, (long long)now.tv_sec,
                             (long)getpid()) < 0 ||
                    asprintf(&log, "--output=%s/%%A_%%a.log", j->folder) < 0
                ? no_memory(diag)
                : write_file(file, tasks->data, tasks->len, diag);
    e = e ? e : write_script(j, file, script, diag);
    e = e ? e : submit_script(j, script, log, count, diag);
    if (!e && (e = write_file(j->current, j->id, strlen(j->id), diag)))
        cancel(j->id); /* the next sweep could not know of it */
    free(file);
    free(script);
    free(log);
    return e;
}

static void rest(void)
{
    poll(NULL, 0, POLL_MS);
}

/* Waits until none of the job's tasks is in the queue. Only then, or if it is cancelled, is it
 * forgotten: the next sweep waits for one that is still there. Returns 0; -VSE_END (stopped: the
 * job is cancelled); -VSE_IO (nobody answers, or all that is left is held). */
static int await_job(struct job *j, const atomic_bool *stop, struct vs_progress *progress,
                     uint64_t done, uint64_t units, uint64_t tasks, struct vs_diag *diag)
{
    struct queue q;
    unsigned silent = 0, stuck = 0;
    for (;; rest()) {
        if (stop && atomic_load(stop)) {
            cancel(j->id);
            unlink(j->current);
            return -VSE_END;
        }
        int e = look(j->id, &q);
        if (e == -VSE_IO && ++silent >= SILENCE_MAX)
            return vs_diag_set(diag, -VSE_IO, -1, -1, "squeue has not answered for %d s",
                               SILENCE_MAX * POLL_MS / 1000);
        if (e == -VSE_IO)
            continue;
        if (e || !q.left) {
            unlink(j->current);
            return 0;
        }
        silent = 0;
        stuck = q.held == q.left ? stuck + 1 : 0;
        if (stuck == HELD_MAX)
            return vs_diag_set(
                diag, -VSE_IO, -1, -1,
                "job %s: %llu tasks are held (%s); 'scontrol release %s' or 'scancel "
                "%s' helps",
                j->id, (unsigned long long)q.held, q.reason, j->id, j->id);
        uint64_t over = tasks > q.left ? tasks - q.left : 0;
        vs_progress_update(progress, done + (tasks ? units * over / tasks : 0));
    }
}

/* ---- the whole ------------------------------------------------------------------------------- */

static uint64_t missing(const struct vs_sweep *s, const struct vs_sweep_wanted *wanted)
{
    uint64_t n = 0;
    for (size_t i = 0; i < s->points.count * s->runs.count; i++)
        n += s->state[i] == VS_UNIT_MISSING && (!wanted || wanted->units[i]);
    return n;
}

static double now_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Measures a few units here, which tells what others cost: how much work, in instructions times
 * units, a task may have. *work is 0 if nothing is missing. */
static int pilot(struct vs_sweep *s, const struct vs_slurm *slurm,
                 const struct vs_sweep_wanted *wanted, double *work, struct vs_diag *diag)
{
    struct vs_sweep_unit units[PILOT];
    size_t numbers[PILOT], count = 0;
    bool passing[PILOT]; /* the cluster may have what they lack */
    *work = 0;
    for (size_t run_ = 0; run_ < s->runs.count && !count; run_++) {
        const struct vs_sweep_run *r = &s->runs.items[run_];
        vs_sweep_batch(s, wanted, run_, 0, units, numbers, PILOT, &count);
        if (!count)
            continue;
        double start = now_seconds();
        int e = vs_sweep_evaluate(r, &s->how, units, count, &s->store, NULL, passing, diag);
        double seconds = now_seconds() - start;
        if (e)
            return e;
        *work = (double)slurm->seconds / (seconds > 1e-4 ? seconds : 1e-4) * (double)count *
                (double)(r->info.instructions + 1);
    }
    return vs_sweep_load(s, false, diag);
}

/* Waits for a job that an earlier sweep with this store has submitted. */
static int adopt(struct job *j, const atomic_bool *stop, struct vs_progress *progress,
                 struct vs_diag *diag)
{
    struct vs_buf text = {0};
    struct vs_diag why;
    int e = 0;
    if (access(j->current, F_OK) == 0 && read_file(j->current, &text, &why) == 0 && text.len &&
        text.len < sizeof(j->id)) {
        snprintf(j->id, sizeof(j->id), "%s", (const char *)text.data);
        e = await_job(j, stop, progress, 0, 0, 0, diag);
    }
    vs_buf_fini(&text);
    return e;
}

static int measure(struct job *j, const struct vs_sweep_wanted *wanted, const atomic_bool *stop,
                   struct vs_progress *progress, struct vs_diag *diag)
{
    struct vs_sweep *s = j->sweep;
    double work;
    int e = adopt(j, stop, progress, diag);
    e = e ? e : vs_sweep_load(s, false, diag);
    e = e ? e : pilot(s, j->slurm, wanted, &work, diag);
    uint64_t most = e ? 0 : array_limit(), left = e ? 0 : missing(s, wanted), all = left;
    for (unsigned fruitless = 0; !e && left;) {
        struct vs_buf text = {0};
        int64_t tasks = vs_job_print(s, wanted, work, most, &text);
        e = tasks < 0 ? no_memory(diag) : submit(j, &text, (uint64_t)tasks, diag);
        vs_buf_fini(&text);
        if (!e)
            e = await_job(j, stop, progress, all - left, left, (uint64_t)tasks, diag);
        if (!e || e == -VSE_END) {
            int loaded = vs_sweep_load(s, false, diag);
            e = loaded ? loaded : e;
        }
        uint64_t now = missing(s, wanted);
        fruitless = now == left ? fruitless + 1 : 0;
        left = now;
        if (!e && fruitless == FRUITLESS_MAX)
            e = vs_diag_set(diag, -VSE_IO, -1, -1,
                            "%d jobs brought no results; %.80s/%s_*.log may say why", FRUITLESS_MAX,
                            j->folder, j->id);
    }
    return e;
}

int vs_slurm_measure(struct vs_sweep *s, const struct vs_slurm *slurm,
                     const struct vs_sweep_wanted *wanted, const atomic_bool *stop,
                     struct vs_progress *progress, struct vs_diag *diag)
{
    struct job j = {.sweep = s, .slurm = slurm};
    char *whole = realpath(s->store.folder, NULL);
    int e = !whole || asprintf(&j.folder, "%s/jobs", whole) < 0 ||
                    asprintf(&j.current, "%s/jobs/current", whole) < 0
                ? no_memory(diag)
                : vs_store_folder(j.folder, diag);
    if (!e)
        e = measure(&j, wanted, stop, progress, diag);
    free(whole);
    free(j.folder);
    free(j.current);
    return e;
}

/* ---- a task ---------------------------------------------------------------------------------- */

/* What did not go well in some batch, so that others are not kept from being measured. */
struct working {
    int error; /* 0: nothing */
    struct vs_diag diag;
};

static int evaluate_batch(struct working *w, const struct vs_sweep_run *run,
                          const struct vs_store *store, const struct vs_sweep_how *how,
                          const struct vs_sweep_unit *units, size_t count, struct vs_diag *diag)
{
    bool *passing = calloc(count, sizeof(*passing));
    int e = passing ? vs_sweep_evaluate(run, how, units, count, store, NULL, passing, diag)
                    : no_memory(diag);
    for (size_t i = 0; i < count && !e && !w->error; i++)
        if (passing[i]) {
            w->diag = *diag;
            w->error = diag->error;
        }
    free(passing);
    return e;
}

static int work_batch(void *context, const struct vs_store *store, const struct vs_sweep_how *how,
                      const char *digest, const char *path, const struct vs_sweep_unit *units,
                      size_t count, struct vs_diag *diag)
{
    const struct vs_sweep_source source = {.study = "task"};
    struct vs_sweep_run run = {.name = path, .path = path, .source = &source};
    if (vs_store_has(store, digest, units, count))
        return 0; /* it was done before, by this task or by another */
    int e = vs_sweep_run_look(&run, diag);
    if (!e && strcmp(run.hash, digest) != 0)
        e = vs_diag_set(diag, -VSE_IO, -1, -1, "%.150s is not the run that it was", path);
    return e ? e : evaluate_batch(context, &run, store, how, units, count, diag);
}

int vs_slurm_work(const char *file, uint64_t task, struct vs_diag *diag)
{
    struct vs_buf text = {0};
    struct working w = {0};
    int e = read_file(file, &text, diag);
    if (!e)
        e = vs_job_read((char *)text.data, task, work_batch, &w, diag);
    if (!e && w.error) {
        *diag = w.diag;
        e = w.error;
    }
    vs_buf_fini(&text);
    return e;
}
