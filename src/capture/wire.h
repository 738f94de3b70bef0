/* SPDX-License-Identifier: MIT */
/* What the Valgrind tool (capture/valgrind) and the recorder say to each other.
 *
 * They share memory, which has a head and then WIRE_BUFFERS buffers that the tool fills in ring
 * order, and a socket: the tool announces a full buffer with a struct wire_note, and the recorder
 * returns it with a struct wire_reply once it has read it. If no buffer is free, the tool waits,
 * and so does the traced program.
 *
 * A buffer is a sequence of slots of 8 bytes, each followed by the data of one record, up to a slot
 * whose `what` is 0. A slot's `left` tells how the preceding block of code was left. Records are
 * either blocks of code that ran (what = the block's number, from 1 up; the data is laid out as the
 * block's WIRE_BLOCK said) or one of enum wire_kind (a struct wire_head follows). Everything is in
 * the order in which it happened; sizes are multiples of 8.
 *
 * If children are followed, a tool whose program is about to fork asks for memory and a socket for
 * the child (WIRE_CHILD), which come along with the reply. The tool in the child takes them instead
 * of its parent's, and introduces itself (WIRE_BORN) before anything else.
 */
#ifndef CAPTURE_WIRE_H
#define CAPTURE_WIRE_H

#include <stdint.h>

#define WIRE_VERSION     10
#define WIRE_BUFFERS     16
#define WIRE_BUFFER_SIZE (1u << 20)
#define WIRE_HEAD_SIZE   4096
#define WIRE_RING_SIZE   (WIRE_HEAD_SIZE + (uint64_t)WIRE_BUFFERS * WIRE_BUFFER_SIZE)
/* No record is longer; the tool keeps this much free for the next one. */
#define WIRE_RECORD_MAX (64u << 10)

/* This is at the start of the shared memory. The tool writes it after every record that is no
 * block, and when a thread starts to run: it says what is valid should the tool never say another
 * word. */
struct wire_ring {
    uint32_t version;
    uint32_t ending; /* how the program ended, as waitpid gives it, and WIRE_ENDED; 0: not known */
    /* The buffer being filled << 32 | its bytes, in whole records. It is one word, so that the tool
     * can be killed at any time. */
    uint64_t valid;
    uint32_t wish; /* enum wire_wish, written by the recorder */
    uint32_t reserved;
    uint64_t telling; /* this buffer is for the newest run alone, see WIRE_RENEW */
};

#define WIRE_ENDED 0x80000000u

/* What the recorder wants. The tool heeds it when a thread starts to run, if its option --wishes
 * says that there may be wishes. */
enum wire_wish { WIRE_WISH_NONE, WIRE_WISH_ON, WIRE_WISH_OFF, WIRE_WISH_STOP };

/* The tool's option --state: instructions counted, the window's number, WIRE_STATE_*. The tool that
 * a program's exec starts gets it as the previous tool has overwritten it, so its width is
 * fixed. */
#define WIRE_STATE "%020llu,%010u,%01u"
enum { WIRE_STATE_NEW, WIRE_STATE_ON, WIRE_STATE_OFF, WIRE_STATE_DONE };

/* The tool's option --files: how many files the program may open, as soft and hard limit. It is
 * handed on likewise. */
#define WIRE_FILES "%020llu,%020llu"

struct wire_slot {
    uint32_t left; /* WIRE_LEFT_*, or the exit's number + 1; 0 after a record that is no block */
    uint32_t what; /* a block's number, enum wire_kind, or 0 */
};

/* The block was left by a fault: the low bits are the number of instructions that retired. */
#define WIRE_LEFT_FAULT 0x80000000u

