/* SPDX-License-Identifier: MIT */
#include "rtl/accesses.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/diag.h"
#include "isa/set.h"
#include "rerun/run_open.h"
#include "rtl/model.h"
#include "study/codeview.h"
#include "technique/data.h"
#include "technique/technique.h"
#include "technique/writers.h"

enum { MOST_CORES = 4, WIDE = 256 };

/* What the debugger's side of the core knows besides the caches. */
struct core {
    uint64_t since; /* instructions after its last registers, or full counter */
    bool live, filled;
};

struct rtl_accesses {
    char spec[256];
    unsigned bytes, icount, cores, address_bits;
    uint64_t line, granule, full;
    bool timed;
    struct rtl_model *model;
    struct core cores_at[MOST_CORES];

    struct vs_reader *reader; /* NULL: random */
    struct vs_batch batch;
    size_t at;
    struct vs_prior *prior;
    struct vs_code_pages code_pages;
    struct vs_writers writers;
    struct vs_seen seen;

    uint64_t state, left, time; /* random */
    unsigned calm;              /* so many events that mostly find their granules */
    struct vs_event event;
    uint8_t wide[WIDE];

    struct rtl_access *steps; /* those of the last event */
    size_t count, capacity, next;
    uint64_t accesses;
    bool over;
};

/* ---- making ---------------------------------------------------------------------------------- */

static struct rtl_accesses *make(const char *spec, unsigned bytes, unsigned icount)
{
    struct rtl_accesses *a = rtl_checked(calloc(1, sizeof(*a)));
    struct vs_technique_spec parsed;
    struct vs_diag diag = {.offset = -1, .chunk = -1};
    if (vs_technique_parse(&parsed, spec, &diag) < 0)
        rtl_give_up("%s: %s", spec, diag.text);
    const struct vs_data_params *p = (const struct vs_data_params *)parsed.params;
    snprintf(a->spec, sizeof(a->spec), "%s", spec);
    a->line = p->line;
    a->granule = p->granule;
    a->full = p->icnt_bits < 64 ? (UINT64_C(1) << p->icnt_bits) - 1 : UINT64_MAX;
    a->bytes = bytes;
    a->icount = icount;
    a->address_bits = 64;
    return a;
}

static struct vs_reader *open_run(const char *path)
{
    struct vs_diag diag = {.offset = -1, .chunk = -1};
    struct vs_reader *reader;
    if (vs_run_open_shown(&reader, path, VS_OPEN_DEFAULT, NULL, NULL, &diag) < 0)
        rtl_give_up("%s: %s", path, diag.text);
    return reader;
}

static bool next_batch(struct vs_reader *reader, struct vs_batch *batch)
{
    int count = vs_reader_next(reader, batch);
    if (count < 0 && count != -VSE_END)
        rtl_give_up("the run cannot be read to its end: %s", vs_errstr(count));
    return count > 0;
}

struct rtl_accesses *rtl_accesses_run(const char *path, const char *spec, unsigned bytes,
                                      unsigned icount)
{
    struct rtl_accesses *a = make(spec, bytes, icount);
    struct vs_batch batch;
    struct vs_reader *before = open_run(path);
    if (vs_prior_open(&a->prior) < 0)
        rtl_give_up("out of memory");
    while (next_batch(before, &batch))
        if (vs_prior_consume(a->prior, &batch) < 0)
            rtl_give_up("out of memory");
    vs_reader_close(before);

    a->reader = open_run(path);
    const struct vs_run_info *info = vs_reader_info(a->reader);
    const struct vs_isa *isa = vs_isa_find(vs_reader_meta(a->reader, "isa"));
    a->cores = info->threads;
    a->timed = info->features & VS_RUN_TIMED;
    a->address_bits = isa ? isa->address_bits : 64;
    if (a->cores > MOST_CORES)
        rtl_give_up("%s: more than %d cores", path, MOST_CORES);
    if (a->cores > 1 && vs_codeview_pages(&a->code_pages, a->reader) < 0)
        rtl_give_up("%s: its code cannot be had", path);
    a->writers.code = a->cores > 1 ? &a->code_pages : NULL;
    vs_seen_init(&a->seen, a->prior);
    return a;
}

struct rtl_accesses *rtl_accesses_random(uint64_t seed, uint64_t events, unsigned cores,
                                         const char *spec, unsigned bytes, unsigned icount)
{
    struct rtl_accesses *a = make(spec, bytes, icount);
    a->cores = cores;
    a->timed = true;
    a->state = seed * 2 + 1;
    a->left = events;
    vs_seen_init(&a->seen, NULL);
    return a;
}

