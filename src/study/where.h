/* SPDX-License-Identifier: MIT */
/* Where the addresses of a run are: image, routine, source line, and what was inlined there.
 *
 * An address is a site; it is another site when another image lies there. Sites have numbers, which
 * a study can count by; their names are looked up when somebody asks for them. Only the thread that
 * has the struct may use it. */
#ifndef STUDY_WHERE_H
#define STUDY_WHERE_H

#include "base/arena.h"
#include "base/map.h"
#include "study/mapped.h"
#include "study/routine_names.h"
#include "vestige/run.h"

/* How many sites are told apart at most; all further addresses are site 0. */
#define VS_WHERE_SITES_MAX (1u << 22)

/* A routine that the code of a site belongs to: one that was inlined, or the one around it. */
struct vs_where_frame {
    const char *routine; /* readable; NULL: it has no name */
    const char *file;    /* NULL: not known */
    const char *folder;  /* the one that `file` is relative to; NULL: to none */
    unsigned line;       /* 0: not known */
};

struct vs_where_place {
    const char *path; /* the image's; NULL: the address is in none */
    uint64_t address; /* the link-time address; in no image, the address itself */
    uint64_t offset;  /* from where the routine begins; 0 if it has no name */
    uint64_t start;   /* the link-time address of that; if it has no name, of the site */
    const struct vs_where_frame *frames; /* the innermost first; the last one is the routine */
    size_t frame_count;                  /* at least 1 */
};

struct vs_where_site {
    uint64_t pc;
    uint64_t image;                     /* or VS_NO_IMAGE */
    const struct vs_where_place *place; /* NULL: nobody has asked yet */
};

struct vs_where {
    struct vs_image *images;
    size_t image_count;

    /* private */
    bool *named; /* by image: a VS_MAP event has told of it */
    struct vs_routine_names names;
    struct vs_mapped mapped;
    struct vs_map by_pc; /* sites, as long as nothing else lies there */
    struct vs_where_site *sites;
    size_t site_count, site_capacity;
    struct vs_arena memory;
};

/* Takes the images of a run, which must outlive the struct; or those of a list, whose strings must.
 * Return 0; -VSE_NOMEM. vs_where_fini is needed in any case. */
int vs_where_of_run(struct vs_where *w, const struct vs_reader *reader);
int vs_where_of_images(struct vs_where *w, const struct vs_image *images, size_t count);
void vs_where_fini(struct vs_where *w);

/* Takes a VS_MAP event. Images that no such event has named so far are taken to be there; if two of
 * them overlap, the one that starts later counts. Returns 0; -VSE_NOMEM. */
int vs_where_map(struct vs_where *w, const struct vs_event *e);

/* The number of the site at an address, from 1 up; 0: there are too many. Returns it; -VSE_NOMEM.
 */
int64_t vs_where_site(struct vs_where *w, uint64_t pc);

/* Names a site of that number. The place is valid until fini. Returns 0; -VSE_NOMEM; -VSE_IO
 * (of a file whose debug information was there). */
int vs_where_name(struct vs_where *w, uint64_t site, const struct vs_where_place **place);

/* Returns whether there is debug information for an image; as vs_lines_open. */
int vs_where_sourced(struct vs_where *w, uint64_t image);

/* Lists the names of the images' files that have no debug information, with ", " between them, as
 * far as there is room. */
void vs_where_undebugged(struct vs_where *w, char *names, size_t capacity);

#endif
