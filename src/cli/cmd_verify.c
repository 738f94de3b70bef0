/* SPDX-License-Identifier: MIT */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/plugin.h"
#include "front/region.h"
#include "front/report.h"
#include "front/runs.h"
#include "cli/specs.h"
#include "cli/vport_open.h"
#include "cli/where_print.h"
#include "study/decoders.h"
#include "study/prove.h"

struct verify_options {
    struct option_list plugins;
    struct region_options region;
    struct option_list techniques;
    const char *stream;
    struct vs_mutate mutate; /* flips is 0 if nothing is flipped */
    bool json, quiet;
};

/* Sums over all runs. */
struct tally {
    uint64_t compared;
    struct vs_mutate_counts flips;
    bool differs;
};

/* ---- saying it ------------------------------------------------------------------------------- */

static const char *outcome_name(enum vs_verify_outcome outcome)
{
    static const char *const names[] = {"same", "differs", "missing", "extra", "unreadable"};
    return names[outcome];
}

/* Says why there was nothing to compare though the technique can be decoded; NULL if there was
 * something. */
static const char *nothing_in(const struct vs_proof *p)
{
    const struct vs_verify_result *r = &p->result;
    if (r->outcome != VS_VERIFY_UNREADABLE || r->diag.error != -VSE_NOTFOUND || r->loads ||
        r->stores || r->values)
        return NULL;
    return p->spec.technique->serves & VS_TECHNIQUE_DATA
               ? "nothing to compare: the run has no load and no value from outside"
               : "nothing to compare: the run has no load and no store";
}

/* What is told about a technique on a run. */
struct told {
    const char *run, *config;
    const struct vs_mutate *mutate; /* NULL if nothing was flipped */
    struct vs_proof proof;
};

static const struct vs_proof *proof_of(const void *row)
{
    return &((const struct told *)row)->proof;
}

static const char *why_skipped(const struct vs_proof *p)
{
    return p->skipped ? p->skipped : nothing_in(p);
}

static struct cell technique(const void *row)
{
    return cell_word(proof_of(row)->spec.technique->name);
}

static struct cell skipped(const void *row)
{
    return cell_text(why_skipped(proof_of(row)));
}

static struct cell outcome(const void *row)
{
    return cell_word(outcome_name(proof_of(row)->result.outcome));
}

static struct cell difference(const void *row)
{
    return cell_text(proof_of(row)->result.diag.text);
}

static struct cell ordered_by(const void *row)
{
    (void)row;
    return cell_word("stream");
}

static bool was_skipped(const void *row)
{
    return why_skipped(proof_of(row));
}

static bool was_compared(const void *row)
{
    return !was_skipped(row);
}

static bool compared_kind(const void *row, enum vs_technique_kind kind)
{
    return was_compared(row) && proof_of(row)->spec.technique->serves & kind;
}

static bool is_flow(const void *row)
{
    return compared_kind(row, VS_TECHNIQUE_FLOW);
}

static bool has_times(const void *row)
{
    return is_flow(row) && proof_of(row)->result.times;
}

static bool is_data(const void *row)
{
    return compared_kind(row, VS_TECHNIQUE_DATA);
}

static bool is_address(const void *row)
{
    return compared_kind(row, VS_TECHNIQUE_ADDRESS);
}

static bool has_operands(const void *row)
{
    return is_data(row) || is_address(row);
}

static bool differs(const void *row)
{
    return was_compared(row) && proof_of(row)->result.outcome != VS_VERIFY_SAME;
}

static bool was_mutated(const void *row)
{
    return was_compared(row) && !differs(row) && ((const struct told *)row)->mutate;
}

/* Flips of bits, in all or in a field. */
struct flips {
    const char *field;
    struct vs_mutate_counts counts;
};

static bool flips_at(const void *row, size_t i, void *element)
{
    const struct vs_mutation *m = &proof_of(row)->mutation;
    if (i > VS_FIELD_END)
        return false;
    *(struct flips *)element = (struct flips){
        .field = i < VS_FIELD_END ? vs_field_name((unsigned)i) : "none", .counts = m->fields[i]};
    return true;
}

static bool has_flips(const void *element)
{
    return ((const struct flips *)element)->counts.flips;
}

static const struct report_rows flips_rows = {
    .size = sizeof(struct flips), .at = flips_at, .shown = has_flips};

#define FLIPS(name, type, member)                                                                  \
    {                                                                                              \
        .json = name, REPORT_AT(type, member), .plain = true                                       \
    }

