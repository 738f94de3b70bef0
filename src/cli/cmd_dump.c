/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/progress.h"
#include "cli/commands.h"
#include "cli/event_print.h"
#include "front/disasm.h"
#include "front/json.h"
#include "front/region.h"
#include "trace/retired.h"

/* Stands for a number that was not given; the options' limits keep it from being given. */
#define NONE UINT64_MAX

struct dump_options {
    struct region_options region;
    bool json, full, salvage, inputs, blocks, images, source, disassemble, stack;
    uint64_t thread, from, to, from_insn, from_cycle, limit;
    uint64_t kinds;        /* a bit per kind; 0 is all */
    struct range pc, addr; /* lo > hi if it was not given */
};

/* ---- static tables ------------------------------------------------------------------------ */

static void print_block(struct out *o, uint64_t id, const struct vs_block *b, bool json)
{
    if (json) {
        struct json j;
        json_init(&j, o, 0);
        json_object(&j, NULL);
        json_u64(&j, "block", id);
        json_hex(&j, "addr", b->addr);
        json_u64(&j, "size", b->size);
        json_u64(&j, "insns", b->insns);
        json_bytes(&j, "bytes", b->bytes, b->size);
        json_end(&j);
        return;
    }
    out_str(o, "block ");
    out_dec(o, id, 8);
    out_str(o, "  ");
    out_hex(o, b->addr, 16);
    out_str(o, "  size ");
    out_dec(o, b->size, 0);
    out_str(o, "  insns ");
    out_dec(o, b->insns, 0);
    out_str(o, "  ");
    out_bytes(o, b->bytes, b->size);
    out_char(o, '\n');
}

static void print_image(struct out *o, uint64_t id, const struct vs_image *m, bool json)
{
    if (json) {
        struct json j;
        json_init(&j, o, 0);
        json_object(&j, NULL);
        json_u64(&j, "image", id);
        json_str(&j, "path", m->path);
        json_str(&j, "symbols", m->symbols);
        json_bytes(&j, "build_id", m->build_id, m->build_id_size);
        json_hex(&j, "base", m->base);
        json_hex(&j, "start", m->start);
        json_u64(&j, "length", m->length);
        json_end(&j);
        return;
    }
    out_str(o, "image ");
    out_dec(o, id, 4);
    out_str(o, "  ");
    out_hex(o, m->start, 16);
    out_str(o, "  length ");
    out_hex(o, m->length, 0);
    out_str(o, "  base ");
    out_hex(o, m->base, 0);
    out_str(o, "  build-id ");
    out_bytes(o, m->build_id, m->build_id_size);
    out_str(o, m->build_id_size ? "  " : "-  ");
    out_safe(o, m->path);
    if (m->symbols[0]) {
        out_str(o, "  symbols ");
        out_safe(o, m->symbols);
    }
    out_char(o, '\n');
}

static void dump_tables(struct out *out, const struct dump_options *o, const struct vs_reader *r)
{
    struct vs_image image;
    struct vs_block block;
    if (o->images)
        for (uint64_t i = 0; !out->error && vs_reader_image(r, i, &image) == 0; i++)
            print_image(out, i, &image, o->json);
    if (o->blocks)
        for (uint64_t i = 0; !out->error && vs_reader_block(r, i, &block) == 0; i++)
            print_block(out, i, &block, o->json);
}

/* ---- events ------------------------------------------------------------------------------- */

static bool given(const struct range *r)
{
    return r->lo <= r->hi;
}

/* Whether the bytes of the event's operand and the range have one in common. */
static bool touches(const struct vs_event *e, const struct range *r)
{
    uint64_t length = e->kind == VS_MAP ? e->value : e->size;
    if (!event_has_data(e) || !length || e->addr > r->hi)
        return false;
    return e->addr >= r->lo || r->lo - e->addr < length;
}

static bool wanted(const struct dump_options *o, const struct vs_event *e)
{
    if (o->thread != NONE && e->thread != o->thread)
        return false;
    if (o->kinds && !(o->kinds >> e->kind & 1))
        return false;
    if (given(&o->pc) && !(event_has_pc(e) && e->pc >= o->pc.lo && e->pc <= o->pc.hi))
        return false;
    return !given(&o->addr) || touches(e, &o->addr);
}

/* ---- what is told beside the events -------------------------------------------------------- */

/* It depends on the events before. */
struct beside {
    const struct dump_options *o;
    struct vs_where where;
    struct disasm disasm;
    struct vs_callstack stack;
    const struct vs_where_place **callers; /* of the event that is told */
    size_t caller_capacity;
};

static bool any_beside(const struct dump_options *o)
{
    return o->source || o->disassemble || o->stack;
}

