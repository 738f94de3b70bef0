/* SPDX-License-Identifier: MIT */
/* Reading hostile studies of sweeps, and results of one. An input is a study, or a file of a store
 * if it begins as one does. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sweep/store.h"
#include "sweep/study_file.h"
#include "technique/technique.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok)
{
    if (!ok)
        abort();
}

static int take(void *context, const char *run, const struct vs_store_unit *unit,
                struct vs_diag *diag)
{
    (void)diag;
    must(run && unit->spec && !unit->wrong == !!unit->values);
    ++*(unsigned *)context;
    return 0;
}

static void read_results(const char *text, size_t size)
{
    struct vs_diag d = {0};
    unsigned units = 0;
    int e = vs_store_parse(text, size, "window=0 buffer=none", take, &units, &d);
    must(e == 0 || (e == -VSE_CORRUPT && d.error == e && d.text[0]));
}

/* Some points of each template: each is written, and parsed again unless it does not fit
 * together. */
static void try_points(const struct vs_template *t)
{
    char config[1024], text[1200];
    struct vs_technique_spec spec;
    struct vs_diag d;
    must(t->points > 0 && t->points <= VS_POINTS_MAX);
    for (unsigned i = 0; i < 5; i++) {
        uint64_t point = t->points * i / 5;
        int e = vs_template_config(t, point, config, sizeof(config));
        must(e == 0 || e == -VSE_LIMIT);
        if (e)
            continue;
        snprintf(text, sizeof(text), "%s:%s", t->technique, config);
        e = t->axis_count ? vs_technique_parse(&spec, text, &d) : 0;
        must(e == 0 || e == -VSE_INVAL);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct vs_diag d = {0};
    struct vs_sweep_study s;
    if (size > 7 && !memcmp(data, "vestige", 7)) {
        read_results((const char *)data, size);
        return 0;
    }
    vs_sweep_study_init(&s);
    int e = vs_sweep_study_parse(&s, "study", true, (const char *)data, size, &d);
    must(e == 0 || ((e == -VSE_INVAL || e == -VSE_LIMIT) && d.error == e && d.text[0]));
    if (!e)
        e = vs_sweep_study_check(&s, "study", &d);
    must(e == 0 || d.text[0]);
    for (size_t i = 0; !e && i < s.template_count; i++)
        if (!s.templates[i].group)
            try_points(&s.templates[i].of);
    vs_sweep_study_fini(&s);
    return 0;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    return 0;
}
