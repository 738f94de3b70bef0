// SPDX-License-Identifier: MIT
// usage: bench --spec SPEC [--seed N] [--lossy] [--paced K] (--random STEPS | RUN...)
// Drives vs_mcftr and the model of the technique side by side, with the steps of recorded runs or
// with random ones, and compares the bits that both send. Words are taken at the port now and
// then, so that the module has to wait. Without --lossy a core waits as long as there is no room
// for its step; with it no core waits, and the model is told what the module says it has lost.
// With --paced each step of a timed run comes in its cycle, or later if the core has another one in
// that cycle or waits; the port takes a word in every K-th cycle. Then it also tells by how many
// cycles the latest step was late, in how many cycles a core waited for room, and how many bits of
// the steps that had entered were due at most, and had not gone at that pace.
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
#include "rtl/module.h"

namespace
{

constexpr unsigned MOST_CORES = 4;

struct Options {
    std::string spec;
    uint64_t seed = 1, random = 0;
    bool lossy = false;
    unsigned paced = 0;
    std::vector<const char *> runs;
};

// What one core is to be told next, block by block.
struct Lane {
    bool busy = false;
    rtl_step step{};
    uint32_t left = 0; // instructions of the step that were not told yet
    uint32_t told = 0; // and that were
    bool alive = false, was_lost = false;
};

class Bench
{
  public:
    Bench(const Options &o, rtl_source *source, const char *name)
        : options(o), source(source), name(name), random{o.seed * 2 + 1}, module(name, o.spec),
          top(module.top)
    {
        cores = top.cores;
        timed = top.time_bits != 0;
        most = (1u << top.block) - 1;
        model = rtl_model_open(o.spec.c_str(), cores, timed, source);
    }
    ~Bench()
    {
        rtl_model_close(model);
    }

    int run();

  private:
    const Options &options;
    rtl_source *source;
    const char *name;
    Random random;
    Pace pace;
    Module<Vtop> module;
    Vtop &top;
    rtl_model *model;
    unsigned cores, most;
    bool timed;

    Lane lanes[MOST_CORES];
    rtl_step ahead{};
    bool have_ahead = false;
    uint64_t steps = 0, lost = 0, gaps = 0, last_taken = 0;
    uint64_t now = 0, late = 0, waited = 0; // if paced
    uint64_t backlog = 0, burst = 0, drained = 0, counted = 0;

