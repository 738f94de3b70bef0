/* SPDX-License-Identifier: MIT */
#include "capture/assemble.h"

#include <stdlib.h>
#include <string.h>

#include "capture/valgrind.h"
#include "base/array.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/likely.h"
#include "capture/assembler.h"

#define WIDE_BATCH (1u << 20)
/* How many instructions may come without an event before they are given one; icount has 16 bits. */
#define SINCE_MAX 32768
/* A block is left so many times in the same way before that gets recipes, which cost time and
 * memory; and there are none for threads that retired more than this without an event. */
#define RUNS_COLD  8
#define RECIPE_MAX 1024

int vs_assembler_nonsense(struct vs_diag *diag, const char *what)
{
    return vs_diag_set(diag, -VSE_CORRUPT, -1, -1,
                       "the tool's record makes no sense (%s): the program may have written over "
                       "Valgrind's memory",
                       what);
}

/* ---- opening, closing ---------------------------------------------------------------------- */

static uint64_t window_length(const struct vs_assembler *a, uint64_t window)
{
    return window < a->o.window_count && a->o.windows[window] ? a->o.windows[window] : UINT64_MAX;
}

/* Gets the next parcel to fill, with room for a block's wide values. Returns 0; -VSE_NOMEM. */
static int next_parcel(struct vs_assembler *a)
{
    a->parcel = vs_relay_take(a->o.relay);
    a->events = a->parcel->events;
    a->count = 0;
    a->parcel->wide.len = 0;
    return vs_buf_reserve(&a->parcel->wide, WIDE_BATCH + WIRE_RECORD_MAX);
}

int vs_assembler_open(struct vs_assembler **out, const struct vs_assembler_options *options)
{
    struct vs_assembler *a = calloc(1, sizeof(*a));

    *out = a;
    if (!a)
        return -VSE_NOMEM;
    a->o = *options;
    a->isa = vs_isa_find(VS_VALGRIND_ISA);
    vs_wire_numbers_init(&a->numbers, a->isa);
    a->left = window_length(a, 0);
    a->records = vs_relay_takes_records(a->o.relay);
    a->steps = calloc(VS_BLOCK_EVENTS, sizeof(*a->steps));
    if (!a->steps || next_parcel(a) < 0 ||
        vs_array_room((void **)&a->blocks, &a->block_capacity, 0, 1, sizeof(*a->blocks)) < 0) {
        vs_assembler_close(a);
        *out = NULL;
        return -VSE_NOMEM;
    }
    a->block_count = 1;
    return 0;
}

void vs_assembler_close(struct vs_assembler *a)
{
    if (!a)
        return;
    for (size_t i = 0; i < a->thread_capacity; i++)
        free(a->threads[i]);
    free(a->threads);
    free(a->blocks);
    free(a->steps);
    vs_map_fini(&a->recipes);
    vs_arena_fini(&a->arena);
    vs_codemap_fini(&a->code);
    vs_buf_fini(&a->command);
    free(a);
}

struct vs_assembler_stats vs_assembler_stats(const struct vs_assembler *a)
{
    return a->stats;
}

const char *vs_assembler_shared(const struct vs_assembler *a)
{
    return a->shared;
}

const char *vs_assembler_command(const struct vs_assembler *a, size_t *size)
{
    *size = a->command.len;
    return (const char *)a->command.data;
}

/* ---- delivering events --------------------------------------------------------------------- */

/* Whether an event is kept outside of a window too, because later ones rely on it. After the last
 * window nothing does: a mapping there would be taken for one that the recorded part made. Only the
 * threads that have begun still end. */
static bool is_structure(const struct vs_assembler *a, const struct vs_event *e)
{
    if (a->window + 1 >= a->o.window_count)
        return e->kind == VS_THREAD_EXIT && e->thread < a->begun;
    return e->kind == VS_THREAD_START || e->kind == VS_THREAD_EXIT || e->kind == VS_MAP ||
           e->kind == VS_CODE;
}

