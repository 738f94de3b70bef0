/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/progress.h"
#include "cli/commands.h"
#include "cli/plugin.h"
#include "front/report.h"
#include "cli/replaying.h"
#include "study/verify_replay.h"

struct replay_options {
    struct option_list plugins;
    struct option_list images;
    const char *code, *until, *check;
    bool json, print, registers;
};

struct session {
    struct cli *cli;
    const struct replay_options *o;
    struct replaying replaying;
    uint64_t written[2], unknown; /* bytes to standard output and error; those not known */
};

/* ---- what the program wrote ------------------------------------------------------------------ */

static void take_output(void *context, unsigned core, uint64_t fd, const uint8_t *bytes,
                        size_t size, size_t known)
{
    struct session *s = context;
    (void)core;
    if (fd != 1 && fd != 2)
        return;
    s->written[fd - 1] += size;
    s->unknown += size - known;
    if (s->o->print && !s->o->json)
        out_mem(&s->cli->out, (const char *)bytes, size);
}

/* ---- where to stop --------------------------------------------------------------------------- */

/* Parses N or CORE:N. */
static int parse_until(struct cli *cli, const char *text, unsigned cores,
                       struct vs_replay_goal *goal)
{
    const char *colon = text ? strchr(text, ':') : NULL;
    uint64_t core = 0, n;
    *goal = (struct vs_replay_goal){
        .position = UINT64_MAX, .core = VS_REPLAY_NONE, .retired = UINT64_MAX};
    if (!text)
        return CLI_DONE;
    const char *number = colon ? colon + 1 : text;
    if ((colon && vs_number(text, colon, &core)) ||
        vs_number(number, number + strlen(number), &n) || core >= cores) {
        cli_error(cli, "--until: '%s' is neither N nor CORE:N, with a core below %u", text, cores);
        return CLI_USAGE;
    }
    if (colon) {
        goal->core = (unsigned)core;
        goal->retired = n;
    } else {
        goal->position = n;
    }
    return CLI_DONE;
}

/* ---- saying it ------------------------------------------------------------------------------- */

static uint64_t value_of(const struct vs_cpu *cpu, const struct vs_register *reg)
{
    return reg ? vs_cpu_get(cpu, reg->number) : 0;
}

/* Whether a register is listed: those of 8 bytes are, except for the pc. */
static bool is_listed(const struct vs_register *reg)
{
    return vs_register_is_whole(reg) && reg->size == 8 && reg->number != VS_REG_PC;
}

enum { HEX_SIZE = 2 * VS_REGISTER_BYTES + 3 };

/* Writes a register's value, most significant byte first. Returns whether the CPU has it. */
static bool put_hex(const struct vs_cpu *cpu, const struct vs_register *reg, char hex[HEX_SIZE])
{
    uint8_t whole[VS_REGISTER_BYTES], bytes[VS_REGISTER_BYTES];
    int size = reg->number == VS_REGISTER_NONE ? -1 : cpu->ops->get(cpu, reg->number, whole);
    if (size < 0)
        return false;
    vs_register_cut(reg, whole, (size_t)size, bytes);
    for (unsigned i = 0; i < reg->size; i++)
        snprintf(hex + 2 * i, 3, "%02x", bytes[reg->size - 1 - i]);
    return true;
}

/* Registers of more than 8 bytes, two to a line. */
static void text_wide(struct out *out, const struct vs_cpu *cpu, const struct vs_register_set *set)
{
    unsigned listed = 0;
    char hex[HEX_SIZE];
    for (unsigned i = 0; i < set->count; i++)
        if (set->list[i].size > 8 && put_hex(cpu, &set->list[i], hex))
            out_printf(out, "%s  %-5s %32s", listed++ % 2 ? "" : "\n", set->list[i].name, hex);
}

