/* SPDX-License-Identifier: MIT */
#include "technique/plugins.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/diag.h"
#include "technique/plugin.h"

/* ---- what a plugin says ---------------------------------------------------------------------- */

static bool fits(const struct vs_plugin_object *o)
{
    static const uint32_t ours[VS_PLUGIN_SIZES] = VS_PLUGIN_LAYOUT;
    return o->version == VS_PLUGIN_VERSION && !memcmp(o->layout, ours, sizeof(ours));
}

/* Names are written in command lines, before a colon, and in files. */
static bool is_name(const char *name)
{
    size_t n = name ? strlen(name) : 0;
    return n && n < 64 &&
           strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.+") == n;
}

/* Returns NULL, or what is wrong with a technique's functions. */
static const char *check_functions(const struct vs_technique *t)
{
    const struct vs_encoder_ops *e = t->encoder;
    if (!e || !e->open || !e->consume || !e->counts || !e->rows || !e->close)
        return "its encoder lacks a function or the rows of its counts";
    if (!t->serves || t->serves >= 1u << VS_TECHNIQUE_KINDS)
        return "it serves no kind of trace";
    if (!t->cost)
        return "it has no function that tells its cost";
    if (!(t->serves & VS_TECHNIQUE_FLOW) != !t->flow_decoder ||
        !(t->serves & VS_TECHNIQUE_DATA) != !t->data_decoder ||
        !(t->serves & VS_TECHNIQUE_ADDRESS) != !t->address_decoder)
        return "it needs a decoder for each kind that it serves, and no other";
    const struct vs_flow_decoder_ops *f = t->flow_decoder;
    if (f && (!f->open || !f->head || !f->branch || !f->discontinuity || !f->close))
        return "its decoder lacks a function";
    return NULL;
}

static const char *check_parameters(const struct vs_technique *t, struct vs_diag *why)
{
    struct vs_technique_spec spec;
    if (!t->parameters || !t->defaults)
        return "it has no table of parameters, or no defaults";
    for (const struct vs_parameter *p = t->parameters; p->name; p++)
        if (p->offset % sizeof(uint64_t) || p->offset + sizeof(uint64_t) > t->params_size)
            return "a parameter is not in the struct of its parameters";
    for (const struct vs_count_row *r = t->encoder->rows; r->name; r++)
        if (r->offset % sizeof(uint64_t) || r->offset / sizeof(uint64_t) >= VS_COUNTS_MAX)
            return "a count is not among the numbers that there may be";
    int e = vs_technique_defaults(&spec, t);
    if (!e)
        e = vs_technique_check(&spec, why);
    return e ? "its defaults are not among what its parameters allow" : NULL;
}

static int check(const struct vs_plugins *p, const char *path, const struct vs_technique *t,
                 struct vs_diag *diag)
{
    const struct vs_technique *const *table = (const struct vs_technique *const *)p->table;
    struct vs_diag why = {0};
    if (!is_name(t->name) || !t->summary)
        return vs_diag_set(diag, -VSE_CORRUPT, -1, -1,
                           "%.100s: a technique has no name, or one that cannot be written after "
                           "-t, or no summary",
                           path);
    const char *wrong = check_functions(t);
    wrong = wrong ? wrong : check_parameters(t, &why);
    if (wrong)
        return vs_diag_set(diag, -VSE_CORRUPT, -1, -1, "%.80s: %.40s: %s", path, t->name, wrong);
    bool taken = vs_technique_find_in(table, t->name);
    for (const char *const *a = t->aliases; a && *a && !taken; a++)
        taken = !is_name(*a) || vs_technique_find_in(table, *a);
    return taken ? vs_diag_set(diag, -VSE_EXISTS, -1, -1,
                               "%.100s: there is a technique %.40s, or one of its aliases, already",
                               path, t->name)
                 : 0;
}

/* ---- the table ------------------------------------------------------------------------------- */

static int add(struct vs_plugins *p, const struct vs_technique *t)
{
    void *table = p->table;
    int err = vs_array_room(&table, &p->capacity, p->count, 2, sizeof(*p->table));
    p->table = table;
    if (err)
        return err;
    p->table[p->count++] = t;
    p->table[p->count] = NULL;
    return 0;
}

