/* SPDX-License-Identifier: MIT */
#include "model/moesi.h"

#include <stdio.h>
#include <string.h>

#include "rng.h"
#include "unittest.h"

#define LINE  32
#define CORES 3
#define AT    UINT64_C(0x1000)

static const struct vs_cache_config small = {
    .size = 8 * LINE, .line = LINE, .ways = 2, .policy = VS_CACHE_LRU};

static struct vs_moesi make(unsigned cores, bool data)
{
    struct vs_moesi g;
    struct vs_diag diag = {0};
    CHECK_EQ(vs_moesi_init(&g, cores, &small, data, &diag), 0);
    return g;
}

/* ---- transitions ----------------------------------------------------------------------------- */

/* Operations are words like "r0": read, write, evict (by a core), x: from outside. */
static void operate(struct vs_moesi *g, const char *op, struct vs_moesi_result *r)
{
    unsigned core = (unsigned)(op[1] - '0');
    if (*op == 'r')
        vs_moesi_read(g, core, AT, r);
    else if (*op == 'w')
        vs_moesi_write(g, core, AT, r);
    else if (*op == 'e')
        vs_moesi_evict(g, core, AT, r);
    else
        vs_moesi_outside(g, AT, r);
}

static void prepare(struct vs_moesi *g, const char *ops)
{
    struct vs_moesi_result r;
    for (const char *op = ops; *op; op += op[2] == ' ' ? 3 : 2)
        operate(g, op, &r);
}

static const char *states(const struct vs_moesi *g, char text[CORES + 1])
{
    for (unsigned i = 0; i < CORES; i++)
        text[i] = "ISOEM"[vs_moesi_state(g, i, AT)];
    text[CORES] = '\0';
    return text;
}

enum { HIT = VS_MOESI_HIT, UPG = VS_MOESI_UPGRADE, TRF = VS_MOESI_TRANSFER, BLW = VS_MOESI_BELOW };

