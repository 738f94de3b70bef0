/* SPDX-License-Identifier: MIT */
/* Hostile streams of the Valgrind tool. The first byte of an input is options, the rest a stream:
 *
 *   bit 0 clear: buffers, as they are: { 16-bit length, bytes }
 *   bit 0 set: items, of which buffers with right sizes and numbers are built, so that what lies
 *     behind the first checks is reached: { byte what, byte which, 16-bit length, bytes }. what:
 *       below BLOCKS  WIRE_FIRST + what; which is the thread, or SPLIT to begin a new buffer first
 *       others        block what - BLOCKS ran and was left by exit `which` - 1, or by a fault
 *   bits 1 and 2: one of several lists of windows
 *   bit 5: whoever takes the events takes records, too
 *
 * `assemble --seed DIR` writes inputs of both forms. */
#include <stdio.h>
#include <unistd.h>

#include "base/bytes.h"
#include "capture/assemble.h"
#include "unit/wirebuild.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ITEMS = 1, RECORDS = 0x20, RECIPES = 1000 };
enum { BLOCKS = 0x40, BLOCK_COUNT = 256 - BLOCKS, FAULT = 0x80, SPLIT = 0xff };

/* ---- who takes the events ---- */

struct sink {
    uint64_t instructions, events, sum;
    unsigned threads;
    int64_t blocks, images;
    struct vs_recipe recipes[RECIPES];
    unsigned recipe_count;
};

static int put(void *context, const struct vs_batch *b)
{
    struct sink *s = context;

    wb_must(b->first == s->events);
    s->events += b->count;
    for (size_t i = 0; i < b->count; i++) {
        const struct vs_event *e = &b->events[i];

        wb_must(vs_event_check(e, b->wide_size, NULL) == 0);
        s->threads += e->thread == s->threads;
        wb_must(e->thread < s->threads);
        wb_must(e->kind != VS_CODE || e->value < (uint64_t)s->blocks);
        wb_must(e->kind != VS_MAP || e->pc == VS_NO_IMAGE || e->pc < (uint64_t)s->images);
        s->instructions += e->icount;
        for (unsigned n = 0; vs_event_is_wide(e) && n < e->size; n++)
            s->sum += b->wide[e->value + n];
    }
    return 0;
}

static int64_t block(void *context, const struct vs_block *b)
{
    struct sink *s = context;

    wb_must(b->size > 0 && b->size <= VS_SIZE_MAX && b->insns > 0 && b->insns <= b->size);
    for (uint32_t i = 0; i < b->size; i++)
        s->sum += b->bytes[i];
    return s->blocks++;
}

static int64_t image(void *context, const struct vs_image *i)
{
    struct sink *s = context;

    wb_must(i->path && i->build_id_size <= 64);
    return s->images++;
}

static int64_t recipe(void *context, const struct vs_recipe *r)
{
    struct sink *s = context;

    if (s->recipe_count == RECIPES)
        return -VSE_LIMIT;
    wb_must(r->count <= VS_PARCEL_EVENTS && r->length >= 8 && r->length % 8 == 0);
    s->recipes[s->recipe_count] = *r;
    s->recipes[s->recipe_count].steps = malloc((r->count + 1) * sizeof(*r->steps));
    wb_must(s->recipes[s->recipe_count].steps);
    memcpy((void *)(uintptr_t)s->recipes[s->recipe_count].steps, r->steps,
           r->count * sizeof(*r->steps));
    return s->recipe_count++;
}

static int records(void *context, const struct vs_records *r)
{
    static struct vs_event events[VS_PARCEL_EVENTS];
    struct sink *s = context;
    size_t at = 0;

    for (size_t i = 0; i < r->count; i++) {
        const struct vs_recipe *k = &s->recipes[r->recipes[i]];

        wb_must(r->recipes[i] < s->recipe_count && at + k->length <= r->size);
        for (uint32_t n = 0; n < k->count; n++)
            events[n] = vs_recipe_event(&k->steps[n], r->bytes + at, at, r->thread);
        put(s, &(struct vs_batch){.events = events,
                                  .wide = r->bytes,
                                  .wide_size = r->size,
                                  .count = k->count,
                                  .first = s->events});
        at += k->length;
    }
    wb_must(at == r->size);
    return 0;
}

