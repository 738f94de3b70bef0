/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "cli/event_print.h"
#include "cli/where_print.h"

enum { SHOWN_BYTES = 64, REGISTERS_SHOWN = 4 };

bool event_has_pc(const struct vs_event *e)
{
    const uint32_t without = 1u << VS_THREAD_EXIT | 1u << VS_MAP | 1u << VS_CODE | 1u << VS_COUNT |
                             1u << VS_TURN | 1u << VS_CONTENT;
    return !(without >> e->kind & 1) && (e->kind != VS_EXTERNAL || e->pc);
}

bool event_has_data(const struct vs_event *e)
{
    const uint32_t with = 1u << VS_LOAD | 1u << VS_STORE | 1u << VS_EXTERNAL | 1u << VS_MAP;
    return with >> e->kind & 1;
}

void event_content_path(const struct vs_batch *b, const struct vs_event *e,
                        char path[EVENT_PATH_MAX])
{
    const size_t head = sizeof(struct vs_content_file);
    snprintf(path, EVENT_PATH_MAX, "%.*s", (int)(e->size - head),
             (const char *)vs_event_bytes(b, e) + head);
}

static void number_value(struct out *o, const uint8_t *p, size_t n, bool full)
{
    bool cut = n > SHOWN_BYTES && !full;
    out_str(o, cut ? "0x..." : "0x");
    out_bytes_reversed(o, p, cut ? SHOWN_BYTES : n);
}

static void memory(struct out *o, const struct vs_batch *b, const struct vs_event *e, bool full)
{
    out_str(o, " [");
    out_hex(o, e->addr, 16);
    out_str(o, "] ");
    out_dec(o, e->size, 0);
    out_str(o, " = ");
    if (e->size <= 8)
        out_hex(o, e->value, 2u * e->size);
    else
        number_value(o, vs_event_bytes(b, e), e->size, full);
    if (e->flags & VS_MEM_ATOMIC)
        out_str(o, " atomic");
    if (e->flags & VS_MEM_REPEAT)
        out_str(o, " repeat");
}

static void content(struct out *o, const struct vs_batch *b, const struct vs_event *e, bool full)
{
    const uint8_t *p = vs_event_bytes(b, e);
    if (!e->flags) {
        memory(o, b, e, full);
        return;
    }
    out_str(o, " [");
    out_hex(o, e->addr, 16);
    out_str(o, "] length ");
    if (e->flags & VS_CONTENT_ANEW) {
        out_hex(o, e->value, 0);
        out_str(o, " anew");
        return;
    }
    if (e->flags & VS_CONTENT_DIGESTS) {
        out_hex(o, (uint64_t)e->size / 4 * VS_DIGEST_PAGE, 0);
        out_str(o, " digests of pages");
        return;
    }
    out_hex(o, vs_get64(p + 8), 0);
    out_str(o, e->flags & VS_CONTENT_FILE ? " offset " : " from ");
    out_hex(o, vs_get64(p), 0);
    if (e->flags & VS_CONTENT_FILE) {
        char path[EVENT_PATH_MAX];
        event_content_path(b, e, path);
        out_str(o, " of ");
        out_safe(o, path);
    }
}

static void turn(struct out *o, const struct vs_batch *b, const struct vs_event *e)
{
    const uint8_t *p = vs_event_bytes(b, e);
    out_str(o, " digest ");
    out_hex(o, vs_get64(p), 16);
    if (e->size == sizeof(struct vs_turn)) {
        out_str(o, " iterations ");
        out_dec(o, vs_get64(p + offsetof(struct vs_turn, iterations)), 0);
    }
}

static void branch(struct out *o, const struct vs_event *e)
{
    out_char(o, ' ');
    out_str(o, vs_branch_name(e->flags));
    if (e->flags & VS_BR_COND)
        out_str(o, e->flags & VS_BR_TAKEN ? " taken" : " not-taken");
    out_str(o, " -> ");
    out_hex(o, e->addr, 16);
    out_str(o, "  length ");
    out_dec(o, e->size, 0);
}

static void registers(struct out *o, const uint8_t *p, size_t size, bool full)
{
    unsigned number, n;
    const uint8_t *bytes;
    unsigned left_out = 0;
    int more;
    for (unsigned i = 0; (more = vs_regs_next(&p, &size, &number, &n, &bytes)) > 0; i++) {
        if (i >= REGISTERS_SHOWN && !full) {
            left_out++;
            continue;
        }
        if (number == VS_REG_PC) {
            out_str(o, " pc=");
        } else if (number == VS_REG_CAUSE) {
            out_str(o, " cause=");
        } else if (number == VS_REG_ITERATIONS) {
            out_str(o, " iterations=");
        } else {
            out_str(o, " r");
            out_dec(o, number, 0);
            out_char(o, '=');
        }
        number_value(o, bytes, n, full);
    }
    if (left_out) {
        out_str(o, " ... ");
        out_dec(o, left_out, 0);
        out_str(o, " more");
    }
    if (more < 0)
        out_str(o, " (registers cut off)");
}

static void system_call(struct out *o, const struct vs_batch *b, const struct vs_event *e,
                        bool full)
{
    const uint8_t *p = vs_event_bytes(b, e);
    out_str(o, " number ");
    out_dec(o, e->addr, 0);
    if (e->size < sizeof(struct vs_syscall_head))
        return;
    for (unsigned i = 0; i < 6; i++) {
        out_str(o, i ? ", " : " (");
        out_hex(o, vs_get64(p + 8 * i), 0);
    }
    out_str(o, ") = ");
    out_hex(o, vs_get64(p + offsetof(struct vs_syscall_head, result)), 0);
    registers(o, p + sizeof(struct vs_syscall_head), e->size - sizeof(struct vs_syscall_head),
              full);
}

