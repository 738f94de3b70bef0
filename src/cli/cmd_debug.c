/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/number.h"
#include "base/outfile.h"
#include "cli/commands.h"
#include "cli/plugin.h"
#include "cli/replaying.h"
#include "cli/specs.h"
#include "front/runs.h"
#include "gdb/replayed.h"
#include "gdb/script.h"
#include "gdb/server.h"
#include "target/config.h"
#include "trace/retired.h"
#include "rerun/run_open.h"

enum {
    PORT = 1234,
    MEMORY_MIB = 512,
    OWN_MIB = 24,      /* what is needed beside checkpoints, replayed memory and the stream */
    ENCODING_MIB = 24, /* what is needed to read and encode a run */
};

struct debug_options {
    struct option_list plugins;
    struct option_list images;
    const char *code, *technique, *listen, *gdb, *process;
    uint64_t memory, disk;
    bool stdio, once, script;
};

/* /tmp is often in memory. */
static const char *scratch_folder(void)
{
    const char *folder = getenv("TMPDIR");
    return folder && *folder ? folder : "/var/tmp";
}

static struct replaying_options replaying_how(const struct debug_options *o)
{
    return (struct replaying_options){.images = &o->images,
                                      .code = o->code,
                                      .technique = o->technique,
                                      .at_once = true,
                                      .pooled = true,
                                      .folder = o->disk ? scratch_folder() : NULL};
}

/* Returns what is left for checkpoints, replayed memory and the stream. */
static size_t room_for(const struct debug_options *o, const struct replaying *r)
{
    uint64_t own = (OWN_MIB + (r->encoding ? ENCODING_MIB : 0)) * UINT64_C(1) << 20;
    if (o->disk)
        return (size_t)o->disk;
    return (size_t)(o->memory - (own < o->memory / 2 ? own : o->memory / 2));
}

/* ---- where ----------------------------------------------------------------------------------- */

/* Parses [HOST:]PORT; a host with colons is in brackets. Returns false if the text is not of that
 * form. */
static bool parse_listen(const char *text, char host[256], uint64_t *port)
{
    const char *colon = strrchr(text, ':');
    const char *number = colon ? colon + 1 : text;
    size_t n = colon ? (size_t)(colon - text) : 0;
    if (n >= 2 && text[0] == '[' && text[n - 1] == ']') {
        text++;
        n -= 2;
    }
    if (n >= 256 || vs_number(number, number + strlen(number), port) || *port > 65535)
        return false;
    memcpy(host, text, n);
    host[n] = 0;
    return true;
}

/* ---- saying it ------------------------------------------------------------------------------- */

struct listener {
    struct cli *cli;
    const struct vs_isa *isa;
};

static void tell(void *context, const struct vs_gdb_notice *n)
{
    static const char *const what[] = {[VS_GDB_LISTENS] = "listening on",
                                       [VS_GDB_COMES] = "a debugger comes",
                                       [VS_GDB_REFUSED] = "another debugger is refused",
                                       [VS_GDB_LEAVES] = "the debugger leaves"};
    const struct listener *l = context;
    struct cli *cli = l->cli;
    if (n->kind == VS_GDB_LEAVES || !n->port) {
        cli_error(cli, "%s", what[n->kind]);
        return;
    }
    bool here = n->kind == VS_GDB_LISTENS;
    cli_error(cli, "%s%s %s:%u", what[n->kind], here ? "" : ", from", n->host, n->port);
    if (here)
        cli_error(cli,
                  "%s -x SCRIPT -ex 'target remote %s:%u' PROGRAM; 'vestige debug "
                  "--gdb-script' prints SCRIPT; Ctrl-C ends this",
                  l->isa->debuggers[0], n->host, n->port);
}

/* ---- serving --------------------------------------------------------------------------------- */