/* Returns 0; -VSE_NOMEM; -VSE_LIMIT. */
static int beside_init(struct beside *x, const struct dump_options *o, const struct vs_reader *r)
{
    struct vs_block block;
    int64_t e = 0;

    *x = (struct beside){.o = o};
    if (o->source || o->stack)
        e = vs_where_of_run(&x->where, r);
    x->disasm.isa = vs_isa_find(vs_reader_meta(r, "isa"));
    for (uint64_t i = 0; o->disassemble && e >= 0 && vs_reader_block(r, i, &block) == 0; i++)
        e = disasm_block(&x->disasm, &block);
    return e < 0 ? (int)e : 0;
}

static void beside_fini(struct beside *x)
{
    vs_where_fini(&x->where);
    disasm_fini(&x->disasm);
    vs_callstack_fini(&x->stack);
    free(x->callers);
}

/* Takes what an event changes before it is printed. Returns 0; -VSE_NOMEM. */
static int beside_take(struct beside *x, const struct vs_event *e)
{
    if (e->kind == VS_CODE)
        disasm_replace(&x->disasm, e->value);
    return e->kind == VS_MAP ? vs_where_map(&x->where, e) : 0;
}

/* Finds the calls that the event's thread is in. A call's site is what is named, as the instruction
 * after it may belong to something else. Returns 0; -VSE_NOMEM. */
static int tell_stack(struct beside *x, const struct vs_event *e, struct event_more *more)
{
    const struct vs_calls *c = vs_callstack_calls(&x->stack, e->thread);
    static const struct vs_stack_call none;
    size_t depth = c ? c->depth : 0;
    void *callers = x->callers;
    int err = vs_array_room(&callers, &x->caller_capacity, 0, depth + 1, sizeof(*x->callers));

    x->callers = callers;
    for (size_t i = 0; i < depth && !err; i++) {
        int64_t site = vs_where_site(&x->where, c->calls[i].site);
        x->callers[i] = NULL;
        err = site > 0 ? vs_where_name(&x->where, (uint64_t)site, &x->callers[i]) : (int)site;
    }
    more->calls = depth ? c->calls : &none;
    more->callers = x->callers;
    more->call_count = depth;
    return err;
}

/* Finds out what is told of an event. Returns 0; -VSE_NOMEM. */
static int beside_tell(struct beside *x, const struct vs_event *e, struct event_more *more)
{
    int64_t site;

    *more = (struct event_more){0};
    if (!event_has_pc(e))
        return 0;
    if (x->o->disassemble && !(more->insn = disasm_text(&x->disasm, e->pc, &more->insn_length)))
        return -VSE_NOMEM;
    site = x->o->source || x->o->stack ? vs_where_site(&x->where, e->pc) : 0;
    if (x->o->stack && site >= 0 && (site = tell_stack(x, e, more)) == 0)
        site = vs_where_site(&x->where, e->pc);
    return site > 0 ? vs_where_name(&x->where, (uint64_t)site, &more->place) : (int)site;
}

/* ---- printing events ------------------------------------------------------------------------ */

struct dumping {
    struct out *out;
    const struct dump_options *o;
    struct beside beside;
    uint64_t from;     /* the first event that may be printed */
    uint64_t *retired; /* by thread */
    uint64_t left;     /* how many may still be printed */
};

static int print_event(struct dumping *d, const struct vs_batch *b, size_t i, uint64_t at)
{
    struct event_more more;
    int e = beside_tell(&d->beside, &b->events[i], &more);

    if (e)
        return e;
    if (d->o->json)
        event_json(d->out, b, i, at, &more);
    else
        event_text(d->out, b, i, at, d->o->full, &more);
    d->left--;
    return 0;
}

/* Prints what is wanted of a batch. Returns 0; -VSE_END (no other is needed); -VSE_NOMEM. */
static int dump_batch(struct dumping *d, const struct vs_batch *b)
{
    bool beside = any_beside(d->o);
    int e = 0;

    for (size_t i = 0; i < b->count && !e; i++) {
        uint64_t at = vs_event_place(&b->events[i], d->retired);
        if (b->first + i > d->o->to || !d->left || d->out->error)
            return -VSE_END;
        if (beside)
            e = beside_take(&d->beside, &b->events[i]);
        if (!e && b->first + i >= d->from && wanted(d->o, &b->events[i]))
            e = print_event(d, b, i, at);
        if (!e && d->o->stack)
            e = vs_callstack_take(&d->beside.stack, b, i);
    }
    return e;
}

/* Threads are picked here and not by vs_reader_select, which loses the events' numbers. Returns 0;
 * the reader's error. */
