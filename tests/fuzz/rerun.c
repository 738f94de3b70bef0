/* SPDX-License-Identifier: MIT */
/* A run with any inputs, executed again: 32 bytes that say what happens, two for each event, and
 * then the code. Whatever comes of it are proper events, and the same the second time, until
 * something does not fit. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/random.h"
#include "isa/cpu.h"
#include "rerun/rerun.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CODE UINT64_C(0x7000)

enum { SCRIPT = 32, EVENTS_MOST = 100000 };

static char folder[] = "/tmp/fuzz-rerun.XXXXXX";
static char path[sizeof(folder) + 16], objects[PATH_MAX + sizeof("/lib/vestige")];

static void must(bool ok)
{
    if (!ok)
        abort();
}

static void remove_folder(void)
{
    rmdir(folder);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    ssize_t n = readlink("/proc/self/exe", objects, PATH_MAX - 1);
    char *slash;
    (void)argc, (void)argv;
    must(n > 0);
    for (int up = 0; up < 3 && (slash = strrchr(objects, '/')); up++)
        *slash = 0;
    strcat(objects, "/lib/vestige");
    must(mkdtemp(folder) && atexit(remove_folder) == 0);
    snprintf(path, sizeof(path), "%s/run.vest", folder);
    return 0;
}

/* ---- a run ----------------------------------------------------------------------------------- */

static void put(struct vs_writer *w, struct vs_event e, const void *payload, size_t size)
{
    struct vs_batch b = {.events = &e, .count = 1};
    if (size) {
        e.size = (uint16_t)size;
        if (size > 8) {
            b.wide = payload;
            b.wide_size = size;
        } else {
            memcpy(&e.value, payload, size);
        }
    }
    must(vs_writer_put(w, &b) == 0);
}

/* Registers 0 to 15 and the program counter. */
static size_t registers(uint8_t *to, size_t capacity, uint64_t seed, uint64_t pc)
{
    int64_t n = 0;
    for (unsigned i = 0; i < 16; i++) {
        uint64_t value = vs_random(&seed) >> (i % 4 * 16);
        n = vs_regs_put(to, capacity, (size_t)n, i, &value, 8);
    }
    n = vs_regs_put(to, capacity, (size_t)n, VS_REG_PC, &pc, 8);
    must(n > 0);
    return (size_t)n;
}

static void put_step(struct vs_writer *w, unsigned kind, unsigned count, unsigned *threads)
{
    static const uint8_t zeros[64];
    const struct vs_content_moved moved = {CODE, 0x3000};
    const struct vs_turn turn = {0, count};
    const uint64_t end = CODE + 0x1000u * count;
    static const uint64_t page[VS_DIGEST_PAGE / 8];
    const uint32_t empty[] = {vs_page_digest(page)};
    uint8_t payload[512] = {0};
    uint16_t thread = (uint16_t)(kind >> 4 & 1 && *threads > 1), icount = (uint16_t)count;
    uint64_t pc = CODE + kind % 8;
    size_t head = sizeof(struct vs_syscall_head), n = registers(payload + head, 400, count, pc);
    struct vs_event e = {.thread = thread, .icount = icount};
    e.kind = (uint8_t[]){VS_TURN,          VS_NONDET,   VS_SYSCALL, VS_EXCEPTION,
                         VS_EXCEPTION_RET, VS_EXTERNAL, VS_MAP,     VS_CONTENT}[kind % 8];
    switch (e.kind) {
    case VS_TURN:
        put(w, e, &turn, kind & 8 ? sizeof(turn) : 8);
        return;
    case VS_NONDET:
        e.pc = pc;
        put(w, e, zeros, kind & 8 ? 32 : 8);
        return;
    case VS_SYSCALL:
        put(w, e, payload, head + (kind & 8 ? n : 0));
        return;
    case VS_EXCEPTION:
    case VS_EXCEPTION_RET:
        e.pc = pc;
        e.addr = CODE + kind;
        put(w, e, payload + head, n);
        return;
    case VS_EXTERNAL:
        e.addr = CODE + 16u * kind;
        put(w, e, zeros, 40);
        return;
    case VS_MAP:
        e.pc = VS_NO_IMAGE;
        e.addr = CODE & ~UINT64_C(0xfff);
        e.value = 0x1000u * (kind >> 5);
        put(w, e, NULL, 0);
        return;
    default:
        if (kind & 8 && *threads < 2) {
            e = (struct vs_event){.kind = VS_THREAD_START, .thread = 1, .pc = pc};
            put(w, e, payload + head, n);
            ++*threads;
            return;
        }
        if (kind & 8) {
            e.kind = VS_GAP;
            e.pc = pc;
            put(w, e, payload + head, n);
            return;
        }
        if (kind & 64) {
            e.flags = VS_CONTENT_ANEW;
            put(w, e, &end, sizeof(end));
            return;
        }
        if (kind & 128) {
            e.flags = VS_CONTENT_DIGESTS;
            e.addr = kind & 32 ? 0x9000 : CODE & ~UINT64_C(0xfff);
            put(w, e, kind & 32 ? (const void *)empty : zeros, sizeof(empty));
            return;
        }
        e.flags = VS_CONTENT_MOVED;
        e.addr = 0x9000;
        put(w, e, &moved, sizeof(moved));
    }
}

