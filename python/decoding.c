/* SPDX-License-Identifier: MIT */
#include "module.h"

#include <stdlib.h>
#include <string.h>

struct steps {
    struct vs_decoded *list;
    size_t count, capacity;
};

static int keep_steps(void *context, const struct vs_decoded *list, size_t count)
{
    struct steps *s = context;
    if (s->capacity - s->count < count) {
        size_t capacity = 2 * s->capacity + count;
        void *more = realloc(s->list, capacity * sizeof(*list));
        if (!more)
            return -VSE_NOMEM;
        s->list = more;
        s->capacity = capacity;
    }
    memcpy(s->list + s->count, list, count * sizeof(*list));
    s->count += count;
    return 0;
}

static void free_memory(PyObject *capsule)
{
    free(PyCapsule_GetPointer(capsule, NULL));
}

/* Makes an array of the steps, whose memory it takes over. */
static PyObject *steps_array(struct steps *s)
{
    PyObject *owner = s->list ? PyCapsule_New(s->list, NULL, free_memory) : Py_NewRef(Py_None);
    if (!owner) {
        free(s->list);
        return NULL;
    }
    PyObject *array = s->list ? py_array_over(py_step_type, s->list, s->count, owner)
                              : py_array_of(py_step_type, NULL, 0);
    Py_DECREF(owner);
    return array;
}

PyObject *py_decode(PyObject *module, PyObject *args, PyObject *words)
{
    static char *names[] = {"path", "code", "images", "limit", "plugins", NULL};
    struct vs_decode_options options = {.size = sizeof(options)};
    PyObject *path = NULL, *code = NULL, *images = NULL, *plugins = NULL, *code_path = NULL;
    struct vs_catalog *catalog = NULL;
    unsigned long long limit = 0;
    struct py_strings files = {NULL, NULL, 0};
    struct steps steps = {NULL, 0, 0};
    struct vs_diag diag;
    int e = 0;
    (void)module;
    py_no_diag(&diag);
    if (!PyArg_ParseTupleAndKeywords(args, words, "O&|$OOO&O:decode", names, PyUnicode_FSConverter,
                                     &path, &code, &images, py_take_u64, &limit, &plugins))
        return NULL;
    bool good = (!code || code == Py_None || PyUnicode_FSConverter(code, &code_path)) &&
                py_strings_take(&files, images, "images") && py_catalog_open(&catalog, plugins);
    if (good) {
        options.catalog = catalog;
        options.code = code_path ? PyBytes_AS_STRING(code_path) : NULL;
        options.images = files.items;
        options.image_count = files.count;
        options.limit = limit;
        Py_BEGIN_ALLOW_THREADS e =
            vs_decode(PyBytes_AS_STRING(path), &options, keep_steps, &steps, NULL, &diag);
        Py_END_ALLOW_THREADS if (e == -VSE_LIMIT && limit) e = 0;
        if (e)
            py_fail(PyBytes_AS_STRING(path), e, &diag);
    }
    vs_catalog_close(catalog);
    py_strings_fini(&files);
    Py_XDECREF(code_path);
    Py_DECREF(path);
    if (good && !e)
        return steps_array(&steps);
    free(steps.list);
    return NULL;
}
