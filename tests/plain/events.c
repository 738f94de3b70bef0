/* SPDX-License-Identifier: MIT */
/* An events chunk: its summary (section 4), and sections 5 to 8. */
#include "plain/state.h"

#include <string.h>

/* ---- section 4: the summary --------------------------------------------------------------- */

static void read_summary_thread(struct plain *p, struct bytes *b, uint64_t lowest, struct thread *t)
{
    uint64_t number = lowest + take_at_most(p, b, VS_THREADS_MAX - 1);
    must(p, number < VS_THREADS_MAX, "too many threads");
    t->number = (uint32_t)number;
    t->events = take_varint(p, b);
    must(p, t->events > 0, "thread without events");
    t->insns = take_varint(p, b);
    must(p, take_varint(p, b) == p->insns[number], "instructions before the chunk");
}

static void read_summary(struct plain *p)
{
    struct chunk *c = &p->chunk;
    struct bytes *b = column(p, SUMMARY);
    must(p, take_varint(p, b) == p->totals->events, "number of the first event");
    c->events = take_at_most(p, b, 1 << 22);
    must(p, c->events > 0, "chunk without events");
    c->site_count = take_at_most(p, b, p->site_count);
    must(p, c->site_count > 0, "no site 0");
    c->blocks = take_at_most(p, b, p->totals->blocks);
    c->images = take_at_most(p, b, p->totals->images);
    c->shadow_bits = take_at_most(p, b, 16);
    bool memory = p->totals->features & 6;
    must(p, memory ? c->shadow_bits >= 6 : c->shadow_bits == 0, "shadow_bits");
    c->cycle_first = take_varint(p, b);
    c->cycle_last = c->cycle_first + take_varint(p, b);
    must(p, p->totals->features & 1 || !(c->cycle_first | c->cycle_last),
         "cycles in an untimed run");
    c->thread_count = take_at_most(p, b, VS_THREADS_MAX);
    c->threads = allocate(p, c->thread_count, sizeof *c->threads);
    for (uint64_t i = 0; i < c->thread_count; i++)
        read_summary_thread(p, b, i ? c->threads[i - 1].number + 1 : 0, &c->threads[i]);
}

/* ---- section 6: control flow -------------------------------------------------------------- */

static uint64_t hash(uint64_t x, unsigned bits)
{
    return x * 0x9e3779b97f4a7c15 >> (64 - bits);
}

/* Section 5, gaps. */
static bool predicted(struct plain *p, unsigned id)
{
    struct gap *gap = &p->chunk.gaps[id];
    struct bytes *b = column(p, id);
    if (!gap->pending && ended(b))
        return true;
    if (!gap->pending)
        *gap = (struct gap){true, take_varint(p, b)};
    if (gap->right > 0) {
        gap->right--;
        return true;
    }
    gap->pending = false;
    return false;
}

static uint64_t read_site_number(struct plain *p, struct thread *t)
{
    uint64_t site = t->expect;
    if (!predicted(p, SITE_GAPS)) {
        site += take_zigzag(p, column(p, SITE_NUMBERS));
        *t->link = site;
    }
    must(p, site < p->chunk.site_count, "no such site");
    if (site == 0) {
        p->sites[0] = plain_site(p, column(p, LITERALS), p->sites[0].pc);
        p->totals->literals++;
    }
    return site;
}

static bool read_outcome(struct plain *p, struct thread *t, uint64_t site)
{
    uint8_t *c = &p->chunk.outcome[(4 * site ^ t->history) & 0x3fff];
    bool taken = *c >= 2;
    if (!predicted(p, OUTCOME_GAPS))
        taken = !taken;
    if (taken && *c < 3)
        ++*c;
    if (!taken && *c > 0)
        --*c;
    t->history = t->history * 2 + taken;
    return taken;
}

static uint64_t read_target(struct plain *p, struct thread *t, uint64_t site)
{
    const struct site *s = &p->sites[site];
    uint64_t *word = &p->chunk.target[hash(site + t->path, 12)];
    if (s->flags & VS_BR_RETURN)
        word = &t->stack[--t->depth % 32];
    if (!predicted(p, TARGET_GAPS)) {
        unsigned n = take_byte(p, column(p, TARGET_LENGTHS));
        *word = s->pc + take_signed(p, column(p, TARGETS), n);
    }
    t->path = t->path * 16 ^ *word / 2;
    return *word;
}

static void read_branch(struct plain *p, struct thread *t, uint64_t site, struct vs_event *e)
{
    bool taken = e->flags & VS_BR_COND ? read_outcome(p, t, site) : true;
    e->addr = p->sites[site].target;
    if (taken && e->flags & VS_BR_INDIRECT)
        e->addr = read_target(p, t, site);
    if (taken && e->flags & VS_BR_CALL)
        t->stack[t->depth++ % 32] = e->pc + e->size;
    if (taken)
        e->flags |= VS_BR_TAKEN;
}