/* Opened once: what a relay has is large. It never fails, so that nothing stays in it. The second
 * one takes records. */
static struct sink sink;
static const struct vs_consumer consumer = {
    .context = &sink, .put = put, .block = block, .image = image};
static const struct vs_consumer consumer_of_records = {.context = &sink,
                                                       .put = put,
                                                       .block = block,
                                                       .image = image,
                                                       .recipe = recipe,
                                                       .records = records};
static struct vs_relay *relays[2];

/* ---- what is done with a stream ---- */

struct run {
    struct vs_assembler *a;
    struct vs_images images;
};

static void open_run(struct run *r, unsigned options)
{
    static const uint64_t windows[4][3] = {{0, 0, 0}, {5, 0, 0}, {3, 7, 0}, {1, 2, 3}};
    static const size_t counts[4] = {0, 1, 3, 3};
    struct vs_relay *relay = relays[(options & RECORDS) != 0];
    struct vs_assembler_options o = {.relay = relay,
                                     .images = &r->images,
                                     .windows = windows[options >> 1 & 3],
                                     .window_count = counts[options >> 1 & 3],
                                     .inputs = options >> 3 & 1,
                                     .light = (options >> 3 & 3) == 3};

    wb_must(vs_relay_drain(relay) == 0);
    sink = (struct sink){0};
    r->images = (struct vs_images){.relay = relay};
    wb_must(vs_assembler_open(&r->a, &o) == 0);
}

/* In memory of just that size. */
static int take(struct run *r, const uint8_t *bytes, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1);
    struct vs_diag d = {0};
    bool theirs;
    int e;

    wb_must(copy);
    if (size)
        memcpy(copy, bytes, size);
    e = vs_assembler_take(r->a, copy, size, &d, &theirs);
    wb_must(!theirs);
    wb_must(e == 0 || ((e == -VSE_CORRUPT || e == -VSE_LIMIT) && d.error == e && d.text[0]));
    free(copy);
    return e;
}

static void close_run(struct run *r, int e)
{
    bool theirs;

    if (e == 0) {
        wb_must(vs_assembler_finish(r->a, NULL, &theirs) == 0 && !theirs);
        wb_must(sink.instructions == vs_assembler_stats(r->a).instructions);
        wb_must(sink.events == vs_assembler_stats(r->a).events);
    }
    vs_assembler_close(r->a);
    vs_images_fini(&r->images);
    for (unsigned i = 0; i < sink.recipe_count; i++)
        free((void *)(uintptr_t)sink.recipes[i].steps);
    sink.recipe_count = 0;
}

/* ---- inputs ---- */

static int take_buffers(struct run *r, const uint8_t *p, const uint8_t *end)
{
    int e = 0;

    while (e == 0 && end - p >= 2) {
        size_t n = vs_get16(p);

        p += 2;
        n = n < (size_t)(end - p) ? n : (size_t)(end - p);
        e = take(r, p, n);
        p += n;
    }
    return e;
}

struct items {
    struct wb w;
    uint32_t lengths[BLOCK_COUNT]; /* of the blocks' records */
};

static void put_block(struct items *t, unsigned number, unsigned which, const uint8_t *p, size_t n)
{
    static struct wb_block b; /* large, and only its head is used */

    b.head.number = number;
    b.head.length = t->lengths[number];
    if (b.head.length < sizeof(struct wire_slot) || b.head.length > WIRE_RECORD_MAX ||
        b.head.length % 8)
        b.head.length = sizeof(struct wire_slot);
    wb_exec(&t->w, &b);
    n = n < b.head.length - 8 ? n : b.head.length - 8;
    if (n)
        memcpy(t->w.out.data + t->w.at + 8, p, n);
    t->w.left = which & FAULT ? WIRE_LEFT_FAULT | (which & ~FAULT) : which;
}

