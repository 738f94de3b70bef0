/* SPDX-License-Identifier: MIT */
/* Packs and unpacks what a .vport file says about its streams. */
#include <string.h>

#include "base/diag.h"
#include "base/varint.h"
#include "port/stream.h"
#include "port/vport_layout.h"

enum { BUILD_ID_MAX = 64 };

static const char *find(const struct vs_vport_pair *pairs, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(pairs[i].name, name) == 0)
            return pairs[i].value;
    return NULL;
}

const char *vs_vport_param(const struct vs_vport_about *about, const char *name)
{
    return find(about->params, about->param_count, name);
}

const char *vs_vport_fact(const struct vs_vport_about *about, const char *name)
{
    return find(about->facts, about->fact_count, name);
}

/* ---- rules --------------------------------------------------------------------------------- */

static const char *pairs_fault(const struct vs_vport_pair *pairs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!pairs[i].name[0] || strlen(pairs[i].name) > VS_VPORT_NAME_MAX)
            return "a parameter or fact without a name, or with one over 256 bytes";
        if (find(pairs, i, pairs[i].name))
            return "a parameter or fact that is there twice";
    }
    return NULL;
}

/* Says which rule is broken, or NULL. */
static const char *fault(const struct vs_vport_about *a)
{
    const char *why;

    if (!a->technique[0])
        return "no technique is named";
    if (!a->isa[0])
        return "no instruction set is named";
    if (a->address_bits != 32 && a->address_bits != 64)
        return "addresses have neither 32 nor 64 bits";
    if (!a->cores || a->cores > VS_PORT_CORES_MAX)
        return "not 1 to 65536 cores";
    if ((why = pairs_fault(a->params, a->param_count)))
        return why;
    return pairs_fault(a->facts, a->fact_count);
}

/* ---- packing ------------------------------------------------------------------------------- */

static int put_number(struct vs_buf *out, uint64_t v)
{
    uint8_t bytes[VS_VARINT_MAX];

    return vs_buf_put(out, bytes, (size_t)(vs_varint_put(bytes, v) - bytes));
}

static int put_bytes(struct vs_buf *out, const void *bytes, size_t size)
{
    int err;

    if (size > VS_VPORT_STRING_MAX || out->len > VS_VPORT_ABOUT_MAX)
        return -VSE_LIMIT;
    err = put_number(out, size);
    return err ? err : vs_buf_put(out, bytes, size);
}

static int put_string(struct vs_buf *out, const char *s)
{
    return put_bytes(out, s, strlen(s));
}

static int put_pairs(struct vs_buf *out, const struct vs_vport_pair *pairs, size_t count)
{
    int err;

    if (count > VS_VPORT_PAIRS_MAX)
        return -VSE_LIMIT;
    if ((err = put_number(out, count)) < 0)
        return err;
    for (size_t i = 0; i < count; i++)
        if ((err = put_string(out, pairs[i].name)) < 0 ||
            (err = put_string(out, pairs[i].value)) < 0)
            return err;
    return 0;
}

static int put_image(struct vs_buf *out, const struct vs_image *m)
{
    int err;

    if (m->build_id_size > BUILD_ID_MAX)
        return -VSE_LIMIT;
    if ((err = put_string(out, m->path)) < 0 ||
        (err = put_string(out, m->symbols ? m->symbols : "")) < 0 ||
        (err = put_bytes(out, m->build_id, m->build_id_size)) < 0 ||
        (err = put_number(out, m->base)) < 0 || (err = put_number(out, m->start)) < 0)
        return err;
    return put_number(out, m->length);
}

static int put_all(struct vs_buf *out, const struct vs_vport_about *a)
{
    int err;

    if (a->image_count > VS_VPORT_IMAGES_MAX)
        return -VSE_LIMIT;
    if ((err = put_string(out, a->technique)) < 0 || (err = put_string(out, a->isa)) < 0 ||
        (err = put_number(out, a->address_bits)) < 0 || (err = put_number(out, a->cores)) < 0 ||
        (err = put_pairs(out, a->params, a->param_count)) < 0 ||
        (err = put_pairs(out, a->facts, a->fact_count)) < 0 ||
        (err = put_number(out, a->image_count)) < 0)
        return err;
    for (size_t i = 0; i < a->image_count; i++)
        if ((err = put_image(out, &a->images[i])) < 0)
            return err;
    return out->len > VS_VPORT_ABOUT_MAX ? -VSE_LIMIT : 0;
}

int vs_vport_about_pack(struct vs_buf *out, const struct vs_vport_about *about,
                        struct vs_diag *diag)
{
    const char *why =
        about->param_count > VS_VPORT_PAIRS_MAX || about->fact_count > VS_VPORT_PAIRS_MAX
            ? NULL
            : fault(about);
    int err;

    if (why)
        return vs_diag_set(diag, -VSE_INVAL, -1, -1, "%s", why);
    err = put_all(out, about);
    if (err == -VSE_LIMIT)
        vs_diag_set(diag, err, -1, -1, "parameters, facts or images are too many or too long");
    else if (err)
        vs_diag_set(diag, err, -1, -1, "out of memory");
    return err;
}

/* ---- unpacking ----------------------------------------------------------------------------- */

