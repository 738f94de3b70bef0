/* SPDX-License-Identifier: MIT */
#include "published/traptor_tools.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/array.h"
#include "published/mtrace.h"

/* ---- sizes ----------------------------------------------------------------------------------- */

const char *traptor_gshare_name(unsigned number)
{
    static const char *const names[TRAPTOR_GSHARES] = {"0", "256", "512", "1024", "2048", "4096"};
    return names[number];
}

const char *traptor_ras_name(unsigned number)
{
    static const char *const names[TRAPTOR_RASES] = {"0", "8", "16", "32"};
    return names[number];
}

const char *traptor_ibtb_name(unsigned number)
{
    static const char *const names[TRAPTOR_IBTBS] = {"0", "16", "32", "64"};
    return names[number];
}

unsigned traptor_entries(const char *name)
{
    return (unsigned)strtoul(name, NULL, 10);
}

/* ---- sets ------------------------------------------------------------------------------------ */

static void set_free(struct traptor_set *s)
{
    if (!s)
        return;
    vs_gshare_fini(&s->gshare);
    vs_ibtb_fini(&s->ibtb);
    vs_ras_fini(&s->ras);
    free(s);
}

static struct traptor_set *set_new(const struct traptor_config *c)
{
    const struct vs_ibtb_config ibtb = {.entries = c->ibtb, .oracle = c->untagged};
    struct traptor_set *s = calloc(1, sizeof(*s));
    int e = s ? 0 : -VSE_NOMEM;
    if (!e && c->gshare)
        e = vs_gshare_init(&s->gshare, c->gshare, VS_GSHARE_PUBLISHED);
    if (!e)
        e = vs_ibtb_init(&s->ibtb, &ibtb);
    if (!e)
        e = vs_ras_init(&s->ras, c->ras);
    if (!e)
        return s;
    set_free(s);
    return NULL;
}

int traptor_init(struct traptor *t)
{
    if (!t->config.shared)
        return 0;
    t->shared = set_new(&t->config);
    return t->shared ? 0 : -VSE_NOMEM;
}

void traptor_fini(struct traptor *t)
{
    for (size_t i = 0; i < t->count && !t->config.shared; i++)
        set_free(t->threads[i].set);
    set_free(t->shared);
    free(t->threads);
    t->threads = NULL;
    t->shared = NULL;
    t->count = 0;
}

/* ---- events ---------------------------------------------------------------------------------- */

static int know_thread(struct traptor *t, unsigned thread)
{
    void *threads = t->threads;
    int e = 0;
    if (thread >= t->count) {
        e = vs_array_room(&threads, &t->capacity, t->count, thread + 1 - t->count,
                          sizeof(*t->threads));
        t->threads = threads;
        while (!e && t->count <= thread)
            t->threads[t->count++] = (struct traptor_thread){.set = NULL};
    }
    if (!e && !t->threads[thread].set) /* only when needed: numbers come from outside */
        t->threads[thread].set = t->shared ? t->shared : set_new(&t->config);
    return e || t->threads[thread].set ? e : -VSE_NOMEM;
}

int traptor_count(struct traptor *t, unsigned thread, unsigned icount)
{
    int e = thread < t->count && t->threads[thread].set ? 0 : know_thread(t, thread);
    if (!e)
        t->threads[thread].icnt += icount;
    return e;
}

static void note(struct traptor_share *s, bool right)
{
    s->total++;
    s->right += right;
}

static bool predict_outcome(struct traptor *t, struct traptor_set *s, uint64_t pc, bool taken)
{
    bool right = t->config.gshare && vs_gshare_update(&s->gshare, pc, taken) == taken;
    note(&t->gshare, right);
    note(&t->conditional, right);
    return right;
}

static bool predict_target(struct traptor *t, struct traptor_set *s, uint64_t pc, uint64_t target,
                           unsigned flags)
{
    uint64_t address;
    bool right;
    if (flags & VS_BR_RETURN) {
        right = vs_ras_pop(&s->ras, &address) && address == target;
        note(&t->ras, right);
    } else {
        right = vs_ibtb_update(&s->ibtb, pc, target);
        note(&t->ibtb, right);
    }
    note(&t->indirect, right);
    return right;
}

static struct traptor_message message(struct traptor_thread *thread, enum traptor_kind kind,
                                      uint32_t bcnt, uint64_t target)
{
    struct traptor_message m = {kind, bcnt, thread->icnt, target};
    thread->bcnt = thread->icnt = 0;
    return m;
}

struct traptor_message traptor_branch(struct traptor *t, unsigned number, uint64_t pc,
                                      uint64_t target, unsigned flags, unsigned size)
{
    struct traptor_thread *thread = &t->threads[number];
    struct traptor_set *s = thread->set;
    enum traptor_kind kind = TRAPTOR_NOTHING;
    if (flags & VS_BR_INDIRECT) {
        thread->bcnt++;
        t->classes[0]++;
        if (!predict_target(t, s, pc, target, flags))
            kind = TRAPTOR_TARGET;
    } else if (flags & VS_BR_COND) {
        thread->bcnt++;
        t->classes[flags & VS_BR_TAKEN ? 2 : 3]++;
        if (!predict_outcome(t, s, pc, flags & VS_BR_TAKEN))
            kind = TRAPTOR_OUTCOME;
    } else {
        t->classes[1]++;
    }
    if (flags & VS_BR_CALL)
        vs_ras_push(&s->ras, pc + size);
    if (kind == TRAPTOR_NOTHING)
        return (struct traptor_message){.kind = kind};
    return message(thread, kind, thread->bcnt, target);
}

struct traptor_message traptor_exception(struct traptor *t, unsigned number, uint64_t handler)
{
    t->exceptions++;
    return message(&t->threads[number], TRAPTOR_EXCEPTION, 0, handler);
}

/* ---- statistics ------------------------------------------------------------------------------ */

static void print_share(struct out *out, const struct traptor_share *s, const char *what,
                        const char *part)
{
    char name[64];
    out_printf(out, "%" PRIu64 " %s\n", s->total, what);
    snprintf(name, sizeof(name), "%s predicted", part);
    mtrace_share(out, s->right, s->total, name);
    snprintf(name, sizeof(name), "%s mispredicted", part);
    mtrace_share(out, s->total - s->right, s->total, name);
}

void traptor_statistics(const struct traptor *t, struct out *out, const char *tool)
{
    out_printf(out,
               "%s: Recorded %" PRIu64 " direct conditional branches, indirect unconditional "
               "branches, and exceptions\n",
               tool, t->conditional.total + t->indirect.total + t->exceptions);
    print_share(out, &t->conditional, "conditional direct branches", "outcomes");
    print_share(out, &t->indirect, "unconditional indirect branches", "targets");
    out_printf(out, "%" PRIu64 " exceptions\n", t->exceptions);
}

static void print_structure(struct out *out, const struct traptor_share *s, const char *name)
{
    double percent = s->total ? 100.0 * (double)s->right / (double)s->total : 0;
    out_printf(out, "\t%" PRIu64 "\t,%" PRIu64 " ( %%%.2f ) %s\n", s->right, s->total, percent,
               name);
}

void traptor_structures(const struct traptor *t, struct out *out)
{
    out_str(out, "; TRaptor structure stats\n\tcorrect ,Total(%hitRate) structure type\n");
    print_structure(out, &t->gshare, "gshare");
    print_structure(out, &t->ras, "ras");
    print_structure(out, &t->ibtb, "ibtb");
}