static void put_record(struct items *t, unsigned kind, unsigned which, const uint8_t *p, size_t n)
{
    size_t at = wb_record(&t->w, WIRE_FIRST + kind, which, p, n);
    struct wire_block *b = (void *)(t->w.out.data + at);

    if (WIRE_FIRST + kind == WIRE_HELLO)
        t->w.blocks = 0;
    if (WIRE_FIRST + kind == WIRE_BLOCK && n >= sizeof(*b) && t->w.blocks < BLOCK_COUNT - 1) {
        b->number = ++t->w.blocks;
        t->lengths[b->number] = b->length;
    }
}

static int take_items(struct run *r, const uint8_t *p, const uint8_t *end)
{
    static struct items t;
    int e = 0;

    memset(&t, 0, sizeof(t));
    while (e == 0 && end - p >= 4) {
        unsigned what = p[0], which = p[1];
        size_t n = vs_get16(p + 2);

        p += 4;
        n = n < (size_t)(end - p) ? n : (size_t)(end - p);
        if (what >= BLOCKS) {
            put_block(&t, what - BLOCKS, which, p, n);
        } else if (which == SPLIT) {
            wb_end(&t.w);
            e = take(r, t.w.out.data, t.w.out.len);
            t.w.out.len = 0;
        } else {
            put_record(&t, what, which, p, n);
        }
        p += n;
    }
    if (e == 0) {
        wb_end(&t.w);
        e = take(r, t.w.out.data, t.w.out.len);
    }
    wb_fini(&t.w);
    return e;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct run r;
    int e;

    if (size == 0)
        return 0;
    open_run(&r, data[0]);
    e = (data[0] & ITEMS ? take_items : take_buffers)(&r, data + 1, data + size);
    close_run(&r, e);
    return 0;
}

/* ---- seeds ---- */

static struct wb_block b1, b2, b3;

static void seed_begin(struct wb *w)
{
    wb_hello(w);
    wb_map(w, 0x400000, 0x10000, WIRE_MAP_READ | WIRE_MAP_EXEC, "/usr/bin/true");
    wb_start(w, 1, 77, 0x1000);
    wb_run(w, 1);
}

static void seed_operands(struct wb *w)
{
    seed_begin(w);
    wb_block_init(&b1, 0x1000);
    wb_insn(&b1, "48 8b 03");
    wb_op(&b1, WIRE_LOAD, 0, 4);
    wb_op(&b1, WIRE_STORE, WIRE_ADDR_OF | WIRE_VALUE_OF, 4);
    wb_op(&b1, WIRE_LOAD, WIRE_ADDR_CONST, 32);
    wb_op(&b1, WIRE_STORE, WIRE_VALUE_OF | WIRE_ATOMIC, 32);
    b1.ops[3].value = 2;
    wb_op(&b1, WIRE_STORE, WIRE_VALUE_CONST, 2);
    wb_op(&b1, WIRE_NONDET, 0, 8);
    wb_insn(&b1, "74 10");
    wb_exit_to(&b1, WIRE_BORING, 0x1015);
    wb_end_to(&b1, WIRE_BORING, 0x1005);
    wb_block_init(&b2, 0x1005);
    wb_insn(&b2, "90");
    wb_op(&b2, WIRE_LOAD, WIRE_GUARDED, 8);
    wb_op(&b2, WIRE_STORE, WIRE_GUARDED, 16);
    wb_insn(&b2, "ff e0");
    wb_end_indirect(&b2);
    wb_define(w, &b1);
    wb_define(w, &b2);
    for (unsigned i = 0; i < 3; i++) {
        wb_exec(w, &b1);
        wb_addr(w, &b1, 0, 0x5000);
        wb_leave(w, i & 1);
        wb_exec(w, &b2);
        wb_guard(w, &b2, i & 1, true);
        wb_leave(w, 0);
    }
    wb_exit(w, 1, 0);
    wb_simple(w, WIRE_BYE, 1);
}

