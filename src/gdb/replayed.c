/* SPDX-License-Identifier: MIT */
#include "gdb/replayed.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/diag.h"
#include "isa/isa.h"

/* ---- what is asked --------------------------------------------------------------------------- */

static unsigned get_threads(void *machine)
{
    return ((struct vs_gdb_replayed *)machine)->replay->count;
}

static bool is_alive(void *machine, unsigned thread)
{
    const struct vs_replay *r = ((struct vs_gdb_replayed *)machine)->replay;
    return thread < r->count && r->cores[thread].started && !r->cores[thread].ended;
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
    m->breaks[i] = (struct vs_gdb_break){addr, 1};
    m->break_count++;
    set_breaks(m);
    return 0;
}

static int remove_break(struct vs_gdb_replayed *m, uint64_t addr)
{
    size_t i = find_break(m, addr);
    if (i == m->break_count || m->breaks[i].addr != addr)
        return -VSE_NOTFOUND;
    if (--m->breaks[i].count)
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

static void detach(void *machine)
{
    struct vs_gdb_replayed *m = machine;
    m->pass = 0;
    m->attended = false;
    m->break_count = m->watch_count = 0;
    set_breaks(m);
    set_watches(m);
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

static int failed(const struct vs_gdb_replayed *m, int err, struct vs_diag *diag)
{
    const struct vs_diag *d = &m->replay->diag;
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

static int go_on(struct vs_gdb_replayed *m, const struct vs_gdb_resume *how,
                 struct vs_gdb_stop *stop, const struct vs_replay_watch **watch)
{
    struct vs_replay *r = m->replay;
    struct vs_replay_goal goal = {
        .position = UINT64_MAX, .core = VS_REPLAY_NONE, .retired = UINT64_MAX};
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

static int resume(void *machine, const struct vs_gdb_resume *how, struct vs_gdb_stop *stop,
                  struct vs_diag *diag)
{
    struct vs_gdb_replayed *m = machine;
    const struct vs_replay_watch *watch = NULL;
    bool signalled = m->signalled;
    if (how->step && how->thread >= m->replay->count)
        return vs_diag_set(diag, -VSE_NOTFOUND, -1, -1, "there is no core %u", how->thread);
    *stop = (struct vs_gdb_stop){.thread = m->current};
    m->signalled = false;
    if (signalled && how->step && !how->backwards && how->thread == m->current)
        return 0; /* it is in the handler already */
    m->history.poll = how->poll;
    m->history.context = how->context;
    m->replay->signals = ~m->pass;
    int end =
        how->backwards ? go_back(m, how, signalled, stop, &watch) : go_on(m, how, stop, &watch);
    m->history.poll = NULL;
    m->replay->signals = 0;
    /* With watch_after it is past the access, and cannot meet it again. */
    m->told = !watch || m->machine.registers->watch_after ? 0
              : how->backwards                            ? BACKWARDS
                                                          : FORWARDS;
    if (end < 0 || end == VS_REPLAY_CUT) {
        m->current = shown(m->replay, m->replay->last);
        return end < 0 ? failed(m, end, diag) : cut(m, diag);
    }
    stop->kind = kind_of(end, how->step);
    if (watch) {
        stop->point = (enum vs_gdb_point)watch->owner;
        stop->addr = watch->addr;
    }
    m->current = stop->thread = shown(m->replay, stop->thread);
    return 0;
}

/* ---- monitor --------------------------------------------------------------------------------- */

struct talk {
    struct vs_gdb_replayed *m;
    void (*say)(void *context, const char *text);
    void *context;
    bool *moved;
    struct vs_diag *diag;
};

static void __attribute__((format(printf, 2, 3)))
sayf(const struct talk *t, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    t->say(t->context, text);
}

/* Takes the first number of the arguments and moves *rest past it. Returns whether there is one. */
static bool take_number(const char **rest, uint64_t *n)
{
    char *end;
    const char *p = *rest + strspn(*rest, " ");
    if (*p < '0' || *p > '9')
        return false;
    *n = strtoull(p, &end, 0);
    *rest = end;
    return true;
}

static int tell_time(const struct talk *t, const char *args)
{
    const struct vs_replay *r = t->m->replay;
    (void)args;
    sayf(t, "position %" PRIu64 " (instructions of all cores)\n", r->position);
    for (unsigned i = 0; i < r->count; i++)
        sayf(t, "core %u: %" PRIu64 " instructions%s\n", i, r->cores[i].cpu->retired,
             r->cores[i].ended     ? ", ended"
             : r->cores[i].started ? ""
                                   : ", not started");
    return 0;
}

static int tell_cycle(const struct talk *t, const char *args)
{
    const struct vs_replay *r = t->m->replay;
    (void)args;
    if (!r->reader.shape.timed) {
        sayf(t, "the stream has no cycles\n");
        return 0;
    }
    if (r->ops->ahead) {
        sayf(t, "the cores' cycles are not known: their messages are read ahead\n");
        return 0;
    }
    for (unsigned i = 0; i < r->count; i++)
        sayf(t, "core %u: last message at cycle %" PRIu64 "\n", i, r->cores[i].cycle);
    return 0;
}

static int tell_messages(const struct talk *t, const char *args)
{
    const struct vs_port_reader *reader = &t->m->replay->reader;
    (void)args;
    sayf(t, "%" PRIu64 " messages read, %" PRIu64 " of %" PRIu64 " bits\n", reader->messages,
         vs_port_reader_done(reader), vs_port_reader_bits(reader));
    return 0;
}

/* goto POSITION, goto CORE N */
static int go_to(const struct talk *t, const char *args)
{
    struct vs_gdb_replayed *m = t->m;
    uint64_t a, b;
    if (!take_number(&args, &a))
        return vs_diag_set(t->diag, -VSE_INVAL, -1, -1,
                           "goto POSITION, or goto CORE INSTRUCTIONS; 'monitor time' has them");
    bool of_core = take_number(&args, &b);
    if (of_core && a >= m->replay->count)
        return vs_diag_set(t->diag, -VSE_NOTFOUND, -1, -1, "there is no core %" PRIu64, a);
    int end = of_core ? vs_history_goto_core(&m->history, (unsigned)a, b)
                      : vs_history_goto(&m->history, a);
    *t->moved = true;
    m->told = 0;
    m->signalled = false;
    m->ending = END_UNTOLD;
    m->moves++;
    if (end < 0)
        return failed(m, end, t->diag);
    m->current = shown(m->replay, of_core ? (unsigned)a : m->replay->last);
    sayf(t, "position %" PRIu64 ", core %u%s\n", m->replay->position, m->current,
         end == VS_REPLAY_REACHED ? "" : ", the end of what is known");
    if (!m->attended)
        sayf(t, "gdb shows where that is if it has the script of 'vestige debug --gdb-script'\n");
    return 0;
}

/* Tells the script whether to look anew, and at which thread. */
static int attend(const struct talk *t, const char *args)
{
    (void)args;
    t->m->attended = true;
    sayf(t, "%" PRIu64 " %u\n", t->m->moves, t->m->current + 1);
    return 0;
}

/* who-wrote ADDR [SIZE] */
static int tell_writer(const struct talk *t, const char *args)
{
    struct vs_gdb_replayed *m = t->m;
    struct vs_history_stop stop;
    struct vs_replay_state *now;
    uint64_t addr, size = 1;
    if (!take_number(&args, &addr))
        return vs_diag_set(t->diag, -VSE_INVAL, -1, -1, "who-wrote ADDR [BYTES]");
    take_number(&args, &size);
    const struct vs_replay_watch watch = {.addr = addr, .size = size ? size : 1, .writes = true};
    int err = vs_replay_save(m->replay, &now);
    if (err)
        return failed(m, err, t->diag);
    m->replay->watches = &watch;
    m->replay->watch_count = 1;
    vs_replay_break(m->replay, NULL, 0);
    int found = vs_history_find_back(&m->history, &stop);
    if (found == 1 && (err = vs_history_goto(&m->history, stop.position)) >= 0)
        sayf(t, "core %u at pc 0x%" PRIx64 ", position %" PRIu64 "\n", stop.core,
             m->replay->cores[stop.core].cpu->pc, stop.position);
    else if (!found)
        sayf(t, "no instruction wrote it before here\n");
    set_breaks(m);
    set_watches(m);
    int back = vs_replay_restore(m->replay, now);
    vs_replay_drop(now);
    err = found < 0 ? found : err < 0 ? err : back;
    return err < 0 ? failed(m, err, t->diag) : 0;
}

static int tell_help(const struct talk *t, const char *args);

static const struct {
    const char *name;
    int (*run)(const struct talk *t, const char *args);
    const char *help;
} commands[] = {
    {"time", tell_time, "where the program stands, in instructions"},
    {"goto", go_to, "goto POSITION, or goto CORE INSTRUCTIONS"},
    {"cycle", tell_cycle, "of each core's last message, in a timed stream"},
    {"who-wrote", tell_writer, "who-wrote ADDR [BYTES]: the last write before here"},
    {"messages", tell_messages, "how much of the stream was read"},
    {"help", tell_help, "this"},
    {"attend", attend, NULL},
};

static int tell_help(const struct talk *t, const char *args)
{
    (void)args;
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
        if (commands[i].help)
            sayf(t, "%-10s %s\n", commands[i].name, commands[i].help);
    return 0;
}

static int refuse_command(const char *command, size_t n, struct vs_diag *diag)
{
    char names[128];
    size_t used = 0;
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
        if (commands[i].help)
            used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s", used ? ", " : "",
                                     commands[i].name);
    return vs_diag_set(diag, -VSE_NOTFOUND, -1, -1, "%s%.*s%s; there are %s",
                       n ? "there is no command '" : "a command is missing", (int)(n < 32 ? n : 32),
                       command, n ? "'" : "", names);
}

static int monitor(void *machine, const char *command, void (*say)(void *context, const char *text),
                   void *context, bool *moved, struct vs_diag *diag)
{
    const struct talk t = {machine, say, context, moved, diag};
    size_t n = strcspn(command, " ");
    *moved = false;
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
        if (strlen(commands[i].name) == n && !strncmp(commands[i].name, command, n))
            return commands[i].run(&t, command + n);
    return refuse_command(command, n, diag);
}

static const struct vs_gdb_machine_ops ops = {.threads = get_threads,
                                              .is_alive = is_alive,
                                              .current = get_current,
                                              .get_register = get_register,
                                              .read = read_memory,
                                              .insert = insert_point,
                                              .remove = remove_point,
                                              .resume = resume,
                                              .monitor = monitor,
                                              .pass = pass_signals,
                                              .detach = detach};

/* ---- for gdb --------------------------------------------------------------------------------- */

const char vs_gdb_script[] =
    "# SPDX-License-Identifier: MIT\n"
    "# For gdb with vestige debug. Steps are those of the replay, not breakpoints at the next\n"
    "# instruction, as gdb has them on Linux. After `monitor goto` it shows where that is.\n"
    "set osabi none\n"
    "set sysroot /\n"
    "python\n"
    "def vestige_ask():\n"
    "    try:\n"
    "        moves, thread = gdb.execute('monitor attend', to_string=True).split()\n"
    "        return int(moves), int(thread)\n"
    "    except (gdb.error, ValueError):\n"
    "        return 0, 0\n"
    "def vestige_before():\n"
    "    global vestige_moves\n"
    "    vestige_moves, _ = vestige_ask()\n"
    "def vestige_after():\n"
    "    moves, thread = vestige_ask()\n"
    "    if moves == vestige_moves:\n"
    "        return\n"
    "    gdb.execute('maintenance flush register-cache', to_string=True)\n"
    "    gdb.execute('maintenance flush dcache', to_string=True)\n"
    "    gdb.execute('info threads', to_string=True)\n"
    "    for t in gdb.selected_inferior().threads():\n"
    "        if t.ptid[1] == thread:\n"
    "            t.switch()\n"
    "    gdb.execute('frame')\n"
    "end\n"
    "define hook-monitor\n"
    "python vestige_before()\n"
    "end\n"
    "define hookpost-monitor\n"
    "python vestige_after()\n"
    "end\n";

/* ---- making ---------------------------------------------------------------------------------- */

int vs_gdb_replayed_init(struct vs_gdb_replayed *m, struct vs_replay *replay, size_t most,
                         const char *program, uint64_t base)
{
    const struct vs_isa *isa = replay->config.isa;
    *m = (struct vs_gdb_replayed){.replay = replay};
    m->machine = (struct vs_gdb_machine){&ops, m, isa->registers, program, base};
    m->before = vs_cpu_new(replay->config.cpu, 1, NULL, NULL);
    if (!m->before)
        return -VSE_NOMEM;
    int err = vs_replay_settle(replay); /* a debugger wants to see a thread */
    if (err >= 0)
        err = vs_history_init(&m->history, replay, most);
    m->current = replay->current < replay->count ? replay->current : 0;
    return err < 0 ? err : 0;
}

void vs_gdb_replayed_fini(struct vs_gdb_replayed *m)
{
    vs_history_fini(&m->history);
    free(m->before);
    m->before = NULL;
}
