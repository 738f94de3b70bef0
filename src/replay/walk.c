/* SPDX-License-Identifier: MIT */
#include "replay/walk.h"

#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/invariant.h"
#include "base/likely.h"
#include "technique/interrupted.h"

enum {
    RUNS = 1 << 14,
    RUN_MAX = 64,        /* instructions */
    STEPS = 1024,        /* at most so many are handed to the sink at once */
    JUMPS_MAX = 1 << 20, /* direct jumps in a row, when nothing says how far the core goes */
};

enum run_end { END_PLAIN, END_JUMP, END_CALL, END_CONDITIONAL, END_INDIRECT };

/* Straight code. It ends with a branch, with a repeated instruction, with a system call, or
 * anywhere. */
struct vs_walk_run {
    uint64_t pc;            /* of the first instruction */
    uint64_t last_pc;       /* of the last */
    uint64_t next;          /* the address after it */
    uint64_t target;        /* of a direct branch */
    uint32_t first_version; /* the versions of the code for which this holds */
    uint32_t last_version;
    uint16_t count; /* instructions; 0: nothing is decoded here */
    uint8_t end;    /* enum run_end */
    uint8_t flags;  /* VS_BR_* of the branch */
    uint8_t size;   /* bytes of the last instruction */
    bool repeat;    /* the last instruction is a repeated one */
    bool system;    /* the last instruction asks the system */
    bool inferable; /* the branch is indirect, and goes to `target` after what lies before it */
    uint8_t before; /* bytes of the instruction before the last; 0: there is none */
};

struct vs_walk_core {
    uint64_t pc, count; /* instructions so far */
    uint64_t since;     /* instructions since its last step */
    uint64_t bytes;     /* of its instructions so far */
    uint64_t repeated;  /* the last instruction, if it is a repeated one */
    uint64_t plain;     /* the last instruction, if it is no branch; 0: it is, or there is none */
    uint64_t returned;  /* the count when the stream said last that a system call was over */
    uint64_t change;    /* the count at which it sees another version of the code */
    size_t view;        /* the one that comes next */
    uint32_t version;
    uint32_t jumps;      /* direct ones since the last step */
    uint32_t open_jumps; /* the same, where nothing says how far the core goes */
    bool alive;
    bool begun; /* the instruction at pc was counted */
    bool waits; /* for the answer to the branch at `site` */
    bool lost;  /* until a synchronisation point */
    struct vs_flow_site site;
    struct vs_interrupted left;
};

static int decode(struct vs_walk *w, uint32_t version, uint64_t pc, struct vs_insn *insn);

/* ---- opening --------------------------------------------------------------------------------- */

static void see_next_view(struct vs_walk *w, struct vs_walk_core *c)
{
    unsigned number = (unsigned)(c - w->cores);
    const struct vs_text *code = w->config.code;
    const struct vs_text_core *core = number < code->core_count ? &code->cores[number] : NULL;
    while (core && c->view < core->view_count && core->views[c->view].count <= c->count)
        c->version = core->views[c->view++].version;
    c->change = core && c->view < core->view_count ? core->views[c->view].count : UINT64_MAX;
}

static bool lies_conditional(void *walk, unsigned core, uint64_t pc)
{
    struct vs_walk *w = walk;
    struct vs_walk_core *c = &w->cores[core];
    struct vs_insn insn;
    if (c->count >= c->change)
        see_next_view(w, c);
    return decode(w, c->version, pc, &insn) == 0 && insn.kind == VS_INSN_BRANCH &&
           (insn.branch & (VS_BR_COND | VS_BR_INDIRECT)) == VS_BR_COND;
}

static bool has_begun(void *walk, unsigned core)
{
    const struct vs_walk *w = walk;
    return w->cores[core].begun;
}

static size_t fetch_text(const void *text, uint32_t version, uint64_t pc, uint8_t *bytes,
                         size_t capacity)
{
    return vs_text_fetch(text, version, pc, bytes, capacity);
}

