/* SPDX-License-Identifier: MIT */
/* The debugger's walk through code, on small programs: x86-64 by hand, damaged streams, and a
 * decoder that tells targets late. */
#include "replay/walk.h"
#include "runs.h"
#include "study/verify.h"

/* ---- runs by hand ---------------------------------------------------------------------------- */

/*   1000 nop; 1001 mov rax, [rbx]; 1004 jne 1000; 1006 call 1020; 100b rep movsb; 100d lock inc
 *   [rax]; 1010 syscall; 1012 rdtsc; 1014 jmp 1000     1020 ret     2000 jmp 2000
 *   2010 call [rax]; 2012 jmp 1000 */
static const uint8_t code[] = {0x90, 0x48, 0x8b, 0x03, 0x75, 0xfa, 0xe8, 0x15, 0x00, 0x00, 0x00,
                               0xf3, 0xa4, 0xf0, 0xff, 0x00, 0x0f, 0x05, 0x0f, 0x31, 0xeb, 0xea};
static const uint8_t routine[] = {0xc3};
static const uint8_t other[] = {0x90, 0x90, 0x90, 0x90}; /* at 1000 */
static const uint8_t forever[] = {0xeb, 0xfe};
static const uint8_t icall[] = {0xff, 0x10, 0xe9, 0xe9, 0xef, 0xff, 0xff};

static const struct vs_block blocks[] = {{0x1000, code, sizeof(code), 9},
                                         {0x1020, routine, sizeof(routine), 1},
                                         {0x1000, other, sizeof(other), 4},
                                         {0x2000, forever, sizeof(forever), 1},
                                         {0x2010, icall, sizeof(icall), 2}};

/* clang-format off */
#define START(at) {.kind = VS_THREAD_START, .pc = at}
#define EXIT(n) {.kind = VS_THREAD_EXIT, .icount = n}
#define COUNT(n) {.kind = VS_COUNT, .icount = n}
#define JNE(taken, n) {.kind = VS_BRANCH, .pc = 0x1004, .addr = 0x1000, .size = 2, .icount = n,    \
        .flags = VS_BR_COND | (taken ? VS_BR_TAKEN : 0)}
#define CALL(n) {.kind = VS_BRANCH, .pc = 0x1006, .addr = 0x1020, .size = 5, .icount = n,          \
        .flags = VS_BR_CALL | VS_BR_TAKEN}
#define RET(to, n) {.kind = VS_BRANCH, .pc = 0x1020, .addr = to, .size = 1, .icount = n,           \
        .flags = VS_BR_RETURN | VS_BR_INDIRECT | VS_BR_TAKEN}
#define ICALL(to, n) {.kind = VS_BRANCH, .pc = 0x2010, .addr = to, .size = 2, .icount = n,         \
        .flags = VS_BR_CALL | VS_BR_INDIRECT | VS_BR_TAKEN}
#define JMP(n) {.kind = VS_BRANCH, .pc = 0x1014, .addr = 0x1000, .size = 2, .icount = n,           \
        .flags = VS_BR_TAKEN}
#define SIGNAL(at, n) {.kind = VS_EXCEPTION, .pc = at, .addr = 0x1010, .icount = n}
#define BACK(to, n) {.kind = VS_EXCEPTION_RET, .pc = 0x1010, .addr = to, .icount = n}
/* clang-format on */

static void write_run(const struct vs_event *events, size_t count)
{
    const struct vs_writer_options options = {.inline_work = true};
    const struct vs_batch b = {.events = events, .count = count};
    struct vs_writer *w;
    CHECK_EQ(vs_writer_open(&w, "run.vest", &options, NULL), 0);
    CHECK_EQ(vs_writer_meta(w, "isa", "x86-64"), 0);
    for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++)
        CHECK_EQ(vs_writer_block(w, &blocks[i]), i);
    CHECK_EQ(vs_writer_put(w, &b), 0);
    CHECK_EQ(vs_writer_seal(w, NULL), 0);
}

