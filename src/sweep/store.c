/* SPDX-License-Identifier: MIT */
#include "sweep/store.h"

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "base/diag.h"
#include "base/infile.h"
#include "base/outfile.h"
#include "base/sha256.h"
#include "vestige/version.h"

enum { NAME_DIGITS = 32, FILE_MAX = 1 << 26 };

static const char head[] = "vestige results 1\n";

static int no_memory(struct vs_diag *diag)
{
    return vs_diag_set(diag, -VSE_NOMEM, -1, -1, "out of memory");
}

int vs_buf_print(struct vs_buf *b, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (n < 0 || vs_buf_reserve(b, (size_t)n + 1))
        return -VSE_NOMEM;
    va_start(args, format);
    vsnprintf((char *)b->data + b->len, (size_t)n + 1, format, args);
    va_end(args);
    b->len += (size_t)n;
    return 0;
}

/* ---- the folder ------------------------------------------------------------------------------ */

int vs_store_folder(const char *path, struct vs_diag *diag)
{
    struct stat st;
    if (mkdir(path, 0777) == 0 || (errno == EEXIST && stat(path, &st) == 0 && S_ISDIR(st.st_mode)))
        return 0;
    if (errno == EEXIST)
        errno = ENOTDIR;
    return vs_diag_io(diag, "cannot make the folder", path);
}

char *vs_store_path(const struct vs_store *s, const char *name)
{
    char *path;
    return asprintf(&path, "%s/%s", s->folder, name) < 0 ? NULL : path;
}

int vs_store_open(struct vs_store *s, const char *folder, const char *how, bool read_only,
                  struct vs_diag *diag)
{
    *s = (struct vs_store){.folder = strdup(folder), .how = how, .read_only = read_only};
    if (gethostname(s->host, sizeof(s->host) - 1) || strchr(s->host, '/'))
        s->host[0] = 0;
    char *results = s->folder ? vs_store_path(s, "results") : NULL;
    int e = results ? 0 : no_memory(diag);
    if (!e && !read_only)
        e = vs_store_folder(folder, diag);
    if (!e && !read_only)
        e = vs_store_folder(results, diag);
    free(results);
    if (e)
        vs_store_fini(s);
    return e;
}

