/* SPDX-License-Identifier: MIT */
/* How mc2RT_k's messages are coded, for both machines. */
#include <stdlib.h>
#include <string.h>

#include "base/power.h"
#include "technique/mc2rt_k.h"

/* ---- heads ----------------------------------------------------------------------------------- */

int vs_mc2rt_k_heads_init(struct vs_mc2rt_k_heads *h, const struct vs_data_params *params,
                          const struct vs_technique_setup *setup)
{
    *h = (struct vs_mc2rt_k_heads){.adaptive = params->heads == VS_DATA_HEADS_ADAPTIVE,
                                   .timed = setup->timed,
                                   .cores = setup->cores,
                                   .core_bits = vs_port_core_bits(setup->cores),
                                   .plain_count = vs_data_count_chunks(params),
                                   .plain_passed = vs_data_cycle_chunks(params)};
    h->cycles = calloc(setup->cores, sizeof(*h->cycles));
    return h->cycles ? 0 : -VSE_NOMEM;
}

int vs_mc2rt_k_heads_clone(struct vs_mc2rt_k_heads *to, const struct vs_mc2rt_k_heads *from)
{
    *to = *from;
    to->cycles = malloc(to->cores * sizeof(*to->cycles));
    if (!to->cycles)
        return -VSE_NOMEM;
    memcpy(to->cycles, from->cycles, to->cores * sizeof(*to->cycles));
    return 0;
}

void vs_mc2rt_k_heads_fini(struct vs_mc2rt_k_heads *h)
{
    free(h->cycles);
    h->cycles = NULL;
}

struct vs_cost vs_mc2rt_k_heads_cost(const struct vs_data_params *params,
                                     const struct vs_technique_setup *setup)
{
    struct vs_cost cost = {0};
    if (params->heads == VS_DATA_HEADS_ADAPTIVE)
        vs_cost_add(&cost, vs_width_cost(), setup->timed ? 1 + VS_MC2RT_K_PACES : 1);
    return cost;
}

static struct vs_unary code_of(const struct vs_width *w)
{
    return (struct vs_unary){.size = (uint8_t)vs_width_bits(w), .step = 1};
}

static struct vs_width *width_of_count(struct vs_mc2rt_k_heads *h, uint64_t own)
{
    unsigned length = h->timed ? vs_bit_length(own) : 0;
    return &h->count[length < VS_MC2RT_K_PACES ? length : VS_MC2RT_K_PACES - 1];
}

void vs_mc2rt_k_put_head(struct vs_mc2rt_k_heads *h, struct vs_port_writer *port, unsigned core,
                         uint64_t time, uint64_t count)
{
    uint64_t own = time - h->cycles[core], any = time - h->cycle;
    vs_port_begin_packet(port, core, time);
    vs_port_put(port, VS_FIELD_CORE, core, h->core_bits);
    if (h->timed && time < (h->adaptive ? h->cycle : h->cycles[core]) && !port->error)
        port->error = -VSE_INVAL;
    h->cycle = h->cycles[core] = time;
    if (!h->adaptive) {
        if (h->timed)
            vs_port_put_chunks(port, VS_FIELD_CYCLES, h->plain_passed, own);
        vs_port_put_chunks(port, VS_FIELD_FAHCNT, h->plain_count, count);
        return;
    }
    struct vs_width *w = width_of_count(h, own);
    if (h->timed) {
        vs_port_put_unary(port, VS_FIELD_CYCLES, code_of(&h->passed), any);
        vs_width_note(&h->passed, any);
    }
    vs_port_put_unary(port, VS_FIELD_FAHCNT, code_of(w), count);
    vs_width_note(w, count);
}

