/* SPDX-License-Identifier: MIT */
/* The techniques, each defined in a file of its own. */
#ifndef TECHNIQUE_REGISTRY_H
#define TECHNIQUE_REGISTRY_H

#include "technique/technique.h"

extern const struct vs_technique vs_technique_mcfnx_b; /* nexus.c */
extern const struct vs_technique vs_technique_etrace;  /* etrace.c */
extern const struct vs_technique vs_technique_ntrace;  /* ntrace.c */
extern const struct vs_technique vs_technique_mcftr_b; /* traptor.c */
extern const struct vs_technique vs_technique_mcftr_e;
extern const struct vs_technique vs_technique_ttmbp; /* tmbp.c */
extern const struct vs_technique vs_technique_stmbp;
extern const struct vs_technique vs_technique_btmbp;
extern const struct vs_technique vs_technique_base; /* base_nexs.c */
extern const struct vs_technique vs_technique_nexs;
extern const struct vs_technique vs_technique_bdmtf; /* dmtf.c */
extern const struct vs_technique vs_technique_hdmtf;
extern const struct vs_technique vs_technique_edmtf;
extern const struct vs_technique vs_technique_bsdc; /* sdc_lsp.c */
extern const struct vs_technique vs_technique_esdc;
extern const struct vs_technique vs_technique_rsdc;
extern const struct vs_technique vs_technique_hwlz_256; /* hwlz.c */
extern const struct vs_technique vs_technique_hwlz_1024;
extern const struct vs_technique vs_technique_base_gzip; /* packed.c */
extern const struct vs_technique vs_technique_base_bzip2;
extern const struct vs_technique vs_technique_base_xz;
extern const struct vs_technique vs_technique_base_zstd;
extern const struct vs_technique vs_technique_mcftg; /* mcftg.c */
extern const struct vs_technique vs_technique_mcfta; /* mcfta.c */
extern const struct vs_technique vs_technique_etm4;  /* etm4.c */
extern const struct vs_technique vs_technique_pt;    /* pt.c */

extern const struct vs_technique vs_technique_mlvnx_b;   /* nexus_data.c */
extern const struct vs_technique vs_technique_etrace_lv; /* etrace_value.c */
extern const struct vs_technique vs_technique_mlvcf_b;   /* cfiat.c */
extern const struct vs_technique vs_technique_mlvcf_e;
extern const struct vs_technique vs_technique_mlvfa; /* first_access.c */
extern const struct vs_technique vs_technique_mlvfa_dedicated;
extern const struct vs_technique vs_technique_mc2rt;      /* mc2rt.c */
extern const struct vs_technique vs_technique_mlvnx_gzip; /* packed.c */
extern const struct vs_technique vs_technique_mlvnx_bzip2;
extern const struct vs_technique vs_technique_mlvnx_xz;
extern const struct vs_technique vs_technique_mlvnx_zstd;

extern const struct vs_technique vs_technique_danx;      /* nexus_address.c */
extern const struct vs_technique vs_technique_etrace_da; /* etrace_address.c */
extern const struct vs_technique vs_technique_dac;       /* address_table.c */
extern const struct vs_technique vs_technique_adac;
extern const struct vs_technique vs_technique_dafilter;   /* filter.c */
extern const struct vs_technique vs_technique_daraw_gzip; /* packed.c */
extern const struct vs_technique vs_technique_daraw_bzip2;
extern const struct vs_technique vs_technique_daraw_xz;
extern const struct vs_technique vs_technique_daraw_zstd;

#endif
