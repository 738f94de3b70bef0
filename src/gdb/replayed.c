/* SPDX-License-Identifier: MIT */
#include "gdb/replayed.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/copy_pool.h"
#include "base/diag.h"
#include "isa/isa.h"

/* ---- what is asked --------------------------------------------------------------------------- */

/* Returns how often the program has become another one. */
static unsigned execs(const struct vs_replay *r)
{
    return r->outside.present.program_count - 1;
}

static unsigned get_threads(void *machine)
{
    return ((struct vs_gdb_replayed *)machine)->replay->count;
}

static bool is_alive(void *machine, unsigned thread)
{
    const struct vs_replay *r = ((struct vs_gdb_replayed *)machine)->replay;
    const struct vs_replay_core *c = &r->cores[thread];
    return thread < r->count && c->started && !c->ended && c->program == execs(r);
}

static unsigned get_current(void *machine)
{
    return ((struct vs_gdb_replayed *)machine)->current;
}

static int get_register(void *machine, unsigned thread, unsigned number,
                        uint8_t bytes[VS_REGISTER_BYTES])
{
    const struct vs_gdb_replayed *m = machine;
    const struct vs_replay *r = m->replay;
    if (thread >= r->count || !r->cores[thread].started)
        return -VSE_NOTFOUND;
    const struct vs_cpu *cpu =
        m->signalled && thread == m->current ? m->before : r->cores[thread].cpu;
    return cpu->ops->get(cpu, number, bytes);
}

static size_t read_memory(void *machine, unsigned thread, uint64_t addr, uint8_t *bytes,
                          size_t size)
{
    struct vs_replay *r = ((struct vs_gdb_replayed *)machine)->replay;
    return thread < r->count ? vs_replay_look(r, thread, addr, bytes, size) : 0;
}

static void describe_thread(void *machine, unsigned thread, struct vs_gdb_thread *t)
{
    const struct vs_gdb_replayed *m = machine;
    const struct vs_replay_core *c = &m->replay->cores[thread];
    const struct vs_gdb_file *program = vs_gdb_files_program(&m->files, m->replay);
    const char *slash = program ? strrchr(program->path, '/') : NULL;
    if (m->cores)
        snprintf(t->name, sizeof(t->name), "core %u", thread);
    else if (c->name[0] || !program)
        snprintf(t->name, sizeof(t->name), "%s", c->name);
    else
        snprintf(t->name, VS_REPLAY_NAME, "%s", slash ? slash + 1 : program->path);
    t->id = c->tid;
}

static void get_process(void *machine, struct vs_gdb_process *process)
{
    const struct vs_gdb_replayed *m = machine;
    vs_gdb_files_now(&m->files, m->replay, process);
}

/* Reads the number at an address; 0 if it is not known. */
static uint64_t read_number(struct vs_gdb_replayed *m, unsigned thread, uint64_t addr)
{
    uint8_t bytes[8];
    return read_memory(m, thread, addr, bytes, 8) == 8 ? vs_get64(bytes) : 0;
}

static int find_thread_local(void *machine, unsigned thread, uint64_t dynamic, uint64_t *addr)
{
    struct vs_gdb_replayed *m = machine;
    const struct vs_abi *abi = m->replay->config.isa->abi;
    unsigned module = vs_gdb_files_module(&m->files, m->replay, dynamic);
    uint8_t pointer[VS_REGISTER_BYTES];
    if (!module || get_register(m, thread, abi->thread, pointer) != 8)
        return -VSE_NOTFOUND;
    uint64_t list = read_number(m, thread, vs_get64(pointer) + (uint64_t)(int64_t)abi->modules);
    uint64_t found = list ? read_number(m, thread, list + UINT64_C(16) * module) : 0;
    if (!found || found == UINT64_MAX) /* it has none yet */
        return -VSE_NOTFOUND;
    *addr = found;
    return 0;
}

/* ---- points ---------------------------------------------------------------------------------- */