static int dump_events(struct dumping *d, struct vs_reader *r)
{
    struct vs_progress progress;
    struct vs_batch batch;
    int e;

    d->retired = calloc(VS_THREADS_MAX, sizeof(*d->retired));
    d->left = d->o->limit;
    e = d->retired ? vs_reader_retired(r, d->retired) : -VSE_NOMEM;
    vs_progress_init(&progress, out_is_file(d->out) ? stderr : NULL, "dumping",
                     vs_reader_info(r)->events, "events");
    while (e >= 0 && d->left && !d->out->error && (e = vs_reader_next(r, &batch)) > 0) {
        vs_progress_update(&progress, batch.first);
        e = dump_batch(d, &batch);
    }
    vs_progress_finish(&progress);
    free(d->retired);
    return e < 0 && e != -VSE_END ? e : 0;
}

/* Returns 0; -VSE_NOTFOUND (nothing lies there); the reader's error. */
static int seek(const struct dump_options *o, struct vs_reader *r)
{
    if (o->from != NONE)
        return vs_reader_seek_event(r, o->from);
    if (o->from_insn != NONE)
        return vs_reader_seek_insn(r, (unsigned)o->thread, o->from_insn);
    if (o->from_cycle != NONE)
        return vs_reader_seek_cycle(r, o->from_cycle);
    return 0;
}

/* Where an address is depends on all events before: finds the first event that is wanted, and goes
 * back to the beginning. Returns as seek. */
static int seek_past(const struct dump_options *o, struct vs_reader *r, uint64_t *from)
{
    struct vs_batch batch;
    int e = seek(o, r);

    *from = 0;
    if (e || !any_beside(o) || (o->from == NONE && o->from_insn == NONE && o->from_cycle == NONE))
        return e;
    e = vs_reader_next(r, &batch);
    if (e < 0)
        return e == -VSE_END ? -VSE_NOTFOUND : e;
    *from = batch.first;
    return vs_reader_seek_event(r, 0);
}

/* ---- the command -------------------------------------------------------------------------- */

static bool check_usage(struct cli *cli, const struct dump_options *o, const struct region *region)
{
    int starts = (o->from != NONE) + (o->from_insn != NONE) + (o->from_cycle != NONE);
    if (starts > 1)
        cli_error(cli, "only one of --from, --from-insn and --from-cycle can be given");
    else if (o->from_insn != NONE && o->thread == NONE)
        cli_error(cli, "--from-insn: counts the instructions of one thread; give --thread too");
    else if (region->any && (o->salvage || o->inputs || o->blocks || o->images))
        cli_error(cli, "--%s excludes options that choose instructions",
                  o->salvage  ? "salvage"
                  : o->inputs ? "inputs"
                  : o->blocks ? "blocks"
                              : "images");
    else
        return true;
    return false;
}

static bool check_run(struct cli *cli, const struct dump_options *o, const struct vs_run_info *info)
{
    if (o->thread != NONE && o->thread >= info->threads)
        cli_error(cli, "--thread: no thread %llu; the run has %u, from 0 up",
                  (unsigned long long)o->thread, info->threads);
    else if (o->from_cycle != NONE && !(info->features & VS_RUN_TIMED))
        cli_error(cli, "--from-cycle: the run has no cycles; see 'vestige info'");
    else
        return true;
    return false;
}

static int dump_run(struct cli *cli, const struct dump_options *o, struct vs_reader *r,
                    const char *path)
{
    const struct vs_run_info *info = vs_reader_info(r);
    if (!check_run(cli, o, info))
        return CLI_USAGE;
    if (o->blocks || o->images) {
        dump_tables(&cli->out, o, r);
        return cli_missing(cli, path, info);
    }
    struct dumping d = {.out = &cli->out, .o = o};
    int e = seek_past(o, r, &d.from);
    if (e == 0)
        e = beside_init(&d.beside, o, r);
    if (e == 0)
        e = dump_events(&d, r);
    beside_fini(&d.beside);
    if (e != 0 && e != -VSE_NOTFOUND)
        return cli_report(cli, path, e, vs_reader_diag(r));
    return cli_missing(cli, path, info);
}