static const struct report_column field_columns[] = {
    REPORT_WORD(flips, field),
    FLIPS("flips", flips, counts.flips),
    FLIPS("noticed", flips, counts.noticed),
    FLIPS("unread", flips, counts.unread),
    FLIPS("recoded", flips, counts.recoded),
    FLIPS("missed", flips, counts.missed),
    {0},
};

static struct cell seed(const void *row)
{
    return cell_count(((const struct told *)row)->mutate->seed);
}

static struct cell share(const void *row)
{
    return cell_real(vs_mutate_share(&proof_of(row)->mutation.all));
}

static const struct report_column mutation_columns[] = {
    {.json = "seed", .get = seed},
    FLIPS("flips", told, proof.mutation.all.flips),
    FLIPS("noticed", told, proof.mutation.all.noticed),
    FLIPS("unread", told, proof.mutation.all.unread),
    FLIPS("recoded", told, proof.mutation.all.recoded),
    FLIPS("missed", told, proof.mutation.all.missed),
    {.json = "share", .get = share},
    {.json = "fields", .rows = &flips_rows, .group = field_columns},
    {0},
};

#define RESULT(name, predicate)                                                                    \
    {                                                                                              \
        .json = #name, REPORT_AT(told, proof.result.name), .when = predicate                       \
    }

static const struct report_column columns[] = {
    REPORT_TEXT(told, run),
    {.json = "technique", .get = technique},
    REPORT_TEXT(told, config),
    {.json = "skipped", .get = skipped, .when = was_skipped},
    {.json = "outcome", .get = outcome, .when = was_compared},
    RESULT(compared, was_compared),
    RESULT(branches, is_flow),
    RESULT(instructions, is_flow),
    RESULT(times, has_times),
    RESULT(loads, has_operands),
    RESULT(load_bytes, is_data),
    RESULT(stores, is_address),
    RESULT(values, is_data),
    RESULT(states, is_data),
    RESULT(messages, has_operands),
    RESULT(memory_bytes, is_data),
    RESULT(unknown_bytes, is_data),
    {.json = "order", .get = ordered_by, .when = has_operands},
    RESULT(bits, was_compared),
    {.json = "text", .get = difference, .when = differs},
    {.json = "mutation", .group = mutation_columns, .when = was_mutated},
    {0},
};

static void text_same(struct out *out, const struct told *t)
{
    static const char *const texts[VS_TECHNIQUE_KINDS] = {
        "{branches} branches with outcomes and targets, {instructions} instructions",
        "{loads} loads of {load_bytes} bytes, {states} times registers, by the stream's order",
        "addresses of {loads} loads and {stores} stores, by the stream's order",
    };
    const char *before = "compared {compared} events (";
    for (unsigned i = 0; i < VS_TECHNIQUE_KINDS; i++)
        if (t->proof.spec.technique->serves & 1u << i) {
            report_say(out, columns, t, before);
            report_say(out, columns, t, texts[i]);
            if (1u << i == VS_TECHNIQUE_FLOW && has_times(t))
                report_say(out, columns, t, ", own cycles of {times} branches");
            before = "; ";
        }
    report_say(out, columns, t, "), {bits} bits: all equal\n");
}

static void text_proof(struct out *out, const struct told *t)
{
    if (differs(t))
        return;
    report_say(out, columns, t, "{run}: {technique} {config}: ");
    if (t->proof.skipped)
        report_say(out, columns, t, "not decodable, skipped: {skipped}\n");
    else if (was_skipped(t))
        report_say(out, columns, t, "{skipped}\n");
    else
        text_same(out, t);
}

/* Prints, by field, how many flips were noticed of how many. */
static void text_mutation(struct out *out, const struct told *t)
{
    const struct vs_mutate_counts *all = &t->proof.mutation.all;
    struct flips f;
    report_say(out, columns, t,
               "{run}: {technique} {config}: flipped {mutation.flips} bits, noticed "
               "{mutation.noticed}");
    if (all->unread)
        report_say(out, columns, t,
                   ", without effect {mutation.unread} (in bytes that no core reads)");
    if (all->recoded)
        report_say(out, columns, t,
                   ", without effect {mutation.recoded} (another encoding of the same bytes)");
    if (all->missed)
        report_say(out, columns, t, ", missed {mutation.missed}");
    const char *before = ": ";
    for (size_t i = 0; flips_at(t, i, &f); i++) {
        if (!has_flips(&f))
            continue;
        out_str(out, before);
        report_say(out, field_columns, &f, "{field} {noticed}/{flips}");
        before = ", ";
    }
    out_char(out, '\n');
}

