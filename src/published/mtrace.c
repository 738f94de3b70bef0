/* SPDX-License-Identifier: MIT */
#include "published/mtrace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/diag.h"

/* ---- events ---------------------------------------------------------------------------------- */

static bool in_window(const struct mtrace *m, uint64_t n)
{
    return n > m->skip && n <= m->end;
}

/* How many of the instructions first + 1 to last are in the window. */
static uint64_t overlap(const struct mtrace *m, uint64_t first, uint64_t last)
{
    uint64_t lo = first > m->skip ? first : m->skip;
    uint64_t hi = last < m->end ? last : m->end;
    return hi > lo ? hi - lo : 0;
}

bool mtrace_step_window(struct mtrace *m, const struct vs_event *e)
{
    uint64_t *at = &m->at[e->thread];
    if (e->icount) {
        uint64_t before = m->now;
        m->now += e->icount;
        m->traced += overlap(m, before, m->now);
        if (before < m->skip)
            m->skipped += (m->now < m->skip ? m->now : m->skip) - before;
        m->open -= in_window(m, *at);
        *at = m->now;
        m->open += in_window(m, *at);
        /* A thread that is still in the window may have further events of its last instruction. */
        m->beyond = m->now >= m->end && !m->open;
    }
    return in_window(m, *at);
}

static void thread_begins(struct mtrace *m, const struct vs_event *e)
{
    struct out *out = &m->cli->out;
    out_printf(out, "%s: %sthread begin %u %llu\n", m->tool->name, m->whose ? m->whose : "",
               e->thread, (unsigned long long)e->addr);
    if (!m->o->input)
        out_flush(out); /* so that it stands among what the program prints */
}

int mtrace_other(struct mtrace *m, const struct vs_event *e)
{
    int error = 0;
    if (e->thread >= m->threads)
        m->threads = e->thread + 1u;
    switch (e->kind) {
    case VS_THREAD_START:
        thread_begins(m, e);
        break;
    case VS_CODE:
        if (m->o->disasm)
            disasm_replace(&m->disasm, e->value);
        break;
    case VS_GAP:
        /* These are not part of the window: a thread tells of its gap when it next runs, which may
         * be long after other threads' instructions that came later. */
        m->skipped += e->addr;
        break;
    case VS_MAP:
        error = mtrace_filter_map(&m->filter, e);
        if (error)
            vs_diag_set(&m->diag, error, -1, -1, "out of memory");
        break;
    default:
        break;
    }
    return error;
}

int mtrace_thread_too_high(struct mtrace *m, unsigned thread)
{
    return vs_diag_set(&m->diag, -VSE_INVAL, -1, -1,
                       "thread %u does not fit in a binary descriptor's byte; give -a", thread);
}

int mtrace_tail(struct mtrace *m, uint8_t *p, uint64_t pc)
{
    if (m->o->disasm) {
        size_t length;
        const char *text = disasm_text(&m->disasm, pc, &length);
        if (!text)
            return vs_diag_set(&m->diag, -VSE_NOMEM, -1, -1, "out of memory");
        if (length) {
            *p++ = ' ';
            p = text_put(p, text, length);
        }
    }
    *p++ = '\n';
    m->out.at = p;
    return 0;
}

/* ---- the other calls of a consumer ----------------------------------------------------------- */

static int take_meta(void *context, const char *key, const char *value)
{
    struct mtrace *m = context;
    if (!m->o->disasm || strcmp(key, "isa") != 0)
        return 0;
    m->disasm.isa = vs_isa_find(value);
    if (!m->disasm.isa) {
        out_printf(&m->cli->out, "%s: no disassembly of ", m->tool->name);
        out_safe(&m->cli->out, value);
        out_str(&m->cli->out, " instructions\n");
    }
    return 0;
}

/* Checks that the filters can do what they were asked to, once all images of a recorded run are
 * known. */
