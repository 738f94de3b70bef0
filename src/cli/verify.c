/* SPDX-License-Identifier: MIT */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/json.h"
#include "cli/specs.h"
#include "cli/vport.h"
#include "study/prove.h"

struct verify_options {
    struct option_list techniques;
    const char *stream;
    bool json, quiet;
};

/* Over all runs. */
struct tally {
    uint64_t compared;
    bool differs;
};

/* ---- saying it ------------------------------------------------------------------------------- */

static const char *outcome_name(enum vs_verify_outcome outcome)
{
    static const char *const names[] = {"same", "differs", "missing", "extra", "unreadable"};
    return names[outcome];
}

static void json_proof(struct out *out, const char *path, const char *config,
                       const struct vs_proof *p)
{
    const struct vs_verify_result *r = &p->result;
    struct json j;
    json_init(&j, out, 0);
    json_object(&j, NULL);
    json_str(&j, "run", path);
    json_str(&j, "technique", p->spec.technique->name);
    json_str(&j, "config", config);
    if (p->skipped) {
        json_str(&j, "skipped", p->skipped);
    } else {
        json_str(&j, "outcome", outcome_name(r->outcome));
        json_u64(&j, "compared", r->compared);
        json_u64(&j, "branches", r->branches);
        json_u64(&j, "instructions", r->instructions);
        json_u64(&j, "bits", r->bits);
        if (r->outcome != VS_VERIFY_SAME)
            json_str(&j, "text", r->diag.text);
    }
    json_end(&j);
}

static void text_proof(struct out *out, const char *path, const char *config,
                       const struct vs_proof *p)
{
    const struct vs_verify_result *r = &p->result;
    char steps[32], branches[32], instructions[32], bits[32];
    if (!p->skipped && r->outcome != VS_VERIFY_SAME)
        return;
    out_safe(out, path);
    out_printf(out, ": %s %s: ", p->spec.technique->name, config);
    if (p->skipped)
        out_printf(out, "not decodable, skipped: %s\n", p->skipped);
    else
        out_printf(out,
                   "compared %s events (%s branches with outcomes and targets, %s instructions), "
                   "%s bits: all equal\n",
                   group_digits(steps, r->compared), group_digits(branches, r->branches),
                   group_digits(instructions, r->instructions), group_digits(bits, r->bits));
}

static int tell(struct cli *cli, const struct verify_options *o, const char *path,
                const char *config, const struct vs_proof *p, struct tally *tally)
{
    if (p->error)
        return cli_report(cli, path, p->error, &p->diag);
    if (o->json)
        json_proof(&cli->out, path, config, p);
    else if (!o->quiet)
        text_proof(&cli->out, path, config, p);
    if (p->skipped)
        return CLI_DONE;
    tally->compared += p->result.compared;
    if (p->result.outcome == VS_VERIFY_SAME)
        return CLI_DONE;
    tally->differs = true;
    cli_error(cli, "%s: %s %s: %s: %s", path, p->spec.technique->name, config,
              outcome_name(p->result.outcome), p->result.diag.text);
    return CLI_BAD_DATA;
}

/* ---- a run ----------------------------------------------------------------------------------- */

static int prove_specs(struct cli *cli, const struct verify_options *o, const char *path,
                       struct vs_verify *v, const struct specs *specs, struct tally *tally)
{
    struct vs_proof *proofs = calloc(specs->count, sizeof(*proofs));
    struct vs_diag diag = {.offset = -1, .chunk = -1};
    struct vs_progress progress;
    int status = CLI_DONE, e = proofs ? 0 : -VSE_NOMEM;
    for (size_t i = 0; i < specs->count && !e; i++)
        proofs[i].spec = specs->items[i].spec;
    vs_progress_init(&progress, o->quiet ? NULL : stderr, "verifying", specs->count, "techniques");
    if (!e)
        e = vs_prove(v, path, proofs, specs->count, &progress, &diag);
    vs_progress_finish(&progress);
    if (e)
        status = cli_report(cli, path, e, &diag);
    for (size_t i = 0; i < specs->count && !e; i++)
        status = cli_worse(status, tell(cli, o, path, specs->items[i].config, &proofs[i], tally));
    free(proofs);
    return status;
}

