/* SPDX-License-Identifier: MIT */
#include "module.h"

#include <stdlib.h>

/* ---- a run ----------------------------------------------------------------------------------- */

const char *py_run_path(const struct py_run *self)
{
    return PyBytes_AS_STRING(self->path);
}

/* Enters a run. Returns whether it is open and free. */
static bool run_enter(struct py_run *self)
{
    if (self->busy)
        PyErr_Format(PyExc_RuntimeError, "%s: another thread is using the run", py_run_path(self));
    else if (!self->reader)
        PyErr_SetString(PyExc_ValueError, "the run is closed");
    else
        self->busy = true;
    return self->busy && !PyErr_Occurred();
}

static void run_leave(struct py_run *self)
{
    self->busy = false;
}

static void run_fini(struct py_run *self)
{
    vs_names_close(self->names);
    vs_reader_close(self->reader);
    self->names = NULL;
    self->reader = NULL;
}

static void run_dealloc(struct py_run *self)
{
    run_fini(self);
    if (self->pool)
        py_pool_leave(self->pool);
    Py_XDECREF(self->path);
    Py_TYPE(self)->tp_free(self);
}

static PyObject *run_open(PyObject *path, int mode)
{
    struct py_run *self = PyObject_New(struct py_run, &py_run_type);
    struct vs_diag diag;
    int e;
    if (!self)
        return NULL;
    self->reader = NULL;
    self->names = NULL;
    self->busy = false;
    self->path = Py_NewRef(path);
    self->pool = NULL;
    py_no_diag(&diag);
    Py_BEGIN_ALLOW_THREADS e =
        vs_run_open(&self->reader, PyBytes_AS_STRING(path), (enum vs_open_mode)mode, &diag);
    Py_END_ALLOW_THREADS if (e)
    {
        self->reader = NULL;
        py_fail(py_run_path(self), e, &diag);
        Py_DECREF(self);
        return NULL;
    }
    self->pool = py_pool_new(vs_reader_info(self->reader)->features & VS_RUN_TIMED);
    if (!self->pool) {
        Py_DECREF(self);
        return PyErr_NoMemory();
    }
    return (PyObject *)self;
}

PyObject *py_open(PyObject *module, PyObject *args, PyObject *words)
{
    static char *names[] = {"path", "salvage", NULL};
    PyObject *path = NULL, *run;
    int salvage = 0;
    (void)module;
    if (!PyArg_ParseTupleAndKeywords(args, words, "O&|$p:open", names, PyUnicode_FSConverter, &path,
                                     &salvage))
        return NULL;
    run = run_open(path, salvage ? VS_OPEN_SALVAGE : VS_OPEN_DEFAULT);
    Py_DECREF(path);
    return run;
}

static PyObject *run_close(struct py_run *self, PyObject *unused)
{
    (void)unused;
    if (self->busy)
        return PyErr_Format(PyExc_RuntimeError, "%s: another thread is using the run",
                            py_run_path(self));
    run_fini(self);
    Py_RETURN_NONE;
}

PyObject *py_run_self(struct py_run *self, PyObject *unused)
{
    (void)unused;
    if (!self->reader) {
        PyErr_SetString(PyExc_ValueError, "the run is closed");
        return NULL;
    }
    return Py_NewRef((PyObject *)self);
}

static PyObject *run_exit(struct py_run *self, PyObject *args)
{
    (void)args;
    return run_close(self, NULL);
}

