/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "base/bytes.h"
#include "cli/event_print.h"
#include "cli/where_print.h"
#include "isa/set.h"

static void registers(struct json *j, const uint8_t *p, size_t size)
{
    unsigned number, n;
    const uint8_t *bytes;
    int more;
    json_object(j, "registers");
    while ((more = vs_regs_next(&p, &size, &number, &n, &bytes)) > 0) {
        char name[16];
        snprintf(name, sizeof(name), "%u", number);
        json_number_bytes(j,
                          number == VS_REG_PC           ? "pc"
                          : number == VS_REG_CAUSE      ? "cause"
                          : number == VS_REG_ITERATIONS ? "iterations"
                                                        : name,
                          bytes, n);
    }
    json_end(j);
    if (more < 0)
        json_bool(j, "registers_cut", true);
}

static void memory(struct json *j, const struct vs_batch *b, const struct vs_event *e)
{
    json_hex(j, "addr", e->addr);
    json_u64(j, "size", e->size);
    json_number_bytes(j, "value", vs_event_bytes(b, e), e->size);
    if (e->kind != VS_EXTERNAL) {
        json_bool(j, "atomic", e->flags & VS_MEM_ATOMIC);
        json_bool(j, "repeat", e->flags & VS_MEM_REPEAT);
    }
}

static void branch(struct json *j, const struct vs_event *e)
{
    json_str(j, "branch", vs_branch_name(e->flags));
    json_bool(j, "taken", e->flags & VS_BR_TAKEN);
    json_hex(j, "target", e->addr);
    json_u64(j, "length", e->size);
}

static void system_call(struct json *j, const struct vs_batch *b, const struct vs_event *e)
{
    const uint8_t *p = vs_event_bytes(b, e);
    json_u64(j, "number", e->addr);
    if (e->size < sizeof(struct vs_syscall_head))
        return;
    json_array(j, "args");
    for (unsigned i = 0; i < 6; i++)
        json_hex(j, NULL, vs_get64(p + 8 * i));
    json_end(j);
    json_hex(j, "result", vs_get64(p + offsetof(struct vs_syscall_head, result)));
    registers(j, p + sizeof(struct vs_syscall_head), e->size - sizeof(struct vs_syscall_head));
}

static void mapping(struct json *j, const struct vs_event *e)
{
    json_hex(j, "addr", e->addr);
    json_hex(j, "length", e->value);
    json_bool(j, "read", e->flags & VS_MAP_READ);
    json_bool(j, "write", e->flags & VS_MAP_WRITE);
    json_bool(j, "exec", e->flags & VS_MAP_EXEC);
    json_bool(j, "gone", e->flags & VS_MAP_GONE);
    if (e->pc == VS_NO_IMAGE)
        json_null(j, "image");
    else
        json_u64(j, "image", e->pc);
}

static void content(struct json *j, const struct vs_batch *b, const struct vs_event *e)
{
    const uint8_t *p = vs_event_bytes(b, e);
    char path[EVENT_PATH_MAX];
    json_hex(j, "addr", e->addr);
    if (!e->flags) {
        json_u64(j, "size", e->size);
        json_number_bytes(j, "value", p, e->size);
        return;
    }
    if (e->flags & VS_CONTENT_DIGESTS) {
        json_hex(j, "length", (uint64_t)e->size / 4 * VS_DIGEST_PAGE);
        json_array(j, "digests");
        for (size_t i = 0; i < e->size; i += 4)
            json_hex(j, NULL, vs_get32(p + i));
        json_end(j);
        return;
    }
    if (e->flags & VS_CONTENT_ANEW) {
        json_hex(j, "length", e->value);
        json_bool(j, "anew", true);
        return;
    }
    json_hex(j, "length", vs_get64(p + 8));
    json_hex(j, e->flags & VS_CONTENT_FILE ? "offset" : "from", vs_get64(p));
    if (e->flags & VS_CONTENT_FILE) {
        event_content_path(b, e, path);
        json_str(j, "file", path);
    }
}

static void turn(struct json *j, const struct vs_batch *b, const struct vs_event *e)
{
    const uint8_t *p = vs_event_bytes(b, e);
    json_hex(j, "digest", vs_get64(p));
    json_u64(j, "iterations",
             e->size == sizeof(struct vs_turn) ? vs_get64(p + offsetof(struct vs_turn, iterations))
                                               : 0);
}

static void fields(struct json *j, const struct vs_batch *b, const struct vs_event *e)
{
    switch (e->kind) {
    case VS_BRANCH:
        branch(j, e);
        break;
    case VS_LOAD:
    case VS_STORE:
    case VS_EXTERNAL:
        memory(j, b, e);
        break;
    case VS_EXCEPTION:
    case VS_EXCEPTION_RET:
        json_hex(j, "target", e->addr);
        registers(j, vs_event_bytes(b, e), e->size);
        break;
    case VS_SYSCALL:
        system_call(j, b, e);
        break;
    case VS_NONDET:
        json_u64(j, "size", e->size);
        json_number_bytes(j, "value", vs_event_bytes(b, e), e->size);
        break;
    case VS_THREAD_START:
        json_u64(j, "id", e->addr);
        registers(j, vs_event_bytes(b, e), e->size);
        break;
    case VS_THREAD_EXIT:
        json_hex(j, "status", e->value);
        break;
    case VS_GAP:
        json_u64(j, "instructions", e->addr);
        registers(j, vs_event_bytes(b, e), e->size);
        break;
    case VS_MAP:
        mapping(j, e);
        break;
    case VS_CODE:
        json_u64(j, "block", e->value);
        break;
    case VS_TURN:
        turn(j, b, e);
        break;
    case VS_CONTENT:
        content(j, b, e);
        break;
    default:
        break;
    }
}

/* The text has no final zero. */
static void instruction(struct json *j, const struct event_more *more)
{
    char text[VS_ISA_TEXT_MAX];
    snprintf(text, sizeof(text), "%.*s", (int)more->insn_length, more->insn);
    json_str(j, "insn", text);
}

static void stack(struct json *j, const struct event_more *more)
{
    json_array(j, "stack");
    for (size_t i = more->call_count; i-- > 0;) {
        const struct vs_stack_call *c = &more->calls[i];
        json_object(j, NULL);
        json_bool(j, "handler", c->kind == VS_CALL_HANDLER);
        if (c->back)
            json_hex(j, "pc", c->back);
        else
            json_null(j, "pc");
        if (more->callers[i])
            where_json(j, "source", more->callers[i]);
        else
            json_null(j, "source");
        json_end(j);
    }
    json_end(j);
}

void event_json(struct out *o, const struct vs_batch *b, size_t i, uint64_t at,
                const struct event_more *more)
{
    const struct vs_event *e = &b->events[i];
    struct json j;
    json_init(&j, o, 0);
    json_object(&j, NULL);
    json_u64(&j, "event", b->first + i);
    if (b->cycles)
        json_u64(&j, "cycle", b->cycles[i]);
    json_u64(&j, "thread", e->thread);
    json_u64(&j, "at", at);
    json_str(&j, "kind", vs_kind_name(e->kind));
    json_u64(&j, "icount", e->icount);
    if (event_has_pc(e))
        json_hex(&j, "pc", e->pc);
    fields(&j, b, e);
    if (more->insn)
        instruction(&j, more);
    if (more->place)
        where_json(&j, "source", more->place);
    if (more->calls)
        stack(&j, more);
    json_end(&j);
}
