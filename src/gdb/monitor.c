/* SPDX-License-Identifier: MIT */
#include "gdb/monitor.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/diag.h"
#include "base/number.h"
#include "gdb/mappings.h"
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

/* Takes the next word of the arguments, of less than `capacity` bytes, and moves *rest past it.
 * Returns whether there is one. */
static bool take_word(const char **rest, char *word, size_t capacity)
{
    const char *p = *rest + strspn(*rest, " ");
    size_t n = strcspn(p, " ");
    if (!n || n >= capacity)
        return false;
    memcpy(word, p, n);
    word[n] = 0;
    *rest = p + n;
    return true;
}

static bool is_number(const char *word, uint64_t *n)
{
    return !vs_number(word, word + strlen(word), n);
}

/* Takes the next word if it is a number. */
static bool take_number(const char **rest, uint64_t *n)
{
    const char *p = *rest;
    char word[32];
    if (!take_word(&p, word, sizeof(word)) || !is_number(word, n))
        return false;
    *rest = p;
    return true;
}

static bool at_end(const char *rest)
{
    return !rest[strspn(rest, " ")];
}

static int refuse(const struct talk *t, const char *usage)
{
    return vs_diag_set(t->diag, -VSE_INVAL, -1, -1, "%s", usage);
}

static int failed(const struct talk *t, int err)
{
    return vs_gdb_replayed_failed(t->m, err, t->diag);
}

static int no_thread(const struct talk *t, uint64_t thread)
{
    return vs_diag_set(t->diag, -VSE_NOTFOUND, -1, -1,
                       "there is no thread t%" PRIu64 "; 'monitor threads' lists them", thread);
}

/* ---- where it stands ------------------------------------------------------------------------- */

static void say_here(const struct talk *t, const char *more)
{
    const struct vs_replay *r = t->m->replay;
    const struct vs_cpu *cpu = r->cores[t->m->current].cpu;
    sayf(t, "t%u:%" PRIu64 ", position %" PRIu64 ", pc 0x%" PRIx64 "%s\n", t->m->current,
         cpu->retired, r->position, cpu->pc, more);
}

static int tell_position(const struct talk *t, const char *args)
{
    if (!at_end(args))
        return refuse(t, "position: takes nothing");
    say_here(t, "");
    return 0;
}

static int tell_threads(const struct talk *t, const char *args)
{
    const struct vs_replay *r = t->m->replay;
    struct vs_gdb_thread about;
    if (!at_end(args))
        return refuse(t, "threads: takes nothing");
    for (unsigned i = 0; i < r->count; i++) {
        const struct vs_replay_core *c = &r->cores[i];
        about = (struct vs_gdb_thread){0};
        t->m->machine.ops->describe(t->m, i, &about);
        sayf(t, "%ct%u:%" PRIu64 " \"%s\"", i == t->m->current ? '*' : ' ', i, c->cpu->retired,
             about.name);
        if (about.id)
            sayf(t, ", system id %" PRIu64, about.id);
        sayf(t,
             c->ended     ? ", ended\n"
             : c->started ? ", pc 0x%" PRIx64 "\n"
                          : ", not started\n",
             c->cpu->pc);
    }
    return 0;
}

static int tell_process(const struct talk *t, const char *args)
{
    const struct vs_replay *r = t->m->replay;
    const struct vs_gdb_file *program = vs_gdb_files_program(&t->m->files, r);
    struct vs_gdb_thread about = {0};
    if (!at_end(args))
        return refuse(t, "process: takes nothing");
    t->m->machine.ops->describe(t->m, 0, &about);
    if (about.id)
        sayf(t, "process %" PRIu64 "\n", about.id);
    else
        sayf(t, "its process id is not known here\n");
    if (program) {
        sayf(t, "exe = '");
        t->say(t->context, program->path);
        sayf(t, "'\n");
    }
    return 0;
}

