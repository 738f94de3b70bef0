/* SPDX-License-Identifier: MIT */
/* A stream made by wirebuild.h, through an assembler, into events that are looked at one by one. */
#ifndef ASSEMBLING_H
#define ASSEMBLING_H

#include <stdio.h>

#include "base/array.h"
#include "capture/assemble.h"
#include "unittest.h"
#include "wirebuild.h"

/* ---- who takes the events -------------------------------------------------------------------- */

struct taken {
    struct vs_event *events; /* wide values lie in `wide` */
    size_t count, capacity;
    struct vs_buf wide;
    uint64_t expected_first;
    struct vs_block blocks[64];
    size_t block_count;
    struct vs_image image;
    char facts[512];                   /* "key=value" in lines */
    unsigned images, parcels, fail_at; /* parcel that is refused, from 1 up */
    int put_error, block_error, image_error, meta_error;
    struct vs_recipe recipes[64]; /* if records are taken */
    unsigned recipe_count, recipe_most;
    size_t records;
};

static inline int put(void *context, const struct vs_batch *b)
{
    struct taken *t = context;
    const char *why = NULL;

    if (++t->parcels == t->fail_at)
        return t->put_error;
    CHECK_EQ(b->first, t->expected_first);
    t->expected_first += b->count;
    CHECK_EQ(
        vs_array_room((void **)&t->events, &t->capacity, t->count, b->count, sizeof(*t->events)),
        0);
    for (size_t i = 0; i < b->count; i++) {
        struct vs_event e = b->events[i];

        if (vs_event_check(&e, b->wide_size, &why) < 0)
            unittest_fail(__FILE__, __LINE__, "event %zu: %s", t->count, why);
        if (vs_event_is_wide(&e)) {
            e.value = t->wide.len;
            CHECK_EQ(vs_buf_put(&t->wide, b->wide + b->events[i].value, e.size), 0);
        }
        t->events[t->count++] = e;
    }
    return 0;
}

static inline int64_t block(void *context, const struct vs_block *b)
{
    struct taken *t = context;

    CHECK(b->size > 0 && b->insns > 0 && b->insns <= b->size);
    if (t->block_error)
        return t->block_error;
    t->blocks[t->block_count % 64] = *b;
    return (int64_t)t->block_count++;
}

static inline int meta(void *context, const char *key, const char *value)
{
    struct taken *t = context;
    size_t n = strlen(t->facts);

    snprintf(t->facts + n, sizeof(t->facts) - n, "%s=%s\n", key, value);
    return t->meta_error;
}

static inline int64_t image(void *context, const struct vs_image *i)
{
    struct taken *t = context;

    if (t->image_error)
        return t->image_error;
    t->image = *i;
    return t->images++;
}

static inline int64_t recipe(void *context, const struct vs_recipe *r)
{
    struct taken *t = context;
    struct vs_recipe_step *steps = malloc((r->count + 1) * sizeof(*steps));

    CHECK(steps && t->recipe_count < 64 && r->length >= 8);
    if (t->recipe_count == t->recipe_most)
        return free(steps), -VSE_LIMIT;
    memcpy(steps, r->steps, r->count * sizeof(*steps));
    t->recipes[t->recipe_count] = (struct vs_recipe){steps, r->count, r->length};
    return t->recipe_count++;
}

/* Takes records as the events that they stand for. */
static inline int records(void *context, const struct vs_records *r)
{
    struct taken *t = context;
    size_t at = 0;
    int e = 0;

    for (size_t i = 0; i < r->count && !e; i++) {
        const struct vs_recipe *k = &t->recipes[r->recipes[i]];
        struct vs_event events[64];

        CHECK(r->recipes[i] < t->recipe_count && k->count <= 64);
        for (uint32_t n = 0; n < k->count; n++)
            events[n] = vs_recipe_event(&k->steps[n], r->bytes + at, at, r->thread);
        e = put(t, &(struct vs_batch){.events = events,
                                      .wide = r->bytes,
                                      .wide_size = r->size,
                                      .count = k->count,
                                      .first = t->expected_first});
        at += k->length;
    }
    CHECK(e || at == r->size);
    t->records += r->count;
    return e;
}

/* ---- a stream through an assembler ----------------------------------------------------------- */

