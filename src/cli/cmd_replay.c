/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/progress.h"
#include "cli/commands.h"
#include "front/json.h"
#include "cli/replaying.h"
#include "study/verify_replay.h"

struct replay_options {
    struct option_list images;
    const char *code, *until, *check;
    bool json, print, registers;
};

struct session {
    struct cli *cli;
    const struct replay_options *o;
    struct replaying replaying;
    uint64_t written[2], unknown; /* bytes to standard output and error; of these not known */
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

/* N, or CORE:N */
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

static const char *stop_name(int stop)
{
    return stop == VS_REPLAY_OVER  ? "the end"
           : stop == VS_REPLAY_CUT ? "where the stream is cut"
                                   : "the goal";
}

static void text_registers(struct out *out, unsigned core, const struct vs_hart *hart)
{
    out_printf(out, "core %u: pc %016" PRIx64 " fcsr %02" PRIx32 "\n", core, hart->pc, hart->fcsr);
    for (unsigned i = 0; i < 32; i++)
        out_printf(out, "  %-4s %016" PRIx64 "%s", vs_rv64_xname(i), hart->x[i],
                   i % 4 == 3 ? "\n" : "");
    for (unsigned i = 0; i < 32; i++)
        out_printf(out, "  %-4s %016" PRIx64 "%s", vs_rv64_fname(i), hart->f[i],
                   i % 4 == 3 ? "\n" : "");
}

static void text_summary(const struct session *s, int stop)
{
    const struct vs_replay *r = &s->replaying.replay;
    struct out *out = &s->cli->out;
    char a[32], b[32];
    out_printf(out, "replayed %s instructions to %s, from %s messages\n",
               group_digits(a, r->position), stop_name(stop), group_digits(b, r->reader.messages));
    for (unsigned i = 0; i < r->count; i++) {
        const struct vs_replay_core *c = &r->cores[i];
        out_printf(out, "core %-3u %15s instructions  pc %016" PRIx64 "%s\n", i,
                   group_digits(a, c->hart.instret), c->hart.pc,
                   c->ended     ? "  ended"
                   : c->started ? ""
                                : "  not started");
    }
    out_printf(out, "wrote %s bytes to standard output, %s to standard error\n",
               group_digits(a, s->written[0]), group_digits(b, s->written[1]));
    for (unsigned i = 0; s->o->registers && i < r->count; i++)
        text_registers(out, i, &r->cores[i].hart);
}

static void json_core(struct json *j, const struct vs_replay_core *c, bool registers)
{
    json_object(j, NULL);
    json_u64(j, "instructions", c->hart.instret);
    json_hex(j, "pc", c->hart.pc);
    json_bool(j, "started", c->started);
    json_bool(j, "ended", c->ended);
    if (registers) {
        json_array(j, "x");
        for (unsigned i = 0; i < 32; i++)
            json_hex(j, NULL, c->hart.x[i]);
        json_end(j);
        json_array(j, "f");
        for (unsigned i = 0; i < 32; i++)
            json_hex(j, NULL, c->hart.f[i]);
        json_end(j);
        json_u64(j, "fcsr", c->hart.fcsr);
    }
    json_end(j);
}

static void json_summary(const struct session *s, int stop, const struct vs_verify_replay *check)
{
    const struct vs_replay *r = &s->replaying.replay;
    struct json j;
    json_init(&j, &s->cli->out, 0);
    json_object(&j, NULL);
    json_u64(&j, "instructions", r->position);
    json_str(&j, "stopped",
             stop == VS_REPLAY_OVER  ? "end"
             : stop == VS_REPLAY_CUT ? "cut"
                                     : "goal");
    json_u64(&j, "messages", r->reader.messages);
    json_u64(&j, "stdout_bytes", s->written[0]);
    json_u64(&j, "stderr_bytes", s->written[1]);
    json_u64(&j, "unknown_bytes", s->unknown);
    json_array(&j, "cores");
    for (unsigned i = 0; i < r->count; i++)
        json_core(&j, &r->cores[i], s->o->registers);
    json_end(&j);
    if (check) {
        json_object(&j, "compared");
        json_u64(&j, "registers", check->registers);
        json_u64(&j, "accesses", check->accesses);
        json_u64(&j, "memory_bytes", check->memory_bytes);
        json_end(&j);
    }
    json_end(&j);
}

static int failed(struct session *s, const char *path, int err)
{
    const struct vs_replay *r = &s->replaying.replay;
    cli_error(s->cli, "%s: %s; replayed %s instructions before", path,
              r->diag.text[0] ? r->diag.text : vs_errstr(err), DIGITS(r->position));
    return err == -VSE_NOMEM ? CLI_USAGE : CLI_BAD_DATA;
}

/* ---- running --------------------------------------------------------------------------------- */

/* To the goal, in pieces, for the sake of progress. Returns what vs_replay_run does. */
static int run_to(struct vs_replay *r, const struct vs_replay_goal *goal,
                  struct vs_progress *progress)
{
    int stop = VS_REPLAY_REACHED;
    while (stop == VS_REPLAY_REACHED && r->position < goal->position &&
           !(goal->core < r->count && r->cores[goal->core].hart.instret >= goal->retired)) {
        struct vs_replay_goal piece = *goal;
        if (goal->position - r->position > 1 << 20)
            piece.position = r->position + (1 << 20);
        stop = vs_replay_run(r, &piece);
        vs_progress_update(progress, r->reader.bits.pos);
    }
    return stop;
}

static int run_all(struct session *s, const char *path, const struct vs_replay_goal *goal)
{
    struct vs_replay *r = &s->replaying.replay;
    struct vs_progress progress;
    vs_progress_init(&progress, stderr, "replaying", r->config.nbits, "bits");
    int stop = run_to(r, goal, &progress);
    vs_progress_finish(&progress);
    if (stop < 0)
        return failed(s, path, stop);
    if (s->o->json)
        json_summary(s, stop, NULL);
    else
        text_summary(s, stop);
    return stop == VS_REPLAY_CUT ? replaying_cut(s->cli, path, &s->replaying) : CLI_DONE;
}

/* Whether there is something to compare with: not if the run is cut before its first thread. */
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
    vs_progress_init(&progress, stderr, "comparing", s->replaying.replay.config.nbits, "bits");
    int stop = vs_verify_replay(&s->replaying.replay, s->o->check, &check, &progress);
    vs_progress_finish(&progress);
    if (stop < 0 && check.diag.error) {
        cli_error(s->cli, "%s: %s: %s", path, s->o->check, check.diag.text);
        return check.diag.error == -VSE_IO || check.diag.error == -VSE_NOMEM ? CLI_USAGE
                                                                             : CLI_BAD_DATA;
    }
    if (stop < 0)
        return failed(s, path, stop);
    if (s->o->json) {
        json_summary(s, stop, &check);
    } else {
        text_summary(s, stop);
        out_printf(&s->cli->out,
                   "compared %s times all registers, %s accesses and %s bytes of memory: all "
                   "equal\n",
                   DIGITS(check.registers), DIGITS(check.accesses), DIGITS(check.memory_bytes));
    }
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
    REPLAYING_OPTIONS(FIELD(images), FIELD(code)),
    {.name = "until",
     .argument = "N",
     .help = "stop after so many instructions; CORE:N: of that core",
     .type = OPTION_STRING,
     .offset = FIELD(until)},
    {.name = "print-output",
     .letter = 'p',
     .help = "what the program wrote to standard output and error",
     .offset = FIELD(print)},
    {.name = "registers",
     .letter = 'r',
     .help = "of every core, at the end",
     .offset = FIELD(registers)},
    {.name = "check",
     .argument = "RUN",
     .help = "compare with the run: registers at every message,\n"
             "every access, memory at the end",
     .type = OPTION_STRING,
     .offset = FIELD(check)},
    {.name = "json", .help = "an object", .offset = FIELD(json)},
    {0},
};

const struct command command_replay = {
    .name = "replay",
    .summary = "run a program again, from its port stream",
    .run = run,
    .options = options,
    .operands = "run.vport",
    .operands_min = 1,
    .operands_max = 1,
    .description =
        "Executes the program's code once more, on RV64: loads get their values from the\n"
        "stream, and nothing else is needed. Cores go on in the order that the stream\n"
        "tells. Without --code and --image the code is that of the files that the stream\n"
        "names. A stream that is cut is replayed to its last whole message. A recorded\n"
        "run is encoded with mc2RT first.",
    .example = "vestige encode run.vest -t mlvCF_e:CS32 -o run.vport\n"
               "vestige replay run.vport --print-output\n"
               "vestige replay run.vport --image ./program --check run.vest",
    .exits = "0  done; with --check: all equal\n"
             "1  the stream is damaged or cut, or does not fit the code or the run\n"
             "2  bad usage, or the system refused something",
};
