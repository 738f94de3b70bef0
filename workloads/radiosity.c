/* SPDX-License-Identifier: MIT */
/* Hierarchical radiosity: how light spreads in a room of dull surfaces (room.h).
 *
 * Every patch is a quadtree of elements; links carry light between elements of whatever size is
 * fine enough for what they carry. An iteration has three phases, each a graph of tasks in
 * distributed queues (tasks.h): refine replaces links that carry too much by links between smaller
 * elements, dividing these where needed; gather sums what arrives at each element; spread hands it
 * down to the smallest elements and averages upwards.
 *
 * Tasks come in any order, the result does not: refinement depends on the light of the iteration
 * before only, so the set of links does too; an element's links are sorted before they are summed;
 * an average is made, in the children's order, by whoever finishes the last child. Elements are
 * shared by all: each has a lock for its links and its division.
 */
#include <stdlib.h>

#include "elements.h"
#include "room.h"
#include "tasks.h"

#define ITERATIONS 6
#define LEVELS     12

struct worker {
    struct job *job;
    unsigned id;
    struct pool pool;
};

struct job {
    unsigned threads;
    double tolerance, area_min;
    double power; /* all that leaves the patches */
    bool settled;
    struct room room;
    struct element root[PATCHES];
    struct worker *worker;
    struct tasks tasks;
    pthread_barrier_t barrier;
};

/* ---- refining links -------------------------------------------------------------------------- */

/* What to divide for the link to be fine enough with this light at its source; NULL: it is. */
static struct element *too_coarse(const struct job *job, const struct link *l, struct vec light)
{
    struct element *larger = l->to->area > l->from->area ? l->to : l->from;
    double most = light.x > light.y ? light.x : light.y;

    most = light.z > most ? light.z : most;
    if (l->demand * most <= job->tolerance || larger->area < 4 * job->area_min ||
        larger->level == LEVELS)
        return NULL;
    return larger;
}

static void refine(struct task *t, void *worker);

static void add_link(struct worker *w, struct element *to, struct element *from)
{
    struct link *l = new_link(&w->pool);

    l->task.run = refine;
    l->to = to;
    l->from = from;
    measure(&w->job->room, l);
    tasks_push(&w->job->tasks, w->id, &l->task);
}

static void refine(struct task *t, void *worker)
{
    struct worker *w = worker;
    struct link *l = (struct link *)t;
    struct element *e = too_coarse(w->job, l, l->from->light);

    if (!e) {
        attach(l);
        return;
    }
    divide(&w->pool, e);
    for (unsigned k = 0; k < 4; k++)
        add_link(w, e == l->to ? e->child[k] : l->to, e == l->from ? e->child[k] : l->from);
    l->next = w->pool.free;
    w->pool.free = l;
}

/* Makes tasks of all links to e and below. */
static void collect(struct worker *w, struct element *e)
{
    struct link *next;

    for (struct link *l = e->links; l; l = next) {
        next = l->next;
        tasks_push(&w->job->tasks, w->id, &l->task);
    }
    e->links = NULL;
    for (unsigned k = 0; k < 4 && e->child[k]; k++)
        collect(w, e->child[k]);
}

/* ---- gathering light ------------------------------------------------------------------------- */

static struct link *merge(struct link *a, struct link *b)
{
    struct link *first = NULL, **end = &first;

    while (a && b) {
        struct link **least = a->from->id < b->from->id ? &a : &b;

        *end = *least;
        end = &(*end)->next;
        *least = *end;
    }
    *end = a ? a : b;
    return first;
}

/* By source. Runs of length one are merged like the carries of a binary counter. */
static struct link *sort(struct link *l)
{
    struct link *run[32] = {0}, *next, *all = NULL;

    for (; l; l = next) {
        unsigned k = 0;

        next = l->next;
        l->next = NULL;
        for (; run[k]; run[k++] = NULL)
            l = merge(run[k], l);
        run[k] = l;
    }
    for (unsigned k = 0; k < 32; k++)
        all = merge(run[k], all);
    return all;
}

static struct vec incoming(const struct element *e, bool before)
{
    struct vec s = vec(0, 0, 0), paint = e->patch->reflect;

