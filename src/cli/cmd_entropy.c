/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>

#include "base/progress.h"
#include "cli/commands.h"
#include "front/json.h"
#include "study/entropy.h"

enum { NONE = VS_THREADS_MAX };

/* What the sizes of blocks count. */
enum unit { UNIT_BYTES, UNIT_VALUES, UNIT_END };

struct entropy_options {
    uint64_t thread;
    unsigned unit;
    bool json, csv;
};

struct entropy {
    struct cli *cli;
    const struct entropy_options *o;
    struct vs_entropy_figures sum;
    unsigned runs; /* that were studied */
};

static const unsigned kilo[VS_ENTROPY_BLOCKS] = {1, 8, 64, 128};

static const char *unit_name(unsigned unit)
{
    static const char *const names[UNIT_END] = {"bytes", "values"};
    return names[unit];
}

/* "64KB", or "64Ki" words. */
static const char *block_name(char name[16], const struct entropy_options *o, unsigned block)
{
    snprintf(name, 16, "%u%s", kilo[block], o->unit == UNIT_BYTES ? "KB" : "Ki");
    return name;
}

/* ---- text ------------------------------------------------------------------------------------ */

static void text_double(struct out *out, double v, int width, int places)
{
    if (isfinite(v))
        out_printf(out, " %*.*f", width, places, v);
    else
        out_printf(out, " %*s", width, "-");
}

static void text_row(struct out *out, const char *block, bool cut, const struct vs_entropy_row *row,
                     unsigned mask)
{
    out_printf(out, "%-6s", block);
    if (cut)
        out_printf(out, " %10s", "cut");
    else
        out_printf(out, " %10s", DIGITS(row->blocks));
    out_printf(out, " %5u", mask);
    text_double(out, row->blocks ? row->min : NAN, 7, 3);
    text_double(out, vs_entropy_mean(row), 7, 3);
    text_double(out, row->blocks ? row->max : NAN, 7, 3);
    text_double(out, vs_entropy_distinct(row), 10, 1);
    text_double(out, vs_entropy_ratio(row), 7, 3);
    text_double(out, vs_entropy_ratio_of_means(row, mask), 9, 3);
    out_char(out, '\n');
}

static void text_small(struct out *out, const struct vs_entropy_figures *f)
{
    out_printf(out, "%-8s", "bits");
    for (unsigned n = VS_ENTROPY_SMALL_MIN; n <= VS_ENTROPY_SMALL_MAX; n++)
        out_printf(out, " %6u", n);
    out_printf(out, "\n%-8s", "fit");
    for (unsigned n = VS_ENTROPY_SMALL_MIN; n <= VS_ENTROPY_SMALL_MAX; n++)
        text_double(out, (double)vs_entropy_small(f, n) / (double)f->words, 6, 3);
    out_printf(out, "\n%-8s", "ratio");
    for (unsigned n = VS_ENTROPY_SMALL_MIN; n <= VS_ENTROPY_SMALL_MAX; n++)
        text_double(out, vs_entropy_small_ratio(f, n), 6, 3);
    out_char(out, '\n');
}

static void print_text(const struct entropy *w, const char *path,
                       const struct vs_entropy_figures *f)
{
    struct out *out = &w->cli->out;
    char loads[32], bytes[32], words[32], name[16];
    if (path)
        out_safe(out, path);
    else
        out_printf(out, "total of %u runs", w->runs);
    if (path && w->o->thread != NONE)
        out_printf(out, ": thread %" PRIu64, w->o->thread);
    out_printf(out, ": %s loads, %s bytes, %s words\n", group_digits(loads, f->loads),
               group_digits(bytes, f->bytes), group_digits(words, f->words));
    out_printf(out, "%-6s %10s %5s %7s %7s %7s %10s %7s %9s\n", "block", "blocks", "mask", "min",
               "avg", "max", "distinct", "ratio", "avg-ratio");
    for (unsigned i = 0; i < VS_ENTROPY_BLOCKS; i++)
        for (unsigned m = 0; m < VS_ENTROPY_MASKS; m++)
            text_row(out, block_name(name, w->o, i), f->cut[i], &f->rows[i][m],
                     vs_entropy_masks[m]);
    text_small(out, f);
}

/* ---- CSV ------------------------------------------------------------------------------------- */

static void csv_row(struct out *out, const struct vs_entropy_row *row, unsigned mask)
{
    out_printf(out, "%u,,%" PRIu64 ",%" PRIu64, mask, row->blocks, row->words);
    out_csv_double(out, row->blocks ? row->min : NAN);
    out_csv_double(out, vs_entropy_mean(row));
    out_csv_double(out, row->blocks ? row->max : NAN);
    out_csv_double(out, vs_entropy_distinct(row));
    out_csv_double(out, vs_entropy_ratio(row));
    out_csv_double(out, vs_entropy_ratio_of_means(row, mask));
    out_str(out, ",\n");
}

