/* SPDX-License-Identifier: MIT */
/* What both machines of mc2RT know: mc2rt.c has the layout of messages. */
#ifndef TECHNIQUE_MC2RT_H
#define TECHNIQUE_MC2RT_H

#include "model/traced.h"
#include "technique/data_common.h"

#define VS_MC2RT_LENGTH  ((struct vs_chunks){8, 8})
#define VS_MC2RT_NOTICES ((struct vs_chunks){1, 2})

enum vs_mc2rt_kind {
    VS_MC2RT_LINE,
    VS_MC2RT_ORDER,
    VS_MC2RT_OUTSIDE,
    VS_MC2RT_STATE,
    VS_MC2RT_NONDET,
    VS_MC2RT_END,
};

extern const struct vs_data_decoder_ops vs_mc2rt_decoder; /* mc2rt_decoder.c */

#endif
