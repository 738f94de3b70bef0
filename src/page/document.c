/* SPDX-License-Identifier: MIT */
#include "page/document.h"

#include "page/assets.h"
#include "page/data.h"
#include "vestige/error.h"

enum { PARTING_THREADS = 24 };

void page_begin(struct json *j, struct out *out)
{
    out_str(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                 "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                 "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                 "style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">\n"
                 "<title>Vestige report</title>\n<style>\n");
    out_str(out, page_style);
    out_str(out, "</style>\n</head>\n<body>\n");
    out_str(out, page_body);
    out_str(out, "<script type=\"application/json\" id=\"data\">\n");
    json_init(j, out, 0);
    j->in_page = true;
    json_object(j, NULL);
    json_str(j, "vestige", vs_version());
    json_array(j, "runs");
}

int page_put(struct json *j, struct page_run *run)
{
    json_object(j, NULL);
    page_put_run(j, run);
    page_put_timeline(j, run);
    page_put_techniques(j, run);
    int e = page_put_places(j, run);
    if (!e)
        e = page_put_branches(j, run);
    if (!e)
        e = page_put_memory(j, run);
    json_end(j);
    return e;
}

/* ---- where two runs part --------------------------------------------------------------------- */

static int put_event(struct json *j, struct vs_diff *d, const struct vs_diff_thread *t,
                     unsigned side)
{
    const struct vs_diff_event *event = &t->events[side];
    const struct vs_where_place *place = NULL;
    int e = event->site > 0 ? vs_where_name(&d->where[side], (uint64_t)event->site, &place) : 0;
    if (!t->has[side]) {
        json_null(j, NULL);
        return 0;
    }
    json_object(j, NULL);
    json_u64(j, "event", event->number);
    json_str(j, "kind",
             event->kind == VS_BRANCH ? vs_branch_name(event->flags) : vs_kind_name(event->kind));
    json_hex(j, "pc", event->pc);
    json_hex(j, "addr", event->addr);
    if (place && !e) {
        const struct vs_where_frame *f = &place->frames[0];
        page_text(j, "routine", f->routine ? f->routine : "");
        page_text(j, "file", f->file ? f->file : "");
        json_u64(j, "line", f->line);
    }
    json_end(j);
    return e == -VSE_NOMEM ? e : 0;
}

/* Ends the last member so that page_end finds an array, whether there was such a member or not. */
static void end_last(struct json *j)
{
    json_end(j);
    json_array(j, "end");
}

int page_put_parting(struct json *j, struct vs_diff *d)
{
    int e = 0;
    uint64_t different = 0;
    unsigned shown = 0;
    json_end(j); /* the runs */
    json_object(j, "parting");
    json_u64(j, "compared", d->compared);
    json_u64(j, "threads", d->count);
    json_array(j, "differing");
    for (size_t i = 0; i < d->count && !e; i++) {
        const struct vs_diff_thread *t = &d->threads[i];
        different += t->differs;
        if (!t->differs || shown++ >= PARTING_THREADS)
            continue;
        json_object(j, NULL);
        json_u64(j, "thread", i);
        json_u64(j, "position", t->position);
        json_array(j, "events");
        e = put_event(j, d, t, 0);
        if (!e)
            e = put_event(j, d, t, 1);
        json_end(j);
        json_end(j);
    }
    json_end(j);
    json_u64(j, "different", different);
    end_last(j);
    return e;
}

void page_begin_sweep(struct json *j)
{
    json_end(j); /* the runs */
    json_object(j, "sweep");
}

void page_end_sweep(struct json *j)
{
    end_last(j);
}

void page_end(struct json *j, struct out *out)
{
    json_end(j);
    json_end(j);
    out_str(out, "</script>\n<script>\n");
    out_str(out, page_library);
    out_str(out, "\n</script>\n<script>\n\"use strict\";\n");
    out_str(out, page_script);
    out_str(out, "</script>\n</body>\n</html>\n");
}
