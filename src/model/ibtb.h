/* SPDX-License-Identifier: MIT */
/* The indirect branch target buffer: two ways, indexed by the path to the branch (the path
 * information register, PIR) and its address.
 *
 *   set = (PIR >> 8 xor pc >> 4) mod sets      tag = (PIR xor pc >> 10) & 0xff
 *   PIR = (PIR << 2 xor (pc >> 4, its low pir_pc_bits)) | outcome,  kept to pir_bits
 *
 * The PIR changes after the lookup of every indirect branch that uses the buffer, with outcome 1,
 * and if so configured after every conditional branch, with its outcome. Ways are replaced in LRU
 * order, way 0 first. A buffer of no entries keeps nothing and predicts nothing.
 *
 * In oracle mode there are no tags, and a target counts as predicted if either way holds it. No
 * decoder could know which one; the mode exists to reproduce published counts. */
#ifndef MODEL_IBTB_H
#define MODEL_IBTB_H

#include <stdbool.h>
#include <stdint.h>

#include "model/cost.h"
#include "vestige/error.h"

#define VS_IBTB_MAX (1u << 20)

struct vs_ibtb_config {
    uint32_t entries;     /* 0, or twice a power of two */
    bool oracle;          /* untagged-oracle; else tagged */
    bool pir_all;         /* conditional branches enter the PIR */
    unsigned pir_bits;    /* 16 or 13; 0 means 16 */
    unsigned pir_pc_bits; /* 13 or 8; 0 means 13 */
};

enum { VS_IBTB_NO_TAG = 0x100 }; /* of a way that holds nothing */

struct vs_ibtb_set {
    uint64_t target[2];
    uint16_t tag[2];
    uint8_t oldest; /* the way to be replaced */
};

struct vs_ibtb {
    struct vs_ibtb_set *sets; /* NULL: no entries */
    uint32_t mask;            /* sets - 1 */
    uint32_t pir, pir_mask, pc_mask;
    bool oracle, pir_all;
};

/* Returns 0; -VSE_INVAL; -VSE_NOMEM. */
int vs_ibtb_init(struct vs_ibtb *b, const struct vs_ibtb_config *config);
void vs_ibtb_fini(struct vs_ibtb *b);

/* Makes all as it was at first. */
void vs_ibtb_clear(struct vs_ibtb *b);

/* The cost with targets of that many bits. */
struct vs_cost vs_ibtb_cost(const struct vs_ibtb *b, unsigned target_bits);

static inline uint32_t vs_ibtb_index(const struct vs_ibtb *b, uint64_t pc)
{
    return (uint32_t)(b->pir >> 8 ^ pc >> 4) & b->mask;
}

static inline unsigned vs_ibtb_tag(const struct vs_ibtb *b, uint64_t pc)
{
    return (unsigned)(b->pir ^ pc >> 10) & 0xff;
}

static inline void vs_ibtb_path(struct vs_ibtb *b, uint64_t pc, bool outcome)
{
    b->pir = ((b->pir << 2 ^ ((uint32_t)(pc >> 4) & b->pc_mask)) | outcome) & b->pir_mask;
}

/* Gets the predicted target and changes nothing. Returns whether there is one, which in oracle mode
 * is never so. */
static inline bool vs_ibtb_predict(const struct vs_ibtb *b, uint64_t pc, uint64_t *target)
{
    const struct vs_ibtb_set *s;
    unsigned tag = vs_ibtb_tag(b, pc);
    bool second;

    if (!b->sets || b->oracle)
        return false;
    s = &b->sets[vs_ibtb_index(b, pc)];
    second = s->tag[0] != tag;
    *target = s->target[second];
    return s->tag[second] == tag;
}

/* Learns where an indirect branch went. Returns whether that was predicted. */
static inline bool vs_ibtb_update(struct vs_ibtb *b, uint64_t pc, uint64_t target)
{
    struct vs_ibtb_set *s;
    unsigned tag, way;
    bool right;

    if (!b->sets)
        return false;
    s = &b->sets[vs_ibtb_index(b, pc)];
    /* without tags all ways match, and the target is compared in the tag's place */
    tag = b->oracle ? 0 : vs_ibtb_tag(b, pc);
    if (s->tag[0] == tag && (!b->oracle || s->target[0] == target))
        way = 0;
    else if (s->tag[1] == tag && (!b->oracle || s->target[1] == target))
        way = 1;
    else
        way = 2;
    right = way < 2 && s->target[way] == target;
    if (way == 2)
        way = s->oldest;
    s->tag[way] = (uint16_t)tag;
    s->target[way] = target;
    s->oldest = (uint8_t)!way;
    vs_ibtb_path(b, pc, true);
    return right;
}

/* A conditional branch that does not use the buffer. */
static inline void vs_ibtb_conditional(struct vs_ibtb *b, uint64_t pc, bool taken)
{
    if (b->pir_all)
        vs_ibtb_path(b, pc, taken);
}

#endif
