/* SPDX-License-Identifier: MIT */
#include "gdb/stub.h"

#include <stdio.h>
#include <string.h>

#include "gdb/fields.h"

#define PIECE_MAX   ((VS_GDB_PACKET_MAX - 1) / 2) /* bytes that fit in a packet in any coding */
#define COMMAND_MAX 1024                          /* bytes of a `monitor` command */
#define MALFORMED   "E01"
#define NO_MEMORY   "E0c"
#define UNKNOWN     "E14" /* the memory's contents are not known */

/* ---- answers ------------------------------------------------------------------------------- */

static void answer(struct vs_gdb_stub *s, const char *text)
{
    vs_gdb_begin(s->w);
    vs_gdb_put(s->w, text, strlen(text));
    vs_gdb_end(s->w);
}

/* Debuggers do not undo escapes in the text of an error, so there must be none. */
void vs_gdb_stub_error(struct vs_gdb_stub *s, const char *text)
{
    char plain[sizeof(((struct vs_diag *)0)->text)];
    size_t n = 0;

    for (; text[n] && n + 1 < sizeof(plain); n++)
        plain[n] = strchr("$#*}", text[n]) ? '?' : text[n];
    plain[n] = 0;
    vs_gdb_begin(s->w);
    vs_gdb_put(s->w, "E.", 2);
    vs_gdb_put(s->w, plain, n);
    vs_gdb_end(s->w);
}

static void console(void *context, const char *text)
{
    struct vs_gdb_stub *s = context;
    size_t left = strlen(text);

    while (left) {
        size_t n = left < PIECE_MAX ? left : PIECE_MAX;

        vs_gdb_begin(s->w);
        vs_gdb_put(s->w, "O", 1);
        vs_gdb_put_hex(s->w, text, n);
        vs_gdb_end(s->w);
        text += n;
        left -= n;
    }
}

static const char *reason(const struct vs_diag *diag, int error)
{
    return diag->text[0] ? diag->text : vs_errstr(error);
}

static void complain(struct vs_gdb_stub *s, const struct vs_diag *diag, int error)
{
    console(s, "vestige: ");
    console(s, reason(diag, error));
    console(s, "\n");
}

static unsigned threads(const struct vs_gdb_stub *s)
{
    return s->machine->ops->threads(s->machine->machine);
}

static unsigned current(const struct vs_gdb_stub *s)
{
    return s->machine->ops->current(s->machine->machine);
}

/* ---- registers and memory ------------------------------------------------------------------ */

static void all_registers(struct vs_gdb_stub *s, const char *args)
{
    (void)args;
    vs_gdb_begin(s->w);
    for (unsigned i = 0; i < s->machine->registers->count; i++)
        vs_gdb_put_register(s->w, s->machine, s->general, i);
    vs_gdb_end(s->w);
}

static void one_register(struct vs_gdb_stub *s, const char *args)
{
    uint64_t place;

    if (!vs_gdb_take_number(&args, &place) || *args || place >= s->machine->registers->count) {
        answer(s, MALFORMED);
        return;
    }
    vs_gdb_begin(s->w);
    vs_gdb_put_register(s->w, s->machine, s->general, (unsigned)place);
    vs_gdb_end(s->w);
}

static void read_memory(struct vs_gdb_stub *s, const char *args)
{
    uint8_t bytes[PIECE_MAX];
    uint64_t addr, size;
    size_t known;

    if (!vs_gdb_take_pair(&args, &addr, &size) || *args) {
        answer(s, MALFORMED);
        return;
    }
    size = size < PIECE_MAX ? size : PIECE_MAX;
    known = s->machine->ops->read(s->machine->machine, s->general, addr, bytes, size);
    if (size && !known) {
        answer(s, UNKNOWN);
        return;
    }
    vs_gdb_begin(s->w);
    vs_gdb_put_hex(s->w, bytes, known);
    vs_gdb_end(s->w);
}

static void refuse_change(struct vs_gdb_stub *s, const char *args)
{
    (void)args;
    vs_gdb_stub_error(s, "this is a replay: the past cannot be changed");
}

/* ---- points -------------------------------------------------------------------------------- */

struct point {
    enum vs_gdb_point kind;
    uint64_t addr, size;
};

