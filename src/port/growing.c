/* SPDX-License-Identifier: MIT */
#include "port/growing.h"

#include <string.h>
#include <sys/mman.h>

#include "base/invariant.h"

/* Address space that is asked for, and the least that is taken. Memory is used as bits come. */
#define ROOM_MOST  ((size_t)1 << 38)
#define ROOM_LEAST ((size_t)1 << 26)

static bool get_more(void *context, struct vs_bitr *bits)
{
    struct vs_port_growing *g = context;
    pthread_mutex_lock(&g->lock);
    while (g->nbits == bits->nbits && !g->ended)
        pthread_cond_wait(&g->changed, &g->lock);
    bool more = g->nbits > bits->nbits;
    bits->nbits = g->nbits;
    bits->bytes = (size_t)((g->nbits + 7) / 8);
    pthread_mutex_unlock(&g->lock);
    return more;
}

static bool tell_why(void *context, struct vs_diag *diag)
{
    struct vs_port_growing *g = context;
    pthread_mutex_lock(&g->lock);
    bool failed = g->ended && g->why.error;
    if (failed)
        *diag = g->why;
    pthread_mutex_unlock(&g->lock);
    return failed;
}

int vs_port_growing_init(struct vs_port_growing *g)
{
    void *data = MAP_FAILED;
    *g = (struct vs_port_growing){.room = ROOM_MOST};
    while (data == MAP_FAILED && g->room >= ROOM_LEAST) {
        data = mmap(NULL, g->room, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (data == MAP_FAILED)
            g->room /= 2;
    }
    if (data == MAP_FAILED)
        return -VSE_NOMEM;
    g->data = data;
    g->stream.data = g->data;
    g->more = (struct vs_port_more){get_more, tell_why, g};
    pthread_mutex_init(&g->lock, NULL);
    pthread_cond_init(&g->changed, NULL);
    return 0;
}

void vs_port_growing_fini(struct vs_port_growing *g)
{
    pthread_mutex_destroy(&g->lock);
    pthread_cond_destroy(&g->changed);
    munmap(g->data, g->room);
    *g = (struct vs_port_growing){0};
}

int vs_port_to_growing(void *growing, unsigned stream, const uint8_t *bytes, uint64_t nbits)
{
    struct vs_port_growing *g = growing;
    size_t size = (size_t)((nbits + 7) / 8);
    int err = 0;
    pthread_mutex_lock(&g->lock);
    invariant(stream == 0 && g->nbits % 8 == 0 && !g->ended);
    if (size > g->room - g->nbits / 8) {
        err = -VSE_NOMEM;
    } else {
        memcpy(g->data + g->nbits / 8, bytes, size);
        g->nbits += nbits;
        pthread_cond_broadcast(&g->changed);
    }
    pthread_mutex_unlock(&g->lock);
    return err;
}

void vs_port_growing_end(struct vs_port_growing *g, const struct vs_diag *why)
{
    pthread_mutex_lock(&g->lock);
    g->ended = true;
    if (why)
        g->why = *why;
    pthread_cond_broadcast(&g->changed);
    pthread_mutex_unlock(&g->lock);
}
