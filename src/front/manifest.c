/* SPDX-License-Identifier: MIT */
#include "front/manifest.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/diag.h"
#include "base/infile.h"
#include "base/outfile.h"
#include "engine/follower.h"
#include "front/json_read.h"

/* The most bytes of a list that are read. */
#define BYTES_MAX (512u << 20)
/* The version of what is written, and the only one that is read. */
#define VERSION 1

void manifest_fini(struct manifest *m)
{
    for (size_t i = 0; i < m->count; i++) {
        free(m->list[i].file);
        free(m->list[i].command);
        free(m->list[i].incomplete);
    }
    free(m->list);
    *m = (struct manifest){0};
}

int manifest_grow(struct manifest *m, size_t number)
{
    if (number <= m->count)
        return 0;
    if (vs_array_room((void **)&m->list, &m->capacity, m->count, number - m->count,
                      sizeof(*m->list)) < 0)
        return -VSE_NOMEM;
    for (; m->count < number; m->count++)
        m->list[m->count] = (struct manifest_process){.process = m->count + 1, .ended = -1};
    return 0;
}

static int path_of(const char *folder, const char *name, char path[PATH_MAX], struct vs_diag *diag)
{
    if (snprintf(path, PATH_MAX, "%s/%s", folder, name) < PATH_MAX)
        return 0;
    return vs_diag_set(diag, -VSE_IO, -1, -1, "the folder's name is too long");
}

/* ---- writing --------------------------------------------------------------------------------- */

static bool has_parent(const void *row)
{
    return ((const struct manifest_process *)row)->parent != 0;
}

static bool has_exit(const void *row)
{
    return ((const struct manifest_process *)row)->exit_known;
}

static bool has_ended(const void *row)
{
    return ((const struct manifest_process *)row)->ended >= 0;
}

const struct report_column manifest_columns[] = {
    REPORT_COUNT(manifest_process, process),
    {.json = "parent", REPORT_AT(manifest_process, parent), .known = has_parent},
    REPORT_COUNT(manifest_process, pid),
    REPORT_COUNT(manifest_process, parent_pid),
    REPORT_TEXT(manifest_process, file),
    REPORT_TEXT(manifest_process, command),
    {.json = "started", .kind = CELL_REAL, REPORT_IN(manifest_process, started), .json_places = 3},
    {.json = "ended",
     .kind = CELL_REAL,
     REPORT_IN(manifest_process, ended),
     .json_places = 3,
     .known = has_ended},
    {.json = "exit", REPORT_AT(manifest_process, exit), .known = has_exit},
    REPORT_TEXT(manifest_process, incomplete),
    REPORT_COUNT(manifest_process, instructions),
    REPORT_COUNT(manifest_process, events),
    REPORT_COUNT(manifest_process, bytes),
    {0},
};

static void print(struct out *out, const struct manifest *m)
{
    struct json j;

    json_init(&j, out, 2);
    json_object(&j, NULL);
    json_u64(&j, "version", VERSION);
    json_array(&j, "processes");
    for (size_t i = 0; i < m->count; i++)
        report_json(&j, NULL, manifest_columns, &m->list[i]);
    json_end(&j);
    json_end(&j);
}

int manifest_write(const struct manifest *m, const char *folder, struct vs_diag *diag)
{
    struct vs_outfile file = {.fd = -1};
    char path[PATH_MAX];
    struct out out;
    int e = path_of(folder, MANIFEST_NAME, path, diag);

    if (e == 0)
        e = vs_outfile_open(&file, path, true, diag);
    if (e < 0)
        return e;
    out_init(&out, file.fd);
    print(&out, m);
    errno = out_flush(&out);
    e = errno ? vs_diag_io(diag, "write", path) : vs_outfile_commit(&file, diag);
    vs_outfile_abort(&file);
    return e;
}

/* ---- reading --------------------------------------------------------------------------------- */

struct parser {
    struct json_reader json;
    struct manifest *to;
    struct vs_diag *diag;
};

static int corrupt(struct parser *p, const char *why)
{
    size_t line = 1;

    for (size_t i = 0; i < p->json.at && i < p->json.size; i++)
        line += p->json.bytes[i] == '\n';
    return vs_diag_set(p->diag, -VSE_CORRUPT, -1, -1, MANIFEST_NAME ", line %zu: %s", line, why);
}

static int not_json(struct parser *p)
{
    return corrupt(p, p->json.why);
}

/* What is read of a process; the rest is for people. */
static const struct field {
    const char *key;
    enum json_token kind;
    size_t offset;
} fields[] = {
    {"process", JSON_NUMBER, offsetof(struct manifest_process, process)},
    {"parent", JSON_NUMBER, offsetof(struct manifest_process, parent)},
    {"pid", JSON_NUMBER, offsetof(struct manifest_process, pid)},
    {"file", JSON_STRING, offsetof(struct manifest_process, file)},
    {"command", JSON_STRING, offsetof(struct manifest_process, command)},
};

