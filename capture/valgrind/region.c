/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A change of what is recorded throws all translations away. They are made again in the new mode,
 * so that code pays only for the mode it runs in. */
#include "pub_tool_mallocfree.h"
#include "pub_tool_options.h"
#include "pub_tool_threadstate.h"
#include "tool.h"

/* Offered by Valgrind's core. */
extern void VG_(discard_translations_safely)(Addr start, SizeT len, const HChar *who);
extern void VG_(discard_translations)(Addr start, ULong len, const HChar *who);

/* The last instructions before the start of a window are executed one by one. This is more than any
 * block has. */
#define NEAR 256

static void forget_translations(void)
{
    VG_(discard_translations_safely)(0x1000, ~(SizeT)0xfff, "vestige");
}

/* Called in the middle of translated code: lets the scheduler do it before it continues at rip. */
static void forget_by_exit(GuestState *gst)
{
    gst->guest_CMSTART = 0x1000;
    gst->guest_CMLEN = ~(ULong)0xfff;
}

/* Recording is on again: the running thread comes out of a gap. */
static void leave_gap(GuestState *gst)
{
    if (the.mode == MODE_ON)
        lane_of(gst)->limit = 0;
}

static const struct window *current(void)
{
    return the.window < the.window_count ? &the.windows[the.window] : NULL;
}

/* Decides what comes next, now that recording is off. */
static void look_ahead(void)
{
    const struct window *w = current();

    the.threshold = ~0ull;
    if (the.mode == MODE_ON || the.mode == MODE_DONE || !w)
        return;
    the.mode = the.count + NEAR >= w->start ? MODE_STEP : MODE_OFF;
    the.threshold = the.mode == MODE_STEP ? w->start : w->start - NEAR;
}

/* Enters the window that recording is now in. Its end must be met exactly if another window
 * follows; what is recorded beyond the end of the last window is left out by the recorder. */
static void look_for_end(void)
{
    const struct window *w = current();

    the.threshold = the.last ? (the.count / the.last + 1) * the.last : ~0ull;
    the.stepping = False;
    if (!w || !w->length)
        return;
    the.threshold = w->start + w->length;
    if (the.window + 1 == the.window_count)
        return;
    the.stepping = the.count + NEAR >= the.threshold;
    if (!the.stepping)
        the.threshold -= NEAR;
}

static void set_mode(Bool on)
{
    if (the.mode == MODE_DONE)
        return;
    if (on) {
        /* A thread that did not run in the meantime has outdated knowledge of memory, too. */
        for (ThreadId i = 1; i < VG_N_THREADS; i++)
            the.threads[i].off = True;
        the.mode = MODE_ON;
        the.anew = the.inputs;
        look_for_end();
        return;
    }
    the.mode = MODE_OFF;
    the.stepping = False;
    look_ahead();
}

/* The text has a fixed width, so it can be overwritten in place. */
void region_keep(void)
{
    VG_(sprintf)
    (the.state, WIRE_STATE, (unsigned long long)the.count, the.window,
     the.mode == MODE_DONE || the.stop_asked ? WIRE_STATE_DONE
     : the.mode == MODE_ON                   ? WIRE_STATE_ON
                                             : WIRE_STATE_OFF);
}

/* Takes over the state. Returns whether recording is on, as far as windows decide it. */
static Bool take_state(void)
{
    HChar *rest;
    ULong how;

    the.count = VG_(strtoull10)(the.state, &rest);
    the.window = VG_(strtoull10)(rest + 1, &rest);
    how = VG_(strtoull10)(rest + 1, &rest);
    if (how == WIRE_STATE_DONE)
        the.mode = MODE_DONE;
    if (how == WIRE_STATE_NEW)
        return !the.window_count || the.windows[0].start == 0;
    return how == WIRE_STATE_ON || !the.window_count;
}

void region_fork(void)
{
    enum mode before = the.mode;

    VG_(sprintf)(the.state, WIRE_STATE, 0ull, 0u, WIRE_STATE_NEW);
    the.range_count = 0;
    the.stepping = False;
    region_init();
    if (!the.window_count && before != MODE_DONE)
        the.mode = before;
    region_forget();
}

void region_forget(void)
{
    /* This is what Valgrind does itself within a system call, when memory is unmapped. */
    VG_(discard_translations)(0x1000, ~(ULong)0xfff, "vestige");
}

