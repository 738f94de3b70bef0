/* SPDX-License-Identifier: MIT */
#include "cli/wishing.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/infile.h"
#include "engine/interrupt.h"

/* Gives what /proc says about a process after this word. Returns whether it is there. */
static bool find_status(int process, const char *word, char *text, size_t capacity)
{
    struct vs_infile f;
    char path[64];
    bool found = false;

    snprintf(path, sizeof(path), "/proc/%d/status", process);
    if (vs_infile_open(&f, path, NULL) == 0)
        while (!found && vs_infile_line(&f, NULL) >= 0) {
            const char *line = (const char *)f.text.data;

            found = !strncmp(line, word, strlen(word));
            if (found)
                snprintf(text, capacity, "%s",
                         line + strlen(word) + strspn(line + strlen(word), ": \t"));
        }
    vs_infile_close(&f);
    return found;
}

/* Whether the process records a program so that it can be paused. It catches both signals then. */
static bool is_recorder(int process)
{
    const uint64_t both = UINT64_C(1) << (VS_SIGNAL_RESUME - 1) | UINT64_C(1)
                                                                      << (VS_SIGNAL_PAUSE - 1);
    char words[4096], path[64], mask[32];
    bool records = false, paused = false;
    size_t size = 0;
    FILE *f;

    if (!find_status(process, "SigCgt", mask, sizeof(mask)) ||
        (strtoull(mask, NULL, 16) & both) != both)
        return false;
    snprintf(path, sizeof(path), "/proc/%d/cmdline", process);
    if (!(f = fopen(path, "re")))
        return false;
    size = fread(words, 1, sizeof(words) - 1, f);
    fclose(f);
    words[size] = 0;
    for (size_t at = 0; at < size; at += strlen(words + at) + 1) {
        records |= !strcmp(words + at, "record");
        paused |= !strcmp(words + at, "--paused");
    }
    return records && paused;
}

int wish(struct cli *cli, const char *process, int signal)
{
    char *end, parent[32] = "";
    long number = strtol(process, &end, 10);

    if (!*process || *end || number <= 0 || number > 1 << 30) {
        cli_error(cli, "'%s' is not a process ID", process);
        return CLI_USAGE;
    }
    if (!is_recorder((int)number) && find_status((int)number, "PPid", parent, sizeof(parent)) &&
        is_recorder(atoi(parent)))
        number = atoi(parent);
    if (!is_recorder((int)number)) {
        cli_error(cli, "process %s is neither a 'vestige record --paused' nor its program",
                  process);
        return CLI_USAGE;
    }
    if (kill((pid_t)number, signal) < 0) {
        cli_error(cli, "process %ld cannot be told: %s", number, strerror(errno));
        return CLI_USAGE;
    }
    return CLI_DONE;
}
