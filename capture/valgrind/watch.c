/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a system call wrote. There are two sources:
 *
 * - Valgrind's wrapper says so after the call. Some wrappers then change the memory themselves (a
 *   limit that Valgrind keeps for itself), so its content is taken when they are done.
 * - Memory is copied before the call and compared after it. That finds what a wrapper is silent
 *   about: wrappers tell a tool only what is needed to find undefined values, and so neither about
 *   words that the program had set before nor about a call that failed. We copy what the wrapper
 *   says may be written, what kernel.c knows may be written, and, as a guess, what the arguments
 *   point to.
 *
 * What is recorded is the memory's contents at the end of the call, so one byte too many does no
 * harm. But while a thread waits in the kernel, others write, and their stores are in the record
 * already. In that case the guesses are left out. */
#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcsetjmp.h"
#include "pub_tool_libcsignal.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_signals.h"
#include "pub_tool_threadstate.h"
#include "pub_tool_vki.h"
#include "tool.h"

/* At most this much of one stretch is compared. Longer stretches are the data of a read, which
 * wrappers report; only a read that fails half-way, beyond this many bytes, goes unnoticed. */
#define COPY_MAX (64u << 10)
/* The same for a guess: what is both read and written is a structure. */
#define GUESS_MAX 4096
/* The room for copies that each thread keeps; there can be thousands of threads. */
#define ROOM_KEPT 16384

enum how { ANNOUNCED, DECLARED, GUESSED };

struct stretch {
    Addr at;
    SizeT size;
    SizeT copy;  /* where its copy is; unused for announced stretches */
    SizeT reach; /* so much may be written, which is more than is copied */
    enum how how;
};

struct watch {
    Bool active;
    Bool loose; /* there are no copies */
    ULong turn; /* the.turns when the call began */
    struct stretch *stretches;
    UInt count, capacity;
    UChar *copies;
    SizeT used, room;
};

static struct watch *watches; /* by thread */

static struct watch *watch_of(ThreadId tid)
{
    if (!watches)
        watches = VG_(calloc)("vestige.watch", VG_N_THREADS, sizeof(*watches));
    return &watches[tid];
}

/* ---- memory that may not be there ----------------------------------------------------------- */

static VG_MINIMAL_JMP_BUF(fault);

static void faulted(Int number, Addr a)
{
    VG_MINIMAL_LONGJMP(fault);
}

/* Goes page by page, since a page can be read as a whole or not at all. */
static SizeT copy_what_may_fault(UChar *to, Addr from, SizeT size)
{
    fault_catcher_t before = VG_(set_fault_catcher)(faulted);
    volatile SizeT done = 0;
    vki_sigset_t mask;

    VG_(sigprocmask)(VKI_SIG_SETMASK, NULL, &mask);
    if (VG_MINIMAL_SETJMP(fault) == 0) {
        while (done < size) {
            SizeT n = VKI_PAGE_SIZE - (from + done) % VKI_PAGE_SIZE;

            if (n > size - done)
                n = size - done;
            VG_(memcpy)(to + done, (const void *)(from + done), n);
            done += n;
        }
    } else {
        VG_(sigprocmask)(VKI_SIG_SETMASK, &mask, NULL); /* as before the signal */
    }
    VG_(set_fault_catcher)(before);
    return done;
}

/* A mapped file may end before its mapping does. */
SizeT copy_safely(void *to, Addr from, SizeT size)
{
    const NSegment *s = VG_(am_find_nsegment)(from);

    if (!s || s->kind != SkAnonC || size > s->end - from + 1)
        return copy_what_may_fault(to, from, size);
    VG_(memcpy)(to, (const void *)from, size);
    return size;
}

/* How many bytes from `a` on the program can write, at most `size`. What it can write, it can read.
 */
static SizeT usable(Addr a, SizeT size)
{
    SizeT n = 0;

    while (n < size) {
        const NSegment *s = VG_(am_find_nsegment)(a + n);

        if (!s || !(s->kind & (SkAnonC | SkFileC | SkShmC)) || !s->hasW)
            break;
        n = s->end - a < size ? s->end - a + 1 : size;
    }
    return n;
}

/* ---- collecting ----------------------------------------------------------------------------- */

static struct stretch *add(struct watch *w, Addr a, SizeT size, enum how how)
{
    if (w->count == w->capacity) {
        w->capacity = w->capacity ? 2 * w->capacity : 16;
        w->stretches =
            VG_(realloc)("vestige.watch", w->stretches, w->capacity * sizeof(*w->stretches));
    }
    w->stretches[w->count] = (struct stretch){.at = a, .size = size, .how = how};
    return &w->stretches[w->count++];
}