struct cursor {
    const uint8_t *start, *p, *end;
    struct vs_arena *arena;
    const char *why; /* what was wrong at p */
};

static int bad(struct cursor *c, int err, const char *why)
{
    c->why = why;
    return err;
}

static int get_number(struct cursor *c, uint64_t most, uint64_t *v)
{
    const uint8_t *p = c->p;

    if (vs_varint_get(&p, c->end, v) < 0)
        return bad(c, -VSE_CORRUPT, "not a number");
    if (*v > most)
        return bad(c, -VSE_LIMIT, "a number is over its limit");
    c->p = p;
    return 0;
}

static int get_bytes(struct cursor *c, uint64_t most, const uint8_t **bytes, size_t *size)
{
    uint64_t n;
    int err = get_number(c, most, &n);

    if (err)
        return err;
    if (n > (size_t)(c->end - c->p))
        return bad(c, -VSE_CORRUPT, "a string goes past the end of the description");
    *bytes = vs_arena_dup(c->arena, c->p, (size_t)n);
    if (!*bytes)
        return bad(c, -VSE_NOMEM, "out of memory");
    *size = (size_t)n;
    c->p += n;
    return 0;
}

static int get_string(struct cursor *c, const char **s)
{
    const uint8_t *bytes;
    size_t size;
    int err = get_bytes(c, VS_VPORT_STRING_MAX, &bytes, &size);

    if (err)
        return err;
    if (memchr(bytes, 0, size))
        return bad(c, -VSE_CORRUPT, "a string with a zero byte");
    *s = (const char *)bytes;
    return 0;
}

/* Makes an array in the arena. At least `least` bytes of the description belong to each element,
 * which bounds what a small file can make us allocate. */
static int get_array(struct cursor *c, uint64_t most, size_t least, size_t element, void **array,
                     size_t *count)
{
    uint64_t n;
    int err = get_number(c, most, &n);

    if (err)
        return err;
    if (n > (size_t)(c->end - c->p) / least)
        return bad(c, -VSE_CORRUPT, "a list goes past the end of the description");
    *array = vs_arena_alloc(c->arena, (size_t)n * element, 8);
    if (!*array)
        return bad(c, -VSE_NOMEM, "out of memory");
    *count = (size_t)n;
    return 0;
}

static int get_pairs(struct cursor *c, const struct vs_vport_pair **pairs, size_t *count)
{
    struct vs_vport_pair *out;
    void *array;
    int err = get_array(c, VS_VPORT_PAIRS_MAX, 2, sizeof(*out), &array, count);

    if (err)
        return err;
    *pairs = out = array;
    for (size_t i = 0; i < *count; i++)
        if ((err = get_string(c, &out[i].name)) < 0 || (err = get_string(c, &out[i].value)) < 0)
            return err;
    return 0;
}

static int get_image(struct cursor *c, struct vs_image *m)
{
    size_t size;
    int err;

    if ((err = get_string(c, &m->path)) < 0 || (err = get_string(c, &m->symbols)) < 0 ||
        (err = get_bytes(c, BUILD_ID_MAX, &m->build_id, &size)) < 0)
        return err;
    m->build_id_size = (uint32_t)size;
    if ((err = get_number(c, UINT64_MAX, &m->base)) < 0 ||
        (err = get_number(c, UINT64_MAX, &m->start)) < 0)
        return err;
    return get_number(c, UINT64_MAX, &m->length);
}

static int get_images(struct cursor *c, struct vs_vport_about *a)
{
    struct vs_image *out;
    void *array;
    int err = get_array(c, VS_VPORT_IMAGES_MAX, 6, sizeof(*out), &array, &a->image_count);

    if (err)
        return err;
    a->images = out = array;
    for (size_t i = 0; i < a->image_count; i++)
        if ((err = get_image(c, &out[i])) < 0)
            return err;
    return 0;
}

static int get_all(struct cursor *c, struct vs_vport_about *a)
{
    uint64_t address_bits, cores;
    const char *why;
    int err;

    if ((err = get_string(c, &a->technique)) < 0 || (err = get_string(c, &a->isa)) < 0 ||
        (err = get_number(c, 64, &address_bits)) < 0 ||
        (err = get_number(c, VS_PORT_CORES_MAX, &cores)) < 0)
        return err;
    a->address_bits = (unsigned)address_bits;
    a->cores = (unsigned)cores;
    if ((err = get_pairs(c, &a->params, &a->param_count)) < 0 ||
        (err = get_pairs(c, &a->facts, &a->fact_count)) < 0 || (err = get_images(c, a)) < 0)
        return err;
    if (c->p != c->end)
        return bad(c, -VSE_CORRUPT, "more bytes than it needs");
    why = fault(a);
    return why ? bad(c, -VSE_CORRUPT, why) : 0;
}

int vs_vport_about_unpack(const uint8_t *data, size_t size, uint64_t at, struct vs_arena *arena,
                          struct vs_vport_about *about, struct vs_diag *diag)
{
    struct cursor c = {.start = data, .p = data, .end = data + size, .arena = arena};
    int err;

    memset(about, 0, sizeof(*about));
    err = get_all(&c, about);
    return err ? vs_diag_set(diag, err, (int64_t)(at + (uint64_t)(c.p - c.start)), -1,
                             "description: %s", c.why)
               : 0;
}