/* Gets the point that the arguments describe. Returns false, and answers, if they describe none. */
static bool get_point(struct vs_gdb_stub *s, const char *args, struct point *p)
{
    if (args[0] < '0' || args[0] > '4') {
        answer(s, "");
        return false;
    }
    p->kind = (enum vs_gdb_point)(args[0] - '0');
    args++;
    if (vs_gdb_take_char(&args, ',') && vs_gdb_take_pair(&args, &p->addr, &p->size) &&
        (*args == 0 || *args == ';'))
        return true;
    answer(s, MALFORMED);
    return false;
}

static void insert_point(struct vs_gdb_stub *s, const char *args)
{
    struct point p;
    int e;

    if (!get_point(s, args, &p))
        return;
    e = s->machine->ops->insert(s->machine->machine, p.kind, p.addr, p.size);
    if (e == -VSE_LIMIT)
        vs_gdb_stub_error(s, "too many breakpoints and watchpoints");
    else if (e < 0)
        vs_gdb_stub_error(s, vs_errstr(e));
    else
        answer(s, "OK");
}

/* The protocol wants this to be idempotent, so it is no error if there is no such point. */
static void remove_point(struct vs_gdb_stub *s, const char *args)
{
    struct point p;
    int e;

    if (!get_point(s, args, &p))
        return;
    e = s->machine->ops->remove(s->machine->machine, p.kind, p.addr, p.size);
    if (e < 0 && e != -VSE_NOTFOUND)
        vs_gdb_stub_error(s, vs_errstr(e));
    else
        answer(s, "OK");
}

/* ---- running ------------------------------------------------------------------------------- */

static void answer_stop(struct vs_gdb_stub *s)
{
    vs_gdb_begin(s->w);
    vs_gdb_put_stop(s->w, s->machine, &s->stop, &s->reasons);
    vs_gdb_end(s->w);
}

static void halted(struct vs_gdb_stub *s, const char *args)
{
    (void)args;
    answer_stop(s);
}

/* The debugger takes for granted that its next questions are about the thread that stopped. */
static void resume(struct vs_gdb_stub *s, struct vs_gdb_resume how)
{
    struct vs_diag diag = {0};
    struct vs_gdb_stop stop = {0};
    int e;

    how.poll = s->poll;
    how.context = s->context;
    e = s->machine->ops->resume(s->machine->machine, &how, &stop, &diag);
    if (e < 0) {
        complain(s, &diag, e);
        stop = (struct vs_gdb_stop){.kind = VS_GDB_END, .thread = current(s)};
    }
    if (stop.kind == VS_GDB_EXEC) /* the debugger forgets all threads but one */
        s->seen = (struct vs_gdb_seen){0};
    if (stop.kind == VS_GDB_EXEC && s->reasons.exec && s->machine->ops->forget)
        s->machine->ops->forget(s->machine->machine, true);
    s->stop = stop;
    s->general = stop.thread;
    answer_stop(s);
}

/* Where a debugger names no particular thread, the one it looks at steps. */
static unsigned stepping(const struct vs_gdb_stub *s, int64_t thread)
{
    return thread >= 0 ? (unsigned)thread : s->general;
}

static void move(struct vs_gdb_stub *s, bool backwards, bool step)
{
    struct vs_gdb_resume how = {.backwards = backwards, .step = step};

    how.thread = step ? stepping(s, s->control) : 0;
    resume(s, how);
}

static void go_on(struct vs_gdb_stub *s, const char *args)
{
    if (*args)
        refuse_change(s, args);
    else
        move(s, false, false);
}

static void step(struct vs_gdb_stub *s, const char *args)
{
    if (*args)
        refuse_change(s, args);
    else
        move(s, false, true);
}

static void go_back(struct vs_gdb_stub *s, const char *args)
{
    (void)args;
    move(s, true, false);
}

static void step_back(struct vs_gdb_stub *s, const char *args)
{
    (void)args;
    move(s, true, true);
}

/* Skips the signal to resume with, since the run is settled; an address may follow it. Returns
 * false, and answers, if the arguments are malformed. */
static bool skip_signal(struct vs_gdb_stub *s, const char **args)
{
    uint64_t signal;

    if (!vs_gdb_take_number(args, &signal) || (**args && **args != ';')) {
        answer(s, MALFORMED);
        return false;
    }
    return true;
}

static void go_on_signalled(struct vs_gdb_stub *s, const char *args)
{
    if (skip_signal(s, &args))
        go_on(s, args);
}

static void step_signalled(struct vs_gdb_stub *s, const char *args)
{
    if (skip_signal(s, &args))
        step(s, args);
}

