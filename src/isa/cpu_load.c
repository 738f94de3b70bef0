/* SPDX-License-Identifier: MIT */
#include "isa/cpu_load.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"

/* Writes the path of an object beside the program: bin/vestige and lib/vestige. */
static void find_object(const char *folder, const char *name, char *path, size_t capacity)
{
    char self[PATH_MAX] = "", *slash;
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
    self[n > 0 ? n : 0] = 0;
    for (int up = 0; up < 2 && (slash = strrchr(self, '/')); up++)
        *slash = 0;
    int size = folder ? snprintf(path, capacity, "%s/%s", folder, name)
                      : snprintf(path, capacity, "%s/lib/vestige/%s", self, name);
    if (size < 0 || (size_t)size >= capacity)
        path[0] = 0;
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
        find_object(folder, isa->cpu_object, path, sizeof(path));
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
