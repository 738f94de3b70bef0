/* SPDX-License-Identifier: MIT */
/* mlvNX_b with its messages in two streams: the heads (Ti and dCC) in one, and all the rest in the
 * other. With the same port for both it is mlvNX_b itself. The functions of vs_technique_mlvnx_b
 * use and close what is opened here. */
#ifndef TECHNIQUE_NEXUS_DATA_H
#define TECHNIQUE_NEXUS_DATA_H

#include "technique/data.h"

/* The context's port takes the values. Both ports have mlvNX_b's shape; the port of the heads
 * counts the messages. Returns 0; -VSE_NOMEM. */
int vs_nexus_data_encoder_open(void **encoder, const struct vs_technique_context *context,
                               struct vs_port_writer *heads);

/* prepare, which may be NULL, is called before each message is read. */
int vs_nexus_data_decoder_open(void **decoder, const struct vs_data_params *params,
                               const struct vs_technique_setup *setup, struct vs_port_reader *heads,
                               struct vs_port_reader *values, void (*prepare)(void *context),
                               void *context);

#endif
