/* SPDX-License-Identifier: MIT */
/* What each chunk holds and where it lies, which is enough to seek without reading events.
 *
 * Every events chunk carries its own summary; the index chunk repeats them, so that an index can be
 * rebuilt by scanning.
 */
#ifndef TRACE_INDEX_H
#define TRACE_INDEX_H

#include "base/buf.h"
#include "trace/columns.h"

struct vs_chunk_thread {
    uint32_t thread;
    uint64_t events, insns; /* in this chunk */
    uint64_t before;        /* instructions the thread retired before this chunk */
};

struct vs_summary {
    uint64_t first, events; /* global number of the first event, and how many */
    /* how many entries of the tables the chunk may refer to, including site 0 */
    uint32_t sites, blocks, images;
    uint32_t shadow_bits;
    uint64_t cycle_first, cycle_last; /* 0 in an untimed run */
    uint32_t threads;                 /* entries at thread_at in the index's list, ascending */
    size_t thread_at;
};

struct vs_index_entry {
    uint8_t type;
    uint64_t offset; /* of the chunk's header */
    uint64_t size;   /* of its payload */
    size_t summary;  /* of an events chunk */
};

struct vs_index {
    struct vs_index_entry *entries;
    size_t entry_count, entry_capacity;
    struct vs_summary *summaries;
    size_t summary_count, summary_capacity;
    struct vs_chunk_thread *threads;
    size_t thread_count, thread_capacity;
    /* totals per thread, by number; [0, total_count) */
    struct vs_chunk_thread *totals;
    size_t total_count;
    uint64_t end;    /* file offset after the last chunk; 0 if there is none */
    uint64_t events; /* in all chunks */
};

/* A zeroed struct is an empty index of a file that has only its header. */
void vs_index_fini(struct vs_index *x);

/* The file offset after the last chunk. */
uint64_t vs_index_end(const struct vs_index *x);

/* Appends a chunk at x->end. summary and threads are for events chunks, else NULL. The summary is
 * checked against the chunks before it: event numbers, instruction counts, cycles.
 * Returns 0; -VSE_NOMEM; -VSE_CORRUPT; -VSE_LIMIT. */
int vs_index_add(struct vs_index *x, unsigned type, uint64_t size, const struct vs_summary *summary,
                 const struct vs_chunk_thread *threads);

/* Writes / reads a summary. Reading puts the threads into a buffer of struct vs_chunk_thread, whose
 * old content is lost. Return 0; -VSE_NOMEM; -VSE_CORRUPT; -VSE_TRUNCATED; -VSE_LIMIT. */
int vs_summary_pack(struct vs_buf *col, const struct vs_summary *s,
                    const struct vs_chunk_thread *threads);
int vs_summary_unpack(struct vs_column *col, struct vs_summary *s, struct vs_buf *threads);

/* The whole index as a column. Reading fills an empty index, whose chunks must end at `end`, so
 * that it cannot have more of them than the file has room for. Return as above. */
int vs_index_pack(const struct vs_index *x, struct vs_buf *col);
int vs_index_unpack(struct vs_index *x, struct vs_column col, uint64_t end);

/* Find a chunk by the number of its summary: the one with event n; the one in which the thread's
 * count of instructions reaches n, or its first one if n is 0; the one with the first event at
 * cycle n or later. Return the number; -VSE_NOTFOUND. */
int64_t vs_index_find_event(const struct vs_index *x, uint64_t n);
int64_t vs_index_find_insn(const struct vs_index *x, unsigned thread, uint64_t n);
int64_t vs_index_find_cycle(const struct vs_index *x, uint64_t n);

/* The thread's part of a chunk, or NULL if it has no event there. */
const struct vs_chunk_thread *vs_index_part(const struct vs_index *x, size_t summary,
                                            unsigned thread);

#endif
