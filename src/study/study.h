/* SPDX-License-Identifier: MIT */
/* The study layer: measurements over runs and port streams, and proofs of them. */
#ifndef STUDY_STUDY_H
#define STUDY_STUDY_H

#include "study/bandwidth.h"         /* bits of techniques */
#include "study/bandwidth_figures.h" /* sums of them */
#include "study/codeview.h"          /* a run's code */
#include "study/changes.h"           /* where code changes */
#include "study/comparison.h"        /* what comparisons by events share */
#include "study/decoders.h"          /* a stream against the run, of any technique */
#include "study/entropy.h"           /* how compressible loaded values are */
#include "study/event_counts.h"      /* what the events of a run are */
#include "study/flow.h"              /* whether control flow is that of the code */
#include "study/locality.h"          /* how much of addresses is known before */
#include "study/memory.h"            /* whether memory behaves as memory does */
#include "study/routine_names.h"     /* names of routines, by address */
#include "study/pace.h"              /* when synchronisation points are due */
#include "study/pieces.h"            /* a run's events, core by core */
#include "study/profile.h"           /* where instructions retired */
#include "study/prove.h"             /* many techniques proved on a run */
#include "study/recall.h"            /* what a run knows of memory */
#include "study/routines.h"          /* a profile by routine */
#include "study/verify.h"            /* control flow, decoded, against the run */
#include "study/verify_address.h"    /* the same of data addresses */
#include "study/verify_data.h"       /* of load values */
#include "study/verify_replay.h"     /* of a replay */

#endif
