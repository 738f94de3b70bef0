/* SPDX-License-Identifier: MIT */
/* Whatever takes a run as it is made: a writer of .vest files, a converter, a study.
 *
 * A consumer is called in the order in which a writer is (vestige/run.h): a block or an image
 * precedes the events that refer to it, and the numbers returned for them count from 0 up. A
 * consumer that has no use for something leaves its function NULL; blocks and images are then
 * numbered for it.
 */
#ifndef TRACE_CONSUMER_H
#define TRACE_CONSUMER_H

#include "trace/recipe.h"
#include "vestige/run.h"

struct vs_consumer {
    void *context;
    /* Return 0, or an error that ends the recording. */
    int (*meta)(void *context, const char *key, const char *value);
    int (*put)(void *context, const struct vs_batch *batch);
    /* Return the number, from 0 up; or an error. */
    int64_t (*image)(void *context, const struct vs_image *image);
    int64_t (*block)(void *context, const struct vs_block *block);
    /* Events as records (trace/recipe.h): both or neither. A recipe's number as above; -VSE_LIMIT
     * if there cannot be more of them, and its events have to be put instead. */
    int64_t (*recipe)(void *context, const struct vs_recipe *recipe);
    int (*records)(void *context, const struct vs_records *records);
};

/* The writer stays the caller's. */
struct vs_consumer vs_consumer_writer(struct vs_writer *w);

/* A consumer in front of another one: it takes the batches itself and may hand them on; facts,
 * images and blocks go to the other one, as far as that wants them. */
struct vs_before {
    struct vs_consumer to;
    int (*put)(void *context, const struct vs_batch *batch);
    /* NULL: no records */
    int (*records)(void *context, const struct vs_records *records);
    void *context; /* of put and records */
};

/* Makes a consumer, which the struct must outlive. */
struct vs_consumer vs_consumer_before(struct vs_before *before);

/* Feeds a whole recorded run to a consumer: facts, images and blocks first, then the events from
 * where the reader is. Returns 0; an error of the reader (with vs_reader_diag) or of the consumer,
 * which *theirs tells apart. */
int vs_consume_run(struct vs_reader *r, const struct vs_consumer *c, bool *theirs);

#endif
