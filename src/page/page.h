/* SPDX-License-Identifier: MIT */
/* The page layer: figures of runs as one HTML file that a browser shows from disk. Figures are
 * gathered in one pass, in bounded memory, and aggregated, so that the file is of some megabytes
 * however long the run is. They are in the file as JSON; scripts draw them. */
#ifndef PAGE_PAGE_H
#define PAGE_PAGE_H

#include "page/branches.h" /* what predictors make of branches */
#include "page/document.h" /* the file */
#include "page/gather.h"   /* all figures of a run */
#include "page/memory.h"   /* where loads and stores go */
#include "page/places.h"   /* numbers for places of events */
#include "page/timeline.h" /* what threads did when */

#endif