static void actions(struct vs_gdb_stub *s, const char *args)
{
    (void)args;
    answer(s, "vCont;c;C;s;S");
}

struct action {
    bool step;
    int64_t thread;
};

static bool take_action(const struct vs_gdb_stub *s, const char **args, struct action *a)
{
    char kind;
    uint64_t signal;

    if (!vs_gdb_take_char(args, ';') || !**args || !strchr("cCsS", **args))
        return false;
    kind = *(*args)++;
    if ((kind == 'C' || kind == 'S') && !vs_gdb_take_number(args, &signal))
        return false;
    a->step = kind == 's' || kind == 'S';
    a->thread = VS_GDB_ALL_THREADS;
    if (vs_gdb_take_char(args, ':') && !vs_gdb_take_thread(args, threads(s), &a->thread))
        return false;
    return **args == 0 || **args == ';';
}

/* The first action that steps decides. The other threads may run meanwhile, since it is settled
 * what each of them does and when; for the same reason none of them can be held back. */
static void act(struct vs_gdb_stub *s, const char *args)
{
    struct vs_gdb_resume how = {0};
    bool any = false;

    while (*args) {
        struct action a;

        if (!take_action(s, &args, &a)) {
            answer(s, MALFORMED);
            return;
        }
        if (a.step && !how.step) {
            how.step = true;
            how.thread = stepping(s, a.thread);
        }
        any = true;
    }
    if (any)
        resume(s, how);
    else
        answer(s, MALFORMED);
}

/* ---- threads ------------------------------------------------------------------------------- */

static bool get_thread(struct vs_gdb_stub *s, const char *args, int64_t *thread)
{
    if (vs_gdb_take_thread(&args, threads(s), thread) && !*args)
        return true;
    vs_gdb_stub_error(s, "no such thread");
    return false;
}

static void set_general(struct vs_gdb_stub *s, const char *args)
{
    int64_t thread;

    if (!get_thread(s, args, &thread))
        return;
    s->general = thread >= 0 ? (unsigned)thread : current(s);
    answer(s, "OK");
}

static void set_control(struct vs_gdb_stub *s, const char *args)
{
    if (get_thread(s, args, &s->control))
        answer(s, "OK");
}

static void is_alive(struct vs_gdb_stub *s, const char *args)
{
    int64_t thread;

    if (!get_thread(s, args, &thread))
        return;
    if (thread < 0 || vs_gdb_is_shown(s->machine, (unsigned)thread, &s->seen))
        answer(s, "OK");
    else
        vs_gdb_stub_error(s, "the thread does not exist now");
}

static void current_thread(struct vs_gdb_stub *s, const char *args)
{
    (void)args;
    vs_gdb_begin(s->w);
    vs_gdb_printf(s->w, "QC%x", s->general + 1);
    vs_gdb_end(s->w);
}

static void more_threads(struct vs_gdb_stub *s, const char *args)
{
    const unsigned fit = PIECE_MAX / 8, count = threads(s); /* an id has up to 8 digits */
    unsigned put = 0;

    (void)args;
    vs_gdb_begin(s->w);
    for (; s->listed < count && put < fit; s->listed++) {
        if (vs_gdb_is_shown(s->machine, s->listed, &s->seen))
            vs_gdb_printf(s->w, "%c%x", put++ ? ',' : 'm', s->listed + 1);
    }
    if (!put)
        vs_gdb_put(s->w, "l", 1);
    vs_gdb_end(s->w);
}

static void first_threads(struct vs_gdb_stub *s, const char *args)
{
    s->listed = 0;
    more_threads(s, args);
}

static void about_thread(struct vs_gdb_stub *s, const char *args)
{
    struct vs_gdb_thread about = {0};
    int64_t thread;
    char text[64];

    if (!get_thread(s, *args ? args + 1 : args, &thread))
        return;
    thread = stepping(s, thread);
    s->machine->ops->describe(s->machine->machine, (unsigned)thread, &about);
    vs_gdb_thread_text(s->machine, (unsigned)thread, about.id, text, sizeof(text));
    vs_gdb_begin(s->w);
    vs_gdb_put_hex(s->w, about.name, strlen(about.name));
    if (text[0])
        vs_gdb_put_hex(s->w, ", ", 2);
    vs_gdb_put_hex(s->w, text, strlen(text));
    vs_gdb_end(s->w);
}

/* THREAD,OFFSET,LM: the variable at that offset among those of a library, or of the program, that
 * each thread has of its own. LM is what the list of libraries says. */