/* All techniques on a run of these events; `same`: the events are what the code does. */
static void verify(const struct vs_event *events, size_t count, bool same)
{
    static const char *const specs[] = {
        "mcfNX_b",    "mcfTR_b:small", "mcfTR_e",    "mcfTR_e:predictors=shared", "tTMBP",
        "bTMBP",      "etrace",        "etrace:all", "etrace:all,resync=2",       "etrace:resync=1",
        "ntrace:btm", "ntrace",        "ntrace:all"};
    struct place place;
    struct vs_reader *r;
    struct vs_verify v;
    place_init(&place);
    write_run(events, count);
    CHECK_EQ(vs_reader_open(&r, "run.vest", VS_OPEN_STRICT, NULL), 0);
    CHECK_EQ(vs_verify_init(&v, r, NULL), 0);
    for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
        struct vs_technique_spec s;
        struct vs_verify_result result;
        CHECK_EQ(vs_technique_parse(&s, specs[i], NULL), 0);
        CHECK_EQ(vs_verify_flow(&v, &s, &result, NULL), 0);
        if ((result.outcome == VS_VERIFY_SAME) != same)
            unittest_fail(__FILE__, __LINE__, "%s: outcome %d: %s", specs[i], (int)result.outcome,
                          result.diag.text);
        CHECK(same || (result.diag.error < 0 && result.diag.text[0]));
        CHECK(!same || result.compared == v.steps);
    }
    vs_verify_fini(&v);
    vs_reader_close(r);
    place_fini(&place);
}

#define VERIFY(same, ...)                                                                          \
    verify((struct vs_event[]){__VA_ARGS__},                                                       \
           sizeof((struct vs_event[]){__VA_ARGS__}) / sizeof(struct vs_event), same)

TEST(walks_all_kinds_of_branches)
{
    VERIFY(true, START(0x1000), JNE(true, 3), JNE(false, 3), CALL(1), RET(0x100b, 1), JMP(5),
           JNE(true, 3), EXIT(1));
    VERIFY(true, START(0x2010), ICALL(0x1020, 1), RET(0x2012, 1), JNE(true, 4), EXIT(0));
}

TEST(finds_events_that_are_not_the_codes)
{
    VERIFY(false, START(0x1000), JNE(true, 2), JNE(false, 3), EXIT(0));
    VERIFY(false, START(0x1000), JNE(true, 3), JNE(false, 4), EXIT(0));
    VERIFY(false, START(0x1000), JNE(false, 3), RET(0x100b, 1), EXIT(0));
    VERIFY(false, START(0x1001), JNE(false, 3), EXIT(0));
    VERIFY(false, START(0x5000), JNE(false, 3), EXIT(0));
}

TEST(walks_without_a_branch)
{
    VERIFY(true, START(0x1000), EXIT(2));
    VERIFY(true, START(0x1000), EXIT(0));
    VERIFY(true, START(0x5000), EXIT(0)); /* no code is needed where nothing is executed */
    VERIFY(false, START(0x5000), EXIT(1));
}

TEST(ends_cores_that_the_run_does_not)
{
    VERIFY(true, START(0x1000), JNE(true, 3), COUNT(2));
}

TEST(goes_to_handlers_and_back)
{
    VERIFY(true, START(0x1000), SIGNAL(0x1001, 1), BACK(0x1001, 1), JNE(true, 2), JNE(false, 3),
           SIGNAL(0x1006, 0), BACK(0x1006, 1), CALL(1), EXIT(0));
}

/* Where a jump led to, an exception comes at once, or the end; a packet would have told of it. */
TEST(leaves_at_once_where_synchronisation_is_due)
{
    VERIFY(true, START(0x1006), CALL(1), RET(0x1006, 1), CALL(1), RET(0x100b, 1), SIGNAL(0x100b, 0),
           BACK(0x100b, 1), JMP(5), EXIT(0));
    VERIFY(true, START(0x1006), CALL(1), RET(0x1006, 1), CALL(1), RET(0x100b, 1), EXIT(0));
}

TEST(counts_an_interrupted_repetition_once)
{
    VERIFY(true, START(0x100b), COUNT(1), SIGNAL(0x100b, 0), BACK(0x100b, 1), JMP(4), EXIT(0));
    /* interrupted again, before and in the handler */
    VERIFY(true, START(0x100b), SIGNAL(0x100b, 1), BACK(0x100b, 1), SIGNAL(0x100b, 0),
           BACK(0x100b, 1), JMP(4), EXIT(0));
    VERIFY(true, START(0x100b), SIGNAL(0x100b, 1), SIGNAL(0x1010, 0), BACK(0x1010, 1),
           BACK(0x100b, 1), JMP(4), EXIT(0));
    /* over when the signal came, or not begun */
    VERIFY(true, START(0x100b), SIGNAL(0x100d, 1), BACK(0x100d, 1), JMP(4), EXIT(0));
    VERIFY(true, START(0x100b), SIGNAL(0x100b, 0), BACK(0x100b, 1), JMP(5), EXIT(0));
    /* a handler that never returned is no reason to think it begun */
    VERIFY(true, START(0x100b), SIGNAL(0x100b, 1), JMP(3), JNE(false, 3), CALL(1), RET(0x100b, 1),
           SIGNAL(0x100b, 0), BACK(0x100b, 1), JMP(5), EXIT(0));
}