static int check_filters(struct mtrace *m)
{
    const char *routine = mtrace_filter_missing(&m->filter);
    if (routine)
        return vs_diag_set(&m->diag, -VSE_NOTFOUND, -1, -1,
                           "no routine '%s' in its images; %u of %u could not be read", routine,
                           m->filter.unreadable, m->filter.images);
    if (m->o->main_only && !m->filter.images)
        return vs_diag_set(&m->diag, -VSE_NOTFOUND, -1, -1,
                           "names no image, so that -filter_no_shared_libs has none to keep");
    return 0;
}

static int take_events(void *context, const struct vs_batch *batch)
{
    struct mtrace *m = context;
    vs_progress_update(&m->progress, batch->first);
    if (!m->begun && m->o->input)
        m->error = check_filters(m);
    m->begun = true;
    if (!m->error)
        m->error = m->tool->put(m, batch);
    return m->error;
}

int mtrace_feed(struct mtrace *m, const struct vs_batch *batch)
{
    return take_events(m, batch);
}

static int64_t take_image(void *context, const struct vs_image *image)
{
    struct mtrace *m = context;
    unsigned number = m->filter.images;
    m->error = mtrace_filter_image(&m->filter, image);
    if (m->error)
        return vs_diag_set(&m->diag, m->error, -1, -1, "out of memory");
    return number;
}

static int64_t take_block(void *context, const struct vs_block *block)
{
    struct mtrace *m = context;
    int64_t number = disasm_block(&m->disasm, block);
    if (number < 0)
        m->error = vs_diag_set(&m->diag, (int)number, -1, -1,
                               "the code does not fit in memory; leave out -d");
    return number;
}

static struct vs_consumer consumer(struct mtrace *m)
{
    return (struct vs_consumer){
        .context = m,
        .meta = take_meta,
        .put = take_events,
        .image = take_image,
        .block = m->o->disasm ? take_block : NULL,
    };
}

/* ---- files ----------------------------------------------------------------------------------- */

/* The common part of the files' names; it has to be freed. */
static char *base_name(const struct mtrace *m)
{
    time_t now = time(NULL);
    struct tm t;
    char *name;
    if (m->o->output)
        return strdup(m->o->output);
    localtime_r(&now, &t);
    if (asprintf(&name, "%s.out%d_%d_%d_%d.%d.%d", m->tool->name, t.tm_year + 1900, t.tm_mon + 1,
                 t.tm_mday, t.tm_hour, t.tm_min, t.tm_sec) < 0)
        return NULL;
    return name;
}

static int write_statistics(const struct mtrace *m, const char *path)
{
    struct vs_outfile file;
    struct vs_diag diag = {.offset = -1, .chunk = -1};
    struct out out;
    int e = vs_outfile_open(&file, path, m->o->output != NULL, &diag);
    if (!e) {
        out_init(&out, file.fd);
        m->tool->statistics(m, &out);
        errno = out_flush(&out);
        if (errno)
            e = vs_diag_io(&diag, "write", path);
        else
            e = vs_outfile_commit(&file, &diag);
        vs_outfile_abort(&file);
    }
    return e ? cli_report(m->cli, path, e, &diag) : CLI_DONE;
}

void mtrace_share(struct out *out, uint64_t count, uint64_t total, const char *name)
{
    double percent = total ? 100.0 * (double)count / (double)total : 0;
    out_printf(out, "\t%llu ( %%%.2f ) %s\n", (unsigned long long)count, percent, name);
}

/* ---- a run of the tool ----------------------------------------------------------------------- */

static double milliseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static bool refused(struct cli *cli, const struct mtrace_options *o)
{
    if (o->input && o->program)
        cli_error(cli, "'%s' is one too many: -i takes a run, and records none", o->program[0]);
    else if (!o->input && !o->program)
        cli_error(cli, "nothing to trace: a PROGRAM or -i RUN is missing; see 'vestige %s --help'",
                  cli->command);
    else if (o->disasm && !o->ascii)
        cli_error(cli, "-d: binary descriptors have no room for it; give -a too");
    else
        return false;
    return true;
}

