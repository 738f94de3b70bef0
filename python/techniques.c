/* SPDX-License-Identifier: MIT */
#include "module.h"

PyObject *py_techniques(PyObject *module, PyObject *args, PyObject *words)
{
    static char *names[] = {"plugins", NULL};
    struct vs_catalog_entry entry = {.size = sizeof(entry)};
    PyObject *plugins = NULL;
    struct vs_catalog *catalog;
    (void)module;
    if (!PyArg_ParseTupleAndKeywords(args, words, "|$O:techniques", names, &plugins) ||
        !py_catalog_open(&catalog, plugins))
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

PyObject *py_cost(PyObject *module, PyObject *args, PyObject *words)
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
    py_no_diag(&diag);
    if (!PyArg_ParseTupleAndKeywords(args, words, "s|$O&O&pO:cost", names, &spec, py_take_u64,
                                     &cores, py_take_u64, &address_bits, &timed, &plugins) ||
        !py_catalog_open(&catalog, plugins))
        return NULL;
    machine.cores = py_narrow(cores);
    machine.address_bits = py_narrow(address_bits);
    machine.timed = timed;
    parts[0].size = sizeof(parts[0]);
    int64_t n = vs_hardware_of(catalog, spec, &machine, parts, PARTS, &diag);
    vs_catalog_close(catalog);
    if (n < 0)
        return py_fail(NULL, (int)n, &diag);
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