/* Further events of the window's last instruction belong to the window. */
static bool completes_window(const struct vs_assembler *a, const struct vs_event *e)
{
    return e->icount == 0 && e->pc && e->pc == a->cut_pc && e->thread == a->cut_thread &&
           (e->kind == VS_BRANCH || e->kind == VS_LOAD || e->kind == VS_STORE ||
            e->kind == VS_NONDET);
}

/* Puts an event before the one at i. A parcel has room for it (VS_BLOCK_EVENTS). */
static void insert_event(struct vs_assembler *a, size_t i, struct vs_event inserted)
{
    struct vs_event *e = &a->events[i];

    memmove(e + 1, e, (a->count++ - i) * sizeof(*e));
    *e = inserted;
}

/* The event at i crosses the end of the window: the instructions before the end get one of their
 * own. */
static void part_event(struct vs_assembler *a, size_t i)
{
    insert_event(a, i,
                 (struct vs_event){
                     .kind = VS_COUNT, .thread = a->events[i].thread, .icount = (uint16_t)a->left});
}

/* The event is the window's last. If executing the run makes it, this is to be done before anything
 * else happens. */
static void end_window(struct vs_assembler *a, const struct vs_event *e)
{
    a->cut = true;
    a->cut_pc = e->pc;
    a->cut_thread = e->thread;
    a->turn_due = a->o.inputs && (e->kind <= VS_STORE || e->kind == VS_COUNT);
}

/* Says that the thread came to the window's end, before the event at i, unless that says it. */
static void put_due_turn(struct vs_assembler *a, size_t i)
{
    const struct vs_event *e = &a->events[i];

    if (e->kind != VS_TURN || e->thread != a->cut_thread || e->icount)
        insert_event(
            a, i,
            (struct vs_event){.kind = VS_TURN, .thread = a->cut_thread, .size = sizeof(uint64_t)});
}

/* Leaves out what lies behind the end of the window. */
static void apply_window(struct vs_assembler *a)
{
    size_t kept = 0;

    for (size_t i = 0; i < a->count; i++) {
        if (!a->cut && a->events[i].icount > a->left)
            part_event(a, i);
        struct vs_event e = a->events[i];

        if (a->cut) {
            bool completes = completes_window(a, &e);

            if (a->turn_due && !completes) {
                put_due_turn(a, i);
                e = a->events[i];
                a->turn_due = false;
                completes = true;
            }
            if (e.icount && e.thread == a->cut_thread)
                a->cut_pc = 0;
            e.icount = 0;
            if (!completes && !is_structure(a, &e))
                continue;
        } else if (e.icount == a->left) {
            end_window(a, &e);
        }
        if (e.kind == VS_THREAD_START)
            a->begun = e.thread + 1u;
        a->left -= e.icount;
        a->events[kept++] = e;
    }
    a->count = kept;
    a->stats.full = a->cut && a->window + 1 >= a->o.window_count;
}

static int deliver(struct vs_assembler *a)
{
    int e;

    if (a->left != UINT64_MAX || a->cut)
        apply_window(a);
    for (size_t i = 0; i < a->count; i++) {
        a->stats.instructions += a->events[i].icount;
        a->stats.threads += a->events[i].kind == VS_THREAD_START;
        if (a->events[i].kind == VS_GAP)
            a->stats.skipped += a->events[i].addr;
    }
    a->parcel->count = a->count;
    a->parcel->first = a->stats.events;
    a->stats.events += a->count;
    e = (int)vs_assembler_theirs(a, vs_relay_send(a->o.relay));
    return e < 0 ? e : next_parcel(a);
}

int vs_assembler_next_window(struct vs_assembler *a, uint64_t window)
{
    int e = deliver(a);

    a->window = window;
    a->left = window_length(a, window);
    a->cut = false;
    return e;
}

static inline bool batch_full(const struct vs_assembler *a)
{
    return a->count >= VS_PARCEL_BATCH || a->parcel->wide.len >= WIDE_BATCH;
}

static int append(struct vs_assembler *a, struct vs_event e)
{
    a->events[a->count++] = e;
    return batch_full(a) ? deliver(a) : 0;
}

