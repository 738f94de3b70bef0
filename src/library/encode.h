/* SPDX-License-Identifier: MIT */
/* A run encoded with one technique, wherever the bits go. */
#ifndef LIBRARY_ENCODE_H
#define LIBRARY_ENCODE_H

#include "study/bandwidth.h"

/* Prepares a study of the run with that technique. Returns 0; with diag, -VSE_NOTFOUND or
 * -VSE_INVAL (no such technique and so on); as vs_bandwidth_init and vs_bandwidth_lacks.
 * vs_bandwidth_fini is needed after 0 only. */
int vs_encode_prepare(struct vs_bandwidth *b, const struct vs_reader *reader,
                      const struct vs_technique *const *table, const char *text,
                      struct vs_technique_spec *spec, struct vs_diag *diag);

#endif
