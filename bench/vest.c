/* SPDX-License-Identifier: MIT */
/* The .vest container: how fast it writes and reads, how small it is, beside general compressors on
 * the same events as fixed records of 32 bytes, followed by the wide values that these refer to. */
#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "bench.h"
#include "command.h"
#include "gen/gen.h"
#include "vestige/run.h"

#define GROUP "vest"

/* Events in memory, so that generating them is not measured. */
struct events {
    struct vs_event *list;
    uint8_t *wide;
    size_t count, wide_size;
    struct gen *tables; /* blocks and images */
};

static void *more(void *p, size_t size)
{
    p = realloc(p, size);
    if (!p)
        bench_fail("out of memory for %zu bytes", size);
    return p;
}

static void generate(struct events *v, const struct gen_options *o)
{
    size_t room = o->events + GEN_SLACK, wide_room = 1 << 20;
    struct vs_batch b;
    struct gen *g;

    *v =
        (struct events){.list = more(NULL, room * sizeof(*v->list)), .wide = more(NULL, wide_room)};
    if (gen_open(&g, o) < 0)
        bench_fail("the generator refuses its options");
    while (gen_next(g, &b) > 0) {
        while (v->wide_size + b.wide_size > wide_room)
            v->wide = more(v->wide, wide_room *= 2);
        memcpy(v->list + v->count, b.events, b.count * sizeof(*b.events));
        if (b.wide_size)
            memcpy(v->wide + v->wide_size, b.wide, b.wide_size);
        for (size_t i = 0; i < b.count; i++)
            if (vs_event_is_wide(&v->list[v->count + i]))
                v->list[v->count + i].value += v->wide_size;
        v->count += b.count;
        v->wide_size += b.wide_size;
    }
    v->tables = g;
}

static void put_tables(const struct gen *g, struct vs_writer *w)
{
    struct vs_image image;
    struct vs_block block;

    for (uint64_t i = 0; gen_image(g, i, &image) == 0; i++)
        if (vs_writer_image(w, &image) < 0)
            bench_fail("%s", vs_writer_diag(w)->text);
    for (uint64_t i = 0; gen_block(g, i, &block) == 0; i++)
        if (vs_writer_block(w, &block) < 0)
            bench_fail("%s", vs_writer_diag(w)->text);
}

static void write_run(const struct events *v, const char *path, uint32_t features, bool one_core)
{
    struct vs_writer_options o = {.features = features, .overwrite = true, .inline_work = one_core};
    struct vs_writer *w;
    struct vs_diag d;

    if (vs_writer_open(&w, path, &o, &d) < 0)
        bench_fail("%s", d.text);
    put_tables(v->tables, w);
    for (size_t at = 0; at < v->count; at += GEN_BATCH_EVENTS) {
        struct vs_batch b = {.events = v->list + at,
                             .wide = v->wide,
                             .wide_size = v->wide_size,
                             .count = v->count - at < GEN_BATCH_EVENTS ? v->count - at
                                                                       : GEN_BATCH_EVENTS};

        if (vs_writer_put(w, &b) < 0)
            bench_fail("%s", vs_writer_diag(w)->text);
    }
    if (vs_writer_seal(w, &d) < 0)
        bench_fail("%s", d.text);
}

static void read_run(const struct events *v, const char *path)
{
    struct vs_reader *r;
    struct vs_batch b;
    struct vs_diag d;
    uint64_t insns = 0;
    int n;

    if (vs_reader_open(&r, path, VS_OPEN_STRICT, &d) < 0)
        bench_fail("%s", d.text);
    while ((n = vs_reader_next(r, &b)) > 0)
        for (int i = 0; i < n; i++)
            insns += b.events[i].icount;
    if (n != -VSE_END || insns != vs_reader_info(r)->instructions ||
        vs_reader_info(r)->events != v->count)
        bench_fail("the run did not read back");
    vs_reader_close(r);
}

static double best(double a, double b)
{
    return a == 0 || b < a ? b : a;
}

/* Reads the run into arrays, and prints how long that took. */
static const char in_python[] = "import sys, time\n"
                                "sys.path.insert(0, sys.argv[1])\n"
                                "import vestige\n"
                                "start, events = time.monotonic(), 0\n"
                                "with vestige.open(sys.argv[2]) as run:\n"
                                "    for batch in run: events += len(batch.events)\n"
                                "    assert events == run.events\n"
                                "print('\"seconds\": %.9f' % (time.monotonic() - start))\n";

/* Returns the seconds that Python takes to read the run; 0 if the package was not built. */
static double read_in_python(struct bench *b, const char *path)
{
    char build[4000], package[4096], out[512], text[64];
    const char *argv[] = {"/usr/bin/python3", "-c", in_python, package, path, NULL};

    command_build(build, sizeof(build));
    snprintf(package, sizeof(package), "%s/python/vestige", build);
    if (access(package, F_OK) < 0)
        return 0;
    snprintf(package, sizeof(package), "%s/python", build);
    snprintf(out, sizeof(out), "%s/bench-%d.txt", bench_folder(b), (int)getpid());
    command_run(argv, out);
    command_output(out, text, sizeof(text));
    unlink(out);
    return command_figure(text, "seconds");
}

/* A general compressor over the fixed records: bytes, and seconds to compress and to expand. */
struct peer {
    size_t bytes;
    double pack, unpack;
};

/* What the peers get: the records, then the wide values. */
static uint8_t *records(const struct events *v, size_t *size)
{
    size_t fixed = v->count * sizeof(*v->list);
    uint8_t *all = more(NULL, fixed + v->wide_size);

    memcpy(all, v->list, fixed);
    memcpy(all + fixed, v->wide, v->wide_size);
    *size = fixed + v->wide_size;
    return all;
}

