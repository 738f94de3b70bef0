/* SPDX-License-Identifier: MIT */
/* The static program of a generated run: functions of basic blocks with real code bytes, and for
 * every place that causes events the model by which it behaves.
 *
 * Functions are made callees first. All control flow goes forward but for loops, which count, so
 * every function but the threads' top ones returns. */
#ifndef GEN_PROGRAM_H
#define GEN_PROGRAM_H

#include "gen/gen.h"
#include "gen/random.h"

/* What ends a block. */
enum term {
    TERM_FALL, /* nothing: the next block is a target of others */
    TERM_COND,
    TERM_JUMP,
    TERM_CALL,
    TERM_IJUMP,
    TERM_ICALL,
    TERM_RET,
    TERM_SIGRET /* the ecall at the end of the signal trampoline */
};

/* How a conditional decides. */
enum outcome {
    OUT_LOOP,   /* at the bottom: taken until a trips, or a to a + b, are done */
    OUT_LEAVE,  /* at the top: taken when they are */
    OUT_BIASED, /* taken in a of 65536 */
    OUT_PERIOD, /* the low b bits of a, in turn */
    OUT_SAME,   /* as the branch a back in this thread, inverted if b; 1 in 32 otherwise */
    OUT_GUARD,  /* taken unless a system call is due */
    OUT_DEPTH,  /* taken to end a recursion */
    OUT_SC,     /* taken if the last store-conditional failed */
    OUT_SPAWN   /* taken while there are threads to start */
};

/* How an indirect transfer picks among its targets. */
enum pick { PICK_MOSTLY, PICK_ROBIN, PICK_RANDOM };

/* An entry of `targets`: the code that was installed last, or the first target if none was. */
#define TARGET_JIT UINT32_MAX

struct block {
    uint64_t addr;
    uint32_t size, insns;
    uint32_t site, sites; /* first, and how many */
    uint32_t tail;        /* instructions after the last site, the terminator included */
    uint32_t target;      /* block; of an indirect transfer: first of its `targets` */
    uint32_t targets;
    uint32_t slot; /* in a thread's state */
    uint32_t a, b; /* of the outcome */
    uint32_t code; /* offset of its bytes */
    int32_t id;    /* -1 until it is seen */
    uint16_t function;
    uint8_t term, term_size;
    uint8_t flags; /* VS_BR_* but VS_BR_TAKEN of a conditional */
    uint8_t outcome, pick;
    uint8_t escapes; /* the indirect jump leaves outer calls now and then */
};

enum site_kind {
    SITE_LOAD,
    SITE_STORE,
    SITE_AMO,
    SITE_LR,
    SITE_SC,
    SITE_CSR,
    SITE_ECALL,
    SITE_CLONE
};

/* Where a memory site goes. base, step and count are the site's. */
enum place {
    PLACE_STACK,  /* base above the stack pointer */
    PLACE_FIXED,  /* base */
    PLACE_STRIDE, /* base + i * step, i counts to count and restarts; and the thread's spread */
    PLACE_RANDOM, /* a multiple of step below count * step, from base */
    PLACE_CHASE,  /* the node that the thread is at; the load goes on to the next */
    PLACE_NODE,   /* base within the node that the thread is at */
    PLACE_MAP     /* as PLACE_STRIDE, from the start of the latest mapping */
};

/* What a store stores. */
enum content { CONTENT_COUNTER, CONTENT_COPY, CONTENT_SMALL, CONTENT_RANDOM, CONTENT_DOUBLE };

struct site {
    uint64_t pc;
    uint64_t base;
    uint32_t delta; /* instructions from the site before it in the block, itself included */
    uint32_t step, count;
    uint32_t spread; /* from the elements of one thread to those of the next; 8 threads differ */
    uint32_t slot;   /* in a thread's state: position, then counter */
    uint8_t kind, size;
    uint8_t place, content;
    uint8_t unaligned;
};