void vs_store_fini(struct vs_store *s)
{
    free(s->folder);
    *s = (struct vs_store){0};
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Takes a line off [*text, end), which becomes a string in place. NULL: there is no whole line. */
static char *take_line(char **text, char *end)
{
    char *line = *text, *feed = memchr(line, '\n', (size_t)(end - line));
    if (!feed || memchr(line, 0, (size_t)(feed - line)))
        return NULL;
    *feed = 0;
    *text = feed + 1;
    return line;
}

/* What follows the word and a blank; NULL if the line begins with another word. */
static const char *after(const char *line, const char *word)
{
    size_t n = strlen(word);
    return line && !strncmp(line, word, n) && line[n] == ' ' ? line + n + 1 : NULL;
}

/* The last line is whole, and its checksum that of the rest, which then ends at *end. */
static bool is_whole(const char *text, size_t size, size_t *end)
{
    enum { LAST = 13 }; /* "end 01234567\n" */
    char wanted[LAST + 1];
    if (size < LAST)
        return false;
    *end = size - LAST;
    snprintf(wanted, sizeof(wanted), "end %08x\n", vs_crc32c(0, text, *end));
    return !memcmp(text + *end, wanted, LAST);
}

static int parse_units(char *at, char *end, const char *run, vs_store_take *take, void *context,
                       struct vs_diag *diag)
{
    int e = 0;
    while (at < end && !e) {
        struct vs_store_unit unit = {0};
        const char *line = take_line(&at, end), *more = line ? take_line(&at, end) : NULL;
        unit.spec = after(line, "unit");
        if (!unit.spec)
            unit.proof = (unit.spec = after(line, "proof"));
        unit.wrong = after(more, "!");
        unit.values = after(more, "=");
        if (!unit.spec || (!unit.wrong && !unit.values))
            return vs_diag_set(diag, -VSE_CORRUPT, -1, -1,
                               "it has another line where a unit "
                               "should be");
        e = take(context, run, &unit, diag);
    }
    return e;
}

int vs_store_parse(const char *text, size_t size, const char *how, vs_store_take *take,
                   void *context, struct vs_diag *diag)
{
    size_t end = 0;
    char *copy = malloc(size + 1), *at = copy;
    int e = copy ? 0 : no_memory(diag);
    if (!e && !is_whole(text, size, &end))
        e = vs_diag_set(diag, -VSE_CORRUPT, -1, -1, "its checksum is wrong");
    if (!e) {
        memcpy(copy, text, end);
        const size_t skip = sizeof(head) - 1;
        const char *version, *run, *with;
        bool ours = end >= skip && !memcmp(copy, head, skip);
        at = ours ? copy + skip : copy;
        version = ours ? after(take_line(&at, copy + end), "version") : NULL;
        run = version ? after(take_line(&at, copy + end), "run") : NULL;
        with = run ? after(take_line(&at, copy + end), "with") : NULL;
        if (!with)
            e = vs_diag_set(diag, -VSE_CORRUPT, -1, -1, "it does not begin as results do");
        else if (!strcmp(version, vs_version()) && !strcmp(with, how))
            e = parse_units(at, copy + end, run, take, context, diag);
    }
    free(copy);
    return e;
}

/* Reads a whole file. Returns 0; -VSE_NOTFOUND (it is gone); -VSE_IO; -VSE_NOMEM; -VSE_LIMIT. */
static int read_file(const char *path, struct vs_buf *text, struct vs_diag *diag)
{
    struct vs_infile *f = malloc(sizeof(*f));
    int64_t n = 0;
    text->len = 0;
    int e = f ? vs_infile_open(f, path, diag) : no_memory(diag);
    if (e) {
        free(f);
        return e == -VSE_IO && access(path, F_OK) ? -VSE_NOTFOUND : e;
    }
    do {
        e = text->len > FILE_MAX ? -VSE_LIMIT : vs_buf_reserve(text, VS_INFILE_BUFFER);
        if (!e)
            n = vs_infile_bytes(f, text->data + text->len, VS_INFILE_BUFFER, diag);
        if (!e && n > 0)
            text->len += (size_t)n;
    } while (!e && n > 0);
    vs_infile_close(f);
    free(f);
    return e == -VSE_NOMEM ? no_memory(diag) : e ? e : n < 0 ? (int)n : 0;
}

static int is_result(const struct dirent *entry)
{
    return strlen(entry->d_name) == NAME_DIGITS &&
           strspn(entry->d_name, "0123456789abcdef") == NAME_DIGITS;
}

static int is_part(const struct dirent *entry)
{
    return strlen(entry->d_name) == 2 && strspn(entry->d_name, "0123456789abcdef") == 2;
}

/* Lists a folder in order. Returns how many; -VSE_IO. */
static int list_folder(const char *path, struct dirent ***entries,
                       int (*filter)(const struct dirent *), struct vs_diag *diag)
{
    int n = scandir(path, entries, filter, alphasort);
    return n < 0 ? vs_diag_io(diag, "cannot list", path) : n;
}

/* Adds the file's time to what is read of it. */
struct stamping {
    vs_store_take *take;
    void *context;
    int64_t when;
};

static int stamp(void *context, const char *run, const struct vs_store_unit *unit,
                 struct vs_diag *diag)
{
    const struct stamping *s = context;
    struct vs_store_unit stamped = *unit;
    stamped.when = s->when;
    return s->take(s->context, run, &stamped, diag);
}

static int64_t time_of(const char *path)
{
    struct stat st;
    return stat(path, &st) ? 0 : (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
}

static int read_result(const struct vs_store *s, const char *path, struct vs_buf *text,
                       vs_store_take *take, void *context, unsigned *damaged, struct vs_diag *diag)
{
    struct stamping stamping = {take, context, time_of(path)};
    int e = read_file(path, text, diag);
    if (e == -VSE_NOTFOUND)
        return 0;
    if (!e)
        e = vs_store_parse((const char *)text->data, text->len, s->how, stamp, &stamping, diag);
    if (e != -VSE_CORRUPT && e != -VSE_LIMIT)
        return e;
    ++*damaged;
    if (s->read_only)
        return 0;
    return unlink(path) && errno != ENOENT ? vs_diag_io(diag, "cannot remove the damaged", path)
                                           : 0;
}

static int read_part(const struct vs_store *s, const char *folder, struct vs_buf *text,
                     vs_store_take *take, void *context, unsigned *damaged, struct vs_diag *diag)
{
    struct dirent **entries;
    int n = list_folder(folder, &entries, is_result, diag), e = n < 0 ? n : 0;
    for (int i = 0; i < n; i++) {
        char *path;
        if (!e && asprintf(&path, "%s/%s", folder, entries[i]->d_name) < 0)
            e = no_memory(diag);
        else if (!e) {
            e = read_result(s, path, text, take, context, damaged, diag);
            free(path);
        }
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
    return e;
}

int vs_store_read(const struct vs_store *s, vs_store_take *take, void *context, unsigned *damaged,
                  struct vs_diag *diag)
{
    struct dirent **entries = NULL;
    struct vs_buf text = {0};
    char *results = vs_store_path(s, "results");
    bool nothing = results && s->read_only && access(results, F_OK) && errno == ENOENT;
    int n = !results  ? no_memory(diag)
            : nothing ? 0
                      : list_folder(results, &entries, is_part, diag);
    int e = n < 0 ? n : 0;
    *damaged = 0;
    for (int i = 0; i < n; i++) {
        char *folder;
        if (!e && asprintf(&folder, "%s/%s", results, entries[i]->d_name) < 0)
            e = no_memory(diag);
        else if (!e) {
            e = read_part(s, folder, &text, take, context, damaged, diag);
            free(folder);
        }
        free(entries[i]);
    }
    free(entries);
    free(results);
    vs_buf_fini(&text);
    return e;
}

/* ---- writing --------------------------------------------------------------------------------- */

static const char *kind(const struct vs_store_unit *unit)
{
    return unit->proof ? "proof" : "unit";
}

/* The name follows from what is measured, not from what came out. */
static void begin_name(const struct vs_store *s, const char *run, struct vs_sha256 *sum)
{
    vs_sha256_init(sum);
    vs_sha256_add_text(sum, vs_version());
    vs_sha256_add_text(sum, run);
    vs_sha256_add_text(sum, s->how);
}

static void add_to_name(struct vs_sha256 *sum, const char *spec, bool proof)
{
    vs_sha256_add_text(sum, proof ? "proof" : "unit");
    vs_sha256_add_text(sum, spec);
}

static void end_name(struct vs_sha256 *sum, char name[VS_SHA256_TEXT])
{
    vs_sha256_end(sum, name);
    name[NAME_DIGITS] = 0;
}

static void name_batch(const struct vs_store *s, const char *run, const struct vs_store_unit *units,
                       size_t count, char name[VS_SHA256_TEXT])
{
    struct vs_sha256 sum;
    begin_name(s, run, &sum);
    for (size_t i = 0; i < count; i++)
        add_to_name(&sum, units[i].spec, units[i].proof);
    end_name(&sum, name);
}

bool vs_store_has(const struct vs_store *s, const char *run, const struct vs_sweep_unit *units,
                  size_t count)
{
    char name[VS_SHA256_TEXT], *path;
    struct vs_sha256 sum;
    begin_name(s, run, &sum);
    for (size_t i = 0; i < count; i++)
        add_to_name(&sum, units[i].spec, units[i].proof);
    end_name(&sum, name);
    if (asprintf(&path, "%s/results/%.2s/%s", s->folder, name, name) < 0)
        return false;
    bool there = access(path, F_OK) == 0;
    free(path);
    return there;
}

static int print_batch(const struct vs_store *s, struct vs_buf *text, const char *run,
                       const struct vs_store_unit *units, size_t count)
{
    int e = vs_buf_print(text, "%sversion %s\nrun %s\nwith %s\n", head, vs_version(), run, s->how);
    for (size_t i = 0; i < count && !e; i++) {
        e = vs_buf_print(text, "%s %s\n", kind(&units[i]), units[i].spec);
        if (!e && units[i].wrong)
            e = vs_buf_print(text, "! %s\n", units[i].wrong);
        else if (!e)
            e = vs_buf_print(text, "= %s\n", units[i].values);
    }
    return e ? e : vs_buf_print(text, "end %08x\n", vs_crc32c(0, text->data, text->len));
}

/* The file is first one of this process's own, since another one may be writing the same batch; and
 * in another folder, so that what a killed one leaves can be told from results. */
static int write_file(const struct vs_store *s, const char *name, const struct vs_buf *text,
                      struct vs_diag *diag)
{
    char *folder = NULL, *path = NULL, *own = NULL;
    struct vs_outfile f = {.fd = -1};
    int e = asprintf(&folder, "%s/results/%.2s", s->folder, name) < 0 ||
                    asprintf(&path, "%s/%s", folder, name) < 0 ||
                    asprintf(&own, "%s/%s.%s-%ld-%lx", folder, name, s->host, (long)getpid(),
                             (unsigned long)(uintptr_t)text) < 0
                ? no_memory(diag)
                : vs_store_folder(folder, diag);
    if (!e && !(e = vs_outfile_open(&f, own, true, diag))) {
        e = vs_outfile_write(&f, text->data, text->len, diag);
        if (!e)
            e = vs_outfile_commit(&f, diag);
        if (e)
            vs_outfile_abort(&f);
        if (!e && rename(own, path)) {
            e = vs_diag_io(diag, "cannot name", path);
            unlink(own);
        }
    }
    free(folder);
    free(path);
    free(own);
    return e;
}

int vs_store_write(const struct vs_store *s, const char *run, const struct vs_store_unit *units,
                   size_t count, struct vs_diag *diag)
{
    char name[VS_SHA256_TEXT];
    struct vs_buf text = {0};
    name_batch(s, run, units, count, name);
    int e = print_batch(s, &text, run, units, count) ? no_memory(diag)
                                                     : write_file(s, name, &text, diag);
    vs_buf_fini(&text);
    return e;
}