/* Records that are not blocks. */
enum wire_kind {
    WIRE_FIRST = 0xffffff00,
    WIRE_HELLO = WIRE_FIRST, /* struct wire_hello: a program begins; after an exec, another one */
    WIRE_BLOCK,              /* struct wire_block: code was translated */
    WIRE_RUN,                /* another thread runs */
    WIRE_START,              /* struct wire_start: a thread begins */
    WIRE_EXIT,               /* u64 status: a thread ends */
    WIRE_SYSCALL,            /* struct wire_syscall: a system call was completed */
    WIRE_EXTERNAL,           /* struct wire_external, bytes */
    WIRE_SIGNAL,             /* struct wire_signal: a handler is about to be entered */
    WIRE_RETURN,             /* struct wire_signal: a handler is about to return */
    WIRE_RESUME,             /* struct wire_regs: the thread goes on, after either of these */
    WIRE_GAP,                /* struct wire_gap: the thread's next block is recorded again */
    WIRE_MAP,                /* struct wire_map, path */
    WIRE_FORK,               /* the program forked, and the child is not followed */
    WIRE_BYE,                /* the program ends */
    WIRE_AGAIN,              /* u64 number of a block: the same code was translated again */
    WIRE_REQUEST,            /* u64: what the thread got from Valgrind, see WIRE_TO_REQUEST */
    WIRE_RAN,                /* struct wire_ran: the thread ran so far, if inputs are recorded */
    WIRE_VALUE,              /* struct wire_value, bytes: what an instruction got from outside, if
                              * blocks are not recorded */
    WIRE_CONTENT,            /* struct wire_content, bytes or path: what memory holds */
    WIRE_COMMAND,            /* u64 bytes, and the program's words, each ended by a zero byte, if
                              * children are followed */
    WIRE_MADE,               /* the program forked, and the child is followed */
    WIRE_REAPED,             /* struct wire_reaped: the program waited for a child, likewise */
    WIRE_THREAD,             /* struct wire_thread: a thread is there, if this is told anew */
    WIRE_TRIGGERED,          /* what recording ends with, or begins with, has happened */
    WIRE_ANEW,               /* struct wire_anew: what all memory holds follows, if inputs are
                              * recorded; then the thread comes out of a gap */
    WIRE_SHARED,             /* struct wire_shared, path: memory that other processes may change */
    WIRE_END
};

struct wire_head {
    uint32_t size;   /* of head and data, without the slot */
    uint32_t thread; /* Valgrind's number for it, from 1 up */
};

/* Texts, ended by a zero byte. */
struct wire_hello {
    char valgrind[16]; /* its version */
    char tool[16];     /* the tool's */
    char offered[128]; /* the extensions that Valgrind offers the program, in words */
};

struct wire_regs {
    uint64_t gpr[16]; /* rax rcx rdx rbx rsp rbp rsi rdi r8 ... r15: the encoding's order */
    uint64_t rip, rflags, fs_base, gs_base;
    uint64_t fpr[8]; /* x87, as Valgrind keeps them; by register, not by stack place */
    uint32_t fpr_top, fpr_round, sse_round;
    uint32_t fpr_conditions; /* C3 to C0, where the status word has them */
    uint8_t fpr_used[8];
    uint8_t ymm[16][32];
};

struct wire_start {
    uint64_t system_id;
    struct wire_regs regs;
};

struct wire_syscall {
    uint64_t number, args[6], result;
    uint64_t rcx, r11, fs_base, gs_base; /* afterwards */
};

struct wire_external {
    uint64_t addr;
    uint64_t size; /* bytes that follow, padded to 8 */
};

struct wire_signal {
    uint64_t number;
    struct wire_regs regs; /* as interrupted */
};

struct wire_gap {
    uint64_t skipped; /* this thread's instructions that were not recorded */
    uint64_t window;  /* number of the window that begins, or goes on */
    struct wire_regs regs;
};

enum {
    WIRE_MAP_READ = 1,
    WIRE_MAP_WRITE = 2,
    WIRE_MAP_EXEC = 4,
    WIRE_MAP_GONE = 8,
    WIRE_MAP_MAIN =
        16, /* from the file that the program was started from, or a script's interpreter */
};

struct wire_map {
    uint64_t addr, length, offset; /* offset: in the file */
    uint32_t flags;
    uint32_t path; /* bytes of the path that follows, padded; 0 = no file */
};

/* What the thread did since its last WIRE_RAN. A repeated instruction counts when it is complete.
 */
struct wire_ran {
    uint64_t insns;
    uint64_t from, rip;  /* where it began, and where it is; 0: within a block */
    uint64_t at;         /* if it left the last block in a special way: by which instruction */
    uint64_t iterations; /* of the repeated instruction that it is in; 0 = none */
    uint64_t digest;     /* of its registers (vestige/event.h); 0: they may not be exact */
    uint32_t left;       /* that way: enum wire_leave; 0 = WIRE_BORING */
    uint32_t reserved;
};

struct wire_value {
    uint64_t pc;
    uint32_t more; /* instructions after those of the last WIRE_RAN, up to this one */
    uint32_t size; /* bytes that follow, padded to 8 */
};

enum wire_content_kind {
    WIRE_CONTENT_BYTES = 1,
    WIRE_CONTENT_FILE,
    WIRE_CONTENT_MOVED,
    WIRE_CONTENT_DIGESTS /* digests of the pages there follow */
};

struct wire_content {
    uint64_t addr, length;
    uint64_t from; /* where it was, or the offset in the file */
    uint32_t kind; /* enum wire_content_kind */
    uint32_t path; /* bytes of the path that follows, padded */
};

struct wire_thread {
    uint64_t system_id;
    uint64_t skipped; /* instructions that it ran before */
    uint64_t call_pc; /* of the system call that it is in; 0 = none */
    struct wire_regs regs;
};