/* From the states of cores 0, 1, 2 by one operation to others. */
static const struct transition {
    const char *prepare, *before, *op, *after;
    int outcome;
    unsigned supplier, invalidated;
    bool evicted, dirty;
} transitions[] = {
    /* nobody has it */
    {"", "III", "r0", "EII", BLW, 0, 0, 0, 0},
    {"", "III", "w0", "MII", BLW, 0, 0, 0, 0},
    {"", "III", "e0", "III", HIT, 0, 0, 0, 0},
    {"", "III", "x0", "III", HIT, 0, 0, 0, 0},
    /* core 0 has it in E */
    {"r0", "EII", "r0", "EII", HIT, 0, 0, 0, 0},
    {"r0", "EII", "w0", "MII", HIT, 0, 0, 0, 0},
    {"r0", "EII", "e0", "III", HIT, 0, 0, 1, 0},
    {"r0", "EII", "r1", "SSI", TRF, 0, 0, 0, 0},
    {"r0", "EII", "w1", "IMI", TRF, 0, 1, 0, 0},
    {"r0", "EII", "e1", "EII", HIT, 0, 0, 0, 0},
    {"r0", "EII", "x0", "III", HIT, 0, 1, 1, 0},
    /* in M */
    {"w0", "MII", "r0", "MII", HIT, 0, 0, 0, 0},
    {"w0", "MII", "w0", "MII", HIT, 0, 0, 0, 0},
    {"w0", "MII", "e0", "III", HIT, 0, 0, 1, 1},
    {"w0", "MII", "r1", "OSI", TRF, 0, 0, 0, 0},
    {"w0", "MII", "w1", "IMI", TRF, 0, 1, 0, 0},
    {"w0", "MII", "e1", "MII", HIT, 0, 0, 0, 0},
    {"w0", "MII", "x0", "III", HIT, 0, 1, 1, 1},
    /* in O, with a copy in core 1 */
    {"w0 r1", "OSI", "r0", "OSI", HIT, 0, 0, 0, 0},
    {"w0 r1", "OSI", "w0", "MII", UPG, 0, 2, 0, 0},
    {"w0 r1", "OSI", "e0", "ISI", HIT, 0, 0, 1, 1},
    {"w0 r1", "OSI", "r1", "OSI", HIT, 0, 0, 0, 0},
    {"w0 r1", "OSI", "w1", "IMI", UPG, 0, 1, 0, 0},
    {"w0 r1", "OSI", "e1", "OII", HIT, 0, 0, 1, 0},
    {"w0 r1", "OSI", "r2", "OSS", TRF, 0, 0, 0, 0},
    {"w0 r1", "OSI", "w2", "IIM", TRF, 0, 3, 0, 0},
    {"w0 r1", "OSI", "x0", "III", HIT, 0, 3, 1, 1},
    /* in O, the copies gone */
    {"w0 r1 e1", "OII", "r0", "OII", HIT, 0, 0, 0, 0},
    {"w0 r1 e1", "OII", "w0", "MII", UPG, 0, 0, 0, 0},
    {"w0 r1 e1", "OII", "e0", "III", HIT, 0, 0, 1, 1},
    {"w0 r1 e1", "OII", "r2", "OIS", TRF, 0, 0, 0, 0},
    {"w0 r1 e1", "OII", "w2", "IIM", TRF, 0, 1, 0, 0},
    {"w0 r1 e1", "OII", "x0", "III", HIT, 0, 1, 1, 1},
    /* in S, with another in S */
    {"r0 r1", "SSI", "r0", "SSI", HIT, 0, 0, 0, 0},
    {"r0 r1", "SSI", "w0", "MII", UPG, 0, 2, 0, 0},
    {"r0 r1", "SSI", "e0", "ISI", HIT, 0, 0, 1, 0},
    {"r0 r1", "SSI", "r2", "SSS", BLW, 0, 0, 0, 0},
    {"r0 r1", "SSI", "w1", "IMI", UPG, 0, 1, 0, 0},
    {"r0 r1", "SSI", "w2", "IIM", BLW, 0, 3, 0, 0},
    {"r0 r1", "SSI", "x0", "III", HIT, 0, 3, 1, 0},
    /* in S, alone: the owner wrote it below and left */
    {"w0 r1 e0", "ISI", "r0", "SSI", BLW, 0, 0, 0, 0},
    {"w0 r1 e0", "ISI", "w0", "MII", BLW, 0, 2, 0, 0},
    {"w0 r1 e0", "ISI", "r1", "ISI", HIT, 0, 0, 0, 0},
    {"w0 r1 e0", "ISI", "w1", "IMI", UPG, 0, 0, 0, 0},
    {"w0 r1 e0", "ISI", "e1", "III", HIT, 0, 0, 1, 0},
    {"w0 r1 e0", "ISI", "x0", "III", HIT, 0, 2, 1, 0},
    /* another core supplies or owns */
    {"w2", "IIM", "r0", "SIO", TRF, 2, 0, 0, 0},
    {"r2", "IIE", "r0", "SIS", TRF, 2, 0, 0, 0},
    {"r2", "IIE", "w0", "MII", TRF, 2, 4, 0, 0},
    {"w1 r0 r2", "SOS", "w0", "MII", UPG, 0, 6, 0, 0},
    {"w1 r0 r2", "SOS", "w1", "IMI", UPG, 0, 5, 0, 0},
    {"w1 r0 r2", "SOS", "e0", "IOS", HIT, 0, 0, 1, 0},
    {"w1 r0 r2", "SOS", "x0", "III", HIT, 1, 7, 1, 1},
};

/* What is different if sharers supply. */
static const struct transition sharing[] = {
    {"r0 r1", "SSI", "r2", "SSS", TRF, 0, 0, 0, 0},
    {"r0 r1", "SSI", "w2", "IIM", TRF, 0, 3, 0, 0},
    {"r1 r2", "ISS", "r0", "SSS", TRF, 1, 0, 0, 0},
    {"r1 r2", "ISS", "w0", "MII", TRF, 1, 6, 0, 0},
    {"w0 r1 e0", "ISI", "r0", "SSI", TRF, 1, 0, 0, 0},
    {"w0 r1 e0", "ISI", "w0", "MII", TRF, 1, 2, 0, 0},
};