struct rtl_model *rtl_accesses_model(struct rtl_accesses *a, bool timed)
{
    const struct rtl_around around = {.address_bits = a->address_bits,
                                      .prior = a->prior,
                                      .code_pages = a->cores > 1 ? &a->code_pages : NULL};
    a->model = rtl_model_open_around(a->spec, a->cores, timed, &around);
    return a->model;
}

/* ---- steps of an event ----------------------------------------------------------------------- */

static struct rtl_access *add(struct rtl_accesses *a, unsigned kind, unsigned core)
{
    void *steps = a->steps;
    if (vs_array_room(&steps, &a->capacity, a->count, 1, sizeof(*a->steps)))
        rtl_give_up("out of memory");
    a->steps = steps;
    struct rtl_access *s = &a->steps[a->count++];
    *s = (struct rtl_access){.kind = (uint8_t)kind, .core = (uint16_t)core, .time = a->time};
    return s;
}

/* Instructions, of which all steps but the last have as many as fit. */
static void count_instructions(struct rtl_accesses *a, unsigned core, uint64_t count)
{
    struct core *c = &a->cores_at[core];
    for (c->since += count; c->since >= a->full; c->since -= a->full)
        c->filled = true;
    for (; count > a->icount; count -= a->icount)
        add(a, RTL_COUNTS, core)->icount = a->icount;
    if (count)
        add(a, RTL_COUNTS, core)->icount = (uint32_t)count;
}

/* Bytes, the first of which belong to the step; others follow. */
static void give_bytes(struct rtl_accesses *a, struct rtl_access *step, const uint8_t *bytes,
                       size_t size)
{
    unsigned core = step->core;
    for (;;) {
        if (step->kind != RTL_REGISTERS) {
            size_t n = size < a->bytes ? size : a->bytes;
            memcpy(step->bytes, bytes, n);
            step->length = (uint8_t)n;
            bytes += n;
            size -= n;
        }
        step->goes_on = size;
        if (!size)
            return;
        step = add(a, RTL_MORE, core);
        step->time = UINT64_MAX; /* the message has the time of its first bytes */
    }
}

static void tell_registers(struct rtl_accesses *a, unsigned core, const uint8_t *bytes, size_t size)
{
    struct rtl_access *s = add(a, RTL_REGISTERS, core);
    s->number = (uint32_t)size + 1;
    a->cores_at[core].since = 0;
    a->cores_at[core].filled = false;
    give_bytes(a, s, bytes, size);
}

static void drop_lines(struct rtl_accesses *a, uint64_t addr, uint64_t size)
{
    uint64_t line = addr & ~(a->line - 1), last = (addr + (size - 1)) & ~(a->line - 1);
    for (; size; line += a->line) {
        add(a, RTL_DROP, 0)->line = line;
        if (line == last)
            return;
    }
}

static void access_memory(struct rtl_accesses *a, const struct vs_event *e, const uint8_t *bytes)
{
    bool load = e->kind == VS_LOAD, changed = false;
    if (e->size > 8)
        rtl_give_up("the RTL has operands of up to 8 bytes, and the run has one of %u", e->size);
    int err = load ? vs_seen_load(&a->seen, e->addr, bytes, e->size)
                   : vs_seen_write(&a->seen, e->addr, bytes, e->size);
    if (err < 0)
        rtl_give_up("out of memory");
    changed = load && !err;
    struct rtl_access *s = add(a, load ? RTL_LOAD : RTL_STORE, e->thread);
    s->addr = s->line = e->addr;
    s->size = (uint8_t)e->size;
    s->changed = changed;
    uint64_t next = (e->addr | (a->line - 1)) + 1;
    if (next - e->addr < e->size) {
        s->goes_on = true;
        struct rtl_access *second = add(a, s->kind, e->thread);
        *second = a->steps[a->count - 2];
        second->goes_on = false;
        second->line = next;
        s = second;
    }
    uint64_t start = e->addr & ~(a->granule - 1);
    uint64_t end = (e->addr + e->size + a->granule - 1) & ~(a->granule - 1);
    if (load)
        vs_seen_get(&a->seen, start, s->bytes, (size_t)(end - start));
    a->accesses++;
}

static bool has_place(const struct core *c)
{
    return c->live || c->since || c->filled;
}

/* Where other cores stand is told before one stores to their code. */
static void order_store(struct rtl_accesses *a, const struct vs_event *e)
{
    static const uint8_t place[VS_DATA_PLACE];
    uint64_t addr = e->addr;
    size_t size = e->size;
    unsigned other;
    if (!vs_writers_concern(&a->writers, addr, size))
        return;
    while (size) {
        if (vs_writers_take(&a->writers, e->thread, &addr, &size, &other) < 0)
            rtl_give_up("out of memory");
        if (other != VS_WRITERS_NOBODY && has_place(&a->cores_at[other]))
            tell_registers(a, other, place, sizeof(place));
    }
}

