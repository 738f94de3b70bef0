/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "wl.h"

static void usage(const struct wl_program *p, FILE *f)
{
    fprintf(f, "usage: %s%s [-n SIZE] [-s SEED]%s [-c]\n\n%s\n\n", p->name,
            p->threads_max > 1 ? " [-p THREADS]" : "", p->modes ? " [-m MODE]" : "", p->about);
    if (p->threads_max > 1)
        fprintf(f, "  -p THREADS  1 to %u (default 1)\n", p->threads_max);
    fprintf(f, "  -n SIZE     %s, %" PRIu64 " to %" PRIu64 " (default %" PRIu64 ")\n", p->size,
            p->size_min, p->size_max, p->size_default);
    fprintf(f, "  -s SEED     of the input (default 1)\n");
    if (p->modes) {
        fprintf(f, "  -m MODE    ");
        for (unsigned i = 0; p->modes[i]; i++)
            fprintf(f, " %s%s", p->modes[i], i ? "" : " (default)");
        fprintf(f, "\n");
    }
    fprintf(f, "  -c          check the result\n"
               "  -h          this text\n");
}

__attribute__((noreturn)) static void refuse(const struct wl_program *p, const char *what,
                                             const char *value)
{
    fprintf(stderr, "%s: %s '%s'\n", p->name, what, value);
    usage(p, stderr);
    exit(2);
}

static uint64_t number(const struct wl_program *p, const char *what, const char *text, uint64_t min,
                       uint64_t max)
{
    char *end;
    uint64_t v;

    errno = 0;
    v = strtoull(text, &end, 0);
    if (errno || end == text || *end || strchr(text, '-') || v < min || v > max)
        refuse(p, what, text);
    return v;
}

static unsigned mode(const struct wl_program *p, const char *text)
{
    for (unsigned i = 0; p->modes[i]; i++)
        if (strcmp(p->modes[i], text) == 0)
            return i;
    refuse(p, "no such mode:", text);
}

struct wl_args wl_args(const struct wl_program *p, int argc, char **argv)
{
    struct wl_args a = {.threads = 1, .size = p->size_default, .seed = 1};
    char options[16];
    int c;

    snprintf(options, sizeof(options), ":hcn:s:%s%s", p->threads_max > 1 ? "p:" : "",
             p->modes ? "m:" : "");
    while ((c = getopt(argc, argv, options)) != -1) {
        switch (c) {
        case 'h':
            usage(p, stdout);
            exit(0);
        case 'c':
            a.check = true;
            break;
        case 'n':
            a.size = number(p, "not a size in range:", optarg, p->size_min, p->size_max);
            break;
        case 's':
            a.seed = number(p, "not a seed:", optarg, 0, UINT64_MAX);
            break;
        case 'p':
            a.threads = (unsigned)number(p, "not a number of threads:", optarg, 1, p->threads_max);
            break;
        case 'm':
            a.mode = mode(p, optarg);
            break;
        default:
            refuse(p, "not understood:", argv[optind - 1]);
        }
    }
    if (optind < argc)
        refuse(p, "not understood:", argv[optind]);
    return a;
}

int wl_finish(const struct wl_program *p, const struct wl_args *a, uint64_t checksum, bool passed)
{
    printf("%s: checksum %016" PRIx64 "\n", p->name, checksum);
    if (a->check)
        printf("%s: check %s\n", p->name, passed ? "passed" : "FAILED");
    if (fflush(stdout) != 0) {
        perror(p->name);
        return 1;
    }
    return a->check && !passed;
}
