/* SPDX-License-Identifier: MIT */
#include "trace/sites.h"

#include <stdlib.h>

#include "base/varint.h"

#define FIRST_CAPACITY 1024

static uint64_t hash(const struct vs_site *s)
{
    return (vs_hash(s->pc) ^ s->target ^ s->meta >> 16) * UINT64_C(0xd6e8feb86659fd93);
}

int vs_sites_init(struct vs_sites *s)
{
    *s = (struct vs_sites){.capacity = FIRST_CAPACITY, .count = 1};
    s->list = calloc(s->capacity, sizeof(*s->list));
    return s->list ? 0 : -VSE_NOMEM;
}

void vs_sites_fini(struct vs_sites *s)
{
    free(s->list);
    vs_map_fini(&s->numbers);
    *s = (struct vs_sites){0};
}

static int64_t add(struct vs_sites *s, const struct vs_site *site)
{
    if (s->count == s->capacity) {
        struct vs_site *list = realloc(s->list, 2 * (size_t)s->capacity * sizeof(*list));

        if (!list)
            return -VSE_NOMEM;
        s->list = list;
        s->capacity *= 2;
    }
    s->list[s->count] = *site;
    return s->count++;
}

int64_t vs_sites_number(struct vs_sites *s, const struct vs_site *site, uint32_t max)
{
    uint64_t key = hash(site), number;
    int64_t added;

    /* Another site may have the same hash. */
    for (; (number = vs_map_value(&s->numbers, key)); key++)
        if (vs_site_equal(&s->list[number], site))
            return (int64_t)number;
    if (s->count >= max)
        return 0;
    added = add(s, site);
    if (added > 0 && vs_map_set(&s->numbers, key, (uint64_t)added)) {
        s->count--;
        return -VSE_NOMEM;
    }
    return added;
}

int vs_site_pack(struct vs_buf *col, const struct vs_site *site, const struct vs_site *before)
{
    uint8_t *p;

    if (vs_buf_reserve(col, 2 + 4 * VS_VARINT_MAX) < 0)
        return -VSE_NOMEM;
    p = col->data + col->len;
    *p++ = (uint8_t)VS_META_KIND(site->meta);
    *p++ = (uint8_t)VS_META_FLAGS(site->meta);
    if (vs_kind_is_hot(VS_META_KIND(site->meta))) {
        p = vs_varint_put(p, VS_META_SIZE(site->meta));
        p = vs_varint_put(p, VS_META_ICOUNT(site->meta));
        p = vs_varint_put(p, vs_zigzag((int64_t)(site->pc - before->pc)));
        if (VS_META_KIND(site->meta) == VS_BRANCH && !(VS_META_FLAGS(site->meta) & VS_BR_INDIRECT))
            p = vs_varint_put(p, vs_zigzag((int64_t)(site->target - site->pc)));
    }
    col->len = (size_t)(p - col->data);
    return 0;
}

/* Whether an event of this site can keep the rules of event.h; its dynamic part is checked when it
 * is decoded. */
static bool site_valid(const struct vs_site *site)
{
    struct vs_event e = {.pc = site->pc, .addr = site->target};

    memcpy(&e.thread, &site->meta, 8);
    if (!vs_kind_is_hot(e.kind))
        return e.kind > 0 && e.kind < VS_KIND_END &&
               (e.kind == VS_MAP || e.kind == VS_CONTENT || e.flags == 0) &&
               (e.flags & ~VS_MAP_ALL) == 0;
    if (e.kind == VS_BRANCH) {
        if (e.flags & VS_BR_TAKEN)
            return false;
        e.flags |= VS_BR_TAKEN;
    }
    return vs_event_check(&e, e.size, NULL) == 0;
}

int vs_site_unpack(struct vs_column *col, struct vs_site *site, const struct vs_site *before)
{
    uint64_t kind, flags, size = 0, icount = 0, delta, target = 0;
    int err;

    if (col->end - col->p < 2)
        return -VSE_TRUNCATED;
    kind = *col->p++;
    flags = *col->p++;
    *site = (struct vs_site){0};
    if (vs_kind_is_hot((unsigned)kind)) {
        if ((err = vs_varint_get(&col->p, col->end, &size)) < 0 ||
            (err = vs_varint_get(&col->p, col->end, &icount)) < 0 ||
            (err = vs_varint_get(&col->p, col->end, &delta)) < 0)
            return err;
        site->pc = before->pc + (uint64_t)vs_unzigzag(delta);
        if (kind == VS_BRANCH && !(flags & VS_BR_INDIRECT)) {
            if ((err = vs_varint_get(&col->p, col->end, &target)) < 0)
                return err;
            site->target = site->pc + (uint64_t)vs_unzigzag(target);
        }
    }
    if (size > 0xffff || icount > 0xffff)
        return -VSE_CORRUPT;
    site->meta = size << 16 | icount << 32 | kind << 48 | flags << 56;
    return site_valid(site) ? 0 : -VSE_CORRUPT;
}

int vs_sites_unpack(struct vs_sites *s, struct vs_column col)
{
    while (col.p < col.end) {
        struct vs_site site;
        int err = vs_site_unpack(&col, &site, &s->list[s->count - 1]);

        if (err < 0)
            return err;
        if (s->count >= VS_MAX_SITES)
            return -VSE_LIMIT;
        if (add(s, &site) < 0)
            return -VSE_NOMEM;
    }
    return 0;
}
