/* SPDX-License-Identifier: MIT */
/* The Python package's C half, over the public interface of libvestige alone.
 *
 * Objects of C that may fail or block are used with Python's lock released. An object that a thread
 * is in says so (`busy`), and another thread that comes to it gets an exception. Functions that
 * read a whole run open it for themselves, so they do not disturb who iterates over it. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#include <numpy/arrayobject.h>
#include <structmember.h>

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vestige/vestige.h"

#ifndef PyDataType_ELSIZE /* before numpy 2 */
#define PyDataType_ELSIZE(type) ((type)->elsize)
#endif

static PyObject *error_type;
static PyArray_Descr *event_type, *cycle_type, *retired_type, *step_type;

/* ---- errors ---------------------------------------------------------------------------------- */

static int set_place(PyObject *error, const char *name, int64_t at)
{
    PyObject *value = at < 0 ? Py_NewRef(Py_None) : PyLong_FromLongLong(at);
    int e = value ? PyObject_SetAttrString(error, name, value) : -1;
    Py_XDECREF(value);
    return e;
}

/* Raises vestige.Error about a file, or about nothing in particular if path is NULL. Returns NULL.
 */
static PyObject *fail(const char *path, int code, const struct vs_diag *diag)
{
    char name[4096 + 256];
    if (code == -VSE_NOMEM)
        return PyErr_NoMemory();
    const char *why = diag && diag->text[0] ? diag->text : vs_errstr(code);
    snprintf(name, sizeof(name), "%s%s%s", path ? path : "", path ? ": " : "", why);
    PyObject *text = PyUnicode_DecodeUTF8(name, (Py_ssize_t)strlen(name), "replace");
    PyObject *error = text ? PyObject_CallOneArg(error_type, text) : NULL;
    PyObject *label = error ? PyUnicode_FromString(vs_errname(code)) : NULL;
    if (label && PyObject_SetAttrString(error, "code", label) == 0 &&
        set_place(error, "offset", diag ? diag->offset : -1) == 0 &&
        set_place(error, "chunk", diag ? diag->chunk : -1) == 0)
        PyErr_SetObject(error_type, error);
    Py_XDECREF(label);
    Py_XDECREF(error);
    Py_XDECREF(text);
    return NULL;
}

static void no_diag(struct vs_diag *diag)
{
    memset(diag, 0, sizeof(*diag));
    diag->offset = diag->chunk = -1;
}

/* ---- arguments ------------------------------------------------------------------------------- */

/* Converts a number of up to 64 bits, for O&; numpy's are numbers, too. Raises OverflowError for
 * one that is negative or longer, where the formats "I" and "K" would drop bits. */
static int take_u64(PyObject *given, void *to)
{
    PyObject *number = PyNumber_Index(given);
    unsigned long long value = number ? PyLong_AsUnsignedLongLong(number) : 0;
    Py_XDECREF(number);
    if (PyErr_Occurred())
        return 0;
    *(unsigned long long *)to = value;
    return 1;
}

/* The number as the library takes those of threads, cores and the like. What does not fit becomes
 * one that nothing has. */
static unsigned narrow(unsigned long long number)
{
    return number < UINT_MAX ? (unsigned)number : UINT_MAX;
}

/* Strings of a sequence, as bytes objects that own them. */
struct strings {
    PyObject *list; /* of bytes */
    const char **items;
    size_t count;
};

static void strings_fini(struct strings *s)
{
    free(s->items);
    s->items = NULL;
    s->count = 0;
    Py_CLEAR(s->list);
}

/* Takes a sequence of strings or paths; None and NULL are an empty one. Returns whether it could.
 */
static bool strings_take(struct strings *s, PyObject *sequence, const char *what)
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
        strings_fini(s);
    return good;
}

/* Makes a catalog with plugins. Returns whether it could. */
static bool catalog_open(struct vs_catalog **c, PyObject *plugins)
{
    struct strings paths;
    struct vs_diag diag;
    no_diag(&diag);
    *c = NULL;
    if (!strings_take(&paths, plugins, "plugins"))
        return false;
    int e = vs_catalog_open(c);
    for (size_t i = 0; i < paths.count && !e; i++)
        e = vs_catalog_plugin(*c, paths.items[i], &diag);
    strings_fini(&paths);
    if (!e)
        return true;
    vs_catalog_close(*c);
    *c = NULL;
    fail(NULL, e, &diag);
    return false;
}

/* ---- memory of batches ----------------------------------------------------------------------- */

enum { ROOM = 8192, SPARE = 4 }; /* events; rooms that are kept for the next batches */

struct room {
    struct pool *pool;
    uint64_t *cycles; /* NULL in a run that is not timed */
    struct vs_event events[ROOM];
};

/* Rooms that nobody uses, of one run. It lives as long as the run and its rooms do. All of it is
 * guarded by Python's lock. */
struct pool {
    size_t users;
    bool timed;
    struct room *spare[SPARE];
    size_t count;
};

static void room_free(struct room *room)
{
    free(room->cycles);
    free(room);
}

static void pool_leave(struct pool *pool)
{
    if (--pool->users)
        return;
    while (pool->count)
        room_free(pool->spare[--pool->count]);
    free(pool);
}