static void text_registers(struct out *out, unsigned core, const struct vs_cpu *cpu,
                           const struct vs_register_set *set)
{
    unsigned listed = 0;
    out_printf(out, "core %u: pc %016" PRIx64, core, cpu->pc);
    for (unsigned i = 0; i < set->count; i++)
        if (vs_register_is_whole(&set->list[i]) && set->list[i].size < 8)
            out_printf(out, " %s %02" PRIx64, set->list[i].name, value_of(cpu, &set->list[i]));
    for (unsigned i = 0; i < set->count; i++)
        if (is_listed(&set->list[i]))
            out_printf(out, "%s  %-4s %016" PRIx64, listed++ % 4 ? "" : "\n", set->list[i].name,
                       value_of(cpu, &set->list[i]));
    text_wide(out, cpu, set);
    out_printf(out, "\n");
}

struct replay_summary {
    const struct vs_replay *replay;
    int stop;
    bool registers; /* the cores' registers are printed */
    uint64_t instructions, messages, stdout_bytes, stderr_bytes, unknown_bytes;
    const struct vs_verify_replay *check; /* NULL if nothing was compared */
    struct vs_verify_replay compared;
};

struct core_row {
    const struct vs_replay_core *core;
    const struct vs_register_set *set;
    unsigned number;
    bool registers;
    char pc[20];
};

static bool core_at(const void *row, size_t i, void *element)
{
    const struct replay_summary *s = row;
    struct core_row *r = element;
    if (i >= s->replay->count)
        return false;
    *r = (struct core_row){.core = &s->replay->cores[i],
                           .set = s->replay->config.isa->registers,
                           .number = (unsigned)i,
                           .registers = s->registers};
    snprintf(r->pc, sizeof(r->pc), "%016" PRIx64, r->core->cpu->pc);
    return true;
}

static const struct vs_cpu *cpu_of(const void *row)
{
    return ((const struct core_row *)row)->core->cpu;
}

/* A register that is listed, by its place in one of gdb's features. */
static bool listed_at(const void *row, unsigned feature, size_t i, uint64_t *value)
{
    const struct vs_register_set *set = ((const struct core_row *)row)->set;
    for (unsigned k = 0; k < set->count; k++)
        if (set->list[k].feature == feature && is_listed(&set->list[k]) && !i--) {
            *value = value_of(cpu_of(row), &set->list[k]);
            return true;
        }
    return false;
}

static bool x_at(const void *row, size_t i, void *element)
{
    return listed_at(row, 0, i, element);
}

static bool f_at(const void *row, size_t i, void *element)
{
    return listed_at(row, 1, i, element);
}

static const struct report_rows x_rows = {.size = sizeof(uint64_t), .at = x_at};
static const struct report_rows f_rows = {.size = sizeof(uint64_t), .at = f_at};

static const struct report_column register_columns[] = {
    {.json = "", .kind = CELL_HEX, .size = sizeof(uint64_t)},
    {0},
};

static struct cell core_instructions(const void *row)
{
    return cell_count(cpu_of(row)->retired);
}

static struct cell core_pc(const void *row)
{
    return (struct cell){.kind = CELL_HEX, .count = cpu_of(row)->pc};
}

static struct cell core_pc_digits(const void *row)
{
    return cell_word(((const struct core_row *)row)->pc);
}

static struct cell core_started(const void *row)
{
    return cell_bool(((const struct core_row *)row)->core->started);
}

static struct cell core_ended(const void *row)
{
    return cell_bool(((const struct core_row *)row)->core->ended);
}

static struct cell core_state(const void *row)
{
    const struct vs_replay_core *c = ((const struct core_row *)row)->core;
    return cell_word(c->ended ? "  ended" : c->started ? "" : "  not started");
}

static struct cell core_fcsr(const void *row)
{
    const struct vs_register_set *set = ((const struct core_row *)row)->set;
    return cell_count(value_of(cpu_of(row), vs_register_find(set, "fcsr")));
}

/* RV64 has arrays, as it had before there were other ISAs. */
static bool with_arrays(const void *row)
{
    const struct core_row *r = row;
    return r->registers && vs_register_find(r->set, "fcsr");
}

