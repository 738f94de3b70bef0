/* SPDX-License-Identifier: MIT */
/* etrace FILE STREAM OPTIONS: follows a stream of RISC-V Efficient Trace through a program, and
 * prints how many instructions were executed and a hash of their addresses. Written from the rules
 * of the standard, and in its way: a packet's address that is met without a jump is taken for
 * reached until the next packet says otherwise. OPTIONS are as vestige names them. */
#include "rv64_code.h"

enum { DEPTH = 1 << 16, ENTRIES = 1 << 16, ADDRESS = 63 };

static struct state {
    struct code code;
    const uint8_t *at, *end; /* of the stream */
    struct executed executed;

    bool returns, sijump, full, ecall, cache, predictor;
    unsigned depth, cache_bits, predictor_mask;
    uint64_t tvec; /* where traps lead to, if F3.1 does not say it */

    uint64_t pc, last_pc, address, previous;
    bool start, inferred, stop_at_last, trapped;
    uint64_t map, predicted;
    unsigned bits;
    bool wrong, untrained;
    enum { NO_CARRY, RIGHT, WRONG } carry; /* the branch at the last packet's address */
    unsigned silent;                       /* returns since the last branch or packet */
    uint64_t stack[DEPTH];
    unsigned top, used;
    uint64_t targets[ENTRIES];
    uint8_t outcomes[ENTRIES];

    bool notify, updiscon, irreport;
    unsigned irets, format;
} s;

/* ---- packets ---- */

static uint8_t packet[40]; /* extended with its last bit */
static unsigned position;
static bool last_bit;

static uint64_t get(unsigned n)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < n; i++, position++) {
        last_bit = packet[position / 8] >> position % 8 & 1;
        v |= (uint64_t)last_bit << i;
    }
    return v;
}

static bool get_flag(void)
{
    bool before = last_bit;
    return get(1) != before;
}

static unsigned next_size(void)
{
    unsigned head = *s.at++, size = head & 31;
    if (head & 0x80)
        s.at += 8;
    if (!size || s.at + size > s.end)
        fail("a packet is cut", (uint64_t)(s.end - s.at));
    memset(packet, s.at[size - 1] & 0x80 ? 0xff : 0, sizeof(packet));
    memcpy(packet, s.at, size);
    s.at += size;
    position = 0;
    return size;
}

/* ---- the program ---- */

static bool is_conditional(uint64_t pc)
{
    return insn_at(&s.code, pc).kind == CONDITIONAL;
}

static uint64_t branches(void)
{
    return s.bits + s.predicted + s.wrong + (s.carry != NO_CARRY);
}

/* All branches are passed, but for the one at pc. */
static bool passed(uint64_t pc)
{
    return branches() == is_conditional(pc);
}

static bool outcome(uint64_t pc)
{
    uint8_t *entry = &s.outcomes[pc >> 1 & s.predictor_mask];
    bool prediction = *entry >> 1, taken;
    if (s.carry) {
        taken = prediction == (s.carry == RIGHT);
        s.carry = NO_CARRY;
    } else if (s.bits) {
        taken = !(s.map & 1);
        s.map >>= 1;
        s.bits--;
    } else if (s.predicted) {
        taken = prediction;
        s.predicted--;
    } else if (s.wrong) {
        taken = !prediction;
        s.wrong = false;
    } else {
        fail("a branch without outcome", pc);
        return false;
    }
    if (s.predictor && !s.untrained)
        *entry = (uint8_t)((prediction != (*entry & 1) ? taken : prediction) << 1 | taken);
    s.untrained = false;
    s.silent = 0;
    return taken;
}

static void push(uint64_t address)
{
    s.stack[s.top++ % s.depth] = address;
    s.used += s.used < s.depth;
}

static bool is_implicit(const struct insn *i)
{
    if (!s.returns || !is_return(i) || !s.used)
        return false;
    bool reported = s.format != 3 && s.irreport && s.silent == s.irets &&
                    branches() <= is_conditional(s.address);
    s.used--;
    s.top--;
    return !reported;
}

static bool is_uninferable(const struct insn *i)
{
    return i->kind == INDIRECT || (i->kind == SYSTEM && s.ecall);
}

/* Goes to the next instruction. Returns whether `address` was needed for that. */
static bool next_pc(uint64_t address)
{
    struct insn i = insn_at(&s.code, s.pc), before = {0};
    uint64_t here = s.pc, target;
    bool stop = false;
    if (s.last_pc)
        before = insn_at(&s.code, s.last_pc);
    if (i.kind == JUMP) {
        s.pc = i.target;
    } else if (s.sijump && is_sequential(&i, &before, &target) &&
               s.last_pc + before.length == s.pc) {
        s.pc = target;
    } else if (is_implicit(&i)) {
        s.pc = s.stack[s.top % s.depth];
        s.silent++;
    } else if (is_uninferable(&i)) {
        if (s.stop_at_last)
            fail("a jump before the last branch", s.pc);
        s.pc = address;
        stop = true;
        if (s.cache)
            s.targets[address >> 1 & ((1u << s.cache_bits) - 1)] = address;
    } else if (i.kind == CONDITIONAL && outcome(s.pc)) {
        s.pc = i.target;
    } else {
        s.pc += i.length;
    }
    if (is_call(&i))
        push(here + i.length);
    s.last_pc = here;
    s.untrained = false;
    execute(&s.executed, s.pc);
    return stop;
}

/* The last packet's address was not where the core first met it. */
static void go_to_second(void)
{
    s.inferred = false;
    while (!next_pc(s.previous))
        ;
}

