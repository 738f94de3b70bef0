/* SPDX-License-Identifier: MIT */
/* The front layer: what commands are made of. Only front, published and cli print.
 *
 *   cli          messages, exit statuses, opening a run
 *   command      the row that a command is
 *   options      its options; suggest: what a mistyped word was meant to be
 *   out, json    output, as text and as JSON
 *   report       what a command found out, as text, CSV and JSON from one list of columns
 *   manifest     a folder of runs, and the list of them; json_read: reading JSON
 *   raw_about    what streams in plain files are
 *   runs         operands that are runs, or such folders
 *   textin       text files that are read line by line
 *   plot         charts, with plot_axes
 *   recording    what commands that record share
 *   simulation   what commands that simulate share
 *   core_facts   what a simulated core did
 *   disasm       instructions as text
 */
#ifndef FRONT_FRONT_H
#define FRONT_FRONT_H

#include "front/cli.h"
#include "front/command.h"

#endif