/* What is not: who owns it comes first, and nobody sends what one has. */
static const struct transition the_same[] = {
    {"", "III", "r0", "EII", BLW, 0, 0, 0, 0},      {"w1 r0", "SOI", "r2", "SOS", TRF, 1, 0, 0, 0},
    {"w1 r0", "SOI", "w2", "IIM", TRF, 1, 3, 0, 0}, {"w1 r0", "SOI", "w0", "MII", UPG, 0, 2, 0, 0},
    {"r0 r1", "SSI", "w0", "MII", UPG, 0, 2, 0, 0},
};

static void check_transition(const struct transition *t, bool sharers)
{
    struct vs_moesi g = make(CORES, false);
    struct vs_moesi_result r;
    char text[CORES + 1], wanted[80], got[80];
    g.sharers_supply = sharers;
    prepare(&g, t->prepare);
    CHECK_STR(states(&g, text), t->before);
    operate(&g, t->op, &r);
    snprintf(wanted, sizeof(wanted), "%s %s: %s outcome %d supplier %u lost %x evicted %d dirty %d",
             t->before, t->op, t->after, t->outcome, t->supplier, t->invalidated, t->evicted,
             t->dirty);
    snprintf(got, sizeof(got), "%s %s: %s outcome %d supplier %u lost %x evicted %d dirty %d",
             t->before, t->op, states(&g, text), (int)r.outcome, r.supplier,
             (unsigned)r.invalidated, r.evicted, r.dirty);
    CHECK_STR(got, wanted);
    if (r.evicted)
        CHECK_EQ(r.victim, AT);
    CHECK_EQ(vs_moesi_check_all(&g, NULL), 0);
    vs_moesi_fini(&g);
}

TEST(changes_states_by_the_protocol)
{
    for (size_t i = 0; i < sizeof(transitions) / sizeof(*transitions); i++)
        check_transition(&transitions[i], false);
}

TEST(lets_sharers_supply)
{
    for (size_t i = 0; i < sizeof(sharing) / sizeof(*sharing); i++)
        check_transition(&sharing[i], true);
    for (size_t i = 0; i < sizeof(the_same) / sizeof(*the_same); i++) {
        check_transition(&the_same[i], true);
        check_transition(&the_same[i], false);
    }
}

TEST(covers_every_state_and_operation)
{
    /* By core 0's state: read, write, evict of its own; read, write of another; from outside. */
    bool seen[5][6] = {{false}};
    for (size_t i = 0; i < sizeof(transitions) / sizeof(*transitions); i++) {
        const struct transition *t = &transitions[i];
        size_t state = (size_t)(strchr("ISOEM", t->before[0]) - "ISOEM");
        size_t kind = t->op[0] == 'x' ? 5 : (size_t)(strchr("rwe", t->op[0]) - "rwe");
        if (t->op[1] != '0' && kind < 2)
            seen[state][3 + kind] = true;
        else if (t->op[1] == '0')
            seen[state][kind] = true;
    }
    for (int state = 0; state < 5; state++)
        for (int kind = 0; kind < 6; kind++)
            CHECK(seen[state][kind]);
}

/* ---- replacement ----------------------------------------------------------------------------- */

TEST(evicts_the_least_recently_used_line_and_says_whether_it_is_dirty)
{
    struct vs_moesi g = make(2, false);
    struct vs_moesi_result r;
    uint64_t stride = 4 * LINE; /* the same set */
    vs_moesi_write(&g, 0, 0, &r);
    CHECK(!r.evicted);
    vs_moesi_read(&g, 0, stride, &r);
    CHECK(!r.evicted);
    vs_moesi_read(&g, 0, 2 * stride, &r);
    CHECK(r.evicted && r.dirty);
    CHECK_EQ(r.victim, 0);
    vs_moesi_read(&g, 0, 3 * stride, &r);
    CHECK(r.evicted && !r.dirty);
    CHECK_EQ(r.victim, stride);
    CHECK_EQ(vs_moesi_state(&g, 0, stride), VS_MOESI_I);
    vs_moesi_fini(&g);
}

