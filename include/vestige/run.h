/* SPDX-License-Identifier: MIT */
/* Recorded runs: writing and reading .vest files. docs/format.md has the bytes. */
#ifndef VESTIGE_RUN_H
#define VESTIGE_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vestige/error.h"
#include "vestige/event.h"

#ifdef __cplusplus
extern "C" {
#endif

#define VS_RUN_VERSION        2 /* what this build writes */
#define VS_RUN_VERSION_NEEDED 1 /* the oldest whose readers understand that */
#define VS_RUN_VERSION_OLDEST 1 /* the oldest it reads */

/* What a run holds, as feature bits of the file. A reader refuses a file with bits that it does not
 * know.
 */
enum {
    VS_RUN_TIMED = 1,  /* every event has a commit cycle */
    VS_RUN_LOADS = 2,  /* loads were recorded */
    VS_RUN_STORES = 4, /* stores were recorded */
    VS_RUN_INPUTS = 8, /* has VS_TURN and VS_CONTENT: all that is needed to execute the run again */
    /* Branches, loads and stores are not in the file, since executing the run again makes them.
     * Such a run has VS_RUN_INPUTS too; what its loads and stores are is said by the bits above. */
    VS_RUN_SHORT = 16,
    /* With VS_RUN_INPUTS: these are the inputs of parts of the execution, each of which begins with
     * what all memory holds (VS_CONTENT_ANEW) and with the registers of each thread (VS_GAP). */
    VS_RUN_PARTS = 32,
    VS_RUN_DIGESTS = 64, /* has digests of memory (VS_CONTENT_DIGESTS); with VS_RUN_INPUTS */
    VS_RUN_KNOWN = 127
};

/* ---- writing ------------------------------------------------------------------------------ */

struct vs_writer;

/* Zero in a field means the default. */
struct vs_writer_options {
    uint32_t features;     /* VS_RUN_* */
    int level;             /* zstd level, 1 to 19; default 3 */
    unsigned workers;      /* compressing threads; default 1, at most 64 */
    bool inline_work;      /* no threads at all: compress in the caller */
    uint32_t chunk_events; /* events per chunk at most; default 2^20, upper limit 2^22 */
    uint32_t
        chunk_bytes;    /* bytes of a chunk before compression, about; default 8 MiB, at most 32 */
    uint32_t max_sites; /* sites in the static table, plus 1; default and upper limit 2^22 */
    bool overwrite;     /* replace an existing file; else -VSE_EXISTS */
};

/* Starts a run. The file is written as `<path>.partial` and gets its name when it is sealed. A file
 * of either name that has events is replaced only if the options say so. options and diag may be
 * NULL. Returns 0; -VSE_INVAL; -VSE_NOMEM; -VSE_EXISTS; -VSE_IO. */
VS_API int vs_writer_open(struct vs_writer **w, const char *path,
                          const struct vs_writer_options *options, struct vs_diag *diag);

/* Notes a fact about the run, at any time before sealing; a later value for the same key replaces
 * the earlier one. docs/format.md lists the keys in use. Returns 0; -VSE_INVAL (empty key; key or
 * value over 1 MiB); -VSE_LIMIT (over 1024 keys, 16384 calls, or 64 MiB); -VSE_NOMEM. */
VS_API int vs_writer_meta(struct vs_writer *w, const char *key, const char *value);

/* Adds an image. Returns its id, from 0 up; -VSE_INVAL; -VSE_LIMIT; -VSE_NOMEM. */
VS_API int64_t vs_writer_image(struct vs_writer *w, const struct vs_image *image);

/* Adds a block of code, unless one with this address and these bytes is already known. Returns its
 * id, from 0 up; -VSE_INVAL; -VSE_NOMEM; -VSE_LIMIT. */
VS_API int64_t vs_writer_block(struct vs_writer *w, const struct vs_block *block);

/* Appends events. The batch may be reused after the call. Returns 0; -VSE_INVAL (an event breaks
 * the rules of event.h or refers to a block or image that was not added, or cycles are missing,
 * unwanted or decrease; the events before it were taken, and vs_writer_diag says which event it is,
 * and why); -VSE_NOMEM; -VSE_IO. After -VSE_NOMEM or -VSE_IO every further call fails in the same
 * way. */
VS_API int vs_writer_put(struct vs_writer *w, const struct vs_batch *batch);

/* Protects all events so far against a crash of this process: ends the current chunk and hands
 * everything to the system. This makes compression worse, and is not needed before sealing. Returns
 * 0; -VSE_NOMEM; -VSE_IO; -VSE_LIMIT; -VSE_INTERNAL. */
VS_API int vs_writer_flush(struct vs_writer *w);

/* Tells what the last failed call on this writer reported. */
VS_API const struct vs_diag *vs_writer_diag(const struct vs_writer *w);

struct vs_writer_stats {
    uint64_t events, instructions;
    uint64_t bytes; /* in the file so far */
    uint64_t chunks;
    uint32_t sites, blocks, threads;
};

/* Tells what was written so far. */
VS_API void vs_writer_stats(const struct vs_writer *w, struct vs_writer_stats *stats);

/* Ends the run: writes what is pending and the index, syncs, renames, frees the writer.
 * On failure no file has the final name; what was written stays as `<path>.partial`.
 * Returns 0; -VSE_NOMEM; -VSE_IO; -VSE_EXISTS (a file of that name appeared meanwhile); -VSE_LIMIT;
 * -VSE_INTERNAL. diag may be NULL. */
VS_API int vs_writer_seal(struct vs_writer *w, struct vs_diag *diag);

/* Gives the run up, but leaves what was written as `<path>.partial`, which can be read as a run
 * that was cut off. Works after any failed call. Frees the writer. Returns the number of events in
 * the file; if there are none, no file is left. */
VS_API uint64_t vs_writer_keep(struct vs_writer *w);

/* Gives the run up: removes the partial file, frees the writer. NULL is fine. */
VS_API void vs_writer_abort(struct vs_writer *w);

/* ---- reading ------------------------------------------------------------------------------ */

struct vs_reader;

enum vs_open_mode {
    /* A sealed file must be intact; a file that is not sealed is opened as with VS_OPEN_SALVAGE. */
    VS_OPEN_DEFAULT = 0,
    /* Ignore the index: scan the file, and read the chunks before the first that is damaged or cut
     * off. */
    VS_OPEN_SALVAGE = 1,
    /* Accept only a sealed file. */
    VS_OPEN_STRICT = 2,
};

struct vs_run_info {
    uint32_t version, features;
    bool sealed; /* the file is complete */
    uint64_t file_size;
    uint64_t readable; /* intact chunks account for all bytes up to here */
    uint64_t events, instructions;
    uint64_t chunks; /* all kinds */
    uint64_t event_chunks;
    uint64_t cycle_first, cycle_last; /* timed runs with events */
    uint32_t threads, blocks, images, sites, metas;
    struct vs_diag missing; /* if not sealed: what is missing, and where it stops */
};

/* Opens a run, so that all of its events are delivered. If the file has only inputs (VS_RUN_SHORT),
 * the run is executed again, in a thread of its own, while it is read: with the files that the
 * program had mapped, and with Vestige's CPU, which is installed in lib/vestige. Its events are
 * counted first, by executing it once; a long run's counts are kept in a file beside it. Returns as
 * vs_reader_open; also -VSE_NOTFOUND (a file or the CPU is not there); -VSE_CHECKSUM (a file is not
 * what it was); -VSE_CORRUPT (the run does not do what it did). vs_reader_next may return the last
 * two, too. */
VS_API int vs_run_open(struct vs_reader **r, const char *path, enum vs_open_mode mode,
                       struct vs_diag *diag);

/* Opens a run's file, which may have nothing but inputs. Nothing in it is trusted: every byte is
 * checked before it is used. Returns 0;
 * -VSE_INVAL; -VSE_NOMEM; -VSE_IO; -VSE_FORMAT; -VSE_VERSION; -VSE_FEATURE; -VSE_CHECKSUM;
 * -VSE_TRUNCATED; -VSE_CORRUPT; -VSE_LIMIT. */
VS_API int vs_reader_open(struct vs_reader **r, const char *path, enum vs_open_mode mode,
                          struct vs_diag *diag);

/* Opens a run's file that lies in memory, which must outlive the reader. */
VS_API int vs_reader_open_memory(struct vs_reader **r, const void *data, size_t size,
                                 enum vs_open_mode mode, struct vs_diag *diag);

/* Closes a run. NULL is fine. */
VS_API void vs_reader_close(struct vs_reader *r);

/* Tells what the run is: how many events it has, and so on. Valid until the reader is closed. */
VS_API const struct vs_run_info *vs_reader_info(const struct vs_reader *r);

struct vs_thread_info {
    uint64_t events, instructions;
};

/* Tells how much a thread did. Returns 0; -VSE_NOTFOUND. */
VS_API int vs_reader_thread(const struct vs_reader *r, unsigned thread,
                            struct vs_thread_info *info);

/* The value of a key, or NULL. Valid until the reader is closed. */
VS_API const char *vs_reader_meta(const struct vs_reader *r, const char *key);

/* The i-th fact, in the order in which keys first appeared. Returns 0; -VSE_NOTFOUND. */
VS_API int vs_reader_meta_at(const struct vs_reader *r, uint32_t i, const char **key,
                             const char **value);

/* Entries of the static tables. What is filled in stays valid until the reader is closed. Both
 * return 0; -VSE_NOTFOUND. */
VS_API int vs_reader_block(const struct vs_reader *r, uint64_t id, struct vs_block *block);
VS_API int vs_reader_image(const struct vs_reader *r, uint64_t id, struct vs_image *image);

/* Delivers the next events in global order (or of the one thread selected). The batch is valid
 * until the next call on this reader. Returns the number of events, at least 1; -VSE_END after the
 * last; -VSE_NOMEM; -VSE_IO; -VSE_CHECKSUM; -VSE_TRUNCATED; -VSE_CORRUPT; -VSE_LIMIT. Errors repeat
 * until a seek. */
VS_API int vs_reader_next(struct vs_reader *r, struct vs_batch *batch);

/* The most events that a reader delivers at a time. */
#define VS_BATCH_MAX 1024

/* Does the same, but decodes the events into the caller's arrays of `capacity` elements, where they
 * stay, and delivers more of them at a time if there is room. The batch's `wide` area is still the
 * reader's. cycles may be NULL if the run is not timed.
 * Returns as vs_reader_next; -VSE_INVAL (no array, or its capacity is less than VS_BATCH_MAX). */
VS_API int vs_reader_next_into(struct vs_reader *r, struct vs_event *events, uint64_t *cycles,
                               size_t capacity, struct vs_batch *batch);

/* From now on delivers only this thread's events, or all events again with thread = -1. The
 * position is kept: it is after the last event delivered. With one thread selected, a batch's
 * `first` is the global number of its first event, and the numbers of the others are not known.
 * Returns 0; -VSE_NOTFOUND; else as vs_reader_next. */
VS_API int vs_reader_select(struct vs_reader *r, int thread);

/* The next batch will begin with: the n-th event of the run ...
 * ... the event with which the thread's count of retired instructions reaches n (0: its first)
 * ... the first event in global order whose cycle is at least n.
 * Return 0; -VSE_NOTFOUND (past the end; not a timed run; no such thread) and the position is kept;
 * else as vs_reader_next. */
VS_API int vs_reader_seek_event(struct vs_reader *r, uint64_t n);
VS_API int vs_reader_seek_insn(struct vs_reader *r, unsigned thread, uint64_t n);
VS_API int vs_reader_seek_cycle(struct vs_reader *r, uint64_t n);

/* Tells what the last failed call on this reader reported. */
VS_API const struct vs_diag *vs_reader_diag(const struct vs_reader *r);

/* Progress of a full check. done and total are file bytes. */
typedef void vs_check_progress(void *context, uint64_t done, uint64_t total);

struct vs_check_result {
    uint64_t chunks, events, bytes; /* compared or decoded so far */
};

/* Verifies the whole file: every checksum, every rule of docs/format.md, every event, which is
 * decoded, and the index against the chunks. It does not look at which registers a payload holds.
 * The reader's position is lost. progress may be NULL. Returns 0; an error as vs_reader_next, with
 * vs_reader_diag naming the first bad chunk; for a file that is not sealed, the error in
 * info->missing. */
VS_API int vs_reader_check(struct vs_reader *r, struct vs_check_result *result,
                           vs_check_progress *progress, void *context);

#ifdef __cplusplus
}
#endif

#endif
