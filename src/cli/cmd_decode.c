/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>

#include "base/progress.h"
#include "cli/code_open.h"
#include "cli/commands.h"
#include "cli/plugin.h"
#include "front/json.h"
#include "front/report.h"
#include "cli/vport_open.h"
#include "cli/where_print.h"
#include "isa/set.h"
#include "replay/walk.h"

struct decode_options {
    struct option_list plugins;
    const char *code;
    struct option_list images;
    bool json, summary, source, disassemble;
    uint64_t until;
};

struct decoding {
    struct cli *cli;
    const struct decode_options *o;
    bool timed;
    const struct vs_port_reader *port;
    struct vs_progress progress;
    const struct vs_vport_about *about;
    const struct vs_isa *isa;
    const struct vs_text *text; /* the code */
    struct vs_where where;
};

/* What is told about a branch beside it. */
struct beside {
    char insn[VS_ISA_TEXT_MAX];         /* "": it is not asked for, or not known */
    const struct vs_where_place *place; /* NULL likewise */
};

/* ---- steps ----------------------------------------------------------------------------------- */

static const char *step_name(const struct vs_step *s)
{
    return s->kind == VS_STEP_DISCONTINUITY ? s->target == VS_STEP_NOWHERE ? "end" : "goes on"
                                            : vs_branch_name(s->flags);
}

/* Writes the instruction at an address, unless it is not always the same one. */
static void disassemble(const struct decoding *d, uint64_t pc, char text[VS_ISA_TEXT_MAX])
{
    uint8_t bytes[VS_ISA_LENGTH_MAX];
    size_t size = vs_text_fetch(d->text, 0, pc, bytes, sizeof(bytes));
    uint32_t first, last;
    vs_text_extent(d->text, 0, pc, sizeof(bytes), &first, &last);
    if (!size || last < d->text->change_count ||
        d->isa->format(bytes, size, pc, text, VS_ISA_TEXT_MAX) < 0)
        text[0] = 0;
}

/* Returns 0; -VSE_NOMEM. */
static int find_beside(struct decoding *d, const struct vs_step *s, struct beside *b)
{
    int64_t site;
    b->insn[0] = 0;
    b->place = NULL;
    if (s->kind == VS_STEP_DISCONTINUITY)
        return 0;
    if (d->o->disassemble)
        disassemble(d, s->pc, b->insn);
    site = d->o->source ? vs_where_site(&d->where, s->pc) : 0;
    return site > 0 ? vs_where_name(&d->where, (uint64_t)site, &b->place) : (int)site;
}

static void text_step(struct out *out, const struct vs_step *s, const struct beside *b, bool timed)
{
    if (timed && s->time)
        out_printf(out, "@%-10" PRIu64 " ", s->time);
    else if (timed)
        out_pad(out, 12);
    out_printf(out, "c%-3u ", s->core);
    if (s->kind == VS_STEP_DISCONTINUITY) {
        out_pad(out, 17);
        out_str(out, "-");
    } else {
        out_hex(out, s->pc, 16);
    }
    out_printf(out, " %s", step_name(s));
    if (s->flags & VS_BR_COND)
        out_str(out, vs_step_taken(s) ? " taken" : " not taken");
    if (s->target) {
        out_str(out, " -> ");
        out_hex(out, s->target, 16);
    }
    out_printf(out, "  +%u", s->icount);
    if (b->insn[0])
        out_printf(out, "  | %s", b->insn);
    if (b->place) {
        out_str(out, "  # ");
        where_text(out, b->place);
    }
    out_char(out, '\n');
}

static void json_step(struct out *out, const struct vs_step *s, const struct beside *b, bool timed)
{
    struct json j;
    bool branch = s->kind != VS_STEP_DISCONTINUITY;
    json_init(&j, out, 0);
    json_object(&j, NULL);
    json_u64(&j, "core", s->core);
    if (timed && s->time)
        json_u64(&j, "cycle", s->time);
    json_str(&j, "kind", branch ? "branch" : "discontinuity");
    if (branch) {
        json_hex(&j, "pc", s->pc);
        json_str(&j, "branch", vs_branch_name(s->flags));
        json_bool(&j, "taken", vs_step_taken(s));
    }
    if (s->target)
        json_hex(&j, "target", s->target);
    else
        json_null(&j, "target");
    json_u64(&j, "icount", s->icount);
    if (b->insn[0])
        json_str(&j, "insn", b->insn);
    if (b->place)
        where_json(&j, "source", b->place);
    json_end(&j);
}

