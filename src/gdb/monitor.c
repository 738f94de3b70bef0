/* SPDX-License-Identifier: MIT */
#include "gdb/monitor.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "gdb/replayed.h"

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
    vs_gdb_replayed_moved(m, of_core ? (unsigned)a : m->replay->last);
    if (end < 0)
        return vs_gdb_replayed_failed(m, end, t->diag);
    sayf(t, "position %" PRIu64 ", core %u%s\n", m->replay->position, m->current,
         end == VS_REPLAY_REACHED ? "" : ", the end of what is known");
    if (!m->attended)
        sayf(t, "gdb shows where that is if it has the script of 'vestige debug --gdb-script'\n");
    return 0;
}

/* Tells the script whether to look anew, at which thread, and whether at another program. */
static int attend(const struct talk *t, const char *args)
{
    (void)args;
    t->m->attended = true;
    sayf(t, "%" PRIu64 " %u %d\n", t->m->moves, t->m->current + 1, vs_gdb_replayed_is_other(t->m));
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
        return vs_gdb_replayed_failed(m, err, t->diag);
    m->replay->watches = &watch;
    m->replay->watch_count = 1;
    vs_replay_break(m->replay, NULL, 0);
    int found = vs_history_find_back(&m->history, &stop);
    if (found == 1 && (err = vs_history_goto(&m->history, stop.position)) >= 0)
        sayf(t, "core %u at pc 0x%" PRIx64 ", position %" PRIu64 "\n", stop.core,
             m->replay->cores[stop.core].cpu->pc, stop.position);
    else if (!found)
        sayf(t, "no instruction wrote it before here\n");
    vs_gdb_replayed_points(m);
    int back = vs_replay_restore(m->replay, now);
    vs_replay_drop(now);
    err = found < 0 ? found : err < 0 ? err : back;
    return err < 0 ? vs_gdb_replayed_failed(m, err, t->diag) : 0;
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

int vs_gdb_monitor(void *machine, const char *command, void (*say)(void *context, const char *text),
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
