/* SPDX-License-Identifier: MIT */
#include "gdb/describe.h"

#include <elf.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"

/* ---- registers ----------------------------------------------------------------------------- */

void vs_gdb_put_register(struct vs_gdb_writer *w, const struct vs_gdb_machine *m, unsigned thread,
                         unsigned place)
{
    const struct vs_register *reg = &m->registers->list[place];
    uint8_t whole[VS_REGISTER_BYTES], bytes[VS_REGISTER_BYTES];
    int width = reg->number == VS_REGISTER_NONE ? -VSE_NOTFOUND : 0;

    if (vs_register_is_numbered(reg))
        width = m->ops->get_register(m->machine, thread, reg->number, whole);

    if (width < 0) {
        for (unsigned i = 0; i < reg->size; i++)
            vs_gdb_put(w, "xx", 2);
        return;
    }
    vs_register_cut(reg, whole, (size_t)width, bytes);
    vs_gdb_put_hex(w, bytes, reg->size);
}

/* ---- documents ----------------------------------------------------------------------------- */

__attribute__((format(printf, 3, 4))) static void add(struct vs_buf *xml, int *error,
                                                      const char *format, ...)
{
    char text[256];
    va_list ap;

    va_start(ap, format);
    vsnprintf(text, sizeof(text), format, ap);
    va_end(ap);
    if (!*error)
        *error = vs_buf_put(xml, text, strlen(text));
}

static void describe_feature(struct vs_buf *xml, const struct vs_register_set *set,
                             unsigned feature, int *e)
{
    const char *types = set->features[feature].types;

    add(xml, e, "<feature name=\"%s\">\n", set->features[feature].name);
    if (!*e)
        *e = vs_buf_put(xml, types, strlen(types));
    for (unsigned i = 0; i < set->count; i++)
        if (set->list[i].feature == feature)
            add(xml, e, "<reg name=\"%s\" bitsize=\"%u\" type=\"%s\" regnum=\"%u\"/>\n",
                set->list[i].name, 8u * set->list[i].size, set->list[i].type, i);
    add(xml, e, "</feature>\n");
}

int vs_gdb_describe_target(struct vs_buf *xml, const struct vs_register_set *registers)
{
    int e = 0;

    add(xml, &e,
        "<?xml version=\"1.0\"?>\n<!DOCTYPE target SYSTEM \"gdb-target.dtd\">\n"
        "<target version=\"1.0\">\n<architecture>%s</architecture>\n",
        registers->architecture);
    for (unsigned i = 0; i < registers->feature_count; i++)
        describe_feature(xml, registers, i, &e);
    add(xml, &e, "</target>\n");
    return e;
}

/* Puts text between quotes. What no reader of XML takes becomes a question mark. */
static void add_text(struct vs_buf *xml, int *error, const char *text)
{
    for (; *text; text++) {
        if (strchr("<>&\"'", *text))
            add(xml, error, "&#%d;", *text);
        else
            add(xml, error, "%c", (unsigned char)*text < ' ' ? '?' : *text);
    }
}

/* ---- threads ------------------------------------------------------------------------------- */

/* If the thread that stopped were missing, a debugger would take it for gone and have none to look
 * at. */
bool vs_gdb_is_shown(const struct vs_gdb_machine *m, unsigned thread, struct vs_gdb_seen *seen)
{
    uint8_t bit = (uint8_t)(1 << thread % 8);
    if (thread >= VS_THREADS_MAX)
        return false;
    if (m->ops->is_alive(m->machine, thread) || thread == m->ops->current(m->machine))
        seen->bits[thread / 8] |= bit;
    return seen->bits[thread / 8] & bit;
}

const char *vs_gdb_thread_state(const struct vs_gdb_machine *m, unsigned thread)
{
    uint8_t pc[VS_REGISTER_BYTES];
    if (m->ops->is_alive(m->machine, thread))
        return "";
    return m->ops->get_register(m->machine, thread, VS_REG_PC, pc) < 0 ? "not started" : "ended";
}