static PyObject *run_next(struct py_run *self)
{
    struct vs_diag diag;
    struct vs_batch batch;
    struct py_room *room;
    int n;
    if (!run_enter(self))
        return NULL;
    if (!(room = py_room_take(self->pool))) {
        run_leave(self);
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS n =
        vs_reader_next_into(self->reader, room->events, room->cycles, PY_ROOM, &batch);
    Py_END_ALLOW_THREADS diag = *vs_reader_diag(self->reader);
    if (n > 0) {
        PyObject *made = py_batch_of(room, &batch); /* which copies wide values */
        run_leave(self);
        return made;
    }
    run_leave(self);
    py_room_give(room);
    return n == -VSE_END ? NULL : py_fail(py_run_path(self), n, &diag);
}

typedef int seek_function(struct vs_reader *r, uint64_t n);

static PyObject *run_went(struct py_run *self, int e)
{
    struct vs_diag diag = *vs_reader_diag(self->reader);
    run_leave(self);
    if (e == -VSE_NOTFOUND) {
        PyErr_SetString(PyExc_IndexError, "the run has no such place");
        return NULL;
    }
    if (e < 0)
        return py_fail(py_run_path(self), e, &diag);
    Py_RETURN_NONE;
}

static PyObject *run_seek(struct py_run *self, PyObject *args, PyObject *words)
{
    static char *names[] = {"event", "cycle", "thread", "instruction", NULL};
    PyObject *given[4] = {NULL, NULL, NULL, NULL};
    unsigned long long n[4] = {0, 0, 0, 0};
    unsigned set = 0;
    int e;
    if (!PyArg_ParseTupleAndKeywords(args, words, "|OOOO:seek", names, &given[0], &given[1],
                                     &given[2], &given[3]))
        return NULL;
    for (unsigned i = 0; i < 4; i++) {
        if (!given[i] || given[i] == Py_None)
            continue;
        if (!py_take_u64(given[i], &n[i]))
            return NULL;
        set |= 1u << i;
    }
    if (set != 1 && set != 2 && set != 12) {
        PyErr_SetString(PyExc_TypeError,
                        "seek takes an event, or a cycle, or a thread and an instruction");
        return NULL;
    }
    if (!run_enter(self))
        return NULL;
    Py_BEGIN_ALLOW_THREADS e = set == 1   ? vs_reader_seek_event(self->reader, n[0])
                               : set == 2 ? vs_reader_seek_cycle(self->reader, n[1])
                               : n[2] < VS_THREADS_MAX
                                   ? vs_reader_seek_insn(self->reader, (unsigned)n[2], n[3])
                                   : -VSE_NOTFOUND;
    Py_END_ALLOW_THREADS return run_went(self, e);
}

static PyObject *run_select(struct py_run *self, PyObject *args)
{
    PyObject *which = Py_None;
    int thread = -1, e;
    if (!PyArg_ParseTuple(args, "|O:select", &which))
        return NULL;
    if (which != Py_None) {
        long given = PyLong_AsLong(which);
        if (PyErr_Occurred())
            return NULL;
        thread = given < 0 || given >= VS_THREADS_MAX ? VS_THREADS_MAX : (int)given;
    }
    if (!run_enter(self))
        return NULL;
    Py_BEGIN_ALLOW_THREADS e = vs_reader_select(self->reader, thread);
    Py_END_ALLOW_THREADS return run_went(self, e);
}

static PyObject *run_thread(struct py_run *self, PyObject *args)
{
    struct vs_thread_info info;
    unsigned long long thread;
    if (!PyArg_ParseTuple(args, "O&:thread", py_take_u64, &thread) || !run_enter(self))
        return NULL;
    int e = vs_reader_thread(self->reader, py_narrow(thread), &info);
    run_leave(self);
    if (e < 0)
        return PyErr_Format(PyExc_IndexError, "there is no thread %llu", thread);
    return Py_BuildValue("{sKsK}", "events", (unsigned long long)info.events, "instructions",
                         (unsigned long long)info.instructions);
}

/* What an address is. */
static PyObject *run_name(struct py_run *self, PyObject *args)
{
    struct vs_name name = {.size = sizeof(name)};
    struct vs_diag diag;
    unsigned long long address;
    int e = 0;
    py_no_diag(&diag);
    if (!PyArg_ParseTuple(args, "O&:name", py_take_u64, &address) || !run_enter(self))
        return NULL;
    Py_BEGIN_ALLOW_THREADS if (!self->names) e = vs_names_open(&self->names, self->reader, &diag);
    if (!e)
        e = vs_names_at(self->names, address, &name);
    Py_END_ALLOW_THREADS PyObject *made =
        e ? NULL
          : Py_BuildValue("{sNsNsKsNsI}", "image", py_text(name.image), "routine",
                          py_text(name.routine), "offset", (unsigned long long)name.offset, "file",
                          py_text(name.file), "line", name.line);
    run_leave(self);
    return e ? py_fail(py_run_path(self), e, &diag) : made;
}

/* ---- what a run is ---- */

enum { INFO_EVENTS, INFO_INSTRUCTIONS, INFO_THREADS, INFO_TIMED, INFO_SEALED, INFO_VERSION };

static PyObject *run_info(struct py_run *self, void *which)
{
    if (!run_enter(self))
        return NULL;
    const struct vs_run_info info = *vs_reader_info(self->reader);
    run_leave(self);
    switch ((int)(intptr_t)which) {
    case INFO_EVENTS:
        return PyLong_FromUnsignedLongLong(info.events);
    case INFO_INSTRUCTIONS:
        return PyLong_FromUnsignedLongLong(info.instructions);
    case INFO_THREADS:
        return PyLong_FromUnsignedLong(info.threads);
    case INFO_TIMED:
        return PyBool_FromLong(info.features & VS_RUN_TIMED);
    case INFO_SEALED:
        return PyBool_FromLong(info.sealed);
    default:
        return PyLong_FromUnsignedLong(info.version);
    }
}

static PyObject *run_facts(struct py_run *self, void *unused)
{
    const char *key, *value;
    (void)unused;
    if (!run_enter(self))
        return NULL;
    PyObject *facts = PyDict_New();
    for (uint32_t i = 0; facts && !vs_reader_meta_at(self->reader, i, &key, &value); i++) {
        PyObject *name = py_text(key), *text = py_text(value);
        if (!name || !text || PyDict_SetItem(facts, name, text) < 0)
            Py_CLEAR(facts);
        Py_XDECREF(name);
        Py_XDECREF(text);
    }
    run_leave(self);
    return facts;
}

static PyObject *run_images(struct py_run *self, void *unused)
{
    struct vs_image image;
    (void)unused;
    if (!run_enter(self))
        return NULL;
    PyObject *images = PyList_New(0);
    for (uint64_t i = 0; images && !vs_reader_image(self->reader, i, &image); i++) {
        PyObject *one = Py_BuildValue(
            "{sNsKsKsK}", "path", py_text(image.path), "base", (unsigned long long)image.base,
            "start", (unsigned long long)image.start, "length", (unsigned long long)image.length);
        if (!one || PyList_Append(images, one) < 0)
            Py_CLEAR(images);
        Py_XDECREF(one);
    }
    run_leave(self);
    return images;
}

static PyObject *run_get_path(struct py_run *self, void *unused)
{
    (void)unused;
    return PyUnicode_DecodeFSDefault(py_run_path(self));
}

static PyObject *run_closed(struct py_run *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(!self->reader);
}

/* ---- the type ---- */

static PyMethodDef run_methods[] = {
    {"close", (PyCFunction)run_close, METH_NOARGS,
     "close()\n--\n\nCloses the run. Batches that it has delivered stay."},
    {"__enter__", (PyCFunction)py_run_self, METH_NOARGS, NULL},
    {"__exit__", (PyCFunction)run_exit, METH_VARARGS, NULL},
    {"seek", PY_WORDS(run_seek), METH_VARARGS | METH_KEYWORDS,
     "seek(event=None, cycle=None, thread=None, instruction=None)\n--\n\n"
     "The next batch begins with that event, with the first event of a cycle or later, or with the "
     "event at which a thread has retired so many instructions. IndexError if there is none."},
    {"select", (PyCFunction)run_select, METH_VARARGS,
     "select(thread=None, /)\n--\n\nFrom now on, batches have this thread's events only, or with "
     "None all again."},
    {"thread", (PyCFunction)run_thread, METH_VARARGS,
     "thread(number, /)\n--\n\nHow many events and instructions a thread has."},
    {"name", (PyCFunction)run_name, METH_VARARGS,
     "name(address, /)\n--\n\nThe image, routine, source file and line at an address."},
    {"instructions", (PyCFunction)py_run_instructions, METH_NOARGS,
     "instructions()\n--\n\nIterates over all instructions that retired, with their code."},
    {"measure", PY_WORDS(py_run_measure), METH_VARARGS | METH_KEYWORDS,
     "measure(specs, *, window=0, sync=0, plugins=())\n--\n\n"
     "What techniques take of the run: a dict for each, with bits, messages, bits by field, what "
     "the encoder met, and gates; with a window also the bits in each window."},
    {"encode", PY_WORDS(py_run_encode), METH_VARARGS | METH_KEYWORDS,
     "encode(spec, path, *, overwrite=False, plugins=())\n--\n\n"
     "Writes the bits that leave the chip to a .vport file."},
    {"prove", PY_WORDS(py_run_prove), METH_VARARGS | METH_KEYWORDS,
     "prove(specs, *, plugins=())\n--\n\n"
     "Encodes the run with each technique, decodes the streams, and compares them with the run."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef run_getset[] = {
    {"path", (getter)run_get_path, NULL, "the file", NULL},
    {"closed", (getter)run_closed, NULL, "whether it is closed", NULL},
    {"events", (getter)run_info, NULL, "how many events it has", (void *)INFO_EVENTS},
    {"instructions_retired", (getter)run_info, NULL, "how many instructions retired",
     (void *)INFO_INSTRUCTIONS},
    {"threads", (getter)run_info, NULL, "how many threads it has", (void *)INFO_THREADS},
    {"timed", (getter)run_info, NULL, "whether events have cycles", (void *)INFO_TIMED},
    {"sealed", (getter)run_info, NULL, "whether the file is complete", (void *)INFO_SEALED},
    {"version", (getter)run_info, NULL, "of the file's format", (void *)INFO_VERSION},
    {"facts", (getter)run_facts, NULL, "what was noted about the run, by key", NULL},
    {"images", (getter)run_images, NULL, "the files that were mapped as code", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyTypeObject py_run_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "vestige.Run",
    .tp_basicsize = sizeof(struct py_run),
    .tp_dealloc = (destructor)run_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "A recorded run. Iterating over it delivers its events in batches.",
    .tp_iter = PyObject_SelfIter,
    .tp_iternext = (iternextfunc)run_next,
    .tp_methods = run_methods,
    .tp_getset = run_getset,
};