static int add_own(struct vs_plugins *p)
{
    int err = 0;
    for (size_t i = 0; vs_techniques[i] && !err; i++)
        err = add(p, vs_techniques[i]);
    return err;
}

static int add_all(struct vs_plugins *p, const char *path, const struct vs_plugin_object *o,
                   struct vs_diag *diag)
{
    size_t before;
    int err = p->table ? 0 : add_own(p);
    before = p->count;
    for (const struct vs_technique *const *t = o->techniques; t && *t && !err; t++) {
        if ((err = check(p, path, *t, diag)))
            break;
        if ((err = add(p, *t)))
            vs_diag_set(diag, err, -1, -1, "out of memory");
    }
    if (err && p->table) {
        p->count = before;
        p->table[before] = NULL;
    }
    return err;
}

/* ---- loading --------------------------------------------------------------------------------- */

/* Whether a file ends before what it is to be loaded from: the loader would end the process. What
 * is no shared object at all, the loader says better. */
static bool is_cut(int fd, uint64_t size)
{
    Elf64_Ehdr head;
    Elf64_Phdr part;
    if (pread(fd, &head, sizeof(head), 0) != (ssize_t)sizeof(head) ||
        memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_phentsize != sizeof(part))
        return false;
    for (unsigned i = 0; i < head.e_phnum; i++) {
        uint64_t at = head.e_phoff + (uint64_t)i * sizeof(part);
        if (at > size || pread(fd, &part, sizeof(part), (off_t)at) != (ssize_t)sizeof(part))
            return true;
        if (part.p_offset > size || part.p_filesz > size - part.p_offset)
            return true;
    }
    return false;
}

static int check_file(const char *path, struct vs_diag *diag)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool cut = fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) &&
               is_cut(fd, st.st_size < 0 ? 0 : (uint64_t)st.st_size);
    if (fd >= 0)
        close(fd);
    return cut ? vs_diag_set(diag, -VSE_TRUNCATED, -1, -1,
                             "cannot load %.150s: the file is cut off", path)
               : 0;
}

static int load(const char *path, void **handle, const struct vs_plugin_object **object,
                struct vs_diag *diag)
{
    char full[PATH_MAX];
    /* Without a slash, the system's folders would be searched. */
    int n = snprintf(full, sizeof(full), "%s%s", strchr(path, '/') ? "" : "./", path);
    if (n < 0 || (size_t)n >= sizeof(full))
        return vs_diag_set(diag, -VSE_IO, -1, -1, "the name of the plugin is too long");
    int err = check_file(full, diag);
    if (err)
        return err;
    if (!(*handle = dlopen(full, RTLD_NOW | RTLD_LOCAL)))
        return vs_diag_set(diag, -VSE_IO, -1, -1, "cannot load %.180s", dlerror());
    if (!(*object = dlsym(*handle, VS_PLUGIN_NAME)))
        return vs_diag_set(diag, -VSE_FORMAT, -1, -1,
                           "%.120s: it is no plugin: it does not export %s", path, VS_PLUGIN_NAME);
    if (!fits(*object))
        return vs_diag_set(diag, -VSE_VERSION, -1, -1,
                           "%.120s: it was built for another version of Vestige; compile it anew",
                           path);
    return 0;
}

int vs_plugins_add(struct vs_plugins *p, const char *path, struct vs_diag *diag)
{
    const struct vs_plugin_object *object = NULL;
    void *handle = NULL, *handles = p->handles;
    int err = vs_array_room(&handles, &p->handle_capacity, p->handle_count, 1, sizeof(void *));
    p->handles = handles;
    if (err)
        return vs_diag_set(diag, err, -1, -1, "out of memory");
    err = load(path, &handle, &object, diag);
    if (!err)
        err = add_all(p, path, object, diag);
    if (!err)
        p->handles[p->handle_count++] = handle;
    else if (handle)
        dlclose(handle);
    return err;
}

void vs_plugins_fini(struct vs_plugins *p)
{
    while (p->handle_count)
        dlclose(p->handles[--p->handle_count]);
    free(p->handles);
    free(p->table);
    *p = (struct vs_plugins){0};
}
