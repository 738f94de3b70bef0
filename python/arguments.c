/* SPDX-License-Identifier: MIT */
#include "module.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

PyObject *py_error;
PyArray_Descr *py_event_type, *py_cycle_type, *py_retired_type, *py_step_type;

/* ---- errors ---------------------------------------------------------------------------------- */

static int set_place(PyObject *error, const char *name, int64_t at)
{
    PyObject *value = at < 0 ? Py_NewRef(Py_None) : PyLong_FromLongLong(at);
    int e = value ? PyObject_SetAttrString(error, name, value) : -1;
    Py_XDECREF(value);
    return e;
}

PyObject *py_fail(const char *path, int code, const struct vs_diag *diag)
{
    char name[4096 + 256];
    if (code == -VSE_NOMEM)
        return PyErr_NoMemory();
    const char *why = diag && diag->text[0] ? diag->text : vs_errstr(code);
    snprintf(name, sizeof(name), "%s%s%s", path ? path : "", path ? ": " : "", why);
    PyObject *text = PyUnicode_DecodeUTF8(name, (Py_ssize_t)strlen(name), "replace");
    PyObject *error = text ? PyObject_CallOneArg(py_error, text) : NULL;
    PyObject *label = error ? PyUnicode_FromString(vs_errname(code)) : NULL;
    if (label && PyObject_SetAttrString(error, "code", label) == 0 &&
        set_place(error, "offset", diag ? diag->offset : -1) == 0 &&
        set_place(error, "chunk", diag ? diag->chunk : -1) == 0)
        PyErr_SetObject(py_error, error);
    Py_XDECREF(label);
    Py_XDECREF(error);
    Py_XDECREF(text);
    return NULL;
}

void py_no_diag(struct vs_diag *diag)
{
    memset(diag, 0, sizeof(*diag));
    diag->offset = diag->chunk = -1;
}

/* ---- arguments ------------------------------------------------------------------------------- */

int py_take_u64(PyObject *given, void *to)
{
    PyObject *number = PyNumber_Index(given);
    unsigned long long value = number ? PyLong_AsUnsignedLongLong(number) : 0;
    Py_XDECREF(number);
    if (PyErr_Occurred())
        return 0;
    *(unsigned long long *)to = value;
    return 1;
}

unsigned py_narrow(unsigned long long number)
{
    return number < UINT_MAX ? (unsigned)number : UINT_MAX;
}

void py_strings_fini(struct py_strings *s)
{
    free(s->items);
    s->items = NULL;
    s->count = 0;
    Py_CLEAR(s->list);
}

bool py_strings_take(struct py_strings *s, PyObject *sequence, const char *what)
{
    memset(s, 0, sizeof(*s));
    if (!sequence || sequence == Py_None)
        return true;
    if (PyUnicode_Check(sequence) || PyBytes_Check(sequence)) {
        PyErr_Format(PyExc_TypeError, "%s is a sequence of strings, not one string", what);
        return false;
    }
    /* A tuple of them: a path's __fspath__ may change a list while it is read. */
    PyObject *fixed = PySequence_Tuple(sequence);
    Py_ssize_t count = fixed ? PyTuple_GET_SIZE(fixed) : 0;
    s->list = fixed ? PyList_New(0) : NULL;
    s->items = calloc((size_t)count + 1, sizeof(*s->items));
    if (fixed && !s->items)
        PyErr_NoMemory();
    bool good = s->list && s->items;
    for (Py_ssize_t i = 0; i < count && good; i++) {
        PyObject *bytes = NULL;
        good = PyUnicode_FSConverter(PyTuple_GET_ITEM(fixed, i), &bytes) &&
               PyList_Append(s->list, bytes) == 0;
        if (good)
            s->items[s->count++] = PyBytes_AS_STRING(bytes);
        Py_XDECREF(bytes);
    }
    Py_XDECREF(fixed);
    if (!good)
        py_strings_fini(s);
    return good;
}

bool py_catalog_open(struct vs_catalog **c, PyObject *plugins)
{
    struct py_strings paths;
    struct vs_diag diag;
    py_no_diag(&diag);
    *c = NULL;
    if (!py_strings_take(&paths, plugins, "plugins"))
        return false;
    int e = vs_catalog_open(c);
    for (size_t i = 0; i < paths.count && !e; i++)
        e = vs_catalog_plugin(*c, paths.items[i], &diag);
    py_strings_fini(&paths);
    if (!e)
        return true;
    vs_catalog_close(*c);
    *c = NULL;
    py_fail(NULL, e, &diag);
    return false;
}

PyObject *py_text(const char *text)
{
    return text ? PyUnicode_DecodeFSDefault(text) : Py_NewRef(Py_None);
}

/* ---- arrays ---------------------------------------------------------------------------------- */

PyObject *py_array_over(PyArray_Descr *type, void *data, size_t count, PyObject *owner)
{
    npy_intp size = (npy_intp)count;
    Py_INCREF(type);
    PyObject *array =
        PyArray_NewFromDescr(&PyArray_Type, type, 1, &size, NULL, data, NPY_ARRAY_CARRAY, NULL);
    if (array && PyArray_SetBaseObject((PyArrayObject *)array, Py_NewRef(owner)) < 0)
        Py_CLEAR(array);
    return array;
}

PyObject *py_array_of(PyArray_Descr *type, const void *data, size_t count)
{
    npy_intp size = (npy_intp)count;
    Py_INCREF(type);
    PyObject *array = PyArray_SimpleNewFromDescr(1, &size, type);
    if (array && count)
        memcpy(PyArray_DATA((PyArrayObject *)array), data, count * (size_t)PyDataType_ELSIZE(type));
    return array;
}
