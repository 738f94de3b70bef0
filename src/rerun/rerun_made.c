/* SPDX-License-Identifier: MIT */
/* The events that a run makes while it is executed again: what its cores access, and where they
 * branch. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/diag.h"
#include "rerun/rerun_state.h"

/* ---- making events --------------------------------------------------------------------------- */

static void fail(struct vs_rerun *r, int err)
{
    if (!r->failed)
        r->failed = err;
}

static bool make_room(struct vs_rerun *r)
{
    size_t capacity = r->made.capacity ? 2 * r->made.capacity : 2 * VS_RERUN_BATCH;
    struct vs_event *events = realloc(r->made.events, capacity * sizeof(*events));
    if (!events) {
        fail(r, -VSE_NOMEM);
        return false;
    }
    r->made.events = events;
    r->made.capacity = capacity;
    return true;
}

/* Where the next event goes, which is not among those that are made if there is no memory; the run
 * has failed then. */
static inline struct vs_event *next_event(struct vs_rerun *r)
{
    if (unlikely(r->count == r->made.capacity) && !make_room(r))
        return &r->lost;
    return &r->made.events[r->count++];
}

/* Gives events to instructions that are too many for one. */
static void append_counts(struct vs_rerun *r, unsigned thread, uint64_t retired)
{
    struct vs_rerun_thread *t = &r->threads[thread];
    for (; retired - t->last > UINT16_MAX; t->last += UINT16_MAX) {
        t->events++;
        if (!r->counting)
            *next_event(r) = (struct vs_event){
                .kind = VS_COUNT, .thread = (uint16_t)thread, .icount = UINT16_MAX};
    }
}

/* Counts a thread's event, which comes after so many of all instructions that it retires. Returns
 * those that the event accounts for. */
static inline uint16_t count_event(struct vs_rerun *r, unsigned thread, uint64_t retired)
{
    struct vs_rerun_thread *t = &r->threads[thread];
    if (unlikely(retired - t->last > UINT16_MAX))
        append_counts(r, thread, retired);
    uint16_t since = (uint16_t)(retired - t->last);
    t->last = retired;
    t->events++;
    return since;
}

/* Counts the same event among those that there are without loads and stores. */
static inline void count_flow(struct vs_rerun *r, unsigned thread, uint64_t retired)
{
    struct vs_rerun_thread *t = &r->threads[thread];
    uint64_t since = retired - t->flow_last;
    t->flow_events += 1 + (unlikely(since > UINT16_MAX) ? (since - 1) / UINT16_MAX : 0);
    t->flow_last = retired;
}

/* Puts the bytes of a wide value where the event says that they are. */
static void append_wide(struct vs_rerun *r, struct vs_event *e, const void *bytes)
{
    e->value = r->made.wide.len;
    if (vs_buf_put(&r->made.wide, bytes, e->size) < 0)
        fail(r, -VSE_NOMEM);
}

void vs_rerun_append(struct vs_rerun *r, const struct vs_event *event, const uint8_t *bytes,
                     uint64_t retired)
{
    struct vs_event e = *event;
    e.icount = count_event(r, e.thread, retired);
    if (r->counting) {
        count_flow(r, e.thread, retired);
        return;
    }
    if (vs_event_is_wide(&e))
        append_wide(r, &e, bytes);
    *next_event(r) = e;
}

/* A further iteration of an instruction was counted with the first. */
static inline uint64_t with_own(const struct vs_cpu *cpu)
{
    return cpu->retired + !cpu->iterations;
}

static bool is_locked(struct vs_rerun *r, uint64_t pc)
{
    struct vs_rerun_lock *l = &r->locks[pc % VS_RERUN_LOCKS];
    uint8_t bytes[VS_ISA_LENGTH_MAX];
    struct vs_insn insn;
    if (l->known && l->pc == pc)
        return l->locked;
    *l = (struct vs_rerun_lock){.pc = pc, .known = true};
    l->locked = vs_whole_get(&r->memory, pc, bytes, sizeof(bytes)) == 0 &&
                r->isa->decode(bytes, sizeof(bytes), pc, &insn) == 0 && insn.locked;
    return l->locked;
}