static void set_breaks(struct vs_gdb_replayed *m)
{
    for (size_t i = 0; i < m->break_count; i++)
        m->addrs[i] = m->breaks[i].addr;
    vs_replay_break(m->replay, m->addrs, m->break_count);
}

static size_t find_break(const struct vs_gdb_replayed *m, uint64_t addr)
{
    size_t i = 0;
    while (i < m->break_count && m->breaks[i].addr < addr)
        i++;
    return i;
}

static int insert_break(struct vs_gdb_replayed *m, uint64_t addr)
{
    size_t i = find_break(m, addr);
    if (i < m->break_count && m->breaks[i].addr == addr) {
        m->breaks[i].count++;
        return 0;
    }
    if (m->break_count == VS_GDB_POINTS_MAX)
        return -VSE_LIMIT;
    memmove(&m->breaks[i + 1], &m->breaks[i], (m->break_count - i) * sizeof(m->breaks[0]));
    m->breaks[i] = (struct vs_gdb_break){.addr = addr, .count = 1};
    m->break_count++;
    set_breaks(m);
    return 0;
}

/* Stops where programs begin that the first one becomes. If there are too many points, the debugger
 * notices a new program when it stops next. */
static void break_at_starts(struct vs_gdb_replayed *m)
{
    for (size_t i = 0; i < m->files.count; i++) {
        uint64_t addr = vs_gdb_files_start(&m->files, i);
        if (addr && !insert_break(m, addr)) {
            struct vs_gdb_break *b = &m->breaks[find_break(m, addr)];
            b->count--;
            b->start = true;
        }
    }
}

static int remove_break(struct vs_gdb_replayed *m, uint64_t addr)
{
    size_t i = find_break(m, addr);
    if (i == m->break_count || m->breaks[i].addr != addr || !m->breaks[i].count)
        return -VSE_NOTFOUND;
    if (--m->breaks[i].count || m->breaks[i].start)
        return 0;
    m->break_count--;
    memmove(&m->breaks[i], &m->breaks[i + 1], (m->break_count - i) * sizeof(m->breaks[0]));
    set_breaks(m);
    return 0;
}

static void set_watches(struct vs_gdb_replayed *m)
{
    m->replay->watches = m->watches;
    m->replay->watch_count = m->watch_count;
}

static bool is_break(enum vs_gdb_point point)
{
    return point == VS_GDB_POINT_BREAK || point == VS_GDB_POINT_HARD_BREAK;
}

static int insert_point(void *machine, enum vs_gdb_point point, uint64_t addr, uint64_t size)
{
    struct vs_gdb_replayed *m = machine;
    if (is_break(point))
        return insert_break(m, addr);
    if (m->watch_count == VS_GDB_POINTS_MAX || addr + size < addr || !size)
        return -VSE_LIMIT;
    m->watches[m->watch_count++] = (struct vs_replay_watch){.addr = addr,
                                                            .size = size,
                                                            .reads = point != VS_GDB_POINT_WRITE,
                                                            .writes = point != VS_GDB_POINT_READ,
                                                            .owner = point};
    set_watches(m);
    return 0;
}

static int remove_point(void *machine, enum vs_gdb_point point, uint64_t addr, uint64_t size)
{
    struct vs_gdb_replayed *m = machine;
    if (is_break(point))
        return remove_break(m, addr);
    for (size_t i = 0; i < m->watch_count; i++) {
        const struct vs_replay_watch *w = &m->watches[i];
        if (w->owner != point || w->addr != addr || w->size != size)
            continue;
        m->watches[i] = m->watches[--m->watch_count];
        set_watches(m);
        return 0;
    }
    return -VSE_NOTFOUND;
}

static void pass_signals(void *machine, uint64_t signals)
{
    ((struct vs_gdb_replayed *)machine)->pass = signals;
}

void vs_gdb_replayed_points(struct vs_gdb_replayed *m)
{
    set_breaks(m);
    set_watches(m);
}