/* Opens a descriptor that can be read when the user wants an end. */
static int open_stop(sigset_t *before)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigprocmask(SIG_BLOCK, &set, before);
    /* With --stdio and a closed stream, the debugger would talk to this descriptor. */
    return vs_outfile_lift(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

/* A signal that came must not hit us when it is unblocked: the end that it asks for is under
 * way. */
static void close_stop(int fd, const sigset_t *before)
{
    struct signalfd_siginfo info;
    while (fd >= 0 && read(fd, &info, sizeof(info)) > 0)
        ;
    if (fd >= 0)
        close(fd);
    sigprocmask(SIG_SETMASK, before, NULL);
}

static int serve(struct cli *cli, const struct debug_options *o, const char *path,
                 const struct vs_isa *isa, const struct vs_gdb_machine *machine)
{
    struct listener listener = {cli, isa};
    struct vs_gdb_server_options options = {.once = o->once,
                                            .port = PORT,
                                            .fds = o->stdio,
                                            .in = STDIN_FILENO,
                                            .out = STDOUT_FILENO,
                                            .notice =
                                                o->stdio ? NULL : tell, /* gdb tells it itself */
                                            .context = &listener};
    struct vs_diag diag = {.offset = -1, .chunk = -1};
    char host[256];
    sigset_t before;
    uint64_t port = PORT;
    if (o->listen && !parse_listen(o->listen, host, &port)) {
        cli_error(cli, "--listen: '%s' is not [HOST:]PORT", o->listen);
        return CLI_USAGE;
    }
    options.port = (unsigned)port;
    options.host = o->listen && host[0] ? host : NULL;
    options.stop = open_stop(&before);
    int end = vs_gdb_serve(&options, machine, &diag);
    close_stop(options.stop, &before);
    return end < 0 ? cli_report(cli, path, end, &diag) : CLI_DONE;
}

/* ---- events of a recorded run ---------------------------------------------------------------- */

static int read_place(struct vs_reader *run, uint64_t event, unsigned *thread, uint64_t *at)
{
    uint64_t *retired = calloc(VS_THREADS_MAX, sizeof(*retired));
    struct vs_batch batch;
    int e = retired ? vs_reader_seek_event(run, event) : -VSE_NOMEM;
    if (!e)
        e = vs_reader_retired(run, retired);
    if (!e && (e = vs_reader_next(run, &batch)) > 0) {
        *thread = batch.events[0].thread;
        *at = vs_event_place(&batch.events[0], retired);
        e = 0;
    }
    free(retired);
    return e;
}

/* Finds an event in the run at the path `context`: where it is, and nothing else about it. */
static int find_event(void *context, uint64_t event, unsigned *thread, uint64_t *at,
                      struct vs_diag *diag)
{
    struct vs_reader *run;
    int e = vs_run_open(&run, context, VS_OPEN_DEFAULT, diag);
    if (e)
        return e;
    e = read_place(run, event, thread, at);
    if (e == -VSE_NOTFOUND)
        vs_diag_set(diag, e, -1, -1, "there is no event %llu: the run has %llu",
                    (unsigned long long)event, (unsigned long long)vs_reader_info(run)->events);
    else if (e)
        vs_diag_set(diag, e, -1, -1, "%s", vs_errstr(e));
    vs_reader_close(run);
    return e;
}

/* Without a core that has registers, there is nothing that gdb could show. */
static bool is_begun(const struct vs_replay *r)
{
    unsigned i = 0;
    while (i < r->count && !r->cores[i].started)
        i++;
    return i < r->count;
}

static int debug(struct cli *cli, const struct debug_options *o, const char *path,
                 struct replaying *r)
{
    struct vs_gdb_replayed *m = malloc(sizeof(*m));
    if (!m) {
        cli_error(cli, "out of memory");
        return CLI_USAGE;
    }
    char *run = strdup(path);
    const struct vs_gdb_events events = {find_event, run};
    const struct vs_gdb_replayed_options how = {
        .events = r->encoding && run ? &events : NULL,
        .most = room_for(o, r),
        .heap_most = o->disk ? (size_t)o->memory / 2 : 0,
        .pages = &r->pool.scratch,
        .stream = r->encoding ? &r->encoding->bits.scratch : NULL,
        .images = r->about->images,
        .image_count = r->about->image_count,
        .files = o->images.items,
        .file_count = o->images.count,
        .cores = !strcmp(r->about->isa, VS_TARGET_ISA),
    };
    int status, e = vs_gdb_replayed_init(m, &r->replay, &how);
    if (e == -VSE_FEATURE) {
        status = replaying_one_way(cli, path, r->replay.config.spec.technique);
    } else if (e) {
        struct vs_diag diag;
        vs_gdb_replayed_failed(m, e, &diag);
        status = cli_report(cli, path, e, &diag);
    } else if (!is_begun(&r->replay)) {
        status = replaying_cut(cli, path, r);
    } else {
        status = serve(cli, o, path, r->replay.config.isa, &m->machine);
    }
    vs_gdb_replayed_fini(m);
    free(m);
    free(run);
    return status;
}

/* ---- starting gdb ---------------------------------------------------------------------------- */

/* Appends a word to a shell's command. Returns whether there was room. */
static bool add_word(char *text, size_t capacity, const char *word)
{
    size_t used = strlen(text);
    const char *format = *word ? " '" : " ''";
    for (const char *p = format; *p && used + 1 < capacity; p++)
        text[used++] = *p;
    for (; *word && used + 6 < capacity; word++) {
        if (*word == '\'') {
            memcpy(text + used, "'\\''", 4);
            used += 4;
        } else {
            text[used++] = *word;
        }
        if (!word[1])
            text[used++] = '\'';
    }
    text[used] = 0;
    return !*word && used + 6 < capacity;
}

/* Writes the command that serves gdb, as gdb's pipe is told. */
static bool write_remote(char *text, size_t capacity, const struct debug_options *o,
                         const char *path)
{
    char self[4096], memory[32], disk[32];
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
    self[n > 0 ? n : 0] = 0;
    snprintf(memory, sizeof(memory), "%llu", (unsigned long long)o->memory);
    snprintf(disk, sizeof(disk), "%llu", (unsigned long long)o->disk);
    snprintf(text, capacity, "target remote | exec");
    bool fits = n > 0 && add_word(text, capacity, self) && add_word(text, capacity, "debug") &&
                add_word(text, capacity, "--stdio") && add_word(text, capacity, "--memory") &&
                add_word(text, capacity, memory);
    if (o->disk)
        fits = fits && add_word(text, capacity, "--disk") && add_word(text, capacity, disk);
    if (o->technique)
        fits = fits && add_word(text, capacity, "--technique") &&
               add_word(text, capacity, o->technique);
    if (o->code)
        fits = fits && add_word(text, capacity, "--code") && add_word(text, capacity, o->code);
    for (size_t i = 0; i < o->images.count; i++)
        fits = fits && add_word(text, capacity, "--image") &&
               add_word(text, capacity, o->images.items[i]);
    for (size_t i = 0; i < o->plugins.count; i++)
        fits = fits && add_word(text, capacity, "--plugin") &&
               add_word(text, capacity, o->plugins.items[i]);
    return fits && add_word(text, capacity, "--") && add_word(text, capacity, path);
}

/* Opens the script as a file that gdb can read while it starts. Returns -1, with errno, if it
 * cannot. */
static int open_script(void)
{
    int fd = vs_outfile_lift(memfd_create("vestige.gdb", 0));
    size_t size = strlen(vs_gdb_script);
    if (fd >= 0 && write(fd, vs_gdb_script, size) != (ssize_t)size) {
        close(fd);
        return -1;
    }
    return fd;
}

/* Makes the first of these gdbs that there is take this process's place. */
static void exec_first(const char *const *names, size_t count, char **words)
{
    for (size_t i = 0; i < count && names[i]; i++) {
        char *name = strdup(names[i]);
        if (!name)
            return;
        words[0] = name;
        execvp(name, words);
        free(name);
        if (errno != ENOENT)
            return;
    }
}

static int refuse_gdb(struct cli *cli, const char *name, bool chosen)
{
    if (errno != ENOENT)
        cli_error(cli, "cannot start %s: %s", name, strerror(errno));
    else if (chosen)
        cli_error(cli, "cannot start %s: there is no such program", name);
    else
        cli_error(cli, "cannot start %s: it is not installed; the package of that name has it",
                  name);
    return CLI_USAGE;
}

/* Makes gdb take this process's place, with the user's arguments, and then the program unless that
 * is empty. */
static int exec_gdb(struct cli *cli, const struct debug_options *o, const struct vs_isa *isa,
                    char *remote, char *program, int argc, char **argv)
{
    char quiet[] = "-q", source[] = "-x", execute[] = "-ex", script[64];
    char **words = calloc((size_t)argc + 8, sizeof(*words));
    int fd = words ? open_script() : -1, n = 1;
    if (fd >= 0) {
        snprintf(script, sizeof(script), "/proc/self/fd/%d", fd);
        char *const first[] = {quiet, source, script, execute, remote};
        for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); i++)
            words[n++] = first[i];
        for (int i = 0; i < argc; i++)
            words[n++] = argv[i];
        words[n] = *program ? program : NULL;
        if (o->gdb)
            exec_first(&o->gdb, 1, words);
        else
            exec_first(isa->debuggers, sizeof(isa->debuggers) / sizeof(isa->debuggers[0]), words);
        close(fd);
    }
    free(words);
    return refuse_gdb(cli, o->gdb ? o->gdb : isa->debuggers[0], o->gdb);
}

