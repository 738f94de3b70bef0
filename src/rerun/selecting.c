/* SPDX-License-Identifier: MIT */
#include "rerun/selecting.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/likely.h"
#include "rerun/rerun_state.h"

static unsigned thread_number(const struct vs_rerun *r, const struct vs_rerun_thread *t)
{
    return (unsigned)(t - r->threads);
}

/* ---- ranges ---------------------------------------------------------------------------------- */

static const struct vs_code_range *ranges_of(const struct vs_selecting *s, size_t *count)
{
    *count = s->ranges.len / sizeof(struct vs_code_range);
    return (const struct vs_code_range *)(const void *)s->ranges.data;
}

static bool is_wanted(const struct vs_selecting *s, uint64_t pc)
{
    size_t count;
    const struct vs_code_range *range = ranges_of(s, &count);
    bool wanted = !s->what->only_ranges;
    for (size_t i = 0; i < count && !wanted; i++)
        wanted = range[i].kind == VS_PLACE_WANTED && pc >= range[i].start && pc < range[i].end;
    return wanted;
}

/* The kind of place that switches at pc, or 0. */
static unsigned switch_at(const struct vs_selecting *s, uint64_t pc)
{
    size_t count;
    const struct vs_code_range *range = ranges_of(s, &count);
    for (size_t i = 0; i < count; i++)
        if (range[i].kind != VS_PLACE_WANTED && range[i].start == pc)
            return range[i].kind;
    return 0;
}

static bool stops_made(const void *watcher, uint64_t pc)
{
    return !is_wanted(watcher, pc) || switch_at(watcher, pc);
}

static bool stops_waiting(const void *watcher, uint64_t pc)
{
    return is_wanted(watcher, pc) || switch_at(watcher, pc);
}

static bool stops_passed(const void *watcher, uint64_t pc)
{
    return switch_at(watcher, pc);
}

/* Drops ranges in memory that is replaced. Returns whether there were any. */
static bool drop_ranges(struct vs_selecting *s, uint64_t start, uint64_t length)
{
    struct vs_code_range *range = (struct vs_code_range *)(void *)s->ranges.data;
    size_t count = s->ranges.len / sizeof(*range), kept = 0;
    for (size_t i = 0; i < count; i++)
        if (range[i].end == range[i].start || range[i].start < start ||
            range[i].end > start + length)
            range[kept++] = range[i];
    s->ranges.len = kept * sizeof(*range);
    return kept != count;
}

/* ---- opening and closing --------------------------------------------------------------------- */

static bool is_single(const struct vs_selecting *s)
{
    return s->what->window_count == 1;
}

/* Whether a window is open that no instruction has to be executed for. */
static bool begins_open(const struct vs_selection *what)
{
    return !what->window_count || !what->windows[0].start;
}

static void forget(struct vs_selecting *s, unsigned threads)
{
    memset(s->threads, 0, threads * sizeof(*s->threads));
    s->begun = 0;
    s->done = s->has_image = false;
    s->on = !s->what->starts_off;
    s->open = begins_open(s->what);
    s->count = s->unsaid = 0;
    s->window = s->told = 0;
    s->passed = false;
    s->left = is_single(s) && s->what->windows[0].length ? s->what->windows[0].length : UINT64_MAX;
    s->ranges.len = 0;
    s->moved = true;
}

int vs_selecting_open(struct vs_selecting **out, const struct vs_rerun *r,
                      const struct vs_selection *what)
{
    struct vs_selecting *s = calloc(1, sizeof(*s));
    *out = s;
    if (!s)
        return -VSE_NOMEM;
    s->what = what;
    s->threads = calloc(r->thread_count + 1u, sizeof(*s->threads));
    s->code[VS_SELECT_MADE] = r->code;
    s->code[VS_SELECT_WAIT] = what->only_ranges ? r->ops->code_new() : NULL;
    s->code[VS_SELECT_PASSED] = r->ops->code_new();
    if (!s->threads || !s->code[VS_SELECT_PASSED] ||
        (what->only_ranges && !s->code[VS_SELECT_WAIT])) {
        vs_selecting_close(s);
        *out = NULL;
        return -VSE_NOMEM;
    }
    if (what->find) {
        bool (*const stops[])(const void *, uint64_t) = {stops_made, stops_waiting, stops_passed};
        for (unsigned i = 0; i < VS_SELECT_WAYS; i++)
            if (s->code[i]) {
                s->code[i]->stops = stops[i];
                s->code[i]->watcher = s;
            }
    }
    forget(s, r->thread_count);
    return 0;
}

