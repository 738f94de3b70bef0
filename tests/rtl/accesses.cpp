// SPDX-License-Identifier: MIT
// usage: bench --spec SPEC [--seed N] (--random EVENTS | RUN...)
// Drives vs_mlvcf, beside the caches of its cores, and the model of the technique side by side,
// with what the cores of recorded runs or random ones do to memory, and compares the bits that both
// send. Words are taken at the port now and then, so that the module has to wait, and cores with
// it.
//
// Prints a line for each run: what was compared. If bits differ it names the first one, with its
// message and field. The exit status is 0; 1 if something differs; 2 if it cannot be compared.
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "Vtop.h"
#include "rtl/accesses.h"
#include "rtl/module.h"

namespace
{

class Bench
{
  public:
    Bench(const std::string &spec, rtl_accesses *source, const char *name, uint64_t seed)
        : spec(spec), source(source), name(name), random{seed * 2 + 1}, module(name, spec),
          top(module.top)
    {
        cores = top.cores;
        timed = top.time_bits != 0;
    }
    ~Bench()
    {
        if (model)
            rtl_model_close(model);
    }

    int run();

  private:
    const std::string &spec;
    rtl_accesses *source;
    const char *name;
    Random random;
    Pace pace;
    Module<Vtop> module;
    Vtop &top;
    rtl_model *model = nullptr;
    unsigned cores;
    bool timed;

    rtl_access ahead{};
    bool have_ahead = false;
    uint64_t steps = 0, waits = 0, last_taken = 0;

    void clock()
    {
        module.clock(pace.takes(random));
    }
    bool feed();
    void present(const rtl_access &a);
    void put_on_bus(const rtl_access &a, bool own);
};

void Bench::put_on_bus(const rtl_access &a, bool own)
{
    top.bus = 1;
    top.bus_core = own ? 1u << a.core : 0;
    top.bus_address = a.line;
    top.bus_drops = !own || a.kind == RTL_STORE || a.changed;
}

template <typename Port> void set_field(Port &port, unsigned shift, unsigned width, uint64_t value)
{
    uint64_t mask = ((UINT64_C(1) << width) - 1) << shift;
    port = static_cast<Port>((port & ~mask) | value << shift);
}

void Bench::present(const rtl_access &a)
{
    unsigned c = a.core;
    if (a.kind == RTL_LOAD || a.kind == RTL_STORE)
        put_on_bus(a, true);
    top.step |= 1u << c;
    set_field(top.kind, 3 * c, 3, a.kind);
    set_field(top.goes_on, c, 1, a.goes_on);
    set_field(top.changed, c, 1, a.changed);
    set_field(top.icount, 16 * c, 16, a.icount);
    set_field(top.offset, 16 * c, 16, a.addr & (top.line - 1));
    set_field(top.size, 4 * c, 4, a.size);
    set_field(top.length, 8 * c, 8, a.length);
    top.cycle[2 * c] = static_cast<uint32_t>(a.time);
    top.cycle[2 * c + 1] = static_cast<uint32_t>(a.time >> 32);
    uint8_t bytes[RTL_BYTES];
    memcpy(bytes, a.bytes, sizeof(bytes));
    if (a.kind == RTL_REGISTERS)
        memcpy(bytes, &a.number, sizeof(a.number));
    memcpy(&top.bytes[16 * c], bytes, sizeof(bytes));
}

// Runs a clock with what may happen in it: steps in global order, of cores one after the other,
// with one access to memory. Returns false when nothing is left.
bool Bench::feed()
{
    top.step = 0;
    top.bus = 0;
    top.forget = 0;
    bool over = false;
    for (unsigned core = 0; core < cores;) {
        if (!have_ahead && !(have_ahead = rtl_accesses_next(source, &ahead))) {
            over = !top.step;
            break;
        }
        bool alone = ahead.kind == RTL_FORGET || ahead.kind == RTL_DROP;
        bool accesses = ahead.kind == RTL_LOAD || ahead.kind == RTL_STORE;
        if (alone ? top.step != 0 : ahead.core < core || (accesses && top.bus))
            break;
        if (ahead.kind == RTL_FORGET) {
            // whoever waits is done first
            for (unsigned i = 0; i < 4; i++)
                clock();
            top.forget = 1;
            clock();
            top.forget = 0;
            while (!top.ready)
                clock();
            have_ahead = false;
            break;
        }
        if (alone) {
            put_on_bus(ahead, false);
            have_ahead = false;
            break;
        }
        if (!(top.free >> ahead.core & 1)) {
            waits++;
            break;
        }
        present(ahead);
        core = ahead.core + 1u;
        have_ahead = false;
        steps++;
    }
    if (!have_ahead)
        last_taken = module.clocks;
    clock();
    return !over;
}

int Bench::run()
{
    if (rtl_accesses_cores(source) != cores || (timed && !rtl_accesses_timed(source))) {
        fprintf(stderr,
                "bench: %s: the module is built for %u cores, %s; the run is not like that\n", name,
                cores, timed ? "timed" : "untimed");
        return 2;
    }
    model = rtl_accesses_model(source, timed);
    module.start();
    while (feed()) {
        if (module.clocks % 8192 == 0 && !module.same(model))
            return 1;
        if (module.clocks - last_taken > module.LONG)
            return !module.hangs(model);
    }
    top.step = 0;
    top.bus = 0;
    if (!module.finish(model, random, pace))
        return 1;
    module.tell(model, cores, timed);
    printf(", %" PRIu64 " steps, %" PRIu64 " loads and stores, waited %" PRIu64 " of %" PRIu64
           " clocks\n",
           steps, rtl_accesses_loads(source), waits, module.clocks);
    return 0;
}

int usage()
{
    fprintf(stderr, "usage: bench --spec SPEC [--seed N] (--random EVENTS | RUN...)\n");
    return 2;
}

} // namespace

int main(int argc, char **argv)
{
    std::string spec;
    uint64_t seed = 1, random = 0;
    std::vector<const char *> runs;
    for (int i = 1; i < argc; i++) {
        std::string a = argv[i];
        if (a == "--spec" && i + 1 < argc)
            spec = argv[++i];
        else if (a == "--seed" && i + 1 < argc)
            seed = strtoull(argv[++i], nullptr, 10);
        else if (a == "--random" && i + 1 < argc)
            random = strtoull(argv[++i], nullptr, 10);
        else if (a[0] == '-')
            return usage();
        else
            runs.push_back(argv[i]);
    }
    if (spec.empty() || (runs.empty() == !random))
        return usage();
    int status = 0;
    Vtop probe;
    probe.eval();
    unsigned bytes = probe.most, icount = (1u << probe.block) - 1;
    if (random) {
        rtl_accesses *source =
            rtl_accesses_random(seed, random, probe.cores, spec.c_str(), bytes, icount);
        char name[64];
        snprintf(name, sizeof(name), "random %" PRIu64, seed);
        status = Bench(spec, source, name, seed).run();
        rtl_accesses_close(source);
    }
    for (const char *path : runs) {
        rtl_accesses *source = rtl_accesses_run(path, spec.c_str(), bytes, icount);
        int s = Bench(spec, source, path, seed).run();
        status = s > status ? s : status;
        rtl_accesses_close(source);
    }
    return status;
}