    for (const struct link *l = e->links; l; l = l->next)
        if (l->form > 0)
            s = vec_along(s, before ? l->from->before : l->from->light, l->form);
    return vec(s.x * paint.x, s.y * paint.y, s.z * paint.z);
}

static void for_children(struct worker *w, struct element *e,
                         void (*run)(struct task *t, void *worker))
{
    for (unsigned k = 0; k < 4 && e->child[k]; k++) {
        e->child[k]->task.run = run;
        tasks_push(&w->job->tasks, w->id, &e->child[k]->task);
    }
}

static void gather(struct task *t, void *worker)
{
    struct element *e = (struct element *)t;

    for_children(worker, e, gather);
    e->links = sort(e->links);
    e->gathered = incoming(e, false);
}

/* ---- spreading it in the trees --------------------------------------------------------------- */

static struct vec average(const struct element *e)
{
    struct vec s = vec(0, 0, 0);

    for (unsigned k = 0; k < 4; k++)
        s = vec_add(s, e->child[k]->light);
    return vec_scale(s, 0.25);
}

static void spread(struct task *t, void *worker)
{
    struct element *e = (struct element *)t;

    e->down = e->parent ? vec_add(e->parent->down, e->gathered) : e->gathered;
    e->before = e->light;
    atomic_store_explicit(&e->done, 0, memory_order_relaxed);
    if (e->child[0]) {
        for_children(worker, e, spread);
        return;
    }
    e->light = vec_add(e->patch->emit, e->down);
    while ((e = e->parent) && atomic_fetch_add(&e->done, 1) == 3)
        e->light = average(e);
}

/* ---- iterating ------------------------------------------------------------------------------- */

static void phase(struct worker *w)
{
    pthread_barrier_wait(&w->job->barrier);
    tasks_drain(&w->job->tasks, w->id, w);
    pthread_barrier_wait(&w->job->barrier);
}

static void for_patches(struct worker *w, void (*run)(struct task *t, void *worker))
{
    size_t first, end;

    wl_share(PATCHES, w->job->threads, w->id, &first, &end);
    for (size_t i = first; i < end; i++) {
        w->job->root[i].task.run = run;
        tasks_push(&w->job->tasks, w->id, &w->job->root[i].task);
    }
}

static void settle(struct job *job)
{
    double power = 0;

    for (unsigned i = 0; i < PATCHES; i++)
        power += vec_dot(job->root[i].light, vec(1, 1, 1)) * job->root[i].area;
    job->settled = fabs(power - job->power) < 0.005 * power;
    job->power = power;
}

static void first_links(struct worker *w, size_t first, size_t end)
{
    const struct part whole = {0, 0, 1};
    struct element *root = w->job->root;

    for (size_t i = first; i < end; i++)
        for (size_t k = 0; k < PATCHES; k++)
            if (i != k && room_faces(root[i].patch, root[k].patch, &whole) &&
                room_faces(root[k].patch, root[i].patch, &whole))
                add_link(w, &root[i], &root[k]);
}

static void work(unsigned id, void *arg)
{
    struct job *job = arg;
    struct worker *w = &job->worker[id];
    size_t first, end;

    wl_share(PATCHES, job->threads, id, &first, &end);
    first_links(w, first, end);
    for (unsigned i = 0; i < ITERATIONS && !job->settled; i++) {
        for (size_t k = first; i > 0 && k < end; k++)
            collect(w, &job->root[k]);
        phase(w);
        for_patches(w, gather);
        phase(w);
        for_patches(w, spread);
        phase(w);
        if (id == 0)
            settle(job);
        pthread_barrier_wait(&job->barrier);
    }
}

/* ---- checks ---------------------------------------------------------------------------------- */

