/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a run of the last instructions begins with. It can begin wherever a thread starts to run:
 * the program is not disturbed, and the runs that have begun before take no notice. */
#include "pub_tool_aspacehl.h"
#include "pub_tool_aspacemgr.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_threadstate.h"
#include "tool.h"

/* The length of the instruction that makes a system call. */
#define CALL_LENGTH 2

static void tell_memory(void)
{
    Int count = 0;
    Addr *starts = VG_(get_segment_starts)(SkFileC | SkAnonC | SkShmC, &count);

    for (Int i = 0; i < count; i++) {
        const NSegment *s = VG_(am_find_nsegment)(starts[i]);
        SizeT length;

        if (!s)
            continue;
        length = s->end - s->start + 1;
        tell_map(s->start, length, rights(s->hasR, s->hasW, s->hasX));
        inputs_told(starts[i], length, MAPPED_BEFORE);
    }
    VG_(free)(starts);
}

/* Whether the thread is in a system call. After one that was interrupted and is to be made again,
 * and in a signal handler, it is somewhere else. */
static Bool is_in_call(const struct thread *t, const struct wire_regs *regs)
{
    return t->in_call && regs->rip == t->call_at + CALL_LENGTH;
}

static void tell_thread(ThreadId tid)
{
    const struct thread *t = &the.threads[tid];
    struct wire_thread *thread = ring_record(WIRE_THREAD, tid, sizeof(*thread));

    if (thread) {
        thread->system_id = t->system_id;
        thread->skipped = t->told;
        thread->call_pc = 0;
        thread_registers(tid, &thread->regs);
        if (is_in_call(t, &thread->regs)) {
            thread->call_pc = thread->regs.rip = t->call_at;
            thread->skipped--;
        }
    }
    ring_done();
}

void last_renew(ThreadId tid)
{
    the.renew = False;
    end_requests();
    ring_renew(True);
    say_hello();
    tell_memory();
    shared_anew();
    for (ThreadId i = 1; i < VG_N_THREADS; i++)
        if (the.threads[i].known)
            tell_thread(i);
    ring_renew(False);
    the.stream = 0;
}
