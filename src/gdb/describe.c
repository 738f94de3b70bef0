/* SPDX-License-Identifier: MIT */
#include "gdb/describe.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/bytes.h"
#include "isa/rv64/rv64.h"

/* ---- registers ----------------------------------------------------------------------------- */

static size_t size_of(unsigned number)
{
    return number < VS_GDB_REG_FFLAGS ? 8 : 4;
}

static uint64_t value_of(const struct vs_gdb_registers *regs, unsigned number)
{
    switch (number) {
    case VS_GDB_REG_PC:
        return regs->pc;
    case VS_GDB_REG_FFLAGS:
        return regs->fcsr & 0x1f;
    case VS_GDB_REG_FRM:
        return regs->fcsr >> 5 & 7;
    case VS_GDB_REG_FCSR:
        return regs->fcsr;
    default:
        return number < VS_GDB_REG_PC ? regs->x[number] : regs->f[number - VS_GDB_REG_F];
    }
}

void vs_gdb_put_register(struct vs_gdb_writer *w, const struct vs_gdb_registers *regs,
                         unsigned number)
{
    size_t size = size_of(number);
    uint8_t bytes[8];

    if (!regs) {
        vs_gdb_put(w, "xxxxxxxxxxxxxxxx", 2 * size);
        return;
    }
    vs_put64(bytes, value_of(regs, number));
    vs_gdb_put_hex(w, bytes, size);
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

static const char *type_of(unsigned x)
{
    return x >= 2 && x <= 4 ? "data_ptr" : "int"; /* sp, gp, tp */
}

static void describe_cpu(struct vs_buf *xml, int *e)
{
    add(xml, e, "<feature name=\"org.gnu.gdb.riscv.cpu\">\n");
    for (unsigned i = 0; i < 32; i++)
        add(xml, e, "<reg name=\"%s\" bitsize=\"64\" type=\"%s\" regnum=\"%u\"/>\n",
            vs_rv64_xname(i), type_of(i), i);
    add(xml, e, "<reg name=\"pc\" bitsize=\"64\" type=\"code_ptr\" regnum=\"%d\"/>\n",
        VS_GDB_REG_PC);
    add(xml, e, "</feature>\n");
}

static void describe_fpu(struct vs_buf *xml, int *e)
{
    static const char *const status[] = {"fflags", "frm", "fcsr"};

    add(xml, e,
        "<feature name=\"org.gnu.gdb.riscv.fpu\">\n"
        "<union id=\"riscv_double\"><field name=\"float\" type=\"ieee_single\"/>"
        "<field name=\"double\" type=\"ieee_double\"/></union>\n");
    for (unsigned i = 0; i < 32; i++)
        add(xml, e, "<reg name=\"%s\" bitsize=\"64\" type=\"riscv_double\" regnum=\"%u\"/>\n",
            vs_rv64_fname(i), VS_GDB_REG_F + i);
    for (unsigned i = 0; i < 3; i++)
        add(xml, e, "<reg name=\"%s\" bitsize=\"32\" type=\"int\" regnum=\"%u\"/>\n", status[i],
            VS_GDB_REG_FFLAGS + i);
    add(xml, e, "</feature>\n");
}

int vs_gdb_describe_target(struct vs_buf *xml)
{
    int e = 0;

    add(xml, &e,
        "<?xml version=\"1.0\"?>\n<!DOCTYPE target SYSTEM \"gdb-target.dtd\">\n"
        "<target version=\"1.0\">\n<architecture>riscv:rv64</architecture>\n");
    describe_cpu(xml, &e);
    describe_fpu(xml, &e);
    add(xml, &e, "</target>\n");
    return e;
}

/* Without the one that stopped, a debugger would take it for gone, and be nowhere. */
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
    struct vs_gdb_registers regs;
    if (m->ops->is_alive(m->machine, thread))
        return "";
    return m->ops->registers(m->machine, thread, &regs) ? "not started" : "ended";
}

int vs_gdb_describe_threads(struct vs_buf *xml, const struct vs_gdb_machine *m,
                            struct vs_gdb_seen *seen)
{
    unsigned threads = m->ops->threads(m->machine);
    int e = 0;

    add(xml, &e, "<?xml version=\"1.0\"?>\n<threads>\n");
    for (unsigned i = 0; i < threads; i++) {
        if (vs_gdb_is_shown(m, i, seen))
            add(xml, &e, "<thread id=\"%x\" core=\"%u\" name=\"core %u\">%s</thread>\n", i + 1, i,
                i, vs_gdb_thread_state(m, i));
    }
    add(xml, &e, "</threads>\n");
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

/* Linux numbers signals on RISC-V as on the host. */
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
    if (stop->kind == VS_GDB_INTERRUPTED)
        return GDB_INT;
    return stop->kind == VS_GDB_SIGNAL ? vs_gdb_signal(stop->signal) : GDB_TRAP;
}

static const char *watch_name(enum vs_gdb_point point)
{
    return point == VS_GDB_POINT_READ     ? "rwatch"
           : point == VS_GDB_POINT_ACCESS ? "awatch"
                                          : "watch";
}

void vs_gdb_put_stop(struct vs_gdb_writer *w, const struct vs_gdb_stop *stop, bool swbreak,
                     bool hwbreak)
{
    bool hard = stop->point == VS_GDB_POINT_HARD_BREAK;

    vs_gdb_printf(w, "T%02xthread:%x;", signal_of(stop), stop->thread + 1);
    switch (stop->kind) {
    case VS_GDB_BREAK:
        if (hard ? hwbreak : swbreak)
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
    case VS_GDB_STEPPED:
    case VS_GDB_INTERRUPTED:
    case VS_GDB_SIGNAL:
        break;
    }
}