static void thread_local_address(struct vs_gdb_stub *s, const char *args)
{
    const struct vs_gdb_machine *m = s->machine;
    uint64_t offset, library, addr;
    int64_t thread;

    args += *args == ':';
    if (!vs_gdb_take_thread(&args, threads(s), &thread) || !vs_gdb_take_char(&args, ',') ||
        !vs_gdb_take_pair(&args, &offset, &library) || *args) {
        answer(s, MALFORMED);
    } else if (!m->ops->thread_local) {
        answer(s, "");
    } else if (m->ops->thread_local(m->machine, stepping(s, thread), library, &addr) < 0) {
        vs_gdb_stub_error(s, "it is not known where the thread has this variable");
    } else {
        vs_gdb_begin(s->w);
        vs_gdb_printf(s->w, "%llx", (unsigned long long)(addr + offset));
        vs_gdb_end(s->w);
    }
}

/* ---- documents ----------------------------------------------------------------------------- */

static struct vs_gdb_process loaded(const struct vs_gdb_stub *s)
{
    struct vs_gdb_process p;

    s->machine->ops->process(s->machine->machine, &p);
    return p;
}

static int get_features(struct vs_gdb_stub *s, const char *annex, struct vs_buf *document)
{
    (void)s;
    return strcmp(annex, "target.xml") ? -VSE_NOTFOUND
                                       : vs_gdb_describe_target(document, s->machine->registers);
}

static int get_threads(struct vs_gdb_stub *s, const char *annex, struct vs_buf *document)
{
    return *annex ? -VSE_NOTFOUND : vs_gdb_describe_threads(document, s->machine, &s->seen);
}

static int get_program(struct vs_gdb_stub *s, const char *annex, struct vs_buf *document)
{
    const char *program = loaded(s).program;

    (void)annex; /* it names the process, and there is only one */
    return program ? vs_buf_put(document, program, strlen(program)) : -VSE_NOTFOUND;
}

static int get_libraries(struct vs_gdb_stub *s, const char *annex, struct vs_buf *document)
{
    const struct vs_gdb_process p = loaded(s);

    (void)annex;
    if (s->machine->ops->forget)
        s->machine->ops->forget(s->machine->machine, false);
    return vs_gdb_describe_libraries(document, &p);
}

static int get_vector(struct vs_gdb_stub *s, const char *annex, struct vs_buf *document)
{
    const struct vs_gdb_process p = loaded(s);

    return *annex || !p.entry ? -VSE_NOTFOUND : vs_gdb_describe_vector(document, &p);
}

static const struct {
    const char *object;
    int (*get)(struct vs_gdb_stub *s, const char *annex, struct vs_buf *document);
} documents[] = {
    {":features:read:", get_features}, {":threads:read:", get_threads},
    {":exec-file:read:", get_program}, {":libraries-svr4:read:", get_libraries},
    {":auxv:read:", get_vector},
};

static void answer_part(struct vs_gdb_stub *s, const struct vs_buf *document, uint64_t offset,
                        uint64_t size)
{
    uint64_t left = offset < document->len ? document->len - offset : 0;

    size = size < PIECE_MAX ? size : PIECE_MAX;
    vs_gdb_begin(s->w);
    vs_gdb_put(s->w, left > size ? "m" : "l", 1);
    if (left)
        vs_gdb_put(s->w, document->data + offset, left < size ? left : size);
    vs_gdb_end(s->w);
}

/* ANNEX:OFFSET,LENGTH */
static bool split_request(const char *args, char *annex, size_t capacity, uint64_t *offset,
                          uint64_t *size)
{
    const char *range = strrchr(args, ':');
    size_t n = range ? (size_t)(range - args) : capacity;

    if (n >= capacity)
        return false;
    range++;
    if (!vs_gdb_take_pair(&range, offset, size) || *range)
        return false;
    memcpy(annex, args, n);
    annex[n] = 0;
    return true;
}

static void transfer(struct vs_gdb_stub *s, const char *args)
{
    uint64_t offset, size;
    char annex[64];
    size_t i = 0;
    int e;
    struct vs_buf document = {0};
    const size_t count = sizeof(documents) / sizeof(documents[0]);

    while (i < count && strncmp(args, documents[i].object, strlen(documents[i].object)))
        i++;
    if (i == count) {
        answer(s, "");
        return;
    }
    args += strlen(documents[i].object);
    if (!split_request(args, annex, sizeof(annex), &offset, &size)) {
        answer(s, "E00");
        return;
    }
    e = documents[i].get(s, annex, &document);
    if (e < 0)
        answer(s, e == -VSE_NOMEM ? NO_MEMORY : "E00");
    else
        answer_part(s, &document, offset, size);
    vs_buf_fini(&document);
}

