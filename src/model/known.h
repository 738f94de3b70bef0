/* SPDX-License-Identifier: MIT */
/* Which lines of memory a debugger knows, kept for lines that no cache holds: two tables of bits.
 *
 *   K   an entry is a page: a bit for each of its lines
 *   R   an entry is a region of many pages: a bit for each page of which all lines are known
 *
 * A page is in at most one of them. Both are set-associative, choose the set by the exclusive or of
 * all parts of the page's or region's number, and replace the entry whose last use is the longest
 * ago; what makes way is forgotten, which is always safe. An entry whose bits are all 0 is free.
 * Either table may have no entries: without R, a whole page is an entry of all ones in K. */
#ifndef MODEL_KNOWN_H
#define MODEL_KNOWN_H

#include <stdbool.h>
#include <stdint.h>

#include "model/cache.h"
#include "model/cost.h"

enum {
    VS_KNOWN_PAGE = 4096,
    VS_KNOWN_REGION = 256 * 1024,
};

struct vs_known_config {
    uint32_t k_entries, k_ways; /* entries: 0, or ways times a power of two */
    uint32_t r_entries, r_ways; /* ways 0: 8, or as many as there are entries */
    uint32_t line;              /* bytes: a power of two, at least 4 */
    uint32_t page, region;      /* the same, at least line and page; 0: VS_KNOWN_PAGE, _REGION */
};

struct vs_known_table {
    struct vs_cache cache; /* of the entries; its lines are their numbers, permuted */
    uint64_t *bits;        /* by index * words */
    uint32_t words;        /* of an entry; 0: the table has no entries */
    uint8_t entry_bits;    /* log2 of the bytes that an entry tells of */
    uint8_t part_bits;     /* and one of its bits */
    uint8_t set_bits;
};

struct vs_known {
    struct vs_known_table k, r;
    uint32_t line, page;
};

/* Returns 0; -VSE_INVAL, and diag says why there can be no such tables. */
int vs_known_check_config(const struct vs_known_config *config, struct vs_diag *diag);

/* Makes empty tables. Returns 0; -VSE_INVAL as vs_known_check_config; -VSE_NOMEM. After an error
 * nothing has to be freed, though vs_known_fini may be called. */
int vs_known_init(struct vs_known *k, const struct vs_known_config *config, struct vs_diag *diag);
void vs_known_fini(struct vs_known *k);

/* What tables of a valid configuration cost: vectors, tags and the order of uses are SRAM, and each
 * way has a comparator. */
struct vs_cost vs_known_cost(const struct vs_known_config *config, unsigned address_bits);

/* Addresses below are of any byte of the line or page. */

/* Whether the line is known. R is asked only if K has no entry for the page. */
bool vs_known_line(struct vs_known *k, uint64_t addr);

/* Does the same, but is no use of an entry. */
bool vs_known_has(const struct vs_known *k, uint64_t addr);

/* The line is known from now on. */
void vs_known_set_line(struct vs_known *k, uint64_t addr);

/* Returns how many lines of the page are known by its entry in K; 0 if it has none. */
unsigned vs_known_count(const struct vs_known *k, uint64_t addr);

/* All lines of the page are known: it moves from K to R. */
void vs_known_set_page(struct vs_known *k, uint64_t addr);

/* The lines that have any of these bytes are not known any more. A page in R of which other lines
 * are left moves to K. Addresses wrap around at 2^64; a size of 0 changes nothing. */
void vs_known_forget(struct vs_known *k, uint64_t addr, uint64_t size);

/* Nothing is known any more. */
void vs_known_clear(struct vs_known *k);

#endif