static inline __attribute__((always_inline)) void
note_access(struct vs_rerun *r, struct vs_cpu *cpu, unsigned kind, uint64_t addr, unsigned size,
            enum vs_access access, const void *bytes)
{
    uint16_t since = count_event(r, cpu->id, with_own(cpu));
    struct vs_event *e = next_event(r);
    e->pc = cpu->pc;
    e->addr = addr;
    e->thread = (uint16_t)cpu->id;
    e->size = (uint16_t)size;
    e->icount = since;
    e->kind = (uint8_t)kind;
    e->flags = cpu->iterations ? VS_MEM_REPEAT : 0;
    if (unlikely(access == VS_ACCESS_ATOMIC) && is_locked(r, cpu->pc))
        e->flags |= VS_MEM_ATOMIC;
    if (likely(size <= 8))
        e->value = vs_whole_number(bytes, size);
    else
        append_wide(r, e, bytes);
}

/* ---- what cores do --------------------------------------------------------------------------- */

static int read_memory(struct vs_cpu_memory *memory, struct vs_cpu *cpu, uint64_t addr,
                       unsigned size, enum vs_access access, void *bytes)
{
    struct vs_rerun *r = (struct vs_rerun *)memory;
    int err = vs_whole_get(&r->memory, addr, bytes, size);
    if (likely(!err))
        note_access(r, cpu, VS_LOAD, addr, size, access, bytes);
    return err;
}

static int read_counted(struct vs_cpu_memory *memory, struct vs_cpu *cpu, uint64_t addr,
                        unsigned size, enum vs_access access, void *bytes)
{
    struct vs_rerun *r = (struct vs_rerun *)memory;
    (void)access;
    count_event(r, cpu->id, with_own(cpu));
    return vs_whole_get(&r->memory, addr, bytes, size);
}

static int read_passed(struct vs_cpu_memory *memory, struct vs_cpu *cpu, uint64_t addr,
                       unsigned size, enum vs_access access, void *bytes)
{
    (void)cpu, (void)access;
    return vs_whole_get(&((struct vs_rerun *)memory)->memory, addr, bytes, size);
}

void vs_rerun_code_changed(struct vs_rerun *r)
{
    memset(r->locks, 0, sizeof(r->locks));
    if (r->selecting)
        vs_selecting_code_changed(r->selecting);
}

void vs_rerun_memory_changed(struct vs_rerun *r, uint64_t addr, uint64_t size)
{
    vs_cpu_flush(r->code, addr, size);
    vs_rerun_code_changed(r); /* and all of a selection's */
}

static int write_memory(struct vs_cpu_memory *memory, struct vs_cpu *cpu, uint64_t addr,
                        unsigned size, enum vs_access access, const void *bytes)
{
    struct vs_rerun *r = (struct vs_rerun *)memory;
    bool code = false;
    int err = vs_whole_put(&r->memory, addr, bytes, size, &code);
    if (unlikely(err))
        return err;
    note_access(r, cpu, VS_STORE, addr, size, access, bytes);
    if (likely(!code))
        return 0;
    vs_rerun_code_changed(r);
    return VS_CPU_CODE;
}

static int write_counted(struct vs_cpu_memory *memory, struct vs_cpu *cpu, uint64_t addr,
                         unsigned size, enum vs_access access, const void *bytes)
{
    struct vs_rerun *r = (struct vs_rerun *)memory;
    bool code = false;
    (void)access;
    count_event(r, cpu->id, with_own(cpu));
    int err = vs_whole_put(&r->memory, addr, bytes, size, &code);
    if (likely(!code) || err)
        return err;
    vs_rerun_code_changed(r);
    return VS_CPU_CODE;
}

static int write_passed(struct vs_cpu_memory *memory, struct vs_cpu *cpu, uint64_t addr,
                        unsigned size, enum vs_access access, const void *bytes)
{
    struct vs_rerun *r = (struct vs_rerun *)memory;
    bool code = false;
    (void)cpu, (void)access;
    int err = vs_whole_put(&r->memory, addr, bytes, size, &code);
    if (likely(!code) || err)
        return err;
    vs_rerun_code_changed(r);
    return VS_CPU_CODE;
}

