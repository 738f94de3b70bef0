/* SPDX-License-Identifier: MIT */
/* usage: example run.vest   Proves the technique of docs/adding-a-technique.md on a run, and prints
 * its bits, and the bits that they should be. */
#include <inttypes.h>
#include <stdio.h>

#include "port/framing.h"
#include "study/bandwidth.h"
#include "study/verify.h"

extern const struct vs_technique vs_technique_outcomes;

/* Messages times Ti and the header, a bit for each conditional branch, and the other fields. */
static uint64_t by_hand(const struct vs_bandwidth_row *row, unsigned cores)
{
    uint64_t conditional = vs_counts_get(&row->encoded, "conditional");
    uint64_t messages = conditional + vs_counts_get(&row->encoded, "indirect") +
                        vs_counts_get(&row->encoded, "returns") +
                        vs_counts_get(&row->encoded, "discontinuities");
    return messages * (vs_port_core_bits(cores) + 1) + conditional +
           row->counts.bits[VS_FIELD_TARGET] + row->counts.bits[VS_FIELD_ICNT] +
           row->counts.bits[VS_FIELD_CYCLES];
}

int main(int argc, char **argv)
{
    struct vs_diag diag = {0};
    struct vs_reader *reader;
    struct vs_verify v;
    struct vs_verify_result r;
    struct vs_technique_spec spec;
    struct vs_bandwidth b;
    if (argc != 2 || vs_reader_open(&reader, argv[1], VS_OPEN_DEFAULT, &diag) < 0 ||
        vs_technique_defaults(&spec, &vs_technique_outcomes) < 0 ||
        vs_verify_init(&v, reader, &diag) < 0 || vs_verify_flow(&v, &spec, &r, &diag) < 0 ||
        r.outcome != VS_VERIFY_SAME || vs_bandwidth_init(&b, reader, NULL, &diag) < 0 ||
        vs_bandwidth_add(&b, &spec, NULL, NULL, &diag) < 0 ||
        vs_bandwidth_run(&b, reader, NULL, &diag) < 0) {
        fprintf(stderr, "example: %s %s\n", diag.text, r.diag.text);
        return 1;
    }
    printf("compared %" PRIu64 " bits %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", r.compared, r.bits,
           b.rows[0].bits, by_hand(&b.rows[0], b.setup.cores));
    vs_bandwidth_fini(&b);
    vs_verify_fini(&v);
    vs_reader_close(reader);
    return 0;
}