void vs_selecting_close(struct vs_selecting *s)
{
    if (!s)
        return;
    vs_cpu_code_free(s->code[VS_SELECT_WAIT]);
    vs_cpu_code_free(s->code[VS_SELECT_PASSED]);
    vs_buf_fini(&s->ranges);
    free(s->threads);
    free(s);
}

void vs_selecting_reset(struct vs_rerun *r)
{
    forget(r->selecting, r->thread_count);
}

void vs_selecting_code_changed(struct vs_selecting *s)
{
    s->version++;
}

/* ---- gaps ------------------------------------------------------------------------------------ */

/* Instructions that no event accounts for. */
static uint64_t since(const struct vs_rerun_thread *t)
{
    return t->cpu ? t->cpu->retired - t->last : 0;
}

/* Gives events to all instructions that have none. */
static void put_counts(struct vs_rerun *r)
{
    for (unsigned i = 0; i < r->thread_count; i++) {
        struct vs_rerun_thread *t = &r->threads[i];
        const struct vs_event e = {.kind = VS_COUNT, .thread = (uint16_t)i};
        if (since(t))
            vs_rerun_append(r, &e, NULL, t->cpu->retired);
    }
}

static size_t put_registers(const struct vs_rerun *r, const struct vs_cpu *cpu, uint8_t *payload)
{
    static const uint8_t zero[VS_REGISTER_BYTES];
    size_t used = 0;
    for (unsigned i = 0; i < r->isa->gap_count; i++) {
        uint8_t bytes[VS_REGISTER_BYTES];
        int n = cpu->ops->get(cpu, r->isa->gap[i], bytes);
        if (n <= 0 || (i >= r->isa->gap_always && !memcmp(bytes, zero, (size_t)n)))
            continue;
        int64_t now = vs_regs_put(payload, VS_GAP_MAX, used, r->isa->gap[i], bytes, (unsigned)n);
        used = now < 0 ? used : (size_t)now;
    }
    return used;
}

/* The thread's gap ends: what comes next is selected, or it ends. */
static void end_gap(struct vs_rerun *r, struct vs_rerun_thread *t)
{
    struct vs_selecting *s = r->selecting;
    struct vs_select_thread *own = &s->threads[thread_number(r, t)];
    uint8_t payload[VS_GAP_MAX];
    struct vs_event e = {.kind = VS_GAP,
                         .thread = (uint16_t)thread_number(r, t),
                         .pc = t->cpu->pc,
                         .addr = own->skipped};
    if (s->told != s->window)
        put_counts(r);
    s->told = s->window;
    e.size = (uint16_t)(r->counting ? 0 : put_registers(r, t->cpu, payload));
    vs_rerun_append(r, &e, payload, t->cpu->retired);
    own->skipped = 0;
    own->off = false;
}

/* ---- switching ------------------------------------------------------------------------------- */

static bool is_active(const struct vs_selecting *s)
{
    return s->on && s->open && !s->done;
}

/* Something is selected again, after nothing was. A thread that did not run in the meantime has
 * outdated knowledge of memory, too. */
static void activate(struct vs_rerun *r)
{
    for (unsigned i = 0; i < r->thread_count; i++)
        r->selecting->threads[i].off = true;
}

static void finish(struct vs_rerun *r)
{
    put_counts(r);
    r->selecting->done = true;
}

/* Opens and closes windows where that is due. */
static void turn_windows(struct vs_rerun *r)
{
    struct vs_selecting *s = r->selecting;
    const struct vs_window *w = s->what->windows;
    while (!s->done && s->what->window_count) {
        const struct vs_window *now = &w[s->window];
        if (!s->open && s->count >= now->start) {
            s->open = true;
            activate(r);
        } else if (s->open && is_single(s)) {
            if (!s->left)
                finish(r);
            return;
        } else if (s->open && s->count - now->start >= now->length) {
            s->open = s->passed = false;
            if (++s->window == s->what->window_count)
                finish(r);
        } else {
            return;
        }
    }
}

static void turn_places(struct vs_rerun *r, uint64_t pc)
{
    struct vs_selecting *s = r->selecting;
    unsigned kind = s->done ? 0 : switch_at(s, pc);
    if (kind == VS_PLACE_FROM && !s->on) {
        s->on = true;
        activate(r);
    } else if (kind == VS_PLACE_TO) {
        s->on = false;
    }
}

