/* SPDX-License-Identifier: MIT */
/* The address space of a process: which addresses are mapped, and how. Memory that nobody has
 * touched is mapped here but has no page in the process's memory yet: the first access faults and
 * gets it (vs_space_touch), so that large reservations cost nothing. Only pages count towards the
 * limit.
 *
 * Functions return 0 or a negative errno of the target where nothing else is said; those that
 * change something append effects for the task t. */
#ifndef TARGET_SPACE_H
#define TARGET_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vs_process;
struct vs_task;

enum vs_area_kind {
    VS_AREA_PLAIN,
    VS_AREA_FILE, /* a file's: its pages do not become zero when they are thrown away */
    VS_AREA_IMAGE,
    VS_AREA_STACK,
    VS_AREA_HEAP,
};

struct vs_area {
    uint64_t start, end;
    unsigned flags; /* VS_MAP_READ, WRITE, EXEC */
    enum vs_area_kind kind;
};

#define VS_SPACE_AREAS 65530

struct vs_space {
    struct vs_area *areas; /* sorted, without overlaps */
    size_t count, capacity;
    uint64_t limit; /* bytes of pages that the program may touch */
    uint64_t brk_start, brk;
};

void vs_space_fini(struct vs_space *s);

/* Returns whether [addr, addr + size) consists of whole pages within the target's addresses. */
bool vs_space_is_range(uint64_t addr, uint64_t size);

/* Returns the first area that ends after addr, or NULL. */
const struct vs_area *vs_space_at(const struct vs_process *p, uint64_t addr);

/* Returns where `size` bytes are free, at hint if possible; 0 if nowhere. */
uint64_t vs_space_free(const struct vs_process *p, uint64_t hint, uint64_t size);

/* Maps zeros in place of whatever was there. -ENOMEM: there are too many areas. */
int vs_space_map(struct vs_process *p, struct vs_task *t, uint64_t addr, uint64_t size,
                 unsigned flags, enum vs_area_kind kind);
int vs_space_unmap(struct vs_process *p, struct vs_task *t, uint64_t addr, uint64_t size);
/* -ENOMEM also if part of the range is not mapped; then nothing has changed. */
int vs_space_protect(struct vs_process *p, struct vs_task *t, uint64_t addr, uint64_t size,
                     unsigned flags);

/* Gives the page at addr memory, if it is mapped with all of flags. Returns whether an access that
 * failed can succeed now: the page was missing, or is there because another core met it before. (An
 * atomic access to a page that can only be written still cannot.) The page that goes over the limit
 * gets memory, too, so that the access or call is complete; but it sets the process's `full`, for
 * which its owner stops. */
bool vs_space_touch(struct vs_process *p, uint64_t addr, unsigned flags);

/* Return how many bytes of pages were touched, and how many more may be. */
uint64_t vs_space_used(const struct vs_process *p);
uint64_t vs_space_left(const struct vs_process *p);

/* Returns how many of the `size` bytes from addr on are mapped with all of flags. */
uint64_t vs_space_span(const struct vs_process *p, uint64_t addr, uint64_t size, unsigned flags);

/* What the kernel reads and writes for the program. -EFAULT: not all may be read, or written, and
 * nothing was. put notes the write as done for the task's call; put_quiet, with pc 0, as done for
 * none. */
int vs_guest_get(const struct vs_process *p, uint64_t addr, void *bytes, uint64_t size);
int vs_guest_put(struct vs_process *p, struct vs_task *t, uint64_t addr, const void *bytes,
                 uint64_t size);
int vs_guest_put_quiet(struct vs_process *p, struct vs_task *t, uint64_t addr, const void *bytes,
                       uint64_t size);
/* Reads a string with its NUL. Returns its length; -EFAULT; -ENAMETOOLONG. */
int64_t vs_guest_string(const struct vs_process *p, uint64_t addr, char *text, size_t room);

/* Writes bytes that are part of the program, whatever the flags of their pages, without an
 * effect. */
void vs_space_load(struct vs_process *p, uint64_t addr, const void *bytes, uint64_t size);

#endif