static bool with_registers(const void *row)
{
    return ((const struct core_row *)row)->registers && !with_arrays(row);
}

struct register_row {
    const char *name;
    char hex[HEX_SIZE + 2];
};

static bool register_at(const void *row, size_t i, void *element)
{
    const struct vs_register_set *set = ((const struct core_row *)row)->set;
    struct register_row *r = element;
    for (unsigned k = 0; k < set->count; k++) {
        const struct vs_register *reg = &set->list[k];
        if (reg->number != VS_REG_PC && put_hex(cpu_of(row), reg, r->hex + 2) && !i--) {
            r->name = reg->name;
            memcpy(r->hex, "0x", 2);
            return true;
        }
    }
    return false;
}

static const char *register_name(const void *element)
{
    return ((const struct register_row *)element)->name;
}

static struct cell register_value(const void *row)
{
    return cell_word(((const struct register_row *)row)->hex);
}

static const struct report_rows register_rows = {
    .size = sizeof(struct register_row), .at = register_at, .name = register_name};

static const struct report_column named_columns[] = {
    {.json = "", .get = register_value},
    {0},
};

static const struct report_column core_columns[] = {
    {.text = "core", REPORT_AT(core_row, number), .width = -3, .plain = true},
    {.json = "instructions", .get = core_instructions, .width = 15},
    {.json = "pc", .get = core_pc},
    {.text = "pc_digits", .get = core_pc_digits},
    {.json = "started", .get = core_started},
    {.json = "ended", .get = core_ended},
    {.text = "state", .get = core_state},
    {.json = "x", .rows = &x_rows, .group = register_columns, .when = with_arrays},
    {.json = "f", .rows = &f_rows, .group = register_columns, .when = with_arrays},
    {.json = "fcsr", .get = core_fcsr, .when = with_arrays},
    {.json = "registers", .rows = &register_rows, .group = named_columns, .when = with_registers},
    {0},
};

static const struct report_rows core_rows = {.size = sizeof(struct core_row), .at = core_at};

static struct cell stopped(const void *row)
{
    int stop = ((const struct replay_summary *)row)->stop;
    return cell_word(stop == VS_REPLAY_OVER ? "end" : stop == VS_REPLAY_CUT ? "cut" : "goal");
}

static struct cell stopped_at(const void *row)
{
    int stop = ((const struct replay_summary *)row)->stop;
    return cell_word(stop == VS_REPLAY_OVER  ? "the end"
                     : stop == VS_REPLAY_CUT ? "where the stream is cut"
                                             : "the goal");
}

static bool was_checked(const void *row)
{
    return ((const struct replay_summary *)row)->check;
}

static const struct report_column compared_columns[] = {
    REPORT_COUNT(vs_verify_replay, registers),
    REPORT_COUNT(vs_verify_replay, accesses),
    REPORT_COUNT(vs_verify_replay, memory_bytes),
    REPORT_COUNT(vs_verify_replay, output_bytes),
    {0},
};

static const struct report_column summary_columns[] = {
    REPORT_COUNT(replay_summary, instructions),
    {.json = "stopped", .get = stopped},
    {.text = "where", .get = stopped_at},
    REPORT_COUNT(replay_summary, messages),
    REPORT_COUNT(replay_summary, stdout_bytes),
    REPORT_COUNT(replay_summary, stderr_bytes),
    REPORT_COUNT(replay_summary, unknown_bytes),
    {.json = "cores", .rows = &core_rows, .group = core_columns},
    {.json = "compared",
     .group = compared_columns,
     REPORT_IN(replay_summary, compared),
     .when = was_checked},
    {0},
};

