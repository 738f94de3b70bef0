/* SPDX-License-Identifier: MIT */
/* Generated runs as files. */
#include <inttypes.h>
#include <stdio.h>

#include "gen/gen.h"

static int put_number(struct vs_writer *w, const char *key, uint64_t number)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, number);
    return vs_writer_meta(w, key, text);
}

static int put_metadata(struct vs_writer *w, const struct gen_options *o)
{
    char command[160];
    snprintf(command, sizeof command,
             "vestige-gen --seed %" PRIu64 " --threads %u --events %" PRIu64 " --profile %s%s%s",
             o->seed, o->threads, o->events, gen_profile_name(o->profile),
             o->memory ? "" : " --control-only", o->timed ? " --timed" : "");
    int error = vs_writer_meta(w, "engine", "generator");
    if (error == 0)
        error = vs_writer_meta(w, "isa", "rv64");
    if (error == 0)
        error = vs_writer_meta(w, "command", command);
    if (error == 0)
        error = put_number(w, "seed", o->seed);
    return error;
}

/* Ids of the file are those of the generator, since both are given in the same order. */
static int put_tables(struct vs_writer *w, const struct gen *g, uint64_t *blocks, uint64_t *images)
{
    struct vs_image image;
    for (; gen_image(g, *images, &image) == 0; ++*images) {
        int64_t id = vs_writer_image(w, &image);
        if (id != (int64_t)*images)
            return id < 0 ? (int)id : -VSE_INTERNAL;
    }
    struct vs_block block;
    for (; gen_block(g, *blocks, &block) == 0; ++*blocks) {
        int64_t id = vs_writer_block(w, &block);
        if (id != (int64_t)*blocks)
            return id < 0 ? (int)id : -VSE_INTERNAL;
    }
    return 0;
}

static int put_run(struct vs_writer *w, struct gen *g, const struct gen_options *options)
{
    struct vs_batch batch;
    uint64_t blocks = 0, images = 0;
    int error = put_metadata(w, options), count = 0;
    while (error == 0 && (count = gen_next(g, &batch)) > 0) {
        error = put_tables(w, g, &blocks, &images);
        if (error == 0)
            error = vs_writer_put(w, &batch);
    }
    return error != 0 ? error : count;
}

static void set_diag(struct vs_diag *diag, int error)
{
    if (!diag)
        return;
    *diag = (struct vs_diag){.error = error, .offset = -1, .chunk = -1};
    snprintf(diag->text, sizeof diag->text, "%s", vs_errstr(error));
}

static int write_run(struct gen *g, const char *path, const struct gen_options *options,
                     const struct vs_writer_options *writer, struct vs_diag *diag)
{
    struct vs_writer *w;
    int error = vs_writer_open(&w, path, writer, diag);
    if (error != 0)
        return error;
    error = put_run(w, g, options);
    if (error == 0)
        return vs_writer_seal(w, diag);
    if (diag && vs_writer_diag(w)->error == error)
        *diag = *vs_writer_diag(w);
    else
        set_diag(diag, error);
    vs_writer_abort(w);
    return error;
}

int gen_record(const char *path, const struct gen_options *options,
               const struct vs_writer_options *writer, struct vs_diag *diag)
{
    struct vs_writer_options w = writer ? *writer : (struct vs_writer_options){0};
    w.features = gen_features(options);
    struct gen *g;
    int error = gen_open(&g, options);
    if (error != 0) {
        set_diag(diag, error);
        return error;
    }
    error = write_run(g, path, options, &w, diag);
    gen_close(g);
    return error;
}