/* Code is what memory holds, as far as anything is there. */
static int fetch(struct vs_cpu_memory *memory, struct vs_cpu *cpu, uint64_t addr, void *bytes,
                 size_t size)
{
    struct vs_rerun *r = (struct vs_rerun *)memory;
    size_t done = 0;
    while (done < size) {
        struct vs_whole_page *page = vs_map_pointer(&r->memory.pages, (addr + done) / VS_PAGE_SIZE);
        size_t at = (size_t)((addr + done) % VS_PAGE_SIZE), n = VS_PAGE_SIZE - at;
        if (!page)
            break;
        page->code = page->noted = true;
        if (n > size - done)
            n = size - done;
        memcpy((uint8_t *)bytes + done, page->bytes + at, n);
        done += n;
    }
    if (!done)
        cpu->fault = addr;
    return (int)done;
}

static int get_outside(struct vs_cpu_memory *memory, struct vs_cpu *cpu, unsigned what,
                       unsigned size, void *bytes)
{
    struct vs_rerun *r = (struct vs_rerun *)memory;
    const struct vs_event *e = &r->in.events[r->outside];
    (void)what;
    if (r->outside == r->outside_end || size != e->size)
        return vs_diag_set(&r->diag, -VSE_CORRUPT, -1, -1,
                           "executed again, thread %u gets a value from outside at 0x%llx that was "
                           "not recorded",
                           cpu->id, (unsigned long long)cpu->pc);
    memcpy(bytes, vs_event_bytes(&r->in, e), size);
    r->outside++;
    return 0;
}

static const struct vs_cpu_memory_ops making_ops = {
    .fetch = fetch, .read = read_memory, .write = write_memory, .outside = get_outside};

static const struct vs_cpu_memory_ops counting_ops = {
    .fetch = fetch, .read = read_counted, .write = write_counted, .outside = get_outside};

static const struct vs_cpu_memory_ops passing_ops = {
    .fetch = fetch, .read = read_passed, .write = write_passed, .outside = get_outside};

void vs_rerun_use(struct vs_rerun *r, bool made)
{
    bool passes = !made || (r->flow_only && !r->counting);
    r->seen.ops = passes ? &passing_ops : r->counting ? &counting_ops : &making_ops;
}

static bool is_taken(const struct vs_insn *insn, uint64_t pc, uint64_t to, bool condition)
{
    if (!(insn->branch & VS_BR_COND))
        return true;
    return insn->target != pc + insn->length ? to == insn->target : condition != insn->negated;
}

void vs_rerun_branched(struct vs_cpu *cpu, const struct vs_insn *insn, uint64_t to, bool condition)
{
    struct vs_rerun *r = (struct vs_rerun *)cpu->memory;
    uint16_t since = count_event(r, cpu->id, with_own(cpu));
    if (r->counting) {
        count_flow(r, cpu->id, with_own(cpu));
        return;
    }
    struct vs_event *e = next_event(r);
    e->pc = cpu->pc;
    e->addr = insn->branch & VS_BR_INDIRECT ? to : insn->target;
    e->value = 0;
    e->thread = (uint16_t)cpu->id;
    e->size = insn->length;
    e->icount = since;
    e->kind = VS_BRANCH;
    e->flags = (uint8_t)(insn->branch | (is_taken(insn, cpu->pc, to, condition) ? VS_BR_TAKEN : 0));
}

uint64_t vs_rerun_events(const struct vs_rerun *r)
{
    uint64_t n = 0;
    for (unsigned i = 0; i < r->thread_count; i++)
        n += r->threads[i].events;
    return n;
}

void vs_rerun_swap(struct vs_rerun *r, struct vs_made *made)
{
    struct vs_made mine = r->made;
    r->made = *made;
    *made = mine;
    r->count = 0;
}

void vs_made_fini(struct vs_made *made)
{
    free(made->events);
    vs_buf_fini(&made->wide);
    *made = (struct vs_made){0};
}