static void text_summary(struct out *out, const struct replay_summary *s)
{
    struct core_row core;
    report_say(out, summary_columns, s,
               "replayed {instructions} instructions to {where}, from {messages} messages\n");
    for (size_t i = 0; core_at(s, i, &core); i++)
        report_say(out, core_columns, &core,
                   "core {>core} {>instructions} instructions  pc {pc_digits}{state}\n");
    report_say(out, summary_columns, s,
               "wrote {stdout_bytes} bytes to standard output, {stderr_bytes} to standard error\n");
    for (size_t i = 0; s->registers && core_at(s, i, &core); i++)
        text_registers(out, core.number, core.core->cpu, core.set);
    if (s->check)
        report_say(out, summary_columns, s,
                   "compared {compared.registers} times all registers, {compared.accesses} "
                   "accesses, {compared.memory_bytes} bytes of memory and "
                   "{compared.output_bytes} bytes of output: all equal\n");
}

static void summarize(const struct session *s, int stop, const struct vs_verify_replay *check)
{
    const struct vs_replay *r = &s->replaying.replay;
    struct replay_summary summary = {
        .replay = r,
        .stop = stop,
        .registers = s->o->registers,
        .instructions = r->position,
        .messages = r->reader.messages,
        .stdout_bytes = s->written[0],
        .stderr_bytes = s->written[1],
        .unknown_bytes = s->unknown,
        .check = check,
    };
    if (check)
        summary.compared = *check;
    if (s->o->json)
        report_json_line(&s->cli->out, summary_columns, &summary);
    else
        text_summary(&s->cli->out, &summary);
}

static int failed(struct session *s, const char *path, int err)
{
    const struct vs_replay *r = &s->replaying.replay;
    cli_error(s->cli, "%s: %s; replayed %s instructions before", path,
              r->diag.text[0] ? r->diag.text : vs_errstr(err), DIGITS(r->position));
    return err == -VSE_NOMEM ? CLI_USAGE : CLI_BAD_DATA;
}

/* ---- running --------------------------------------------------------------------------------- */

/* Runs to the goal, in pieces for the sake of progress. Returns as vs_replay_run. */
static int run_to(struct vs_replay *r, const struct vs_replay_goal *goal,
                  struct vs_progress *progress)
{
    int stop = VS_REPLAY_REACHED;
    while (stop == VS_REPLAY_REACHED && r->position < goal->position &&
           !(goal->core < r->count && r->cores[goal->core].cpu->retired >= goal->retired)) {
        struct vs_replay_goal piece = *goal;
        if (goal->position - r->position > 1 << 20)
            piece.position = r->position + (1 << 20);
        stop = vs_replay_run(r, &piece);
        vs_progress_update(progress, vs_port_reader_done(&r->reader));
    }
    return stop;
}

static int run_all(struct session *s, const char *path, const struct vs_replay_goal *goal)
{
    struct vs_replay *r = &s->replaying.replay;
    struct vs_progress progress;
    vs_progress_init(&progress, stderr, "replaying", vs_port_reader_bits(&r->reader), "bits");
    int stop = run_to(r, goal, &progress);
    vs_progress_finish(&progress);
    if (stop < 0)
        return failed(s, path, stop);
    summarize(s, stop, NULL);
    return stop == VS_REPLAY_CUT ? replaying_cut(s->cli, path, &s->replaying) : CLI_DONE;
}

/* Checks that there is something to compare with, which is not so if the run is cut off before its
 * first thread. */
static int check_run(struct cli *cli, const char *path)
{
    struct vs_reader *reader;
    int status = cli_open(cli, &reader, path, false);
    if (status == CLI_DONE && !vs_reader_info(reader)->threads)
        status = cli_missing(cli, path, vs_reader_info(reader));
    vs_reader_close(reader);
    return status;
}

