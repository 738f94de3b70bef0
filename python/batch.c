/* SPDX-License-Identifier: MIT */
#include "module.h"

#include <stdlib.h>

/* ---- memory of batches ----------------------------------------------------------------------- */

enum { SPARE = 4 }; /* rooms that are kept for the next batches */

struct py_pool {
    size_t users;
    bool timed;
    struct py_room *spare[SPARE];
    size_t count;
};

static void room_free(struct py_room *room)
{
    free(room->cycles);
    free(room);
}

struct py_pool *py_pool_new(bool timed)
{
    struct py_pool *pool = calloc(1, sizeof(*pool));
    if (pool)
        *pool = (struct py_pool){.users = 1, .timed = timed};
    return pool;
}

void py_pool_leave(struct py_pool *pool)
{
    if (--pool->users)
        return;
    while (pool->count)
        room_free(pool->spare[--pool->count]);
    free(pool);
}

struct py_room *py_room_take(struct py_pool *pool)
{
    struct py_room *room = pool->count ? pool->spare[--pool->count] : NULL;
    if (!room && (room = malloc(sizeof(*room)))) {
        room->cycles = pool->timed ? malloc(PY_ROOM * sizeof(*room->cycles)) : NULL;
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

void py_room_give(struct py_room *room)
{
    struct py_pool *pool = room->pool;
    if (pool->count < SPARE && pool->users > 1)
        pool->spare[pool->count++] = room;
    else
        room_free(room);
    py_pool_leave(pool);
}

static void room_drop(PyObject *capsule)
{
    py_room_give(PyCapsule_GetPointer(capsule, NULL));
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

PyTypeObject py_batch_type = {
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

PyObject *py_batch_of(struct py_room *room, const struct vs_batch *b)
{
    PyObject *owner = PyCapsule_New(room, NULL, room_drop);
    if (!owner) {
        py_room_give(room);
        return NULL;
    }
    Batch *self = PyObject_New(Batch, &py_batch_type);
    if (self) {
        self->first = b->first;
        self->events = py_array_over(py_event_type, room->events, b->count, owner);
        self->cycles = b->cycles ? py_array_over(py_cycle_type, room->cycles, b->count, owner)
                                 : Py_NewRef(Py_None);
        self->wide = PyBytes_FromStringAndSize((const char *)b->wide,
                                               (Py_ssize_t)(b->wide ? b->wide_size : 0));
        if (!self->events || !self->cycles || !self->wide)
            Py_CLEAR(self);
    }
    Py_DECREF(owner);
    return (PyObject *)self;
}
