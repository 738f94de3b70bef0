/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>

#include "base/progress.h"
#include "cli/commands.h"
#include "cli/study_runs.h"
#include "study/entropy.h"

enum { NONE = VS_THREADS_MAX };

/* What sizes of blocks are given in. */
enum unit { UNIT_BYTES, UNIT_VALUES, UNIT_END };

struct entropy_options {
    uint64_t thread;
    unsigned unit;
    bool json, csv;
};

static const unsigned kilo[VS_ENTROPY_BLOCKS] = {1, 8, 64, 128};

static const char *unit_name(unsigned unit)
{
    static const char *const names[UNIT_END] = {"bytes", "values"};
    return names[unit];
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* The figures of a run, or of several runs. */
struct entropy_row {
    const char *run; /* NULL if it is a sum */
    unsigned runs;   /* how many are in the sum */
    uint64_t thread;
    unsigned unit;
    const struct vs_entropy_figures *figures;
};

/* The blocks of one size, with one mask. */
struct block_row {
    const struct entropy_row *all;
    unsigned block, mask; /* by number */
    const struct vs_entropy_row *row;
    char name[16]; /* "64KB", or "64Ki" words */
};

static const struct block_row *block_of(const void *row)
{
    return row;
}

static const char *run_name(const struct entropy_row *all)
{
    return all->run ? all->run : "total";
}

static bool block_at(const void *row, size_t i, void *element)
{
    const struct entropy_row *all = row;
    struct block_row *b = element;
    if (i >= VS_ENTROPY_BLOCKS)
        return false;
    *b = (struct block_row){
        .all = all, .block = (unsigned)i, .row = &all->figures->rows[i][0], .name = ""};
    snprintf(b->name, sizeof(b->name), "%u%s", kilo[i], all->unit == UNIT_BYTES ? "KB" : "Ki");
    return true;
}

static bool mask_at(const void *row, size_t i, void *element)
{
    const struct block_row *block = row;
    struct block_row *b = element;
    if (i >= VS_ENTROPY_MASKS)
        return false;
    *b = *block;
    b->mask = (unsigned)i;
    b->row = &block->all->figures->rows[block->block][i];
    return true;
}

static struct cell block_run(const void *row)
{
    return cell_text(run_name(block_of(row)->all));
}

static struct cell block_name(const void *row)
{
    return cell_word(block_of(row)->name);
}

static struct cell block_words(const void *row)
{
    return cell_count(block_of(row)->all->figures->block_words[block_of(row)->block]);
}

static struct cell block_cut(const void *row)
{
    return cell_bool(block_of(row)->all->figures->cut[block_of(row)->block]);
}

static struct cell block_count(const void *row)
{
    return cell_count(block_of(row)->row->blocks);
}

static struct cell block_count_or_cut(const void *row)
{
    return block_cut(row).count ? cell_word("cut") : block_count(row);
}

static struct cell words(const void *row)
{
    return cell_count(block_of(row)->row->words);
}

static struct cell mask(const void *row)
{
    return cell_count(vs_entropy_masks[block_of(row)->mask]);
}

static struct cell least(const void *row)
{
    return cell_real(block_of(row)->row->min);
}

static struct cell mean(const void *row)
{
    return cell_real(vs_entropy_mean(block_of(row)->row));
}

static struct cell most(const void *row)
{
    return cell_real(block_of(row)->row->max);
}

static struct cell distinct(const void *row)
{
    return cell_real(vs_entropy_distinct(block_of(row)->row));
}

static struct cell code_bits(const void *row)
{
    return cell_real(block_of(row)->row->bits);
}

static struct cell ratio(const void *row)
{
    return cell_real(vs_entropy_ratio(block_of(row)->row));
}

static struct cell ratio_of_means(const void *row)
{
    const struct block_row *b = row;
    return cell_real(vs_entropy_ratio_of_means(b->row, vs_entropy_masks[b->mask]));
}

static bool has_blocks(const void *row)
{
    return block_of(row)->row->blocks;
}

static const struct report_column mask_columns[] = {
    {.csv = "run", .get = block_run},
    {.csv = "block", .text = "block", .get = block_name, .width = -6},
    {.csv = "block_words", .get = block_words},
    {.csv = "cut", .get = block_cut},
    {.text = "blocks", .get = block_count_or_cut, .width = 10},
    {.json = "mask", .csv = "mask", .text = "mask", .get = mask, .width = 5},
    {.csv = "size"},
    {.csv = "blocks", .get = block_count},
    {.csv = "words", .get = words},
    {.json = "entropy_min",
     .csv = "entropy_min",
     .text = "min",
     .get = least,
     .known = has_blocks,
     .json_places = 9,
     .width = 7,
     .places = 3},
    {.json = "entropy_avg",
     .csv = "entropy_avg",
     .text = "avg",
     .get = mean,
     .json_places = 9,
     .width = 7,
     .places = 3},
    {.json = "entropy_max",
     .csv = "entropy_max",
     .text = "max",
     .get = most,
     .known = has_blocks,
     .json_places = 9,
     .width = 7,
     .places = 3},
    {.json = "distinct",
     .csv = "distinct",
     .text = "distinct",
     .get = distinct,
     .width = 10,
     .places = 1},
    {.json = "bits", .get = code_bits, .json_places = 3},
    {.json = "ratio",
     .csv = "ratio",
     .text = "ratio",
     .get = ratio,
     .json_places = 9,
     .width = 7,
     .places = 3},
    {.json = "ratio_of_averages",
     .csv = "ratio_of_averages",
     .text = "avg-ratio",
     .get = ratio_of_means,
     .json_places = 9,
     .width = 9,
     .places = 3},
    {.csv = "fraction"},
    {0},
};

static const struct report_rows mask_rows = {.size = sizeof(struct block_row), .at = mask_at};

static const struct report_column block_columns[] = {
    {.json = "block", .get = block_name},
    {.json = "block_words", .get = block_words},
    {.json = "blocks", .get = block_count},
    {.json = "words", .get = words},
    {.json = "cut", .get = block_cut},
    {.json = "masks", .rows = &mask_rows, .group = mask_columns},
    {0},
};

/* ---- small words ----------------------------------------------------------------------------- */

struct small_row {
    const struct entropy_row *all;
    unsigned bits;
};

static const struct small_row *small_of(const void *row)
{
    return row;
}

static bool small_at(const void *row, size_t i, void *element)
{
    *(struct small_row *)element = (struct small_row){row, VS_ENTROPY_SMALL_MIN + (unsigned)i};
    return i <= VS_ENTROPY_SMALL_MAX - VS_ENTROPY_SMALL_MIN;
}

static struct cell small_run(const void *row)
{
    return cell_text(run_name(small_of(row)->all));
}

static struct cell all_words(const void *row)
{
    return cell_count(small_of(row)->all->figures->words);
}

static struct cell small_words(const void *row)
{
    return cell_count(vs_entropy_small(small_of(row)->all->figures, small_of(row)->bits));
}

static struct cell fraction(const void *row)
{
    return cell_ratio(small_words(row).count, all_words(row).count);
}

static struct cell small_ratio(const void *row)
{
    return cell_real(vs_entropy_small_ratio(small_of(row)->all->figures, small_of(row)->bits));
}

/* In text, the words stand beside each other under these names. */
static const struct report_column small_columns[] = {
    {.csv = "run", .get = small_run},
    {.csv = "block"},
    {.csv = "block_words"},
    {.csv = "cut"},
    {.csv = "mask"},
    {.json = "size", .csv = "size", .text = "bits", REPORT_AT(small_row, bits), .width = 6},
    {.csv = "blocks"},
    {.json = "words", .get = small_words},
    {.csv = "words", .get = all_words},
    {.csv = "entropy_min"},
    {.csv = "entropy_avg"},
    {.csv = "entropy_max"},
    {.csv = "distinct"},
    {.json = "fraction",
     .csv = "fraction",
     .text = "fit",
     .get = fraction,
     .json_places = 9,
     .csv_place = 2,
     .width = 6,
     .places = 3},
    {.json = "ratio",
     .csv = "ratio",
     .text = "ratio",
     .get = small_ratio,
     .json_places = 9,
     .width = 6,
     .places = 3},
    {.csv = "ratio_of_averages", .csv_place = 1},
    {0},
};

/* ---- a run ----------------------------------------------------------------------------------- */

static const struct report_rows block_rows = {.size = sizeof(struct block_row), .at = block_at};
static const struct report_rows small_rows = {.size = sizeof(struct small_row), .at = small_at};

static const struct entropy_row *entropy_of(const void *row)
{
    return row;
}

static struct cell unit(const void *row)
{
    return cell_word(unit_name(entropy_of(row)->unit));
}

static struct cell loads(const void *row)
{
    return cell_count(entropy_of(row)->figures->loads);
}

static struct cell load_bytes(const void *row)
{
    return cell_count(entropy_of(row)->figures->bytes);
}

static struct cell load_words(const void *row)
{
    return cell_count(entropy_of(row)->figures->words);
}

static bool of_a_thread(const void *row)
{
    return entropy_of(row)->thread != NONE;
}

static const struct report_column columns[] = {
    REPORT_TEXT(entropy_row, run),
    {.text = "runs", REPORT_AT(entropy_row, runs), .plain = true},
    {.json = "thread", REPORT_AT(entropy_row, thread), .known = of_a_thread, .plain = true},
    {.json = "unit", .get = unit},
    {.json = "loads", .get = loads},
    {.json = "bytes", .get = load_bytes},
    {.json = "words", .get = load_words},
    {.json = "blocks", .rows = &block_rows, .group = block_columns},
    {.json = "small", .rows = &small_rows, .group = small_columns},
    {0},
};

static void text_small(struct out *out, const struct entropy_row *row)
{
    struct small_row small;
    for (const struct report_column *c = small_columns; c->json || c->csv; c++) {
        if (!c->text)
            continue;
        out_printf(out, "%-8s", c->text);
        for (size_t i = 0; small_at(row, i, &small); i++) {
            out_char(out, ' ');
            report_text(out, c, &small);
        }
        out_char(out, '\n');
    }
}

static void print_text(struct out *out, const void *row)
{
    struct block_row block, masked;
    report_say(out, columns, row, entropy_of(row)->run ? "{run}" : "total of {runs} runs");
    if (entropy_of(row)->run && of_a_thread(row))
        report_say(out, columns, row, ": thread {thread}");
    report_say(out, columns, row, ": {loads} loads, {bytes} bytes, {words} words\n");
    report_table_head(out, mask_columns, &(struct block_row){0}, 0);
    for (size_t i = 0; block_at(row, i, &block); i++)
        for (size_t m = 0; mask_at(&block, m, &masked); m++)
            report_table_row(out, mask_columns, &masked, 0);
    text_small(out, row);
}

static void print_csv(struct out *out, const void *row, bool head)
{
    struct block_row block, masked;
    struct small_row small;
    if (head)
        report_csv_head(out, mask_columns, &(struct block_row){0});
    for (size_t i = 0; block_at(row, i, &block); i++)
        for (size_t m = 0; mask_at(&block, m, &masked); m++)
            report_csv(out, mask_columns, &masked);
    for (size_t i = 0; small_at(row, i, &small); i++)
        report_csv(out, small_columns, &small);
}

/* ---- the command ----------------------------------------------------------------------------- */

struct entropy_study {
    struct study_runs study; /* first */
    const struct entropy_options *o;
    struct vs_entropy_figures figures, sum;
    struct entropy_row row;
};

static struct entropy_study *study_of(struct study_runs *s)
{
    return (struct entropy_study *)s;
}

/* Returns 0; the reader's error, which is in its diag. */
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

static const char *why_nothing(const struct entropy_options *o, const struct vs_run_info *info)
{
    return !(info->features & VS_RUN_LOADS) ? "loads were not recorded"
           : o->thread != NONE              ? "the thread has no loads"
                                            : "it has no loads";
}

static int study(struct study_runs *s, const char *run, struct vs_reader *reader)
{
    const struct vs_run_info *info = vs_reader_info(reader);
    struct entropy_study *w = study_of(s);
    uint32_t sizes[VS_ENTROPY_BLOCKS];
    struct vs_entropy e;
    if (w->o->thread != NONE && w->o->thread >= info->threads) {
        cli_error(s->cli, "--thread: %s: no thread %" PRIu64 "; the run has %u, from 0 up", run,
                  w->o->thread, info->threads);
        return CLI_USAGE;
    }
    for (unsigned i = 0; i < VS_ENTROPY_BLOCKS; i++)
        sizes[i] = kilo[i] * (w->o->unit == UNIT_BYTES ? 1024 / 4 : 1024);
    int error = vs_entropy_init(&e, sizes);
    if (error)
        return cli_report(s->cli, run, error, NULL);
    error = consume(&e, reader, w->o->thread);
    w->figures = e.figures;
    vs_entropy_fini(&e);
    if (error)
        return cli_report(s->cli, run, error, vs_reader_diag(reader));
    return w->figures.loads ? CLI_DONE : study_runs_nothing(s, run, info, why_nothing(w->o, info));
}

static void add(struct study_runs *s)
{
    vs_entropy_figures_add(&study_of(s)->sum, &study_of(s)->figures);
}

static const void *row_of(struct study_runs *s, const char *run)
{
    struct entropy_study *w = study_of(s);
    w->row = (struct entropy_row){.run = run,
                                  .runs = s->runs,
                                  .thread = w->o->thread,
                                  .unit = w->o->unit,
                                  .figures = run ? &w->figures : &w->sum};
    return &w->row;
}

static const struct study_kind kind = {columns, row_of, study, add, print_csv, print_text};

static int run(struct cli *cli, int argc, char **argv)
{
    struct entropy_options o = {.thread = NONE};
    int status;
    if (!options_parse(cli, &command_entropy, &o, &argc, argv, &status))
        return status;
    struct entropy_study w = {.study = {cli, &kind, o.json, o.csv, 0}, .o = &o};
    return study_runs(&w.study, argc, argv);
}

#define FIELD(member) offsetof(struct entropy_options, member)

static const struct cli_option options[] = {
    {.name = "thread",
     .argument = "N",
     .help = "take only the loads of this thread (default: those of\n"
             "all threads, in the order in which they happened)",
     .type = OPTION_U64,
     .offset = FIELD(thread),
     .max = VS_THREADS_MAX - 1},
    {.name = "unit",
     .argument = "UNIT",
     .help = "count the sizes of blocks in bytes of words (1 KB is\n"
             "256 words; the default), or in values (1 Ki is 1024\n"
             "words), as the published tables do:",
     .type = OPTION_ENUM,
     .offset = FIELD(unit),
     .number_name = unit_name,
     .first = UNIT_BYTES,
     .end = UNIT_END},
    {.name = "json", .help = "print one JSON object per run", .offset = FIELD(json)},
    {.name = "csv", .help = "print the same as comma-separated values", .offset = FIELD(csv)},
    {0},
};

const struct command command_entropy = {
    .name = "entropy",
    .summary = "measure how compressible the values are that runs load",
    .run = run,
    .options = options,
    .operands = "run.vest...",
    .operands_min = 1,
    .operands_max = INT_MAX,
    .description =
        "Cuts the loaded values into 32-bit words, zero-extending smaller ones, and cuts\n"
        "the words into blocks. For each size of blocks, it shows the zero-order entropy\n"
        "(min, avg, max, in bits per word), the distinct words per block, and the\n"
        "compression ratio if the first occurrence of a word in its block takes 32 bits\n"
        "and every other occurrence takes the entropy; and the same if the low bits\n"
        "(mask) are sent as they are. The last block counts only if it is full, or the\n"
        "only one (cut). ratio is all bits over all bits; avg-ratio is that of a block\n"
        "with the averages. Then come the words that fit in 4 to 12 bits, and the ratio\n"
        "of a code of one bit followed by that many bits or 32. See docs/studies.md.",
    .example = "vestige entropy run.vest\n"
               "vestige entropy --unit values --csv *.vest\n"
               "vestige entropy --thread 1 --json run.vest | jq .small",
    .exits = "0  done\n"
             "1  a run is damaged or incomplete\n"
             "2  bad usage, a run without loads, or the system refused something",
};