/* Events of their own for more instructions than one event can count. */
static int put_counts(struct vs_assembler *a, struct vs_capture_thread *t, unsigned more)
{
    const struct vs_event full = {.kind = VS_COUNT, .thread = t->number, .icount = UINT16_MAX};
    int err = 0;

    for (; t->since + more > UINT16_MAX && !err; t->since -= UINT16_MAX)
        err = append(a, full);
    return err;
}

/* Whether an event would happen elsewhere than before it would be believed to: within an
 * instruction that repeats itself, or after one. */
static bool is_elsewhere(const struct vs_assembler *a, const struct vs_capture_thread *t,
                         const struct vs_event *e, unsigned more)
{
    uint64_t iterations = t->repeats.pc ? t->repeats.iterations : 0;

    return a->o.inputs && e->kind != VS_TURN && e->kind != VS_EXCEPTION &&
           e->kind != VS_EXCEPTION_RET && t != &a->nobody &&
           iterations != (t->since + more ? 0 : t->said);
}

int vs_assembler_put(struct vs_assembler *a, struct vs_capture_thread *t, struct vs_event e,
                     const void *payload, size_t size, unsigned more)
{
    int err = is_elsewhere(a, t, &e, more) ? vs_assembler_put_turn(a, t, true) : 0;

    if (err == 0 && t->since + more > VS_CAPTURE_SINCE_MAX)
        err = -VSE_CORRUPT;
    if (err == 0)
        err = put_counts(a, t, more);
    if (err < 0)
        return err;
    if (t->since + more)
        t->said = 0;
    t->unsaid = false;
    e.thread = t->number;
    e.icount = (uint16_t)(t->since + more);
    t->since = 0;
    if (size) {
        e.size = (uint16_t)size;
        if (size > 8) {
            e.value = a->parcel->wide.len;
            if (vs_buf_put(&a->parcel->wide, payload, size) < 0)
                return -VSE_NOMEM;
        } else {
            e.value = 0;
            memcpy(&e.value, payload, size);
        }
    }
    return append(a, e);
}

int vs_assembler_put_since(struct vs_assembler *a, struct vs_capture_thread *t)
{
    return vs_assembler_put(a, t, (struct vs_event){.kind = VS_COUNT}, NULL, 0, 0);
}

/* ---- blocks -------------------------------------------------------------------------------- */

static inline uint64_t word_at(const uint8_t *record, unsigned at)
{
    uint64_t v;

    memcpy(&v, record + at, 8);
    return v;
}

static uint64_t keep_wide(struct vs_assembler *a, const uint8_t *bytes, size_t size)
{
    uint64_t at = a->parcel->wide.len;

    /* Room was made for a whole record. */
    memcpy(a->parcel->wide.data + at, bytes, size);
    a->parcel->wide.len += size;
    return at;
}

static inline uint64_t step_addr(const struct vs_block_step *s, const uint8_t *record,
                                 const struct vs_event *events)
{
    if (s->addr == VS_BLOCK_RECORDED)
        return word_at(record, s->addr_at);
    return s->addr == VS_BLOCK_FIXED ? s->event.addr : events[s->addr_of].addr + s->event.addr;
}

/* Puts the first n steps, all of which happened, from `events` on. */
static inline void put_steps(struct vs_assembler *a, unsigned thread, const struct vs_code_block *b,
                             const uint8_t *record, struct vs_event *events, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        const struct vs_block_step *s = &b->steps[i];
        struct vs_event *e = &events[i];

        /* Copied whole, then changed in place: 32 bytes are two moves. */
        *e = s->event;
        e->thread = (uint16_t)thread;
        e->addr = step_addr(s, record, events);
        if (unlikely(s->wide))
            e->value = s->value == VS_BLOCK_RECORDED
                           ? keep_wide(a, record + s->value_at, s->event.size)
                           : events[s->value_of].value;
        else if (s->value == VS_BLOCK_RECORDED)
            e->value = word_at(record, s->value_at) & s->mask;
        else if (s->value == VS_BLOCK_OF_STEP)
            e->value = events[s->value_of].value;
    }
}

/* Reads part of a slot once, so that what was checked is what is used, whoever writes to the
 * memory. */
