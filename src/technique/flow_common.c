/* SPDX-License-Identifier: MIT */
#include "technique/flow_common.h"

int vs_flow_encoder_init(struct vs_flow_encoder *e, const struct vs_technique_context *context)
{
    if (!context->code)
        return -VSE_INVAL;
    e->port = context->port;
    e->cores = context->setup->cores;
    return vs_passage_init(&e->passage, context->code, e->cores);
}

void vs_flow_encoder_fini(struct vs_flow_encoder *e)
{
    vs_passage_fini(&e->passage);
}

void vs_flow_encoder_counts(const void *encoder, void *counts)
{
    *(struct vs_flow_counts *)counts = ((const struct vs_flow_encoder *)encoder)->counts;
}

int vs_flow_decoder_head(void *decoder, struct vs_port_reader *port, struct vs_flow_head *head,
                         int (*next)(void *decoder, unsigned core, struct vs_flow_head *head))
{
    int err = next(decoder, port->stream, head);
    for (unsigned i = 1; i < port->shape.cores && err == -VSE_END; i++) {
        vs_port_select(port, (port->stream + 1) % port->shape.cores);
        err = next(decoder, port->stream, head);
    }
    head->core = port->stream;
    return err;
}
