/* SPDX-License-Identifier: MIT */
/* vestige-gen: writes a random valid run to a file. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/gen.h"

static const char usage[] = "usage: vestige-gen -o FILE [options]\n"
                            "Writes a random valid run. The same options give the same run.\n"
                            "  -o, --output FILE     the run to write\n"
                            "  --seed N              default 1\n"
                            "  --threads N           default 4\n"
                            "  --events N            about this many; default 100000\n"
                            "  --control-only        no loads, stores and external writes\n"
                            "  --timed               with cycles\n"
                            "  --profile NAME        mixed (default), loops or branchy\n"
                            "  --chunk-events N      events per chunk at most\n"
                            "  --level N             of compression, 1 to 19\n"
                            "  --workers N           compressing threads\n"
                            "  --force               replace an existing file\n"
                            "  --help                this text\n";

enum job_option {
    OPT_OUTPUT = 'o',
    OPT_SEED = 256,
    OPT_THREADS,
    OPT_EVENTS,
    OPT_CONTROL,
    OPT_TIMED,
    OPT_PROFILE,
    OPT_CHUNK,
    OPT_LEVEL,
    OPT_WORKERS,
    OPT_FORCE,
    OPT_HELP
};

static const struct option options[] = {
    {"output", required_argument, NULL, OPT_OUTPUT},
    {"seed", required_argument, NULL, OPT_SEED},
    {"threads", required_argument, NULL, OPT_THREADS},
    {"events", required_argument, NULL, OPT_EVENTS},
    {"control-only", no_argument, NULL, OPT_CONTROL},
    {"timed", no_argument, NULL, OPT_TIMED},
    {"profile", required_argument, NULL, OPT_PROFILE},
    {"chunk-events", required_argument, NULL, OPT_CHUNK},
    {"level", required_argument, NULL, OPT_LEVEL},
    {"workers", required_argument, NULL, OPT_WORKERS},
    {"force", no_argument, NULL, OPT_FORCE},
    {"help", no_argument, NULL, OPT_HELP},
    {NULL, 0, NULL, 0},
};

struct job {
    const char *path;
    struct gen_options gen;
    struct vs_writer_options writer;
    bool help;
};

static bool number(const char *text, uint64_t low, uint64_t high, uint64_t *value)
{
    char *end;
    errno = 0;
    *value = strtoull(text, &end, 0);
    bool ok = *text >= '0' && *text <= '9' && *end == '\0' && errno == 0;
    if (ok && *value >= low && *value <= high)
        return true;
    fprintf(stderr, "vestige-gen: '%s' is not a number from %" PRIu64 " to %" PRIu64 "\n", text,
            low, high);
    return false;
}

static bool profile(const char *text, enum gen_profile *value)
{
    for (int i = 0; i < GEN_PROFILE_END; i++) {
        if (strcmp(text, gen_profile_name((enum gen_profile)i)) == 0) {
            *value = (enum gen_profile)i;
            return true;
        }
    }
    fprintf(stderr, "vestige-gen: no profile '%s': mixed, loops or branchy\n", text);
    return false;
}

static bool take(struct job *job, int option)
{
    uint64_t n = 0;
    bool ok = true;
    switch (option) {
    case OPT_OUTPUT:
        job->path = optarg;
        break;
    case OPT_SEED:
        ok = number(optarg, 0, UINT64_MAX, &job->gen.seed);
        break;
    case OPT_THREADS:
        ok = number(optarg, 1, GEN_THREADS_MAX, &n);
        job->gen.threads = (unsigned)n;
        break;
    case OPT_EVENTS:
        ok = number(optarg, 1, UINT64_MAX / 4, &job->gen.events);
        break;
    case OPT_CONTROL:
        job->gen.memory = false;
        break;
    case OPT_TIMED:
        job->gen.timed = true;
        break;
    case OPT_PROFILE:
        ok = profile(optarg, &job->gen.profile);
        break;
    case OPT_CHUNK:
        ok = number(optarg, 1, 1u << 22, &n);
        job->writer.chunk_events = (uint32_t)n;
        break;
    case OPT_LEVEL:
        ok = number(optarg, 1, 19, &n);
        job->writer.level = (int)n;
        break;
    case OPT_WORKERS:
        ok = number(optarg, 1, 256, &n);
        job->writer.workers = (unsigned)n;
        break;
    case OPT_FORCE:
        job->writer.overwrite = true;
        break;
    case OPT_HELP:
        job->help = true;
        break;
    default:
        ok = false;
    }
    return ok;
}

static bool parse(struct job *job, int argc, char **argv)
{
    int option;
    while ((option = getopt_long(argc, argv, "o:", options, NULL)) != -1) {
        if (!take(job, option))
            return false;
    }
    if (job->help)
        return true;
    if (optind < argc)
        fprintf(stderr, "vestige-gen: unexpected argument '%s'\n", argv[optind]);
    else if (!job->path)
        fprintf(stderr, "vestige-gen: no output file: give -o FILE\n");
    return optind == argc && job->path;
}

int main(int argc, char **argv)
{
    struct job job = {
        .gen = {.seed = 1, .threads = 4, .events = 100000, .memory = true},
    };
    if (!parse(&job, argc, argv))
        return 2;
    if (job.help) {
        fputs(usage, stdout);
        return 0;
    }
    struct vs_diag diag = {0};
    int error = gen_record(job.path, &job.gen, &job.writer, &diag);
    if (error != 0) {
        fprintf(stderr, "vestige-gen: %s: %s\n", job.path,
                diag.text[0] ? diag.text : vs_errstr(error));
        return 1;
    }
    printf("%s: seed %" PRIu64 ", %u threads, about %" PRIu64 " events, profile %s%s%s\n", job.path,
           job.gen.seed, job.gen.threads, job.gen.events, gen_profile_name(job.gen.profile),
           job.gen.memory ? "" : ", control flow only", job.gen.timed ? ", timed" : "");
    return 0;
}
