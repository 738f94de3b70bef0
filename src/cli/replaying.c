/* SPDX-License-Identifier: MIT */
#include "cli/replaying.h"

#include <inttypes.h>
#include <string.h>

int replaying_open(struct cli *cli, struct replaying *r, const char *path,
                   const struct replaying_options *o)
{
    struct vs_diag diag = {.offset = -1, .chunk = -1};
    struct vs_replay_config config = {.output = o->output, .context = o->context};
    *r = (struct replaying){0};
    if (o->code && o->images->count) {
        cli_error(cli, "the code comes from --code or from --image, not from both");
        return CLI_USAGE;
    }
    int status = vport_open(cli, &r->port, path, &config.spec, &config.setup);
    if (status != CLI_DONE)
        return status;
    if (config.spec.technique->kind != VS_TECHNIQUE_DATA) {
        cli_error(cli, "%s: %s has no load values; 'vestige decode' follows its control flow", path,
                  config.spec.technique->name);
        return CLI_USAGE;
    }
    if (strcmp(r->port->about.isa, "rv64")) {
        cli_error(cli, "%s: is of %s; only RV64 can be replayed", path, r->port->about.isa);
        return CLI_USAGE;
    }
    status = o->code ? code_from_run(cli, &r->code, o->code, r->port->about.isa)
                     : code_from_images(cli, &r->code, o->images, &r->port->about);
    if (status != CLI_DONE)
        return status;
    config.data = r->port->data;
    config.size = r->port->size;
    config.nbits = r->port->nbits;
    config.code = &r->code.code;
    config.loaded = &r->code.loaded;
    r->ready = true;
    int e = vs_replay_init(&r->replay, &config, &diag);
    return e ? cli_report(cli, path, e, &diag) : CLI_DONE;
}

void replaying_close(struct replaying *r)
{
    if (r->ready)
        vs_replay_fini(&r->replay);
    code_free(&r->code);
    vs_vport_close(r->port);
    *r = (struct replaying){0};
}

int replaying_cut(struct cli *cli, const char *path, const struct replaying *r)
{
    cli_error(cli,
              "%s: the stream ends at bit %" PRIu64 ", after message %" PRIu64
              ", and the program goes on: it was replayed to there",
              path, r->replay.reader.bits.pos, r->replay.reader.messages);
    return CLI_BAD_DATA;
}

const char *replaying_program(const struct replaying *r)
{
    const struct vs_vport_about *about = &r->port->about;
    for (size_t i = 0; i < about->image_count; i++)
        if (about->images[i].path[0] == '/')
            return about->images[i].path;
    return NULL;
}