static struct stretch *copied(const struct watch *w, Addr a, SizeT size, enum how how)
{
    for (UInt i = 0; i < w->count; i++) {
        struct stretch *s = &w->stretches[i];

        if (s->how != ANNOUNCED && s->how <= how && a >= s->at && a + size <= s->at + s->size)
            return s;
    }
    return NULL;
}

static void copy(struct watch *w, Addr a, SizeT size, enum how how)
{
    SizeT reach = usable(a, size);
    struct stretch *s;

    size = reach < COPY_MAX ? reach : COPY_MAX;
    if (!size)
        return;
    s = copied(w, a, size, how);
    if (s) {
        if (s->at + s->reach < a + reach)
            s->reach = a + reach - s->at;
        return;
    }
    if (w->loose) {
        add(w, a, size, how)->reach = reach;
        return;
    }
    if (w->used + size > w->room) {
        w->room = 2 * (w->used + size);
        w->copies = VG_(realloc)("vestige.watch", w->copies, w->room);
    }
    size = copy_safely(w->copies + w->used, a, size);
    if (!size)
        return;
    s = add(w, a, size, how);
    s->reach = reach;
    s->copy = w->used;
    w->used += size;
}

void watch_begin(ThreadId tid, Bool loose)
{
    struct watch *w = watch_of(tid);

    w->active = True;
    w->loose = loose;
    w->turn = the.turns;
    w->count = 0;
    w->used = 0;
}

void watch_declared(ThreadId tid, Addr a, SizeT size)
{
    if (watch_of(tid)->active)
        copy(watch_of(tid), a, size, DECLARED);
}

void watch_guessed(ThreadId tid, Addr a, SizeT size)
{
    if (watch_of(tid)->active)
        copy(watch_of(tid), a, size < GUESS_MAX ? size : GUESS_MAX, GUESSED);
}

Bool watch_announced(ThreadId tid, Addr a, SizeT size)
{
    struct watch *w = watch_of(tid);

    if (w->active)
        add(w, a, size, ANNOUNCED);
    return w->active;
}

/* ---- recording ------------------------------------------------------------------------------ */

/* Updates the copies with what was recorded, so that nothing is recorded twice. */
static void update(struct watch *w, Addr a, SizeT size)
{
    for (UInt i = 0; i < w->count; i++) {
        const struct stretch *s = &w->stretches[i];
        Addr from = a > s->at ? a : s->at,
             to = a + size < s->at + s->size ? a + size : s->at + s->size;

        if (s->how != ANNOUNCED && from < to && !w->loose)
            copy_safely(w->copies + s->copy + (from - s->at), from, to - from);
    }
}

static void record(ThreadId tid, struct watch *w, Addr a, SizeT size)
{
    size = usable(a, size);
    external(tid, a, size);
    update(w, a, size);
}

/* Finds a run of bytes that have changed; a few equal bytes in between are part of it. */
static void record_changes(ThreadId tid, struct watch *w, const struct stretch *s)
{
    static UChar is[COPY_MAX];
    const UChar *was = w->copies + s->copy;
    SizeT size = copy_safely(is, s->at, usable(s->at, s->size)), i = 0;

    while (i < size) {
        SizeT from, to;

        while (i + 8 <= size && *(const ULong *)(was + i) == *(const ULong *)(is + i))
            i += 8;
        while (i < size && was[i] == is[i])
            i++;
        if (i == size)
            return;
        for (from = to = i; i < size && i < to + 8; i++)
            if (was[i] != is[i])
                to = i + 1;
        record(tid, w, s->at + from, to - from);
    }
}

void watch_end(ThreadId tid)
{
    struct watch *w = watch_of(tid);
    Bool alone = w->turn == the.turns;

    if (!w->active)
        return;
    w->active = False;
    for (UInt i = 0; i < w->count; i++)
        if (w->stretches[i].how == ANNOUNCED || the.threads[tid].off)
            record(tid, w, w->stretches[i].at, w->stretches[i].size);
    if (the.threads[tid].off)
        return;
    for (UInt i = 0; i < w->count; i++)
        if (w->stretches[i].how == DECLARED || (w->stretches[i].how == GUESSED && alone))
            record_changes(tid, w, &w->stretches[i]);
    if (w->room > ROOM_KEPT) {
        VG_(free)(w->copies);
        w->copies = NULL;
        w->room = 0;
    }
}

void watch_away(void (*note)(Addr a, SizeT size))
{
    for (ThreadId i = 1; watches && i < VG_N_THREADS; i++)
        for (UInt k = 0; watches[i].active && k < watches[i].count; k++)
            note(watches[i].stretches[k].at, watches[i].stretches[k].reach);
}

void watch_drop(ThreadId tid)
{
    watch_of(tid)->active = False;
}
