/* SPDX-License-Identifier: MIT */
#include "cli/recorded.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"

/* How long a command line gets before it is cut. */
#define COMMAND_MAX (1u << 19)

/* ---- facts --------------------------------------------------------------------------------- */

/* A fact in the making, and the first error with it. */
struct text {
    struct vs_buf bytes;
    int error;
};

static void append(struct text *t, const char *bytes, size_t size)
{
    if (t->error == 0)
        t->error = vs_buf_put(&t->bytes, bytes, size);
}

/* Gives the fact to the writer, and empties the text. */
static int put_text(struct recorded *r, const char *key, struct text *t)
{
    append(t, "", 1);
    int e = t->error ? t->error : vs_writer_meta(r->writer, key, (const char *)t->bytes.data);
    vs_buf_fini(&t->bytes);
    return e;
}

/* Adds a word so that a shell would understand the command line. It is cut where a fact must
 * end. */
static void quote(struct text *t, const char *word)
{
    bool plain = *word && !word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                             "0123456789_-+=./,:@%")];

    if (t->bytes.len)
        append(t, " ", 1);
    if (plain) {
        append(t, word, strlen(word));
        return;
    }
    append(t, "'", 1);
    for (; *word; word++)
        append(t, *word == '\'' ? "'\\''" : word, *word == '\'' ? 4 : 1);
    append(t, "'", 1);
}

/* Returns the text, which is to be freed; NULL if there is no memory. */
static char *take_text(struct text *t)
{
    append(t, "", 1);
    if (t->error)
        vs_buf_fini(&t->bytes);
    return (char *)t->bytes.data;
}

char *recorded_words(char *const *words)
{
    struct text command = {0};

    for (char *const *word = words; *word && command.bytes.len < COMMAND_MAX; word++)
        quote(&command, *word);
    return take_text(&command);
}

char *recorded_bytes(const char *words, size_t size)
{
    struct text command = {0};

    for (size_t at = 0; at < size && command.bytes.len < COMMAND_MAX; at += strlen(words + at) + 1)
        quote(&command, words + at);
    return take_text(&command);
}

int recorded_command(struct recorded *r, const char *command)
{
    return vs_writer_meta(r->writer, "command", command);
}

static int put_circumstances(struct recorded *r)
{
    struct utsname name;
    char host[256] = "", when[32] = "";
    time_t now = recording_time();
    struct tm tm;
    int e;

    if (uname(&name) == 0)
        snprintf(host, sizeof(host), "%s %s %s", name.sysname, name.release, name.machine);
    if (gmtime_r(&now, &tm))
        strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", &tm);
    e = vs_writer_meta(r->writer, "host", host);
    return e < 0 ? e : vs_writer_meta(r->writer, "time", when);
}

/* Adds a word, after a blank unless it is the first. */
static void add_word(struct text *t, const char *word)
{
    if (t->bytes.len)
        append(t, " ", 1);
    append(t, word, strlen(word));
}

static void add_number(struct text *t, const char *option, uint64_t value)
{
    char digits[24];

    snprintf(digits, sizeof(digits), "%llu", (unsigned long long)value);
    if (value) {
        add_word(t, option);
        add_word(t, digits);
    }
}

static void add_names(struct text *t, const char *option, const struct option_list *names)
{
    for (size_t i = 0; i < names->count; i++) {
        add_word(t, option);
        add_word(t, names->items[i]);
    }
}

static void add_setting(void *context, const char *word)
{
    add_word(context, word);
}

static int put_config(struct recorded *r)
{
    const struct record_options *o = r->plan->o;
    struct text b = {0};

    if (r->plan->row->config)
        r->plan->row->config(r->plan->settings, add_setting, &b);
    if (r->plan->features & VS_RUN_INPUTS)
        add_word(&b, "--inputs");
    if (o->whole)
        add_word(&b, "--self-contained");
    add_number(&b, "--digest-memory", o->digests);
    if (!(r->plan->features & VS_RUN_SHORT))
        add_word(&b, o->control_only ? "--control-only" : o->loads ? "--loads" : "--all");
    add_number(&b, "--skip", o->skip);
    add_number(&b, "--length", o->length);
    add_number(&b, "--last", o->last);
    if (o->trigger) {
        add_word(&b, "--trigger");
        add_word(&b, o->trigger);
    }
    add_number(&b, "--max-size", o->max_mb);
    if (o->windows) {
        add_word(&b, "--windows");
        add_word(&b, o->windows);
    }
    if (o->main_only)
        add_word(&b, "--no-shared-libs");
    if (o->marks)
        add_word(&b, "--marks");
    if (o->paused)
        add_word(&b, "--paused");
    add_names(&b, "--routine", &o->routines);
    add_names(&b, "--from", &o->from);
    add_names(&b, "--to", &o->to);
    return put_text(r, "config", &b);
}

/* ---- the file ------------------------------------------------------------------------------ */