static int take_number(struct parser *p, const char *key, uint64_t *to)
{
    const char *text = (const char *)p->json.text.data;
    char why[96], *end;

    errno = 0;
    *to = strtoull(text, &end, 10);
    if (!*end && !errno && *text != '-' && *text != '+')
        return 0;
    snprintf(why, sizeof(why), "'%s' is no count", key);
    return corrupt(p, why);
}

static int take_text(struct parser *p, char **to)
{
    free(*to);
    *to = strdup((const char *)p->json.text.data);
    return *to ? 0 : -VSE_NOMEM;
}

static int take_field(struct parser *p, struct manifest_process *one, const struct field *f)
{
    enum json_token token = json_next(&p->json);
    void *to = (char *)one + f->offset;
    char why[96];

    if (token == JSON_BAD)
        return not_json(p);
    if (token == JSON_NULL)
        return 0;
    if (token == f->kind)
        return token == JSON_NUMBER ? take_number(p, f->key, to) : take_text(p, to);
    snprintf(why, sizeof(why), "'%s' is no %s", f->key,
             f->kind == JSON_NUMBER ? "number" : "string");
    return corrupt(p, why);
}

static int skip_value(struct parser *p)
{
    return json_skip(&p->json, json_next(&p->json)) ? 0 : not_json(p);
}

static const struct field *find_field(const char *key)
{
    for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
        if (!strcmp(fields[i].key, key))
            return &fields[i];
    return NULL;
}

/* A run is in the folder, and nowhere else. */
static bool is_name(const char *file)
{
    return *file && !strchr(file, '/') && strcmp(file, ".") != 0 && strcmp(file, "..") != 0;
}

/* Processes are listed by number, each after its parent. */
static int check_process(struct parser *p, const struct manifest_process *one)
{
    if (one->process != p->to->count)
        return corrupt(p, "processes are not numbered in order");
    if (one->parent >= one->process || (one->parent == 0) != (one->process == 1))
        return corrupt(p, "a process has a parent that cannot be");
    if (one->file && !is_name(one->file))
        return corrupt(p, "'file' is no name of a file in the folder");
    return 0;
}

static int take_process(struct parser *p)
{
    struct manifest_process *one;
    enum json_token token;
    int e;

    if (p->to->count == VS_PROCESSES_MAX)
        return corrupt(p, "more processes than a recording can have");
    if (manifest_grow(p->to, p->to->count + 1) < 0)
        return -VSE_NOMEM;
    one = &p->to->list[p->to->count - 1];
    while ((token = json_next(&p->json)) == JSON_KEY) {
        const struct field *f = find_field((const char *)p->json.text.data);

        if ((e = f ? take_field(p, one, f) : skip_value(p)) < 0)
            return e;
    }
    return token == JSON_BAD ? not_json(p) : check_process(p, one);
}

static int take_processes(struct parser *p)
{
    enum json_token token = json_next(&p->json);
    int e;

    if (token != JSON_ARRAY)
        return token == JSON_BAD ? not_json(p) : corrupt(p, "'processes' is no array");
    while ((token = json_next(&p->json)) == JSON_OBJECT)
        if ((e = take_process(p)) < 0)
            return e;
    return token == JSON_CLOSE ? 0
           : token == JSON_BAD ? not_json(p)
                               : corrupt(p, "a process is no object");
}

static int take_version(struct parser *p)
{
    enum json_token token = json_next(&p->json);

    if (token == JSON_BAD)
        return not_json(p);
    return token == JSON_NUMBER && !strcmp((const char *)p->json.text.data, "1")
               ? 0
               : corrupt(p, "a version that this vestige does not know");
}

static int parse(struct parser *p)
{
    enum json_token token = json_next(&p->json);
    int e = 0;

    if (token != JSON_OBJECT)
        return token == JSON_BAD ? not_json(p) : corrupt(p, "no list of processes");
    while (e == 0 && (token = json_next(&p->json)) == JSON_KEY) {
        const char *key = (const char *)p->json.text.data;

        e = !strcmp(key, "version")     ? take_version(p)
            : !strcmp(key, "processes") ? take_processes(p)
                                        : skip_value(p);
    }
    if (e < 0)
        return e;
    if (token == JSON_BAD || json_next(&p->json) == JSON_BAD)
        return not_json(p);
    return p->to->count ? 0 : corrupt(p, "no processes");
}

int manifest_parse(struct manifest *m, const char *bytes, size_t size, struct vs_diag *diag)
{
    struct parser p = {.to = m, .diag = diag};
    int e;

    *m = (struct manifest){0};
    json_reader_init(&p.json, bytes, size);
    e = parse(&p);
    json_reader_fini(&p.json);
    return e;
}

