/* SPDX-License-Identifier: MIT */
/* Reading hostile lists of the runs in a folder. An input is a list. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "front/manifest.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok)
{
    if (!ok)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct vs_diag d = {0};
    struct manifest m;
    int e = manifest_parse(&m, (const char *)data, size, &d);

    must(e == 0 || (e == -VSE_CORRUPT && d.error == e && d.text[0]));
    must(e < 0 || m.count > 0);
    for (size_t i = 0; e == 0 && i < m.count; i++) {
        must(m.list[i].process == i + 1 && m.list[i].parent <= i);
        must(!m.list[i].file || (m.list[i].file[0] && !strchr(m.list[i].file, '/')));
    }
    manifest_fini(&m);
    return 0;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    return 0;
}