static void follow(void)
{
    for (;;) {
        bool stop = next_pc(s.address);
        if (s.stop_at_last && branches() == 1 && is_conditional(s.pc)) {
            s.stop_at_last = false;
            return;
        }
        if (stop) {
            if (branches() > is_conditional(s.pc))
                fail("branches are left", s.pc);
            return;
        }
        if (s.pc != s.address || s.stop_at_last || !passed(s.pc))
            continue;
        if (s.format == 3)
            return;
        if (s.irreport && s.silent != s.irets)
            continue;
        if (s.notify || (s.irreport && s.irets == 255))
            return;
        if (!s.updiscon) {
            s.inferred = true;
            s.previous = s.address;
            return;
        }
    }
}

/* ---- what packets say ---- */

static void forget(void)
{
    s.used = s.top = 0;
    memset(s.targets, 0, sizeof(s.targets));
    memset(s.outcomes, 1, sizeof(s.outcomes));
}

static void sync_packet(bool trap)
{
    bool bit = get(1), thaddr = true;
    get(2);
    if (trap) {
        get(6);
        get(1);
        thaddr = get(1);
    }
    uint64_t address = trap && thaddr && s.tvec ? s.tvec : get(ADDRESS) << 1;
    s.inferred = false;
    forget();
    if (trap || s.start || s.trapped) {
        s.predicted = 0;
        s.wrong = false;
        s.carry = NO_CARRY;
    }
    if (!thaddr) {
        s.trapped = true;
        return;
    }
    bool jumps = trap || s.start || s.trapped;
    s.address = address;
    if (jumps)
        s.map = s.bits = 0;
    if (is_conditional(address))
        s.map |= (uint64_t)bit << s.bits++;
    if (jumps) {
        s.pc = address;
        s.last_pc = 0;
        execute(&s.executed, s.pc);
    } else {
        follow();
        forget();
        s.last_pc = 0;
    }
    s.untrained = is_conditional(address);
    s.start = s.trapped = false;
}

static void support_packet(void)
{
    enum { ENDED_NTR = 3 };
    get(2);
    unsigned status = (unsigned)get(2);
    s.stop_at_last = false;
    if (!status)
        return;
    if (status == ENDED_NTR && s.inferred)
        go_to_second();
    s.start = true;
    s.inferred = false;
    s.map = s.bits = 0;
}

static unsigned map_width(unsigned n)
{
    return n > 15 ? 31 : n > 7 ? 15 : n > 3 ? 7 : n > 1 ? 3 : n;
}

static void get_returns(void)
{
    s.irreport = get_flag();
    s.irets = (unsigned)get(s.returns ? 8 : 0);
}

static void get_address(void)
{
    uint64_t sent = get(ADDRESS) << 1;
    s.address = s.full ? sent : s.address + sent;
    s.notify = get_flag();
    s.updiscon = get_flag();
    get_returns();
}

static void get_map(unsigned n, unsigned width)
{
    s.map |= get(width) << s.bits;
    s.bits += n;
}

static void other_packet(void)
{
    bool index = s.cache && s.format == 0;
    s.notify = s.updiscon = s.irreport = s.stop_at_last = false;
    s.silent = 0;
    s.carry = s.predicted ? RIGHT : s.wrong ? WRONG : NO_CARRY;
    s.predicted = 0;
    s.wrong = false;
    if (s.format == 0 && s.cache && s.predictor)
        index = get(1);
    if (s.format == 2) {
        get_address();
    } else if (s.format == 1) {
        unsigned n = (unsigned)get(5);
        get_map(n ? n : 31, n ? map_width(n) : 31);
        s.stop_at_last = !n;
        if (n)
            get_address();
    } else if (index) {
        s.address = s.targets[get(s.cache_bits)];
        unsigned n = (unsigned)get(5);
        get_map(n, map_width(n));
        get_returns();
        s.updiscon = true; /* only jumps' targets are in the cache */
    } else {
        s.predicted = get(32) + 31;
        unsigned form = (unsigned)get(2);
        s.wrong = form != 2;
        s.stop_at_last = !form;
        if (form)
            get_address();
    }
    follow();
}

int main(int argc, char **argv)
{
    size_t size;
    if (argc != 4)
        return 2;
    s.code = load_code(argv[1]);
    uint8_t *stream = load(argv[2], &size);
    s.at = stream;
    s.end = stream + size;
    s.start = true;
    s.returns = !option_is(argv[3], "implicit_return", "reported");
    s.depth = (unsigned)atoi(option(argv[3], "depth"));
    s.tvec = strtoull(option(argv[3], "tvec"), NULL, 0);
    s.sijump = option_is(argv[3], "sijump", "on");
    s.full = option_is(argv[3], "addresses", "full");
    s.ecall = option_is(argv[3], "ecall", "jump");
    unsigned entries = (unsigned)atoi(option(argv[3], "jtc"));
    s.cache = entries;
    while (entries >> (s.cache_bits + 1))
        s.cache_bits++;
    s.predictor = atoi(option(argv[3], "bpred"));
    s.predictor_mask = s.predictor ? (unsigned)atoi(option(argv[3], "bpred")) - 1 : 0;
    while (s.at < s.end) {
        next_size();
        s.format = (unsigned)get(2);
        if (s.format != 3) {
            if (s.start)
                fail("not started", 0);
            if (s.inferred)
                go_to_second();
            other_packet();
            continue;
        }
        unsigned subformat = (unsigned)get(2);
        if (subformat == 3)
            support_packet();
        else
            sync_packet(subformat == 1);
    }
    printf("%llu %016llx\n", (unsigned long long)s.executed.count,
           (unsigned long long)s.executed.hash);
    free(stream);
    free_code(&s.code);
    return 0;
}
