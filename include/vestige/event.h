/* SPDX-License-Identifier: MIT */
/* The event model: what a recorded run is made of.
 *
 * A run is one sequence of events in global order. An event is a plain struct of 32 bytes; values
 * wider than 8 bytes lie in the batch that carries the event. Everything that consumes a run takes
 * batches, never single events.
 *
 * Counting instructions. `icount` is the number of instructions that the thread retired after its
 * previous event, up to and including this event's own instruction. A second event of the same
 * instruction therefore has icount 0, and the sum over a thread's events is the number of
 * instructions it retired. An event that no instruction retires with (exception, external write,
 * thread exit, ...) counts the instructions retired before it.
 */
#ifndef VESTIGE_EVENT_H
#define VESTIGE_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vestige/version.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Pinned: on disk. 0 is never valid. */
enum vs_kind {
    VS_BRANCH = 1,        /* pc; addr = target; size = length of the instruction, 1 to 255 */
    VS_LOAD = 2,          /* pc; addr, size, value */
    VS_STORE = 3,         /* pc; addr, size, value */
    VS_EXTERNAL = 4,      /* addr, size, value: bytes that no instruction of the run wrote; pc = the
                             instruction on whose behalf they were written, or 0 */
    VS_EXCEPTION = 5,     /* pc = the instruction that did not retire; addr = handler; value =
                           * VS_REG_CAUSE, and registers: those changed, or all if the instruction
                           * may have set some before it came to nothing */
    VS_EXCEPTION_RET = 6, /* pc = the returning instruction; addr = where it resumes; value =
                           * registers changed */
    VS_SYSCALL = 7,       /* pc; addr = number; value = struct vs_syscall_head, then registers */
    VS_NONDET = 8,        /* pc; size, value: what an instruction got from outside (rdtsc, sc) */
    VS_THREAD_START = 9,  /* pc = first instruction; addr = system's thread id; value = registers */
    VS_THREAD_EXIT = 10,  /* value = exit status */
    VS_GAP = 11,          /* recording was off: pc = next instruction; addr = instructions not
                           * recorded, if known; value = registers */
    VS_MAP = 12,          /* addr = start; value = length; flags VS_MAP_*; pc = image id or
                           * VS_NO_IMAGE */
    VS_CODE = 13, /* value = block id: its bytes replace what lay at its address, for all threads at
                     once; they may be the same bytes, or the first ones there */
    VS_COUNT = 14,   /* only icount: instructions that no other event accounts for */
    VS_TURN = 15,    /* the thread came this far before another one ran, or simply this far: value =
                      * struct vs_turn, or its first 8 bytes */
    VS_CONTENT = 16, /* addr; what memory holds there without an instruction of the run having
                      * written it: bytes, or as flags VS_CONTENT_* say */
    VS_KIND_END
};

/* flags of VS_BRANCH. The branch is direct and unconditional when none but VS_BR_TAKEN is set. An
 * instruction that goes to a return address and leaves one (RISC-V's jalr with both link registers)
 * has both VS_BR_RETURN and VS_BR_CALL. */
enum {
    VS_BR_COND = 1,     /* may fall through */
    VS_BR_INDIRECT = 2, /* target not in the code */
    VS_BR_CALL = 4,     /* leaves a return address: pc + size */
    VS_BR_RETURN = 8,   /* goes to one; always with VS_BR_INDIRECT */
    VS_BR_TAKEN = 16,   /* always set when VS_BR_COND is not */
    VS_BR_ALL = 31
};

/* flags of VS_LOAD and VS_STORE */
enum {
    VS_MEM_ATOMIC = 1, /* part of an atomic read-modify-write, load-reserved or store-conditional */
    VS_MEM_REPEAT = 2, /* a further iteration of a repeated (string) instruction */
    VS_MEM_ALL = 3
};

/* flags of VS_MAP */
enum {
    VS_MAP_READ = 1,
    VS_MAP_WRITE = 2,
    VS_MAP_EXEC = 4,
    VS_MAP_GONE = 8, /* unmapped */
    VS_MAP_ALL = 15
};

