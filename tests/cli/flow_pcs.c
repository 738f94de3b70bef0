/* SPDX-License-Identifier: MIT */
/* The number of all instructions of each thread, and a hash of their addresses, as Vestige decodes
 * the raw streams of a run: a line for each thread.
 *
 *   flow_pcs run.vest SPEC STREAM...
 *
 * It is not for runs in which an instruction that repeats itself is interrupted: Vestige counts it
 * when it begins, others when it ends. */
#include <inttypes.h>

#include "flow_walk.h"

struct followed {
    const struct vs_verify *v;
    struct {
        uint64_t pc, count, hash;
    } * cores;
};

static int follow(void *context, const struct vs_step *steps, size_t count)
{
    struct followed *f = context;
    for (const struct vs_step *s = steps; s < steps + count; s++) {
        uint64_t *pc = &f->cores[s->core].pc, *hash = &f->cores[s->core].hash;
        for (uint32_t i = 0; i < s->icount; i++) {
            uint8_t bytes[VS_ISA_LENGTH_MAX];
            struct vs_insn insn;
            size_t size = vs_text_fetch(&f->v->code, 0, *pc, bytes, sizeof(bytes));
            if (!size || f->v->isa->decode(bytes, size, *pc, &insn) < 0)
                return -VSE_NOTFOUND;
            *hash = flow_mix(*hash, *pc);
            *pc += insn.length;
        }
        f->cores[s->core].count += s->icount;
        if (s->kind != VS_STEP_DISCONTINUITY && *pc != s->pc + s->size)
            return -VSE_CORRUPT;
        *pc = vs_step_next(s);
    }
    return 0;
}

int main(int argc, char **argv)
{
    struct flow_walk w;
    flow_open(&w, argc, argv);
    struct followed f = {.v = &w.v, .cores = calloc(w.v.setup.cores, sizeof(*f.cores))};
    if (!f.cores)
        fail(argv[1], "out of memory");
    flow_follow(&w, argv + 3, follow, &f);
    for (unsigned i = 0; i < w.v.setup.cores; i++)
        printf("%" PRIu64 " %016" PRIx64 "\n", f.cores[i].count, f.cores[i].hash);
    free(f.cores);
    flow_close(&w);
    return 0;
}
