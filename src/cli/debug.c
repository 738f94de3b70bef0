/* SPDX-License-Identifier: MIT */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/number.h"
#include "base/outfile.h"
#include "cli/commands.h"
#include "cli/replaying.h"
#include "gdb/replayed.h"
#include "gdb/server.h"

enum { PORT = 1234, MEMORY_MIB = 512 };

struct debug_options {
    struct option_list images;
    const char *code, *listen;
    uint64_t memory;
    bool stdio, once;
};

/* ---- where ----------------------------------------------------------------------------------- */

/* [HOST:]PORT; a host with colons is in brackets. Returns false if it is none. */
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

static void tell(void *context, const struct vs_gdb_notice *n)
{
    static const char *const what[] = {[VS_GDB_LISTENS] = "listening on",
                                       [VS_GDB_COMES] = "a debugger comes",
                                       [VS_GDB_REFUSED] = "another debugger is refused",
                                       [VS_GDB_LEAVES] = "the debugger leaves"};
    struct cli *cli = context;
    if (n->kind == VS_GDB_LEAVES || !n->port) {
        cli_error(cli, "%s", what[n->kind]);
        return;
    }
    bool here = n->kind == VS_GDB_LISTENS;
    cli_error(cli, "%s%s %s:%u", what[n->kind], here ? "" : ", from", n->host, n->port);
    if (here)
        cli_error(cli,
                  "gdb-multiarch -ex 'set osabi none' -ex 'target remote %s:%u' PROGRAM; Ctrl-C "
                  "ends this",
                  n->host, n->port);
}

/* ---- serving --------------------------------------------------------------------------------- */

/* A descriptor that can be read when the user wants an end. */
static int open_stop(sigset_t *before)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigprocmask(SIG_BLOCK, &set, before);
    /* With --stdio and a closed stream it would be what the debugger talks to. */
    return vs_outfile_lift(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

/* What came must not hit when it is unblocked: the end that it asks for is under way. */
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
                 const struct vs_gdb_machine *machine)
{
    struct vs_gdb_server_options options = {.once = o->once,
                                            .port = PORT,
                                            .fds = o->stdio,
                                            .in = STDIN_FILENO,
                                            .out = STDOUT_FILENO,
                                            .notice = tell,
                                            .context = cli};
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

static int debug(struct cli *cli, const struct debug_options *o, const char *path,
                 struct replaying *r)
{
    struct vs_gdb_replayed *m = malloc(sizeof(*m));
    if (!m) {
        cli_error(cli, "out of memory");
        return CLI_USAGE;
    }
    const char *program = o->images.count ? o->images.items[0] : replaying_program(r);
    int status, e = vs_gdb_replayed_init(m, &r->replay, (size_t)o->memory, program);
    if (e == -VSE_FEATURE) {
        cli_error(cli, "%s: its decoder cannot go back; encode the run with another technique",
                  path);
        status = CLI_USAGE;
    } else if (e) {
        status = cli_report(cli, path, e, r->replay.diag.error == e ? &r->replay.diag : NULL);
    } else {
        status = serve(cli, o, path, &m->machine);
    }
    vs_gdb_replayed_fini(m);
    free(m);
    return status;
}

static int run(struct cli *cli, int argc, char **argv)
{
    struct debug_options o = {.memory = (uint64_t)MEMORY_MIB << 20};
    struct replaying r;
    int status;
    if (!options_parse(cli, &command_debug, &o, &argc, argv, &status))
        return status;
    if (o.stdio && o.listen) {
        cli_error(cli, "--stdio and --listen exclude each other");
        return CLI_USAGE;
    }
    const struct replaying_options how = {.images = &o.images, .code = o.code};
    status = replaying_open(cli, &r, argv[0], &how);
    if (status == CLI_DONE)
        status = debug(cli, &o, argv[0], &r);
    replaying_close(&r);
    return status;
}

#define FIELD(member) offsetof(struct debug_options, member)

static const struct cli_option options[] = {
    REPLAYING_OPTIONS(FIELD(images), FIELD(code)),
    {.name = "listen",
     .argument = "PORT",
     .help = "where debuggers come to, or HOST:PORT;\n"
             "0 is any (127.0.0.1:1234)",
     .type = OPTION_STRING,
     .offset = FIELD(listen)},
    {.name = "stdio",
     .help = "the debugger is at standard input and output",
     .offset = FIELD(stdio)},
    {.name = "once", .help = "end when the first debugger leaves", .offset = FIELD(once)},
    {.name = "memory",
     .argument = "BYTES",
     .help = "for checkpoints (512M)",
     .type = OPTION_U64,
     .offset = FIELD(memory),
     .min = 1 << 20},
    {0},
};

const struct command command_debug = {
    .name = "debug",
    .summary = "a port stream under gdb, forwards and backwards",
    .run = run,
    .options = options,
    .operands = "run.vport",
    .operands_min = 1,
    .operands_max = 1,
    .description =
        "Replays a port stream for gdb, which connects with 'target remote'. The cores\n"
        "are its threads. It steps and continues in both directions, stops at breakpoints\n"
        "and watchpoints, and reads registers and memory; bytes that the stream did not\n"
        "tell are unavailable, and nothing can be changed. 'monitor help' lists what else\n"
        "there is: time, goto, cycle, who-wrote, messages.",
    .example = "vestige debug run.vport --image ./program\n"
               "gdb-multiarch -ex 'set osabi none' \\\n"
               "    -ex 'target remote 127.0.0.1:1234' ./program\n"
               "gdb-multiarch -ex 'set osabi none' \\\n"
               "    -ex 'target remote | vestige debug --stdio run.vport' ./program",
    .exits = "0  the debugger is done\n"
             "1  the stream is damaged, or does not fit the code\n"
             "2  bad usage, or the system refused something",
};