static int tell_mutation(struct cli *cli, const struct verify_options *o, const struct told *t,
                         struct tally *tally)
{
    const struct vs_mutate_counts *all = &t->proof.mutation.all;
    if (!o->mutate.flips)
        return CLI_DONE;
    if (!o->json && !o->quiet)
        text_mutation(&cli->out, t);
    tally->flips.flips += all->flips;
    tally->flips.noticed += all->noticed;
    tally->flips.unread += all->unread;
    tally->flips.recoded += all->recoded;
    tally->flips.missed += all->missed;
    if (!all->missed)
        return CLI_DONE;
    const struct vs_mutation *m = &t->proof.mutation;
    char stream[32] = "";
    if (m->per_core)
        snprintf(stream, sizeof(stream), " of stream %u", m->stream);
    cli_error(cli, "%s: %s %s: %llu of %llu flipped bits were not noticed; the first is bit %llu%s",
              t->run, t->proof.spec.technique->name, t->config, (unsigned long long)all->missed,
              (unsigned long long)all->flips, (unsigned long long)m->missed, stream);
    return CLI_BAD_DATA;
}

static int tell(struct cli *cli, const struct verify_options *o, const char *path,
                const struct vs_reader *reader, const char *config, const struct vs_proof *p,
                struct tally *tally)
{
    char where[WHERE_TEXT_MAX] = "";
    const struct told t = {path, config, o->mutate.flips ? &o->mutate : NULL, *p};
    if (p->error)
        return cli_report(cli, path, p->error, &p->diag);
    if (o->json)
        report_json_line(&cli->out, columns, &t);
    else if (!o->quiet)
        text_proof(&cli->out, &t);
    if (was_skipped(&t))
        return CLI_DONE;
    tally->compared += p->result.compared;
    if (!differs(&t))
        return tell_mutation(cli, o, &t, tally);
    tally->differs = true;
    if (p->result.pc)
        where_in_run(reader, p->result.pc, where);
    cli_error(cli, "%s: %s %s: %s: %s%s", path, p->spec.technique->name, config,
              outcome_name(p->result.outcome), p->result.diag.text, where);
    return CLI_BAD_DATA;
}

/* ---- a run ----------------------------------------------------------------------------------- */

/* Chooses those specs that the run has anything for. Returns CLI_DONE, or the status after a
 * message. The array has to be freed. */
static int choose_specs(struct cli *cli, const char *path, const struct vs_run_info *info,
                        const struct vs_spec_list *specs, struct vs_spec_item **chosen,
                        size_t *count)
{
    int status = CLI_DONE;
    bool lacks;
    *count = 0;
    *chosen = calloc(specs->count, sizeof(**chosen));
    if (!*chosen) {
        cli_error(cli, "out of memory");
        return CLI_USAGE;
    }
    for (size_t i = 0; i < specs->count && status == CLI_DONE; i++) {
        status = specs_lack(cli, &specs->items[i], path, info, &lacks);
        if (!lacks)
            (*chosen)[(*count)++] = specs->items[i];
    }
    return status == CLI_DONE && !*count ? specs_fit_nothing(cli, path) : status;
}

static int prove_specs(struct cli *cli, const struct verify_options *o,
                       const struct vs_proof_source *source, struct vs_verify *v,
                       const struct vs_spec_item *specs, size_t count, struct tally *tally)
{
    struct vs_proof *proofs = calloc(count, sizeof(*proofs));
    struct vs_diag diag = {.offset = -1, .chunk = -1};
    struct vs_progress progress;
    int status = CLI_DONE, e = proofs ? 0 : -VSE_NOMEM;
    for (size_t i = 0; i < count && !e; i++)
        proofs[i].spec = specs[i].spec;
    vs_progress_init(&progress, o->quiet ? NULL : stderr, "verifying", count, "techniques");
    if (!e)
        e = vs_prove(v, source, o->mutate.flips ? &o->mutate : NULL, proofs, count, &progress,
                     &diag);
    vs_progress_finish(&progress);
    if (e)
        status = cli_report(cli, source->path, e, &diag);
    for (size_t i = 0; i < count && !e; i++)
        status = cli_worse(
            status, tell(cli, o, source->path, v->reader, specs[i].config, &proofs[i], tally));
    free(proofs);
    return status;
}

/* A stream that was encoded earlier. */
struct stream {
    const char *path;
    struct vs_vport *port;
    struct vs_technique_spec spec;
    struct vs_technique_setup setup;
};