static struct room *room_take(struct pool *pool)
{
    struct room *room = pool->count ? pool->spare[--pool->count] : NULL;
    if (!room && (room = malloc(sizeof(*room)))) {
        room->cycles = pool->timed ? malloc(ROOM * sizeof(*room->cycles)) : NULL;
        if (pool->timed && !room->cycles) {
            free(room);
            room = NULL;
        }
    }
    if (!room) {
        PyErr_NoMemory();
        return NULL;
    }
    room->pool = pool;
    pool->users++;
    return room;
}

static void room_give(struct room *room)
{
    struct pool *pool = room->pool;
    if (pool->count < SPARE && pool->users > 1)
        pool->spare[pool->count++] = room;
    else
        room_free(room);
    pool_leave(pool);
}

static void room_drop(PyObject *capsule)
{
    room_give(PyCapsule_GetPointer(capsule, NULL));
}

/* ---- arrays ---------------------------------------------------------------------------------- */

/* Makes an array over memory that belongs to `owner`. */
static PyObject *array_over(PyArray_Descr *type, void *data, size_t count, PyObject *owner)
{
    npy_intp size = (npy_intp)count;
    Py_INCREF(type);
    PyObject *array =
        PyArray_NewFromDescr(&PyArray_Type, type, 1, &size, NULL, data, NPY_ARRAY_CARRAY, NULL);
    if (array && PyArray_SetBaseObject((PyArrayObject *)array, Py_NewRef(owner)) < 0)
        Py_CLEAR(array);
    return array;
}

/* Makes an array with a copy. */
static PyObject *array_of(PyArray_Descr *type, const void *data, size_t count)
{
    npy_intp size = (npy_intp)count;
    Py_INCREF(type);
    PyObject *array = PyArray_SimpleNewFromDescr(1, &size, type);
    if (array && count)
        memcpy(PyArray_DATA((PyArrayObject *)array), data, count * (size_t)PyDataType_ELSIZE(type));
    return array;
}

static void free_memory(PyObject *capsule)
{
    free(PyCapsule_GetPointer(capsule, NULL));
}

/* ---- a batch --------------------------------------------------------------------------------- */

typedef struct {
    PyObject_HEAD PyObject *events, *cycles, *wide; /* arrays; cycles: or None; wide: bytes */
    unsigned long long first;
} Batch;

static void batch_dealloc(Batch *self)
{
    Py_XDECREF(self->events);
    Py_XDECREF(self->cycles);
    Py_XDECREF(self->wide);
    Py_TYPE(self)->tp_free(self);
}

static Py_ssize_t batch_length(Batch *self)
{
    return PyArray_SIZE((PyArrayObject *)self->events);
}

static PyObject *batch_value(Batch *self, PyObject *args)
{
    Py_ssize_t i, count = batch_length(self), wide = PyBytes_GET_SIZE(self->wide);
    if (!PyArg_ParseTuple(args, "n:value", &i))
        return NULL;
    if (i < 0)
        i += count;
    if (i < 0 || i >= count)
        return PyErr_Format(PyExc_IndexError, "the batch has %zd events", count);
    const struct vs_event *e =
        (const struct vs_event *)PyArray_DATA((PyArrayObject *)self->events) + i;
    if (!vs_event_is_wide(e))
        return PyBytes_FromStringAndSize((const char *)&e->value,
                                         e->kind == VS_BRANCH ? 0 : e->size);
    if (e->value > (uint64_t)wide || e->size > (uint64_t)wide - e->value)
        return PyErr_Format(PyExc_ValueError, "event %zd was changed: its value is not there", i);
    return PyBytes_FromStringAndSize(PyBytes_AS_STRING(self->wide) + e->value, e->size);
}

static PyMethodDef batch_methods[] = {
    {"value", (PyCFunction)batch_value, METH_VARARGS,
     "value(i, /)\n--\n\nThe bytes of event i's value, which may be longer than the 8 bytes in the "
     "array."},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef batch_members[] = {
    {"events", T_OBJECT, offsetof(Batch, events), READONLY,
     "the events, as a structured array over the memory that they were decoded to"},
    {"cycles", T_OBJECT, offsetof(Batch, cycles), READONLY,
     "the commit cycle of each event, or None if the run is not timed"},
    {"first", T_ULONGLONG, offsetof(Batch, first), READONLY,
     "number of the first event in the run"},
    {"wide", T_OBJECT, offsetof(Batch, wide), READONLY,
     "bytes of the values that are longer than 8 bytes; such an event's value is an offset"},
    {NULL, 0, 0, 0, NULL},
};

static PySequenceMethods batch_sequence = {.sq_length = (lenfunc)batch_length};

static PyTypeObject batch_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "vestige.Batch",
    .tp_basicsize = sizeof(Batch),
    .tp_dealloc = (destructor)batch_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "Consecutive events of a run. The arrays keep their memory for as long as they are "
              "used, whatever becomes of the run.",
    .tp_methods = batch_methods,
    .tp_members = batch_members,
    .tp_as_sequence = &batch_sequence,
};

