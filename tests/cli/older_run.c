/* SPDX-License-Identifier: MIT */
/* older_run IN OUT: the same native run as format version 1 had it: no facts of what was noted, and
 * st(0) among a thread's first registers. older_run IN OUT PROCESSOR: the same run, of a processor
 * that is called so. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "trace/consumer.h"
#include "vestige/run.h"

enum { ST0 = 33, ST0_SIZE = 10, HEADER = 32, CRC_AT = 28 };

static const uint8_t one[ST0_SIZE] = {0, 0, 0, 0, 0, 0, 0, 0x80, 0xff, 0x3f};

static bool is_new(const char *key)
{
    static const char *const keys[] = {"noted", "valgrind", "recorder", "processor", "offered"};
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if (!strcmp(key, keys[i]))
            return true;
    return false;
}

static const char *processor; /* NULL: the run is older */

static int put_meta(void *context, const char *key, const char *value)
{
    if (processor)
        return vs_writer_meta(context, key, strcmp(key, "processor") ? value : processor);
    return is_new(key) ? 0 : vs_writer_meta(context, key, value);
}

static int64_t put_image(void *context, const struct vs_image *image)
{
    return vs_writer_image(context, image);
}

static int64_t put_block(void *context, const struct vs_block *block)
{
    return vs_writer_block(context, block);
}

/* One by one, since a batch cannot be changed. */
static int put_events(void *context, const struct vs_batch *batch)
{
    static uint8_t wide[VS_SIZE_MAX];
    int err = 0;
    for (size_t i = 0; i < batch->count && !err; i++) {
        struct vs_event e = batch->events[i];
        struct vs_batch single = {.events = &e, .count = 1, .wide = wide};
        if (vs_event_is_wide(&e)) {
            memcpy(wide, vs_event_bytes(batch, &e), e.size);
            e.value = 0;
            if (e.kind == VS_THREAD_START && !processor)
                e.size = (uint16_t)vs_regs_put(wide, sizeof(wide), e.size, ST0, one, sizeof(one));
            single.wide_size = e.size;
        }
        err = vs_writer_put(context, &single);
    }
    return err;
}

static bool set_version(const char *path)
{
    uint8_t h[HEADER];
    FILE *f = fopen(path, "r+b");
    if (!f)
        return false;
    bool good = fread(h, HEADER, 1, f) == 1;
    vs_put16(h + 8, 1);
    vs_put32(h + CRC_AT, vs_crc32c(0, h, CRC_AT));
    good = good && !fseek(f, 0, SEEK_SET) && fwrite(h, HEADER, 1, f) == 1;
    return !fclose(f) && good;
}

int main(int argc, char **argv)
{
    struct vs_reader *in;
    struct vs_writer *out;
    bool theirs;
    processor = argc == 4 ? argv[3] : NULL;
    if (argc < 3 || vs_reader_open(&in, argv[1], VS_OPEN_STRICT, NULL))
        return 2;
    const struct vs_writer_options options = {.features = vs_reader_info(in)->features};
    if (vs_writer_open(&out, argv[2], &options, NULL))
        return 2;
    const struct vs_consumer consumer = {.context = out,
                                         .meta = put_meta,
                                         .put = put_events,
                                         .image = put_image,
                                         .block = put_block};
    bool good = !vs_consume_run(in, &consumer, &theirs) && !vs_writer_seal(out, NULL);
    vs_reader_close(in);
    return good && (processor || set_version(argv[2])) ? 0 : 2;
}