static void write_run(const uint8_t *data, size_t size)
{
    const struct vs_writer_options o = {.features = VS_RUN_LOADS | VS_RUN_STORES | VS_RUN_INPUTS |
                                                    VS_RUN_SHORT | VS_RUN_PARTS | VS_RUN_DIGESTS,
                                        .inline_work = true,
                                        .overwrite = true};
    uint8_t payload[512];
    unsigned threads = 1;
    struct vs_writer *w;
    must(vs_writer_open(&w, path, &o, NULL) == 0 && vs_writer_meta(w, "isa", "x86-64") == 0);
    put(w, (struct vs_event){.kind = VS_CONTENT, .addr = CODE}, data + SCRIPT, size - SCRIPT);
    put(w, (struct vs_event){.kind = VS_THREAD_START, .pc = CODE}, payload,
        registers(payload, sizeof(payload), data[0], CODE));
    for (size_t i = 0; i < SCRIPT; i += 2)
        put_step(w, data[i], data[i + 1], &threads);
    must(vs_writer_seal(w, NULL) == 0);
}

/* ---- executed -------------------------------------------------------------------------------- */

static uint64_t hash_of(const struct vs_batch *b, size_t i)
{
    struct vs_event e = b->events[i];
    uint64_t words[4], number = b->first + i, sum = vs_turn_digest(0, &number, 1);
    if (vs_event_is_wide(&e)) {
        const uint8_t *bytes = vs_event_bytes(b, &e);
        for (e.value = 0; bytes < vs_event_bytes(b, &b->events[i]) + e.size; bytes++)
            e.value = e.value * 31 + *bytes;
    }
    memcpy(words, &e, sizeof(words));
    return vs_turn_digest(sum, words, 4);
}

/* Sets *sum to what the events that follow add up to, and parts[i] to the part of those that come
 * after snapshot i. Returns how they end: -VSE_END, an error, or 1 if there are too many. */
static int execute(struct vs_rerun *r, uint64_t *sum, const struct vs_packed_snapshots *s,
                   uint64_t *parts)
{
    struct vs_diag diag = {0};
    uint64_t count = 0;
    struct vs_batch b;
    int n = 0;
    *sum = 0;
    while (count < EVENTS_MOST && (n = vs_rerun_next(r, &b, &diag)) > 0)
        for (size_t i = 0; i < b.count; i++, count++) {
            uint64_t hash = hash_of(&b, i);
            must(vs_event_check(&b.events[i], b.wide_size, NULL) == 0);
            *sum += hash;
            for (unsigned k = 0; parts && k < s->count; k++)
                if (b.first + i >= s->snapshots[k].head.events)
                    parts[k] += hash;
        }
    must(n > 0 || n == -VSE_END || diag.text[0]);
    return n > 0 ? 1 : n;
}

/* Takes snapshots on the way, as far as it leads. */
static void take_snapshots(struct vs_rerun *r, struct vs_packed_snapshots *s, struct vs_buf *packed,
                           unsigned threads)
{
    static struct vs_snapshot_list list;
    struct vs_diag diag;
    uint64_t next = 1;
    list.every = 1;
    vs_rerun_track(r);
    must(vs_rerun_rewind(r, &diag) == 0);
    while (vs_rerun_skip(r, 1, &diag) == 0 && vs_rerun_executed(r) < EVENTS_MOST)
        if (vs_rerun_executed(r) >= next) {
            must(vs_rerun_save(r, &list) == 0);
            next = vs_rerun_executed(r) + list.every;
        }
    must(vs_snapshot_list_pack(&list, packed) == 0);
    must(vs_snapshots_parse(s, packed->data, packed->len, list.count, threads,
                            vs_rerun_cpu(r)->saved) == 0);
    vs_snapshot_list_fini(&list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t first, again, parts[VS_SNAPSHOTS_MOST] = {0};
    struct vs_packed_snapshots snapshots;
    struct vs_buf packed = {0};
    struct vs_reader *inputs;
    struct vs_rerun *r;
    struct vs_diag diag = {0};
    if (size <= SCRIPT || size > 4096)
        return 0;
    write_run(data, size);
    must(vs_reader_open(&inputs, path, VS_OPEN_STRICT, NULL) == 0 && unlink(path) == 0);
    if (vs_rerun_open(&r, inputs, objects, &diag)) {
        fprintf(stderr, "%s\n", diag.text);
        exit(2);
    }
    take_snapshots(r, &snapshots, &packed, vs_reader_info(inputs)->threads);
    must(vs_rerun_rewind(r, &diag) == 0);
    int end = execute(r, &first, &snapshots, parts);
    must(vs_rerun_rewind(r, &diag) == 0);
    must(execute(r, &again, NULL, NULL) == end && again == first);
    for (unsigned i = snapshots.count; i-- && end != 1;) {
        must(vs_rerun_restore(r, &snapshots, i, &diag) == 0);
        must(execute(r, &again, NULL, NULL) == end && again == parts[i]);
    }
    vs_rerun_close(r);
    vs_reader_close(inputs);
    vs_buf_fini(&packed);
    return 0;
}
