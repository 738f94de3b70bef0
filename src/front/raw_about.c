/* SPDX-License-Identifier: MIT */
#include "front/raw_about.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/diag.h"
#include "base/number.h"
#include "front/json_read.h"

struct about_parser {
    struct json_reader json;
    struct raw_about *to;
    struct vs_diag *diag;
};

/* A member of an object: where its value goes, or what takes it. */
struct about_member {
    const char *key;
    enum { TEXT, NAME, COUNT, TRUTH, BYTES, TAKEN } kind;
    void *to;
    int (*take)(struct about_parser *p);
};

static int bad(struct about_parser *p, const char *what, const char *why)
{
    size_t line = 1;
    for (size_t i = 0; i < p->json.at && i < p->json.size; i++)
        line += p->json.bytes[i] == '\n';
    return vs_diag_set(p->diag, -VSE_CORRUPT, -1, -1, "line %zu: %s%s%s", line, what,
                       *what ? ": " : "", why);
}

static int bad_json(struct about_parser *p)
{
    return bad(p, "", p->json.why ? p->json.why : "not what it should be");
}

static const char *text_of(const struct about_parser *p)
{
    return (const char *)p->json.text.data;
}

static int take_text(struct about_parser *p, char **to)
{
    free(*to);
    *to = strdup(text_of(p));
    return *to ? 0 : -VSE_NOMEM;
}

static int take_build_id(struct about_parser *p, struct raw_about_image *image)
{
    const char *text = text_of(p);
    size_t digits = strlen(text);
    if (digits % 2 || digits / 2 > sizeof(image->build_id) ||
        strspn(text, "0123456789abcdefABCDEF") != digits)
        return bad(p, "build_id", "no such bytes");
    for (size_t i = 0; i < digits / 2; i++) {
        const char two[3] = {text[2 * i], text[2 * i + 1], 0};
        image->build_id[i] = (uint8_t)strtoul(two, NULL, 16);
    }
    image->build_id_size = (uint32_t)(digits / 2);
    return 0;
}

static int take_value(struct about_parser *p, const struct about_member *m)
{
    if (m->kind == TAKEN)
        return m->take(p);
    enum json_token token = json_next(&p->json);
    bool text = token == JSON_STRING;
    if (token == JSON_BAD)
        return bad_json(p);
    if (m->kind == TRUTH && (token == JSON_TRUE || token == JSON_FALSE)) {
        *(bool *)m->to = token == JSON_TRUE;
        return 0;
    }
    if (m->kind == COUNT && (text || token == JSON_NUMBER))
        return vs_number(text_of(p), text_of(p) + strlen(text_of(p)), m->to)
                   ? bad(p, m->key, "no number")
                   : 0;
    if (m->kind == NAME && text && (!*text_of(p) || strchr(text_of(p), '/')))
        return bad(p, m->key, "no name of a file in the same folder");
    if ((m->kind == NAME || m->kind == TEXT) && text)
        return take_text(p, m->to);
    if (m->kind == BYTES && text)
        return take_build_id(p, m->to);
    return bad(p, m->key, "it has a value of another kind");
}

/* Takes the members of an object that has begun; a row without a key ends the list. */
static int take_members(struct about_parser *p, const struct about_member *list)
{
    enum json_token token;
    int err = 0;
    while (!err && (token = json_next(&p->json)) == JSON_KEY) {
        const struct about_member *m = list;
        while (m->key && strcmp(m->key, text_of(p)) != 0)
            m++;
        if (m->key)
            err = take_value(p, m);
        else if (!json_skip(&p->json, json_next(&p->json)))
            err = bad_json(p);
    }
    return err ? err : token == JSON_CLOSE ? 0 : bad_json(p);
}

/* Takes an array of objects. */
static int take_array(struct about_parser *p, const char *key, int (*one)(struct about_parser *p))
{
    enum json_token token = json_next(&p->json);
    int err = token == JSON_ARRAY ? 0 : bad(p, key, "no array");
    while (!err && (token = json_next(&p->json)) == JSON_OBJECT)
        err = one(p);
    return err                   ? err
           : token == JSON_CLOSE ? 0
                                 : bad(p, key, p->json.why ? p->json.why : "no object");
}

/* Makes room for one more, zeroed. Returns 0; -VSE_NOMEM; -VSE_CORRUPT (too many). */
static int more(struct about_parser *p, void **list, size_t *count, size_t *capacity, size_t size,
                size_t most)
{
    if (*count >= most)
        return bad(p, "", "too many of them");
    int err = vs_array_room(list, capacity, *count, 1, size);
    if (!err)
        memset((char *)*list + *count * size, 0, size);
    *count += !err;
    return err;
}

