/* SPDX-License-Identifier: MIT */
/* ntrace FILE STREAM OPTIONS: follows a stream of RISC-V N-Trace through a program, and prints how
 * many instructions were executed and a hash of their addresses. Written from the rules of the
 * standard. OPTIONS are as vestige names them. */
#include "rv64_code.h"

enum { STACK = 32 };

static struct state {
    struct code code;
    const uint8_t *at, *end; /* of the stream */
    struct executed executed;
    bool btm, returns, sijump, jumps, extended;

    uint64_t pc, last_pc, address;
    uint64_t stack[STACK];
    unsigned top, used;
    uint64_t halves; /* executed since the last iCnt */
    uint64_t more;   /* iCnt of ResourceFull */
    uint64_t history;
    unsigned outcomes; /* left in it */
} s;

/* ---- messages ---- */

static unsigned bit; /* of the byte at s.at */
static bool ended;   /* the message has */

static void need(void)
{
    if (s.at >= s.end)
        fail("a message is cut", 0);
}

static uint64_t fixed(unsigned n)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < n; i++) {
        if (bit == 6) {
            s.at++;
            bit = 0;
        }
        need();
        v |= (uint64_t)(*s.at >> (2 + bit++) & 1) << i;
    }
    return v;
}

static unsigned width; /* of the last variable field, as it was sent */

static uint64_t variable(void)
{
    uint64_t v = 0;
    unsigned n = 0, end;
    if (bit == 6) {
        s.at++;
        bit = 0;
    }
    do {
        need();
        v |= n < 64 ? (uint64_t)(*s.at >> (2 + bit)) << n : 0;
        n += 6 - bit;
        bit = 0;
        end = *s.at++ & 3;
    } while (!end);
    s.at--;
    bit = 6;
    ended = end == 3;
    width = n;
    return v;
}

/* An address of 63 bits, whose last bit that is sent may stand for those above. */
static uint64_t address(void)
{
    uint64_t v = variable();
    if (s.extended && width < 64 && v >> (width - 1))
        v |= UINT64_MAX << width;
    return v << 1;
}

/* ---- the program ---- */

/* Executes the instruction at pc. `taken` is for branches, `target` for jumps. */
static void step(const struct insn *i, bool taken, uint64_t target)
{
    uint64_t here = s.pc;
    execute(&s.executed, s.pc);
    s.halves += i->length / 2;
    s.pc = i->kind == JUMP || (i->kind == CONDITIONAL && taken) ? i->target
           : i->kind == INDIRECT                                ? target
                                                                : s.pc + i->length;
    if (is_call(i)) {
        s.stack[s.top++ % STACK] = here + i->length;
        s.used += s.used < STACK;
    }
    s.last_pc = here;
}

/* Executes one instruction; if it is the message's last, and a jump, it goes to `target`. */
static void go(bool last, bool branches, uint64_t target)
{
    struct insn i = insn_at(&s.code, s.pc), before = {0};
    uint64_t where = target;
    bool taken = last && branches, told;
    if (s.last_pc)
        before = insn_at(&s.code, s.last_pc);
    if ((i.kind == CONDITIONAL || (i.kind == JUMP && s.jumps)) && !s.btm) {
        if (!s.outcomes)
            fail("a branch without outcome", s.pc);
        taken = s.history >> --s.outcomes & 1;
    }
    if (i.kind == JUMP && s.jumps && !taken)
        fail("a direct jump that is not reported", s.pc);
    told = i.kind == INDIRECT && last && branches;
    if (i.kind == INDIRECT && is_return(&i) && s.used && s.returns) {
        s.used--;
        s.top--;
        if (!told)
            where = s.stack[s.top % STACK];
        told = true;
    }
    if (i.kind == INDIRECT && !told) {
        if (!s.sijump || !is_sequential(&i, &before, &where) || s.last_pc + before.length != s.pc)
            fail("a jump without target", s.pc);
    }
    step(&i, taken, where);
}

/* Goes as far as iCnt says. `branches`: the last instruction is the message's. */
static void reach(uint64_t icnt, bool branches, uint64_t target)
{
    icnt += s.more;
    while (s.halves < icnt)
        go(s.halves + insn_at(&s.code, s.pc).length / 2 == icnt, branches, target);
    if (s.halves != icnt || s.outcomes)
        fail("the message reaches elsewhere", s.pc);
    s.halves = s.more = 0;
}

static void take_history(uint64_t hist)
{
    for (s.outcomes = 0; hist >> (s.outcomes + 1);)
        s.outcomes++;
    s.history = hist;
}

/* ---- what messages say ---- */

static struct {
    uint64_t icnt, hist;
} last;

static void full(void)
{
    unsigned code = (unsigned)fixed(4);
    uint64_t data = variable(), times = code == 2 ? variable() : 1;
    if (code == 0) {
        s.more += data;
        return;
    }
    for (; times; times--)
        for (take_history(data); s.outcomes;)
            go(false, false, 0);
}

static void message(void)
{
    bit = 0;
    ended = false;
    unsigned number = (unsigned)fixed(6), code = 0;
    switch (number) {
    case 3:
        last.icnt = variable();
        last.hist = 0;
        reach(last.icnt, true, 0);
        break;
    case 4:
    case 28:
        code = (unsigned)fixed(2);
        last.icnt = variable();
        s.address ^= address();
        last.hist = number == 28 ? variable() : 1;
        take_history(last.hist);
        reach(last.icnt, code == 0, s.address);
        if (code == 1) {
            s.pc = s.address;
            s.last_pc = 0;
        }
        break;
    case 9:
        fixed(4);
        reach(variable(), false, 0);
        s.address = s.pc = address();
        s.used = s.top = 0;
        s.last_pc = 0;
        break;
    case 27:
        full();
        break;
    case 30:
        for (uint64_t n = variable(); n; n--) {
            if (last.hist)
                take_history(last.hist);
            reach(last.icnt, true, s.address);
        }
        break;
    case 33: {
        fixed(4);
        bool history = fixed(2);
        uint64_t icnt = variable();
        take_history(history ? variable() : 1);
        reach(icnt, false, 0);
        break;
    }
    default:
        fail("an unknown message", number);
    }
    if (!ended)
        variable(); /* a timestamp */
    if (!ended)
        fail("a message that goes on", s.pc);
    s.at++;
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
    s.btm = option_is(argv[3], "mode", "btm");
    s.returns = !option_is(argv[3], "implicit_return", "reported");
    s.sijump = option_is(argv[3], "sijump", "on");
    s.jumps = option_is(argv[3], "all_jumps", "on");
    s.extended = option_is(argv[3], "extend_address", "on");
    while (s.at < s.end)
        message();
    printf("%llu %016llx\n", (unsigned long long)s.executed.count,
           (unsigned long long)s.executed.hash);
    free(stream);
    free_code(&s.code);
    return 0;
}