/* Which word predicts the site of the thread's next event. */
static void set_link(struct plain *p, struct thread *t, uint64_t site, const struct vs_event *e)
{
    bool taken = e->kind == VS_BRANCH && e->flags & VS_BR_TAKEN;
    if (taken && e->flags & VS_BR_INDIRECT)
        t->link = &p->chunk.arrival[hash(e->addr, 12)];
    else
        t->link = &p->chunk.sites[site].next[taken && e->flags & VS_BR_COND];
    t->expect = *t->link;
}

/* ---- section 7: addresses and values ------------------------------------------------------ */

static struct line *shadow_line(struct plain *p, uint64_t l)
{
    return &p->chunk.shadow[(l ^ l >> 15) & (((uint64_t)1 << p->chunk.shadow_bits) - 1)];
}

static bool shadow_read(struct plain *p, uint64_t addr, uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++, addr++) {
        const struct line *line = shadow_line(p, addr / 32);
        if (line->tag != addr / 32 || !line->known[addr % 32])
            return false;
        bytes[i] = line->bytes[addr % 32];
    }
    return true;
}

static void shadow_write(struct plain *p, uint64_t addr, const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++, addr++) {
        struct line *line = shadow_line(p, addr / 32);
        if (line->tag != addr / 32)
            *line = (struct line){.tag = addr / 32};
        line->bytes[addr % 32] = bytes[i];
        line->known[addr % 32] = true;
    }
}

static void learn(struct series *s, uint64_t x)
{
    uint64_t d = x - s->last;
    if ((uint32_t)d == s->seen)
        s->stride = d;
    s->seen = (uint32_t)d;
    s->last = x;
}

static uint64_t read_address(struct plain *p, struct thread *t, struct site_state *s, unsigned how)
{
    uint64_t by_stride = s->addr.last + s->addr.stride, by_thread = t->last_addr + s->relative;
    uint64_t addr = s->trust >= 2 ? by_thread : by_stride;
    if (how == 9)
        addr = s->trust >= 2 ? by_stride : by_thread;
    else
        addr += take_signed(p, column(p, ADDRESSES), how);
    if (addr == by_thread && addr != by_stride && s->trust < 3)
        s->trust++;
    if (addr == by_stride && addr != by_thread && s->trust > 0)
        s->trust--;
    learn(&s->addr, addr);
    s->relative = addr - t->last_addr;
    t->last_addr = addr;
    return addr;
}

/* The bytes of a value that is a number, and its lowest 8 at most. */
static uint64_t set_value(struct plain *p, uint64_t value, unsigned size)
{
    for (unsigned i = 0; i < 8; i++)
        p->value[i] = i < size ? (uint8_t)(value >> 8 * i) : 0;
    return little_endian(p->value, 8);
}

static void read_narrow(struct plain *p, struct thread *t, struct site_state *s, unsigned how,
                        struct vs_event *e)
{
    uint8_t bytes[8];
    bool load = e->kind == VS_LOAD, known = shadow_read(p, e->addr, bytes, e->size);
    uint64_t memory = known ? little_endian(bytes, e->size) : 0;
    uint64_t by_stride = s->value.last + s->value.stride;
    uint64_t value = load && known ? memory : by_stride;
    if (how == 9)
        value = load ? by_stride : memory;
    else if (how == 10)
        value = t->loaded;
    else
        value += take_signed(p, column(p, VALUES), how);
    e->value = set_value(p, value, e->size);
    learn(&s->value, e->value);
    if (load)
        t->loaded = e->value;
}

static void read_wide(struct plain *p, unsigned how, const struct vs_event *e)
{
    must(p, how <= 1, "how to find a wide value");
    if (how == 0)
        must(p, shadow_read(p, e->addr, p->value, e->size), "wide value not known");
    else
        memcpy(p->value, take(p, column(p, WIDE), e->size), e->size);
}

static void read_access(struct plain *p, struct thread *t, uint64_t site, struct vs_event *e)
{
    must(p, p->totals->features & (e->kind == VS_LOAD ? 2 : 4), "access not to be recorded");
    struct site_state *s = &p->chunk.sites[site];
    unsigned how = take_byte(p, column(p, HOW));
    e->addr = read_address(p, t, s, how & 15);
    if (e->size <= 8)
        read_narrow(p, t, s, how >> 4, e);
    else
        read_wide(p, how >> 4, e);
    shadow_write(p, e->addr, p->value, e->size);
}

/* ---- section 8: other events -------------------------------------------------------------- */