static void mapping(struct out *o, const struct vs_event *e)
{
    out_str(o, " [");
    out_hex(o, e->addr, 16);
    out_str(o, "] length ");
    out_hex(o, e->value, 0);
    out_char(o, ' ');
    out_char(o, e->flags & VS_MAP_READ ? 'r' : '-');
    out_char(o, e->flags & VS_MAP_WRITE ? 'w' : '-');
    out_char(o, e->flags & VS_MAP_EXEC ? 'x' : '-');
    if (e->flags & VS_MAP_GONE)
        out_str(o, " gone");
    if (e->pc != VS_NO_IMAGE) {
        out_str(o, " image ");
        out_dec(o, e->pc, 0);
    }
}

static void label_number(struct out *o, const char *label, uint64_t v)
{
    out_str(o, label);
    out_dec(o, v, 0);
}

static void arrow(struct out *o, uint64_t address)
{
    out_str(o, " -> ");
    out_hex(o, address, 16);
}

static void fields(struct out *o, const struct vs_batch *b, const struct vs_event *e, bool full)
{
    switch (e->kind) {
    case VS_BRANCH:
        branch(o, e);
        break;
    case VS_LOAD:
    case VS_STORE:
    case VS_EXTERNAL:
        memory(o, b, e, full);
        break;
    case VS_EXCEPTION:
    case VS_EXCEPTION_RET:
        arrow(o, e->addr);
        registers(o, vs_event_bytes(b, e), e->size, full);
        break;
    case VS_SYSCALL:
        system_call(o, b, e, full);
        break;
    case VS_NONDET:
        label_number(o, " ", e->size);
        out_str(o, " = ");
        number_value(o, vs_event_bytes(b, e), e->size, full);
        break;
    case VS_THREAD_START:
        label_number(o, " id ", e->addr);
        registers(o, vs_event_bytes(b, e), e->size, full);
        break;
    case VS_THREAD_EXIT:
        label_number(o, " status ", e->value);
        break;
    case VS_GAP:
        label_number(o, " instructions ", e->addr);
        registers(o, vs_event_bytes(b, e), e->size, full);
        break;
    case VS_MAP:
        mapping(o, e);
        break;
    case VS_CODE:
        label_number(o, " block ", e->value);
        break;
    case VS_TURN:
        turn(o, b, e);
        break;
    case VS_CONTENT:
        content(o, b, e, full);
        break;
    default:
        break;
    }
}

static unsigned digits(uint64_t v)
{
    unsigned n = 1;
    for (; v >= 10; v /= 10)
        n++;
    return n;
}

/* Ends a column that has so many characters. */
static void pad(struct out *o, unsigned used, unsigned width)
{
    out_pad(o, used < width ? width - used + 2 : 2);
}

/* Prints a number left-aligned after a sign, so that the column stays one word. */
static void tag(struct out *o, char sign, uint64_t v, unsigned width)
{
    out_char(o, sign);
    out_dec(o, v, 0);
    pad(o, digits(v), width);
}

/* Prints tT:N, as a debugger takes it. */
static void place(struct out *o, unsigned thread, uint64_t at)
{
    enum { WIDTH = 10 };
    out_char(o, 't');
    out_dec(o, thread, 0);
    out_char(o, ':');
    out_dec(o, at, 0);
    pad(o, digits(thread) + digits(at) + 2, WIDTH);
}

/* Prints the calls as a debugger does, from the latest one on. */
static void stack(struct out *o, const struct event_more *more)
{
    for (size_t i = 0; i < more->call_count; i++) {
        const struct vs_stack_call *c = &more->calls[more->call_count - 1 - i];
        const struct vs_where_place *place = more->callers[more->call_count - 1 - i];
        out_pad(o, 12);
        out_char(o, '#');
        out_dec(o, i + 1, 0);
        pad(o, digits(i + 1), 3);
        if (c->kind == VS_CALL_HANDLER) {
            out_str(o, "<signal handler called>\n");
            continue;
        }
        out_hex(o, c->back, 16);
        if (place) {
            out_str(o, "  # ");
            where_text(o, place);
        }
        out_char(o, '\n');
    }
}

void event_text(struct out *o, const struct vs_batch *b, size_t i, uint64_t at, bool full,
                const struct event_more *more)
{
    static const char no_pc[] = "                 -";
    enum { KIND_WIDTH = 8 };
    const struct vs_event *e = &b->events[i];
    const char *kind = vs_kind_name(e->kind);
    size_t n = strlen(kind);

    out_dec(o, b->first + i, 10);
    out_str(o, "  ");
    if (b->cycles)
        tag(o, '@', b->cycles[i], 10);
    place(o, e->thread, at);
    out_mem(o, kind, n);
    out_pad(o, n < KIND_WIDTH ? KIND_WIDTH - n + 2 : 2);
    if (event_has_pc(e))
        out_hex(o, e->pc, 16);
    else
        out_str(o, no_pc);
    fields(o, b, e, full);
    label_number(o, "  +", e->icount);
    if (more->insn_length) {
        out_str(o, "  | ");
        out_mem(o, more->insn, more->insn_length);
    }
    if (more->place) {
        out_str(o, "  # ");
        where_text(o, more->place);
    }
    out_char(o, '\n');
    stack(o, more);
}