/* Makes a batch of a room, which it takes over. */
static PyObject *batch_of(struct room *room, const struct vs_batch *b)
{
    PyObject *owner = PyCapsule_New(room, NULL, room_drop);
    if (!owner) {
        room_give(room);
        return NULL;
    }
    Batch *self = PyObject_New(Batch, &batch_type);
    if (self) {
        self->first = b->first;
        self->events = array_over(event_type, room->events, b->count, owner);
        self->cycles =
            b->cycles ? array_over(cycle_type, room->cycles, b->count, owner) : Py_NewRef(Py_None);
        self->wide = PyBytes_FromStringAndSize((const char *)b->wide,
                                               (Py_ssize_t)(b->wide ? b->wide_size : 0));
        if (!self->events || !self->cycles || !self->wide)
            Py_CLEAR(self);
    }
    Py_DECREF(owner);
    return (PyObject *)self;
}

/* ---- a run ----------------------------------------------------------------------------------- */

typedef struct {
    PyObject_HEAD struct vs_reader *reader; /* NULL: it is closed */
    struct vs_names *names;                 /* NULL until an address is named */
    struct pool *pool;
    PyObject *path; /* bytes */
    bool busy;      /* a thread is in it */
} Run;

static PyTypeObject run_type;

static const char *run_path(const Run *self)
{
    return PyBytes_AS_STRING(self->path);
}

/* Enters a run. Returns whether it is open and free. */
static bool run_enter(Run *self)
{
    if (self->busy)
        PyErr_Format(PyExc_RuntimeError, "%s: another thread is using the run", run_path(self));
    else if (!self->reader)
        PyErr_SetString(PyExc_ValueError, "the run is closed");
    else
        self->busy = true;
    return self->busy && !PyErr_Occurred();
}

static void run_leave(Run *self)
{
    self->busy = false;
}

static void run_fini(Run *self)
{
    vs_names_close(self->names);
    vs_reader_close(self->reader);
    self->names = NULL;
    self->reader = NULL;
}

static void run_dealloc(Run *self)
{
    run_fini(self);
    if (self->pool)
        pool_leave(self->pool);
    Py_XDECREF(self->path);
    Py_TYPE(self)->tp_free(self);
}

static PyObject *run_open(PyObject *path, int mode)
{
    Run *self = PyObject_New(Run, &run_type);
    struct vs_diag diag;
    int e;
    if (!self)
        return NULL;
    self->reader = NULL;
    self->names = NULL;
    self->busy = false;
    self->path = Py_NewRef(path);
    self->pool = calloc(1, sizeof(*self->pool));
    if (!self->pool) {
        Py_DECREF(self);
        return PyErr_NoMemory();
    }
    self->pool->users = 1;
    no_diag(&diag);
    Py_BEGIN_ALLOW_THREADS e =
        vs_run_open(&self->reader, PyBytes_AS_STRING(path), (enum vs_open_mode)mode, &diag);
    Py_END_ALLOW_THREADS if (e)
    {
        self->reader = NULL;
        fail(run_path(self), e, &diag);
        Py_DECREF(self);
        return NULL;
    }
    self->pool->timed = vs_reader_info(self->reader)->features & VS_RUN_TIMED;
    return (PyObject *)self;
}

static PyObject *open_run(PyObject *module, PyObject *args, PyObject *words)
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

static PyObject *run_close(Run *self, PyObject *unused)
{
    (void)unused;
    if (self->busy)
        return PyErr_Format(PyExc_RuntimeError, "%s: another thread is using the run",
                            run_path(self));
    run_fini(self);
    Py_RETURN_NONE;
}

static PyObject *run_self(Run *self, PyObject *unused)
{
    (void)unused;
    if (!self->reader) {
        PyErr_SetString(PyExc_ValueError, "the run is closed");
        return NULL;
    }
    return Py_NewRef((PyObject *)self);
}

static PyObject *run_exit(Run *self, PyObject *args)
{
    (void)args;
    return run_close(self, NULL);
}