static int show_steps(void *context, const struct vs_step *steps, size_t count)
{
    struct decoding *d = context;
    struct out *out = &d->cli->out;
    vs_progress_update(&d->progress, vs_port_reader_done(d->port));
    for (size_t i = 0; i < count && !d->o->summary; i++) {
        struct beside b;
        int e = find_beside(d, &steps[i], &b);
        if (e)
            return e;
        if (d->o->json)
            json_step(out, &steps[i], &b, d->timed);
        else
            text_step(out, &steps[i], &b, d->timed);
    }
    return out->error ? -VSE_END : 0;
}

/* ---- the walk -------------------------------------------------------------------------------- */

struct summary {
    uint64_t steps, branches, instructions, messages;
};

static const struct report_column summary_columns[] = {
    REPORT_COUNT(summary, steps),
    REPORT_COUNT(summary, branches),
    REPORT_COUNT(summary, instructions),
    REPORT_COUNT(summary, messages),
    {0},
};

static void summarize(struct decoding *d, const struct vs_walk *w)
{
    const struct summary s = {w->steps, w->branches, w->instructions, d->port->messages};
    if (!d->o->json)
        report_say(&d->cli->out, summary_columns, &s,
                   "decoded {steps} steps: {branches} branches, {instructions} instructions, "
                   "{messages} messages\n");
    else if (d->o->summary)
        report_json_line(&d->cli->out, summary_columns, &s);
}

/* Whether an image lies where another one was before. */
static bool has_replaced(const struct vs_vport_about *about)
{
    for (size_t i = 0; i < about->image_count; i++)
        for (size_t k = 0; k < i; k++) {
            const struct vs_image *a = &about->images[i], *b = &about->images[k];
            if (a->start - b->start < b->length || b->start - a->start < a->length)
                return true;
        }
    return false;
}

static int walk_stream(struct decoding *d, const char *path, const struct vs_walk_config *config)
{
    struct vs_walk w;
    int e = vs_walk_init(&w, config);
    if (!e)
        e = vs_walk_all(&w);
    vs_progress_finish(&d->progress);
    int status = CLI_DONE;
    if (d->cli->out.error) {
        e = 0; /* it is reported when the output is finished */
    } else if (e == -VSE_LIMIT && d->o->until) {
        e = 0;
    }
    summarize(d, &w);
    if (e) {
        cli_error(d->cli, "%s: %s; what precedes it was decoded%s", path,
                  w.diag.text[0] ? w.diag.text : vs_errstr(e),
                  e == -VSE_CORRUPT && has_replaced(d->about)
                      ? ". The program replaced code (exec, or a library that it unloaded), which "
                        "its files do not tell: 'vestige verify RUN --stream' decodes such a stream"
                      : "");
        status = e == -VSE_NOMEM ? CLI_USAGE : CLI_BAD_DATA;
    }
    vs_walk_fini(&w);
    return status;
}

static int decode(struct cli *cli, const struct decode_options *o, const char *path,
                  const struct vs_vport *port, const struct vs_technique_spec *spec,
                  const struct vs_technique_setup *setup, const struct code *code)
{
    const struct vs_flow_decoder_ops *ops = spec->technique->flow_decoder;
    const struct vs_isa *isa = vs_isa_find(port->about.isa);
    struct vs_port_reader reader;
    struct vs_port_shape shape;
    void *decoder = NULL;
    int status;
    if (!isa) {
        cli_error(cli, "%s: code of '%s' cannot be followed", path, port->about.isa);
        return CLI_USAGE;
    }
    struct decoding d = {.cli = cli,
                         .o = o,
                         .timed = setup->timed,
                         .port = &reader,
                         .about = &port->about,
                         .isa = isa,
                         .text = &code->image.text};
    vs_technique_shape(spec, setup, &shape);
    int e = vs_port_reader_init(&reader, &shape, port->streams);
    if (!e)
        e = ops->open(&decoder, spec->params, setup, &reader);
    if (!e)
        e = vs_where_of_images(&d.where, port->about.images, port->about.image_count);
    const struct vs_walk_config config = {.isa = isa,
                                          .code = &code->image.text,
                                          .ops = ops,
                                          .decoder = decoder,
                                          .port = &reader,
                                          .cores = setup->cores,
                                          .limit = o->until,
                                          .sink = show_steps,
                                          .context = &d};
    vs_progress_init(&d.progress, o->summary || out_is_file(&cli->out) ? stderr : NULL, "decoding",
                     port->nbits, "bits");
    status = e ? cli_report(cli, path, e, NULL) : walk_stream(&d, path, &config);
    vs_where_fini(&d.where);
    ops->close(decoder);
    vs_port_reader_fini(&reader);
    return status;
}

