/* SPDX-License-Identifier: MIT */
#include "rerun/survey.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/crc32c.h"
#include "base/diag.h"
#include "base/file_part.h"
#include "base/outfile.h"
#include "isa/cpu.h"
#include "rerun/rerun.h"

/* To be changed whenever executing a run makes other events than before. */
#define VERSION 3
/* What is compared of the run's file, at either end: its facts, and its index. */
#define END_PART (UINT64_C(1) << 16)

static const uint8_t magic[8] = {0x89, 'V', 'S', 'U', 'R', '\r', '\n', 0x1a};

/* The file begins with this; then the threads' counts, those of their events without loads and
 * stores, and the snapshots follow. Cores are as the
 * CPU keeps them, so that they are of use to the same CPU only. */
struct file_head {
    uint8_t magic[8];
    uint32_t version;
    uint32_t crc; /* of everything after it */
    uint64_t run_size;
    uint32_t run_crc, cpu_crc; /* of the run's ends, and of the CPU's object */
    uint64_t core;             /* bytes of one */
    uint64_t threads, snapshots, digests;
};

void vs_survey_fini(struct vs_survey *s)
{
    free(s->threads);
    vs_buf_fini(&s->packed);
    *s = (struct vs_survey){0};
}

/* ---- the file -------------------------------------------------------------------------------- */

/* Says which run and which CPU a file belongs to. Returns 0, or an error if that cannot be told. */
static int identify(struct file_head *h, const struct vs_cpu_ops *cpu, const char *path)
{
    uint32_t head, tail;
    struct stat st;
    Dl_info object;
    if (stat(path, &st) || !dladdr(cpu, &object) || !object.dli_fname)
        return -VSE_IO;
    h->run_size = (uint64_t)st.st_size;
    uint64_t part = h->run_size < END_PART ? h->run_size : END_PART;
    int err = vs_file_part(path, 0, part, NULL, NULL, &head, NULL);
    if (!err)
        err = vs_file_part(path, h->run_size - part, part, NULL, NULL, &tail, NULL);
    if (!err)
        err = vs_file_part(object.dli_fname, 0, UINT64_MAX, NULL, NULL, &h->cpu_crc, NULL);
    h->run_crc = err ? 0 : vs_crc32c(head, &tail, sizeof(tail));
    return err;
}

static int put_bytes(void *context, uint64_t at, const uint8_t *bytes, size_t size)
{
    (void)at;
    return vs_buf_put(context, bytes, size);
}

/* Reads the whole file, which has a bound. Returns its size, or an error. */
static int64_t read_file(const char *name, struct vs_buf *to)
{
    const uint64_t most = 2 * VS_SNAPSHOTS_BYTES;
    struct stat st;
    uint32_t crc;
    if (stat(name, &st) || !S_ISREG(st.st_mode) || (uint64_t)st.st_size > most)
        return -VSE_NOTFOUND;
    int err = vs_file_part(name, 0, (uint64_t)st.st_size, put_bytes, to, &crc, NULL);
    return err ? err : (int64_t)to->len;
}

static int parse(struct vs_survey *s, const struct file_head *wanted)
{
    struct file_head h;
    size_t whole = wanted->threads * sizeof(*s->threads);
    size_t counts = whole + wanted->threads * sizeof(*s->flow_events);
    if (s->packed.len < sizeof(h) + counts)
        return -VSE_CORRUPT;
    memcpy(&h, s->packed.data, sizeof(h));
    const size_t after = offsetof(struct file_head, crc) + sizeof(h.crc);
    if (memcmp(h.magic, magic, sizeof(magic)) || h.version != VERSION ||
        h.crc != vs_crc32c(0, s->packed.data + after, s->packed.len - after) ||
        h.run_size != wanted->run_size || h.run_crc != wanted->run_crc ||
        h.cpu_crc != wanted->cpu_crc || h.core != wanted->core || h.threads != wanted->threads ||
        h.snapshots > VS_SNAPSHOTS_MOST)
        return -VSE_CORRUPT;
    s->digests = h.digests;
    s->threads = malloc(counts + 1);
    if (!s->threads)
        return -VSE_NOMEM;
    memcpy(s->threads, s->packed.data + sizeof(h), counts);
    s->flow_events = (uint64_t *)(void *)((uint8_t *)s->threads + whole);
    return vs_snapshots_parse(&s->snapshots, s->packed.data + sizeof(h) + counts,
                              s->packed.len - sizeof(h) - counts, (unsigned)h.snapshots,
                              (unsigned)h.threads, h.core);
}

