/* SPDX-License-Identifier: MIT */
/* Catalogs of techniques, as the rest of the library sees them. */
#ifndef LIBRARY_CATALOG_H
#define LIBRARY_CATALOG_H

#include "technique/technique.h"
#include "vestige/technique.h"

/* Returns the catalog's table, which NULL ends; that of vs_techniques if c is NULL. */
const struct vs_technique *const *vs_catalog_table(const struct vs_catalog *c);

#endif
