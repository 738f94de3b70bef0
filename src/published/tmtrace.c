/* SPDX-License-Identifier: MIT */
/* Timed descriptors of a simulated program, with TmTrace's flags and formats. */
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/diag.h"
#include "base/progress.h"
#include "engine/place.h"
#include "published/published.h"
#include "front/disasm.h"
#include "published/mtrace_out.h"
#include "front/recording.h"
#include "front/simulation.h"
#include "isa/isa.h"
#include "trace/consumer.h"

enum { GZIP = 3, LINE_MAX_BYTES = 512 };

struct tmtrace_options {
    const char *output;
    bool flow, loads, stores, system, max, overwrite;
    uint64_t skip, length;
    struct simulation_options simulation;
};

struct tmtrace {
    const struct tmtrace_options *o;
    struct mtrace_out out;
    struct disasm disasm;
    uint64_t *since; /* by thread: instructions after its last control transfer */
    size_t thread_count, thread_capacity;
    uint64_t descriptors;
    int error;
    struct vs_diag diag;
};

/* ---- fields ---------------------------------------------------------------------------------- */

/* The numbers of the kinds of control transfers. */
enum transfer { CALL = 1, RETURN, SYSTEM, INDIRECT, JUMP, BRANCH };

static enum transfer transfer_of(const struct vs_event *e)
{
    if (e->kind != VS_BRANCH)
        return SYSTEM;
    if (e->flags & VS_BR_RETURN)
        return RETURN;
    if (e->flags & VS_BR_CALL)
        return CALL;
    if (e->flags & VS_BR_INDIRECT)
        return INDIRECT;
    return e->flags & VS_BR_COND ? BRANCH : JUMP;
}

/* What the instruction occupies a core with, which is the nearest thing to a micro-operation
 * here. */
static const char *operation(struct tmtrace *t, uint64_t pc)
{
    uint8_t bytes[VS_ISA_LENGTH_MAX];
    const struct vs_isa *isa = t->disasm.isa;
    size_t size = vs_codemap_fetch(&t->disasm.code, pc, bytes, isa->length_max);
    const char *name = isa->class_name(bytes, size);

    return name ? name : "---";
}

/* ---- descriptors ----------------------------------------------------------------------------- */