/* flags of VS_CONTENT: at most one is set */
enum {
    VS_CONTENT_FILE = 1,  /* value = struct vs_content_file, then the file's path */
    VS_CONTENT_MOVED = 2, /* value = struct vs_content_moved: what lay somewhere else */
    /* value = a length, 8 bytes: so much, from addr on, is zero from now on, until something says
     * what it holds. What threads did since they last ran is not known; each has a VS_GAP before it
     * runs again. Only in a run with VS_RUN_PARTS. */
    VS_CONTENT_ANEW = 4,
    /* value = a digest of 32 bits for each page of 4096 bytes from addr on: memory stays as it is,
     * and this is what it holds. Only in a run with VS_RUN_DIGESTS. */
    VS_CONTENT_DIGESTS = 8,
    VS_CONTENT_ALL = 15
};

/* pc of a VS_MAP that belongs to no image */
#define VS_NO_IMAGE UINT64_MAX

/* One event. Fields that its kind does not name are zero.
 *
 * value: the size bytes named above. When size <= 8, they are here as a little-endian number whose
 * upper bytes are zero; when size > 8, this is an offset into the batch's `wide` area, where they
 * lie in memory order. Thread exit, map and code have size 0 and a plain 64-bit number in value. A
 * branch has value 0, since its size is that of the instruction: its fall-through is pc + size. Its
 * addr is the static target even when it is not taken (0 for an indirect branch that is not
 * taken). */
struct vs_event {
    uint64_t pc;
    uint64_t addr;
    uint64_t value;
    uint16_t thread; /* dense, in order of appearance; not the system's id */
    uint16_t size;
    uint16_t icount;
    uint8_t kind;
    uint8_t flags;
};

#ifdef __cplusplus
static_assert(sizeof(struct vs_event) == 32, "an event is 32 bytes");
#else
_Static_assert(sizeof(struct vs_event) == 32, "an event is 32 bytes");
#endif

/* Anything larger is recorded as several events (external writes) or not at all. */
#define VS_SIZE_MAX    65535
#define VS_THREADS_MAX 65536

/* Code as it was executed. A block's id stands for its address *and* its bytes. */
struct vs_block {
    uint64_t addr;
    const uint8_t *bytes;
    uint32_t size;  /* bytes, 1 to VS_SIZE_MAX */
    uint32_t insns; /* instructions in it, 1 to size */
};

/* A file that was mapped as code. The strings and bytes belong to whoever fills the struct. */
struct vs_image {
    const char *path;
    const char *symbols; /* the file in which to look up symbols; "" = `path` itself */
    const uint8_t *build_id;
    uint32_t build_id_size; /* 0 to 64 */
    uint64_t base;          /* run-time address minus link-time address */
    uint64_t start;         /* it occupies the addresses [start, start + length) */
    uint64_t length;
};

/* Consecutive events in global order. Whoever fills the batch owns the memory; a reader's batch is
 * valid until the next call on that reader. */
struct vs_batch {
    const struct vs_event *events;
    const uint64_t *cycles; /* commit cycle of each event; NULL in an untimed run */
    const uint8_t *wide;    /* values of events with size > 8 */
    size_t wide_size;
    size_t count;
    uint64_t first; /* global number of events[0]; ignored by a writer */
};

/* Whether an event's value lies in the batch's wide area. */
static inline bool vs_event_is_wide(const struct vs_event *e)
{
    return e->size > 8 && e->kind != VS_BRANCH;
}

/* The bytes of an event's value, for kinds other than branch: they are in the batch if the value is
 * wide, and else in the event itself (this needs a little-endian host, which the library
 * asserts). */
static inline const uint8_t *vs_event_bytes(const struct vs_batch *b, const struct vs_event *e)
{
    return e->size > 8 ? b->wide + e->value : (const uint8_t *)&e->value;
}

/* The payload of VS_SYSCALL: this head, then the registers that the call changed. Little-endian. */
struct vs_syscall_head {
    uint64_t args[6];
    uint64_t result;
};

/* The payload of VS_TURN, little-endian. */
struct vs_turn {
    uint64_t digest;     /* of the thread's registers (docs/format.md says how); 0: not known */
    uint64_t iterations; /* as VS_REG_ITERATIONS, if the thread is in such an instruction; else 0,
                          * and left out */
};

/* Adds words to a digest of registers, which is 0 at first. */
static inline uint64_t vs_turn_digest(uint64_t digest, const uint64_t *words, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        digest = (digest ^ words[i]) * UINT64_C(0x9e3779b97f4a7c15);
        digest ^= digest >> 29;
    }
    return digest;
}

