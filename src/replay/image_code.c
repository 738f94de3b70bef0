/* SPDX-License-Identifier: MIT */
#include "replay/image_code.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
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

static int add_piece(struct vs_image_code *c, int fd, const struct vs_segment *s, uint64_t at,
                     uint64_t base, struct vs_diag *diag)
{
    size_t size = s->size - at < PIECE ? (size_t)(s->size - at) : PIECE;
    uint8_t *bytes = new_piece(c, size);
    int e = bytes ? read_piece(fd, bytes, size, s->offset + at, diag) : -VSE_NOMEM;
    if (e)
        return e;
    const struct vs_block block = {
        .addr = s->address + at + base, .bytes = bytes, .size = (uint32_t)size, .insns = 1};
    const struct vs_loaded_part part = {
        .addr = block.addr, .size = size, .bytes = bytes, .stored = size, .writable = s->writable};
    if (s->code && (e = vs_text_add(&c->text, &block)))
        return e;
    return vs_loaded_add(&c->loaded, &part);
}

/* The part of a segment that the file does not have is zero. */
static int add_zeros(struct vs_image_code *c, const struct vs_segment *s, uint64_t base)
{
    const struct vs_loaded_part part = {
        .addr = s->address + s->size + base, .size = s->memory - s->size, .writable = s->writable};
    return part.size ? vs_loaded_add(&c->loaded, &part) : 0;
}

static int add_segment(struct vs_image_code *c, int fd, const struct vs_segment *s, uint64_t base,
                       struct vs_diag *diag)
{
    int e = 0;
    if (s->address + base > UINT64_MAX - s->memory)
        return vs_diag_set(diag, -VSE_CORRUPT, -1, -1, "its segments wrap around");
    for (uint64_t at = 0; at < s->size && !e; at += PIECE)
        e = add_piece(c, fd, s, at, base, diag);
    return e ? e : add_zeros(c, s, base);
}

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Returns where the stream says that the file lay, or NULL. */
static const struct vs_image *find_image(const struct vs_vport_about *about, const char *path,
                                         const struct vs_elf *elf)
{
    uint8_t id[VS_BUILD_ID_MAX];
    int64_t size = vs_elf_build_id(elf, id, NULL);
    for (size_t i = 0; i < about->image_count; i++) {
        const struct vs_image *image = &about->images[i];
        if (size > 0 && image->build_id_size
                ? image->build_id_size == size && !memcmp(image->build_id, id, (size_t)size)
                : !strcmp(file_name(image->path), file_name(path)))
            return image;
    }
    return NULL;
}

static int add_segments(struct vs_image_code *c, const struct vs_elf *elf, uint64_t base,
                        struct vs_diag *diag)
{
    struct vs_segment *list = NULL;
    int64_t count = vs_elf_loaded(elf, &list, diag);
    int e = count < 0 ? (int)count : 0;
    for (int64_t i = 0; i < count && !e; i++)
        e = add_segment(c, elf->fd, &list[i], base, diag);
    free(list);
    return e;
}

int vs_image_code_add(struct vs_image_code *c, const char *path, const struct vs_vport_about *about,
                      struct vs_diag *diag)
{
    const struct vs_image *image;
    struct vs_elf elf;
    int e = vs_elf_open(&elf, path, diag);
    if (e)
        return e;
    image = find_image(about, path, &elf);
    e = image ? add_segments(c, &elf, image->base, diag)
              : vs_diag_set(diag, -VSE_NOTFOUND, -1, -1,
                            "is none of the images of the stream: another program, or built again");
    vs_elf_close(&elf);
    return e;
}

bool vs_image_code_there(const struct vs_vport_about *about)
{
    size_t count = 0;
    for (size_t i = 0; i < about->image_count; i++)
        if (about->images[i].path[0] == '/') {
            if (access(about->images[i].path, R_OK))
                return false;
            count++;
        }
    return count > 0;
}

int vs_image_code_finish(struct vs_image_code *c, const struct vs_block *more)
{
    int e = more ? vs_text_add(&c->text, more) : 0;
    return e ? e : vs_text_index(&c->text);
}
