/* SPDX-License-Identifier: MIT */
#include "replay/present.h"

#include <stdlib.h>
#include <string.h>

#include "vestige/error.h"

/* What is known about an image. One that a call did not bring was there from the beginning, or is
 * still to come. */
enum { IMAGE_UNKNOWN, IMAGE_USED, IMAGE_CAME, IMAGE_WENT };

int vs_present_init(struct vs_present *p, size_t images, unsigned programs)
{
    *p = (struct vs_present){.image_count = (unsigned)images,
                             .program_count = 1,
                             .program_capacity = programs ? programs : 1};
    p->images = calloc(images + 1, sizeof(*p->images));
    p->programs = calloc(p->program_capacity, sizeof(*p->programs));
    return p->images && p->programs ? 0 : -VSE_NOMEM;
}

int vs_present_clone(struct vs_present *to, const struct vs_present *from)
{
    int err = vs_present_init(to, from->image_count, from->program_capacity);
    if (err)
        return err;
    to->program_count = from->program_count;
    memcpy(to->images, from->images, from->image_count);
    memcpy(to->programs, from->programs, from->program_count * sizeof(*from->programs));
    return 0;
}

void vs_present_fini(struct vs_present *p)
{
    free(p->images);
    free(p->programs);
    *p = (struct vs_present){0};
}

static unsigned end_of(const struct vs_present *p, unsigned program)
{
    return program + 1 < p->program_count ? p->programs[program + 1] : p->image_count;
}

bool vs_present_has(const struct vs_present *p, unsigned program, unsigned image)
{
    if (image >= p->image_count)
        return true;
    return image >= p->programs[program] && image < end_of(p, program) &&
           p->images[image] != IMAGE_WENT;
}

static bool has_come(const struct vs_present *p, unsigned image)
{
    return image < p->image_count && p->images[image] == IMAGE_CAME;
}

bool vs_present_came_already(const struct vs_present *p, unsigned program, unsigned image)
{
    return vs_present_has(p, program, image) && has_come(p, image);
}

/* Of several images in one place, the last that a call brought is there; or else the first, since
 * the others are still to come. */
static bool is_rather(const struct vs_present *p, unsigned image, unsigned other)
{
    bool came = has_come(p, image), other_came = has_come(p, other);
    return came != other_came ? came : came ? image > other : image < other;
}

const struct vs_loaded_part *vs_present_find(struct vs_present *p, const struct vs_loaded *l,
                                             unsigned program, uint64_t addr, bool executes)
{
    const struct vs_loaded_part *found = NULL;
    for (size_t i = 0; i < l->count; i++) {
        const struct vs_loaded_part *part = &l->parts[i];
        if (addr - part->addr < part->size && vs_present_has(p, program, part->image) &&
            (!found || is_rather(p, part->image, found->image)))
            found = part;
    }
    if (found && executes && found->image < p->image_count &&
        p->images[found->image] == IMAGE_UNKNOWN)
        p->images[found->image] = IMAGE_USED;
    return found;
}

/* Returns whether the image's code begins in that range. */
static bool begins_in(const struct vs_loaded *l, unsigned image, uint64_t addr, uint64_t size)
{
    return image < l->image_count && l->images[image].code - addr < size;
}

/* Returns whether a file that was opened under that name may be the image: a library's name is
 * often a link to one that has more of its version. */
static bool is_named(const struct vs_loaded_image *image, const char *name)
{
    const char *slash = strrchr(image->path, '/');
    return *name && !strncmp(slash ? slash + 1 : image->path, name, strlen(name));
}

/* Of several images that lay at the same place, the one of that name came; or else the first that
 * was not there yet. */
unsigned vs_present_came(struct vs_present *p, const struct vs_loaded *l, unsigned program,
                         uint64_t addr, uint64_t size, const char *name)
{
    unsigned found = VS_PRESENT_NONE;
    int best = -1;
    for (unsigned i = p->programs[program]; i < end_of(p, program); i++) {
        if (!begins_in(l, i, addr, size))
            continue;
        int fits = 2 * is_named(&l->images[i], name) + (p->images[i] == IMAGE_UNKNOWN);
        if (fits > best) {
            best = fits;
            found = i;
        }
        if (p->images[i] == IMAGE_CAME)
            p->images[i] = IMAGE_WENT; /* its place was taken, if only by itself */
    }
    if (found != VS_PRESENT_NONE)
        p->images[found] = IMAGE_CAME;
    return found;
}

bool vs_present_went(struct vs_present *p, const struct vs_loaded *l, unsigned program,
                     uint64_t addr, uint64_t size)
{
    bool any = false;
    for (unsigned i = p->programs[program]; i < end_of(p, program); i++)
        if ((p->images[i] == IMAGE_CAME || p->images[i] == IMAGE_USED) &&
            begins_in(l, i, addr, size)) {
            p->images[i] = IMAGE_WENT;
            any = true;
        }
    return any;
}

/* The new program's images follow the last one that a call brought. Without any, they follow those
 * of which something was executed; a piece of code that is decoded may reach into a later one. */
void vs_present_exec(struct vs_present *p)
{
    unsigned first = p->programs[p->program_count - 1], i = first;
    while (i < p->image_count && p->images[i] == IMAGE_USED)
        first = ++i;
    for (; i < p->image_count; i++)
        if (p->images[i] == IMAGE_CAME || p->images[i] == IMAGE_WENT)
            first = i + 1;
    for (i = first; i < p->image_count; i++)
        p->images[i] = IMAGE_UNKNOWN;
    if (p->program_count < p->program_capacity)
        p->programs[p->program_count++] = first;
}

bool vs_present_begins(const struct vs_loaded *l, uint64_t pc)
{
    for (size_t i = 0; l && i < l->image_count; i++)
        if (l->images[i].read && l->images[i].entry == pc)
            return true;
    return false;
}
