/* SPDX-License-Identifier: MIT */
#include "gen/program.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "gen/memory.h"
#include "gen/rv64.h"

static void make(struct program *p)
{
    shape_trampoline(p);
    shape_giant(p);
    for (uint32_t i = 0; i < FUNCTIONS; i++)
        shape_function(p, i % 3 == 2 ? IMAGE_LIB : IMAGE_MAIN, i >= HANDLERS);
    p->versions = p->functions;
    for (uint32_t i = 0; i < VERSIONS; i++)
        shape_version(p, i);
    shape_tops(p);
}

int program_init(struct program *p, const struct gen_options *options)
{
    memset(p, 0, sizeof *p);
    p->options = *options;
    p->rng = rng_make(options->seed, 1);
    p->cursor[IMAGE_MAIN] = MAIN_BASE + 0x1000;
    p->cursor[IMAGE_LIB] = LIB_BASE + 0x2000;
    p->block = calloc(BLOCKS_MAX, sizeof *p->block);
    p->site = calloc(SITES_MAX, sizeof *p->site);
    p->targets = calloc(TARGETS_MAX, sizeof *p->targets);
    p->code = malloc(CODE_MAX);
    if (!p->block || !p->site || !p->targets || !p->code)
        return -VSE_NOMEM;
    make(p);
    return 0;
}

void program_fini(struct program *p)
{
    free(p->block);
    free(p->site);
    free(p->targets);
    free(p->code);
}

static void block_open(struct program *p)
{
    assert(p->blocks < BLOCKS_MAX);
    struct block *b = &p->block[p->blocks++];
    b->site = p->sites;
    b->code = p->code_size;
    b->id = -1;
    b->function = (uint16_t)(p->now - p->function);
    p->since = 0;
    /* No two versions may have the same bytes at the same address: they would be one block. */
    if (p->now->image == IMAGE_JIT)
        insn_put(p, rv_addi(X_A0, X_ZERO, (int32_t)(p->now - p->function)), 4);
}

void function_begin(struct program *p, int image)
{
    assert(p->functions < FUNCTIONS_MAX);
    p->now = &p->function[p->functions++];
    p->now->block = p->blocks;
    p->now->image = (uint8_t)image;
    p->now->frame = rng_range(&p->rng, 2, 16) * 16;
    p->now_insns = 0;
    p->multiplier = 1;
    block_open(p);
}

/* Slots of a thread's state. */
static uint32_t slot_new(struct program *p, uint32_t count)
{
    uint32_t slot = p->slots;
    p->slots += count;
    return slot;
}

void insn_put(struct program *p, uint32_t word, unsigned size)
{
    assert(p->code_size + 4 <= CODE_MAX);
    struct block *b = open_block(p);
    memcpy(p->code + p->code_size, &word, 4);
    p->code_size += size;
    b->size += size;
    b->insns++;
    p->since++;
    p->now_insns++;
}

struct site *site_put(struct program *p, enum site_kind kind)
{
    assert(p->sites < SITES_MAX);
    struct block *b = open_block(p);
    struct site *s = &p->site[p->sites++];
    s->kind = (uint8_t)kind;
    /* an offset until the function has its addresses */
    s->pc = b->size;
    s->delta = p->since + 1;
    s->slot = slot_new(p, 2);
    b->sites++;
    p->since = UINT32_MAX; /* the site's own instruction brings it to 0 */
    p->now->cost += p->multiplier;
    return s;
}

void target_add(struct program *p, struct block *b, uint32_t block)
{
    assert(p->target_count < TARGETS_MAX);
    p->targets[p->target_count++] = block;
    b->targets++;
}

/* Room is left for what closes the structures that are open. */
bool function_full(const struct program *p)
{
    return p->blocks - p->now->block > FUNCTION_BLOCKS - 40 || p->now_insns > FUNCTION_INSNS / 2;
}

/* ---- the ends of blocks ---- */

static const uint8_t term_flags[] = {
    [TERM_FALL] = 0,
    [TERM_COND] = VS_BR_COND,
    [TERM_JUMP] = VS_BR_TAKEN,
    [TERM_CALL] = VS_BR_TAKEN | VS_BR_CALL,
    [TERM_IJUMP] = VS_BR_TAKEN | VS_BR_INDIRECT,
    [TERM_ICALL] = VS_BR_TAKEN | VS_BR_INDIRECT | VS_BR_CALL,
    [TERM_RET] = VS_BR_TAKEN | VS_BR_INDIRECT | VS_BR_RETURN,
    [TERM_SIGRET] = 0,
};