static int get_cycle(struct vs_mc2rt_k_heads *h, struct vs_port_reader *port, unsigned core,
                     uint64_t *cycle)
{
    uint64_t passed, before = h->adaptive ? h->cycle : h->cycles[core];
    int err = h->adaptive ? vs_port_get_unary(port, VS_FIELD_CYCLES, code_of(&h->passed), &passed)
                          : vs_port_get_chunks(port, VS_FIELD_CYCLES, h->plain_passed, &passed);
    if (err)
        return err;
    if (__builtin_add_overflow(before, passed, cycle))
        return vs_port_refuse(port, VS_FIELD_CYCLES, "cycles exceed 64 bits");
    vs_width_note(&h->passed, passed);
    return 0;
}

int vs_mc2rt_k_get_head(struct vs_mc2rt_k_heads *h, struct vs_port_reader *port, unsigned *core,
                        uint64_t *cycle, uint64_t *count)
{
    uint64_t who;
    int err = vs_port_next_packet(port);
    if (err || (err = vs_port_get(port, VS_FIELD_CORE, h->core_bits, &who)) ||
        (err = vs_port_packet_core(port, VS_FIELD_CORE, who)))
        return err;
    *core = (unsigned)who;
    *cycle = 0;
    if (h->timed && (err = get_cycle(h, port, *core, cycle)))
        return err;
    uint64_t own = *cycle - h->cycles[*core];
    h->cycle = h->cycles[*core] = *cycle;
    if (!h->adaptive)
        return vs_port_get_chunks(port, VS_FIELD_FAHCNT, h->plain_count, count);
    struct vs_width *w = width_of_count(h, own);
    if (!(err = vs_port_get_unary(port, VS_FIELD_FAHCNT, code_of(w), count)))
        vs_width_note(w, *count);
    return err;
}

/* ---- kinds ----------------------------------------------------------------------------------- */

/* Those of zero lines and blank pages differ in more than one bit, so that no flipped bit makes one
 * of the other. The first bit is the lowest. */
static const struct code {
    uint8_t bits, size;
} codes[] = {
    [VS_MC2RT_K_ORDER] = {0x0, 1},  [VS_MC2RT_K_LINE] = {0x1, 2},  [VS_MC2RT_K_ZERO] = {0x3, 4},
    [VS_MC2RT_K_NONDET] = {0xb, 4}, [VS_MC2RT_K_BLANK] = {0x7, 5}, [VS_MC2RT_K_STATE] = {0x17, 5},
    [VS_MC2RT_K_REST] = {0xf, 5},   [VS_MC2RT_K_END] = {0x1f, 5},
};

static enum vs_field field_of(enum vs_mc2rt_k_kind kind)
{
    return kind >= VS_MC2RT_K_LINE && kind <= VS_MC2RT_K_REST ? VS_FIELD_HEADER : VS_FIELD_ORDER;
}

void vs_mc2rt_k_put_kind(struct vs_port_writer *port, enum vs_mc2rt_k_kind kind)
{
    vs_port_put(port, field_of(kind), codes[kind].bits, codes[kind].size);
}

int vs_mc2rt_k_get_kind(struct vs_port_reader *port, unsigned *kind)
{
    uint64_t pos = port->bits.pos, bits = 0, bit;
    for (unsigned size = 1; size <= 5; size++) {
        int err = vs_port_get(port, VS_FIELD_HEADER, 1, &bit);
        if (err)
            return err;
        bits |= bit << (size - 1);
        for (*kind = 0; *kind < VS_MC2RT_K_KINDS; ++*kind)
            if (codes[*kind].size == size && codes[*kind].bits == bits) {
                port->bits.pos = pos; /* so that the witness learns the field */
                return vs_port_get(port, field_of(*kind), size, &bits);
            }
    }
    return vs_port_refuse(port, VS_FIELD_HEADER, "no kind of message");
}

void vs_mc2rt_k_put_part(struct vs_port_writer *port, enum vs_mc2rt_k_part part)
{
    vs_port_put(port, VS_FIELD_HEADER, part == VS_MC2RT_K_DATA ? 3 : part,
                part == VS_MC2RT_K_KNOWN ? 1 : 2);
}