/* A block that runs so often that it gets a recipe, and one between its runs. */
static void seed_often(struct wb *w)
{
    seed_begin(w);
    wb_block_init(&b1, 0x1000);
    wb_insn(&b1, "48 8b 03");
    wb_op(&b1, WIRE_LOAD, 0, 4);
    wb_op(&b1, WIRE_STORE, WIRE_ADDR_OF | WIRE_VALUE_OF, 4);
    wb_op(&b1, WIRE_LOAD, WIRE_ADDR_CONST, 32);
    wb_insn(&b1, "ff e0");
    wb_end_indirect(&b1);
    wb_block_init(&b2, 0x1005);
    wb_insn(&b2, "90");
    wb_end_to(&b2, WIRE_BORING, 0x1006);
    wb_define(w, &b1);
    wb_define(w, &b2);
    for (unsigned i = 0; i < 24; i++) {
        wb_exec(w, i % 5 == 4 ? &b2 : &b1);
        wb_leave(w, 0);
    }
    wb_exit(w, 1, 0);
    wb_simple(w, WIRE_BYE, 1);
}

static void seed_kernel(struct wb *w)
{
    struct wire_regs at = wb_regs(0x1000), handler = wb_regs(0x3000);

    seed_begin(w);
    wb_block_init(&b1, 0x1000);
    wb_insn(&b1, "f3 a4");
    wb_exit_to(&b1, WIRE_BORING, 0x1002);
    wb_op(&b1, WIRE_LOAD, 0, 1);
    wb_op(&b1, WIRE_STORE, WIRE_VALUE_OF, 1);
    wb_end_to(&b1, WIRE_BORING, 0x1000);
    wb_block_init(&b2, 0x3000);
    wb_insn(&b2, "0f 05");
    wb_end_to(&b2, WIRE_TO_SYSCALL, 0x3002);
    wb_block_init(&b3, 0x1002);
    wb_insn(&b3, "90");
    wb_insn(&b3, "0f 0b");
    wb_end_to(&b3, WIRE_TO_FAULT, 0x1003);
    wb_define(w, &b1);
    wb_define(w, &b2);
    wb_define(w, &b3);
    wb_exec(w, &b1);
    wb_leave(w, 1);
    wb_exec(w, &b1);
    wb_leave(w, 1);
    wb_signal(w, WIRE_SIGNAL, 1, 14, &at);
    wb_resume(w, 1, &handler);
    wb_ran(w, &b2, 0);
    wb_signal(w, WIRE_RETURN, 1, 0, &handler);
    wb_resume(w, 1, &at);
    wb_ran(w, &b1, 0);
    wb_ran(w, &b2, 0);
    wb_external(w, 1, 0x5000, "hello, world", 12);
    wb_syscall(w, 1, 0, 12);
    wb_exec(w, &b3);
    wb_fault(w, 1);
    wb_signal(w, WIRE_SIGNAL, 1, 4, &at);
    wb_resume(w, 1, &handler);
    wb_ran(w, &b3, 0);
    wb_block_init(&b1, 0x1005);
    wb_insn(&b1, "48 c1 c7 33");
    wb_insn(&b1, "48 87 db");
    wb_end_to(&b1, WIRE_TO_REQUEST, 0x100c);
    wb_define(w, &b1);
    wb_ran(w, &b1, 0);
    wb_request(w, 1, 7);
}

static void seed_windows(struct wb *w)
{
    seed_begin(w);
    wb_start(w, 2, 78, 0x2000);
    wb_block_init(&b1, 0x1000);
    wb_insn(&b1, "90");
    wb_insn(&b1, "eb fd");
    wb_end_to(&b1, WIRE_BORING, 0x1000);
    wb_block_init(&b2, 0x1000);
    wb_insn(&b2, "90");
    wb_insn(&b2, "90");
    wb_end_to(&b2, WIRE_BORING, 0x1002);
    wb_define(w, &b1);
    for (unsigned i = 0; i < 3; i++) {
        wb_ran(w, &b1, 0);
        wb_run(w, 1 + (i & 1));
    }
    wb_define(w, &b2);
    wb_ran(w, &b2, 0);
    wb_gap(w, 2, 100, 1, 0x1000);
    wb_ran(w, &b2, 0);
    wb_ran(w, &b1, 0);
    wb_gap(w, 1, 100, 2, 0x1000);
    wb_ran(w, &b1, 0);
    wb_simple(w, WIRE_FORK, 1);
    wb_hello(w);
    wb_map(w, 0x5000, 0x1000, WIRE_MAP_GONE, "");
    wb_start(w, 1, 77, 0x1000);
    wb_run(w, 1);
    wb_define(w, &b2);
    wb_ran(w, &b2, 0);
}

