/* SPDX-License-Identifier: MIT */
/* A table of techniques with those of plugins behind our own. */
#ifndef TECHNIQUE_PLUGINS_H
#define TECHNIQUE_PLUGINS_H

#include "technique/technique.h"

/* A zeroed struct is ready. */
struct vs_plugins {
    const struct vs_technique **table; /* NULL ends it; NULL: there are no plugins yet */
    size_t count, capacity;

    /* private */
    void **handles; /* of the objects, which stay loaded until fini */
    size_t handle_count, handle_capacity;
};

/* Loads a plugin and adds its techniques. Returns 0; with diag, -VSE_IO (it cannot be loaded);
 * -VSE_TRUNCATED; -VSE_FORMAT (it is no plugin); -VSE_VERSION (it was built with another version);
 * -VSE_CORRUPT (a technique of it breaks a rule); -VSE_EXISTS (there is a technique of that name);
 * -VSE_NOMEM. After an error the table is as before. */
int vs_plugins_add(struct vs_plugins *p, const char *path, struct vs_diag *diag);

/* Nothing of the plugins' techniques may be in use any more. */
void vs_plugins_fini(struct vs_plugins *p);

#endif
