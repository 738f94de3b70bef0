/* SPDX-License-Identifier: MIT */
#include "capture/family.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/diag.h"

/* Nanoseconds between looks at the user while we wait. */
#define GLANCE 100000000

/* What is remembered of every process. */
struct member {
    int id;          /* the system's, as the process sees it */
    unsigned parent; /* number */
    bool told;       /* how it ended */
};

/* A child that is there. */
struct child {
    struct child *next;
    struct vs_family *family;
    pthread_t thread;
    bool done; /* the thread has nothing more to do */
    struct vs_followed process;
    struct vs_engine_request request;
    struct vs_place *places; /* its own copy */
    struct vs_engine_result result;
    struct vs_diag diag;
    bool theirs;
    struct vs_session session;
};

struct vs_family {
    const struct vs_engine_request *o;
    struct vs_session_family face; /* what sessions see of it */
    struct vs_session *program;
    double start;
    _Atomic bool failed;
    pthread_mutex_t lock;   /* for all that follows, and for the processes' descriptors */
    pthread_cond_t changed; /* a child is done */
    struct member *members; /* those that have begun, by number - 1 */
    size_t count, capacity;
    size_t expected;    /* children that were to be made so far */
    size_t made;        /* those that were, by processes that are over */
    size_t forks;       /* those that were not followed, likewise */
    struct vs_diag why; /* the first of them */
    struct child *children;
    struct vs_place *places; /* what children found */
};

static void lock(struct vs_family *f)
{
    pthread_mutex_lock(&f->lock);
}

static void unlock(struct vs_family *f)
{
    pthread_mutex_unlock(&f->lock);
}

/* Notes why a child is not followed. Returns the error. */
static int refuse(struct vs_family *f, int e, const struct vs_diag *diag)
{
    lock(f);
    if (!f->why.error && diag)
        f->why = *diag;
    else if (!f->why.error)
        vs_diag_set(&f->why, e, -1, -1, "%s",
                    e == -VSE_LIMIT ? "there are too many of them" : "out of memory");
    unlock(f);
    return e;
}

/* ---- a child's thread ------------------------------------------------------------------------ */

static void add_places(struct vs_place *to, const struct vs_place *places, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        to[i].found += places[i].found;
        to[i].chooser |= places[i].chooser;
    }
}

/* Tells how a process ended, once. */
static void tell_end(struct vs_family *f, unsigned number, int status)
{
    bool told;

    lock(f);
    told = f->members[number - 1].told;
    f->members[number - 1].told = true;
    unlock(f);
    if (!told)
        f->o->follower->reaped(f->o->follower->context, number, status);
}

/* Records the child, which has introduced itself. Returns 0; an error, of which the follower
 * knows. */
static int record(struct child *c)
{
    struct vs_family *f = c->family;
    const struct vs_follower *follower = f->o->follower;
    struct vs_session *s = &c->session;
    double now = vs_session_now();
    int e;

    c->process.started = now - f->start;
    lock(f);
    vs_launch_born(&s->launch, s->sender);
    /* There is room for it: adopt made that. */
    f->members[f->count++] = (struct member){.id = c->process.id, .parent = c->process.parent};
    c->process.number = s->number = (unsigned)f->count;
    unlock(f);
    e = follower->begin(follower->context, &c->process, &c->request, &c->diag);
    if (e < 0)
        return e;
    e = vs_session_open(s);
    if (e == 0)
        e = vs_session_greet(s);
    if (e == 0)
        e = vs_session_run(s, now);
    if (e == -VSE_NOMEM && !c->theirs)
        vs_diag_set(&c->diag, e, -1, -1, "out of memory");
    lock(f);
    add_places(f->places, c->places, f->o->place_count);
    unlock(f);
    if (e == 0 && !c->result.lost)
        tell_end(f, c->process.number, c->result.status);
    return follower->end(follower->context, &c->process, &c->request, &c->result, e, &c->diag,
                         c->theirs) < 0
               ? -VSE_IO
               : e;
}

static void *live(void *context)
{
    struct child *c = context;
    struct vs_family *f = c->family;
    int e = vs_session_await(&c->session, &c->process.id, &c->process.parent_id);

    /* If we do not hear what it says, it goes on when we are gone. */
    if (e < 0)
        refuse(f, e, &c->diag);
    else if (e > 0 && record(c) < 0)
        f->failed = true;
    vs_session_close(&c->session);
    vs_engine_result_fini(&c->result);
    lock(f);
    vs_launch_close(&c->session.launch);
    c->done = true;
    pthread_cond_signal(&f->changed);
    unlock(f);
    return NULL;
}

static void child_free(struct child *c)
{
    if (!c)
        return;
    vs_launch_close(&c->session.launch);
    free(c->places);
    free(c);
}

/* Frees the children whose threads are done. */
static void bury(struct vs_family *f)
{
    struct child **at, *c;

    lock(f);
    for (at = &f->children; (c = *at) != NULL;) {
        if (!c->done) {
            at = &c->next;
            continue;
        }
        *at = c->next;
        pthread_join(c->thread, NULL);
        child_free(c);
    }
    unlock(f);
}

/* ---- what sessions see ----------------------------------------------------------------------- */

static struct child *child_new(struct vs_family *f, unsigned parent)
{
    const struct vs_engine_request *o = f->o;
    struct child *c = calloc(1, sizeof(*c));

    if (!c)
        return NULL;
    c->family = f;
    c->process.parent = parent;
    c->request = *o;
    c->request.interrupt = NULL;
    c->session = (struct vs_session){.o = &c->request,
                                     .result = &c->result,
                                     .diag = &c->diag,
                                     .theirs = &c->theirs,
                                     .family = &f->face,
                                     .launch = {.socket = -1, .log = -1, .process = -1}};
    c->places = calloc(o->place_count + 1, sizeof(*c->places));
    if (!c->places) {
        child_free(c);
        return NULL;
    }
    for (size_t i = 0; i < o->place_count; i++)
        c->places[i] = (struct vs_place){.name = o->places[i].name, .kind = o->places[i].kind};
    c->request.places = c->places;
    return c;
}

