/* SPDX-License-Identifier: MIT */
/* usage: write run.vest   Writes the run of a machine that there is not: one thread, which executes
 * a loop of four instructions a thousand times. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <vestige/vestige.h>

enum { TURNS = 1000, LOOP = 0x10000, DATA = 0x20000 };

/* loop: ld a0,0(a1); addi a0,a0,1; sd a0,0(a1); j loop */
static const uint8_t code[] = {0x03, 0xb5, 0x05, 0x00, 0x13, 0x05, 0x15, 0x00,
                               0x23, 0xb0, 0xa5, 0x00, 0x6f, 0xf0, 0x5f, 0xff};

static struct vs_event event(uint8_t kind, uint64_t pc, uint64_t addr, uint64_t value,
                             uint16_t size, uint16_t icount)
{
    struct vs_event e;
    memset(&e, 0, sizeof(e));
    e.kind = kind;
    e.pc = pc;
    e.addr = addr;
    e.value = value;
    e.size = size;
    e.icount = icount;
    return e;
}

static int put(struct vs_writer *w, const struct vs_event *events, size_t count)
{
    struct vs_batch batch;
    memset(&batch, 0, sizeof(batch));
    batch.events = events;
    batch.count = count;
    return vs_writer_put(w, &batch);
}

static int write_events(struct vs_writer *w)
{
    struct vs_event start = event(VS_THREAD_START, LOOP, 1, 0, 0, 0);
    struct vs_event end = event(VS_THREAD_EXIT, 0, 0, 0, 0, 0);
    int error = put(w, &start, 1);
    for (uint64_t i = 0; i < TURNS && !error; i++) {
        struct vs_event turn[3];
        turn[0] = event(VS_LOAD, LOOP, DATA, i, 8, 1);
        turn[1] = event(VS_STORE, LOOP + 8, DATA, i + 1, 8, 2);
        turn[2] = event(VS_BRANCH, LOOP + 12, LOOP, 0, 4, 1);
        turn[2].flags = VS_BR_TAKEN;
        error = put(w, turn, 3);
    }
    return error ? error : put(w, &end, 1);
}

int main(int argc, char **argv)
{
    struct vs_writer_options options;
    struct vs_block block;
    struct vs_writer *w;
    struct vs_diag diag;
    if (argc != 2) {
        fprintf(stderr, "usage: write run.vest\n");
        return 2;
    }
    memset(&options, 0, sizeof(options));
    options.features = VS_RUN_LOADS | VS_RUN_STORES;
    options.overwrite = true;
    if (vs_writer_open(&w, argv[1], &options, &diag) < 0) {
        fprintf(stderr, "write: %s: %s\n", argv[1], diag.text);
        return 1;
    }
    memset(&block, 0, sizeof(block));
    block.addr = LOOP;
    block.bytes = code;
    block.size = sizeof(code);
    block.insns = 4;
    if (vs_writer_meta(w, "isa", "rv64") < 0 || vs_writer_block(w, &block) < 0 ||
        write_events(w) < 0) {
        fprintf(stderr, "write: %s: %s\n", argv[1], vs_writer_diag(w)->text);
        vs_writer_abort(w);
        return 1;
    }
    if (vs_writer_seal(w, &diag) < 0) {
        fprintf(stderr, "write: %s: %s\n", argv[1], diag.text);
        return 1;
    }
    return 0;
}
