/* SPDX-License-Identifier: MIT */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/number.h"
#include "cli/commands.h"
#include "cli/foreign.h"
#include "front/report.h"
#include "study/flow_run.h"

struct import_options {
    const char *from, *sidecar, *isa, *output;
    struct option_list images;
    bool overwrite, json;
};

/* What was written. */
struct imported {
    const char *file, *technique;
    uint64_t instructions, branches, gaps, threads;
};

static const struct report_column columns[] = {
    REPORT_TEXT(imported, file),
    REPORT_WORD(imported, technique),
    REPORT_COUNT(imported, instructions),
    REPORT_COUNT(imported, branches),
    REPORT_COUNT(imported, gaps),
    REPORT_COUNT(imported, threads),
    {0},
};

/* ---- what is read ---------------------------------------------------------------------------- */

/* Takes "FILE" or "FILE@ADDRESS". */
static int add_image(struct cli *cli, struct foreign *f, const char *text)
{
    const char *at = strrchr(text, '@');
    struct vs_image image = {.symbols = ""};
    if (at && vs_number(at + 1, at + strlen(at), &image.base)) {
        cli_error(cli, "'%s': what follows the @ is no address", text);
        return CLI_USAGE;
    }
    char *path = at ? strndup(text, (size_t)(at - text)) : strdup(text);
    image.path = path;
    int status = path ? foreign_add_image(cli, f, &image) : cli_report(cli, text, -VSE_NOMEM, NULL);
    free(path);
    return status;
}

static int add_images(struct cli *cli, struct foreign *f, const struct import_options *o)
{
    size_t first = f->image_count;
    int status = CLI_DONE;
    for (size_t i = 0; i < o->images.count && status == CLI_DONE; i++)
        status = add_image(cli, f, o->images.items[i]);
    return status == CLI_DONE ? foreign_load_images(cli, f, first) : status;
}

/* Returns the description's path, which the caller frees: the one that was given, or else the one
 * beside the only stream, if there is one. */
static char *find_about(const struct import_options *o, int count, char **streams)
{
    if (o->sidecar)
        return strdup(o->sidecar);
    size_t size = count == 1 ? strlen(streams[0]) + sizeof(".json") : 0;
    char *path = size ? malloc(size) : NULL;
    if (path)
        snprintf(path, size, "%s.json", streams[0]);
    if (path && !o->images.count && access(path, F_OK) == 0)
        return path;
    free(path);
    return NULL;
}

static int read_plain(struct cli *cli, struct foreign *f, const struct import_options *o, int count,
                      char **streams)
{
    if (!o->from) {
        cli_error(cli,
                  "no description is beside %s: --from says what the streams are; see "
                  "'vestige import --help'",
                  streams[0]);
        return CLI_USAGE;
    }
    int status = foreign_find_spec(cli, f, o->from, false);
    if (status != CLI_DONE)
        return status;
    if (!(f->isa = vs_isa_find(o->isa ? o->isa : FOREIGN_ISA))) {
        cli_error(cli, "no instruction set '%s' is known", o->isa);
        return CLI_USAGE;
    }
    for (int i = 0; i < count && status == CLI_DONE; i++)
        status = foreign_add_file(cli, f, streams[i], 0);
    return status;
}

static int read_input(struct cli *cli, struct foreign *f, const struct import_options *o, int count,
                      char **streams)
{
    bool perf = o->from && !strcmp(o->from, "perf");
    if (perf && (count != 1 || o->sidecar || o->isa)) {
        cli_error(cli, "--from perf takes one file, which says what else there is to say");
        return CLI_USAGE;
    }
    char *about = perf ? NULL : find_about(o, count, streams);
    bool named = o->sidecar && !(count == 1 && access(streams[0], F_OK) != 0);
    int status =
        perf    ? foreign_from_perf(cli, f, streams[0])
        : about ? foreign_from_about(cli, f, about, o->from, named ? streams : NULL, (size_t)count)
                : read_plain(cli, f, o, count, streams);
    free(about);
    if (status == CLI_DONE)
        status = add_images(cli, f, o);
    return status == CLI_DONE ? foreign_finish(cli, f) : status;
}

/* ---- what is written ------------------------------------------------------------------------- */

static int put_facts(struct vs_writer *w, const struct foreign *f)
{
    char spec[VS_TECHNIQUE_TEXT];
    int64_t e = vs_technique_text(&f->spec, spec, sizeof(spec));
    if (e >= 0)
        e = vs_writer_meta(w, "engine", "import");
    if (!e)
        e = vs_writer_meta(w, "isa", f->isa->name);
    if (!e)
        e = vs_writer_meta(w, "config", spec);
    for (size_t i = 0; i < f->image_count && e >= 0; i++)
        e = vs_writer_image(w, &f->images[i]);
    return e < 0 ? (int)e : 0;
}

/* Says what is wrong with a stream, and at which byte of its file. */
static int report_stream(struct cli *cli, const struct foreign *f, unsigned stream, int e,
                         struct vs_diag *diag)
{
    const struct foreign_stream *s = &f->names[stream < f->count ? stream : 0];
    if (diag->offset >= 0)
        diag->offset += (int64_t)s->before;
    return cli_report(cli, s->name, e, diag);
}