/* Reads the whole file. Returns 0; -VSE_NOTFOUND; -VSE_IO; -VSE_LIMIT; -VSE_NOMEM. */
static int load(const char *path, struct vs_buf *bytes, struct vs_diag *diag)
{
    struct vs_infile f;
    int64_t n = vs_infile_open(&f, path, diag);

    if (n < 0)
        return errno == ENOENT ? -VSE_NOTFOUND : (int)n;
    do {
        if (bytes->len > BYTES_MAX)
            n = vs_diag_set(diag, -VSE_LIMIT, -1, -1, MANIFEST_NAME " is too large");
        else if (vs_buf_reserve(bytes, 65536) < 0)
            n = -VSE_NOMEM;
        else if ((n = vs_infile_bytes(&f, bytes->data + bytes->len, 65536, diag)) > 0)
            bytes->len += (size_t)n;
    } while (n > 0);
    vs_infile_close(&f);
    return (int)n;
}

/* ---- names of runs --------------------------------------------------------------------------- */

/* The number in a run's name, whether it is sealed or not; 0 if it is no such name. */
static unsigned number_of(const char *name, bool *saved)
{
    char again[MANIFEST_RUN_NAME];
    unsigned long number = strtoul(name, NULL, 10);

    if (!number || number > VS_PROCESSES_MAX)
        return 0;
    snprintf(again, sizeof(again), MANIFEST_RUN, (unsigned)number);
    *saved = false;
    if (!strcmp(again, name))
        return (unsigned)number;
    snprintf(again, sizeof(again), MANIFEST_RUN_SAVED, (unsigned)number);
    *saved = true;
    return strcmp(again, name) ? 0 : (unsigned)number;
}

/* Calls the function with each name in the folder. Returns 0; -VSE_IO; what the function
 * returned, if not 0. */
static int each_name(const char *folder, int (*use)(void *context, const char *name), void *context,
                     struct vs_diag *diag)
{
    DIR *d = opendir(folder);
    struct dirent *entry;
    int e = d ? 0 : vs_diag_io(diag, "open", folder);

    errno = 0;
    while (e == 0 && (entry = readdir(d)) != NULL) {
        e = use(context, entry->d_name);
        errno = 0;
    }
    if (e == 0 && errno)
        e = vs_diag_io(diag, "read", folder);
    if (d)
        closedir(d);
    return e;
}

static int list_name(void *context, const char *name)
{
    struct manifest *m = context;
    bool saved;
    unsigned number = number_of(name, &saved);
    char **file;

    if (!number)
        return 0;
    if (manifest_grow(m, number) < 0)
        return -VSE_NOMEM;
    file = &m->list[number - 1].file;
    /* A run that is sealed is the one that counts. */
    if (*file && saved)
        return 0;
    free(*file);
    *file = strdup(name);
    return *file ? 0 : -VSE_NOMEM;
}

int manifest_read(struct manifest *m, const char *folder, struct vs_diag *diag)
{
    struct vs_buf bytes = {0};
    char path[PATH_MAX];
    int e = path_of(folder, MANIFEST_NAME, path, diag);

    *m = (struct manifest){0};
    if (e == 0)
        e = load(path, &bytes, diag);
    if (e == 0) {
        e = manifest_parse(m, (const char *)bytes.data, bytes.len, diag);
    } else if (e == -VSE_NOTFOUND) {
        e = each_name(folder, list_name, m, diag);
        if (e == 0 && !m->count)
            e = vs_diag_set(diag, -VSE_NOTFOUND, -1, -1, "a folder without runs");
    }
    vs_buf_fini(&bytes);
    return e == -VSE_NOMEM ? vs_diag_set(diag, e, -1, -1, "out of memory") : e;
}

static bool is_ours(const char *name)
{
    bool saved;

    return !strcmp(name, MANIFEST_NAME) || number_of(name, &saved);
}

struct clearing {
    const char *folder;
    struct vs_diag *diag;
};

static int clear_name(void *context, const char *name)
{
    const struct clearing *c = context;
    char path[PATH_MAX];
    int e;

    if (!is_ours(name))
        return 0;
    e = path_of(c->folder, name, path, c->diag);
    return e == 0 && unlink(path) < 0 ? vs_diag_io(c->diag, "remove", path) : e;
}

int manifest_clear(const char *folder, struct vs_diag *diag)
{
    struct clearing c = {folder, diag};

    return each_name(folder, clear_name, &c, diag);
}

static int find_name(void *context, const char *name)
{
    (void)context;
    return is_ours(name);
}

int manifest_there(const char *folder, struct vs_diag *diag)
{
    return each_name(folder, find_name, NULL, diag);
}
