/* SPDX-License-Identifier: MIT */
/* The model layer: hardware structures and nothing else. Each is a plain struct with its state; an
 * encoder and its decoder have one each, and keep them alike by making the same calls. */
#ifndef MODEL_MODEL_H
#define MODEL_MODEL_H

#include "model/adac.h"        /* addresses that instructions accessed */
#include "model/atoms.h"       /* outcomes that wait for a packet of ETMv4 */
#include "model/bht.h"         /* outcomes, by the branch's address alone */
#include "model/branch_unit.h" /* what a core predicts branches with */
#include "model/cache.h"       /* tags of a cache: hits, replacement */
#include "model/cost.h"        /* storage by kind, gates */
#include "model/counter.h"     /* counters of a fixed width */
#include "model/granules.h"    /* caches with a flag per granule */
#include "model/gshare.h"      /* outcomes of conditional branches */
#include "model/ibtb.h"        /* targets of indirect branches */
#include "model/inorder.h"     /* when instructions issue */
#include "model/jtc.h"         /* targets of jumps, by the target */
#include "model/lastvalue.h"   /* upper bits of addresses */
#include "model/lsp.h"         /* the next stream */
#include "model/moesi.h"       /* private caches, kept coherent */
#include "model/mtf.h"         /* move-to-front tables */
#include "model/ras.h"         /* return addresses */
#include "model/recent.h"      /* the last three addresses */
#include "model/runcount.h"    /* adaptive counters of runs */
#include "model/sdc.h"         /* stream descriptors */
#include "model/ittage.h"      /* targets of indirect branches, by tagged histories */
#include "model/jtc.h"         /* targets of jumps, by the target */
#include "model/lastvalue.h"   /* upper bits of addresses */
#include "model/loop.h"        /* loops that always have the same length */
#include "model/lsp.h"         /* the next stream */
#include "model/mixer.h"       /* one probability out of several */
#include "model/moesi.h"       /* private caches, kept coherent */
#include "model/mtf.h"         /* move-to-front tables */
#include "model/probability.h" /* adaptive probabilities of bits */
#include "model/rangecoder.h"  /* a binary arithmetic coder */
#include "model/ras.h"         /* return addresses */
#include "model/recent.h"      /* the last three addresses */
#include "model/region.h"      /* upper bits of addresses, by number */
#include "model/runcount.h"    /* adaptive counters of runs */
#include "model/sdc.h"         /* stream descriptors */
#include "model/tage.h"        /* outcomes, by tagged histories */
#include "model/traced.h"      /* coherent caches with a trace bit per line */

#endif
