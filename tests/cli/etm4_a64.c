/* SPDX-License-Identifier: MIT */
/* Streams of etm4 for A64 code, which OpenCSD can decode to the end: it must find every instruction
 * that was executed. Programs and runs are random: branches of all kinds, calls deeper than the
 * return stack, returns to elsewhere, exceptions, system calls, gaps.
 *
 *   etm4_a64 RUNS
 *
 * Prints a line for each configuration. */
#include <inttypes.h>
#include <string.h>

#include "base/random.h"
#include "etm4_peer.h"
#include "flow_walk.h"
#include "technique/address.h"

enum { BASE = 0x400000, WORDS = 4000, HOLE = 0x20000000, DEPTH = 64, EXECUTED = 20000 };

/* ---- programs -------------------------------------------------------------------------------- */

static uint64_t below(uint64_t *random, uint64_t n)
{
    return vs_random(random) % n;
}

/* Two pieces of code, so far apart that addresses differ above their low bits. */
struct a64_program {
    uint32_t words[2][WORDS];
};

static uint64_t address_of(unsigned piece, unsigned word)
{
    return BASE + (uint64_t)piece * HOLE + 4 * (uint64_t)word;
}

static uint64_t any_address(uint64_t *r)
{
    return address_of(below(r, 8) == 0, (unsigned)below(r, WORDS - 64));
}

/* An offset to a word of the same piece, in bits of an instruction. */
static uint32_t offset_to(uint64_t *r, unsigned word, unsigned reach, unsigned bits)
{
    int64_t low = (int64_t)word > reach ? (int64_t)word - reach : 0;
    int64_t to = low + (int64_t)below(r, 2 * (uint64_t)reach);
    if (to >= WORDS - 64)
        to = WORDS - 65;
    return (uint32_t)(to - (int64_t)word) & ((UINT32_C(1) << bits) - 1);
}

static uint32_t any_word(uint64_t *r, unsigned word)
{
    switch (below(r, 40)) {
    case 0:
    case 1:
    case 2:
        return 0x54000000 | offset_to(r, word, 40, 19) << 5 | (uint32_t)below(r, 14);
    case 3: /* cbz */
        return 0xB4000000 | offset_to(r, word, 60, 19) << 5;
    case 4: /* tbz */
        return 0x36000000 | offset_to(r, word, 60, 14) << 5;
    case 5:
        return 0x14000000 | offset_to(r, word, 500, 26);
    case 6:
    case 7:
        return 0x94000000 | offset_to(r, word, 2000, 26);
    case 8:
        return 0xD63F0020; /* blr x1 */
    case 9:
        return 0xD61F0020; /* br x1 */
    case 10:
    case 11:
        return 0xD65F03C0; /* ret */
    case 12:
        return 0xD4000001; /* svc 0 */
    default:
        return below(r, 2) ? 0xD503201F : 0x91000400; /* nop; add */
    }
}

static void make_program(struct a64_program *p, uint64_t *r)
{
    for (unsigned piece = 0; piece < 2; piece++)
        for (unsigned i = 0; i < WORDS; i++)
            p->words[piece][i] = i < WORDS - 32 ? any_word(r, i) : 0xD61F0020;
}

/* ---- A64, as far as programs have it --------------------------------------------------------- */

static uint64_t target_of(uint64_t pc, uint32_t word, unsigned shift, unsigned bits)
{
    return pc + (uint64_t)((int64_t)((uint64_t)(word >> shift) << (64 - bits)) >> (64 - bits)) * 4;
}

static int decode(const uint8_t *bytes, size_t size, uint64_t pc, struct vs_insn *insn)
{
    uint32_t word;
    if (size < sizeof(word))
        return -VSE_TRUNCATED;
    memcpy(&word, bytes, sizeof(word));
    *insn = (struct vs_insn){.length = 4, .kind = VS_INSN_BRANCH};
    if (word >> 24 == 0x54 || word >> 24 == 0xB4) {
        insn->branch = VS_BR_COND;
        insn->target = target_of(pc, word, 5, 19);
    } else if (word >> 24 == 0x36) {
        insn->branch = VS_BR_COND;
        insn->target = target_of(pc, word, 5, 14);
    } else if (word >> 26 == 5 || word >> 26 == 37) {
        insn->branch = word >> 31 ? VS_BR_CALL : 0;
        insn->target = target_of(pc, word, 0, 26);
    } else if (word == 0xD63F0020) {
        insn->branch = VS_BR_INDIRECT | VS_BR_CALL;
    } else if (word == 0xD61F0020) {
        insn->branch = VS_BR_INDIRECT;
    } else if (word == 0xD65F03C0) {
        insn->branch = VS_BR_INDIRECT | VS_BR_RETURN;
    } else {
        insn->kind = word == 0xD4000001 ? VS_INSN_SYSCALL : VS_INSN_PLAIN;
    }
    return 0;
}