static int prove_stream(struct cli *cli, const struct verify_options *o,
                        const struct vs_proof_source *source, struct vs_verify *v,
                        const struct stream *s, struct tally *tally)
{
    const char *path = source->path;
    struct vs_proof proof = {.spec = s->spec};
    if (s->setup.cores != v->setup.cores || s->setup.timed != v->setup.timed ||
        s->setup.address_bits != v->setup.address_bits) {
        cli_error(cli, "%s: is of a run with %u cores%s, and %s has %u%s", s->path, s->setup.cores,
                  s->setup.timed ? ", timed" : "", path, v->setup.cores,
                  v->setup.timed ? ", timed" : "");
        return CLI_BAD_DATA;
    }
    proof.skipped = vs_technique_undecodable(&proof.spec);
    if (!proof.skipped)
        vs_prove_stream(v, source, s->port->streams, o->mutate.flips ? &o->mutate : NULL, &proof);
    int status = tell(cli, o, path, v->reader, s->path, &proof, tally);
    return status == CLI_DONE ? vport_missing(cli, s->port, s->path) : status;
}

static int init_verify(struct vs_verify *v, struct vs_reader *reader,
                       const struct vs_spec_item *specs, size_t count, struct vs_diag *diag)
{
    unsigned serves = 0, needs = 0;
    for (size_t i = 0; i < count; i++) {
        serves |= specs[i].spec.technique->serves;
        needs |= vs_technique_needs(&specs[i].spec);
    }
    return vs_verify_prepare(v, reader, serves, needs, diag);
}

/* If `stream` is not NULL, there is one spec, the stream's own. */
static int verify_reader(struct cli *cli, const struct verify_options *o,
                         const struct vs_proof_source *source, struct vs_reader *reader,
                         const struct vs_spec_item *specs, size_t count,
                         const struct stream *stream, struct tally *tally)
{
    struct vs_diag diag = {.offset = -1, .chunk = -1};
    const char *path = source->path;
    struct vs_verify v;
    int status, e = init_verify(&v, reader, specs, count, &diag);
    bool empty = e == -VSE_END || (e == -VSE_FEATURE && !vs_reader_meta(reader, "isa"));
    if (empty && cli_missing(cli, path, vs_reader_info(reader)) != CLI_DONE) {
        status = CLI_BAD_DATA; /* what there is of the run has nothing */
    } else if (e == -VSE_END || e == -VSE_FEATURE) {
        cli_error(cli, "%s: nothing to compare: %s", path, diag.text);
        status = CLI_USAGE;
    } else if (e) {
        status = cli_report(cli, path, e, &diag);
    } else {
        status = stream ? prove_stream(cli, o, source, &v, stream, tally)
                        : prove_specs(cli, o, source, &v, specs, count, tally);
        status = cli_worse(status, cli_missing(cli, path, vs_reader_info(reader)));
    }
    vs_verify_fini(&v);
    return status;
}

static int verify_run(struct cli *cli, const struct verify_options *o, struct region *region,
                      const char *path, const struct vs_spec_list *specs,
                      const struct stream *stream, struct tally *tally)
{
    const struct vs_proof_source source = {path, region_selection(region)};
    struct vs_reader *reader;
    struct vs_spec_item *chosen;
    size_t count;
    int status = region_open(region, cli, &reader, path);
    if (status != CLI_DONE)
        return status;
    status = choose_specs(cli, path, vs_reader_info(reader), specs, &chosen, &count);
    if (status == CLI_DONE)
        status = verify_reader(cli, o, &source, reader, chosen, count, stream, tally);
    free(chosen);
    vs_reader_close(reader);
    return status;
}

static int open_stream(struct cli *cli, struct stream *stream, const char *path,
                       struct vs_spec_list *specs)
{
    stream->path = path;
    int status = vport_open(cli, &stream->port, path, &stream->spec, &stream->setup);
    return status == CLI_DONE ? specs_add(cli, specs, path, &stream->spec) : status;
}

/* Says what it came to. Returns the exit status. */
static int conclude(struct cli *cli, const struct verify_options *o, const struct tally *tally,
                    int status)
{
    if (!tally->compared && status == CLI_DONE) {
        cli_error(cli, "nothing was compared: no technique is decodable and has anything in these "
                       "runs; 'vestige info' shows what they have");
        return CLI_USAGE;
    }
    if (tally->compared && !tally->differs && !o->json && status == CLI_DONE)
        out_printf(&cli->out, "compared %s events: all equal\n", DIGITS(tally->compared));
    if (tally->flips.flips && !o->json && status == CLI_DONE)
        out_printf(&cli->out, "flipped %s bits: all %s that have an effect were noticed\n",
                   DIGITS(tally->flips.flips), DIGITS(tally->flips.noticed));
    return status;
}