/* Says why the consumer ended, if it did. Returns whether what it wrote is good. */
static bool ended_well(struct mtrace *m, int *status)
{
    if (m->error == -VSE_END && !m->beyond)
        out_printf(&m->cli->out, "%s: stopped at %llu million bytes (-f)\n", m->tool->name,
                   (unsigned long long)m->o->max_mb);
    if (!m->error || m->error == -VSE_END)
        return true;
    const char *what = m->o->input ? m->o->input : m->o->program[0];
    *status = cli_worse(*status, cli_report(m->cli, what, m->error, &m->diag));
    return false;
}

static int convert(struct mtrace *m, struct vs_reader *r, bool *keep)
{
    const struct vs_run_info *info = vs_reader_info(r);
    struct vs_consumer c = consumer(m);
    int status = CLI_DONE;
    bool theirs;
    vs_progress_init(&m->progress, stderr, "converting", info->events, "events");
    int e = vs_consume_run(r, &c, &theirs);
    vs_progress_finish(&m->progress);
    if (e && !theirs)
        return cli_report(m->cli, m->o->input, e, vs_reader_diag(r));
    *keep = ended_well(m, &status);
    return *keep ? cli_missing(m->cli, m->o->input, info) : status;
}

/* Reads an input that is no run. */
static int read_other(struct mtrace *m, bool *keep)
{
    int status = CLI_DONE;
    vs_progress_init(&m->progress, stderr, "reading", 0, "descriptors");
    int e = m->tool->read(m);
    vs_progress_finish(&m->progress);
    if (!m->error)
        m->error = e;
    *keep = ended_well(m, &status);
    return status;
}

static int record(struct mtrace *m, bool *keep)
{
    struct vs_consumer c = consumer(m);
    out_flush(&m->cli->out); /* before what the program prints */
    struct mtrace_ending ending = {0};
    int status = mtrace_live(m->cli, m->o, m->tool->operands, &c, &ending);
    *keep = ended_well(m, &status) && m->begun && status == CLI_DONE;
    const char *routine = mtrace_filter_missing(&m->filter);
    if (*keep && routine) {
        cli_error(m->cli,
                  "no routine '%s' in the program or its libraries; 'nm -DC' lists what there is",
                  routine);
        *keep = false;
        return CLI_USAGE;
    }
    /* Threads that did not run again have not told of their gaps. */
    m->skipped = ending.skipped;
    if (m->traced && m->skipped < m->o->skip)
        m->skipped = m->o->skip;
    m->program = ending.status;
    return status;
}

static void announce(struct mtrace *m, const char *path)
{
    struct out *out = &m->cli->out;
    out_printf(out, "%s: Writing to %s file: ", m->tool->name, m->o->ascii ? "text" : "binary");
    out_safe(out, path);
    out_printf(out, "\n%s descriptor: %s%s\n", m->tool->name, m->tool->layout(m->o),
               m->o->disasm ? ", Assembly Code" : "");
}

/* Traces into the output, which is open, and commits or removes it. */
static int trace_into(struct mtrace *m, struct vs_reader *r, const char *path,
                      const char *statistics)
{
    bool keep = false;
    double start = milliseconds();
    struct vs_diag diag = {.offset = -1, .chunk = -1};
    announce(m, path);
    int status = r ? convert(m, r, &keep) : m->o->input ? read_other(m, &keep) : record(m, &keep);
    m->milliseconds = milliseconds() - start;
    if (!keep) {
        mtrace_out_abort(&m->out);
        return status;
    }
    int e = mtrace_out_commit(&m->out, &diag);
    if (e)
        return cli_worse(status, cli_report(m->cli, path, e, &diag));
    status = cli_worse(status, write_statistics(m, statistics));
    return status == CLI_DONE ? m->program : status;
}