static bool equal(struct vec a, struct vec b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

/* Adds to covered[] what the links to e take in of each patch. False if a link should not be. */
static bool cover(const struct job *job, const struct element *e, double covered[PATCHES])
{
    for (const struct link *l = e->links; l; l = l->next) {
        if (l->to != e || too_coarse(job, l, l->from->before))
            return false;
        covered[l->from->patch - job->room.patch] += l->from->part.size * l->from->part.size;
    }
    return true;
}

/* The last iteration was right at e and below: every smallest element sees, by its links and those
 * of the elements around it, all of each patch once, or nothing of it; and the light is what plain
 * recursion makes of it. */
static bool sound(const struct job *job, const struct element *e, const double around[PATCHES],
                  struct vec down)
{
    double covered[PATCHES];

    for (unsigned i = 0; i < PATCHES; i++)
        covered[i] = around[i];
    if (!cover(job, e, covered))
        return false;
    down = e->parent ? vec_add(down, incoming(e, true)) : incoming(e, true);
    for (unsigned k = 0; k < 4 && e->child[0]; k++)
        if (!e->child[k] || !sound(job, e->child[k], covered, down))
            return false;
    if (e->child[0])
        return equal(e->light, average(e));
    for (unsigned i = 0; i < PATCHES; i++)
        if (covered[i] != 0 && covered[i] != 1)
            return false;
    return equal(e->light, vec_add(e->patch->emit, down));
}

/* What is absorbed, of all colours, at e and below. */
static double absorbed(const struct element *e)
{
    struct vec r = e->patch->reflect, in = vec_sub(e->light, e->patch->emit);
    double s = 0;

    if (!e->child[0])
        return e->area * (in.x * (1 - r.x) / r.x + in.y * (1 - r.y) / r.y + in.z * (1 - r.z) / r.z);
    for (unsigned k = 0; k < 4; k++)
        s += absorbed(e->child[k]);
    return s;
}

/* No light leaves the room: the lamps' is absorbed, as far as estimated form factors can tell. */
static bool verify(const struct job *job)
{
    const double none[PATCHES] = {0};
    double sent = 0, lost = 0;

    for (unsigned i = 0; i < PATCHES; i++)
        if (!sound(job, &job->root[i], none, vec(0, 0, 0)))
            return false;
    for (unsigned i = 0; i < PATCHES; i++) {
        sent += job->room.patch[i].area * vec_dot(job->room.patch[i].emit, vec(1, 1, 1));
        lost += absorbed(&job->root[i]);
    }
    return lost > 0.6 * sent && lost < 1.6 * sent;
}

/* ---- the program ----------------------------------------------------------------------------- */

static uint64_t checksum(const struct element *e, uint64_t sum)
{
    sum = wl_sum(sum, e->id);
    sum = wl_sum_double(sum, e->light.x);
    sum = wl_sum_double(sum, e->light.y);
    sum = wl_sum_double(sum, e->light.z);
    for (unsigned k = 0; k < 4 && e->child[k]; k++)
        sum = checksum(e->child[k], sum);
    return sum;
}

static struct job *job_new(const struct wl_args *a)
{
    struct job *job = wl_alloc(sizeof(*job));

    job->threads = a->threads;
    job->tolerance = 1 / (double)a->size;
    job->area_min = 0.5 / (double)a->size;
    room_init(&job->room, a->seed);
    for (unsigned i = 0; i < PATCHES; i++) {
        struct element *e = &job->root[i];

        element_init(e, &job->room.patch[i], (struct part){0, 0, 1});
        e->id = (uint64_t)i << 32 | 1;
        e->light = e->patch->emit;
    }
    job->worker = wl_alloc(job->threads * sizeof(*job->worker));
    for (unsigned i = 0; i < job->threads; i++)
        job->worker[i] = (struct worker){.job = job, .id = i};
    tasks_init(&job->tasks, job->threads);
    pthread_barrier_init(&job->barrier, NULL, job->threads);
    return job;
}

static void job_free(struct job *job)
{
    for (unsigned i = 0; i < job->threads; i++)
        pool_free(&job->worker[i].pool);
    free(job->tasks.queue);
    free(job->worker);
    free(job);
}

static const struct wl_program program = {
    .name = "radiosity",
    .about = "Hierarchical radiosity: links between elements refined by tasks in queues.",
    .size = "fineness: light carried by a link is at most about 1/SIZE",
    .size_default = 8,
    .size_min = 1,
    .size_max = 3000,
    .threads_max = 64,
};

int main(int argc, char **argv)
{
    struct wl_args a = wl_args(&program, argc, argv);
    struct job *job = job_new(&a);
    uint64_t sum = 0;
    bool passed;

    wl_run(job->threads, work, job);
    for (unsigned i = 0; i < PATCHES; i++)
        sum = checksum(&job->root[i], sum);
    passed = !a.check || verify(job);
    job_free(job);
    return wl_finish(&program, &a, sum, passed);
}