static int take_core(struct about_parser *p)
{
    struct raw_about *a = p->to;
    void *list = a->cores;
    int err = more(p, &list, &a->core_count, &a->core_capacity, sizeof(*a->cores), RAW_CORES_MAX);
    a->cores = list;
    if (err)
        return err;
    struct raw_about_core *c = &a->cores[a->core_count - 1];
    err = take_members(p, (const struct about_member[]){{"file", NAME, &c->file, NULL},
                                                        {"bytes", COUNT, &c->bytes, NULL},
                                                        {"tid", COUNT, &c->tid, NULL},
                                                        {NULL, TEXT, NULL, NULL}});
    return !err && !c->file ? bad(p, "cores", "one has no file") : err;
}

static int take_cores(struct about_parser *p)
{
    return take_array(p, "cores", take_core);
}

static int take_image(struct about_parser *p)
{
    struct raw_about *a = p->to;
    void *list = a->images;
    int err =
        more(p, &list, &a->image_count, &a->image_capacity, sizeof(*a->images), RAW_IMAGES_MAX);
    a->images = list;
    if (err)
        return err;
    struct raw_about_image *i = &a->images[a->image_count - 1];
    err = take_members(p, (const struct about_member[]){{"path", TEXT, &i->path, NULL},
                                                        {"start", COUNT, &i->start, NULL},
                                                        {"length", COUNT, &i->length, NULL},
                                                        {"base", COUNT, &i->base, NULL},
                                                        {"build_id", BYTES, i, NULL},
                                                        {NULL, TEXT, NULL, NULL}});
    return !err && !i->path ? bad(p, "images", "one has no path") : err;
}

static int take_images(struct about_parser *p)
{
    return take_array(p, "images", take_image);
}

static int take_range(struct about_parser *p)
{
    struct raw_about *a = p->to;
    void *list = a->ranges;
    int err =
        more(p, &list, &a->range_count, &a->range_capacity, sizeof(*a->ranges), RAW_RANGES_MAX);
    a->ranges = list;
    if (err)
        return err;
    struct raw_about_range *r = &a->ranges[a->range_count - 1];
    err = take_members(p, (const struct about_member[]){{"address", COUNT, &r->address, NULL},
                                                        {"offset", COUNT, &r->offset, NULL},
                                                        {"size", COUNT, &r->size, NULL},
                                                        {NULL, TEXT, NULL, NULL}});
    return !err && (!r->size || r->size > UINT64_MAX - r->address)
               ? bad(p, "ranges", "one has no such size")
               : err;
}

static int take_ranges(struct about_parser *p)
{
    return take_array(p, "ranges", take_range);
}

static int take_code(struct about_parser *p)
{
    struct raw_about *a = p->to;
    if (json_next(&p->json) != JSON_OBJECT)
        return bad(p, "code", "no object");
    return take_members(p, (const struct about_member[]){{"file", NAME, &a->code, NULL},
                                                         {"changes", TRUTH, &a->changes, NULL},
                                                         {"ranges", TAKEN, NULL, take_ranges},
                                                         {NULL, TEXT, NULL, NULL}});
}

static int parse(struct about_parser *p)
{
    struct raw_about *a = p->to;
    uint64_t version = 0;
    if (json_next(&p->json) != JSON_OBJECT)
        return bad(p, "", "no description of streams");
    int err = take_members(
        p, (const struct about_member[]){{"version", COUNT, &version, NULL},
                                         {"technique", TEXT, &a->technique, NULL},
                                         {"isa", TEXT, &a->isa, NULL},
                                         {"address_bits", COUNT, &a->address_bits, NULL},
                                         {"timed", TRUTH, &a->timed, NULL},
                                         {"cores", TAKEN, NULL, take_cores},
                                         {"images", TAKEN, NULL, take_images},
                                         {"code", TAKEN, NULL, take_code},
                                         {NULL, TEXT, NULL, NULL}});
    if (!err && json_next(&p->json) != JSON_END)
        err = bad_json(p);
    if (!err && version != 1)
        err = bad(p, "version", "one that this vestige does not know");
    if (!err && (!a->technique || !a->isa || !a->core_count))
        err = bad(p, "", "no technique, isa or cores");
    if (!err && a->address_bits != 32 && a->address_bits != 64)
        err = bad(p, "address_bits", "neither 32 nor 64");
    return err;
}

int raw_about_parse(struct raw_about *a, const char *bytes, size_t size, struct vs_diag *diag)
{
    struct about_parser p = {.to = a, .diag = diag};
    *a = (struct raw_about){0};
    json_reader_init(&p.json, bytes, size);
    int err = parse(&p);
    json_reader_fini(&p.json);
    if (err == -VSE_NOMEM)
        vs_diag_set(diag, err, -1, -1, "%s", vs_errstr(err));
    return err;
}

void raw_about_fini(struct raw_about *a)
{
    for (size_t i = 0; i < a->core_count; i++)
        free(a->cores[i].file);
    for (size_t i = 0; i < a->image_count; i++)
        free(a->images[i].path);
    free(a->cores);
    free(a->images);
    free(a->ranges);
    free(a->technique);
    free(a->isa);
    free(a->code);
    *a = (struct raw_about){0};
}