    bool fits() const;
    void clock();
    bool feed();
    void advance();
    void present(unsigned core);
    void account(unsigned core, bool room, bool lost_before);
};

bool Bench::fits() const
{
    unsigned needs = rtl_source_cores(source);
    unsigned ti = 0, ours = 0;
    while (1u << ti < needs)
        ti++;
    while (1u << ours < cores)
        ours++;
    return ti == ours && needs <= cores;
}

void Bench::clock()
{
    module.clock(options.paced ? module.clocks % options.paced == 0 : pace.takes(random));
}

void set_wide(VlWide<8> &port, unsigned i, uint64_t v)
{
    port[2 * i] = static_cast<uint32_t>(v);
    port[2 * i + 1] = static_cast<uint32_t>(v >> 32);
}

// Puts the core's next block at the ports.
void Bench::present(unsigned core)
{
    const Lane &l = lanes[core];
    bool whole = l.left <= most;
    uint32_t icount = whole ? l.left : most;
    unsigned kind = whole ? l.step.kind : static_cast<unsigned>(RTL_ONLY);
    top.step |= 1u << core;
    top.kind = static_cast<uint16_t>((top.kind & ~(7u << 3 * core)) | kind << 3 * core);
    uint64_t shift = 16 * core;
    top.icount = (top.icount & ~(UINT64_C(0xffff) << shift)) | static_cast<uint64_t>(icount)
                                                                   << shift;
    set_wide(top.pc, core, l.step.pc);
    set_wide(top.target, core, l.step.target);
    set_wide(top.cycle, core, l.step.time);
    top.size = static_cast<uint16_t>((top.size & ~(15u << 4 * core)) | l.step.size << 4 * core);
    auto flag = [&](CData &port, unsigned bit) {
        port = static_cast<CData>((port & ~(1u << core)) | (l.step.flags & bit ? 1u << core : 0));
    };
    flag(top.taken, RTL_IS_TAKEN);
    flag(top.returns, RTL_IS_RETURN);
    flag(top.calls, RTL_IS_CALL);
}

// Tells the model what the module took of the block it was given in the last clock.
void Bench::account(unsigned core, bool room, bool lost_before)
{
    Lane &l = lanes[core];
    bool whole = l.left <= most;
    bool leaves = whole && l.step.kind == RTL_DISCONTINUITY && !l.step.target;
    bool lost_now = top.lost >> core & 1;
    uint32_t icount = whole ? l.left : most;
    rtl_step s = l.step;
    if (!lost_before && (room || leaves)) {
        l.told += icount;
        if (whole) {
            s.icount = l.told;
            rtl_model_step(model, &s);
            l.told = 0;
            if (s.kind == RTL_DISCONTINUITY)
                l.alive = !leaves;
        }
    } else {
        lost += whole;
        if (!lost_before && l.alive) {
            gaps++;
            s = rtl_step{};
            s.core = static_cast<uint16_t>(core);
            s.kind = RTL_DISCONTINUITY;
            s.time = l.step.time;
            s.icount = l.told;
            rtl_model_step(model, &s);
            l.alive = false;
        } else if (lost_before && !lost_now && !leaves) {
            s = rtl_step{};
            s.core = static_cast<uint16_t>(core);
            s.kind = RTL_DISCONTINUITY;
            s.time = l.step.time;
            bool goes = l.step.kind == RTL_DISCONTINUITY || l.step.flags & RTL_IS_TAKEN;
            s.target = goes ? l.step.target : l.step.pc + l.step.size;
            rtl_model_step(model, &s);
            l.alive = true;
        }
        l.told = 0;
    }
    l.left -= icount;
    if (whole)
        l.busy = false;
}

// The next cycle, or that of the next step if nothing goes on until then.
void Bench::advance()
{
    uint64_t sent_now = rtl_model_sent(model),
             taken = (now - drained) * top.word_bits / options.paced;
    backlog = backlog > taken ? backlog - taken : 0;
    drained = backlog ? drained + taken * options.paced / top.word_bits : now;
    backlog += sent_now - counted;
    counted = sent_now;
    burst = backlog > burst ? backlog : burst;
    bool rests = top.idle && have_ahead && ahead.time > now + 8;
    for (unsigned core = 0; core < cores; core++)
        rests = rests && !lanes[core].busy;
    now = rests ? ahead.time : now + 1;
}

// Runs a clock with what may be told in it: steps in global order, each core one. Returns false
// when no step is left.
bool Bench::feed()
{
    top.step = 0;
    unsigned given = 0, first = 0;
    for (unsigned core = 0; core < cores; core++)
        if (lanes[core].busy)
            first = core;
    for (unsigned core = first; core < cores; core++) {
        Lane &l = lanes[core];
        // steps of a clock are in the order of cores; a core that is not done lets nobody pass
        if (!l.busy) {
            if (!have_ahead && !(have_ahead = rtl_source_next(source, &ahead)))
                break;
            if (options.paced && ahead.time > now)
                break;
            if (ahead.core != core)
                continue;
            if (options.paced && now - ahead.time > late)
                late = now - ahead.time;
            l.busy = true;
            l.step = ahead;
            l.left = ahead.icount;
            have_ahead = false;
            steps++;
        }
        bool room = top.room >> core & 1;
        if (!room && !options.lossy) {
            waited++;
            break;
        }
        present(core);
        given |= 1u << core;
        if (l.left > most)
            break;
    }
    uint8_t room = top.room, lost_before = top.lost;
    bool idle = !given && !have_ahead;
    for (unsigned core = 0; core < cores; core++)
        idle = idle && !lanes[core].busy;
    clock();
    if (given)
        last_taken = module.clocks;
    for (unsigned core = 0; core < cores; core++)
        if (given >> core & 1)
            account(core, room >> core & 1, lost_before >> core & 1);
    if (options.paced)
        advance();
    return !idle;
}

int Bench::run()
{
    if (!fits() || (timed && !rtl_source_timed(source))) {
        fprintf(stderr,
                "bench: %s: the module is built for %u cores, %s; the run is not like that\n", name,
                cores, timed ? "timed" : "untimed");
        return 2;
    }
    module.start();
    while (feed()) {
        if (module.clocks % 8192 == 0 && !module.same(model))
            return 1;
        if (module.clocks - last_taken > module.LONG)
            return !module.hangs(model);
    }
    top.step = 0;
    if (!module.finish(model, random, pace))
        return 1;
    module.tell(model, cores, timed);
    printf(", %" PRIu64 " steps, %" PRIu64 " instructions", steps, rtl_source_instructions(source));
    if (options.lossy)
        printf(", %" PRIu64 " steps lost in %" PRIu64 " gaps", lost, gaps);
    if (options.paced)
        printf(", late %" PRIu64 ", waited %" PRIu64 ", burst %" PRIu64, late, waited, burst);
    printf("\n");
    return 0;
}

int usage()
{
    fprintf(
        stderr,
        "usage: bench --spec SPEC [--seed N] [--lossy] [--paced K] (--random STEPS | RUN...)\n");
    return 2;
}

} // namespace

int main(int argc, char **argv)
{
    Options o;
    for (int i = 1; i < argc; i++) {
        std::string a = argv[i];
        if (a == "--lossy")
            o.lossy = true;
        else if (a == "--spec" && i + 1 < argc)
            o.spec = argv[++i];
        else if (a == "--seed" && i + 1 < argc)
            o.seed = strtoull(argv[++i], nullptr, 10);
        else if (a == "--paced" && i + 1 < argc)
            o.paced = static_cast<unsigned>(strtoul(argv[++i], nullptr, 10));
        else if (a == "--random" && i + 1 < argc)
            o.random = strtoull(argv[++i], nullptr, 10);
        else if (a[0] == '-')
            return usage();
        else
            o.runs.push_back(argv[i]);
    }
    if (o.spec.empty() || (o.runs.empty() == !o.random))
        return usage();
    int status = 0;
    bool accesses = o.spec.compare(0, 4, "ADAC") == 0;
    if (o.random) {
        Vtop probe;
        probe.eval();
        rtl_source *source = accesses ? rtl_source_random_accesses(o.seed, o.random)
                                      : rtl_source_random(o.seed, o.random, probe.cores);
        char name[64];
        snprintf(name, sizeof(name), "random %" PRIu64, o.seed);
        status = Bench(o, source, name).run();
        rtl_source_close(source);
    }
    for (const char *path : o.runs) {
        rtl_source *source = accesses ? rtl_source_accesses(path)
                                      : rtl_source_run(path, o.spec.compare(0, 6, "etrace") == 0);
        int s = Bench(o, source, path).run();
        status = s > status ? s : status;
        rtl_source_close(source);
    }
    return status;
}
