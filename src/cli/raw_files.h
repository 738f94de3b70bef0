/* SPDX-License-Identifier: MIT */
/* A run's streams as plain files, for the decoders of others: each core's bytes as the standard
 * says (FILE, or FILE.0, FILE.1 and so on), the code that ran (FILE.code), and what a decoder has
 * to be told (FILE.json). docs/standards.md describes them. */
#ifndef CLI_RAW_FILES_H
#define CLI_RAW_FILES_H

#include "front/cli.h"
#include "technique/technique.h"

struct raw_files;

/* Begins the streams' files; the spec must be settled, and its technique's streams bytes. None gets
 * its name before the seal. Returns CLI_DONE, or the status after a message. */
int raw_create(struct cli *cli, struct raw_files **r, const char *path, bool overwrite,
               const struct vs_technique_spec *spec, const struct vs_technique_setup *setup);

/* A vs_port_sink whose context is a struct raw_files. Returns 0; -VSE_IO. */
int raw_append(void *files, unsigned stream, const uint8_t *bytes, uint64_t nbits);

/* Why an append failed; its error is 0 if none did. */
const struct vs_diag *raw_diag(const struct raw_files *r);

/* Writes the code of the run and what a decoder has to know, gives all files their names, and frees
 * `r`. After an error none of them is left. The reader's position is lost. Returns CLI_DONE, or the
 * status after a message. */
int raw_seal(struct cli *cli, struct raw_files *r, struct vs_reader *run);

/* Gives all of them up. NULL is fine. */
void raw_abort(struct raw_files *r);

#endif
