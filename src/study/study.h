/* SPDX-License-Identifier: MIT */
/* The study layer: measurements over runs and port streams, and proofs of them. */
#ifndef STUDY_STUDY_H
#define STUDY_STUDY_H

#include "study/attribution.h"       /* where techniques' bits are sent */
#include "study/bandwidth.h"         /* the bits that techniques take */
#include "study/bandwidth_figures.h" /* sums of them */
#include "study/callers.h"           /* a profile by path of calls */
#include "study/callstack.h"         /* the calls that threads are in */
#include "study/codeview.h"          /* a run's code */
#include "study/changes.h"           /* where code changes */
#include "study/comparison.h"        /* what comparisons event by event share */
#include "study/decoders.h"          /* any technique's stream against the run */
#include "study/entropy.h"           /* how compressible loaded values are */
#include "study/event_counts.h"      /* what a run's events are */
#include "study/flow.h"              /* whether control flow is that of the code */
#include "study/flow_run.h"          /* runs made of streams */
#include "study/locality.h"          /* how far addresses are known from earlier ones */
#include "study/mapped.h"            /* which image lies where */
#include "study/memory.h"            /* whether memory behaves as memory does */
#include "study/routine_names.h"     /* names of routines and lines, by address */
#include "study/pace.h"              /* when synchronisation points are due */
#include "study/pieces.h"            /* a run's events, core by core */
#include "study/profile.h"           /* where instructions retired */
#include "study/prove.h"             /* many techniques proved on a run */
#include "study/recall.h"            /* what a run knows of memory */
#include "study/run_diff.h"          /* where two runs part */
#include "study/run_memory.h"        /* memory as a run has it */
#include "study/routines.h"          /* a profile by routine */
#include "study/sampling.h"          /* windows that stand for a run */
#include "study/stream_file.h"       /* a run's stream as a file */
#include "study/verify.h"            /* control flow, decoded, against the run */
#include "study/verify_address.h"    /* data addresses, decoded, against the run */
#include "study/verify_data.h"       /* load values, decoded, against the run */
#include "study/verify_inputs.h"     /* a run executed again against itself */
#include "study/verify_replay.h"     /* a replay against the run */
#include "study/where.h"             /* image, routine and source line of addresses */

#endif