static const struct vs_isa a64 = {
    .name = "a64", .address_bits = 64, .length_max = 4, .alignment = 4, .decode = decode};

static uint32_t version(const void *context, unsigned core, uint64_t instructions, uint64_t *until)
{
    (void)context, (void)core, (void)instructions;
    *until = UINT64_MAX;
    return 0;
}

static size_t fetch(const void *context, uint32_t v, uint64_t pc, uint8_t *bytes, size_t capacity)
{
    const struct a64_program *p = context;
    unsigned piece = pc >= BASE + HOLE;
    uint64_t at = pc - address_of(piece, 0);
    (void)v;
    if (at >= sizeof(p->words[0]) || capacity < 4)
        return 0;
    memcpy(bytes, (const uint8_t *)p->words[piece] + at, 4);
    return 4;
}

/* ---- runs ------------------------------------------------------------------------------------ */

/* A run, and the encoder that is given its steps. */
struct a64_run {
    uint64_t random;
    struct a64_program program;
    const struct vs_encoder_ops *ops;
    void *encoder;
    uint64_t pc, since, time, count, hash;
    uint32_t jumps; /* direct ones since the last step */
    uint64_t stack[DEPTH];
    unsigned depth;
};

static void step(struct a64_run *r, struct vs_step s)
{
    s.icount = (uint32_t)r->since;
    s.jumps = r->jumps;
    s.time = r->time;
    r->since = r->jumps = 0;
    r->pc = vs_step_next(&s);
    if (r->ops->consume(r->encoder, &(struct vs_slice){.steps = &s, .step_count = 1}) < 0)
        fail("etm4_a64", "the encoder refuses a step");
}

static void go(struct a64_run *r, uint64_t target)
{
    step(r, (struct vs_step){.kind = VS_STEP_DISCONTINUITY, .target = target});
}

static uint64_t indirect_target(struct a64_run *r, const struct vs_insn *insn)
{
    if (insn->branch & VS_BR_RETURN && r->depth && below(&r->random, 10))
        return r->stack[--r->depth];
    return any_address(&r->random);
}

static void branch(struct a64_run *r, const struct vs_insn *insn)
{
    bool taken = !(insn->branch & VS_BR_COND) || below(&r->random, 4);
    struct vs_step s = {.pc = r->pc,
                        .target = insn->target,
                        .size = 4,
                        .flags = (uint8_t)(insn->branch | (taken ? VS_BR_TAKEN : 0))};
    if (insn->branch & VS_BR_INDIRECT)
        s.target = indirect_target(r, insn);
    if (insn->branch & VS_BR_CALL && r->depth < DEPTH)
        r->stack[r->depth++] = r->pc + 4;
    s.kind = insn->branch & VS_BR_INDIRECT ? VS_STEP_INDIRECT
             : insn->branch & VS_BR_COND   ? VS_STEP_CONDITIONAL
                                           : VS_STEP_CALL;
    if (insn->branch) {
        step(r, s);
    } else {
        r->pc = insn->target;
        r->jumps++;
    }
}

static void execute(struct a64_run *r, const struct vs_address_code *code)
{
    uint8_t bytes[4];
    struct vs_insn insn;
    if (!below(&r->random, 300))
        go(r, any_address(&r->random));
    if (!below(&r->random, 3000)) {
        go(r, VS_STEP_NOWHERE);
        go(r, any_address(&r->random));
    }
    if (!fetch(code->context, 0, r->pc, bytes, 4) || decode(bytes, 4, r->pc, &insn))
        fail("etm4_a64", "the program runs out of its code");
    r->time += below(&r->random, 3) + (below(&r->random, 1000) ? 0 : below(&r->random, 9000));
    r->count++;
    r->since++;
    r->hash = flow_mix(r->hash, r->pc);
    if (insn.kind == VS_INSN_BRANCH) {
        branch(r, &insn);
    } else {
        r->pc += 4;
        if (insn.kind == VS_INSN_SYSCALL && !below(&r->random, 4))
            go(r, any_address(&r->random));
    }
}

/* ---- the peer -------------------------------------------------------------------------------- */

struct a64_found {
    uint64_t count, hash, bad, time;
};