static PyObject *run_next(Run *self)
{
    struct vs_diag diag;
    struct vs_batch batch;
    struct room *room;
    int n;
    if (!run_enter(self))
        return NULL;
    if (!(room = room_take(self->pool))) {
        run_leave(self);
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS n =
        vs_reader_next_into(self->reader, room->events, room->cycles, ROOM, &batch);
    Py_END_ALLOW_THREADS diag = *vs_reader_diag(self->reader);
    if (n > 0) {
        PyObject *made = batch_of(room, &batch); /* which copies wide values */
        run_leave(self);
        return made;
    }
    run_leave(self);
    room_give(room);
    return n == -VSE_END ? NULL : fail(run_path(self), n, &diag);
}

typedef int seek_function(struct vs_reader *r, uint64_t n);

static PyObject *run_went(Run *self, int e)
{
    struct vs_diag diag = *vs_reader_diag(self->reader);
    run_leave(self);
    if (e == -VSE_NOTFOUND) {
        PyErr_SetString(PyExc_IndexError, "the run has no such place");
        return NULL;
    }
    if (e < 0)
        return fail(run_path(self), e, &diag);
    Py_RETURN_NONE;
}

static PyObject *run_seek(Run *self, PyObject *args, PyObject *words)
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
        if (!take_u64(given[i], &n[i]))
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

static PyObject *run_select(Run *self, PyObject *args)
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

static PyObject *run_thread(Run *self, PyObject *args)
{
    struct vs_thread_info info;
    unsigned long long thread;
    if (!PyArg_ParseTuple(args, "O&:thread", take_u64, &thread) || !run_enter(self))
        return NULL;
    int e = vs_reader_thread(self->reader, narrow(thread), &info);
    run_leave(self);
    if (e < 0)
        return PyErr_Format(PyExc_IndexError, "there is no thread %llu", thread);
    return Py_BuildValue("{sKsK}", "events", (unsigned long long)info.events, "instructions",
                         (unsigned long long)info.instructions);
}

/* Text of a file that may not be UTF-8. */
static PyObject *text_of(const char *text)
{
    return text ? PyUnicode_DecodeFSDefault(text) : Py_NewRef(Py_None);
}

/* What an address is. */
static PyObject *run_name(Run *self, PyObject *args)
{
    struct vs_name name = {.size = sizeof(name)};
    struct vs_diag diag;
    unsigned long long address;
    int e = 0;
    no_diag(&diag);
    if (!PyArg_ParseTuple(args, "O&:name", take_u64, &address) || !run_enter(self))
        return NULL;
    Py_BEGIN_ALLOW_THREADS if (!self->names) e = vs_names_open(&self->names, self->reader, &diag);
    if (!e)
        e = vs_names_at(self->names, address, &name);
    Py_END_ALLOW_THREADS PyObject *made =
        e ? NULL
          : Py_BuildValue("{sNsNsKsNsI}", "image", text_of(name.image), "routine",
                          text_of(name.routine), "offset", (unsigned long long)name.offset, "file",
                          text_of(name.file), "line", name.line);
    run_leave(self);
    return e ? fail(run_path(self), e, &diag) : made;
}

/* ---- what a run is ---- */

enum { INFO_EVENTS, INFO_INSTRUCTIONS, INFO_THREADS, INFO_TIMED, INFO_SEALED, INFO_VERSION };

static PyObject *run_info(Run *self, void *which)
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

static PyObject *run_facts(Run *self, void *unused)
{
    const char *key, *value;
    (void)unused;
    if (!run_enter(self))
        return NULL;
    PyObject *facts = PyDict_New();
    for (uint32_t i = 0; facts && !vs_reader_meta_at(self->reader, i, &key, &value); i++) {
        PyObject *name = text_of(key), *text = text_of(value);
        if (!name || !text || PyDict_SetItem(facts, name, text) < 0)
            Py_CLEAR(facts);
        Py_XDECREF(name);
        Py_XDECREF(text);
    }
    run_leave(self);
    return facts;
}

static PyObject *run_images(Run *self, void *unused)
{
    struct vs_image image;
    (void)unused;
    if (!run_enter(self))
        return NULL;
    PyObject *images = PyList_New(0);
    for (uint64_t i = 0; images && !vs_reader_image(self->reader, i, &image); i++) {
        PyObject *one = Py_BuildValue(
            "{sNsKsKsK}", "path", text_of(image.path), "base", (unsigned long long)image.base,
            "start", (unsigned long long)image.start, "length", (unsigned long long)image.length);
        if (!one || PyList_Append(images, one) < 0)
            Py_CLEAR(images);
        Py_XDECREF(one);
    }
    run_leave(self);
    return images;
}

static PyObject *run_get_path(Run *self, void *unused)
{
    (void)unused;
    return PyUnicode_DecodeFSDefault(run_path(self));
}

static PyObject *run_closed(Run *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(!self->reader);
}

/* ---- instructions ---- */

typedef struct {
    PyObject_HEAD struct vs_reader *reader; /* its own */
    struct vs_insns *walk;
    PyObject *path;
    bool busy;
} Walk;

static PyTypeObject walk_type;

static void walk_dealloc(Walk *self)
{
    vs_insns_close(self->walk);
    vs_reader_close(self->reader);
    Py_XDECREF(self->path);
    Py_TYPE(self)->tp_free(self);
}

static PyObject *run_instructions(Run *self, PyObject *unused)
{
    struct vs_diag diag;
    int e;
    (void)unused;
    if (!self->reader)
        return run_self(self, NULL);
    Walk *walk = PyObject_New(Walk, &walk_type);
    if (!walk)
        return NULL;
    walk->reader = NULL;
    walk->walk = NULL;
    walk->busy = false;
    walk->path = Py_NewRef(self->path);
    no_diag(&diag);
    Py_BEGIN_ALLOW_THREADS e =
        vs_run_open(&walk->reader, PyBytes_AS_STRING(walk->path), VS_OPEN_DEFAULT, &diag);
    if (!e)
        e = vs_insns_open(&walk->walk, walk->reader, &diag);
    Py_END_ALLOW_THREADS if (!e) return (PyObject *)walk;
    fail(PyBytes_AS_STRING(walk->path), e, &diag);
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
    no_diag(&diag);
    Py_BEGIN_ALLOW_THREADS n = vs_insns_next(self->walk, &list, &diag);
    Py_END_ALLOW_THREADS PyObject *made = n > 0 ? array_of(retired_type, list, (size_t)n) : NULL;
    self->busy = false;
    return n >= 0 || n == -VSE_END ? made : fail(PyBytes_AS_STRING(self->path), (int)n, &diag);
}

/* Text of an instruction that an array has. */
static PyObject *walk_text(Walk *self, PyObject *args)
{
    struct vs_retired insn;
    char text[256];
    Py_buffer bytes;
    unsigned long long pc;
    memset(&insn, 0, sizeof(insn));
    if (!PyArg_ParseTuple(args, "O&y*:text", take_u64, &pc, &bytes))
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

static PyTypeObject walk_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "vestige.Instructions",
    .tp_basicsize = sizeof(Walk),
    .tp_dealloc = (destructor)walk_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "Iterates over a run's instructions, as structured arrays with their code.",
    .tp_iter = PyObject_SelfIter,
    .tp_iternext = (iternextfunc)walk_next,
    .tp_methods = walk_methods,
};

/* ---- measuring ---- */

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
        return fail(NULL, -VSE_INTERNAL, NULL);
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

static PyObject *run_measure(Run *self, PyObject *args, PyObject *words)
{
    static char *names[] = {"specs", "window", "sync", "plugins", NULL};
    struct vs_measure_options options = {.size = sizeof(options)};
    unsigned long long window = 0, sync = 0;
    PyObject *given, *plugins = NULL, *made = NULL;
    struct vs_catalog *catalog = NULL;
    struct vs_reader *reader = NULL;
    struct vs_measure *m = NULL;
    struct strings specs;
    struct vs_diag diag;
    int e;
    if (!PyArg_ParseTupleAndKeywords(args, words, "O|$O&O&O:measure", names, &given, take_u64,
                                     &window, take_u64, &sync, &plugins))
        return NULL;
    if (!self->reader)
        return run_self(self, NULL);
    if (!strings_take(&specs, given, "specs"))
        return NULL;
    if (!catalog_open(&catalog, plugins)) {
        strings_fini(&specs);
        return NULL;
    }
    options.catalog = catalog;
    options.window = window;
    options.sync = sync;
    no_diag(&diag);
    Py_BEGIN_ALLOW_THREADS e = vs_run_open(&reader, run_path(self), VS_OPEN_DEFAULT, &diag);
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
    strings_fini(&specs);
    return e ? fail(run_path(self), e, &diag) : made;
}

static PyObject *run_encode(Run *self, PyObject *args, PyObject *words)
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
    if (!self->reader || !catalog_open(&catalog, plugins)) {
        Py_DECREF(path);
        return self->reader ? NULL : run_self(self, NULL);
    }
    options.catalog = catalog;
    options.overwrite = overwrite;
    no_diag(&diag);
    Py_BEGIN_ALLOW_THREADS e = vs_run_open(&reader, run_path(self), VS_OPEN_DEFAULT, &diag);
    if (!e)
        e = vs_encode(reader, spec, PyBytes_AS_STRING(path), &options, &written, &diag);
    vs_reader_close(reader);
    Py_END_ALLOW_THREADS vs_catalog_close(catalog);
    if (e)
        fail(e == -VSE_EXISTS || e == -VSE_IO ? PyBytes_AS_STRING(path) : run_path(self), e, &diag);
    Py_DECREF(path);
    return e ? NULL
             : Py_BuildValue("{sKsK}", "bits", (unsigned long long)written.bits, "messages",
                             (unsigned long long)written.messages);
}

