/* SPDX-License-Identifier: MIT */
#include "front/region.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/progress.h"
#include "engine/place_find.h"

/* ---- finding code ---------------------------------------------------------------------------- */

struct put_to {
    struct vs_buf *ranges;
    uint64_t base;
};

static int put_range(struct vs_buf *to, uint64_t start, uint64_t end, enum vs_place_kind kind)
{
    struct vs_code_range range;
    memset(&range, 0, sizeof(range)); /* ranges are compared as bytes */
    range.start = start;
    range.end = end;
    range.kind = kind;
    return vs_buf_put(to, &range, sizeof(range));
}

static int put_found(void *context, const struct vs_place *place, uint64_t start, uint64_t size)
{
    const struct put_to *to = context;
    return put_range(to->ranges, start + to->base, start + to->base + size, place->kind);
}

/* Whether it is the file that was mapped, as far as can be told. */
static bool is_same(const struct vs_symbols *s, const struct vs_image *image)
{
    size_t size;
    const uint8_t *id = vs_symbols_build_id(s, &size);
    return size == image->build_id_size && !memcmp(id, image->build_id, size);
}

/* Readers in several threads may look at the same time. */
static void note_found(struct region *r, size_t i, const struct vs_place *place)
{
    pthread_mutex_lock(&r->lock);
    r->places[i].found += place->found;
    r->places[i].chooser |= place->chooser;
    pthread_mutex_unlock(&r->lock);
}

static int find_places(struct region *r, const struct vs_image *image, bool first,
                       const struct vs_symbols *symbols, struct vs_buf *ranges)
{
    struct put_to to = {ranges, image->base};
    int err = 0;
    for (size_t i = 0; i < r->place_count && !err; i++) {
        struct vs_place place = {.name = r->places[i].name, .kind = r->places[i].kind};
        if (vs_place_is_address(&place)) {
            /* It needs no image, but comes with a program's first. */
            uint64_t at = vs_place_address(&place);
            place.found = first;
            err = first ? put_range(ranges, at, at, place.kind) : 0;
        } else if (symbols && (first || !r->o->main_only || place.kind != VS_PLACE_WANTED)) {
            err = vs_place_find(&place, symbols, put_found, &to);
        }
        note_found(r, i, &place);
    }
    return err;
}

static int find(void *context, const struct vs_image *image, bool first, struct vs_buf *ranges)
{
    struct region *r = context;
    struct vs_symbols *symbols = NULL;
    int err = 0;
    if (r->o->main_only && first && !r->o->routines.count)
        err = put_range(ranges, image->start, image->start + image->length, VS_PLACE_WANTED);
    if (!err && r->place_count)
        err = vs_symbols_open(&symbols, *image->symbols ? image->symbols : image->path, NULL);
    if (err == -VSE_NOMEM)
        return err;
    bool same = symbols && is_same(symbols, image);
    err = find_places(r, image, first, same ? symbols : NULL, ranges);
    vs_symbols_close(symbols);
    return err;
}

/* ---- options --------------------------------------------------------------------------------- */

void region_add_places(struct vs_place *places, size_t *count, const struct option_list *names,
                       enum vs_place_kind kind)
{
    for (size_t i = 0; i < names->count; i++)
        places[(*count)++] = (struct vs_place){.name = names->items[i], .kind = kind};
}

static int check_place(struct cli *cli, const struct vs_place *place)
{
    const char *name = place->name;
    if (!vs_place_is_address(place))
        return CLI_DONE;
    if (place->kind == VS_PLACE_WANTED) {
        cli_error(cli, "--routine takes a name, not the address %s", name);
        return CLI_USAGE;
    }
    if (name[2] && !name[2 + strspn(name + 2, "0123456789abcdefABCDEF")] && strlen(name) <= 18)
        return CLI_DONE;
    cli_error(cli, "'%s' is not an address", name);
    return CLI_USAGE;
}

int region_check_places(struct cli *cli, const struct vs_place *places, size_t count)
{
    int status = CLI_DONE;
    for (size_t i = 0; i < count && status == CLI_DONE; i++)
        status = check_place(cli, &places[i]);
    return status;
}

int region_read_windows(struct cli *cli, const char *path, struct vs_window *windows, size_t *count)
{
    struct vs_diag diag = {.offset = -1, .chunk = -1};
    int e = vs_windows_load(path, windows, REGION_WINDOWS_MAX, count, &diag);
    if (e == -VSE_INVAL || e == -VSE_NOTFOUND) {
        cli_error(cli, "%s%s %s", path, e == -VSE_INVAL ? "," : ":", diag.text);
        return CLI_USAGE;
    }
    return e < 0 ? cli_report(cli, path, e, &diag) : CLI_DONE;
}

