/* SPDX-License-Identifier: MIT */
/* Finds the file into which a distribution put an image's symbols. */
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbol/elf.h"

#define DEBUG_ROOT "/usr/lib/debug"

struct wanted {
    uint8_t id[VS_BUILD_ID_MAX];
    size_t id_size;
    uint32_t crc; /* it counts when there is no build id */
};

/* Computes the CRC-32 of IEEE 802.3, as .gnu_debuglink has it, four bits at a time. */
static uint32_t crc32_add(uint32_t crc, const uint8_t *bytes, size_t size)
{
    static const uint32_t table[16] = {
        0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
        0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
        0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
    };

    for (size_t i = 0; i < size; i++) {
        crc ^= bytes[i];
        crc = table[crc & 15] ^ crc >> 4;
        crc = table[crc & 15] ^ crc >> 4;
    }
    return crc;
}

static bool has_crc(int fd, uint32_t wanted)
{
    uint8_t bytes[16384];
    uint32_t crc = UINT32_MAX;
    off_t at = 0;
    ssize_t n;

    while ((n = TEMP_FAILURE_RETRY(pread(fd, bytes, sizeof(bytes), at))) > 0) {
        crc = crc32_add(crc, bytes, (size_t)n);
        at += n;
    }
    return n == 0 && ~crc == wanted;
}

static bool belongs(const struct vs_elf *debug, const struct wanted *w)
{
    uint8_t id[VS_BUILD_ID_MAX];

    if (!w->id_size)
        return has_crc(debug->fd, w->crc);
    return vs_elf_build_id(debug, id, NULL) == (int64_t)w->id_size &&
           memcmp(id, w->id, w->id_size) == 0;
}

static int try_path(struct vs_elf *debug, const struct wanted *w, const char *path)
{
    int err = vs_elf_open(debug, path, NULL);

    if (err == 0 && !belongs(debug, w)) {
        vs_elf_close(debug);
        err = -VSE_NOTFOUND;
    }
    return err == -VSE_NOMEM || err == 0 ? err : -VSE_NOTFOUND;
}

static int by_build_id(struct vs_elf *debug, const struct wanted *w)
{
    char path[sizeof(DEBUG_ROOT "/.build-id/xx/.debug") + 2 * VS_BUILD_ID_MAX];
    size_t used = sizeof(DEBUG_ROOT "/.build-id/") - 1;

    if (w->id_size < 2)
        return -VSE_NOTFOUND;
    memcpy(path, DEBUG_ROOT "/.build-id/", used);
    for (size_t i = 0; i < w->id_size; i++)
        used += (size_t)sprintf(path + used, i ? "%02x" : "%02x/", w->id[i]);
    memcpy(path + used, ".debug", sizeof(".debug"));
    return try_path(debug, w, path);
}

static int by_link(struct vs_elf *debug, const struct wanted *w, const char *image_path,
                   const char *link)
{
    static const struct {
        const char *before, *after;
    } places[] = {{"", ""}, {"", ".debug/"}, {DEBUG_ROOT, ""}};
    char dir[PATH_MAX], path[2 * PATH_MAX];
    int err = -VSE_NOTFOUND;

    if (strchr(link, '/') || !realpath(image_path, dir))
        return -VSE_NOTFOUND;
    strrchr(dir, '/')[1] = '\0';
    for (size_t i = 0; err == -VSE_NOTFOUND && i < sizeof(places) / sizeof(*places); i++) {
        int size =
            snprintf(path, sizeof(path), "%s%s%s%s", places[i].before, dir, places[i].after, link);

        if (size > 0 && (size_t)size < sizeof(path))
            err = try_path(debug, w, path);
    }
    return err;
}

int vs_elf_open_debug(struct vs_elf *debug, const struct vs_elf *image, const char *image_path)
{
    struct wanted w = {.crc = 0};
    GElf_Word crc = 0;
    const char *link;
    int64_t size = vs_elf_build_id(image, w.id, NULL);
    int err;

    w.id_size = size > 0 ? (size_t)size : 0;
    err = by_build_id(debug, &w);
    if (err != -VSE_NOTFOUND)
        return err;
    link = dwelf_elf_gnu_debuglink(image->elf, &crc);
    w.crc = crc;
    return link ? by_link(debug, &w, image_path, link) : -VSE_NOTFOUND;
}
