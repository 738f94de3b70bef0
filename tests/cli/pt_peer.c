/* SPDX-License-Identifier: MIT */
/* Reads streams of Intel PT with libipt, which knows nothing of Vestige: the number of all
 * instructions and a hash of their addresses, a line for each stream.
 *
 *   pt_peer CODE RANGES STREAM...
 *
 * CODE has the code, and RANGES, a text, where it lies: lines of address, offset and size. */
#include <intel-pt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *load(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    uint8_t *bytes = NULL;
    *size = 0;
    for (size_t n = 1; f && n;) {
        if (!(bytes = realloc(bytes, *size + (1 << 16))))
            break;
        n = fread(bytes + *size, 1, 1 << 16, f);
        *size += n;
    }
    if (!f || !bytes) {
        fprintf(stderr, "pt_peer: %s cannot be read\n", path);
        exit(2);
    }
    fclose(f);
    return bytes;
}

static int failed(const char *path, struct pt_insn_decoder *d, int err)
{
    uint64_t offset = 0;
    pt_insn_get_offset(d, &offset);
    fprintf(stderr, "pt_peer: %s: byte %" PRIu64 ": %s\n", path, offset,
            pt_errstr(pt_errcode(err)));
    return 1;
}

/* All code is in one file, so ranges are sections of it. */
static struct pt_image *image_of(const char *code, const char *ranges)
{
    struct pt_image *image = pt_image_alloc(NULL);
    uint64_t address, offset, size;
    FILE *f = fopen(ranges, "r");
    int err = image && f ? 0 : -1;
    while (!err && fscanf(f, "%" SCNx64 " %" SCNu64 " %" SCNu64, &address, &offset, &size) == 3)
        err = pt_image_add_file(image, code, offset, size, NULL, address);
    if (err) {
        fprintf(stderr, "pt_peer: %s: no image can be made of it\n", ranges);
        exit(2);
    }
    fclose(f);
    return image;
}

static int decode(const char *path, struct pt_image *image)
{
    struct pt_config config;
    uint64_t count = 0, hash = 0;
    size_t size;
    uint8_t *bytes = load(path, &size);
    pt_config_init(&config);
    config.begin = bytes;
    config.end = bytes + size;
    struct pt_insn_decoder *d = pt_insn_alloc_decoder(&config);
    if (!d || pt_insn_set_image(d, image) < 0)
        return 2;
    int status = pt_insn_sync_forward(d);
    while (status >= 0 && !(status & pts_eos && !(status & pts_event_pending))) {
        struct pt_event event;
        struct pt_insn insn = {0};
        if (status & pts_event_pending) {
            status = pt_insn_event(d, &event, sizeof(event));
            continue;
        }
        status = pt_insn_next(d, &insn, sizeof(insn));
        if (insn.iclass != ptic_error || insn.size) {
            count++;
            hash = (hash ^ insn.ip) * UINT64_C(0x9e3779b97f4a7c15);
            hash ^= hash >> 29;
        }
    }
    if (status < 0 && status != -pte_eos)
        return failed(path, d, status);
    printf("%" PRIu64 " %016" PRIx64 "\n", count, hash);
    pt_insn_free_decoder(d);
    free(bytes);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr, "usage: pt_peer CODE RANGES STREAM...\n");
        return 2;
    }
    struct pt_image *image = image_of(argv[1], argv[2]);
    int status = 0;
    for (int i = 3; i < argc && !status; i++)
        status = decode(argv[i], image);
    pt_image_free(image);
    return status;
}