TEST(names_where_the_supplier_has_the_line)
{
    struct vs_moesi g = make(2, false);
    struct vs_moesi_result r, other;
    vs_moesi_read(&g, 1, AT + 4 * LINE, &r);
    vs_moesi_write(&g, 1, AT, &other);
    vs_moesi_read(&g, 0, AT, &r);
    CHECK_EQ(r.outcome, VS_MOESI_TRANSFER);
    CHECK_EQ(r.supplier_index, other.index);
    CHECK_EQ(vs_moesi_dirty_in(&g, AT), 1);
    CHECK_EQ(vs_moesi_dirty_in(&g, AT + LINE), -1);
    vs_moesi_fini(&g);
}

/* ---- data ------------------------------------------------------------------------------------ */

#define LINES 24 /* three times what a cache holds */

struct world {
    struct vs_moesi g;
    uint8_t below[LINES][LINE], truth[LINES][LINE];
    unsigned compared, transferred;
};

static void settle(struct world *w, unsigned core, unsigned n, const struct vs_moesi_result *r)
{
    if (r->dirty)
        memcpy(w->below[r->victim / LINE], w->g.spilled, LINE);
    if (r->outcome == VS_MOESI_BELOW)
        memcpy(vs_moesi_bytes(&w->g, core, r->index), w->below[n], LINE);
    w->transferred += r->outcome == VS_MOESI_TRANSFER;
}

static void step(struct world *w, struct rng *rng)
{
    unsigned core = (unsigned)rng_below(rng, w->g.cores), n = (unsigned)rng_below(rng, LINES);
    unsigned at = (unsigned)rng_below(rng, LINE);
    uint64_t line = (uint64_t)n * LINE;
    struct vs_moesi_result r;
    switch (rng_below(rng, 16)) {
    case 0:
        vs_moesi_evict(&w->g, core, line, &r);
        settle(w, core, n, &r);
        break;
    case 1:
        vs_moesi_outside(&w->g, line, &r);
        settle(w, core, n, &r);
        w->below[n][at] = w->truth[n][at] = (uint8_t)rng_next(rng);
        break;
    case 2 ... 6:
        vs_moesi_write(&w->g, core, line, &r);
        settle(w, core, n, &r);
        vs_moesi_bytes(&w->g, core, r.index)[at] = w->truth[n][at] = (uint8_t)rng_next(rng);
        break;
    default:
        vs_moesi_read(&w->g, core, line, &r);
        settle(w, core, n, &r);
        CHECK_MEM(vs_moesi_bytes(&w->g, core, r.index), w->truth[n], LINE);
        w->compared++;
    }
    CHECK_EQ(vs_moesi_check(&w->g, line, NULL), 0);
}

TEST(reads_what_was_written_last)
{
    static const unsigned cores[] = {1, 2, 3, 8, 64};
    for (size_t i = 0; i < sizeof(cores) / sizeof(*cores); i++) {
        struct world w = {.g = make(cores[i], true)};
        struct rng rng = rng_init(cores[i]);
        for (unsigned n = 0; n < 40000; n++) {
            w.g.sharers_supply = n / 1000 & 1;
            step(&w, &rng);
        }
        CHECK_EQ(vs_moesi_check_all(&w.g, NULL), 0);
        CHECK(w.compared > 20000);
        CHECK(cores[i] == 1 ? !w.transferred : w.transferred > 1000);
        vs_moesi_fini(&w.g);
    }
}

/* ---- checking -------------------------------------------------------------------------------- */