int vs_walk_init(struct vs_walk *w, const struct vs_walk_config *config)
{
    invariant(config->isa && config->code && config->ops && config->port && config->cores);
    *w = (struct vs_walk){.config = *config};
    if (!config->limit)
        w->config.limit = UINT64_MAX;
    w->cores = calloc(config->cores, sizeof(*w->cores));
    w->runs = calloc(RUNS, sizeof(*w->runs));
    w->pending = malloc(STEPS * sizeof(*w->pending));
    if (!w->cores || !w->runs || !w->pending)
        return -VSE_NOMEM;
    for (unsigned i = 0; i < config->cores; i++)
        see_next_view(w, &w->cores[i]);
    w->source =
        (struct vs_address_code){.context = config->code, .isa = config->isa, .fetch = fetch_text};
    if (config->ops->look)
        config->ops->look(config->decoder,
                          &(struct vs_flow_code){&w->source, w, lies_conditional, has_begun});
    return 0;
}

void vs_walk_fini(struct vs_walk *w)
{
    free(w->cores);
    free(w->runs);
    free(w->pending);
    w->cores = NULL;
    w->runs = NULL;
    w->pending = NULL;
}

/* ---- errors ---------------------------------------------------------------------------------- */

/* The walk itself does not know how to go on. */
static int lost(struct vs_walk *w, const struct vs_walk_core *c, int err, const char *why)
{
    char where[VS_PORT_WHERE];
    return vs_diag_set(&w->diag, err, (int64_t)(w->config.port->bits.pos / 8), -1,
                       "%s, core %u after %llu instructions, at %#llx: %s",
                       vs_port_where(w->config.port, where), (unsigned)(c - w->cores),
                       (unsigned long long)c->count, (unsigned long long)c->pc, why);
}

/* The decoder does not. */
static int port_failed(struct vs_walk *w, const struct vs_walk_core *c, int err)
{
    const struct vs_diag *d = &w->config.port->diag;
    if (err == -VSE_NOMEM || d->error != err)
        return vs_diag_set(&w->diag, err, -1, -1, "%s", vs_errstr(err));
    return vs_diag_set(&w->diag, err, d->offset, -1, "%s; after %llu instructions of the core",
                       d->text, (unsigned long long)c->count);
}

/* ---- straight code --------------------------------------------------------------------------- */

static int decode(struct vs_walk *w, uint32_t version, uint64_t pc, struct vs_insn *insn)
{
    uint8_t bytes[VS_ISA_LENGTH_MAX];
    size_t size = vs_text_fetch(w->config.code, version, pc, bytes, w->config.isa->length_max);
    return size ? w->config.isa->decode(bytes, size, pc, insn) : -VSE_NOTFOUND;
}

static void end_run(struct vs_walk_run *r, const struct vs_insn *insn)
{
    r->repeat = insn->repeat;
    r->system = insn->kind == VS_INSN_SYSCALL;
    r->flags = insn->branch;
    r->size = insn->length;
    r->target = insn->target;
    if (insn->kind != VS_INSN_BRANCH)
        r->end = END_PLAIN;
    else if (insn->branch & VS_BR_INDIRECT)
        r->end = END_INDIRECT;
    else if (insn->branch & VS_BR_COND)
        r->end = END_CONDITIONAL;
    else
        r->end = insn->branch & VS_BR_CALL ? END_CALL : END_JUMP;
}

/* Tells where an indirect branch goes after the instruction at `before`. */
static bool infer(const struct vs_walk *w, uint32_t version, uint64_t before, uint64_t pc,
                  uint64_t *target)
{
    uint8_t bytes[2][VS_ISA_LENGTH_MAX];
    const struct vs_isa *isa = w->config.isa;
    if (!isa->infer)
        return false;
    size_t first = vs_text_fetch(w->config.code, version, before, bytes[0], isa->length_max);
    size_t second = vs_text_fetch(w->config.code, version, pc, bytes[1], isa->length_max);
    return isa->infer(bytes[0], first, before, bytes[1], second, target);
}

/* Decodes at most `most` instructions. The run is empty if there is none. */
static void build(struct vs_walk *w, struct vs_walk_run *r, uint64_t pc, uint32_t version,
                  uint64_t most)
{
    struct vs_insn insn;
    *r = (struct vs_walk_run){.pc = pc, .next = pc};
    while (r->count < most && decode(w, version, r->next, &insn) == 0) {
        r->before = r->count ? r->size : 0;
        r->last_pc = r->next;
        r->next += insn.length;
        r->count++;
        end_run(r, &insn);
        if (insn.kind == VS_INSN_BRANCH || insn.repeat || r->system)
            break;
    }
    if (r->end == END_INDIRECT && r->before)
        r->inferable = infer(w, version, r->last_pc - r->before, r->last_pc, &r->target);
    vs_text_extent(w->config.code, version, pc, r->next - pc, &r->first_version, &r->last_version);
}