static PyObject *run_prove(Run *self, PyObject *args, PyObject *words)
{
    static char *names[] = {"specs", "plugins", NULL};
    PyObject *given, *plugins = NULL, *made = NULL;
    struct vs_catalog *catalog = NULL;
    struct vs_proved *results;
    struct strings specs;
    struct vs_diag diag;
    int e = 0;
    if (!PyArg_ParseTupleAndKeywords(args, words, "O|$O:prove", names, &given, &plugins))
        return NULL;
    if (!self->reader)
        return run_self(self, NULL);
    if (!strings_take(&specs, given, "specs"))
        return NULL;
    if (!catalog_open(&catalog, plugins)) {
        strings_fini(&specs);
        return NULL;
    }
    no_diag(&diag);
    results = calloc(specs.count + 1, sizeof(*results));
    if (results)
        results->size = sizeof(*results);
    Py_BEGIN_ALLOW_THREADS e = !results       ? -VSE_NOMEM
                               : !specs.count ? 0
                                              : vs_prove_run(run_path(self), catalog, specs.items,
                                                             specs.count, results, &diag);
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
    strings_fini(&specs);
    return e ? fail(run_path(self), e, &diag) : made;
}

#define WORDS(function) ((PyCFunction)(void (*)(void))(function))

static PyMethodDef run_methods[] = {
    {"close", (PyCFunction)run_close, METH_NOARGS,
     "close()\n--\n\nCloses the run. Batches that it has delivered stay."},
    {"__enter__", (PyCFunction)run_self, METH_NOARGS, NULL},
    {"__exit__", (PyCFunction)run_exit, METH_VARARGS, NULL},
    {"seek", WORDS(run_seek), METH_VARARGS | METH_KEYWORDS,
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
    {"instructions", (PyCFunction)run_instructions, METH_NOARGS,
     "instructions()\n--\n\nIterates over all instructions that retired, with their code."},
    {"measure", WORDS(run_measure), METH_VARARGS | METH_KEYWORDS,
     "measure(specs, *, window=0, sync=0, plugins=())\n--\n\n"
     "What techniques take of the run: a dict for each, with bits, messages, bits by field, what "
     "the encoder met, and gates; with a window also the bits in each window."},
    {"encode", WORDS(run_encode), METH_VARARGS | METH_KEYWORDS,
     "encode(spec, path, *, overwrite=False, plugins=())\n--\n\n"
     "Writes the bits that leave the chip to a .vport file."},
    {"prove", WORDS(run_prove), METH_VARARGS | METH_KEYWORDS,
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

static PyTypeObject run_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "vestige.Run",
    .tp_basicsize = sizeof(Run),
    .tp_dealloc = (destructor)run_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "A recorded run. Iterating over it delivers its events in batches.",
    .tp_iter = PyObject_SelfIter,
    .tp_iternext = (iternextfunc)run_next,
    .tp_methods = run_methods,
    .tp_getset = run_getset,
};

/* ---- techniques ------------------------------------------------------------------------------ */

static PyObject *techniques(PyObject *module, PyObject *args, PyObject *words)
{
    static char *names[] = {"plugins", NULL};
    struct vs_catalog_entry entry = {.size = sizeof(entry)};
    PyObject *plugins = NULL;
    struct vs_catalog *catalog;
    (void)module;
    if (!PyArg_ParseTupleAndKeywords(args, words, "|$O:techniques", names, &plugins) ||
        !catalog_open(&catalog, plugins))
        return NULL;
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && !vs_catalog_at(catalog, i, &entry); i++) {
        PyObject *one = Py_BuildValue("{sssssI}", "name", entry.name, "summary", entry.summary,
                                      "reports", entry.reports);
        if (!one || PyList_Append(list, one) < 0)
            Py_CLEAR(list);
        Py_XDECREF(one);
    }
    vs_catalog_close(catalog);
    return list;
}

enum { PARTS = 64 };

static PyObject *cost(PyObject *module, PyObject *args, PyObject *words)
{
    static char *names[] = {"spec", "cores", "address_bits", "timed", "plugins", NULL};
    struct vs_machine machine = {.size = sizeof(machine)};
    unsigned long long cores = 1, address_bits = 64;
    struct vs_hardware parts[PARTS];
    struct vs_catalog *catalog;
    PyObject *plugins = NULL;
    struct vs_diag diag;
    const char *spec;
    int timed = 0;
    (void)module;
    no_diag(&diag);
    if (!PyArg_ParseTupleAndKeywords(args, words, "s|$O&O&pO:cost", names, &spec, take_u64, &cores,
                                     take_u64, &address_bits, &timed, &plugins) ||
        !catalog_open(&catalog, plugins))
        return NULL;
    machine.cores = narrow(cores);
    machine.address_bits = narrow(address_bits);
    machine.timed = timed;
    parts[0].size = sizeof(parts[0]);
    int64_t n = vs_hardware_of(catalog, spec, &machine, parts, PARTS, &diag);
    vs_catalog_close(catalog);
    if (n < 0)
        return fail(NULL, (int)n, &diag);
    PyObject *list = PyList_New(0);
    for (int64_t i = 0; i < n && i < PARTS && list; i++) {
        const struct vs_hardware *h = &parts[i];
        PyObject *one = Py_BuildValue(
            "{sssKsKsKsKsKsKsd}", "name", h->name, "copies", (unsigned long long)h->copies, "sram",
            (unsigned long long)h->sram, "cam", (unsigned long long)h->cam, "registers",
            (unsigned long long)h->registers, "comparators", (unsigned long long)h->comparators,
            "tristate", (unsigned long long)h->tristate, "gates", (double)h->gates2 / 2);
        if (!one || PyList_Append(list, one) < 0)
            Py_CLEAR(list);
        Py_XDECREF(one);
    }
    return list;
}

/* ---- decoding -------------------------------------------------------------------------------- */

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

/* Makes an array of the steps, whose memory it takes over. */
static PyObject *steps_array(struct steps *s)
{
    PyObject *owner = s->list ? PyCapsule_New(s->list, NULL, free_memory) : Py_NewRef(Py_None);
    if (!owner) {
        free(s->list);
        return NULL;
    }
    PyObject *array =
        s->list ? array_over(step_type, s->list, s->count, owner) : array_of(step_type, NULL, 0);
    Py_DECREF(owner);
    return array;
}

static PyObject *decode(PyObject *module, PyObject *args, PyObject *words)
{
    static char *names[] = {"path", "code", "images", "limit", "plugins", NULL};
    struct vs_decode_options options = {.size = sizeof(options)};
    PyObject *path = NULL, *code = NULL, *images = NULL, *plugins = NULL, *code_path = NULL;
    struct vs_catalog *catalog = NULL;
    unsigned long long limit = 0;
    struct strings files = {NULL, NULL, 0};
    struct steps steps = {NULL, 0, 0};
    struct vs_diag diag;
    int e = 0;
    (void)module;
    no_diag(&diag);
    if (!PyArg_ParseTupleAndKeywords(args, words, "O&|$OOO&O:decode", names, PyUnicode_FSConverter,
                                     &path, &code, &images, take_u64, &limit, &plugins))
        return NULL;
    bool good = (!code || code == Py_None || PyUnicode_FSConverter(code, &code_path)) &&
                strings_take(&files, images, "images") && catalog_open(&catalog, plugins);
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
            fail(PyBytes_AS_STRING(path), e, &diag);
    }
    vs_catalog_close(catalog);
    strings_fini(&files);
    Py_XDECREF(code_path);
    Py_DECREF(path);
    if (good && !e)
        return steps_array(&steps);
    free(steps.list);
    return NULL;
}