static inline uint32_t half_at(const uint8_t *bytes, size_t at)
{
    return __atomic_load_n((const uint32_t *)(const void *)(bytes + at), __ATOMIC_RELAXED);
}

/* The blocks that there are, while no more come. */
struct blocks {
    const struct vs_code_block *list;
    size_t last; /* number */
};

static struct blocks blocks_of(const struct vs_assembler *a)
{
    return (struct blocks){a->blocks, a->block_count - 1};
}

/* Finds out which block ran at pos, how it was left, and where the next slot is. Returns NULL if
 * there is no block that was left by one of its exits. */
static inline struct vs_block_leave *find_leave(struct blocks blocks, const uint8_t *bytes,
                                                size_t pos, size_t last,
                                                const struct vs_code_block **block, size_t *next)
{
    uint32_t what = half_at(bytes, pos + offsetof(struct wire_slot, what)), left;
    const struct vs_code_block *b = &blocks.list[what];

    if (unlikely(what - 1u >= blocks.last))
        return NULL;
    *block = b;
    *next = pos + b->length;
    if (unlikely(*next > last || (left = half_at(bytes, *next) - 1) >= b->leave_count))
        return NULL;
    return &b->leaves[left];
}

/* Finds or makes a recipe that is not the one used last. Returns as has_recipe. */
static int64_t other_recipe(struct vs_assembler *a, const struct vs_code_block *b,
                            struct vs_block_leave *l, uint64_t since)
{
    struct vs_recipe recipe = {.steps = a->steps, .length = b->length};
    uint64_t key = (uint64_t)(b - a->blocks) << 32 | (uint64_t)(l - b->leaves) << 16 | since;
    int64_t number;

    if (!l->hot || l->runs < RUNS_COLD || since > RECIPE_MAX)
        return 0;
    number = (int64_t)vs_map_value(&a->recipes, key) - 1;
    if (number < 0) {
        recipe.count = vs_code_block_recipe(b, l, (unsigned)since, a->steps);
        number = vs_relay_recipe(a->o.relay, &recipe);
        if (number == -VSE_LIMIT)
            return l->hot = false;
        if (number < 0)
            return vs_assembler_theirs(a, number);
        if (vs_map_set(&a->recipes, key, (uint64_t)number + 1) < 0)
            return -VSE_NOMEM;
    }
    l->since = (uint16_t)since;
    l->recipe = (uint32_t)number + 1;
    return 1;
}

/* Whether there is a recipe for a block that was left in this way, after so many instructions
 * without an event: it is then the one used last. Returns 1 or 0; -VSE_NOMEM; the consumer's
 * error. */
static inline int64_t has_recipe(struct vs_assembler *a, const struct vs_code_block *b,
                                 struct vs_block_leave *l, uint64_t since)
{
    return likely(l->recipe && l->since == since) ? 1 : other_recipe(a, b, l, since);
}

static bool takes_plain(const struct vs_assembler *a)
{
    return a->current && !a->current->call_pc && !a->current->repeats.pc;
}

/* Whether blocks become records. A window's end may be within a block. */
static bool takes_records(const struct vs_assembler *a)
{
    return a->records && a->left == UINT64_MAX && !a->cut && takes_plain(a);
}

/* Delivers blocks that ran as records, as long as they have recipes. Returns where the next slot
 * is; -VSE_NOMEM; the consumer's error. */
static int64_t take_records(struct vs_assembler *a, const uint8_t *bytes, size_t pos, size_t size)
{
    const size_t last = size - sizeof(struct wire_slot);
    const struct blocks blocks = blocks_of(a);
    struct vs_capture_thread *t = a->current;
    struct vs_records records = {.bytes = bytes + pos, .recipes = a->taken};
    uint32_t *taken = a->taken, *end = taken + VS_RECORDS;
    uint64_t since, insns = 0, events = 0;
    const struct vs_code_block *b;
    struct vs_block_leave *l;
    int64_t has = 0;
    size_t next;
    int e = 0;

    if (!takes_records(a))
        return (int64_t)pos;
    since = t->since;
    while (taken < end && (l = find_leave(blocks, bytes, pos, last, &b, &next)) &&
           (has = has_recipe(a, b, l, since)) > 0) {
        *taken++ = l->recipe - 1;
        insns += l->insns;
        events += l->all;
        since = l->then;
        pos = next;
    }
    if (has < 0)
        return has;
    if (taken == a->taken)
        return (int64_t)pos;
    if (a->count && (e = deliver(a)) < 0)
        return e;
    records.count = (size_t)(taken - a->taken);
    records.size = (size_t)(bytes + pos - records.bytes);
    records.thread = t->number;
    a->stats.events += events;
    a->stats.instructions += t->since + insns - since;
    t->since = since;
    e = (int)vs_assembler_theirs(a, vs_relay_records(a->o.relay, &records));
    return e < 0 ? e : (int64_t)pos;
}