/* A stream that was encoded before. */
static int prove_stream(struct cli *cli, const struct verify_options *o, const char *path,
                        struct vs_verify *v, struct tally *tally)
{
    struct vs_proof proof = {0};
    struct vs_technique_setup setup;
    struct vs_vport *port;
    int status = vport_open(cli, &port, o->stream, &proof.spec, &setup);
    if (status != CLI_DONE)
        return status;
    if (setup.cores != v->setup.cores || setup.timed != v->setup.timed ||
        setup.address_bits != v->setup.address_bits) {
        cli_error(cli, "%s: is of a run with %u cores%s, and %s has %u%s", o->stream, setup.cores,
                  setup.timed ? ", timed" : "", path, v->setup.cores,
                  v->setup.timed ? ", timed" : "");
        status = CLI_BAD_DATA;
    } else {
        proof.skipped = vs_technique_undecodable(&proof.spec);
        if (!proof.skipped)
            proof.error = vs_verify_decode(v, &proof.spec, port->data, port->size, port->nbits,
                                           &proof.result, &proof.diag);
        status = tell(cli, o, path, o->stream, &proof, tally);
        if (status == CLI_DONE)
            status = vport_missing(cli, port, o->stream);
    }
    vs_vport_close(port);
    return status;
}

static int verify_run(struct cli *cli, const struct verify_options *o, const char *path,
                      const struct specs *specs, struct tally *tally)
{
    struct vs_diag diag = {.offset = -1, .chunk = -1};
    struct vs_reader *reader;
    struct vs_verify v;
    int status = cli_open(cli, &reader, path, false);
    if (status != CLI_DONE)
        return status;
    int e = vs_verify_init(&v, reader, &diag);
    if (e == -VSE_END && cli_missing(cli, path, vs_reader_info(reader)) != CLI_DONE) {
        status = CLI_BAD_DATA; /* what there is has nothing */
    } else if (e == -VSE_END || e == -VSE_FEATURE) {
        cli_error(cli, "%s: nothing to compare: %s", path, diag.text);
        status = CLI_USAGE;
    } else if (e) {
        status = cli_report(cli, path, e, &diag);
    } else {
        status = o->stream ? prove_stream(cli, o, path, &v, tally)
                           : prove_specs(cli, o, path, &v, specs, tally);
        status = cli_worse(status, cli_missing(cli, path, vs_reader_info(reader)));
    }
    vs_verify_fini(&v);
    vs_reader_close(reader);
    return status;
}

static int run(struct cli *cli, int argc, char **argv)
{
    struct verify_options o = {0};
    struct specs specs = {0};
    struct tally tally = {0};
    int status;
    if (!options_parse(cli, &command_verify, &o, &argc, argv, &status))
        return status;
    if (!o.stream && !o.techniques.count) {
        cli_error(cli, "-t says what is to be verified: a technique, or all; see 'vestige verify "
                       "--help'");
        return CLI_USAGE;
    }
    if (o.stream && (o.techniques.count || argc > 1)) {
        cli_error(cli, "--stream is of one technique and one run; leave the %s out",
                  argc > 1 ? "other runs" : "-t");
        return CLI_USAGE;
    }
    status = o.stream ? CLI_DONE : specs_parse(cli, &specs, &o.techniques);
    for (int i = 0; i < argc && (specs.count || o.stream); i++)
        status = cli_worse(status, verify_run(cli, &o, argv[i], &specs, &tally));
    if (!tally.compared && status == CLI_DONE) {
        cli_error(cli, "nothing was compared");
        status = CLI_USAGE;
    } else if (tally.compared && !tally.differs && !o.json && status == CLI_DONE) {
        out_printf(&cli->out, "compared %llu events: all equal\n",
                   (unsigned long long)tally.compared);
    }
    specs_free(&specs);
    return status;
}

#define FIELD(member) offsetof(struct verify_options, member)

static const struct cli_option options[] = {
    SPECS_OPTION(FIELD(techniques), "a technique, or all; repeating it adds"),
    {.name = "stream",
     .argument = "FILE",
     .help = "compare this stream, and encode nothing",
     .type = OPTION_STRING,
     .offset = FIELD(stream)},
    {.name = "json", .help = "a JSON object per run and technique", .offset = FIELD(json)},
    {.name = "quiet", .letter = 'q', .help = "only the last line", .offset = FIELD(quiet)},
    {0},
};

const struct command command_verify = {
    .name = "verify",
    .summary = "encode, decode, and compare every event with the run",
    .run = run,
    .options = options,
    .operands = "run.vest...",
    .operands_min = 1,
    .operands_max = INT_MAX,
    .description =
        "Encodes runs, decodes the bits with the program's code alone, and compares what\n"
        "comes out with the run: every branch's outcome and target, every exception,\n"
        "start and end of every core. What a technique gets wrong is shown with core,\n"
        "pc and position.\n"
        "\n" SPECS_HELP,
    .example = "vestige verify run.vest -t all\n"
               "vestige verify run.vest -t mcfTR_e:small -t mcfNX_b\n"
               "vestige verify run.vest --stream run.vport",
    .exits = "0  all equal\n"
             "1  a technique or a run disagrees, or a run is damaged\n"
             "2  nothing was compared, bad usage, or the system refused something",
};