void vs_gdb_thread_text(const struct vs_gdb_machine *m, unsigned thread, uint64_t id, char *text,
                        size_t capacity)
{
    const char *state = vs_gdb_thread_state(m, thread);
    char lwp[32] = "";
    if (id)
        snprintf(lwp, sizeof(lwp), "LWP %" PRIu64, id);
    snprintf(text, capacity, "%s%s%s", lwp, id && *state ? ", " : "", state);
}

static void describe_thread(struct vs_buf *xml, const struct vs_gdb_machine *m, unsigned thread,
                            int *e)
{
    struct vs_gdb_thread t = {0};
    char text[64];
    m->ops->describe(m->machine, thread, &t);
    vs_gdb_thread_text(m, thread, t.id, text, sizeof(text));
    add(xml, e, "<thread id=\"%x\" core=\"%u\" name=\"", thread + 1, thread);
    add_text(xml, e, t.name);
    add(xml, e, "\">%s</thread>\n", text);
}

int vs_gdb_describe_threads(struct vs_buf *xml, const struct vs_gdb_machine *m,
                            struct vs_gdb_seen *seen)
{
    unsigned threads = m->ops->threads(m->machine);
    int e = 0;

    add(xml, &e, "<?xml version=\"1.0\"?>\n<threads>\n");
    for (unsigned i = 0; i < threads; i++) {
        if (vs_gdb_is_shown(m, i, seen))
            describe_thread(xml, m, i, &e);
    }
    add(xml, &e, "</threads>\n");
    return e;
}

/* ---- what is loaded ------------------------------------------------------------------------ */

/* gdb only compares `lm`, the address of what the loader keeps about a library. */
int vs_gdb_describe_libraries(struct vs_buf *xml, const struct vs_gdb_process *p)
{
    int e = 0;
    add(xml, &e, "<library-list-svr4 version=\"1.0\"");
    if (p->dynamic)
        add(xml, &e, " main-lm=\"0x%" PRIx64 "\"", p->dynamic);
    add(xml, &e, ">\n");
    for (size_t i = 0; i < p->library_count; i++) {
        const struct vs_gdb_library *l = &p->libraries[i];
        add(xml, &e, "<library name=\"");
        add_text(xml, &e, l->path);
        add(xml, &e,
            "\" lm=\"0x%" PRIx64 "\" l_addr=\"0x%" PRIx64 "\" l_ld=\"0x%" PRIx64
            "\" lmid=\"0x0\"/>\n",
            l->dynamic, l->base, l->dynamic);
    }
    add(xml, &e, "</library-list-svr4>\n");
    return e;
}

int vs_gdb_describe_vector(struct vs_buf *bytes, const struct vs_gdb_process *p)
{
    enum { PAGE = 4096 };
    const uint64_t entries[][2] = {
        {AT_PHDR, p->headers}, {AT_PHENT, sizeof(Elf64_Phdr)}, {AT_PHNUM, p->header_count},
        {AT_PAGESZ, PAGE},     {AT_BASE, p->loader},           {AT_ENTRY, p->entry},
        {AT_NULL, 0},
    };
    int e = 0;
    for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]) && !e; i++) {
        uint8_t entry[16];
        vs_put64(entry, entries[i][0]);
        vs_put64(entry + 8, entries[i][1]);
        e = vs_buf_put(bytes, entry, sizeof(entry));
    }
    return e;
}

/* ---- stops --------------------------------------------------------------------------------- */

enum {
    GDB_INT = 2,
    GDB_TRAP = 5,
    GDB_REALTIME_33 = 45,
    GDB_REALTIME_32 = 77,
    GDB_REALTIME_64 = 78,
    GDB_UNKNOWN = 143
};

/* Linux numbers signals on the host as it does on the ISAs whose programs are replayed. */
_Static_assert(SIGBUS == 7 && SIGUSR1 == 10 && SIGCHLD == 17 && SIGSYS == 31, "another host");

