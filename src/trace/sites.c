/* SPDX-License-Identifier: MIT */
#include "trace/sites.h"

#include <stdlib.h>

#include "base/invariant.h"
#include "base/varint.h"

#define FIRST_CAPACITY 1024

static uint32_t hash(const struct vs_site *s)
{
    uint64_t h = s->pc * UINT64_C(0x9e3779b97f4a7c15) ^ s->target ^ (s->meta >> 16);

    h *= UINT64_C(0xd6e8feb86659fd93);
    return (uint32_t)(h >> 32);
}

int vs_sites_init(struct vs_sites *s, bool lookup)
{
    *s = (struct vs_sites){.capacity = FIRST_CAPACITY, .count = 1};
    s->list = calloc(s->capacity, sizeof(*s->list));
    if (lookup) {
        s->slot_count = 4 * FIRST_CAPACITY;
        s->slots = calloc(s->slot_count, sizeof(*s->slots));
    }
    if (s->list && (!lookup || s->slots))
        return 0;
    vs_sites_fini(s);
    return -VSE_NOMEM;
}

void vs_sites_fini(struct vs_sites *s)
{
    free(s->list);
    free(s->slots);
    *s = (struct vs_sites){0};
}

static void enter(struct vs_sites *s, uint32_t number)
{
    uint32_t i = hash(&s->list[number]) & (s->slot_count - 1);

    while (s->slots[i])
        i = (i + 1) & (s->slot_count - 1);
    s->slots[i] = number;
}

/* Doubles list and slots together, so that at most a quarter of the slots is used; or neither. */
static int grow(struct vs_sites *s)
{
    uint32_t capacity = s->capacity * 2;
    uint32_t *slots = s->slots ? calloc((size_t)capacity * 4, sizeof(*slots)) : NULL;
    struct vs_site *list = s->slots && !slots ? NULL : realloc(s->list, capacity * sizeof(*list));

    if (!list) {
        free(slots);
        return -VSE_NOMEM;
    }
    s->list = list;
    s->capacity = capacity;
    if (slots) {
        free(s->slots);
        s->slots = slots;
        s->slot_count = capacity * 4;
        for (uint32_t i = 1; i < s->count; i++)
            enter(s, i);
    }
    return 0;
}

static int64_t add(struct vs_sites *s, const struct vs_site *site)
{
    if (s->count == s->capacity) {
        int err = grow(s);

        if (err < 0)
            return err;
    }
    s->list[s->count] = *site;
    return s->count++;
}

int64_t vs_sites_number(struct vs_sites *s, const struct vs_site *site, uint32_t max)
{
    uint32_t i = hash(site) & (s->slot_count - 1);
    int64_t number;

    invariant(s->count <= s->capacity && 4 * (uint64_t)s->capacity <= s->slot_count);
    for (; s->slots[i]; i = (i + 1) & (s->slot_count - 1))
        if (vs_site_equal(&s->list[s->slots[i]], site))
            return s->slots[i];
    if (s->count >= max)
        return 0;
    number = add(s, site);
    if (number > 0)
        enter(s, (uint32_t)number);
    return number;
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

/* Whether an event of this site can keep the rules of event.h; what is dynamic is checked when it
 * is decoded. */
static bool site_valid(const struct vs_site *site)
{
    struct vs_event e = {.pc = site->pc, .addr = site->target};

    memcpy(&e.thread, &site->meta, 8);
    if (!vs_kind_is_hot(e.kind))
        return e.kind > 0 && e.kind < VS_KIND_END && (e.kind == VS_MAP || e.flags == 0) &&
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