static ocsd_datapath_resp_t take(const void *context, const ocsd_trc_index_t index,
                                 const uint8_t channel, const ocsd_generic_trace_elem *e)
{
    struct a64_found *f = (struct a64_found *)context;
    (void)index, (void)channel;
    if (e->elem_type == OCSD_GEN_TRC_ELEM_INSTR_RANGE)
        for (uint64_t pc = e->st_addr; pc < e->en_addr; pc += 4) {
            f->count++;
            f->hash = flow_mix(f->hash, pc);
        }
    else if (e->elem_type == OCSD_GEN_TRC_ELEM_TIMESTAMP)
        f->time = e->timestamp;
    else if (e->elem_type == OCSD_GEN_TRC_ELEM_ADDR_NACC)
        f->bad++;
    return OCSD_RESP_CONT;
}

static struct a64_found decode_by_peer(struct a64_program *p, const struct vs_buf *bits,
                                       unsigned config, bool frames)
{
    struct a64_found f = {0};
    dcd_tree_handle_t tree = peer_open(config, frames, 0x10, OCSD_CREATE_FLG_FULL_DECODER);
    if (ocsd_dt_set_gen_elem_outfn(tree, take, &f) != OCSD_OK)
        exit(2);
    for (unsigned piece = 0; piece < 2; piece++)
        if (ocsd_dt_add_buffer_mem_acc(tree, address_of(piece, 0), OCSD_MEM_SPACE_ANY,
                                       (const uint8_t *)p->words[piece],
                                       sizeof(p->words[piece])) != OCSD_OK)
            exit(2);
    f.bad += !peer_feed(tree, bits->data, bits->len);
    ocsd_destroy_dcd_tree(tree);
    return f;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static void compare(const char *text, unsigned config, uint64_t seed, uint64_t *compared)
{
    static struct a64_run r;
    const bool timed = config & PEER_TIME;
    const struct vs_technique_setup setup = {
        .cores = 1, .address_bits = 64, .timed = timed, .alignment = 4};
    const struct vs_address_code code = {&r.program, &a64, version, fetch};
    struct vs_technique_spec spec;
    struct vs_port_shape shape;
    struct vs_port_writer port;
    struct vs_buf bits = {0};
    r = (struct a64_run){.random = seed, .time = 1000};
    make_program(&r.program, &r.random);
    if (vs_technique_parse(&spec, text, NULL) < 0)
        fail(text, "there is no such technique");
    vs_technique_settle(&spec, timed);
    vs_technique_shape(&spec, &setup, &shape);
    r.ops = spec.technique->encoder;
    if (vs_port_writer_init(&port, &shape, vs_port_to_buf, &bits) < 0 ||
        r.ops->open(&r.encoder,
                    &(struct vs_technique_context){
                        .params = spec.params, .setup = &setup, .port = &port, .code = &code}) < 0)
        fail(text, "the encoder cannot be opened");
    go(&r, any_address(&r.random));
    while (r.count < EXECUTED)
        execute(&r, &code);
    go(&r, VS_STEP_NOWHERE);
    if (vs_encoder_finish(r.ops, r.encoder) < 0 || vs_port_finish(&port) < 0)
        fail(text, "the encoder fails");
    r.ops->close(r.encoder);
    vs_port_writer_fini(&port);
    struct a64_found f = decode_by_peer(&r.program, &bits, config, strstr(text, "formatter=on"));
    if (f.bad || f.count != r.count || f.hash != r.hash || (timed && f.time != r.time)) {
        fprintf(stderr,
                "etm4_a64: %s, seed %" PRIu64 ": OpenCSD finds %" PRIu64 " of %" PRIu64
                " instructions%s\n",
                text, seed, f.count, r.count, f.count == r.count ? ", but others" : "");
        exit(1);
    }
    *compared += r.count;
    vs_buf_fini(&bits);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *spec;
        unsigned config;
    } rows[] = {
        {"etm4", PEER_STACK},
        {"etm4:stack=3", PEER_STACK},
        {"etm4:plain", 0},
        {"etm4:broadcast", PEER_BROADCAST},
        {"etm4:sync=100", PEER_STACK},
        {"etm4:sync=300,context=core,formatter=on", PEER_STACK | PEER_CONTEXT},
        {"etm4", PEER_STACK | PEER_TIME},
        {"etm4:cycles", PEER_STACK | PEER_TIME | PEER_CYCLES},
        {"etm4:cycles,sync=200,threshold=9,formatter=on", PEER_STACK | PEER_TIME | PEER_CYCLES},
    };
    unsigned runs = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 1;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        uint64_t compared = 0;
        for (unsigned k = 0; k < runs; k++)
            compare(rows[i].spec, rows[i].config, 1000 * i + k + 1, &compared);
        printf("%s%s: %" PRIu64 " instructions: the same\n", rows[i].spec,
               rows[i].config & PEER_TIME ? ", timed" : "", compared);
    }
    return 0;
}