static int set_windows(struct region *r, struct cli *cli)
{
    const struct region_options *o = r->o;
    if (!o->windows && !o->skip && !o->length)
        return CLI_DONE;
    r->windows = calloc(REGION_WINDOWS_MAX, sizeof(*r->windows));
    r->selection.windows = r->windows;
    if (!r->windows) {
        cli_error(cli, "out of memory");
        return CLI_USAGE;
    }
    if (o->windows)
        return region_read_windows(cli, o->windows, r->windows, &r->selection.window_count);
    r->windows[0] = (struct vs_window){o->skip, o->length};
    r->selection.window_count = 1;
    return CLI_DONE;
}

int region_init(struct region *r, struct cli *cli, const struct region_options *o)
{
    bool switches = o->from.count || o->to.count;
    *r = (struct region){.o = o};
    pthread_mutex_init(&r->lock, NULL);
    const char *places = o->places ? o->places : "--from and --to";
    if (o->windows && (o->skip || o->length || switches)) {
        cli_error(cli, "--windows excludes %s", switches ? places : "--skip and --length");
        return CLI_USAGE;
    }
    if (o->skip && switches) {
        cli_error(cli, "--skip excludes %s", places);
        return CLI_USAGE;
    }
    region_add_places(r->places, &r->place_count, &o->routines, VS_PLACE_WANTED);
    region_add_places(r->places, &r->place_count, &o->from, VS_PLACE_FROM);
    region_add_places(r->places, &r->place_count, &o->to, VS_PLACE_TO);
    r->selection.only_ranges = o->routines.count || o->main_only;
    r->selection.starts_off = o->from.count;
    r->selection.context = r;
    if (r->place_count || o->main_only)
        r->selection.find = find;
    r->any = r->selection.find || o->windows || o->skip || o->length;
    int status = set_windows(r, cli);
    return status == CLI_DONE ? region_check_places(cli, r->places, r->place_count) : status;
}

void region_fini(struct region *r)
{
    free(r->windows);
    pthread_mutex_destroy(&r->lock);
    *r = (struct region){0};
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Whether all names were found; says which was not, and which are not what they seem. */
static int judge_names(const struct region *r, struct cli *cli, const char *path)
{
    for (size_t i = 0; i < r->place_count; i++) {
        if (!r->places[i].found) {
            cli_error(cli,
                      "%s: no routine '%s' in the files that it mapped, as far as they are still "
                      "what they were; 'nm -C' lists what there is",
                      path, r->places[i].name);
            return CLI_USAGE;
        }
        if (r->places[i].chooser)
            cli_error(cli,
                      "%s only chooses an implementation, which has another name; 'vestige info' "
                      "shows which ran",
                      r->places[i].name);
    }
    return CLI_DONE;
}

int region_open(struct region *r, struct cli *cli, struct vs_reader **reader, const char *path)
{
    struct vs_diag diag = {.offset = -1, .chunk = -1};
    struct vs_progress progress;
    if (!r->any)
        return cli_open(cli, reader, path, false);
    for (size_t i = 0; i < r->place_count; i++)
        r->places[i].found = 0;
    vs_progress_init(&progress, stderr, "executing", 0, "instructions");
    int e = vs_run_open_selected(reader, path, VS_OPEN_DEFAULT, &r->selection, vs_progress_show,
                                 &progress, &diag);
    vs_progress_finish(&progress);
    int status = e < 0 ? cli_report(cli, path, e, &diag) : judge_names(r, cli, path);
    if (!e && status != CLI_DONE) {
        vs_reader_close(*reader);
        *reader = NULL;
    }
    return status;
}

/* ---- as words -------------------------------------------------------------------------------- */

static int add_word(struct vs_buf *to, const char *word)
{
    int err = to->len ? vs_buf_put(to, " ", 1) : 0;
    return err ? err : vs_buf_put(to, word, strlen(word));
}

static int add_pair(struct vs_buf *to, const char *option, const char *value)
{
    int err = add_word(to, option);
    return err ? err : add_word(to, value);
}

static int add_number(struct vs_buf *to, const char *option, uint64_t number)
{
    char text[32];
    snprintf(text, sizeof(text), "%" PRIu64, number);
    return number ? add_pair(to, option, text) : 0;
}

static int add_names(struct vs_buf *to, const char *option, const struct option_list *names)
{
    int err = 0;
    for (size_t i = 0; i < names->count && !err; i++)
        err = add_pair(to, option, names->items[i]);
    return err;
}

int region_words(const struct region *r, struct vs_buf *to)
{
    const struct region_options *o = r->o;
    int err = add_number(to, "--skip", o->skip);
    if (!err)
        err = add_number(to, "--length", o->length);
    if (!err && o->windows)
        err = add_pair(to, "--windows", o->windows);
    if (!err && o->main_only)
        err = add_word(to, "--no-shared-libs");
    if (!err)
        err = add_names(to, "--routine", &o->routines);
    if (!err)
        err = add_names(to, "--from", &o->from);
    if (!err)
        err = add_names(to, "--to", &o->to);
    return err ? err : vs_buf_put(to, "", 1);
}