static int look_at_folder(struct cli *cli, const char *path, const char *folder)
{
    struct vs_diag diag = {.offset = -1, .chunk = -1};
    struct vs_scratch s;
    int e = vs_scratch_open(&s, folder, &diag);
    if (e)
        return cli_report(cli, path, e, &diag);
    vs_scratch_close(&s);
    return CLI_DONE;
}

/* The file is looked at first, so that what is wrong with it is said here. */
static int start_gdb(struct cli *cli, const struct debug_options *o, const char *path, int argc,
                     char **argv)
{
    const struct replaying_options how = replaying_how(o);
    char program[4096] = "", remote[16384];
    const struct vs_isa *isa = NULL;
    int status = replaying_look(cli, path, &how, &isa, program, sizeof(program));
    if (status == CLI_DONE && how.folder)
        status = look_at_folder(cli, path, how.folder);
    if (status != CLI_DONE)
        return status;
    if (o->images.count)
        snprintf(program, sizeof(program), "%s", o->images.items[0]);
    if (write_remote(remote, sizeof(remote), o, path))
        return exec_gdb(cli, o, isa, remote, program, argc, argv);
    cli_error(cli, "cannot start gdb: the paths are too long");
    return CLI_USAGE;
}

/* Debugs a run. The arguments are gdb's. */
static int debug_one(struct cli *cli, const struct debug_options *o, const char *path, int argc,
                     char **argv)
{
    const struct replaying_options how = replaying_how(o);
    struct replaying r;
    int status;
    if (!o->stdio && !o->listen)
        return start_gdb(cli, o, path, argc, argv);
    status = replaying_open(cli, &r, path, &how);
    if (status == CLI_DONE)
        status = debug(cli, o, path, &r);
    replaying_close(&r);
    return status;
}

