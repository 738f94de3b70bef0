/* SPDX-License-Identifier: MIT */
#include "module.h"

#include <stdlib.h>

static PyObject *measured_pairs(const struct vs_measure *m, uint64_t i,
                                int (*get)(const struct vs_measure *, uint64_t, unsigned,
                                           const char **, uint64_t *))
{
    PyObject *pairs = PyDict_New();
    const char *name;
    uint64_t value;
    for (unsigned k = 0; pairs && !get(m, i, k, &name, &value); k++) {
        PyObject *number = PyLong_FromUnsignedLongLong(value);
        if (!number || PyDict_SetItemString(pairs, name, number) < 0)
            Py_CLEAR(pairs);
        Py_XDECREF(number);
    }
    return pairs;
}

/* Bits by window: an array of all cores' sums, and one with a row for each core. */
static PyObject *measured_windows(const struct vs_measure *m, uint64_t i, int core)
{
    int64_t count = vs_measure_windows(m, i, core, NULL, 0);
    npy_intp size = count < 0 ? 0 : (npy_intp)count;
    if (count < 0)
        return Py_NewRef(Py_None);
    PyObject *array = PyArray_SimpleNew(1, &size, NPY_UINT64);
    if (array)
        vs_measure_windows(m, i, core, PyArray_DATA((PyArrayObject *)array), (size_t)count);
    return array;
}

static PyObject *windows_by_core(const struct vs_measure *m, uint64_t i, unsigned cores)
{
    PyObject *list = PyList_New(0);
    for (unsigned core = 0; list && core < cores; core++) {
        PyObject *one = measured_windows(m, i, (int)core);
        if (!one || PyList_Append(list, one) < 0)
            Py_CLEAR(list);
        Py_XDECREF(one);
    }
    return list;
}

static PyObject *measured_of(const struct vs_measure *m, uint64_t i, bool windows)
{
    struct vs_measured r = {.size = sizeof(r)};
    if (vs_measure_get(m, i, &r) < 0)
        return py_fail(NULL, -VSE_INTERNAL, NULL);
    PyObject *made = Py_BuildValue(
        "{sssssIsIsKsKsKsKsKsKsNsN}", "technique", r.technique, "spec", r.spec, "reports",
        r.reports, "cores", r.cores, "bits", (unsigned long long)r.bits, "messages",
        (unsigned long long)r.messages, "instructions", (unsigned long long)r.instructions,
        "cycles", (unsigned long long)r.cycles, "storage", (unsigned long long)r.storage, "gates",
        (unsigned long long)r.gates, "fields", measured_pairs(m, i, vs_measure_field), "counts",
        measured_pairs(m, i, vs_measure_count));
    PyObject *all = made && windows ? measured_windows(m, i, -1) : NULL,
             *each = made && windows ? windows_by_core(m, i, r.cores) : NULL;
    if (windows && (!all || !each || PyDict_SetItemString(made, "windows", all) < 0 ||
                    PyDict_SetItemString(made, "core_windows", each) < 0))
        Py_CLEAR(made);
    Py_XDECREF(all);
    Py_XDECREF(each);
    return made;
}

PyObject *py_run_measure(struct py_run *self, PyObject *args, PyObject *words)
{
    static char *names[] = {"specs", "window", "sync", "plugins", NULL};
    struct vs_measure_options options = {.size = sizeof(options)};
    unsigned long long window = 0, sync = 0;
    PyObject *given, *plugins = NULL, *made = NULL;
    struct vs_catalog *catalog = NULL;
    struct vs_reader *reader = NULL;
    struct vs_measure *m = NULL;
    struct py_strings specs;
    struct vs_diag diag;
    int e;
    if (!PyArg_ParseTupleAndKeywords(args, words, "O|$O&O&O:measure", names, &given, py_take_u64,
                                     &window, py_take_u64, &sync, &plugins))
        return NULL;
    if (!self->reader)
        return py_run_self(self, NULL);
    if (!py_strings_take(&specs, given, "specs"))
        return NULL;
    if (!py_catalog_open(&catalog, plugins)) {
        py_strings_fini(&specs);
        return NULL;
    }
    options.catalog = catalog;
    options.window = window;
    options.sync = sync;
    py_no_diag(&diag);
    Py_BEGIN_ALLOW_THREADS e = vs_run_open(&reader, py_run_path(self), VS_OPEN_DEFAULT, &diag);
    if (!e)
        e = vs_measure_open(&m, reader, &options, &diag);
    for (size_t i = 0; i < specs.count && !e; i++) {
        int64_t row = vs_measure_add(m, specs.items[i], &diag);
        e = row < 0 ? (int)row : 0;
    }
    if (!e)
        e = vs_measure_run(m, &diag);
    Py_END_ALLOW_THREADS if (!e) made = PyList_New(0);
    for (size_t i = 0; i < specs.count && made; i++) {
        PyObject *one = measured_of(m, i, window);
        if (!one || PyList_Append(made, one) < 0)
            Py_CLEAR(made);
        Py_XDECREF(one);
    }
    vs_measure_close(m);
    vs_reader_close(reader);
    vs_catalog_close(catalog);
    py_strings_fini(&specs);
    return e ? py_fail(py_run_path(self), e, &diag) : made;
}

