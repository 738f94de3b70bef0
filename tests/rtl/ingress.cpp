// SPDX-License-Identifier: MIT
// usage: ingress --spec SPEC RUN...
// Tells vs_ingress, before vs_mcftr, the blocks of recorded runs of one core, as a core's trace
// ingress port has them, and compares the bits with those of the model, which gets the steps.
// Blocks come at changing paces. Prints and exits as bench.cpp does.
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <string>

#include "Vtop.h"
#include "rtl/module.h"

namespace
{

class Bench
{
  public:
    Bench(const char *spec, const char *name)
        : spec(spec), name(name), module(name, spec), top(module.top)
    {
    }
    int run();

  private:
    const char *spec, *name;
    Random random{88172645463325252};
    Pace pace;
    Module<Vtop> module;
    Vtop &top;
    uint64_t blocks = 0, empty = 0, types = 0;

    void clock()
    {
        module.clock(pace.takes(random));
    }
    void wait();
    void tell(const rtl_block &b, uint64_t now);
    void end(uint64_t after, uint64_t now);
};

// Until there is room, and perhaps longer.
void Bench::wait()
{
    top.valid = top.halt = 0;
    // where a clock without a block makes a difference, that is what it finds
    top.iaddr = random.next();
    top.itype = random.next() & 15;
    if (random.next() % 8 == 0)
        clock();
    while (!top.room)
        clock();
}

void Bench::tell(const rtl_block &b, uint64_t now)
{
    wait();
    top.valid = 1;
    top.itype = b.itype;
    top.iaddr = b.pc;
    top.iretire = static_cast<uint16_t>(b.bytes / 2);
    top.ilastsize = b.last == 4;
    top.icount = static_cast<uint16_t>(b.icount);
    top.now = now;
    clock();
    top.valid = 0;
    blocks++;
    empty += !b.icount;
    types |= UINT64_C(1) << b.itype;
}

void Bench::end(uint64_t after, uint64_t now)
{
    wait();
    top.halt = 1;
    top.iaddr = after;
    top.now = now;
    clock();
    top.halt = 0;
    clock();
}

int Bench::run()
{
    rtl_source *source = rtl_source_run(name, true);
    bool timed = top.time_bits != 0;
    if (rtl_source_cores(source) != 1 || (timed && !rtl_source_timed(source))) {
        fprintf(stderr, "ingress: %s: the module is built for one core, %s\n", name,
                timed ? "timed" : "untimed");
        return 2;
    }
    rtl_model *model = rtl_model_open(spec, 1, timed, source);
    module.start();
    rtl_step step, start{};
    bool starts = false, alive = false, equal = true;
    uint64_t after;
    size_t count;
    while (equal && rtl_source_next(source, &step)) {
        if (!alive && step.kind == RTL_DISCONTINUITY && step.target) {
            start = step;
            alive = starts = true;
            continue;
        }
        // the port shows a start with the first block; without one there is nothing to see
        if (starts && step.kind == RTL_DISCONTINUITY && !step.target && !step.icount) {
            alive = starts = false;
            continue;
        }
        if (starts) {
            start.time = step.time;
            rtl_model_step(model, &start);
            starts = false;
        }
        rtl_model_step(model, &step);
        const rtl_block *b = rtl_source_blocks(source, &count, &after);
        for (size_t i = 0; i < count; i++) {
            if (b[i].icount > 4095 || b[i].bytes / 2 > 8191) {
                fprintf(stderr, "ingress: %s: a block is too long for the module\n", name);
                return 2;
            }
            tell(b[i], step.time);
        }
        if (step.kind == RTL_DISCONTINUITY && !step.target) {
            end(after, step.time);
            alive = false;
        }
        equal = module.same(model);
    }
    equal = equal && module.finish(model, random, pace);
    if (equal) {
        module.tell(model, 1, timed);
        printf(", %" PRIu64 " blocks, %" PRIu64 " of them empty, types %04" PRIx64 "\n", blocks,
               empty, types);
    }
    rtl_model_close(model);
    rtl_source_close(source);
    return !equal;
}

} // namespace

int main(int argc, char **argv)
{
    int status = 0;
    if (argc < 4 || strcmp(argv[1], "--spec")) {
        fprintf(stderr, "usage: ingress --spec SPEC RUN...\n");
        return 2;
    }
    for (int i = 3; i < argc; i++) {
        int s = Bench(argv[2], argv[i]).run();
        status = s > status ? s : status;
    }
    return status;
}