static int run(struct cli *cli, int argc, char **argv)
{
    struct debug_options o = {.memory = (uint64_t)MEMORY_MIB << 20};
    char *path;
    int status;
    if (!options_parse(cli, &command_debug, &o, &argc, argv, &status))
        return status;
    status = plugin_load(cli, &o.plugins);
    if (status != CLI_DONE)
        return status;
    if (o.script) {
        out_str(&cli->out, vs_gdb_script);
        return CLI_DONE;
    }
    if (!argc) {
        cli_error(cli, "nothing to work on: run.vest is missing; see 'vestige debug --help'");
        return CLI_USAGE;
    }
    if (o.stdio + !!o.gdb + !!o.listen > 1) {
        cli_error(cli, "--stdio, --listen and --gdb exclude each other");
        return CLI_USAGE;
    }
    if (argc > 1 && (o.stdio || o.listen)) {
        cli_error(cli, "'%s' is one too many: no gdb is started with --stdio and --listen",
                  argv[1]);
        return CLI_USAGE;
    }
    if (o.once && !o.listen) {
        cli_error(cli, "--once: is for --listen");
        return CLI_USAGE;
    }
    status = runs_find(cli, argv[0], o.process, &path);
    if (status == CLI_DONE)
        status = debug_one(cli, &o, path, argc - 1, argv + 1);
    free(path);
    return status;
}