static int tell_mappings(const struct talk *t, const char *args)
{
    struct vs_gdb_mappings m;
    if (!at_end(args))
        return refuse(t, "mappings: takes nothing");
    int err = vs_gdb_mappings_init(&m, t->m->replay);
    sayf(t, "%18s %18s %12s  perms  file\n", "start", "end", "size");
    for (size_t i = 0; i < m.count && !err; i++) {
        const struct vs_gdb_mapping *p = &m.list[i];
        sayf(t, "0x%016" PRIx64 " 0x%016" PRIx64 " %#12" PRIx64 "  %c%c%c    ", p->addr,
             p->addr + p->size, p->size, p->rights & PROT_READ ? 'r' : '-',
             p->rights & PROT_WRITE ? 'w' : '-', p->rights & PROT_EXEC ? 'x' : '-');
        t->say(t->context, p->image < t->m->files.count ? t->m->files.list[p->image].path : "");
        sayf(t, "\n");
    }
    vs_gdb_mappings_fini(&m);
    return err ? failed(t, err) : 0;
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
        sayf(t, "the threads' cycles are not known: their messages are read ahead\n");
        return 0;
    }
    for (unsigned i = 0; i < r->count; i++)
        sayf(t, "t%u: last message at cycle %" PRIu64 "\n", i, r->cores[i].cycle);
    return 0;
}

static int tell_messages(const struct talk *t, const char *args)
{
    const struct vs_port_reader *reader = &t->m->replay->reader;
    (void)args;
    sayf(t, "%" PRIu64 " messages read, %" PRIu64 " of %" PRIu64 " bits%s\n", reader->messages,
         vs_port_reader_done(reader), vs_port_reader_bits(reader),
         reader->more ? ", as far as they are known" : "");
    return 0;
}

/* ---- going ----------------------------------------------------------------------------------- */

/* Where to go: to a position, or to where a thread has retired so many instructions. */
struct place {
    uint64_t position;
    unsigned thread; /* VS_REPLAY_NONE: whichever ran last */
    uint64_t retired;
    bool by_thread;
};

static struct vs_gdb_bookmark *find_bookmark(struct vs_gdb_notes *n, const char *name)
{
    for (size_t i = 0; i < n->bookmark_count; i++)
        if (!strcmp(n->bookmarks[i].name, name))
            return &n->bookmarks[i];
    return NULL;
}

/* Parses T:N or tT:N. Returns whether it is such. */
static bool parse_thread_place(const char *word, uint64_t *thread, uint64_t *retired)
{
    const char *colon = strchr(word, ':'), *first = word + (*word == 't');
    return colon && !vs_number(first, colon, thread) &&
           !vs_number(colon + 1, colon + strlen(colon), retired);
}

static int find_event(const struct talk *t, uint64_t event, struct place *place)
{
    const struct vs_gdb_events *events = t->m->events;
    if (!events)
        return refuse(t,
                      "event: only a recorded run has events; 'vestige dump' tells their places");
    place->by_thread = true;
    return events->find(events->context, event, &place->thread, &place->retired, t->diag);
}

static int parse_place(const struct talk *t, const char *args, struct place *place)
{
    static const char usage[] = "goto POSITION, goto tT:N (thread T after N instructions), goto "
                                "start, goto end, goto event N, or goto BOOKMARK";
    const struct vs_gdb_bookmark *mark;
    uint64_t thread, n;
    char word[64];
    *place = (struct place){.thread = VS_REPLAY_NONE};
    if (!take_word(&args, word, sizeof(word)))
        return refuse(t, usage);
    if (!strcmp(word, "event") && take_number(&args, &n) && at_end(args))
        return find_event(t, n, place);
    if (!at_end(args))
        return refuse(t, usage);
    if (parse_thread_place(word, &thread, &place->retired)) {
        place->by_thread = true;
        place->thread = (unsigned)thread;
        return thread < t->m->replay->count ? 0 : no_thread(t, thread);
    }
    if (is_number(word, &place->position) || !strcmp(word, "start"))
        return 0;
    place->position = UINT64_MAX;
    if (!strcmp(word, "end"))
        return 0;
    mark = find_bookmark(&t->m->notes, word);
    if (!mark)
        return vs_diag_set(t->diag, -VSE_NOTFOUND, -1, -1, "'%s' is no place; %s", word, usage);
    place->position = mark->position;
    place->thread = mark->thread;
    return 0;
}

/* Goes to just before the thread's next instruction after so many, so that memory is as
 * that instruction finds it; or, if it is the last, to just after it. Returns as vs_history_goto.
 */
static int go_to_thread(struct vs_history *h, unsigned thread, uint64_t retired)
{
    int end = retired < UINT64_MAX ? vs_history_goto_core(h, thread, retired + 1) : VS_REPLAY_OVER;
    return end == VS_REPLAY_REACHED ? vs_history_goto(h, h->replay->position - 1)
                                    : vs_history_goto_core(h, thread, retired);
}

