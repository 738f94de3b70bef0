/* SPDX-License-Identifier: MIT */
#include "study/decoders.h"

#include "study/verify_address.h"
#include "study/verify_data.h"

int vs_verify_prepare(struct vs_verify *v, struct vs_reader *reader, unsigned serves,
                      unsigned needs, struct vs_diag *diag)
{
    int err = serves & VS_TECHNIQUE_FLOW ? vs_verify_init(v, reader, diag)
              : needs & VS_NEEDS_CODE    ? vs_verify_init_code(v, reader, diag)
                                         : vs_verify_init_data(v, reader, diag);
    if (!err && serves & (VS_TECHNIQUE_DATA | VS_TECHNIQUE_ADDRESS))
        err = vs_verify_read(v, serves & VS_TECHNIQUE_DATA, diag);
    return err;
}

int vs_verify_stream(struct vs_verify *v, const struct vs_technique_spec *spec,
                     const struct vs_port_stream *streams, struct vs_verify_result *result,
                     struct vs_diag *diag)
{
    unsigned serves = spec->technique->serves;
    uint64_t compared = 0;
    int err = 0;
    result->outcome = VS_VERIFY_SAME;
    if (serves & VS_TECHNIQUE_FLOW) {
        err = vs_verify_decode(v, spec, streams, result, diag);
        compared += result->compared;
    }
    if (!err && result->outcome == VS_VERIFY_SAME && serves & VS_TECHNIQUE_DATA) {
        err = vs_verify_decode_data(v, spec, streams, result, diag);
        compared += result->compared;
    }
    if (!err && result->outcome == VS_VERIFY_SAME && serves & VS_TECHNIQUE_ADDRESS) {
        err = vs_verify_decode_address(v, spec, streams, result, diag);
        compared += result->compared;
    }
    result->compared = compared;
    return err;
}