/* The thread is about to execute an instruction. */
static void settle(struct vs_rerun *r, struct vs_rerun_thread *t)
{
    struct vs_selecting *s = r->selecting;
    struct vs_select_thread *own = &s->threads[thread_number(r, t)];
    turn_places(r, t->cpu->pc);
    turn_windows(r);
    bool wanted = is_active(s) && is_wanted(s, t->cpu->pc);
    if (wanted && own->off)
        end_gap(r, t);
    own->off = !wanted;
}

/* Instructions after which a window may have to be opened or closed. */
static uint64_t to_edge(const struct vs_selecting *s, enum vs_select_way way)
{
    const struct vs_window *w = s->what->windows;
    if (!s->what->window_count || s->done)
        return UINT64_MAX;
    if (!s->open)
        return w[s->window].start - s->count;
    if (is_single(s))
        return way == VS_SELECT_MADE ? s->left : UINT64_MAX;
    return w[s->window].start + w[s->window].length - s->count;
}

/* ---- running --------------------------------------------------------------------------------- */

static enum vs_select_way way_of(const struct vs_selecting *s, const struct vs_select_thread *own)
{
    if (!own->off)
        return VS_SELECT_MADE;
    return is_active(s) && s->what->only_ranges ? VS_SELECT_WAIT : VS_SELECT_PASSED;
}

/* Makes translations anew, which stop elsewhere. Returns 0; -VSE_NOMEM. */
static int renew(struct vs_rerun *r)
{
    struct vs_selecting *s = r->selecting;
    for (unsigned i = 0; i < VS_SELECT_WAYS && s->moved; i++) {
        struct vs_cpu_code *old = s->code[i], *new = old ? r->ops->code_new() : NULL;
        if (old && !new)
            return -VSE_NOMEM;
        if (!old)
            continue;
        new->branched = old->branched;
        new->describe = old->describe;
        new->stops = old->stops;
        new->watcher = old->watcher;
        s->code[i] = new;
        vs_cpu_code_free(old);
    }
    r->code = s->code[VS_SELECT_MADE];
    s->moved = false;
    return 0;
}

static void use_way(struct vs_rerun *r, struct vs_cpu *cpu, enum vs_select_way way)
{
    struct vs_selecting *s = r->selecting;
    if (s->versions[way] != s->version)
        vs_cpu_flush_all(s->code[way]);
    s->versions[way] = s->version;
    cpu->code = s->code[way];
    vs_rerun_use(r, way == VS_SELECT_MADE);
}

int vs_selecting_run(struct vs_rerun *r, struct vs_rerun_thread *t, uint64_t most)
{
    struct vs_selecting *s = r->selecting;
    struct vs_select_thread *own = &s->threads[thread_number(r, t)];
    struct vs_cpu *cpu = t->cpu;
    /* An instruction that repeats itself is on one side, whole. */
    if (!cpu->iterations)
        settle(r, t);
    enum vs_select_way way = way_of(s, own);
    uint64_t edge = to_edge(s, way), before = cpu->retired;
    if (way != VS_SELECT_MADE)
        cpu->pause_after = 0;
    if (most > edge)
        most = edge;
    if (renew(r))
        return -VSE_NOMEM;
    use_way(r, cpu, way);
    cpu->passing = switch_at(s, cpu->pc) ? cpu->pc : VS_PASSING_NONE;
    int stop = vs_cpu_run(cpu, most);
    uint64_t done = cpu->retired - before;
    s->count += done;
    if (way == VS_SELECT_MADE) {
        s->left -= s->left == UINT64_MAX ? 0 : done;
    } else {
        t->last += done;
        own->skipped += done;
        own->left_out += done;
    }
    return stop == VS_STOP_BREAK ? VS_STOP_LIMIT : stop;
}

/* ---- inputs ---------------------------------------------------------------------------------- */

/* Whether the thread's next instruction is a system call. If something happens to it there, it is
 * within the call. */
static bool is_in_call(struct vs_rerun *r, const struct vs_cpu *cpu)
{
    uint8_t bytes[VS_ISA_LENGTH_MAX];
    struct vs_insn insn;
    return vs_whole_get(&r->memory, cpu->pc, bytes, sizeof(bytes)) == 0 &&
           r->isa->decode(bytes, sizeof(bytes), cpu->pc, &insn) == 0 &&
           insn.kind == VS_INSN_SYSCALL;
}