static int check_all(struct session *s, const char *path)
{
    int status = check_run(s->cli, s->o->check);
    if (status != CLI_DONE)
        return status;
    struct vs_verify_replay check;
    struct vs_progress progress;
    vs_progress_init(&progress, stderr, "comparing",
                     vs_port_reader_bits(&s->replaying.replay.reader), "bits");
    int stop = vs_verify_replay(&s->replaying.replay, s->o->check, &check, &progress);
    vs_progress_finish(&progress);
    if (stop < 0 && check.diag.error) {
        cli_error(s->cli, "%s: %s: %s", path, s->o->check, check.diag.text);
        return check.diag.error == -VSE_IO || check.diag.error == -VSE_NOMEM ? CLI_USAGE
                                                                             : CLI_BAD_DATA;
    }
    if (stop < 0)
        return failed(s, path, stop);
    summarize(s, stop, &check);
    return stop == VS_REPLAY_CUT ? replaying_cut(s->cli, path, &s->replaying) : CLI_DONE;
}

static int run(struct cli *cli, int argc, char **argv)
{
    struct replay_options o = {0};
    struct session s = {.cli = cli, .o = &o};
    struct vs_replay_goal goal;
    int status;
    if (!options_parse(cli, &command_replay, &o, &argc, argv, &status))
        return status;
    status = plugin_load(cli, &o.plugins);
    if (status != CLI_DONE)
        return status;
    if (o.check && o.until) {
        cli_error(cli, "--check compares the whole run; leave --until out");
        return CLI_USAGE;
    }
    const struct replaying_options how = {
        .images = &o.images, .code = o.code, .output = take_output, .context = &s};
    status = replaying_open(cli, &s.replaying, argv[0], &how);
    if (status == CLI_DONE)
        status = parse_until(cli, o.until, s.replaying.replay.count, &goal);
    if (status == CLI_DONE)
        status = o.check ? check_all(&s, argv[0]) : run_all(&s, argv[0], &goal);
    if (status == CLI_DONE && s.replaying.incomplete)
        status = CLI_BAD_DATA;
    if (status == CLI_DONE && s.unknown) {
        cli_error(cli,
                  "%s: %s bytes that the program wrote are not known; the stream has only what its "
                  "cores read",
                  argv[0], DIGITS(s.unknown));
        status = CLI_BAD_DATA;
    }
    replaying_close(&s.replaying);
    return status;
}

#define FIELD(member) offsetof(struct replay_options, member)

static const struct cli_option options[] = {
    PLUGIN_OPTION(FIELD(plugins)),
    REPLAYING_OPTIONS(FIELD(images), FIELD(code)),
    {.name = "until",
     .argument = "N",
     .help = "stop after N instructions of all cores, or with CORE:N\n"
             "after N of that core",
     .type = OPTION_STRING,
     .offset = FIELD(until)},
    {.name = "print-output",
     .letter = 'p',
     .help = "print what the program wrote to standard output and\n"
             "standard error",
     .offset = FIELD(print)},
    {.name = "registers",
     .letter = 'r',
     .help = "print all registers of every core at the end",
     .offset = FIELD(registers)},
    {.name = "check",
     .argument = "RUN",
     .help = "compare with this run: registers at every message,\n"
             "every access, output, and memory at the end",
     .type = OPTION_STRING,
     .offset = FIELD(check)},
    {.name = "json", .help = "print a JSON object", .offset = FIELD(json)},
    {0},
};

const struct command command_replay = {
    .name = "replay",
    .summary = "run a program again from its port stream",
    .run = run,
    .options = options,
    .operands = "run.vport",
    .operands_min = 1,
    .operands_max = 1,
    .description =
        "Executes the program's code once more. Loads get their values from the\n"
        "stream, and nothing else is needed; cores run in the order that the stream\n"
        "tells. Without --code and --image, the code is that of the files that the stream\n"
        "names. A stream that is cut is replayed up to its last whole message. A recorded\n"
        "run is encoded with mc2RT first.",
    .example = "vestige encode run.vest -t mlvCF_e:CS32 -o run.vport\n"
               "vestige replay run.vport --print-output\n"
               "vestige replay run.vport --image ./program --check run.vest",
    .exits = "0  done; with --check: all equal\n"
             "1  the stream is damaged or cut, or does not fit the code or the run\n"
             "2  bad usage, or the system refused something",
};