static void take_event(struct rtl_accesses *a, const struct vs_event *e, const uint8_t *bytes)
{
    struct core *c = &a->cores_at[e->thread];
    size_t head = sizeof(struct vs_syscall_head);
    uint64_t start, size;
    int err = 0;
    count_instructions(a, e->thread, e->icount);
    switch (e->kind) {
    case VS_STORE:
        order_store(a, e);
        access_memory(a, e, bytes);
        break;
    case VS_LOAD:
        access_memory(a, e, bytes);
        break;
    case VS_NONDET:
        give_bytes(a, add(a, RTL_VALUE, e->thread), bytes, e->size);
        break;
    case VS_EXTERNAL:
        drop_lines(a, e->addr, e->size);
        err = vs_seen_write(&a->seen, e->addr, bytes, e->size);
        break;
    case VS_MAP:
        if (!e->value)
            break;
        vs_data_mapped(e, &start, &size);
        drop_lines(a, start, size);
        err = vs_seen_map(&a->seen, start, size);
        break;
    case VS_GAP:
        c->live = true;
        add(a, RTL_FORGET, 0);
        tell_registers(a, e->thread, bytes, e->size);
        err = vs_seen_gap(&a->seen);
        break;
    case VS_CODE:
        for (unsigned core = 0; core < a->cores; core++)
            if (has_place(&a->cores_at[core]))
                tell_registers(a, core, NULL, 0);
        break;
    case VS_THREAD_EXIT:
        c->live = false;
        break;
    case VS_SYSCALL:
        tell_registers(a, e->thread, bytes + head, e->size - head);
        break;
    case VS_THREAD_START:
        c->live = true;
        tell_registers(a, e->thread, bytes, e->size);
        break;
    case VS_EXCEPTION:
    case VS_EXCEPTION_RET:
        tell_registers(a, e->thread, bytes, e->size);
        break;
    default:
        break;
    }
    if (err < 0)
        rtl_give_up("out of memory");
    /* what a step tells comes after its instructions */
    if (a->count > 1 && a->steps[0].kind == RTL_COUNTS && a->steps[1].core == e->thread &&
        a->steps[1].kind < RTL_DROP && a->steps[1].kind != RTL_COUNTS) {
        a->steps[1].icount = a->steps[0].icount;
        a->next = 1;
    }
}

/* ---- random events --------------------------------------------------------------------------- */

/* xorshift64* */
static uint64_t random_word(struct rtl_accesses *a)
{
    a->state ^= a->state >> 12;
    a->state ^= a->state << 25;
    a->state ^= a->state >> 27;
    return a->state * UINT64_C(0x2545f4914f6cdd1d);
}

static bool is_one_of(struct rtl_accesses *a, unsigned n)
{
    return random_word(a) % n == 0;
}

/* Few lines that share sets, many that do not, and now and then one far away; for a while, a few
 * words of the core's own. */
static uint64_t random_address(struct rtl_accesses *a)
{
    uint64_t r = random_word(a), within = r >> 8 & (a->line - 1);
    if (a->calm)
        return 0x80000 + a->event.thread * 4096 + (r >> 20) % 8 * 8;
    if (r % 256 == 0)
        return random_word(a);
    if (r % 4 == 0)
        return 0x40000 + (r >> 20) % 4096 * 4 + (r >> 40 & 3);
    if (r % 4 == 1) /* a line of all that have the same set, for most caches */
        return 0x1000000 + ((r >> 20) % 7 << 16) + within;
    return 0x20000 + (r >> 20) % 24 * a->line + (r & 16 ? within & ~UINT64_C(7) : within);
}

static void random_bytes(struct rtl_accesses *a, uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)random_word(a);
    if (size && is_one_of(a, 4))
        bytes[0] = VS_DATA_ESCAPE;
}

/* A number of bytes, for which those of the event are made at random. */
static void give_random(struct rtl_accesses *a, size_t size)
{
    uint8_t small[8] = {0};
    a->event.size = (uint16_t)size;
    random_bytes(a, size > 8 ? a->wide : small, size);
    if (size <= 8)
        memcpy(&a->event.value, small, 8);
}