static int load(struct vs_survey *s, const struct file_head *wanted, const char *name)
{
    int64_t size = read_file(name, &s->packed);
    int err = size < 0 ? (int)size : parse(s, wanted);
    if (err)
        vs_survey_fini(s);
    return err;
}

static void keep(const struct vs_survey *s, const char *name)
{
    struct vs_outfile file;
    if (vs_outfile_open(&file, name, true, NULL))
        return;
    if (vs_outfile_write(&file, s->packed.data, s->packed.len, NULL) ||
        vs_outfile_commit(&file, NULL))
        vs_outfile_abort(&file);
}

/* ---- executing ------------------------------------------------------------------------------- */

static int execute(struct vs_rerun *r, struct vs_snapshot_list *list, uint64_t total,
                   vs_survey_progress *progress, void *context, struct vs_diag *diag)
{
    uint64_t next = VS_SURVEY_STRETCH;
    int err = 0;
    list->every = VS_SURVEY_STRETCH;
    while (!err) {
        if (!list->none && vs_rerun_executed(r) >= next) {
            err = vs_rerun_save(r, list);
            next = vs_rerun_executed(r) + list->every;
        }
        if (!err)
            err = vs_rerun_skip(r, VS_SURVEY_STRETCH, diag);
        if (progress)
            progress(context, vs_rerun_executed(r), total);
    }
    return err == -VSE_END ? 0 : err;
}

/* Puts what was found into one piece, as a file has it. */
static int pack(struct vs_survey *s, struct file_head *h, const struct vs_rerun *r,
                const struct vs_snapshot_list *list)
{
    h->snapshots = list->count;
    h->digests = vs_rerun_digests(r);
    int err = vs_buf_put(&s->packed, h, sizeof(*h));
    for (unsigned i = 0; i < h->threads && !err; i++) {
        const struct vs_thread_info t = vs_rerun_thread(r, i);
        err = vs_buf_put(&s->packed, &t, sizeof(t));
    }
    for (unsigned i = 0; i < h->threads && !err; i++) {
        const uint64_t events = vs_rerun_flow_events(r, i);
        err = vs_buf_put(&s->packed, &events, sizeof(events));
    }
    if (!err)
        err = vs_snapshot_list_pack(list, &s->packed);
    if (err)
        return err;
    const size_t after = offsetof(struct file_head, crc) + sizeof(h->crc);
    h->crc = vs_crc32c(0, s->packed.data + after, s->packed.len - after);
    memcpy(s->packed.data, h, sizeof(*h));
    return 0;
}

static int make(struct vs_survey *s, struct file_head *h, struct vs_rerun *r,
                const struct vs_reader *inputs, vs_survey_progress *progress, void *context,
                struct vs_diag *diag)
{
    struct vs_snapshot_list *list = calloc(1, sizeof(*list));
    int err = list ? 0 : -VSE_NOMEM;
    vs_rerun_track(r);
    if (!err)
        err = execute(r, list, vs_reader_info(inputs)->instructions, progress, context, diag);
    if (!err && !(err = pack(s, h, r, list)))
        err = parse(s, h);
    if (list)
        vs_snapshot_list_fini(list);
    free(list);
    if (err == -VSE_NOMEM)
        vs_diag_set(diag, err, -1, -1, "out of memory");
    return err;
}

int vs_survey_take(struct vs_survey *s, struct vs_rerun *r, const struct vs_reader *inputs,
                   const char *path, vs_survey_progress *progress, void *context,
                   struct vs_diag *diag)
{
    struct file_head h = {.version = VERSION,
                          .core = vs_rerun_cpu(r)->saved,
                          .threads = vs_reader_info(inputs)->threads};
    char *name = NULL;
    memcpy(h.magic, magic, sizeof(magic));
    *s = (struct vs_survey){0};
    if (path && asprintf(&name, "%s" VS_SURVEY_SUFFIX, path) < 0)
        return vs_diag_set(diag, -VSE_NOMEM, -1, -1, "out of memory");
    bool known = path && !identify(&h, vs_rerun_cpu(r), path);
    bool loaded = known && load(s, &h, name) == 0;
    int err = loaded ? 0 : make(s, &h, r, inputs, progress, context, diag);
    if (known && !err && !loaded && vs_reader_info(inputs)->instructions >= VS_SURVEY_LONG)
        keep(s, name);
    free(name);
    if (!err)
        err = vs_rerun_rewind(r, diag);
    if (err)
        vs_survey_fini(s);
    return err;
}
