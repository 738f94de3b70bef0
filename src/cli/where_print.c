/* SPDX-License-Identifier: MIT */
#include "cli/where_print.h"

#include <stdio.h>
#include <string.h>

#include "isa/codemap.h"
#include "isa/set.h"

const char *where_file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

static void frame_text(struct out *o, const struct vs_where_place *p,
                       const struct vs_where_frame *f)
{
    if (f->routine) {
        out_safe(o, f->routine);
    } else {
        if (p->path) {
            out_safe(o, where_file_name(p->path));
            out_char(o, '+');
        }
        out_hex(o, p->address, 0);
    }
    if (!f->file)
        return;
    out_str(o, " at ");
    out_safe(o, f->file);
    if (f->line) {
        out_char(o, ':');
        out_dec(o, f->line, 0);
    }
}

void where_text(struct out *o, const struct vs_where_place *p)
{
    for (size_t i = 0; i < p->frame_count; i++) {
        if (i)
            out_str(o, ", inlined in ");
        frame_text(o, p, &p->frames[i]);
    }
}

static void text_or_null(struct json *j, const char *key, const char *text)
{
    if (text)
        json_str(j, key, text);
    else
        json_null(j, key);
}

void where_json(struct json *j, const char *key, const struct vs_where_place *p)
{
    json_object(j, key);
    text_or_null(j, "image", p->path);
    json_hex(j, "address", p->address);
    json_u64(j, "offset", p->offset);
    json_array(j, "frames");
    for (size_t i = 0; i < p->frame_count; i++) {
        const struct vs_where_frame *f = &p->frames[i];
        json_object(j, NULL);
        text_or_null(j, "routine", f->routine);
        text_or_null(j, "file", f->file);
        text_or_null(j, "folder", f->folder);
        if (f->line)
            json_u64(j, "line", f->line);
        else
            json_null(j, "line");
        json_end(j);
    }
    json_end(j);
    json_end(j);
}

/* Prints the instruction at an address, if the run's code tells it and it is always the same. */
static void instruction(struct out *o, const struct vs_reader *reader, uint64_t pc)
{
    const struct vs_isa *isa = vs_isa_find(vs_reader_meta(reader, "isa"));
    struct vs_codemap code = {0};
    uint8_t bytes[VS_ISA_LENGTH_MAX];
    char text[VS_ISA_TEXT_MAX];
    struct vs_block block;
    bool same = isa;
    size_t size;
    for (uint64_t i = 0; same && vs_reader_block(reader, i, &block) == 0; i++) {
        if (pc - block.addr < block.size)
            same = !vs_codemap_differs(&code, &block) && vs_codemap_add(&code, &block) == 0;
    }
    size = same ? vs_codemap_fetch(&code, pc, bytes, sizeof(bytes)) : 0;
    if (size && isa->format(bytes, size, pc, text, sizeof(text)) >= 0) {
        out_str(o, ": ");
        out_str(o, text);
    }
    vs_codemap_fini(&code);
}

const char *where_in_run(const struct vs_reader *reader, uint64_t pc, char text[WHERE_TEXT_MAX])
{
    const struct vs_where_place *place;
    struct vs_where w;
    struct out o;
    int64_t site;
    int e = vs_where_of_run(&w, reader);

    text[0] = 0;
    site = e ? e : vs_where_site(&w, pc);
    if (site > 0 && vs_where_name(&w, (uint64_t)site, &place) == 0 && place->frames[0].routine) {
        out_init(&o, -1);
        out_str(&o, " (");
        where_text(&o, place);
        instruction(&o, reader, pc);
        out_char(&o, ')');
        if (!o.error && o.used < WHERE_TEXT_MAX) {
            memcpy(text, o.buf, o.used);
            text[o.used] = 0;
        }
        out_fini(&o);
    }
    vs_where_fini(&w);
    return text;
}