static struct peer peer_zstd(const uint8_t *data, size_t size, unsigned repeats)
{
    size_t bound = ZSTD_compressBound(size);
    void *packed = more(NULL, bound), *back = more(NULL, size);
    struct peer p = {0};

    for (unsigned i = 0; i < repeats; i++) {
        double t0 = bench_now(), t1;

        p.bytes = ZSTD_compress(packed, bound, data, size, 3);
        t1 = bench_now();
        if (ZSTD_isError(p.bytes) || ZSTD_decompress(back, size, packed, p.bytes) != size)
            bench_fail("zstd failed");
        p.pack = best(p.pack, t1 - t0);
        p.unpack = best(p.unpack, bench_now() - t1);
    }
    free(packed);
    free(back);
    return p;
}

static struct peer peer_xz(const uint8_t *data, size_t size)
{
    size_t bound = lzma_stream_buffer_bound(size);
    uint8_t *packed = more(NULL, bound), *back = more(NULL, size);
    size_t in = 0, out = 0;
    uint64_t limit = UINT64_MAX;
    double t0 = bench_now(), t1;
    struct peer p = {0};

    if (lzma_easy_buffer_encode(1, LZMA_CHECK_CRC64, NULL, data, size, packed, &p.bytes, bound) !=
        LZMA_OK)
        bench_fail("xz failed");
    t1 = bench_now();
    if (lzma_stream_buffer_decode(&limit, 0, NULL, packed, &in, p.bytes, back, &out, size) !=
        LZMA_OK)
        bench_fail("xz failed");
    p.pack = t1 - t0;
    p.unpack = bench_now() - t1;
    free(packed);
    free(back);
    return p;
}

static void peer_rows(struct bench *b, const char *name, const char *peer, struct peer p,
                      const struct events *v)
{
    char metric[48];
    double events = (double)v->count;

    snprintf(metric, sizeof(metric), "%s size", peer);
    bench_row(b, GROUP, name, metric, (double)p.bytes / events, "B/event", -1, 0);
    snprintf(metric, sizeof(metric), "%s compress", peer);
    bench_row(b, GROUP, name, metric, events / p.pack / 1e6, "Mevent/s", 1, 0);
    snprintf(metric, sizeof(metric), "%s expand", peer);
    bench_row(b, GROUP, name, metric, events / p.unpack / 1e6, "Mevent/s", 1, 0);
}

static void measure(struct bench *b, const char *name, enum gen_profile profile, bool memory)
{
    struct gen_options o = {.seed = 7,
                            .threads = 4,
                            .profile = profile,
                            .memory = memory,
                            .events = (uint64_t)((memory ? 6e6 : 12e6) * bench_scale(b))};
    double target = memory ? 40 : 100, write = 0, write_one = 0, read = 0, python = 0;
    struct events v;
    struct stat st;
    struct peer xz;
    uint8_t *all;
    size_t all_size;
    char path[512];

    snprintf(path, sizeof(path), "%s/bench-%d.vest", bench_folder(b), (int)getpid());
    generate(&v, &o);
    for (unsigned i = 0; i < bench_repeats(b); i++) {
        double t = bench_now();

        write_run(&v, path, gen_features(&o), true);
        write_one = best(write_one, bench_now() - t);
        t = bench_now();
        write_run(&v, path, gen_features(&o), false);
        write = best(write, bench_now() - t);
        t = bench_now();
        read_run(&v, path);
        read = best(read, bench_now() - t);
        if ((t = read_in_python(b, path)) > 0)
            python = best(python, t);
    }
    if (stat(path, &st) < 0)
        bench_fail("%s is gone", path);
    unlink(path);
    bench_row(b, GROUP, name, "read, one core", (double)v.count / read / 1e6, "Mevent/s", 1,
              target);
    if (python > 0) {
        bench_row(b, GROUP, name, "read, Python", (double)v.count / python / 1e6, "Mevent/s", 1,
                  target);
        bench_row(b, GROUP, name, "read, Python / C", read / python, "x", 1, 0);
    }
    bench_row(b, GROUP, name, "write, two cores", (double)v.count / write / 1e6, "Mevent/s", 1,
              target / 2);
    bench_row(b, GROUP, name, "write, one core", (double)v.count / write_one / 1e6, "Mevent/s", 1,
              0);
    all = records(&v, &all_size);
    xz = peer_xz(all, all_size);
    bench_row(b, GROUP, name, "size", (double)st.st_size / (double)v.count, "B/event", -1,
              (double)xz.bytes / (double)v.count);
    peer_rows(b, name, "zstd -3", peer_zstd(all, all_size, bench_repeats(b)), &v);
    peer_rows(b, name, "xz -1", xz, &v);
    xz = peer_xz(all, v.count * sizeof(*v.list));
    bench_row(b, GROUP, name, "xz -1 size, no wide values", (double)xz.bytes / (double)v.count,
              "B/event", -1, 0);
    free(all);
    free(v.list);
    free(v.wide);
    gen_close(v.tables);
}

void bench_vest(struct bench *b)
{
    measure(b, "loops/control", GEN_LOOPS, false);
    measure(b, "mixed/control", GEN_MIXED, false);
    measure(b, "branchy/control", GEN_BRANCHY, false);
    measure(b, "loops/memory", GEN_LOOPS, true);
    measure(b, "mixed/memory", GEN_MIXED, true);
    measure(b, "branchy/memory", GEN_BRANCHY, true);
}