static int write_run(struct cli *cli, const struct foreign *f, struct vs_writer *w,
                     const char *output, struct vs_flow_run_result *result)
{
    struct vs_diag diag = {.offset = -1, .chunk = -1};
    uint64_t *tids = calloc(f->count, sizeof(*tids));
    int e = tids ? put_facts(w, f) : -VSE_NOMEM;
    if (e) {
        free(tids);
        return cli_report(cli, output, e, NULL);
    }
    for (size_t i = 0; i < f->count; i++)
        tids[i] = f->names[i].tid;
    const struct vs_flow_run_config config = {.isa = f->isa,
                                              .code = &f->code.text,
                                              .spec = &f->spec,
                                              .setup = f->setup,
                                              .streams = f->streams,
                                              .tids = tids,
                                              .writer = w};
    e = vs_flow_run_make(&config, result, &diag);
    free(tids);
    if (e && vs_writer_diag(w)->error == e && diag.error != e)
        return cli_report(cli, output, e, vs_writer_diag(w));
    if (e)
        return report_stream(cli, f, result->stream, e, &diag);
    if (!result->threads) {
        cli_error(cli, "%s: nothing is told of any thread", f->names[0].name);
        return CLI_BAD_DATA;
    }
    return CLI_DONE;
}

static void print(struct cli *cli, const struct import_options *o, const struct foreign *f,
                  const struct vs_flow_run_result *r)
{
    const struct imported row = {
        o->output, f->spec.technique->name, r->instructions, r->branches, r->gaps, r->threads};
    if (o->json)
        report_json_line(&cli->out, columns, &row);
    else
        report_say(&cli->out, columns, &row,
                   "{file}: {technique}: {instructions} instructions, {branches} branches, {gaps} "
                   "gaps, {threads} threads\n");
}

static void remove_partial(const char *output)
{
    char partial[PATH_MAX + sizeof(".partial")];
    snprintf(partial, sizeof(partial), "%s.partial", output);
    unlink(partial);
}

static int import(struct cli *cli, const struct import_options *o, const struct foreign *f)
{
    const struct vs_writer_options options = {.workers = 2, .overwrite = o->overwrite};
    struct vs_diag diag = {.offset = -1, .chunk = -1};
    struct vs_flow_run_result result;
    struct vs_writer *w;
    int e = vs_writer_open(&w, o->output, &options, &diag);
    if (e)
        return cli_report_output(cli, o->output, e, &diag);
    int status = write_run(cli, f, w, o->output, &result);
    if (status == CLI_DONE && (e = vs_writer_flush(w)) < 0)
        status = cli_report(cli, o->output, e, vs_writer_diag(w));
    if (status != CLI_DONE) {
        vs_writer_abort(w);
        return status;
    }
    if ((e = vs_writer_seal(w, &diag)) < 0) {
        remove_partial(o->output); /* the streams are still there */
        return cli_report(cli, o->output, e, &diag);
    }
    print(cli, o, f, &result);
    return CLI_DONE;
}

static int run(struct cli *cli, int argc, char **argv)
{
    struct import_options o = {0};
    struct foreign f = {0};
    int status;
    if (!options_parse(cli, &command_import, &o, &argc, argv, &status))
        return status;
    if (!o.output) {
        cli_error(cli, "-o says where the run goes; see 'vestige import --help'");
        return CLI_USAGE;
    }
    for (int i = 0; i < argc; i++)
        if (!cli_may_write(cli, o.output, argv[i]))
            return CLI_USAGE;
    status = read_input(cli, &f, &o, argc, argv);
    if (status == CLI_DONE)
        status = import(cli, &o, &f);
    foreign_fini(&f);
    return status;
}

#define FIELD(member) offsetof(struct import_options, member)

static const struct cli_option options[] = {
    {.name = "from",
     .argument = "FORMAT",
     .help = "what the streams are, if no description says it: a\n"
             "technique, as pt, or perf",
     .type = OPTION_STRING,
     .offset = FIELD(from)},
    {.name = "image",
     .argument = "FILE[@ADDRESS]",
     .help = "code that ran, and where it was loaded",
     .type = OPTION_LIST,
     .offset = FIELD(images)},
    {.name = "isa",
     .argument = "NAME",
     .help = "its instruction set; default " FOREIGN_ISA,
     .type = OPTION_STRING,
     .offset = FIELD(isa)},
    {.name = "sidecar",
     .argument = "FILE",
     .help = "the description that 'vestige encode --raw' wrote",
     .type = OPTION_STRING,
     .offset = FIELD(sidecar)},
    {.name = "output",
     .letter = 'o',
     .argument = "FILE",
     .help = "write the run to FILE",
     .type = OPTION_STRING,
     .offset = FIELD(output)},
    {.name = "force",
     .letter = 'f',
     .help = "replace FILE if it exists",
     .offset = FIELD(overwrite)},
    {.name = "json", .help = "print what was written as a JSON object", .offset = FIELD(json)},
    {0},
};

const struct command command_import = {
    .name = "import",
    .summary = "make a run of a stream from elsewhere",
    .run = run,
    .options = options,
    .operands = "STREAM...",
    .operands_min = 1,
    .operands_max = 65536,
    .description = "Reads streams as a trace standard has them, one for each thread, follows the\n"
                   "code, and writes a run of control flow: branches, exceptions, gaps.\n"
                   "\n"
                   "If STREAM.json is there, as 'vestige encode --raw STREAM' writes it, it says\n"
                   "everything: the streams, their parameters and the code. Otherwise --image\n"
                   "names the files of code, with the address to which each was moved.\n"
                   "\n"
                   "With --from perf, STREAM is what 'perf record -e intel_pt//u' wrote: it has\n"
                   "the streams and says where code was. Without perf's --per-thread, what each\n"
                   "processor did is taken for a thread.",
    .example = "vestige import run.pt -o run.vest\n"
               "vestige import --from pt --image prog@0x555555554000 cpu.pt -o run.vest\n"
               "vestige import --from perf perf.data -o run.vest",
    .exits = "0  the run was written\n"
             "1  a stream or its description is damaged, or does not fit the code\n"
             "2  bad usage, or the system refused something",
};
