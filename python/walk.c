/* SPDX-License-Identifier: MIT */
#include "module.h"

#include <string.h>

typedef struct {
    PyObject_HEAD struct vs_reader *reader; /* its own */
    struct vs_insns *walk;
    PyObject *path;
    bool busy;
} Walk;

static void walk_dealloc(Walk *self)
{
    vs_insns_close(self->walk);
    vs_reader_close(self->reader);
    Py_XDECREF(self->path);
    Py_TYPE(self)->tp_free(self);
}

PyObject *py_run_instructions(struct py_run *self, PyObject *unused)
{
    struct vs_diag diag;
    int e;
    (void)unused;
    if (!self->reader)
        return py_run_self(self, NULL);
    Walk *walk = PyObject_New(Walk, &py_walk_type);
    if (!walk)
        return NULL;
    walk->reader = NULL;
    walk->walk = NULL;
    walk->busy = false;
    walk->path = Py_NewRef(self->path);
    py_no_diag(&diag);
    Py_BEGIN_ALLOW_THREADS e =
        vs_run_open(&walk->reader, PyBytes_AS_STRING(walk->path), VS_OPEN_DEFAULT, &diag);
    if (!e)
        e = vs_insns_open(&walk->walk, walk->reader, &diag);
    Py_END_ALLOW_THREADS if (!e) return (PyObject *)walk;
    py_fail(PyBytes_AS_STRING(walk->path), e, &diag);
    Py_DECREF(walk);
    return NULL;
}

static PyObject *walk_next(Walk *self)
{
    const struct vs_retired *list;
    struct vs_diag diag;
    int64_t n;
    if (self->busy)
        return PyErr_Format(PyExc_RuntimeError, "another thread is using the walk");
    self->busy = true;
    py_no_diag(&diag);
    Py_BEGIN_ALLOW_THREADS n = vs_insns_next(self->walk, &list, &diag);
    Py_END_ALLOW_THREADS PyObject *made =
        n > 0 ? py_array_of(py_retired_type, list, (size_t)n) : NULL;
    self->busy = false;
    return n >= 0 || n == -VSE_END ? made : py_fail(PyBytes_AS_STRING(self->path), (int)n, &diag);
}

/* Text of an instruction that an array has. */
static PyObject *walk_text(Walk *self, PyObject *args)
{
    struct vs_retired insn;
    char text[256];
    Py_buffer bytes;
    unsigned long long pc;
    memset(&insn, 0, sizeof(insn));
    if (!PyArg_ParseTuple(args, "O&y*:text", py_take_u64, &pc, &bytes))
        return NULL;
    insn.pc = pc;
    insn.size = (uint8_t)(bytes.len < VS_INSN_BYTES ? bytes.len : VS_INSN_BYTES);
    memcpy(insn.bytes, bytes.buf, insn.size);
    PyBuffer_Release(&bytes);
    if (vs_insns_text(self->walk, &insn, text, sizeof(text)) < 0) {
        PyErr_SetString(PyExc_ValueError, "these bytes are no instruction");
        return NULL;
    }
    return PyUnicode_FromString(text);
}

static PyMethodDef walk_methods[] = {
    {"text", (PyCFunction)walk_text, METH_VARARGS,
     "text(pc, bytes, /)\n--\n\nThe instruction of these bytes at an address, as text."},
    {NULL, NULL, 0, NULL},
};

PyTypeObject py_walk_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "vestige.Instructions",
    .tp_basicsize = sizeof(Walk),
    .tp_dealloc = (destructor)walk_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "Iterates over a run's instructions, as structured arrays with their code.",
    .tp_iter = PyObject_SelfIter,
    .tp_iternext = (iternextfunc)walk_next,
    .tp_methods = walk_methods,
};