/* Those that stop where programs begin stay. */
static void remove_breaks(struct vs_gdb_replayed *m, uint64_t start, uint64_t length)
{
    size_t count = 0;
    for (size_t i = 0; i < m->break_count; i++) {
        struct vs_gdb_break *b = &m->breaks[i];
        if (b->addr - start < length)
            b->count = 0;
        if (b->count || b->start)
            m->breaks[count++] = *b;
    }
    m->break_count = count;
    set_breaks(m);
}

static void forget(void *machine, bool all)
{
    struct vs_gdb_replayed *m = machine;
    const struct vs_image *gone;
    if (all) {
        vs_gdb_files_untell(&m->files);
        remove_breaks(m, 0, UINT64_MAX);
        m->watch_count = 0;
        set_watches(m);
        return;
    }
    while ((gone = vs_gdb_files_gone(&m->files, m->replay)))
        remove_breaks(m, gone->start, gone->length);
}

static void detach(void *machine)
{
    struct vs_gdb_replayed *m = machine;
    m->pass = 0;
    m->attended = false;
    forget(m, true);
}

/* ---- going ----------------------------------------------------------------------------------- */

/* The values of `told`: a debugger that goes on the same way has been told about the access it
 * stands at, and must not stop for it again. */
enum { FORWARDS = 1, BACKWARDS = 2 };

static enum vs_gdb_stop_kind kind_of(int stop, bool step)
{
    switch (stop) {
    case VS_REPLAY_REACHED:
        return step ? VS_GDB_STEPPED : VS_GDB_INTERRUPTED;
    case VS_REPLAY_BREAK:
        return VS_GDB_BREAK;
    case VS_REPLAY_WATCH:
        return VS_GDB_WATCH;
    case VS_REPLAY_SIGNAL:
        return VS_GDB_SIGNAL;
    case VS_HISTORY_BEGINNING:
        return VS_GDB_BEGINNING;
    case VS_HISTORY_POLLED:
        return VS_GDB_INTERRUPTED;
    default:
        return VS_GDB_END;
    }
}

int vs_gdb_replayed_failed(const struct vs_gdb_replayed *m, int err, struct vs_diag *diag)
{
    const struct vs_diag *d = &m->replay->diag;
    const struct vs_copy_pool *pool = m->replay->config.pool;
    if (err == -VSE_NOMEM && pool && pool->scratch.error)
        return vs_diag_set(diag, err, -1, -1, "the file for memory's pages cannot grow: %s",
                           strerrordesc_np(pool->scratch.error));
    bool said = d->error == err && d->text[0];
    return vs_diag_set(diag, err, said ? d->offset : -1, -1, "%s", said ? d->text : vs_errstr(err));
}

/* Returns the core, or another if it has not started: a debugger wants to see where it stopped. */
static unsigned shown(const struct vs_replay *r, unsigned core)
{
    unsigned i = 0;
    if (core < r->count && r->cores[core].started)
        return core;
    while (i < r->count && !r->cores[i].started)
        i++;
    return i < r->count ? i : core;
}

static int cut(const struct vs_gdb_replayed *m, struct vs_diag *diag)
{
    const struct vs_port_reader *reader = &m->replay->reader;
    const struct vs_port_more *more = reader->more;
    struct vs_diag why;
    if (more && more->why(more->context, &why))
        return vs_diag_set(diag, why.error, why.offset, why.chunk,
                           "the run is damaged, and the program goes on: %s", why.text);
    return vs_diag_set(diag, -VSE_TRUNCATED, -1, -1,
                       "the stream ends at bit %" PRIu64 ", after message %" PRIu64
                       ", and the program goes on",
                       reader->bits.pos, reader->messages);
}

/* The thread has entered a handler, but is shown where the signal came until it goes on. */
static void stand_before(struct vs_gdb_replayed *m, struct vs_gdb_stop *stop)
{
    const struct vs_replay *r = m->replay;
    stop->thread = r->last;
    stop->signal = (int)r->cores[r->last].cause;
    vs_cpu_copy(m->before, r->before);
    m->signalled = true;
}

