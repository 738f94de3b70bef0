/* SPDX-License-Identifier: MIT */
#include "published/tmtool.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/diag.h"

/* ---- lines ----------------------------------------------------------------------------------- */

int tmtool_refuse(struct tmtool *t, const char *what)
{
    return vs_diag_set(&t->diag, -VSE_CORRUPT, -1, -1, "line %llu: %s",
                       (unsigned long long)t->in.line, what);
}

int tmtool_room(struct tmtool *t)
{
    if (t->out.end - t->out.at >= TMTOOL_LINE)
        return 0;
    return mtrace_out_more(&t->out, TMTOOL_LINE, &t->diag);
}

static int take_all(struct tmtool *t)
{
    int64_t n;
    int e = 0;
    while (!e && (n = textin_line(&t->in, &t->diag)) >= 0) {
        const char *line = t->in.text;
        if (*line >= '0' && *line <= '9') {
            e = t->take(t, line);
            t->lines++;
        }
        vs_progress_update(&t->progress, t->in.line);
    }
    if (!e && n == -VSE_END && !t->lines)
        return vs_diag_set(&t->diag, -VSE_CORRUPT, -1, -1, "it has no %s", t->what);
    return e ? e : n == -VSE_END ? 0 : (int)n;
}

/* ---- statistics ------------------------------------------------------------------------------ */

void tmtool_sizes_title(struct out *out)
{
    out_str(out, "; File size in Binaries\n; Type, TotalSizeofTime, TotalSizeofLine, TotalSize\n");
}

void tmtool_size_row(struct out *out, const char *name, uint64_t count, uint64_t line)
{
    out_printf(out, "%s, %" PRIu64 ", %" PRIu64 ", %" PRIu64 "\n", name, 8 * count, line,
               8 * count + line);
}

static int write_statistics(const struct tmtool *t, const char *path)
{
    struct vs_diag diag = {.offset = -1, .chunk = -1};
    struct vs_outfile file;
    struct out out;
    int e = vs_outfile_open(&file, path, t->o->output != NULL, &diag);
    if (!e) {
        out_init(&out, file.fd);
        out_printf(&out, "; %s: Instrumentation Time %.0f ms\n", t->name, t->milliseconds);
        t->statistics(t, &out);
        errno = out_flush(&out);
        e = errno ? vs_diag_io(&diag, "write", path) : vs_outfile_commit(&file, &diag);
        vs_outfile_abort(&file);
    }
    return e ? cli_report(t->cli, path, e, &diag) : CLI_DONE;
}

/* ---- a run of the tool ----------------------------------------------------------------------- */

static double milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static int convert(struct tmtool *t, const char *input, const char *path,
                   const char *statistics_path)
{
    double start = milliseconds();
    int e = textin_open(&t->in, input, &t->diag);
    if (e)
        return cli_report(t->cli, input, e, &t->diag);
    e = mtrace_out_open(&t->out, path, t->o->output != NULL, 0, t->o->max_mb * 1000000, &t->diag);
    if (e) {
        textin_close(&t->in, true, NULL);
        return cli_report(t->cli, path, e, &t->diag);
    }
    vs_progress_init(&t->progress, stderr, "reading", 0, "lines");
    e = take_all(t);
    vs_progress_finish(&t->progress);
    int closed = textin_close(&t->in, e != 0, &t->diag);
    bool full = e == -VSE_END; /* --f */
    e = full ? 0 : e ? e : closed;
    t->milliseconds = milliseconds() - start;
    if (e) {
        mtrace_out_abort(&t->out);
        return cli_report(t->cli, input, e, &t->diag);
    }
    if ((e = mtrace_out_commit(&t->out, &t->diag)) < 0)
        return cli_report(t->cli, path, e, &t->diag);
    out_printf(&t->cli->out, "%s: Writing to text file: ", t->name);
    out_safe(&t->cli->out, path);
    out_printf(&t->cli->out, "\n");
    if (full)
        out_printf(&t->cli->out, "%s: stopped at %llu million bytes (--f)\n", t->name,
                   (unsigned long long)t->o->max_mb);
    return write_statistics(t, statistics_path);
}

/* The common part of the files' names; it has to be freed. */
static char *base_name(const struct tmtool *t)
{
    time_t now = time(NULL);
    struct tm tm;
    char *name;
    if (t->o->output)
        return strdup(t->o->output);
    localtime_r(&now, &tm);
    if (asprintf(&name, "%s_%d_%d_%d_%d_%d_%d", t->prefix, tm.tm_year + 1900, tm.tm_mon + 1,
                 tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec) < 0)
        return NULL;
    return name;
}

int tmtool_run(struct tmtool *t, struct cli *cli, const char *input)
{
    char *base = base_name(t), *path = NULL, *statistics = NULL;
    int status;
    t->cli = cli;
    t->diag = (struct vs_diag){.offset = -1, .chunk = -1};
    /* an asprintf that fails may leave anything there */
    if (base && asprintf(&path, "%s.txt", base) < 0)
        path = NULL;
    if (path && asprintf(&statistics, "%s.Statistics", base) < 0)
        statistics = NULL;
    if (!statistics)
        status = cli_report(cli, t->name, -VSE_NOMEM, NULL);
    else if (!cli_may_write(cli, path, input) || !cli_may_write(cli, statistics, input))
        status = CLI_USAGE;
    else
        status = convert(t, input, path, statistics);
    free(statistics);
    free(path);
    free(base);
    return status;
}