struct fixture {
    struct wb w;
    struct taken got;
    struct vs_consumer consumer;
    struct vs_relay *relay;
    struct vs_images images;
    struct vs_assembler *a;
    struct vs_diag diag;
    bool theirs;
    size_t next; /* event to look at */
};

static inline void open_options(struct fixture *f, struct vs_assembler_options o)
{
    *f = (struct fixture){0};
    f->consumer = (struct vs_consumer){
        .context = &f->got, .meta = meta, .put = put, .block = block, .image = image};
    CHECK_EQ(vs_relay_open(&f->relay, &f->consumer, VS_PARCEL_EVENTS, false), 0);
    f->images.relay = o.relay = f->relay;
    o.images = &f->images;
    CHECK_EQ(vs_assembler_open(&f->a, &o), 0);
}

/* The same, for a consumer that takes so many recipes, and records. */
static inline void open_records(struct fixture *f, unsigned recipes)
{
    struct vs_assembler_options o = {.images = &f->images};

    *f = (struct fixture){.got.recipe_most = recipes};
    f->consumer = (struct vs_consumer){.context = &f->got,
                                       .meta = meta,
                                       .put = put,
                                       .block = block,
                                       .image = image,
                                       .recipe = recipe,
                                       .records = records};
    CHECK_EQ(vs_relay_open_here(&f->relay, &f->consumer, VS_PARCEL_EVENTS), 0);
    f->images.relay = o.relay = f->relay;
    CHECK_EQ(vs_assembler_open(&f->a, &o), 0);
}

static inline void open_with(struct fixture *f, const uint64_t *windows, size_t count)
{
    open_options(f, (struct vs_assembler_options){.windows = windows, .window_count = count});
}

/* A program with one thread, 1, that runs. */
static inline void setup_with(struct fixture *f, const uint64_t *windows, size_t count)
{
    open_with(f, windows, count);
    wb_hello(&f->w);
    wb_start(&f->w, 1, 77, 0x1000);
    wb_run(&f->w, 1);
    f->next = 1; /* behind the thread's start */
}

static inline void setup(struct fixture *f)
{
    setup_with(f, NULL, 0);
}

static inline int feed(struct fixture *f)
{
    uint32_t blocks = f->w.blocks;
    int e;

    wb_end(&f->w);
    e = vs_assembler_take(f->a, f->w.out.data, f->w.out.len, &f->diag, &f->theirs);
    wb_fini(&f->w);
    f->w.blocks = blocks;
    return e;
}

static inline void finish(struct fixture *f)
{
    CHECK_EQ(feed(f), 0);
    CHECK_EQ(vs_assembler_finish(f->a, &f->diag, &f->theirs), 0);
}

static inline void teardown(struct fixture *f)
{
    vs_relay_close(f->relay);
    vs_assembler_close(f->a);
    vs_images_fini(&f->images);
    wb_fini(&f->w);
    for (unsigned i = 0; i < f->got.recipe_count; i++)
        free((void *)(uintptr_t)f->got.recipes[i].steps);
    free(f->got.events);
    vs_buf_fini(&f->got.wide);
}

static inline const struct vs_event *next_event(struct fixture *f)
{
    CHECK(f->next < f->got.count);
    return &f->got.events[f->next++];
}

static inline const uint8_t *bytes_of(const struct fixture *f, const struct vs_event *e)
{
    return e->size > 8 ? f->got.wide.data + e->value : (const uint8_t *)&e->value;
}

/* The next event is this one. */
static inline void expect_at(struct fixture *f, struct vs_event want, int line)
{
    const struct vs_event *e = next_event(f);

    if (memcmp(e, &want, sizeof(want)) != 0)
        unittest_fail(__FILE__, line,
                      "event %zu: %s pc %llx addr %llx value %llx thread %u size %u icount %u "
                      "flags %u, not %s pc %llx addr %llx value %llx thread %u size %u icount %u "
                      "flags %u",
                      f->next - 1, vs_kind_name(e->kind), (unsigned long long)e->pc,
                      (unsigned long long)e->addr, (unsigned long long)e->value, e->thread, e->size,
                      e->icount, e->flags, vs_kind_name(want.kind), (unsigned long long)want.pc,
                      (unsigned long long)want.addr, (unsigned long long)want.value, want.thread,
                      want.size, want.icount, want.flags);
}