/* ---- the end --------------------------------------------------------------------------------- */

/* A program that a signal ended stops for the signal first, as one that survives does. Only when it
 * goes on does it come to the end of the replay, from where it can go back. */
enum { END_UNTOLD, END_SIGNAL, END_OVER };

/* At the end, returns whether to stop for the signal that ended the program. */
static bool ends_by_signal(struct vs_gdb_replayed *m, struct vs_gdb_stop *stop)
{
    unsigned core;
    int signal = vs_replay_fatal(m->replay, &core);
    if (!signal || m->pass >> (signal - 1) & 1)
        return false;
    stop->thread = core;
    stop->signal = signal;
    return true;
}

static int come_to_end(struct vs_gdb_replayed *m, bool was_there, struct vs_gdb_stop *stop)
{
    if (!was_there)
        m->ending = END_UNTOLD;
    if (m->ending == END_UNTOLD && ends_by_signal(m, stop)) {
        m->ending = END_SIGNAL;
        return VS_REPLAY_SIGNAL;
    }
    m->ending = END_OVER;
    return VS_REPLAY_OVER;
}

/* ---- both ways ------------------------------------------------------------------------------- */

/* Goes to one side of the watched access that stopped it. Returns `end`, or an error. */
static int go_near(struct vs_gdb_replayed *m, uint64_t position, int end)
{
    m->history.poll = NULL; /* it is not far */
    int err = vs_history_goto(&m->history, position);
    return err < 0 ? err : end;
}

static int go_back(struct vs_gdb_replayed *m, const struct vs_gdb_resume *how, bool signalled,
                   struct vs_gdb_stop *stop, const struct vs_replay_watch **watch)
{
    struct vs_history_stop found = {.core = m->current};
    bool undone = m->told == BACKWARDS;
    int end;
    if (how->step) {
        stop->thread = how->thread;
        m->replay->watch_count = undone ? 0 : m->watch_count;
        m->replay->signals = 0;
        end = vs_history_step_back(&m->history, how->thread, &found);
        set_watches(m);
        if (end == VS_REPLAY_REACHED && !m->replay->cores[how->thread].started) {
            int err = vs_replay_settle(m->replay); /* its first instruction is next */
            end = err < 0 ? err : end;
        }
    } else if (m->replay->over && m->ending == END_OVER && ends_by_signal(m, stop)) {
        m->ending = END_SIGNAL;
        return VS_REPLAY_SIGNAL;
    } else {
        unsigned told =
            (undone ? VS_HISTORY_ACCESS_TOLD : 0) | (signalled ? VS_HISTORY_SIGNAL_TOLD : 0);
        end = vs_history_back(&m->history, told, &found);
    }
    if (end == VS_REPLAY_BREAK || end == VS_REPLAY_WATCH)
        stop->thread = found.core;
    if (end == VS_REPLAY_SIGNAL)
        stand_before(m, stop);
    if (end != VS_REPLAY_WATCH)
        return end;
    *watch = found.watch;
    return m->machine.registers->watch_after ? go_near(m, found.position, end) : end;
}

/* `signalled`: the core stands at the first instruction of a handler, and was not shown there. */
static int go_on(struct vs_gdb_replayed *m, const struct vs_gdb_resume *how, bool signalled,
                 struct vs_gdb_stop *stop, const struct vs_replay_watch **watch)
{
    struct vs_replay *r = m->replay;
    struct vs_replay_goal goal = {
        .position = UINT64_MAX, .core = VS_REPLAY_NONE, .retired = UINT64_MAX, .fresh = signalled};
    if (how->step) {
        goal.core = how->thread;
        goal.retired = r->cores[how->thread].cpu->retired + 1;
    }
    struct vs_history_stop found = {0};
    uint64_t start = r->position;
    bool was_over = r->over;
    int end;
    do {
        end = vs_history_run(&m->history, &goal);
        if (end == VS_REPLAY_WATCH)
            vs_history_tell(&m->history, end, &found);
    } while (end == VS_REPLAY_WATCH && m->told == FORWARDS && found.position == start);
    if (end == VS_REPLAY_WATCH) {
        stop->thread = found.core;
        *watch = found.watch;
        return go_near(m, found.position + m->machine.registers->watch_after, end);
    }
    stop->thread = how->step && end == VS_REPLAY_REACHED ? how->thread : r->last;
    if (end == VS_REPLAY_SIGNAL)
        stand_before(m, stop);
    return end == VS_REPLAY_OVER ? come_to_end(m, was_over, stop) : end;
}