static void put_item(FILE *out, unsigned what, unsigned which, const uint8_t *bytes, size_t size)
{
    uint8_t head[4] = {(uint8_t)what, (uint8_t)which};

    wb_must(size <= UINT16_MAX);
    vs_put16(head + 2, (uint16_t)size);
    fwrite(head, 1, sizeof(head), out);
    fwrite(bytes, 1, size, out);
}

/* Takes a buffer that is right apart into items. */
static void put_items(FILE *out, const struct wb *w)
{
    uint32_t lengths[BLOCK_COUNT] = {0}, blocks = 0;
    size_t pos = 0;

    for (;;) {
        const struct wire_slot *slot = (const void *)(w->out.data + pos), *next;
        const struct wire_head *head = (const void *)(slot + 1);

        if (slot->what == 0)
            return;
        if (slot->what >= WIRE_FIRST) {
            const struct wire_block *b = (const void *)(head + 1);

            blocks = slot->what == WIRE_HELLO ? 0 : blocks;
            if (slot->what == WIRE_BLOCK)
                lengths[++blocks] = b->length;
            put_item(out, slot->what - WIRE_FIRST, head->thread, (const uint8_t *)(head + 1),
                     head->size - sizeof(*head));
            pos += sizeof(*slot) + head->size;
            continue;
        }
        pos += lengths[slot->what];
        next = (const void *)(w->out.data + pos);
        put_item(out, BLOCKS + slot->what,
                 (next->left & WIRE_LEFT_FAULT ? FAULT : 0) | (next->left & 0x7f),
                 (const uint8_t *)head, lengths[slot->what] - sizeof(*slot));
    }
}

static void make_seed(const char *dir, const char *name, void (*make)(struct wb *),
                      unsigned options)
{
    struct wb w = {0};
    char path[4096];
    uint8_t head[3] = {(uint8_t)options};
    FILE *out;

    make(&w);
    wb_end(&w);
    wb_must(w.out.len <= UINT16_MAX);
    vs_put16(head + 1, (uint16_t)w.out.len);
    snprintf(path, sizeof(path), "%s/%s.buffers", dir, name);
    wb_must((out = fopen(path, "wb")) != NULL);
    fwrite(head, 1, sizeof(head), out);
    fwrite(w.out.data, 1, w.out.len, out);
    wb_must(fclose(out) == 0);
    snprintf(path, sizeof(path), "%s/%s.items", dir, name);
    wb_must((out = fopen(path, "wb")) != NULL);
    fputc((int)(options | ITEMS), out);
    put_items(out, &w);
    wb_must(fclose(out) == 0);
    wb_fini(&w);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    if (*argc == 3 && strcmp((*argv)[1], "--seed") == 0) {
        make_seed((*argv)[2], "operands", seed_operands, 0);
        make_seed((*argv)[2], "operands-window", seed_operands, 1 << 1);
        make_seed((*argv)[2], "often", seed_often, RECORDS);
        make_seed((*argv)[2], "operands-records", seed_operands, RECORDS);
        make_seed((*argv)[2], "kernel", seed_kernel, 0);
        make_seed((*argv)[2], "windows", seed_windows, 2 << 1);
        make_seed((*argv)[2], "no-windows", seed_windows, 0);
        _exit(0);
    }
    wb_must(vs_relay_open(&relays[0], &consumer, VS_PARCEL_EVENTS, false) == 0);
    wb_must(vs_relay_open_here(&relays[1], &consumer_of_records, VS_PARCEL_EVENTS) == 0);
    return 0;
}