static int go_to(const struct talk *t, const char *args)
{
    struct vs_gdb_replayed *m = t->m;
    struct place place;
    int err = parse_place(t, args, &place);
    if (err)
        return err;
    int end = place.by_thread ? go_to_thread(&m->history, place.thread, place.retired)
                              : vs_history_goto(&m->history, place.position);
    *t->moved = true;
    vs_gdb_replayed_moved(m, place.thread == VS_REPLAY_NONE ? m->replay->last : place.thread);
    if (end < 0)
        return failed(t, end);
    say_here(t, end == VS_REPLAY_REACHED ? "" : ", the end of what is known");
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

/* ---- bookmarks ------------------------------------------------------------------------------- */

static int list_bookmarks(const struct talk *t)
{
    const struct vs_gdb_notes *n = &t->m->notes;
    for (size_t i = 0; i < n->bookmark_count; i++) {
        const struct vs_gdb_bookmark *b = &n->bookmarks[i];
        sayf(t, "%s: t%u:%" PRIu64 ", position %" PRIu64 "\n", b->name, b->thread, b->retired,
             b->position);
    }
    if (!n->bookmark_count)
        sayf(t, "there are no bookmarks; 'monitor bookmark NAME' sets one here\n");
    return 0;
}

/* bookmark [NAME] */
static int set_bookmark(const struct talk *t, const char *args)
{
    struct vs_gdb_notes *n = &t->m->notes;
    const struct vs_replay *r = t->m->replay;
    struct vs_gdb_bookmark b = {.position = r->position, .thread = t->m->current};
    if (at_end(args))
        return list_bookmarks(t);
    uint64_t a, c;
    if (!take_word(&args, b.name, sizeof(b.name)) || !at_end(args) || is_number(b.name, &a) ||
        parse_thread_place(b.name, &a, &c) || !strcmp(b.name, "start") || !strcmp(b.name, "end") ||
        !strcmp(b.name, "event"))
        return refuse(t, "bookmark NAME: a word of at most 31 letters that is no place already");
    struct vs_gdb_bookmark *old = find_bookmark(n, b.name);
    if (!old && n->bookmark_count == VS_GDB_BOOKMARKS)
        return vs_diag_set(t->diag, -VSE_LIMIT, -1, -1, "there are %d bookmarks already",
                           VS_GDB_BOOKMARKS);
    b.retired = r->cores[b.thread].cpu->retired;
    *(old ? old : &n->bookmarks[n->bookmark_count++]) = b;
    sayf(t, "%s: t%u:%" PRIu64 ", position %" PRIu64 "\n", b.name, b.thread, b.retired, b.position);
    return 0;
}

/* ---- who did it ------------------------------------------------------------------------------ */

struct question {
    bool reads, next;
    const char *usage, *none;
};

/* Finds the next access from here on. Returns as vs_history_find_back. */
static int find_next(struct vs_history *h, struct vs_history_stop *stop)
{
    const struct vs_replay_goal goal = {
        .position = UINT64_MAX, .core = VS_REPLAY_NONE, .retired = UINT64_MAX};
    int end = vs_history_run(h, &goal);
    if (end == VS_REPLAY_WATCH)
        vs_history_tell(h, end, stop);
    return end < 0 ? end : end == VS_REPLAY_WATCH;
}

static int answer(const struct talk *t, const struct question *q,
                  const struct vs_replay_watch *watch)
{
    struct vs_gdb_replayed *m = t->m;
    struct vs_history_stop stop;
    struct vs_replay_state *now;
    int err = vs_replay_save(m->replay, &now);
    if (err)
        return failed(t, err);
    m->replay->watches = watch;
    m->replay->watch_count = 1;
    vs_replay_break(m->replay, NULL, 0);
    int found = q->next ? find_next(&m->history, &stop) : vs_history_find_back(&m->history, &stop);
    if (found == 1 && (err = vs_history_goto(&m->history, stop.position)) >= 0)
        sayf(t, "t%u:%" PRIu64 ", position %" PRIu64 ", pc 0x%" PRIx64 "\n", stop.core,
             stop.retired - 1, stop.position, m->replay->cores[stop.core].cpu->pc);
    else if (!found)
        sayf(t, "%s\n", q->none);
    vs_gdb_replayed_points(m);
    int back = vs_replay_restore(m->replay, now);
    vs_replay_drop(now);
    err = found < 0 ? found : err < 0 ? err : back;
    return err < 0 ? failed(t, err) : 0;
}

/* ADDR [BYTES] */
static int ask(const struct talk *t, const char *args, const struct question *q)
{
    uint64_t addr, size = 1;
    bool good = take_number(&args, &addr);
    if (good && !at_end(args))
        good = take_number(&args, &size) && size && addr + size > addr;
    if (!good || !at_end(args))
        return refuse(t, q->usage);
    const struct vs_replay_watch watch = {
        .addr = addr, .size = size, .reads = q->reads, .writes = !q->reads};
    return answer(t, q, &watch);
}

static int who_wrote(const struct talk *t, const char *args)
{
    return ask(t, args,
               &(struct question){false, false, "who-wrote ADDR [BYTES]",
                                  "no instruction wrote it before here"});
}

static int who_read(const struct talk *t, const char *args)
{
    return ask(t, args,
               &(struct question){true, false, "who-read ADDR [BYTES]",
                                  "no instruction read it before here"});
}

static int who_writes(const struct talk *t, const char *args)
{
    return ask(t, args,
               &(struct question){false, true, "who-writes ADDR [BYTES]",
                                  "no instruction writes it from here on"});
}

static int who_reads(const struct talk *t, const char *args)
{
    return ask(t, args,
               &(struct question){true, true, "who-reads ADDR [BYTES]",
                                  "no instruction reads it from here on"});
}

/* ---- around here ----------------------------------------------------------------------------- */

enum { SHOWN_AROUND = 8 };

static void say_call(const struct talk *t, const struct vs_gdb_happening *x)
{
    sayf(t, "  t%u:%-10" PRIu64 " ", x->core, x->retired);
    t->say(t->context, x->text);
    sayf(t, "\n");
}

static void say_turn(const struct talk *t, const struct vs_gdb_happening *x)
{
    if (x->retired == x->retired_end)
        return; /* another was here before it did anything */
    sayf(t, "  t%u:%" PRIu64 "%s to t%u:%" PRIu64 ", from position %" PRIu64 "%s\n", x->core,
         x->retired, x->begun ? " or before" : "", x->core, x->retired_end, x->position,
         x->begun ? " or before" : "");
}

static int tell_around(const struct talk *t, const char *args, enum vs_gdb_around_kind kind,
                       const char *usage)
{
    void (*say)(const struct talk *t, const struct vs_gdb_happening *x) =
        kind == VS_GDB_CALLS ? say_call : say_turn;
    uint64_t most = SHOWN_AROUND, thread = VS_GDB_ANYONE;
    struct vs_gdb_around a;
    char word[32];
    while (take_word(&args, word, sizeof(word)))
        if (!is_number(word, &most) && (*word != 't' || !is_number(word + 1, &thread)))
            return refuse(t, usage);
    if (!at_end(args) || !most || most > VS_GDB_AROUND_MOST)
        return refuse(t, usage);
    if (thread != VS_GDB_ANYONE && thread >= t->m->replay->count)
        return no_thread(t, thread);
    vs_replay_break(t->m->replay, NULL, 0);
    int err = vs_gdb_around_find(&t->m->history, kind, (unsigned)thread, (size_t)most, &a);
    vs_gdb_replayed_points(t->m);
    for (size_t i = 0; i < a.before_count && !err; i++)
        say(t, &a.before[i]);
    if (!err)
        say_here(t, " <- here");
    for (size_t i = 0; i < a.after_count && !err; i++)
        say(t, &a.after[i]);
    if (!err && a.more)
        sayf(t, "no more within %u instructions\n", (unsigned)VS_GDB_AROUND_AHEAD);
    vs_gdb_around_fini(&a);
    return err ? failed(t, err) : 0;
}

static int tell_calls(const struct talk *t, const char *args)
{
    return tell_around(t, args, VS_GDB_CALLS, "calls [COUNT] [tT]: of all threads, or of one");
}

static int tell_turns(const struct talk *t, const char *args)
{
    return tell_around(t, args, VS_GDB_TURNS, "ran [COUNT] [tT]: all threads, or one");
}

/* ---- output ---------------------------------------------------------------------------------- */

enum { OUTPUT_SHOWN = 1 << 14 }; /* bytes */

static void say_bytes(const struct talk *t, const uint8_t *bytes, size_t size)
{
    char text[256];
    while (size) {
        const uint8_t *line = memchr(bytes, '\n', size);
        size_t most = line ? (size_t)(line - bytes) : size, n = most < 48 ? most : 48;
        text[0] = 0;
        vs_gdb_escape(text, sizeof(text), bytes, n);
        t->say(t->context, text);
        if (n == most && line)
            n++;
        if (n > most || n == size)
            t->say(t->context, "\n");
        bytes += n;
        size -= n;
    }
}

/* Gathers what was written to a file, up to here. Returns 0; -VSE_NOMEM. */
static int gather(const struct vs_gdb_replayed *m, uint64_t fd, struct vs_buf *all)
{
    const struct vs_gdb_output *o = &m->notes.output;
    int err = 0;
    for (size_t i = 0; i < o->count && !err; i++) {
        const struct vs_gdb_written *w = &o->items[i];
        if (w->fd == fd && w->retired <= m->replay->cores[w->core].cpu->retired)
            err = vs_buf_put(all, o->bytes.data + w->at, w->size);
    }
    return err;
}

static int say_output(const struct talk *t, uint64_t fd)
{
    struct vs_buf all = {0};
    int err = gather(t->m, fd, &all);
    size_t left_out = all.len > OUTPUT_SHOWN ? all.len - OUTPUT_SHOWN : 0;
    if (!err && all.len)
        sayf(t, "file %" PRIu64 ", %zu bytes%s:\n", fd, all.len,
             left_out ? ", of which these are the last" : "");
    if (!err && all.len)
        say_bytes(t, all.data + left_out, all.len - left_out);
    vs_buf_fini(&all);
    return err;
}

static bool is_first_of_file(const struct vs_gdb_output *o, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (o->items[k].fd == o->items[i].fd)
            return false;
    return true;
}

/* output [FD] */
static int tell_output(const struct talk *t, const char *args)
{
    struct vs_gdb_replayed *m = t->m;
    const struct vs_gdb_output *o = &m->notes.output;
    uint64_t fd = 0;
    bool one = take_number(&args, &fd);
    if (!at_end(args))
        return refuse(t, "output [FD]: of all files, or of one");
    vs_replay_break(m->replay, NULL, 0);
    int err = vs_gdb_output_update(&m->notes.output, &m->history);
    vs_gdb_replayed_points(m);
    for (size_t i = 0; i < o->count && !err; i++)
        if (is_first_of_file(o, i) && (!one || o->items[i].fd == fd))
            err = say_output(t, o->items[i].fd);
    return err ? failed(t, err) : 0;
}

/* ---- the commands ---------------------------------------------------------------------------- */

static int tell_help(const struct talk *t, const char *args);

static const struct {
    const char *name;
    int (*run)(const struct talk *t, const char *args);
    const char *help;
} commands[] = {
    {"position", tell_position, "where the program stands"},
    {"threads", tell_threads, "where each thread stands"},
    {"process", tell_process, "the process id and the program"},
    {"mappings", tell_mappings, "what is mapped, as files and calls tell"},
    {"goto", go_to, "goto POSITION, tT:N, start, end, event N, or a bookmark"},
    {"bookmark", set_bookmark, "bookmark [NAME]: notes this place, or lists them"},
    {"who-wrote", who_wrote, "who-wrote ADDR [BYTES]: the last write before here"},
    {"who-read", who_read, "who-read ADDR [BYTES]: the last read before here"},
    {"who-writes", who_writes, "who-writes ADDR [BYTES]: the next write from here on"},
    {"who-reads", who_reads, "who-reads ADDR [BYTES]: the next read from here on"},
    {"calls", tell_calls, "calls [COUNT] [tT]: system calls before and after here"},
    {"ran", tell_turns, "ran [COUNT] [tT]: which thread ran when, around here"},
    {"output", tell_output, "output [FD]: what was written to files, up to here"},
    {"cycle", tell_cycle, "of each thread's last message, in a timed stream"},
    {"messages", tell_messages, "how much of the stream was read"},
    {"help", tell_help, "this"},
    {"attend", attend, NULL},
};

static int tell_help(const struct talk *t, const char *args)
{
    (void)args;
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
        if (commands[i].help)
            sayf(t, "%-11s %s\n", commands[i].name, commands[i].help);
    return 0;
}

static int refuse_command(const char *command, size_t n, struct vs_diag *diag)
{
    char names[192];
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
