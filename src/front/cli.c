/* SPDX-License-Identifier: MIT */
#include "front/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/progress.h"
#include "rerun/run_open.h"

void cli_init(struct cli *cli)
{
    out_init(&cli->out, STDOUT_FILENO);
    out_enlarge(&cli->out);
    cli->command = NULL;
    cli->plugins = NULL;
    cli->techniques = NULL;
}

int cli_finish(struct cli *cli, int status)
{
    int error = out_flush(&cli->out);
    out_fini(&cli->out);
    if (!error || error == EPIPE)
        return status;
    cli_error(cli, "cannot write the output: %s", strerror(error));
    return CLI_USAGE;
}

void cli_error(struct cli *cli, const char *format, ...)
{
    char text[4096];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);

    out_flush(&cli->out);
    struct out err;
    out_init(&err, STDERR_FILENO);
    out_str(&err, cli->command ? "vestige " : "vestige");
    out_str(&err, cli->command ? cli->command : "");
    out_str(&err, ": ");
    out_safe(&err, text);
    out_char(&err, '\n');
    out_flush(&err);
}

/* Writes "chunk 7 at offset 1234: ", as far as this is known. */
static void format_place(char *buf, size_t capacity, const struct vs_diag *d)
{
    buf[0] = 0;
    if (d && d->chunk >= 0 && d->offset >= 0)
        snprintf(buf, capacity, "chunk %lld at offset %lld: ", (long long)d->chunk,
                 (long long)d->offset);
    else if (d && d->chunk >= 0)
        snprintf(buf, capacity, "chunk %lld: ", (long long)d->chunk);
    else if (d && d->offset >= 0)
        snprintf(buf, capacity, "offset %lld: ", (long long)d->offset);
}

static const char *format_reason(int error, const struct vs_diag *d)
{
    return d && d->text[0] ? d->text : vs_errstr(error);
}

/* Says what kind of our files it is, if another command reads it; "" if it is none, or cannot be
 * read. */
static const char *other_kind(const char *path)
{
    static const struct {
        char magic[6];
        const char *advice;
    } kinds[] = {
        {"\x89VEST", "; it is a run: 'vestige encode' makes a .vport file of it"},
        {"\x89VPRT", "; it is a port stream: decode, replay, debug and 'verify --stream' read it"},
    };
    char head[5] = "";
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, head, sizeof(head));
    if (fd >= 0)
        close(fd);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]) && n == sizeof(head); i++)
        if (!memcmp(head, kinds[i].magic, sizeof(head)))
            return kinds[i].advice;
    return "";
}

static const char *advice(int error, const struct vs_diag *d, const char *path)
{
    switch (abs(error)) {
    case VSE_FORMAT:
        return other_kind(path);
    case VSE_CHECKSUM:
    case VSE_TRUNCATED:
    case VSE_CORRUPT:
    case VSE_LIMIT:
        return d && d->chunk > 0 ? "; 'vestige salvage' saves what precedes it" : "";
    case VSE_VERSION:
    case VSE_FEATURE:
        return "; a newer vestige may read it";
    case VSE_INTERNAL:
        return "; this is a bug in vestige";
    default:
        return "";
    }
}

int cli_report(struct cli *cli, const char *path, int error, const struct vs_diag *diag)
{
    return cli_report_more(cli, path, error, diag, "");
}

int cli_report_more(struct cli *cli, const char *path, int error, const struct vs_diag *diag,
                    const char *more)
{
    char place[80];
    format_place(place, sizeof(place), diag);
    cli_error(cli, "%s: %s%s%s%s", path, place, format_reason(error, diag),
              advice(error, diag, path), more);
    int code = abs(error);
    return code >= VSE_FORMAT && code <= VSE_LIMIT ? CLI_BAD_DATA : CLI_USAGE;
}

int cli_report_output(struct cli *cli, const char *path, int error, const struct vs_diag *diag)
{
    if (error == -VSE_EXISTS && !strncmp(diag->text, "already", 7)) {
        cli_error(cli, "%s: exists; -f replaces it", path);
        return CLI_USAGE;
    }
    bool cut = error == -VSE_EXISTS && strstr(diag->text, "cut off");
    return cli_report_more(cli, path, error, diag,
                           cut ? "; 'vestige salvage' makes a run of it, -f discards it" : "");
}

bool cli_may_write(struct cli *cli, const char *output, const char *input)
{
    struct stat a, b;
    if (stat(output, &a) || stat(input, &b) || a.st_dev != b.st_dev || a.st_ino != b.st_ino)
        return true;
    cli_error(cli, "%s: is what is read; choose another name for the output", output);
    return false;
}

typedef int opener(struct vs_reader **r, const char *path, enum vs_open_mode mode,
                   vs_survey_progress *progress, void *context, struct vs_diag *diag);

static int open_shown(struct cli *cli, struct vs_reader **r, const char *path, opener *open,
                      enum vs_open_mode mode)
{
    struct vs_diag diag = {.offset = -1, .chunk = -1};
    struct vs_progress progress;
    vs_progress_init(&progress, stderr, "executing", 0, "instructions");
    int e = open(r, path, mode, vs_progress_show, &progress, &diag);
    vs_progress_finish(&progress);
    return e < 0 ? cli_report(cli, path, e, &diag) : CLI_DONE;
}

int cli_open(struct cli *cli, struct vs_reader **r, const char *path, bool salvage)
{
    return open_shown(cli, r, path, vs_run_open_shown, salvage ? VS_OPEN_SALVAGE : VS_OPEN_DEFAULT);
}

int cli_open_flow(struct cli *cli, struct vs_reader **r, const char *path)
{
    return open_shown(cli, r, path, vs_run_open_flow, VS_OPEN_DEFAULT);
}

int cli_open_file(struct cli *cli, struct vs_reader **r, const char *path, bool salvage)
{
    struct vs_diag diag = {.offset = -1, .chunk = -1};
    int e = vs_reader_open(r, path, salvage ? VS_OPEN_SALVAGE : VS_OPEN_DEFAULT, &diag);
    return e < 0 ? cli_report(cli, path, e, &diag) : CLI_DONE;
}

int cli_missing(struct cli *cli, const char *path, const struct vs_run_info *info)
{
    const struct vs_diag *d = &info->missing;
    if (info->sealed || !d->error)
        return CLI_DONE;
    char place[80];
    format_place(place, sizeof(place), d);
    cli_error(cli, "%s: incomplete: %s%s; only what precedes it was read", path, place,
              format_reason(d->error, d));
    return CLI_BAD_DATA;
}

int cli_worse(int a, int b)
{
    return a > b ? a : b;
}
