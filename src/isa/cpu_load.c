/* SPDX-License-Identifier: MIT */
#include "isa/cpu_load.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"

/* Something that lies in the same object as this code. */
static const char anchor[] = "vestige";

/* Takes so many names off the end of a path. */
static void go_up(char *path, int count)
{
    char *slash;
    while (count-- && (slash = strrchr(path, '/')))
        *slash = 0;
}

/* Whether a folder has the object; writes its path. */
static bool is_in(const char *folder, const char *name, char *path, size_t capacity)
{
    int size = snprintf(path, capacity, "%s/vestige/%s", folder, name);
    if (size < 0 || (size_t)size >= capacity)
        path[0] = 0;
    return !access(path, F_OK);
}

/* Writes the path of an object beside the program: bin/vestige and lib/vestige; or else beside the
 * library that this is in, which may be in a folder of its own for the architecture. */
static void find_object(const char *name, char *path, size_t capacity)
{
    char self[PATH_MAX] = "", library[PATH_MAX] = "", lib[PATH_MAX + 8];
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
    Dl_info here;
    self[n > 0 ? n : 0] = 0;
    go_up(self, 2);
    snprintf(lib, sizeof(lib), "%s/lib", self);
    if (is_in(lib, name, path, capacity) || !dladdr(anchor, &here) || !here.dli_fname ||
        !realpath(here.dli_fname, library))
        return;
    for (int up = 0; up < 2; up++) {
        go_up(library, 1);
        if (is_in(library, name, path, capacity))
            return;
    }
    is_in(lib, name, path, capacity); /* to say where it should be */
}

static bool fits(const struct vs_cpu_object *object)
{
    return object && object->version == VS_CPU_OBJECT_VERSION &&
           object->cpu == sizeof(struct vs_cpu) && object->code == sizeof(struct vs_cpu_code) &&
           object->memory == sizeof(struct vs_cpu_memory_ops);
}

static int load(const struct vs_isa *isa, const char *path, const struct vs_cpu_object **object,
                struct vs_diag *diag)
{
    if (access(path, F_OK))
        return vs_diag_set(diag, -VSE_NOTFOUND, -1, -1,
                           "what executes %s programs is not at %.160s; build or install all of "
                           "vestige",
                           isa->title, path);
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        return vs_diag_set(diag, -VSE_INVAL, -1, -1, "cannot load %.200s", dlerror());
    *object = dlsym(handle, VS_CPU_OBJECT_NAME);
    if (fits(*object))
        return 0;
    dlclose(handle);
    return vs_diag_set(diag, -VSE_INVAL, -1, -1,
                       "%.160s is of another version than this program; install both anew", path);
}

int vs_cpu_load(const struct vs_isa *isa, const char *folder, const struct vs_cpu_ops **ops,
                const char **made_from, struct vs_diag *diag)
{
    const struct vs_cpu_object *object = NULL;
    char path[2 * PATH_MAX];
    int err = 0;
    if (isa->cpu_object) {
        if (!folder)
            find_object(isa->cpu_object, path, sizeof(path));
        else if ((size_t)snprintf(path, sizeof(path), "%s/%s", folder, isa->cpu_object) >=
                 sizeof(path))
            path[0] = 0;
        err = load(isa, path, &object, diag);
    } else if (!isa->cpu) {
        err = vs_diag_set(diag, -VSE_NOTFOUND, -1, -1, "nothing executes %s programs", isa->title);
    }
    if (err)
        return err;
    *ops = object ? object->ops : isa->cpu;
    if (made_from)
        *made_from = object ? object->made_from : NULL;
    return 0;
}
