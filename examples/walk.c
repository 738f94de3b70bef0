/* SPDX-License-Identifier: MIT */
/* usage: walk run.vest   Prints the ten instructions that retired most often, with their code and
 * the routine that they belong to. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <vestige/vestige.h>

enum { PLACES = 1 << 16, TOP = 10 };

struct place {
    struct vs_retired insn;
    uint64_t count;
};

/* Counts an instruction in a table without room to grow. Returns 0, or -VSE_LIMIT if it is full. */
static int count(struct place *places, const struct vs_retired *insn)
{
    for (unsigned i = 0; i < PLACES; i++) {
        struct place *p = &places[(insn->pc * 0x9e3779b97f4a7c15 + i) % PLACES];
        if (p->count && p->insn.pc != insn->pc)
            continue;
        p->insn = *insn;
        p->count++;
        return 0;
    }
    return -VSE_LIMIT;
}

static int by_count(const void *a, const void *b)
{
    const struct place *x = (const struct place *)a, *y = (const struct place *)b;
    return x->count != y->count      ? (x->count < y->count) - (x->count > y->count)
           : x->insn.pc < y->insn.pc ? -1
                                     : x->insn.pc > y->insn.pc;
}

static void print(const struct vs_insns *w, struct vs_names *names, const struct place *p)
{
    struct vs_name name;
    char text[128];
    name.size = sizeof(name);
    if (vs_insns_text(w, &p->insn, text, sizeof(text)) < 0 ||
        vs_names_at(names, p->insn.pc, &name) < 0)
        return;
    printf("%10" PRIu64 "  %" PRIx64 "  %-40s %s+%" PRIu64 "\n", p->count, p->insn.pc, text,
           name.routine ? name.routine : "?", name.offset);
}

static int walk(struct vs_reader *run, struct vs_names *names, struct place *places,
                struct vs_diag *diag)
{
    const struct vs_retired *list;
    struct vs_insns *w;
    uint64_t total = 0;
    int64_t n = vs_insns_open(&w, run, diag);
    while (n >= 0 && (n = vs_insns_next(w, &list, diag)) > 0) {
        total += (uint64_t)n;
        for (int64_t i = 0; i < n; i++)
            if (count(places, &list[i]) < 0)
                fprintf(stderr, "walk: too many places\n");
    }
    if (n == -VSE_END) {
        printf("%" PRIu64 " instructions\n", total);
        qsort(places, PLACES, sizeof(*places), by_count);
        for (unsigned i = 0; i < TOP && places[i].count; i++)
            print(w, names, &places[i]);
    }
    vs_insns_close(w);
    return n == -VSE_END ? 0 : (int)n;
}

int main(int argc, char **argv)
{
    struct place *places = (struct place *)calloc(PLACES, sizeof(*places));
    struct vs_names *names = NULL;
    struct vs_reader *run = NULL;
    struct vs_diag diag;
    if (argc != 2 || !places) {
        fprintf(stderr, "usage: walk run.vest\n");
        free(places);
        return 2;
    }
    int error = vs_run_open(&run, argv[1], VS_OPEN_DEFAULT, &diag);
    if (!error)
        error = vs_names_open(&names, run, &diag);
    if (!error)
        error = walk(run, names, places, &diag);
    if (error)
        fprintf(stderr, "walk: %s: %s\n", argv[1], diag.text);
    vs_names_close(names);
    vs_reader_close(run);
    free(places);
    return error ? 1 : 0;
}