static void random_access(struct rtl_accesses *a, uint64_t r)
{
    struct vs_event *e = &a->event;
    uint8_t bytes[8] = {0};
    unsigned size = r & 1 << 20 ? 1u << (r >> 21 & 3) : 1 + (unsigned)(r >> 21 & 7);
    e->addr = random_address(a);
    e->size = (uint16_t)size;
    if (a->calm || r >> 8 & 1)
        e->addr &= ~(uint64_t)(size - 1);
    e->kind = r % 3 ? VS_LOAD : VS_STORE;
    if (e->kind == VS_STORE || is_one_of(a, a->calm ? 2000 : 200))
        random_bytes(a, bytes, size);
    else
        vs_seen_get(&a->seen, e->addr, bytes, size);
    memcpy(&e->value, bytes, 8);
}

static void random_rare(struct rtl_accesses *a, uint64_t r)
{
    struct vs_event *e = &a->event;
    switch (r >> 8 & 7) {
    case 0:
        e->kind = VS_NONDET;
        give_random(a, 1 + (r >> 12) % 40);
        break;
    case 1:
        e->kind = VS_EXTERNAL;
        e->addr = random_address(a);
        give_random(a, 1 + (r >> 12) % 100);
        break;
    case 2:
        e->kind = VS_EXCEPTION;
        give_random(a, (r >> 12) % WIDE);
        break;
    case 3:
        e->kind = is_one_of(a, 4) ? VS_GAP : VS_THREAD_START;
        give_random(a, (r >> 12) % 30);
        break;
    case 4:
        e->kind = is_one_of(a, 8) ? VS_CODE : VS_COUNT;
        break;
    case 5:
        e->kind = is_one_of(a, 8) ? VS_MAP : VS_BRANCH;
        e->addr = random_address(a);
        e->value = e->kind == VS_MAP ? (r >> 12) % 5000 : 0;
        break;
    case 6:
        e->kind = is_one_of(a, 16) ? VS_THREAD_EXIT : VS_COUNT;
        break;
    default:
        e->kind = VS_NONDET;
        give_random(a, 1 + (r >> 12 & 7));
        break;
    }
}

static bool random_event(struct rtl_accesses *a)
{
    if (!a->left)
        return false;
    a->left--;
    uint64_t r = random_word(a);
    a->time += r % 4 == 0 ? 0 : r % 3 == 0 ? r >> 8 & 3 : 1;
    if (is_one_of(a, 2000))
        a->time += random_word(a) >> (36 + random_word(a) % 28);
    a->event = (struct vs_event){.thread = (uint16_t)(random_word(a) % a->cores)};
    a->event.icount = (uint16_t)(random_word(a) % 6);
    if (is_one_of(a, 500))
        a->event.icount = (uint16_t)random_word(a);
    if (is_one_of(a, 300))
        a->calm = (unsigned)(random_word(a) % 400);
    a->calm -= a->calm > 0;
    if (is_one_of(a, a->calm ? 1000 : 32))
        random_rare(a, r);
    else
        random_access(a, r);
    a->batch = (struct vs_batch){
        .events = &a->event, .cycles = &a->time, .wide = a->wide, .wide_size = WIDE, .count = 1};
    return true;
}

/* ---- all of them ----------------------------------------------------------------------------- */

static bool next_event(struct rtl_accesses *a)
{
    struct vs_batch one;
    if (!a->reader) {
        if (!random_event(a))
            return false;
        a->at = 0;
    } else if (a->at == a->batch.count) {
        a->at = 0;
        a->batch.count = 0;
        if (!next_batch(a->reader, &a->batch))
            return false;
    }
    one = a->batch;
    one.events += a->at;
    if (one.cycles)
        a->time = *(one.cycles += a->at);
    one.count = 1;
    a->at++;
    take_event(a, one.events, vs_event_bytes(&one, one.events));
    rtl_model_events(a->model, &one);
    return true;
}

bool rtl_accesses_next(struct rtl_accesses *a, struct rtl_access *access)
{
    while (a->next == a->count) {
        a->next = a->count = 0;
        if (a->over)
            return false;
        if (next_event(a))
            continue;
        a->over = true;
        for (unsigned core = 0; core < a->cores; core++)
            add(a, RTL_REGISTERS, core);
    }
    *access = a->steps[a->next++];
    return true;
}

unsigned rtl_accesses_cores(const struct rtl_accesses *a)
{
    return a->cores;
}

bool rtl_accesses_timed(const struct rtl_accesses *a)
{
    return a->timed;
}

uint64_t rtl_accesses_loads(const struct rtl_accesses *a)
{
    return a->accesses;
}

void rtl_accesses_close(struct rtl_accesses *a)
{
    vs_reader_close(a->reader);
    vs_prior_close(a->prior);
    vs_code_pages_fini(&a->code_pages);
    vs_writers_fini(&a->writers);
    vs_seen_fini(&a->seen);
    free(a->steps);
    free(a);
}