static void read_other(struct plain *p, struct vs_event *e)
{
    struct bytes *b = column(p, OTHER);
    e->pc = take_varint(p, b);
    e->addr = take_varint(p, b);
    e->size = (uint16_t)take_at_most(p, b, 65535);
    e->icount = (uint16_t)take_at_most(p, b, 65535);
    if (e->size <= 8)
        e->value = set_value(p, take_varint(p, b), 8);
    else
        memcpy(p->value, take(p, column(p, WIDE), e->size), e->size);
    must(p, e->kind < VS_TURN || p->totals->features & 8, "no input to be recorded");
    must(p, e->kind != VS_CODE || e->value < p->chunk.blocks, "no such block");
    must(p, e->kind != VS_MAP || e->pc == VS_NO_IMAGE || e->pc < p->chunk.images, "no such image");
    if (e->kind == VS_EXTERNAL && p->chunk.shadow_bits > 0)
        shadow_write(p, e->addr, p->value, e->size);
}

/* ---- section 5: events -------------------------------------------------------------------- */

static uint64_t read_cycle(struct plain *p, struct thread *t)
{
    if (p->totals->features & 1)
        t->cycle += take_varint(p, column(p, CYCLES));
    must(p, t->cycle >= p->cycle, "cycles that decrease");
    p->cycle = t->cycle;
    return t->cycle;
}

/* Section 9: the summary was true, threads are numbered as they appear. */
static void account(struct plain *p, struct thread *t, const struct vs_event *e)
{
    must(p, t->events > 0 && t->insns >= e->icount, "more than the summary says");
    t->events--;
    t->insns -= e->icount;
    p->insns[t->number] += e->icount;
    if (t->number >= p->totals->threads)
        must(p, t->number == p->totals->threads++, "number of a new thread");
    p->totals->events++;
}

static void read_event(struct plain *p, struct thread *t)
{
    uint64_t number = p->totals->events, site = read_site_number(p, t);
    const struct site *s = &p->sites[site];
    struct vs_event e = {.pc = s->pc, .thread = (uint16_t)t->number, .size = s->size};
    e.icount = s->icount;
    e.kind = s->kind;
    e.flags = s->flags;
    set_value(p, 0, 8);
    must(p, e.kind > VS_STORE || !(p->totals->features & 16), "what is to be executed again");
    if (e.kind == VS_BRANCH)
        read_branch(p, t, site, &e);
    else if (e.kind == VS_LOAD || e.kind == VS_STORE)
        read_access(p, t, site, &e);
    else
        read_other(p, &e);
    set_link(p, t, site, &e);
    account(p, t, &e);
    p->sink->event(p->sink->context, number, &e, p->value, read_cycle(p, t));
}

static void start_chunk(struct plain *p)
{
    struct chunk *c = &p->chunk;
    c->sites = allocate(p, c->site_count, sizeof *c->sites);
    for (uint64_t s = 0; s < c->site_count; s++)
        c->sites[s] = (struct site_state){.next = {s + 1, s + 1}, .trust = 2};
    for (unsigned i = 0; i < 1 << 12; i++)
        c->arrival[i] = 1;
    memset(c->outcome, 1, sizeof c->outcome);
    c->shadow = allocate(p, (size_t)1 << c->shadow_bits, sizeof *c->shadow);
    for (uint64_t i = 0; i < c->thread_count; i++) {
        c->threads[i].expect = 1;
        c->threads[i].link = &c->sites[0].next[0];
        c->threads[i].cycle = c->cycle_first;
    }
    p->sites[0].pc = 0;
}

static struct thread *find_thread(struct plain *p, uint64_t number)
{
    for (uint64_t i = 0; i < p->chunk.thread_count; i++)
        if (p->chunk.threads[i].number == number)
            return &p->chunk.threads[i];
    must(p, false, "thread not in the summary");
    return NULL;
}

void plain_events(struct plain *p)
{
    struct chunk *c = &p->chunk;
    read_summary(p);
    start_chunk(p);
    uint64_t left = c->events;
    while (left > 0) {
        struct thread *t = find_thread(p, take_varint(p, column(p, ORDER)));
        uint64_t count = take_at_most(p, column(p, ORDER), left);
        must(p, count > 0, "order of no events");
        for (; count > 0; count--, left--) {
            read_event(p, t);
            must(p, left < c->events || p->cycle == c->cycle_first, "first cycle");
        }
    }
    must(p, p->cycle == c->cycle_last, "last cycle");
    for (uint64_t i = 0; i < c->thread_count; i++)
        must(p, !c->threads[i].events && !c->threads[i].insns, "less than the summary says");
    for (unsigned i = 0; i < COLUMNS; i++)
        must(p, ended(column(p, i)) && !c->gaps[i].pending, "column not used up");
    p->totals->event_chunks++;
}