PyObject *py_run_encode(struct py_run *self, PyObject *args, PyObject *words)
{
    static char *names[] = {"spec", "path", "overwrite", "plugins", NULL};
    struct vs_encode_options options = {.size = sizeof(options)};
    struct vs_encoded written = {.size = sizeof(written)};
    PyObject *path = NULL, *plugins = NULL;
    struct vs_catalog *catalog = NULL;
    struct vs_reader *reader = NULL;
    struct vs_diag diag;
    const char *spec;
    int overwrite = 0, e;
    if (!PyArg_ParseTupleAndKeywords(args, words, "sO&|$pO:encode", names, &spec,
                                     PyUnicode_FSConverter, &path, &overwrite, &plugins))
        return NULL;
    if (!self->reader || !py_catalog_open(&catalog, plugins)) {
        Py_DECREF(path);
        return self->reader ? NULL : py_run_self(self, NULL);
    }
    options.catalog = catalog;
    options.overwrite = overwrite;
    py_no_diag(&diag);
    Py_BEGIN_ALLOW_THREADS e = vs_run_open(&reader, py_run_path(self), VS_OPEN_DEFAULT, &diag);
    if (!e)
        e = vs_encode(reader, spec, PyBytes_AS_STRING(path), &options, &written, &diag);
    vs_reader_close(reader);
    Py_END_ALLOW_THREADS vs_catalog_close(catalog);
    if (e)
        py_fail(e == -VSE_EXISTS || e == -VSE_IO ? PyBytes_AS_STRING(path) : py_run_path(self), e,
                &diag);
    Py_DECREF(path);
    return e ? NULL
             : Py_BuildValue("{sKsK}", "bits", (unsigned long long)written.bits, "messages",
                             (unsigned long long)written.messages);
}

PyObject *py_run_prove(struct py_run *self, PyObject *args, PyObject *words)
{
    static char *names[] = {"specs", "plugins", NULL};
    PyObject *given, *plugins = NULL, *made = NULL;
    struct vs_catalog *catalog = NULL;
    struct vs_proved *results;
    struct py_strings specs;
    struct vs_diag diag;
    int e = 0;
    if (!PyArg_ParseTupleAndKeywords(args, words, "O|$O:prove", names, &given, &plugins))
        return NULL;
    if (!self->reader)
        return py_run_self(self, NULL);
    if (!py_strings_take(&specs, given, "specs"))
        return NULL;
    if (!py_catalog_open(&catalog, plugins)) {
        py_strings_fini(&specs);
        return NULL;
    }
    py_no_diag(&diag);
    results = calloc(specs.count + 1, sizeof(*results));
    if (results)
        results->size = sizeof(*results);
    Py_BEGIN_ALLOW_THREADS e =
        !results ? -VSE_NOMEM
        : !specs.count
            ? 0
            : vs_prove_run(py_run_path(self), catalog, specs.items, specs.count, results, &diag);
    Py_END_ALLOW_THREADS made = e ? NULL : PyList_New(0);
    for (size_t i = 0; i < specs.count && made; i++) {
        PyObject *one = Py_BuildValue("{sOsKsKss}", "same", results[i].same ? Py_True : Py_False,
                                      "compared", (unsigned long long)results[i].compared, "bits",
                                      (unsigned long long)results[i].bits, "why", results[i].why);
        if (!one || PyList_Append(made, one) < 0)
            Py_CLEAR(made);
        Py_XDECREF(one);
    }
    free(results);
    vs_catalog_close(catalog);
    py_strings_fini(&specs);
    return e ? py_fail(py_run_path(self), e, &diag) : made;
}