/* Inputs are few: in chunks of the usual size, all of them would be lost with the recorder. A chunk
 * ends after so many events, or instructions. */
#define LIGHT_CHUNK 4096
#define LIGHT_INSNS (1u << 26)

/* The consumer is the writer, and notes how far it is. */

static int note_bytes(struct recorded *r, int e)
{
    struct vs_writer_stats written;

    vs_writer_stats(r->writer, &written);
    r->bytes = written.bytes;
    if (e < 0 || !(r->plan->features & VS_RUN_SHORT) ||
        written.instructions - r->safe < LIGHT_INSNS)
        return e;
    r->safe = written.instructions;
    return vs_writer_flush(r->writer);
}

static int put(void *context, const struct vs_batch *batch)
{
    struct recorded *r = context;

    return note_bytes(r, vs_writer_put(r->writer, batch));
}

static int put_records(void *context, const struct vs_records *records)
{
    struct recorded *r = context;

    return note_bytes(r, vs_writer_records(r->writer, records));
}

int recorded_open(struct recorded *r, const struct record_plan *plan, const char *path,
                  struct vs_diag *diag)
{
    const bool light = plan->features & VS_RUN_SHORT;
    const struct vs_writer_options w = {.features = plan->features,
                                        .workers = 2,
                                        .chunk_events = light ? LIGHT_CHUNK : 0,
                                        .overwrite = plan->o->overwrite};
    int e = vs_writer_open(&r->writer, path, &w, diag);

    r->plan = plan;
    r->path = path;
    if (e < 0)
        return e;
    r->before = (struct vs_before){
        .to = vs_consumer_writer(r->writer), .put = put, .records = put_records, .context = r};
    r->consumer = vs_consumer_before(&r->before);
    return 0;
}

int recorded_facts(struct recorded *r, const char *command)
{
    int e = vs_writer_meta(r->writer, "engine", r->plan->row->engine->name);

    if (e == 0)
        e = vs_writer_meta(r->writer, "isa", r->plan->row->engine->isa);
    if (e == 0 && command)
        e = recorded_command(r, command);
    if (e == 0)
        e = put_circumstances(r);
    return e < 0 ? e : put_config(r);
}

bool recorded_full(const struct recorded *r)
{
    uint64_t max = r->plan->o->max_mb * 1000000;

    return max && r->bytes >= max;
}

/* Why the run is not whole, or NULL. */
static const char *incomplete(struct recorded *r, const struct vs_engine_result *c)
{
    const char *why =
        r->plan->row->incomplete ? r->plan->row->incomplete(c, r->why) : recording_incomplete(c);

    return *c->gave_up ? c->gave_up : why ? why : c->stopped ? "stopped at --max-size" : NULL;
}

void recorded_ending(struct recorded *r, const struct vs_engine_result *c)
{
    char text[64];
    int status = c->status;

    r->incomplete = incomplete(r, c);
    if (WIFSIGNALED(status))
        snprintf(text, sizeof(text), "signal %d (SIG%s)", WTERMSIG(status),
                 sigabbrev_np(WTERMSIG(status)) ? sigabbrev_np(WTERMSIG(status)) : "?");
    else
        snprintf(text, sizeof(text), "%d", WEXITSTATUS(status));
    if (!c->halted && !*c->gave_up && !c->lost)
        vs_writer_meta(r->writer, "exit", text);
    if (r->incomplete)
        vs_writer_meta(r->writer, "incomplete", r->incomplete);
    if (c->forks) {
        snprintf(text, sizeof(text), "%u", c->forks);
        vs_writer_meta(r->writer, "forks", text);
    }
    if (*c->shared)
        vs_writer_meta(r->writer, "shared", c->shared);
    if (r->plan->row->facts)
        r->plan->row->facts(c, r->plan->features & VS_RUN_TIMED, r->writer);
}

/* This makes no allocation, as the failure may be a lack of memory. */
static void remove_partial(const char *path)
{
    char partial[PATH_MAX + sizeof(".partial")];

    if ((size_t)snprintf(partial, sizeof(partial), "%s.partial", path) < sizeof(partial))
        unlink(partial);
}

int recorded_seal(struct recorded *r, uint64_t *bytes, uint64_t *events, struct vs_diag *diag)
{
    struct vs_writer_stats written;
    int e = vs_writer_flush(r->writer);

    if (e < 0) {
        *diag = *vs_writer_diag(r->writer);
        *events = vs_writer_keep(r->writer);
        return e;
    }
    vs_writer_stats(r->writer, &written);
    *bytes = written.bytes;
    *events = written.events;
    e = vs_writer_seal(r->writer, diag);
    if (e < 0 && !written.events)
        remove_partial(r->path);
    return e;
}

const char *recorded_saved(const char *path, uint64_t events, char *text, size_t capacity)
{
    char digits[32];

    *text = 0;
    if (events)
        snprintf(text, capacity, "; %s events are saved: 'vestige salvage %s.partial'",
                 group_digits(digits, events), path);
    return text;
}
