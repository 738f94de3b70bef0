/* SPDX-License-Identifier: MIT */
#include "replay/image_code.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/diag.h"
#include "isa/isa.h"
#include "symbol/elf.h"

enum { PIECE = 32768 };

void vs_image_code_fini(struct vs_image_code *c)
{
    vs_text_fini(&c->text);
    vs_loaded_fini(&c->loaded);
    for (size_t i = 0; i < c->piece_count; i++)
        free(c->pieces[i]);
    free(c->pieces);
    *c = (struct vs_image_code){0};
}

static int read_piece(int fd, uint8_t *bytes, size_t size, uint64_t offset, struct vs_diag *diag)
{
    for (size_t done = 0; done < size;) {
        ssize_t n = pread(fd, bytes + done, size - done, (off_t)(offset + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return vs_diag_io(diag, "read", NULL);
        if (!n)
            return vs_diag_set(diag, -VSE_TRUNCATED, -1, -1,
                               "what it has to load lies beyond its end");
        done += (size_t)n;
    }
    return 0;
}

/* Returns room for bytes of a file, which lives as long as the code; NULL without memory. */
static uint8_t *new_piece(struct vs_image_code *c, size_t size)
{
    void *pieces = c->pieces;
    int e = vs_array_room(&pieces, &c->piece_capacity, c->piece_count, 1, sizeof(uint8_t *));
    uint8_t *bytes = e ? NULL : malloc(size);
    c->pieces = pieces;
    if (bytes)
        c->pieces[c->piece_count++] = bytes;
    return bytes;
}

/* Adds a segment's code, in pieces that are no larger than a block may be. */
static int add_code(struct vs_image_code *c, uint64_t addr, const uint8_t *bytes, uint64_t size)
{
    int e = 0;
    for (uint64_t at = 0; at < size && !e; at += PIECE) {
        uint64_t n = size - at < PIECE ? size - at : PIECE;
        const struct vs_block block = {
            .addr = addr + at, .bytes = bytes + at, .size = (uint32_t)n, .insns = 1};
        e = vs_text_add(&c->text, &block);
    }
    return e;
}

/* The part of a segment that the file does not have is zero. */
static int add_segment(struct vs_image_code *c, const struct vs_elf *elf, uint64_t file_size,
                       const struct vs_segment *s, const struct vs_image *image, unsigned index,
                       struct vs_diag *diag)
{
    struct vs_loaded_part part = {.addr = s->address + image->base,
                                  .size = s->memory,
                                  .stored = s->size,
                                  .writable = s->writable,
                                  .image = index};
    if (part.addr > UINT64_MAX - s->memory)
        return vs_diag_set(diag, -VSE_CORRUPT, -1, -1, "its segments wrap around");
    if (s->offset > file_size || s->size > file_size - s->offset)
        return vs_diag_set(diag, -VSE_TRUNCATED, -1, -1, "what it has to load lies beyond its end");
    if (s->size) {
        uint8_t *bytes = new_piece(c, s->size);
        int e = bytes ? read_piece(elf->fd, bytes, s->size, s->offset, diag) : -VSE_NOMEM;
        if (!e && s->code)
            e = add_code(c, part.addr, bytes, s->size);
        if (e)
            return e;
        part.bytes = bytes;
    }
    return vs_loaded_add(&c->loaded, &part);
}

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Returns whether the file may be the one that the stream means. */
static bool is_same(const struct vs_image *image, const char *path, const struct vs_elf *elf)
{
    uint8_t id[VS_BUILD_ID_MAX];
    int64_t size = vs_elf_build_id(elf, id, NULL);
    return size > 0 && image->build_id_size
               ? image->build_id_size == size && !memcmp(image->build_id, id, (size_t)size)
               : !strcmp(file_name(image->path), file_name(path));
}

/* Notes where all images lay, also those whose files are not there: where one of them was, no other
 * may be taken for it. */
static int name_images(struct vs_image_code *c, const struct vs_vport_about *about)
{
    int e = c->loaded.images ? 0 : vs_loaded_name(&c->loaded, about->image_count);
    for (size_t i = 0; i < about->image_count && !e; i++) {
        c->loaded.images[i].code = about->images[i].start;
        c->loaded.images[i].path = about->images[i].path;
    }
    return e;
}

static int add_image(struct vs_image_code *c, const struct vs_elf *elf,
                     const struct vs_vport_about *about, size_t index, struct vs_diag *diag)
{
    const struct vs_image *image = &about->images[index];
    struct vs_segment *list = NULL;
    struct stat st;
    if (fstat(elf->fd, &st))
        return vs_diag_io(diag, "look at", NULL);
    int64_t count = vs_elf_loaded(elf, &list, diag);
    int e = count < 0 ? (int)count : 0;
    if (!e)
        e = name_images(c, about);
    for (int64_t i = 0; i < count && !e; i++)
        e = add_segment(c, elf, (uint64_t)st.st_size, &list[i], image, (unsigned)index, diag);
    if (!e)
        c->loaded.images[index].entry = vs_elf_entry(elf) + image->base;
    if (!e)
        c->loaded.images[index].read = true;
    free(list);
    return e;
}

static int refuse(struct vs_diag *diag)
{
    return vs_diag_set(diag, -VSE_NOTFOUND, -1, -1,
                       "is none of the images of the stream: another program, or built again");
}

int vs_image_code_add(struct vs_image_code *c, const struct vs_vport_about *about, size_t index,
                      struct vs_diag *diag)
{
    const struct vs_image *image = &about->images[index];
    struct vs_elf elf;
    int e = vs_elf_open(&elf, image->path, diag);
    if (e)
        return e;
    e = is_same(image, image->path, &elf) ? add_image(c, &elf, about, index, diag) : refuse(diag);
    vs_elf_close(&elf);
    return e;
}

int vs_image_code_add_file(struct vs_image_code *c, const char *path,
                           const struct vs_vport_about *about, struct vs_diag *diag)
{
    bool any = false;
    struct vs_elf elf;
    int e = vs_elf_open(&elf, path, diag);
    if (e)
        return e;
    for (size_t i = 0; i < about->image_count && !e; i++)
        if (is_same(&about->images[i], path, &elf)) {
            e = add_image(c, &elf, about, i, diag);
            any = true;
        }
    vs_elf_close(&elf);
    return e || any ? e : refuse(diag);
}

int vs_image_code_finish(struct vs_image_code *c, const struct vs_block *more)
{
    int e = more ? vs_text_add(&c->text, more) : 0;
    return e ? e : vs_text_index(&c->text);
}
