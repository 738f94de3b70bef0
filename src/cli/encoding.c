/* SPDX-License-Identifier: MIT */
#include "cli/encoding.h"

#include <errno.h>
#include <stdlib.h>

#include "base/diag.h"
#include "cli/specs.h"

/* If the run turns out to be damaged, what came before is encoded. */
static void encode_all(void *arg)
{
    struct encoding *e = arg;
    struct vs_diag diag = {.offset = -1, .chunk = -1};
    int err = vs_bandwidth_run(&e->study, e->reader, NULL, &diag);
    if (err && e->study.rows[0].encoder && !e->study.rows[0].port.error)
        vs_port_finish(&e->study.rows[0].port);
    if (e->bits.scratch.error) {
        errno = e->bits.scratch.error;
        vs_diag_io(&diag, "the file for its stream cannot grow", NULL);
    }
    diag.error = err;
    vs_port_growing_end(&e->bits, err ? &diag : NULL);
}

static int describe(struct cli *cli, struct encoding *e)
{
    const char *isa = vs_reader_meta(e->reader, "isa");
    uint32_t count = vs_reader_info(e->reader)->images;
    e->images = calloc(count + 1u, sizeof(*e->images));
    if (!e->images) {
        cli_error(cli, "out of memory");
        return CLI_USAGE;
    }
    for (uint32_t i = 0; i < count; i++)
        vs_reader_image(e->reader, i, &e->images[i]);
    e->about = (struct vs_vport_about){.technique = e->spec.technique->name,
                                       .isa = isa && *isa ? isa : "unknown",
                                       .address_bits = e->setup.address_bits,
                                       .cores = e->setup.cores,
                                       .timed = e->setup.timed,
                                       .facts = e->facts,
                                       .fact_count = vs_stream_facts(e->reader, e->facts),
                                       .images = e->images,
                                       .image_count = count};
    return CLI_DONE;
}

static int prepare(struct cli *cli, struct encoding *e, const char *path, bool at_once)
{
    const struct vs_bandwidth_options options = {.at_once = at_once, .stop = &e->stop};
    struct vs_diag diag = {.offset = -1, .chunk = -1};
    struct vs_port_shape shape;
    bool lacks;
    int status = specs_lack(cli, &(struct vs_spec_item){.spec = e->spec}, path,
                            vs_reader_info(e->reader), &lacks);
    if (lacks)
        return status;
    int64_t row = vs_bandwidth_init(&e->study, e->reader, &options, &diag);
    e->setup = e->study.setup;
    vs_technique_settle(&e->spec, e->setup.timed);
    if (row == -VSE_END && cli_missing(cli, path, vs_reader_info(e->reader)) != CLI_DONE)
        return CLI_BAD_DATA; /* what there is of the run has no thread */
    if (!row)
        row = vs_bandwidth_add(&e->study, &e->spec, vs_port_to_growing, &e->bits, &diag);
    if (row < 0)
        return cli_report(cli, path, (int)row, &diag);
    vs_technique_shape(&e->spec, &e->setup, &shape);
    if (shape.per_core) {
        cli_error(cli, "%s: %s has a stream for each core; 'vestige encode' makes a file of them",
                  path, e->spec.technique->name);
        return CLI_USAGE;
    }
    return describe(cli, e);
}

static int start(struct cli *cli, struct encoding *e, const char *path, bool at_once)
{
    int status = prepare(cli, e, path, at_once);
    if (status != CLI_DONE)
        return status;
    int err = vs_workers_open(&e->workers, 1);
    if (err)
        return cli_report(cli, path, err, NULL);
    e->job = (struct vs_job){.run = encode_all, .arg = e};
    vs_workers_submit(e->workers, &e->job);
    return CLI_DONE;
}

int encoding_open(struct cli *cli, struct encoding **to, const char *path,
                  const struct vs_technique_spec *spec, const struct encoding_options *o)
{
    struct encoding *e = *to = calloc(1, sizeof(*e));
    struct vs_diag diag = {.offset = -1, .chunk = -1};
    int err = e ? vs_port_growing_init(&e->bits, o->folder, &diag) : -VSE_NOMEM;
    if (err) {
        free(e);
        *to = NULL;
        return cli_report(cli, path, err, &diag);
    }
    e->spec = *spec;
    int status = cli_open(cli, &e->reader, path, false);
    if (status == CLI_DONE)
        status = start(cli, e, path, o->at_once);
    if (status != CLI_DONE) {
        encoding_close(e);
        *to = NULL;
    }
    return status;
}

void encoding_close(struct encoding *e)
{
    if (!e)
        return;
    atomic_store(&e->stop, true);
    vs_workers_close(e->workers);
    vs_bandwidth_fini(&e->study);
    vs_port_growing_fini(&e->bits);
    vs_reader_close(e->reader);
    free(e->images);
    free(e);
}

const struct vs_run_info *encoding_info(const struct encoding *e)
{
    return vs_reader_info(e->reader);
}