static int trace(struct mtrace *m, struct vs_reader *r)
{
    const struct mtrace_options *o = m->o;
    struct vs_diag diag = {.offset = -1, .chunk = -1};
    char *base = base_name(m), *path = NULL, *statistics = NULL;
    int status;
    /* an asprintf that fails may leave anything there */
    if (base && asprintf(&path, "%s.%s%s", base, o->ascii ? "txt" : "bin",
                         mtrace_compressor_suffix(o->compressor)) < 0)
        path = NULL;
    if (path && asprintf(&statistics, "%s.Statistics", base) < 0)
        statistics = NULL;
    if (!statistics) {
        status = cli_report(m->cli, m->tool->name, -VSE_NOMEM, NULL);
    } else if (o->input && (!cli_may_write(m->cli, path, o->input) ||
                            !cli_may_write(m->cli, statistics, o->input))) {
        status = CLI_USAGE;
    } else if (o->code && (!cli_may_write(m->cli, path, o->code) ||
                           !cli_may_write(m->cli, statistics, o->code))) {
        status = CLI_USAGE;
    } else {
        /* A name that the user chose may be used again; one with the time must not collide. */
        int e = mtrace_out_open(&m->out, path, o->output != NULL, o->compressor,
                                o->max_mb * 1000000, &diag);
        status = e ? cli_report(m->cli, path, e, &diag) : trace_into(m, r, path, statistics);
    }
    free(statistics);
    free(path);
    free(base);
    return status;
}

static int prepare(struct mtrace *m)
{
    const struct mtrace_options *o = m->o;
    m->diag = (struct vs_diag){.offset = -1, .chunk = -1};
    mtrace_filter_init(&m->filter, o->main_only, &o->routines, o->find_routine);
    m->skip = o->input ? o->skip : 0; /* the engine does not deliver them */
    m->windowed = m->skip > 0 || o->length < UINT64_MAX;
    m->end = o->length > UINT64_MAX - m->skip ? UINT64_MAX : m->skip + o->length;
    if (m->windowed)
        m->at = calloc(VS_THREADS_MAX, sizeof(*m->at));
    return m->windowed && !m->at ? cli_report(m->cli, m->tool->name, -VSE_NOMEM, NULL) : CLI_DONE;
}

/* Checks that a run was recorded with what the tool has to write. */
static int check_features(struct mtrace *m, const struct vs_reader *r)
{
    uint32_t features = vs_reader_info(r)->features;
    bool loads = !m->tool->operands || features & VS_RUN_LOADS;
    bool stores = !m->tool->operands || !m->o->store || features & VS_RUN_STORES;
    if (loads && stores)
        return CLI_DONE;
    cli_error(m->cli, "%s: was recorded without %s", m->o->input, loads ? "stores" : "loads");
    return CLI_USAGE;
}

int mtrace_run(struct mtrace *m, struct cli *cli, const struct mtrace_options *o)
{
    struct vs_reader *r = NULL;
    m->cli = cli;
    m->o = o;
    if (refused(cli, o))
        return CLI_USAGE;
    int status = prepare(m);
    if (status == CLI_DONE && o->input && !o->descriptors)
        status = cli_open(cli, &r, o->input, false);
    if (status == CLI_DONE && r)
        status = check_features(m, r);
    if (status == CLI_DONE)
        status = trace(m, r);
    vs_reader_close(r);
    disasm_fini(&m->disasm);
    mtrace_filter_fini(&m->filter);
    free(m->at);
    return status;
}

bool mtrace_parse(struct cli *cli, const struct command *command, struct mtrace_options *o,
                  int argc, char **argv, int *status)
{
    mtrace_options_init(o);
    if (!options_parse(cli, command, o, &argc, argv, status))
        return false;
    if (argc > 0) {
        argv[argc] = NULL;
        o->program = argv;
    }
    return true;
}
