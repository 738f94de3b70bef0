/* SPDX-License-Identifier: MIT */
#include "port/growing.h"

#include <string.h>

#include "base/invariant.h"

#define REST_EVERY                                                                                 \
    ((size_t)1 << 24) /* bytes after which what is in a file is not kept in memory                 \
                       */

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

int vs_port_growing_init(struct vs_port_growing *g, const char *folder, struct vs_diag *diag)
{
    *g = (struct vs_port_growing){.nbits = 0};
    int err = vs_scratch_open(&g->scratch, folder, diag);
    if (err)
        return err;
    g->stream.data = g->scratch.data;
    g->more = (struct vs_port_more){get_more, tell_why, g};
    pthread_mutex_init(&g->lock, NULL);
    pthread_cond_init(&g->changed, NULL);
    return 0;
}

void vs_port_growing_fini(struct vs_port_growing *g)
{
    pthread_mutex_destroy(&g->lock);
    pthread_cond_destroy(&g->changed);
    vs_scratch_close(&g->scratch);
    *g = (struct vs_port_growing){.nbits = 0};
}

int vs_port_to_growing(void *growing, unsigned stream, const uint8_t *bytes, uint64_t nbits)
{
    struct vs_port_growing *g = growing;
    size_t size = (size_t)((nbits + 7) / 8);
    pthread_mutex_lock(&g->lock);
    invariant(stream == 0 && g->nbits % 8 == 0 && !g->ended);
    size_t used = (size_t)(g->nbits / 8);
    int err = size > g->scratch.room ? -VSE_NOMEM : vs_scratch_reach(&g->scratch, used + size);
    if (!err) {
        memcpy(g->scratch.data + used, bytes, size);
        if ((used + size) / REST_EVERY != used / REST_EVERY)
            vs_scratch_rest(&g->scratch);
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