void region_init(void)
{
    the.regions = the.asks || the.window_count;
    the.mode = the.start_off ? MODE_OFF : MODE_ON;
    the.threshold = ~0ull;
    the.counting = the.window_count > 1 || the.last || the.wishes;
    if (!take_state() && the.mode != MODE_DONE) {
        the.mode = MODE_OFF;
        look_ahead();
    } else if (the.mode != MODE_DONE) {
        look_for_end();
    }
}

Bool region_wants(Addr pc)
{
    if (!the.only_ranges)
        return True;
    for (UInt i = 0; i < the.range_count; i++)
        if (the.ranges[i].kind == WIRE_RANGE_WANTED && pc >= the.ranges[i].start &&
            pc < the.ranges[i].end)
            return True;
    return False;
}

UInt region_trigger(Addr pc)
{
    for (UInt i = 0; i < the.range_count; i++)
        if (the.ranges[i].kind != WIRE_RANGE_WANTED && pc == the.ranges[i].start)
            return the.ranges[i].kind;
    return 0;
}

Bool region_parts(Addr pc)
{
    return the.regions && (the.mode == MODE_STEP || the.stepping || region_trigger(pc));
}

static Bool known(const struct wire_range *r)
{
    for (UInt i = 0; i < the.range_count; i++)
        if (the.ranges[i].start == r->start && the.ranges[i].end == r->end &&
            the.ranges[i].kind == r->kind)
            return True;
    return False;
}

void region_add(const struct wire_range *range)
{
    if (known(range))
        return;
    if (the.range_count == the.range_capacity) {
        the.range_capacity = the.range_capacity ? 2 * the.range_capacity : 64;
        the.ranges =
            VG_(realloc)("vestige.ranges", the.ranges, the.range_capacity * sizeof(*the.ranges));
    }
    the.ranges[the.range_count++] = *range;
}

/* Code there was translated with these ranges in force, but Valgrind throws that away by itself. */
void region_drop(Addr a, SizeT length)
{
    UInt kept = 0;

    for (UInt i = 0; i < the.range_count; i++) {
        const struct wire_range *r = &the.ranges[i];

        if (r->end == r->start || r->start < a || r->end > a + length)
            the.ranges[kept++] = *r;
    }
    the.range_count = kept;
}

/* Does what the recorder wants. */
static void heed_wish(GuestState *gst)
{
    the.wished = False;
    if (the.wish == WIRE_WISH_STOP)
        the.stop_asked = True;
    else if ((the.wish == WIRE_WISH_ON) != (the.mode == MODE_ON))
        set_mode(the.wish == WIRE_WISH_ON);
    else if (the.mode == MODE_ON)
        look_for_end();
    else
        look_ahead();
    if (the.wish == WIRE_WISH_ON && the.anew)
        lane_of(gst)->limit = 0;
    forget_by_exit(gst);
}

void region_wish(UInt wish)
{
    if (wish == the.wish || the.mode == MODE_DONE)
        return;
    the.wish = wish;
    the.wished = True;
    the.threshold = 0;
}

void region_due(GuestState *gst)
{
    if (the.wished) {
        heed_wish(gst);
        return;
    }
    if (the.last && the.mode == MODE_ON) {
        the.renew = True;
        look_for_end();
        return; /* all stays as it is */
    }
    if (the.mode == MODE_ON && current() && the.count < current()->start + current()->length) {
        look_for_end();
    } else if (the.mode == MODE_ON) {
        the.window++;
        set_mode(False);
        if (!current())
            the.mode = MODE_DONE;
    } else if (the.mode == MODE_STEP) {
        set_mode(True);
        leave_gap(gst);
    } else {
        look_ahead();
    }
    forget_by_exit(gst);
}

ULong region_triggered(GuestState *gst, ULong kind)
{
    Bool on = kind == WIRE_RANGE_FROM;

    if (the.last && the.mode == MODE_ON && !the.stop_asked) {
        the.triggered = the.stop_asked = True;
        forget_by_exit(gst);
        return 1;
    }
    if (the.mode == MODE_DONE || on == (the.mode == MODE_ON))
        return 0;
    set_mode(on);
    leave_gap(gst);
    forget_by_exit(gst);
    return 1;
}

void region_switch(Bool on)
{
    if (the.mode == MODE_DONE || on == (the.mode == MODE_ON))
        return;
    set_mode(on);
    forget_translations();
}