#define EXPECT(f, ...) expect_at(f, (struct vs_event){__VA_ARGS__}, __LINE__)

/* The next event is of that kind; its value, if wide, is not looked at. */
static inline const struct vs_event *expect_kind_at(struct fixture *f, unsigned kind,
                                                    unsigned icount, int line)
{
    const struct vs_event *e = next_event(f);

    if (e->kind != kind || e->icount != icount)
        unittest_fail(__FILE__, line, "event %zu is %s +%u, not %s +%u", f->next - 1,
                      vs_kind_name(e->kind), e->icount, vs_kind_name(kind), icount);
    return e;
}

#define EXPECT_KIND(f, kind, icount) expect_kind_at(f, kind, icount, __LINE__)

static inline void expect_end(struct fixture *f)
{
    EXPECT(f, .kind = VS_THREAD_EXIT);
    CHECK_EQ(f->next, f->got.count);
}

/* The value of a register in an event's payload, -1 if it is not there. */
static inline int64_t reg_of(const struct fixture *f, const struct vs_event *e, size_t skip,
                             unsigned number)
{
    const uint8_t *p = bytes_of(f, e) + skip, *bytes;
    size_t size = e->size - skip;
    unsigned n, regsize;
    uint64_t v = 0;

    while (vs_regs_next(&p, &size, &n, &regsize, &bytes) == 1)
        if (n == number) {
            memcpy(&v, bytes, regsize < 8 ? regsize : 8);
            return (int64_t)v;
        }
    return -1;
}

static inline unsigned reg_count(const struct fixture *f, const struct vs_event *e)
{
    const uint8_t *p = bytes_of(f, e), *bytes;
    size_t size = e->size;
    unsigned n, regsize, count = 0;

    while (vs_regs_next(&p, &size, &n, &regsize, &bytes) == 1)
        count++;
    return count;
}

static inline uint64_t icounts(const struct fixture *f)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < f->got.count; i++)
        sum += f->got.events[i].icount;
    return sum;
}

/* ---- blocks to run --------------------------------------------------------------------------- */

/* n times nop, and a jump to `to`. */
static inline void make_nops(struct wb_block *x, uint64_t addr, unsigned n, uint64_t to)
{
    char hex[16];

    wb_block_init(x, addr);
    for (unsigned i = 0; i < n; i++)
        wb_insn(x, "90");
    snprintf(hex, sizeof(hex), "eb %02x", (unsigned)(to - (addr + n + 2)) & 0xff);
    wb_insn(x, hex);
    wb_end_to(x, WIRE_BORING, to);
}

/* n times nop, left for what follows. */
static inline void make_straight(struct wb_block *x, uint64_t addr, unsigned n)
{
    wb_block_init(x, addr);
    for (unsigned i = 0; i < n; i++)
        wb_insn(x, "90");
    wb_end_to(x, WIRE_BORING, addr + n);
}

/* nop, and a system call. */
static inline void make_call(struct wb_block *x, uint64_t addr)
{
    wb_block_init(x, addr);
    wb_insn(x, "90");
    wb_insn(x, "0f 05");
    wb_end_to(x, WIRE_TO_SYSCALL, addr + 3);
}

/* rep movsb, after `before` nops: exit 0 when there is nothing left, 1 goes on. */
static inline void make_rep(struct wb_block *x, uint64_t addr, unsigned before)
{
    wb_block_init(x, addr);
    for (unsigned i = 0; i < before; i++)
        wb_insn(x, "90");
    wb_insn(x, "f3 a4");
    wb_exit_to(x, WIRE_BORING, x->pc + 2);
    wb_op(x, WIRE_LOAD, 0, 1);
    wb_op(x, WIRE_STORE, WIRE_VALUE_OF, 1);
    x->ops[1].value = 0;
    wb_end_to(x, WIRE_BORING, x->pc);
}

static inline void run_rep(struct wb *w, const struct wb_block *x, unsigned i)
{
    wb_exec(w, x);
    wb_addr(w, x, 0, 0x5000 + i);
    wb_value(w, x, 0, 0xa0 + i);
    wb_addr(w, x, 1, 0x6000 + i);
    wb_leave(w, 1);
}

#endif
