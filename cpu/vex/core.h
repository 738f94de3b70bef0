/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An x86-64 CPU made of LibVEX, Valgrind's translator: blocks of code are translated to the host's,
 * with every access to memory replaced by a call of the owner's memory (src/isa/cpu_memory.h).
 *
 *   core        a core: its registers, and the state that translated code works on
 *   translate   a block of code through LibVEX
 *   rewrite     a block's instructions: what waits, what is kept, what is counted
 *   accesses    statements that access memory or may fail; work: what statements are made of
 *   helpers     what translated code calls
 *   cache       translated blocks, how they are found, linked and forgotten
 *   enter       the way into translated code and out of it
 *   run         executes, and stops exactly where it has to
 *
 * What counts as an access, and in which order accesses come, is decided by the recorder's own
 * source, capture/valgrind/access.h. This object is built with the same Valgrind as the recorder.
 */
#ifndef CORE_H
#define CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <libvex_basictypes.h>
#include <libvex_guest_amd64.h>

#include "isa/cpu.h"

typedef VexGuestAMD64State Guest;

/* Instructions of a block, at most. */
#define BLOCK_INSNS 48
/* Bytes of a block, at most, and with room for what VEX looks at beyond its end. */
#define BLOCK_BYTES (BLOCK_INSNS * 15)

/* What we keep beside the guest's registers, where Valgrind's tools have their shadows: translated
 * code can get at it. */
struct lane {
    uint64_t stack;   /* the host's stack pointer while translated code runs; see enter.c */
    uint64_t targets; /* the table of blocks by address, for indirect branches */
    uint8_t wide[32]; /* an operand of more than 8 bytes on its way to or from a helper */
};

/* The layout that LibVEX demands: the guest's registers, two shadows of the same size, and room to
 * spill. */
struct frame {
    _Alignas(32) Guest guest;
    union {
        struct lane lane;
        uint8_t shadow[2][sizeof(Guest)];
    };
    uint8_t spill[4096]; /* LibVEX_N_SPILL_BYTES */
};

#define LANE(member) ((Int)(offsetof(struct frame, lane) + offsetof(struct lane, member)))

/* A place in translated code that calls a helper, as one word, which the code has at hand: from the
 * top, 48 bits of the instruction's address, 8 bits to add to the count at the block's beginning
 * (see core_stand), the enum vs_access, and whether the instruction changes registers before its
 * last access. */
typedef uint64_t Spot;

enum { SPOT_UNDO = 1, SPOT_ACCESS_SHIFT = 1, SPOT_ACCESS_MASK = 3, SPOT_RETIRED_SHIFT = 8 };
enum { SPOT_PC_SHIFT = 16 };

/* Whether the address is one that a spot has room for, as code's are. */
static inline bool spot_fits(uint64_t pc)
{
    return (uint64_t)((int64_t)(pc << SPOT_PC_SHIFT) >> SPOT_PC_SHIFT) == pc;
}

static inline Spot spot_of(uint64_t pc, int retired, enum vs_access access, bool undo)
{
    return pc << SPOT_PC_SHIFT | (uint64_t)(uint8_t)retired << SPOT_RETIRED_SHIFT |
           (uint64_t)access << SPOT_ACCESS_SHIFT | (undo ? SPOT_UNDO : 0);
}

static inline enum vs_access spot_access(Spot spot)
{
    return (enum vs_access)(spot >> SPOT_ACCESS_SHIFT & SPOT_ACCESS_MASK);
}

/* What a call of one of VEX's own helpers on memory does. */
struct site {
    Spot spot;
    void *helper;
    uint16_t size;   /* bytes */
    uint16_t effect; /* IREffect */
    uint16_t offset; /* of the operand from the address, ... */
    uint8_t address; /* ... which is this argument of it */
    uint8_t parts;   /* in how many parts it writes its operand, ... */
    struct {
        uint16_t offset, size;
    } part[2];      /* ... which these are */
    bool has_state; /* its first argument is the guest's state */
};

/* What is told about a branch, again as one word: 55 bits of its target, if that is direct, its
 * flags but for VS_BR_TAKEN, its length, and whether it is negated. */
typedef uint64_t Branch;

enum {
    BRANCH_NEGATED = 1,
    BRANCH_LENGTH_SHIFT = 1,
    BRANCH_FLAGS_SHIFT = 5,
    BRANCH_TARGET_SHIFT = 9
};

static inline Branch branch_of(const struct vs_insn *insn)
{
    return insn->target << BRANCH_TARGET_SHIFT | (uint64_t)insn->branch << BRANCH_FLAGS_SHIFT |
           (uint64_t)insn->length << BRANCH_LENGTH_SHIFT | (insn->negated ? BRANCH_NEGATED : 0);
}

_Static_assert(offsetof(struct vs_insn, target) == 0 && offsetof(struct vs_insn, length) == 8 &&
                   offsetof(struct vs_insn, kind) == 9 && offsetof(struct vs_insn, branch) == 10 &&
                   offsetof(struct vs_insn, negated) == 14 && sizeof(struct vs_insn) == 16,
               "as below");

/* By words: a processor waits for bytes that it stores if it loads more than those. */
static inline struct vs_insn branch_insn(Branch b)
{
    const uint64_t words[2] = {
        (uint64_t)((int64_t)b >> BRANCH_TARGET_SHIFT),
        (b >> BRANCH_LENGTH_SHIFT & 15) | VS_INSN_BRANCH << 8 |
            (b >> BRANCH_FLAGS_SHIFT & 15) << 16 | (b & BRANCH_NEGATED) << 48,
    };
    struct vs_insn insn;
    memcpy(&insn, words, sizeof(insn));
    return insn;
}

struct core {
    struct vs_cpu cpu;
    bool code_changed; /* a store said so, and the code has to be forgotten */
    int stop;          /* why translated code was left by a helper: VS_STOP_x, or an error */
    uint64_t counted;  /* retired, were the event counter 0 */
    struct frame frame;
    Guest undo;            /* registers before an instruction that changes them early */
    uint8_t scratch[4096]; /* for VEX's helpers, and for what VEX keeps on the stack by itself */
};

static inline struct core *core_of(Guest *guest)
{
    return (struct core *)((uint8_t *)guest - offsetof(struct core, frame));
}

/* Makes pc and retired those of the instruction that the spot is in. The event counter goes
 * down by one for each instruction, at the latest when the block is left. */
static inline void core_stand(struct core *c, Spot spot)
{
    c->cpu.pc = (uint64_t)((int64_t)spot >> SPOT_PC_SHIFT);
    c->cpu.retired = c->counted + (uint64_t)(int64_t)(int8_t)(spot >> SPOT_RETIRED_SHIFT) -
                     (uint64_t)(int64_t)(int32_t)c->frame.guest.host_EvC_COUNTER;
}

/* The functions of struct vs_cpu_ops that only concern registers. */
void core_init(struct vs_cpu *cpu, unsigned id, struct vs_cpu_code *code,
               struct vs_cpu_memory *memory);
int core_get(const struct vs_cpu *cpu, unsigned number, void *bytes);
int core_set(struct vs_cpu *cpu, unsigned number, const void *bytes, size_t size);
void core_save(const struct vs_cpu *cpu, void *copy);
void core_restore(struct vs_cpu *cpu, const void *copy);

/* A copy of a core. */
struct core_copy {
    Guest guest;
    uint64_t pc, retired, iterations;
};

extern const struct vs_cpu_ops vex_cpu;

#endif