/* Goes to the next stop, or to where another program begins. */
static int go(struct vs_gdb_replayed *m, const struct vs_gdb_resume *how, struct vs_gdb_stop *stop,
              struct vs_diag *diag)
{
    const struct vs_replay_watch *watch = NULL;
    bool signalled = m->signalled;
    *stop = (struct vs_gdb_stop){.thread = m->current};
    m->signalled = false;
    if (signalled && how->step && !how->backwards && how->thread == m->current)
        return 0; /* it is in the handler already */
    m->history.poll = how->poll;
    m->history.context = how->context;
    m->replay->signals = ~m->pass;
    int end = how->backwards ? go_back(m, how, signalled, stop, &watch)
                             : go_on(m, how, signalled, stop, &watch);
    m->history.poll = NULL;
    m->replay->signals = 0;
    /* With watch_after it is past the access, and cannot meet it again. */
    m->told = !watch || m->machine.registers->watch_after ? 0
              : how->backwards                            ? BACKWARDS
                                                          : FORWARDS;
    if (end < 0 || end == VS_REPLAY_CUT) {
        m->current = shown(m->replay, m->replay->last);
        return end < 0 ? vs_gdb_replayed_failed(m, end, diag) : cut(m, diag);
    }
    stop->kind = kind_of(end, how->step);
    if (watch) {
        stop->point = (enum vs_gdb_point)watch->owner;
        stop->addr = watch->addr;
    }
    m->current = stop->thread = shown(m->replay, stop->thread);
    return 0;
}

/* ---- programs that become others ------------------------------------------------------------- */

/* Returns whether the thread stands where its program begins, and another one was before. */
static bool begins_program(const struct vs_gdb_replayed *m, unsigned thread)
{
    const struct vs_replay *r = m->replay;
    bool alone = execs(r) && r->cores[thread].started && !r->cores[thread].cpu->retired;
    for (unsigned i = 0; i < r->count && alone; i++)
        alone = i == thread || !r->cores[i].started || r->cores[i].program != execs(r);
    return alone;
}

/* Goes to just before the exec because of which a program began here. */
static int undo_exec(struct vs_gdb_replayed *m, struct vs_diag *diag)
{
    struct vs_replay *r = m->replay;
    int err = r->position ? vs_history_goto(&m->history, r->position - 1) : 0;
    unsigned core = 0;
    if (err < 0)
        return vs_gdb_replayed_failed(m, err, diag);
    while (core + 1 < r->count && !is_alive(m, core))
        core++;
    m->current = shown(r, core);
    return 0;
}

/* Returns whether the machine stopped only because a program may begin there. */
static bool is_own_stop(const struct vs_gdb_replayed *m, const struct vs_gdb_stop *stop)
{
    size_t i = find_break(m, m->replay->cores[stop->thread].cpu->pc);
    return stop->kind == VS_GDB_BREAK && i < m->break_count &&
           m->breaks[i].addr == m->replay->cores[stop->thread].cpu->pc && !m->breaks[i].count;
}

bool vs_gdb_replayed_is_other(const struct vs_gdb_replayed *m)
{
    return execs(m->replay) != m->execs && m->files.count;
}

/* If another program is there than the debugger knows, tells that first, and the stop the next
 * time. */