enum wire_shared_kind {
    WIRE_SHARED_FILE = 1, /* mapped from the file, or what stands for one, with this path */
    WIRE_SHARED_FORK,     /* mapped from none, and there when the program forked */
    WIRE_SHARED_SEGMENT,  /* shmat's */
};

struct wire_shared {
    uint32_t kind; /* enum wire_shared_kind */
    uint32_t path; /* bytes of the path that follows, padded */
};

struct wire_anew {
    uint64_t window; /* as in struct wire_gap */
};

struct wire_reaped {
    uint32_t process;
    uint32_t status; /* as waitpid gives it */
};

/* One of Valgrind's superblocks: instructions in a row, left at one of its exits. */
struct wire_block {
    uint64_t addr;
    uint32_t number;
    uint32_t length; /* its record's, with the slot: this is where the next slot is */
    uint16_t insns, ops, exits, code; /* code: bytes */
    /* Then come struct wire_op[ops], struct wire_exit[exits], uint8_t lengths[insns] and uint8_t
     * code[], padded to 8. */
};

/* WIRE_NONDET has an instruction's results: cpuid's are rax, rbx, rcx and rdx, rdtscp's are rax,
 * rcx and rdx, xgetbv's is edx:eax, and rax is what a program gets that asks Valgrind where the
 * function is that the running one replaces (the exchange of rcx with itself that ends this
 * request). */
enum wire_op_kind { WIRE_LOAD = 1, WIRE_STORE, WIRE_NONDET };

enum {
    WIRE_ATOMIC = 1,
    WIRE_GUARDED = 2,      /* u64 at guard_at: whether it happened */
    WIRE_ADDR_CONST = 4,   /* addr is the address; else it is recorded at addr_at ... */
    WIRE_ADDR_OF = 8,      /* ... or it is operand `of`'s plus addr */
    WIRE_VALUE_CONST = 16, /* value is the value; else it is recorded at value_at ... */
    WIRE_VALUE_OF = 32,    /* ... or it is operand `value`'s */
};

struct wire_op {
    uint16_t insn; /* index in the block */
    uint8_t kind, flags;
    uint16_t size; /* bytes */
    uint16_t of;
    uint16_t addr_at, value_at, guard_at, reserved; /* offsets in the record, slot included */
    uint64_t addr;
    uint64_t value;
};

enum wire_leave {
    WIRE_BORING = 1, /* also calls and returns */
    WIRE_TO_SYSCALL,
    WIRE_TO_FAULT, /* the instruction does not retire: a signal follows */
    WIRE_TO_TRAP,  /* the instruction retires, and a signal follows */
    /* The instruction retires: it is the exchange of rbx with itself that ends a client request. A
     * WIRE_REQUEST has what rdx is afterwards, before anything else of the thread. */
    WIRE_TO_REQUEST,
};

struct wire_exit {
    uint16_t insn;
    uint16_t ops;       /* operands before it */
    uint16_t target_at; /* the offset of a u64 that says where to; 0 = `target` does */
    uint8_t leave, is_end;
    uint64_t target;
};

/* Tool to recorder. */
enum wire_note_kind {
    WIRE_FULL = 1,
    WIRE_ASK = 2,   /* full, and the tool waits for WIRE_RANGES */
    WIRE_CHILD = 3, /* the program is about to fork, and the tool waits for WIRE_CHANNEL */
    WIRE_BORN = 4,  /* this is the child; `buffer` and `bytes` are the numbers of its process and of
                     * its parent. The tool waits for WIRE_FREE */
    /* If only the last instructions are wanted: with `bytes` 1, another run begins, beside the one
     * or two that there are. The buffers up to the next WIRE_RENEW, with 0, are for that run alone
     * (`telling` is set): they have all that is mapped, what memory holds, and all threads. */
    WIRE_RENEW = 5,
};
struct wire_note {
    uint32_t kind, buffer, bytes, telling;
};

/* Recorder to tool. */
enum wire_reply_kind {
    WIRE_FREE = 1,   /* buffer `value` was read */
    WIRE_RANGES = 2, /* `value` struct wire_range follow: what the image just mapped holds */
    WIRE_STOP = 3,   /* record no more */
    /* With it come WIRE_DESCRIPTORS descriptors for a child, in the order of the option --fds; or
     * none: the child is not followed. */
    WIRE_CHANNEL = 4,
};
#define WIRE_DESCRIPTORS 3
struct wire_reply {
    uint32_t kind, value;
};

enum wire_range_kind {
    WIRE_RANGE_WANTED = 1, /* record code in it */
    WIRE_RANGE_FROM,       /* recording begins when `start` is reached */
    WIRE_RANGE_TO,         /* recording ends when `start` is reached */
};
/* A range is valid until something else is mapped at its place, or for ever if `end` is `start`. */
struct wire_range {
    uint64_t start, end, kind;
};

#endif
