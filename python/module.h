/* SPDX-License-Identifier: MIT */
/* The Python package's C half, over the public interface of libvestige alone.
 *
 *   _vestige    the module
 *   arguments   errors, arguments and arrays
 *   batch       consecutive events of a run, and their memory
 *   run         a recorded run: its events, and what it is
 *   walk        a run's instructions
 *   measure     what techniques make of a run
 *   techniques  what techniques there are, and what they cost
 *   decoding    control flow from a stream
 *   playback    a program run again
 *
 * Objects of C that may fail or block are used with Python's lock released. An object that a thread
 * is in says so (`busy`), and another thread that comes to it gets an exception. Functions that
 * read a whole run open it for themselves, so they do not disturb who iterates over it.
 *
 * What returns a PyObject returns NULL after raising an exception. */
#ifndef PYTHON_MODULE_H
#define PYTHON_MODULE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#define NPY_NO_DEPRECATED_API  NPY_1_7_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL vestige_python_numpy
#ifndef PYTHON_MODULE_INIT /* only _vestige.c has numpy's table */
#define NO_IMPORT_ARRAY
#endif
#include <numpy/arrayobject.h>
#include <structmember.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vestige/vestige.h"

#ifndef PyDataType_ELSIZE /* before numpy 2 */
#define PyDataType_ELSIZE(type) ((type)->elsize)
#endif

/* A method that takes keywords, as a table has it. */
#define PY_WORDS(function) ((PyCFunction)(void (*)(void))(function))

/* ---- errors ---------------------------------------------------------------------------------- */

/* vestige.Error, which the module makes. */
extern PyObject *py_error;

/* Raises vestige.Error about a file, or about nothing in particular if path is NULL. Returns NULL.
 */
PyObject *py_fail(const char *path, int code, const struct vs_diag *diag);

/* Empties a diag. */
void py_no_diag(struct vs_diag *diag);

/* ---- arguments ------------------------------------------------------------------------------- */

/* Converts a number of up to 64 bits, for O&; numpy's are numbers, too. Raises OverflowError for
 * one that is negative or longer, where the formats "I" and "K" would drop bits. */
int py_take_u64(PyObject *given, void *to);

/* The number as the library takes those of threads, cores and the like. What does not fit becomes
 * one that nothing has. */
unsigned py_narrow(unsigned long long number);

/* Strings of a sequence, as bytes objects that own them. */
struct py_strings {
    PyObject *list; /* of bytes */
    const char **items;
    size_t count;
};

/* Takes a sequence of strings or paths; None and NULL are an empty one. Returns whether it could.
 */
bool py_strings_take(struct py_strings *s, PyObject *sequence, const char *what);
void py_strings_fini(struct py_strings *s);

/* Makes a catalog with plugins. Returns whether it could. */
bool py_catalog_open(struct vs_catalog **c, PyObject *plugins);

/* Text of a file that may not be UTF-8; None for NULL. */
PyObject *py_text(const char *text);

/* ---- arrays ---------------------------------------------------------------------------------- */

/* The types of arrays' elements, which the module makes. */
extern PyArray_Descr *py_event_type, *py_cycle_type, *py_retired_type, *py_step_type;

/* Makes an array over memory that belongs to `owner`. */
PyObject *py_array_over(PyArray_Descr *type, void *data, size_t count, PyObject *owner);

/* Makes an array with a copy. */
PyObject *py_array_of(PyArray_Descr *type, const void *data, size_t count);

/* ---- batches --------------------------------------------------------------------------------- */

enum { PY_ROOM = 8192 }; /* events */

struct py_room {
    struct py_pool *pool;
    uint64_t *cycles; /* NULL in a run that is not timed */
    struct vs_event events[PY_ROOM];
};

/* Rooms that nobody uses, of one run. It lives as long as the run and its rooms do. All of it is
 * guarded by Python's lock. */
struct py_pool;

/* Makes a pool with one user, who leaves it at the end. NULL: there is no memory. */
struct py_pool *py_pool_new(bool timed);
void py_pool_leave(struct py_pool *pool);

/* Takes a room, which is given back unless it becomes a batch. NULL after raising MemoryError. */
struct py_room *py_room_take(struct py_pool *pool);
void py_room_give(struct py_room *room);

extern PyTypeObject py_batch_type;

/* Makes a batch of a room, which it takes over. */
PyObject *py_batch_of(struct py_room *room, const struct vs_batch *b);

/* ---- runs ------------------------------------------------------------------------------------ */

struct py_run {
    PyObject_HEAD struct vs_reader *reader; /* NULL: it is closed */
    struct vs_names *names;                 /* NULL until an address is named */
    struct py_pool *pool;
    PyObject *path; /* bytes */
    bool busy;      /* a thread is in it */
};

extern PyTypeObject py_run_type, py_walk_type;

const char *py_run_path(const struct py_run *self);

/* Returns the run itself if it is open. */
PyObject *py_run_self(struct py_run *self, PyObject *unused);

/* Methods of a run that are in files of their own. */
PyObject *py_run_instructions(struct py_run *self, PyObject *unused);
PyObject *py_run_measure(struct py_run *self, PyObject *args, PyObject *words);
PyObject *py_run_encode(struct py_run *self, PyObject *args, PyObject *words);
PyObject *py_run_prove(struct py_run *self, PyObject *args, PyObject *words);

/* ---- the module's functions ------------------------------------------------------------------ */

extern PyTypeObject py_playback_type;

PyObject *py_open(PyObject *module, PyObject *args, PyObject *words);
PyObject *py_techniques(PyObject *module, PyObject *args, PyObject *words);
PyObject *py_cost(PyObject *module, PyObject *args, PyObject *words);
PyObject *py_decode(PyObject *module, PyObject *args, PyObject *words);
PyObject *py_replay(PyObject *module, PyObject *args, PyObject *words);

#endif
