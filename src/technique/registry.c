/* SPDX-License-Identifier: MIT */
#include "technique/registry.h"

#include <string.h>

const struct vs_technique *const vs_techniques[] = {
    &vs_technique_mcfnx_b,
    &vs_technique_mcftr_b,
    &vs_technique_mcftr_e,
    &vs_technique_ttmbp,
    &vs_technique_stmbp,
    &vs_technique_btmbp,
    &vs_technique_base,
    &vs_technique_nexs,
    &vs_technique_bdmtf,
    &vs_technique_hdmtf,
    &vs_technique_edmtf,
    &vs_technique_bsdc,
    &vs_technique_esdc,
    &vs_technique_rsdc,
    &vs_technique_hwlz_256,
    &vs_technique_hwlz_1024,
    &vs_technique_base_gzip,
    &vs_technique_base_bzip2,
    &vs_technique_base_xz,
    &vs_technique_base_zstd,

    &vs_technique_mcftg,
    &vs_technique_mcfta,

    &vs_technique_etrace,
    &vs_technique_ntrace,
    &vs_technique_pt,
    &vs_technique_etm4,

    &vs_technique_mlvnx_b,
    &vs_technique_mlvcf_b,
    &vs_technique_mlvcf_e,
    &vs_technique_mlvfa,
    &vs_technique_mlvfa_dedicated,
    &vs_technique_mc2rt,
    &vs_technique_mc2rt_k,
    &vs_technique_mlvnx_gzip,
    &vs_technique_mlvnx_bzip2,
    &vs_technique_mlvnx_xz,
    &vs_technique_mlvnx_zstd,

    &vs_technique_etrace_lv,

    &vs_technique_danx,
    &vs_technique_dac,
    &vs_technique_adac,
    &vs_technique_dafilter,
    &vs_technique_daraw_gzip,
    &vs_technique_daraw_bzip2,
    &vs_technique_daraw_xz,
    &vs_technique_daraw_zstd,

    &vs_technique_etrace_da,
    NULL,
};

static bool is_named(const struct vs_technique *t, const char *name)
{
    if (!strcmp(t->name, name))
        return true;
    for (const char *const *a = t->aliases; a && *a; a++)
        if (!strcmp(*a, name))
            return true;
    return false;
}

const char *vs_technique_kinds_name(unsigned serves)
{
    static const char *const names[1 << VS_TECHNIQUE_KINDS] = {
        "nothing",
        "control flow",
        "load values",
        "control flow and load values",
        "data addresses",
        "control flow and data addresses",
        "load values and data addresses",
        "control flow, load values and data addresses",
    };
    return names[serves % (1 << VS_TECHNIQUE_KINDS)];
}

const struct vs_technique *vs_technique_baseline(enum vs_technique_kind kind)
{
    for (size_t i = 0; vs_techniques[i]; i++)
        if (vs_techniques[i]->serves & kind)
            return vs_techniques[i];
    return NULL;
}

const struct vs_technique *vs_technique_find_in(const struct vs_technique *const *table,
                                                const char *name)
{
    for (table = table ? table : vs_techniques; *table; table++)
        if (is_named(*table, name))
            return *table;
    return NULL;
}

const struct vs_technique *vs_technique_find(const char *name)
{
    return vs_technique_find_in(vs_techniques, name);
}