unsigned vs_gdb_signal(int signal)
{
    static const uint8_t numbers[32] = {
        [SIGHUP] = 1,
        [SIGINT] = GDB_INT,
        [SIGQUIT] = 3,
        [SIGILL] = 4,
        [SIGTRAP] = GDB_TRAP,
        [SIGABRT] = 6,
        [SIGFPE] = 8,
        [SIGKILL] = 9,
        [SIGBUS] = 10,
        [SIGSEGV] = 11,
        [SIGSYS] = 12,
        [SIGPIPE] = 13,
        [SIGALRM] = 14,
        [SIGTERM] = 15,
        [SIGURG] = 16,
        [SIGSTOP] = 17,
        [SIGTSTP] = 18,
        [SIGCONT] = 19,
        [SIGCHLD] = 20,
        [SIGTTIN] = 21,
        [SIGTTOU] = 22,
        [SIGIO] = 23,
        [SIGXCPU] = 24,
        [SIGXFSZ] = 25,
        [SIGVTALRM] = 26,
        [SIGPROF] = 27,
        [SIGWINCH] = 28,
        [SIGUSR1] = 30,
        [SIGUSR2] = 31,
        [SIGPWR] = 32,
        [SIGSTKFLT] = GDB_UNKNOWN,
    };

    if (signal == 32 || signal == 64)
        return signal == 32 ? GDB_REALTIME_32 : GDB_REALTIME_64;
    if (signal > 32 && signal < 64)
        return GDB_REALTIME_33 + (unsigned)signal - 33;
    return signal > 0 && signal < 32 ? numbers[signal] : GDB_UNKNOWN;
}

static unsigned signal_of(const struct vs_gdb_stop *stop)
{
    if (stop->kind == VS_GDB_INTERRUPTED || stop->kind == VS_GDB_STANDING)
        return stop->kind == VS_GDB_INTERRUPTED ? GDB_INT : 0;
    return stop->kind == VS_GDB_SIGNAL ? vs_gdb_signal(stop->signal) : GDB_TRAP;
}

static const char *watch_name(enum vs_gdb_point point)
{
    return point == VS_GDB_POINT_READ     ? "rwatch"
           : point == VS_GDB_POINT_ACCESS ? "awatch"
                                          : "watch";
}

static void put_program(struct vs_gdb_writer *w, const struct vs_gdb_machine *m)
{
    struct vs_gdb_process p;
    m->ops->process(m->machine, &p);
    if (!p.program)
        return;
    vs_gdb_printf(w, "exec:");
    vs_gdb_put_hex(w, p.program, strlen(p.program));
    vs_gdb_printf(w, ";");
}

void vs_gdb_put_stop(struct vs_gdb_writer *w, const struct vs_gdb_machine *m,
                     const struct vs_gdb_stop *stop, const struct vs_gdb_reasons *reasons)
{
    bool hard = stop->point == VS_GDB_POINT_HARD_BREAK;

    vs_gdb_printf(w, "T%02xthread:%x;", signal_of(stop), stop->thread + 1);
    switch (stop->kind) {
    case VS_GDB_BREAK:
        if (hard ? reasons->hwbreak : reasons->swbreak)
            vs_gdb_printf(w, "%s:;", hard ? "hwbreak" : "swbreak");
        break;
    case VS_GDB_WATCH:
        vs_gdb_printf(w, "%s:%llx;", watch_name(stop->point), (unsigned long long)stop->addr);
        break;
    case VS_GDB_BEGINNING:
        vs_gdb_printf(w, "replaylog:begin;");
        break;
    case VS_GDB_END:
        vs_gdb_printf(w, "replaylog:end;");
        break;
    case VS_GDB_EXEC:
        if (reasons->exec)
            put_program(w, m);
        break;
    case VS_GDB_STEPPED:
    case VS_GDB_STANDING:
    case VS_GDB_INTERRUPTED:
    case VS_GDB_SIGNAL:
        break;
    }
}
