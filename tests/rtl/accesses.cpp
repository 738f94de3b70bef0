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

namespace
{

constexpr unsigned LONG = 1000000; // clocks in which something must go on

class Bench
{
  public:
    Bench(const std::string &spec, rtl_accesses *source, const char *name, uint64_t seed)
        : spec(spec), source(source), name(name), random(seed * 2 + 1)
    {
        top.eval();
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
    uint64_t random;
    Vtop top;
    rtl_model *model = nullptr;
    unsigned cores;
    bool timed;

    rtl_access ahead{};
    bool have_ahead = false;
    uint64_t steps = 0, waits = 0, clocks = 0, last_taken = 0;
    std::vector<uint8_t> sent;
    uint64_t bits = 0, compared = 0;
    unsigned pace = 0; // of the port's receiver, in 256

    uint32_t next_random()
    {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        return static_cast<uint32_t>(random >> 32);
    }
    void clock();
    bool feed();
    void present(const rtl_access &a);
    void put_on_bus(const rtl_access &a, bool own);
    bool compare(bool all);
    int hangs();
};

void Bench::clock()
{
    if (next_random() % 4096 == 0)
        pace = next_random() % 4 == 0 ? next_random() % 64 : 256;
    top.word_ready = next_random() % 256 < pace;
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
    clocks++;
}

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
        last_taken = clocks;
    clock();
    return !over;
}

bool Bench::compare(bool all)
{
    const uint8_t *data;
    uint64_t theirs = rtl_model_bits(model, &data);
    uint64_t both = bits < theirs ? bits : theirs;
    char where[256];
    while (compared < both) {
        if (compared % 8 == 0 && both - compared >= 8 && sent[compared / 8] == data[compared / 8]) {
            compared += 8;
            continue;
        }
        unsigned ours = sent[compared / 8] >> compared % 8 & 1;
        unsigned wanted = data[compared / 8] >> compared % 8 & 1;
        if (ours != wanted) {
            rtl_model_where(model, compared, where, sizeof(where));
            printf("%s: %s: bit %" PRIu64 " is %u and should be %u: %s\n", name, spec.c_str(),
                   compared, ours, wanted, where);
            return false;
        }
        compared++;
    }
    if (all && bits != theirs) {
        printf("%s: %s: %" PRIu64 " bits were sent instead of %" PRIu64 "\n", name, spec.c_str(),
               bits, theirs);
        return false;
    }
    return true;
}

int Bench::hangs()
{
    if (compare(false))
        printf("%s: %s: the module never comes to an end\n", name, spec.c_str());
    return 1;
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
    top.reset = 1;
    clock();
    clock();
    top.reset = 0;
    clock();
    while (!top.ready)
        clock();
    while (feed()) {
        if (clocks % 8192 == 0 && !compare(false))
            return 1;
        if (clocks - last_taken > LONG)
            return hangs();
    }
    top.step = 0;
    top.bus = 0;
    for (unsigned waited = 0; !top.idle || waited < 8; waited++) {
        top.flush = waited >= 4;
        clock();
        if (waited > LONG)
            return hangs();
    }
    rtl_model_finish(model);
    if (!compare(true))
        return 1;
    printf("%s: %s: %u cores, %s: equal: %" PRIu64 " bits, %" PRIu64 " messages, %" PRIu64
           " steps, %" PRIu64 " loads and stores, waited %" PRIu64 " of %" PRIu64 " clocks\n",
           name, spec.c_str(), cores, timed ? "timed" : "untimed", bits, rtl_model_messages(model),
           steps, rtl_accesses_loads(source), waits, clocks);
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
