/* SPDX-License-Identifier: MIT */
#include "vestige/code.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/diag.h"
#include "isa/set.h"
#include "library/sized.h"
#include "study/flow.h"
#include "study/where.h"

/* ---- instructions ---------------------------------------------------------------------------- */

/* So many events are taken at once; but each may stand for 65535 instructions, so none is begun
 * once there are so many instructions. */
enum { EVENTS = 256, INSTRUCTIONS = 1 << 20 };

_Static_assert(VS_INSN_BYTES == VS_ISA_LENGTH_MAX, "a public copy");
_Static_assert(sizeof(struct vs_retired) == 40, "an instruction is 40 bytes");

struct vs_insns {
    struct vs_reader *reader;
    const struct vs_isa *isa;
    struct vs_flow_check flow;
    struct vs_batch rest; /* of what the reader gave */
    struct vs_buf list;
    uint64_t event; /* the one under way */
};

static int take_retired(void *context, unsigned thread, uint64_t pc, const uint8_t *bytes,
                        unsigned size)
{
    struct vs_insns *w = context;
    struct vs_retired one = {
        .pc = pc, .event = w->event, .thread = (uint16_t)thread, .size = (uint8_t)size};
    memcpy(one.bytes, bytes, size);
    return vs_buf_put(&w->list, &one, sizeof(one));
}

int vs_insns_open(struct vs_insns **to, struct vs_reader *reader, struct vs_diag *diag)
{
    const struct vs_isa *isa = vs_isa_find(vs_reader_meta(reader, "isa"));
    struct vs_insns *w = NULL;
    *to = NULL;
    if (!isa)
        return vs_diag_set(diag, -VSE_FEATURE, -1, -1,
                           "nothing here decodes the run's instruction set");
    int err = (w = calloc(1, sizeof(*w))) ? vs_flow_check_init(&w->flow, reader, isa) : -VSE_NOMEM;
    if (err) {
        vs_insns_close(w);
        return vs_diag_set(diag, err, -1, -1, "%s", vs_errstr(err));
    }
    w->reader = reader;
    w->isa = isa;
    w->flow.retired = take_retired;
    w->flow.context = w;
    *to = w;
    return 0;
}

void vs_insns_close(struct vs_insns *w)
{
    if (!w)
        return;
    vs_flow_check_fini(&w->flow);
    vs_buf_fini(&w->list);
    free(w);
}

/* Takes the next event of what the reader gave. */
static int take_event(struct vs_insns *w, struct vs_diag *diag)
{
    struct vs_batch one = w->rest;
    one.count = 1;
    w->event = one.first;
    int err = vs_flow_check_batch(&w->flow, &one);
    if (!err && w->flow.differences)
        return vs_diag_set(diag, -VSE_CORRUPT, -1, -1,
                           "event %llu: %s; the code is not what the events say",
                           (unsigned long long)w->flow.first.event, w->flow.first.why);
    w->rest.events++;
    w->rest.cycles = w->rest.cycles ? w->rest.cycles + 1 : NULL;
    w->rest.first++;
    w->rest.count--;
    return err ? vs_diag_set(diag, err, -1, -1, "%s", vs_errstr(err)) : 0;
}

int64_t vs_insns_next(struct vs_insns *w, const struct vs_retired **list, struct vs_diag *diag)
{
    w->list.len = 0;
    while (!w->list.len) {
        int n = w->rest.count ? 1 : vs_reader_next(w->reader, &w->rest);
        if (n < 0) {
            w->rest.count = 0;
            if (diag && n != -VSE_END)
                *diag = *vs_reader_diag(w->reader);
            return n;
        }
        for (int i = 0;
             i < EVENTS && w->rest.count && w->list.len < INSTRUCTIONS * sizeof(struct vs_retired);
             i++)
            if ((n = take_event(w, diag)) < 0)
                return n;
    }
    *list = (const struct vs_retired *)w->list.data;
    return (int64_t)(w->list.len / sizeof(struct vs_retired));
}

int vs_insns_text(const struct vs_insns *w, const struct vs_retired *insn, char *text,
                  size_t capacity)
{
    if (insn->size > VS_INSN_BYTES)
        return -VSE_CORRUPT;
    int n = w->isa->format(insn->bytes, insn->size, insn->pc, text, capacity);
    return n == -VSE_TRUNCATED ? -VSE_CORRUPT : n;
}

/* ---- names ----------------------------------------------------------------------------------- */

struct vs_names {
    struct vs_where where;
};

int vs_names_open(struct vs_names **to, const struct vs_reader *reader, struct vs_diag *diag)
{
    struct vs_names *n = calloc(1, sizeof(*n));
    int err = n ? vs_where_of_run(&n->where, reader) : -VSE_NOMEM;
    *to = n;
    if (!err)
        return 0;
    vs_names_close(n);
    *to = NULL;
    return vs_diag_set(diag, err, -1, -1, "%s", vs_errstr(err));
}

void vs_names_close(struct vs_names *n)
{
    if (n)
        vs_where_fini(&n->where);
    free(n);
}

int vs_names_at(struct vs_names *n, uint64_t address, struct vs_name *name)
{
    const struct vs_where_place *place;
    int64_t site = vs_where_site(&n->where, address);
    if (site <= 0)
        return site ? (int)site : -VSE_LIMIT;
    int err = vs_where_name(&n->where, (uint64_t)site, &place);
    if (err)
        return err;
    const struct vs_where_frame *inner = &place->frames[0],
                                *outer = &place->frames[place->frame_count - 1];
    const struct vs_name own = {.image = place->path,
                                .routine = outer->routine,
                                .offset = place->offset,
                                .file = inner->file,
                                .line = inner->line};
    return vs_sized_give(name, &own, sizeof(own));
}