static int put_line(struct tmtrace *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static int put_line(struct tmtrace *t, const char *format, ...)
{
    va_list args;
    int e, n;

    if (t->out.end - t->out.at < LINE_MAX_BYTES &&
        (e = mtrace_out_more(&t->out, LINE_MAX_BYTES, &t->diag)) < 0)
        return e;
    va_start(args, format);
    n = vsnprintf((char *)t->out.at, LINE_MAX_BYTES, format, args);
    va_end(args);
    t->out.at += n < LINE_MAX_BYTES ? n : LINE_MAX_BYTES - 1;
    return 0;
}

/* Puts the instruction's assembly and its operation. */
static int put_code(struct tmtrace *t, uint64_t pc)
{
    size_t length;
    const char *text = disasm_text(&t->disasm, pc, &length);

    if (!text)
        return vs_diag_set(&t->diag, -VSE_NOMEM, -1, -1, "out of memory");
    return put_line(t, ", %.*s, %s", length ? (int)length : 3, length ? text : "---",
                    operation(t, pc));
}

static int put_transfer(struct tmtrace *t, const struct vs_event *e, uint64_t cycle)
{
    bool branch = e->kind == VS_BRANCH, taken = !branch || e->flags & VS_BR_TAKEN;
    unsigned size = branch ? e->size : t->disasm.isa->abi->call_length;
    uint64_t target = branch ? e->addr : e->pc + size, *since = &t->since[e->thread];
    int error =
        put_line(t, "%" PRIu64 ", %u, %" PRIx64 ", %" PRIx64 ", %u, %c, %c, %c, %d,%" PRIu64, cycle,
                 e->thread, e->pc, target, size, branch && e->flags & VS_BR_INDIRECT ? 'I' : 'D',
                 branch && e->flags & VS_BR_COND ? 'C' : 'U', taken ? 'T' : 'N',
                 (int)transfer_of(e), *since);

    *since = 0;
    t->descriptors++;
    if (error == 0 && t->o->max)
        error = put_code(t, e->pc);
    return error ? error : put_line(t, "\n");
}

static int put_operand(struct tmtrace *t, const struct vs_batch *b, const struct vs_event *e,
                       uint64_t cycle)
{
    bool load = e->kind == VS_LOAD;
    const char *which = !t->o->loads || !t->o->stores ? "" : load ? " 0," : " 1,";
    int error = put_line(t, "%" PRIu64 ", %u,%s %" PRIx64, cycle, e->thread, which, e->pc);

    t->descriptors++;
    if (error == 0 && load && t->o->max)
        error = put_code(t, e->pc);
    if (error == 0)
        error = put_line(t, ", %" PRIx64 ", %u", e->addr, e->size);
    if (error == 0 && load && t->o->max)
        error = put_line(t, ", %0*" PRIx64, 2 * e->size, *(const uint64_t *)vs_event_bytes(b, e));
    return error ? error : put_line(t, "\n");
}

static int put_instruction(struct tmtrace *t, const struct vs_event *e, uint64_t cycle)
{
    int error = put_line(t, "%" PRIu64 ", %u, %" PRIx64, cycle, e->thread, e->pc);

    t->descriptors++;
    if (error == 0)
        error = put_code(t, e->pc);
    return error ? error : put_line(t, "\n");
}

static bool is_instruction(const struct vs_event *e)
{
    switch (e->kind) {
    case VS_BRANCH:
    case VS_LOAD:
    case VS_STORE:
    case VS_NONDET:
    case VS_SYSCALL:
    case VS_EXCEPTION_RET:
    case VS_COUNT:
        return e->icount && e->pc;
    default:
        return false;
    }
}

static bool wants_all(const struct tmtrace_options *o)
{
    return !o->flow && !o->loads && !o->stores;
}

static int put_event(struct tmtrace *t, const struct vs_batch *b, const struct vs_event *e,
                     uint64_t cycle)
{
    const struct tmtrace_options *o = t->o;

    t->since[e->thread] += e->icount;
    if (wants_all(o))
        return is_instruction(e) ? put_instruction(t, e, cycle) : 0;
    switch (e->kind) {
    case VS_BRANCH:
    case VS_SYSCALL:
    case VS_EXCEPTION_RET:
        return o->flow ? put_transfer(t, e, cycle) : 0;
    case VS_LOAD:
        return o->loads ? put_operand(t, b, e, cycle) : 0;
    case VS_STORE:
        return o->stores ? put_operand(t, b, e, cycle) : 0;
    case VS_EXTERNAL:
        return o->stores && o->system ? put_operand(t, b, e, cycle) : 0;
    default:
        return 0;
    }
}

/* ---- the consumer ---------------------------------------------------------------------------- */

static int know_thread(struct tmtrace *t, unsigned thread)
{
    void *array = t->since;
    int e;

    if (thread < t->thread_count)
        return 0;
    e = vs_array_room(&array, &t->thread_capacity, t->thread_count, thread + 1 - t->thread_count,
                      sizeof(*t->since));
    t->since = array;
    while (e == 0 && t->thread_count <= thread)
        t->since[t->thread_count++] = 0;
    return e;
}

static int put(void *context, const struct vs_batch *b)
{
    struct tmtrace *t = context;

    for (size_t i = 0; i < b->count && t->error == 0; i++) {
        const struct vs_event *e = &b->events[i];

        t->error = know_thread(t, e->thread);
        if (t->error == 0)
            t->error = put_event(t, b, e, b->cycles[i]);
        if (e->kind == VS_CODE)
            disasm_replace(&t->disasm, e->value);
    }
    return t->error;
}

static int64_t block(void *context, const struct vs_block *b)
{
    return disasm_block(&((struct tmtrace *)context)->disasm, b);
}

/* ---- running --------------------------------------------------------------------------------- */

static int put_head(struct tmtrace *t, const struct vs_target_config *config)
{
    const struct tmtrace_options *o = t->o;
    int e = put_line(t, "mTrace: %s num_cores=%" PRIu64 "%s\n", t->disasm.isa->name, config->cores,
                     o->system ? ", system included" : "");

    if (e < 0)
        return e;
    if (o->flow)
        return put_line(t,
                        "tMcf: cycle, core, pc, target, size, D|I, C|U, T|N, kind, instructions"
                        "%s\ntMcf: kinds 1 call, 2 ret, 3 syscall, 4 ibranch, 5 jump, 6 branch\n",
                        o->max ? ", assembly, operation" : "");
    if (wants_all(o))
        return put_line(t, "tIns: cycle, core, pc, assembly, operation\n");
    return put_line(t, "tMls: cycle, core,%s pc,%s address, size%s\n",
                    o->loads && o->stores ? " 0 load | 1 store," : "",
                    o->loads && o->max ? " assembly, operation," : "",
                    o->loads && o->max ? ", value" : "");
}

static int tick(void *context, const struct vs_machine_stats *stats)
{
    vs_progress_update(context, stats->instructions);
    return 0;
}

static int simulate(struct tmtrace *t, const char *path, char **argv, char **env,
                    const struct vs_target_config *config, struct vs_machine_result *result)
{
    const struct tmtrace_options *o = t->o;
    struct vs_window window = {o->skip, o->length};
    struct vs_progress progress;
    struct vs_consumer consumer = {.context = t, .put = put, .block = block};
    struct vs_machine_options m = {.config = *config,
                                   .process = {.path = path, .argv = argv, .envp = env},
                                   .consumer = &consumer,
                                   .loads = o->loads || wants_all(o),
                                   .stores = o->stores || wants_all(o),
                                   .every = wants_all(o),
                                   .windows = &window,
                                   .window_count = o->skip || o->length,
                                   .tick = tick,
                                   .context = &progress,
                                   .interrupt = recording_catch_signals(false)};
    bool theirs;
    int e;

    recording_progress(&progress, &(struct recording_shows){0}, "tracing");
    e = vs_machine_run(&m, result, &t->diag, &theirs);
    recording_release_signals();
    vs_progress_finish(&progress);
    return e;
}

static int trace(struct cli *cli, struct tmtrace *t, char **argv, struct vs_machine_result *result)
{
    const struct tmtrace_options *o = t->o;
    struct vs_target_config config;
    char path[4096], **env = simulation_env(&o->simulation);
    int e = env ? 0 : -VSE_NOMEM;

    if (e == 0 && (e = vs_find_program(argv[0], path, sizeof(path))) < 0)
        vs_diag_set(&t->diag, e, -1, -1, "no such program");
    if (e == 0)
        e = simulation_config(&o->simulation, &config, &t->diag);
    config.timed = 1;
    if (e == 0)
        e = vs_process_check(path, &t->diag);
    if (e == 0 &&
        (e = mtrace_out_open(&t->out, o->output, o->overwrite, GZIP, UINT64_MAX, &t->diag)) == 0) {
        e = put_head(t, &config);
        if (e == 0)
            e = simulate(t, path, argv, env, &config, result);
        if (e == 0)
            e = mtrace_out_commit(&t->out, &t->diag);
        else
            mtrace_out_abort(&t->out);
    }
    simulation_free_env(env);
    if (e == -VSE_EXISTS)
        return cli_report_output(cli, o->output, e, &t->diag);
    return e == 0 ? 0 : recording_refused(cli, argv[0], e, &t->diag, "");
}

static bool settle(struct cli *cli, const struct tmtrace_options *o)
{
    if (!o->output)
        cli_error(cli, "--mTrace FILE.gz says where the trace goes");
    else if (o->flow && (o->loads || o->stores))
        cli_error(cli, "--mcf excludes --mld and --mst: their lines would mix");
    else
        return true;
    return false;
}

static int run(struct cli *cli, int argc, char **argv)
{
    struct tmtrace_options o = {0};
    struct tmtrace t = {.o = &o, .disasm.isa = vs_isa_find(VS_TARGET_ISA)};
    struct vs_machine_result *result;
    char digits[32], why[SIMULATION_TEXT], **program;
    int status;

    if (!options_parse(cli, &command_tmtrace, &o, &argc, argv, &status))
        return status;
    if (!settle(cli, &o))
        return CLI_USAGE;
    result = calloc(1, sizeof(*result));
    program = calloc((size_t)argc + 1, sizeof(*program));
    status = CLI_USAGE;
    if (!result || !program) {
        cli_error(cli, "out of memory");
    } else {
        memcpy(program, argv, (size_t)argc * sizeof(*program));
        status = trace(cli, &t, program, result);
        if (status == 0) {
            recording_tell("%s: %s descriptors", o.output, group_digits(digits, t.descriptors));
            simulation_summary(result, true);
            recording_notes(0, "", "", simulation_incomplete(result, why));
            status = simulation_status(result);
        }
    }
    disasm_fini(&t.disasm);
    free(t.since);
    free(program);
    free(result);
    return status;
}

#define FIELD(member) offsetof(struct tmtrace_options, member)

static const struct cli_option options[] = {
    {.name = "mTrace",
     .argument = "FILE.gz",
     .help = "write the trace to FILE.gz, as ASCII through gzip",
     .type = OPTION_STRING,
     .offset = FIELD(output)},
    {.name = "mcf", .help = "trace control transfers", .offset = FIELD(flow)},
    {.name = "mld", .help = "trace memory reads", .offset = FIELD(loads)},
    {.name = "mst", .help = "trace memory writes", .offset = FIELD(stores)},
    {.name = "mTraceSkip",
     .argument = "N",
     .help = "leave out the first N instructions",
     .type = OPTION_U64,
     .offset = FIELD(skip)},
    {.name = "mTraceLength",
     .argument = "N",
     .help = "trace N instructions",
     .type = OPTION_U64,
     .offset = FIELD(length),
     .min = 1},
    {.name = "mTraceSysPrg",
     .help = "with --mst: also trace what system calls write",
     .offset = FIELD(system)},
    {.name = "mTraceMax",
     .help = "add assembly and operation, and the values of reads",
     .offset = FIELD(max)},
    {.name = "force",
     .letter = 'f',
     .help = "replace FILE.gz if it exists",
     .offset = FIELD(overwrite)},
    SIMULATION_OPTIONS(FIELD(simulation)),
    {0},
};

const struct command command_tmtrace = {
    .name = "tmTrace",
    .summary = "write the timed trace of a simulated program as descriptors",
    .run = run,
    .options = options,
    .tool = true,
    .takes_program = true,
    .operands = "[--] PROGRAM [ARGUMENT...]",
    .operands_min = 1,
    .operands_max = INT_MAX,
    .description =
        "Runs a static RV64 program on the simulated platform, with time, and writes a\n"
        "line for every control transfer (--mcf), memory read (--mld) or memory write\n"
        "(--mst), or without these for every instruction: commit cycle, core, address and\n"
        "more. tmTrace is also a program of its own.",
    .example = "tmTrace --mTrace trace.gz --mcf --cores 4 -- ./program -p 4\n"
               "vestige tmTrace --mTrace reads.gz --mld --mTraceMax --preset cs16 ./program",
    .exits = "0  the program was traced, and ended with 0\n"
             "1  traced until all threads were waiting for ever\n"
             "2  bad usage; or the program could not be traced: no file is left; or it was\n"
             "   traced until it had touched more memory than it may\n"
             "else the program's own status; 128 + N if signal N ended it",
};
