/* SPDX-License-Identifier: MIT */
/* Molecular dynamics of water (water.h), looking only at molecules that can be near.
 *
 * The box is divided into cells no smaller than the cutoff, and every step sorts the molecules into
 * lists, one per cell, kept in the order of the molecules' numbers. Each worker inserts its
 * molecules, under the lock of the cell. Then the workers take cells, a few at a time, and do the
 * pairs within the cell and with half of its neighbours; what that adds to a molecule is added
 * under the molecule's lock.
 */
#include "water.h"

#define NONE   UINT32_MAX
#define AT_ONE 4 /* cells taken at once */

struct list {
    uint32_t first;
    pthread_mutex_t lock;
};

struct lists {
    size_t side, cells;
    struct list *list;
    uint32_t *next; /* per molecule */
    size_t taken;
    pthread_mutex_t taken_lock;
};

/* ---- lists ----------------------------------------------------------------------------------- */

static size_t coordinate(const struct lists *l, double x, double box)
{
    size_t k = (size_t)(x / box * (double)l->side);

    return k < l->side ? k : l->side - 1;
}

static void insert(struct water *w, struct lists *l, uint32_t i)
{
    struct vec o = w->molecule[i].at[OXYGEN];
    size_t cell = (coordinate(l, o.z, w->box) * l->side + coordinate(l, o.y, w->box)) * l->side +
                  coordinate(l, o.x, w->box);
    struct list *list = &l->list[cell];
    uint32_t *at;

    pthread_mutex_lock(&list->lock);
    at = &list->first;
    while (*at < i) /* NONE is above all */
        at = &l->next[*at];
    l->next[i] = *at;
    *at = i;
    pthread_mutex_unlock(&list->lock);
}

static void rebuild(struct water *w, struct lists *l, unsigned id)
{
    size_t first, end;

    wl_share(l->cells, w->threads, id, &first, &end);
    for (size_t i = first; i < end; i++)
        l->list[i].first = NONE;
    if (id == 0)
        l->taken = 0;
    pthread_barrier_wait(&w->barrier);
    wl_share(w->n, w->threads, id, &first, &end);
    for (size_t i = first; i < end; i++)
        insert(w, l, (uint32_t)i);
    pthread_barrier_wait(&w->barrier);
}

/* ---- pairs ----------------------------------------------------------------------------------- */

static void add_locked(struct water *w, size_t i, const struct water_force *f)
{
    pthread_mutex_lock(&w->lock[i]);
    water_add(&w->force[i], f);
    pthread_mutex_unlock(&w->lock[i]);
}

/* Molecule i with those of a list from j on. */
static int64_t with_list(struct water *w, struct lists *l, uint32_t i, uint32_t j,
                         struct water_force *own)
{
    int64_t energy = 0;

    for (; j != NONE; j = l->next[j]) {
        struct water_force other = {0};

        if (i < j ? water_pair(w, i, j, own, &other, &energy)
                  : water_pair(w, j, i, &other, own, &energy))
            add_locked(w, j, &other);
    }
    return energy;
}

static size_t turn(size_t k, int step, size_t side)
{
    return (k + side + (size_t)step) % side;
}

/* The lists of the 13 neighbours of a cell that come after it in direction. There are at least
 * three cells to a side, so these and those that come before it are all different. */
static void neighbours(const struct lists *l, size_t cell, uint32_t first[13])
{
    size_t x = cell % l->side, y = cell / l->side % l->side, z = cell / l->side / l->side;
    unsigned n = 0;

    for (int k = 14; k < 27; k++) {
        size_t nx = turn(x, k % 3 - 1, l->side), ny = turn(y, k / 3 % 3 - 1, l->side);
        size_t nz = turn(z, k / 9 - 1, l->side);

        first[n++] = l->list[(nz * l->side + ny) * l->side + nx].first;
    }
}

static int64_t do_cell(struct water *w, struct lists *l, size_t cell)
{
    uint32_t near[13];
    int64_t energy = 0;

    neighbours(l, cell, near);
    for (uint32_t i = l->list[cell].first; i != NONE; i = l->next[i]) {
        struct water_force own = {0};

        energy += with_list(w, l, i, l->next[i], &own);
        for (unsigned k = 0; k < 13; k++)
            energy += with_list(w, l, i, near[k], &own);
        add_locked(w, i, &own);
    }
    return energy;
}

static int64_t pairs(struct water *w, unsigned id)
{
    struct lists *l = w->more;
    int64_t energy = 0;
    size_t cell, end;

    rebuild(w, l, id);
    for (;;) {
        pthread_mutex_lock(&l->taken_lock);
        cell = l->taken;
        end = cell + AT_ONE < l->cells ? cell + AT_ONE : l->cells;
        l->taken = end;
        pthread_mutex_unlock(&l->taken_lock);
        if (cell == end)
            return energy;
        for (; cell < end; cell++)
            energy += do_cell(w, l, cell);
    }
}

static const struct wl_program program = {
    .name = "water_spa",
    .about = "Molecular dynamics of water, with lists of the molecules in each cell of space.",
    .size = "number of molecules",
    .size_default = 84,
    .size_min = 84, /* three cells to a side of the box */
    .size_max = 1 << 20,
    .threads_max = 64,
};

int main(int argc, char **argv)
{
    struct wl_args a = wl_args(&program, argc, argv);
    struct water w = {.pairs = pairs};
    struct lists l = {0};
    int status;

    water_init(&w, &a);
    l.side = (size_t)(w.box / WATER_CUTOFF);
    l.cells = l.side * l.side * l.side;
    l.list = wl_alloc(l.cells * sizeof(*l.list));
    for (size_t i = 0; i < l.cells; i++)
        pthread_mutex_init(&l.list[i].lock, NULL);
    l.next = wl_alloc(w.n * sizeof(*l.next));
    pthread_mutex_init(&l.taken_lock, NULL);
    w.more = &l;
    status = water_run(&w, &program, &a);
    water_fini(&w);
    free(l.list);
    free(l.next);
    return status;
}
