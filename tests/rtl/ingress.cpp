// SPDX-License-Identifier: MIT
// usage: ingress --spec SPEC RUN...
// Tells vs_ingress, before vs_mcftr, the blocks of recorded runs of one core, as a core's trace
// ingress port has them, and compares the bits with those of the model, which gets the steps.
// Blocks come at changing paces. Prints and exits as bench.cpp does.
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "Vtop.h"
#include "rtl/golden.h"

namespace
{

class Bench
{
  public:
    Bench(const char *spec, const char *name) : spec(spec), name(name)
    {
    }
    int run();

  private:
    const char *spec, *name;
    Vtop top;
    std::vector<uint8_t> sent;
    uint64_t bits = 0, state = 88172645463325252, compared = 0, blocks = 0, empty = 0, types = 0;

    uint32_t random()
    {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        return static_cast<uint32_t>(state >> 32);
    }
    void clock();
    void wait();
    void tell(const rtl_block &b, uint64_t now);
    void end(uint64_t after, uint64_t now);
    bool same(rtl_model *model, bool all);
};

void Bench::clock()
{
    top.word_ready = random() % 4 != 0;
    top.eval();
    if (top.word_valid && top.word_ready)
        for (unsigned i = 0; i < top.tail; i++, bits++) {
            if (bits % 8 == 0)
                sent.push_back(0);
            sent.back() |= static_cast<uint8_t>((top.word >> i & 1) << bits % 8);
        }
    top.clk = 1;
    top.eval();
    top.clk = 0;
    top.eval();
}

// Until there is room, and perhaps longer.
void Bench::wait()
{
    top.valid = top.halt = 0;
    // where a clock without a block makes a difference, that is what it finds
    top.iaddr = random();
    top.itype = random() & 15;
    if (random() % 8 == 0)
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

bool Bench::same(rtl_model *model, bool all)
{
    const uint8_t *data;
    uint64_t wanted = rtl_model_bits(model, &data);
    char where[256];
    for (; compared < bits && compared < wanted; compared++)
        if ((sent[compared / 8] ^ data[compared / 8]) >> compared % 8 & 1) {
            rtl_model_where(model, compared, where, sizeof(where));
            printf("%s: %s: bit %" PRIu64 " differs: %s\n", name, spec, compared, where);
            return false;
        }
    if (all && bits != wanted)
        printf("%s: %s: %" PRIu64 " bits were sent instead of %" PRIu64 "\n", name, spec, bits,
               wanted);
    return !all || bits == wanted;
}

int Bench::run()
{
    rtl_source *source = rtl_source_run(name, true);
    top.eval();
    bool timed = top.time_bits != 0;
    if (rtl_source_cores(source) != 1 || (timed && !rtl_source_timed(source))) {
        fprintf(stderr, "ingress: %s: the module is built for one core, %s\n", name,
                timed ? "timed" : "untimed");
        return 2;
    }
    rtl_model *model = rtl_model_open(spec, 1, timed, source);
    top.reset = 1;
    clock();
    clock();
    top.reset = 0;
    clock();
    while (!top.ready)
        clock();
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
        equal = same(model, false);
    }
    for (unsigned i = 0; equal && (i < 8 || !top.idle); i++) {
        top.flush = i >= 4;
        clock();
    }
    rtl_model_finish(model);
    equal = equal && same(model, true);
    if (equal)
        printf("%s: %s: %s: equal: %" PRIu64 " bits, %" PRIu64 " messages, %" PRIu64
               " blocks, %" PRIu64 " of them empty, types %04" PRIx64 "\n",
               name, spec, timed ? "timed" : "untimed", bits, rtl_model_messages(model), blocks,
               empty, types);
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
