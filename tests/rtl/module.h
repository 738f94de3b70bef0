// SPDX-License-Identifier: MIT
// A module of the RTL under test, as all benches drive it: it is clocked, words are taken at its
// port now and then, so that it has to wait, and the bits are compared with those of the model.
#ifndef RTL_MODULE_H
#define RTL_MODULE_H

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "rtl/golden.h"

struct Random {
    uint64_t state;
    uint32_t next()
    {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        return static_cast<uint32_t>(state >> 32);
    }
};

// What its receiver does: it takes nothing, some or all of the words for a while.
struct Pace {
    unsigned of_256 = 0;
    bool takes(Random &random)
    {
        if (random.next() % 4096 == 0)
            of_256 = random.next() % 4 == 0 ? random.next() % 64 : 256;
        return random.next() % 256 < of_256;
    }
};

// Top: what Verilator makes of the module; its ports have the same names in all modules.
template <typename Top> class Module
{
  public:
    static constexpr unsigned LONG = 1000000; // clocks in which something must go on

    Top top;
    uint64_t clocks = 0, bits = 0;

    // What is compared is named so.
    Module(const std::string &name, const std::string &spec) : title(name + ": " + spec)
    {
        top.eval();
    }

    void clock(bool takes)
    {
        top.word_ready = takes;
        top.eval();
        if (top.word_valid && top.word_ready)
            take(top.word, top.tail);
        top.clk = 1;
        top.eval();
        top.clk = 0;
        top.eval();
        clocks++;
    }

    void start()
    {
        top.reset = 1;
        clock(false);
        clock(false);
        top.reset = 0;
        do
            clock(false);
        while (!top.ready);
    }

    // Compares what both have sent so far. If bits differ, it says which is the first.
    bool same(rtl_model *model)
    {
        const uint8_t *data;
        uint64_t theirs = rtl_model_bits(model, &data), both = bits < theirs ? bits : theirs;
        while (compared < both) {
            uint64_t at = compared / 8;
            if (compared % 8 == 0 && both - compared >= 8 && sent[at] == data[at]) {
                compared += 8;
                continue;
            }
            unsigned ours = sent[at] >> compared % 8 & 1, wanted = data[at] >> compared % 8 & 1;
            if (ours != wanted) {
                char where[256];
                rtl_model_where(model, compared, where, sizeof(where));
                printf("%s: bit %" PRIu64 " is %u and should be %u: %s\n", title.c_str(), compared,
                       ours, wanted, where);
                return false;
            }
            compared++;
        }
        return true;
    }

    // Has it send all that it has, and compares all.
    bool finish(rtl_model *model, Random &random, Pace &pace)
    {
        for (unsigned waited = 0; !top.idle || waited < 8; waited++) {
            top.flush = waited >= 4;
            clock(pace.takes(random));
            if (waited > LONG)
                return hangs(model);
        }
        rtl_model_finish(model);
        const uint8_t *data;
        uint64_t theirs = rtl_model_bits(model, &data);
        if (!same(model))
            return false;
        if (bits != theirs)
            printf("%s: %" PRIu64 " bits were sent instead of %" PRIu64 "\n", title.c_str(), bits,
                   theirs);
        return bits == theirs;
    }

    // Always false.
    bool hangs(rtl_model *model)
    {
        if (same(model))
            printf("%s: the module never comes to an end\n", title.c_str());
        return false;
    }

    // Begins the line about what was equal.
    void tell(const rtl_model *model, unsigned cores, bool timed) const
    {
        printf("%s: %u cores, %s: equal: %" PRIu64 " bits, %" PRIu64 " messages", title.c_str(),
               cores, timed ? "timed" : "untimed", bits, rtl_model_messages(model));
    }

  private:
    std::string title;
    std::vector<uint8_t> sent;
    uint64_t compared = 0;

    void take(uint32_t word, unsigned count)
    {
        for (unsigned i = 0; i < count; i++, bits++) {
            if (bits % 8 == 0)
                sent.push_back(0);
            sent.back() |= static_cast<uint8_t>((word >> i & 1) << bits % 8);
        }
    }
};

#endif
