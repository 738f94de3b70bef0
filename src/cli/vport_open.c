/* SPDX-License-Identifier: MIT */
#include "cli/vport_open.h"

/* ---- reading --------------------------------------------------------------------------------- */

int vport_open(struct cli *cli, struct vs_vport **port, const char *path,
               struct vs_technique_spec *spec, struct vs_technique_setup *setup)
{
    struct vs_diag diag = {.offset = -1, .chunk = -1};
    int e = vs_vport_open(port, path, &diag);
    if (e)
        return cli_report(cli, path, e, &diag);
    if (!vs_stream_spec(cli->techniques, &(*port)->about, spec, setup, &diag))
        return CLI_DONE;
    cli_error(cli, "%s: %s", path, diag.text);
    vs_vport_close(*port);
    *port = NULL;
    return CLI_BAD_DATA;
}

int vport_missing(struct cli *cli, const struct vs_vport *port, const char *path)
{
    if (!port->truncated)
        return CLI_DONE;
    cli_error(cli, "%s: incomplete: %s", path, port->missing.text);
    return CLI_BAD_DATA;
}

/* ---- writing --------------------------------------------------------------------------------- */

int vport_create(struct cli *cli, struct vs_vport_writer **w, const char *path, bool overwrite,
                 const struct vs_reader *run, const struct vs_technique_spec *spec,
                 const struct vs_technique_setup *setup)
{
    struct vs_diag diag = {.offset = -1, .chunk = -1};
    int e = vs_stream_create(w, path, overwrite, run, spec, setup, &diag);
    if (e == -VSE_NOMEM)
        return cli_report(cli, path, e, NULL);
    return e ? cli_report_output(cli, path, e, &diag) : CLI_DONE;
}