/* ---- commands ------------------------------------------------------------------------------ */

/* The debugger does not know that the machine moved, and its next questions are still about the
 * thread that it has chosen: `general` stays. */
static void moved(struct vs_gdb_stub *s)
{
    s->stop = (struct vs_gdb_stop){.kind = VS_GDB_STEPPED, .thread = current(s)};
}

/* An older debugger takes an error for one of the protocol and hides the reason, so that goes to
 * its console. */
static void answer_failure(struct vs_gdb_stub *s, const struct vs_diag *diag, int error)
{
    if (error == -VSE_NOTFOUND && !diag->text[0]) {
        answer(s, "");
    } else if (s->error_message) {
        vs_gdb_stub_error(s, reason(diag, error));
    } else {
        complain(s, diag, error);
        answer(s, "OK");
    }
}

static void monitor(struct vs_gdb_stub *s, const char *args)
{
    char command[COMMAND_MAX + 1];
    struct vs_diag diag = {0};
    bool elsewhere = false;
    int64_t n = *args ? vs_gdb_unhex(args + 1, (uint8_t *)command, COMMAND_MAX) : -VSE_CORRUPT;
    int e;

    if (n < 0 || memchr(command, 0, (size_t)n)) {
        answer(s, MALFORMED);
        return;
    }
    command[n] = 0;
    e = s->machine->ops->monitor(s->machine->machine, command, console, s, &elsewhere, &diag);
    if (elsewhere)
        moved(s);
    if (e < 0)
        answer_failure(s, &diag, e);
    else
        answer(s, "OK");
}

/* ---- the debugger itself ------------------------------------------------------------------- */

static bool offers(const char *list, const char *feature)
{
    size_t n = strlen(feature);

    for (const char *p = list; (p = strstr(p, feature)) != NULL; p += n) {
        if (p > list && (p[-1] == ':' || p[-1] == ';') && (p[n] == 0 || p[n] == ';'))
            return true;
    }
    return false;
}

static void supported(struct vs_gdb_stub *s, const char *args)
{
    s->reasons = (struct vs_gdb_reasons){.swbreak = offers(args, "swbreak+"),
                                         .hwbreak = offers(args, "hwbreak+"),
                                         .exec = offers(args, "exec-events+")};
    s->error_message = offers(args, "error-message+");
    vs_gdb_begin(s->w);
    vs_gdb_printf(s->w,
                  "PacketSize=%x;QStartNoAckMode+;qXfer:features:read+;qXfer:threads:read+;"
                  "ReverseStep+;ReverseContinue+;vContSupported+;swbreak+;hwbreak+",
                  VS_GDB_PACKET_MAX);
    if (loaded(s).program)
        vs_gdb_printf(s->w, ";qXfer:exec-file:read+;qXfer:libraries-svr4:read+;qXfer:auxv:read+;"
                            "exec-events+");
    if (s->machine->ops->pass)
        vs_gdb_printf(s->w, ";QPassSignals+");
    if (s->error_message)
        vs_gdb_printf(s->w, ";error-message+");
    vs_gdb_end(s->w);
}

/* Returns the target's number of the signal with this number in gdb, or 0. */
static int target_signal(uint64_t number)
{
    int signal = 64;
    while (signal && vs_gdb_signal(signal) != number)
        signal--;
    return signal;
}

/* The arguments are gdb's numbers of all signals that it need not be told about, between
 * semicolons. */
static void pass_signals(struct vs_gdb_stub *s, const char *args)
{
    uint64_t set = 0, number;

    args += *args == ':';
    while (*args) {
        if (!vs_gdb_take_number(&args, &number) || (*args && !vs_gdb_take_char(&args, ';'))) {
            answer(s, MALFORMED);
            return;
        }
        int signal = target_signal(number);
        if (signal)
            set |= UINT64_C(1) << (signal - 1);
    }
    if (s->machine->ops->pass)
        s->machine->ops->pass(s->machine->machine, set);
    answer(s, s->machine->ops->pass ? "OK" : "");
}