/* Adds the child and starts its thread. Returns 0; -VSE_NOMEM; -VSE_LIMIT. */
static int adopt(struct vs_family *f, struct child *c)
{
    int e = -VSE_LIMIT;

    lock(f);
    /* The program, and all children that there are or will be. */
    if (f->expected + 1 < VS_PROCESSES_MAX)
        e = vs_array_room((void **)&f->members, &f->capacity, f->count, f->expected + 2 - f->count,
                          sizeof(*f->members));
    if (e == 0 && pthread_create(&c->thread, NULL, live, c) != 0)
        e = -VSE_NOMEM;
    if (e == 0) {
        f->expected++;
        c->next = f->children;
        f->children = c;
    }
    unlock(f);
    return e;
}

static int child(void *context, unsigned parent, int theirs[WIRE_DESCRIPTORS])
{
    struct vs_family *f = context;
    struct child *c;
    int e;

    bury(f);
    if (f->failed || !(c = child_new(f, parent)))
        return refuse(f, -VSE_NOMEM, NULL);
    e = vs_launch_child(&c->session.launch, theirs, &c->diag);
    if (e < 0) {
        refuse(f, e, &c->diag);
    } else if ((e = adopt(f, c)) < 0) {
        refuse(f, e, NULL);
        for (int i = 0; i < WIRE_DESCRIPTORS; i++)
            close(theirs[i]);
    }
    if (e < 0)
        child_free(c);
    return e;
}

static void made(void *context, unsigned children, unsigned forks)
{
    struct vs_family *f = context;

    lock(f);
    f->made += children;
    f->forks += forks;
    unlock(f);
}

/* Numbers of processes are used again: the last one is meant. */
static void reaped(void *context, unsigned parent, int process, int status)
{
    struct vs_family *f = context;
    size_t i;

    lock(f);
    for (i = f->count; i > 0; i--)
        if (f->members[i - 1].id == process && f->members[i - 1].parent == parent)
            break;
    unlock(f);
    if (i)
        tell_end(f, (unsigned)i, status);
}

static bool failed(void *context)
{
    return ((struct vs_family *)context)->failed;
}

static bool interrupted(void *context, int status)
{
    struct vs_family *f = context;

    return f->program && (f->program->killed || vs_ended_by(f->program->passed, status));
}

static void signal_all(void *context, int number)
{
    struct vs_family *f = context;

    lock(f);
    for (struct child *c = f->children; c; c = c->next)
        vs_launch_signal(&c->session.launch, number);
    unlock(f);
}

static void pause_all(void *context, bool pause)
{
    struct vs_family *f = context;

    lock(f);
    for (struct child *c = f->children; c; c = c->next)
        if (pause)
            vs_launch_pause(&c->session.launch);
        else
            vs_launch_continue(&c->session.launch);
    unlock(f);
}

/* ---- the family ------------------------------------------------------------------------------ */

int vs_family_open(struct vs_family **out, const struct vs_engine_request *o)
{
    struct vs_family *f = calloc(1, sizeof(*f));

    *out = f;
    if (!f)
        return -VSE_NOMEM;
    f->o = o;
    f->face = (struct vs_session_family){.context = f,
                                         .child = child,
                                         .made = made,
                                         .reaped = reaped,
                                         .failed = failed,
                                         .interrupted = interrupted,
                                         .signal = signal_all,
                                         .pause = pause_all};
    f->start = vs_session_now();
    pthread_mutex_init(&f->lock, NULL);
    pthread_cond_init(&f->changed, NULL);
    f->places = calloc(o->place_count + 1, sizeof(*f->places));
    return f->places ? vs_array_room((void **)&f->members, &f->capacity, 0, 1, sizeof(*f->members))
                     : -VSE_NOMEM;
}

int vs_family_begin(struct vs_family *f, struct vs_session *program)
{
    const struct vs_followed p = {
        .number = 1, .id = program->launch.pid, .parent_id = getpid(), .started = 0};
    struct vs_engine_request request = *f->o;

    f->members[f->count++] = (struct member){.id = program->launch.pid};
    f->program = program;
    program->family = &f->face;
    program->number = 1;
    return f->o->follower->begin(f->o->follower->context, &p, &request, program->diag);
}

/* Those that were killed before they could begin are missing, too. */
static void take_missing(const struct vs_family *f, struct vs_engine_result *result)
{
    if (f->made >= f->count)
        result->forks += (unsigned)(f->made + 1 - f->count);
    if (f->forks || f->why.error)
        snprintf(result->unfollowed, sizeof(result->unfollowed), "%s",
                 f->why.error ? f->why.text : "the program had too many files open");
}

void vs_family_wait(struct vs_family *f, struct vs_session *program, bool has_failed)
{
    struct timespec until;
    bool left = true;

    if (has_failed)
        f->failed = true;
    while (left) {
        bury(f);
        vs_session_heed(program);
        lock(f);
        left = f->children != NULL;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += GLANCE;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        if (left)
            pthread_cond_clockwait(&f->changed, &f->lock, CLOCK_MONOTONIC, &until);
        unlock(f);
    }
    add_places(f->o->places, f->places, f->o->place_count);
    take_missing(f, program->result);
}

void vs_family_close(struct vs_family *f)
{
    if (!f)
        return;
    pthread_cond_destroy(&f->changed);
    pthread_mutex_destroy(&f->lock);
    free(f->members);
    free(f->places);
    free(f);
}
