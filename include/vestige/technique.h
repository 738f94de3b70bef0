/* SPDX-License-Identifier: MIT */
/* The techniques that there are, and what they cost in hardware.
 *
 * A technique is named by a spec, as with `vestige bandwidth -t`: "NAME", or "NAME:ITEM,ITEM,..."
 * with items that are configurations or parameter=value. An example: "mcfTR_e:small,gshare=2048".
 *
 * Structs that may grow begin with their size. The caller sets it to sizeof the struct, so that
 * programs built with another version of these headers go on working.
 */
#ifndef VESTIGE_TECHNIQUE_H
#define VESTIGE_TECHNIQUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vestige/error.h"
#include "vestige/version.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The techniques of this library, and those of plugins. Functions that take a catalog accept NULL,
 * which stands for the library's own. A catalog must outlive whatever was opened with it. It may be
 * read by several threads at a time. */
struct vs_catalog;

/* What a technique reports: a set of these. */
enum vs_reports {
    VS_REPORTS_FLOW = 1,      /* control flow */
    VS_REPORTS_VALUES = 2,    /* load values */
    VS_REPORTS_ADDRESSES = 4, /* data addresses */
};

struct vs_catalog_entry {
    size_t size;
    const char *name;    /* valid as long as the catalog */
    const char *summary; /* one line */
    unsigned reports;    /* enum vs_reports */
};

/* Makes a catalog of the library's own techniques. Returns 0; -VSE_NOMEM. */
VS_API int vs_catalog_open(struct vs_catalog **c);

/* Loads techniques from a shared object, before the catalog is used for anything else, and adds
 * them. A path without a slash is in the working folder. docs/adding-a-technique.md shows how such
 * an object is made; it must be of this very version of Vestige. Returns 0; with diag, -VSE_IO (it
 * cannot be loaded); -VSE_TRUNCATED; -VSE_FORMAT (it is no plugin); -VSE_VERSION (it was built for
 * another version); -VSE_CORRUPT (a technique of it breaks a rule); -VSE_EXISTS (there is a
 * technique of that name already); -VSE_INVAL; -VSE_NOMEM. After an error the catalog is as before.
 */
VS_API int vs_catalog_plugin(struct vs_catalog *c, const char *path, struct vs_diag *diag);

/* Frees a catalog. NULL is fine. */
VS_API void vs_catalog_close(struct vs_catalog *c);

/* Tells of the i-th technique. Returns 0; -VSE_NOTFOUND (there are no more); -VSE_INVAL (the
 * entry's size is too small). */
VS_API int vs_catalog_at(const struct vs_catalog *c, size_t i, struct vs_catalog_entry *entry);

/* The machine for which hardware is estimated. */
struct vs_machine {
    size_t size;
    unsigned cores;        /* 1 to 65536 */
    unsigned address_bits; /* 32 or 64 */
    bool timed;            /* messages carry cycles */
};

/* A structure of the encoder, on the chip. */
struct vs_hardware {
    size_t size;
    char name[48];
    uint64_t copies;                        /* how many there are; the rest is of one copy */
    uint64_t sram, cam, registers;          /* bits of storage, by the kind of cell */
    uint64_t comparators, tristate, gates2; /* bits; gates2: gates in halves, of all this */
};

/* Lists the structures that a technique's encoder has, in an array of `capacity`; the first
 * element's size goes for all. Returns how many there are, which may be more than fit;
 * -VSE_NOTFOUND or -VSE_INVAL, with diag (no such technique, configuration, parameter or value);
 * -VSE_INVAL (no such machine; the size is too small); -VSE_NOMEM. */
VS_API int64_t vs_hardware_of(const struct vs_catalog *c, const char *spec,
                              const struct vs_machine *machine, struct vs_hardware *list,
                              size_t capacity, struct vs_diag *diag);

#ifdef __cplusplus
}
#endif

#endif