static int run(struct cli *cli, int argc, char **argv)
{
    struct decode_options o = {0};
    struct vs_technique_setup setup;
    struct vs_technique_spec spec;
    struct vs_vport *port;
    struct code code;
    int status;
    if (!options_parse(cli, &command_decode, &o, &argc, argv, &status))
        return status;
    status = plugin_load(cli, &o.plugins);
    if (status != CLI_DONE)
        return status;
    if (o.code && o.images.count) {
        cli_error(cli, "the code comes from --code or from --image, not from both");
        return CLI_USAGE;
    }
    status = vport_open(cli, &port, argv[0], &spec, &setup);
    if (status != CLI_DONE)
        return status;
    if (!(spec.technique->serves & VS_TECHNIQUE_FLOW)) {
        bool data = spec.technique->serves & VS_TECHNIQUE_DATA;
        cli_error(cli,
                  "%s: %s has %s, and no control flow; %s'vestige verify RUN --stream' compares "
                  "them",
                  argv[0], spec.technique->name, vs_technique_kinds_name(spec.technique->serves),
                  data ? "'vestige replay' runs the program from them, " : "");
        vs_vport_close(port);
        return CLI_USAGE;
    }
    status = o.code ? code_from_run(cli, &code, o.code, port->about.isa)
                    : code_from_images(cli, &code, &o.images, &port->about, NULL);
    if (status == CLI_DONE)
        status = decode(cli, &o, argv[0], port, &spec, &setup, &code);
    if (status == CLI_DONE) /* otherwise the walk came to the cut, and said so */
        status = vport_missing(cli, port, argv[0]);
    code_free(&code);
    vs_vport_close(port);
    return status;
}

#define FIELD(member) offsetof(struct decode_options, member)

static const struct cli_option options[] = {
    PLUGIN_OPTION(FIELD(plugins)),
    {.name = "code",
     .argument = "RUN",
     .help = "take the code from this run, with its changes",
     .type = OPTION_STRING,
     .offset = FIELD(code)},
    {.name = "image",
     .argument = "ELF",
     .help = "take the code from this file; may be repeated",
     .type = OPTION_LIST,
     .offset = FIELD(images)},
    {.name = "json",
     .help = "print a JSON object per step; with --summary, only one",
     .offset = FIELD(json)},
    {.name = "summary", .letter = 's', .help = "print only the totals", .offset = FIELD(summary)},
    {.name = "source",
     .help = "add the routine, the file and the line of each branch",
     .offset = FIELD(source)},
    {.name = "disassemble", .help = "add the branch's instruction", .offset = FIELD(disassemble)},
    {.name = "until",
     .argument = "N",
     .help = "stop after N instructions",
     .type = OPTION_U64,
     .offset = FIELD(until),
     .min = 1},
    {0},
};

const struct command command_decode = {
    .name = "decode",
    .summary = "rebuild control flow from a port stream and the program's code",
    .run = run,
    .options = options,
    .operands = "run.vport",
    .operands_min = 1,
    .operands_max = 1,
    .description =
        "Rebuilds what every core did from the bits and the code, and prints it: branches\n"
        "with outcome and target, calls, and where control went without a branch. Without\n"
        "--code and --image, the code is that of the files that the stream names. A\n"
        "stream that is cut is decoded up to its last whole message. Code that the\n"
        "program changed while it ran is in no file.",
    .example = "vestige decode run.vport --code run.vest\n"
               "vestige decode run.vport --image ./program --summary",
    .exits = "0  done\n"
             "1  the stream is damaged or cut, or does not fit the code\n"
             "2  bad usage, or the system refused something",
};
