/* SPDX-License-Identifier: MIT */
/* The address space of a process: which addresses are mapped and how. Memory that no one has
 * touched is mapped here but has no page in vs_memory yet: the fault of the first access brings it
 * (vs_space_touch), so that large reservations cost nothing. What counts towards the limit is
 * pages.
 *
 * Functions return 0 or a negative errno of the target where nothing else is said; those that
 * change something append effects, for the task t. */
#ifndef TARGET_SPACE_H
#define TARGET_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vs_process;
struct vs_task;

enum vs_area_kind {
    VS_AREA_PLAIN,
    VS_AREA_FILE, /* of a file: its pages do not become zero when they are thrown away */
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
    struct vs_area *areas; /* sorted, do not overlap */
    size_t count, capacity;
    uint64_t limit; /* bytes of pages that the program may touch */
    uint64_t brk_start, brk;
};

void vs_space_fini(struct vs_space *s);

/* [addr, addr + size) is made of whole pages of the target's addresses. */
bool vs_space_is_range(uint64_t addr, uint64_t size);

/* The first area that ends after addr, or NULL. */
const struct vs_area *vs_space_at(const struct vs_process *p, uint64_t addr);

/* Where `size` bytes are free: at hint if possible. 0: nowhere. */
uint64_t vs_space_free(const struct vs_process *p, uint64_t hint, uint64_t size);

/* Maps zeros in place of what was there, however much it is. -ENOMEM: too many areas. */
int vs_space_map(struct vs_process *p, struct vs_task *t, uint64_t addr, uint64_t size,
                 unsigned flags, enum vs_area_kind kind);
int vs_space_unmap(struct vs_process *p, struct vs_task *t, uint64_t addr, uint64_t size);
/* -ENOMEM: part of it is not mapped, too; nothing changed then. */
int vs_space_protect(struct vs_process *p, struct vs_task *t, uint64_t addr, uint64_t size,
                     unsigned flags);

/* Gives the page at addr memory, if it is mapped with all of flags. Whether an access that failed
 * can succeed now: the page was missing, or is there because another core met it before. (An atomic
 * access to what can only be written still cannot.) The page that goes over the limit is given too,
 * so that the access or call is whole; it sets `full` of the process, whose owner stops then. */
bool vs_space_touch(struct vs_process *p, uint64_t addr, unsigned flags);

/* Bytes of pages that were touched, and that may still be. */
uint64_t vs_space_used(const struct vs_process *p);
uint64_t vs_space_left(const struct vs_process *p);

/* How many of `size` bytes from addr on are mapped with all of flags. */
uint64_t vs_space_span(const struct vs_process *p, uint64_t addr, uint64_t size, unsigned flags);

/* What the kernel reads and writes for the program: -EFAULT if not all may be read, or written;
 * then nothing was. The write is noted for the task's call, or with `pc` 0 for none. */
int vs_guest_get(const struct vs_process *p, uint64_t addr, void *bytes, uint64_t size);
int vs_guest_put(struct vs_process *p, struct vs_task *t, uint64_t addr, const void *bytes,
                 uint64_t size);
int vs_guest_put_quiet(struct vs_process *p, struct vs_task *t, uint64_t addr, const void *bytes,
                       uint64_t size);
/* A string with its NUL. Returns its length; -EFAULT; -ENAMETOOLONG. */
int64_t vs_guest_string(const struct vs_process *p, uint64_t addr, char *text, size_t room);

/* Bytes that are part of the program, whatever the flags of their pages; no effect. */
void vs_space_load(struct vs_process *p, uint64_t addr, const void *bytes, uint64_t size);

#endif
