/* SPDX-License-Identifier: MIT */
#include "vestige/event.h"

#include <string.h>

#include "base/bytes.h"
#include "vestige/error.h"

/* What each kind may have set: the rules of event.h as data. */
static const struct {
    const char *name;
    bool pc, addr;
    bool number; /* value is a plain number and size is 0 */
    uint16_t size_min, size_max;
    uint8_t flags;
} kinds[VS_KIND_END] = {
    [VS_BRANCH] = {"branch", true, true, false, 1, 255, VS_BR_ALL},
    [VS_LOAD] = {"load", true, true, false, 1, VS_SIZE_MAX, VS_MEM_ALL},
    [VS_STORE] = {"store", true, true, false, 1, VS_SIZE_MAX, VS_MEM_ALL},
    [VS_EXTERNAL] = {"external", true, true, false, 1, VS_SIZE_MAX, 0},
    [VS_EXCEPTION] = {"exception", true, true, false, 0, VS_SIZE_MAX, 0},
    [VS_EXCEPTION_RET] = {"exception-return", true, true, false, 0, VS_SIZE_MAX, 0},
    [VS_SYSCALL] = {"syscall", true, true, false, sizeof(struct vs_syscall_head), VS_SIZE_MAX, 0},
    [VS_NONDET] = {"nondet", true, false, false, 1, VS_SIZE_MAX, 0},
    [VS_THREAD_START] = {"thread-start", true, true, false, 0, VS_SIZE_MAX, 0},
    [VS_THREAD_EXIT] = {"thread-exit", false, false, true, 0, 0, 0},
    [VS_GAP] = {"gap", true, true, false, 0, VS_SIZE_MAX, 0},
    [VS_MAP] = {"map", true, true, true, 0, 0, VS_MAP_ALL},
    [VS_CODE] = {"code", false, false, true, 0, 0, 0},
    [VS_COUNT] = {"count", false, false, false, 0, 0, 0},
    [VS_TURN] = {"turn", false, false, false, 8, sizeof(struct vs_turn), 0},
    [VS_CONTENT] = {"content", false, true, false, 1, VS_SIZE_MAX, VS_CONTENT_ALL},
};

bool vs_syscall_resumes(const struct vs_batch *batch, const struct vs_event *e, uint64_t *pc)
{
    const uint8_t *p = vs_event_bytes(batch, e), *bytes;
    size_t left = e->size, head = sizeof(struct vs_syscall_head);
    unsigned number, size;
    bool found = false;

    if (left <= head)
        return false;
    p += head;
    left -= head;
    while (vs_regs_next(&p, &left, &number, &size, &bytes) > 0)
        if (number == VS_REG_PC && size == sizeof(*pc)) {
            memcpy(pc, bytes, sizeof(*pc));
            found = true;
        }
    return found;
}

const char *vs_kind_name(unsigned kind)
{
    return kind > 0 && kind < VS_KIND_END ? kinds[kind].name : "?";
}

int vs_kind_by_name(const char *name)
{
    for (int k = 1; k < VS_KIND_END; k++)
        if (strcmp(name, kinds[k].name) == 0)
            return k;
    return -VSE_NOTFOUND;
}

const char *vs_branch_name(unsigned flags)
{
    static const char *const names[2][8] = {
        /* by VS_BR_INDIRECT, VS_BR_CALL, VS_BR_RETURN */
        {"jump", "ijump", "call", "icall", "?", "ret", "?", "ret-call"},
        {"cond", "cond-ijump", "cond-call", "cond-icall", "?", "cond-ret", "?", "cond-ret-call"},
    };
    return names[flags & VS_BR_COND ? 1 : 0][(flags >> 1) & 7];
}

static const char *branch_fault(const struct vs_event *e)
{
    if (e->value)
        return "a branch with a value";
    if (!(e->flags & (VS_BR_COND | VS_BR_TAKEN)))
        return "an unconditional branch that is not taken";
    if ((e->flags & VS_BR_RETURN) && !(e->flags & VS_BR_INDIRECT))
        return "a return that is not indirect";
    if ((e->flags & VS_BR_INDIRECT) && !(e->flags & VS_BR_TAKEN) && e->addr)
        return "a target for an indirect branch that is not taken";
    return NULL;
}

static const char *content_fault(const struct vs_event *e)
{
    if (e->flags & (e->flags - 1))
        return "content of two kinds";
    if ((e->flags & VS_CONTENT_FILE && e->size <= sizeof(struct vs_content_file)) ||
        (e->flags & VS_CONTENT_MOVED && e->size != sizeof(struct vs_content_moved)) ||
        (e->flags & VS_CONTENT_ANEW && e->size != sizeof(uint64_t)) ||
        (e->flags & VS_CONTENT_DIGESTS && e->size % sizeof(uint32_t)))
        return "a size that its kind does not allow";
    if (e->flags & VS_CONTENT_DIGESTS && e->addr % VS_DIGEST_PAGE)
        return "digests of what is not whole pages";
    return NULL;
}

static const char *event_fault(const struct vs_event *e, size_t wide_size)
{
    if (e->kind == 0 || e->kind >= VS_KIND_END)
        return "an unknown kind";
    if (e->flags & ~kinds[e->kind].flags)
        return "an unknown flag";
    if (e->size < kinds[e->kind].size_min || e->size > kinds[e->kind].size_max)
        return "a size that its kind does not allow";
    if ((e->pc && !kinds[e->kind].pc) || (e->addr && !kinds[e->kind].addr))
        return "an address that its kind does not have";
    if (e->kind == VS_BRANCH)
        return branch_fault(e);
    if (e->kind == VS_CONTENT && content_fault(e))
        return content_fault(e);
    if (kinds[e->kind].number)
        return NULL;
    if (e->size > 8)
        return e->value > wide_size || wide_size - e->value < e->size
                   ? "a wide value outside the batch"
                   : NULL;
    if (e->size < 8 && e->value >> (8 * e->size))
        return "a value larger than its size";
    return NULL;
}

int vs_event_check(const struct vs_event *e, size_t wide_size, const char **why)
{
    const char *fault = event_fault(e, wide_size);

    if (!fault)
        return 0;
    if (why)
        *why = fault;
    return -VSE_INVAL;
}

int vs_regs_next(const uint8_t **p, size_t *size, unsigned *number, unsigned *regsize,
                 const uint8_t **bytes)
{
    if (*size == 0)
        return 0;
    if (*size < 4)
        return -VSE_CORRUPT;
    unsigned n = vs_get16(*p + 2);
    if (*size - 4 < n)
        return -VSE_CORRUPT;
    *number = vs_get16(*p);
    *regsize = n;
    *bytes = *p + 4;
    *p += 4 + n;
    *size -= 4 + n;
    return 1;
}

int64_t vs_regs_put(uint8_t *buf, size_t capacity, size_t used, unsigned number, const void *bytes,
                    unsigned regsize)
{
    if (number > 0xffff || regsize > 0xffff || used > capacity || capacity - used < 4 + regsize)
        return -VSE_LIMIT;
    vs_put16(buf + used, (uint16_t)number);
    vs_put16(buf + used + 2, (uint16_t)regsize);
    memcpy(buf + used + 4, bytes, regsize);
    return (int64_t)(used + 4 + regsize);
}
