/* SPDX-License-Identifier: MIT */
/* Trace events in JSON: when each thread ran, its system calls and signals, and over time the bits
 * that trace modules send and the misses of a data cache. A microsecond stands for 1,000 cycles or,
 * in an untimed run, for 1,000 instructions of all threads. */
#include <stdio.h>
#include <stdlib.h>

#include "base/scratch.h"
#include "export/bits.h"
#include "model/cache.h"

enum {
    WINDOWS = 2000,
    GAP = 2000,      /* a thread that does nothing for so long does not run */
    PIECE = 1 << 20, /* bytes of a spool that are in memory at once */
    CACHE_SIZE = 32 << 10,
    CACHE_LINE = 64,
    CACHE_WAYS = 8,
};

/* A thread, and its data cache. */
struct track {
    bool begun;
    uint64_t from, last; /* when it began to run, and its last event */
    struct vs_cache cache;
    uint64_t line;   /* that was used last, in no need of another use; VS_CACHE_FREE: none */
    uint64_t misses; /* in this window */
};

/* Lines that are written after others that are not known yet. */
struct spool {
    struct vs_scratch bytes;
    bool open;
    size_t size;
};

struct perfetto {
    struct vs_bits bits;
    struct vs_clock clock;
    struct track *tracks; /* as many as the run has threads */
    unsigned count;
    uint64_t from, width;  /* the window that misses are counted in */
    bool some;             /* an event was written */
    struct spool spool;    /* of what happened */
    struct vs_sink behind; /* the sink that is not in use: at first that into the spool */
    struct vs_progress *progress;
};

static const char *const usual[] = {"mcfTR_e", "mlvCF_e", NULL};

/* ---- lines ----------------------------------------------------------------------------------- */

/* Begins an event: all but its arguments. `length` is its duration; UINT64_MAX: it has none. */
static int begin_event(struct vs_exporting *x, const char *phase, const char *name,
                       const char *category, uint64_t time, uint64_t length)
{
    struct perfetto *p = x->state;
    struct vs_sink *s = &x->sink;

    vs_sink_text(s, p->some ? ",\n{\"ph\":\"" : "\n{\"ph\":\"");
    p->some = true;
    vs_sink_printf(s, "%s\",\"pid\":1,\"cat\":\"%s\",\"name\":", phase, category);
    vs_sink_json(s, name);
    vs_sink_printf(s, ",\"ts\":%llu.%03u", (unsigned long long)(time / 1000),
                   (unsigned)(time % 1000));
    if (length != UINT64_MAX)
        vs_sink_printf(s, ",\"dur\":%llu.%03u", (unsigned long long)(length / 1000),
                       (unsigned)(length % 1000));
    return s->error;
}

static int put_name(struct vs_exporting *x, const char *what, int thread, const char *name)
{
    begin_event(x, "M", what, "", 0, UINT64_MAX);
    if (thread >= 0)
        vs_sink_printf(&x->sink, ",\"tid\":%d", thread);
    vs_sink_text(&x->sink, ",\"args\":{\"name\":");
    vs_sink_json(&x->sink, name);
    return vs_sink_text(&x->sink, "}}");
}

/* A stretch in which the thread ran, up to its last event. */
static int put_running(struct vs_exporting *x, unsigned thread)
{
    struct perfetto *p = x->state;
    const struct track *t = &p->tracks[thread];

    if (!t->begun || t->last <= t->from)
        return 0;
    begin_event(x, "X", "runs", "thread", t->from, t->last - t->from);
    return vs_sink_printf(&x->sink, ",\"tid\":%u}", thread);
}

/* Calls in which a thread waits for another one, or for something outside. */
static const char *category_of(const char *call)
{
    static const char *const waits[] = {
        "futex",  "nanosleep", "clock_nanosleep", "poll",           "ppoll",
        "select", "pselect6",  "epoll_wait",      "epoll_pwait",    "wait4",
        "waitid", "pause",     "rt_sigsuspend",   "rt_sigtimedwait"};

    for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++)
        if (!strcmp(waits[i], call))
            return "wait";
    return "syscall";
}

/* From the thread's event before, since when it is in the call is not known, to its return. */
static int put_call(struct vs_exporting *x, const struct vs_batch *b, const struct vs_event *e,
                    uint64_t from, uint64_t to)
{
    const char *name = vs_isa_call_name(x->isa, e->addr);
    char number[32];

    vs_text_dec((uint8_t *)memset(number, 0, sizeof(number)), e->addr);
    begin_event(x, "X", name ? name : number, category_of(name ? name : ""), from,
                to > from ? to - from : 0);
    vs_sink_printf(&x->sink, ",\"tid\":%u,\"args\":{\"number\":%llu", e->thread,
                   (unsigned long long)e->addr);
    if (e->size >= sizeof(struct vs_syscall_head)) {
        const uint8_t *head = vs_event_bytes(b, e);

        for (unsigned i = 0; i < 6; i++)
            vs_sink_printf(&x->sink, ",\"arg%u\":\"0x%llx\"", i,
                           (unsigned long long)vs_get64(head + (size_t)8 * i));
        vs_sink_printf(
            &x->sink, ",\"result\":\"0x%llx\"",
            (unsigned long long)vs_get64(head + offsetof(struct vs_syscall_head, result)));
    }
    return vs_sink_text(&x->sink, "}}");
}

