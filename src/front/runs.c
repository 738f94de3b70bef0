/* SPDX-License-Identifier: MIT */
#include "front/runs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/diag.h"
#include "front/manifest.h"

static bool is_folder(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static int no_memory(struct cli *cli)
{
    cli_error(cli, "out of memory");
    return CLI_USAGE;
}

static int read_folder(struct cli *cli, const char *folder, struct manifest *m)
{
    struct vs_diag diag = {.offset = -1, .chunk = -1};
    int e = manifest_read(m, folder, &diag);

    if (e == -VSE_NOTFOUND) {
        cli_error(cli, "%s: a folder without runs; 'vestige record --follow' makes folders of runs",
                  folder);
        return CLI_USAGE;
    }
    return e < 0 ? cli_report(cli, folder, e, &diag) : CLI_DONE;
}

/* Returns a path to free; NULL if there is no memory. */
static char *path_in(const char *folder, const char *name)
{
    size_t n = strlen(folder);
    char *path;

    while (n > 1 && folder[n - 1] == '/')
        n--;
    return asprintf(&path, "%.*s/%s", (int)n, folder, name) < 0 ? NULL : path;
}

/* ---- all of them ----------------------------------------------------------------------------- */

/* Takes the path over, which may be NULL. */
static bool add(struct runs *r, char *path)
{
    char **more = path ? realloc(r->paths, ((size_t)r->count + 2) * sizeof(*more)) : NULL;

    if (!more) {
        free(path);
        return false;
    }
    r->paths = more;
    r->paths[r->count++] = path;
    r->paths[r->count] = NULL;
    return true;
}

static int add_folder(struct cli *cli, struct runs *r, const char *folder)
{
    struct manifest m;
    int status = read_folder(cli, folder, &m), had = r->count;

    for (size_t i = 0; i < m.count && status == CLI_DONE; i++)
        if (m.list[i].file && !add(r, path_in(folder, m.list[i].file)))
            status = no_memory(cli);
    if (status == CLI_DONE && r->count == had) {
        cli_error(cli, "%s: none of its processes has a run", folder);
        status = CLI_BAD_DATA;
    }
    manifest_fini(&m);
    return status;
}

int runs_open(struct cli *cli, struct runs *r, int count, char **operands)
{
    int status = CLI_DONE;

    *r = (struct runs){0};
    for (int i = 0; i < count; i++) {
        if (is_folder(operands[i]))
            status = cli_worse(status, add_folder(cli, r, operands[i]));
        else if (!add(r, strdup(operands[i])))
            return no_memory(cli);
    }
    return status;
}

void runs_fini(struct runs *r)
{
    for (int i = 0; i < r->count; i++)
        free(r->paths[i]);
    free(r->paths);
    *r = (struct runs){0};
}

/* ---- one of them ----------------------------------------------------------------------------- */

/* Returns CLI_DONE with the process, which has a run, or the status after a message. */
static int choose(struct cli *cli, const char *folder, const struct manifest *m,
                  const char *process, const struct manifest_process **chosen)
{
    char *end = NULL;
    unsigned long long number = process ? strtoull(process, &end, 10) : 0;

    *chosen = NULL;
    if (process && (*end || *process < '0' || *process > '9')) {
        cli_error(cli, "--process takes a number, not '%s'", process);
        return CLI_USAGE;
    }
    if (!process && m->count > 1) {
        cli_error(cli,
                  "%s has %s processes: choose one with --process (1 to %zu, or its pid); %s "
                  "lists them",
                  folder, DIGITS(m->count), m->count, MANIFEST_NAME);
        return CLI_USAGE;
    }
    for (size_t i = m->count; i-- > 0;)
        if (process && m->list[i].pid == number)
            *chosen = &m->list[i];
    if (!process)
        *chosen = &m->list[0];
    else if (number >= 1 && number <= m->count)
        *chosen = &m->list[number - 1];
    if (!*chosen || !(*chosen)->file) {
        cli_error(cli, *chosen ? "%s: process %s has no run" : "%s: there is no process %s", folder,
                  process ? process : "1");
        return CLI_USAGE;
    }
    return CLI_DONE;
}

int runs_find(struct cli *cli, const char *operand, const char *process, char **path)
{
    const struct manifest_process *one;
    struct manifest m = {0};
    int status = CLI_DONE;

    *path = NULL;
    if (!is_folder(operand) && process) {
        cli_error(cli, "%s: --process is for a folder of runs", operand);
        return CLI_USAGE;
    }
    if (!is_folder(operand)) {
        *path = strdup(operand);
        return *path ? CLI_DONE : no_memory(cli);
    }
    status = read_folder(cli, operand, &m);
    if (status == CLI_DONE)
        status = choose(cli, operand, &m, process, &one);
    if (status == CLI_DONE && !(*path = path_in(operand, one->file)))
        status = no_memory(cli);
    manifest_fini(&m);
    return status;
}