#define FIELD(member) offsetof(struct debug_options, member)

static const struct cli_option options[] = {
    PLUGIN_OPTION(FIELD(plugins)),
    {.name = "technique",
     .letter = 't',
     .argument = "SPEC",
     .help = "encode a recorded run with this technique (mc2RT)",
     .type = OPTION_STRING,
     .offset = FIELD(technique),
     .offer = specs_offer_one},
    REPLAYING_OPTIONS(FIELD(images), FIELD(code)),
    {.name = "process",
     .argument = "N",
     .help = "of a folder of runs: the one of process N, by its\n"
             "number in the folder, or else by its process ID",
     .type = OPTION_STRING,
     .offset = FIELD(process)},
    {.name = "gdb",
     .argument = "PROGRAM",
     .help = "start this gdb (gdb, or gdb-multiarch for RV64)",
     .type = OPTION_STRING,
     .offset = FIELD(gdb)},
    {.name = "listen",
     .argument = "PORT",
     .help = "start no gdb, but listen for debuggers on PORT of\n"
             "127.0.0.1, or on HOST:PORT; 0 is any free port",
     .type = OPTION_STRING,
     .offset = FIELD(listen)},
    {.name = "stdio",
     .help = "start no gdb, but talk to one through standard input\n"
             "and output",
     .offset = FIELD(stdio)},
    {.name = "once",
     .help = "with --listen: end when the first debugger leaves",
     .offset = FIELD(once)},
    {.name = "gdb-script",
     .help = "print the script that gdb is started with, for one\n"
             "that you start yourself",
     .offset = FIELD(script)},
    {.name = "memory",
     .argument = "BYTES",
     .help = "take about this much memory at most, with checkpoints\n"
             "(512M)",
     .type = OPTION_U64,
     .offset = FIELD(memory),
     .min = 1 << 20},
    {.name = "disk",
     .argument = "BYTES",
     .help = "keep checkpoints and a run's stream not in memory, but\n"
             "in files of about this size in TMPDIR or /var/tmp",
     .type = OPTION_U64,
     .offset = FIELD(disk),
     .min = 1 << 20},
    {0},
};

const struct command command_debug = {
    .name = "debug",
    .summary = "debug a recorded run in gdb, forwards and backwards",
    .run = run,
    .options = options,
    .operands = "FILE [-- GDB-ARGUMENT...]",
    .operands_min = 0,
    .operands_max = INT_MAX,
    .description =
        "Starts gdb on a recorded run or a port stream, with the program, its symbols and\n"
        "further commands; the run is replayed. gdb can step and continue in both\n"
        "directions, stop at breakpoints, watchpoints and signals, and read registers and\n"
        "memory. Bytes that neither the stream nor the program's file tells are\n"
        "unavailable, and nothing can be changed. In gdb, 'monitor help' lists what else\n"
        "the run knows: who wrote, system calls, output, and jumps to any position.\n"
        "\n"
        "A recorded run is encoded on the way, as a trace module on the chip would, and\n"
        "gdb sees what a decoder makes of the bits.\n"
        "\n"
        "" SPECS_HELP_ONE,
    .example = "vestige debug run.vest\n"
               "vestige debug run.vest -- -ex 'break main' -ex continue\n"
               "vestige debug run.vest -t mlvCF_e\n"
               "vestige debug run.vport --image ./program\n"
               "vestige debug make.runs --process 3\n"
               "vestige debug --listen 1234 run.vport",
    .exits = "0  the debugger is done; or gdb's own status\n"
             "1  the stream is damaged, or does not fit the code\n"
             "2  bad usage, or the system refused something",
};