int vs_mc2rt_k_get_part(struct vs_port_reader *port, enum vs_mc2rt_k_part *part)
{
    uint64_t sent, data = 0;
    int err = vs_port_get(port, VS_FIELD_HEADER, 1, &sent);
    if (!err && sent)
        err = vs_port_get(port, VS_FIELD_HEADER, 1, &data);
    *part = !sent ? VS_MC2RT_K_KNOWN : data ? VS_MC2RT_K_DATA : VS_MC2RT_K_BLANK_LINE;
    return err;
}

/* ---- bytes ----------------------------------------------------------------------------------- */

static void put_word(struct vs_wordbook *b, struct vs_port_writer *port, enum vs_field f,
                     uint32_t word)
{
    uint32_t index;
    enum vs_word_form form = vs_wordbook_find(b, word, &index);
    const struct vs_word_code *code = &vs_word_codes[form];
    vs_port_put(port, f, code->prefix, code->prefix_bits);
    if (code->index)
        vs_port_put(port, f, index, b->index_bits);
    vs_port_put(port, f, word, code->rest_bits);
    vs_wordbook_note(b, form, word);
}

void vs_mc2rt_k_put_bytes(struct vs_wordbook *book, struct vs_port_writer *port, enum vs_field f,
                          const uint8_t *bytes, size_t size)
{
    for (; book->size && size >= 4; bytes += 4, size -= 4)
        put_word(book, port, f, vs_get32(bytes));
    vs_port_put_bytes(port, f, bytes, size);
}

static int get_form(struct vs_port_reader *port, enum vs_field f, enum vs_word_form *form)
{
    uint64_t bits, more;
    int err = vs_port_get(port, f, 2, &bits);
    if (!err && bits == 3 && !(err = vs_port_get(port, f, 2, &more)))
        bits |= more << 2;
    *form = VS_WORD_ZERO;
    while (!err && vs_word_codes[*form].prefix != bits)
        ++*form;
    return err;
}

/* Where nothing of the book is needed but its size, it may be any word's. */
static int get_word(const struct vs_wordbook *b, struct vs_port_reader *port, enum vs_field f,
                    enum vs_word_form *form, uint32_t *index, uint32_t *rest)
{
    uint64_t which = 0, own = 0;
    int err = get_form(port, f, form);
    if (!err && vs_word_codes[*form].index)
        err = vs_port_get(port, f, b->index_bits, &which);
    if (!err)
        err = vs_port_get(port, f, vs_word_codes[*form].rest_bits, &own);
    *index = (uint32_t)which;
    *rest = (uint32_t)own;
    return err;
}

int vs_mc2rt_k_get_bytes(struct vs_wordbook *book, struct vs_port_reader *port, enum vs_field f,
                         uint8_t *bytes, size_t size)
{
    size_t at = 0;
    for (; book->size && size - at >= 4; at += 4) {
        enum vs_word_form form, best;
        uint32_t index, rest, found;
        int err = get_word(book, port, f, &form, &index, &rest);
        if (err)
            return err;
        uint32_t word = vs_wordbook_word(book, form, index, rest);
        best = vs_wordbook_find(book, word, &found);
        if (best != form || found != index)
            return vs_port_refuse(port, f, "a word that would be told otherwise");
        vs_put32(bytes + at, word);
        vs_wordbook_note(book, form, word);
    }
    return vs_port_get_bytes(port, f, bytes + at, size - at);
}

int vs_mc2rt_k_skip_bytes(const struct vs_wordbook *book, struct vs_port_reader *port,
                          enum vs_field f, uint64_t size)
{
    enum vs_word_form form;
    uint32_t index, rest;
    int err = 0;
    for (; book->size && size >= 4 && !err; size -= 4)
        err = get_word(book, port, f, &form, &index, &rest);
    return err ? err : vs_port_skip_bytes(port, f, size);
}