static int put_instant(struct vs_exporting *x, const char *name, unsigned thread, uint64_t time)
{
    begin_event(x, "i", name, "signal", time, UINT64_MAX);
    return vs_sink_printf(&x->sink, ",\"s\":\"t\",\"tid\":%u}", thread);
}

static int put_signal(struct vs_exporting *x, const struct vs_batch *b, const struct vs_event *e,
                      uint64_t time)
{
    const uint8_t *p = vs_event_bytes(b, e), *bytes;
    unsigned number, size;
    size_t left = e->size;
    uint64_t cause = 0;
    char text[64];
    const char *name;

    while (vs_regs_next(&p, &left, &number, &size, &bytes) > 0)
        if (number == VS_REG_CAUSE && size == 8)
            cause = vs_get64(bytes);
    name = vs_signal_name(cause);
    vs_text_put(vs_text_put((uint8_t *)memset(text, 0, sizeof(text)), name ? "SIG" : "exception"),
                name ? name : "");
    return put_instant(x, text, e->thread, time);
}

/* ---- counters -------------------------------------------------------------------------------- */

static int put_counter(struct vs_exporting *x, const char *name, uint64_t time)
{
    begin_event(x, "C", name, "counter", time, UINT64_MAX);
    return vs_sink_text(&x->sink, ",\"args\":{");
}

static bool wants(const struct vs_exporting *x, unsigned thread)
{
    return x->options->thread < 0 || thread == (unsigned)x->options->thread;
}

static int put_bits(struct vs_exporting *x)
{
    struct perfetto *p = x->state;
    const struct vs_bandwidth *b = &p->bits.b;
    char name[128];

    for (size_t k = 0; k < b->count; k++) {
        const struct vs_windows *w = &b->rows[k].windows;
        uint64_t end = vs_windows_end(w, b->end);

        snprintf(name, sizeof(name), "%s, bits per %s", b->rows[k].spec.technique->name,
                 b->setup.timed ? "cycle" : "instruction");
        for (size_t i = 0; i < w->count && !x->sink.error; i++) {
            const char *comma = "";

            put_counter(x, name, i * w->width);
            for (unsigned c = 0; c < w->cores; c++) {
                if (!wants(x, c))
                    continue;
                vs_sink_printf(&x->sink, "%s\"thread %u\":%.6f", comma, c,
                               vs_windows_rate(w, i, (int)c, end));
                comma = ",";
            }
            vs_sink_text(&x->sink, "}}");
        }
    }
    return x->sink.error;
}

static int put_misses(struct vs_exporting *x)
{
    struct perfetto *p = x->state;
    const char *comma = "";

    put_counter(x, "misses of a data cache of 32 KiB", p->from);
    for (unsigned i = 0; i < p->count; i++) {
        if (!wants(x, i))
            continue;
        vs_sink_printf(&x->sink, "%s\"thread %u\":%llu", comma, i,
                       (unsigned long long)p->tracks[i].misses);
        p->tracks[i].misses = 0;
        comma = ",";
    }
    return vs_sink_text(&x->sink, "}}");
}

static void touch(struct track *t, uint64_t addr)
{
    uint64_t line = vs_cache_line(&t->cache, addr);

    if (line == t->line)
        return;
    t->line = line;
    if (vs_cache_hit(&t->cache, line) != VS_CACHE_NONE)
        return;
    t->misses++;
    vs_cache_place(&t->cache, vs_cache_victim(&t->cache, line), line);
}

/* ---- the spool ------------------------------------------------------------------------------- */

static int keep(void *context, const void *bytes, size_t size)
{
    struct spool *s = context;
    int e = vs_scratch_reach(&s->bytes, s->size + size);

    if (e)
        return e;
    memcpy(s->bytes.data + s->size, bytes, size);
    if ((s->size + size) / PIECE != s->size / PIECE)
        vs_scratch_rest(&s->bytes);
    s->size += size;
    return 0;
}

static void change_sinks(struct vs_exporting *x, struct perfetto *p)
{
    struct vs_sink sink = x->sink;

    x->sink = p->behind;
    p->behind = sink;
}

static int put_spool(struct vs_exporting *x, struct spool *s)
{
    int e = 0;

    for (size_t at = 0; at < s->size && !e; at += PIECE) {
        size_t n = s->size - at < PIECE ? s->size - at : PIECE;

        e = vs_sink_put(&x->sink, s->bytes.data + at, n);
        vs_scratch_rest(&s->bytes);
    }
    return e;
}

/* ---- the format ------------------------------------------------------------------------------ */