static void print_csv(const struct entropy *w, const char *path, const struct vs_entropy_figures *f)
{
    struct out *out = &w->cli->out;
    char name[16];
    if (path && !w->runs)
        out_str(out, "run,block,block_words,cut,mask,size,blocks,words,entropy_min,entropy_avg,"
                     "entropy_max,distinct,ratio,ratio_of_averages,fraction\n");
    for (unsigned i = 0; i < VS_ENTROPY_BLOCKS; i++)
        for (unsigned m = 0; m < VS_ENTROPY_MASKS; m++) {
            out_csv_text(out, path ? path : "total");
            out_printf(out, ",%s,%u,%d,", block_name(name, w->o, i), f->block_words[i], f->cut[i]);
            csv_row(out, &f->rows[i][m], vs_entropy_masks[m]);
        }
    for (unsigned n = VS_ENTROPY_SMALL_MIN; n <= VS_ENTROPY_SMALL_MAX; n++) {
        out_csv_text(out, path ? path : "total");
        out_printf(out, ",,,,,%u,,%" PRIu64 ",,,,", n, f->words);
        out_csv_double(out, vs_entropy_small_ratio(f, n));
        out_char(out, ',');
        out_csv_double(out, (double)vs_entropy_small(f, n) / (double)f->words);
        out_char(out, '\n');
    }
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void json_row(struct json *j, const struct vs_entropy_row *row, unsigned mask)
{
    json_object(j, NULL);
    json_u64(j, "mask", mask);
    json_double(j, "entropy_min", row->blocks ? row->min : NAN, 9);
    json_double(j, "entropy_avg", vs_entropy_mean(row), 9);
    json_double(j, "entropy_max", row->blocks ? row->max : NAN, 9);
    json_double(j, "distinct", vs_entropy_distinct(row), 6);
    json_double(j, "bits", row->bits, 3);
    json_double(j, "ratio", vs_entropy_ratio(row), 9);
    json_double(j, "ratio_of_averages", vs_entropy_ratio_of_means(row, mask), 9);
    json_end(j);
}

static void json_block(struct json *j, const struct entropy *w, const struct vs_entropy_figures *f,
                       unsigned block)
{
    char name[16];
    json_object(j, NULL);
    json_str(j, "block", block_name(name, w->o, block));
    json_u64(j, "block_words", f->block_words[block]);
    json_u64(j, "blocks", f->rows[block][0].blocks);
    json_u64(j, "words", f->rows[block][0].words);
    json_bool(j, "cut", f->cut[block]);
    json_array(j, "masks");
    for (unsigned m = 0; m < VS_ENTROPY_MASKS; m++)
        json_row(j, &f->rows[block][m], vs_entropy_masks[m]);
    json_end(j);
    json_end(j);
}

static void json_small(struct json *j, const struct vs_entropy_figures *f)
{
    json_array(j, "small");
    for (unsigned n = VS_ENTROPY_SMALL_MIN; n <= VS_ENTROPY_SMALL_MAX; n++) {
        json_object(j, NULL);
        json_u64(j, "size", n);
        json_u64(j, "words", vs_entropy_small(f, n));
        json_double(j, "fraction", (double)vs_entropy_small(f, n) / (double)f->words, 9);
        json_double(j, "ratio", vs_entropy_small_ratio(f, n), 9);
        json_end(j);
    }
    json_end(j);
}

static void print_json(const struct entropy *w, const char *path,
                       const struct vs_entropy_figures *f)
{
    struct json j;
    json_init(&j, &w->cli->out, 0);
    json_object(&j, NULL);
    if (path)
        json_str(&j, "run", path);
    else
        json_null(&j, "run");
    if (w->o->thread != NONE)
        json_u64(&j, "thread", w->o->thread);
    else
        json_null(&j, "thread");
    json_str(&j, "unit", unit_name(w->o->unit));
    json_u64(&j, "loads", f->loads);
    json_u64(&j, "bytes", f->bytes);
    json_u64(&j, "words", f->words);
    json_array(&j, "blocks");
    for (unsigned i = 0; i < VS_ENTROPY_BLOCKS; i++)
        json_block(&j, w, f, i);
    json_end(&j);
    json_small(&j, f);
    json_end(&j);
}

/* ---- the command ----------------------------------------------------------------------------- */

/* path NULL: the sum over runs. */
static void print(const struct entropy *w, const char *path, const struct vs_entropy_figures *f)
{
    if (w->o->json)
        print_json(w, path, f);
    else if (w->o->csv)
        print_csv(w, path, f);
    else
        print_text(w, path, f);
}

/* Returns 0 or an error of the reader, which has it in its diag. */
static int consume(struct vs_entropy *e, struct vs_reader *reader, uint64_t thread)
{
    struct vs_progress progress;
    struct vs_batch batch;
    int got = thread != NONE ? vs_reader_select(reader, (int)thread) : 0;
    if (got < 0)
        return got;
    vs_progress_init(&progress, stderr, "counting", vs_reader_info(reader)->events, "events");
    while ((got = vs_reader_next(reader, &batch)) > 0) {
        vs_entropy_consume(e, &batch);
        vs_progress_update(&progress, batch.first + batch.count);
    }
    vs_progress_finish(&progress);
    vs_entropy_finish(e);
    return got == -VSE_END ? 0 : got;
}

static int nothing(const struct entropy *w, const char *path, const struct vs_run_info *info)
{
    if (cli_missing(w->cli, path, info) != CLI_DONE)
        return CLI_BAD_DATA;
    cli_error(w->cli, "%s: nothing to study: %s", path,
              !(info->features & VS_RUN_LOADS) ? "loads were not recorded"
              : w->o->thread != NONE           ? "the thread has no loads"
                                               : "it has no loads");
    return CLI_USAGE;
}

static int study_run(struct entropy *w, const char *path, struct vs_reader *reader,
                     struct vs_entropy *e)
{
    const struct vs_run_info *info = vs_reader_info(reader);
    int error = consume(e, reader, w->o->thread);
    if (error)
        return cli_report(w->cli, path, error, vs_reader_diag(reader));
    if (!e->figures.loads)
        return nothing(w, path, info);
    if (w->runs && !w->o->json && !w->o->csv)
        out_char(&w->cli->out, '\n');
    print(w, path, &e->figures);
    vs_entropy_figures_add(&w->sum, &e->figures);
    w->runs++;
    return cli_missing(w->cli, path, info);
}

static int study(struct entropy *w, const char *path)
{
    uint32_t words[VS_ENTROPY_BLOCKS];
    struct vs_reader *reader;
    struct vs_entropy e;
    int status = cli_open(w->cli, &reader, path, false);
    if (status != CLI_DONE)
        return status;
    for (unsigned i = 0; i < VS_ENTROPY_BLOCKS; i++)
        words[i] = kilo[i] * (w->o->unit == UNIT_BYTES ? 1024 / 4 : 1024);
    const struct vs_run_info *info = vs_reader_info(reader);
    if (w->o->thread != NONE && w->o->thread >= info->threads) {
        cli_error(w->cli, "--thread: %s: no thread %" PRIu64 "; the run has %u, from 0 up", path,
                  w->o->thread, info->threads);
        status = CLI_USAGE;
    } else {
        int error = vs_entropy_init(&e, words);
        status = error ? cli_report(w->cli, path, error, NULL) : study_run(w, path, reader, &e);
        if (!error)
            vs_entropy_fini(&e);
    }
    vs_reader_close(reader);
    return status;
}

static int run(struct cli *cli, int argc, char **argv)
{
    struct entropy_options o = {.thread = NONE};
    struct entropy w = {.cli = cli, .o = &o};
    int status;
    if (!options_parse(cli, &command_entropy, &o, &argc, argv, &status))
        return status;
    if (o.json && o.csv) {
        cli_error(cli, "--json and --csv exclude each other");
        return CLI_USAGE;
    }
    status = CLI_DONE;
    for (int i = 0; i < argc; i++)
        status = cli_worse(status, study(&w, argv[i]));
    if (w.runs > 1) {
        if (!o.json && !o.csv)
            out_char(&cli->out, '\n');
        print(&w, NULL, &w.sum);
    }
    return status;
}

#define FIELD(member) offsetof(struct entropy_options, member)

static const struct cli_option options[] = {
    {.name = "thread",
     .argument = "N",
     .help = "only the loads of this thread; without it those of\n"
             "all, in the order in which they happened",
     .type = OPTION_U64,
     .offset = FIELD(thread),
     .max = VS_THREADS_MAX - 1},
    {.name = "unit",
     .argument = "UNIT",
     .help = "what the sizes of blocks count: bytes of words (1 KB\n"
             "is 256 words), or values (1 Ki is 1024 words), as\n"
             "the published tables do (bytes):",
     .type = OPTION_ENUM,
     .offset = FIELD(unit),
     .number_name = unit_name,
     .first = UNIT_BYTES,
     .end = UNIT_END},
    {.name = "json", .help = "one JSON object per run", .offset = FIELD(json)},
    {.name = "csv", .help = "the same as comma-separated values", .offset = FIELD(csv)},
    {0},
};

const struct command command_entropy = {
    .name = "entropy",
    .summary = "how compressible the values are that runs load",
    .run = run,
    .options = options,
    .operands = "run.vest...",
    .operands_min = 1,
    .operands_max = INT_MAX,
    .description =
        "Cuts the loaded values into 32-bit words, smaller ones zero-extended, and the\n"
        "words into blocks. Of the blocks of a size: the zero-order entropy (min, avg,\n"
        "max, in bits per word), distinct words per block, and the compression ratio if\n"
        "a word that occurs first in its block takes 32 bits and others the entropy; the\n"
        "same if the low bits (mask) are sent as they are. The last block counts only if\n"
        "it is full, or the only one (cut). ratio: all bits over all bits; avg-ratio:\n"
        "that of a block with the averages. Then the words that fit in 4 to 12 bits, and\n"
        "the ratio of a code of one bit and so many, or 32. See docs/studies.md.",
    .example = "vestige entropy run.vest\n"
               "vestige entropy --unit values --csv *.vest\n"
               "vestige entropy --thread 1 --json run.vest | jq .small",
    .exits = "0  done\n"
             "1  a run is damaged or incomplete\n"
             "2  bad usage, a run without loads, or the system refused something",
};