TEST(walks_code_that_changes)
{
    VERIFY(true, START(0x1000), JNE(true, 3), {.kind = VS_CODE, .value = 2}, JNE(true, 5), EXIT(2));
    VERIFY(true, START(0x1000), JNE(true, 3), {.kind = VS_CODE, .value = 2}, JNE(true, 5),
           {.kind = VS_CODE, .value = 0}, JNE(true, 3), EXIT(2));
    VERIFY(false, START(0x1000), JNE(true, 3), JNE(true, 5), EXIT(0));
    /* for one thread earlier than for the other, in the middle of a block */
    VERIFY(true, START(0x1000), {.kind = VS_THREAD_START, .thread = 1, .pc = 0x1000}, COUNT(1),
           {.kind = VS_CODE, .value = 2}, JNE(true, 4),
           {.kind = VS_BRANCH,
            .thread = 1,
            .pc = 0x1004,
            .addr = 0x1000,
            .size = 2,
            .icount = 5,
            .flags = VS_BR_COND | VS_BR_TAKEN},
           EXIT(0), {.kind = VS_THREAD_EXIT, .thread = 1});
}

TEST(begins_anew_after_a_gap)
{
    VERIFY(true, START(0x1000), JNE(true, 3), COUNT(1), {.kind = VS_GAP, .pc = 0x1006, .addr = 9},
           CALL(1), RET(0x100b, 1), {.kind = VS_GAP, .pc = 0x1006}, CALL(1), EXIT(0));
}

TEST(walks_a_loop_that_never_ends)
{
    VERIFY(true, START(0x2000), COUNT(60000), SIGNAL(0x2000, 5), BACK(0x1000, 1), JNE(true, 3),
           EXIT(0));
}

TEST(refuses_runs_that_it_cannot_compare)
{
    struct place place;
    struct vs_reader *r;
    struct vs_verify v;
    struct vs_diag diag = {0};
    const struct vs_event event = {.kind = VS_COUNT, .icount = 1};
    place_init(&place);
    write_run(&event, 0);
    CHECK_EQ(vs_reader_open(&r, "run.vest", VS_OPEN_STRICT, NULL), 0);
    CHECK_ERR(vs_verify_init(&v, r, &diag), VSE_END);
    CHECK(diag.text[0]);
    vs_verify_fini(&v);
    vs_reader_close(r);
    CHECK_EQ(unlink("run.vest"), 0);
    write_run(&event, 1);
    CHECK_EQ(vs_reader_open(&r, "run.vest", VS_OPEN_STRICT, NULL), 0);
    CHECK_ERR(vs_verify_init(&v, r, &diag), VSE_END);
    vs_verify_fini(&v);
    vs_reader_close(r);
    place_fini(&place);
}

/* ---- damaged streams ------------------------------------------------------------------------- */

static bool is_packed(const char *spec)
{
    return !strncmp(spec, "BASE_", 5);
}

/* Lets the streams end after so many bits of all of them. */
static void cut_streams(struct vs_port_stream *cut, const struct vs_port_store *whole,
                        uint64_t bits)
{
    for (unsigned i = 0; i < whole->count; i++) {
        cut[i] = whole->streams[i];
        if (cut[i].nbits > bits)
            cut[i].nbits = bits;
        bits -= cut[i].nbits;
    }
}

/* If each core has a stream, one that ends may be that of a core that ends there. */
static void check_cut(struct vs_verify *v, const struct vs_technique_spec *s,
                      const struct vs_port_store *whole, const struct vs_port_stream *cut)
{
    struct vs_verify_result r;
    CHECK_EQ(vs_verify_decode(v, s, cut, &r, NULL), 0);
    if (whole->count > 1) {
        CHECK(r.outcome != VS_VERIFY_SAME && r.diag.error && r.diag.text[0]);
        return;
    }
    CHECK_EQ(r.outcome, VS_VERIFY_UNREADABLE);
    CHECK_EQ(r.diag.error, -VSE_TRUNCATED);
}

