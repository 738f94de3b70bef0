/* SPDX-License-Identifier: MIT */
/* Molecular dynamics of water (water.h), looking at all pairs of molecules.
 *
 * The molecules stand in a circle, and each looks at the half of the circle that follows it, so
 * that every pair is seen once and every molecule sees as many. A worker collects the forces of its
 * molecules' pairs on its own and adds them up in the shared molecules at the end, under the lock
 * of each, starting at its own so that the workers do not queue for the same ones.
 */
#include "water.h"

static bool touched(const struct water_force *f)
{
    for (unsigned i = 0; i < ATOMS; i++)
        for (unsigned k = 0; k < 3; k++)
            if (f->f[i][k])
                return true;
    return false;
}

static void merge(struct water *w, struct water_force *own, size_t first)
{
    for (size_t k = 0; k < w->n; k++) {
        size_t i = first + k < w->n ? first + k : first + k - w->n;

        if (!touched(&own[i]))
            continue;
        pthread_mutex_lock(&w->lock[i]);
        water_add(&w->force[i], &own[i]);
        pthread_mutex_unlock(&w->lock[i]);
        memset(&own[i], 0, sizeof(own[i]));
    }
}

static int64_t pairs(struct water *w, unsigned id)
{
    struct water_force *own = ((struct water_force **)w->more)[id];
    int64_t energy = 0;
    size_t first, end;

    wl_share(w->n, w->threads, id, &first, &end);
    for (size_t i = first; i < end; i++) {
        /* With an even number, the one opposite is looked at from one side only. */
        size_t ahead = w->n % 2 ? w->n / 2 : w->n / 2 - (i >= w->n / 2);

        for (size_t k = 1; k <= ahead; k++) {
            size_t j = i + k < w->n ? i + k : i + k - w->n;
            size_t a = i < j ? i : j, b = i < j ? j : i;

            water_pair(w, a, b, &own[a], &own[b], &energy);
        }
    }
    merge(w, own, first);
    return energy;
}

static const struct wl_program program = {
    .name = "water_nsq",
    .about = "Molecular dynamics of water, all pairs of molecules.",
    .size = "number of molecules",
    .size_default = 64,
    .size_min = 32, /* the box must hold the cutoff twice */
    .size_max = 32768,
    .threads_max = 64,
};

int main(int argc, char **argv)
{
    struct wl_args a = wl_args(&program, argc, argv);
    struct water w = {.pairs = pairs};
    struct water_force **own = wl_alloc(a.threads * sizeof(*own));
    int status;

    for (unsigned i = 0; i < a.threads; i++)
        own[i] = wl_alloc(a.size * sizeof(**own));
    water_init(&w, &a);
    w.more = own;
    status = water_run(&w, &program, &a);
    water_fini(&w);
    for (unsigned i = 0; i < a.threads; i++)
        free(own[i]);
    free(own);
    return status;
}
