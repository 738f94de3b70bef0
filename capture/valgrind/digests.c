/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Digests of what memory holds, from time to time. Whoever executes the run again compares them
 * with what it has, and so finds out whether something else changed memory. */
#include "pub_tool_aspacehl.h"
#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_threadstate.h"
#include "pub_tool_vki.h"
#include "tool.h"
#include "vestige/event.h"

/* Pages of which one WIRE_CONTENT has the digests. */
#define RUN_MOST 8192u
/* At least so many instructions run for each byte that was looked at. */
#define PACE 4

/* Memory that may change while it is looked at, since a thread is in a call that writes there. */
struct away {
    Addr from, to;
};

static struct {
    struct away *list; /* by address */
    UInt count, capacity;
    UInt at; /* those before lie before what is looked at now */
} away;

/* The pages in a row that were looked at last, and are not told yet. */
static struct {
    Addr from;
    UInt pages;
    UInt digests[RUN_MOST];
} run;

static ULong due;    /* value of the.told */
static ULong looked; /* bytes */

/* ---- what may change ------------------------------------------------------------------------- */

static void note_away(Addr a, SizeT size)
{
    if (away.count == away.capacity) {
        away.capacity = away.capacity ? 2 * away.capacity : 64;
        away.list = VG_(realloc)("vestige.away", away.list, away.capacity * sizeof(*away.list));
    }
    away.list[away.count++] = (struct away){a, a + size};
}

static Int by_address(const void *a, const void *b)
{
    const struct away *x = a, *y = b;

    return x->from < y->from ? -1 : x->from > y->from;
}

/* Sorts what overlaps into stretches that do not. */
static void find_away(void)
{
    UInt n = 0;

    away.count = away.at = 0;
    watch_away(note_away);
    VG_(ssort)(away.list, away.count, sizeof(*away.list), by_address);
    for (UInt i = 0; i < away.count; i++)
        if (n && away.list[i].from <= away.list[n - 1].to) {
            if (away.list[n - 1].to < away.list[i].to)
                away.list[n - 1].to = away.list[i].to;
        } else {
            away.list[n++] = away.list[i];
        }
    away.count = n;
}

/* To be asked about pages in order. */
static Bool is_away(Addr page)
{
    while (away.at < away.count && away.list[away.at].to <= page)
        away.at++;
    return away.at < away.count && away.list[away.at].from < page + VKI_PAGE_SIZE;
}

/* ---- looking --------------------------------------------------------------------------------- */

static void tell_run(void)
{
    UInt size = run.pages * sizeof(*run.digests);
    struct wire_content *c;

    if (!run.pages)
        return;
    c = ring_record(WIRE_CONTENT, 0, sizeof(*c) + size);
    if (c) {
        *c = (struct wire_content){run.from, (SizeT)run.pages * VKI_PAGE_SIZE, 0,
                                   WIRE_CONTENT_DIGESTS, 0};
        VG_(memcpy)(c + 1, run.digests, size);
    }
    ring_done();
    run.pages = 0;
}

static void look_at(Addr page)
{
    static ULong words[VKI_PAGE_SIZE / sizeof(ULong)];

    if (is_away(page) || copy_safely(words, page, sizeof(words)) != sizeof(words))
        return;
    if (run.pages == RUN_MOST || page != run.from + (Addr)run.pages * VKI_PAGE_SIZE)
        tell_run();
    if (!run.pages)
        run.from = page;
    run.digests[run.pages++] = vs_page_digest((const uint64_t *)words);
    looked += VKI_PAGE_SIZE;
}

static void look_through(const NSegment *s, Int pages)
{
    static UChar there[PAGES_MOST];
    SizeT length = s->end - s->start + 1;

    for (SizeT at = 0; at < length; at += PAGES_MOST * VKI_PAGE_SIZE) {
        UInt got = pages_read(pages, s->start + at, (length - at) / VKI_PAGE_SIZE, there);

        for (UInt i = 0; i < got; i++)
            if (there[i])
                look_at(s->start + at + i * VKI_PAGE_SIZE);
    }
}

static void tell_memory(void)
{
    Int count = 0, pages = pages_open();
    Addr *starts;

    if (pages < 0)
        return;
    looked = 0;
    find_away();
    starts = VG_(get_segment_starts)(SkFileC | SkAnonC | SkShmC, &count);
    for (Int i = 0; i < count; i++) {
        const NSegment *s = VG_(am_find_nsegment)(starts[i]);

        if (s && s->hasR)
            look_through(s, pages);
    }
    tell_run();
    VG_(free)(starts);
    VG_(close)(pages);
}

/* ---- when ------------------------------------------------------------------------------------ */

/* A signal's frame is not told as a whole before its thread runs on. */
static Bool is_complete(void)
{
    for (ThreadId i = 1; i < VG_N_THREADS; i++)
        if (the.threads[i].known && the.threads[i].resuming)
            return False;
    return True;
}

void digests_due(ThreadId tid)
{
    if (the.told < due || !inputs_follow() || the.stop_asked || the.silent || !is_complete())
        return;
    end_requests();
    tell_memory();
    due = the.told + (the.digests > PACE * looked ? the.digests : PACE * looked);
}

void digests_end(void)
{
    if (inputs_follow() && !the.stop_asked && !the.silent && is_complete())
        tell_memory();
}