static int run(struct cli *cli, int argc, char **argv)
{
    struct dump_options o = {
        .thread = NONE,
        .from = NONE,
        .to = UINT64_MAX,
        .from_insn = NONE,
        .from_cycle = NONE,
        .limit = UINT64_MAX,
        .pc = {1, 0},
        .addr = {1, 0},
        .region.places = "--from-place and --to-place",
    };
    struct vs_reader *r = NULL;
    struct region region;
    int status;
    if (!options_parse(cli, &command_dump, &o, &argc, argv, &status))
        return status;
    status = region_init(&region, cli, &o.region);
    if (status == CLI_DONE && !check_usage(cli, &o, &region))
        status = CLI_USAGE;
    if (status == CLI_DONE)
        status = region.any ? region_open(&region, cli, &r, argv[0])
                            : (o.inputs ? cli_open_file : cli_open)(cli, &r, argv[0], o.salvage);
    if (status == CLI_DONE)
        status = dump_run(cli, &o, r, argv[0]);
    vs_reader_close(r);
    region_fini(&region);
    return status;
}

#define FIELD(member) offsetof(struct dump_options, member)

static const struct cli_option options[] = {
    {.name = "json", .help = "print one JSON object per line", .offset = FIELD(json)},
    REGION_WINDOWS(FIELD(region)),
    REGION_PLACES(FIELD(region), "from-place", "to-place"),
    {.name = "thread",
     .argument = "N",
     .help = "print only events of this thread",
     .type = OPTION_U64,
     .offset = FIELD(thread),
     .max = VS_THREADS_MAX - 1},
    {.name = "kind",
     .letter = 'k',
     .argument = "NAME[,NAME...]",
     .help = "print only events of these kinds:",
     .type = OPTION_SET,
     .offset = FIELD(kinds),
     .number_name = vs_kind_name,
     .first = 1,
     .end = VS_KIND_END},
    {.name = "from",
     .argument = "N",
     .help = "start with the event of this number, from 0 up",
     .type = OPTION_U64,
     .offset = FIELD(from),
     .max = NONE - 1},
    {.name = "to",
     .argument = "N",
     .help = "end after the event of this number",
     .type = OPTION_U64,
     .offset = FIELD(to)},
    {.name = "from-insn",
     .argument = "N",
     .help = "start where the thread has retired N instructions;\nneeds --thread",
     .type = OPTION_U64,
     .offset = FIELD(from_insn),
     .max = NONE - 1},
    {.name = "from-cycle",
     .argument = "N",
     .help = "start with the first event at cycle N or later",
     .type = OPTION_U64,
     .offset = FIELD(from_cycle),
     .max = NONE - 1},
    {.name = "pc",
     .argument = "LO-HI",
     .help = "print only events of instructions in this range",
     .type = OPTION_RANGE,
     .offset = FIELD(pc)},
    {.name = "addr",
     .argument = "LO-HI",
     .help = "print only loads, stores, external writes and maps\n"
             "that touch this range",
     .type = OPTION_RANGE,
     .offset = FIELD(addr)},
    {.name = "limit",
     .letter = 'n',
     .argument = "N",
     .help = "print at most N events",
     .type = OPTION_U64,
     .offset = FIELD(limit)},
    {.name = "full",
     .help = "print long values and all registers in full (--json\n"
             "always does)",
     .offset = FIELD(full)},
    {.name = "source",
     .help = "add the routine, the file and the line of each\n"
             "instruction, and what was inlined there",
     .offset = FIELD(source)},
    {.name = "stack",
     .help = "add the calls that the thread is in, with --source for\n"
             "each of them",
     .offset = FIELD(stack)},
    {.name = "disassemble", .help = "add each instruction", .offset = FIELD(disassemble)},
    {.name = "blocks",
     .help = "print the blocks of code instead of events",
     .offset = FIELD(blocks)},
    {.name = "images", .help = "print the images instead of events", .offset = FIELD(images)},
    {.name = "inputs",
     .help = "of a run that was recorded with --inputs, print only\n"
             "what was recorded, without executing it again",
     .offset = FIELD(inputs)},
    {.name = "salvage",
     .help = "ignore the index; read the chunks before the first\n"
             "damaged one",
     .offset = FIELD(salvage)},
    {0},
};

const struct command command_dump = {
    .name = "dump",
    .summary = "print events as text or as JSON lines",
    .run = run,
    .options = options,
    .operands = "run.vest",
    .operands_min = 1,
    .operands_max = 1,
    .description =
        "Prints the events of a run, one per line: number, cycle in a timed run, place,\n"
        "kind, address of the instruction, what belongs to the kind, and the instructions\n"
        "that the thread retired since its previous event. The place is tT:N: thread T\n"
        "had retired N instructions before this one; in 'vestige debug', 'monitor goto'\n"
        "goes there. Ranges include both ends.",
    .example = "vestige dump --thread 0 --kind load,store --limit 20 run.vest\n"
               "vestige dump --json --addr 0x7ffe0000-0x7fffffff run.vest | jq -r .value",
    .exits = COMMAND_EXITS,
};