static int tell_program(struct vs_gdb_replayed *m, bool own, struct vs_gdb_stop *stop)
{
    if (!vs_gdb_replayed_is_other(m))
        return 0;
    m->execs = execs(m->replay);
    m->postponed = !own;
    m->next = *stop;
    *stop = (struct vs_gdb_stop){.kind = VS_GDB_EXEC, .thread = m->current};
    return 1;
}

static int resume(void *machine, const struct vs_gdb_resume *how, struct vs_gdb_stop *stop,
                  struct vs_diag *diag)
{
    struct vs_gdb_replayed *m = machine;
    bool own;
    if (how->step && how->thread >= m->replay->count)
        return vs_diag_set(diag, -VSE_NOTFOUND, -1, -1, "there is no core %u", how->thread);
    /* After another program, a debugger that has not asked for a stop there continues. */
    bool told = m->postponed && !how->step;
    *stop = told ? m->next : (struct vs_gdb_stop){VS_GDB_STANDING, .thread = m->current};
    m->postponed = false;
    if (told || tell_program(m, false, stop))
        return 0;
    do {
        bool undo = how->backwards && how->step && begins_program(m, how->thread);
        int err = undo ? undo_exec(m, diag) : go(m, how, stop, diag);
        own = !err && !undo && is_own_stop(m, stop);
        if (!err && own && how->backwards && begins_program(m, stop->thread))
            err = undo_exec(m, diag);
        if (undo)
            *stop = (struct vs_gdb_stop){VS_GDB_STANDING, .thread = m->current};
        if (err)
            return err;
    } while (!tell_program(m, own, stop) && own);
    return 0;
}

/* ---- elsewhere ------------------------------------------------------------------------------- */

void vs_gdb_replayed_moved(struct vs_gdb_replayed *m, unsigned core)
{
    m->told = 0;
    m->signalled = false;
    m->ending = END_UNTOLD;
    m->moves++;
    m->current = shown(m->replay, core);
}

/* ---- the machine ----------------------------------------------------------------------------- */

static const struct vs_gdb_machine_ops ops = {.threads = get_threads,
                                              .is_alive = is_alive,
                                              .current = get_current,
                                              .get_register = get_register,
                                              .describe = describe_thread,
                                              .process = get_process,
                                              .thread_local = find_thread_local,
                                              .read = read_memory,
                                              .insert = insert_point,
                                              .remove = remove_point,
                                              .forget = forget,
                                              .resume = resume,
                                              .monitor = vs_gdb_monitor,
                                              .pass = pass_signals,
                                              .detach = detach};

/* ---- making ---------------------------------------------------------------------------------- */

int vs_gdb_replayed_init(struct vs_gdb_replayed *m, struct vs_replay *replay,
                         const struct vs_gdb_replayed_options *o)
{
    const struct vs_isa *isa = replay->config.isa;
    *m = (struct vs_gdb_replayed){.replay = replay, .cores = o->cores, .events = o->events};
    m->machine = (struct vs_gdb_machine){&ops, m, isa->registers};
    m->before = vs_cpu_new(replay->config.cpu, 1, NULL, NULL);
    int err = vs_gdb_files_init(&m->files, o->images, o->image_count, o->files, o->file_count);
    if (err || !m->before)
        return -VSE_NOMEM;
    err = vs_replay_settle(replay); /* a debugger wants to see a thread */
    if (err >= 0)
        err = vs_history_init(&m->history, replay, o->most);
    m->history.pages = o->pages;
    m->history.stream = o->stream;
    m->history.heap_most = o->heap_most;
    if (!err)
        err = vs_history_scout(&m->history);
    m->current = replay->current < replay->count ? replay->current : 0;
    break_at_starts(m);
    return err < 0 ? err : 0;
}

void vs_gdb_replayed_fini(struct vs_gdb_replayed *m)
{
    vs_history_fini(&m->history);
    vs_gdb_files_fini(&m->files);
    vs_gdb_output_fini(&m->notes.output);
    free(m->before);
    m->before = NULL;
}
