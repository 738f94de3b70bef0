/* SPDX-License-Identifier: MIT */
/* The module: its functions, types and constants. */
#define PYTHON_MODULE_INIT
#include "module.h"

static PyMethodDef functions[] = {
    {"open", PY_WORDS(py_open), METH_VARARGS | METH_KEYWORDS,
     "open(path, *, salvage=False)\n--\n\nOpens a recorded run."},
    {"techniques", PY_WORDS(py_techniques), METH_VARARGS | METH_KEYWORDS,
     "techniques(*, plugins=())\n--\n\nThe techniques that there are."},
    {"cost", PY_WORDS(py_cost), METH_VARARGS | METH_KEYWORDS,
     "cost(spec, *, cores=1, address_bits=64, timed=False, plugins=())\n--\n\n"
     "The structures that a technique's encoder has on the chip, with their bits and gates."},
    {"decode", PY_WORDS(py_decode), METH_VARARGS | METH_KEYWORDS,
     "decode(path, *, code=None, images=(), limit=0, plugins=())\n--\n\n"
     "Rebuilds control flow from a stream and the program's code, as a structured array of steps."},
    {"replay", PY_WORDS(py_replay), METH_VARARGS | METH_KEYWORDS,
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
    py_event_type =
        make_type("[('pc', '<u8'), ('addr', '<u8'), ('value', '<u8'), ('thread', '<u2'), "
                  "('size', '<u2'), ('icount', '<u2'), ('kind', 'u1'), ('flags', 'u1')]",
                  sizeof(struct vs_event));
    py_retired_type =
        make_type("[('pc', '<u8'), ('event', '<u8'), ('thread', '<u2'), ('size', 'u1'), "
                  "('bytes', 'u1', (15,)), ('reserved', 'V6')]",
                  sizeof(struct vs_retired));
    py_step_type = make_type("[('pc', '<u8'), ('target', '<u8'), ('cycle', '<u8'), "
                             "('instructions', '<u4'), ('core', '<u2'), ('flags', 'u1'), "
                             "('size', 'u1')]",
                             sizeof(struct vs_decoded));
    py_cycle_type = PyArray_DescrFromType(NPY_UINT64);
    return py_event_type && py_retired_type && py_step_type && py_cycle_type;
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
    if (PyModule_AddObjectRef(module, "Error", py_error) < 0 ||
        PyModule_AddObjectRef(module, "EVENT", (PyObject *)py_event_type) < 0 ||
        PyModule_AddObjectRef(module, "INSTRUCTION", (PyObject *)py_retired_type) < 0 ||
        PyModule_AddObjectRef(module, "STEP", (PyObject *)py_step_type) < 0 ||
        PyModule_AddType(module, &py_run_type) < 0 ||
        PyModule_AddType(module, &py_batch_type) < 0 ||
        PyModule_AddType(module, &py_walk_type) < 0 ||
        PyModule_AddType(module, &py_playback_type) < 0 ||
        PyModule_AddStringConstant(module, "__version__", vs_version()) < 0)
        return -1;
    return add_kinds(module);
}

PyMODINIT_FUNC PyInit__vestige(void);

PyMODINIT_FUNC PyInit__vestige(void)
{
    import_array();
    py_error = PyErr_NewExceptionWithDoc(
        "vestige.Error",
        "What is wrong with a file, or with what was asked of it. code: the library's name for it, "
        "such as 'VSE_CHECKSUM'; offset and chunk: where in the file, or None.",
        NULL, NULL);
    PyObject *module = py_error && make_types() ? PyModule_Create(&module_definition) : NULL;
    if (module && fill(module) < 0)
        Py_CLEAR(module);
    return module;
}