static void each_damage(const char *spec, bool timed, bool strict)
{
    const struct gen_options o = {.seed = 7,
                                  .events = 120,
                                  .threads = 3,
                                  .timed = timed,
                                  .wide = GEN_NEVER,
                                  .signals = 30,
                                  .gaps = 40,
                                  .code = 30,
                                  .syscalls = 20};
    struct vs_technique_spec s;
    struct vs_verify_result r;
    struct vs_verify v;
    struct vs_port_store out = {0};
    struct vs_reader *reader;
    int64_t bits;
    CHECK_EQ(gen_record("run.vest", &o, &(struct vs_writer_options){.overwrite = true}, NULL), 0);
    CHECK_EQ(vs_reader_open(&reader, "run.vest", VS_OPEN_STRICT, NULL), 0);
    CHECK_EQ(vs_verify_init(&v, reader, NULL), 0);
    CHECK_EQ(vs_technique_parse(&s, spec, NULL), 0);
    CHECK((bits = vs_verify_encode(&v, &s, &out, NULL, NULL, NULL)) > 0);
    struct vs_port_stream cut[3];
    CHECK(out.count <= 3);
    cut_streams(cut, &out, 0);
    /* that nothing has started yet is no error of the stream, unless it has a last packet */
    CHECK_EQ(vs_verify_decode(&v, &s, cut, &r, NULL), 0);
    CHECK_EQ(r.outcome, is_packed(spec) ? VS_VERIFY_UNREADABLE : VS_VERIFY_MISSING);
    for (int64_t i = 0; i < bits; i += unittest_every(7)) {
        if (i) {
            cut_streams(cut, &out, (uint64_t)i);
            check_cut(&v, &s, &out, cut);
        }
        vs_port_store_flip(&out, (uint64_t)i);
        CHECK_EQ(vs_verify_decode(&v, &s, out.streams, &r, NULL), 0);
        if (strict && r.outcome == VS_VERIFY_SAME)
            unittest_fail(__FILE__, __LINE__, "%s: bit %lld", spec, (long long)i);
        CHECK(r.outcome == VS_VERIFY_SAME || (r.diag.error < 0 && r.diag.text[0]));
        vs_port_store_flip(&out, (uint64_t)i);
    }
    CHECK_EQ(vs_verify_decode(&v, &s, out.streams, &r, NULL), 0);
    CHECK_EQ(r.outcome, VS_VERIFY_SAME);
    vs_port_store_fini(&out);
    vs_verify_fini(&v);
    vs_reader_close(reader);
}

TEST(notices_every_cut_and_changed_bit)
{
    struct place place;
    place_init(&place);
    /* a repetition may have happened at another distance as well; a compressor's file has bits
     * that say nothing */
    for (size_t i = 0; vs_techniques[i]; i++)
        if (vs_techniques[i]->serves & VS_TECHNIQUE_FLOW)
            each_damage(vs_techniques[i]->name, i % 2,
                        strncmp(vs_techniques[i]->name, "HWLZ", 4) != 0 &&
                            !is_packed(vs_techniques[i]->name));
    each_damage("mcfTR_e:predictors=shared", false, false);
    each_damage("mcfTR_e:bcnt_bits=4,icnt_bits=4", true, true);
    each_damage("mcfNX_b:icnt_bits=4", false, true);
    place_fini(&place);
}

/* ---- a decoder that answers late ------------------------------------------------------------- */

/* What it says, in order. */
struct script {
    const struct vs_flow_head *heads;
    const struct vs_flow_answer *answers;
    const uint64_t *targets; /* of discontinuities */
    size_t count, head, answer, target;
};

static int say_head(void *decoder, struct vs_flow_head *head)
{
    struct script *s = decoder;
    if (s->head == s->count)
        return -VSE_END;
    *head = s->heads[s->head++];
    return 0;
}

static int say_branch(void *decoder, unsigned core, const struct vs_flow_site *site,
                      struct vs_flow_answer *answer)
{
    struct script *s = decoder;
    (void)core;
    CHECK(site->size > 0);
    *answer = s->answers[s->answer++];
    return 0;
}

static int say_target(void *decoder, unsigned core, uint64_t *target)
{
    struct script *s = decoder;
    (void)core;
    *target = s->targets[s->target++];
    return 0;
}

static const struct vs_flow_decoder_ops scripted = {
    .head = say_head, .branch = say_branch, .discontinuity = say_target};

