/* SPDX-License-Identifier: MIT */
#include "module.h"

typedef struct {
    PyObject_HEAD struct vs_playback *playback; /* NULL: it is closed */
    struct vs_catalog *catalog;
    PyObject *path; /* bytes */
    bool busy;
} Playback;

static bool playback_enter(Playback *self)
{
    if (self->busy)
        PyErr_SetString(PyExc_RuntimeError, "another thread is using the playback");
    else if (!self->playback)
        PyErr_SetString(PyExc_ValueError, "the playback is closed");
    else
        return self->busy = true;
    return false;
}

static void playback_fini(Playback *self)
{
    vs_playback_close(self->playback);
    vs_catalog_close(self->catalog);
    self->playback = NULL;
    self->catalog = NULL;
}

static void playback_dealloc(Playback *self)
{
    playback_fini(self);
    Py_XDECREF(self->path);
    Py_TYPE(self)->tp_free(self);
}

PyObject *py_replay(PyObject *module, PyObject *args, PyObject *words)
{
    static char *names[] = {"path", "technique", "code", "images", "memory", "plugins", NULL};
    struct vs_playback_options options = {.size = sizeof(options)};
    PyObject *path = NULL, *code = NULL, *images = NULL, *plugins = NULL, *code_path = NULL;
    const char *technique = NULL;
    unsigned long long memory = 0;
    struct py_strings files = {NULL, NULL, 0};
    struct vs_diag diag;
    int e = -VSE_NOMEM;
    (void)module;
    py_no_diag(&diag);
    if (!PyArg_ParseTupleAndKeywords(args, words, "O&|$zOOO&O:replay", names, PyUnicode_FSConverter,
                                     &path, &technique, &code, &images, py_take_u64, &memory,
                                     &plugins))
        return NULL;
    Playback *self = PyObject_New(Playback, &py_playback_type);
    if (!self) {
        Py_DECREF(path);
        return NULL;
    }
    self->path = path;
    self->playback = NULL;
    self->catalog = NULL;
    self->busy = false;
    if ((code && code != Py_None && !PyUnicode_FSConverter(code, &code_path)) ||
        !py_strings_take(&files, images, "images") || !py_catalog_open(&self->catalog, plugins)) {
        Py_CLEAR(self);
    } else {
        options.catalog = self->catalog;
        options.technique = technique;
        options.code = code_path ? PyBytes_AS_STRING(code_path) : NULL;
        options.images = files.items;
        options.image_count = files.count;
        options.memory = memory;
        Py_BEGIN_ALLOW_THREADS e =
            vs_playback_open(&self->playback, PyBytes_AS_STRING(path), &options, &diag);
        Py_END_ALLOW_THREADS if (e)
        {
            py_fail(PyBytes_AS_STRING(path), e, &diag);
            Py_CLEAR(self);
        }
    }
    py_strings_fini(&files);
    Py_XDECREF(code_path);
    return (PyObject *)self;
}

static PyObject *playback_close(Playback *self, PyObject *unused)
{
    (void)unused;
    if (self->busy)
        return PyErr_Format(PyExc_RuntimeError, "another thread is using the playback");
    playback_fini(self);
    Py_RETURN_NONE;
}

static PyObject *playback_self(Playback *self, PyObject *unused)
{
    (void)unused;
    if (!playback_enter(self))
        return NULL;
    self->busy = false;
    return Py_NewRef((PyObject *)self);
}

static PyObject *playback_exit(Playback *self, PyObject *args)
{
    (void)args;
    return playback_close(self, NULL);
}

static PyObject *playback_goto(Playback *self, PyObject *args, PyObject *words)
{
    static char *names[] = {"position", "core", NULL};
    struct vs_playback_state state = {.size = sizeof(state)};
    unsigned long long position;
    PyObject *given = Py_None;
    struct vs_diag diag;
    unsigned long long core = 0;
    int e;
    py_no_diag(&diag);
    if (!PyArg_ParseTupleAndKeywords(args, words, "O&|O:goto", names, py_take_u64, &position,
                                     &given))
        return NULL;
    if ((given != Py_None && !py_take_u64(given, &core)) || !playback_enter(self))
        return NULL;
    Py_BEGIN_ALLOW_THREADS e =
        given == Py_None ? vs_playback_goto(self->playback, position, &diag)
                         : vs_playback_goto_core(self->playback, py_narrow(core), position, &diag);
    Py_END_ALLOW_THREADS vs_playback_tell(self->playback, &state);
    self->busy = false;
    if (e && e != -VSE_END)
        return py_fail(PyBytes_AS_STRING(self->path), e, &diag);
    return PyLong_FromUnsignedLongLong(state.position);
}

/* Makes a number of a register's bytes. */
static PyObject *number_of(const uint8_t *bytes, int size)
{
    return _PyLong_FromByteArray(bytes, (size_t)size, 1, 0);
}

static PyObject *playback_register(Playback *self, PyObject *args)
{
    uint8_t bytes[64];
    const char *name;
    unsigned long long core;
    if (!PyArg_ParseTuple(args, "O&s:register", py_take_u64, &core, &name) || !playback_enter(self))
        return NULL;
    int size = vs_playback_register(self->playback, py_narrow(core), name, bytes, sizeof(bytes));
    self->busy = false;
    if (size < 0)
        return PyErr_Format(PyExc_KeyError, "core %llu has no register '%s' that is known", core,
                            name);
    return number_of(bytes, size);
}