static int begin(struct vs_exporting *x)
{
    static const struct vs_cache_config config = {
        .size = CACHE_SIZE, .line = CACHE_LINE, .ways = CACHE_WAYS};
    const char *command = vs_reader_meta(x->reader, "command");
    struct perfetto *p = x->state;
    char name[32] = "";
    int e = vs_bits_open(&p->bits, x, usual, WINDOWS, NULL, NULL);

    if (!e)
        e = vs_scratch_open(&p->spool.bytes, P_tmpdir, x->diag);
    if (e)
        return e;
    p->spool.open = true;
    e = vs_sink_init(&p->behind, keep, &p->spool);
    p->width = p->bits.b.options.window;
    p->tracks = calloc(p->bits.b.setup.cores, sizeof(*p->tracks));
    if (e || !p->tracks)
        return -VSE_NOMEM;
    vs_sink_text(&x->sink, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
    put_name(x, "process_name", -1, command ? command : "a run");
    for (; p->count < p->bits.b.setup.cores && !e; p->count++) {
        e = vs_cache_init(&p->tracks[p->count].cache, &config, x->diag);
        p->tracks[p->count].line = VS_CACHE_FREE;
        snprintf(name, sizeof(name), "thread %u", p->count);
        if (wants(x, p->count))
            put_name(x, "thread_name", (int)p->count, name);
    }
    return e;
}

/* The thread does something: it runs, unless it did not for long. */
static int run_on(struct vs_exporting *x, struct track *t, const struct vs_event *e, uint64_t time)
{
    uint64_t busy = time > e->icount ? time - e->icount : 0;
    int err = 0;

    if (t->begun && busy > t->last && busy - t->last > GAP) {
        err = put_running(x, e->thread);
        t->from = busy;
    }
    if (!t->begun)
        t->from = busy;
    t->begun = true;
    return err;
}

static int take_event(struct vs_exporting *x, const struct vs_batch *b, const struct vs_event *e,
                      uint64_t time)
{
    struct perfetto *p = x->state;
    struct track *t = &p->tracks[e->thread];
    int err = 0;

    if (e->kind != VS_SYSCALL && e->kind != VS_MAP && e->kind != VS_EXTERNAL &&
        e->kind != VS_CONTENT)
        err = run_on(x, t, e, time);
    switch (e->kind) {
    case VS_LOAD:
    case VS_STORE:
        touch(t, e->addr);
        break;
    case VS_SYSCALL:
        err = put_running(x, e->thread);
        if (!err)
            err = put_call(x, b, e, t->begun ? t->last : time, time);
        t->from = time;
        t->begun = true;
        break;
    case VS_EXCEPTION:
        err = put_signal(x, b, e, time);
        break;
    case VS_EXCEPTION_RET:
        err = put_instant(x, "return from the handler", e->thread, time);
        break;
    case VS_THREAD_START:
        err = put_instant(x, "begins", e->thread, time);
        break;
    case VS_THREAD_EXIT:
        err = put_instant(x, "ends", e->thread, time);
        break;
    default:
        break;
    }
    t->last = time;
    return err;
}

static int take(void *context, const struct vs_batch *b)
{
    struct vs_exporting *x = context;
    struct perfetto *p = x->state;
    int e = 0;

    vs_progress_update(p->progress, b->first);

    for (size_t i = 0; i < b->count && !e; i++) {
        uint64_t time = vs_clock_take(&p->clock, b, i);

        if (unlikely(time - p->from >= p->width)) {
            e = put_misses(x);
            p->from = time - time % p->width;
        }
        if (!e && vs_export_wants(x, &b->events[i]))
            e = take_event(x, b, &b->events[i], time);
    }
    return e;
}

/* What happens is gathered while the modules encode, in the same pass, but comes after their bits.
 */
static int read_run(struct vs_exporting *x, struct vs_progress *progress)
{
    const struct vs_watcher watcher = {take, x};
    struct perfetto *p = x->state;
    int e;

    p->progress = progress;
    change_sinks(x, p);
    e = vs_bits_measure(&p->bits, x, &watcher);
    if (!e)
        e = vs_sink_flush(&x->sink);
    change_sinks(x, p);
    if (!e)
        e = put_bits(x);
    return e ? e : put_spool(x, &p->spool);
}

static int end(struct vs_exporting *x)
{
    struct perfetto *p = x->state;
    int e = put_misses(x);

    for (unsigned i = 0; i < p->count && !e; i++)
        if (wants(x, i))
            e = put_running(x, i);
    return e ? e : vs_sink_text(&x->sink, "\n]}\n");
}

static void finish(struct vs_exporting *x)
{
    struct perfetto *p = x->state;

    for (unsigned i = 0; i < p->count; i++)
        vs_cache_fini(&p->tracks[i].cache);
    free(p->tracks);
    vs_bits_fini(&p->bits);
    vs_sink_fini(&p->behind);
    if (p->spool.open)
        vs_scratch_close(&p->spool.bytes);
}

const struct vs_export_format vs_to_perfetto = {
    .name = "perfetto",
    .summary = "a timeline, for the viewer of Perfetto and for chrome://tracing",
    .modules = 8,
    .state = sizeof(struct perfetto),
    .begin = begin,
    .read = read_run,
    .end = end,
    .close = finish,
};