/* Takes blocks that ran and were left as most are, up to something special, the batch's end, or one
 * that has a recipe. Returns where that is. Everything used is in registers, as there may be tens
 * of millions of blocks a second. */
static size_t take_plain(struct vs_assembler *a, const uint8_t *bytes, size_t pos, size_t size)
{
    const struct vs_parcel *parcel = a->parcel;
    const size_t last = size - sizeof(struct wire_slot);
    const struct blocks blocks = blocks_of(a);
    const bool records = takes_records(a);
    struct vs_event *events = a->events + a->count, *end = a->events + VS_PARCEL_BATCH;
    struct vs_capture_thread *t = a->current;
    const struct vs_code_block *b;
    struct vs_block_leave *l;
    uint64_t since;
    size_t next;

    if (!takes_plain(a))
        return pos;
    since = t->since;
    while (events < end && since <= SINCE_MAX && parcel->wide.len < WIDE_BATCH &&
           (l = find_leave(blocks, bytes, pos, last, &b, &next)) && l->plain) {
        if (records && l->runs++ >= RUNS_COLD) {
            l->runs = RUNS_COLD;
            if (has_recipe(a, b, l, since))
                break;
        }
        put_steps(a, t->number, b, bytes + pos, events, l->steps);
        if (l->branch) {
            struct vs_event *e = &events[l->steps];

            *e = l->event;
            e->thread = t->number;
            if (l->target_at)
                e->addr = word_at(bytes + pos, l->target_at);
            events->icount = (uint16_t)(events->icount + since);
            events = e + 1;
            since = 0;
        } else if (l->steps) {
            events->icount = (uint16_t)(events->icount + since);
            events += l->steps;
            since = l->after;
        } else {
            since += l->after;
        }
        pos = next;
    }
    t->since = since;
    a->count = (size_t)(events - a->events);
    return pos;
}

/* Puts steps of blocks whose operands may not happen, and of repetitions. `counted` is how many of
 * the block's instructions are counted already. Returns how many are counted now. */
static unsigned put_some_steps(struct vs_assembler *a, struct vs_capture_thread *t,
                               const struct vs_code_block *b, const uint8_t *record, unsigned n,
                               unsigned counted)
{
    bool repeated = counted > 0;

    for (unsigned i = 0; i < n; i++) {
        const struct vs_block_step *s = &b->steps[i];
        struct vs_event e = s->event;

        if (s->guarded && !word_at(record, s->guard_at))
            continue;
        e.thread = t->number;
        e.addr = s->addr == VS_BLOCK_RECORDED ? word_at(record, s->addr_at)
                 : s->addr == VS_BLOCK_FIXED  ? e.addr
                                              : a->addrs[s->addr_of] + e.addr;
        e.value = s->value == VS_BLOCK_FIXED     ? e.value
                  : s->value == VS_BLOCK_OF_STEP ? a->values[s->value_of]
                  : s->wide                      ? keep_wide(a, record + s->value_at, e.size)
                                                 : word_at(record, s->value_at) & s->mask;
        a->addrs[i] = e.addr;
        a->values[i] = e.value;
        e.icount = (uint16_t)t->since;
        if (s->insn + 1u > counted) {
            e.icount = (uint16_t)(e.icount + s->insn + 1u - counted);
            counted = s->insn + 1u;
        }
        t->since = 0;
        if (repeated && s->insn == 0 && (e.kind == VS_LOAD || e.kind == VS_STORE))
            e.flags |= VS_MEM_REPEAT;
        a->events[a->count++] = e;
    }
    return counted;
}