/* Whether the exception is what the instruction at its pc did. */
static bool is_own(const struct vs_event *e, const uint8_t *payload)
{
    const uint8_t *bytes;
    size_t size = e->size;
    unsigned number, width;
    uint64_t cause = 0;
    while (vs_regs_next(&payload, &size, &number, &width, &bytes) > 0)
        if (number == VS_REG_CAUSE && width == sizeof(cause))
            memcpy(&cause, bytes, sizeof(cause));
    return cause == SIGSEGV || cause == SIGBUS || cause == SIGFPE || cause == SIGILL;
}

/* A thread that ends in a gap has an event that says how long it was. It ends within a call, which
 * is not among the instructions that it retired. */
static int leave(struct vs_rerun *r, struct vs_rerun_thread *t)
{
    struct vs_select_thread *own = &r->selecting->threads[thread_number(r, t)];
    int stop = 0;
    if (is_in_call(r, t->cpu)) {
        settle(r, t);
        stop = own->off ? vs_selecting_run(r, t, 1) : 0;
        own->unsaid += t->cpu->retired - t->goal;
        r->selecting->unsaid += t->cpu->retired - t->goal;
        t->goal = t->cpu->retired;
    }
    if (own->off && own->skipped && !r->selecting->done)
        end_gap(r, t);
    return stop < 0 ? stop : 0;
}

int vs_selecting_before(struct vs_rerun *r, struct vs_rerun_thread *t, const struct vs_event *e,
                        const uint8_t *payload)
{
    if (!t->cpu || t->cpu->iterations)
        return 0;
    if (((e->kind == VS_MAP || e->kind == VS_EXTERNAL) && is_in_call(r, t->cpu)) ||
        (e->kind == VS_EXCEPTION && is_own(e, payload)))
        settle(r, t);
    return e->kind == VS_THREAD_EXIT && !r->selecting->done ? leave(r, t) : 0;
}

bool vs_selecting_keeps(const struct vs_selecting *s, const struct vs_event *e)
{
    switch (e->kind) {
    case VS_THREAD_EXIT:
        return !s->done || e->thread < s->begun;
    case VS_THREAD_START:
    case VS_MAP:
    case VS_CODE:
        return !s->done;
    case VS_TURN:
    case VS_CONTENT:
        return false;
    default:
        return is_active(s) && !s->threads[e->thread].off;
    }
}

/* Finds places in the image that was mapped, and keeps those that are not known. */
static int find_ranges(struct vs_rerun *r, const struct vs_event *map)
{
    struct vs_selecting *s = r->selecting;
    struct vs_buf found = {0};
    struct vs_image image;
    if (map->flags & VS_MAP_GONE || !(map->flags & VS_MAP_EXEC) || map->pc == VS_NO_IMAGE ||
        vs_reader_image(r->inputs, map->pc, &image))
        return 0;
    int err = s->what->find(s->what->context, &image, !s->has_image, &found);
    const struct vs_code_range *range = (const struct vs_code_range *)(const void *)found.data;
    s->has_image = true;
    for (size_t i = 0; i < found.len / sizeof(*range) && !err; i++) {
        size_t count, k = 0;
        const struct vs_code_range *known = ranges_of(s, &count);
        while (k < count && memcmp(&known[k], &range[i], sizeof(*range)))
            k++;
        if (k == count)
            err = vs_buf_put(&s->ranges, &range[i], sizeof(*range));
        s->moved |= k == count;
    }
    vs_buf_fini(&found);
    return err;
}

static int note_map(struct vs_rerun *r, const struct vs_event *e)
{
    struct vs_selecting *s = r->selecting;
    if (e->flags & VS_MAP_GONE && !e->addr && e->value >= r->isa->user_end) {
        /* The next program begins; windows go on. */
        s->on = !s->what->starts_off;
        s->has_image = false;
        s->ranges.len = 0;
        s->moved = true;
        return 0;
    }
    s->moved |= drop_ranges(s, e->addr, e->value);
    return find_ranges(r, e);
}

int vs_selecting_after(struct vs_rerun *r, const struct vs_event *e)
{
    struct vs_selecting *s = r->selecting;
    if (s->done)
        return 0;
    if (e->kind == VS_THREAD_START) {
        s->threads[e->thread].off = !is_active(s);
        s->begun = e->thread + 1u;
    }
    if (e->kind == VS_THREAD_EXIT)
        s->passed = false;
    return e->kind == VS_MAP && s->what->find ? note_map(r, e) : 0;
}