static unsigned term_size(struct program *p, enum term term)
{
    static const uint8_t percent_short[] = {[TERM_COND] = 35,  [TERM_JUMP] = 50, [TERM_IJUMP] = 50,
                                            [TERM_ICALL] = 50, [TERM_RET] = 70,  [TERM_SIGRET] = 0};
    if (term == TERM_FALL)
        return 0;
    return rng_percent(&p->rng, percent_short[term]) ? 2 : 4;
}

void block_last(struct program *p, enum term term)
{
    struct block *b = open_block(p);
    b->term = (uint8_t)term;
    b->term_size = (uint8_t)term_size(p, term);
    b->flags = term_flags[term];
    b->slot = slot_new(p, 1);
    b->target = p->target_count;
    b->tail = p->since + (term != TERM_FALL);
    b->insns += term != TERM_FALL;
    /* at most; it is encoded when addresses are known */
    p->code_size += term == TERM_FALL ? 0 : 4;
    p->now_insns++;
    p->now->cost += p->multiplier;
}

uint32_t block_end(struct program *p, enum term term)
{
    uint32_t number = p->blocks - 1;
    block_last(p, term);
    block_open(p);
    return number;
}

uint32_t block_label(struct program *p)
{
    if (open_block(p)->insns > 0)
        block_end(p, TERM_FALL);
    return p->blocks - 1;
}

/* ---- addresses ---- */

static int64_t term_offset(const struct program *p, const struct block *b)
{
    return (int64_t)(p->block[b->target].addr - (b->addr + b->size));
}

static bool short_reaches(const struct program *p, const struct block *b)
{
    int64_t reach = b->term == TERM_COND ? 256 : b->term == TERM_JUMP ? 2048 : INT64_MAX;
    if (reach == INT64_MAX)
        return true;
    int64_t offset = term_offset(p, b);
    return offset >= -reach && offset < reach;
}

static uint64_t lay_out(struct program *p, uint64_t addr)
{
    for (uint32_t i = p->now->block; i < p->blocks; i++) {
        p->block[i].addr = addr;
        addr += p->block[i].size + p->block[i].term_size;
    }
    return addr;
}

static bool widen(struct program *p)
{
    bool changed = false;
    for (uint32_t i = p->now->block; i < p->blocks; i++) {
        struct block *b = &p->block[i];
        if (b->term_size == 2 && !short_reaches(p, b)) {
            b->term_size = 4;
            changed = true;
        }
    }
    return changed;
}

static uint32_t term_word(struct program *p, const struct block *b)
{
    static const uint8_t conditions[] = {0, 1, 4, 5, 6, 7};
    bool is_short = b->term_size == 2;
    bool direct = b->term == TERM_COND || b->term == TERM_JUMP || b->term == TERM_CALL;
    int32_t offset = direct ? (int32_t)term_offset(p, b) : 0;
    uint32_t rs1 = rng_range(&p->rng, 8, 15), rs2 = rng_range(&p->rng, 8, 15);
    switch (b->term) {
    case TERM_COND:
        assert(offset >= -4096 && offset < 4096);
        if (is_short)
            return rvc_branch(rng_below(&p->rng, 2), rs1, offset);
        return rv_branch(conditions[rng_below(&p->rng, 6)], rs1, rs2, offset);
    case TERM_JUMP:
        return is_short ? rvc_j(offset) : rv_jal(X_ZERO, offset);
    case TERM_CALL:
        assert(offset >= -(1 << 20) && offset < 1 << 20);
        return rv_jal(X_RA, offset);
    case TERM_IJUMP:
        return is_short ? rvc_jr(X_A5) : rv_jalr(X_ZERO, X_A5);
    case TERM_ICALL:
        return is_short ? rvc_jalr(X_A5) : rv_jalr(X_RA, X_A5);
    case TERM_RET:
        return is_short ? rvc_jr(X_RA) : rv_jalr(X_ZERO, X_RA);
    default:
        return RV_ECALL;
    }
}

static void finish_block(struct program *p, struct block *b)
{
    for (uint32_t i = 0; i < b->sites; i++)
        p->site[b->site + i].pc += b->addr;
    if (b->term == TERM_FALL)
        return;
    uint32_t word = term_word(p, b);
    memcpy(p->code + b->code + b->size, &word, b->term_size);
    b->size += b->term_size;
}

void function_end(struct program *p)
{
    struct function *f = p->now;
    bool jit = f->image == IMAGE_JIT;
    uint64_t addr = jit ? JIT_BASE : p->cursor[f->image];
    f->blocks = p->blocks - f->block;
    uint64_t end = lay_out(p, addr);
    while (widen(p))
        end = lay_out(p, addr);
    for (uint32_t i = 0; i < f->blocks; i++)
        finish_block(p, &p->block[f->block + i]);
    if (!jit)
        p->cursor[f->image] = (end + 15) & ~(uint64_t)15;
}
