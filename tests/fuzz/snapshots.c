/* SPDX-License-Identifier: MIT */
/* Any bytes, taken for packed snapshots: the first says how many, the second of how many threads.
 * What is accepted can be walked over. */
#include <stdlib.h>

#include "rerun/snapshots.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int look(void *context, uint64_t number, const uint8_t *bytes)
{
    uint64_t *sum = context;
    *sum += number + (bytes ? bytes[VS_PAGE_SIZE - 1] : 0);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct vs_packed_snapshots s;
    uint64_t sum = 0;
    if (size < 2 || vs_snapshots_parse(&s, data + 2, size - 2, data[0], data[1], 40))
        return 0;
    for (unsigned i = 0; i < s.count; i++) {
        int err = vs_snapshot_pages(&s.snapshots[i], look, &sum);
        if (err && err != -VSE_CORRUPT)
            abort();
        for (unsigned k = 0; k < data[1]; k++)
            sum += vs_snapshot_thread(&s.snapshots[i], k).goal;
    }
    return 0;
}