/* Returns the code at the core's pc, at most `room` instructions of it; NULL if there is none. */
static const struct vs_walk_run *run_at(struct vs_walk *w, struct vs_walk_core *c, uint64_t room,
                                        struct vs_walk_run *part)
{
    struct vs_walk_run *r = &w->runs[(c->pc ^ c->pc >> 14) % RUNS];
    if (unlikely(c->count >= c->change))
        see_next_view(w, c);
    if (room > c->change - c->count)
        room = c->change - c->count;
    if (unlikely(r->pc != c->pc || !r->count || c->version < r->first_version ||
                 c->version > r->last_version)) {
        build(w, r, c->pc, c->version, RUN_MAX);
        if (!r->count)
            return NULL;
    }
    if (likely(r->count <= room))
        return r;
    build(w, part, c->pc, c->version, room);
    return part;
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* Hands the sink the steps that it has not got yet. */
static int flush(struct vs_walk *w)
{
    size_t count = w->pending_count;
    invariant(count <= STEPS);
    w->pending_count = 0;
    return count && w->config.sink ? w->config.sink(w->config.context, w->pending, count) : 0;
}

static int emit(struct vs_walk *w, struct vs_walk_core *c, const struct vs_step *step)
{
    struct vs_step *s = &w->pending[w->pending_count++];
    *s = *step;
    s->core = (uint16_t)(c - w->cores);
    s->icount = (uint32_t)c->since;
    s->jumps = c->jumps;
    c->since = 0;
    c->jumps = c->open_jumps = 0;
    w->steps++;
    return unlikely(w->pending_count == STEPS) ? flush(w) : 0;
}

/* `time`: of the message that ends here, or 0; answer->cycle goes before it. */
static int emit_branch(struct vs_walk *w, struct vs_walk_core *c, const struct vs_flow_site *site,
                       const struct vs_flow_answer *answer, uint64_t time)
{
    bool taken = answer->taken;
    bool indirect = vs_flow_site_indirect(site);
    struct vs_step step = {
        .pc = site->pc,
        .target = !indirect ? site->target
                  : taken   ? answer->target
                            : 0,
        .time = answer->cycle ? answer->cycle : time,
        .kind = indirect ? VS_STEP_INDIRECT : VS_STEP_CONDITIONAL,
        .flags = (uint8_t)(site->flags | (taken ? VS_BR_TAKEN : 0)),
        .size = site->size,
        .timed = answer->cycle,
    };
    c->pc = vs_step_next(&step);
    w->branches++;
    return emit(w, c, &step);
}

/* The core meets a branch that the code does not decide. Sets *last if the head ends with it. */
static int meet_branch(struct vs_walk *w, struct vs_walk_core *c, const struct vs_walk_run *r,
                       const struct vs_flow_head *head, bool at_end, bool *last)
{
    struct vs_flow_site site = {.pc = r->last_pc,
                                .target = r->target,
                                .bytes = c->bytes,
                                .flags = r->flags,
                                .size = r->size,
                                .last = at_end,
                                .inferable = r->inferable};
    struct vs_flow_answer answer = {0};
    if (unlikely(r->end == END_INDIRECT && r->count == 1 && c->plain))
        site.inferable = infer(w, c->version, c->plain, site.pc, &site.target);
    int err = w->config.ops->branch(w->config.decoder, head->core, &site, &answer);
    if (unlikely(err))
        return port_failed(w, c, err);
    *last = answer.last || answer.later;
    if (unlikely(answer.later)) {
        c->waits = true;
        c->site = site;
        return 0;
    }
    return emit_branch(w, c, &site, &answer,
                       *last || (at_end && !head->discontinuity) ? head->cycle : 0);
}

/* Tells the decoder of a direct jump or call, if it wants to know. */
static int tell_direct(struct vs_walk *w, struct vs_walk_core *c, const struct vs_walk_run *r,
                       const struct vs_flow_head *head, bool at_end, bool *last)
{
    const struct vs_flow_decoder_ops *ops = w->config.ops;
    int err = 0;
    if (ops->direct)
        err = ops->direct(w->config.decoder, head->core,
                          &(struct vs_flow_site){.pc = r->last_pc,
                                                 .target = r->target,
                                                 .bytes = c->bytes,
                                                 .flags = r->flags,
                                                 .size = r->size,
                                                 .last = at_end});
    else if (ops->call && r->end == END_CALL)
        err = ops->call(w->config.decoder, head->core, r->next, r->target);
    *last = err == VS_FLOW_LAST;
    return err < 0 ? port_failed(w, c, err) : 0;
}

static int meet_call(struct vs_walk *w, struct vs_walk_core *c, const struct vs_walk_run *r,
                     const struct vs_flow_head *head, bool at_end, bool *last)
{
    struct vs_step step = {.pc = r->last_pc,
                           .target = r->target,
                           .kind = VS_STEP_CALL,
                           .flags = (uint8_t)(r->flags | VS_BR_TAKEN),
                           .size = r->size};
    int err = tell_direct(w, c, r, head, at_end, last);
    if (unlikely(err < 0))
        return err;
    step.time = *last ? head->cycle : 0;
    c->pc = r->target;
    return emit(w, c, &step);
}

/* ---- elsewhere ------------------------------------------------------------------------------- */

/* A repeated instruction that was counted before the core left ends, and is not counted again. */
static int finish_begun(struct vs_walk *w, struct vs_walk_core *c)
{
    struct vs_insn insn;
    if (decode(w, c->version, c->pc, &insn) < 0)
        return lost(w, c, -VSE_CORRUPT, "no instruction is known there");
    c->repeated = c->pc;
    c->pc += insn.length;
    c->begun = false;
    return 0;
}

static void leave(struct vs_walk *w, struct vs_walk_core *c)
{
    uint64_t begun = c->begun ? c->pc : c->repeated;
    bool known = !c->begun || finish_begun(w, c) == 0;
    vs_interrupted_leave(&c->left, begun, known ? c->pc : 0);
}

static void go(struct vs_walk *w, struct vs_walk_core *c, uint64_t target)
{
    bool back = false;
    if (target == VS_STEP_NOWHERE || !c->alive)
        c->left.depth = 0;
    else if (!(back = vs_interrupted_return(&c->left, target, &c->begun)))
        leave(w, c);
    if (!back)
        c->begun = false;
    c->repeated = c->plain = 0;
    c->pc = target;
    c->alive = target != VS_STEP_NOWHERE;
}

static int discontinuity(struct vs_walk *w, struct vs_walk_core *c, const struct vs_flow_head *head)
{
    struct vs_step step = {.time = head->cycle, .kind = VS_STEP_DISCONTINUITY};
    int err = w->config.ops->discontinuity(w->config.decoder, head->core, &step.target);
    if (unlikely(err))
        return port_failed(w, c, err);
    if (head->returns && c->alive && c->pc == step.target) {
        c->returned = c->count;
        return 0;
    }
    step.returned = c->returned && c->returned == c->count;
    step.within = c->begun || (c->repeated && !head->whole);
    go(w, c, step.target);
    step.begun = c->begun;
    return emit(w, c, &step);
}

/* ---- walking --------------------------------------------------------------------------------- */

/* The instructions of a run of code retire. */
static int pass(struct vs_walk *w, struct vs_walk_core *c, const struct vs_walk_run *r)
{
    if (unlikely(r->count > w->config.limit - w->instructions))
        return lost(w, c, -VSE_LIMIT, "more instructions than there can be");
    if (w->config.ops->passed)
        w->config.ops->passed(w->config.decoder, (unsigned)(c - w->cores),
                              &(struct vs_flow_passage){r->pc, c->version, r->count});
    w->instructions += r->count;
    c->count += r->count;
    c->since += r->count;
    c->bytes += r->next - r->pc;
    c->repeated = r->repeat ? r->last_pc : 0;
    return 0;
}

static int too_many_jumps(struct vs_walk *w, struct vs_walk_core *c,
                          const struct vs_flow_head *head)
{
    return head->count == VS_FLOW_OPEN && ++c->open_jumps > JUMPS_MAX
               ? lost(w, c, -VSE_CORRUPT, "no branch is reached from there")
               : 0;
}

/* Returns the code at the core's pc: at most as much as the head has left, which is counted. */
static const struct vs_walk_run *run_of(struct vs_walk *w, struct vs_walk_core *c,
                                        const struct vs_flow_head *head, uint64_t *left,
                                        struct vs_walk_run *part)
{
    uint64_t room = unlikely(head->until != VS_STEP_NOWHERE) ? 1 : *left;
    const struct vs_walk_run *r = run_at(w, c, room, part);
    while (r && unlikely(head->bytes) && r->next - r->pc > *left && r->count > 1)
        r = run_at(w, c, r->count / 2, part);
    if (!r || head->count == VS_FLOW_OPEN)
        return r;
    uint64_t passed = head->bytes ? r->next - r->pc : r->count;
    if (unlikely(passed > *left))
        return NULL;
    *left -= passed;
    return r;
}

static int jump(struct vs_walk *w, struct vs_walk_core *c, const struct vs_walk_run *r,
                const struct vs_flow_head *head, bool at_end, bool *last)
{
    uint32_t jumps = c->open_jumps;
    int err = tell_direct(w, c, r, head, at_end, last);
    c->pc = r->target;
    if (w->config.jumps && !err) {
        err = emit(w, c,
                   &(struct vs_step){.pc = r->last_pc,
                                     .target = r->target,
                                     .kind = VS_STEP_JUMP,
                                     .flags = VS_BR_TAKEN,
                                     .size = r->size});
        c->open_jumps = jumps;
    } else {
        c->jumps++;
    }
    return err ? err : too_many_jumps(w, c, head);
}

/* The core stands where the head ends. */
static int arrive(struct vs_walk *w, struct vs_walk_core *c, const struct vs_flow_head *head)
{
    struct vs_walk_run part;
    if (!head->within || c->begun)
        return 0;
    const struct vs_walk_run *r = run_at(w, c, 1, &part);
    if (!r || !r->repeat)
        return lost(w, c, -VSE_CORRUPT, "no instruction that repeats itself is known there");
    c->pc = r->next;
    return pass(w, c, r);
}

/* Follows the code to the end of the head. */
static int follow(struct vs_walk *w, struct vs_walk_core *c, const struct vs_flow_head *head)
{
    uint64_t left = head->count;
    bool last = false, branch = false;
    bool until = head->until != VS_STEP_NOWHERE;
    int err = 0;
    if (left && !c->alive)
        return lost(w, c, -VSE_CORRUPT, "the core is not running");
    while (left && !last && !err) {
        struct vs_walk_run part;
        if (unlikely(until) && c->pc == head->until && (!c->begun || head->within))
            return arrive(w, c, head);
        if (unlikely(c->begun)) {
            err = finish_begun(w, c);
            continue; /* this may be where the head ends */
        }
        const struct vs_walk_run *r = run_of(w, c, head, &left, &part);
        if (unlikely(!r))
            return lost(w, c, -VSE_CORRUPT, "no instruction is known there");
        if (unlikely((err = pass(w, c, r)) < 0))
            return err;
        branch = r->end >= END_CONDITIONAL;
        uint64_t plain = r->end == END_PLAIN ? r->last_pc : 0;
        if (likely(branch)) {
            err = meet_branch(w, c, r, head, !left, &last);
        } else if (r->end == END_CALL) {
            err = meet_call(w, c, r, head, !left, &last);
        } else if (r->end == END_JUMP) {
            err = jump(w, c, r, head, !left, &last);
        } else {
            c->pc = r->next;
            last = unlikely(r->system) && head->system;
        }
        c->plain = plain;
    }
    if (!err && !branch && !last && !head->discontinuity && !head->cut && !head->sync)
        return lost(w, c, -VSE_CORRUPT, "the message's last instruction is no branch");
    return err;
}

/* The core goes on from the branch at which it waits. */
static int resolve(struct vs_walk *w, struct vs_walk_core *c, const struct vs_flow_head *head)
{
    if (c->waits != head->resolves)
        return lost(w, c, -VSE_CORRUPT,
                    c->waits ? "nothing says how the branch went" : "no branch is to be resolved");
    if (!c->waits)
        return 0;
    c->waits = false;
    return emit_branch(w, c, &c->site,
                       &(struct vs_flow_answer){.taken = head->taken, .target = head->target}, 0);
}

/* The stream ends. */
static int at_end(struct vs_walk *w)
{
    for (unsigned i = 0; i < w->config.cores; i++)
        if (w->cores[i].alive && !w->cores[i].lost)
            return lost(w, &w->cores[i], -VSE_TRUNCATED,
                        "the stream ends here, and the core runs on");
    return -VSE_END;
}

/* ---- synchronisation points ------------------------------------------------------------------ */

/* What the core does from here to a synchronisation point is missing. */
static int lose(struct vs_walk *w, struct vs_walk_core *c)
{
    bool alive = c->alive && !c->lost;
    c->waits = false;
    c->lost = true;
    return alive ? emit(w, c, &(struct vs_step){.kind = VS_STEP_DISCONTINUITY}) : 0;
}

static int find_again(struct vs_walk *w, struct vs_walk_core *c, const struct vs_flow_head *head)
{
    if (!head->sync)
        return lost(w, c, -VSE_CORRUPT, "the core is lost, and this is no synchronisation point");
    c->lost = false;
    c->alive = false; /* there is nothing for it to come back to */
    c->since = c->bytes = 0;
    go(w, c, head->pc);
    if (head->instructions != VS_FLOW_OPEN) {
        c->count = head->instructions;
        c->view = 0;
        see_next_view(w, c);
    }
    return emit(
        w, c,
        &(struct vs_step){.target = head->pc, .time = head->cycle, .kind = VS_STEP_DISCONTINUITY});
}

/* Checks that the core is where the head says. */
static int check_sync(struct vs_walk *w, struct vs_walk_core *c, const struct vs_flow_head *head)
{
    if (!c->alive || c->waits || c->pc != head->pc ||
        (head->instructions != VS_FLOW_OPEN && c->count != head->instructions))
        return lost(w, c, -VSE_CORRUPT, "a synchronisation point is elsewhere");
    return 0;
}

int vs_walk_sync(struct vs_walk *w, unsigned stream, uint64_t bit, struct vs_flow_point *point)
{
    const struct vs_walk_config *config = &w->config;
    bool per_core = config->port->shape.per_core;
    int err = config->ops->sync ? 0 : -VSE_INVAL;
    w->diag = (struct vs_diag){0};
    for (unsigned i = 0; i < config->cores && !err; i++)
        if (!per_core || i == stream)
            err = lose(w, &w->cores[i]);
    return err ? err : config->ops->sync(config->decoder, stream, bit, point);
}

int vs_walk_resume(struct vs_walk *w, struct vs_flow_point *point)
{
    struct vs_port_reader *port = w->config.port;
    vs_port_select(port, w->stream);
    return vs_walk_sync(w, w->stream, port->start + 1, point);
}

/* ---- heads ----------------------------------------------------------------------------------- */

/* Follows a head of the decoder. Returns -VSE_END if there is none and every core has ended. */
static int follow_head(struct vs_walk *w)
{
    struct vs_flow_head head = {0};
    int err = w->config.ops->head(w->config.decoder, &head);
    w->stream = w->config.port->stream;
    if (unlikely(err == -VSE_END))
        return at_end(w);
    struct vs_walk_core *c = &w->cores[head.core < w->config.cores ? head.core : 0];
    if (unlikely(err))
        return port_failed(w, c, err);
    if (unlikely(c->lost))
        return find_again(w, c, &head);
    err = resolve(w, c, &head);
    if (likely(!err) && head.count)
        err = follow(w, c, &head);
    if (!err && head.discontinuity)
        err = discontinuity(w, c, &head);
    if (unlikely(head.sync) && !err)
        err = check_sync(w, c, &head);
    return err;
}

int vs_walk_all(struct vs_walk *w)
{
    int err, flushed;
    while ((err = follow_head(w)) == 0)
        ;
    flushed = flush(w);
    if (err != -VSE_END)
        return err;
    return flushed;
}