static void put_branch(struct vs_assembler *a, struct vs_capture_thread *t,
                       const struct vs_block_leave *l, const uint8_t *record, unsigned counted)
{
    struct vs_event e = l->event;

    e.thread = t->number;
    e.icount = (uint16_t)(t->since + l->insns - counted);
    t->since = 0;
    if (l->target_at)
        e.addr = word_at(record, l->target_at);
    a->events[a->count++] = e;
}

/* How many steps come before the instruction that faulted. */
static unsigned steps_before(const struct vs_code_block *b, unsigned insn)
{
    unsigned n = 0;

    while (n < b->step_count && b->steps[n].insn < insn)
        n++;
    return n;
}

/* Takes a block that ran, if something about it or its thread may be special. */
static int take_special(struct vs_assembler *a, struct vs_capture_thread *t,
                        const struct vs_code_block *b, const uint8_t *record, uint32_t left)
{
    struct vs_block_leave fault = {0};
    const struct vs_block_leave *l = &fault;
    unsigned counted, retired;
    bool goes_on;

    if (left & WIRE_LEFT_FAULT) {
        if ((left & ~WIRE_LEFT_FAULT) > b->insns)
            return -VSE_CORRUPT;
        fault.insns = (uint16_t)(left & ~WIRE_LEFT_FAULT);
        fault.steps = (uint16_t)steps_before(b, fault.insns);
        fault.leave = WIRE_TO_FAULT;
    } else {
        if (left == 0 || left > b->leave_count)
            return -VSE_CORRUPT;
        l = &b->leaves[left - 1];
    }
    if (t->call_pc)
        vs_assembler_settle_call(t, b->addr);
    goes_on = t->repeats.pc == b->addr;
    counted = put_some_steps(a, t, b, record, l->steps, goes_on);
    retired = l->insns + (l->again ? 1u : 0);
    if (l->branch)
        put_branch(a, t, l, record, counted);
    else if (retired > counted)
        t->since += retired - counted;
    if (l->again) {
        goes_on = goes_on && l->insns == 0;
        t->repeats = (struct vs_repetition){vs_code_block_pc(b, l->insns),
                                            goes_on ? t->repeats.iterations + 1 : 1};
    } else if (!goes_on || l->leave != WIRE_TO_FAULT || l->insns) {
        /* If an iteration of a repeated instruction faults, the instruction stays counted. */
        t->repeats.pc = 0;
    }
    t->torn = l->leave == WIRE_TO_FAULT;
    if (l->leave == WIRE_TO_SYSCALL)
        t->call_pc = b->last_pc;
    vs_assembler_request(t, l->leave == WIRE_TO_REQUEST ? b->last_pc : 0);
    return 0;
}

/* Takes a block's record at pos, of any kind. Returns where the next slot is; -VSE_CORRUPT;
 * -VSE_NOMEM; the consumer's error. */
static int64_t take_block(struct vs_assembler *a, uint32_t number, const uint8_t *bytes, size_t pos,
                          size_t size)
{
    const struct vs_code_block *b = &a->blocks[number];
    size_t next = pos + b->length;
    int e;

    if (next + sizeof(struct wire_slot) > size || !a->current)
        return -VSE_CORRUPT;
    e = take_special(a, a->current, b, bytes + pos, half_at(bytes, next));
    if (e == 0 && a->current->since > SINCE_MAX)
        e = vs_assembler_put_since(a, a->current);
    if (e == 0 && batch_full(a))
        e = deliver(a);
    return e < 0 ? e : (int64_t)next;
}

