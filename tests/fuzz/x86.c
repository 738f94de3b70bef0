/* SPDX-License-Identifier: MIT */
/* Bytes that may be an instruction: 8 of the address, then those of the code. */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "isa/isa.h"
#include "isa/x86_64/x86.h"
#include "vestige/error.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok)
{
    if (!ok)
        abort();
}

static void check_insn(const struct vs_insn *i, size_t size)
{
    must(i->length > 0 && i->length <= size && i->length <= VS_X86_LENGTH_MAX);
    must(i->kind <= VS_INSN_NONDET);
    must(i->kind == VS_INSN_BRANCH || (!i->branch && !i->target));
    must(!(i->branch & ~VS_BR_ALL) && !(i->branch & VS_BR_TAKEN));
    must(!(i->branch & VS_BR_RETURN) || (i->branch & VS_BR_INDIRECT));
    must(vs_insn_is_direct(i) || !i->target);
}

static bool same(const struct vs_insn *a, const struct vs_insn *b)
{
    return a->target == b->target && a->length == b->length && a->kind == b->kind &&
           a->branch == b->branch && a->repeat == b->repeat && a->locked == b->locked;
}

/* Whatever decodes has a text, and nothing else has. */
static void check_text(const uint8_t *bytes, size_t size, uint64_t pc, int decoded)
{
    char text[VS_X86_TEXT_MAX];
    int n = vs_x86_format(bytes, size, pc, text, sizeof(text)), less;

    if (decoded < 0) {
        must(n == decoded);
        return;
    }
    must(n > 0 && (size_t)n < sizeof(text) && strlen(text) == (size_t)n);
    less = vs_x86_format(bytes, size, pc, text, (size_t)n);
    must(less == -VSE_LIMIT);
    must(vs_x86_format(bytes, size, pc, text, (size_t)n + 1) == n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct vs_insn whole, part;
    uint8_t *bytes;
    uint64_t pc;
    int e;

    if (size < 8)
        return 0;
    pc = vs_get64(data);
    size -= 8;
    bytes = malloc(size ? size : 1); /* of just that size */
    must(bytes);
    if (size)
        memcpy(bytes, data + 8, size);
    e = vs_x86_decode(bytes, size, pc, &whole);
    must(e == 0 || e == -VSE_CORRUPT || e == -VSE_TRUNCATED);
    if (e == 0) {
        check_insn(&whole, size);
        must(vs_x86_decode(bytes, whole.length, pc, &part) == 0 && same(&part, &whole));
        for (unsigned n = 0; n < whole.length; n++)
            must(vs_x86_decode(bytes, n, pc, &part) == -VSE_TRUNCATED);
    }
    check_text(bytes, size, pc, e);
    free(bytes);
    return 0;
}