static void plant(const char *ops, unsigned core, enum vs_moesi_state state, const char *phrase)
{
    struct vs_moesi g = make(CORES, false);
    struct vs_diag diag = {0};
    prepare(&g, ops);
    CHECK_EQ(vs_moesi_check(&g, AT, &diag), 0);
    g.core[core].states[vs_cache_find(&g.core[core].cache, AT)] = (uint8_t)state;
    CHECK_ERR(vs_moesi_check(&g, AT, &diag), VSE_INTERNAL);
    CHECK_HAS(diag.text, phrase);
    CHECK_HAS(diag.text, "0x1000");
    CHECK_ERR(vs_moesi_check_all(&g, NULL), VSE_INTERNAL);
    CHECK_EQ(vs_moesi_check(&g, AT + LINE, NULL), 0);
    vs_moesi_fini(&g);
}

TEST(finds_states_that_cannot_be)
{
    plant("r0 r1", 0, VS_MOESI_M, "modified copy is not alone");
    plant("r0 r1", 1, VS_MOESI_E, "exclusive copy is not alone");
    plant("w0 r1 r2", 2, VS_MOESI_O, "two owners");
    plant("w0 r1 r2", 2, VS_MOESI_I, "in no state");
    plant("w0", 0, (enum vs_moesi_state)9, "in no state");
}

TEST(finds_copies_that_differ)
{
    struct vs_moesi g = make(CORES, true);
    struct vs_diag diag = {0};
    prepare(&g, "w0 r1 r2");
    CHECK_EQ(vs_moesi_check(&g, AT, &diag), 0);
    vs_moesi_bytes(&g, 2, vs_cache_find(&g.core[2].cache, AT))[LINE - 1] ^= 1;
    CHECK_ERR(vs_moesi_check(&g, AT, &diag), VSE_INTERNAL);
    CHECK_HAS(diag.text, "copies differ (cores 0 and 2)");
    vs_moesi_fini(&g);
}

TEST(refuses_impossible_groups)
{
    struct vs_moesi g;
    struct vs_diag diag = {0};
    struct vs_cache_config odd = small;
    odd.line = 33;
    CHECK_ERR(vs_moesi_init(&g, 0, &small, false, &diag), VSE_INVAL);
    CHECK_HAS(diag.text, "0 cores");
    CHECK_ERR(vs_moesi_init(&g, 65, &small, false, &diag), VSE_INVAL);
    CHECK_HAS(diag.text, "65 cores");
    CHECK_ERR(vs_moesi_init(&g, 2, &odd, false, &diag), VSE_INVAL);
    CHECK_HAS(diag.text, "33 bytes");
    vs_moesi_fini(&g);
}

/* ---- reads that keep no copy ----------------------------------------------------------------- */

TEST(lets_others_ask_before_they_write_what_was_snooped)
{
    static const struct {
        const char *ops[3];
        enum vs_moesi_state before, after;
    } rows[] = {{{"w0"}, VS_MOESI_M, VS_MOESI_O},
                {{"r0"}, VS_MOESI_E, VS_MOESI_S},
                {{"w0", "r2"}, VS_MOESI_O, VS_MOESI_O},
                {{"r2", "r0"}, VS_MOESI_S, VS_MOESI_S}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct vs_moesi g = make(CORES, true);
        struct vs_moesi_result r;
        for (unsigned k = 0; k < 3 && rows[i].ops[k]; k++)
            operate(&g, rows[i].ops[k], &r);
        CHECK_EQ(vs_moesi_state(&g, 0, AT), rows[i].before);
        vs_moesi_snoop(&g, 0, AT);
        CHECK_EQ(vs_moesi_state(&g, 0, AT), rows[i].before);
        vs_moesi_snoop(&g, 1, AT);
        CHECK_EQ(vs_moesi_state(&g, 0, AT), rows[i].after);
        CHECK_EQ(vs_moesi_state(&g, 1, AT), VS_MOESI_I);
        CHECK_EQ(vs_moesi_check_all(&g, NULL), 0);
        vs_moesi_fini(&g);
    }
}