struct steps {
    struct vs_step step[16];
    size_t count;
};

static int take(void *context, const struct vs_step *steps, size_t count)
{
    struct steps *s = context;
    for (size_t i = 0; i < count; i++)
        s->step[s->count++] = steps[i];
    return 0;
}

static int walk_script(struct script *script, struct steps *steps, uint64_t limit)
{
    const struct vs_port_shape shape = {.cores = 1};
    struct vs_port_reader port;
    struct vs_text program = {0};
    struct vs_walk w;
    *steps = (struct steps){.count = 0};
    CHECK_EQ(
        vs_port_reader_init(&port, &shape, &(struct vs_port_stream){(const uint8_t *)"", 0, 0}), 0);
    for (size_t i = 0; i < 5; i++)
        CHECK_EQ(vs_text_add(&program, &blocks[i]), 0);
    CHECK_EQ(vs_text_index(&program), 0);
    const struct vs_walk_config config = {.isa = vs_isa_find("x86-64"),
                                          .code = &program,
                                          .ops = &scripted,
                                          .decoder = script,
                                          .port = &port,
                                          .cores = 1,
                                          .limit = limit,
                                          .sink = take,
                                          .context = steps};
    CHECK_EQ(vs_walk_init(&w, &config), 0);
    int err = vs_walk_all(&w);
    CHECK(!err || (w.diag.error == err && w.diag.text[0]));
    vs_walk_fini(&w);
    vs_text_fini(&program);
    vs_port_reader_fini(&port);
    return err;
}

TEST(lets_a_later_message_tell_a_target)
{
    static const struct vs_flow_head heads[] = {
        {.count = 0, .discontinuity = true},
        {.count = 5},
        {.resolves = true, .taken = true, .target = 0x100b, .count = 3, .cut = true},
        {.count = 2, .cut = true},
        {.count = 0, .discontinuity = true},
    };
    static const struct vs_flow_answer answers[] = {{.taken = false}, {.later = true}};
    static const uint64_t targets[] = {0x1000, 0};
    struct script script = {.heads = heads, .answers = answers, .targets = targets, .count = 5};
    struct steps s;
    CHECK_EQ(walk_script(&script, &s, 0), 0);
    CHECK_EQ(s.count, 5);
    CHECK_EQ(s.step[1].pc, 0x1004);
    CHECK_EQ(s.step[2].kind, VS_STEP_CALL);
    CHECK_EQ(s.step[3].pc, 0x1020);
    CHECK_EQ(s.step[3].target, 0x100b);
    CHECK_EQ(s.step[3].icount, 1);
    CHECK_EQ(s.step[4].icount, 5);
}

TEST(refuses_heads_that_do_not_fit)
{
    static const uint64_t targets[] = {0x1000, 0x2000, 0};
    static const struct vs_flow_answer later[] = {{.later = true}, {.later = true}};
    static const struct vs_flow_answer taken[] = {
        {.taken = true}, {.taken = true}, {.taken = true}};
    static const struct {
        struct vs_flow_head heads[3];
        const struct vs_flow_answer *answers;
        size_t count;
        int error;
    } cases[] = {
        /* a core that is not running; nothing to resolve; nothing that resolves */
        {{{.count = 1, .cut = true}}, taken, 1, -VSE_CORRUPT},
        {{{.discontinuity = true}, {.resolves = true}}, taken, 2, -VSE_CORRUPT},
        {{{.discontinuity = true}, {.count = 3}, {.count = 1, .cut = true}},
         later,
         3,
         -VSE_CORRUPT},
        /* no branch where one has to be; none that is ever reached; too far; no end */
        {{{.discontinuity = true}, {.count = 2}}, taken, 2, -VSE_CORRUPT},
        {{{.discontinuity = true}, {.discontinuity = true}, {.count = VS_FLOW_OPEN}},
         taken,
         3,
         -VSE_CORRUPT},
        {{{.discontinuity = true}, {.discontinuity = true}, {.count = 100, .cut = true}},
         taken,
         3,
         -VSE_LIMIT},
        {{{.discontinuity = true}}, taken, 1, -VSE_TRUNCATED},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct script script = {.heads = cases[i].heads,
                                .answers = cases[i].answers,
                                .targets = targets,
                                .count = cases[i].count};
        struct steps s;
        CHECK_EQ(walk_script(&script, &s, cases[i].error == -VSE_LIMIT ? 50 : 0), cases[i].error);
    }
}