static int verify_runs(struct cli *cli, const struct verify_options *o, struct region *region,
                       const struct runs *runs, struct tally *tally)
{
    struct vs_spec_list specs = {0};
    struct stream stream = {0};
    int status = o->stream ? open_stream(cli, &stream, o->stream, &specs)
                           : specs_parse(cli, &specs, &o->techniques);
    bool ready = status == CLI_DONE;
    for (int i = 0; i < runs->count && ready; i++)
        status = cli_worse(status, verify_run(cli, o, region, runs->paths[i], &specs,
                                              o->stream ? &stream : NULL, tally));
    vs_spec_list_fini(&specs);
    vs_vport_close(stream.port);
    return conclude(cli, o, tally, status);
}

static int run(struct cli *cli, int argc, char **argv)
{
    struct verify_options o = {.mutate.seed = 1};
    struct tally tally = {0};
    struct region region;
    struct runs runs = {0};
    int status;
    if (!options_parse(cli, &command_verify, &o, &argc, argv, &status))
        return status;
    status = plugin_load(cli, &o.plugins);
    if (status != CLI_DONE)
        return status;
    status = region_init(&region, cli, &o.region);
    if (status == CLI_DONE)
        status = runs_open(cli, &runs, argc, argv);
    if (status == CLI_DONE && o.stream && (o.techniques.count || runs.count > 1)) {
        cli_error(cli, "--stream is of one technique and one run; leave the %s out",
                  runs.count > 1 ? "other runs" : "-t");
        status = CLI_USAGE;
    } else if (status == CLI_DONE) {
        status = verify_runs(cli, &o, &region, &runs, &tally);
    }
    runs_fini(&runs);
    region_fini(&region);
    return status;
}

#define FIELD(member) offsetof(struct verify_options, member)

static const struct cli_option options[] = {
    SPECS_OPTION(FIELD(techniques), "verify this technique, or all; may be repeated\n"
                                    "(default: those of bandwidth)"),
    PLUGIN_OPTION(FIELD(plugins)),
    REGION_OPTIONS(FIELD(region)),
    {.name = "stream",
     .argument = "FILE",
     .help = "compare this stream instead of encoding the run",
     .type = OPTION_STRING,
     .offset = FIELD(stream)},
    {.name = "mutate",
     .argument = "N",
     .help = "flip N bits of each stream, one at a time, and count\n"
             "those that are noticed",
     .type = OPTION_U64,
     .min = 1,
     .offset = FIELD(mutate.flips)},
    {.name = "seed",
     .argument = "S",
     .help = "choose other bits to flip (1)",
     .type = OPTION_U64,
     .offset = FIELD(mutate.seed)},
    {.name = "json", .help = "print a JSON object per run and technique", .offset = FIELD(json)},
    {.name = "quiet", .letter = 'q', .help = "print only the last line", .offset = FIELD(quiet)},
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
        "Encodes runs, decodes the bits with nothing but the program's code, and compares\n"
        "the result with the run. For control flow, this is every branch's outcome and\n"
        "target, and every exception, start and end of every core. For load values, the\n"
        "recorded accesses drive the decoder, core by core as the stream says; compared\n"
        "are every byte of every load, every value from outside, the registers that\n"
        "exceptions and system calls change, and all bytes of cache lines that the run\n"
        "knows. For data addresses, the recorded instructions drive the decoder in the\n"
        "same way, and the address of every load and store is compared. For both, so are\n"
        "the order of messages and their cycles. A difference is shown with core, pc and\n"
        "position.\n"
        "\n"
        "--mutate proves the comparison: it flips N bits, spread over the whole stream,\n"
        "one at a time, and the decoder or the comparison must notice each flip. For each\n"
        "field of the messages it says how many were noticed, of how many. A bit counts\n"
        "as having no effect only if it is shown that no core reads its byte of a line\n"
        "before it is overwritten, or until the end; or that a general compressor has two\n"
        "encodings of the same bytes.\n"
        "\n"
        "" SPECS_HELP,
    .example = "vestige verify run.vest\n"
               "vestige verify run.vest -t all\n"
               "vestige verify run.vest -t mcfTR_e:small -t mcfNX_b\n"
               "vestige verify run.vest -t mc2RT --mutate 200\n"
               "vestige verify run.vest --stream run.vport",
    .exits = "0  all equal, and every flip with an effect was noticed\n"
             "1  a technique or a run disagrees, a flip was missed, or a run is damaged\n"
             "2  nothing was compared, bad usage, or the system refused something",
};