/* ---- playback -------------------------------------------------------------------------------- */

typedef struct {
    PyObject_HEAD struct vs_playback *playback; /* NULL: it is closed */
    struct vs_catalog *catalog;
    PyObject *path; /* bytes */
    bool busy;
} Playback;

static PyTypeObject playback_type;

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

static PyObject *replay(PyObject *module, PyObject *args, PyObject *words)
{
    static char *names[] = {"path", "technique", "code", "images", "memory", "plugins", NULL};
    struct vs_playback_options options = {.size = sizeof(options)};
    PyObject *path = NULL, *code = NULL, *images = NULL, *plugins = NULL, *code_path = NULL;
    const char *technique = NULL;
    unsigned long long memory = 0;
    struct strings files = {NULL, NULL, 0};
    struct vs_diag diag;
    int e = -VSE_NOMEM;
    (void)module;
    no_diag(&diag);
    if (!PyArg_ParseTupleAndKeywords(args, words, "O&|$zOOO&O:replay", names, PyUnicode_FSConverter,
                                     &path, &technique, &code, &images, take_u64, &memory,
                                     &plugins))
        return NULL;
    Playback *self = PyObject_New(Playback, &playback_type);
    if (!self) {
        Py_DECREF(path);
        return NULL;
    }
    self->path = path;
    self->playback = NULL;
    self->catalog = NULL;
    self->busy = false;
    if ((code && code != Py_None && !PyUnicode_FSConverter(code, &code_path)) ||
        !strings_take(&files, images, "images") || !catalog_open(&self->catalog, plugins)) {
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
            fail(PyBytes_AS_STRING(path), e, &diag);
            Py_CLEAR(self);
        }
    }
    strings_fini(&files);
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
    no_diag(&diag);
    if (!PyArg_ParseTupleAndKeywords(args, words, "O&|O:goto", names, take_u64, &position, &given))
        return NULL;
    if ((given != Py_None && !take_u64(given, &core)) || !playback_enter(self))
        return NULL;
    Py_BEGIN_ALLOW_THREADS e =
        given == Py_None ? vs_playback_goto(self->playback, position, &diag)
                         : vs_playback_goto_core(self->playback, narrow(core), position, &diag);
    Py_END_ALLOW_THREADS vs_playback_tell(self->playback, &state);
    self->busy = false;
    if (e && e != -VSE_END)
        return fail(PyBytes_AS_STRING(self->path), e, &diag);
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
    if (!PyArg_ParseTuple(args, "O&s:register", take_u64, &core, &name) || !playback_enter(self))
        return NULL;
    int size = vs_playback_register(self->playback, narrow(core), name, bytes, sizeof(bytes));
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
    if (!PyArg_ParseTuple(args, "O&:registers", take_u64, &core) || !playback_enter(self))
        return NULL;
    PyObject *all = NULL;
    if (vs_playback_core(self->playback, narrow(core), &state) < 0)
        PyErr_Format(PyExc_IndexError, "there is no core %llu", core);
    else
        all = PyDict_New();
    for (unsigned i = 0; all && !vs_playback_register_at(self->playback, i, &name, &size); i++) {
        int n = vs_playback_register(self->playback, narrow(core), name, bytes, sizeof(bytes));
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
    if (!PyArg_ParseTuple(args, "O&O&n:memory", take_u64, &core, take_u64, &address, &size))
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
    Py_BEGIN_ALLOW_THREADS known = vs_playback_memory(self->playback, narrow(core), address,
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
    if (!PyArg_ParseTuple(args, "O&:core", take_u64, &core) || !playback_enter(self))
        return NULL;
    int e = vs_playback_core(self->playback, narrow(core), &state);
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
    {"goto", WORDS(playback_goto), METH_VARARGS | METH_KEYWORDS,
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

static PyTypeObject playback_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "vestige.Playback",
    .tp_basicsize = sizeof(Playback),
    .tp_dealloc = (destructor)playback_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "A program run again from its stream, at any position.",
    .tp_methods = playback_methods,
    .tp_getset = playback_getset,
};

/* ---- the module ------------------------------------------------------------------------------ */

static PyMethodDef functions[] = {
    {"open", WORDS(open_run), METH_VARARGS | METH_KEYWORDS,
     "open(path, *, salvage=False)\n--\n\nOpens a recorded run."},
    {"techniques", WORDS(techniques), METH_VARARGS | METH_KEYWORDS,
     "techniques(*, plugins=())\n--\n\nThe techniques that there are."},
    {"cost", WORDS(cost), METH_VARARGS | METH_KEYWORDS,
     "cost(spec, *, cores=1, address_bits=64, timed=False, plugins=())\n--\n\n"
     "The structures that a technique's encoder has on the chip, with their bits and gates."},
    {"decode", WORDS(decode), METH_VARARGS | METH_KEYWORDS,
     "decode(path, *, code=None, images=(), limit=0, plugins=())\n--\n\n"
     "Rebuilds control flow from a stream and the program's code, as a structured array of steps."},
    {"replay", WORDS(replay), METH_VARARGS | METH_KEYWORDS,
     "replay(path, *, technique=None, code=None, images=(), memory=0, plugins=())\n--\n\n"
     "Runs a program again from a stream of load values, or from a recorded run."},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef module_definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "vestige._vestige",
    .m_size = -1,
    .m_methods = functions,
};

/* Makes a type of a list of fields, and checks its size. */
static PyArray_Descr *make_type(const char *fields, int size)
{
    PyObject *list = PyRun_String(fields, Py_eval_input, PyEval_GetBuiltins(), NULL);
    PyArray_Descr *type = NULL;
    if (list && PyArray_DescrConverter(list, &type) && PyDataType_ELSIZE(type) != size) {
        PyErr_SetString(PyExc_SystemError, "a type has another size than the library's");
        Py_CLEAR(type);
    }
    Py_XDECREF(list);
    return type;
}

static bool make_types(void)
{
    event_type = make_type("[('pc', '<u8'), ('addr', '<u8'), ('value', '<u8'), ('thread', '<u2'), "
                           "('size', '<u2'), ('icount', '<u2'), ('kind', 'u1'), ('flags', 'u1')]",
                           sizeof(struct vs_event));
    retired_type = make_type("[('pc', '<u8'), ('event', '<u8'), ('thread', '<u2'), ('size', 'u1'), "
                             "('bytes', 'u1', (15,)), ('reserved', 'V6')]",
                             sizeof(struct vs_retired));
    step_type = make_type("[('pc', '<u8'), ('target', '<u8'), ('cycle', '<u8'), "
                          "('instructions', '<u4'), ('core', '<u2'), ('flags', 'u1'), "
                          "('size', 'u1')]",
                          sizeof(struct vs_decoded));
    cycle_type = PyArray_DescrFromType(NPY_UINT64);
    return event_type && retired_type && step_type && cycle_type;
}

static int add_kinds(PyObject *module)
{
    PyObject *kinds = PyDict_New();
    int e = kinds ? 0 : -1;
    for (unsigned kind = 1; kind < VS_KIND_END && !e; kind++) {
        PyObject *number = PyLong_FromUnsignedLong(kind);
        e = number ? PyDict_SetItemString(kinds, vs_kind_name(kind), number) : -1;
        Py_XDECREF(number);
    }
    if (!e)
        e = PyModule_AddObjectRef(module, "KINDS", kinds);
    Py_XDECREF(kinds);
    return e;
}

static int fill(PyObject *module)
{
    static const struct {
        const char *name;
        long value;
    } numbers[] = {
        {"BR_COND", VS_BR_COND},
        {"BR_INDIRECT", VS_BR_INDIRECT},
        {"BR_CALL", VS_BR_CALL},
        {"BR_RETURN", VS_BR_RETURN},
        {"BR_TAKEN", VS_BR_TAKEN},
        {"MEM_ATOMIC", VS_MEM_ATOMIC},
        {"MEM_REPEAT", VS_MEM_REPEAT},
        {"REPORTS_FLOW", VS_REPORTS_FLOW},
        {"REPORTS_VALUES", VS_REPORTS_VALUES},
        {"REPORTS_ADDRESSES", VS_REPORTS_ADDRESSES},
    };
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        if (PyModule_AddIntConstant(module, numbers[i].name, numbers[i].value) < 0)
            return -1;
    if (PyModule_AddObjectRef(module, "Error", error_type) < 0 ||
        PyModule_AddObjectRef(module, "EVENT", (PyObject *)event_type) < 0 ||
        PyModule_AddObjectRef(module, "INSTRUCTION", (PyObject *)retired_type) < 0 ||
        PyModule_AddObjectRef(module, "STEP", (PyObject *)step_type) < 0 ||
        PyModule_AddType(module, &run_type) < 0 || PyModule_AddType(module, &batch_type) < 0 ||
        PyModule_AddType(module, &walk_type) < 0 || PyModule_AddType(module, &playback_type) < 0 ||
        PyModule_AddStringConstant(module, "__version__", vs_version()) < 0)
        return -1;
    return add_kinds(module);
}

PyMODINIT_FUNC PyInit__vestige(void);

PyMODINIT_FUNC PyInit__vestige(void)
{
    import_array();
    error_type = PyErr_NewExceptionWithDoc(
        "vestige.Error",
        "What is wrong with a file, or with what was asked of it. code: the library's name for it, "
        "such as 'VSE_CHECKSUM'; offset and chunk: where in the file, or None.",
        NULL, NULL);
    PyObject *module = error_type && make_types() ? PyModule_Create(&module_definition) : NULL;
    if (module && fill(module) < 0)
        Py_CLEAR(module);
    return module;
}
