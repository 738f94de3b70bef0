/* SPDX-License-Identifier: MIT */
/* Paths that a program names. */
#ifndef TARGET_PATHS_H
#define TARGET_PATHS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct vs_process;

/* Reads a path that is relative to the program's descriptor `fd`, and sets *dir to the host's
 * descriptor for that. A path for which vs_virtual_has holds comes out absolute and without
 * detours. Returns 0 or a negative errno of the target: -ENOENT for an empty path, unless
 * `empty`. */
int vs_path_get(const struct vs_process *p, uint64_t fd, uint64_t addr, bool empty, int *dir,
                char path[PATH_MAX]);

#define VS_VIRTUAL_NONE  (-1) /* there is no such file, and the host's must not be taken */
#define VS_VIRTUAL_PLAIN (-2) /* an ordinary path */

/* Returns a descriptor of the host for the text of a file in /proc or /sys that is the target's
 * own, or one of the above. */
int vs_virtual_open(struct vs_process *p, const char *path);
bool vs_virtual_is_random(const char *path);

/* Returns whether an absolute path leads to where the host's files are not the target's: /proc,
 * /sys and names for open descriptors. */
bool vs_virtual_has(const char *path);

#endif
