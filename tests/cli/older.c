/* SPDX-License-Identifier: MIT */
/* older IN OUT: the same port stream in a file that names no widths of counters, as files did not
 * before counters had any. older IN OUT per-core: as the first of a stream per core, which no
 * encoder of messages writes. */
#include <stdlib.h>
#include <string.h>

#include "port/vport.h"

static bool is_width(const char *name)
{
    return !strcmp(name, "bcnt_bits") || !strcmp(name, "icnt_bits") || !strcmp(name, "fahcnt_bits");
}

int main(int argc, char **argv)
{
    struct vs_vport *in;
    struct vs_vport_writer *out;
    struct vs_vport_pair params[VS_VPORT_PAIRS_MAX];
    size_t count = 0;
    if (argc < 3 || vs_vport_open(&in, argv[1], NULL))
        return 2;
    struct vs_vport_about about = in->about;
    for (size_t i = 0; i < about.param_count; i++)
        if (!is_width(about.params[i].name))
            params[count++] = about.params[i];
    bool dropped = count < about.param_count;
    about.params = params;
    about.param_count = count;
    about.per_core = argc > 3;
    bool good = dropped && !vs_vport_create(&out, argv[2], &about, true, NULL) &&
                !vs_vport_append(out, 0, in->streams->data, in->nbits) && !vs_vport_seal(out, NULL);
    vs_vport_close(in);
    return good ? 0 : 2;
}