static PyObject *playback_registers(Playback *self, PyObject *args)
{
    struct vs_playback_core state = {.size = sizeof(state)};
    uint8_t bytes[64];
    const char *name;
    unsigned long long core;
    unsigned size;
    if (!PyArg_ParseTuple(args, "O&:registers", py_take_u64, &core) || !playback_enter(self))
        return NULL;
    PyObject *all = NULL;
    if (vs_playback_core(self->playback, py_narrow(core), &state) < 0)
        PyErr_Format(PyExc_IndexError, "there is no core %llu", core);
    else
        all = PyDict_New();
    for (unsigned i = 0; all && !vs_playback_register_at(self->playback, i, &name, &size); i++) {
        int n = vs_playback_register(self->playback, py_narrow(core), name, bytes, sizeof(bytes));
        PyObject *value = n < 0 ? NULL : number_of(bytes, n);
        if (n >= 0 && (!value || PyDict_SetItemString(all, name, value) < 0))
            Py_CLEAR(all);
        Py_XDECREF(value);
    }
    self->busy = false;
    return all;
}

static PyObject *playback_memory(Playback *self, PyObject *args)
{
    unsigned long long core, address;
    Py_ssize_t size;
    int64_t known;
    if (!PyArg_ParseTuple(args, "O&O&n:memory", py_take_u64, &core, py_take_u64, &address, &size))
        return NULL;
    if (size < 0 || size > 1 << 30) {
        PyErr_SetString(PyExc_ValueError, "memory is read 0 to 2**30 bytes at a time");
        return NULL;
    }
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, size);
    if (!bytes || !playback_enter(self)) {
        Py_XDECREF(bytes);
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS known = vs_playback_memory(self->playback, py_narrow(core), address,
                                                      PyBytes_AS_STRING(bytes), (size_t)size);
    Py_END_ALLOW_THREADS self->busy = false;
    if (known < 0) {
        Py_DECREF(bytes);
        return PyErr_Format(PyExc_IndexError, "there is no core %llu", core);
    }
    _PyBytes_Resize(&bytes, (Py_ssize_t)known);
    return bytes;
}

static PyObject *playback_core(Playback *self, PyObject *args)
{
    struct vs_playback_core state = {.size = sizeof(state)};
    unsigned long long core;
    if (!PyArg_ParseTuple(args, "O&:core", py_take_u64, &core) || !playback_enter(self))
        return NULL;
    int e = vs_playback_core(self->playback, py_narrow(core), &state);
    self->busy = false;
    if (e < 0)
        return PyErr_Format(PyExc_IndexError, "there is no core %llu", core);
    return Py_BuildValue("{sKsKsOsO}", "pc", (unsigned long long)state.pc, "retired",
                         (unsigned long long)state.retired, "started",
                         state.started ? Py_True : Py_False, "ended",
                         state.ended ? Py_True : Py_False);
}

enum { STATE_POSITION, STATE_CORES, STATE_OVER };

static PyObject *playback_state(Playback *self, void *which)
{
    struct vs_playback_state state = {.size = sizeof(state)};
    if (!playback_enter(self))
        return NULL;
    vs_playback_tell(self->playback, &state);
    self->busy = false;
    switch ((int)(intptr_t)which) {
    case STATE_POSITION:
        return PyLong_FromUnsignedLongLong(state.position);
    case STATE_CORES:
        return PyLong_FromUnsignedLong(state.cores);
    default:
        return PyBool_FromLong(state.over);
    }
}

static PyMethodDef playback_methods[] = {
    {"close", (PyCFunction)playback_close, METH_NOARGS, "close()\n--\n\nEnds the playback."},
    {"__enter__", (PyCFunction)playback_self, METH_NOARGS, NULL},
    {"__exit__", (PyCFunction)playback_exit, METH_VARARGS, NULL},
    {"goto", PY_WORDS(playback_goto), METH_VARARGS | METH_KEYWORDS,
     "goto(position, core=None)\n--\n\n"
     "Goes to where all cores, or one core, have retired so many instructions, or to the program's "
     "end if that comes before. Returns the position."},
    {"register", (PyCFunction)playback_register, METH_VARARGS,
     "register(core, name, /)\n--\n\nA register's value. KeyError if it is not known."},
    {"registers", (PyCFunction)playback_registers, METH_VARARGS,
     "registers(core, /)\n--\n\nThe values of all registers that are known, by name."},
    {"memory", (PyCFunction)playback_memory, METH_VARARGS,
     "memory(core, address, size, /)\n--\n\n"
     "Memory as the core knows it, up to the first byte that is not known."},
    {"core", (PyCFunction)playback_core, METH_VARARGS,
     "core(number, /)\n--\n\nWhere a core stands: pc, retired, started, ended."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef playback_getset[] = {
    {"position", (getter)playback_state, NULL, "instructions that all cores have retired",
     (void *)STATE_POSITION},
    {"cores", (getter)playback_state, NULL, "how many cores there are", (void *)STATE_CORES},
    {"over", (getter)playback_state, NULL, "whether every core has ended", (void *)STATE_OVER},
    {NULL, NULL, NULL, NULL, NULL},
};

PyTypeObject py_playback_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "vestige.Playback",
    .tp_basicsize = sizeof(Playback),
    .tp_dealloc = (destructor)playback_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "A program run again from its stream, at any position.",
    .tp_methods = playback_methods,
    .tp_getset = playback_getset,
};
