/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "port/stream.h"

int vs_port_reader_init(struct vs_port_reader *r, const struct vs_port_shape *shape,
                        const uint8_t *data, size_t size, uint64_t nbits)
{
    int err;

    memset(r, 0, sizeof(*r));
    if (!shape->cores || shape->cores > VS_PORT_CORES_MAX ||
        (shape->timed && !vs_chunks_valid(shape->cycles)))
        return -VSE_INVAL;
    r->shape = *shape;
    r->core_bits = vs_port_core_bits(shape->cores);
    if ((err = vs_bitr_init(&r->bits, data, size, nbits)) < 0)
        return err;
    r->cycles = calloc(shape->cores, sizeof(*r->cycles));
    return r->cycles ? 0 : -VSE_NOMEM;
}

void vs_port_reader_fini(struct vs_port_reader *r)
{
    free(r->cycles);
    r->cycles = NULL;
}

int vs_port_reader_clone(struct vs_port_reader *to, const struct vs_port_reader *from)
{
    *to = *from;
    to->cycles = malloc(from->shape.cores * sizeof(*to->cycles));
    if (!to->cycles)
        return -VSE_NOMEM;
    memcpy(to->cycles, from->cycles, from->shape.cores * sizeof(*to->cycles));
    return 0;
}

/* Inside a message an end is a cut. */
static int fail(struct vs_port_reader *r, enum vs_field f, int err, const char *why)
{
    bool cut = err == -VSE_END;

    return vs_diag_set(&r->diag, cut ? -VSE_TRUNCATED : err, (int64_t)(r->bits.pos / 8), -1,
                       "bit %llu, %s of message %llu (from bit %llu, core %u): %s",
                       (unsigned long long)r->bits.pos, vs_field_name(f),
                       (unsigned long long)r->messages, (unsigned long long)r->start, r->core,
                       cut ? "the stream ends here" : why);
}

/* The bits from there on were read as that field. */
static void note_field(const struct vs_port_reader *r, enum vs_field f, uint64_t from)
{
    if (unlikely(r->witness && r->witness->fields))
        memset(r->witness->fields + from, (int)f + 1, (size_t)(r->bits.pos - from));
}

static int checked(struct vs_port_reader *r, enum vs_field f, uint64_t from, int err)
{
    if (unlikely(err))
        return fail(r, f, err, "not a code that an encoder writes");
    note_field(r, f, from);
    return 0;
}

int vs_port_refuse(struct vs_port_reader *r, enum vs_field f, const char *why)
{
    return fail(r, f, -VSE_CORRUPT, why);
}

static int get_cycle(struct vs_port_reader *r, unsigned core, uint64_t *cycle)
{
    uint64_t passed, before = r->cycles[core], pos = r->bits.pos;
    int err = vs_port_get_chunks(r, VS_FIELD_CYCLES, r->shape.cycles, &passed);

    if (err)
        return err;
    if (passed > UINT64_MAX - before) {
        r->bits.pos = pos;
        return vs_port_refuse(r, VS_FIELD_CYCLES, "cycles exceed 64 bits");
    }
    *cycle = r->cycles[core] = before + passed;
    return 0;
}

int vs_port_next(struct vs_port_reader *r, unsigned *core, uint64_t *cycle)
{
    uint64_t who = 0, when = 0;
    int err;

    if (!vs_bitr_left(&r->bits))
        return -VSE_END;
    r->start = r->bits.pos;
    r->core = 0; /* nobody's, until Ti is read */
    if ((err = vs_port_get(r, VS_FIELD_CORE, r->core_bits, &who)) < 0)
        return err;
    if (who >= r->shape.cores) {
        r->bits.pos = r->start;
        return vs_port_refuse(r, VS_FIELD_CORE, "there is no such core");
    }
    r->core = (unsigned)who;
    if (r->shape.timed && (err = get_cycle(r, r->core, &when)) < 0)
        return err;
    r->messages++;
    if (core)
        *core = r->core;
    if (cycle)
        *cycle = when;
    return 0;
}

int vs_port_next_packet(struct vs_port_reader *r)
{
    if (!vs_bitr_left(&r->bits))
        return -VSE_END;
    r->start = r->bits.pos;
    r->core = 0;
    r->messages++;
    return 0;
}

int vs_port_get(struct vs_port_reader *r, enum vs_field f, unsigned n, uint64_t *v)
{
    uint64_t from = r->bits.pos;

    return checked(r, f, from, vs_bitr_get(&r->bits, n, v));
}

int vs_port_get_chunks(struct vs_port_reader *r, enum vs_field f, struct vs_chunks c, uint64_t *v)
{
    uint64_t from = r->bits.pos;

    return checked(r, f, from, vs_chunks_get(&r->bits, c, v));
}

int vs_port_get_unary(struct vs_port_reader *r, enum vs_field f, struct vs_unary u, uint64_t *v)
{
    uint64_t from = r->bits.pos;

    return checked(r, f, from, vs_unary_get(&r->bits, u, v));
}

int vs_port_get_difference(struct vs_port_reader *r, enum vs_field f, struct vs_chunks c,
                           unsigned width, struct vs_difference *d)
{
    uint64_t at = r->bits.pos;

    return checked(r, f, at, vs_chunks_difference_get(&r->bits, c, width, d));
}

int vs_port_get_address(struct vs_port_reader *r, enum vs_field f, struct vs_unary u, uint64_t from,
                        unsigned width, uint64_t *to)
{
    uint64_t at = r->bits.pos;

    return checked(r, f, at, vs_unary_address_get(&r->bits, u, from, width, to));
}

int vs_port_skip_bytes(struct vs_port_reader *r, enum vs_field f, uint64_t size)
{
    uint64_t from = r->bits.pos;

    if (size > vs_bitr_left(&r->bits) / 8)
        return fail(r, f, -VSE_END, NULL);
    r->bits.pos += 8 * size;
    note_field(r, f, from);
    return 0;
}

int vs_port_get_bytes(struct vs_port_reader *r, enum vs_field f, uint8_t *bytes, size_t size)
{
    uint64_t v = 0, from = r->bits.pos;

    if (size > vs_bitr_left(&r->bits) / 8)
        return fail(r, f, -VSE_END, NULL);
    for (; size >= 8; bytes += 8, size -= 8) {
        vs_bitr_get(&r->bits, 64, &v);
        vs_put64(bytes, v);
    }
    for (; size; size--) {
        vs_bitr_get(&r->bits, 8, &v);
        *bytes++ = (uint8_t)v;
    }
    note_field(r, f, from);
    return 0;
}