static void no_acks(struct vs_gdb_stub *s, const char *args)
{
    (void)args;
    s->no_acks = true;
    answer(s, "OK");
}

static void non_stop(struct vs_gdb_stub *s, const char *args)
{
    if (strcmp(args, ":0"))
        vs_gdb_stub_error(s, "there is no non-stop mode");
    else
        answer(s, "OK");
}

/* A program that can lie anywhere is moved as a whole, so all its sections have the same offset. */
static void offsets(struct vs_gdb_stub *s, const char *args)
{
    unsigned long long base = loaded(s).base;

    (void)args;
    vs_gdb_begin(s->w);
    if (base)
        vs_gdb_printf(s->w, "Text=%llx;Data=%llx;Bss=%llx", base, base, base);
    vs_gdb_end(s->w);
}

/* Says that the process was there before, so that a debugger that ends detaches and does not
 * kill. */
static void attached(struct vs_gdb_stub *s, const char *args)
{
    (void)args;
    answer(s, "1");
}

static void no_symbols(struct vs_gdb_stub *s, const char *args)
{
    (void)args;
    answer(s, "OK");
}

static void detach(struct vs_gdb_stub *s, const char *args)
{
    (void)args;
    answer(s, "OK");
    s->wish = VS_GDB_DETACH;
}

static void kill_machine(struct vs_gdb_stub *s, const char *args)
{
    (void)args;
    s->wish = VS_GDB_KILL;
}

static void kill_process(struct vs_gdb_stub *s, const char *args)
{
    answer(s, "OK");
    kill_machine(s, args);
}

/* ---- packets ------------------------------------------------------------------------------- */

/* A packet begins with a name. After it comes anything or, if `then` is given, nothing or one of
 * those characters. The arguments are what follows the name. */
static const struct {
    const char *name, *then;
    void (*answer)(struct vs_gdb_stub *s, const char *args);
} packets[] = {
    {"?", "", halted},
    {"g", "", all_registers},
    {"p", NULL, one_register},
    {"m", NULL, read_memory},
    {"G", NULL, refuse_change},
    {"P", NULL, refuse_change},
    {"M", NULL, refuse_change},
    {"X", NULL, refuse_change},
    {"Z", NULL, insert_point},
    {"z", NULL, remove_point},
    {"c", NULL, go_on},
    {"s", NULL, step},
    {"C", NULL, go_on_signalled},
    {"S", NULL, step_signalled},
    {"bc", "", go_back},
    {"bs", "", step_back},
    {"vCont?", "", actions},
    {"vCont", ";", act},
    {"Hg", NULL, set_general},
    {"Hc", NULL, set_control},
    {"T", NULL, is_alive},
    {"qC", "", current_thread},
    {"qfThreadInfo", "", first_threads},
    {"qsThreadInfo", "", more_threads},
    {"qThreadExtraInfo", ",", about_thread},
    {"qGetTLSAddr", ":", thread_local_address},
    {"qXfer", ":", transfer},
    {"qRcmd", ",", monitor},
    {"qSupported", ":", supported},
    {"QPassSignals", ":", pass_signals},
    {"QStartNoAckMode", "", no_acks},
    {"QNonStop", ":", non_stop},
    {"qOffsets", "", offsets},
    {"qAttached", ":", attached},
    {"qSymbol", ":", no_symbols},
    {"D", ";", detach},
    {"k", "", kill_machine},
    {"vKill", ";", kill_process},
};

void vs_gdb_stub_init(struct vs_gdb_stub *s, const struct vs_gdb_machine *machine,
                      struct vs_gdb_writer *w, bool (*poll)(void *context), void *context)
{
    *s = (struct vs_gdb_stub){
        .machine = machine, .w = w, .poll = poll, .context = context, .control = VS_GDB_ANY_THREAD};
    s->general = current(s);
    s->stop = (struct vs_gdb_stop){.kind = VS_GDB_STEPPED, .thread = s->general};
}

enum vs_gdb_wish vs_gdb_stub_packet(struct vs_gdb_stub *s, const char *text)
{
    for (size_t i = 0; i < sizeof(packets) / sizeof(packets[0]); i++) {
        size_t n = strlen(packets[i].name);

        /* strchr also finds the NUL at the end of `then`. */
        if (!strncmp(text, packets[i].name, n) &&
            (!packets[i].then || strchr(packets[i].then, text[n]))) {
            packets[i].answer(s, text + n);
            return s->wish;
        }
    }
    answer(s, "");
    return s->wish;
}