struct function {
    uint32_t block, blocks;
    uint32_t frame; /* bytes of stack */
    uint32_t level; /* 0 calls nothing */
    uint64_t cost;  /* events of one call, roughly */
    uint8_t image;
};

enum { IMAGE_MAIN, IMAGE_LIB, IMAGE_JIT, IMAGES };

enum {
    FUNCTIONS = 32, /* that programs call at will; handlers are among the first */
    HANDLERS = 6,
    TOPS = 3,
    VERSIONS = 8, /* of the code that is replaced */
    FUNCTIONS_MAX = FUNCTIONS + TOPS + VERSIONS + 3,
    FUNCTION_BLOCKS = 96,
    FUNCTION_INSNS = 1500, /* keeps conditional branches within 4 KiB: 4 bytes each, halves */
    BLOCKS_MAX = FUNCTIONS_MAX * FUNCTION_BLOCKS,
    SITES_MAX = FUNCTIONS_MAX * FUNCTION_INSNS,
    TARGETS_MAX = 4096,
    GIANT_INSNS = 75000, /* more than an event can count */
    CODE_MAX = FUNCTIONS_MAX * FUNCTION_INSNS * 4 + GIANT_INSNS * 2 + 4096
};

struct program {
    struct gen_options options; /* without zeros */
    struct rng rng;
    struct block *block;
    struct site *site;
    uint32_t *targets;
    uint8_t *code;
    uint32_t blocks, sites, target_count, code_size, slots;
    struct function function[FUNCTIONS_MAX];
    uint32_t functions;
    uint64_t cursor[IMAGES]; /* where the next function of an image goes */
    uint32_t tops[TOPS];     /* functions */
    uint32_t spawn;          /* the block that thread 0 begins with */
    uint32_t work;           /* ... if it starts no threads */
    uint32_t trampoline;     /* block */
    uint32_t versions;       /* the first of VERSIONS functions, all at JIT_BASE */
    uint32_t giant;

    /* the function being made; the last block is open */
    struct function *now;
    uint32_t since;      /* instructions since the last site of the open block */
    uint32_t now_insns;  /* of the whole function */
    uint64_t multiplier; /* how often the code being made runs in one call */
};

/* Makes the program. options has no zeros where they mean a default.
 * Returns 0; -VSE_NOMEM. Needs program_fini in either case. */
int program_init(struct program *p, const struct gen_options *options);
void program_fini(struct program *p);

/* ---- program.c: blocks ---- */

void function_begin(struct program *p, int image);
/* Gives the function its addresses and its branches their offsets. The last block is closed. */
void function_end(struct program *p);

static inline struct block *open_block(struct program *p)
{
    return &p->block[p->blocks - 1];
}

/* A block that begins here: the open one if it is empty, else the next. Returns its number. */
uint32_t block_label(struct program *p);
/* Ends the open block and opens the next. Returns the number of the one ended. */
uint32_t block_end(struct program *p, enum term term);
/* Ends the function's last block. */
void block_last(struct program *p, enum term term);

void insn_put(struct program *p, uint32_t word, unsigned size);
/* The instruction that comes next is a site. */
struct site *site_put(struct program *p, enum site_kind kind);
void target_add(struct program *p, struct block *b, uint32_t block);
bool function_full(const struct program *p);

/* ---- body.c: straight code ---- */

void body_filler(struct program *p);
/* Fillers and memory accesses, as many as the profile likes. */
void body_straight(struct program *p);
void body_csr(struct program *p);
void body_ecall(struct program *p, enum site_kind kind);
/* lr, sc, and a branch back when it failed. */
void body_reserve(struct program *p);

/* ---- shape.c: control flow ---- */

/* A function that returns. */
void shape_function(struct program *p, int image, bool calls);
void shape_tops(struct program *p);
void shape_trampoline(struct program *p);
void shape_giant(struct program *p);
/* One version of the code that is replaced. */
void shape_version(struct program *p, uint32_t number);

#endif
