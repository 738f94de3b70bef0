/* SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench.h"

struct row {
    char group[32], name[32], metric[48], unit[24];
    double value, target;
    int better;
};

struct bench {
    struct row *rows;
    size_t count, capacity;
    unsigned repeats;
    double scale;
    const char *folder, *only;
};

static const struct {
    const char *name;
    void (*run)(struct bench *b);
} benches[] = {
    {"vest", bench_vest},   {"record", bench_record},   {"long", bench_long},
    {"sim", bench_sim},     {"flow", bench_flow},       {"standards", bench_standards},
    {"data", bench_data},   {"address", bench_address}, {"replay", bench_replay},
    {"debug", bench_debug}, {"export", bench_export},
};

void bench_fail(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    fprintf(stderr, "bench: ");
    vfprintf(stderr, fmt, ap);
    fprintf(stderr, "\n");
    va_end(ap);
    exit(2);
}

double bench_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

unsigned bench_repeats(const struct bench *b)
{
    return b->repeats;
}

double bench_scale(const struct bench *b)
{
    return b->scale;
}

const char *bench_folder(const struct bench *b)
{
    return b->folder;
}

bool bench_wants(const struct bench *b, const char *run)
{
    return !b->only || strcmp(b->only, run) == 0;
}

void bench_row(struct bench *b, const char *group, const char *name, const char *metric,
               double value, const char *unit, int better, double target)
{
    struct row *r;

    if (b->count == b->capacity) {
        b->capacity = b->capacity ? b->capacity * 2 : 64;
        b->rows = realloc(b->rows, b->capacity * sizeof(*b->rows));
        if (!b->rows)
            bench_fail("out of memory");
    }
    r = &b->rows[b->count++];
    memset(r, 0, sizeof(*r));
    snprintf(r->group, sizeof(r->group), "%s", group);
    snprintf(r->name, sizeof(r->name), "%s", name);
    snprintf(r->metric, sizeof(r->metric), "%s", metric);
    snprintf(r->unit, sizeof(r->unit), "%s", unit);
    r->value = value;
    r->better = better;
    r->target = target;
    fprintf(stderr, "  %s %s: %s %.4g %s\n", group, name, metric, value, unit);
}

static const char *verdict(const struct row *r)
{
    if (r->target <= 0)
        return "";
    return (r->better > 0 ? r->value >= r->target : r->value <= r->target) ? "met" : "NOT MET";
}

static void print_table(const struct bench *b)
{
    printf("%-22s %-14s %-30s %12s %-10s %10s %s\n", "what", "run", "metric", "value", "unit",
           "target", "");
    for (size_t i = 0; i < b->count; i++) {
        const struct row *r = &b->rows[i];
        char target[32] = "";

        if (r->target > 0)
            snprintf(target, sizeof(target), "%.4g", r->target);
        printf("%-22s %-14s %-30s %12.4g %-10s %10s %s\n", r->group, r->name, r->metric, r->value,
               r->unit, target, verdict(r));
    }
}

static void write_json(const struct bench *b, const char *path)
{
    FILE *f = fopen(path, "w");

    if (!f)
        bench_fail("cannot write %s", path);
    fprintf(f, "{\"repeats\": %u, \"rows\": [\n", b->repeats);
    for (size_t i = 0; i < b->count; i++) {
        const struct row *r = &b->rows[i];

        fprintf(f,
                "  {\"what\": \"%s\", \"run\": \"%s\", \"metric\": \"%s\", \"value\": %.6g, "
                "\"unit\": \"%s\", \"better\": %d, \"target\": %.6g}%s\n",
                r->group, r->name, r->metric, r->value, r->unit, r->better, r->target,
                i + 1 < b->count ? "," : "");
    }
    fprintf(f, "]}\n");
    if (fclose(f) != 0)
        bench_fail("cannot write %s", path);
}

static void usage(FILE *f)
{
    fprintf(f, "usage: bench [--json FILE] [--folder DIR] [--repeats N] [--scale X] [NAME...]\n"
               "\n"
               "Measures and prints a table. NAME selects benchmarks:");
    for (size_t i = 0; i < sizeof(benches) / sizeof(benches[0]); i++)
        fprintf(f, " %s", benches[i].name);
    fprintf(f, "\n\n"
               "  --json FILE      also write the rows as JSON\n"
               "  --folder DIR     scratch files go here (default: $TMPDIR or /tmp)\n"
               "  --repeats N      take the best of N (default 5)\n"
               "  --scale X        multiply the amount of work (default 1)\n"
               "  --only RUN       in long, only this program\n");
}

int main(int argc, char **argv)
{
    struct bench b = {.repeats = 5, .scale = 1, .folder = getenv("TMPDIR")};
    const char *json = NULL;
    bool chosen = false;
    int i = 1;

    if (!b.folder || !*b.folder)
        b.folder = "/tmp";
    for (; i < argc && strncmp(argv[i], "--", 2) == 0; i++) {
        if (strcmp(argv[i], "--help") == 0) {
            usage(stdout);
            return 0;
        }
        if (i + 1 == argc)
            bench_fail("%s: unknown option, or it needs a value; see --help", argv[i]);
        if (strcmp(argv[i], "--json") == 0)
            json = argv[++i];
        else if (strcmp(argv[i], "--folder") == 0)
            b.folder = argv[++i];
        else if (strcmp(argv[i], "--repeats") == 0 && atoi(argv[i + 1]) > 0)
            b.repeats = (unsigned)atoi(argv[++i]);
        else if (strcmp(argv[i], "--scale") == 0 && atof(argv[i + 1]) > 0)
            b.scale = atof(argv[++i]);
        else if (strcmp(argv[i], "--only") == 0)
            b.only = argv[++i];
        else
            bench_fail("%s %s: not understood; see --help", argv[i], argv[i + 1]);
    }
    for (size_t k = 0; k < sizeof(benches) / sizeof(benches[0]); k++) {
        bool wanted = i == argc;

        for (int a = i; a < argc; a++)
            wanted |= strcmp(argv[a], benches[k].name) == 0;
        if (wanted)
            benches[k].run(&b);
        chosen |= wanted;
    }
    if (!chosen)
        bench_fail("no such benchmark; see --help");
    print_table(&b);
    if (json)
        write_json(&b, json);
    free(b.rows);
    return 0;
}
