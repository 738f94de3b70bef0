/* SPDX-License-Identifier: MIT */
#include "rtl/golden.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/diag.h"
#include "isa/set.h"
#include "rerun/run_open.h"
#include "rtl/model.h"
#include "study/codeview.h"
#include "technique/passage.h"
#include "technique/technique.h"

void rtl_give_up(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("rtl: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    exit(2);
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* A loop is what a core did lately and does again for a while, so that paths are met again. */
enum { LOOP = 8 };

struct random_core {
    struct rtl_step loop[LOOP];
    unsigned kept, again, turn; /* steps in `loop`; how many to repeat; the next one */
    uint64_t pc, calls[8];
    unsigned depth;
    unsigned site, rounds, hot; /* a loop that is counted: which, what is left, how often again */
    uint32_t history;
    bool alive, ended;
};

struct rtl_source {
    struct vs_reader *reader; /* NULL: random */
    struct vs_reader *blocks; /* NULL: no code; else its text is that reader's */
    struct vs_text text;
    struct vs_address_code code;
    struct vs_passage passage;
    struct rtl_block *blocks_of_step; /* of the last step */
    size_t block_count, block_capacity;
    uint64_t after;        /* where the core would go on after them */
    bool accesses;         /* instead of steps */
    struct vs_batch batch; /* of them */
    struct vs_stepper stepper;
    size_t at;
    bool over;
    unsigned cores, address_bits;
    bool timed;
    uint64_t instructions, time;

    uint64_t state, left;
    uint64_t at_sites[1024]; /* what each instruction accessed last */
    unsigned number;         /* of the core whose step comes */
    struct random_core *random;
};

void *rtl_checked(void *p)
{
    if (!p)
        rtl_give_up("out of memory");
    return p;
}

static struct vs_reader *open_run(const char *path)
{
    struct vs_diag diag = {.offset = -1, .chunk = -1};
    struct vs_reader *reader;
    if (vs_run_open_flow(&reader, path, VS_OPEN_DEFAULT, NULL, NULL, &diag) < 0)
        rtl_give_up("%s: %s", path, diag.text);
    return reader;
}

static struct rtl_block *add_block(struct rtl_source *s, uint64_t pc)
{
    if (s->block_count == s->block_capacity) {
        s->block_capacity = s->block_capacity ? 2 * s->block_capacity : 64;
        s->blocks_of_step =
            rtl_checked(realloc(s->blocks_of_step, s->block_capacity * sizeof(*s->blocks_of_step)));
    }
    struct rtl_block *b = &s->blocks_of_step[s->block_count++];
    *b = (struct rtl_block){.pc = pc, .last = 2};
    return b;
}

/* What comes after it may say that it is of another type. */
static void note_block(void *context, unsigned core, const struct vs_stretch *r)
{
    struct rtl_block *b = add_block(context, r->pc);
    (void)core;
    b->bytes = (uint32_t)(r->next - r->pc);
    b->icount = r->count;
    b->last = (uint8_t)(r->next - r->last_pc);
    b->itype = vs_stretch_jumps(r) ? RTL_ITYPE_JUMP : RTL_ITYPE_NONE;
}

static void take_code(struct rtl_source *s, const char *path, const struct vs_isa *isa)
{
    s->blocks = open_run(path);
    if (!isa || vs_codeview_add(&s->text, s->blocks) < 0 ||
        vs_codeview_changes(&s->text, s->blocks) < 0 || vs_text_index(&s->text) < 0)
        rtl_give_up("%s: its code cannot be had", path);
    s->code = vs_code_of_text(&s->text, isa);
    if (vs_passage_init(&s->passage, &s->code, s->cores) < 0)
        rtl_give_up("out of memory");
    s->passage.sink = note_block;
    s->passage.context = s;
}

struct rtl_source *rtl_source_run(const char *path, bool code)
{
    struct rtl_source *s = rtl_checked(calloc(1, sizeof(*s)));
    s->reader = open_run(path);
    const struct vs_run_info *info = vs_reader_info(s->reader);
    const struct vs_isa *isa = vs_isa_find(vs_reader_meta(s->reader, "isa"));
    s->cores = info->threads;
    s->timed = info->features & VS_RUN_TIMED;
    s->address_bits = isa ? isa->address_bits : 64;
    if (code)
        take_code(s, path, isa);
    return s;
}

struct rtl_source *rtl_source_accesses(const char *path)
{
    struct rtl_source *s = rtl_checked(calloc(1, sizeof(*s)));
    struct vs_diag diag = {.offset = -1, .chunk = -1};
    if (vs_run_open_shown(&s->reader, path, VS_OPEN_DEFAULT, NULL, NULL, &diag) < 0)
        rtl_give_up("%s: %s", path, diag.text);
    s->cores = vs_reader_info(s->reader)->threads;
    s->address_bits = 64;
    s->accesses = true;
    return s;
}

static bool next_batch(struct rtl_source *s)
{
    struct vs_batch batch;
    int count = vs_reader_next(s->reader, &batch);
    s->at = 0;
    if (count > 0) {
        if (vs_stepper_take(&s->stepper, &batch) < 0)
            rtl_give_up("out of memory");
        if (batch.cycles)
            s->time = batch.cycles[batch.count - 1];
        return true;
    }
    if (count != -VSE_END)
        rtl_give_up("the run cannot be read to its end: %s", vs_errstr(count));
    s->over = true;
    if (vs_stepper_end(&s->stepper, s->timed ? s->time : s->stepper.instructions) < 0)
        rtl_give_up("out of memory");
    return false;
}

/* xorshift64* */
static uint64_t random_word(struct rtl_source *s)
{
    s->state ^= s->state >> 12;
    s->state ^= s->state << 25;
    s->state ^= s->state >> 27;
    return s->state * UINT64_C(0x2545f4914f6cdd1d);
}

struct rtl_source *rtl_source_random(uint64_t seed, uint64_t count, unsigned cores)
{
    struct rtl_source *s = rtl_checked(calloc(1, sizeof(*s)));
    s->state = seed * 2 + 1;
    s->left = count;
    s->cores = cores;
    s->timed = true;
    s->address_bits = 64;
    s->random = rtl_checked(calloc(cores, sizeof(*s->random)));
    return s;
}

static bool is_one_of(struct rtl_source *s, unsigned n)
{
    return random_word(s) % n == 0;
}

/* Some of a few hundred places, and now and then anything. */
static uint64_t random_place(struct rtl_source *s)
{
    uint64_t r = random_word(s);
    if (r % 64 == 0)
        return random_word(s) | 1; /* not 0, which is nowhere */
    return 0x10000 + (r >> 8) % 300 * 22 + (r % 5 == 0 ? UINT64_C(0x7f0000000000) : 0);
}

static void random_elsewhere(struct rtl_source *s, struct random_core *c, struct rtl_step *step)
{
    step->kind = RTL_DISCONTINUITY;
    bool ends = c->alive && is_one_of(s, 8);
    step->target = ends ? 0 : random_place(s);
    if (!c->alive)
        step->icount = 0;
    c->alive = !ends;
    c->pc = step->target;
}

static void random_step(struct rtl_source *s, struct rtl_step *step)
{
    unsigned number = s->number;
    struct random_core *c = &s->random[number];
    uint64_t r = random_word(s);
    s->time += r % 4 == 0 ? 0 : r % 3 == 0 ? r >> 8 & 3 : 1;
    if (is_one_of(s, 2000))
        s->time += random_word(s) >> (36 + random_word(s) % 28);
    *step = (struct rtl_step){.time = s->time, .core = (uint16_t)number};
    step->icount = 1 + (uint32_t)(random_word(s) % 12);
    if (is_one_of(s, 500))
        step->icount = (uint32_t)(random_word(s) % 200000);
    if (!step->icount)
        step->icount = 1;
    if (!c->alive || is_one_of(s, 200)) {
        random_elsewhere(s, c, step);
        return;
    }
    step->pc = c->pc + 2 * (random_word(s) % 8);
    step->size = is_one_of(s, 2) ? 2 : 4;
    unsigned what = (unsigned)(random_word(s) % 16);
    if (what < 10) {
        step->kind = RTL_CONDITIONAL;
        bool taken = (step->pc >> 4 ^ c->history) & 1;
        if (is_one_of(s, 16))
            taken = !taken;
        step->flags = VS_BR_COND | (taken ? VS_BR_TAKEN : 0);
        step->target = random_place(s);
        c->history = c->history << 1 | taken;
        /* few places, so that some are met again */
        c->pc = taken ? 0x10000 + (step->pc * 7 >> 2) % 300 * 22 : step->pc + step->size;
    } else if (what < 12) {
        step->kind = RTL_CALL;
        step->flags = VS_BR_CALL | VS_BR_TAKEN;
        step->target = c->pc = random_place(s);
        c->calls[c->depth++ % 8] = step->pc + step->size;
    } else {
        bool returns = what < 14, calls = what == 15 || is_one_of(s, 16);
        step->kind = RTL_INDIRECT;
        step->flags = (uint8_t)(VS_BR_INDIRECT | VS_BR_TAKEN | (returns ? VS_BR_RETURN : 0) |
                                (calls ? VS_BR_CALL : 0));
        if (returns && c->depth && !is_one_of(s, 8))
            step->target = c->calls[--c->depth % 8];
        else
            step->target = is_one_of(s, 4) ? random_place(s) : 0x20000 + (step->pc & 0x30);
        if (calls)
            c->calls[c->depth++ % 8] = step->pc + step->size;
        c->pc = step->target;
    }
}

/* A branch that goes one way as often as the last time, mostly, and then the other way once. */
static bool random_counted(struct rtl_source *s, struct random_core *c, struct rtl_step *step)
{
    static const uint8_t lengths[] = {2, 3, 5, 9, 20, 33, 70, 130};
    if (!c->rounds) {
        if (!is_one_of(s, c->hot ? 3 : 150))
            return false;
        if (!c->hot) {
            c->site = (unsigned)(random_word(s) % 8);
            c->hot = 5 + (unsigned)(random_word(s) % 4);
        }
        c->hot--;
        c->rounds = lengths[c->site] + 1u;
        if (!c->hot || is_one_of(s, 16)) /* the last time it goes on for longer */
            c->rounds += (unsigned)(random_word(s) % 20);
        else if (is_one_of(s, 16))
            c->rounds = 1 + (unsigned)(random_word(s) % c->rounds);
    }
    bool taken = (--c->rounds != 0) ^ (c->site & 1);
    *step = (struct rtl_step){.pc = 0x30000 + c->site * 0x52,
                              .target = 0x30000,
                              .time = s->time += random_word(s) % 3,
                              .icount = 1 + (uint32_t)(random_word(s) % 3),
                              .core = (uint16_t)s->number,
                              .kind = RTL_CONDITIONAL,
                              .flags = VS_BR_COND | (taken ? VS_BR_TAKEN : 0),
                              .size = 4};
    return true;
}

/* In a loop, now and then a branch does something else. */
static bool random_next(struct rtl_source *s, struct rtl_step *step)
{
    if (!s->left)
        return false;
    s->left--;
    if (!is_one_of(s, 3)) /* a core has several steps, one after the other */
        s->number = (unsigned)(random_word(s) % s->cores);
    struct random_core *c = &s->random[s->number];
    if (!c->again && c->alive && random_counted(s, c, step))
        return true;
    if (!c->again || !c->alive) {
        c->again = 0;
        random_step(s, step);
        if (step->kind == RTL_DISCONTINUITY || step->icount > 100)
            c->kept = 0;
        else
            c->loop[c->kept++] = *step;
        if (c->kept == LOOP || (c->kept && is_one_of(s, 16))) {
            c->again = c->kept * (unsigned)(random_word(s) % 16);
            c->turn = 0;
            if (!c->again)
                c->kept = 0;
        }
        return true;
    }
    *step = c->loop[c->turn++ % c->kept];
    step->time = s->time += random_word(s) % 3;
    if (step->kind == RTL_CONDITIONAL && is_one_of(s, 128))
        step->flags ^= VS_BR_TAKEN;
    if (step->kind == RTL_INDIRECT && is_one_of(s, 32))
        step->target = random_place(s);
    if (!--c->again)
        c->kept = 0;
    return true;
}

static uint8_t itype_of_branch(const struct rtl_step *step)
{
    bool calls = step->flags & VS_BR_CALL, returns = step->flags & VS_BR_RETURN;
    if (step->kind == RTL_CONDITIONAL)
        return step->flags & VS_BR_TAKEN ? RTL_ITYPE_TAKEN : RTL_ITYPE_NOT_TAKEN;
    if (step->kind == RTL_CALL)
        return RTL_ITYPE_CALL;
    if (calls)
        return returns ? RTL_ITYPE_SWAP : RTL_ITYPE_INDIRECT_CALL;
    if (returns)
        return RTL_ITYPE_RETURN;
    /* a step does not say which register it is */
    return step->pc & 2 ? RTL_ITYPE_TAIL_CALL : RTL_ITYPE_INDIRECT_JUMP;
}

/* Says how the step's blocks end. An interrupt after a jump, or right after a branch, is a block of
 * its own. */
static void end_blocks(struct rtl_source *s, const struct rtl_step *step, bool system, bool alive)
{
    struct rtl_block *last = s->block_count ? &s->blocks_of_step[s->block_count - 1] : NULL;
    if (step->kind != RTL_DISCONTINUITY) {
        if (!last)
            rtl_give_up("a branch without an instruction");
        last->itype = itype_of_branch(step);
    } else if (step->target && alive) {
        if (!last || last->itype)
            last = add_block(s, s->after);
        last->itype = system             ? RTL_ITYPE_EXCEPTION
                      : step->target & 2 ? RTL_ITYPE_TRAP_RETURN
                                         : RTL_ITYPE_INTERRUPT;
    }
}

const struct rtl_block *rtl_source_blocks(const struct rtl_source *s, size_t *count,
                                          uint64_t *after)
{
    *count = s->block_count;
    *after = s->after;
    return s->blocks_of_step;
}

/* Follows the code, up to the last instruction of the step. */
static void pass_code(struct rtl_source *s, struct rtl_step *step)
{
    struct vs_passed passed = {0};
    uint64_t left = step->icount;
    bool alive = s->passage.cores[step->core].alive;
    s->block_count = 0;
    while (left)
        vs_passage_search(&s->passage, step->core, &left, &passed);
    s->after = s->passage.cores[step->core].place.pc;
    end_blocks(s, step, passed.system, alive);
    if (step->kind == RTL_DISCONTINUITY) {
        step->pc = passed.last;
        vs_passage_go(&s->passage, step->core, step->target);
    } else {
        bool taken = step->flags & VS_BR_TAKEN;
        vs_passage_branch(&s->passage, step->core, taken ? step->target : step->pc + step->size);
    }
}

struct rtl_source *rtl_source_random_accesses(uint64_t seed, uint64_t count)
{
    struct rtl_source *s = rtl_source_random(seed, count, 1);
    s->accesses = true;
    return s;
}

/* A few instructions, most of which go on near where they were. */
static bool random_access(struct rtl_source *s, struct rtl_step *step)
{
    static const uint64_t strides[] = {0, 8, 8, 64, 512, 4096, 1 << 20, UINT64_C(1) << 40};
    if (!s->left)
        return false;
    s->left--;
    uint64_t r = random_word(s), site = r % 8 ? r >> 8 & 15 : r >> 8 & 1023;
    uint64_t *at = &s->at_sites[site];
    *at += strides[r >> 20 & 7] * (r >> 24 & 3) - (r >> 28 & 15);
    if (is_one_of(s, 64))
        *at = random_word(s);
    *step = (struct rtl_step){.pc = 0x10000 + site * 2 + (site & 3) * 256,
                              .target = *at,
                              .icount = 1,
                              .kind = RTL_ACCESS};
    return true;
}

static bool next_access(struct rtl_source *s, struct rtl_step *step)
{
    for (;;) {
        for (; s->at < s->batch.count; s->at++) {
            const struct vs_event *e = &s->batch.events[s->at];
            s->instructions += e->icount;
            if (e->kind != VS_LOAD && e->kind != VS_STORE)
                continue;
            *step = (struct rtl_step){
                .pc = e->pc, .target = e->addr, .core = e->thread, .icount = 1, .kind = RTL_ACCESS};
            s->at++;
            return true;
        }
        int count = vs_reader_next(s->reader, &s->batch);
        s->at = 0;
        if (count == -VSE_END) {
            s->batch.count = 0;
            return false;
        }
        if (count < 0)
            rtl_give_up("the run cannot be read to its end: %s", vs_errstr(count));
    }
}

bool rtl_source_next(struct rtl_source *s, struct rtl_step *step)
{
    if (s->accesses)
        return s->random ? random_access(s, step) : next_access(s, step);
    if (s->random) {
        bool more = random_next(s, step);
        s->instructions += more ? step->icount : 0;
        return more;
    }
    while (s->at == s->stepper.count) {
        if (s->over)
            return false;
        next_batch(s);
    }
    const struct vs_step *from = &s->stepper.steps[s->at++];
    if (from->kind == VS_STEP_INDIRECT && from->flags & VS_BR_COND)
        rtl_give_up("the RTL has no conditional indirect branches, and the run has some");
    *step = (struct rtl_step){.pc = from->pc,
                              .target = from->target,
                              .time = from->time,
                              .icount = from->icount,
                              .core = from->core,
                              .kind = from->kind,
                              .flags = from->flags,
                              .size = from->size};
    s->instructions += from->icount;
    if (s->blocks)
        pass_code(s, step);
    return true;
}

unsigned rtl_source_cores(const struct rtl_source *s)
{
    return s->cores;
}

bool rtl_source_timed(const struct rtl_source *s)
{
    return s->timed;
}

unsigned rtl_source_address_bits(const struct rtl_source *s)
{
    return s->address_bits;
}

uint64_t rtl_source_instructions(const struct rtl_source *s)
{
    return s->instructions;
}

void rtl_source_close(struct rtl_source *s)
{
    if (s->blocks)
        vs_passage_fini(&s->passage);
    vs_text_fini(&s->text);
    vs_reader_close(s->blocks);
    vs_reader_close(s->reader);
    vs_stepper_fini(&s->stepper);
    free(s->blocks_of_step);
    free(s->random);
    free(s);
}

/* ---- the model ------------------------------------------------------------------------------- */

/* A message: where it ends, whose it is, and how many bits of it each field has. */
struct told {
    uint64_t end, step;
    struct rtl_step of;
    uint16_t fields[VS_FIELD_END];
};

enum { TOLD = 1 << 16 };

struct rtl_model {
    struct vs_technique_spec spec;
    struct vs_technique_setup setup;
    struct vs_port_writer port;
    struct vs_port_meter meter;
    struct vs_buf data;
    void *encoder;
    uint64_t steps, messages, bits;
    struct rtl_step step;
    struct told *told;             /* the last ones, in a ring */
    struct vs_port_counts *before; /* by core: before its next message */
    bool finished;
};

static void note(void *context, unsigned core, uint64_t bits)
{
    struct rtl_model *m = context;
    struct told *t = &m->told[m->messages++ % TOLD];
    const struct vs_port_counts *now = &m->port.cores[core].counts;
    t->end = m->bits += bits;
    t->step = m->steps;
    t->of = m->step;
    t->of.core = (uint16_t)core;
    for (unsigned f = 0; f < VS_FIELD_END; f++)
        t->fields[f] = (uint16_t)(now->bits[f] - m->before[core].bits[f]);
    m->before[core] = *now;
}

struct rtl_model *rtl_model_open_around(const char *spec, unsigned cores, bool timed,
                                        const struct rtl_around *around)
{
    struct rtl_model *m = rtl_checked(calloc(1, sizeof(*m)));
    struct vs_diag diag = {.offset = -1, .chunk = -1};
    struct vs_port_shape shape;
    if (vs_technique_parse(&m->spec, spec, &diag) < 0)
        rtl_give_up("%s: %s", spec, diag.text);
    vs_technique_settle(&m->spec, timed);
    m->setup = (struct vs_technique_setup){
        .cores = cores, .address_bits = around->address_bits, .timed = timed, .alignment = 2};
    vs_technique_shape(&m->spec, &m->setup, &shape);
    if (vs_port_writer_init(&m->port, &shape, vs_port_to_buf, &m->data) < 0)
        rtl_give_up("out of memory");
    m->told = rtl_checked(calloc(TOLD, sizeof(*m->told)));
    m->before = rtl_checked(calloc(cores, sizeof(*m->before)));
    m->meter = (struct vs_port_meter){.told = note, .context = m};
    m->port.meter = &m->meter;
    const struct vs_technique_context context = {.params = m->spec.params,
                                                 .setup = &m->setup,
                                                 .port = &m->port,
                                                 .prior = around->prior,
                                                 .code = around->code,
                                                 .code_pages = around->code_pages};
    if (m->spec.technique->encoder->open(&m->encoder, &context) < 0)
        rtl_give_up("%s: the encoder cannot be opened", spec);
    return m;
}

struct rtl_model *rtl_model_open(const char *spec, unsigned cores, bool timed,
                                 const struct rtl_source *source)
{
    const struct rtl_around around = {.address_bits = source->address_bits,
                                      .code = source->blocks ? &source->code : NULL};
    return rtl_model_open_around(spec, cores, timed, &around);
}

void rtl_model_events(struct rtl_model *m, const struct vs_batch *batch)
{
    const struct vs_event *e = batch->events;
    m->step = (struct rtl_step){
        .pc = e->pc, .target = e->addr, .core = e->thread, .kind = RTL_ACCESS, .size = 1};
    m->steps++;
    if (m->spec.technique->encoder->consume(m->encoder, &(struct vs_slice){.events = batch}) < 0)
        rtl_give_up("event %" PRIu64 ": the encoder refuses it", m->steps);
}

static void access_memory(struct rtl_model *m, const struct rtl_step *step)
{
    const struct vs_event event = {.pc = step->pc,
                                   .addr = step->target,
                                   .thread = step->core,
                                   .size = 8,
                                   .icount = 1,
                                   .kind = VS_LOAD};
    const struct vs_batch batch = {.events = &event, .count = 1};
    m->step = *step;
    m->steps++;
    if (m->spec.technique->encoder->consume(m->encoder, &(struct vs_slice){.events = &batch}) < 0)
        rtl_give_up("access %" PRIu64 ": the encoder refuses it", m->steps);
}

void rtl_model_step(struct rtl_model *m, const struct rtl_step *step)
{
    const struct vs_step s = {.pc = step->pc,
                              .target = step->target,
                              .time = step->time,
                              .icount = step->icount,
                              .core = step->core,
                              .kind = step->kind,
                              .flags = step->flags,
                              .size = step->size};
    if (step->kind == RTL_ACCESS) {
        access_memory(m, step);
        return;
    }
    m->step = *step;
    m->steps++;
    if (m->spec.technique->encoder->consume(m->encoder,
                                            &(struct vs_slice){.steps = &s, .step_count = 1}) < 0)
        rtl_give_up("step %" PRIu64 ": the encoder refuses it", m->steps);
}

uint64_t rtl_model_bits(struct rtl_model *m, const uint8_t **data)
{
    if (!m->finished)
        vs_port_flush(&m->port);
    *data = m->data.data;
    return m->finished ? m->bits : 8 * (uint64_t)m->data.len;
}

void rtl_model_finish(struct rtl_model *m)
{
    if (vs_encoder_finish(m->spec.technique->encoder, m->encoder) < 0 ||
        vs_port_finish(&m->port) != (int64_t)m->bits)
        rtl_give_up("the model cannot finish its stream");
    m->finished = true;
}

uint64_t rtl_model_messages(const struct rtl_model *m)
{
    return m->messages;
}

uint64_t rtl_model_sent(const struct rtl_model *m)
{
    return m->bits;
}

void rtl_model_where(const struct rtl_model *m, uint64_t bit, char *text, size_t size)
{
    /* the order of fields in a message of those techniques that are built */
    static const uint8_t order[] = {
        VS_FIELD_CORE,    VS_FIELD_CYCLES, VS_FIELD_HEADER,  VS_FIELD_SYNC,   VS_FIELD_BCNT,
        VS_FIELD_ICNT,    VS_FIELD_FAHCNT, VS_FIELD_OUTCOME, VS_FIELD_TARGET, VS_FIELD_INDEX,
        VS_FIELD_ADDRESS, VS_FIELD_VALUE,  VS_FIELD_STATE};
    static const char *const kinds[] = {"conditional",   "indirect", "call",
                                        "discontinuity", "",         "access"};
    uint64_t first = m->messages > TOLD ? m->messages - TOLD : 0;
    for (uint64_t i = first; i < m->messages; i++) {
        const struct told *t = &m->told[i % TOLD];
        uint64_t bits = 0;
        if (t->end <= bit)
            continue;
        for (unsigned f = 0; f < VS_FIELD_END; f++)
            bits += t->fields[f];
        if (t->end - bits > bit)
            break; /* it is older than what is kept */
        uint64_t at = t->end - bits;
        for (unsigned f = 0; f < sizeof(order); f++) {
            if (bit >= at && bit < at + t->fields[order[f]]) {
                snprintf(text, size,
                         "message %" PRIu64 " of core %u, field %s bit %" PRIu64 "; step %" PRIu64
                         ", %s, pc %" PRIx64 ", target %" PRIx64,
                         i, t->of.core, vs_field_name(order[f]), bit - at, t->step,
                         kinds[t->of.kind], t->of.pc, t->of.target);
                return;
            }
            at += t->fields[order[f]];
        }
    }
    snprintf(text, size, "no message that is still known");
}

void rtl_model_close(struct rtl_model *m)
{
    m->spec.technique->encoder->close(m->encoder);
    vs_port_writer_fini(&m->port);
    vs_buf_fini(&m->data);
    free(m->before);
    free(m->told);
    free(m);
}