TEST(goes_to_an_address)
{
    static const struct vs_flow_head heads[] = {
        {.discontinuity = true},
        {.count = VS_FLOW_OPEN},                  /* the branch at 1004, taken */
        {.count = VS_FLOW_OPEN, .until = 0x1000}, /* where it is */
        {.count = VS_FLOW_OPEN, .until = 0x1004}, /* in the middle of straight code */
        {.count = VS_FLOW_OPEN},                  /* not taken */
        {.count = VS_FLOW_OPEN, .until = 0x1020}, /* through a call */
        {.count = VS_FLOW_OPEN},                  /* the return */
        {.count = VS_FLOW_OPEN, .until = 0x1001}, /* through a jump, into the other round */
        {.count = 0, .sync = true, .pc = 0x1001, .instructions = 14},
        {.count = 1, .sync = true, .pc = 0x1004, .instructions = VS_FLOW_OPEN},
        {.count = 0, .discontinuity = true},
    };
    static const struct vs_flow_answer answers[] = {
        {.taken = true, .last = true},
        {.last = true},
        {.taken = true, .last = true, .target = 0x100b}};
    static const uint64_t targets[] = {0x1000, 0};
    struct script script = {.heads = heads, .answers = answers, .targets = targets, .count = 11};
    struct steps s;
    CHECK_EQ(walk_script(&script, &s, 0), 0);
    CHECK_EQ(s.count, 6);
    CHECK(s.step[1].pc == 0x1004 && s.step[1].icount == 3);
    CHECK(s.step[2].pc == 0x1004 && s.step[2].icount == 3);
    CHECK(s.step[3].kind == VS_STEP_CALL && s.step[3].icount == 1);
    CHECK(s.step[4].pc == 0x1020 && s.step[4].icount == 1);
    CHECK(s.step[5].kind == VS_STEP_DISCONTINUITY && s.step[5].icount == 7);
}

/* Instructions of 1, 3 and 2 bytes, the last of them a branch. */
TEST(goes_as_many_bytes_as_it_is_told)
{
    static const struct vs_flow_head heads[] = {
        {.discontinuity = true},
        {.count = 4, .bytes = true, .sync = true, .pc = 0x1004, .instructions = 2},
        {.count = 2, .bytes = true}, /* the branch, taken */
        {.count = 6, .bytes = true}, /* all of them */
        {.count = 0, .discontinuity = true},
    };
    static const struct vs_flow_head within[] = {{.discontinuity = true},
                                                 {.count = 2, .bytes = true, .cut = true}};
    static const struct vs_flow_answer answers[] = {{.taken = true}, {.taken = false}};
    static const uint64_t targets[] = {0x1000, 0};
    struct script script = {.heads = heads, .answers = answers, .targets = targets, .count = 5};
    struct steps s;
    CHECK_EQ(walk_script(&script, &s, 0), 0);
    CHECK_EQ(s.count, 4);
    CHECK(s.step[1].pc == 0x1004 && s.step[1].icount == 3);
    CHECK(s.step[2].pc == 0x1004 && s.step[2].icount == 3);
    script = (struct script){.heads = within, .answers = answers, .targets = targets, .count = 2};
    CHECK_ERR(walk_script(&script, &s, 0), VSE_CORRUPT);
}

TEST(refuses_places_where_the_core_does_not_come)
{
    static const uint64_t targets[] = {0x1000, 0x2000, 0};
    static const struct vs_flow_answer taken[] = {{.taken = true, .last = true}};
    static const struct {
        struct vs_flow_head heads[3];
        size_t count;
    } cases[] = {
        {{{.discontinuity = true}, {.count = 1, .sync = true, .pc = 0x1000, .instructions = 1}}, 2},
        {{{.discontinuity = true}, {.count = 1, .sync = true, .pc = 0x1001, .instructions = 2}}, 2},
        {{{.sync = true, .pc = 0x1000, .instructions = VS_FLOW_OPEN}}, 1}, /* it is not running */
        {{{.discontinuity = true},                                         /* jumps for ever */
          {.discontinuity = true},
          {.count = VS_FLOW_OPEN, .until = 0x1000}},
         3},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct script script = {
            .heads = cases[i].heads, .answers = taken, .targets = targets, .count = cases[i].count};
        struct steps s;
        CHECK_EQ(walk_script(&script, &s, 0), -VSE_CORRUPT);
    }
}