/* Ends a digest. */
static inline uint64_t vs_turn_digest_end(uint64_t digest)
{
    return digest ? digest : 1;
}

/* Digests of pages, for VS_CONTENT_DIGESTS. */
#define VS_DIGEST_PAGE 4096

/* The digest of a page, which is given as words. Four chains can be computed at the same time. */
static inline uint32_t vs_page_digest(const uint64_t *words)
{
    uint64_t chains[4] = {1, 2, 3, 4}, digest;
    for (unsigned i = 0; i < VS_DIGEST_PAGE / 8; i += 4)
        for (unsigned k = 0; k < 4; k++)
            chains[k] = vs_turn_digest(chains[k], &words[i + k], 1);
    digest = vs_turn_digest(0, chains, 4);
    return (uint32_t)(digest ^ digest >> 32);
}

/* The payload of VS_CONTENT with VS_CONTENT_FILE. Bytes beyond the file's end are zero. */
struct vs_content_file {
    uint64_t offset, length;
    uint32_t crc; /* CRC-32C of these bytes, as far as the file has them */
    uint32_t reserved;
};

struct vs_content_moved {
    uint64_t from, length;
};

/* Registers in payloads: a sequence of {uint16 number, uint16 size, size bytes}, little-endian,
 * unpadded. The numbers are the ISA's DWARF numbers and some of our own.
 *
 * A register that is not named is as before; but after VS_THREAD_START and VS_GAP, which name all
 * that matters, it is as a new thread has it: zero, except for words of control, which are as the
 * system's ABI says.
 *
 * x86-64: xmm(i) has the 32 bytes of ymm(i). Of x87, a payload has either nothing or all that
 * changed: the control word; the status word with the top of the stack and C3 to C0; under 0xff00,
 * in 2 bytes, which registers are in use, bit i for mm(i); and the registers under the numbers of
 * mm0 to mm7, each as the 64 bits that an MMX register or a double has, by register and not by
 * stack place. (Runs of format version 1 have st(i) instead, with 80 bits.) */
#define VS_REG_PC    0xffff
#define VS_REG_CAUSE 0xfffe /* signal number or trap cause of an exception, 8 bytes */
/* How many iterations an instruction that repeats itself (rep movs) has done since it began, 8
 * bytes, not 0. It has retired with its first iteration and is not complete. With VS_EXCEPTION,
 * beside VS_REG_CAUSE, it is the instruction at the event's pc, which was interrupted between two
 * iterations, or in one after the first. With VS_EXCEPTION_RET it is the instruction at which the
 * thread resumes: it goes on and does not retire again. If this is not there, the instruction has
 * not begun. */
#define VS_REG_ITERATIONS 0xfffc

/* Takes the next register off a payload of *size bytes at *p. Advances both.
 * Returns 1 and fills number, regsize, bytes; 0 at the end; -VSE_CORRUPT if it is cut. */
VS_API int vs_regs_next(const uint8_t **p, size_t *size, unsigned *number, unsigned *regsize,
                        const uint8_t **bytes);

/* Appends a register at `used` of a buffer of `capacity` bytes.
 * Returns the new length, or -VSE_LIMIT if it does not fit. */
VS_API int64_t vs_regs_put(uint8_t *buf, size_t capacity, size_t used, unsigned number,
                           const void *bytes, unsigned regsize);

/* Where the thread continues after a VS_SYSCALL of the batch, if not at the next instruction: a
 * call that is to be made again has the program counter among its registers. Returns whether it
 * has. */
VS_API bool vs_syscall_resumes(const struct vs_batch *batch, const struct vs_event *e,
                               uint64_t *pc);

/* "branch", "load", ...; "?" for a number that is not a kind. Static storage. */
VS_API const char *vs_kind_name(unsigned kind);

/* The kind of that name, or -VSE_NOTFOUND. */
VS_API int vs_kind_by_name(const char *name);

/* "cond", "jump", "call", "ijump", "icall", "ret", "ret-call" and their conditional forms. Static
 * storage. */
VS_API const char *vs_branch_name(unsigned flags);

/* Checks that an event keeps the rules above; the wide area has wide_size bytes. Returns 0, or
 * -VSE_INVAL with *why set to one phrase (static storage) if why is not NULL. */
VS_API int vs_event_check(const struct vs_event *e, size_t wide_size, const char **why);

#ifdef __cplusplus
}
#endif

#endif
