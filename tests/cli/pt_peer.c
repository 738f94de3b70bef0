/* SPDX-License-Identifier: MIT */
/* Reads streams of Intel PT with libipt, which knows nothing of Vestige: the number of all
 * instructions and a hash of their addresses, a line for each stream.
 *
 *   pt_peer CODE RANGES STREAM...
 *   pt_peer --time CODE RANGES STREAM
 *
 * CODE has the code, and RANGES, a text, where it lies: lines of address, offset and size. With
 * --time, it prints how long libipt takes for the stream, instruction by instruction and block by
 * block, the best of several times. */
#include <intel-pt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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

/* All code is in one file, so ranges are sections of it. They stay in a cache: otherwise libipt
 * forgets the blocks of a section whenever it goes to another one. */
static struct pt_image *image_of(const char *code, const char *ranges,
                                 struct pt_image_section_cache *cache)
{
    struct pt_image *image = pt_image_alloc(NULL);
    uint64_t address, offset, size;
    FILE *f = fopen(ranges, "r");
    int err = image && f ? pt_iscache_set_limit(cache, UINT64_MAX) : -1;
    while (err >= 0 &&
           fscanf(f, "%" SCNx64 " %" SCNu64 " %" SCNu64, &address, &offset, &size) == 3) {
        int section = pt_iscache_add_file(cache, code, offset, size, address);
        err = section < 0 ? section : pt_image_add_cached(image, cache, section, NULL);
    }
    if (err < 0) {
        fprintf(stderr, "pt_peer: %s: no image can be made of it\n", ranges);
        exit(2);
    }
    fclose(f);
    return image;
}

static int decode(const char *path, struct pt_image *image, bool quiet, uint64_t *instructions)
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
    if (!quiet)
        printf("%" PRIu64 " %016" PRIx64 "\n", count, hash);
    *instructions = count;
    pt_insn_free_decoder(d);
    free(bytes);
    return 0;
}

static int decode_blocks(const char *path, struct pt_image *image, uint64_t *instructions)
{
    struct pt_config config;
    size_t size;
    uint8_t *bytes = load(path, &size);
    pt_config_init(&config);
    config.begin = bytes;
    config.end = bytes + size;
    struct pt_block_decoder *d = pt_blk_alloc_decoder(&config);
    if (!d || pt_blk_set_image(d, image) < 0)
        return 2;
    *instructions = 0;
    int status = pt_blk_sync_forward(d);
    while (status >= 0 && !(status & pts_eos && !(status & pts_event_pending))) {
        struct pt_event event;
        struct pt_block block = {0};
        if (status & pts_event_pending) {
            status = pt_blk_event(d, &event, sizeof(event));
            continue;
        }
        status = pt_blk_next(d, &block, sizeof(block));
        *instructions += block.ninsn;
    }
    pt_blk_free_decoder(d);
    free(bytes);
    return status < 0 && status != -pte_eos ? 1 : 0;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int measure(const char *path, struct pt_image *image)
{
    double best[2] = {1e9, 1e9};
    uint64_t instructions = 0, blocks = 0;
    int status = 0;
    for (unsigned i = 0; i < 6 && !status; i++) {
        double start = now();
        status =
            i % 2 ? decode_blocks(path, image, &blocks) : decode(path, image, true, &instructions);
        if (now() - start < best[i % 2])
            best[i % 2] = now() - start;
    }
    if (instructions != blocks)
        return 1;
    printf("{\"instructions\": %" PRIu64 ", \"each\": %.6f, \"blocks\": %.6f}\n", instructions,
           best[0], best[1]);
    return status;
}

int main(int argc, char **argv)
{
    bool timed = argc > 1 && !strcmp(argv[1], "--time");
    uint64_t instructions;
    argv += timed;
    argc -= timed;
    if (argc < 4) {
        fprintf(stderr, "usage: pt_peer [--time] CODE RANGES STREAM...\n");
        return 2;
    }
    struct pt_image_section_cache *cache = pt_iscache_alloc(NULL);
    struct pt_image *image = image_of(argv[1], argv[2], cache);
    int status = timed ? measure(argv[3], image) : 0;
    for (int i = 3; i < argc && !status && !timed; i++)
        status = decode(argv[i], image, false, &instructions);
    pt_image_free(image);
    pt_iscache_free(cache);
    return status;
}