/* Takes a record that is no block. Returns as take_block. */
static int64_t take_other(struct vs_assembler *a, uint32_t what, const uint8_t *bytes, size_t pos,
                          size_t size, struct vs_diag *diag)
{
    size_t at = pos + sizeof(struct wire_slot), left = size - at, length;
    struct wire_head *head = (void *)a->record;
    int e;

    if (what < WIRE_FIRST)
        return vs_assembler_nonsense(diag, "a block that was not announced");
    if (left < sizeof(*head))
        return vs_assembler_nonsense(diag, "a record's size");
    length = half_at(bytes, at);
    if (length < sizeof(*head) || length % 8 || length > left || length > WIRE_RECORD_MAX)
        return vs_assembler_nonsense(diag, "a record's size");
    memcpy(a->record, bytes + at, length);
    head->size = (uint32_t)length;
    e = vs_assembler_record(a, what, head, diag);
    return e < 0 ? e : (int64_t)(at + length);
}

/* Takes everything up to the last slot, which only says how the block before it was left: until the
 * buffer is handed over, the tool notes there what runs next. */
static int take_all(struct vs_assembler *a, const uint8_t *bytes, size_t size, struct vs_diag *diag)
{
    int64_t pos = 0, last = (int64_t)(size - sizeof(struct wire_slot)), from;
    uint32_t what;
    int e;

    while (pos >= 0 && pos < last) {
        from = pos;
        if ((pos = take_records(a, bytes, (size_t)pos, size)) < 0)
            break;
        pos = (int64_t)take_plain(a, bytes, (size_t)pos, size);
        if (batch_full(a)) {
            if ((e = deliver(a)) < 0)
                return e;
            continue;
        }
        if (pos == last)
            break;
        if (pos > from)
            continue;
        what = half_at(bytes, (size_t)pos + offsetof(struct wire_slot, what));
        if (what == 0)
            return vs_assembler_nonsense(diag, "an early end");
        if (what < a->block_count) {
            pos = take_block(a, what, bytes, (size_t)pos, size);
            if (pos == -VSE_CORRUPT && !a->theirs)
                return vs_assembler_nonsense(diag, "a block's record");
        } else {
            pos = take_other(a, what, bytes, (size_t)pos, size, diag);
        }
    }
    if (pos < 0)
        return (int)pos;
    return pos == last ? 0 : vs_assembler_nonsense(diag, "a buffer without an end");
}

static int finish(struct vs_assembler *a)
{
    int e = vs_assembler_end_threads(a);

    if (e == 0)
        e = deliver(a);
    return e == 0 ? (int)vs_assembler_theirs(a, vs_relay_drain(a->o.relay)) : e;
}

/* Describes all errors of our own in the diag. */
static int settle(struct vs_assembler *a, int e, struct vs_diag *diag, bool *was_theirs)
{
    *was_theirs = e < 0 && a->theirs;
    return e == -VSE_NOMEM && !*was_theirs ? vs_diag_set(diag, e, -1, -1, "out of memory") : e;
}

int vs_assembler_take(struct vs_assembler *a, const uint8_t *bytes, size_t size,
                      struct vs_diag *diag, bool *was_theirs)
{
    bool odd = size < sizeof(struct wire_slot) || size % 8 || (uintptr_t)bytes % 8;

    int e = odd ? vs_assembler_nonsense(diag, "a buffer's size") : take_all(a, bytes, size, diag);

    /* Inputs come slowly, and are not to wait for others. */
    if (e == 0 && a->o.light && a->count)
        e = deliver(a);
    return settle(a, e, diag, was_theirs);
}

static int inherit(struct vs_assembler *a, const struct vs_assembler *from, struct vs_diag *diag)
{
    int e = 0;

    if (a->block_count != 1 || !a->o.light)
        return vs_assembler_nonsense(diag, "code in what a run begins with");
    for (size_t i = 1; e == 0 && i < from->block_count; i++) {
        const struct vs_code_block *b = &from->blocks[i];
        const struct vs_block block = {b->addr, b->code, b->code_size, b->decoded};

        e = vs_assembler_take_over(a, b, !vs_codemap_differs(&from->code, &block), diag);
    }
    return e;
}

int vs_assembler_inherit(struct vs_assembler *a, const struct vs_assembler *from,
                         struct vs_diag *diag, bool *was_theirs)
{
    return settle(a, inherit(a, from, diag), diag, was_theirs);
}

int vs_assembler_finish(struct vs_assembler *a, struct vs_diag *diag, bool *was_theirs)
{
    return settle(a, finish(a), diag, was_theirs);
}
